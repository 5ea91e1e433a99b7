//! JSON Schema of the scenario file, for editors and forms. The types here describe the file and are never filled; the
//! tests hold their keys against those of the reader, and names and parameters come from the registries.

#![expect(dead_code, reason = "described, never constructed")]

mod draws;

use base::{Card, Param, Value};
use draws::{Access, OrRange, Rtt, Start, Stop};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json, json};
use transport::Recovery;

/// JSON Schema (2020-12) of a scenario file, as text.
#[must_use]
pub fn schema() -> String {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_null));
    let schema = settings.into_generator().into_root_schema_for::<File>();
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}

/// TOML has no null: a key that may be absent is just not required.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Json::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".into(), one);
        }
    }
    if let Some(Json::Array(forms)) = object.get_mut("anyOf") {
        forms.retain(|form| *form != json!({ "type": "null" }));
        if let [Json::Object(one)] = forms.as_slice() {
            let one = one.clone();
            object.remove("anyOf");
            object.extend(one);
        }
    }
}

/// An elephan scenario.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "elephan scenario")]
struct File {
    /// One line about it, shown above results. Default: the file's name.
    title: Option<String>,
    /// Simulated time, warm-up included: "200 s".
    duration: String,
    /// What is simulated but not measured, at the start: "60 s", or "auto" to have it found by a pilot run. Default: "0 s".
    warmup: Option<String>,
    /// Independent runs; intervals need at least two. Default: 1.
    #[schemars(range(min = 1, max = 10_000))]
    replications: Option<u32>,
    /// Seed of all random streams: the same seed gives the same results, to the bit. Default: 1.
    seed: Option<u64>,
    /// Directed links.
    #[schemars(length(min = 1))]
    links: Vec<Link>,
    /// Groups of flows.
    #[schemars(length(min = 1))]
    flows: Vec<Flows>,
    /// What is recorded besides counters. Default: samples every 100 ms.
    record: Option<Record>,
}

/// A directed link (queue, server, wire), or an array of links that differ only in what is drawn for them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Link {
    /// Its name in paths.
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// How many: above 1, an array that paths call `name[*]` (flow i of a group takes link i mod count) or `name[3]`.
    /// Default: 1.
    #[schemars(range(min = 1, max = 100_000))]
    count: Option<u32>,
    /// Bits on the wire: "2.5 Gbit/s", or `{ uniform = [from, to] }` to be drawn.
    rate: OrRange,
    /// Propagation, one way: "50 ms", or `{ uniform = [from, to] }` to be drawn. Default: "0 s".
    delay: Option<OrRange>,
    /// What may wait, the packet in service excluded: "1250 packets", "125 kB", "5 ms", "0.1 bdp", "bdp/sqrt(n)",
    /// "unlimited". Must be given, here or as `limit` beside the discipline.
    buffer: Option<String>,
    /// The discipline: a name, or a table such as { discipline = "red", gentle = true }. Default: "drop-tail".
    queue: Option<Queue>,
    /// Loss that is not the queue's: { random = 1e-4 }, { every = 10000 } or "none". Default: "none".
    loss: Option<Loss>,
}

/// Loss that is not the queue's: "none", { random = 1e-4 } or { every = 10000 }.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Loss {
    /// None.
    Word(None),
    /// Random or regular.
    Table(LossTable),
}

/// One of the two.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1, "maxProperties" = 1))]
struct LossTable {
    /// Each packet with this probability.
    #[schemars(range(min = 0, max = 1))]
    random: Option<f64>,
    /// Every n-th packet.
    #[schemars(range(min = 2))]
    every: Option<u64>,
}

/// The word "none".
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum None {
    /// Nothing of the kind.
    None,
}

/// Flows that differ only in what is drawn for them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Flows {
    /// The group's name in results. Default: "flows1", "flows2", … by its place in the file.
    #[schemars(length(min = 1, max = 64))]
    name: Option<String>,
    /// How many flows. Default: 1.
    #[schemars(range(min = 1, max = 10_000_000))]
    count: Option<u32>,
    /// Links that data crosses, by name and in order: `["bottleneck"]`.
    #[schemars(length(min = 1))]
    path: Vec<String>,
    /// Links that ACKs cross; empty for an uncongested way back. Default: [].
    r#return: Option<Vec<String>>,
    /// Base round-trip time, all propagation included: "100 ms", { from = "80 ms", to = "120 ms" }, "auto", a draw or a list.
    rtt: Rtt,
    /// The sender's own link: { rate = "10 Gbit/s" }. Default: of infinite rate.
    access: Option<Access>,
    /// Congestion-control law and slow start: a name, or a table such as { law = "highspeed" }. Default: "reno".
    control: Option<Control>,
    /// How losses are repaired. Default: "sack", where the law does not ask for more.
    recovery: Option<Recovering>,
    /// Size of a full data packet on the wire, headers included: "1500 B". Default: "1500 B".
    packet: Option<String>,
    /// When flows start: "0 s", { from = "0 s", to = "5 s" } for a uniform draw, { from = "0 s", every = "1 s" } for one after
    /// the other, or a list. Default: "0 s".
    start: Option<Start>,
    /// When the application stops offering data: "100 s", a uniform draw, or so long after the flow's own start.
    /// Default: never.
    stop: Option<Stop>,
    /// What the application offers: a name, or a table such as { kind = "poisson", rate = "1 Mbit/s" }. Default: "bulk".
    traffic: Option<Traffic>,
    /// TCP besides the law: "linux" for its defaults, or a table such as `{ min_rto = "200 ms" }`.
    tcp: Option<Tcp>,
}

/// A profile or a table of keys.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Tcp {
    /// A profile.
    Profile(Profile),
    /// Keys.
    Table(TcpTable),
}

/// Known profiles.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Profile {
    /// Linux's defaults.
    Linux,
}

/// TCP besides the law.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct TcpTable {
    /// Smallest retransmission timeout. Default: "1 s".
    min_rto: Option<String>,
    /// Granularity of the timer. Default: "1 ms".
    rto_granularity: Option<String>,
    /// Initial window, in segments. Default: 2.
    #[schemars(range(min = 1, max = 1000))]
    initial_window: Option<u32>,
    /// Initial slow-start threshold, in segments, or "none". Default: "none".
    initial_ssthresh: Option<NumberOrNone>,
    /// Receive window, in whole segments, or "none". Default: "none".
    receive_window: Option<NumberOrNone>,
    /// In-order segments per acknowledgement; 1 acknowledges each. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    delayed_ack: Option<u32>,
    /// Longest delay of a delayed acknowledgement. Default: "200 ms".
    delayed_ack_timeout: Option<String>,
    /// Whether the first two duplicate ACKs release new data (RFC 3042). Default: true.
    limited_transmit: Option<bool>,
    /// Explicit congestion notification: "off", "on" (RFC 3168), or "l4s" (ECT(1), RFC 9331).
    /// Default: "off".
    ecn: Option<Ecn>,
    /// Each packet is sent a uniform time in [0, this] late, order kept: "8 us". Default: "0 s".
    send_jitter: Option<String>,
}

/// A number, or "none".
#[derive(JsonSchema)]
#[schemars(untagged)]
enum NumberOrNone {
    /// Segments.
    Number(f64),
    /// No limit.
    Word(None),
}

/// What data says about congestion marks.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Ecn {
    /// In words.
    Word(EcnWord),
    /// As a flag.
    Flag(bool),
}

/// The same, in words.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum EcnWord {
    /// ECT(0).
    On,
    /// Not ECN-capable.
    Off,
    /// ECT(1).
    L4s,
}

/// What is recorded besides counters.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Record {
    /// Interval of the samples of cwnd, srtt and backlog: "100 ms" or "none". Default: "100 ms".
    every: Option<String>,
    /// Flows recorded ACK by ACK: `"hstcp[0]"` is the first of group "hstcp". Default: [].
    trace: Option<Vec<String>>,
    /// Links and spans in which every data packet is recorded. Default: [].
    packets: Option<Vec<Packets>>,
    /// Whether every waiting time is counted, in a histogram for each link. Default: false.
    delays: Option<bool>,
}

/// A link, and the span in which every data packet that arrives there is recorded.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Packets {
    /// Name of the link.
    link: String,
    /// Start: "10 s".
    from: String,
    /// End: "10.5 s".
    to: String,
}

/// Declares a type whose schema is made from a registry.
macro_rules! from_registry {
    ($($name:ident = |$generator:pat_param| $schema:expr;)*) => {
        $(struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        })*
    };
}

from_registry! {
    Queue = |_| choice("discipline", None, &disciplines(), &[("limit", json!({ "type": "string", "description": LIMIT }))]);
    Control = |generator| choice(
        "law",
        Some("reno"),
        &catalogue(law::LAWS.iter().map(|e| (e.card, e.rows))),
        &[("slow_start", slow_start(generator))],
    );
    SlowStart = |_| choice("kind", None, &catalogue(law::STARTS.iter().map(|e| (e.card, e.rows))), &[]);
    Traffic = |_| choice("kind", None, &kinds_of_traffic(), &[]);
    Recovering = |_| json_schema!({ "enum": Recovery::ALL.map(|row| row.1) });
}

const SLOW_START: &str = "How the window opens: a name, or a table such as { kind = \"limited\", max_ssthresh = 100 }. Default: \"classic\".";

const LIMIT: &str = "The link's buffer, where `tc` says it; instead of the link's own key.";

/// Disciplines with their parameters under all their names.
fn disciplines() -> Vec<(Card, Vec<Param>)> {
    let mut list = catalogue(queue::QUEUES.iter().map(|e| (e.card, e.rows)));
    for (card, rows) in &mut list {
        let spellings = queue::QueueSpec::named(card.name).map_or(&[][..], |spec| spec.spellings());
        let renamed = |(other, name): &(&'static str, &str)| {
            let row = rows.iter().find(|row| row.name == *name)?;
            Some(Param { name: other, ..row.clone() })
        };
        let more: Vec<Param> = spellings.iter().filter_map(renamed).collect();
        rows.extend(more);
    }
    list
}

const FILE: &str = "Instead of flows: a CSV or Parquet file with the columns start_s and size_bytes.";

/// Kinds of traffic with their parameters; a file that lists flows is read by Python, which puts its rows in its place.
fn kinds_of_traffic() -> Vec<(Card, Vec<Param>)> {
    let mut list = catalogue(traffic::TRAFFIC.iter().map(|e| (e.card, e.rows)));
    for (_, rows) in list.iter_mut().filter(|(card, _)| card.name == "replay") {
        let file =
            rows.iter().find(|row| row.name == "flows").map(|row| Param { name: "file", meaning: FILE, ..row.clone() });
        rows.extend(file);
    }
    list
}

/// The key beside a law; what it may hold stands once, not with each law.
fn slow_start(generator: &mut SchemaGenerator) -> Json {
    let mut schema = generator.subschema_for::<SlowStart>();
    schema.insert("description".into(), json!(SLOW_START));
    schema.to_value()
}

fn catalogue(entries: impl Iterator<Item = (Card, fn() -> Vec<Param>)>) -> Vec<(Card, Vec<Param>)> {
    entries.map(|(card, rows)| (card, rows())).collect()
}

/// A name alone, or a table with the name at `key` (which may be left out for the `default`), parameters and `others`
/// beside it.
fn choice(key: &str, default: Option<&str>, entries: &[(Card, Vec<Param>)], others: &[(&str, Json)]) -> Schema {
    let spellings: Vec<&str> =
        entries.iter().flat_map(|(card, _)| [card.name].into_iter().chain(card.aliases.iter().copied())).collect();
    let mut forms = vec![json!({ "enum": spellings })];
    for (card, rows) in entries {
        let names: Vec<&str> = [card.name].iter().chain(card.aliases).copied().collect();
        let mut properties = Map::new();
        properties.insert(key.into(), json!({ "enum": names, "description": card.title }));
        for (name, schema) in others {
            properties.insert((*name).into(), schema.clone());
        }
        for row in rows {
            properties.insert(row.name.into(), parameter(row));
        }
        let required: &[&str] = if default == Some(card.name) { &[] } else { &[key] };
        forms.push(json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        }));
    }
    json_schema!({ "anyOf": forms })
}

fn parameter(row: &Param) -> Json {
    let unit = if row.unit.is_empty() { String::new() } else { format!(" [{}]", row.unit) };
    let description = format!("{}{unit}", row.meaning);
    let (kind, default) = match &row.default {
        Value::Bool(x) => (json!("boolean"), json!(x)),
        Value::Number(x) => (json!("number"), json!(x)),
        // Amounts may be bare numbers of packets, and what is left open may be given.
        Value::Text(text) if text == "auto" || text.ends_with(" packets") => (json!(["string", "number"]), json!(text)),
        Value::Text(text) => (json!("string"), json!(text)),
        Value::Pairs(pairs) => {
            let pair = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
            let description = format!("{description} Default: {}.", json!(pairs));
            return json!({
                "type": "array", "items": pair, "minItems": 1, "default": pairs, "description": description,
            });
        }
    };
    json!({ "type": kind, "default": default, "description": format!("{description} Default: {default}.") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{flows, life, links, read, record, tcp, values};
    use std::collections::BTreeSet;

    fn keys(schema: &Json, pointer: &str) -> BTreeSet<String> {
        let at = schema.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {schema:#}"));
        at.as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn knows_the_keys_that_the_reader_knows() {
        let schema: Json = serde_json::from_str(&schema()).unwrap();
        for (pointer, known) in [
            ("/properties", read::KEYS),
            ("/$defs/Record/properties", record::KEYS),
            ("/$defs/Packets/properties", record::PACKETS_KEYS),
            ("/$defs/Link/properties", links::KEYS),
            ("/$defs/LossTable/properties", links::LOSS_KEYS),
            ("/$defs/Flows/properties", flows::KEYS),
            ("/$defs/Access/properties", flows::ACCESS_KEYS),
            ("/$defs/StartTable/properties", life::START_KEYS),
            ("/$defs/StopTable/properties", life::STOP_KEYS),
            ("/$defs/AfterTable/properties", life::AFTER_KEYS),
            ("/$defs/Range/properties", values::RANGE_KEYS),
            ("/$defs/ValuesTable/properties", values::VALUES_KEYS),
            ("/$defs/RttTable/properties", flows::RTT_KEYS),
            ("/$defs/Pareto/properties", flows::PARETO_KEYS),
            ("/$defs/TcpTable/properties", tcp::KEYS),
        ] {
            let known: BTreeSet<String> = known.iter().map(|key| (*key).to_owned()).collect();
            assert_eq!(keys(&schema, pointer), known, "{pointer}");
        }
    }

    #[test]
    fn lists_every_law_with_its_parameters() {
        let schema: Json = serde_json::from_str(&schema()).unwrap();
        let forms = &schema["$defs"]["Control"]["anyOf"];
        assert_eq!(forms.as_array().unwrap().len(), 1 + law::LAWS.len());
        for (i, entry) in law::LAWS.iter().enumerate() {
            let known = keys(forms, &format!("/{}/properties", i + 1));
            assert!((entry.rows)().iter().all(|row| known.contains(row.name)), "{}", entry.card.name);
        }
    }

    #[test]
    fn knows_the_file_of_a_replay() {
        let schema: Json = serde_json::from_str(&schema()).unwrap();
        let forms = schema["$defs"]["Traffic"]["anyOf"].as_array().unwrap();
        let with_file = |form: &&Json| form.pointer("/properties/file").is_some();
        let kinds: Vec<_> = forms.iter().filter(with_file).map(|form| &form["properties"]["kind"]["enum"]).collect();
        assert_eq!(kinds, [&json!(["replay"])]);
    }

    #[test]
    fn says_of_every_key_what_it_is() {
        fn visit(schema: &Json, at: &str) {
            let Some(object) = schema.as_object() else { return };
            for (key, property) in object.get("properties").and_then(Json::as_object).into_iter().flatten() {
                let said = property["description"].as_str().unwrap_or_default();
                assert!(!said.is_empty(), "{at}.{key} says nothing of itself: {property}");
            }
            for (key, part) in object {
                visit(part, &format!("{at}.{key}"));
                part.as_array().into_iter().flatten().for_each(|part| visit(part, &format!("{at}.{key}")));
            }
        }
        visit(&serde_json::from_str(&schema()).unwrap(), "");
    }

    #[test]
    fn requires_what_the_reader_requires() {
        let text = schema();
        let schema: Json = serde_json::from_str(&text).unwrap();
        assert!(!text.contains("\"null\""), "{text}");
        assert_eq!(schema["required"], json!(["duration", "links", "flows"]));
        assert_eq!(schema["$defs"]["Link"]["required"], json!(["name", "rate"]));
        assert_eq!(schema["$defs"]["Flows"]["required"], json!(["path", "rtt"]));
    }
}

//! Components with a name and parameters (laws, slow starts, disciplines, traffic): `"name"` or `{ key = "name", … }`. The
//! canonical form is the table with every parameter.

use crate::ScenarioError;
use crate::names::{Names, unknown};
use crate::node::Node;
use crate::own::OwnLaw;
use crate::profile;
use crate::schema::choice;
use crate::table::{Defs, KeyType};
use base::{Card, Key, Param, ParamError, Value};
use law::{LAWS, LawSpec, STARTS, StartSpec};
use queue::{QUEUES, QueueSpec};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use traffic::{TRAFFIC, TrafficSpec};

/// Components that are configured by name.
pub(crate) trait Parameters: Sized {
    /// The word for such a component in messages, and the key of its name.
    const WHAT: [&'static str; 2];
    /// The name used in examples.
    const SHOWN: &'static str;
    /// The name to assume for a table without one, if such tables are allowed.
    const WITHOUT: Option<&'static str> = None;
    /// Keys of the table that belong to other types, with their schema.
    fn others(_defs: &mut Defs) -> Vec<(&'static str, Json)> {
        Vec::new()
    }
    /// Values of the table's profile for parameters that are not `given` in it.
    fn profiled(&self, _node: &Node, _given: &[&str]) -> Result<Vec<(&'static str, Value)>, ScenarioError> {
        Ok(Vec::new())
    }
    /// Adds forms to the schema that the registry does not have.
    fn with_more_forms(schema: Json) -> Json {
        schema
    }
    /// All registered components.
    fn entries() -> Vec<(Card, Vec<Param>)>;
    /// The component called `name`, with its defaults.
    fn named(name: &str) -> Option<Self>;
    /// The parameters with their defaults.
    fn rows(&self) -> Vec<Param>;
    /// Other spellings of parameter names, and the names that they mean.
    fn spellings(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Sets a parameter; `None` if there is no parameter with that name.
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>>;
}

macro_rules! parameters {
    ($($spec:ident = $def:literal from $entries:expr, [$what:literal, $key:literal, $shown:literal] { $($own:item)* })+) => {
        $(impl KeyType for $spec {
            const EXAMPLE: &'static str = <Self as Parameters>::SHOWN;
            fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
                let others = Self::others(&mut Defs::default());
                read(node, &others.iter().map(|other| other.0).collect::<Vec<_>>())
            }
            fn write(&self, _names: &Names) -> Json {
                let mut table = Map::from_iter([(Self::WHAT[1].to_owned(), json!(self.card().name))]);
                table.extend(self.values().into_iter().map(|(name, value)| (name.to_owned(), json!(value))));
                table.into()
            }
            fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
                read(node, &[])
            }
            fn shown(&self, _key: &Key) -> String {
                format!("{:?}", self.card().name)
            }
            fn schema(_key: &Key, defs: &mut Defs) -> Json {
                let others = Self::others(defs);
                defs.refer($def, |_| Self::with_more_forms(schema_of::<Self>(&others)))
            }
        }

        impl Parameters for $spec {
            const WHAT: [&'static str; 2] = [$what, $key];
            const SHOWN: &'static str = $shown;
            fn entries() -> Vec<(Card, Vec<Param>)> {
                $entries.iter().map(|entry| (entry.card, (entry.rows)())).collect()
            }
            fn named(name: &str) -> Option<Self> {
                Self::named(name)
            }
            fn rows(&self) -> Vec<Param> {
                self.rows()
            }
            fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>> {
                self.set(name, value)
            }
            $($own)*
        })+
    };
}

parameters! {
    LawSpec = "Control" from LAWS, ["law", "law", "highspeed"] {
        // A table without a law sets only the slow start of Reno.
        const WITHOUT: Option<&'static str> = Some("reno");
        fn others(defs: &mut Defs) -> Vec<(&'static str, Json)> {
            // The schema of slow starts is defined once and not with each law.
            let mut slow_start = defs.refer("SlowStart", |_| schema_of::<StartSpec>(&[]));
            slow_start["description"] = json!(SLOW_START);
            vec![("slow_start", slow_start)]
        }
        fn with_more_forms(mut schema: Json) -> Json {
            if let Some(forms) = schema["anyOf"].as_array_mut() {
                forms.push(OwnLaw::schema());
            }
            schema
        }
    }
    StartSpec = "SlowStart" from STARTS, ["slow start", "kind", "limited"] {}
    QueueSpec = "Queue" from QUEUES, ["discipline", "discipline", "drop-tail"] {
        fn spellings(&self) -> &'static [(&'static str, &'static str)] {
            self.spellings()
        }
        fn others(_defs: &mut Defs) -> Vec<(&'static str, Json)> {
            let profile = json!({ "const": queue::LINUX, "description": QUEUE_PROFILE });
            vec![("limit", json!({ "type": "string", "description": LIMIT })), (profile::KEY, profile)]
        }
        fn profiled(&self, node: &Node, given: &[&str]) -> Result<Vec<(&'static str, Value)>, ScenarioError> {
            Ok(profile::of(node, self.card().name)?.map_or_else(Vec::new, |profile| profile.parameters(given).collect()))
        }
    }
    TrafficSpec = "Traffic" from TRAFFIC, ["traffic", "kind", "bulk"] {}
}

const SLOW_START: &str = "How the window opens: a name, or a table such as { kind = \"limited\", max_ssthresh = 100 }. Default: \"classic\".";

const QUEUE_PROFILE: &str = "Whose parameters those are that the table does not give: \"linux\" for Linux's (elephan list profiles), the limit included.";

const LIMIT: &str = "The link's buffer, where `tc` says it; instead of the link's own key.";

const FILE: &str = "Instead of flows: a CSV or Parquet file with the columns start_s and size_bytes.";

/// The component called `name`; `place` is the place of the name.
pub(crate) fn named<P: Parameters>(name: &str, place: &str) -> Result<P, ScenarioError> {
    P::named(name).ok_or_else(|| {
        let cards: Vec<Card> = P::entries().into_iter().map(|entry| entry.0).collect();
        let names: Vec<_> = cards.iter().map(|card| card.name).collect();
        let aliases: Vec<_> = cards.iter().flat_map(|card| card.aliases).copied().collect();
        ScenarioError::wrong(place, unknown(P::WHAT[0], name, &names, &aliases))
    })
}

/// Reads a component: a name alone, or a table with the name at its key and parameters; `others` are keys of the table that
/// belong to other types.
pub(crate) fn read<P: Parameters>(node: &Node, others: &[&str]) -> Result<P, ScenarioError> {
    if let Some(name) = node.as_text() {
        return named(name, &node.place);
    }
    let (key, example) = (P::WHAT[1], P::SHOWN);
    let form = format!("text such as {example:?} or a table such as {{ {key} = {example:?} }}");
    if !node.value.is_object() {
        return Err(node.wrong(format!("must be {form}")));
    }
    let place = format!("{}.{key}", node.place);
    let name = match (node.get(key), P::WITHOUT) {
        (Some(name), _) => name.text(example)?,
        (None, Some(name)) => name,
        (None, None) => {
            return Err(ScenarioError::wrong(place, format!("missing; write for example {key} = {example:?}")));
        }
    };
    let mut spec: P = named(name, &place)?;
    let rows = spec.rows();
    let names = rows.iter().map(|row| row.name).chain(spec.spellings().iter().map(|spelling| spelling.0));
    let known: Vec<&str> = [key].iter().chain(others).copied().chain(names).collect();
    let mut set = BTreeMap::new();
    for (name, node_at) in node.table(&known, &form)? {
        if name == key || others.contains(&name) {
            continue;
        }
        let meant = spec.spellings().iter().find(|spelling| spelling.0 == name).map_or(name, |spelling| spelling.1);
        if let Some(other) = set.insert(meant.to_owned(), name.to_owned()) {
            return Err(node_at.wrong(format!("is the same as {other}; give one of them")));
        }
        let row = rows.iter().find(|row| row.name == meant);
        let value = value_of(&node_at, row.is_some_and(|row| matches!(row.default, Value::Pairs(_))))?;
        // An amount without a unit is in packets here, but in bytes with the other spelling.
        let amount = row.is_some_and(|row| row.unit == "packets");
        if meant != name && amount && matches!(value, Value::Number(_)) {
            return Err(node_at.wrong("must have its unit, such as \"30 kB\" or \"20 packets\": tc counts bytes"));
        }
        spec.set(name, &value).unwrap_or(Ok(())).map_err(ScenarioError::parameter(&node.place))?;
    }
    let given: Vec<&str> = set.keys().map(String::as_str).collect();
    for (name, value) in spec.profiled(node, &given)? {
        spec.set(name, &value).unwrap_or(Ok(())).map_err(ScenarioError::parameter(&node.place))?;
    }
    Ok(spec)
}

/// The value of a parameter, which may be a list of `pairs`. Unsuitable values are refused by the parameter itself.
fn value_of(node: &Node, pairs: bool) -> Result<Value, ScenarioError> {
    match node.value {
        Json::Bool(x) => Ok(Value::Bool(*x)),
        Json::Number(x) => Ok(Value::Number(x.as_f64().unwrap_or(f64::NAN))),
        Json::Null => Ok(Value::Number(f64::NAN)),
        Json::String(text) => Ok(Value::Text(text.clone())),
        Json::Array(_) if pairs => {
            node.list("a list of pairs")?.iter().map(pair_of).collect::<Result<_, _>>().map(Value::Pairs)
        }
        _ => Err(node.wrong("must be a number, a text, true or false")),
    }
}

fn pair_of(node: &Node) -> Result<[f64; 2], ScenarioError> {
    match node.list(PAIR)?.as_slice() {
        [x, y] => Ok([x.number(&Key::default())?, y.number(&Key::default())?]),
        _ => Err(node.wrong(format!("must be {PAIR}"))),
    }
}

const PAIR: &str = "a pair of numbers such as [1000, 8.2]";

/// The schema of all names, and of every table with its parameters under all their names.
fn schema_of<P: Parameters>(others: &[(&str, Json)]) -> Json {
    let mut entries = P::entries();
    for (card, rows) in &mut entries {
        let spellings = P::named(card.name).map_or(&[][..], |spec| spec.spellings());
        let renamed = |(other, name): &(&'static str, &str)| {
            let row = rows.iter().find(|row| row.name == *name)?;
            Some(Param { name: other, ..row.clone() })
        };
        let more: Vec<Param> = spellings.iter().filter_map(renamed).collect();
        rows.extend(more);
        // Python reads a file with a list of flows and replaces the key by the rows.
        let flows = rows.iter().find(|row| card.name == "replay" && row.name == "flows");
        let file = flows.map(|row| Param { name: "file", meaning: FILE.into(), ..row.clone() });
        rows.extend(file);
    }
    choice(P::WHAT[1], P::WITHOUT, &entries, others)
}

//! JSON Schema of the scenario file, for editors, forms and the reference page: made of the keys and types that the reader
//! reads, and of the registries' parameters.

use crate::Scenario;
use crate::table::{KeyType, Table};
use base::keys::{Range, VisitKey};
use base::{Amount, Card, Key, Param, Value};
use schemars::Schema;
use serde_json::{Map, Value as Json, json};

/// JSON Schema (2020-12) of a scenario file, as text.
#[must_use]
pub fn schema() -> String {
    let mut defs = Defs::default();
    let mut file = described::<Scenario<Amount>>(&mut defs);
    file["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    file["title"] = json!("elephan scenario");
    file["$defs"] = Json::Object(defs.0);
    // `Schema` writes what a reader looks for first, the description, in front of the rest.
    Schema::try_from(file).and_then(|schema| serde_json::to_string_pretty(&schema)).unwrap_or_default()
}

/// The schemas that others refer to.
#[derive(Default)]
pub(crate) struct Defs(Map<String, Json>);

impl Defs {
    /// A reference to the schema called `name`, which `make` makes the first time.
    pub fn refer(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.0.contains_key(name) {
            // Known before it is made.
            self.0.insert(name.into(), Json::Null);
            let made = make(self);
            self.0.insert(name.into(), made);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// A reference to the schema of a table of which a file gives one key.
    pub fn one_of<T: Table>(&mut self, name: &str) -> Json {
        let reference = self.table::<T>(name);
        (self.0[name]["minProperties"], self.0[name]["maxProperties"]) = (json!(1), json!(1));
        reference
    }

    /// A reference to the schema of a table.
    pub fn table<T: Table>(&mut self, name: &str) -> Json {
        self.refer(name, described::<T>)
    }
}

fn described<T: Table>(defs: &mut Defs) -> Json {
    let mut table = SchemaTable { properties: Map::new(), required: Vec::new(), defs };
    T::visit_table(None, &mut table);
    let mut schema = json!({ "description": T::ABOUT, "type": "object", "properties": table.properties });
    schema["additionalProperties"] = json!(false);
    if !table.required.is_empty() {
        schema["required"] = json!(table.required);
    }
    schema
}

/// The keys of one table.
pub(crate) struct SchemaTable<'d> {
    properties: Map<String, Json>,
    required: Vec<&'static str>,
    defs: &'d mut Defs,
}

impl<T: KeyType> VisitKey<T> for SchemaTable<'_> {
    fn visit_key(&mut self, key: &Key, _value: Option<&T>, default: Option<T>) {
        let mut schema = T::schema(key, self.defs);
        let shown = default.as_ref().map_or_else(String::new, |default| default.shown(key));
        let said = shown.is_empty() || key.meaning.contains("Default: ");
        let meaning = if said { key.meaning.to_owned() } else { format!("{} Default: {shown}.", key.meaning) };
        schema["description"] = json!(meaning);
        self.properties.insert(key.name.into(), schema);
        if default.is_none() && T::REQUIRED {
            self.required.push(key.name);
        }
    }
}

/// Of text that matches `pattern`.
pub(crate) fn text(pattern: &str) -> Json {
    json!({ "type": "string", "pattern": format!(r"^\s*({pattern})\s*$") })
}

/// Of a number of this `kind` within the range of its key.
pub(crate) fn number(kind: &str, key: &Key) -> Json {
    // 1e9 is written as people write it.
    let short = |x: &f64| if x.trunc() == *x { json!(*x as u64) } else { json!(x) };
    let (minimum, maximum) = match &key.range {
        Some(Range::Whole(range)) => (json!(range.start()), json!(range.end())),
        Some(Range::Number(range)) => (short(range.start()), short(range.end())),
        _ if kind == "integer" => return json!({ "type": kind, "minimum": 0 }),
        _ => return json!({ "type": kind }),
    };
    json!({ "type": kind, "minimum": minimum, "maximum": maximum })
}

/// A name alone, or a table with the name at `key` (which may be left out for the `default`), parameters and `others`
/// beside it.
pub(crate) fn choice(
    key: &str,
    default: Option<&str>,
    entries: &[(Card, Vec<Param>)],
    others: &[(&str, Json)],
) -> Json {
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
    json!({ "anyOf": forms })
}

fn parameter(row: &Param) -> Json {
    let unit = if row.unit.is_empty() { String::new() } else { format!(" [{}]", row.unit) };
    let description = format!("{}{unit}", row.meaning);
    let (mut schema, default) = match &row.default {
        Value::Bool(x) => (json!({ "type": "boolean" }), json!(x)),
        Value::Number(x) => (json!({ "type": "number" }), json!(x)),
        // Amounts may be bare numbers of packets.
        Value::Text(word) if word.ends_with(" packets") || (word == "auto" && row.unit == "packets") => {
            let mut schema = text(&format!("{}|auto", base::amount::pattern(true)));
            schema["type"] = json!(["string", "number"]);
            (schema, json!(word))
        }
        // What is left open may be given.
        Value::Text(word) if word == "auto" => (json!({ "type": ["string", "number"] }), json!(word)),
        Value::Text(word) => (json!({ "type": "string" }), json!(word)),
        Value::Pairs(pairs) => {
            let pair = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
            (json!({ "type": "array", "items": pair, "minItems": 1 }), json!(pairs))
        }
    };
    let shown = default.to_string();
    schema["description"] = json!(format!("{description} Default: {shown}."));
    schema["default"] = default;
    schema
}

//! Parts of the JSON Schema: texts, numbers, and names with parameters.

use base::keys::Range;
use base::{Card, Key, Param, Value};
use serde_json::{Map, Value as Json, json};

/// Schema of text that matches `pattern`.
pub(crate) fn text(pattern: &str) -> Json {
    json!({ "type": "string", "pattern": format!(r"^\s*({pattern})\s*$") })
}

/// Schema of a number of this `kind` within the range of its key.
pub(crate) fn number(kind: &str, key: &Key) -> Json {
    // Large whole numbers are written with few digits, such as 1e9.
    let short = |x: &f64| if x.trunc() == *x { json!(*x as u64) } else { json!(x) };
    let (minimum, maximum) = match &key.range {
        Some(Range::Whole(range)) => (json!(range.start()), json!(range.end())),
        Some(Range::Number(range)) => (short(range.start()), short(range.end())),
        _ if kind == "integer" => return json!({ "type": kind, "minimum": 0, "maximum": i64::MAX }),
        _ => return json!({ "type": kind }),
    };
    json!({ "type": kind, "minimum": minimum, "maximum": maximum })
}

/// A name alone, or a table with the name at `key` (optional for the `default`), parameters and `others`.
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
        // Amounts may also be numbers of packets without a unit.
        Value::Text(word) if word.ends_with(" packets") || (word == "auto" && row.unit == "packets") => {
            let mut schema = text(&format!("{}|auto", base::amount::pattern(true)));
            schema["type"] = json!(["string", "number"]);
            (schema, json!(word))
        }
        // A parameter with the default "auto" also takes a number.
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

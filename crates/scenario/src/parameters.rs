//! Whatever has a name and parameters in a file (laws, slow starts, disciplines): `"name"` or `{ key = "name", … }`.

use crate::ScenarioError;
use crate::reader::Node;
use base::{Param, ParamError, Value};
use std::collections::BTreeMap;

/// What can be configured by name.
pub(crate) trait Parameters: Sized {
    /// Names and defaults.
    fn rows(&self) -> Vec<Param>;
    /// Other spellings of names, and what they stand for.
    fn spellings(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Sets one; `None` if there is no such parameter.
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>>;
}

/// Reads a specification whose name stands at `key` (or alone; `default` if a table has no such key), with its
/// parameters beside it; `others` are keys of the table that are somebody else's.
pub(crate) fn read<P: Parameters>(
    node: &Node,
    key: &str,
    others: &[&str],
    (default, example): (Option<&str>, &str),
    named: &dyn Fn(&str, &str) -> Result<P, ScenarioError>,
) -> Result<P, ScenarioError> {
    if let Some(name) = node.as_text() {
        return named(name, &node.place);
    }
    let form = format!("text such as {example:?} or a table such as {{ {key} = {example:?} }}");
    let Some(table) = node.value.as_table() else {
        return Err(node.wrong(format!("must be {form}")));
    };
    let place = format!("{}.{key}", node.place);
    let name = match (table.get(key), default) {
        (Some(value), _) => Node { value, place: place.clone() }.text(example)?,
        (None, Some(name)) => name,
        (None, None) => {
            return Err(ScenarioError::wrong(place, format!("missing; write for example {key} = {example:?}")));
        }
    };
    let mut spec = named(name, &place)?;
    let rows = spec.rows();
    let names = rows.iter().map(|row| row.name).chain(spec.spellings().iter().map(|spelling| spelling.0));
    let known: Vec<&str> = [key].iter().chain(others).copied().chain(names).collect();
    let mut set = BTreeMap::new();
    for (name, node_at) in node.table(&known, &form)?.entries() {
        if name == key || others.contains(&name) {
            continue;
        }
        let meant = spec.spellings().iter().find(|spelling| spelling.0 == name).map_or(name, |spelling| spelling.1);
        if let Some(other) = set.insert(meant.to_owned(), name.to_owned()) {
            return Err(node_at.wrong(format!("is the same as {other}; give one of them")));
        }
        let row = rows.iter().find(|row| row.name == meant);
        let value = match row.map(|row| &row.default) {
            Some(Value::Pairs(_)) => pairs_of(&node_at)?,
            _ => value_of(&node_at)?,
        };
        // A bare number of an amount is packets here, but bytes where the other spelling comes from.
        let amount = row.is_some_and(|row| row.unit == "packets");
        if meant != name && amount && matches!(value, Value::Number(_)) {
            return Err(node_at.wrong("must have its unit, such as \"30 kB\" or \"20 packets\": tc counts bytes"));
        }
        if let Some(Err(source)) = spec.set(name, &value) {
            return Err(ScenarioError::Parameter { place: node.place.clone(), source });
        }
    }
    Ok(spec)
}

fn value_of(node: &Node) -> Result<Value, ScenarioError> {
    match node.value {
        toml::Value::Boolean(x) => Ok(Value::Bool(*x)),
        toml::Value::Integer(n) => Ok(Value::Number(*n as f64)),
        toml::Value::Float(x) => Ok(Value::Number(*x)),
        toml::Value::String(text) => Ok(Value::Text(text.clone())),
        _ => Err(node.wrong("must be a number, a text, true or false")),
    }
}

/// A list of pairs; anything else is left to the parameter to refuse.
fn pairs_of(node: &Node) -> Result<Value, ScenarioError> {
    if !node.value.is_array() {
        return value_of(node);
    }
    let mut pairs = Vec::new();
    for entry in node.list("a list of pairs")? {
        let pair = entry.list(PAIR)?;
        let [x, y] = pair.as_slice() else { return Err(entry.wrong(format!("must be {PAIR}"))) };
        pairs.push([x.number()?, y.number()?]);
    }
    Ok(Value::Pairs(pairs))
}

const PAIR: &str = "a pair of numbers such as [1000, 8.2]";

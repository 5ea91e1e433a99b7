//! A reader for the tree of a file or of a canonical form. It knows its place in the tree, so that every error can name it.

use crate::ScenarioError;
use crate::error::{one_line, position};
use crate::names::Names;
use base::Key;
use base::keys::Range;
use base::spelling::nearest;
use base::text::TextError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses TOML into the same kind of tree as canonical forms have; infinite numbers and NaN become `null`.
pub(crate) fn parse(text: &str) -> Result<Value, ScenarioError> {
    toml::from_str(text).map_err(|error| {
        let at = position(text, error.span().map_or(text.len(), |span| span.start));
        let reason = match error.message() {
            "JSON number out of range" => "whole numbers end at 9223372036854775807",
            other => other,
        };
        ScenarioError::syntax(at, reason)
    })
}

/// Names of keys in other programs, and the corresponding names here.
const SYNONYMS: [(&str, &str); 14] = [
    ("law", "control"),
    ("congestion_control", "control"),
    ("cc", "control"),
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("latency", "delay"),
    ("propagation", "delay"),
    ("mss", "packet"),
    ("packet_size", "packet"),
    ("flows", "count"),
    ("number", "count"),
    ("discipline", "queue"),
    ("qdisc", "queue"),
    ("aqm", "queue"),
];

/// Key of the table into which the parser converts a date.
const DATE: &str = "$__toml_private_datetime";

/// `key` in the form that TOML requires.
fn quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.to_owned() } else { format!("{key:?}") }
}

/// A value and its place.
pub(crate) struct Node<'a> {
    /// The value at this place.
    pub value: &'a Value,
    /// The place, such as `flows[1].control.beta`.
    pub place: String,
    /// Known names that values may refer to.
    pub names: &'a Names,
}

impl<'a> Node<'a> {
    /// Returns an error at this place.
    pub fn wrong(&self, reason: impl Into<String>) -> ScenarioError {
        ScenarioError::wrong(&self.place, reason)
    }

    /// The kind of the value here with its article, for messages.
    fn kind(&self) -> &'static str {
        match self.value {
            Value::String(_) => "text",
            Value::Number(_) => "a bare number",
            Value::Bool(_) => "true or false",
            Value::Array(_) => "a list",
            Value::Object(table) if table.contains_key(DATE) => "a date",
            Value::Object(_) => "a table",
            Value::Null => "nan, inf or null",
        }
    }

    /// Text here, or `None` if the value is not a text.
    pub fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// The text here.
    pub fn text(&self, example: &str) -> Result<&'a str, ScenarioError> {
        self.as_text().ok_or_else(|| self.wrong(format!("must be text such as {example:?}, not {}", self.kind())))
    }

    /// The quantity here, parsed from its text by `read`.
    pub fn quantity<T>(&self, read: fn(&str) -> Result<T, TextError>, example: &str) -> Result<T, ScenarioError> {
        let text = self
            .as_text()
            .ok_or_else(|| self.wrong(format!("must be text with a unit, such as {example:?}, not {}", self.kind())))?;
        read(text).map_err(|source| {
            // If the unit is missing, the message suggests the unit of the example.
            let source = match (source, example.split_once(' ')) {
                (TextError::NoUnit(text, _), Some((_, unit))) => {
                    let right = format!("{} {unit}", text.trim());
                    TextError::NoUnit(text, right)
                }
                (source, _) => source,
            };
            self.wrong(source.to_string())
        })
    }

    /// The whole number here.
    pub fn whole<T: TryFrom<u64>>(&self, key: &Key) -> Result<T, ScenarioError> {
        // TOML's integers and those of a store's index have 63 bits.
        let any = 0..=i64::MAX as u64;
        let range = if let Some(Range::Whole(range)) = &key.range { range } else { &any };
        let x = self.value.as_u64().filter(|n| range.contains(n)).and_then(|n| T::try_from(n).ok());
        x.ok_or_else(|| {
            let (from, to) = (range.start(), range.end().min(&(i64::MAX as u64)));
            self.wrong(format!("must be a whole number{} from {from} to {to}{}", of_unit(key), or_word(key)))
        })
    }

    /// The number here, integer or not; never infinite.
    pub fn number(&self, key: &Key) -> Result<f64, ScenarioError> {
        let x = self.value.as_f64();
        let x = x.ok_or_else(|| self.wrong(format!("must be a number{}{}", of_unit(key), or_word(key))))?;
        match &key.range {
            Some(Range::Number(range)) if !range.contains(&x) => {
                let right = format!("must lie between {} and {} {}", range.start(), range.end(), key.unit);
                Err(self.wrong(right.trim_end()))
            }
            _ => Ok(x),
        }
    }

    /// Reads a value whose type derives serde.
    pub fn derived<T: DeserializeOwned>(&self) -> Result<T, ScenarioError> {
        T::deserialize(self.value).map_err(|error| self.wrong(one_line(&error.to_string())))
    }

    /// The elements of the list here; `form` describes a valid value for messages.
    pub fn list(&self, form: &str) -> Result<Vec<Node<'a>>, ScenarioError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong(format!("must be {form}, not {}", self.kind())))?;
        let node = |(i, value)| Node { value, place: format!("{}[{i}]", self.place), names: self.names };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// The keys of the table here with their values, in alphabetical order. All keys must be among `known`; `form`
    /// describes other allowed values.
    pub fn table(&self, known: &[&str], form: &str) -> Result<Vec<(&'a str, Self)>, ScenarioError> {
        let table = self.value.as_object().filter(|table| !table.contains_key(DATE));
        let table = table.ok_or_else(|| self.wrong(format!("must be {form}, not {}", self.kind())))?;
        let entry = |(key, value): (&'a String, _)| {
            if known.contains(&key.as_str()) {
                return Ok((key.as_str(), Self { value, ..self.at(key) }));
            }
            let meant = SYNONYMS.iter().find(|(other, right)| *other == key.as_str() && known.contains(right));
            let hint = match nearest(key, known.iter().copied()).or(meant.map(|(_, right)| *right)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            Err(self.at(key).wrong(format!("unknown key; {hint}")))
        };
        table.iter().map(entry).collect()
    }

    /// The same place with a different `value`.
    pub fn with(&self, value: &'a Value) -> Self {
        Node { value, place: self.place.clone(), names: self.names }
    }

    /// The place of `key` in the table here.
    pub fn at(&self, key: &str) -> Self {
        let key = quoted(key);
        let place = if self.place.is_empty() { key } else { format!("{}.{key}", self.place) };
        Node { value: self.value, place, names: self.names }
    }

    /// Error for a missing value; `hint` says what to write.
    pub fn missing(&self, hint: &str) -> ScenarioError {
        self.wrong(format!("missing; {hint}"))
    }

    /// The value at `key`, if this is a table with that key.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.value.get(key).map(|value| Node { value, ..self.at(key) })
    }
}

/// The unit for messages, such as ` of segments`; empty if there is none.
fn of_unit(key: &Key) -> String {
    if key.unit.is_empty() { String::new() } else { format!(" of {}", key.unit) }
}

/// The alternative word for messages, such as `, or "none"`; empty if there is none.
pub(crate) fn or_word(key: &Key) -> String {
    if key.word.is_empty() { String::new() } else { format!(", or {:?}", key.word) }
}

//! A small reader over the TOML tree that carries the place, so that every refusal can name it.

use crate::ScenarioError;
use crate::error::{one_line, position};
use crate::names::nearest;
use base::text::{self, TextError};
use base::{Bytes, Rate, Span};
use std::ops::RangeInclusive;
use toml::Value;

/// Parses TOML into a tree.
pub(crate) fn parse(text: &str) -> Result<toml::Table, ScenarioError> {
    text.parse::<toml::Table>().map_err(|error| {
        let (line, column) = position(text, error.span().map_or(text.len(), |span| span.start));
        ScenarioError::Syntax { line, column, reason: one_line(error.message()) }
    })
}

/// A value and its place.
pub(crate) struct Node<'a> {
    /// What stands there.
    pub value: &'a Value,
    /// `flows[1].control.beta`
    pub place: String,
}

/// A table whose keys are all known, and its place (empty for the whole file).
pub(crate) struct Fields<'a> {
    table: &'a toml::Table,
    /// `flows[1].control`
    pub place: String,
}

impl<'a> Node<'a> {
    /// An error at this place.
    pub fn wrong(&self, reason: impl Into<String>) -> ScenarioError {
        ScenarioError::wrong(&self.place, reason)
    }

    /// The word for what stands here, with its article.
    fn kind(&self) -> &'static str {
        match self.value {
            Value::String(_) => "text",
            Value::Integer(_) | Value::Float(_) => "a bare number",
            Value::Boolean(_) => "true or false",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The text here, or `None` if something else stands here.
    pub fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// The text here.
    pub fn text(&self, example: &str) -> Result<&'a str, ScenarioError> {
        self.as_text().ok_or_else(|| self.wrong(format!("must be text such as {example:?}, not {}", self.kind())))
    }

    /// The text of a quantity here.
    fn quantity(&self, example: &str) -> Result<&'a str, ScenarioError> {
        self.as_text()
            .ok_or_else(|| self.wrong(format!("must be text with a unit, such as {example:?}, not {}", self.kind())))
    }

    /// The time here.
    pub fn span(&self, example: &str) -> Result<Span, ScenarioError> {
        self.quantity(example).and_then(|t| text::span(t).map_err(|e| self.not_a_quantity(e, example)))
    }

    /// The rate here.
    pub fn rate(&self, example: &str) -> Result<Rate, ScenarioError> {
        self.quantity(example).and_then(|t| text::rate(t).map_err(|e| self.not_a_quantity(e, example)))
    }

    /// The size here.
    pub fn bytes(&self, example: &str) -> Result<Bytes, ScenarioError> {
        self.quantity(example).and_then(|t| text::bytes(t).map_err(|e| self.not_a_quantity(e, example)))
    }

    /// The buffer here, still as text.
    pub fn buffer(&self, example: &str) -> Result<&'a str, ScenarioError> {
        self.quantity(example)
    }

    /// A refusal by `base::text`, at this place; a unit that is missing is that of the `example`.
    pub fn not_a_quantity(&self, source: TextError, example: &str) -> ScenarioError {
        let source = match (source, example.split_once(' ')) {
            (TextError::NoUnit(text, _), Some((_, unit))) => {
                let right = format!("{} {unit}", text.trim());
                TextError::NoUnit(text, right)
            }
            (source, _) => source,
        };
        ScenarioError::Quantity { place: self.place.clone(), source }
    }

    /// The whole number here.
    pub fn whole(&self, range: &RangeInclusive<u64>) -> Result<u64, ScenarioError> {
        match self.value {
            Value::Integer(n) => u64::try_from(*n).ok().filter(|n| range.contains(n)),
            _ => None,
        }
        .ok_or_else(|| self.wrong(not_whole(range)))
    }

    /// The number here, whole or not; never infinite.
    pub fn number(&self) -> Result<f64, ScenarioError> {
        match self.value {
            Value::Integer(n) => Some(*n as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        }
        .filter(|x| x.is_finite())
        .ok_or_else(|| self.wrong("must be a number"))
    }

    /// `true` or `false`.
    pub fn flag(&self) -> Result<bool, ScenarioError> {
        self.value.as_bool().ok_or_else(|| self.wrong("must be true or false"))
    }

    /// The elements of the list here; `form` says what would be right.
    pub fn list(&self, form: &str) -> Result<Vec<Node<'a>>, ScenarioError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong(format!("must be {form}, not {}", self.kind())))?;
        Ok(items.iter().enumerate().map(|(i, value)| Node { value, place: format!("{}[{i}]", self.place) }).collect())
    }

    /// The table here, all of whose keys must be among `known`; `form` says what else would be right.
    pub fn table(&self, known: &[&str], form: &str) -> Result<Fields<'a>, ScenarioError> {
        let table = self.value.as_table().ok_or_else(|| self.wrong(format!("must be {form}, not {}", self.kind())))?;
        Fields::new(table, self.place.clone(), known)
    }
}

impl<'a> Fields<'a> {
    /// The fields of `table`, which stands at `place`.
    pub fn new(table: &'a toml::Table, place: String, known: &[&str]) -> Result<Self, ScenarioError> {
        let fields = Self { table, place };
        for key in table.keys() {
            if !known.contains(&key.as_str()) {
                let hint = match nearest(key, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known here: {}", known.join(", ")),
                };
                return Err(ScenarioError::UnknownKey { place: fields.at(key), hint });
            }
        }
        Ok(fields)
    }

    /// The place of `key`.
    pub fn at(&self, key: &str) -> String {
        let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let key = if bare { key.to_owned() } else { format!("{key:?}") };
        if self.place.is_empty() { key } else { format!("{}.{key}", self.place) }
    }

    /// What stands at `key`, if anything.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.table.get(key).map(|value| Node { value, place: self.at(key) })
    }

    /// What stands at `key`; `hint` says what to write if nothing does.
    pub fn need(&self, key: &str, hint: &'static str) -> Result<Node<'a>, ScenarioError> {
        self.get(key).ok_or_else(|| ScenarioError::Missing { place: self.at(key), hint })
    }

    /// Every key with what stands there, in the order of the alphabet.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        self.table.iter().map(|(key, value)| (key.as_str(), Node { value, place: self.at(key) }))
    }
}

/// What a whole number outside `range`, or no number at all, should have been.
pub(crate) fn not_whole(range: &RangeInclusive<u64>) -> String {
    format!("must be a whole number from {} to {}", range.start(), range.end())
}

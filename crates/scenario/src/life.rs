//! When flows start and stop: `start` and `stop` of a group.

use crate::reader::Node;
use crate::values::TIMES;
use crate::{ScenarioError, Start, Stop};
use base::Span;

/// Keys of `start = {…}`.
pub(crate) const START_KEYS: &[&str] = &["from", "to", "every"];

/// Keys of `stop = {…}`.
pub(crate) const STOP_KEYS: &[&str] = &["from", "to", "after"];

/// Keys of `stop = { after = {…} }`.
pub(crate) const AFTER_KEYS: &[&str] = &["exponential"];

pub(crate) fn start(node: &Node) -> Result<Start, ScenarioError> {
    if node.value.is_array() {
        return TIMES.list(node).map(Start::List);
    }
    if !node.value.is_table() {
        return node.span("0 s").map(|at| Start::Between(at, at));
    }
    let fields = node.table(START_KEYS, "")?;
    let from = fields.need("from", "write for example from = \"0 s\"")?.span("0 s")?;
    match (fields.get("to"), fields.get("every")) {
        (None, Some(every)) => Ok(Start::Every(from, every.span("10 s")?)),
        (Some(_), Some(every)) => Err(every.wrong("does not go with `to`; give one of them")),
        _ => {
            let to = fields.need("to", "write for example to = \"5 s\", or every = \"10 s\"")?.span("5 s")?;
            Ok(Start::Between(from, to))
        }
    }
}

pub(crate) fn stop(node: &Node) -> Result<Stop, ScenarioError> {
    if !node.value.is_table() {
        return node.span("100 s").map(|at| Stop::Between(at, at));
    }
    let fields = node.table(STOP_KEYS, "")?;
    if let Some(after) = fields.get("after") {
        if fields.get("from").is_some() || fields.get("to").is_some() {
            return Err(after.wrong("does not go with `from` and `to`; give one or the other"));
        }
        if !after.value.is_table() {
            return after.span("100 s").map(Stop::After);
        }
        let fields = after.table(AFTER_KEYS, "")?;
        let mean = fields.need("exponential", "write for example exponential = \"100 s\"")?;
        return mean.span("100 s").map(Stop::AfterExponential);
    }
    let from = fields.need("from", "write for example from = \"90 s\", or after = \"100 s\"")?.span("90 s")?;
    let to = fields.need("to", "write for example to = \"100 s\"")?.span("100 s")?;
    Ok(Stop::Between(from, to))
}

impl Start {
    /// The earliest.
    #[must_use]
    pub fn first(&self) -> Span {
        match self {
            Self::Between(from, _) | Self::Every(from, _) => *from,
            Self::List(list) => list.iter().min().copied().unwrap_or(Span::ZERO),
        }
    }

    /// The latest of `count` flows.
    #[must_use]
    pub fn last(&self, count: u32) -> Span {
        match self {
            Self::Between(_, to) => *to,
            Self::Every(from, every) => {
                let later = every.0.saturating_mul(u64::from(count.saturating_sub(1)));
                Span(from.0.saturating_add(later))
            }
            Self::List(list) => list.iter().max().copied().unwrap_or(Span::ZERO),
        }
    }
}

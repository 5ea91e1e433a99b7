//! A list of flows as text in order of time, `"0 s 12 kB; 1.5 s 300 kB"`: the opening time and the size of each.
//!
//! Times are rounded to nanoseconds. A fast exact reader here handles plain decimals with the usual units; `base::text`
//! reads all other forms of quantities that a scenario allows. Error messages count entries from 1.

use base::param::ParamType;
use base::{Bytes, Span, Value};
use std::fmt::Write;
use std::sync::Arc;

/// Largest number of entries in a list.
const MOST: usize = 10_000_000;

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1000;

/// Units of the fast reader, in picoseconds and bytes.
const TIMES: [(&str, u64); 4] = [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", PS_PER_NS)];
const SIZES: [(&str, u64); 4] = [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];

/// A flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// Opening time, counted from the start of the list.
    pub at: Span,
    /// Its payload.
    pub size: Bytes,
}

/// Flows in the order of their times; there is at least one.
#[derive(Clone, PartialEq, Eq)]
pub struct FlowList {
    flows: Arc<[ListedFlow]>,
    largest: Bytes,
}

impl FlowList {
    /// A list of one flow.
    #[must_use]
    pub fn one(flow: ListedFlow) -> Self {
        Self { flows: Arc::new([flow]), largest: flow.size }
    }

    /// Flow number `i`, counted from 0, if there is one.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<ListedFlow> {
        self.flows.get(i).copied()
    }

    /// The payload of the largest flow.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.largest
    }

    /// Reads a list; a semicolon is allowed at the end.
    ///
    /// # Errors
    /// The number of the first wrong entry, with a description of valid entries.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text = text.strip_suffix(';').unwrap_or(text);
        if text.is_empty() {
            return Err("must hold a flow or more, such as \"0 s 12 kB; 1.5 s 300 kB\"".into());
        }
        let mut list = Vec::with_capacity(1 + text.bytes().filter(|&c| c == b';').count().min(MOST));
        let (mut last, mut largest) = (Span::ZERO, Bytes(0));
        for (i, text) in text.split(';').enumerate() {
            let entry = entry(text.trim()).map_err(|reason| format!("entry {}: {reason}", i + 1))?;
            if entry.at < last {
                return Err(format!("entry {}: opens before the one in front of it; sort them by time", i + 1));
            }
            if i == MOST {
                return Err(format!("has more than {MOST} entries"));
            }
            (last, largest) = (entry.at, largest.max(entry.size));
            list.push(entry);
        }
        Ok(Self { flows: list.into(), largest })
    }
}

impl std::fmt::Debug for FlowList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FlowList({} flows)", self.flows.len())
    }
}

impl ParamType for FlowList {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(text) => Self::parse(text),
            _ => Err("must be a text such as \"0 s 12 kB; 1.5 s 300 kB\"".into()),
        }
    }

    /// Writes decimal seconds and whole bytes.
    fn write(&self) -> Value {
        let mut text = String::with_capacity(20 * self.flows.len());
        for (i, entry) in self.flows.iter().enumerate() {
            let (whole, rest) = (entry.at.0 / PS_PER_NS / 1_000_000_000, entry.at.0 / PS_PER_NS % 1_000_000_000);
            let separator = if i == 0 { "" } else { "; " };
            // Writing to a string does not fail.
            let _ = write!(text, "{separator}{whole}");
            if rest > 0 {
                let _ = write!(text, ".{rest:09}");
                text.truncate(text.trim_end_matches('0').len());
            }
            let _ = write!(text, " s {} B", entry.size.0);
        }
        Value::Text(text)
    }
}

fn entry(text: &str) -> Result<ListedFlow, String> {
    let (time, size) = text.split_at(end_of_quantity(text));
    let size = size.trim_start();
    if size.is_empty() {
        return Err(format!("{text:?} is not a time and a size, such as \"1.5 s 300 kB\""));
    }
    let at = match plain(time, &TIMES, 1_000_000_000_000_000_000) {
        Some(ps) => ps,
        None => base::text::span(time).map_err(|error| error.to_string())?.0,
    };
    let bytes = match plain(size, &SIZES, 1_000_000_000_000_000) {
        Some(bytes) => bytes,
        None => base::text::bytes(size).map_err(|error| error.to_string())?.0,
    };
    if bytes == 0 {
        return Err("must hold at least 1 B".into());
    }
    Ok(ListedFlow { at: Span((at + PS_PER_NS / 2) / PS_PER_NS * PS_PER_NS), size: Bytes(bytes) })
}

/// End of the unit of the first quantity: a number, optional spaces, and characters that are neither digits nor spaces.
fn end_of_quantity(text: &str) -> usize {
    let unit = |c: char| !c.is_ascii_digit() && !c.is_whitespace();
    let mut rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-'));
    // An exponent, as in 1e-3.
    if let Some(power) = rest.strip_prefix(['e', 'E'])
        && power.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
    {
        rest = power.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    }
    text.len() - rest.trim_start().trim_start_matches(unit).len()
}

/// A quantity up to `most` that is a plain decimal with one of `units`, rounded to the nearest integer; `None` for all
/// other texts.
fn plain(text: &str, units: &[(&str, u64)], most: u64) -> Option<u64> {
    let (mut digits, mut scale, mut behind) = (0u64, 1u64, false);
    let mut end = 0;
    for c in text.bytes() {
        match c {
            b'0'..=b'9' => digits = digits.checked_mul(10)?.checked_add(u64::from(c - b'0'))?,
            b'.' if !behind => behind = true,
            _ => break,
        }
        scale = if behind && c != b'.' { scale.checked_mul(10)? } else { scale };
        end += 1;
    }
    let unit = units.iter().find(|unit| unit.0 == text[end..].trim())?.1;
    let value = (u128::from(digits) * u128::from(unit) + u128::from(scale) / 2) / u128::from(scale);
    // For values out of range and texts without a number, the general reader gives the error message.
    (end > usize::from(behind) && value <= u128::from(most)).then_some(value as u64)
}

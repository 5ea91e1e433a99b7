//! Times of transmission opportunities as text: whole milliseconds in order; `3x2` means two at 3 ms. Messages count
//! entries from 1.

use crate::ScenarioError;
use crate::names::Names;
use crate::node::Node;
use crate::table::{Defs, KeyType};
use base::{Bytes, Key, Rate};
use queue::OPPORTUNITY_BYTES;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::sync::Arc;

/// The largest number of opportunities, and the latest time: 11 days, as for all times.
const MOST: usize = 10_000_000;
const LATEST: u32 = 1_000_000_000;

/// Times in milliseconds, in order; there is at least one, and the last is above 0.
#[derive(Clone, PartialEq)]
pub struct OpportunityTimes(Arc<[u32]>);

impl OpportunityTimes {
    /// The times.
    #[must_use]
    pub fn times(&self) -> &Arc<[u32]> {
        &self.0
    }

    /// Mean rate of the opportunities.
    #[must_use]
    pub fn mean(&self) -> Rate {
        opportunity_rate(self.0.len(), self.0.last().copied().unwrap_or(1))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (mut list, mut last) = (Vec::new(), 0u32);
        for (i, word) in text.split_ascii_whitespace().enumerate() {
            let (time, times) = word.split_once('x').unwrap_or((word, "1"));
            let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse().ok()).flatten();
            let (Some(time), Some(times)) = (digits(time).filter(|ms| *ms <= LATEST), digits(times)) else {
                let right = format!("must be a whole number of milliseconds up to {LATEST}, such as 3, or 3x2 for two");
                return Err(format!("entry {}: {right}", i + 1));
            };
            if time < last {
                return Err(format!("entry {}: {time} ms comes before the one in front of it; sort them", i + 1));
            }
            if list.len() + times as usize > MOST {
                return Err(format!("has more than {MOST} times"));
            }
            last = time;
            list.resize(list.len() + times as usize, time);
        }
        match list.last() {
            None => Err("must hold a time or more, such as \"1 3x2 7\"".into()),
            Some(0) => Err("must end later than at 0 ms: it begins anew then".into()),
            Some(_) => Ok(Self(list.into())),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for same in self.0.chunk_by(|a, b| a == b) {
            let separator = if text.is_empty() { "" } else { " " };
            let _ = write!(text, "{separator}{}", same[0]);
            if same.len() > 1 {
                let _ = write!(text, "x{}", same.len());
            }
        }
        text
    }
}

impl std::fmt::Debug for OpportunityTimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpportunityTimes({} times)", self.0.len())
    }
}

impl KeyType for OpportunityTimes {
    const EXAMPLE: &'static str = "1 3x2 7";
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        Self::parse(node.text("1 3x2 7")?).map_err(|reason| node.wrong(reason))
    }
    fn write(&self, _names: &Names) -> Json {
        json!(self.text())
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        json!({ "type": "string", "pattern": r"^\s*[0-9]+(x[0-9]+)?(\s+[0-9]+(x[0-9]+)?)*\s*$" })
    }
}

/// Mean rate of `count` opportunities in `ms` milliseconds, to the nearest bit/s.
fn opportunity_rate(count: usize, ms: u32) -> Rate {
    let bits = 8 * u128::from(Bytes(OPPORTUNITY_BYTES).0) * count as u128 * 1000;
    Rate(((bits + u128::from(ms) / 2) / u128::from(ms.max(1))) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, times, again) in
            [("1 3 3 7", [1, 3, 3, 7].as_slice(), "1 3x2 7"), (" 0x2\n5x1 ", &[0, 0, 5], "0x2 5"), ("4x0 9", &[9], "9")]
        {
            let list = OpportunityTimes::parse(text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((&list.0[..], list.text().as_str()), (times, again));
        }
        // 1504 bytes per millisecond.
        assert_eq!(OpportunityTimes::parse("1 2 3").map(|list| list.mean()), Ok(Rate(12_032_000)));
    }

    #[test]
    fn what_is_no_list_of_times_is_refused() {
        for (text, reason) in [
            ("", "must hold a time or more"),
            ("1x0", "must hold a time or more"),
            ("0 0", "must end later than at 0 ms"),
            ("3 2", "entry 2: 2 ms comes before"),
            ("-1", "entry 1: must be a whole number"),
            ("1 2.5", "entry 2: must be a whole number"),
            ("1 +3", "entry 2: must be a whole number"),
            ("1 3x", "entry 2: must be a whole number"),
            ("4000000000", "entry 1: must be a whole number"),
            ("1x4000000000", "has more than 10000000"),
        ] {
            let error = OpportunityTimes::parse(text).expect_err(text);
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }
}

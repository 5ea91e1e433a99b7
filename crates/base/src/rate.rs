//! Bytes, and rates in bit/s, with the one division between them: the time to serialise a packet.

use crate::time::{PS_PER_S, Span};
use serde::{Deserialize, Serialize};

/// A number of bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A rate in bit/s; after a scenario has been read, it can be zero only in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub u64);

impl Rate {
    /// Time to serialise `bytes` at this rate, rounded to the nearest picosecond and never zero, so that a packet always
    /// leaves later than its service begins.
    #[must_use]
    pub fn serialize(self, bytes: Bytes) -> Span {
        let (bits, rate) = (u128::from(bytes.0) * 8 * u128::from(PS_PER_S), u128::from(self.0));
        Span((((bits + rate / 2) / rate) as u64).max(1))
    }

    /// Bytes that pass in `span`.
    #[must_use]
    pub fn bytes_in(self, span: Span) -> f64 {
        self.0 as f64 * span.as_secs() / 8.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kilobyte_at_a_gigabit_takes_eight_microseconds() {
        assert_eq!(Rate(1_000_000_000).serialize(Bytes(1000)), Span::micros(8));
        assert_eq!(Rate(3).serialize(Bytes(1)), Span(2_666_666_666_667));
        assert_eq!(Rate(u64::MAX).serialize(Bytes(1)), Span(1));
    }
}

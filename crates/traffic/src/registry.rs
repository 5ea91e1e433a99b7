//! The kinds of traffic there are.

use crate::Entry;
use base::{Bytes, Card, Param, Value};

/// A kind of traffic with its parameters, as a scenario file says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficSpec {
    /// There is always more to send.
    Bulk,
    /// `size` bytes of payload, then nothing.
    Finite {
        /// Payload of the transfer.
        size: Bytes,
    },
}

const BULK: Card = Card {
    name: "bulk",
    aliases: &["ftp", "greedy"],
    title: "Bulk transfer",
    source: "Always backlogged; the FTP source of the papers.",
    differs: "",
};

const FINITE: Card = Card {
    name: "finite",
    aliases: &["transfer"],
    title: "Finite transfer",
    source: "One file of given size.",
    differs: "The size is rounded up to whole segments.",
};

/// The catalogue.
pub const TRAFFIC: &[Entry] = &[
    Entry { card: BULK, rows: Vec::new },
    Entry {
        card: FINITE,
        rows: || {
            vec![Param {
                name: "size",
                default: Value::Text("1 MB".into()),
                unit: "bytes",
                meaning: "Payload of the transfer.",
            }]
        },
    },
];

impl TrafficSpec {
    /// The kind called `name`, with its defaults.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is = |card: Card| card.name == name || card.aliases.contains(&name);
        if is(BULK) {
            Some(Self::Bulk)
        } else if is(FINITE) {
            Some(Self::Finite { size: Bytes(1_000_000) })
        } else {
            None
        }
    }

    /// Its catalogue card.
    #[must_use]
    pub fn card(&self) -> Card {
        match self {
            Self::Bulk => BULK,
            Self::Finite { .. } => FINITE,
        }
    }

    /// Segments of `mss` bytes that there are to send; `None` for no end.
    #[must_use]
    pub fn segments(&self, mss: u32) -> Option<u32> {
        match self {
            Self::Bulk => None,
            Self::Finite { size } => Some(u32::try_from(size.0.div_ceil(u64::from(mss))).unwrap_or(u32::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_rounded_up_to_whole_segments() {
        assert_eq!(TrafficSpec::Finite { size: Bytes(2881) }.segments(960), Some(4));
        assert_eq!(TrafficSpec::Bulk.segments(960), None);
        assert!(TRAFFIC.iter().all(|entry| TrafficSpec::named(entry.card.name).is_some()));
    }
}

//! Reordering of packets on a link: some packets are late or early, or take one of several parallel paths, or each packet
//! has only its own jitter.
//!
//! Source: netem of Linux 6.12 for `early` and `gap` (facts, not text): with `delay D reorder P gap N` the share P leaves
//! at once and the others D later; after a packet that left at once, the next N - 1 are late.

use crate::names::Names;
use crate::node::Node;
use crate::table::{self, Defs, KeyType};
use crate::types::words;
use crate::{ScenarioError, limits};
use base::{Key, Span};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub enum Reorder {
    /// Packets do not wait for each other, so jitter and a decreasing delay let them overtake.
    Jitter,
    /// A share of the packets has a longer delay than the others.
    Late(Apart),
    /// A share of the packets has a shorter delay than the others.
    Early(Apart),
    /// Each packet takes one of several paths, each with its additional delay.
    Paths(Arc<[Span]>, Spray),
}

/// A share of packets with a different delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Probability with which each candidate packet gets the different delay.
    pub share: f64,
    /// Difference of the delays.
    pub by: Span,
    /// Smallest distance between two packets with the different delay, in packets.
    pub gap: u32,
}

impl Apart {
    /// Share of all packets: after `gap` - 1 packets, the next one follows after a geometric number of tries.
    #[must_use]
    pub fn of_all(&self) -> f64 {
        if self.share > 0.0 { 1.0 / (f64::from(self.gap) - 1.0 + 1.0 / self.share) } else { 0.0 }
    }
}

/// Choice of each packet's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spray {
    /// One path after the other.
    InTurn,
    /// Any path, with equal probability.
    Random,
}

impl Spray {
    /// All choices, with their names in scenario files.
    pub const ALL: [(Self, &'static str); 2] = [(Self::InTurn, "in-turn"), (Self::Random, "random")];
}

words! {
    Spray, "in-turn";
}

base::keys! {
    /// Packets whose delay is another one than that of the others: one of late, early, paths.
    pub struct ReorderTable {
        /// Share of packets that take longer than the others.
        late: Option<f64> = None, eg "0.01", in 0.0..=1.0, since "0.1";
        /// Share of packets that take less than the others, as netem's reorder: the others have the additional delay.
        early: Option<f64> = None, eg "0.25", in 0.0..=1.0, since "0.1";
        /// Difference of the delays of both kinds.
        by: Option<Span> = None, eg "10 ms", in limits::DELAY, since "0.1";
        /// Least distance in packets from one late (or early) packet to the next; 1 for independent draws.
        gap: u32 = 1, unit "packets", in 1..=1_000_000, since "0.1";
        /// Additional delays of parallel ways, of which each packet takes one: ["0 s", "5 ms"].
        paths: Option<Vec<Span>> = None, in limits::DELAY, since "0.1";
        /// Choice of the way of each packet: "in-turn" or "random".
        spray: Spray = Spray::InTurn, since "0.1";
    }
}

/// Largest number of parallel paths.
const MOST_PATHS: usize = 1024;

const FORM: &str = "a table such as { late = 0.01, by = \"10 ms\" }, { early = 0.25, by = \"10 ms\" } or { paths = [\"0 s\", \"5 ms\"] }, \
                    or \"jitter\"";

impl Reorder {
    /// Mean of the additional delay.
    #[must_use]
    pub fn mean(&self) -> Span {
        let part = |by: Span, share: f64| Span((by.0 as f64 * share).round() as u64);
        match self {
            Self::Jitter => Span::ZERO,
            Self::Late(apart) => part(apart.by, apart.of_all()),
            Self::Early(apart) => part(apart.by, 1.0 - apart.of_all()),
            Self::Paths(list, _) => {
                let sum: u128 = list.iter().map(|delay| u128::from(delay.0)).sum();
                Span((sum / list.len().max(1) as u128) as u64)
            }
        }
    }

    /// The shortest additional delay.
    #[must_use]
    pub fn min(&self) -> Span {
        if let Self::Paths(list, _) = self { list.iter().copied().min().unwrap_or(Span::ZERO) } else { Span::ZERO }
    }

    /// The longest additional delay.
    #[must_use]
    pub fn max(&self) -> Span {
        match self {
            Self::Jitter => Span::ZERO,
            Self::Late(apart) | Self::Early(apart) => apart.by,
            Self::Paths(list, _) => list.iter().copied().max().unwrap_or(Span::ZERO),
        }
    }

    fn of(table: ReorderTable, node: &Node) -> Result<Self, ScenarioError> {
        let ReorderTable { late, early, by, gap, paths, spray } = table;
        if (late.is_some() || early.is_some()) && spray != Spray::InTurn {
            return Err(node.at("spray").wrong("is for paths only"));
        }
        match (late, early, by, paths) {
            (Some(share), None, Some(by), None) => Ok(Self::Late(Apart { share, by, gap })),
            (None, Some(share), Some(by), None) => Ok(Self::Early(Apart { share, by, gap })),
            (Some(_), None, None, None) | (None, Some(_), None, None) => {
                Err(node.at("by").wrong("missing; write for example by = \"10 ms\""))
            }
            (None, None, None, Some(paths)) if gap == 1 => {
                if !(2..=MOST_PATHS).contains(&paths.len()) {
                    return Err(node.at("paths").wrong(format!("must be 2 to {MOST_PATHS} delays")));
                }
                Ok(Self::Paths(paths.into(), spray))
            }
            (None, None, None, Some(_)) => Err(node.at("gap").wrong("is for late and early only")),
            _ => Err(node.wrong(format!("must be {FORM}; one of its forms"))),
        }
    }

    fn to_table(&self) -> ReorderTable {
        let none = ReorderTable::default();
        match self.clone() {
            Self::Jitter => none,
            Self::Late(Apart { share, by, gap }) => ReorderTable { late: Some(share), by: Some(by), gap, ..none },
            Self::Early(Apart { share, by, gap }) => ReorderTable { early: Some(share), by: Some(by), gap, ..none },
            Self::Paths(list, spray) => ReorderTable { paths: Some(list.to_vec()), spray, ..none },
        }
    }
}

impl KeyType for Reorder {
    const EXAMPLE: &'static str = "jitter";
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        match node.as_text() {
            Some("jitter") => Ok(Self::Jitter),
            Some(_) => Err(node.wrong(format!("must be {FORM}"))),
            None => Self::of(table::read(node, FORM)?, node),
        }
    }
    fn write(&self, names: &Names) -> Json {
        if *self == Self::Jitter { json!("jitter") } else { table::write(&self.to_table(), names) }
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if node.value.is_object() { Self::of(table::restore(node)?, node) } else { Self::read(node, key) }
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let table = defs.table::<ReorderTable>("ReorderTable");
        let form = |key: &str, by: bool| {
            let required = if by { json!([key, "by"]) } else { json!([key]) };
            let others: Vec<Json> = ["late", "early", "paths"]
                .iter()
                .filter(|other| **other != key)
                .map(|other| json!({ "required": [other] }))
                .collect();
            json!({ "required": required, "not": { "anyOf": others } })
        };
        defs.0["ReorderTable"]["anyOf"] = json!([form("late", true), form("early", true), form("paths", false)]);
        json!({ "anyOf": [{ "const": "jitter" }, table] })
    }
}

//! Products of laws, recoveries and ways to send: each case in both engines, for one replication.

use crate::equality::{dumbbell, equal_once};
use law::{CongestionControl, LAWS, LawSpec, StartSpec};
use std::collections::BTreeSet;
use transport::Recovery;

/// A law, a recovery that it allows, and the replication that the case runs.
pub(crate) type Case = (&'static str, &'static str, u32);

/// Each law with each recovery that it allows.
pub(crate) fn laws_and_recoveries() -> impl Iterator<Item = Case> {
    LAWS.iter().enumerate().flat_map(|(l, entry)| {
        let law = entry.card.name;
        let start = StartSpec::named("classic").expect("registered");
        let control = LawSpec::named(law).expect("registered").build(&start, 2.0, f64::INFINITY).expect("defaults");
        let all = control.needs().deliveries;
        let rows = Recovery::ALL.iter().enumerate().filter(move |(_, row)| row.0.selective() || !all);
        rows.map(move |(r, row)| (law, row.1, ((l + r) % 3) as u32))
    })
}

/// Runs a case in each of several ways, which are more lines of its flows, and returns the number of different runs.
pub(crate) fn different_runs((law, recovery, seed): Case, ways: impl Iterator<Item = String>) -> usize {
    let hash = |way| {
        let more = format!("control = {{ law = \"{law}\" }}\nrecovery = \"{recovery}\"\n{way}");
        equal_once(&format!("{law} {recovery} {way}"), &marked_at_twelve(&more), seed).hash
    };
    ways.map(hash).collect::<BTreeSet<_>>().len()
}

/// A dumbbell of four flows and 2.5 s, whose queue marks from 12 packets on; `more` are lines of the flows.
pub(crate) fn marked_at_twelve(more: &str) -> String {
    let queue = "queue = { discipline = \"drop-tail\", ecn_threshold = 12 }";
    dumbbell(4, "20 packets", queue, more).replace("\"8 s\"", "\"2500 ms\"")
}

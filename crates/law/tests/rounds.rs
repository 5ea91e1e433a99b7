//! Window per round trip of every law under the same losses, as text: the snapshot is reviewed as physics.

extern crate elephan_law as law;

use base::Span;
use law::rounds::{Path, rounds};
use law::{LAWS, LawSpec, STARTS, Signal, StartSpec};
use std::fmt::Write;

/// Slow start from 2 segments on a path of 100 ms that holds 1000; losses in rounds 10, 40 and 60, a timeout in round 80.
fn story(law: &str, start: &str) -> String {
    let law = LawSpec::named(law).expect("registered");
    let start = StartSpec::named(start).expect("registered");
    let mut control = law.build(&start, 2.0, f64::INFINITY).expect("defaults");
    let path = Path { base_rtt: Span::millis(100), bdp: 1000.0 };
    let events = [(10, Signal::Loss), (40, Signal::Loss), (60, Signal::Loss), (80, Signal::Timeout)];
    let mut text = String::from("round cwnd ssthresh rtt_ms\n");
    for (i, round) in rounds(&mut control, path, &events, 100).iter().enumerate() {
        let ms = round.rtt.as_secs() * 1e3;
        let _ = writeln!(text, "{i} {:.4} {:.4} {ms:.3}", round.cwnd, round.ssthresh);
    }
    text
}

#[test]
fn round_by_round() {
    for entry in LAWS {
        let name = entry.card.name;
        insta::assert_snapshot!(format!("rounds_{name}"), story(name, "classic"));
    }
}

#[test]
fn slow_starts_round_by_round() {
    for entry in STARTS {
        let name = entry.card.name;
        insta::assert_snapshot!(format!("starts_{name}"), story("reno", name));
    }
}

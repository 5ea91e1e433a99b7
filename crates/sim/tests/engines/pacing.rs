//! Paced senders: both engines agree for every law, recovery and pace, and segments leave as far apart as the rule says.
//!
//! Source: Linux 6.12, `tcp_update_pacing_rate` and `tcp_update_skb_after_send`; RFC 9002, Section 7.7.

use crate::equality::{dumbbell, equal};
use crate::products::{different_runs, laws_and_recoveries};
use law::{CongestionControl, LawSpec, StartSpec};
use sim::{Options, simulate};

const PACES: [&str; 3] = ["\"linux\"", "\"quic\"", "{ slow_start = 1.5, avoidance = 0.9 }"];

#[test]
fn every_law_with_every_recovery_and_pace() {
    for case in laws_and_recoveries() {
        let ways = ["\"none\""].iter().chain(&PACES);
        let different = different_runs(case, ways.map(|pace| format!("tcp = {{ pacing = {pace}, delayed_ack = 2 }}")));
        // A law's own rate stays, and so do the factors that would make another.
        let start = StartSpec::named("classic").expect("registered");
        let spec = LawSpec::named(case.0).expect("registered");
        let own = spec.build(&start, 2.0, f64::INFINITY).expect("defaults").pacing_rate().is_some();
        assert_eq!(different, if own { 3 } else { 4 }, "{case:?}: each pace is another");
    }
}

#[test]
fn paced_senders_with_jitter_links_of_their_own_and_queued_acks() {
    for pace in PACES {
        for more in [
            "tcp = { pacing = PACE, send_jitter = \"300 us\" }",
            "tcp = { pacing = PACE, receive_window = 9 }\naccess = { rate = \"11 Mbit/s\", buffer = \"3 packets\" }",
            "tcp = { pacing = PACE, ecn = \"on\", initial_window = 10, min_rto = \"200 ms\" }\nrecovery = \"rack\"",
        ] {
            let more = more.replace("PACE", pace);
            equal(&more, &dumbbell(5, "15 packets", "loss = { random = 1e-3 }", &more));
        }
    }
}

/// Times at which the packets of one flow of 20 segments at most reach an empty link, in seconds from 3 s on.
fn arrivals(pace: &str) -> Vec<f64> {
    let text = format!(
        "duration = \"6 s\"\nwarmup = \"3 s\"\nrecord = {{ packets = [{{ link = \"l\", from = \"3 s\", to = \"6 s\" }}] }}\n[[links]]\nname = \"l\"\n\
         rate = \"10 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"unlimited\"\n[[flows]]\npath = [\"l\"]\nrtt = \"100 ms\"\n\
         packet = \"1000 B\"\ncontrol = {{ law = \"reno\", increase = 1e-3 }}\ntcp = {{ pacing = {pace}, receive_window = 20, initial_window = 20, initial_ssthresh = 2 }}\n"
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
    let outcome = simulate(&scenario, 0, Options::default()).expect("small");
    let times = outcome.packets[0].rows.iter().map(|row| row.time.as_secs());
    times.filter(|&at| at > 3.0).collect()
}

#[test]
fn a_window_leaves_at_the_pace_that_the_rule_says() {
    // Linux's credit for lateness takes a little from the first gap of each round-trip time.
    for (pace, factor, per_rtt) in
        [("\"linux\"", 1.2, 20.0), ("{ avoidance = 0.5 }", 0.5, 10.0), ("{ avoidance = 0.1 }", 0.1, 2.0)]
    {
        let times = arrivals(pace);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut sorted = gaps.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        let expected = 0.1 / (factor * 20.0);
        assert!((median / expected - 1.0).abs() < 0.02, "{pace}: {median} for {expected}");
        // 3 s hold 30 round-trip times; what a pace below one window per round-trip time lets through is its own rate.
        let count = times.len() as f64;
        assert!((count / (30.0 * per_rtt) - 1.0).abs() < 0.03, "{pace}: {count} packets");
    }
    // Without a pace all 20 leave back to back: in 1 us or less.
    let burst = arrivals("\"none\"").windows(2).filter(|pair| pair[1] - pair[0] < 2e-6).count();
    assert!(burst > 500, "{burst} of 600 gaps");
}

#[test]
fn quic_sends_its_ten_at_once_and_paces_the_rest() {
    let times = arrivals("\"quic\"");
    let close = times.windows(2).filter(|pair| pair[1] - pair[0] < 2e-6).count();
    let paced = times.windows(2).filter(|pair| ((pair[1] - pair[0]) / (0.1 / 25.0) - 1.0).abs() < 0.02).count();
    // The pause at the end of each round-trip time fills the bucket again: ten at once, nine gaps, then ten gaps of the pace.
    assert!(paced.abs_diff(10 * 30) < 15 && close.abs_diff(9 * 30) < 15, "{paced} paced, {close} at once");
}

#[test]
fn pacing_of_a_law_with_a_rate_of_its_own_keeps_the_rate() {
    for law in ["bbr", "bbr1"] {
        let run = |pace: &str| {
            let more = format!("control = {{ law = \"{law}\" }}\nrecovery = \"rack\"\ntcp = {{ pacing = {pace} }}");
            let outcome = equal(pace, &dumbbell(2, "100 packets", "", &more));
            outcome.links[0].utilization
        };
        assert!((run("\"none\"") - run("{ slow_start = 0.1, avoidance = 0.1 }")).abs() < 0.02, "{law}");
    }
}

#[test]
fn laws_that_count_deliveries_pace_between_acks_as_with_a_timer_each() {
    for law in ["bbr", "bbr1", "packet-pair"] {
        for recovery in ["sack", "prr", "rack"] {
            for more in [
                "tcp = { receive_window = 30 }",
                "tcp = { ecn = \"on\", initial_window = 10, min_rto = \"200 ms\" }",
                "tcp = { send_jitter = \"300 us\" }\naccess = { rate = \"11 Mbit/s\", buffer = \"3 packets\" }",
                "traffic = { kind = \"finite\", size = \"400 kB\" }",
            ] {
                let more = format!("control = {{ law = \"{law}\" }}\nrecovery = \"{recovery}\"\n{more}");
                for (buffer, link) in [("20 packets", "loss = { random = 1e-3 }"), ("200 packets", "")] {
                    equal(&more, &dumbbell(3, buffer, link, &more).replace("\"8 s\"", "\"4 s\""));
                }
            }
        }
    }
}

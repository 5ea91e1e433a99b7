//! Segmentation and receive offload: both engines agree for every law, recovery, pace and burst, and bursts are as long as said.
//!
//! Source: Linux 6.12, `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_gro_receive`; RFC 3465, Section 2.2.

use crate::equality::{dumbbell, equal};
use crate::products::{different_runs, laws_and_recoveries};
use sim::{Options, simulate};

const WAYS: [&str; 4] = [
    "burst = \"linux\", delayed_ack = 2",
    "burst = { max_segments = 6 }, pacing = \"linux\", delayed_ack = 2",
    "burst = 4, pacing = \"quic\", receive_offload = { segments = 5, wait = \"700 us\" }",
    "receive_offload = { segments = 44, wait = \"2 ms\" }, delayed_ack = 2, abc_limit = \"none\"",
];

#[test]
fn every_law_with_every_recovery_and_offload() {
    for case in laws_and_recoveries() {
        let ways = ["delayed_ack = 2"].iter().chain(&WAYS).map(|way| format!("tcp = {{ {way} }}"));
        assert_eq!(different_runs(case, ways), 5, "{case:?}: each way is another");
    }
}

#[test]
fn offload_with_jitter_links_of_its_own_and_queued_acks() {
    for way in WAYS {
        for more in [
            "tcp = { WAY, send_jitter = \"300 us\" }",
            "tcp = { WAY, receive_window = 9 }\naccess = { rate = \"11 Mbit/s\", buffer = \"3 packets\" }",
            "tcp = { WAY, ecn = \"on\", initial_window = 10, min_rto = \"200 ms\" }\nrecovery = \"rack\"",
        ] {
            let more = more.replace("WAY", way);
            equal(&more, &dumbbell(5, "15 packets", "loss = { random = 1e-3 }", &more));
        }
    }
}

/// Sizes of the bursts that arrive at an empty link of 10 Gbit/s, for a flow with a window of 60 segments and an RTT of 100 ms.
fn bursts(tcp: &str) -> Vec<usize> {
    let text = format!(
        "duration = \"6 s\"\nwarmup = \"3 s\"\nrecord = {{ packets = [{{ link = \"l\", from = \"3 s\", to = \"6 s\" }}] }}\n[[links]]\nname = \"l\"\n\
         rate = \"10 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"unlimited\"\n[[flows]]\npath = [\"l\"]\nrtt = \"100 ms\"\n\
         packet = \"1500 B\"\ncontrol = {{ law = \"reno\", increase = 1e-3 }}\ntcp = {{ receive_window = 60, initial_window = 60, initial_ssthresh = 2, {tcp} }}\n"
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
    let outcome = simulate(&scenario, 0, Options::default()).expect("small");
    let times: Vec<f64> = outcome.packets[0].rows.iter().map(|row| row.time.as_secs()).collect();
    let mut lengths = vec![1];
    for pair in times.windows(2) {
        if pair[1] - pair[0] < 2e-6 { *lengths.last_mut().expect("one") += 1 } else { lengths.push(1) }
    }
    lengths
}

/// The value in the middle.
fn median(mut lengths: Vec<usize>) -> usize {
    lengths.sort_unstable();
    lengths[lengths.len() / 2]
}

#[test]
fn paced_bursts_are_as_long_as_said() {
    // 1.2 * 60 segments in 100 ms: less than one in a millisecond, so two, the least.
    assert_eq!(median(bursts("pacing = \"linux\", burst = \"linux\"")), 2);
    assert_eq!(median(bursts("pacing = \"linux\", burst = 7")), 7);
    assert_eq!(median(bursts("pacing = \"linux\"")), 1);
    // 44 >> (100 ms / 512 us) is nothing; with 720 segments in 100 ms seven leave in a millisecond.
    assert_eq!(median(bursts("pacing = { avoidance = 12 }, burst = \"linux\"")), 7);
}

#[test]
fn a_slow_start_of_stretch_acks_grows_by_what_rfc_3465_allows() {
    // From 2 segments on, 7 round trips with ACKs for two. With L = 1 each of them adds one segment: half of the window each round
    // trip, 2, 3, 4, 6, 9, 13, 19, 28; an odd segment is acknowledged with the next.
    let grown = |limit: &str| {
        let text = format!(
            "duration = \"0.75 s\"\nrecord = {{ every = \"10 ms\" }}\n[[links]]\nname = \"l\"\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n\
             buffer = \"unlimited\"\n[[flows]]\npath = [\"l\"]\nrtt = \"100 ms\"\ncontrol = \"reno\"\ntcp = {{ delayed_ack = 2, {limit} }}\n"
        );
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
        let outcome = simulate(&scenario, 0, Options { series: true, ..Options::default() }).expect("small");
        *outcome.flows[0].cwnd_samples().last().expect("samples")
    };
    let (one, two, all) = (grown("abc_limit = 1"), grown(""), grown("abc_limit = \"none\""));
    assert_eq!((two, all), (256.0, 256.0), "2 * 2^7");
    assert_eq!(one, 28.0);
}

//! Applications that write to one connection now and then: both engines agree for every law, recovery and rule of validation, and
//! writes take as long as arithmetic says.
//!
//! Source: RFC 5681, Sections 3.1 and 4.1 (slow start in rounds; the restart window); `transport::validation` has the others.

use crate::equality::{dumbbell, equal};
use crate::products::{different_runs, laws_and_recoveries};
use sim::{Options, Outcome, simulate};

/// Kind of traffic, and how windows that it leaves unused are validated.
const WAYS: [(&str, &str); 5] = [
    ("{ kind = \"video\", size = \"60 kB\", every = \"400 ms\" }", "window_validation = \"linux\""),
    (
        "{ kind = \"video\", size = \"90 kB\", law = \"pareto\", every = \"700 ms\" }",
        "window_validation = \"rfc7661\", delayed_ack = 2",
    ),
    (
        "{ kind = \"request-response\", size = \"40 kB\", think = \"300 ms\" }",
        "window_validation = \"rfc5681\", min_rto = \"200 ms\"",
    ),
    (
        "{ kind = \"pausing-bulk\", on = \"900 ms\", off = \"600 ms\" }",
        "window_validation = \"linux\", pacing = \"linux\", min_rto = \"200 ms\", delayed_ack = 3",
    ),
    (
        "{ kind = \"pausing-bulk\", on = \"300 ms\", off = \"1 s\", law = \"exponential\" }",
        "window_validation = \"none\", burst = \"linux\", receive_offload = {}",
    ),
];

#[test]
fn every_law_with_every_recovery_and_application() {
    for case in laws_and_recoveries() {
        let ways = WAYS.iter().map(|(kind, tcp)| format!("traffic = {kind}\ntcp = {{ {tcp} }}"));
        assert_eq!(different_runs(case, ways), WAYS.len(), "{case:?}: each way is another");
    }
}

#[test]
fn applications_with_jitter_links_of_their_own_and_queued_acks() {
    for (kind, tcp) in WAYS {
        for more in [
            "tcp = { WAY, send_jitter = \"300 us\" }\nstop = \"5 s\"",
            "tcp = { WAY, receive_window = 9 }\naccess = { rate = \"11 Mbit/s\", buffer = \"3 packets\" }",
            "tcp = { WAY, ecn = \"on\", initial_window = 10 }\nrecovery = \"rack\"\nreturn = [\"back\"]",
        ] {
            let more = format!("traffic = {kind}\n{}", more.replace("WAY", tcp));
            let back = "[[links]]\nname = \"back\"\nrate = \"300 kbit/s\"\ndelay = \"3 ms\"\nbuffer = \"6 packets\"\n[[flows]]";
            let text = dumbbell(5, "15 packets", "loss = { random = 1e-3 }", &more);
            equal(&more, &if more.contains("return") { text.replacen("[[flows]]", back, 1) } else { text });
        }
    }
}

/// A path of 100 ms that is never full: segments of 1000 B, 960 of them payload, take 0.8 us each.
fn alone(traffic: &str, tcp: &str) -> Outcome {
    let text = format!(
        "duration = \"40 s\"\n[[links]]\nname = \"l\"\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"unlimited\"\n[[flows]]\n\
         path = [\"l\"]\nrtt = \"100 ms\"\npacket = \"1000 B\"\ncontrol = \"reno\"\ntraffic = {{ {traffic} }}\n\
         tcp = {{ initial_window = 10, min_rto = \"200 ms\", {tcp} }}\n"
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, 0, Options { series: true, ..Options::default() }).expect("small")
}

/// Time each write took to arrive, in ms, rounded down: 50 ms of propagation, and a whole number of round trips before it.
fn times_ms(out: &Outcome) -> Vec<u64> {
    let rows = &out.transfers[0].as_ref().expect("writes are transfers").rows;
    rows.iter().map(|row| (row.done - row.opened).0 / 1_000_000_000).collect()
}

#[test]
fn a_response_finds_the_window_that_the_rule_leaves_it() {
    // 40 segments: 10, 20 and 10 in three rounds; with a window of 40 or more, one. An ACK that finds the window full adds a
    // segment and releases two: 5 do so until the first response has no more to send, and the next one adds the last: 26; then
    // 34, 38 and 40. In Linux every ACK of a window that was full counts: 50 after the first response.
    let responses = |think: &str, rule: &str| {
        let traffic = format!(
            "kind = \"request-response\", size = \"38400 B\", law = \"constant\", think_law = \"constant\", think = \"{think}\""
        );
        // The rule of Linux counts in timeouts as Linux has them.
        let timers = if rule == "linux" { ", rto = \"linux\", timestamps = true" } else { "" };
        times_ms(&alone(&traffic, &format!("window_validation = \"{rule}\"{timers}")))
    };
    // A pause of 1 s from the last ACK, 1.1 s after the last segment: five timeouts of 200 ms.
    let kept = [250, 150, 150, 150, 50, 50, 50, 50];
    for (rule, expected) in [("none", kept), ("rfc7661", kept), ("rfc5681", [250; 8]), ("linux", [250; 8])] {
        assert_eq!(responses("1 s", rule)[..8], expected, "{rule}");
    }
    // 50 ms of pause, 150 ms after the last segment: no timeout has passed.
    for rule in ["none", "rfc5681", "rfc7661"] {
        assert_eq!(responses("50 ms", rule)[..8], kept, "{rule}");
    }
    assert_eq!(responses("50 ms", "linux")[..3], [250, 50, 50]);
    // 150 ms, 250 after the last segment, with a timeout of 212 ms after three samples: RFC 5681 begins anew with 10 segments.
    // Linux adds the 200 ms to the smoothed round-trip time: at 350 ms it has half of its window of 50, and sends the other 15
    // a round trip later.
    assert_eq!(responses("150 ms", "rfc5681")[1], 250);
    assert_eq!([responses("150 ms", "linux")[1], responses("250 ms", "linux")[1]], [50, 150]);
}

#[test]
fn a_source_below_the_capacity_is_never_late_and_one_above_it_later_each_time() {
    let video = |size: u32, rate: &str| {
        let text = format!(
            "duration = \"60 s\"\n[[links]]\nname = \"l\"\nrate = \"{rate}\"\ndelay = \"1 ms\"\nbuffer = \"unlimited\"\n[[flows]]\npath = [\"l\"]\n\
             rtt = \"20 ms\"\npacket = \"1000 B\"\ncontrol = \"reno\"\ntraffic = {{ kind = \"video\", size = \"{size} B\", every = \"1 s\" }}\n\
             tcp = {{ receive_window = 100 }}\n"
        );
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        simulate(&scenario, 0, Options { series: true, ..Options::default() }).expect("small")
    };
    // 1000 segments of 1000 B on the wire: 8 Mbit each second, on 10 Mbit/s: 0.8 s each, and what slow start takes.
    let below = video(960_000, "10 Mbit/s");
    let times = times_ms(&below);
    assert_eq!(times.len(), 60);
    assert!(times.iter().all(|time| (800..900).contains(time)), "{times:?}");
    // On 5 Mbit/s each takes 1.6 s and stands in line 0.6 s longer than the one before: the k-th is complete 1.6 k s after the start.
    let above = video(960_000, "5 Mbit/s");
    let times = times_ms(&above);
    assert_eq!(times.len(), 37, "60 s are 37.5 of them");
    for (k, time) in times.iter().enumerate() {
        let expected = 1600 + 600 * k as u64;
        assert!((expected..expected + 60).contains(time), "{k}: {time} ms instead of {expected}");
    }
    assert_eq!(above.transfers[0].as_ref().map(|out| out.opened), Some(60));
}

#[test]
fn a_source_that_writes_faster_than_its_path_carries_waits_as_at_a_full_socket() {
    // A segment each microsecond, where the path carries one each 80: after a second a million wait, and then one more is written for
    // each that is acknowledged.
    for tcp in ["{ delayed_ack = 2 }", "\"linux\""] {
        let outcome = crate::equality::equal(
            tcp,
            &format!(
                "duration = \"1.4 s\"\n[[links]]\nname = \"l\"\nrate = \"100 Mbit/s\"\nbuffer = \"100 packets\"\n[[flows]]\npath = [\"l\"]\n\
                 rtt = \"10 ms\"\npacket = \"1000 B\"\ncontrol = \"reno\"\nstop = \"1.3 s\"\n\
                 traffic = {{ kind = \"video\", size = \"1 B\", every = \"1 us\" }}\ntcp = {tcp}\n"
            ),
        );
        let transfers = outcome.transfers[0].as_ref().expect("writes");
        let waiting = transfers.opened - transfers.completed;
        // What is on its way back is complete at its receiver, and not yet acknowledged: a round trip carries 125 to 225.
        assert!(waiting < 1 << 20 && waiting > (1 << 20) - 2000, "{tcp}: {waiting}");
        assert!(transfers.opened > (1 << 20) + 2000, "{tcp}: {}", transfers.opened);
    }
}

#[test]
fn bulk_that_pauses_sends_in_its_periods_only() {
    // Two seconds of ten; the receive window lets 200 segments go each 100 ms, once five rounds of slow start are over.
    let out = alone(
        "kind = \"pausing-bulk\", on = \"2 s\", off = \"8 s\"",
        "window_validation = \"none\", receive_window = 200, initial_ssthresh = 200",
    );
    assert!(out.transfers[0].is_none(), "no transfers");
    // Four periods of 20 windows, of which the first grows from 10 segments: 10 + 20 + 40 + 80 + 160 instead of five of 200.
    // An ACK at the very end of a period may release a segment or not: a window each.
    let sent = out.flows[0].sent as f64;
    assert!((sent - (4.0 * 4000.0 - (1000.0 - 310.0))).abs() <= 800.0, "{sent}");
    assert_eq!((out.flows[0].timeouts, out.flows[0].retransmitted), (0, 0));
}

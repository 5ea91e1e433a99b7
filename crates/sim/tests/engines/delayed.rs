//! Delayed ACKs: both engines agree whether segments come in time for each other, at the last instant, or after the timer, over
//! one link and more, with queues that drop, mark or choose, and with ACKs that queue on their way back.
//!
//! Source: RFC 1122, Section 4.2.3.2; RFC 8985, Section 6.3 (what a timeout takes for lost).

use crate::equality::{dumbbell, equal, equal_once};

/// A packet takes the link 800 us: 300 us are over before the next one comes, 800 us at the instant at which it does.
const TIMEOUTS: [&str; 5] = ["200 ms", "300 us", "799 us", "800 us", "2500 us"];

/// Everything that may stand between sender and receiver.
const PATHS: [(&str, &str, &str); 7] = [
    ("drop-tail", "", ""),
    ("red", "queue = { discipline = \"red\" }", ""),
    ("codel", "queue = { discipline = \"codel\" }", ""),
    ("drr", "queue = { discipline = \"drr\" }", ""),
    ("marks", "queue = { discipline = \"drop-tail\", ecn_threshold = 8 }", "ecn = \"on\", "),
    ("access", "", "send_jitter = \"100 us\", "),
    ("narrow", "", "receive_window = 9, "),
];

const SECOND: &str = "[[links]]\nname = \"m\"\nrate = \"12 Mbit/s\"\ndelay = \"3 ms\"\nbuffer = \"9 packets\"\n";

fn text(law: &str, recovery: &str, (queue, keys): (&str, &str), (together, timeout): (u32, &str)) -> String {
    let tcp = format!("{keys}delayed_ack = {together}, delayed_ack_timeout = \"{timeout}\", min_rto = \"200 ms\"");
    let more = format!("control = \"{law}\"\nrecovery = \"{recovery}\"\ntcp = {{ {tcp} }}");
    dumbbell(5, "20 packets", queue, &more).replace("\"8 s\"", "\"5 s\"")
}

#[test]
fn in_time_at_the_last_instant_and_after_the_timer() {
    for recovery in ["newreno", "sack", "rack"] {
        for law in ["reno", "cubic", "vegas"] {
            for together in 1..=3 {
                let mut hashes = Vec::new();
                for timeout in TIMEOUTS {
                    let name = format!("{law} {recovery} {together} {timeout}");
                    hashes.push(equal(&name, &text(law, recovery, ("", ""), (together, timeout))).hash);
                }
                hashes.sort_unstable();
                hashes.dedup();
                // Each timeout is another case, or none is where every segment is acknowledged.
                assert!(
                    if together == 1 { hashes.len() == 1 } else { hashes.len() >= 3 },
                    "{law} {recovery} {together}"
                );
            }
        }
    }
}

#[test]
fn whatever_is_between_sender_and_receiver() {
    for (name, queue, keys) in PATHS {
        for (law, recovery) in [("cubic", "rack"), ("dctcp", "sack"), ("highspeed", "rack")] {
            for together in [2, 3] {
                for timeout in ["40 ms", "1 ms"] {
                    let plain = text(law, recovery, (queue, keys), (together, timeout));
                    let plain = if name == "access" {
                        plain + "access = { rate = \"11 Mbit/s\", buffer = \"3 packets\" }\n"
                    } else {
                        plain
                    };
                    let two = format!("{}{SECOND}", plain.replace("[\"l\"]", "[\"l\", \"m\"]"));
                    let back =
                        format!("{}{SECOND}", plain.replace("path = [\"l\"]", "path = [\"l\"]\nreturn = [\"m\"]"));
                    // So narrow that ACKs are lost.
                    let lossy = back.replace("12 Mbit/s", "150 kbit/s");
                    for (seed, (kind, text)) in
                        (together..).zip([("one", plain), ("two", two), ("back", back), ("lossy", lossy)])
                    {
                        equal_once(&format!("{name} {law} {recovery} {together} {timeout} {kind}"), &text, seed % 3);
                    }
                }
            }
        }
    }
}

#[test]
fn paced_and_with_every_limit_of_growth() {
    for pacing in ["\"none\"", "\"linux\"", "\"quic\""] {
        for limit in ["1", "2", "\"none\""] {
            for (law, together) in [("reno", 2), ("reno", 3), ("cubic", 2), ("cubic", 3)] {
                let keys = format!("pacing = {pacing}, abc_limit = {limit}, initial_window = 3, ");
                for recovery in ["sack", "rack"] {
                    let text = text(law, recovery, ("", &keys), (together, "1200 us"));
                    let back =
                        format!("{}{SECOND}", text.replace("path = [\"l\"]", "path = [\"l\"]\nreturn = [\"m\"]"));
                    equal(&format!("{pacing} {limit} {law} {together} {recovery}"), &text);
                    equal(&format!("{pacing} {limit} {law} {together} {recovery} back"), &back);
                }
            }
        }
    }
}

#[test]
fn transfers_that_end_and_open_again() {
    for traffic in [
        "{ kind = \"finite\", size = \"77 kB\" }",
        "{ kind = \"elastic\", size = \"30 kB\", load = 0.1, places = 4 }",
        "{ kind = \"engset\", size = \"30 kB\", think = \"50 ms\" }",
    ] {
        for together in [2, 3] {
            for back in [false, true] {
                let text = text("cubic", "rack", ("", ""), (together, "5 ms"));
                let text = if back { text.replace("path = [\"l\"]", "path = [\"l\"]\nreturn = [\"m\"]") } else { text };
                equal(&format!("{traffic} {together} {back}"), &format!("{text}\ntraffic = {traffic}\n{SECOND}"));
            }
        }
    }
}

#[test]
fn timeouts_shorter_than_a_round_trip_and_a_quarter() {
    // A round trip of more than a second under timeouts of 50 ms and more: the timer, which steady round trips take down to a
    // little above one of them, expires before a segment is overdue by a quarter of the smallest. ACKs are lost, so that one may
    // end a recovery and acknowledge what left after it, and windows are so small that all of the next one may be lost.
    for together in 1..=2 {
        for (window, loss) in [(3, 0.1), (4, 0.2), (6, 0.1), (6, 0.2)] {
            let tcp = format!(
                "receive_window = {window}, delayed_ack = {together}, delayed_ack_timeout = \"1 ms\", min_rto = \"50 ms\""
            );
            let more = format!("return = [\"m\"]\nrecovery = \"rack\"\ncontrol = \"cubic\"\ntcp = {{ {tcp} }}");
            let text = dumbbell(30, "200 packets", &format!("loss = {{ random = {loss} }}"), &more)
                .replace("\"8 s\"", "\"300 s\"")
                .replace("{ from = \"40 ms\", to = \"61 ms\" }", "{ from = \"1 s\", to = \"1200 ms\" }");
            let text = format!("{text}{SECOND}loss = {{ random = 0.2 }}\n");
            let outcome = equal(&format!("{together} {window} {loss}"), &text);
            assert!(outcome.flows.iter().map(|flow| flow.timeouts).sum::<u64>() > 100, "{loss}: the timer expires");
        }
    }
}

#[test]
fn short_paced_transfers() {
    for (pacing, together) in [("quic", 2), ("quic", 3), ("linux", 2)] {
        for recovery in ["sack", "rack"] {
            let keys = format!("pacing = \"{pacing}\", initial_window = 13, ");
            let text = text("reno", recovery, ("", &keys), (together, "200 ms"))
                .replace("count = 5", "count = 60")
                .replace("buffer = \"20 packets\"", "buffer = \"6 packets\"");
            let access = "access = { rate = { from = \"1 Mbit/s\", to = \"50 Mbit/s\" } }";
            equal(
                &format!("{pacing} {together} {recovery}"),
                &format!("{text}\n{access}\ntraffic = {{ kind = \"finite\", size = \"24 kB\" }}\n"),
            );
        }
    }
}

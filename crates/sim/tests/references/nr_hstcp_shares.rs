//! Two flows of unequal round-trip times: Normalised-Rate HighSpeed TCP shares about equally where HighSpeed TCP all but
//! shuts out the longer one, and at low rates it is standard TCP.
//!
//! Source: D. Phillips, J. Hu, Enhancements for RTT-Fair HighSpeed TCP, IEEE GLOBECOM 2006, Section 4 and Figure 3.
//! Differs from the source: one link instead of two in a row, with two standard flows beside instead of two on each;
//! 400 s, measured from 200 s, instead of 1000 s from 400 s, which give 1.08 (0.99 to 1.18) for 75 and 150 ms, 1.2 (0.99
//! to 1.45) for 75 and 250 ms, and 40 and 234 for HighSpeed. The start's advantage for the shorter flow takes 200 s to go.

use crate::interval::{interval, more};
use libm::{exp, log};
use sim::{Engine, Options, Outcome, TraceRow, simulate};
use std::fmt::Write;

fn run(text: &str, replication: u32) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}"));
    simulate(
        &scenario,
        replication,
        Options { engine: Engine::Window, series: false, hash: false, ..Options::default() },
    )
    .expect("small")
}

/// Throughput of the 75 ms flow divided by the other's: the interval of the ratio over five replications, lower and upper end.
/// 1 Gbit/s, 500 packets, jitter of one packet time; without jitter the long flow meets the full queue twice as often.
fn ratio(law: &str, other: u32) -> (f64, f64) {
    let mut text = String::from(
        r#"
duration = "400 s"
warmup = "200 s"
[[links]]
name = "bottleneck"
rate = "1 Gbit/s"
delay = "15 ms"
buffer = "500 packets"
[record]
every = "none"
"#,
    );
    for (name, count, rtt, access, law) in [
        ("short", 1, 75, "10 Gbit/s", law),
        ("long", 1, other, "10 Gbit/s", law),
        ("background", 2, 50, "100 Mbit/s", "reno"),
    ] {
        let _ = write!(
            text,
            r#"
[[flows]]
name = "{name}"
count = {count}
path = ["bottleneck"]
rtt = "{rtt} ms"
access = {{ rate = "{access}" }}
control = {{ law = "{law}" }}
start = {{ from = "0 s", to = "1 s" }}
tcp = {{ send_jitter = "12 us" }}
"#
        );
    }
    let (short, long): (Vec<f64>, Vec<f64>) = (0..5)
        .map(|replication| {
            let flows = run(&text, replication).flows;
            (log(flows[0].goodput_bps), log(flows[1].goodput_bps))
        })
        .unzip();
    let (mean, half) = interval(&more(&long, &short));
    (exp(mean - half), exp(mean + half))
}

#[test]
fn twice_the_round_trip_time_costs_a_highspeed_flow_most_of_its_share_and_a_normalised_one_little() {
    let (least, _) = ratio("highspeed", 150);
    assert!(least > 4.0, "highspeed {least}");
    // Equal, as far as thirty cuts of each flow in a replication can tell.
    let (least, most) = ratio("nr-hstcp", 150);
    assert!(least > 0.67 && most < 1.5, "nr-hstcp {least} to {most}");
}

#[test]
fn three_times_the_round_trip_time_shuts_out_a_highspeed_flow_and_not_a_normalised_one() {
    let (least, _) = ratio("highspeed", 250);
    assert!(least > 50.0, "highspeed {least}");
    // A fifth less in long runs, too: bursts of a hundred and more segments per round trip cost the long flow more (with
    // PRR it is an eighth). An independent simulator found 1.9 in one run.
    let (least, most) = ratio("nr-hstcp", 250);
    assert!(least > 0.5 && most < 2.0, "nr-hstcp {least} to {most}");
}

/// A flow on an empty path that loses every n-th packet.
fn lossy(law: &str, rtt: u32, n: u32, duration: u32, trace: bool) -> Outcome {
    let trace = if trace { "trace = [\"f[0]\"]" } else { "" };
    let text = format!(
        r#"
duration = "{duration} s"
warmup = "{} s"
[[links]]
name = "l"
rate = "10 Gbit/s"
buffer = "unlimited"
loss = {{ every = {n} }}
[[flows]]
name = "f"
path = ["l"]
rtt = "{rtt} ms"
control = {{ law = "{law}" }}
tcp = {{ initial_ssthresh = 4 }}
[record]
every = "none"
{trace}
"#,
        duration / 5
    );
    run(&text, 0)
}

#[test]
fn below_its_take_off_it_is_standard_tcp_ack_by_ack() {
    let rows = |law, rtt, n| -> Vec<TraceRow> { lossy(law, rtt, n, 200, true).traces.remove(0).rows };
    // Growth exceeds one segment per round trip from 73.5, 40.8, 18.1 and 6.65 segments on, and the cut falls below one
    // half from 38 normalised segments on (28, 38, 57 and 95). The windows here reach 16 at most, 5 if every tenth is lost.
    for (rtt, n) in [(75, 100), (100, 100), (150, 100), (250, 10)] {
        let (normalised, standard) = (rows("nr-hstcp", rtt, n), rows("reno", rtt, n));
        let cuts = standard.windows(2).filter(|pair| pair[1].cwnd < pair[0].cwnd).count();
        assert!(cuts > 50, "{rtt} ms: {cuts} cuts are too few to tell");
        assert!(normalised == standard, "{rtt} ms, every {n}th packet lost");
    }
    // At 250 ms a window of 12 is above it.
    assert!(rows("nr-hstcp", 250, 100) != rows("reno", 250, 100));
}

#[test]
fn a_loss_rate_means_one_rate_whatever_the_round_trip_time() {
    let rate = |law, rtt, n, duration| lossy(law, rtt, n, duration, false).flows[0].goodput_bps;
    for (n, duration) in [(10_000, 1000), (100_000, 1000)] {
        let reference = rate("nr-hstcp", 100, n, duration);
        for rtt in [75, 150, 250] {
            let ratio = rate("nr-hstcp", rtt, n, duration) / reference;
            // The round trip of recovery, in which no window grows, is one of 25 to 80 in a cycle at 100 ms.
            assert!((ratio - 1.0).abs() < 0.05, "{rtt} ms, every {n}th packet lost: {ratio}");
        }
        // HighSpeed's window is the same, so its rate goes with the inverse.
        let ratio = rate("highspeed", 250, n, duration) / rate("highspeed", 100, n, duration);
        assert!((ratio / 0.4 - 1.0).abs() < 0.05, "every {n}th packet lost: {ratio}");
    }
}

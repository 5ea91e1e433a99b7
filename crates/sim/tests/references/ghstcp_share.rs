//! Standard TCP beside gentle HighSpeed TCP: it keeps far more than beside HighSpeed TCP, and the link stays as full.
//!
//! Source: Z. Zhang, G. Hasegawa, M. Murata, Performance Analysis and Improvement of HighSpeed TCP with TailDrop/RED
//! Routers, IEICE Trans. Commun. E88-B(6), 2005: case 4 against case 7. Five Reno senders behind 100 Mbit/s, five fast ones
//! behind 1 Gbit/s, all with SACK; 2.5 Gbit/s, 10000 packets, drop-tail.
//! Differs from the source: 60 s, measured from 30 s; its UDP background only where a test says so. Long runs (600 s)
//! give the standard flows 20, 15 and 11 Mbit/s at 25, 50 and 100 ms in case 4 (source: 18, 16, 11) and 63, 45 and 38 in
//! case 7 (80, 54, 27) with 50 Mbit/s of background, and 98 to 100 in case 7 without any. Smaller links and windows
//! would not do: at a tenth of the rate HighSpeed itself leaves the standard flows two thirds and more of their share.

use crate::interval::{interval, more};
use sim::{Engine, Options, Outcome, simulate};

/// The paper's two groups; `delay` of the link in ms. Access links add 0.1 ms at each end. Jitter of one packet time.
fn dumbbell(law: &str, delay: u32, duration: u32) -> String {
    format!(
        r#"
duration = "{duration} s"
warmup = "{} s"
[[links]]
name = "bottleneck"
rate = "2.5 Gbit/s"
delay = "{delay} ms"
buffer = "10000 packets"
[[flows]]
name = "standard"
count = 5
path = ["bottleneck"]
rtt = "{}.4 ms"
access = {{ rate = "100 Mbit/s" }}
start = {{ from = "0 s", to = "1 s" }}
tcp = {{ send_jitter = "4.8 us" }}
[[flows]]
name = "fast"
count = 5
path = ["bottleneck"]
rtt = "{}.4 ms"
access = {{ rate = "1 Gbit/s" }}
control = {{ law = "{law}" }}
start = {{ from = "0 s", to = "1 s" }}
tcp = {{ send_jitter = "4.8 us" }}
"#,
        duration / 2,
        2 * delay,
        2 * delay
    )
}

/// 50 Mbit/s of packets at random times: transfers of one segment each, which is as near to unresponsive as TCP gets.
fn background(duration: u32) -> String {
    format!(
        r#"
[[flows]]
name = "background"
count = {}
path = ["bottleneck"]
rtt = "60 ms"
start = {{ from = "0 s", to = "{duration} s" }}
traffic = {{ kind = "finite", size = "1460 B" }}
"#,
        u64::from(duration) * 50_000_000 / 12_000
    )
}

fn run(text: &str, replication: u32) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}"));
    simulate(
        &scenario,
        replication,
        Options { engine: Engine::Window, series: false, hash: false, ..Options::default() },
    )
    .expect("small")
}

/// Mbit/s of a standard flow, and utilisation in percent, of five replications.
fn shares(law: &str, delay: u32) -> (Vec<f64>, Vec<f64>) {
    let text = dumbbell(law, delay, 60) + "[record]\nevery = \"none\"\n";
    (0..5)
        .map(|replication| {
            let outcome = run(&text, replication);
            let standard = outcome.flows.iter().filter(|flow| flow.group == 0).map(|flow| flow.goodput_bps);
            (standard.sum::<f64>() / 5e6, 100.0 * outcome.links[0].utilization)
        })
        .unzip()
}

fn gentle_flows_leave_more(delay: u32) {
    let (beside_highspeed, full) = shares("highspeed", delay);
    let (beside_gentle, as_full) = shares("ghstcp", delay);
    let (mean, half) = interval(&more(&beside_highspeed, &beside_gentle));
    assert!(mean - half > 0.0, "{delay} ms: {mean} +- {half} Mbit/s more");
    // The tables of the source: 0.1 points less to 0.5 more. 0.6 as in its claims.
    let (mean, half) = interval(&more(&full, &as_full));
    assert!(mean - half > -0.6, "{delay} ms: utilisation {mean} +- {half} points more");
}

#[test]
fn standard_flows_keep_more_beside_gentle_ones_at_25_ms() {
    gentle_flows_leave_more(25);
}

#[test]
fn standard_flows_keep_more_beside_gentle_ones_at_50_ms() {
    gentle_flows_leave_more(50);
}

#[test]
fn standard_flows_keep_more_beside_gentle_ones_at_100_ms() {
    gentle_flows_leave_more(100);
}

/// Share of its ACKs at which the first gentle flow is in Reno mode.
fn gentleness(extra: &str) -> Vec<f64> {
    let text = dumbbell("ghstcp", 25, 30) + extra + "[record]\nevery = \"none\"\ntrace = [\"fast[0]\"]\n";
    let shares = (0..5).map(|replication| {
        let trace = &run(&text, replication).traces[0];
        let mode = &trace.gauges.iter().find(|gauge| gauge.name == "mode").expect("of this law").values;
        let late: Vec<f64> =
            trace.rows.iter().zip(mode).filter(|(row, _)| row.time.as_secs() > 15.0).map(|(_, &mode)| mode).collect();
        late.iter().sum::<f64>() / late.len() as f64
    });
    shares.collect()
}

#[test]
fn two_percent_of_random_background_make_gentle_flows_highspeed_a_quarter_of_the_time() {
    // Alone, ten flows in Reno mode lengthen the queue by ten packets a round trip and nothing shortens it: every test
    // finds a rise. 4167 packets/s at random times change it by 20 packets (one standard deviation) in the 100 ms of a
    // test, and the sum of both falls in every third or fourth.
    let alone = gentleness("");
    let (mean, half) = interval(&alone);
    assert!(mean - half > 0.95, "alone {mean} +- {half}");
    let beside = gentleness(&background(30));
    // An independent simulator found 0.63 to 0.82 of the tests; the mean of five flows lies well inside what one may do.
    let (mean, half) = interval(&beside);
    assert!((0.63..0.82).contains(&mean), "with background {mean} +- {half}");
    let (mean, half) = interval(&more(&alone, &beside));
    assert!(mean + half < 0.0, "background adds {mean} +- {half}");
}

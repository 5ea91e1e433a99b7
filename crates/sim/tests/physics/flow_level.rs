//! Traffic of flows that come and go, against what flow-level models say of it exactly.
//!
//! Source: processor sharing and the transparent regime, Augé and Roberts, Buffer sizing for elastic traffic, NGI 2006,
//! Sections 2 and 3; the closed population of Andrew et al., Buffer sizing for nonhomogeneous TCP sources, 2005, Section III.

use crate::interval::interval;
use sim::{Engine, Options, TransferOutcome, simulate};

/// Replications of `text`: what became of the first group's transfers, and the utilisation of the first link.
fn runs(text: &str, replications: u32) -> Vec<(TransferOutcome, f64)> {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    let run = |replication| {
        let mut outcome = simulate(&scenario, replication, options).expect("small");
        (outcome.transfers[0].take().expect("transfers end"), outcome.links[0].utilization)
    };
    (0..replications).map(run).collect()
}

/// Mean and half of the 95 % interval of `value` over `runs`.
fn over(runs: &[(TransferOutcome, f64)], value: impl Fn(&TransferOutcome, f64) -> f64) -> (f64, f64) {
    interval(&runs.iter().map(|(transfers, utilization)| value(transfers, *utilization)).collect::<Vec<_>>())
}

/// Share of samples that found `n` transfers open.
fn share(transfers: &TransferOutcome, n: usize) -> f64 {
    let all: u64 = transfers.open_histogram.iter().sum();
    transfers.open_histogram.get(n).copied().unwrap_or(0) as f64 / all as f64
}

/// One link of 100 Mbit/s with no more delay than it needs, and large transfers that arrive as a Poisson process: TCP shares
/// the link among them.
fn bottlenecked(load: f64, law: &str) -> String {
    format!(
        r#"
duration = "2100 s"
warmup = "100 s"
[[links]]
name = "l"
rate = "100 Mbit/s"
buffer = "100 packets"
[[flows]]
path = ["l"]
rtt = "2 ms"
packet = "1500 B"
traffic = {{ kind = "elastic", load = {load}, size = "5 MB", {law}, places = 200 }}
tcp = {{ initial_ssthresh = 40, send_jitter = "100 us" }}
[record]
every = "50 ms"
"#
    )
}

#[test]
fn transfers_in_progress_are_those_of_processor_sharing_whatever_the_law_of_their_size() {
    // Exponential sizes forgive unequal shares: any order of service gives the same law. Constant ones do not, and TCP needs
    // more than the 0.4 s of a transfer to give a newcomer its half (one open: 0.27 instead of 0.25): there the queue must.
    for (load, law, queue) in
        [(0.5, "exponential", "drop-tail"), (0.7, "exponential", "drop-tail"), (0.5, "constant", "fq")]
    {
        let text = bottlenecked(load, &format!("law = \"{law}\""));
        let runs = runs(&text.replace("buffer", &format!("queue = \"{queue}\"\nbuffer")), 8);
        for n in 0..5 {
            // Geometric in the load that this run happened to be offered, which the link carries: comparing run by run takes
            // out the noise of arrivals. What stays are start-up (2 % of the 0.4 s that a transfer takes alone) and queue.
            let geometric = |rho: f64| (0..n).fold(1.0 - rho, |p, _| p * rho);
            let (difference, half) = over(&runs, |transfers, rho| share(transfers, n) - geometric(rho));
            assert!(difference.abs() < half + 0.015, "load {load}, {law}, {n} open: {difference:+.4} +- {half:.4}");
        }
        let refused: u64 = runs.iter().map(|run| run.0.refused).sum();
        assert_eq!(refused, 0, "200 places are enough");
    }
}

#[test]
fn flows_with_slow_access_are_a_queue_with_servers_for_all() {
    // 10 Mbit/s each on a link that is half full: transparent, so that flows in progress are Poisson, with Little's mean.
    let text = bottlenecked(0.5, "law = \"exponential\"")
        .replace("100 Mbit/s", "1 Gbit/s")
        .replace("5 MB", "500 kB")
        .replace("places = 200", "places = 400")
        .replace("rtt = \"2 ms\"", "rtt = \"2 ms\"\naccess = { rate = \"10 Mbit/s\" }")
        .replace("2100 s", "300 s");
    let runs = runs(&text, 5);
    let mean = |transfers: &TransferOutcome| {
        let all: u64 = transfers.open_histogram.iter().sum();
        transfers.open_histogram.iter().enumerate().map(|(n, count)| n as f64 * *count as f64).sum::<f64>() / all as f64
    };
    let variance = |transfers: &TransferOutcome| {
        let (m, all) = (mean(transfers), transfers.open_histogram.iter().sum::<u64>() as f64);
        let square = |(n, count): (usize, &u64)| (n as f64 - m) * (n as f64 - m) * *count as f64;
        transfers.open_histogram.iter().enumerate().map(square).sum::<f64>() / all
    };
    // A Poisson variable's variance is its mean. Samples 50 ms apart of transfers of 0.4 s: some 700 independent ones in a
    // run, so sqrt(2 / 700) = 5 % for one run's variance, which the interval over runs sees.
    let (ratio, half) = over(&runs, |transfers, _| variance(transfers) / mean(transfers));
    assert!((ratio - 1.0).abs() < half, "{ratio} +- {half}");
    // Little: what is open on average is the arrival rate times what a transfer takes, until its sender knows.
    let (gap, half) = over(&runs, |transfers, _| {
        let taken = transfers.duration_sum as f64 / 1e12 / transfers.completed as f64 + 0.001;
        transfers.open_mean / (transfers.opened as f64 / 200.0 * taken) - 1.0
    });
    assert!(gap.abs() < half + 0.01, "{gap} +- {half}");
}

#[test]
fn a_closed_population_that_fills_the_link_balances_its_flow() {
    // The third paper's Figure 3: N users, Z = 2 s of thinking, sessions of S = 100.5 packets on mu = 4000 packets/s. In a full
    // link the throughput is mu, so that N - Z mu / S are active: 120.4 of 200, 420.4 of 500 (its text says about 110 and
    // 400).
    for (users, buffer) in [(200, 100), (200, 400), (500, 100)] {
        let text = format!(
            r#"
duration = "400 s"
warmup = "100 s"
[[links]]
name = "l"
rate = "16 Mbit/s"
buffer = "{buffer} packets"
[[flows]]
count = {users}
path = ["l"]
rtt = {{ pareto = {{ mean = "100 ms", shape = 1.2, by = "quantiles" }} }}
packet = "500 B"
access = {{ rate = "160 Mbit/s" }}
start = {{ from = "0 s", to = "2 s" }}
traffic = {{ kind = "engset", size = "46230 B", law = "uniform", think = "2 s" }}
tcp = {{ send_jitter = "250 us" }}
"#
        );
        let runs = runs(&text, 5);
        let (active, half) = over(&runs, |transfers, _| transfers.open_mean);
        let (opened, half_opened) = over(&runs, |transfers, _| transfers.opened as f64);
        let expected = f64::from(users) - 2.0 * 4000.0 / 100.5;
        // The link is full to 0.1 %, of 4000 packets/s: less than 0.1 users. Thinking times differ from their mean by 2 s over
        // the root of 12,000 in a run: 0.7 users of 80, which the interval sees.
        assert!((active - expected).abs() < half + 0.1, "{users} users, {buffer}: {active} +- {half}, not {expected}");
        // As many open as are carried: 300 s of mu / S, but for what N flows begin or end with (some root of N).
        let carried = 300.0 * 4000.0 / 100.5;
        let edge = f64::from(users).sqrt();
        assert!((opened - carried).abs() < half_opened + edge, "{users} users, {buffer}: {opened} +- {half_opened}");
    }
}

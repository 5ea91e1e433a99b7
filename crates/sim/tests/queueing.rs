//! Streams of datagrams against queueing theory: M/D/1 and M/D/1/K, superposition, and what constant bit rates do exactly.

use sim::{Engine, Options, Outcome, simulate};

/// Time of a packet of 1000 B on the link of 10 Mbit/s, in seconds.
const SERVICE: f64 = 8e-4;

/// Replications of `count` flows of `kind` that offer `load` of a link with this buffer together.
fn runs(kind: &str, count: u32, load: f64, buffer: &str, replications: u32) -> Vec<Outcome> {
    let rate = (load * 1e7 / f64::from(count)).round();
    let text = format!(
        r#"
duration = "220 s"
warmup = "20 s"
[[links]]
name = "l"
rate = "10 Mbit/s"
buffer = "{buffer}"
[[flows]]
count = {count}
path = ["l"]
rtt = "10 ms"
packet = "1000 B"
traffic = {{ kind = "{kind}", rate = "{rate} bit/s" }}
[record]
every = "none"
"#
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine: Engine::Window, series: false, hash: false };
    (0..replications).map(|replication| simulate(&scenario, replication, options).expect("small")).collect()
}

fn waits(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.links[0].queueing_delay_s / SERVICE).collect()
}

fn losses(outcomes: &[Outcome]) -> Vec<f64> {
    let loss = |outcome: &Outcome| outcome.links[0].dropped[0] as f64 / outcome.links[0].arrived as f64;
    outcomes.iter().map(loss).collect()
}

/// Mean over 20 replications and four of its standard errors: what one test in a thousand would miss by chance, had the
/// seed not been fixed.
fn within(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, 4.0 * (square / (n - 1.0) / n).sqrt())
}

#[test]
fn waits_are_those_of_pollaczek_and_khinchine() {
    // M/D/1: rho / (2 (1 - rho)) service times in the mean.
    for load in [0.3, 0.6, 0.8, 0.9] {
        let (mean, four) = within(&waits(&runs("poisson", 1, load, "unlimited", 20)));
        let expected = load / (2.0 * (1.0 - load));
        assert!((mean - expected).abs() < four, "load {load}: {mean} +- {four} for {expected}");
        // And the test could tell M/D/1 from M/M/1, which waits twice as long, many times over.
        assert!(four < 0.06 * expected, "load {load}: {four} of {expected}");
    }
}

/// Share lost by M/D/1 with room for `n` packets, the one in service included.
///
/// Source: O. Brun, J.-M. Garcia, Analytical solution of finite capacity M/D/1 queues, J. Appl. Prob. 37 (2000):
/// 1 - b / (1 + rho b) with b = sum over k < n of (-rho (n - 1 - k))^k / k! e^(rho (n - 1 - k)).
fn md1k_loss(rho: f64, n: u32) -> f64 {
    let (mut b, mut factorial) = (0.0, 1.0);
    for k in 0..n {
        let left = f64::from(n - 1 - k);
        factorial *= f64::from(k.max(1));
        b += libm::pow(-rho * left, f64::from(k)) / factorial * libm::exp(rho * left);
    }
    1.0 - b / (1.0 + rho * b)
}

#[test]
fn losses_are_those_of_a_finite_md1() {
    // No room to wait: Erlang's formula with one server.
    assert!((md1k_loss(0.5, 1) - 1.0 / 3.0).abs() < 1e-12);
    // Room for one: 1 - 1 / (rho + e^-rho), from the chain embedded at departures.
    assert!((md1k_loss(0.8, 2) - (1.0 - 1.0 / (0.8 + libm::exp(-0.8)))).abs() < 1e-12);
    for (load, buffer) in [(0.5, 0), (0.8, 1), (0.9, 5), (0.9, 10), (1.0, 10), (1.3, 3)] {
        let outcomes = runs("poisson", 1, load, &format!("{buffer} packets"), 20);
        let (mean, four) = within(&losses(&outcomes));
        let expected = md1k_loss(load, buffer + 1);
        assert!((mean - expected).abs() < four, "{load}, {buffer} packets: {mean} +- {four} for {expected}");
        assert!(four < 0.1 * expected, "{load}, {buffer} packets: {four} of {expected}");
    }
}

#[test]
fn twenty_poisson_streams_are_one_of_twenty_times_the_rate() {
    let (one, four_of_one) = within(&waits(&runs("poisson", 1, 0.8, "unlimited", 20)));
    let (many, four_of_many) = within(&waits(&runs("poisson", 20, 0.8, "unlimited", 20)));
    // Independent means: their errors add as squares.
    assert!((one - many).abs() < four_of_one.hypot(four_of_many), "{one} and {many}");
    let (one, four_of_one) = within(&losses(&runs("poisson", 1, 0.9, "5 packets", 20)));
    let (many, four_of_many) = within(&losses(&runs("poisson", 20, 0.9, "5 packets", 20)));
    assert!((one - many).abs() < four_of_one.hypot(four_of_many), "{one} and {many}");
}

#[test]
fn a_constant_rate_never_waits_behind_itself() {
    // Not even at the link's own rate.
    for load in [0.1, 0.77, 0.99, 1.0] {
        let outcome = &runs("cbr", 1, load, "0 packets", 1)[0];
        let (link, flow) = (&outcome.links[0], &outcome.flows[0]);
        assert_eq!((link.queueing_delay_s, link.backlog_max, outcome.balance.dropped), (0.0, 0, 0), "load {load}");
        // A packet more or less in 200 s.
        assert!((flow.goodput_bps - load * 1e7).abs() <= 8000.0 / 200.0, "{}", flow.goodput_bps);
        assert!((link.utilization - load).abs() <= SERVICE / 200.0, "{}", link.utilization);
    }
}

#[test]
fn above_the_rate_of_the_link_the_rest_of_a_constant_rate_is_lost() {
    for (load, buffer) in [(1.25, "0 packets"), (1.25, "10 packets"), (2.0, "7 packets"), (1.01, "1 packet")] {
        let outcome = &runs("cbr", 1, load, buffer, 1)[0];
        let link = &outcome.links[0];
        let lost = link.dropped[0] as f64 - link.arrived as f64 * (1.0 - 1.0 / load);
        if buffer == "0 packets" {
            // Without a buffer every other packet goes: two gaps of 0.8 services make one of 1.6.
            assert!((link.dropped[0] as f64 / link.arrived as f64 - 0.5).abs() < 1e-5);
            continue;
        }
        // 1 - C/rate, up to the packets that wait at both ends of the 200 s.
        assert!(lost.abs() <= 11.0, "load {load}: {lost} more than expected");
        assert!(link.utilization > 0.99999, "{}", link.utilization);
    }
}

#[test]
fn constant_rates_that_start_together_stay_in_step() {
    // Five at once every gap: the k-th waits for k - 1 others, two in the mean; a buffer of three always refuses the last.
    let outcome = &runs("cbr", 5, 0.5, "unlimited", 1)[0];
    assert!((outcome.links[0].queueing_delay_s / SERVICE - 2.0).abs() < 1e-9);
    let outcome = &runs("cbr", 5, 0.5, "3 packets", 1)[0];
    let lost: Vec<bool> = outcome.flows.iter().map(|flow| flow.dropped == flow.sent).collect();
    let some: Vec<bool> = outcome.flows.iter().map(|flow| flow.dropped > 0).collect();
    assert_eq!((lost, some), (vec![false, false, false, false, true], vec![false, false, false, false, true]));
}

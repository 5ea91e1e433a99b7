//! One flow against closed forms: response functions over three decades of loss, sawtooth period and utilisation.

use libm::{exp, log, pow};
use sim::{Engine, Options, Outcome, simulate};

fn run(text: &str) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    simulate(&scenario, 0, options).expect("small")
}

/// Mean window, in segments, of a flow on an empty path of 100 ms that loses every n-th packet.
fn window_at(law: &str, n: u64, duration: u64) -> f64 {
    // Fast enough never to queue more than the pair of segments that a growing window sends.
    let rate = if law == "reno" { "1 Gbit/s" } else { "10 Gbit/s" };
    let outcome = run(&format!(
        r#"
duration = "{duration} s"
warmup = "{} s"
[[links]]
name = "l"
rate = "{rate}"
buffer = "unlimited"
loss = {{ every = {n} }}
[[flows]]
path = ["l"]
rtt = "100 ms"
packet = "1000 B"
control = {{ law = "{law}" }}
[record]
every = "none"
"#,
        duration / 5
    ));
    outcome.flows[0].goodput_bps / 8000.0 * 0.1
}

#[test]
fn reno_follows_its_response_function() {
    // One loss in n packets, cut by half, one segment per round trip: w = sqrt(3/2) / sqrt(p).
    for (n, duration) in [(100, 200), (1_000, 600), (10_000, 2_000), (100_000, 6_000)] {
        let p = 1.0 / n as f64;
        let ratio = window_at("reno", n, duration) / (1.5 / p).sqrt();
        // The round trip of recovery, in which the window does not grow, belongs to no formula: one in w/2 round trips.
        let slack = 0.03 + 2.0 / (1.5 / p).sqrt();
        assert!((1.0 - slack..1.03).contains(&ratio), "p = {p}: {ratio}");
    }
}

#[test]
fn highspeed_follows_its_response_function() {
    // RFC 3649, Section 5: w = (p / low_p)^(1 / slope) low_window, which the RFC rounds to 0.12 / p^0.835.
    for (n, duration) in [(1_000, 400), (10_000, 600), (100_000, 1_000), (1_000_000, 1_000)] {
        let p = 1.0 / n as f64;
        let ratio = window_at("highspeed", n, duration) / (0.12 / pow(p, 0.835));
        // 3 % for the rounded constants, and a round trip of recovery in each cycle of 25 to 80.
        assert!((0.93..1.05).contains(&ratio), "p = {p}: {ratio}");
    }
}

/// Utilisation, mean time between cuts in s, and largest window of one flow on 100 Mbit/s and 40 ms: 500 packets in the
/// pipe.
fn sawtooth(law: &str, buffer: u32) -> (f64, f64, f64) {
    let outcome = run(&format!(
        r#"
duration = "400 s"
warmup = "100 s"
[[links]]
name = "l"
rate = "100 Mbit/s"
delay = "20 ms"
buffer = "{buffer} packets"
[[flows]]
name = "f"
path = ["l"]
rtt = "40 ms"
packet = "1000 B"
access = {{ rate = "10 Gbit/s" }}
control = {{ law = "{law}" }}
[record]
trace = ["f[0]"]
"#
    ));
    let rows: Vec<_> = outcome.traces[0].rows.iter().filter(|row| row.time.as_secs() > 100.0).collect();
    let cuts: Vec<f64> =
        rows.windows(2).filter(|pair| pair[1].cwnd < pair[0].cwnd).map(|pair| pair[1].time.as_secs()).collect();
    let peak = rows.iter().map(|row| row.cwnd).fold(0.0, f64::max);
    (outcome.links[0].utilization, (cuts[cuts.len() - 1] - cuts[0]) / (cuts.len() - 1) as f64, peak)
}

#[test]
fn a_reno_sawtooth_has_the_period_and_the_utilisation_of_theory() {
    let (rate, pipe) = (12_500.0, 500.0);
    // With a buffer of one pipe the queue never empties: the window climbs from P to 2P, a round trip each w/C.
    let (utilization, period, peak) = sawtooth("reno", 500);
    assert!(utilization > 0.999, "{utilization}");
    assert!((peak / (2.0 * pipe) - 1.0).abs() < 0.01, "{peak}");
    // 1 % for the packet in service and the round trip of recovery.
    assert!((period / (1.5 * pipe * pipe / rate) - 1.0).abs() < 0.01, "{period}");
    // With almost no buffer the round trip is constant: half a pipe to climb, three quarters of the link used.
    let (utilization, period, _) = sawtooth("reno", 2);
    assert!((utilization - 0.75).abs() < 0.01, "{utilization}");
    // Three packets in queue and service lengthen the climb by 0.6 %, recovery by a round trip of 250, and the window
    // grows only while it is full: 3 %.
    assert!((period / (pipe / 2.0 * 0.04) - 1.0).abs() < 0.03, "{period}");
}

#[test]
fn a_highspeed_sawtooth_has_the_period_of_its_differential_equation() {
    // dw/dt = a(w) / rtt(w) from (1 - b) W to W with rtt = max(base, w/C), integrated here by Simpson's rule.
    let law = |w: f64| {
        let y = log(w / 38.0) / log(83_000.0 / 38.0);
        let (b, p) = (0.5 - 0.4 * y, exp(log(1e-3) + y * log(1e-7 / 1e-3)));
        (w * w * p * 2.0 * b / (2.0 - b), b)
    };
    for buffer in [100u32, 500] {
        let (_, period, peak) = sawtooth("highspeed", buffer);
        let (rate, pipe) = (12_500.0, 500.0);
        let low = (1.0 - law(peak).1) * peak;
        let (n, step) = (1000, (peak - low) / 1000.0);
        let time = |w: f64| f64::max(pipe, w) / rate / law(w).0;
        let sum: f64 = (0..=n)
            .map(|i| {
                time(low + step * f64::from(i))
                    * if i == 0 || i == n {
                        1.0
                    } else if i % 2 == 1 {
                        4.0
                    } else {
                        2.0
                    }
            })
            .sum();
        let expected = sum * step / 3.0;
        // Two or three segments are lost at each peak (a(w) > 1), so recovery adds a round trip or two to 30.
        assert!((period / expected - 1.0).abs() < 0.06, "buffer {buffer}: {period} for {expected}");
    }
}

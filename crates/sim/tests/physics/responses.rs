//! Laws on simulated paths against their formulas: the mean window under a loss every 1/p segments, over two or three decades
//! of p on an empty path, and the standing queue of the laws that avoid losses. Reno and HighSpeed are in `theory.rs`; the
//! same formulas without a network, to a per mille, in `law/tests/response.rs`. Windows in segments.

use libm::{cbrt, log, pow};
use sim::{Engine, Options, Outcome, simulate};

fn run(text: &str) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    simulate(&scenario, 0, options).expect("small")
}

/// Mean window of a flow on an empty path that loses every `n`-th packet, over the last two fifths of the run.
fn window(control: &str, rtt_ms: f64, n: f64, tcp: &str, seconds: f64) -> f64 {
    let outcome = run(&format!(
        r#"
duration = "{seconds} s"
warmup = "{} s"
[[links]]
name = "l"
rate = "10 Gbit/s"
buffer = "unlimited"
loss = {{ every = {n} }}
[[flows]]
path = ["l"]
rtt = "{rtt_ms} ms"
packet = "1500 B"
control = {{ {control} }}
tcp = {{ {tcp} }}
[record]
every = "none"
"#,
        0.6 * seconds
    ));
    outcome.flows[0].goodput_bps / 12_000.0 * rtt_ms / 1e3
}

/// Growth of a law between two losses at the same window: round trips, ACKs, and the window after the loss.
struct Climb {
    rounds: f64,
    acks: f64,
    from: f64,
}

/// `a` segments per round trip, `b` of the window given up.
fn aimd(a: f64, b: f64) -> impl Fn(f64) -> Climb {
    move |w| Climb { rounds: b * w / a, acks: b * w / a * w * (1.0 - 0.5 * b), from: (1.0 - b) * w }
}

/// The climb from `from` to `w` at `a(w, t)` segments per round trip, `t` round trips after its beginning.
fn integrated(from: f64, w: f64, a: impl Fn(f64, f64) -> f64) -> Climb {
    let steps = 20_000;
    let step = (w - from) / f64::from(steps);
    let (mut rounds, mut acks) = (0.0, 0.0);
    for i in 0..steps {
        let x = from + (f64::from(i) + 0.5) * step;
        let took = step / a(x, rounds);
        rounds += took;
        acks += took * x;
    }
    Climb { rounds, acks, from }
}

/// The argument at which the rising `f` is zero.
fn root(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (2.0, 1e7);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}

/// The mean window of a law alone, as publications have it: the climb takes all of the `n` ACKs.
fn alone(n: f64, climb: impl Fn(f64) -> Climb) -> f64 {
    n / climb(root(|w| climb(w).acks - n)).rounds
}

/// A law under a transport with windows. While losses are repaired, a round trip, a window of ACKs does not count; and in
/// every round trip come the ACKs of the one before, fewer by what the window grew: ln(w / from) round trips more.
struct Transported {
    mean: f64,
    peak: f64,
    from: f64,
    rounds: f64,
}

fn transported(n: f64, climb: impl Fn(f64) -> Climb) -> Transported {
    let peak = root(|w| climb(w).acks + w - n);
    let Climb { rounds, from, .. } = climb(peak);
    let rounds = rounds + 1.0 + log(peak / from);
    Transported { mean: n / rounds, peak, from, rounds }
}

/// Whether `value` is `expected` up to the relative `tolerance`.
fn close(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{what}: {value} instead of {expected}");
}

/// Measures the mean window and compares it with that of the climb under a transport.
fn follows(control: &str, rtt_ms: f64, n: f64, climb: impl Fn(f64) -> Climb) -> f64 {
    let expected = transported(n, climb);
    // The first cycle begins like the others.
    let tcp = format!("initial_ssthresh = {}", expected.from.max(2.0));
    let seconds = (40.0 * expected.rounds * rtt_ms / 1e3).ceil().max(5.0);
    let measured = window(control, rtt_ms, n, &tcp, seconds);
    // Whole segments travel, half a segment less than the window; cycles are counted in whole round trips.
    let tolerance = 0.01 + 0.5 / expected.mean + 0.1 / (expected.rounds - 1.0);
    close(measured, expected.mean, tolerance, &format!("{control}, {rtt_ms} ms, a loss in {n}"));
    measured
}

#[test]
fn scalable_has_a_mean_of_three_quarters_of_a_tenth_over_p() {
    let climb = |w: f64| Climb { rounds: log(8.0 / 7.0) / 0.01, acks: 12.5 * w, from: 0.875 * w };
    for n in [1e3, 1e4, 1e5, 1e6] {
        // Kelly: at 0.08/p the 1/p ACKs gain an eighth. From there down, 13.4 round trips on average.
        close(root(|w| climb(w).acks - n), 0.08 * n, 1e-9, "peak");
        close(alone(n, climb), 0.01 / log(8.0 / 7.0) * n, 1e-9, "mean");
        // 8 % less: at any window the repair is one round trip of 14.
        follows("law = \"scalable\"", 100.0, n, climb);
    }
}

#[test]
fn constant_rate_gives_short_and_long_paths_the_same_rate() {
    for n in [1e2, 1e3, 1e4, 1e5] {
        let rates = [50.0, 200.0].map(|ms: f64| {
            let climb = aimd(100.0 * ms * ms / 1e6, 0.5);
            // Floyd 1991: sqrt(3 c / 2p) segments per second.
            close(alone(n, &climb) / ms * 1e3, (1.5 * 100.0 * n).sqrt(), 1e-9, "rate");
            follows("law = \"constant-rate\"", ms, n, climb) / ms * 1e3
        });
        if n > 5e3 {
            // 40 round trips, of which the longer path loses one and a half and the shorter a half.
            close(rates[1], rates[0], 0.015, "200 ms against 50 ms");
        }
    }
}

#[test]
fn hybla_has_the_rate_of_reno_at_its_reference() {
    for n in [1e2, 1e3, 1e4, 1e5] {
        let rates = [25.0, 100.0].map(|ms: f64| {
            let rho = ms / 25.0;
            let climb = aimd(rho * rho, 0.5);
            close(alone(n, &climb), rho * (1.5 * n).sqrt(), 1e-9, "rho windows of Reno");
            follows("law = \"hybla\"", ms, n, climb) / ms * 1e3
        });
        let reno = window("law = \"reno\"", 25.0, n, "initial_ssthresh = 100", 400.0) / 25.0 * 1e3;
        // At its reference it is Reno, but for where the last cycle ends.
        close(rates[0], reno, 0.01, "25 ms against Reno");
        if n > 5e3 {
            // A repair of 100 ms among 20 round trips.
            close(rates[1], reno, 0.03, "100 ms against Reno at 25 ms");
        }
    }
}

/// RFC 3649 and Phillips and Hu 2006, equations 1 to 9: b(w) at the normalised window, and a(w).
fn normalised(w: f64, ratio: f64) -> (f64, f64) {
    let b = 0.5 - 0.4 * log(w / ratio / 38.0) / log(83_000.0 / 38.0);
    let a = 0.078 * pow(w / ratio, 0.8) * 2.0 * b / (2.0 - b);
    ((a * ratio * ratio).min(w).max(1.0), b.clamp(0.1, 0.5))
}

#[test]
fn nr_hstcp_has_one_rate_at_any_round_trip_time() {
    for n in [1e3, 1e4, 1e5] {
        let windows = [75.0, 100.0, 150.0].map(|ms: f64| {
            let ratio = ms / 100.0;
            let climb = |w: f64| integrated(w * (1.0 - normalised(w, ratio).1), w, |w, _| normalised(w, ratio).0);
            if n > 5e3 {
                // A formula for a and b at the mean window, while they vary along the climb.
                close(alone(n, climb), ratio * 0.12 * pow(n, 0.835), 0.022, "the RFC's response function");
            }
            follows("law = \"nr-hstcp\"", ms, n, climb)
        });
        if n > 5e3 {
            // A repair of 150 ms is longer than one of 75 ms, 25 round trips.
            close(windows[2] / 150.0, windows[0] / 75.0, 0.025, "150 ms against 75 ms");
            let highspeed = window("law = \"highspeed\"", 100.0, n, "initial_ssthresh = 200", n / 100.0);
            // Its p(w) is rounded.
            close(windows[1], highspeed, 0.02, "100 ms against HighSpeed");
        }
    }
    // Below 38 segments it is Reno.
    let few =
        ["reno", "nr-hstcp"].map(|law| window(&format!("law = \"{law}\""), 100.0, 1e2, "initial_ssthresh = 8", 400.0));
    close(few[1], few[0], 0.01, "one loss in a hundred");
}

#[test]
fn cubic_has_the_means_of_rfc_9438_in_both_regions() {
    // Without fast convergence, which a flow alone should not have (Section 4.7).
    let control = "law = \"cubic\", fast_convergence = false";
    for n in [1e2, 1e3, 1e4, 1e5] {
        // Figure 3: Reno's mean with a smaller step and a smaller cut; at 10 ms up to Table 2's fourth row.
        let climb = aimd(9.0 / 17.0, 0.3);
        close(alone(n, &climb), (1.5 * n).sqrt(), 1e-9, "Figure 3");
        follows(control, 10.0, n, climb);
    }
    for n in [1e4, 1e5, 1e6] {
        let climb = |w: f64| {
            let rounds = cbrt(0.3 * w / 0.4) / 0.1;
            Climb { rounds, acks: rounds * w * (1.0 - 0.25 * 0.3), from: 0.7 * w }
        };
        close(alone(n, climb), pow(0.4 * 3.7 / (4.0 * 0.3), 0.25) * pow(0.1 * n, 0.75), 1e-9, "Figure 6");
        let expected = transported(n, climb);
        // A flow that loses above its plateau does so a little less above it in the next cycle, by the cube of the distance: it
        // would be there for hundreds. The receive window brings the first maximum to where the formula has it.
        let tcp = format!("initial_ssthresh = {}, receive_window = {}", expected.from, expected.peak.round());
        let measured = window(control, 100.0, n, &tcp, (40.0 * expected.rounds * 0.1).ceil());
        // At 1e-4 Reno's region lies 1.5 times below, and round trips are counted whole.
        close(measured, expected.mean, 0.012, &format!("a loss in {n}"));
    }
}

#[test]
fn htcp_has_the_mean_that_its_alpha_integrates_to() {
    // The round-trip time is constant: beta = 0.8. Alpha counts from the loss, a round trip before the climb.
    let climb = |w: f64| {
        integrated(0.8 * w, w, |_, t| {
            let x = (0.1 * (t + 1.0) - 1.0).max(0.0);
            0.4 * (1.0 + 10.0 * x + 0.25 * x * x)
        })
    };
    for n in [1e2, 1e3, 1e4, 1e5] {
        follows("law = \"htcp\"", 100.0, n, climb);
    }
}

#[test]
fn bic_has_the_mean_that_its_search_integrates_to() {
    // From (1 - b) w at the largest step to 2 s_max below w, then exp(-n/2) of the way after n round trips.
    let climb = |w: f64| {
        let (s_max, s_min, b) = (32.0, 0.01, 0.125);
        let far = (b * w - 2.0 * s_max).max(0.0);
        let (climbing, searching) = (far / s_max, 2.0 * log((b * w - far) / (2.0 * s_min)));
        let climbed = climbing * ((1.0 - b) * w + 0.5 * far);
        let searched = searching * w - 2.0 * (b * w - far - 2.0 * s_min);
        Climb { rounds: climbing + searching, acks: climbed + searched, from: (1.0 - b) * w }
    };
    for n in [1e3, 1e4, 1e5] {
        let expected = transported(n, climb);
        // As for CUBIC: a loss during the last steps leaves the maximum where it was.
        let tcp = format!("initial_ssthresh = {}, receive_window = {}", expected.from, expected.peak.round());
        let control = "law = \"bic\", fast_convergence = false";
        let measured = window(control, 100.0, n, &tcp, (40.0 * expected.rounds * 0.1).ceil());
        // The window travels as one clump, so cycles take whole round trips, with a maximum that stays all of them the same.
        close(measured, expected.mean, 1.0 / expected.rounds, &format!("a loss in {n}"));
    }
}

#[test]
fn ghstcp_has_a_mean_between_those_of_its_two_growths() {
    // On an empty path it should be HighSpeed, and is where every round-trip time is the same (its own test). Here a window
    // travels as one clump, at the end of which the segments by which it grows wait for some microseconds. Correlation has
    // no scale: round-trip times rise with the time of sending within the clump, and the test takes that for a queue.
    // 0.72 and 0.37 of HighSpeed's mean at 1e-4 and 1e-5.
    for n in [1e3, 1e4, 1e5] {
        let [gentle, highspeed] = ["ghstcp", "highspeed"]
            .map(|law| window(&format!("law = \"{law}\""), 100.0, n, "initial_ssthresh = 100", 300.0));
        let reno = transported(n, |w| aimd(1.0, normalised(w, 1.0).1)(w)).mean;
        assert!((reno..1.001 * highspeed).contains(&gentle), "a loss in {n}: {reno}, {gentle}, {highspeed}");
    }
}

#[test]
fn westwood_takes_random_losses_for_no_congestion() {
    for (n, above) in [(1e2, 2.0), (1e3, 6.0), (1e4, 8.0)] {
        let [westwood, reno] = ["westwood", "reno"]
            .map(|law| window(&format!("law = \"{law}\""), 100.0, n, "initial_ssthresh = 20", 300.0));
        // An empty path: bandwidth times the smallest round-trip time is the window of some round trips ago. It grows until
        // a loss comes every few round trips.
        assert!(westwood > above * reno && westwood < 0.26 * n, "a loss in {n}: {westwood}, Reno {reno}");
    }
}

/// A flow alone on a link of 1000-byte packets.
fn on_link(control: &str, rate: &str, rtt_ms: f64, link: &str, flow: &str) -> Outcome {
    run(&format!(
        r#"
duration = "60 s"
warmup = "20 s"
[[links]]
name = "l"
rate = "{rate}"
delay = "{} ms"
{link}
[[flows]]
name = "f"
path = ["l"]
rtt = "{rtt_ms} ms"
packet = "1000 B"
control = {{ {control} }}
{flow}
[record]
trace = ["f[0]"]
"#,
        0.5 * rtt_ms
    ))
}

#[test]
fn vegas_keeps_between_alpha_and_beta_segments_waiting() {
    for (alpha, beta) in [(1.0, 3.0), (4.0, 8.0)] {
        for rtt in [20.0, 40.0] {
            let control = format!("law = \"vegas\", alpha = {alpha}, beta = {beta}, slow_start = \"vegas-start\"");
            let outcome = on_link(&control, "10 Mbit/s", rtt, "buffer = \"1000 packets\"", "");
            let link = &outcome.links[0];
            assert!((alpha..=beta).contains(&link.backlog_mean), "{rtt} ms: {}", link.backlog_mean);
            assert!(f64::from(link.backlog_max) <= beta && link.utilization > 0.9999, "{rtt} ms: {}", link.backlog_max);
        }
    }
}

#[test]
fn fast_keeps_alpha_segments_waiting() {
    for alpha in [20.0, 100.0] {
        for (rate, rtt) in [("10 Mbit/s", 20.0), ("10 Mbit/s", 100.0), ("100 Mbit/s", 40.0)] {
            let control = format!("law = \"fast\", alpha = {alpha}");
            let link = "buffer = \"1000 packets\"";
            let outcome = on_link(&control, rate, rtt, link, "tcp = { initial_ssthresh = 20 }");
            // The window is real-valued, what waits is not.
            close(outcome.links[0].backlog_mean, alpha, 0.5 / alpha, &format!("{rate}, {rtt} ms"));
            assert!(outcome.links[0].utilization > 0.9999);
        }
    }
}

#[test]
fn dctcp_keeps_the_queue_at_its_threshold() {
    // Alizadeh et al. 2010, Section 3.3: W* = C RTT + K is the window that marks, alpha = sqrt(2 / W*) when one round trip
    // of a cycle is marked, and the queue swings by W* alpha / 2 below K + 1. K > C RTT / 7, so that it does not empty.
    for (rate, rtt, packets, k) in
        [("100 Mbit/s", 10.0, 126.0, 20.0), ("100 Mbit/s", 10.0, 126.0, 40.0), ("1 Gbit/s", 0.5, 63.5, 20.0)]
    {
        for (g, recovery) in [(0.0625, "sack"), (0.005, "sack"), (0.0625, "rack"), (0.005, "rack")] {
            let control = format!("law = \"dctcp\", g = {g}, initial_alpha = 0.2");
            let queue = format!("queue = {{ discipline = \"drop-tail\", ecn_threshold = {k} }}");
            let outcome = on_link(
                &control,
                rate,
                rtt,
                &format!("buffer = \"1000 packets\"\n{queue}"),
                &format!("recovery = \"{recovery}\""),
            );
            let (link, trace) = (&outcome.links[0], &outcome.traces[0]);
            let gauge = trace.gauges.iter().find(|gauge| gauge.name == "alpha").expect("alpha");
            let late = trace.rows.iter().zip(&gauge.values).filter(|(row, _)| row.time.as_secs() > 20.0);
            let late: Vec<_> = late.map(|(row, alpha)| (row.cwnd, *alpha)).collect();
            let mean = late.iter().map(|(_, alpha)| alpha).sum::<f64>() / late.len() as f64;
            let cuts: Vec<_> = late.windows(2).filter(|pair| pair[1].0 < pair[0].0).map(|pair| pair[1].1).collect();
            let cut = cuts.iter().sum::<f64>() / cuts.len() as f64;
            let full = packets + k;
            let expected = f64::sqrt(2.0 / full);
            let name = format!("{rate}, threshold {k}, g {g}, {recovery}");
            // They take alpha for constant. With a weight of 1/16 it falls by a fifth within a cycle, and what the cut
            // takes is the lowest: the product of that and the mean is theirs.
            if recovery == "sack" {
                close((mean * cut).sqrt(), expected, 0.01, &name);
                if g < 0.01 {
                    close(mean, expected, 0.02, &name);
                }
            } else {
                // Proportional rate reduction takes a round trip to lower the window, and what leaves meanwhile is marked
                // at first: after each cut follows a second, and a cycle is twice as long. Alpha is the share of marks
                // also then, but for the rounds that it lags behind.
                close(mean, link.marked.iter().sum::<u64>() as f64 / link.arrived as f64, 0.05, &name);
                close((mean * cut).sqrt(), expected / 2f64.sqrt(), 0.04, &name);
            }
            // Marks come a round trip before the cut, in which the window grows by one or two.
            let swing = 0.5 * full * expected;
            assert!((k + 1.0 - swing..k + 1.0).contains(&link.backlog_mean), "{name}: {} packets", link.backlog_mean);
            assert!(f64::from(link.backlog_max) <= k + 2.0, "{name}: {} packets", link.backlog_max);
            assert!(link.empty_fraction == 0.0 && link.utilization > 0.9999, "{name}: {}", link.empty_fraction);
            assert_eq!(link.dropped, [0; 5], "{name}");
        }
    }
}

#[test]
fn bbr_alone_fills_the_link_without_filling_the_buffer() {
    for (rate, rtt, bdp) in [("10 Mbit/s", 40.0, 50.0), ("100 Mbit/s", 10.0, 125.0), ("100 Mbit/s", 100.0, 1250.0)] {
        for buffer in ["0.5 bdp", "2 bdp"] {
            let link = format!("buffer = \"{buffer}\"");
            let outcome = on_link("law = \"bbr\"", rate, rtt, &link, "recovery = \"rack\"");
            let link = &outcome.links[0];
            // Half a pipe for 200 ms every 5 s, and 1 % of margin.
            assert!((0.955..0.985).contains(&link.utilization), "{rate}, {rtt} ms, {buffer}: {}", link.utilization);
            // A queue only where it probes for more, a few round trips in two or three seconds.
            assert!(link.backlog_mean < 0.12 * bdp, "{rate}, {rtt} ms, {buffer}: {} packets", link.backlog_mean);
        }
    }
}

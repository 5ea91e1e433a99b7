//! BBR version 1 alone on a link against the arithmetic of its cycle: the probe's queue to a packet, the mean queue,
//! what probing for the round-trip time costs, and what other gains would give.
//!
//! Source: the constants of Linux 6.12's `tcp_bbr.c`; the arithmetic is a fluid's, written here.

use sim::{Engine, Options, Outcome, simulate};

fn run(parameters: &str, mbit: f64, rtt_ms: f64, flow: &str) -> Outcome {
    let text = format!(
        r#"
duration = "60 s"
warmup = "20 s"
[[links]]
name = "l"
rate = "{mbit} Mbit/s"
delay = "{} ms"
buffer = "4 bdp"
[[flows]]
name = "f"
path = ["l"]
rtt = "{rtt_ms} ms"
packet = "1000 B"
control = {{ law = "bbr1"{parameters} }}
{flow}
"#,
        0.5 * rtt_ms
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, 0, Options { engine: Engine::Window, series: false, hash: false, ..Options::default() })
        .expect("small")
}

/// Link with a rate in segments per second, and the round-trip time with the service of one.
#[derive(Clone, Copy)]
struct Link {
    rate: f64,
    rtt: f64,
}

impl Link {
    fn new(mbit: f64, rtt_ms: f64) -> Self {
        let rate = mbit * 125.0;
        Self { rate, rtt: 1e-3 * rtt_ms + 1.0 / rate }
    }

    fn bdp(self) -> f64 {
        self.rate * self.rtt
    }

    /// Segments of a burst at a pace of `gain` times the bandwidth.
    fn burst(self, gain: f64) -> f64 {
        (0.99 * gain * self.rate / 1024.0).floor().max(2.0)
    }

    /// Limit on the data in flight: `bdps` times the BDP and three bursts, rounded up to an even number.
    fn inflight(self, bdps: f64, burst: f64) -> f64 {
        let needed = (bdps * self.bdp()).ceil() + 3.0 * burst;
        2.0 * (needed / 2.0).ceil()
    }

    /// Largest queue: the probe ends when all but its next burst is in flight.
    fn peak(self, up: f64) -> f64 {
        self.inflight(up, self.burst(up)) + 2.0 - self.burst(up) - self.bdp().round()
    }

    /// Mean queue of a cycle, which repeats: up to the peak in a round trip or more, down for a round trip or until
    /// three bursts are left, and six round trips 1 % below the rate.
    fn mean(self, up: f64) -> f64 {
        let (bdp, peak) = (self.bdp(), self.peak(up));
        let (rise, fall, drain) = ((0.99 * up - 1.0) * bdp, (1.0 - 0.99 * 0.75) * bdp, 0.01 * bdp);
        let least = self.inflight(1.0, self.burst(0.75)) - bdp;
        let (mut low, mut mean) = (0.0, 0.0);
        for _ in 0..20 {
            let rising = f64::max(1.0, (peak - low) / rise);
            let falling = ((peak - least) / fall).clamp(0.0, 1.0);
            let left = peak - falling * fall;
            let draining = f64::min(6.0, left / drain);
            let after = left - draining * drain;
            let area = 0.5 * ((low + peak) * rising + (peak + left) * falling + (left + after) * draining);
            (low, mean) = (after, area / (rising + falling + 6.0));
        }
        mean
    }

    /// Share of the time in which nothing but four segments per round trip is sent: until they alone are in flight, 200
    /// ms, and what is left of a round, half of one on average, every ten seconds.
    fn probing(self) -> f64 {
        let seconds = 0.2 + 1.5 * self.rtt;
        seconds / (10.0 + seconds) * (1.0 - 4.0 / self.bdp())
    }
}

const LINKS: [(f64, f64); 4] = [(10.0, 40.0), (100.0, 10.0), (100.0, 40.0), (100.0, 100.0)];

#[test]
fn alone_it_makes_the_queue_that_its_cycle_implies() {
    for (mbit, rtt_ms) in LINKS {
        let (outcome, link) = (run("", mbit, rtt_ms, ""), Link::new(mbit, rtt_ms));
        let (found, name) = (&outcome.links[0], format!("{mbit} Mbit/s, {rtt_ms} ms"));
        assert_eq!(f64::from(found.backlog_max), link.peak(1.25), "{name}");
        // 12 %: a fluid has no segments, one of which is a seventh of the smallest of these queues, and ProbeRTT ends
        // in any phase.
        let mean = (1.0 - link.probing()) * link.mean(1.25);
        assert!((found.backlog_mean / mean - 1.0).abs() < 0.12, "{name}: {} for {mean}", found.backlog_mean);
        // Besides probing, the 1 % of cruising once the queue is gone.
        let idle = 1.0 - found.utilization - link.probing();
        assert!((-0.002..0.0075).contains(&idle), "{name}: {}", found.utilization);
        assert!(found.utilization > if rtt_ms > 50.0 { 0.96 } else { 0.97 }, "{name}: {}", found.utilization);
        assert_eq!(found.dropped, [0; 5], "{name}");
    }
}

#[test]
fn another_gain_would_show() {
    for (mbit, rtt_ms) in LINKS {
        let (link, name) = (Link::new(mbit, rtt_ms), format!("{mbit} Mbit/s, {rtt_ms} ms"));
        let found = |parameters: &str| {
            let outcome = run(parameters, mbit, rtt_ms, "");
            (f64::from(outcome.links[0].backlog_max), outcome.links[0].backlog_mean)
        };
        // The peak tells a gain of 1.1 from 1.25: 0.5 to 0.7 of it.
        let (peak, _) = found(", up_pacing_gain = 1.1");
        assert_eq!(peak, link.peak(1.1), "{name}");
        assert!(peak < 0.7 * link.peak(1.25), "{name}: {peak}");
        // What 1.5 adds in a round trip, 3/4 does not take away in one: it piles up to what the window allows, four
        // times the mean and more. That is one bdp, bursts, and what ACKs came at once; half of one with a smaller
        // window.
        let (peak, mean) = found(", up_pacing_gain = 1.5");
        let bursts = peak - link.bdp();
        assert!((0.0..8.0 + 4.0 * link.burst(1.5)).contains(&bursts), "{name}: {peak}");
        assert!(mean > 3.5 * link.mean(1.25), "{name}: {mean}");
        let (smaller, _) = found(", up_pacing_gain = 1.5, cwnd_gain = 1.5");
        assert!((peak - smaller - 0.5 * link.bdp()).abs() < 6.0, "{name}: {smaller} of {peak}");
    }
}

#[test]
fn several_keep_a_bdp_waiting_which_the_window_s_gain_allows() {
    // Each takes the largest of its shares of ten rounds for its own: together they send faster than the link, until
    // windows of cwnd_gain bdp stop them.
    let queue = |gain: f64| {
        let outcome =
            run(&format!(", cwnd_gain = {gain}"), 100.0, 40.0, "count = 5\nstart = { from = \"0 s\", to = \"2 s\" }");
        assert!(outcome.links[0].utilization > 0.96, "{gain}: {}", outcome.links[0].utilization);
        outcome.links[0].backlog_mean / 501.0
    };
    let (two, one_and_a_half) = (queue(2.0), queue(1.5));
    assert!((0.8..1.6).contains(&two), "{two}");
    assert!((0.35..0.65).contains(&(two - one_and_a_half)), "{one_and_a_half}");
}

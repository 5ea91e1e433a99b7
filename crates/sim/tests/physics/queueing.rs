//! Streams of datagrams against queueing theory: M/D/1, M/M/1 and M/G/1 with finite and infinite buffers, superposed streams,
//! on-off bursts against a fluid model, and the exact delays of constant bit rates.

use sim::{Engine, LinkOutcome, Options, Outcome, simulate};
use std::fmt::Write;

/// Time of a packet of 1000 B on the link of 10 Mbit/s, in seconds.
const SERVICE: f64 = 8e-4;

/// Number of flows, packet size in bytes, kind with parameters, and the rate of all flows together relative to the link's;
/// of on-off flows, while they are on.
struct Group<'a>(u32, u32, &'a str, f64);

/// Simulates `groups` on a link with `buffer`, once per replication.
fn mixed(groups: &[Group], buffer: &str, measured_s: u32, replications: u32) -> Vec<Outcome> {
    let mut text = format!(
        "duration = \"{} s\"\nwarmup = \"20 s\"\nrecord = {{ every = \"none\" }}\n\
         [[links]]\nname = \"l\"\nrate = \"10 Mbit/s\"\nbuffer = \"{buffer}\"\n",
        20 + measured_s
    );
    for (i, Group(count, packet, traffic, load)) in groups.iter().enumerate() {
        let rate = (load * 1e7 / f64::from(*count)).round();
        let _ = writeln!(
            text,
            "[[flows]]\nname = \"g{i}\"\ncount = {count}\npath = [\"l\"]\nrtt = \"10 ms\"\npacket = \"{packet} B\"\n\
             traffic = {{ {traffic}, rate = \"{rate} bit/s\" }}"
        );
    }
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    (0..replications).map(|replication| simulate(&scenario, replication, options).expect("small")).collect()
}

/// Replications of `count` flows of `kind` with packets of 1000 B.
fn runs(kind: &str, count: u32, load: f64, buffer: &str, replications: u32) -> Vec<Outcome> {
    mixed(&[Group(count, 1000, &format!("kind = \"{kind}\""), load)], buffer, 200, replications)
}

fn waits(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.links[0].queueing_delay_s / SERVICE).collect()
}

fn losses(outcomes: &[Outcome]) -> Vec<f64> {
    let loss = |outcome: &Outcome| outcome.links[0].dropped[0] as f64 / outcome.links[0].arrived as f64;
    outcomes.iter().map(loss).collect()
}

/// Mean of `values`, and four standard errors of it. With random seeds and 20 values, one test in a thousand would exceed
/// this bound by chance.
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
        // The bound is small enough to tell M/D/1 from M/M/1, in which packets wait twice as long.
        assert!(four < 0.06 * expected, "load {load}: {four} of {expected}");
    }
}

/// Share lost by M/D/1 with at most `n` packets in the system, the one in service included.
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
    // No buffer: Erlang's formula with one server.
    assert!((md1k_loss(0.5, 1) - 1.0 / 3.0).abs() < 1e-12);
    // A buffer of one packet: 1 - 1 / (rho + e^-rho), from the chain embedded at departures.
    assert!((md1k_loss(0.8, 2) - (1.0 - 1.0 / (0.8 + libm::exp(-0.8)))).abs() < 1e-12);
    for (load, buffer) in [(0.5, 0), (0.8, 1), (0.9, 5), (0.9, 10), (1.0, 10), (1.3, 3)] {
        let outcomes = runs("poisson", 1, load, &format!("{buffer} packets"), 20);
        let (mean, four) = within(&losses(&outcomes));
        let expected = md1k_loss(load, buffer + 1);
        assert!((mean - expected).abs() < four, "{load}, {buffer} packets: {mean} +- {four} for {expected}");
        assert!(four < 0.1 * expected, "{load}, {buffer} packets: {four} of {expected}");
    }
}

const EXPONENTIAL: &str = "kind = \"poisson\", size = \"exponential\"";

/// Applies `what` to the only link of each outcome.
fn each(outcomes: &[Outcome], what: impl Fn(&LinkOutcome) -> f64) -> Vec<f64> {
    outcomes.iter().map(|outcome| what(&outcome.links[0])).collect()
}

/// Asserts that the mean of `values` is within four standard errors of `expected`, and that four standard errors are less
/// than the share `precision` of `expected`.
fn agree(values: &[f64], expected: f64, precision: f64, what: &str) {
    let (mean, four) = within(values);
    assert!((mean - expected).abs() < four, "{what}: {mean} +- {four} for {expected}");
    assert!(four < precision * expected, "{what}: {four} of {expected}");
}

// Sizes are whole bytes: E[S^2] is 2 m^2 - m, which for m = 1000 is 1/2000 less than for exponential sizes; the
// statistical errors are far larger.

#[test]
fn exponential_sizes_wait_as_in_mm1() {
    for load in [0.3, 0.6, 0.8, 0.9] {
        let outcomes = mixed(&[Group(1, 1000, EXPONENTIAL, load)], "unlimited", 200, 20);
        agree(&waits(&outcomes), load / (1.0 - load), 0.1, &format!("wait at {load}"));
        agree(&each(&outcomes, |link| link.utilization), load, 0.01, &format!("busy at {load}"));
        // No packet waits if the system is empty or has one packet, which is in service.
        agree(&each(&outcomes, |link| link.empty_fraction), 1.0 - load * load, 0.05, &format!("none waits at {load}"));
        let goodput: Vec<f64> = outcomes.iter().map(|outcome| outcome.flows[0].goodput_bps).collect();
        agree(&goodput, load * 1e7, 0.01, &format!("goodput at {load}"));
    }
}

#[test]
fn exponential_sizes_wait_and_are_lost_as_in_mm1k() {
    for (load, buffer) in [(0.5, 0), (0.5, 3), (0.8, 1), (0.8, 10), (0.95, 20), (1.3, 3), (2.0, 5)] {
        let outcomes = mixed(&[Group(1, 1000, EXPONENTIAL, load)], &format!("{buffer} packets"), 80, 20);
        // At most `buffer` packets wait and one is in service: P(n) is proportional to load^n.
        let weights: Vec<f64> = (0..=buffer + 1).map(|n| libm::pow(load, f64::from(n))).collect();
        let p: Vec<f64> = weights.iter().map(|w| w / weights.iter().sum::<f64>()).collect();
        let lost = p[buffer as usize + 1];
        let at = |what: &str| format!("{what} at {load}, {buffer} packets");
        agree(&losses(&outcomes), lost, 0.1, &at("lost"));
        agree(&each(&outcomes, |link| link.utilization), 1.0 - p[0], 0.01, &at("busy"));
        if buffer > 0 {
            let waiting: f64 = p.iter().skip(1).enumerate().map(|(n, p)| n as f64 * p).sum();
            agree(&waits(&outcomes), waiting / (load * (1.0 - lost)), 0.05, &at("wait"));
            agree(&each(&outcomes, |link| link.empty_fraction), p[0] + p[1], 0.2, &at("none waits"));
        }
    }
}

#[test]
fn mixed_sizes_wait_as_pollaczek_and_khinchine_say() {
    let poisson = "kind = \"poisson\"";
    for groups in [
        vec![Group(1, 1500, poisson, 0.4), Group(1, 100, poisson, 0.4)],
        vec![Group(3, 1500, poisson, 0.6), Group(7, 41, poisson, 0.1)],
        vec![Group(2, 1000, EXPONENTIAL, 0.4), Group(5, 500, poisson, 0.3)],
        vec![Group(1, 2000, EXPONENTIAL, 0.2), Group(1, 200, EXPONENTIAL, 0.5)],
    ] {
        // lambda E[S^2] / (2 (1 - rho)): each group's load times its E[S^2] / E[S], which is the size if
        // constant, and twice the size if exponential.
        let load: f64 = groups.iter().map(|group| group.3).sum();
        let moment = |&Group(_, packet, traffic, load): &Group| {
            load * f64::from(packet) / 1000.0 * if traffic == EXPONENTIAL { 2.0 } else { 1.0 }
        };
        let expected = groups.iter().map(moment).sum::<f64>() / (2.0 * (1.0 - load));
        let outcomes = mixed(&groups, "unlimited", 80, 20);
        agree(&waits(&outcomes), expected, 0.1, &format!("{load}, {} B", groups[1].1));
        agree(&each(&outcomes, |link| link.utilization), load, 0.01, "busy");
    }
}

/// Fluid model of one on-off source: it sends at `peak` times the rate of the link in exponential bursts of mean `on`, with
/// exponential silences of mean `off`; the buffer holds `room`. Returns the share of time with an empty buffer, the share of
/// fluid lost, and the mean backlog. Times and backlogs are in seconds at the rate of the link.
///
/// Source: Anick, Mitra and Sondhi 1982 with one source: the contents have density A e^(-z x) while on and (peak - 1) times
/// that while off, with z = 1 / (on (peak - 1)) - 1 / off, and probability masses at the empty and the full buffer, from
/// equal rates into and out of these states.
fn fluid(peak: f64, on: f64, off: f64, room: f64) -> (f64, f64, f64) {
    let (over, z) = (peak - 1.0, 1.0 / (on * (peak - 1.0)) - 1.0 / off);
    let tail = libm::exp(-z * room);
    let (empty, full) = (over * off, over * on * tail);
    let between = peak * (1.0 - tail) / z;
    let total = empty + full + between;
    let contents = peak * ((1.0 - tail) / z - if tail > 0.0 { room * tail } else { 0.0 }) / z;
    let filled = if tail > 0.0 { room * full } else { 0.0 };
    (empty / total, full / total * over / (peak * on / (on + off)), (contents + filled) / total)
}

#[test]
fn bursts_fill_a_link_as_a_fluid() {
    // An unlimited buffer is empty for as long as the link is idle: 1 - 3 x 0.05 / (0.05 + 0.15).
    assert!((fluid(3.0, 0.05, 0.15, f64::INFINITY).0 - 0.25).abs() < 1e-12);
    let (peak, on, off) = (3.0, 0.05, 0.15);
    let bursts = "kind = \"on-off\", on = \"50 ms\", off = \"150 ms\"";
    for (buffer, room) in [("unlimited", f64::INFINITY), ("200 packets", 200.0), ("1000 packets", 1000.0)] {
        // 1000 s are 5000 cycles of 187.5 packets each on average.
        let outcomes = mixed(&[Group(1, 1000, bursts, peak)], buffer, 1000, 20);
        let (empty, lost, backlog) = fluid(peak, on, off, room * SERVICE);
        // The fluid's backlog includes the arrived part of an incomplete packet and the rest of the packet in service, on
        // average half a packet each; the queue counts neither. The time in which none waits differs by up to two service
        // times per cycle.
        let close = |values: Vec<f64>, expected: f64, packet: f64, what: &str| {
            let (mean, four) = within(&values);
            assert!((mean - expected).abs() < four + packet, "{buffer}, {what}: {mean} +- {four} for {expected}");
            assert!(four < 0.25 * expected, "{buffer}, {what}: {four} of {expected}");
        };
        close(each(&outcomes, |link| link.backlog_mean), backlog / SERVICE, 1.0, "backlog");
        close(each(&outcomes, |link| link.empty_fraction), empty, 2.0 * SERVICE / (on + off), "none waits");
        if room.is_finite() {
            close(losses(&outcomes), lost, lost / room, "lost");
        }
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
    // The same holds with exponential sizes: M/M/1 at load 0.8.
    agree(&waits(&mixed(&[Group(20, 1000, EXPONENTIAL, 0.8)], "unlimited", 200, 20)), 4.0, 0.1, "twenty M/M/1");
}

#[test]
fn a_constant_rate_never_waits_behind_itself() {
    // Load 1.0 is the rate of the link itself.
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
            // Without a buffer every second packet is dropped: it arrives after 0.8 service times, the one after it after 1.6.
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
    // Five packets arrive at once. The k-th waits for k - 1 others, two on average. A buffer of three always drops the last.
    let outcome = &runs("cbr", 5, 0.5, "unlimited", 1)[0];
    assert!((outcome.links[0].queueing_delay_s / SERVICE - 2.0).abs() < 1e-9);
    let outcome = &runs("cbr", 5, 0.5, "3 packets", 1)[0];
    let lost: Vec<bool> = outcome.flows.iter().map(|flow| flow.dropped == flow.sent).collect();
    let some: Vec<bool> = outcome.flows.iter().map(|flow| flow.dropped > 0).collect();
    assert_eq!((lost, some), (vec![false, false, false, false, true], vec![false, false, false, false, true]));
}

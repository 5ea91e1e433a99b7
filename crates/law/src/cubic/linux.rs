//! CUBIC as Linux computes it: in whole segments and clock ticks, with a Reno-friendly window that keeps its slope.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_cubic.c` (`bictcp_update`, `cubictcp_recalc_ssthresh`, `cubictcp_acked`, `cubictcp_state`) and
//! `tcp_cong_avoid_ai`, for the numbers and rules; `HyStart`, which is part of that file, is [`crate::start::hystart_linux`].
//! Differs from Linux: the cube root is exact (Linux uses a table and one Newton step, with a mean error of 0.2 %), and
//! ACKs in recovery give no sample of the smallest round-trip time.

use super::Params;
use crate::whole::Counter;
use crate::{AckSample, CongestionEvent, Needs, Signal, WindowLaw};
use base::{Span, Time};

/// The number 1: shares are in units of 1/1024.
const ONE: u64 = 1024;

/// The cubic function counts time in units of 1/1024 s.
const TIME_BITS: u32 = 10;

/// Microseconds in a second.
const SECOND: u64 = 1_000_000;

/// Picoseconds in a microsecond, the clock's tick.
const MICRO: u64 = 1_000_000;

/// C in 1/1024: ten times `bic_scale` = 41, which is 0.4004 segments/s^3.
const C: u64 = 410;

/// Limit of the count before the first loss: at most 20 acknowledged segments per segment of growth.
const FIRST_COUNT: u32 = 20;

/// Parameters of the law as integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Share of the window kept, in 1/1024.
    beta: u64,
    /// ACKs, in eighths of the window, for which the Reno-friendly window grows by one segment.
    friendly: u64,
    /// C in 1/1024 segments/s^3.
    c: u64,
    fast_convergence: bool,
    /// Clock ticks per second.
    hz: u64,
}

impl Whole {
    /// Converts the parameters of the law; the defaults become Linux's numbers 717/1024 and 410.
    #[must_use]
    pub fn of(p: &Params) -> Self {
        let is_default = |x: f64, usual: f64| (x - usual).abs() < 1e-12;
        let beta = if is_default(p.beta, 0.7) { 717 } else { libm::round(p.beta * ONE as f64) as u64 };
        let c = if is_default(p.c, 0.4) { C } else { (libm::round(p.c * ONE as f64) as u64).max(1) };
        let beta = beta.clamp(1, ONE - 1);
        let friendly = 8 * (ONE + beta) / 3 / (ONE - beta);
        Self { beta, friendly, c, fast_convergence: p.fast_convergence, hz: u64::from(p.hz) }
    }
}

/// Values of an ACK: times in microseconds, 0 if unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    now: u64,
    acked: u32,
    rtt: u32,
}

impl Ack {
    fn of(ack: &AckSample) -> Self {
        let rtt = ack.rtt.map_or(0, |rtt| u32::try_from(rtt.0 / MICRO).unwrap_or(u32::MAX));
        Self { now: ack.now.0 / MICRO, acked: ack.acked as u32, rtt }
    }
}

/// The law: see the [module](self).
#[derive(Clone, Debug)]
pub struct LinuxCubic {
    whole: Whole,
    state: State,
}

impl LinuxCubic {
    /// Creates the law from its parameters.
    #[must_use]
    pub fn of(p: &Params) -> Self {
        Self { whole: Whole::of(p), state: State::default() }
    }
}

impl WindowLaw for LinuxCubic {
    fn needs(&self) -> Needs {
        Needs { every_rtt: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        self.state.sample(&self.whole, Ack::of(ack));
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        f64::from(self.state.avoid(&self.whole, cwnd as u32, Ack::of(ack)))
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        let kept = self.state.backoff(&self.whole, cwnd as u32);
        if event.signal == Signal::Timeout {
            // All state is reset, including the old maximum and the smallest round-trip time.
            self.state = State::default();
        }
        f64::from(kept)
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        self.state.idle(&self.whole, now.0 / MICRO, idle.0 / MICRO);
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("w_max", f64::from(self.state.last_max));
        put("w_est", f64::from(self.state.friendly));
        put("k", self.state.k as f64 / f64::from(1 << TIME_BITS));
    }
}

/// State of a socket. Times are in ticks, windows in segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Acknowledged segments for which the window grows by one segment.
    count: u32,
    /// Acknowledged segments that have not led to growth yet.
    grown: Counter,
    last_max: u32,
    last_cwnd: u32,
    last_time: u64,
    origin: u32,
    /// Time from the start of the stage to the old maximum, in units of 1/1024 s.
    k: u64,
    /// Smallest round-trip time, in microseconds; zero before the first.
    min_rtt: u32,
    /// Start of the stage in ticks, plus one; zero before it.
    epoch: u64,
    /// Acknowledged segments that the Reno-friendly window has not counted yet.
    acked: u64,
    friendly: u32,
}

impl Whole {
    /// The clock tick of a time in microseconds.
    fn tick(&self, now: u64) -> u64 {
        now * self.hz / SECOND
    }
}

impl State {
    fn sample(&mut self, p: &Whole, ack: Ack) {
        let young = self.epoch > 0 && p.tick(ack.now) - (self.epoch - 1) < p.hz;
        if ack.rtt > 0 && !young && (self.min_rtt == 0 || ack.rtt < self.min_rtt) {
            self.min_rtt = ack.rtt;
        }
    }

    fn avoid(&mut self, p: &Whole, cwnd: u32, ack: Ack) -> u32 {
        self.update(p, cwnd, ack);
        self.grown.grow(cwnd, self.count, ack.acked)
    }

    fn idle(&mut self, p: &Whole, now: u64, idle: u64) {
        if self.epoch > 0 {
            self.epoch = (self.epoch + p.tick(idle)).min(p.tick(now) + 1);
        }
    }

    fn backoff(&mut self, p: &Whole, cwnd: u32) -> u32 {
        (self.epoch, self.grown) = (0, Counter::default());
        let lowered = (u64::from(cwnd) * (ONE + p.beta) / (2 * ONE)) as u32;
        self.last_max = if cwnd < self.last_max && p.fast_convergence { lowered } else { cwnd };
        ((u64::from(cwnd) * p.beta / ONE) as u32).max(2)
    }

    /// Computes the number of acknowledged segments for which the window grows by one.
    fn update(&mut self, p: &Whole, cwnd: u32, ack: Ack) {
        let now = p.tick(ack.now);
        self.acked += u64::from(ack.acked);
        // While the window stays the same, the count is computed at most 32 times per second.
        if self.last_cwnd == cwnd && now - self.last_time <= p.hz / 32 {
            return;
        }
        if self.epoch == 0 || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            if self.epoch == 0 {
                self.begin(p, cwnd, now, ack.acked);
            }
            self.count = self.of_target(cwnd, self.target(p, now));
        }
        let each = ((u64::from(cwnd) * p.friendly) >> 3).max(1);
        if self.acked > each {
            // Linux's loop runs while more than `each` segments are left, so at least one is left at its end.
            let steps = (self.acked - 1) / each;
            self.acked -= steps * each;
            self.friendly += steps as u32;
        }
        if self.friendly > cwnd {
            self.count = self.count.min(cwnd / (self.friendly - cwnd));
        }
        self.count = self.count.max(2);
    }

    /// Starts a stage of congestion avoidance.
    fn begin(&mut self, p: &Whole, cwnd: u32, now: u64, acked: u32) {
        (self.epoch, self.acked, self.friendly) = (now + 1, u64::from(acked), cwnd);
        (self.k, self.origin) = if self.last_max <= cwnd {
            (0, cwnd)
        } else {
            // K^3 = (W_max - cwnd) / C in (1/1024 s)^3, where C has ten fractional bits, too.
            let below = u128::from(self.last_max - cwnd);
            (cube_root(below << (4 * TIME_BITS), p.c), self.last_max)
        };
    }

    /// The cubic function one smallest round-trip time ahead.
    fn target(&self, p: &Whole, now: u64) -> u32 {
        let ticks = now - (self.epoch - 1) + u64::from(self.min_rtt).div_ceil(SECOND / p.hz);
        let t = (ticks << TIME_BITS) / p.hz;
        let off = u128::from(t.abs_diff(self.k));
        let delta = u32::try_from((u128::from(p.c) * off * off * off) >> (4 * TIME_BITS)).unwrap_or(u32::MAX);
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) }
    }

    /// Acknowledged segments per segment of growth, on the way to `target`.
    fn of_target(&self, cwnd: u32, target: u32) -> u32 {
        let count = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if self.last_max == 0 { count.min(FIRST_COUNT) } else { count }
    }
}

/// The cube root of a / b, as a whole number.
fn cube_root(a: u128, b: u64) -> u64 {
    let of = a / u128::from(b);
    let mut root = libm::cbrt(of as f64) as u64;
    while u128::from(root).pow(3) > of {
        root -= 1;
    }
    while u128::from(root + 1).pow(3) <= of {
        root += 1;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_moves_the_start_of_the_stage_by_its_length_but_not_beyond_now() {
        let p = Whole::of(&Params::default());
        let mut state = State { epoch: 1001, ..State::default() };
        state.idle(&p, 30_000_000, 20_000_000);
        assert_eq!(state.epoch, 1001 + 5000, "20 s with 250 ticks per second");
        state.idle(&p, 30_000_000, 20_000_000);
        assert_eq!(state.epoch, 7501, "now");
        let mut fresh = State::default();
        fresh.idle(&p, 30_000_000, 20_000_000);
        assert_eq!(fresh.epoch, 0, "no stage has begun");
    }

    fn whole() -> Whole {
        Whole::of(&Params::default())
    }

    fn ack(ms: u64, acked: u32) -> Ack {
        Ack { now: 1000 * ms, acked, rtt: 40_000 }
    }

    #[test]
    fn the_integer_constants_and_the_cube_root_are_those_of_linux() {
        // 717 and 410 of 1024; 8 * 1741 / 3 / 307.
        let p = whole();
        assert_eq!((p.beta, p.c, p.friendly), (717, 410, 15));
        // The cube root of 2^40 * 300 / 410, in units of 1/1024 s.
        let mut state = State { last_max: 1000, ..State::default() };
        state.begin(&p, 700, 5, 1);
        assert_eq!(state.k, 9300, "9.08 s; RFC 9438 gives 9.09 s");
        for of in [0_u128, 1, 7, 8, 26, 27, 1 << 60, (1 << 90) - 1] {
            let root = u128::from(cube_root(of, 1));
            assert!(root.pow(3) <= of && (root + 1).pow(3) > of, "{of}");
        }
    }

    #[test]
    fn keeps_717_of_1024_and_aims_lower_when_it_lost_early() {
        let (p, mut state) = (whole(), State::default());
        assert_eq!((state.backoff(&p, 1000), state.last_max), (700, 1000));
        assert_eq!((state.backoff(&p, 900), state.last_max), (630, 900 * 1741 / 2048));
        assert_eq!(state.backoff(&p, 2), 2);
    }

    #[test]
    fn a_timeout_keeps_the_same_share_and_resets_the_state() {
        let mut law =
            LinuxCubic { whole: whole(), state: State { last_max: 1200, min_rtt: 40_000, ..State::default() } };
        let loss = |signal| CongestionEvent::plain(Time::ZERO, signal, Span::millis(40));
        assert_eq!(law.backoff(1000.0, &loss(Signal::Loss)), 700.0);
        assert_eq!((law.state.last_max, law.state.min_rtt), (850, 40_000));
        assert_eq!(law.backoff(1000.0, &loss(Signal::Timeout)), 700.0);
        assert_eq!(law.state, State::default());
    }

    /// The window after `ms` from `from` on, with a full window every 40 ms and an ACK for two segments.
    fn run(state: &mut State, mut cwnd: u32, from: u64, ms: u64) -> u32 {
        let p = whole();
        let mut us = 1000 * from;
        while us < 1000 * (from + ms) {
            let ack = Ack { now: us, ..ack(0, 2) };
            state.sample(&p, ack);
            cwnd = state.avoid(&p, cwnd, ack);
            us += 80_000 / u64::from(cwnd);
        }
        cwnd
    }

    #[test]
    fn follows_the_cubic_function_within_three_segments() {
        let (p, mut state) = (whole(), State::default());
        let mut cwnd = state.backoff(&p, 1000);
        for s in 0..14 {
            cwnd = run(&mut state, cwnd, 1000 * s, 1000);
            let x = (s + 1) as f64 - 9.084;
            // The law aims one round trip ahead and gets there in one round trip, so it follows the function to within a
            // segment or two.
            assert!((f64::from(cwnd) - (1000.0 + 0.4004 * x * x * x)).abs() < 3.0, "{cwnd} after {} s", s + 1);
        }
    }

    #[test]
    fn the_first_stage_grows_by_five_percent_a_round_trip_at_least() {
        let mut state = State::default();
        // One segment of growth for 20 acknowledged segments: a factor exp(0.05 * 25) in 25 round trips.
        let grown = f64::from(run(&mut state, 400, 1000, 1000)) / 400.0;
        assert!((grown / libm::exp(1.25) - 1.0).abs() < 0.02, "{grown}");
    }

    #[test]
    fn on_a_short_path_it_grows_as_the_reno_friendly_window() {
        // 15/8 windows of ACKs per segment are 8/15 segments per round trip, also above the old maximum, where RFC 9438 has
        // 1.
        let (p, mut state) = (whole(), State::default());
        let mut cwnd = state.backoff(&p, 20);
        assert_eq!(cwnd, 14);
        let (mut us, mut acks) = (0_u64, 0_u64);
        while cwnd < 26 {
            cwnd = state.avoid(&p, cwnd, Ack { now: us, rtt: 60_000, ..ack(0, 1) });
            us += 60_000 / u64::from(cwnd);
            acks += 1;
        }
        let expected: u64 = (14..26).map(|w| w * 15 / 8).sum();
        // It computes at most 32 times per second and keeps the result for a tick: the error is less than a segment's ACKs
        // at the end.
        assert!(acks.abs_diff(expected) < 40, "{acks} ACKs, not {expected}");
    }
}

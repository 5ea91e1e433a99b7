//! The filters and detectors that only BBR version 3 has, one small type each.
//!
//! Source: draft-ietf-ccwg-bbr-06, Sections 5.5.3 to 5.5.6 (bandwidth), 5.5.9 (aggregation), 2.2 (`is_cwnd_limited`).
//! The filters that version 1 has, too, are in [`crate::filters`].

use crate::filters::{Excess, PeriodMax};
use crate::smaller;
use base::Time;

/// Rounds over which aggregation is remembered once the pipe was full; before, one (`ExtraAckedFilterLen`).
const AGGREGATION_ROUNDS: usize = 10;

/// Largest delivery rate of the present probing cycle and the one before (`max_bw_filter`).
#[derive(Clone, Debug, Default)]
pub(super) struct MaxRate(PeriodMax<2>);

impl MaxRate {
    pub fn get(&self) -> f64 {
        self.0.get()
    }

    pub fn update(&mut self, rate: f64) {
        self.0.update(rate);
    }

    /// Begins a new cycle, unless the present one has no sample.
    pub fn advance(&mut self) {
        if !self.0.is_empty() {
            self.0.advance();
        }
    }
}

/// Excess of acknowledged data over the model (`extra_acked`): the maximum of the last rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    pub interval: Excess,
    rounds: PeriodMax<AGGREGATION_ROUNDS>,
}

impl Aggregation {
    /// A round began. In Startup (`short`), only the present one is remembered.
    pub fn advance(&mut self, short: bool) {
        if short {
            self.rounds = PeriodMax::default();
        }
        self.rounds.advance();
    }

    /// Adds `acked` segments acknowledged at `now`; `rate` is the estimated bandwidth. The excess is limited to `cwnd`.
    pub fn update(&mut self, now: Time, acked: f64, rate: f64, cwnd: f64) {
        let expected = self.interval.expected(now, rate);
        let excess = self.interval.update(now, acked, expected, f64::INFINITY);
        self.rounds.update(smaller(excess, cwnd));
    }

    pub fn get(&self) -> f64 {
        self.rounds.get()
    }
}

/// Whether the window was full at any time in the last round (`is_cwnd_limited`).
#[derive(Clone, Debug, Default)]
pub(super) struct CwndUse {
    last: bool,
    present: bool,
}

impl CwndUse {
    /// Takes the number of segments in the network just before an ACK, when it is largest.
    pub fn update(&mut self, in_flight: f64, cwnd: f64) {
        // In whole segments: at least as many as the window, rounded down.
        self.present |= cwnd < in_flight + 1.0;
    }

    pub fn advance(&mut self) {
        *self = Self { last: self.present, present: false };
    }

    pub fn is_limited(&self) -> bool {
        self.last || self.present
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Span;

    #[test]
    fn a_rate_is_forgotten_after_the_next_cycle() {
        let mut max = MaxRate::default();
        max.update(100.0);
        max.advance();
        max.update(50.0);
        assert_eq!(max.get(), 100.0);
        max.advance();
        assert_eq!(max.get(), 50.0);
        // Two cycles without samples change nothing.
        max.advance();
        max.advance();
        assert_eq!(max.get(), 50.0);
    }

    #[test]
    fn acks_of_sixteen_segments_are_remembered_for_ten_rounds() {
        // 1000 segments per second, with an ACK for 16 segments every 16 ms.
        let mut meter = Aggregation::default();
        let mut now = Time::ZERO;
        for _ in 0..20 {
            meter.update(now, 16.0, 1000.0, 1000.0);
            now += Span::millis(16);
        }
        // Each ACK of 16 finds 16 expected since the last one and begins a new interval.
        assert_eq!(meter.get(), 16.0);
        for round in 0..12 {
            meter.advance(false);
            meter.update(now, 1.0, 1000.0, 1000.0);
            now += Span::millis(1);
            assert_eq!(meter.get(), if round < 9 { 16.0 } else { 1.0 }, "round {round}");
        }
    }

    #[test]
    fn startup_remembers_one_round_of_aggregation() {
        let mut meter = Aggregation::default();
        meter.update(Time::ZERO, 16.0, 1000.0, 1000.0);
        meter.advance(true);
        assert_eq!(meter.get(), 0.0);
    }

    #[test]
    fn the_window_limits_the_excess() {
        let mut meter = Aggregation::default();
        meter.update(Time::ZERO, 100.0, 1000.0, 40.0);
        assert_eq!(meter.get(), 40.0);
    }
}

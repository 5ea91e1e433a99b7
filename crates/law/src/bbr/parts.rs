//! The filters and detectors of BBR, one small type each.
//!
//! Source: draft-ietf-ccwg-bbr-06, Sections 5.3.1.2 (full pipe), 5.5.3 to 5.5.6 (bandwidth), 5.5.9 (aggregation), 2.2
//! (`is_cwnd_limited`).

use crate::{larger, number, smaller};
use base::Time;
use base::time::PS_PER_S;

/// Growth of the delivery rate, per round, that shows that the pipe is not full.
const GROWTH: f64 = 1.25;
/// Rounds without that growth after which the pipe is full.
const FLAT_ROUNDS: u32 = 3;
/// Rounds over which aggregation is remembered once the pipe was full; before, one (`ExtraAckedFilterLen`).
const AGGREGATION_ROUNDS: usize = 10;

/// Whether sending faster has stopped to deliver faster (`full_bw`, `full_bw_count`, `full_bw_now`).
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    base: f64,
    pub flat: u32,
    pub now: bool,
}

impl FullPipe {
    /// Starts again, from `rate` on.
    pub fn restart(&mut self, rate: f64) {
        *self = Self { base: rate, flat: 0, now: false };
    }

    /// A round began with a sample of `rate` that the application did not limit.
    pub fn update(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= self.base * GROWTH {
            self.restart(rate);
            return;
        }
        self.flat += 1;
        self.now = self.flat >= FLAT_ROUNDS;
    }
}

/// Largest delivery rate of the present probing cycle and the one before (`max_bw_filter`).
#[derive(Clone, Debug, Default)]
pub(super) struct MaxRate {
    before: f64,
    present: f64,
}

impl MaxRate {
    pub fn get(&self) -> f64 {
        larger(self.before, self.present)
    }

    pub fn update(&mut self, rate: f64) {
        self.present = larger(self.present, rate);
    }

    /// A new cycle. A cycle without a sample does not count: its maximum would be empty.
    pub fn advance(&mut self) {
        if self.present > 0.0 {
            *self = Self { before: self.present, present: 0.0 };
        }
    }
}

/// Excess of acknowledged data over the model (`extra_acked`): the maximum of the last rounds.
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    since: Time,
    acked: f64,
    rounds: [f64; AGGREGATION_ROUNDS],
    present: usize,
    /// Largest of the rounds before the present one.
    before: f64,
}

impl Aggregation {
    pub fn new() -> Self {
        // Nothing is later than NEVER, so the first ACK starts the interval.
        Self { since: Time::NEVER, acked: 0.0, rounds: [0.0; AGGREGATION_ROUNDS], present: 0, before: 0.0 }
    }

    /// A round began. In Startup (`short`), only the present one is remembered.
    pub fn advance(&mut self, short: bool) {
        if short {
            self.rounds = [0.0; AGGREGATION_ROUNDS];
        }
        self.present = (self.present + 1) % AGGREGATION_ROUNDS;
        self.rounds[self.present] = 0.0;
        self.before = self.rounds.iter().fold(0.0, |most, &x| most.max(x));
    }

    /// `acked` segments were acknowledged at `now` on a path taken to deliver `rate`; samples end at `cwnd`.
    pub fn update(&mut self, now: Time, acked: f64, rate: f64, cwnd: f64) {
        let mut expected = rate * (number(now.since(self.since).0) / PS_PER_S as f64);
        if self.acked <= expected {
            (self.acked, self.since, expected) = (0.0, now, 0.0);
        }
        self.acked += acked;
        let extra = smaller(self.acked - expected, cwnd);
        self.rounds[self.present] = larger(self.rounds[self.present], extra);
    }

    /// Begins an interval at `now`, after a time without transmissions.
    pub fn begin(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0.0);
    }

    pub fn get(&self) -> f64 {
        larger(self.before, self.rounds[self.present])
    }
}

/// Whether the window was full at any time in the last round (`is_cwnd_limited`).
#[derive(Clone, Debug, Default)]
pub(super) struct CwndUse {
    last: bool,
    present: bool,
}

impl CwndUse {
    /// Just before an ACK, `in_flight` segments were in the network; it is then that they are most.
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
    fn the_pipe_is_full_after_three_rounds_with_less_than_a_quarter_more() {
        let mut pipe = FullPipe::default();
        for rate in [10.0, 20.0, 25.0, 31.25] {
            pipe.update(rate);
        }
        // 31.25 is exactly a quarter more than 25: the count begins after it, and its base stays 31.25.
        for (rate, full) in [(39.0, false), (35.0, false), (39.06, true)] {
            pipe.update(rate);
            assert_eq!(pipe.now, full, "{rate}");
        }
    }

    #[test]
    fn growth_begins_the_count_anew() {
        let mut pipe = FullPipe::default();
        for rate in [100.0, 101.0, 102.0, 125.0, 126.0, 127.0] {
            pipe.update(rate);
            assert!(!pipe.now, "{rate}");
        }
        pipe.update(128.0);
        assert!(pipe.now);
    }

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
        // 1000 segments per second, acknowledged by sixteens every 16 ms.
        let mut meter = Aggregation::new();
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
        let mut meter = Aggregation::new();
        meter.update(Time::ZERO, 16.0, 1000.0, 1000.0);
        meter.advance(true);
        assert_eq!(meter.get(), 0.0);
    }

    #[test]
    fn extra_acknowledgements_end_at_the_window() {
        let mut meter = Aggregation::new();
        meter.update(Time::ZERO, 100.0, 1000.0, 40.0);
        assert_eq!(meter.get(), 40.0);
    }
}

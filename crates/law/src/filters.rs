//! Filters and detectors that both versions of BBR share, one small type each.
//!
//! Source: draft-ietf-ccwg-bbr-06, Sections 5.3.1.2 (full pipe) and 5.5.9 (aggregation); Linux 6.12,
//! `net/ipv4/tcp_bbr.c` (its rules) and `lib/win_minmax.c`, which is K. Nichols' filter: the largest value of a window
//! from three candidates.

use crate::{larger, number};
use base::time::PS_PER_S;
use base::{Span, Time};

/// Growth of the bandwidth, per round, that shows that the pipe is not full.
const GROWTH: f64 = 1.25;
/// Rounds without that growth after which the pipe is full.
const FLAT_ROUNDS: u32 = 3;
/// No round-trip sample yet.
pub(crate) const UNKNOWN: Span = Span(u64::MAX);

/// Largest value of a window of rounds. It keeps three candidates, each with its round: the largest value, the largest
/// after it, and the largest after the second.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowMax([(u64, f64); 3]);

impl WindowMax {
    pub fn get(&self) -> f64 {
        self.0[0].1
    }

    /// Adds a sample of `value` in this `round`. Samples older than `window` rounds do not count.
    pub fn update(&mut self, window: u64, round: u64, value: f64) {
        let (new, best) = ((round, value), &mut self.0);
        let beaten = best.iter().position(|candidate| value >= candidate.1);
        if beaten == Some(0) || round - best[2].0 > window {
            *best = [new; 3];
            return;
        }
        if let Some(place) = beaten {
            best[place..].fill(new);
        }
        let age = round - best[0].0;
        if age > window {
            while round - best[0].0 > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > window / 4 {
            // A quarter of the window has passed without a second candidate. Take the present sample, so that there is
            // a candidate when the first one expires.
            best[1..].fill(new);
        } else if best[2].0 == best[1].0 && age > window / 2 {
            best[2] = new;
        }
    }
}

/// Largest value of the present period and the `N - 1` periods before; zero without values.
#[derive(Clone, Debug)]
pub(crate) struct PeriodMax<const N: usize> {
    values: [f64; N],
    present: usize,
    /// Largest of the periods before the present one.
    before: f64,
}

impl<const N: usize> Default for PeriodMax<N> {
    fn default() -> Self {
        Self { values: [0.0; N], present: 0, before: 0.0 }
    }
}

impl<const N: usize> PeriodMax<N> {
    pub fn get(&self) -> f64 {
        larger(self.before, self.values[self.present])
    }

    pub fn update(&mut self, value: f64) {
        self.values[self.present] = larger(self.values[self.present], value);
    }

    /// Whether the present period has no value above zero.
    pub fn is_empty(&self) -> bool {
        self.values[self.present] <= 0.0
    }

    /// A period begins.
    pub fn advance(&mut self) {
        self.present = (self.present + 1) % N;
        self.values[self.present] = 0.0;
        self.before = self.values.iter().fold(0.0, |most, &value| larger(most, value));
    }
}

/// Smallest round-trip time, and the time of its sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    pub rtt: Span,
    pub stamp: Time,
}

impl Default for MinRtt {
    fn default() -> Self {
        // Spans since NEVER are zero: nothing expires before the first sample.
        Self { rtt: UNKNOWN, stamp: Time::NEVER }
    }
}

impl MinRtt {
    /// Whether the sample is older than `window`, so that the next one replaces it.
    pub fn is_expired(&self, now: Time, window: Span) -> bool {
        now.since(self.stamp) > window
    }

    /// Takes `sample` if it is smaller than the present one, or if the present one has `expired`. Returns whether it
    /// was taken.
    pub fn update(&mut self, sample: Self, expired: bool) -> bool {
        let takes = sample.rtt < self.rtt || expired;
        if takes {
            *self = sample;
        }
        takes
    }
}

/// Whether the delivery rate has stopped growing with the sending rate (`full_bw`, `full_bw_count`, `full_bw_now`).
#[derive(Clone, Debug, Default)]
pub(crate) struct FullPipe {
    base: f64,
    pub flat: u32,
    pub reached: bool,
}

impl FullPipe {
    /// Starts again with `rate` as the base rate.
    pub fn restart(&mut self, rate: f64) {
        *self = Self { base: rate, flat: 0, reached: false };
    }

    /// Resets the base rate after a timeout, so that any rate counts as growth.
    pub fn forget_base(&mut self) {
        self.base = 0.0;
    }

    /// A round began with a `rate` that the application did not limit.
    pub fn update(&mut self, rate: f64) {
        if self.reached {
            return;
        }
        if rate >= self.base * GROWTH {
            self.restart(rate);
            return;
        }
        self.flat += 1;
        self.reached = self.flat >= FLAT_ROUNDS;
    }
}

/// Interval in which more is acknowledged than the model of the path expects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Excess {
    since: Time,
    acked: f64,
}

impl Excess {
    /// Segments that a path with this `rate` delivers from the beginning of the interval to `now`.
    pub fn expected(&self, now: Time, rate: f64) -> f64 {
        rate * (number(now.since(self.since).0) / PS_PER_S as f64)
    }

    /// Adds `acked` segments that were acknowledged at `now`, when `expected` segments were expected since the interval
    /// began. A new interval begins if the old one had no more than `expected` segments, or if it reaches `limit`
    /// segments. Returns the excess.
    pub fn update(&mut self, now: Time, acked: f64, mut expected: f64, limit: f64) -> f64 {
        if self.acked <= expected || self.acked + acked >= limit {
            (self.acked, self.since, expected) = (0.0, now, 0.0);
        }
        self.acked += acked;
        self.acked - expected
    }

    /// Begins an interval with the next ACK, after a time without transmissions.
    pub fn restart(&mut self) {
        self.acked = 0.0;
    }

    /// Begins an interval at `now`, when something is sent after an idle time.
    pub fn begin(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0.0);
    }
}

/// Counts of deliveries at which segments were sent with little in flight, to probe the round-trip time: their samples count as
/// limited by the application (`MarkConnectionAppLimited`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldBack {
    first: u64,
    last: u64,
}

impl Default for HeldBack {
    fn default() -> Self {
        Self { first: u64::MAX, last: 0 }
    }
}

impl HeldBack {
    /// Includes the segments that leave from now on, at a count of `delivered`, until all in flight is acknowledged.
    pub fn extend(&mut self, delivered: u64, in_flight: f64) {
        if delivered > self.last {
            self.first = delivered;
        }
        self.last = delivered + in_flight as u64;
    }

    /// Whether a segment sent at this count of deliveries is included.
    pub fn contains(&self, prior_delivered: u64) -> bool {
        (self.first..=self.last).contains(&prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_is_remembered_for_ten_rounds() {
        let mut max = WindowMax::default();
        max.update(10, 1, 100.0);
        for round in 2..=11 {
            max.update(10, round, 50.0);
            assert_eq!(max.get(), 100.0, "round {round}");
        }
        max.update(10, 12, 50.0);
        assert_eq!(max.get(), 50.0);
    }

    #[test]
    fn an_expired_maximum_is_replaced_by_the_largest_later_candidate() {
        let mut max = WindowMax::default();
        max.update(10, 0, 100.0);
        // A second candidate is kept from round 3 on (a quarter of ten rounds is two); the 80 of round 4 replaces the
        // 70 of round 3.
        for (round, value) in [(1, 90.0), (2, 95.0), (3, 70.0), (4, 80.0), (5, 60.0), (10, 60.0)] {
            max.update(10, round, value);
            assert_eq!(max.get(), 100.0, "round {round}");
        }
        max.update(10, 11, 10.0);
        assert_eq!(max.get(), 80.0);
    }

    #[test]
    fn a_window_without_samples_forgets_all_candidates() {
        let mut max = WindowMax::default();
        max.update(10, 0, 100.0);
        max.update(10, 11, 1.0);
        assert_eq!(max.get(), 1.0);
    }

    #[test]
    fn a_value_is_forgotten_after_three_periods() {
        let mut max = PeriodMax::<3>::default();
        assert!(max.is_empty());
        max.update(5.0);
        max.advance();
        assert!(max.is_empty());
        max.update(2.0);
        max.advance();
        max.update(3.0);
        assert_eq!(max.get(), 5.0);
        max.advance();
        assert_eq!(max.get(), 3.0);
    }

    #[test]
    fn the_smallest_round_trip_is_kept_for_its_window() {
        let sample = |ms, at| MinRtt { rtt: Span::millis(ms), stamp: Time::ZERO + Span::secs(at) };
        let (mut min, window) = (MinRtt::default(), Span::secs(10));
        let mut take = |ms, at| {
            let expired = min.is_expired(Time::ZERO + Span::secs(at), window);
            min.update(sample(ms, at), expired);
            min.rtt
        };
        assert_eq!(take(100, 1), Span::millis(100));
        assert_eq!(take(120, 11), Span::millis(100), "the sample is kept for ten seconds");
        assert_eq!(take(120, 12), Span::millis(120));
        assert_eq!(take(110, 13), Span::millis(110));
    }

    #[test]
    fn the_pipe_is_full_after_three_rounds_with_less_than_25_percent_growth() {
        let mut pipe = FullPipe::default();
        for rate in [10.0, 20.0, 25.0, 31.25] {
            pipe.update(rate);
        }
        // 31.25 is exactly 25 % more than 25, which counts as growth. The next rounds are compared with 31.25.
        for (rate, full) in [(39.0, false), (35.0, false), (39.06, true)] {
            pipe.update(rate);
            assert_eq!(pipe.reached, full, "{rate}");
        }
    }

    #[test]
    fn growth_begins_the_count_anew() {
        let mut pipe = FullPipe::default();
        for rate in [100.0, 101.0, 102.0, 125.0, 126.0, 127.0] {
            pipe.update(rate);
            assert!(!pipe.reached, "{rate}");
        }
        pipe.update(128.0);
        assert!(pipe.reached);
    }

    #[test]
    fn after_a_timeout_any_rate_counts_as_growth() {
        let mut pipe = FullPipe::default();
        for rate in [100.0, 100.0, 100.0] {
            pipe.update(rate);
        }
        pipe.forget_base();
        for rate in [1.0, 1.0, 1.0] {
            pipe.update(rate);
            assert!(!pipe.reached);
        }
        pipe.update(1.0);
        assert!(pipe.reached);
    }

    #[test]
    fn segments_of_a_probe_are_held_back_until_all_in_flight_is_acknowledged() {
        let mut held = HeldBack::default();
        assert!(!held.contains(0));
        held.extend(100, 4.0);
        held.extend(103, 4.0);
        assert_eq!([99, 100, 107, 108].map(|prior| held.contains(prior)), [false, true, true, false]);
        held.extend(200, 4.0);
        assert!(!held.contains(107) && held.contains(204));
    }
}

//! The filters and detectors that only BBR version 1 has, one small type each.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_bbr.c` (its rules). The filters that version 3 has, too, are in
//! [`crate::filters`].

use super::in_units;
use crate::filters::{Excess, PeriodMax};
use crate::smaller;
use base::{Span, Time};

/// Rounds of each of the two periods whose maximum of aggregation is kept.
const AGGREGATION_ROUNDS: u32 = 5;
/// Segments after which an interval of aggregation ends in any case.
const AGGREGATION_LIMIT: f64 = 1_048_576.0;
/// Rounds that an interval of the policer's detector has at least, and at most.
const INTERVAL_ROUNDS: (u32, u32) = (4, 16);
/// Ratio of lost to delivered segments from which an interval indicates a policer: about 20 %, in Linux's integers.
const POLICED_LOSS: f64 = 50.0 / 256.0;
/// Share of the first rate by which the rates of similar intervals may differ; they may also differ by 4 kbit/s.
const LIKE_SHARE: f64 = 0.125;
/// Largest difference of similar rates in absolute terms, in segments of 1,460 bytes per second.
const LIKE_RATE: f64 = 500.0 / super::MSS as f64;
/// Rounds for which the rate of a policer is believed.
const BELIEVED_ROUNDS: u32 = 48;

/// Excess of acknowledged data over the model: the maximum of the last five to ten rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    pub interval: Excess,
    /// Maxima of the present period of five rounds and of the one before.
    most: PeriodMax<2>,
    rounds: u32,
}

impl Aggregation {
    /// A round began.
    pub fn advance(&mut self) {
        self.rounds += 1;
        if self.rounds >= AGGREGATION_ROUNDS {
            self.rounds = 0;
            self.most.advance();
        }
    }

    /// Adds `acked` segments acknowledged at `now`; `bw` is the estimated bandwidth. The excess is limited to `cwnd`.
    pub fn update(&mut self, now: Time, acked: f64, bw: f64, cwnd: f64) {
        let expected = self.interval.expected(now, bw).floor();
        let excess = self.interval.update(now, acked, expected, AGGREGATION_LIMIT);
        self.most.update(smaller(excess, cwnd));
    }

    pub fn get(&self) -> f64 {
        self.most.get()
    }
}

/// Counters that the policer detector compares at both ends of an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub at: Time,
    pub delivered: u64,
    pub lost: u64,
}

/// Input of the policer detector at an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what the detector asks, each for itself")]
pub(super) struct Policing {
    pub counts: Counts,
    pub losses: bool,
    pub app_limited: bool,
    pub round_start: bool,
    pub is_probing_bw: bool,
}

/// Detector of a policer, a token bucket on the path that drops packets above a long-term rate. Its signs are two
/// consecutive intervals that begin and end with a loss, lose a fifth of the segments, and have similar delivery rates.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    begin: Counts,
    /// Rate of the interval before the present one; zero for none.
    rate: f64,
    believed: bool,
}

impl Policer {
    /// The rate that a policer lets pass, while one is believed to be there.
    pub fn rate(&self) -> Option<f64> {
        self.believed.then_some(self.rate)
    }

    /// Takes the input of an ACK or timeout. Returns whether the rate was believed long enough; the cycle of gains then
    /// begins anew.
    pub fn update(&mut self, seen: &Policing) -> bool {
        if self.believed {
            if !(seen.is_probing_bw && seen.round_start) {
                return false;
            }
            self.rounds += 1;
            let is_over = self.rounds >= BELIEVED_ROUNDS;
            if is_over {
                *self = Self::default();
            }
            return is_over;
        }
        if !self.sampling {
            // An interval begins with a loss, when the bucket is empty.
            if !seen.losses {
                return false;
            }
            (self.sampling, self.begin, self.rounds) = (true, seen.counts, 0);
        }
        self.rounds += u32::from(seen.round_start);
        if seen.app_limited || self.rounds > INTERVAL_ROUNDS.1 {
            *self = Self::default();
        } else if seen.losses && self.rounds >= INTERVAL_ROUNDS.0 {
            self.end_interval(seen.counts);
        }
        false
    }

    fn end_interval(&mut self, end: Counts) {
        let lost = (end.lost - self.begin.lost) as f64;
        let delivered = (end.delivered - self.begin.delivered) as f64;
        let span = end.at.since(self.begin.at);
        if delivered <= 0.0 || lost < POLICED_LOSS * delivered || span < Span::millis(1) {
            return;
        }
        let rate = in_units(delivered / span.as_secs());
        let apart = (rate - self.rate).abs();
        if self.rate > 0.0 && (apart <= LIKE_SHARE * self.rate || apart <= LIKE_RATE) {
            (self.rate, self.believed) = (in_units(0.5 * (rate + self.rate)), true);
        } else {
            (self.rate, self.begin) = (rate, end);
        }
        self.rounds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_of_sixteen_are_remembered_for_five_to_ten_rounds() {
        // 1000 segments per second, with an ACK for 16 segments every 16 ms.
        let mut meter = Aggregation::default();
        let mut now = Time::ZERO;
        for _ in 0..20 {
            meter.update(now, 16.0, 1000.0, 1000.0);
            now += Span::millis(16);
        }
        assert_eq!(meter.get(), 16.0);
        // The period with this maximum ends with the fifth round, and is forgotten with the tenth.
        for round in 1..=12 {
            meter.advance();
            meter.update(now, 1.0, 1000.0, 1000.0);
            now += Span::millis(1);
            assert_eq!(meter.get(), if round < 10 { 16.0 } else { 1.0 }, "round {round}");
        }
        meter.update(now + Span::secs(1), 100.0, 1000.0, 40.0);
        assert_eq!(meter.get(), 40.0, "the window bounds the excess");
    }

    /// Rounds of 100 ms with these numbers of segments delivered and lost; the first ACK of each begins it and reports
    /// the losses.
    struct Path {
        policer: Policer,
        counts: Counts,
    }

    impl Path {
        fn round(&mut self, delivered: u64, lost: u64) -> bool {
            self.counts.at += Span::millis(100);
            self.counts.delivered += delivered;
            self.counts.lost += lost;
            self.policer.update(&Policing {
                counts: self.counts,
                losses: lost > 0,
                app_limited: false,
                round_start: true,
                is_probing_bw: true,
            })
        }
    }

    fn path() -> Path {
        Path { policer: Policer::default(), counts: Counts::default() }
    }

    #[test]
    fn two_similar_intervals_with_a_fifth_lost_indicate_a_policer() {
        let mut path = path();
        // The round that begins with the first loss counts; three more end the interval, another four the second.
        for n in 1..8 {
            path.round(100, 25);
            assert_eq!(path.policer.rate(), None, "round {n}");
        }
        path.round(100, 25);
        // 100 segments in 100 ms, to the unit of 0.06 segments per second.
        let rate = path.policer.rate().unwrap();
        assert!((rate - 1000.0).abs() < 0.06, "{rate}");
        // Believed for 48 rounds.
        for n in 1..48 {
            assert!(!path.round(100, 0), "{n}");
        }
        assert!(path.round(100, 0));
        assert_eq!(path.policer.rate(), None);
    }

    #[test]
    fn few_losses_or_different_intervals_do_not_indicate_a_policer() {
        // 19 of 100 is less than 50/256.
        for (first, second, lost) in [(100, 100, 19), (100, 150, 40)] {
            let mut path = path();
            for n in 0..40 {
                path.round(if n / 4 % 2 == 0 { first } else { second }, lost);
                assert_eq!(path.policer.rate(), None, "{first} {second} {lost}");
            }
        }
    }

    #[test]
    fn sixteen_rounds_without_a_verdict_begin_anew_and_so_does_an_idle_application() {
        let mut path = path();
        path.round(100, 25);
        for _ in 0..15 {
            path.round(100, 0);
        }
        assert!(path.policer.sampling);
        path.round(100, 0);
        assert!(!path.policer.sampling);
        path.round(100, 25);
        assert!(path.policer.sampling);
        let counts = path.counts;
        let idle = Policing { counts, losses: false, app_limited: true, round_start: false, is_probing_bw: true };
        path.policer.update(&idle);
        assert!(!path.policer.sampling);
    }
}

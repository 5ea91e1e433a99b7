//! BIC: after a loss the window returns to its old maximum: in large steps while far away, in ever smaller steps when near.
//! Then it probes beyond the maximum in ever larger steps. Up to `low_window` it is Reno.
//!
//! Source: L. Xu, K. Harfoush, I. Rhee, Binary Increase Congestion Control for Fast, Long Distance Networks, INFOCOM 2004,
//! Section III. Its target moves with every ACK, so the distance to the maximum falls as exp(-n/2) in n round trips.
//! Differs from the source: fast convergence compares with the last maximum even after probing, when the paper's code has
//! forgotten it. Where the source is silent or unclear: the search ends when its next step would be below `min_increment`;
//! one half is kept after a timeout.
//! Differs from Linux and ns-3: there the largest step is 16, 0.8 is kept, the search goes a quarter of the way, with fixed
//! steps within one segment of the maximum, and a timeout (Linux) forgets the maximum.

use crate::{CongestionEvent, Law, Signal, WindowLaw};
use base::{Card, ParamError, Registered};

base::params! {
    /// Xu, Harfoush and Rhee 2004.
    pub struct Params {
        /// Largest growth per round trip.
        max_increment: f64 = 32.0, "segments";
        /// Growth per round trip below which it takes the old maximum for reached.
        min_increment: f64 = 0.01, "segments";
        /// Share of the window given up on loss.
        decrease: f64 = 0.125, "";
        /// Window below which it is Reno.
        low_window: f64 = 14.0, "segments";
        /// Whether a flow that lost before its old maximum aims lower, so that others find room.
        fast_convergence: bool = true, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Bic {
    max_increment: f64,
    min_increment: f64,
    decrease: f64,
    low_window: f64,
    fast_convergence: bool,
    /// The window to which it returns; infinite before the first loss.
    w_max: f64,
}

impl Registered for Bic {
    type Params = Params;
    const CARD: Card = Card {
        name: "bic",
        aliases: &["bic-tcp", "TcpBic"],
        title: "BIC",
        source: "Xu, Harfoush and Rhee 2004",
        differs: "The paper's parameters; Linux and ns-3 take 16 for the largest step, keep 0.8 and search a quarter \
                  of the way. The old maximum is remembered while probing beyond it.",
    };
}

impl Law for Bic {
    const RESPONSE: Option<&'static str> = Some("Xu2004");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.max_increment < 1.0 {
            return Err(ParamError::new("max_increment", "must be at least 1"));
        }
        if p.min_increment < 1e-6 || p.min_increment > 0.25 {
            return Err(ParamError::new("min_increment", "must lie between 1e-6 and 0.25"));
        }
        if p.decrease <= 0.0 || p.decrease >= 1.0 {
            return Err(ParamError::new("decrease", "must lie strictly between 0 and 1"));
        }
        if p.low_window < 0.0 {
            return Err(ParamError::new("low_window", "must be at least 0"));
        }
        Ok(Self {
            max_increment: p.max_increment,
            min_increment: p.min_increment,
            decrease: p.decrease,
            low_window: p.low_window,
            fast_convergence: p.fast_convergence,
            w_max: f64::INFINITY,
        })
    }
}

impl WindowLaw for Bic {
    fn per_rtt(&self, w: f64) -> Option<f64> {
        if w < self.low_window {
            return Some(1.0);
        }
        let (from, to) = (w - 0.5, w + 0.5);
        if to + 2.0 * self.max_increment < self.w_max {
            return Some(self.max_increment);
        }
        // Near the maximum the growth changes a hundredfold within one segment, so the time spent in the interval is
        // computed.
        let searching = self.rounds_to_max(self.w_max - from) - self.rounds_to_max(self.w_max - to);
        // Probing begins at the maximum, or at the end of the Reno range if that is larger.
        let top = self.w_max.max(self.low_window);
        let probing = self.rounds_beyond(to - top) - self.rounds_beyond(from - top);
        Some(1.0 / (searching + probing))
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        if cwnd < self.low_window {
            return cwnd * 0.5;
        }
        let descending = self.w_max.is_finite() && cwnd < self.w_max;
        // With fast convergence, the middle between the window and the window kept.
        let yields = if descending && self.fast_convergence { 0.5 * self.decrease } else { 0.0 };
        self.w_max = cwnd * (1.0 - yields);
        cwnd * (1.0 - if event.signal == Signal::Timeout { 0.5 } else { self.decrease })
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("w_max", self.w_max);
    }
}

impl Bic {
    /// Round trips from `distance` segments below the maximum to the maximum: first at the largest step, then half of the
    /// distance per round trip, until the steps are smaller than the smallest.
    fn rounds_to_max(&self, distance: f64) -> f64 {
        let (far, near) = (2.0 * self.max_increment, 2.0 * self.min_increment);
        if distance > far {
            (distance - far) / self.max_increment + self.rounds_to_max(far)
        } else if distance > near {
            2.0 * libm::log(distance / near)
        } else {
            0.0
        }
    }

    /// Round trips to get `distance` segments beyond the maximum: one round trip each at 1, 2, 4, ... segments as in slow
    /// start, then at the largest step.
    fn rounds_beyond(&self, distance: f64) -> f64 {
        let (mut rounds, mut step, mut left) = (0.0, 1.0, distance.max(0.0));
        while step < self.max_increment && left > step {
            (rounds, step, left) = (rounds + 1.0, 2.0 * step, left - step);
        }
        rounds + left / step.min(self.max_increment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Span, Time};

    fn loss() -> CongestionEvent {
        CongestionEvent::plain(Time::ZERO, Signal::Loss, Span::millis(100))
    }

    /// A law after a loss at 1000 segments, of which 875 are kept; the maximum is 1000.
    fn after_loss() -> Bic {
        let mut law = Bic::new(&Params::default()).unwrap();
        assert_eq!(law.backoff(1000.0, &loss()), 875.0);
        law
    }

    #[test]
    fn follows_the_papers_rule_ack_by_ack() {
        // The pseudo-code: binary search or additive increase towards the maximum, then 1, 2, 4, 8, 16 segments per
        // round trip, then the largest step.
        let law = after_loss();
        let (mut paper, mut here) = (875.0f64, 875.0f64);
        let (mut probing, mut step, mut goal) = (false, 1.0, 0.0);
        for round in 0..40 {
            for _ in 0..paper as u64 {
                if probing {
                    paper += step / paper;
                    if paper >= goal && step < 32.0 {
                        step *= 2.0;
                        goal = paper + step;
                    }
                } else {
                    let way = 0.5 * (1000.0 - paper);
                    paper = if way < 0.01 { 1000.0 } else { paper + way.min(32.0) / paper };
                    (probing, goal) = (paper >= 1000.0, paper + 1.0);
                }
            }
            for _ in 0..here as u64 {
                let middle = here.floor() + 0.5;
                here += law.per_rtt(middle).unwrap() / middle;
            }
            // Rounding of ACKs to whole windows costs 32/1000 of 32 segments in a round trip at 32 segments. The
            // doublings fall on whole segments here, and on ACKs in the paper. Within the last segment before the
            // maximum the growth is linear here.
            let tolerance = if (999.0..1000.0).contains(&paper) { 0.4 } else { 0.13 };
            assert!((paper - here).abs() < tolerance, "round {round}: {here} instead of {paper}");
        }
        assert!(here > 1100.0, "it probes, got {here}");
    }

    #[test]
    fn the_time_to_return_to_the_maximum_is_that_of_the_closed_form() {
        let law = after_loss();
        // (125 - 64) / 32 round trips at the largest step, then 2 ln(64 / 0.02).
        let expected = 61.0 / 32.0 + 2.0 * libm::log(3200.0);
        let rounds: f64 = (875..1000).map(|w| 1.0 / law.per_rtt(f64::from(w) + 0.5).unwrap()).sum();
        // An interval ends exactly at the change at 936 segments, so the only error is rounding.
        assert!((rounds - expected).abs() < 1e-9, "{rounds} instead of {expected}");
        assert!((expected - 18.05).abs() < 0.005);
    }

    #[test]
    fn probes_as_in_slow_start_beyond_the_maximum() {
        let law = after_loss();
        for (w, gain) in [(1000.5, 1.0), (1001.5, 2.0), (1002.5, 2.0), (1003.5, 4.0), (1014.5, 8.0), (1015.5, 16.0)] {
            assert_eq!(law.per_rtt(w), Some(gain), "at {w}");
        }
        assert_eq!(law.per_rtt(1031.5), Some(32.0));
        assert_eq!(law.per_rtt(5000.5), Some(32.0));
        let fresh = Bic::new(&Params::default()).unwrap();
        assert_eq!(fresh.per_rtt(500.5), Some(32.0), "before the first loss there is no maximum");
    }

    #[test]
    fn probing_takes_a_round_trip_per_doubling_for_any_maximum() {
        for w_max in [1000.0, 1000.3, 1000.7] {
            let law = Bic { w_max, ..after_loss() };
            // The rest of the search from 1000 on, then one round trip each at 1, 2, 4, 8 and 16 segments, then 32 per
            // round trip.
            let rounds: f64 = (1000..1039).map(|w| 1.0 / law.per_rtt(f64::from(w) + 0.5).unwrap()).sum();
            let searching = 2.0 * libm::log((w_max - 1000.0).max(0.02) / 0.02);
            let expected = searching + 5.0 + (1039.0 - w_max - 31.0) / 32.0;
            // The tolerance covers about forty roundings.
            assert!((rounds - expected).abs() < 1e-9, "{w_max}: {rounds} instead of {expected}");
        }
    }

    #[test]
    fn probing_begins_where_reno_ends_if_the_maximum_lies_below() {
        let mut law = after_loss();
        law.backoff(14.0, &loss());
        assert_eq!(law.w_max, 14.0 * (1.0 - 0.0625));
        for (w, gain) in [(13.5, 1.0), (14.5, 1.0), (15.5, 2.0), (16.5, 2.0), (17.5, 4.0)] {
            assert_eq!(law.per_rtt(w), Some(gain), "at {w}");
        }
    }

    #[test]
    fn a_loss_below_the_maximum_moves_the_maximum_to_the_middle_fast_convergence() {
        let mut law = after_loss();
        assert_eq!(law.backoff(900.0, &loss()), 787.5);
        assert_eq!(law.w_max, 0.5 * (900.0 + 787.5));
        law.backoff(950.0, &loss());
        assert_eq!(law.w_max, 950.0, "no fast convergence after a loss above the maximum");
    }

    #[test]
    fn is_reno_below_the_low_window() {
        let mut law = after_loss();
        assert_eq!(law.per_rtt(13.5), Some(1.0));
        assert_eq!(law.backoff(13.0, &loss()), 6.5);
        assert_eq!(law.backoff(14.0, &loss()), 12.25);
    }
}

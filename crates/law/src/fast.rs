//! FAST: every other round trip the window moves towards the window that keeps `alpha` own segments in the queue; it at
//! most doubles. The move is spread over the round trip; in the next round trip the window does not change.
//!
//! Source: C. Jin, D. Wei, S. Low, FAST TCP, IEEE INFOCOM 2004, Section IV: the average round-trip time with weight
//! min(3/w, 1/4) per sample, the update with a constant alpha, one half after a loss.
//! Differs from the source: w in the weight is the data in flight, which is the window if that is the limit. The
//! transport provides the burst control and the loss recovery of the prototype. Where the source is silent: the window
//! is at least two segments; the window moves in the first round after a loss.

use crate::{AckSample, CongestionEvent, Law, MIN_SSTHRESH, Needs, WindowLaw};
use base::{Card, ParamError, Registered};

base::params! {
    /// Jin, Wei & Low 2004.
    pub struct Params {
        /// Own segments kept in the queue.
        alpha: f64 = 200.0, "segments";
        /// Share of the way to the target that one update goes.
        gamma: f64 = 0.5, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Fast {
    alpha: f64,
    gamma: f64,
    /// Average round-trip time, in picoseconds; zero before the first sample.
    rtt: f64,
    /// Target window of the present move, and the change per acknowledged segment.
    target: f64,
    gain: f64,
    /// Whether the window moves in this round trip.
    moving: bool,
}

impl Registered for Fast {
    type Params = Params;
    const CARD: Card = Card {
        name: "fast",
        aliases: &["fasttcp", "fast-tcp"],
        title: "FAST TCP",
        source: "Jin, Wei and Low 2004",
        differs: "Neither Linux nor ns-2 nor ns-3 has it; the prototype's burst control is not here.",
    };
}

impl Law for Fast {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.alpha <= 0.0 {
            return Err(ParamError::new("alpha", "must be above 0"));
        }
        if p.gamma <= 0.0 || p.gamma > 1.0 {
            return Err(ParamError::new("gamma", "must be above 0 and at most 1"));
        }
        Ok(Self { alpha: p.alpha, gamma: p.gamma, rtt: 0.0, target: 0.0, gain: 0.0, moving: false })
    }
}

impl WindowLaw for Fast {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.0 as f64;
            // eta = min(3/w, 1/4).
            let weight = (3.0 / ack.in_flight.max(1.0)).min(0.25);
            self.rtt = if self.rtt == 0.0 { rtt } else { self.rtt + weight * (rtt - self.rtt) };
        }
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        if ack.round_start && self.rtt > 0.0 {
            self.moving = !self.moving;
            self.gain = 0.0;
            if self.moving {
                self.target = self.next(cwnd, ack.min_rtt.0 as f64 / self.rtt);
                self.gain = (self.target - cwnd) / cwnd;
            }
        }
        let w = cwnd + self.gain * ack.acked;
        if self.gain > 0.0 {
            w.min(self.target)
        } else if self.gain < 0.0 {
            w.max(self.target)
        } else {
            w
        }
    }

    fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 {
        (self.gain, self.moving) = (0.0, false);
        cwnd * 0.5
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("target", self.target);
        put("average_rtt_s", self.rtt * 1e-12);
    }
}

impl Fast {
    /// The window after an update when the base round-trip time is `share` of the average one.
    fn next(&self, w: f64, share: f64) -> f64 {
        let wanted = share.min(1.0) * w + self.alpha;
        (2.0 * w).min((1.0 - self.gamma) * w + self.gamma * wanted).max(MIN_SSTHRESH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{Path, rounds};
    use crate::{LawSpec, StartSpec};
    use base::Span;

    #[test]
    fn is_constant_when_alpha_segments_wait_and_halves_the_distance_with_every_update() {
        let law = Fast::new(&Params::default()).unwrap();
        // Alone on a path of 1000 segments: base/rtt = 1000/w once the window fills it, so w' - 1200 = (w - 1200)/2.
        let mut w = 2000.0;
        for k in 1..=20u32 {
            w = law.next(w, 1000.0 / w);
            let closed = 1200.0 + 800.0 / f64::from(1u32 << k);
            // The tolerance covers twenty roundings of w.
            assert!((w - closed).abs() < 1e-9, "{k}: {w} instead of {closed}");
        }
        assert_eq!(law.next(1200.0, 1000.0 / 1200.0), 1200.0);
    }

    #[test]
    fn without_a_queue_it_grows_by_gamma_alpha_but_at_most_doubles() {
        let law = Fast::new(&Params::default()).unwrap();
        assert_eq!(law.next(10.0, 1.0), 20.0);
        assert_eq!(law.next(500.0, 1.0), 600.0);
    }

    #[test]
    fn changes_the_window_every_other_round_trip_until_alpha_segments_wait() {
        let start = StartSpec::named("classic").unwrap();
        let mut control = LawSpec::named("fast").unwrap().build(&start, 2.0, 256.0).unwrap();
        let list = rounds(&mut control, Path { base_rtt: Span::millis(100), bdp: 1000.0 }, &[], 80);
        // From 256 segments on without a queue: 100 more every other round trip.
        let windows: Vec<f64> = list[8..14].iter().map(|round| round.cwnd.round()).collect();
        assert_eq!(windows, [356.0, 356.0, 456.0, 456.0, 556.0, 556.0]);
        // The average of the round-trip times lags (with weight 3/w per sample, 5 % of the past is left after a round) and
        // only whole segments wait, so the last part of the approach is not exact.
        assert!((list[79].cwnd - 1200.0).abs() < 1.5, "{}", list[79].cwnd);
    }
}

//! Vegas: once per round trip one segment more or less, so that `alpha` to `beta` own segments wait in the queue.
//!
//! Source: L. Brakmo, L. Peterson, TCP Vegas, IEEE JSAC 13(8), 1995, Section III-B. Its slow start is `vegas-start`.
//! Differs from the source: the round-trip time compared is the smallest of the round, not that of one distinguished
//! segment; every loss halves, because the finer retransmissions after which only a quarter is cut belong to the transport.
//! Where the source is silent: the window is at least two segments; the first round after a cut only measures.
//! Differs from Linux: Diff is w (1 - base/rtt) as printed; Linux divides by the base, and moves at once, not linearly over
//! the round. Differs from ns-2: the round-trip time there is the mean of the round, and the window shrinks at once.

use crate::{AckSample, CongestionEvent, Law, MIN_SSTHRESH, Needs, WindowLaw};
use base::{Card, ParamError, Registered, Span};

base::params! {
    /// Brakmo & Peterson 1995, in segments queued.
    pub struct Params {
        /// Own segments in the queue below which the window grows by one per round trip.
        alpha: f64 = 1.0, "segments";
        /// Own segments in the queue above which the window shrinks by one per round trip.
        beta: f64 = 3.0, "segments";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    /// Smallest round-trip time of the last complete round, and of the round in progress.
    rtt: Span,
    least: Span,
    /// Growth per acknowledged segment in this round; negative if the window shrinks.
    gain: f64,
    /// Expected minus actual rate, times the base round-trip time: the number of own segments in the queue.
    diff: f64,
}

impl Registered for Vegas {
    type Params = Params;
    const CARD: Card = Card {
        name: "vegas",
        aliases: &["TcpVegas"],
        title: "TCP Vegas",
        source: "Brakmo and Peterson 1995",
        differs: "Smallest round-trip time of the round (Linux, ns-3) instead of one segment's (source) or the mean (ns-2); \
                  a loss halves the window; Diff is divided by the present round-trip time, not by the base as in Linux.",
    };
}

impl Law for Vegas {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.alpha < 0.0 {
            return Err(ParamError::new("alpha", "must be 0 or more"));
        }
        if p.beta < p.alpha {
            return Err(ParamError::new("beta", "must not be below alpha"));
        }
        let none = Span(u64::MAX);
        Ok(Self { alpha: p.alpha, beta: p.beta, rtt: none, least: none, gain: 0.0, diff: 0.0 })
    }
}

impl WindowLaw for Vegas {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        if ack.round_start {
            self.rtt = std::mem::replace(&mut self.least, Span(u64::MAX));
            self.gain = 0.0;
        }
        if let Some(rtt) = ack.rtt {
            self.least = self.least.min(rtt);
        }
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        // A round without a sample (its segments were sent twice) decides nothing.
        if ack.round_start && self.rtt.0 != u64::MAX {
            self.diff = cwnd * (1.0 - ack.min_rtt.0 as f64 / self.rtt.0 as f64);
            if self.diff < self.alpha {
                self.gain = 1.0 / cwnd;
            } else if self.diff > self.beta {
                self.gain = -1.0 / cwnd;
            }
        }
        (cwnd + self.gain * ack.acked).max(MIN_SSTHRESH)
    }

    fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 {
        (self.rtt, self.least, self.gain) = (Span(u64::MAX), Span(u64::MAX), 0.0);
        cwnd * 0.5
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("diff", self.diff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{Path, rounds};
    use crate::{CongestionControl, LawSpec, Signal, StartSpec};
    use base::Time;

    /// The window after a round of `w` segments at `rtt` on a path of 100 ms.
    fn after_a_round(law: &mut Vegas, mut w: f64, rtt: Span) -> f64 {
        for i in 0..w as u64 {
            let round_start = i == 0;
            let ack = AckSample { min_rtt: Span::millis(100), round_start, ..AckSample::plain(Time(i), rtt) };
            law.on_sample(&ack);
            w = law.avoid(w, &ack);
        }
        w
    }

    #[test]
    fn grows_by_one_below_alpha_shrinks_by_one_above_beta_and_is_constant_between() {
        // Diff = 20 (1 - 100/rtt): 0.5 at 102.56 ms, 2 at 111.11 ms, 4 at 125 ms.
        for (us, change) in [(102_564, 1.0), (111_111, 0.0), (125_000, -1.0)] {
            let mut law = Vegas::new(&Params::default()).unwrap();
            let rtt = Span::micros(us);
            // The first round has no round to compare with.
            assert_eq!(after_a_round(&mut law, 20.0, rtt), 20.0);
            let w = after_a_round(&mut law, 20.0, rtt);
            // The tolerance covers twenty roundings of 1/20.
            assert!((w - 20.0 - change).abs() < 1e-12, "at {us} us: {w}");
        }
    }

    #[test]
    fn shrinks_linearly_over_the_round_unless_the_round_began_below_the_window() {
        let mut law = Vegas::new(&Params::default()).unwrap();
        let rtt = Span::millis(125);
        after_a_round(&mut law, 20.0, rtt);
        let mut ack = AckSample { min_rtt: Span::millis(100), round_start: true, ..AckSample::plain(Time(0), rtt) };
        law.on_sample(&ack);
        assert_eq!(law.avoid(20.0, &ack), 19.95);
        // A law is called only if the window was the limit, so the next round decides nothing.
        law.on_sample(&ack);
        ack.round_start = false;
        assert_eq!(law.avoid(19.0, &ack), 19.0);
    }

    #[test]
    fn converges_to_one_to_three_segments_in_the_queue_and_stays_out_of_slow_start() {
        let start = StartSpec::named("classic").unwrap();
        let mut control = LawSpec::named("vegas").unwrap().build(&start, 2.0, f64::INFINITY).unwrap();
        let path = Path { base_rtt: Span::millis(100), bdp: 200.0 };
        // A loss at 256 leaves 128. The window then grows by one per round trip to the first value at which Diff is not
        // below 1.
        let list = rounds(&mut control, path, &[(7, Signal::Loss)], 120);
        for round in &list[100..] {
            let queued = round.cwnd.floor() - path.bdp;
            assert!((1.0..=3.0).contains(&queued), "{queued} segments wait");
        }
        // Now on a path with half of the BDP: the window falls by one per round trip, below the threshold of 128 that
        // the loss left, and Vegas does not enter slow start.
        let narrow = Path { base_rtt: Span::millis(100), bdp: 100.0 };
        let list = rounds(&mut control, narrow, &[], 150);
        assert!(list.windows(2).all(|pair| pair[1].cwnd <= pair[0].cwnd + 1.0), "never more than one per round trip");
        let last = list[149].cwnd.floor() - narrow.bdp;
        assert!((1.0..=3.0).contains(&last), "{last} segments wait");
        assert!(control.ssthresh() <= control.cwnd());
    }

    #[test]
    fn refuses_a_beta_below_alpha() {
        let error = Vegas::new(&Params { beta: 0.5, ..Params::default() }).unwrap_err();
        assert_eq!(error.to_string(), "beta: must not be below alpha");
    }
}

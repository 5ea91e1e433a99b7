//! Compound: a Reno window plus a delay window. The delay window grows by alpha w^k per round trip while fewer than
//! `gamma` own segments wait in the queue, and otherwise shrinks.
//!
//! Source: K. Tan, J. Song, Q. Zhang, M. Sridharan, A Compound TCP Approach for High-speed and Long Distance Networks,
//! IEEE INFOCOM 2006, Section III; draft-sridharan-tcpm-ctcp-02. One half is kept after a timeout.
//! Differs from the draft: gamma stays fixed, as in the paper; the base round-trip time survives a timeout. The
//! round-trip time compared is the smallest of the round, and the delay window moves at once when a round begins.

use crate::{AckSample, CongestionEvent, Law, Needs, Signal, WindowLaw};
use base::{Card, ParamError, Registered, Span};

base::params! {
    /// Tan, Song, Zhang & Sridharan 2006.
    pub struct Params {
        /// Factor of the delay window's growth, alpha w^k - 1 per round trip.
        alpha: f64 = 0.125, "";
        /// Share of the window given up on loss.
        beta: f64 = 0.5, "";
        /// Exponent of the delay window's growth.
        k: f64 = 0.75, "";
        /// Own segments in the queue from which the delay window shrinks.
        gamma: f64 = 30.0, "segments";
        /// Segments that the delay window gives up per own segment in the queue.
        zeta: f64 = 1.0, "";
    }
}

/// No round-trip time known.
const NONE: Span = Span(u64::MAX);

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Compound {
    p: Params,
    /// The delay window; the rest of the congestion window is the loss window.
    dwnd: f64,
    /// Smallest round-trip time of the last round, and of the round in progress.
    rtt: Span,
    least: Span,
    /// Growth per acknowledged segment in this round; zero until it is known.
    gain: f64,
    /// Number of own segments in the queue.
    diff: f64,
}

impl Registered for Compound {
    type Params = Params;
    const CARD: Card = Card {
        name: "compound",
        aliases: &["ctcp", "TcpCompound"],
        title: "Compound TCP",
        source: "Tan, Song, Zhang and Sridharan 2006",
        differs: "gamma stays fixed (the draft may tune it at losses), and the base round-trip time survives a timeout.",
    };
}

impl Law for Compound {
    const RESPONSE: Option<&'static str> = Some("Tan2006");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.alpha <= 0.0 {
            return Err(ParamError::new("alpha", "must be above 0"));
        }
        if p.beta <= 0.0 || p.beta >= 1.0 {
            return Err(ParamError::new("beta", "must lie strictly between 0 and 1"));
        }
        if p.k <= 0.0 || p.k > 1.0 {
            return Err(ParamError::new("k", "must be above 0 and at most 1"));
        }
        if p.gamma <= 0.0 {
            return Err(ParamError::new("gamma", "must be above 0"));
        }
        if p.zeta <= 0.0 {
            return Err(ParamError::new("zeta", "must be above 0"));
        }
        Ok(Self { p: p.clone(), dwnd: 0.0, rtt: NONE, least: NONE, gain: 0.0, diff: 0.0 })
    }
}

impl WindowLaw for Compound {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        if ack.round_start {
            self.rtt = std::mem::replace(&mut self.least, NONE);
        }
        if let Some(rtt) = ack.rtt {
            self.least = self.least.min(rtt);
        }
    }

    fn avoid(&mut self, mut cwnd: f64, ack: &AckSample) -> f64 {
        if ack.round_start && self.rtt != NONE {
            self.diff = cwnd * (1.0 - ack.min_rtt.0 as f64 / self.rtt.0 as f64);
            let dwnd = self.dwnd + self.change(cwnd, self.diff);
            cwnd += dwnd - self.dwnd;
            self.dwnd = dwnd;
            self.gain = 1.0 / cwnd;
        } else if self.gain == 0.0 {
            self.gain = 1.0 / cwnd;
        }
        // The loss window grows by one segment per round trip of the whole window.
        cwnd + self.gain * ack.acked
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        (self.rtt, self.least, self.gain) = (NONE, NONE, 0.0);
        if event.signal == Signal::Timeout {
            self.dwnd = 0.0;
            return 0.5 * cwnd;
        }
        let half = 0.5 * (cwnd - self.dwnd);
        self.dwnd = (cwnd * (1.0 - self.p.beta) - half).max(0.0);
        half + self.dwnd
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("dwnd", self.dwnd);
        put("diff", self.diff);
    }
}

impl Compound {
    /// Change of the delay window after a round of window `w` with `diff` own segments in the queue.
    fn change(&self, w: f64, diff: f64) -> f64 {
        if diff < self.p.gamma {
            (self.p.alpha * libm::pow(w, self.p.k) - 1.0).max(0.0)
        } else {
            -(self.p.zeta * diff).min(self.dwnd)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{Path, rounds};
    use crate::{LawSpec, StartSpec};
    use base::Time;

    fn law() -> Compound {
        Compound::new(&Params::default()).unwrap()
    }

    #[test]
    fn grows_with_the_three_quarter_power_of_the_window() {
        // 16^0.75 = 8 and 10^4^0.75 = 10^3: the delay window begins at 16 segments and gains 124 at ten thousand.
        assert_eq!(law().change(16.0, 0.0), 0.0);
        assert_eq!(law().change(12.0, 0.0), 0.0);
        assert!((law().change(10_000.0, 29.9) - 124.0).abs() < 1e-9);
    }

    #[test]
    fn the_delay_window_shrinks_by_the_queue_but_not_below_zero() {
        let mut law = law();
        law.dwnd = 100.0;
        assert_eq!(law.change(1000.0, 30.0), -30.0);
        assert_eq!(law.change(1000.0, 300.0), -100.0);
    }

    #[test]
    fn a_loss_halves_the_whole_window_and_the_loss_window() {
        let event = |signal| CongestionEvent::plain(Time(0), signal, Span::millis(100));
        let mut law = law();
        law.dwnd = 600.0;
        assert_eq!((law.backoff(1000.0, &event(Signal::Loss)), law.dwnd), (500.0, 300.0));
        assert_eq!((law.backoff(500.0, &event(Signal::Timeout)), law.dwnd), (250.0, 0.0));
        // With beta = 3/4 only half of the loss window is left.
        let mut deep = Compound::new(&Params { beta: 0.75, ..Params::default() }).unwrap();
        deep.dwnd = 200.0;
        assert_eq!((deep.backoff(1000.0, &event(Signal::Loss)), deep.dwnd), (400.0, 0.0));
    }

    #[test]
    fn recovers_from_a_loss_in_the_time_of_its_response_function() {
        let start = StartSpec::named("classic").unwrap();
        let mut control = LawSpec::named("compound").unwrap().build(&start, 2.0, 5000.0).unwrap();
        let list = rounds(&mut control, Path { base_rtt: Span::millis(100), bdp: 1e9 }, &[], 90);
        let first = list.iter().position(|round| round.cwnd >= 5000.0).unwrap();
        let last = list.iter().position(|round| round.cwnd >= 10_000.0).unwrap();
        // dw/dt = alpha w^k from W/2 to W: W^(1-k) (1 - 2^(k-1)) / (alpha (1-k)) = 10 * 0.159104 / 0.03125 = 50.9 rounds.
        // Discrete steps, and the first round, which has no earlier sample, add up to two more.
        assert!((51..=53).contains(&(last - first)), "{} rounds", last - first);
    }

    #[test]
    fn fills_the_path_and_then_leaves_it_to_the_loss_window() {
        let start = StartSpec::named("classic").unwrap();
        let mut control = LawSpec::named("compound").unwrap().build(&start, 2.0, 500.0).unwrap();
        let list = rounds(&mut control, Path { base_rtt: Span::millis(100), bdp: 1000.0 }, &[], 200);
        let full = list.iter().position(|round| round.cwnd >= 1000.0).unwrap();
        assert!(full < 9 + 35, "500 segments at 13 to 22 per round, not at one per round");
        // The delay window overshoots by the round that it takes to see the queue (22 segments). It shrinks twice, because
        // the round-trip times of the round after the first reduction are still those of the old queue.
        for round in &list[full..full + 60] {
            assert!((950.0..=1075.0).contains(&round.cwnd), "{}", round.cwnd);
        }
    }
}

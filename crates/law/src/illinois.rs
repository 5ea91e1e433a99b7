//! Illinois: AIMD whose increase falls from `alpha_max` to `alpha_min` and whose decrease rises from `beta_min` to
//! `beta_max` as the queueing delay of the last round trip approaches the largest one seen.
//!
//! Source: S. Liu, T. Başar, R. Srikant, TCP-Illinois, Performance Evaluation 65(6-7), 2008 (first 2006): the curves f1
//! and f2, thresholds as shares of the largest delay, alpha back at its maximum only after `theta` low rounds.
//! Differs from the source: ns-3's manual quotes an `alpha_min` of 0.1 from it; Linux and ns-3 use 0.3, as here.
//! Differs from Linux and ns-3: `win_thresh` is 15 there, and alpha starts at its maximum.
//! Differs from Linux: Linux sets `snd_cwnd_cnt` to 0 with each growth. It loses the remainder, 12 to 21 % for windows
//! of 20 to 60 segments.

use crate::{AckSample, CongestionEvent, Law, Needs, Signal, WindowLaw};
use base::{Card, ParamError, Registered};

base::params! {
    /// Liu, Başar & Srikant 2006.
    pub struct Params {
        /// Least growth per round trip.
        alpha_min: f64 = 0.3, "segments";
        /// Most growth per round trip.
        alpha_max: f64 = 10.0, "segments";
        /// Least share given up on loss.
        beta_min: f64 = 0.125, "";
        /// Largest share given up on loss.
        beta_max: f64 = 0.5, "";
        /// Share of the largest queueing delay up to which growth is at its maximum.
        eta1: f64 = 0.01, "";
        /// Share of the largest queueing delay up to which the cut is at its minimum.
        eta2: f64 = 0.1, "";
        /// Share of the largest queueing delay from which the cut is at its maximum.
        eta3: f64 = 0.8, "";
        /// Window below which it is Reno.
        win_thresh: f64 = 10.0, "segments";
        /// Round trips of low delay after which growth returns to its maximum.
        theta: u32 = 5, "rounds";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Illinois {
    /// Parameters; boxed, so that flows with other laws do not need memory for them.
    p: Box<Params>,
    alpha: f64,
    beta: f64,
    /// Growth per acknowledged segment in this round; zero until it is known.
    gain: f64,
    /// Longest round-trip time seen, in picoseconds.
    longest: f64,
    /// Sum and number of this round's queueing delays.
    sum: f64,
    count: u32,
    /// Consecutive low rounds since the delay was above the first threshold; `theta` if it never was.
    low: u32,
}

impl Registered for Illinois {
    type Params = Params;
    const CARD: Card = Card {
        name: "illinois",
        aliases: &["TcpIllinois"],
        title: "TCP-Illinois",
        source: "Liu, Başar and Srikant 2006",
        differs: "alpha_min is 0.3 as in Linux and ns-3, whose manual quotes 0.1 from the paper; their window threshold is \
                  15 and their alpha starts at its maximum. Linux (tcp_illinois_cong_avoid) throws away what is left over \
                  when the window grows: windows of 20 to 60 segments are 12 to 21 % smaller there.",
    };
}

impl Law for Illinois {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.alpha_min <= 0.0 {
            return Err(ParamError::new("alpha_min", "must be above 0"));
        }
        if p.alpha_max <= p.alpha_min {
            return Err(ParamError::new("alpha_max", "must exceed alpha_min"));
        }
        if p.beta_min <= 0.0 {
            return Err(ParamError::new("beta_min", "must be above 0"));
        }
        if p.beta_max < p.beta_min || p.beta_max >= 1.0 {
            return Err(ParamError::new("beta_max", "must lie between beta_min and 1"));
        }
        if p.eta1 < 0.0 || p.eta1 >= 1.0 {
            return Err(ParamError::new("eta1", "must be 0 or more and below 1"));
        }
        if p.eta2 < 0.0 || p.eta2 >= p.eta3 {
            return Err(ParamError::new("eta2", "must be 0 or more and below eta3"));
        }
        if p.eta3 > 1.0 {
            return Err(ParamError::new("eta3", "must be at most 1"));
        }
        let (alpha, beta, low) = (1.0, 0.5, p.theta);
        Ok(Self { p: Box::new(p.clone()), alpha, beta, gain: 0.0, longest: 0.0, sum: 0.0, count: 0, low })
    }
}

impl WindowLaw for Illinois {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        if ack.round_start && self.count > 0 {
            let largest = self.longest - ack.min_rtt.0 as f64;
            self.judge(self.sum / f64::from(self.count), largest);
            (self.sum, self.count) = (0.0, 0);
        }
        if let Some(rtt) = ack.rtt {
            self.longest = self.longest.max(rtt.0 as f64);
            self.sum += rtt.0.saturating_sub(ack.min_rtt.0) as f64;
            self.count += 1;
        }
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        if ack.round_start || self.gain == 0.0 {
            let alpha = if cwnd < self.p.win_thresh { 1.0 } else { self.alpha };
            self.gain = alpha / cwnd;
        }
        cwnd + self.gain * ack.acked
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        self.gain = 0.0;
        if event.signal == Signal::Timeout {
            (self.alpha, self.beta, self.low) = (1.0, 0.5, self.p.theta);
            return cwnd * 0.5;
        }
        cwnd * (1.0 - if cwnd < self.p.win_thresh { 0.5 } else { self.beta })
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha);
        put("beta", self.beta);
    }
}

impl Illinois {
    /// Sets alpha and beta from a round's average queueing delay `delay` and the largest one seen.
    fn judge(&mut self, delay: f64, largest: f64) {
        if delay > self.p.eta1 * largest {
            self.low = 0;
            self.alpha = self.f1(delay, largest);
        } else {
            self.low = self.low.saturating_add(1);
            if self.low >= self.p.theta {
                self.alpha = self.p.alpha_max;
            }
        }
        self.beta = self.f2(delay, largest);
    }

    /// kappa1 / (kappa2 + delay): `alpha_max` at the first threshold, `alpha_min` at the largest delay.
    fn f1(&self, delay: f64, largest: f64) -> f64 {
        let d1 = self.p.eta1 * largest;
        let slope = (largest - d1) * self.p.alpha_min / (self.p.alpha_max - self.p.alpha_min);
        (slope * self.p.alpha_max / (slope - d1 + delay)).clamp(self.p.alpha_min, self.p.alpha_max)
    }

    /// A straight line from `beta_min` at the second threshold to `beta_max` at the third.
    fn f2(&self, delay: f64, largest: f64) -> f64 {
        let (d2, d3) = (self.p.eta2 * largest, self.p.eta3 * largest);
        if delay <= d2 {
            self.p.beta_min
        } else if delay >= d3 {
            self.p.beta_max
        } else {
            self.p.beta_min + (self.p.beta_max - self.p.beta_min) * (delay - d2) / (d3 - d2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Span, Time};

    fn law() -> Illinois {
        Illinois::new(&Params::default()).unwrap()
    }

    #[test]
    fn follows_the_two_curves() {
        // Largest delay 100: thresholds at 1, 10 and 80; kappa1 = 99 * 0.3 * 10 / 9.7 = 30.61856, kappa2 = 99 * 0.3 / 9.7 -
        // 1 = 2.06186; computed by hand to six digits.
        let curve = [(1.0, 10.0, 0.125), (10.0, 2.538_462, 0.125), (45.0, 0.650_602, 0.3125), (80.0, 0.373_116, 0.5)];
        for (delay, alpha, beta) in curve.into_iter().chain([(100.0, 0.3, 0.5)]) {
            assert!((law().f1(delay, 100.0) - alpha).abs() < 1e-6, "alpha({delay}) = {}", law().f1(delay, 100.0));
            assert!((law().f2(delay, 100.0) - beta).abs() < 1e-12, "beta({delay}) = {}", law().f2(delay, 100.0));
        }
    }

    #[test]
    fn returns_to_the_largest_growth_only_after_five_low_rounds() {
        let mut law = law();
        law.judge(0.0, 100.0);
        assert_eq!(law.alpha, 10.0, "without any queue alpha is at its maximum at once");
        law.judge(50.0, 100.0);
        let alpha = law.alpha;
        assert!(alpha < 1.0);
        for round in 1..=5 {
            law.judge(0.5, 100.0);
            assert_eq!(law.alpha, if round < 5 { alpha } else { 10.0 }, "round {round}");
        }
    }

    #[test]
    fn is_reno_below_the_window_threshold_and_after_a_timeout() {
        let mut law = law();
        law.judge(0.0, 0.0);
        let now = AckSample { round_start: true, ..AckSample::plain(Time(0), Span::millis(100)) };
        assert_eq!(law.avoid(9.0, &now), 9.0 + 1.0 / 9.0);
        assert_eq!(law.avoid(100.0, &now), 100.1);
        let event = |signal| CongestionEvent::plain(Time(0), signal, Span::millis(100));
        assert_eq!(law.backoff(8.0, &event(Signal::Loss)), 4.0);
        assert_eq!(law.backoff(800.0, &event(Signal::Loss)), 700.0);
        assert_eq!(law.backoff(800.0, &event(Signal::Timeout)), 400.0);
        assert_eq!((law.alpha, law.beta), (1.0, 0.5));
    }

    #[test]
    fn averages_the_delays_of_a_round() {
        let mut law = law();
        let base = Span::millis(100);
        for (i, ms) in [100, 110, 120, 200, 100].into_iter().enumerate() {
            let round_start = i == 0 || i == 4;
            law.on_sample(&AckSample { min_rtt: base, round_start, ..AckSample::plain(Time(0), Span::millis(ms)) });
        }
        // Delays of 0, 10, 20 and 100 ms: 32.5 on average, 100 at most.
        assert!((law.alpha - 30.618_557 / (2.061_856 + 32.5)).abs() < 1e-6, "{}", law.alpha);
    }
}

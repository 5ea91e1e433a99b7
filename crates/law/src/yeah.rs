//! YeAH-TCP: Scalable while fewer than `q_max` own segments wait and the path is not congested (fast mode). Otherwise Reno
//! that also reduces the window by its queue (slow mode), as long as the window is above that of a competing Reno flow.
//!
//! Source: A. Baiocchi, A. Castellani, F. Vacirca, YeAH-TCP, 5th Workshop on Protocols for Fast Long-Distance Networks,
//! 2007. Where the text is not specific (one half after `rho` slow rounds, `zeta`, the largest decongestion), this law
//! follows the authors' code in Linux. As in Linux, a decongestion usually happens twice, because the round-trip times
//! fall only a round later.
//! Differs from Linux: the queue at a loss is that of the round in progress and also known in slow start, where Linux uses
//! the last round of congestion avoidance; rounds with fewer than three samples count; a timeout keeps one half, where
//! Linux treats it like any loss.

use crate::{AckSample, CongestionEvent, Law, MIN_SSTHRESH, Needs, Signal, WindowLaw};
use base::{Card, ParamError, Registered, Span};

base::params! {
    /// Baiocchi, Castellani & Vacirca 2007.
    pub struct Params {
        /// Own segments in the queue above which it leaves fast mode and takes them off its window.
        q_max: f64 = 80.0, "segments";
        /// The queueing delay that ends fast mode is the base round-trip time divided by this.
        phi: f64 = 8.0, "";
        /// A decongestion takes the queue divided by this off the window.
        gamma: f64 = 1.0, "";
        /// Largest share of the window that a decongestion takes.
        epsilon: f64 = 0.5, "";
        /// Least share of the window given up on loss.
        delta: f64 = 0.125, "";
        /// Slow rounds in a row after which a loss halves the window: a Reno competes.
        rho: u32 = 16, "rounds";
        /// Fast rounds after which the competing Reno is forgotten.
        zeta: u32 = 50, "rounds";
        /// Growth per acknowledged segment in fast mode.
        increase: f64 = 0.01, "segments";
    }
}

/// No round-trip time known.
const NONE: Span = Span(u64::MAX);

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Yeah {
    /// Parameters; boxed, so that flows with other laws do not need memory for them.
    p: Box<Params>,
    /// Smallest round-trip time of the last round, and of the round in progress.
    rtt: Span,
    least: Span,
    /// Growth per acknowledged segment in this round; zero until it is known.
    gain: f64,
    /// Number of own segments in the queue.
    queue: f64,
    /// Window of a competing Reno flow (`count_reno`); zero if there is none.
    reno: f64,
    /// Consecutive slow rounds, and fast rounds since the last loss.
    slow: u32,
    fast: u32,
}

impl Registered for Yeah {
    type Params = Params;
    const CARD: Card = Card {
        name: "yeah",
        aliases: &["TcpYeah"],
        title: "YeAH-TCP",
        source: "Baiocchi, Castellani and Vacirca 2007",
        differs: "The queue at a loss is measured in the round of the loss, in slow start too; Linux and ns-3 take the last \
                  round of congestion avoidance. A timeout keeps one half; Linux (tcp_yeah_ssthresh) keeps what it keeps \
                  after any loss, 7/8 without a queue.",
    };
}

impl Law for Yeah {
    fn new(p: &Params) -> Result<Self, ParamError> {
        for (name, value) in [("q_max", p.q_max), ("phi", p.phi), ("increase", p.increase)] {
            if value <= 0.0 {
                return Err(ParamError::new(name, "must be above 0"));
            }
        }
        if p.gamma < 1.0 {
            return Err(ParamError::new("gamma", "must be at least 1"));
        }
        if p.epsilon <= 0.0 || p.epsilon >= 1.0 {
            return Err(ParamError::new("epsilon", "must lie strictly between 0 and 1"));
        }
        if p.delta <= 0.0 || p.delta > 0.5 {
            return Err(ParamError::new("delta", "must be above 0 and at most 0.5"));
        }
        let p = Box::new(p.clone());
        Ok(Self { p, rtt: NONE, least: NONE, gain: 0.0, queue: 0.0, reno: 0.0, slow: 0, fast: 0 })
    }
}

impl WindowLaw for Yeah {
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
            cwnd = self.judge(cwnd, ack.min_rtt.0 as f64 / self.rtt.0 as f64);
        } else if self.gain == 0.0 {
            self.gain = 1.0 / cwnd;
        }
        cwnd + self.gain * ack.acked
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        let rtt = if self.least == NONE { self.rtt } else { self.least };
        let queue = if rtt == NONE { 0.0 } else { cwnd * (1.0 - event.min_rtt.0 as f64 / rtt.0 as f64) };
        let cut = if event.signal == Signal::Timeout || self.slow >= self.p.rho {
            0.5 * cwnd
        } else {
            queue.max(self.p.delta * cwnd).min(0.5 * cwnd)
        };
        (self.rtt, self.least, self.gain) = (NONE, NONE, 0.0);
        self.fast = 0;
        self.reno *= 0.5;
        cwnd - cut
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("queue", self.queue);
        put("mode", f64::from(u8::from(self.slow > 0)));
        put("reno_count", self.reno);
    }
}

impl Yeah {
    /// Decides after a round on the mode of the next round; the base round-trip time is `share` of the round's smallest
    /// one. Returns the window at the start of the next round.
    fn judge(&mut self, cwnd: f64, share: f64) -> f64 {
        self.queue = cwnd * (1.0 - share);
        // L is the queueing delay divided by the base round-trip time, 1/share - 1.
        if self.queue < self.p.q_max && self.p.phi * (1.0 - share) < share {
            self.slow = 0;
            self.fast += 1;
            if self.fast > self.p.zeta {
                (self.fast, self.reno) = (0, 0.0);
            }
            // The gain of Scalable, or that of Reno if it is larger.
            self.gain = self.p.increase.max(1.0 / cwnd);
            return cwnd;
        }
        let mut w = cwnd;
        if self.queue > self.p.q_max && w > self.reno {
            w = (w - (self.queue / self.p.gamma).min(self.p.epsilon * w)).max(self.reno).max(MIN_SSTHRESH);
        }
        self.reno = if self.reno == 0.0 { 0.5 * w } else { self.reno + 1.0 };
        self.slow = self.slow.saturating_add(1);
        self.gain = 1.0 / w;
        w
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{Path, rounds};
    use crate::{LawSpec, StartSpec};
    use base::Time;

    fn law() -> Yeah {
        Yeah::new(&Params::default()).unwrap()
    }

    #[test]
    fn is_scalable_with_a_short_queue_and_subtracts_a_long_queue_from_its_window() {
        let mut law = law();
        // 1000 segments at 104 ms instead of 100 ms: 38 wait.
        assert_eq!(law.judge(1000.0, 100.0 / 104.0), 1000.0);
        assert_eq!((law.gain, law.slow), (0.01, 0));
        // At 125 ms 200 wait: slow mode, and the window is reduced by these.
        let w = law.judge(1000.0, 0.8);
        assert!((w - 800.0).abs() < 1e-9 && law.slow == 1, "{w}");
        assert_eq!((law.gain, law.reno), (1.0 / w, 0.5 * w));
        // At most half is taken.
        assert_eq!(law.judge(1000.0, 0.25), 500.0);
    }

    #[test]
    fn a_delay_of_an_eighth_of_the_base_ends_fast_mode_at_any_window() {
        // 100 segments at 113 ms: only 11.5 wait, but the delay exceeds 100/8 ms. So slow mode, with nothing to reduce.
        let mut law = law();
        assert_eq!(law.judge(100.0, 100.0 / 113.0), 100.0);
        assert_eq!(law.slow, 1);
        assert_eq!(law.judge(100.0, 100.0 / 112.0), 100.0);
        assert_eq!(law.slow, 0);
    }

    #[test]
    fn a_competing_reno_is_left_no_more_than_its_share_and_forgotten_after_fifty_fast_rounds() {
        let mut law = law();
        let mut w = 1000.0;
        // Other flows keep the queue full. Reno's window starts at 250, half of the 500 left after one cut...
        w = law.judge(w, 0.5);
        assert_eq!((w, law.reno), (500.0, 250.0));
        w = law.judge(w, 0.5);
        // ...and is a lower limit of the window from then on: 251, growing by one per round.
        assert_eq!((w, law.reno), (250.0, 251.0));
        w = law.judge(w + 1.0, 0.5);
        assert_eq!((w, law.reno), (251.0, 252.0));
        for _ in 0..51 {
            assert_eq!(law.judge(w, 1.0), w);
        }
        assert_eq!(law.reno, 0.0);
    }

    #[test]
    fn a_loss_takes_the_queue_an_eighth_at_least_and_half_at_most_or_if_reno_competes() {
        let base = Span::millis(100);
        let event = |signal| CongestionEvent::plain(Time(0), signal, base);
        // Queues of 1000 segments: 48 at 105 ms, 200 at 125 ms, 600 at 250 ms.
        for (ms, kept) in [(105, 875.0), (125, 800.0), (250, 500.0)] {
            let mut law = law();
            law.on_sample(&AckSample::plain(Time(0), Span::millis(ms)));
            let left = law.clone().backoff(1000.0, &event(Signal::Loss));
            assert!((left - kept).abs() < 1e-9, "{ms} ms: {left}");
            assert_eq!(law.clone().backoff(1000.0, &event(Signal::Timeout)), 500.0);
            law.slow = 16;
            assert_eq!(law.backoff(1000.0, &event(Signal::Loss)), 500.0);
        }
    }

    #[test]
    fn alone_it_keeps_the_path_full_and_the_queue_short() {
        let start = StartSpec::named("classic").unwrap();
        let mut control = LawSpec::named("yeah").unwrap().build(&start, 2.0, 900.0).unwrap();
        let list = rounds(&mut control, Path { base_rtt: Span::millis(100), bdp: 1000.0 }, &[], 400);
        for round in &list[40..] {
            // Growth by one percent per round up to the round after the one that crosses Q_max; then two reductions by the
            // queue, because the round-trip times of the round after a decongestion are still those of the old queue.
            assert!((915.0..=1105.0).contains(&round.cwnd), "{}", round.cwnd);
        }
    }
}

//! Westwood+: grows like Reno; after a loss the window is the one that the measured bandwidth fills without a queue.
//!
//! Source: L. Grieco, S. Mascolo, Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion
//! control, ACM CCR 34(2), 2004: one bandwidth sample per round trip, averaged with weight 0.9 on the past.
//! Differs from the source: ssthresh never exceeds the window at the loss, so no slow start follows it; a sample spans at
//! least 50 ms, as in Linux.
//! Differs from Linux: the filter there is two filters of 7/8 in series. Differs from ns-3: it uses Tustin's filter, which
//! also averages neighbouring samples.

use crate::{AckSample, CongestionEvent, Law, Needs, WindowLaw};
use base::{Card, ParamError, Registered, Span, Time};

base::params! {
    /// Grieco & Mascolo 2004.
    pub struct Params {
        /// Weight of the past in the average of the bandwidth samples.
        filter: f64 = 0.9, "";
        /// Shortest span of a bandwidth sample.
        min_interval: Span = Span::millis(50), "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Westwood {
    filter: f64,
    min_interval: Span,
    /// BWE: averaged bandwidth, in segments per second; zero before the first sample.
    bandwidth: f64,
    /// Start of the present sample (`NEVER` before the first round), and the segments delivered by then.
    since: Time,
    delivered: u64,
}

impl Registered for Westwood {
    type Params = Params;
    const CARD: Card = Card {
        name: "westwood",
        aliases: &["westwood+", "westwoodplus", "TcpWestwoodPlus"],
        title: "TCP Westwood+",
        source: "Grieco and Mascolo 2004",
        differs: "ssthresh is never above the window at the loss; samples span 50 ms at least, as in Linux; the filter is \
                  the paper's 0.9 (Linux: 7/8 twice; ns-3: Tustin).",
    };
}

impl Law for Westwood {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.filter < 0.0 || p.filter >= 1.0 {
            return Err(ParamError::new("filter", "must be 0 or more and below 1"));
        }
        let (filter, min_interval) = (p.filter, p.min_interval.max(Span(1)));
        Ok(Self { filter, min_interval, bandwidth: 0.0, since: Time::NEVER, delivered: 0 })
    }
}

impl WindowLaw for Westwood {
    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        let span = ack.now.since(self.since);
        if self.since != Time::NEVER && span < self.min_interval {
            return;
        }
        if self.since != Time::NEVER {
            let sample = ack.delivered.saturating_sub(self.delivered) as f64 / span.as_secs();
            let past = if self.bandwidth == 0.0 { sample } else { self.bandwidth };
            self.bandwidth = self.filter * past + (1.0 - self.filter) * sample;
        }
        (self.since, self.delivered) = (ack.now, ack.delivered);
    }

    fn per_rtt(&self, _w: f64) -> Option<f64> {
        Some(1.0)
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        // Also after a timeout. Before the first bandwidth sample it is Reno.
        let full = self.bandwidth * event.min_rtt.as_secs();
        if full > 0.0 { full.min(cwnd) } else { cwnd * 0.5 }
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("bandwidth", self.bandwidth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LawSpec, Signal, StartSpec, rounds};

    /// Round starts every `rtt`, each with `segments` more delivered.
    fn feed(law: &mut Westwood, count: u64, rtt: Span, segments: u64) {
        for i in 0..=count {
            let now = Time(rtt.0 * i);
            law.on_sample(&AckSample { delivered: segments * i, round_start: true, ..AckSample::plain(now, rtt) });
        }
    }

    fn keeps(law: &Westwood, w: f64, min_rtt: Span, signal: Signal) -> f64 {
        law.clone().backoff(w, &CongestionEvent { min_rtt, ..CongestionEvent::plain(Time(0), signal, min_rtt) })
    }

    #[test]
    fn a_loss_sets_the_window_that_fills_the_path_without_a_queue() {
        let mut law = Westwood::new(&Params::default()).unwrap();
        // 1500 segments in flight at 150 ms, of which 500 wait: 10,000 segments per second, so 1000 fill the path without a
        // queue.
        feed(&mut law, 30, Span::millis(150), 1500);
        for signal in [Signal::Loss, Signal::Timeout] {
            let kept = keeps(&law, 1500.0, Span::millis(100), signal);
            // A constant rate is averaged with itself, so the only error is rounding.
            assert!((kept - 1000.0).abs() < 1e-6, "{kept}");
        }
        // A loss without a queue is not due to congestion: the window does not change.
        assert!((keeps(&law, 800.0, Span::millis(100), Signal::Loss) - 800.0).abs() < 1e-9);
    }

    #[test]
    fn forgets_a_tenth_of_the_past_with_every_sample() {
        let mut law = Westwood::new(&Params::default()).unwrap();
        feed(&mut law, 1, Span::millis(100), 100);
        assert_eq!(law.bandwidth, 1000.0);
        for i in 1..=10u64 {
            let now = Time(Span::millis(100).0 * (i + 1));
            law.on_sample(&AckSample { delivered: 100 + 200 * i, ..AckSample::plain(now, Span::millis(100)) });
        }
        // From 1000 towards 2000, the distance left is 1000 * 0.9^10 = 348.678.
        assert!((law.bandwidth - (2000.0 - 348.678_440_1)).abs() < 1e-6, "{}", law.bandwidth);
    }

    #[test]
    fn short_round_trips_share_a_bandwidth_sample_and_without_a_sample_a_loss_halves() {
        let mut law = Westwood::new(&Params::default()).unwrap();
        assert_eq!(keeps(&law, 100.0, Span::millis(20), Signal::Loss), 50.0);
        // With round trips of 20 ms the third one completes the first sample, of 60 ms.
        feed(&mut law, 2, Span::millis(20), 10);
        assert_eq!(law.bandwidth, 0.0);
        feed(&mut law, 3, Span::millis(20), 10);
        assert!((law.bandwidth - 500.0).abs() < 1e-9);
    }

    #[test]
    fn finds_the_path_by_its_second_loss() {
        let start = StartSpec::named("classic").unwrap();
        let mut control = LawSpec::named("westwood").unwrap().build(&start, 2.0, 1200.0).unwrap();
        let path = rounds::Path { base_rtt: Span::millis(100), bdp: 1000.0 };
        let list = rounds::rounds(&mut control, path, &[(80, Signal::Loss)], 82);
        // 70 samples of a full path after slow start: less than 0.9^70 = 0.06 % of the initial value is left.
        assert!((list[81].cwnd - 1000.0).abs() < 2.0, "{}", list[81].cwnd);
    }
}

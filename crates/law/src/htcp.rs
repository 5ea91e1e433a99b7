//! H-TCP: the window grows by alpha segments per round trip, where alpha increases with the time since the last congestion
//! event. A share beta, the ratio of the smallest to the largest round-trip time, is kept, so that the buffer just empties.
//!
//! Source: R. Shorten, D. Leith, H-TCP: TCP for high-speed and long-distance networks, 2004; draft-leith-tcp-htcp-06.
//! Differs from the source: alpha is set once per round trip, for its middle. Where the source is silent: the largest
//! round-trip time is taken from one sample per round since the last event and from the newest sample; the throughput is
//! that of the last complete round before the event; a timeout keeps one half. RTT scaling uses the smallest round-trip
//! time, as in Linux (`htcp_alpha_update`), so that a queue has no effect; the draft uses the smoothed one.
//! Differs from Linux: RTT scaling is on there (off here and in FreeBSD), the largest round-trip time decays by 5 % per
//! event, throughput is smoothed, time counts from the end of recovery.
//! Differs from ns-3: there the smallest round-trip time is forgotten at each event as well, and beta has no bounds.

use crate::kernel::Arithmetic;
use crate::{AckSample, CongestionEvent, Law, Needs, Signal, WindowLaw};
use base::{Card, ParamError, Registered, Span, Time};

/// Bounds of the factor by which RTT scaling multiplies alpha (the same in Linux and FreeBSD).
const SCALE: (f64, f64) = (0.1, 2.0);

base::params! {
    /// Shorten and Leith 2004.
    pub struct Params {
        /// Time after a congestion event in which it grows like an AIMD flow.
        low_speed: Span = Span::secs(1), "";
        /// Smallest share of the window kept on congestion.
        beta_min: f64 = 0.5, "";
        /// Largest share of the window kept on congestion.
        beta_max: f64 = 0.8, "", needs [Is("adaptive_backoff", "true")];
        /// Whether the share kept follows the round-trip times; if not it is the smallest.
        adaptive_backoff: bool = true, "";
        /// Relative change of throughput from event to event beyond which the smallest share is kept.
        throughput_change: f64 = 0.2, "", needs [Is("adaptive_backoff", "true")];
        /// Whether alpha is multiplied by the smallest round-trip time over `reference_rtt`, as in Linux.
        rtt_scaling: bool = false, "";
        /// Round-trip time at which scaling changes nothing.
        reference_rtt: Span = Span::millis(100), "", needs [Is("rtt_scaling", "true")];
        /// Numbers it is computed in: floating ones ("exact") or the Linux kernel's whole ones ("kernel").
        arithmetic: Arithmetic = Arithmetic::Exact, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Htcp {
    /// Parameters; boxed, so that flows with other laws do not need memory for them.
    p: Box<Params>,
    alpha: f64,
    beta: f64,
    /// Time of the last congestion event, or of the first sample; `NEVER` before that.
    since: Time,
    /// Largest round-trip time since then.
    max_rtt: Span,
    /// Start of this round trip, and the segments delivered by then.
    round: (Time, u64),
    /// Segments per second in the last complete round trip, and before the last event.
    throughput: f64,
    throughput_before: f64,
}

impl Registered for Htcp {
    type Params = Params;
    const CARD: Card = Card {
        name: "htcp",
        aliases: &["h-tcp", "TcpHtcp"],
        title: "H-TCP",
        source: "Shorten and Leith 2004; draft-leith-tcp-htcp-06",
        differs: "alpha is set once per round trip; the largest round-trip time is that since the last congestion \
                  event. Linux scales alpha with the smallest round-trip time by default; ns-3 keeps beta without bounds.",
    };
}

impl Law for Htcp {
    const RESPONSE: Option<&'static str> = Some("ShortenLeith2004");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.beta_min <= 0.0 || p.beta_min >= 1.0 {
            return Err(ParamError::new("beta_min", "must lie strictly between 0 and 1"));
        }
        if p.beta_max < p.beta_min || p.beta_max >= 1.0 {
            return Err(ParamError::new("beta_max", "must be at least beta_min and below 1"));
        }
        if p.throughput_change < 0.0 {
            return Err(ParamError::new("throughput_change", "must be at least 0"));
        }
        if p.reference_rtt == Span::ZERO {
            return Err(ParamError::new("reference_rtt", "must be above 0"));
        }
        Ok(Self {
            p: Box::new(p.clone()),
            alpha: 1.0,
            beta: p.beta_min,
            since: Time::NEVER,
            max_rtt: Span::ZERO,
            round: (Time::ZERO, 0),
            throughput: 0.0,
            throughput_before: 0.0,
        })
    }
}

impl WindowLaw for Htcp {
    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        let (began, delivered) = std::mem::replace(&mut self.round, (ack.now, ack.delivered));
        if self.since == Time::NEVER {
            self.since = ack.now;
        } else if ack.now > began {
            self.throughput = ack.delivered.saturating_sub(delivered) as f64 / (ack.now - began).as_secs();
        }
        self.max_rtt = self.max_rtt.max(ack.rtt.unwrap_or_default());
        self.alpha = self.alpha_after((ack.now + Span(ack.srtt.0 / 2)).since(self.since), ack.min_rtt);
    }

    fn per_rtt(&self, _w: f64) -> Option<f64> {
        Some(self.alpha)
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        let change = (self.throughput - self.throughput_before).abs();
        let steady = change <= self.p.throughput_change * self.throughput_before && self.throughput_before > 0.0;
        let max_rtt = self.max_rtt.max(event.rtt);
        self.beta = if steady && self.p.adaptive_backoff && event.signal != Signal::Timeout && max_rtt > Span::ZERO {
            (event.min_rtt.0 as f64 / max_rtt.0 as f64).clamp(self.p.beta_min, self.p.beta_max)
        } else {
            self.p.beta_min
        };
        self.throughput_before = self.throughput;
        self.since = event.now;
        self.max_rtt = Span::ZERO;
        self.round = (event.now, event.delivered);
        self.alpha = self.alpha_after(Span::ZERO, event.min_rtt);
        cwnd * if event.signal == Signal::Timeout { 0.5 } else { self.beta }
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha);
        put("beta", self.beta);
    }
}

impl Htcp {
    /// Segments per round trip a time `delta` after the last congestion event.
    fn alpha_after(&self, delta: Span, min_rtt: Span) -> f64 {
        let x = Span(delta.0.saturating_sub(self.p.low_speed.0)).as_secs();
        let scale = if self.p.rtt_scaling && min_rtt > Span::ZERO {
            (min_rtt.0 as f64 / self.p.reference_rtt.0 as f64).clamp(SCALE.0, SCALE.1)
        } else {
            1.0
        };
        2.0 * (1.0 - self.beta) * (1.0 + 10.0 * x + 0.25 * x * x) * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::millis(100);

    fn law(p: &Params) -> Htcp {
        Htcp::new(p).unwrap()
    }

    fn round(s: f64, delivered: u64, rtt: Span) -> AckSample {
        AckSample { delivered, round_start: true, ..AckSample::plain(Time::ZERO + Span::from_secs(s), rtt) }
    }

    fn event(s: f64, signal: Signal, delivered: u64, rtt: Span) -> CongestionEvent {
        let now = Time::ZERO + Span::from_secs(s);
        CongestionEvent { delivered, min_rtt: RTT, ..CongestionEvent::plain(now, signal, rtt) }
    }

    #[test]
    fn alpha_is_the_papers_function_of_the_time_since_the_event() {
        let law = law(&Params::default());
        // 1 + 10 (delta - 1) + ((delta - 1) / 2)², times 2 (1 - beta), which is 1 for beta = 1/2.
        for (s, alpha) in [(0.0, 1.0), (1.0, 1.0), (2.0, 11.25), (3.0, 22.0), (11.0, 126.0)] {
            assert_eq!(law.alpha_after(Span::from_secs(s), RTT), alpha, "after {s} s");
        }
    }

    #[test]
    fn alpha_holds_for_the_middle_of_the_round_trip() {
        let mut law = law(&Params::default());
        law.on_sample(&round(10.0, 1, RTT));
        law.on_sample(&round(11.95, 1000, RTT));
        // 1.95 s after the first sample, plus 50 ms to the middle of the round trip, are 2 s.
        assert_eq!(law.per_rtt(500.0), Some(11.25));
    }

    /// The window kept at the second of two equal cycles in which the queue raises the round-trip time to `full`.
    fn kept(full: Span, second_rate: u64) -> f64 {
        let mut law = law(&Params::default());
        law.on_sample(&round(0.0, 0, RTT));
        law.on_sample(&round(1.0, 10_000, full));
        // Without an earlier event to compare with, one half is kept.
        assert_eq!(law.backoff(1000.0, &event(1.0, Signal::Loss, 10_000, full)), 500.0);
        law.on_sample(&round(2.0, 10_000 + second_rate, full));
        law.backoff(1000.0, &event(2.0, Signal::Loss, 20_000, full)) / 1000.0
    }

    #[test]
    fn keeps_the_ratio_of_round_trip_times_between_half_and_four_fifths() {
        assert_eq!(kept(Span::millis(160), 10_000), 100.0 / 160.0);
        assert_eq!(kept(Span::millis(300), 10_000), 0.5);
        assert_eq!(kept(Span::millis(110), 10_000), 0.8);
    }

    #[test]
    fn keeps_one_half_when_throughput_changed_by_more_than_a_fifth() {
        assert_eq!(kept(Span::millis(110), 12_001), 0.5);
        assert_eq!(kept(Span::millis(110), 7_999), 0.5);
        assert_eq!(kept(Span::millis(110), 11_999), 0.8);
    }

    #[test]
    fn the_share_kept_scales_the_growth() {
        let mut law = law(&Params::default());
        law.beta = 0.8;
        // 2 (1 - 0.8) = 0.4, up to the rounding of 1 - 0.8.
        assert!((law.alpha_after(Span::secs(2), RTT) - 4.5).abs() < 1e-14);
    }

    #[test]
    fn scaling_with_the_round_trip_time_has_bounds() {
        let law = law(&Params { rtt_scaling: true, ..Params::default() });
        for (ms, alpha) in [(1, 0.1), (50, 0.5), (100, 1.0), (150, 1.5), (1000, 2.0)] {
            assert_eq!(law.alpha_after(Span::ZERO, Span::millis(ms)), alpha, "{ms} ms");
        }
    }

    #[test]
    fn a_queue_does_not_raise_the_factor_of_rtt_scaling() {
        // 50 segments after a cut, 100 ms without a queue and 200 ms with it. tcp_htcp.c: scale = 8 HZ / (10 minRTT) = 8 in
        // units of 1/8, factor 1, alpha = 2 (1 - 1/2). So the round of 50 ACKs gives 50 steps of 1/w, 50.99 segments in the
        // end.
        let mut law = law(&Params { rtt_scaling: true, ..Params::default() });
        let sample = AckSample { min_rtt: RTT, ..round(0.0, 0, Span::millis(200)) };
        law.on_sample(&sample);
        law.backoff(100.0, &event(0.1, Signal::Loss, 100, Span::millis(200)));
        law.on_sample(&AckSample { now: Time::ZERO + Span::millis(300), delivered: 150, ..sample });
        let w = (0..50).fold(50.0, |w, _| w + law.per_rtt(w).unwrap() / w);
        assert!((w - 50.99).abs() < 0.005, "{w}");
    }

    #[test]
    fn a_timeout_keeps_one_half_and_restarts_the_time_since_the_last_loss() {
        let mut law = law(&Params::default());
        law.on_sample(&round(0.0, 0, RTT));
        law.on_sample(&round(5.0, 10_000, RTT));
        assert_eq!(law.backoff(100.0, &event(5.0, Signal::Timeout, 10_000, RTT)), 50.0);
        assert_eq!(law.per_rtt(50.0), Some(1.0));
    }
}

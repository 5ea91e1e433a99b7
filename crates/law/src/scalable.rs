//! Scalable TCP: a constant gain per acknowledged segment, so that recovery takes the same number of round trips at any
//! window. Up to `legacy_window` it is Reno.
//!
//! Source: T. Kelly, Scalable TCP, ACM CCR 33(2), 2003, Section 3.
//! Differs from the source: real-valued windows, so the cut of 0.125 cwnd is not rounded up to a whole segment. Differs
//! from Linux: Reno's growth applies up to 100 segments there (`TCP_SCALABLE_AI_CNT`; up to 50 ACKs before 5.7),
//! without Reno's halving, and a timeout keeps 7/8: see [`crate::whole`] and `variant`.
//! Differs from ns-3: there the gain is 1/50 per ACK, Reno's growth applies up to 50 segments, and the cut is from the data
//! in flight.

use crate::kernel::Arithmetic;
use crate::whole::Variant;
use crate::{AckSample, CongestionEvent, Law, Signal, WindowLaw};
use base::{Card, ParamError, Registered};

base::params! {
    /// Kelly 2003.
    pub struct Params {
        /// Growth of the window per acknowledged segment.
        increase: f64 = 0.01, "segments";
        /// Share of the window given up on loss.
        decrease: f64 = 0.125, "";
        /// Window up to which it is Reno.
        legacy_window: f64 = 16.0, "segments";
        /// Numbers it is computed in: floating ones ("exact") or the Linux kernel's whole ones ("kernel").
        arithmetic: Arithmetic = Arithmetic::Exact, "";
        /// Rules: Kelly's in real numbers ("exact"), or Linux's in whole segments ("linux"), which has no `legacy_window`.
        variant: Variant = Variant::Exact, "";
        /// Whether an ACK counts as one segment, whatever it acknowledges: so in Linux before 5.7, with an increase of 0.02.
        per_ack: bool = false, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Scalable {
    increase: f64,
    decrease: f64,
    legacy_window: f64,
    per_ack: bool,
}

impl Registered for Scalable {
    type Params = Params;
    const CARD: Card = Card {
        name: "scalable",
        aliases: &["TcpScalable", "stcp"],
        title: "Scalable TCP",
        source: "Kelly 2003",
        differs: "Linux (tcp_scalable.c) grows as Reno up to 100 segments, gains 1/100 per segment above, and always \
                  keeps 7/8, after a timeout too: variant = \"linux\". ns-3 gains 1/50 per ACK and cuts from the data in flight.",
    };
}

impl Law for Scalable {
    const REMEMBERS: bool = false;
    const RESPONSE: Option<&'static str> = Some("Kelly2003");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.increase <= 0.0 || p.increase > 1.0 {
            return Err(ParamError::new("increase", "must lie above 0 and not above 1"));
        }
        if p.decrease <= 0.0 || p.decrease >= 1.0 {
            return Err(ParamError::new("decrease", "must lie strictly between 0 and 1"));
        }
        if p.legacy_window < 0.0 {
            return Err(ParamError::new("legacy_window", "must be at least 0"));
        }
        if p.variant == Variant::Linux && p.arithmetic != Arithmetic::Exact {
            return Err(ParamError::new("arithmetic", "must be \"exact\" with variant = \"linux\""));
        }
        if p.variant == Variant::Linux && p.legacy_window != Params::default().legacy_window {
            return Err(ParamError::new("legacy_window", "must be left out with variant = \"linux\", which has none"));
        }
        Ok(Self { increase: p.increase, decrease: p.decrease, legacy_window: p.legacy_window, per_ack: p.per_ack })
    }
}

impl Scalable {
    /// Segments gained for a window of acknowledged segments.
    fn growth(&self, w: f64) -> f64 {
        if w <= self.legacy_window { 1.0 } else { self.increase * w }
    }
}

impl WindowLaw for Scalable {
    fn per_rtt(&self, w: f64) -> Option<f64> {
        (!self.per_ack).then(|| self.growth(w))
    }

    fn avoid(&mut self, cwnd: f64, _ack: &AckSample) -> f64 {
        cwnd + self.growth(cwnd) / cwnd
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        let halved = cwnd <= self.legacy_window || event.signal == Signal::Timeout;
        cwnd * (1.0 - if halved { 0.5 } else { self.decrease })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Span, Time};

    fn law() -> Scalable {
        Scalable::new(&Params::default()).unwrap()
    }

    #[test]
    fn with_per_ack_an_ack_for_two_segments_counts_as_one() {
        let mut law = Scalable::new(&Params { increase: 0.02, per_ack: true, ..Params::default() }).unwrap();
        let ack = AckSample { acked: 2.0, ..AckSample::plain(Time::ZERO, Span::millis(100)) };
        assert_eq!((law.per_rtt(100.0), law.avoid(100.0, &ack), law.avoid(10.0, &ack)), (None, 100.02, 10.1));
    }

    fn loss() -> CongestionEvent {
        CongestionEvent::plain(Time::ZERO, Signal::Loss, Span::millis(100))
    }

    #[test]
    fn recovers_in_the_same_number_of_round_trips_at_any_window() {
        let mut law = law();
        for w in [100.0, 1_000.0, 100_000.0] {
            let (mut x, mut rounds) = (law.backoff(w, &loss()), 0);
            while x < w {
                x += law.per_rtt(x).unwrap();
                rounds += 1;
            }
            // log(1 - 0.125) / log(1.01) = -13.42, so the fourteenth round passes the old window.
            assert_eq!(rounds, 14, "at {w}");
        }
        let exact = libm::log(1.0 - 0.125) / libm::log(1.01);
        assert!((exact + 13.42).abs() < 0.005, "Kelly prints 13.42, this is {exact}");
    }

    #[test]
    fn the_peak_is_eight_hundredths_of_the_loss_interval() {
        // The sawtooth in closed form: 1/p segments gain 0.01/p, which is 0.125 of the peak if the peak is 0.08/p.
        let mut law = law();
        for p in [1e-3, 1e-5, 1e-7] {
            let peak = 0.08 / p;
            let gained = law.per_rtt(peak).unwrap() / peak / p;
            // The tolerance covers rounding of two products of three factors.
            assert!((peak - law.backoff(peak, &loss()) - gained).abs() < 1e-9 * peak, "at {p}");
        }
    }

    #[test]
    fn is_reno_up_to_the_legacy_window_and_after_a_timeout() {
        let mut law = law();
        assert_eq!(law.per_rtt(16.0), Some(1.0));
        assert_eq!(law.backoff(16.0, &loss()), 8.0);
        assert_eq!(law.per_rtt(100.0), Some(1.0));
        assert_eq!(law.backoff(100.0, &loss()), 87.5);
        assert_eq!(law.backoff(100.0, &CongestionEvent { signal: Signal::Timeout, ..loss() }), 50.0);
    }
}

//! TCP Hybla: a flow with round-trip time RTT gains rho² segments per round trip, where rho = RTT/`reference_rtt`, but not
//! below 1. So its rate grows like that of a flow at `reference_rtt`. Halving as in Reno. Its own slow start is
//! [`crate::start::hybla`].
//!
//! Source: C. Caini, R. Firrincieli, TCP Hybla: a TCP enhancement for heterogeneous networks, Int. J. Satellite
//! Communications and Networking 22(5), 2004. RTT is the smallest one seen here, as in ns-3 and (smoothed) in Linux, so
//! that a queue does not make the flow more aggressive.
//! Differs from the source: the initial window and threshold are the flow's, not multiplied by rho; no pacing.
//! Differs from the paper and Linux: growth counts acknowledged segments, so that delayed ACKs do not halve it; `per_ack`
//! gives their behaviour.
//! Differs from Linux: rho has no fixed-point steps of an eighth. Differs from ns-3: the reference there is 50 ms.

use crate::{AckSample, CongestionEvent, Law, Needs, WindowLaw};
use base::{Card, ParamError, Registered, Span};

base::params! {
    /// Caini and Firrincieli 2004.
    pub struct Params {
        /// Round-trip time of the flow it wants to equal.
        reference_rtt: Span = Span::millis(25), "";
        /// Share of the window given up on loss.
        decrease: f64 = 0.5, "";
        /// Grow by rho² over the window with each ACK, as the paper and Linux do, not with each acknowledged segment.
        per_ack: bool = false, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Hybla {
    reference_rtt: Span,
    decrease: f64,
    per_ack: bool,
    rho: f64,
}

impl Registered for Hybla {
    type Params = Params;
    const CARD: Card = Card {
        name: "hybla",
        aliases: &["TcpHybla"],
        title: "TCP Hybla",
        source: "Caini and Firrincieli 2004",
        differs: "Congestion avoidance only; its slow start is `hybla-start`. rho follows the smallest \
                  round-trip time; initial window and pacing are not scaled. Growth counts acknowledged segments; the paper \
                  and Linux (tcp_hybla.c) grow with each ACK, half as fast with delayed ACKs: per_ack = true. ns-3 takes 50 ms as reference.",
    };
}

impl Law for Hybla {
    const REMEMBERS: bool = false;
    const RESPONSE: Option<&'static str> = Some("CainiFirrincieli2004");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.reference_rtt == Span::ZERO {
            return Err(ParamError::new("reference_rtt", "must be above 0"));
        }
        if p.decrease <= 0.0 || p.decrease >= 1.0 {
            return Err(ParamError::new("decrease", "must lie strictly between 0 and 1"));
        }
        Ok(Self { reference_rtt: p.reference_rtt, decrease: p.decrease, per_ack: p.per_ack, rho: 1.0 })
    }
}

/// Ratio of the round-trip time to the reference, at least 1; 1 before the first sample.
pub(crate) fn rho(rtt: Span, reference: Span) -> f64 {
    (rtt.0 as f64 / reference.0 as f64).max(1.0)
}

impl WindowLaw for Hybla {
    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        self.rho = rho(ack.min_rtt, self.reference_rtt);
    }

    fn per_rtt(&self, _w: f64) -> Option<f64> {
        (!self.per_ack).then_some(self.rho * self.rho)
    }

    fn avoid(&mut self, cwnd: f64, _ack: &AckSample) -> f64 {
        cwnd + self.rho * self.rho / cwnd
    }

    fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 {
        cwnd * (1.0 - self.decrease)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;

    fn law(ms: u64) -> Hybla {
        let mut law = Hybla::new(&Params::default()).unwrap();
        law.on_sample(&AckSample::plain(Time::ZERO, Span::millis(ms)));
        law
    }

    #[test]
    fn gains_rho_squared_per_round_trip() {
        // 25 ms is the paper's reference, 600 ms its satellite: rho = 24.
        for (ms, gain) in [(10, 1.0), (25, 1.0), (50, 4.0), (100, 16.0), (600, 576.0)] {
            assert_eq!(law(ms).per_rtt(1000.0), Some(gain), "{ms} ms");
        }
    }

    #[test]
    fn the_rate_grows_as_that_of_the_reference_flow() {
        // One segment per 25 ms and per round trip of 25 ms: 1600 segments per second each second.
        for ms in [25, 100, 500] {
            let rtt = ms as f64 / 1e3;
            assert!((law(ms).per_rtt(1000.0).unwrap() / (rtt * rtt) - 1600.0).abs() < 1e-9, "{ms} ms");
        }
    }

    #[test]
    fn with_per_ack_an_ack_for_two_segments_counts_as_one() {
        let mut law = Hybla::new(&Params { per_ack: true, ..Params::default() }).unwrap();
        let ack = AckSample { acked: 2.0, ..AckSample::plain(Time::ZERO, Span::millis(100)) };
        law.on_sample(&ack);
        // tcp_hybla.c, hybla_cong_avoid: rho = 4, increment (16 << 7) / 100 = 20 of 128 with each ACK: 0.16 of a segment.
        assert_eq!((law.per_rtt(100.0), law.avoid(100.0, &ack)), (None, 100.16));
    }

    #[test]
    fn a_queue_does_not_raise_rho() {
        let mut law = law(100);
        law.on_sample(&AckSample { min_rtt: Span::millis(100), ..AckSample::plain(Time::ZERO, Span::millis(300)) });
        assert_eq!(law.per_rtt(1000.0), Some(16.0));
    }
}

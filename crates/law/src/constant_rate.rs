//! Constant-Rate: c RTT² segments per round trip, so that the sending rate of every flow grows by c segments per second
//! each second, whatever its round-trip time. Halving as in Reno.
//!
//! Source: S. Floyd, Connections with Multiple Congested Gateways in Packet-Switched Networks, Part 1, ACM CCR 21(5),
//! 1991; T. Henderson et al., On Improving the Fairness of TCP Congestion Avoidance, GLOBECOM 1998.
//! Differs from the source: the growth is limited to one segment per acknowledged segment, that of slow start, as in ns-2.
//! Differs from ns-2 (`windowOption_` 2): there the default constant is 4, which is Reno at 500 ms, and the round-trip
//! time is counted in clock ticks.

use crate::{AckSample, CongestionEvent, Law, Needs, WindowLaw};
use base::{Card, ParamError, Registered};

base::params! {
    /// Henderson et al. 1998.
    pub struct Params {
        /// Growth of the sending rate per second; 100 makes it Reno at a round-trip time of 100 ms.
        increase: f64 = 100.0, "segments/s^2";
        /// Share of the window given up on loss.
        decrease: f64 = 0.5, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct ConstantRate {
    increase: f64,
    decrease: f64,
    /// Segments per round trip, from the last smoothed round-trip time; before the first sample one, as in Reno.
    a: f64,
}

impl Registered for ConstantRate {
    type Params = Params;
    const CARD: Card = Card {
        name: "constant-rate",
        aliases: &["constant-increase-rate"],
        title: "Constant-Rate increase",
        source: "Floyd 1991; Henderson et al. 1998",
        differs: "Grows by at most one segment per acknowledged segment, as in ns-2 (windowOption_ 2), whose constant \
                  is 4 by default.",
    };
}

impl Law for ConstantRate {
    const REMEMBERS: bool = false;
    const RESPONSE: Option<&'static str> = Some("Henderson1998");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.increase <= 0.0 {
            return Err(ParamError::new("increase", "must be above 0"));
        }
        if p.decrease <= 0.0 || p.decrease >= 1.0 {
            return Err(ParamError::new("decrease", "must lie strictly between 0 and 1"));
        }
        Ok(Self { increase: p.increase, decrease: p.decrease, a: 1.0 })
    }
}

impl WindowLaw for ConstantRate {
    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        let rtt = ack.srtt.as_secs();
        self.a = self.increase * rtt * rtt;
    }

    fn per_rtt(&self, w: f64) -> Option<f64> {
        Some(self.a.min(w))
    }

    fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 {
        cwnd * (1.0 - self.decrease)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("increase", self.a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Span, Time};

    fn gain(ms: u64, w: f64) -> f64 {
        let mut law = ConstantRate::new(&Params::default()).unwrap();
        law.on_sample(&AckSample::plain(Time::ZERO, Span::millis(ms)));
        law.per_rtt(w).unwrap()
    }

    #[test]
    fn is_reno_at_a_tenth_of_a_second() {
        // The product 100 * 0.1 * 0.1 is one up to rounding in the last bits.
        assert!((gain(100, 1000.0) - 1.0).abs() < 1e-15);
        assert!((gain(200, 1000.0) - 4.0).abs() < 1e-14);
    }

    #[test]
    fn the_rate_grows_equally_at_every_round_trip_time() {
        for ms in [10, 50, 100, 400, 1000] {
            let rtt = ms as f64 / 1e3;
            // a segments per round trip are a/RTT² segments per second each second.
            assert!((gain(ms, 1e4) / (rtt * rtt) - 100.0).abs() < 1e-10, "{ms} ms");
        }
    }

    #[test]
    fn never_opens_faster_than_slow_start() {
        assert_eq!(gain(1000, 20.0), 20.0);
    }
}

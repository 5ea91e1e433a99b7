//! Hybla's slow start: 2^rho - 1 segments per acknowledged segment, where rho = RTT/`reference_rtt`, so that a flow
//! increases its rate as fast as one at `reference_rtt`; up to rho times `ssthresh` segments.
//!
//! Source: C. Caini, R. Firrincieli, TCP Hybla, 2004; the scaled threshold is the paper's rho gamma, with our own value of
//! gamma. RTT is the smallest one seen.
//! Differs from Linux and ns-3: there the threshold is not scaled; ns-3's reference is 50 ms.

use super::Start;
use crate::{AckSample, Opening, SlowStart};
use base::{Card, Need, ParamError, Registered, Span};

base::params! {
    /// Caini and Firrincieli 2004.
    pub struct Params {
        /// Round-trip time of the flow it wants to equal.
        reference_rtt: Span = Span::millis(25), "";
        /// Window at which the first slow start of a flow at `reference_rtt` ends; others multiply it by rho.
        ssthresh: f64 = 64.0, "segments";
        /// Grow with each ACK, as the paper and Linux do, not with each acknowledged segment.
        per_ack: bool = false, "";
    }
}

/// See the [module](self). Boxed, so that flows with another slow start do not need memory for it.
#[derive(Clone, Debug)]
pub struct Hybla(Box<Growth>);

#[derive(Clone, Debug)]
struct Growth {
    reference_rtt: Span,
    ssthresh: f64,
    per_ack: bool,
    /// The round-trip time for which `gain` and `limit` hold.
    rtt: Span,
    gain: f64,
    limit: f64,
    /// Whether there was no loss yet: then the threshold is the scaled one.
    first: bool,
}

impl Registered for Hybla {
    type Params = Params;
    const CARD: Card = Card {
        name: "hybla-start",
        aliases: &[],
        title: "Hybla's slow start",
        source: "Caini and Firrincieli 2004",
        differs: "Ends at rho times ssthresh as in the paper, which Linux and ns-3 leave out; no pacing. Growth counts \
                  acknowledged segments; the paper and Linux grow with each ACK: per_ack = true.",
    };
    const NEEDS: &'static [Need] = &[Need::SlowStart];
}

impl Start for Hybla {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.reference_rtt == Span::ZERO {
            return Err(ParamError::new("reference_rtt", "must be above 0"));
        }
        if p.ssthresh < 2.0 {
            return Err(ParamError::new("ssthresh", "must be at least 2"));
        }
        let (rtt, gain, limit) = (Span::ZERO, 1.0, p.ssthresh);
        let Params { reference_rtt, ssthresh, per_ack } = *p;
        let growth = Growth { reference_rtt, ssthresh, per_ack, rtt, gain, limit, first: true };
        Ok(Self(Box::new(growth)))
    }
}

impl SlowStart for Hybla {
    fn open(&mut self, cwnd: f64, ack: &AckSample) -> Opening {
        let growth = &mut *self.0;
        if ack.min_rtt != growth.rtt {
            growth.rtt = ack.min_rtt;
            let rho = crate::hybla::rho(growth.rtt, growth.reference_rtt);
            growth.gain = libm::exp2(rho) - 1.0;
            growth.limit = rho * growth.ssthresh;
        }
        let counted = if growth.per_ack { 1.0 } else { ack.acked.min(ack.abc_limit) };
        let opened = cwnd + growth.gain * counted;
        if growth.first && opened >= growth.limit {
            Opening::Exit(growth.limit.max(cwnd))
        } else {
            Opening::Grow(opened)
        }
    }

    fn restart(&mut self) {
        self.0.first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;

    fn opened(ms: u64, cwnd: f64) -> Opening {
        let mut start = Hybla::new(&Params::default()).unwrap();
        start.open(cwnd, &AckSample::plain(Time::ZERO, Span::millis(ms)))
    }

    #[test]
    fn grows_by_two_to_the_power_of_rho_minus_one_per_segment() {
        assert_eq!(opened(25, 10.0), Opening::Grow(11.0));
        assert_eq!(opened(50, 10.0), Opening::Grow(13.0));
        assert_eq!(opened(100, 10.0), Opening::Grow(25.0));
    }

    #[test]
    fn with_per_ack_an_ack_for_two_segments_counts_as_one() {
        let ack = AckSample { acked: 2.0, ..AckSample::plain(Time::ZERO, Span::millis(50)) };
        for (per_ack, opened) in [(false, 16.0), (true, 13.0)] {
            let mut start = Hybla::new(&Params { per_ack, ..Params::default() }).unwrap();
            assert_eq!(start.open(10.0, &ack), Opening::Grow(opened));
        }
    }

    #[test]
    fn a_tenfold_round_trip_time_reaches_ten_times_the_threshold() {
        assert_eq!(opened(25, 63.5), Opening::Exit(64.0));
        // A growth of 2^10 - 1 segments reaches the limit with the first ACK.
        assert_eq!(opened(250, 2.0), Opening::Exit(640.0));
        // A round trip of a minute gives 2^2400, more than a float holds: the limit applies.
        assert_eq!(opened(60_000, 2.0), Opening::Exit(2400.0 * 64.0));
    }

    #[test]
    fn after_a_loss_the_threshold_is_that_of_the_loss() {
        let mut start = Hybla::new(&Params::default()).unwrap();
        start.restart();
        assert_eq!(start.open(1000.0, &AckSample::plain(Time::ZERO, Span::millis(100))), Opening::Grow(1015.0));
    }
}

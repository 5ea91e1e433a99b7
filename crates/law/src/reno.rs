//! Reno: a gain of `increase` segments per round trip, a cut by the share `decrease` on loss. The standard's AIMD(1, 1/2).
//!
//! Source: RFC 5681, Section 3.1, equations 3 and 4.
//! Differs from the source: the cut is taken from cwnd, not from the data in flight (as ns-2 and Linux do); the results are
//! equal for a sender that is limited by its window.

use crate::whole::Variant;
use crate::{CongestionEvent, Law, WindowLaw};
use base::{Card, ParamError, Registered};

base::params! {
    /// AIMD, in segments and shares of the window.
    pub struct Params {
        /// Growth of the window per round trip.
        increase: f64 = 1.0, "segments";
        /// Share of the window given up on loss.
        decrease: f64 = 0.5, "";
        /// Numbers it is computed in: real ones ("exact"), or whole segments as in Linux ("linux").
        variant: Variant = Variant::Exact, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Reno {
    increase: f64,
    decrease: f64,
}

impl Registered for Reno {
    type Params = Params;
    const CARD: Card = Card {
        name: "reno",
        aliases: &["TcpLinuxReno", "standard", "aimd"],
        title: "Reno (standard TCP)",
        source: "RFC 5681",
        differs: "The cut is taken from cwnd, as in ns-2 and Linux, not from the data in flight. In ns-3.37 the ACK that ends a \
                  recovery also grows the window, by 2.2 segments on average; RFC 6582 and RFC 5681 have no such growth.",
    };
}

impl Law for Reno {
    const REMEMBERS: bool = false;
    const RESPONSE: Option<&'static str> = Some("Mathis1997");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.increase <= 0.0 {
            return Err(ParamError::new("increase", "must be above 0"));
        }
        if p.variant == Variant::Linux && (p.increase - 1.0).abs() > 1e-12 {
            return Err(ParamError::new("increase", "must be 1 with variant = \"linux\""));
        }
        if p.decrease <= 0.0 || p.decrease >= 1.0 {
            return Err(ParamError::new("decrease", "must lie strictly between 0 and 1"));
        }
        Ok(Self { increase: p.increase, decrease: p.decrease })
    }
}

impl WindowLaw for Reno {
    fn per_rtt(&self, _w: f64) -> Option<f64> {
        Some(self.increase)
    }

    fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 {
        cwnd * (1.0 - self.decrease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_decrease_of_everything() {
        let error = Reno::new(&Params { decrease: 1.0, ..Params::default() }).unwrap_err();
        assert_eq!(error.to_string(), "decrease: must lie strictly between 0 and 1");
    }
}

//! Classic slow start: one segment per acknowledged segment, so the window doubles every round trip.
//!
//! Source: RFC 5681, Section 3.1, equation 2.

use super::Start;
use crate::SlowStart;
use base::{Card, Need, ParamError, Registered};

base::params! {
    /// None.
    pub struct Params {}
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Classic;

impl Registered for Classic {
    type Params = Params;
    const CARD: Card =
        Card { name: "classic", aliases: &[], title: "Classic slow start", source: "RFC 5681", differs: "" };
    const NEEDS: &'static [Need] = &[Need::SlowStart];
}

impl Start for Classic {
    fn new(_params: &Params) -> Result<Self, ParamError> {
        Ok(Self)
    }
}

impl SlowStart for Classic {
    fn gain(&self, _w: f64) -> Option<f64> {
        Some(1.0)
    }

    fn doubles_to(&self) -> f64 {
        f64::INFINITY
    }
}

//! Limited slow start: above `max_ssthresh` the window gains at most `max_ssthresh`/2 segments per round trip.
//!
//! Source: RFC 3742, Section 2.

use super::Start;
use crate::SlowStart;
use base::{Card, Need, ParamError, Registered};

base::params! {
    /// RFC 3742.
    pub struct Params {
        /// Window up to which slow start is the classic one.
        max_ssthresh: f64 = 100.0, "segments";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Limited {
    max_ssthresh: f64,
}

impl Registered for Limited {
    type Params = Params;
    const CARD: Card =
        Card { name: "limited", aliases: &["rfc3742"], title: "Limited slow start", source: "RFC 3742", differs: "" };
    const NEEDS: &'static [Need] = &[Need::SlowStart];
}

impl Start for Limited {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.max_ssthresh < 2.0 {
            return Err(ParamError::new("max_ssthresh", "must be at least 2"));
        }
        Ok(Self { max_ssthresh: p.max_ssthresh })
    }
}

impl SlowStart for Limited {
    fn gain(&self, w: f64) -> Option<f64> {
        if w <= self.max_ssthresh {
            return Some(1.0);
        }
        // K = int(cwnd / (0.5 max_ssthresh)), cwnd += int(MSS / K).
        Some(1.0 / (w / (0.5 * self.max_ssthresh)).floor())
    }

    fn doubles_to(&self) -> f64 {
        self.max_ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_half_of_max_ssthresh_per_round_trip() {
        let start = Limited::new(&Params::default()).unwrap();
        let gain = |w| start.gain(w).unwrap();
        assert_eq!(gain(100.0), 1.0);
        assert_eq!(gain(149.0), 0.5);
        assert_eq!(gain(150.0), 1.0 / 3.0);
        // RFC 3742: the growth per round trip lies between max_ssthresh/2 and max_ssthresh because K is truncated; it tends
        // to the former.
        for w in [100.5, 1000.0, 12_345.0, 83_000.0] {
            assert!((50.0..=75.1).contains(&(gain(w) * w)), "{w}: {}", gain(w) * w);
        }
    }
}

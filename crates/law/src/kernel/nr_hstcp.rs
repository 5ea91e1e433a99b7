//! NR-HSTCP, bit for bit that of `crates/bpf/kernel/nr_hstcp.h`.
//!
//! Source: Phillips and Hu 2006. Differs from [`crate::nr_hstcp`]: straight lines between knots of a(w) and b(w); the
//! smoothed round-trip time of each ACK, not one a round trip.

use super::arithmetic::{Curve, ONE, SEGMENT, grow, keep, middle};
use super::{Signal, Twin, micros, of_one};
use crate::{Law, nr_hstcp};
use base::ParamError;

/// Round-trip times above these many reference ones, and segments above these many bytes, count as such.
const MAX_RATIO: u64 = 32;
const MAX_BYTES: u64 = 65_536;

/// As they lie in the BPF object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    /// us.
    pub reference_rtt: u32,
    /// Bytes.
    pub reference_segment: u32,
    /// Of 2^20.
    pub min_decrease: u64,
    /// Of 2^20.
    pub max_decrease: u64,
    /// Equations 2 and 3, of 2^20.
    pub a: Curve,
    /// Equation 1, of 2^20; 0 where it is negative.
    pub b: Curve,
}

impl Params {
    /// From the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers.
    pub fn of(p: &nr_hstcp::Params) -> Result<Self, ParamError> {
        let law = nr_hstcp::NrHstcp::new(p)?;
        if p.rtt != nr_hstcp::Estimate::Srtt {
            return Err(ParamError::new("rtt", "must be \"srtt\" in the kernel"));
        }
        for (field, bytes) in [("mss", p.mss), ("reference_mss", p.reference_mss)] {
            if !(64.0..=MAX_BYTES as f64).contains(&bytes) || bytes.fract() != 0.0 {
                return Err(ParamError::new(field, "must be a whole number between 64 and 65536 in the kernel"));
            }
        }
        let a = Curve::of(|w| law.a(w)).ok_or_else(|| {
            ParamError::new("response_factor", "must leave a(w) below 4096 segments per round trip for the kernel")
        })?;
        let b = Curve::of(|w| law.b(w).max(0.0))
            .ok_or_else(|| ParamError::new("high_decrease", "must leave b(w) below 4096 for the kernel"))?;
        Ok(Self {
            reference_rtt: micros("reference_rtt", p.reference_rtt, 1 << 24)?,
            reference_segment: p.reference_mss as u32,
            min_decrease: of_one(p.min_decrease),
            max_decrease: of_one(p.max_decrease),
            a,
            b,
        })
    }

    fn rtt(&self, signal: &Signal) -> u64 {
        u64::from(signal.srtt).clamp(1, u64::from(self.reference_rtt) * MAX_RATIO)
    }

    /// Equation 5; windows in 1/4096 segments.
    fn normalised(&self, w: u64, signal: &Signal) -> u64 {
        let window = w * u64::from(signal.segment).clamp(1, MAX_BYTES) / u64::from(self.reference_segment);
        if window >> 36 > 0 { 1 << 36 } else { window * u64::from(self.reference_rtt) / self.rtt(signal) }
    }

    /// Equations 7 and 9.
    fn increase(&self, cwnd: u32, signal: &Signal) -> u64 {
        if signal.srtt == 0 {
            return ONE;
        }
        let ratio = self.rtt(signal) * ONE / u64::from(self.reference_rtt);
        let a = self.a.value(self.normalised(middle(cwnd), signal));
        let a = (a * ((ratio * ratio) >> 20)) >> 20;
        let a = a * u64::from(self.reference_segment) / u64::from(signal.segment).clamp(1, MAX_BYTES);
        a.clamp(ONE, middle(cwnd) << 8)
    }
}

/// State of a socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    /// What the window has grown beyond whole segments.
    pub grown: u64,
}

impl Twin for State {
    type Params = Params;

    fn avoid(&mut self, p: &Params, cwnd: u32, ack: &Signal) -> u32 {
        grow(&mut self.grown, p.increase(cwnd, ack), cwnd, ack.acked)
    }

    fn backoff(&mut self, p: &Params, cwnd: u32, loss: &Signal) -> u32 {
        self.grown = 0;
        if loss.srtt == 0 {
            return keep(cwnd, ONE / 2);
        }
        let b = p.b.value(p.normalised(u64::from(cwnd) * SEGMENT, loss));
        keep(cwnd, b.clamp(p.min_decrease, p.max_decrease))
    }

    fn timeout(&mut self, _p: &Params, cwnd: u32, _loss: &Signal) -> u32 {
        self.grown = 0;
        keep(cwnd, ONE / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_of_the_papers_equations() {
        // The table of `crate::nr_hstcp`: cwnd, round-trip time [ms], segment size; equation 9, equation 8.
        let table = [
            (1000, 100, 1500, 7.7398, 0.3299),
            (1000, 200, 1500, 20.160, 0.3659),
            (1000, 50, 1500, 2.9373, 0.2938),
            (20, 250, 1500, 2.1073, 0.5),
            (10, 100, 1500, 1.0, 0.5),
            (3000, 250, 9000, 25.376, 0.2272),
            (500, 100, 576, 7.1518, 0.4157),
            (5, 1000, 1500, 5.0, 0.5),
            (20_000, 250, 1500, 161.15, 0.2217),
        ];
        let p = Params::of(&nr_hstcp::Params::default()).unwrap();
        for (cwnd, ms, segment, a, b) in table {
            let signal = Signal { srtt: 1000 * ms, segment, ..Signal::default() };
            let found = p.increase(cwnd, &signal) as f64 / ONE as f64;
            // At the middle of the interval the window is half a segment larger: 0.8 0.5 / cwnd, and 1e-4 for the lines.
            assert!((found / a - 1.0).abs() < 0.5 / f64::from(cwnd) + 2e-4 || cwnd == 5, "a({cwnd}, {ms}) = {found}");
            let kept = State::default().backoff(&p, cwnd, &signal);
            // A whole segment.
            assert!((f64::from(kept) - f64::from(cwnd) * (1.0 - b)).abs() <= 1.05, "b({cwnd}, {ms}): {kept}");
        }
    }

    #[test]
    fn before_the_first_round_trip_it_is_reno() {
        let p = Params::of(&nr_hstcp::Params::default()).unwrap();
        assert_eq!(p.increase(500, &Signal::default()), ONE);
        assert_eq!(State::default().backoff(&p, 500, &Signal::default()), 250);
    }
}

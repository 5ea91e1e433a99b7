//! HighSpeed TCP, bit for bit that of `crates/bpf/kernel/highspeed.h`.
//!
//! Source: RFC 3649, Section 5. Differs from [`crate::highspeed`]: straight lines between knots of a(w) and b(w).

use super::arithmetic::{Curve, ONE, SEGMENT, grow, keep, middle};
use super::{Signal, Twin, of_one, of_window};
use crate::{Law, highspeed};
use base::ParamError;

/// As they lie in the BPF object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    /// 1/4096 segments.
    pub low_window: u64,
    /// Of 2^20.
    pub least_b: u64,
    /// Without their bounds, so that they have no corners.
    pub a: Curve,
    /// As `a`.
    pub b: Curve,
}

impl Params {
    /// From the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers.
    pub fn of(p: &highspeed::Params) -> Result<Self, ParamError> {
        let law = highspeed::Highspeed::new(p)?;
        let a = Curve::of(|w| law.line_of_a(w)).ok_or_else(|| {
            ParamError::new("high_p", "must leave a(w) below 4096 segments per round trip for the kernel")
        })?;
        let b = Curve::of(|w| law.line_of_b(w).max(0.0))
            .ok_or_else(|| ParamError::new("high_decrease", "must leave b(w) below 4096 for the kernel"))?;
        Ok(Self { low_window: of_window("low_window", p.low_window)?, least_b: of_one(highspeed::MIN_DECREASE), a, b })
    }

    /// Segments a round trip at window `w`.
    pub(super) fn a(&self, w: u64) -> u64 {
        if w <= self.low_window { ONE } else { self.a.value(w).max(ONE) }
    }

    /// Share given up at window `w`.
    fn b(&self, w: u64) -> u64 {
        if w <= self.low_window { ONE / 2 } else { self.b.value(w).clamp(self.least_b, ONE / 2) }
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
        grow(&mut self.grown, p.a(middle(cwnd)), cwnd, ack.acked)
    }

    fn backoff(&mut self, p: &Params, cwnd: u32, _loss: &Signal) -> u32 {
        self.grown = 0;
        keep(cwnd, p.b(u64::from(cwnd) * SEGMENT))
    }

    fn timeout(&mut self, _p: &Params, cwnd: u32, _loss: &Signal) -> u32 {
        self.grown = 0;
        keep(cwnd, ONE / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::arithmetic::MAX_CWND;

    /// Windows up to the largest, 64 to the octave.
    fn windows() -> impl Iterator<Item = u32> {
        (0..64 * 20).map(|i| libm::exp2(f64::from(i) / 64.0) as u32).filter(|&w| w < MAX_CWND)
    }

    #[test]
    fn growth_and_cuts_are_close_to_those_of_the_simulator() {
        let defaults = highspeed::Params::default();
        let (law, p) = (highspeed::Highspeed::new(&defaults).unwrap(), Params::of(&defaults).unwrap());
        for w in windows() {
            let m = f64::from(w) + 0.5;
            // A straight line over at most a sixteenth of w is short by w^2 a'' / a / 8 / 16^2. That bend is 0.21 at 65
            // segments and 0.38 at 83000: 1.9e-4. Above `high_window` it bends more, and has a corner at 537,000, where b
            // reaches its least share: a line between knots 32,768 apart cuts that off by 3 %.
            let limit = if m <= defaults.high_window { 2e-4 } else { 3.5e-2 };
            let a = p.a(middle(w)) as f64 / ONE as f64;
            assert!((a / law.a(m) - 1.0).abs() < limit, "a({m}) = {a}, not {}", law.a(m));
            let b = p.b(u64::from(w) * SEGMENT) as f64 / ONE as f64;
            // b is a logarithm: w^2 b'' is 0.052, so the error is 2.5e-5, and half a unit of 2^-20 besides.
            assert!((b - law.b(f64::from(w))).abs() < 2.7e-5, "b({w}) = {b}, not {}", law.b(f64::from(w)));
        }
    }

    #[test]
    fn a_curve_that_does_not_fit_is_refused() {
        let steep = highspeed::Params { high_p: 9.9e-4, ..highspeed::Params::default() };
        let error = Params::of(&steep).unwrap_err();
        assert!(error.to_string().starts_with("high_p: must leave a(w)"), "{error}");
    }
}

//! A piecewise linear function of the window, in the form that the laws' C code (`crates/law/kernel/arithmetic.h`) reads.
//!
//! Source: none. Gains and shares have 20 fractional bits, windows 12.

/// The number 1 in the unit of gains and shares.
pub const ONE: u64 = 1 << 20;
/// One segment in the unit of windows.
pub const SEGMENT: u64 = 1 << 12;
/// Largest window that still grows, in segments.
pub const MAX_CWND: u32 = 1 << 20;

/// Binary logarithms of the smallest and the largest window that a curve covers, in 1/4096 segments.
const LOWEST: u32 = 10;
const HIGHEST: u32 = 32;
/// Knots per octave.
const PER_OCTAVE: u32 = 16;
/// Number of knots of a curve.
pub const KNOTS: usize = (PER_OCTAVE * (HIGHEST - LOWEST) + 1) as usize;

/// A function of the window, linear between knots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Values in units of 2^-20.
    pub at: [u32; KNOTS],
}

impl Curve {
    /// The curve of `f`, a function of the window in segments; `None` if a value exceeds the range (4096).
    #[must_use]
    pub fn of(f: impl Fn(f64) -> f64) -> Option<Self> {
        let mut at = [0; KNOTS];
        for (i, value) in at.iter_mut().enumerate() {
            let log = LOWEST + i as u32 / PER_OCTAVE;
            let w = f64::from(PER_OCTAVE + i as u32 % PER_OCTAVE) / f64::from(PER_OCTAVE) * libm::exp2(f64::from(log));
            let found = (f(w / SEGMENT as f64) * ONE as f64).round();
            if !(0.0..=f64::from(u32::MAX)).contains(&found) {
                return None;
            }
            *value = found as u32;
        }
        Some(Self { at })
    }
}

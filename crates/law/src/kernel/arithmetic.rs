//! Arithmetic of the laws in the kernel, bit for bit that of `crates/bpf/kernel/arithmetic.h`.
//!
//! Source: none; numbers of 20 bits after the point for gains and shares, of 12 for windows.

/// One, as gains and shares are counted.
pub const ONE: u64 = 1 << 20;
/// One segment, as windows are counted.
pub const SEGMENT: u64 = 1 << 12;
/// Largest window that grows, in segments.
pub const MAX_CWND: u32 = 1 << 20;
/// Smallest window that is left after a loss, in segments (RFC 5681).
pub const MIN_SSTHRESH: u32 = 2;

/// Binary logarithms of the smallest and the largest window that a curve covers, in 1/4096 segments.
const LOWEST: u32 = 10;
const HIGHEST: u32 = 32;
/// Knots to the octave.
const PER_OCTAVE: u32 = 16;
/// Knots of a curve.
pub const KNOTS: usize = (PER_OCTAVE * (HIGHEST - LOWEST) + 1) as usize;

/// A function of the window, in straight lines between knots.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Curve {
    /// Values, of 2^20.
    pub at: [u32; KNOTS],
}

impl Curve {
    /// The curve of `f`, a function of the window in segments; `None` where a value is beyond its range (4096).
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

    /// Its value at `w`, in 1/4096 segments.
    #[must_use]
    pub fn value(&self, w: u64) -> u64 {
        if w < 1 << LOWEST {
            return self.at[0].into();
        }
        if w >= 1 << HIGHEST {
            return self.at[KNOTS - 1].into();
        }
        let log = w.ilog2();
        let shift = log - PER_OCTAVE.ilog2();
        let i = (PER_OCTAVE * (log - LOWEST)) as usize + (w >> shift) as usize - PER_OCTAVE as usize;
        let part = w & ((1 << shift) - 1);
        (u64::from(self.at[i]) * ((1 << shift) - part) + u64::from(self.at[i + 1]) * part) >> shift
    }
}

/// Middle of the integer interval that holds the window, in 1/4096 segments.
#[must_use]
pub fn middle(cwnd: u32) -> u64 {
    u64::from(cwnd) * SEGMENT + SEGMENT / 2
}

/// The window after `acked` segments, growing by `gain` (of 2^20) segments a round trip; `grown` keeps the rest.
pub fn grow(grown: &mut u64, gain: u64, cwnd: u32, acked: u32) -> u32 {
    if cwnd >= MAX_CWND {
        return cwnd;
    }
    let whole = (2 * u64::from(cwnd) + 1) * (ONE / 2);
    let sum = *grown + gain * u64::from(acked.min(MAX_CWND));
    let more = sum / whole;
    *grown = sum - more * whole;
    if more > u64::from(MAX_CWND - cwnd) { MAX_CWND } else { cwnd + more as u32 }
}

/// What is left of the window when a share (of 2^20) of it is given up.
#[must_use]
pub fn keep(cwnd: u32, share: u64) -> u32 {
    ((u64::from(cwnd).wrapping_mul(ONE - share) >> 20) as u32).max(MIN_SSTHRESH)
}

//! How much a transfer holds: laws of its size, in whole segments.
//!
//! Source: the constant, exponential, Pareto and uniform laws that the papers use (Andrew et al. 2005: uniform on 1..200
//! packets; ns-2's PagePool/WebTraf: Pareto). Bytes are rounded up to whole segments; the uniform law is one of segments.

use base::{Bytes, ParamError, Stream};

base::words! {
    /// The law of a size.
    pub enum SizeLaw {
        /// Always the mean.
        Constant = "constant",
        /// Exponential.
        Exponential = "exponential",
        /// Pareto with the shape given beside it.
        Pareto = "pareto",
        /// As likely for every number of segments from 1 on, about the mean.
        Uniform = "uniform",
    }
}

/// Most segments that one transfer may hold: far fewer than sequence numbers can count.
const MOST: f64 = 1e9;

/// A sampler of sizes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    law: SizeLaw,
    /// In segments.
    mean: f64,
    shape: f64,
}

impl Sizes {
    /// Sizes of `mean` payload in segments of `mss` bytes; `shape` is the Pareto law's.
    ///
    /// # Errors
    /// `size` or `shape` out of range.
    pub fn new(law: SizeLaw, mean: Bytes, shape: f64, mss: u32) -> Result<Self, ParamError> {
        let segments = mean.0 as f64 / f64::from(mss);
        if mean.0 == 0 || segments > MOST / 1e3 {
            return Err(ParamError::new("size", "must be 1 B to 1000000 segments"));
        }
        if law == SizeLaw::Pareto && !(shape > 1.0 && shape <= 100.0) {
            return Err(ParamError::new("shape", "must lie above 1, or there is no mean, and up to 100"));
        }
        Ok(Self { law, mean: segments, shape })
    }

    /// One size, at least one segment.
    pub fn draw(&self, chance: &mut Stream) -> u32 {
        let segments = match self.law {
            SizeLaw::Constant => self.mean,
            SizeLaw::Exponential => chance.exponential(self.mean),
            SizeLaw::Pareto => chance.pareto(self.mean, self.shape),
            SizeLaw::Uniform => 1.0 + chance.below(self.most() as u64) as f64,
        };
        segments.ceil().clamp(1.0, MOST) as u32
    }

    /// The largest of the uniform law: 2 m - 1 for a mean of m whole segments.
    fn most(&self) -> f64 {
        (2.0 * self.mean - 1.0).round().max(1.0)
    }
}

//! Distributions of the size of a transfer and of the number of objects of a page: integers from 1 on.
//!
//! Source: the constant, exponential, Pareto and uniform laws that the papers use (Andrew et al. 2005: uniform on
//! 1..200 packets; ns-2's PagePool/WebTraf: Pareto). A size in bytes is divided by the payload of a segment, and the
//! result is rounded up, as in ns-2; the uniform law draws whole numbers.

use crate::times::check_shape;
use base::{Bytes, ParamError, Stream};

base::words! {
    /// The law of a size.
    pub enum SizeLaw {
        /// Always the mean.
        Constant = "constant",
        /// Exponential.
        Exponential = "exponential",
        /// Pareto, with the shape from another parameter.
        Pareto = "pareto",
        /// Equal probability of every integer from 1 up to twice the mean less one.
        Uniform = "uniform",
    }
}

/// Largest number of segments in one transfer, far below the range of sequence numbers.
pub(crate) const MOST: f64 = 1e9;

/// A sampler of sizes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    law: SizeLaw,
    /// Mean in segments.
    mean: f64,
    shape: f64,
}

impl Sizes {
    /// Sizes with a mean of `mean` payload, in segments of `mss` bytes; `shape` is that of the Pareto law.
    ///
    /// # Errors
    /// `size` or `shape` out of range.
    pub fn new(law: SizeLaw, mean: Bytes, shape: f64, mss: u32) -> Result<Self, ParamError> {
        let segments = mean.0 as f64 / f64::from(mss);
        if mean.0 == 0 || segments > MOST / 1e3 {
            return Err(ParamError::new("size", "must be 1 B to 1000000 segments"));
        }
        if law == SizeLaw::Pareto {
            check_shape("shape", shape)?;
        }
        Ok(Self { law, mean: segments, shape })
    }

    /// Random numbers of objects with mean `mean` before rounding up; `names` are the names of the two parameters in
    /// error messages.
    ///
    /// # Errors
    /// The first of these parameters out of range.
    pub fn counted(law: SizeLaw, mean: f64, shape: f64, names: [&'static str; 2]) -> Result<Self, ParamError> {
        if !(1.0..=MOST / 1e3).contains(&mean) {
            return Err(ParamError::new(names[0], "must lie between 1 and 1000000"));
        }
        if law == SizeLaw::Pareto {
            check_shape(names[1], shape)?;
        }
        Ok(Self { law, mean, shape })
    }

    /// Draws a size of at least one segment.
    pub fn draw(&self, chance: &mut Stream) -> u32 {
        let segments = match self.law {
            SizeLaw::Constant => self.mean,
            SizeLaw::Exponential => chance.exponential(self.mean),
            SizeLaw::Pareto => chance.pareto(self.mean, self.shape),
            SizeLaw::Uniform => 1.0 + chance.below(self.most() as u64) as f64,
        };
        segments.ceil().clamp(1.0, MOST) as u32
    }

    /// Exact mean of the draws after rounding up to whole segments: the sum over k of P(size > k).
    #[must_use]
    pub fn mean_segments(&self) -> f64 {
        match self.law {
            SizeLaw::Constant => self.mean.ceil(),
            // A rounded-up exponential size has a geometric law.
            SizeLaw::Exponential => -1.0 / libm::expm1(-1.0 / self.mean),
            SizeLaw::Pareto => self.mean_pareto(),
            SizeLaw::Uniform => 0.5 * (1.0 + self.most()),
        }
    }

    /// P(size > k) is 1 below the scale, and (scale/k)^shape above. A hundred terms are summed one by one, and the rest up
    /// to the largest size with the Euler-Maclaurin formula.
    fn mean_pareto(&self) -> f64 {
        let (a, scale) = (self.shape, self.mean * (self.shape - 1.0) / self.shape);
        let sure = scale.ceil();
        let chance = |k: f64| libm::pow(scale / k, a);
        let terms: f64 = (0..100).map(|i| chance(sure + f64::from(i))).sum();
        let n = sure + 100.0;
        let rest = |k: f64| {
            let third = a * (a + 1.0) * (a + 2.0) / (720.0 * k * k * k);
            chance(k) * (k / (a - 1.0) + 0.5 + a / (12.0 * k) - third)
        };
        sure + terms + rest(n) - rest(MOST)
    }

    /// The largest value of the uniform law: 2 m - 1 for a mean of m whole segments.
    fn most(&self) -> f64 {
        (2.0 * self.mean - 1.0).round().max(1.0)
    }
}

//! Pareto values without randomness: flow i of n gets the middle of the i-th of n equal shares of the law.
//!
//! Sample means of a law with shape 1.2 are typically far below its mean (the median for 100 flows is 66 % of it), so
//! that a buffer given in BDP would not be what its label says. Here all values are scaled so that their mean over the
//! flows is the law's.
//! Source: Andrew et al., IEEE Communications Letters 2005, for the law; the quantiles are ours.

use crate::time::Span;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct ParetoQuantiles {
    /// Factor for the quantiles of the law with smallest value 1, in picoseconds.
    factor: f64,
    shape: f64,
    max: Span,
    count: u32,
}

impl ParetoQuantiles {
    /// Values of `count` flows with this mean and shape, at most `max`.
    #[must_use]
    pub fn new(mean: Span, shape: f64, max: Span, count: u32) -> Self {
        let n = count.max(1);
        let unit = |i: u32| unit(i, n, shape);
        let mut rest: f64 = (0..n).map(unit).sum();
        // If the largest values are cut, the others grow to keep the mean, which may cut more values.
        let mut kept = n;
        loop {
            let left = f64::from(n) * mean.0 as f64 - f64::from(n - kept) * max.0 as f64;
            let factor = left.max(0.0) / rest;
            let largest = unit(kept - 1);
            if kept == 1 || factor * largest <= max.0 as f64 {
                return Self { factor, shape, max, count: n };
            }
            rest -= largest;
            kept -= 1;
        }
    }

    /// Value of flow `index`.
    #[must_use]
    pub fn at(&self, index: u32) -> Span {
        Span((self.factor * unit(index, self.count, self.shape)).round() as u64).min(self.max)
    }

    /// The smallest.
    #[must_use]
    pub fn first(&self) -> Span {
        self.at(0)
    }

    /// The largest.
    #[must_use]
    pub fn last(&self) -> Span {
        self.at(self.count - 1)
    }
}

/// The middle of share `i` of `n` of the law whose smallest value is 1.
fn unit(i: u32, n: u32, shape: f64) -> f64 {
    let upper = (f64::from(n - i) - 0.5) / f64::from(n);
    libm::pow(upper, -1.0 / shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(shape: f64, max: Span, n: u32) -> Vec<f64> {
        let quantiles = ParetoQuantiles::new(Span::millis(100), shape, max, n);
        (0..n).map(|i| quantiles.at(i).as_secs()).collect()
    }

    #[test]
    fn the_mean_over_the_flows_is_the_laws() {
        // Each value is rounded to a picosecond.
        for (shape, max, n) in [(1.2, 10_000, 1), (1.2, 10_000, 5), (1.2, 10_000, 1000), (2.0, 150, 50), (1.1, 101, 7)]
        {
            let values = all(shape, Span::millis(max), n);
            let mean = values.iter().sum::<f64>() / f64::from(n);
            assert!((mean - 0.1).abs() < 1e-12, "{shape} {max} {n}: {mean}");
            assert!(values.is_sorted() && values[n as usize - 1] <= max as f64 / 1e3, "{values:?}");
        }
    }

    #[test]
    fn uncut_they_are_the_quantiles_of_the_law() {
        // Two flows get the quantiles at one quarter and three quarters: (3/4)^(-1/1.2) and (1/4)^(-1/1.2), a ratio of
        // 3^(1/1.2).
        let two = all(1.2, Span::secs(10), 2);
        assert!((two[1] / two[0] - libm::pow(3.0, 1.0 / 1.2)).abs() < 1e-9, "{two:?}");
        // The median of many values is 2^(1/1.2) times the smallest, up to half a share of the law: 1 in 10 000.
        let many = all(1.2, Span::secs(1000), 10_001);
        assert!((many[5000] / many[0] / libm::pow(2.0, 1.0 / 1.2) - 1.0).abs() < 1e-4);
    }
}

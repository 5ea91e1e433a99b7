//! One named random stream per (seed, replication, component, purpose): adding a flow does not change another flow's
//! draws.
//!
//! Source: xoshiro256++ 1.0 (Blackman and Vigna 2019) from `rand_xoshiro`; the seed of a stream is the BLAKE3 hash of its
//! name. The samplers are inverse transforms written here, because libraries change theirs between versions. They use
//! `libm`, so that the same seed gives the same bits on every machine.

use crate::time::Span;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random stream.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream named by seed, replication, component (`"flow"`, 3) and purpose (`"jitter"`).
    #[must_use]
    pub fn new(seed: u64, replication: u32, component: (&str, u64), purpose: &str) -> Self {
        let name = format!("elephan/{seed}/{replication}/{}/{}/{purpose}", component.0, component.1);
        Self(Xoshiro256PlusPlus::from_seed(*blake3::hash(name.as_bytes()).as_bytes()))
    }

    /// Sixty-four random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on the integers 0..n, by multiplication (bias below n / 2^64). `n` is positive.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in [from, to], to the picosecond.
    pub fn span_between(&mut self, from: Span, to: Span) -> Span {
        Span(from.0 + self.below(to.0.saturating_sub(from.0) + 1))
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Pareto with the given mean and shape > 1; the smallest value is mean (shape - 1) / shape.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale * libm::pow(1.0 - self.unit(), -1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_sequence() {
        // First outputs of xoshiro256++ for the state (1, 2, 3, 4), from the authors' reference program.
        let mut seed = [0u8; 32];
        for (i, word) in [1u64, 2, 3, 4].iter().enumerate() {
            seed[8 * i..8 * i + 8].copy_from_slice(&word.to_le_bytes());
        }
        let mut stream = Stream(Xoshiro256PlusPlus::from_seed(seed));
        let expected = [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386];
        assert_eq!(expected.map(|_| stream.next_u64()), expected);
    }

    #[test]
    fn streams_with_different_names_differ() {
        let draw = |name, i, purpose| Stream::new(1, 0, (name, i), purpose).next_u64();
        assert_eq!(draw("flow", 0, "start"), draw("flow", 0, "start"));
        assert_ne!(draw("flow", 0, "start"), draw("flow", 1, "start"));
        assert_ne!(draw("flow", 0, "start"), draw("flow", 0, "jitter"));
    }

    #[test]
    fn samplers_have_their_means() {
        let mut stream = Stream::new(7, 0, ("test", 0), "means");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        // Four standard errors: sigma / sqrt(n) is 1/447 of the mean for the exponential; the Pareto law with shape 4 has
        // sigma = mean / sqrt(8).
        assert!((mean(&mut || stream.exponential(3.0)) / 3.0 - 1.0).abs() < 4.0 / 447.0);
        assert!((mean(&mut || stream.pareto(0.1, 4.0)) / 0.1 - 1.0).abs() < 4.0 / (447.0 * 2.828));
        assert!((mean(&mut || stream.unit()) - 0.5).abs() < 4.0 * 0.2887 / 447.0);
    }
}

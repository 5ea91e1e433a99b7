//! Random sizes of datagrams: exponential, rounded up to whole bytes. The rounded sizes have a geometric law, whose
//! mean is exactly the group's packet size.
//!
//! A size is a pure function of (key of the flow, sequence number), so that packets in flight need not carry it.
//! Source: the mixing function is the finaliser of `SplitMix64` (Steele, Lea and Flood 2014, with Stafford's constants).

use base::{Bytes, PacketNumber, ParamError};

base::words! {
    /// Distribution of a source's packet sizes.
    pub enum PacketSize {
        /// The same size for all packets.
        Constant = "constant",
        /// Exponential, in whole bytes, headers included.
        Exponential = "exponential",
    }
}

/// The largest IPv4 datagram.
const LARGEST: u32 = 65_535;

/// The largest mean: one packet in 13 million is cut to [`LARGEST`], which removes 8 in 100 million of the bytes.
const LARGEST_MEAN: u64 = 4_000;

impl PacketSize {
    /// Refuses a mean packet size that is not possible.
    pub(crate) fn check(self, packet: Bytes) -> Result<(), ParamError> {
        if self == Self::Exponential && packet.0 > LARGEST_MEAN {
            let reason = format!("exponential sizes need a packet of at most {LARGEST_MEAN} B in the mean");
            return Err(ParamError::new("size", reason));
        }
        Ok(())
    }

    /// Packet sizes of one flow with this mean; `None` if all are the same. `key` is a random number of the flow, drawn
    /// from a separate stream.
    #[must_use]
    pub fn sizes(self, packet: Bytes, key: impl FnOnce() -> u64) -> Option<PacketSizes> {
        match self {
            Self::Constant => None,
            // P(size > n) = (1 - 1/mean)^n.
            Self::Exponential => {
                let scale = -1.0 / libm::log1p(-1.0 / packet.0 as f64);
                Some(PacketSizes { key: key(), scale, first: PacketNumber(0) })
            }
        }
    }
}

/// The packet sizes of one flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketSizes {
    key: u64,
    /// Mean of the exponential law before rounding up, in bytes.
    scale: f64,
    /// The number of the first packet.
    first: PacketNumber,
}

impl PacketSizes {
    /// The same sizes for packet numbers that start at `first`.
    #[must_use]
    pub fn beginning_at(self, first: PacketNumber) -> Self {
        Self { first, ..self }
    }

    /// Wire bytes of packet `number`; sizes repeat after 2^32 packets.
    #[must_use]
    pub fn of(&self, number: PacketNumber) -> u32 {
        let at = u64::from(number.after(self.first));
        let unit = (mix(self.key.wrapping_add(at.wrapping_mul(GOLDEN))) >> 11) as f64 / (1u64 << 53) as f64;
        let bytes = -self.scale * libm::log1p(-unit);
        (bytes.ceil() as u32).clamp(1, LARGEST)
    }
}

/// 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(mean: u64, key: u64) -> PacketSizes {
        PacketSize::Exponential.sizes(Bytes(mean), || key).unwrap()
    }

    #[test]
    fn the_mixing_function_gives_the_published_sequence() {
        // First outputs of SplitMix64 seeded with 1234567 (Vigna's splitmix64.c as quoted by Rosetta Code).
        let first = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([1, 2, 3].map(|i: u64| mix(1_234_567 + i.wrapping_mul(GOLDEN))), first);
    }

    #[test]
    fn sizes_are_geometric_with_the_given_mean() {
        for mean in [41u64, 1000, 4000] {
            let (sizes, n) = (sizes(mean, 7), 400_000u32);
            let drawn: Vec<f64> = (0..n).map(|seq| f64::from(sizes.of(PacketNumber(seq)))).collect();
            let m = drawn.iter().sum::<f64>() / f64::from(n);
            let square = drawn.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
            // Four standard errors are allowed. For the geometric law the variance is m^2 - m and the second moment 2
            // m^2 - m. The fourth moment of an exponential law is 24 m^4, so the square of a size has a standard
            // deviation of sqrt(20) m^2.
            let (expected, root) = (mean as f64, f64::from(n).sqrt());
            assert!((m - expected).abs() < 4.0 * expected / root, "{m} for {mean}");
            let second = 2.0 * expected * expected - expected;
            assert!((square - second).abs() < 4.0 * 4.4722 * expected * expected / root, "{square} for {second}");
            // Kolmogorov's test of the whole law: sqrt(n) D exceeds 1.95 with a probability of 0.001, and less often
            // for discrete laws.
            let mut counts = vec![0u32; 65_537];
            for &x in &drawn {
                counts[x as usize] += 1;
            }
            let (mut below, mut worst) = (0u32, 0.0f64);
            for (x, &count) in counts.iter().enumerate() {
                below += count;
                let law = 1.0 - libm::exp(x as f64 * libm::log1p(-1.0 / expected));
                worst = worst.max((f64::from(below) / f64::from(n) - law).abs());
            }
            assert!(worst * root < 1.95, "{worst} for {mean}");
        }
    }

    #[test]
    fn sizes_of_one_flow_and_of_two_are_independent() {
        let n = 400_000u32;
        let correlation = |a: &PacketSizes, b: &PacketSizes, lag: u32| {
            let product = |seq: u32| {
                (f64::from(a.of(PacketNumber(seq))) / 1000.0 - 1.0)
                    * (f64::from(b.of(PacketNumber(seq + lag))) / 1000.0 - 1.0)
            };
            (0..n).map(product).sum::<f64>() / f64::from(n)
        };
        let (a, b) = (sizes(1000, 1), sizes(1000, 2));
        // Four standard errors of the mean product of two independent variables with variance 1.
        for (x, y, lag) in [(&a, &a, 1), (&a, &a, 2), (&a, &b, 0), (&a, &b, 1)] {
            assert!(correlation(x, y, lag).abs() < 4.0 / f64::from(n).sqrt(), "lag {lag}");
        }
    }

    #[test]
    fn means_that_would_not_fit_a_datagram_are_refused() {
        assert_eq!(
            PacketSize::Exponential.check(Bytes(4001)).unwrap_err().to_string(),
            "size: exponential sizes need a packet of at most 4000 B in the mean"
        );
        assert!(
            PacketSize::Exponential.check(Bytes(4000)).is_ok() && PacketSize::Constant.check(Bytes(65_535)).is_ok()
        );
        let unlikely = libm::exp(65_535.0 * libm::log1p(-1.0 / 4000.0));
        assert!(unlikely < 1.0 / 13.0e6, "{unlikely}");
    }
}

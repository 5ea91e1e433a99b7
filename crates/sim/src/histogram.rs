//! A histogram with bins that widen with what they hold: exact below 32, then 32 bins to each doubling, so that no bin is
//! wider than 1/32 of where it begins.
//!
//! Source: the layout of `HdrHistogram` (G. Tene, <https://hdrhistogram.org>).

/// Bins to a doubling, as a power of two.
const FINENESS: u32 = 5;

/// See the [module](self). Grows to the largest bin used: 1920 bins hold any 64 bits.
#[derive(Clone, Debug, Default)]
pub struct Histogram(Vec<u64>);

impl Histogram {
    /// Counts `value`.
    pub fn count(&mut self, value: u64) {
        let bin = bin(value);
        if self.0.len() <= bin {
            self.0.resize(bin + 1, 0);
        }
        self.0[bin] += 1;
    }

    /// The counts, bin by bin.
    pub fn into_counts(self) -> Vec<u64> {
        self.0
    }
}

/// The bin that holds `value`.
fn bin(value: u64) -> usize {
    let octave = value.checked_ilog2().unwrap_or(0).saturating_sub(FINENESS);
    ((octave as usize) << FINENESS) + (value >> octave) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest value of a bin: what `elephan.metrics` takes for its lower edge.
    fn lower(bin: usize) -> u64 {
        let octave = (bin >> FINENESS).saturating_sub(1);
        ((bin - (octave << FINENESS)) as u64) << octave
    }

    #[test]
    fn is_exact_below_64_and_within_a_32nd_above() {
        assert!((0..64).all(|value| bin(value) == value as usize));
        assert_eq!([64, 65, 66, 127, 128, 131, 132].map(bin), [64, 64, 65, 95, 96, 96, 97]);
        for value in [1u64 << 20, (1 << 40) + 12_345, u64::MAX] {
            let (from, to) = (lower(bin(value)), lower(bin(value) + 1).wrapping_sub(1));
            assert!(from <= value && value <= to && (to - from) as f64 <= from as f64 / 32.0, "{from} {value} {to}");
        }
        assert_eq!(bin(u64::MAX), 1919);
    }

    #[test]
    fn leaves_no_gap_between_bins() {
        assert!((0..1919).all(|i| bin(lower(i)) == i && bin(lower(i + 1) - 1) == i));
    }
}

//! Histogram whose bins widen with the values: exact below 64, then 32 bins per doubling, so that the width of a bin is at
//! most 1/32 of its lower edge.
//!
//! Source: the layout of `HdrHistogram` (G. Tene, <https://hdrhistogram.org>).

use std::ops::RangeInclusive;

/// Number of bins per doubling, as a power of two.
const BINS_PER_DOUBLING_LOG2: u32 = 5;

/// See the [module](self). It grows to the largest bin used; 1920 bins cover all 64-bit values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram(Vec<u64>);

impl Histogram {
    /// Counts `value`.
    pub fn count(&mut self, value: u64) {
        let bin = bin_of(value);
        if self.0.len() <= bin {
            self.0.resize(bin + 1, 0);
        }
        self.0[bin] += 1;
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (mine, its) in self.0.iter_mut().zip(&other.0) {
            *mine += its;
        }
    }

    /// Adds counts of the bins from `lowest` on.
    pub(crate) fn add_from(&mut self, lowest: usize, counts: &[u64]) {
        self.0.resize(self.0.len().max(lowest + counts.len()), 0);
        for (mine, its) in self.0[lowest..].iter_mut().zip(counts) {
            *mine += its;
        }
    }

    /// The counts by bin; [`range_of`] gives the values of a bin.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// Number of values counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The nonempty bins in order: range of values, and count.
    pub fn bins(&self) -> impl Iterator<Item = (RangeInclusive<u64>, u64)> + '_ {
        self.0.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin, count)| (range_of(bin), *count))
    }

    /// The bin of the `q` quantile: the smallest value such that at least a share `q` of all values is not greater.
    /// `None` for an empty histogram.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut waits = elephan_sim::histogram::Histogram::default();
    /// for picoseconds in 1..=1000 {
    ///     waits.count(picoseconds);
    /// }
    /// // The bin of the 500th smallest value, 500; its width is below 1/32 of the value.
    /// assert_eq!(waits.quantile(0.5), Some(496..=503));
    /// ```
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<RangeInclusive<u64>> {
        let wanted = (q * self.total() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.bins().find_map(|(range, count)| {
            seen += count;
            (seen >= wanted).then_some(range)
        })
    }
}

/// The bin that holds `value`.
#[must_use]
pub fn bin_of(value: u64) -> usize {
    let octave = value.checked_ilog2().unwrap_or(0).saturating_sub(BINS_PER_DOUBLING_LOG2);
    ((octave as usize) << BINS_PER_DOUBLING_LOG2) + (value >> octave) as usize
}

/// The values that bin number `bin` holds.
#[must_use]
pub fn range_of(bin: usize) -> RangeInclusive<u64> {
    let octave = (bin >> BINS_PER_DOUBLING_LOG2).saturating_sub(1);
    let first = ((bin - (octave << BINS_PER_DOUBLING_LOG2)) as u64) << octave;
    first..=first + ((1 << octave) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_exact_below_64_and_within_a_32nd_above() {
        assert!((0..64).all(|value| bin_of(value) == value as usize));
        assert_eq!([64, 65, 66, 127, 128, 131, 132].map(bin_of), [64, 64, 65, 95, 96, 96, 97]);
        for value in [1u64 << 20, (1 << 40) + 12_345, u64::MAX] {
            let range = range_of(bin_of(value));
            let (from, to) = (*range.start(), *range.end());
            assert!(from <= value && value <= to && (to - from) as f64 <= from as f64 / 32.0, "{from} {value} {to}");
        }
        assert_eq!(bin_of(u64::MAX), 1919);
    }

    #[test]
    fn leaves_no_gap_between_bins() {
        for bin in 0..1919 {
            let range = range_of(bin);
            assert_eq!((bin_of(*range.start()), bin_of(*range.end())), (bin, bin));
            assert_eq!(*range_of(bin + 1).start(), range.end() + 1);
        }
    }

    #[test]
    fn counts_can_be_read_and_added_and_give_quantiles() {
        let (mut a, mut b) = (Histogram::default(), Histogram::default());
        assert_eq!((a.quantile(0.5), a.is_empty()), (None, true));
        for value in [3, 3, 3, 130] {
            a.count(value);
        }
        for value in [0, 1000] {
            b.count(value);
        }
        a.add(&b);
        let bins: Vec<_> = a.bins().collect();
        assert_eq!(bins, [(0..=0, 1), (3..=3, 3), (128..=131, 1), (992..=1007, 1)]);
        assert_eq!((a.total(), a.counts()[3]), (6, 3));
        assert_eq!(
            [0.0, 0.2, 0.6, 0.7, 1.0].map(|q| a.quantile(q).map(|range| *range.start())),
            [0, 3, 3, 128, 992].map(Some)
        );
    }
}

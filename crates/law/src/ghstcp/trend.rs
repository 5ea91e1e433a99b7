//! Pearson's correlation of departure and round-trip times, for a set of samples that changes. Sums are integers, in
//! picoseconds since an origin, so that only the last step rounds.

/// Offsets from the origin stay below 2^52 ps (75 minutes) and samples below 2^20, so that every product of sums fits
/// 128 bits.
const MAX_OFFSET: u64 = 1 << 52;

/// A set of samples (departure time, round-trip time).
#[derive(Clone, Debug, Default)]
pub struct Trend {
    count: u32,
    origin: (u64, u64),
    /// Sums over the samples of x, y, x^2, y^2 and xy; x and y are measured from the origin.
    x: i128,
    y: i128,
    xx: i128,
    yy: i128,
    xy: i128,
}

impl Trend {
    /// Number of samples.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether a sample is close enough to the others.
    #[inline]
    pub fn admits(&self, sample: (u64, u64)) -> bool {
        self.count == 0
            || (sample.0.abs_diff(self.origin.0) < MAX_OFFSET && sample.1.abs_diff(self.origin.1) < MAX_OFFSET)
    }

    /// Adds a sample that [`Self::admits`] accepts. The first sample is the origin.
    #[inline]
    pub fn add(&mut self, sample: (u64, u64)) {
        if self.count == 0 {
            self.origin = sample;
        }
        self.count += 1;
        self.change(sample, 1);
    }

    /// Removes a sample that was added.
    #[inline]
    pub fn remove(&mut self, sample: (u64, u64)) {
        self.count -= 1;
        self.change(sample, -1);
    }

    /// Keeps the origin near sliding samples, the first of which is `oldest`. It rarely has to move.
    #[inline]
    pub fn follow(&mut self, oldest: (u64, u64)) {
        if oldest.0.abs_diff(self.origin.0) > MAX_OFFSET / 4 {
            self.move_origin(oldest);
        }
    }

    /// Moves the origin to `sample`.
    fn move_origin(&mut self, sample: (u64, u64)) {
        let (n, dx, dy) = (i128::from(self.count), offset(sample.0, self.origin.0), offset(sample.1, self.origin.1));
        self.xx += dx * (n * dx - 2 * self.x);
        self.yy += dy * (n * dy - 2 * self.y);
        self.xy += n * dx * dy - dx * self.y - dy * self.x;
        self.x -= n * dx;
        self.y -= n * dy;
        self.origin = sample;
    }

    /// The correlation r; zero if one of the two times does not vary.
    pub fn correlation(&self) -> f64 {
        let spread_x = self.central(self.xx, self.x, self.x);
        let spread_y = self.central(self.yy, self.y, self.y);
        if spread_x <= 0.0 || spread_y <= 0.0 {
            return 0.0;
        }
        self.central(self.xy, self.x, self.y) / (libm::sqrt(spread_x) * libm::sqrt(spread_y))
    }

    #[inline]
    fn change(&mut self, sample: (u64, u64), sign: i128) {
        let (x, y) = (offset(sample.0, self.origin.0), offset(sample.1, self.origin.1));
        self.x += sign * x;
        self.y += sign * y;
        self.xx += sign * (x * x);
        self.yy += sign * (y * y);
        self.xy += sign * (x * y);
    }

    /// Sum of ab minus a b / n; the division is split so that it stays within 128 bits and exact up to its fraction.
    fn central(&self, ab: i128, a: i128, b: i128) -> f64 {
        let n = i128::from(self.count.max(1));
        let rest = (a % n) * b;
        (ab - (a / n) * b - rest.div_euclid(n)) as f64 - rest.rem_euclid(n) as f64 / n as f64
    }
}

/// Signed difference `to - from`.
#[inline]
fn offset(to: u64, from: u64) -> i128 {
    i128::from(to.wrapping_sub(from).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A sum with Neumaier's compensation.
    fn sum(values: impl Iterator<Item = f64>) -> f64 {
        let (mut total, mut lost) = (0.0_f64, 0.0);
        for value in values {
            let next = total + value;
            lost += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
            total = next;
        }
        total + lost
    }

    /// Two-pass formula: first the means, then the deviations from them.
    fn two_pass(samples: &VecDeque<(u64, u64)>) -> f64 {
        let n = samples.len() as f64;
        // Relative to a fixed start, so that the deviations are exact to 1e-5 ps or better.
        let first = samples[0];
        let d = |s: &(u64, u64)| (s.0 - first.0) as f64;
        let t = |s: &(u64, u64)| s.1 as f64 - first.1 as f64;
        let (mean_d, mean_t) = (sum(samples.iter().map(d)) / n, sum(samples.iter().map(t)) / n);
        let dd = sum(samples.iter().map(|s| (d(s) - mean_d) * (d(s) - mean_d)));
        let tt = sum(samples.iter().map(|s| (t(s) - mean_t) * (t(s) - mean_t)));
        sum(samples.iter().map(|s| (d(s) - mean_d) * (t(s) - mean_t))) / (dd.sqrt() * tt.sqrt())
    }

    /// Departures about every 2 us from 10^14 ps on; round-trip times of 100 ms that slowly increase, with noise of 1 us.
    fn samples(count: u64) -> impl Iterator<Item = (u64, u64)> {
        let mut state = 1u64;
        (0..count).map(move |i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = state >> 44;
            (100_000_000_000_000 + i * 2_000_000 + noise % 1000, 100_000_000_000 + i * 3 + noise)
        })
    }

    #[test]
    fn agrees_with_two_passes_at_a_hundred_thousand_samples_whether_they_stay_or_slide() {
        const WINDOW: usize = 100_000;
        let (mut slid, mut ring) = (Trend::default(), VecDeque::new());
        for (i, sample) in samples(3 * WINDOW as u64).enumerate() {
            slid.add(sample);
            ring.push_back(sample);
            if ring.len() > WINDOW {
                slid.remove(ring.pop_front().unwrap());
            }
            if i % 70_000 == 69_999 {
                slid.move_origin(ring[0]);
            }
        }
        let mut fresh = Trend::default();
        for &sample in &ring {
            fresh.add(sample);
        }
        let exact = two_pass(&ring);
        assert!(exact > 0.2 && exact < 0.3, "the samples are correlated: {exact}");
        assert!((fresh.correlation() - exact).abs() < 1e-9, "{} instead of {exact}", fresh.correlation());
        // Integers are exact: adding, removing and moving the origin give the same numbers.
        slid.move_origin(ring[0]);
        assert_eq!(slid.correlation().to_bits(), fresh.correlation().to_bits());
    }

    #[test]
    fn the_correlation_of_a_rising_line_is_one_and_of_a_flat_line_zero() {
        for (slope, r) in [(3i64, 1.0), (-3, -1.0), (0, 0.0)] {
            let mut line = Trend::default();
            for i in 0..1000i64 {
                line.add((1u64 << 60 | (i * 1_000_000) as u64, (100_000_000_000 + slope * i) as u64));
            }
            // Two square roots and a quotient, so three roundings.
            assert!((line.correlation() - r).abs() < 1e-15, "{}", line.correlation());
        }
        let mut same = Trend::default();
        (0..100).for_each(|i| same.add((5, i)));
        assert_eq!(same.correlation(), 0.0);
    }

    #[test]
    fn the_largest_sums_fit() {
        let mut wide = Trend::default();
        for i in 0..1u64 << 20 {
            wide.add(((i & 1) * (MAX_OFFSET - 1), (i & 1) * (MAX_OFFSET - 1)));
        }
        assert!((wide.correlation() - 1.0).abs() < 1e-15);
        wide.move_origin((MAX_OFFSET - 1, MAX_OFFSET - 1));
        assert!((wide.correlation() - 1.0).abs() < 1e-15);
        assert!(wide.admits((0, 0)) && !wide.admits((2 * MAX_OFFSET, 0)));
    }
}

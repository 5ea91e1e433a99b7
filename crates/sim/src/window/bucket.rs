//! The arrivals at one link in one window, put in order.
//!
//! A counting sort by slots of time about one arrival wide, then one insertion pass: no comparison tree, and the memory
//! stays in the first two caches.

use super::ring::Rec;

/// Below this many records a comparison sort is quicker than counting.
const FEW: usize = 48;

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Bucket {
    pub recs: Vec<Rec>,
    sorted: Vec<Rec>,
    counts: Vec<u32>,
}

impl Bucket {
    /// Puts the records, all in [start, end), in order of arrival and returns them; the bucket is empty afterwards.
    pub fn sort(&mut self, start: u64, end: u64) -> &[Rec] {
        let n = self.recs.len();
        if n <= FEW {
            self.recs.sort_by_key(|rec| (rec.time, rec.flow()));
            std::mem::swap(&mut self.recs, &mut self.sorted);
            self.recs.clear();
            return &self.sorted;
        }
        let shift = ((end - start) / n as u64).max(1).ilog2();
        let slots = ((end - 1 - start) >> shift) as usize + 1;
        self.counts.clear();
        self.counts.resize(slots + 1, 0);
        for rec in &self.recs {
            self.counts[((rec.time - start) >> shift) as usize] += 1;
        }
        let mut sum = 0;
        for count in &mut self.counts {
            sum += std::mem::replace(count, sum);
        }
        self.sorted.resize(n, Rec::default());
        for rec in &self.recs {
            let place = &mut self.counts[((rec.time - start) >> shift) as usize];
            self.sorted[*place as usize] = *rec;
            *place += 1;
        }
        self.recs.clear();
        insertion(&mut self.sorted);
        &self.sorted
    }
}

/// Sorts what is almost sorted; equal ones keep their order.
fn insertion(recs: &mut [Rec]) {
    for i in 1..recs.len() {
        let rec = recs[i];
        if rec.before(&recs[i - 1]) {
            let mut j = i;
            while j > 0 && rec.before(&recs[j - 1]) {
                recs[j] = recs[j - 1];
                j -= 1;
            }
            recs[j] = rec;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_by_time_then_flow_and_keeps_the_order_sent(
            start in 0u64..1_000_000,
            times in prop::collection::vec((0u64..500, 0u32..4), 0..300),
        ) {
            let mut bucket = Bucket::default();
            for (i, &(offset, flow)) in times.iter().enumerate() {
                bucket.recs.push(Rec { time: start + offset, seq: i as u32, meta: flow });
            }
            let mut expected = bucket.recs.clone();
            expected.sort_by_key(|rec| (rec.time, rec.flow(), rec.seq));
            prop_assert_eq!(bucket.sort(start, start + 500), &expected[..]);
            prop_assert!(bucket.recs.is_empty());
        }
    }
}

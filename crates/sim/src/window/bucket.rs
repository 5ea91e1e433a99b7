//! The arrivals at one link in one window, sorted.
//!
//! A counting sort into time slots that hold about one arrival each is followed by one pass that corrects the order
//! between neighbours, without branches if records are pushed in the order of flows. The data fits into the first two
//! caches. Buckets that several threads have sorted are merged.

use super::ring::Rec;
use base::Time;
use base::steps::count_steps;
use std::hint::select_unpredictable;

/// Below this number of records a comparison sort is faster than counting.
const FEW: usize = 48;

/// Number of records in one slot from which a comparison sort is faster, because insertion within a slot is quadratic.
/// This number of records meets in a slot when a burst follows a quiet window, because then slots are too wide. It is a
/// power of two, so that the OR of all counts shows whether any slot reached it.
const CROWD: u32 = 64;

/// One window as the senders of one link see it.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    /// The senders process all events before this time.
    pub horizon: Time,
    /// End of the window; arrivals at the link at this time or later belong to another window.
    pub until: Time,
    /// Whether the run has been stopped, in which case the senders may stop early.
    pub is_stopped: &'a dyn Fn() -> bool,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Bucket {
    recs: Vec<Rec>,
    sorted: Vec<Rec>,
    /// Number of records in each slot.
    counts: Vec<u32>,
    start: Time,
    shift: u32,
    /// Number of records in the previous window, used as the estimate for this window.
    guess: u64,
}

impl Bucket {
    /// Begins a window [start, end).
    pub fn begin(&mut self, start: Time, end: Time) {
        let width = end.since(start).0.max(1);
        self.start = start;
        self.shift = (width / self.guess.max(1)).max(1).ilog2() + 1;
        self.counts.clear();
        self.counts.resize(((width - 1) >> self.shift) as usize + 1, 0);
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.recs.is_empty()
    }

    #[inline]
    pub fn push(&mut self, rec: Rec) {
        self.counts[((rec.time - self.start).0 >> self.shift) as usize] += 1;
        self.recs.push(rec);
    }

    /// Adds several records at once.
    #[inline]
    #[expect(
        clippy::manual_inspect,
        reason = "of what is mapped the length is known beforehand, and room is made once"
    )]
    pub fn extend(&mut self, recs: impl ExactSizeIterator<Item = Rec>) {
        let (start, shift, counts) = (self.start, self.shift, &mut self.counts[..]);
        self.recs.extend(recs.map(|rec| {
            counts[((rec.time - start).0 >> shift) as usize] += 1;
            rec
        }));
    }

    /// The records that the last sort put in order.
    pub fn in_order(&self) -> &[Rec] {
        &self.sorted[..self.guess as usize]
    }

    /// Sorts the records by arrival and returns them; the bucket is empty afterwards. `by_flow`: records were pushed in the
    /// order of flow numbers, so simultaneous records keep the order in which they were pushed.
    #[inline(never)]
    pub fn sort(&mut self, by_flow: bool) -> &[Rec] {
        let n = self.recs.len();
        self.guess = n as u64;
        if self.sorted.len() < n {
            self.sorted.resize(n, Rec::default());
        }
        if n <= FEW || self.counts.iter().fold(0, |bits, count| bits | count) >= CROWD {
            // A stable sort that is fast on the sorted stretches that flows push.
            count_steps(n);
            self.recs.sort_by_key(|rec| (rec.time, rec.flow()));
            self.sorted[..n].copy_from_slice(&self.recs);
            self.recs.clear();
            return &self.sorted[..n];
        }
        let mut sum = 0;
        for count in &mut self.counts {
            sum += std::mem::replace(count, sum);
        }
        let (start, shift, sorted) = (self.start, self.shift, &mut self.sorted[..n]);
        for rec in &self.recs {
            let place = &mut self.counts[((rec.time - start).0 >> shift) as usize];
            sorted[*place as usize] = *rec;
            *place += 1;
        }
        self.recs.clear();
        if by_flow {
            bubble(sorted);
        } else {
            insertion(sorted);
        }
        sorted
    }
}

/// Merges the sorted records of several buckets ([`Bucket::sort`]). All simultaneous arrivals of one flow are in one
/// bucket.
pub fn merge<'a>(mut lists: Vec<&'a [Rec]>, [now, before]: &'a mut [Vec<Rec>; 2]) -> &'a [Rec] {
    if lists.len() < 2 {
        return lists.pop().unwrap_or_default();
    }
    let mut ends = merge_pairs(&lists, now);
    while ends.len() > 1 {
        std::mem::swap(now, before);
        let mut begin = 0;
        let lists: Vec<&[Rec]> = ends.iter().map(|&end| &before[std::mem::replace(&mut begin, end)..end]).collect();
        ends = merge_pairs(&lists, now);
    }
    now
}

/// Merges the first list with the second, the third with the fourth and so on into `merged`. Returns the end of each pair.
fn merge_pairs(lists: &[&[Rec]], merged: &mut Vec<Rec>) -> Vec<usize> {
    merged.resize(lists.iter().map(|list| list.len()).sum(), Rec::default());
    let (mut ends, mut rest) = (Vec::new(), &mut merged[..]);
    for pair in lists.chunks(2) {
        let (a, b) = (pair[0], pair.get(1).copied().unwrap_or_default());
        let (out, more) = rest.split_at_mut(a.len() + b.len());
        merge_two(a, b, out);
        rest = more;
        ends.push(ends.last().unwrap_or(&0) + a.len() + b.len());
    }
    ends
}

/// Merges two sorted lists; of equal records, the first list's comes first.
fn merge_two(a: &[Rec], b: &[Rec], out: &mut [Rec]) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let second = b[j].before(&a[i]);
        out[i + j] = select(second, b[j], a[i]);
        i += usize::from(!second);
        j += usize::from(second);
    }
    out[i + j..][..a.len() - i].copy_from_slice(&a[i..]);
    out[a.len() + j..].copy_from_slice(&b[j..]);
}

/// Sorts nearly sorted records by time; simultaneous records keep their order. The loop holds back the later of the
/// last two records, so that a record one position late needs no branch. Records that are more than one position late
/// are inserted with [`put_back`].
fn bubble(recs: &mut [Rec]) {
    let Some(&(mut held)) = recs.first() else { return };
    let (n, mut last) = (recs.len(), Time::ZERO);
    for i in 1..n {
        let rec = recs[i];
        let late = rec.time < held.time;
        let out = select(late, rec, held);
        held = select(late, held, rec);
        recs[i - 1] = out;
        if out.time < last {
            put_back(recs, i - 1);
        } else {
            last = out.time;
        }
    }
    recs[n - 1] = held;
    put_back(recs, n - 1);
}

/// Selects one of two records without a branch, because the choice is unpredictable.
#[inline]
fn select(first: bool, a: Rec, b: Rec) -> Rec {
    Rec { time: Time(select_unpredictable(first, a.time.0, b.time.0)), tag: select_unpredictable(first, a.tag, b.tag) }
}

/// Moves the record at `at` back to its position by time; the records before it are in order.
#[cold]
fn put_back(recs: &mut [Rec], at: usize) {
    let mut at = at;
    while at > 0 && recs[at].time < recs[at - 1].time {
        count_steps(1);
        recs.swap(at, at - 1);
        at -= 1;
    }
}

/// Sorts nearly sorted records by time and flow; equal ones keep their order.
fn insertion(recs: &mut [Rec]) {
    for i in 1..recs.len() {
        let rec = recs[i];
        let mut at = i;
        while at > 0 && rec.before(&recs[at - 1]) {
            count_steps(1);
            recs[at] = recs[at - 1];
            at -= 1;
        }
        recs[at] = rec;
    }
}

#[cfg(test)]
mod tests {
    use super::super::ring::tag;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_by_time_then_flow_and_keeps_the_order_of_sending(
            start in 0u64..1_000_000,
            guess in 0usize..1000,
            times in prop::collection::vec((0u64..500, 0u32..4), 0..300),
        ) {
            let mut bucket = Bucket { guess: guess as u64, ..Bucket::default() };
            bucket.begin(Time(start), Time(start + 500));
            for (i, &(offset, flow)) in times.iter().enumerate() {
                bucket.push(Rec { time: Time(start + offset), tag: tag(flow, base::PacketNumber(i as u32), base::Flags::NONE) });
            }
            let mut expected = bucket.recs.clone();
            expected.sort_by_key(|rec| (rec.time, rec.flow(), rec.number().0));
            prop_assert_eq!(bucket.sort(false), &expected[..]);
            bucket.begin(Time(start), Time(start + 500));
            expected.sort_by_key(|rec| (rec.flow(), rec.number().0));
            for rec in &expected {
                bucket.push(*rec);
            }
            expected.sort_by_key(|rec| rec.time);
            prop_assert_eq!(bucket.sort(true), &expected[..]);
            prop_assert!(bucket.is_empty());
        }
    }

    proptest! {
        #[test]
        fn buckets_of_several_threads_are_merged_by_time_then_flow(
            times in prop::collection::vec((0u64..60, 0u32..9), 0..200),
            threads in 1u32..9,
        ) {
            // All records of a flow are in one bucket.
            let mut buckets: Vec<Bucket> = (0..threads).map(|_| Bucket::default()).collect();
            let mut all = Vec::new();
            for bucket in &mut buckets {
                bucket.begin(Time(0), Time(60));
            }
            for (i, &(time, flow)) in times.iter().enumerate() {
                let rec = Rec { time: Time(time), tag: tag(flow, base::PacketNumber(i as u32), base::Flags::NONE) };
                buckets[(flow % threads) as usize].push(rec);
                all.push(rec);
            }
            all.sort_by_key(|rec| (rec.time, rec.flow()));
            for bucket in &mut buckets {
                bucket.sort(false);
            }
            let lists = buckets.iter().map(Bucket::in_order).filter(|list| !list.is_empty()).collect();
            let mut room = Default::default();
            prop_assert_eq!(merge(lists, &mut room), &all[..]);
        }
    }
}

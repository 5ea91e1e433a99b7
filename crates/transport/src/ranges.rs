//! A set of sequence numbers as sorted, disjoint, non-touching runs: O(1) at both ends, where TCP works.
//!
//! Windows of 10^5 segments with a handful of holes cost a handful of runs; nothing here is per segment.

/// Runs `[start, end)` in increasing order.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The runs from `head` on; those before it are gone.
    runs: Vec<(u64, u64)>,
    head: u32,
    /// Numbers in them.
    count: u32,
}

/// Room for so many runs is kept when a set falls empty.
const KEPT: usize = 16;

impl Ranges {
    /// Whether it holds nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many numbers it holds.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The runs, lowest first.
    #[inline]
    #[must_use]
    pub fn runs(&self) -> &[(u64, u64)] {
        self.runs.get(self.head as usize..).unwrap_or_default()
    }

    /// The highest run.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        self.runs.last().copied()
    }

    /// The run that holds `seq`.
    #[inline]
    #[must_use]
    pub fn find(&self, seq: u64) -> Option<(u64, u64)> {
        let run = *self.runs().get(self.position(seq))?;
        (run.0 <= seq).then_some(run)
    }

    /// Index (of the runs left) of the first run that ends above `seq`.
    fn position(&self, seq: u64) -> usize {
        let runs = self.runs();
        // Arrivals and SACKs mostly touch the top run, cumulative ACKs and retransmissions the lowest.
        match (runs.first(), runs.last()) {
            (Some(first), _) if seq < first.1 => 0,
            (_, Some(top)) if top.1 <= seq => runs.len(),
            (_, Some(top)) if top.0 <= seq => runs.len() - 1,
            _ => runs.partition_point(|run| run.1 <= seq),
        }
    }

    /// Adds `[start, end)`, which is not empty; `on_new` is called with each part that was not there. Returns the run that now
    /// holds it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few comparisons for every segment out of order")]
    pub fn insert(&mut self, start: u64, end: u64, mut on_new: impl FnMut(u64, u64)) -> (u64, u64) {
        match self.runs.last_mut() {
            Some(top) if start > top.1 => {}
            // It touches the top run and does not begin below it: nothing else changes.
            Some(top) if start >= top.0 => {
                if end > top.1 {
                    self.count += (end - top.1) as u32;
                    on_new(top.1, end);
                    top.1 = end;
                }
                return *top;
            }
            Some(_) => return self.insert_below(start, end, on_new),
            None => {}
        }
        self.count += (end - start) as u32;
        on_new(start, end);
        self.runs.push((start, end));
        (start, end)
    }

    fn insert_below(&mut self, start: u64, end: u64, mut on_new: impl FnMut(u64, u64)) -> (u64, u64) {
        // The first run that reaches `start` or touches it from below.
        let at = self.head as usize + if start == 0 { 0 } else { self.position(start - 1) };
        let (mut low, mut high, mut covered, mut merged) = (start, end, start, 0);
        while let Some(&(s, e)) = self.runs.get(at + merged)
            && s <= end
        {
            if covered < s {
                self.count += (s - covered) as u32;
                on_new(covered, s);
            }
            covered = covered.max(e);
            low = low.min(s);
            high = high.max(e);
            merged += 1;
        }
        if covered < end {
            self.count += (end - covered) as u32;
            on_new(covered, end);
        }
        if merged == 0 {
            self.runs.insert(at, (low, high));
        } else {
            self.runs[at] = (low, high);
            if merged > 1 {
                self.runs.drain(at + 1..at + merged);
            }
        }
        (low, high)
    }

    /// Removes everything below `seq` and returns how many numbers that were.
    pub fn remove_below(&mut self, seq: u64) -> u32 {
        let mut removed = 0;
        while let Some(run) = self.runs.get_mut(self.head as usize)
            && run.0 < seq
        {
            if run.1 > seq {
                removed += (seq - run.0) as u32;
                run.0 = seq;
                break;
            }
            removed += (run.1 - run.0) as u32;
            self.head += 1;
        }
        if self.head as usize == self.runs.len() {
            self.runs.clear();
            self.runs.shrink_to(KEPT);
            self.head = 0;
        } else if self.head as usize > KEPT && 2 * self.head as usize > self.runs.len() {
            self.runs.drain(..self.head as usize);
            self.head = 0;
        }
        self.count -= removed;
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_the_set_it_stands_for(
            script in prop::collection::vec((0u64..60, 1u64..12, any::<bool>()), 1..60),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, length, remove) in script {
                if remove {
                    let kept = set.split_off(&start);
                    prop_assert_eq!(ranges.remove_below(start) as usize, set.len());
                    set = kept;
                } else {
                    let mut new = Vec::new();
                    let run = ranges.insert(start, start + length, |s, e| new.extend(s..e));
                    prop_assert_eq!(ranges.find(start), Some(run));
                    let expected: Vec<u64> = (start..start + length).filter(|x| !set.contains(x)).collect();
                    prop_assert_eq!(new, expected);
                    set.extend(start..start + length);
                }
                let listed: BTreeSet<u64> = ranges.runs().iter().flat_map(|&(s, e)| s..e).collect();
                prop_assert_eq!(&listed, &set);
                prop_assert_eq!(ranges.count() as usize, set.len());
                prop_assert!(ranges.runs().windows(2).all(|pair| pair[0].1 < pair[1].0));
                for x in 0..75 {
                    prop_assert_eq!(ranges.find(x).is_some(), set.contains(&x));
                }
            }
        }
    }
}

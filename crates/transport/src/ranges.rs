//! A set of sequence numbers as sorted, disjoint, non-touching runs: O(1) at both ends, where TCP works.
//!
//! Windows of 10^5 segments with a handful of holes cost a handful of runs; nothing here is per segment.

use std::collections::VecDeque;

/// Runs `[start, end)` in increasing order.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    runs: VecDeque<(u32, u32)>,
}

impl Ranges {
    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Number of runs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.runs.clear();
    }

    /// The lowest run.
    #[must_use]
    pub fn first(&self) -> Option<(u32, u32)> {
        self.runs.front().copied()
    }

    /// The runs from the highest down.
    pub fn from_top(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.runs.iter().rev().copied()
    }

    /// The run that holds `seq`.
    #[must_use]
    pub fn find(&self, seq: u32) -> Option<(u32, u32)> {
        let run = *self.runs.get(self.position(seq))?;
        (run.0 <= seq).then_some(run)
    }

    /// Index of the first run that ends above `seq`.
    fn position(&self, seq: u32) -> usize {
        // Arrivals and SACKs mostly touch the top run.
        match self.runs.back() {
            None => 0,
            Some(top) if top.1 <= seq => self.runs.len(),
            Some(top) if top.0 <= seq => self.runs.len() - 1,
            Some(_) => self.runs.partition_point(|run| run.1 <= seq),
        }
    }

    /// Adds `[start, end)`; `on_new` is told each part that was not there.
    pub fn insert(&mut self, start: u32, end: u32, mut on_new: impl FnMut(u32, u32)) {
        if start >= end {
            return;
        }
        // The first run that reaches `start` or touches it from below.
        let at = if start == 0 { 0 } else { self.position(start - 1) };
        if at == self.runs.len() {
            on_new(start, end);
            self.runs.push_back((start, end));
            return;
        }
        let (mut low, mut high, mut covered, mut merged) = (start, end, start, 0);
        while let Some(&(s, e)) = self.runs.get(at + merged)
            && s <= end
        {
            if covered < s {
                on_new(covered, s);
            }
            covered = covered.max(e);
            low = low.min(s);
            high = high.max(e);
            merged += 1;
        }
        if covered < end {
            on_new(covered, end);
        }
        if merged == 0 {
            self.runs.insert(at, (low, high));
            return;
        }
        self.runs[at] = (low, high);
        if merged > 1 {
            self.runs.drain(at + 1..at + merged);
        }
    }

    /// Removes everything below `seq` and returns how many numbers that were.
    pub fn remove_below(&mut self, seq: u32) -> u32 {
        let mut removed = 0;
        while let Some(run) = self.runs.front_mut()
            && run.0 < seq
        {
            if run.1 <= seq {
                removed += run.1 - run.0;
                self.runs.pop_front();
            } else {
                removed += seq - run.0;
                run.0 = seq;
            }
        }
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
            script in prop::collection::vec((0u32..60, 0u32..12, any::<bool>()), 1..60),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, length, remove) in script {
                if remove {
                    let kept = set.split_off(&start);
                    prop_assert_eq!(ranges.remove_below(start) as usize, set.len());
                    set = kept;
                } else {
                    let mut new = Vec::new();
                    ranges.insert(start, start + length, |s, e| new.extend(s..e));
                    let expected: Vec<u32> = (start..start + length).filter(|x| !set.contains(x)).collect();
                    prop_assert_eq!(new, expected);
                    set.extend(start..start + length);
                }
                let listed: BTreeSet<u32> = ranges.runs.iter().flat_map(|&(s, e)| s..e).collect();
                prop_assert_eq!(&listed, &set);
                prop_assert!(ranges.runs.iter().zip(ranges.runs.iter().skip(1)).all(|(a, b)| a.1 < b.0));
                for x in 0..75 {
                    prop_assert_eq!(ranges.find(x).is_some(), set.contains(&x));
                }
            }
        }
    }
}

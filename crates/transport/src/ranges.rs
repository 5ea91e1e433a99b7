//! A set of sequence numbers as sorted, disjoint, non-adjacent runs. Operations at both ends, where TCP works, take O(1).
//!
//! Memory and time depend on the number of runs, not of segments: a window of 10^5 segments with a few holes has a few runs.
//! With 10^5 holes, which retransmissions fill in the middle, the runs are stored in pieces, so that an insertion moves at most
//! one piece.

mod pieces;

use base::steps::count_steps;
use pieces::{Pieces, Place, Run, first_above};
use std::collections::VecDeque;

/// Runs `[start, end)` in increasing order.
#[derive(Clone, Debug)]
pub struct Ranges {
    runs: Runs,
    /// Number of removed runs in the lowest piece; less than its length, unless it is empty.
    head: u32,
    /// Number of elements.
    count: u32,
}

/// Reserves memory for half as many runs again, and two more. Doubling would waste memory with many flows.
#[cold]
fn make_room(runs: &mut Vec<Run>) {
    runs.reserve_exact(runs.len() / 2 + 2);
}

/// Storage of the runs.
#[derive(Clone, Debug)]
enum Runs {
    /// One list, which is the usual case.
    Few(Vec<Run>),
    /// Two or more pieces, none of them empty.
    Many(Box<Pieces>),
}

/// Number of runs for which memory is kept when a set becomes empty.
const KEPT: usize = 16;

/// Largest number of runs in a piece. An insertion moves up to this number; a smaller value gives more pieces.
const PIECE: usize = 512;

impl Default for Ranges {
    fn default() -> Self {
        Self { runs: Runs::Few(Vec::new()), head: 0, count: 0 }
    }
}

impl Ranges {
    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of elements in the set.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Runs, lowest first.
    #[must_use]
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = Run> {
        let (few, many) = match &self.runs {
            Runs::Few(runs) => (runs.get(self.head as usize..), None),
            Runs::Many(pieces) => {
                let rest = pieces.list.iter().skip(1).flatten();
                (pieces.list.front().and_then(|piece| piece.get(self.head as usize..)), Some(rest))
            }
        };
        few.unwrap_or_default().iter().chain(many.into_iter().flatten()).copied()
    }

    /// Lowest run.
    #[inline]
    #[must_use]
    pub fn bottom(&self) -> Option<Run> {
        self.piece(0)?.get(self.head as usize).copied()
    }

    /// Highest run.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<Run> {
        match &self.runs {
            Runs::Few(runs) => runs.last().copied(),
            Runs::Many(pieces) => pieces.list.back()?.last().copied(),
        }
    }

    /// Appends the next `n` numbers to the highest run, if there is one.
    #[inline]
    pub fn extend(&mut self, n: u32) {
        let runs = match &mut self.runs {
            Runs::Few(runs) => Some(runs),
            Runs::Many(pieces) => pieces.list.back_mut(),
        };
        if let Some(top) = runs.and_then(|runs| runs.last_mut()) {
            top.1 += u64::from(n);
            self.count += n;
        }
    }

    /// `n`-th largest number of the set, if it has at least `n`.
    #[inline]
    #[must_use]
    pub fn from_top(&self, n: u64) -> Option<u64> {
        if u64::from(self.count) < n {
            return None;
        }
        match &self.runs {
            Runs::Few(runs) => from_end(runs.iter().rev(), n),
            Runs::Many(pieces) => from_end(pieces.list.iter().rev().flat_map(|runs| runs.iter().rev()), n),
        }
    }

    /// Run that contains `seq`.
    #[inline]
    #[must_use]
    pub fn find(&self, seq: u64) -> Option<Run> {
        let run = match &self.runs {
            Runs::Few(runs) => {
                let runs = runs.get(self.head as usize..).unwrap_or_default();
                runs.get(first_above(runs, seq)).copied()
            }
            Runs::Many(pieces) => self.get(pieces.position(&pieces.found, self.head as usize, seq)),
        }?;
        (run.0 <= seq).then_some(run)
    }

    #[inline]
    fn piece(&self, piece: usize) -> Option<&Vec<Run>> {
        match &self.runs {
            Runs::Few(runs) => (piece == 0).then_some(runs),
            Runs::Many(pieces) => pieces.list.get(piece),
        }
    }

    #[inline]
    fn get(&self, place: Place) -> Option<Run> {
        self.piece(place.piece)?.get(place.at).copied()
    }

    /// Place of the first run that ends above `seq`, for an insertion.
    fn position(&self, seq: u64) -> Place {
        let head = self.head as usize;
        match &self.runs {
            Runs::Few(runs) => Place { piece: 0, at: head + first_above(runs.get(head..).unwrap_or_default(), seq) },
            Runs::Many(pieces) => pieces.position(&pieces.put, head, seq),
        }
    }

    /// Adds `[start, end)`, which must not be empty, and calls `on_new` with each part that was not in the set. Returns the run
    /// that contains it now.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few comparisons for every segment out of order")]
    pub fn insert(&mut self, start: u64, end: u64, mut on_new: impl FnMut(u64, u64)) -> Run {
        let Runs::Few(runs) = &mut self.runs else { return self.insert_in_pieces(start, end, on_new) };
        match runs.last_mut() {
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
        if runs.len() < PIECE {
            if runs.len() == runs.capacity() {
                make_room(runs);
            }
            runs.push((start, end));
        } else {
            self.begin_piece((start, end));
        }
        (start, end)
    }

    /// Inserts into runs in pieces.
    #[inline(never)]
    fn insert_in_pieces(&mut self, start: u64, end: u64, mut on_new: impl FnMut(u64, u64)) -> Run {
        let last = match &mut self.runs {
            Runs::Few(runs) => Some(runs),
            Runs::Many(pieces) => pieces.list.back_mut(),
        };
        if let Some(runs) = last
            && let Some(top) = runs.last_mut()
        {
            if start < top.0 {
                return self.insert_below(start, end, on_new);
            }
            if start <= top.1 {
                if end > top.1 {
                    self.count += (end - top.1) as u32;
                    on_new(top.1, end);
                    top.1 = end;
                }
                return *top;
            }
            if runs.len() < PIECE {
                self.count += (end - start) as u32;
                on_new(start, end);
                runs.push((start, end));
                return (start, end);
            }
        }
        self.count += (end - start) as u32;
        on_new(start, end);
        self.begin_piece((start, end));
        (start, end)
    }

    /// Adds a run above all others as the first one of a new piece.
    #[cold]
    fn begin_piece(&mut self, run: Run) {
        let mut piece = Vec::with_capacity(PIECE);
        piece.push(run);
        self.pieces().push_back(piece);
    }

    /// The list of pieces; a single list becomes the first piece.
    fn pieces(&mut self) -> &mut VecDeque<Vec<Run>> {
        if let Runs::Few(runs) = &mut self.runs {
            let list = VecDeque::from([std::mem::take(runs)]);
            self.runs = Runs::Many(Box::new(Pieces { list, ..Pieces::default() }));
        }
        match &mut self.runs {
            Runs::Many(pieces) => &mut pieces.list,
            Runs::Few(_) => unreachable!("made above"),
        }
    }

    fn insert_below(&mut self, start: u64, end: u64, mut on_new: impl FnMut(u64, u64)) -> Run {
        // The first run that reaches `start` or touches it from below.
        let place = if start == 0 { Place { piece: 0, at: self.head as usize } } else { self.position(start - 1) };
        let (mut low, mut high, mut covered, mut merged) = (start, end, start, 0);
        let mut next = place;
        while let Some((s, e)) = self.get(next)
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
            next.at += 1;
            if self.piece(next.piece).is_some_and(|piece| piece.len() == next.at) {
                next = Place { piece: next.piece + 1, at: 0 };
            }
        }
        if covered < end {
            self.count += (end - covered) as u32;
            on_new(covered, end);
        }
        if merged == 0 {
            self.insert_at(place, (low, high));
        } else {
            self.replace(place, merged, (low, high));
        }
        (low, high)
    }

    /// Inserts `run` before the one at `place`.
    fn insert_at(&mut self, Place { piece, at }: Place, run: Run) {
        let runs = match &mut self.runs {
            Runs::Few(runs) => runs,
            Runs::Many(pieces) => &mut pieces.list[piece],
        };
        if runs.len() < PIECE {
            count_steps(runs.len() - at);
            runs.insert(at, run);
            return;
        }
        // The piece is full: split it in two, without its removed runs.
        let head = if piece == 0 { std::mem::take(&mut self.head) as usize } else { 0 };
        let mut low = std::mem::take(runs);
        count_steps(low.len());
        low.drain(..head);
        let at = at - head;
        let mut high = low.split_off(low.len() / 2);
        if at <= low.len() {
            low.insert(at, run);
        } else {
            high.insert(at - low.len(), run);
        }
        let pieces = self.pieces();
        pieces[piece] = low;
        count_steps((piece + 1).min(pieces.len() - piece - 1));
        pieces.insert(piece + 1, high);
    }

    /// Replaces the `merged` runs from `place` on by `run`.
    fn replace(&mut self, Place { piece, at }: Place, merged: usize, run: Run) {
        match &mut self.runs {
            Runs::Few(runs) => {
                runs[at] = run;
                if merged > 1 {
                    count_steps(runs.len() - at - merged);
                    runs.drain(at + 1..at + merged);
                }
            }
            Runs::Many(many) => {
                let pieces = &mut many.list;
                let runs = &mut pieces[piece];
                runs[at] = run;
                let here = (merged - 1).min(runs.len() - at - 1);
                count_steps(runs.len() - at - 1 - here);
                runs.drain(at + 1..at + 1 + here);
                let mut left = merged - 1 - here;
                while left > 0 {
                    let runs = &mut pieces[piece + 1];
                    if left < runs.len() {
                        count_steps(runs.len() - left);
                        runs.drain(..left);
                        break;
                    }
                    left -= runs.len();
                    count_steps((piece + 1).min(pieces.len() - piece - 1));
                    pieces.remove(piece + 1);
                }
                self.tidy();
            }
        }
    }

    /// Returns to the simple list when only one piece is left.
    fn tidy(&mut self) {
        if let Runs::Many(pieces) = &mut self.runs
            && pieces.list.len() <= 1
        {
            self.runs = Runs::Few(pieces.list.pop_front().unwrap_or_default());
        }
    }

    /// Removes all numbers below `seq` and returns how many there were.
    #[inline]
    pub fn remove_below(&mut self, seq: u64) -> u32 {
        let mut removed = 0;
        if let Runs::Many(many) = &mut self.runs {
            let pieces = &mut many.list;
            while pieces.len() > 1
                && let Some(piece) = pieces.front()
                && piece.last().is_some_and(|run| run.1 <= seq)
            {
                removed += piece[self.head as usize..].iter().map(|run| (run.1 - run.0) as u32).sum::<u32>();
                self.head = 0;
                pieces.pop_front();
            }
            self.tidy();
        }
        let (runs, keeps) = match &mut self.runs {
            Runs::Few(runs) => (runs, false),
            Runs::Many(pieces) => (&mut pieces.list[0], true),
        };
        while let Some(run) = runs.get_mut(self.head as usize)
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
        if self.head as usize == runs.len() {
            runs.clear();
            runs.shrink_to(KEPT);
            self.head = 0;
        } else if !keeps && self.head as usize > KEPT && 2 * self.head as usize > runs.len() {
            count_steps(runs.len() - self.head as usize);
            runs.drain(..self.head as usize);
            self.head = 0;
        }
        self.count -= removed;
        removed
    }
}

/// `n`-th largest number of `runs`, which are given highest first.
#[inline]
fn from_end<'a>(runs: impl Iterator<Item = &'a Run>, n: u64) -> Option<u64> {
    let mut left = n;
    for (start, end) in runs {
        if end - start >= left {
            return Some(end - left);
        }
        left -= end - start;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::steps::steps;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Applies the steps `(start, length, remove)` to both sets and compares the contents and each result.
    fn agree(ranges: &mut Ranges, set: &mut BTreeSet<u64>, script: &[(u64, u64, bool)]) -> Result<(), TestCaseError> {
        for &(start, length, remove) in script {
            if remove {
                let kept = set.split_off(&start);
                prop_assert_eq!(ranges.remove_below(start) as usize, set.len());
                *set = kept;
            } else {
                let mut new = Vec::new();
                let run = ranges.insert(start, start + length, |s, e| new.extend(s..e));
                prop_assert_eq!(ranges.find(start), Some(run));
                let expected: Vec<u64> = (start..start + length).filter(|x| !set.contains(x)).collect();
                prop_assert_eq!(new, expected);
                set.extend(start..start + length);
            }
            prop_assert_eq!(ranges.count() as usize, set.len());
            prop_assert_eq!(ranges.is_empty(), set.is_empty());
        }
        let listed: BTreeSet<u64> = ranges.runs().flat_map(|(s, e)| s..e).collect();
        prop_assert_eq!(&listed, &*set);
        let runs: Vec<_> = ranges.runs().collect();
        prop_assert!(runs.windows(2).all(|pair| pair[0].1 < pair[1].0));
        prop_assert_eq!((ranges.bottom(), ranges.top()), (runs.first().copied(), runs.last().copied()));
        prop_assert!(runs.iter().rev().copied().eq(ranges.runs().rev()));
        for n in 1..5 {
            prop_assert_eq!(ranges.from_top(n as u64), set.iter().rev().nth(n - 1).copied());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn it_is_the_set_it_stands_for(
            script in prop::collection::vec((0u64..60, 1u64..12, any::<bool>()), 1..60),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for step in script {
                agree(&mut ranges, &mut set, &[step])?;
                for x in 0..75 {
                    prop_assert_eq!(ranges.find(x).is_some(), set.contains(&x));
                }
            }
        }

        #[test]
        fn it_is_the_set_it_stands_for_in_pieces_too(
            every in 2u64..5,
            script in prop::collection::vec((0u64..4000, 1u64..600, 0u32..40), 1..80),
        ) {
            // Up to 1500 runs, a few pieces. Long insertions and removals remove several of them at once.
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            let holes: Vec<_> = (0..3000).step_by(every as usize).map(|start| (start, 1, false)).collect();
            agree(&mut ranges, &mut set, &holes)?;
            let script: Vec<_> = script
                .into_iter()
                .map(|(start, length, kind)| match kind {
                    0 => (start / 4, 1, true),
                    1 => (start, length, false),
                    _ => (start, 1 + length % 3, false),
                })
                .collect();
            agree(&mut ranges, &mut set, &script)?;
            for x in (0..4700).step_by(7) {
                prop_assert_eq!(ranges.find(x).is_some(), set.contains(&x));
            }
        }
    }

    /// Steps per segment. Every second one of 2 n segments is missing at first. The missing ones arrive in two interleaved
    /// rows, from the first on and from the middle on; every tenth of them is missing again, and arrives in a third row.
    /// Meanwhile new segments arrive.
    fn steps_per_segment(n: u64) -> f64 {
        let (mut ranges, before) = (Ranges::default(), steps());
        let mut add = |seq: u64| ranges.insert(seq, seq + 1, |_, _| {});
        (0..n).for_each(|i| {
            add(2 * i + 1);
        });
        for i in 0..n / 2 {
            for row in [i, n / 2 + i] {
                if row % 10 != 0 {
                    add(2 * row);
                }
                add(2 * (n + row) + 1);
            }
            if i >= n / 4 {
                add(2 * (i - n / 4) / 10 * 10);
            }
        }
        for end in 0..4 * n {
            ranges.remove_below(end);
        }
        (steps() - before) as f64 / (2 * n) as f64
    }

    #[test]
    fn elephants_cost_no_more_per_segment_than_others() {
        let (small, large) = (steps_per_segment(5_000), steps_per_segment(80_000));
        // A segment moves at most one piece, and half of one on average. Moving all runs above it would take 20,000 steps.
        assert!(small < PIECE as f64 && large < 1.3 * small, "{small} {large}");
    }
}

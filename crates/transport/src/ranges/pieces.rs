//! Runs of a set in pieces, with a search that starts at the last result.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers `[start, end)`.
pub type Run = (u64, u64);

/// Place of a run: the piece, and the index in it, which includes removed runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub piece: usize,
    pub at: usize,
}

/// Pieces in order, with the places of the last search and the last insertion: the next one is mostly at the next run.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    pub list: VecDeque<Vec<Run>>,
    pub found: Finger,
    pub put: Finger,
}

/// Cached place, which may be out of date. Atomic only so that a search with `&self` can update it.
#[derive(Debug, Default)]
pub struct Finger([AtomicUsize; 2]);

impl Finger {
    #[inline]
    fn place(&self) -> Place {
        let [piece, at] = self.0.each_ref().map(|part| part.load(Ordering::Relaxed));
        Place { piece, at }
    }

    #[inline]
    fn set(&self, place: Place) {
        self.0[0].store(place.piece, Ordering::Relaxed);
        self.0[1].store(place.at, Ordering::Relaxed);
    }
}

impl Clone for Finger {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Number of runs to search linearly from a finger on.
const NEAR: usize = 4;

impl Pieces {
    /// Place of the first run that ends above `seq`, if a finger is right below it; `head` runs of the lowest piece are gone.
    #[inline]
    fn near(&self, Place { piece, at }: Place, head: usize, seq: u64) -> Option<Place> {
        let runs = self.list.get(piece)?;
        let first = if piece == 0 { head } else { 0 };
        let before = match at.checked_sub(1) {
            Some(before) if at > first => runs.get(before),
            _ if at < first => return None,
            _ => piece.checked_sub(1).and_then(|piece| self.list.get(piece)?.last()),
        };
        if before.is_some_and(|run| run.1 > seq) {
            return None;
        }
        let place = runs.get(at..)?.iter().take(NEAR).position(|run| run.1 > seq)?;
        Some(Place { piece, at: at + place })
    }

    /// Finds the place by bisection.
    fn search(&self, head: usize, seq: u64) -> Place {
        let is_below = |piece: &Vec<Run>| piece.last().is_some_and(|run| run.1 <= seq);
        // Mostly it is the highest or the lowest piece.
        let pieces = &self.list;
        let piece = match (pieces.front(), pieces.get(pieces.len() - 2)) {
            (Some(lowest), _) if !is_below(lowest) => 0,
            (_, Some(next)) if is_below(next) => pieces.len() - 1,
            _ => pieces.partition_point(is_below),
        };
        let head = if piece == 0 { head } else { 0 };
        let runs = pieces.get(piece).and_then(|runs| runs.get(head..)).unwrap_or_default();
        Place { piece, at: head + first_above(runs, seq) }
    }

    /// Finds the place from a finger on, and moves the finger there.
    #[inline]
    pub fn position(&self, finger: &Finger, head: usize, seq: u64) -> Place {
        let place = self.near(finger.place(), head, seq).unwrap_or_else(|| self.search(head, seq));
        finger.set(place);
        place
    }
}

/// Index of the first run that ends above `seq`.
#[inline]
pub fn first_above(runs: &[Run], seq: u64) -> usize {
    // Arrivals and SACKs mostly touch the top run, cumulative ACKs and retransmissions the lowest.
    match (runs.first(), runs.last()) {
        (Some(first), _) if seq < first.1 => 0,
        (_, Some(top)) if top.1 <= seq => runs.len(),
        (_, Some(top)) if top.0 <= seq => runs.len() - 1,
        _ => runs.partition_point(|run| run.1 <= seq),
    }
}

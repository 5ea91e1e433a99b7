//! When each outstanding segment was last sent, and whether that was for the first time: 8 bytes a segment, kept only
//! for those who ask (laws that want every round-trip time, RACK, delivery rates).
//!
//! Source: RFC 8985, Section 5.2 (`Segment.xmit_ts`, `.retransmitted`, `.lost`); Karn's rule, RFC 6298, Section 3.

use base::{Span, Time};
use std::collections::VecDeque;

/// Sent more than once.
const AGAIN: u64 = 1 << 63;
/// Taken for lost and not sent since.
const LOST: u64 = 1 << 62;
/// Runs end before this bit of a time is set.
const TIME: u64 = LOST - 1;

/// What is known of one outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure(u64);

impl Departure {
    /// When it last left.
    #[inline]
    #[must_use]
    pub fn time(self) -> Time {
        Time(self.0 & TIME)
    }

    /// Whether it was sent more than once.
    #[inline]
    #[must_use]
    pub fn again(self) -> bool {
        self.0 & AGAIN != 0
    }

    /// Whether it was taken for lost and not sent since.
    #[inline]
    #[must_use]
    pub fn lost(self) -> bool {
        self.0 & LOST != 0
    }
}

/// The departures of the segments from `first` on.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    first: u32,
    list: VecDeque<Departure>,
}

impl Departures {
    /// Nothing has left yet, and numbers begin at `first`.
    pub fn begin_at(&mut self, first: u32) {
        self.first = first;
    }

    /// Segment `seq`, outstanding or the next new one, leaves.
    #[inline]
    pub fn sent(&mut self, seq: u32, now: Time) {
        let at = (seq - self.first) as usize;
        match self.list.get_mut(at) {
            Some(slot) => *slot = Departure(now.0 | AGAIN),
            None => self.list.push_back(Departure(now.0)),
        }
    }

    /// What is known of `seq`, if it is outstanding.
    #[inline]
    #[must_use]
    pub fn get(&self, seq: u32) -> Option<Departure> {
        self.list.get(seq.checked_sub(self.first)? as usize).copied()
    }

    /// `seq` is taken for lost. Returns whether that is new.
    pub fn lose(&mut self, seq: u32) -> bool {
        let slot = seq.checked_sub(self.first).and_then(|at| self.list.get_mut(at as usize));
        slot.is_some_and(|slot| {
            let new = !slot.lost();
            slot.0 |= LOST;
            new
        })
    }

    /// Forgets everything below `cum`.
    #[inline]
    pub fn advance(&mut self, cum: u32) {
        let n = (cum - self.first) as usize;
        if n == 1 {
            self.list.pop_front();
        } else {
            self.list.drain(..n.min(self.list.len()));
        }
        self.first = cum;
    }

    /// Forgets the first, and returns it.
    #[inline]
    pub fn pop(&mut self) -> Option<Departure> {
        self.first += 1;
        self.list.pop_front()
    }

    /// The first segments are acknowledged one by one at `times`, each ACK releasing the next new segment. Returns the
    /// smallest and the last round-trip time, and when the last of them had left.
    pub fn take(&mut self, times: impl Iterator<Item = Time>) -> (Span, Span, Time) {
        let (mut least, mut last, mut left) = (Span(u64::MAX), Span::ZERO, Time::ZERO);
        for now in times {
            if let Some(departure) = self.list.pop_front() {
                left = departure.time();
                last = now - left;
                least = least.min(last);
            }
            self.list.push_back(Departure(now.0));
            self.first += 1;
        }
        (least, last, left)
    }
}

//! Last transmission time of each outstanding segment, and whether it was the first transmission: 8 bytes a segment, kept only
//! for laws that want every round-trip time, RACK, and delivery rates.
//!
//! Source: RFC 8985, Section 5.2 (`Segment.xmit_ts`, `.retransmitted`, `.lost`); Karn's rule, RFC 6298, Section 3.

use base::{Span, Time};
use std::collections::VecDeque;

/// Flag: sent more than once.
const AGAIN: u64 = 1 << 63;
/// Flag: considered lost, and not sent since.
const LOST: u64 = 1 << 62;
/// Flag: SACKed.
const DELIVERED: u64 = 1 << 61;
/// Flag: sent more than twice.
const OFTEN: u64 = 1 << 60;
/// Mask of the time: runs end before the 2^60th picosecond, so the bits from there on are free for flags.
const TIME: u64 = OFTEN - 1;

/// Capacity above this, and above twice the number of outstanding segments, is released.
const SLACK: usize = 8;

/// Transmission time and flags of one outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure(u64);

impl Departure {
    /// Time of its last transmission.
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

    /// Whether it was sent more than twice: an ACK of a retransmission need not be one of the last.
    #[inline]
    #[must_use]
    pub fn often(self) -> bool {
        self.0 & OFTEN != 0
    }

    /// Whether it is considered lost and was not sent since.
    #[inline]
    #[must_use]
    pub fn lost(self) -> bool {
        self.0 & LOST != 0
    }

    /// Whether it was delivered.
    #[inline]
    #[must_use]
    pub fn delivered(self) -> bool {
        self.0 & DELIVERED != 0
    }

    /// Whether it was sent once, and no ACK has reported it since.
    #[inline]
    #[must_use]
    pub fn is_first(self) -> bool {
        self.0 <= TIME
    }

    /// Transmission time of this entry, segment `seq`, if it was sent once, between these other two.
    #[inline]
    fn left_between(self, seq: u64, after: (Time, u64), before: (Time, u64)) -> Option<Time> {
        let left = (self.time(), seq);
        (self.is_first() && after <= left && left <= before).then_some(left.0)
    }
}

/// Departures of the segments from `first` on.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    first: u64,
    list: VecDeque<Departure>,
}

impl Departures {
    /// Sets the number of the first segment to `first`. Call it before anything is sent.
    pub fn begin_at(&mut self, first: u64) {
        self.first = first;
    }

    /// Notes that segment `seq`, outstanding or the next new one, is sent.
    #[inline]
    pub fn sent(&mut self, seq: u64, now: Time) {
        let at = (seq - self.first) as usize;
        match self.list.get_mut(at) {
            Some(slot) => *slot = Departure(now.0 | AGAIN | if slot.again() { OFTEN } else { 0 }),
            None => self.sent_next(now),
        }
    }

    /// Notes that the next new segment is sent.
    #[inline]
    pub fn sent_next(&mut self, now: Time) {
        if self.list.len() == self.list.capacity() {
            self.make_room();
        }
        self.list.push_back(Departure(now.0));
    }

    /// Grows the list by a quarter: doubling would waste memory with many flows.
    #[cold]
    fn make_room(&mut self) {
        self.list.reserve_exact(self.list.len() / 4 + 4);
    }

    /// Notes that the next new segments are sent, at `times`.
    #[inline]
    pub fn sent_new(&mut self, times: &[Time]) {
        self.list.extend(times.iter().map(|time| Departure(time.0)));
    }

    /// Entry of segment `seq`, if it is outstanding.
    #[inline]
    #[must_use]
    pub fn get(&self, seq: u64) -> Option<Departure> {
        base::steps::count_steps(1);
        self.list.get(seq.checked_sub(self.first)? as usize).copied()
    }

    /// First segment from `seq` on that was sent once and that no ACK has reported since: its transmission time and its number.
    #[inline]
    #[must_use]
    pub fn first_from(&self, mut seq: u64) -> Option<(Time, u64)> {
        // Mostly it is the first that is looked at, or one of the next few.
        loop {
            let departure = self.get(seq)?;
            if departure.is_first() {
                return Some((departure.time(), seq));
            }
            seq += 1;
        }
    }

    /// Marks `seq` as lost. Returns whether that is new.
    pub fn lose(&mut self, seq: u64) -> bool {
        let slot = seq.checked_sub(self.first).and_then(|at| self.list.get_mut(at as usize));
        slot.is_some_and(|slot| {
            let new = !slot.lost();
            slot.0 |= LOST;
            new
        })
    }

    /// Marks `seq` as not lost.
    pub fn find_again(&mut self, seq: u64) {
        base::steps::count_steps(1);
        if let Some(slot) = seq.checked_sub(self.first).and_then(|at| self.list.get_mut(at as usize)) {
            slot.0 &= !LOST;
        }
    }

    /// Marks `seq` as delivered. Returns its entry before, if it is outstanding.
    #[inline]
    pub fn deliver(&mut self, seq: u64) -> Option<Departure> {
        base::steps::count_steps(1);
        let slot = self.list.get_mut(seq.checked_sub(self.first)? as usize)?;
        let before = *slot;
        slot.0 |= DELIVERED;
        Some(before)
    }

    /// Marks `seq` as delivered if it was sent once, between these other two. Returns when it was sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every ACK of a repair")]
    pub fn deliver_first(&mut self, seq: u64, after: (Time, u64), before: (Time, u64)) -> Option<Time> {
        let slot = self.list.get_mut(seq.checked_sub(self.first)? as usize)?;
        let left = slot.left_between(seq, after, before)?;
        slot.0 |= DELIVERED;
        Some(left)
    }

    /// Marks segments from `first` on as delivered at `times`, as far as each was sent once and between `after` and
    /// `before`, as segments in a row are. Calls `on_each` with transmission and delivery time of each. Returns their
    /// number, and the times at which the last of them was sent and delivered.
    #[inline]
    pub fn deliver_row(
        &mut self,
        first: u64,
        (after, before): ((Time, u64), (Time, u64)),
        times: impl Iterator<Item = Time>,
        mut on_each: impl FnMut(Time, Time),
    ) -> Option<(u32, Time, Time)> {
        let at = first.checked_sub(self.first)? as usize;
        let slots = self.list.range_mut(at.min(self.list.len())..);
        let (mut latest, mut row) = (after, None);
        for ((slot, seq), now) in slots.zip(first..).zip(times) {
            let Some(left) = slot.left_between(seq, latest, before) else { break };
            slot.0 |= DELIVERED;
            on_each(left, now);
            (latest, row) = ((left, seq), Some(((seq + 1 - first) as u32, left, now)));
        }
        row
    }

    /// Forgets everything below `cum`.
    #[inline]
    pub fn advance(&mut self, cum: u64) {
        let n = (cum - self.first) as usize;
        if n == 1 {
            self.list.pop_front();
        } else {
            self.list.drain(..n.min(self.list.len()));
        }
        self.first = cum;
    }

    /// Releases memory that is not needed soon, as a reduced window grows slowly. Call it when the window may have fallen.
    #[inline]
    pub fn trim(&mut self) {
        if self.list.capacity() > 2 * self.list.len() + SLACK {
            self.list.shrink_to(self.list.len() + SLACK / 2);
        }
    }

    /// Removes the first `n` entries, at least one, and returns the last of them.
    #[inline]
    pub fn pop(&mut self, n: u32) -> Option<Departure> {
        self.first += u64::from(n);
        for _ in 1..n {
            self.list.pop_front();
        }
        self.list.pop_front()
    }

    /// Removes the first `n` entries, at least one, and returns the first and the last of them.
    #[inline]
    pub fn pop_ends(&mut self, n: u32) -> Option<(Departure, Departure)> {
        let first = *self.list.front()?;
        Some((first, self.pop(n)?))
    }

    /// Earliest and latest transmission time of the segments from `una` up to `cum` that were sent once and are not reported
    /// yet; `None` if any of them was retransmitted.
    #[must_use]
    pub fn ends_of_first(&self, una: u64, cum: u64) -> Option<(Time, Time)> {
        let mut ends: Option<(Time, Time)> = None;
        for seq in una..cum {
            let departure = self.get(seq)?;
            if departure.again() {
                return None;
            }
            if departure.is_first() {
                ends = Some((ends.map_or(departure.time(), |ends| ends.0), departure.time()));
            }
        }
        ends
    }

    /// Takes ACKs at `times`, of the first segments, `each` of them by each ACK, which releases the same number of new ones.
    pub fn take<I: Iterator<Item = Time>>(&mut self, times: I, each: u32) -> Taken<'_, I> {
        let (least, last) = (Span(u64::MAX), Span::ZERO);
        Taken { departures: self, times, each, least, last, oldest: Span::ZERO, left: Time::ZERO }
    }
}

/// Times of ACKs of the first segments, and the round-trip time of the last segment of each ACK.
pub struct Taken<'a, I> {
    departures: &'a mut Departures,
    times: I,
    each: u32,
    /// Smallest round-trip time so far.
    pub least: Span,
    /// Last round-trip time.
    pub last: Span,
    /// Round-trip time of the first segment of the last ACK.
    pub oldest: Span,
    /// Time at which the last segment was sent.
    pub left: Time,
}

impl<I: Iterator<Item = Time>> Iterator for Taken<'_, I> {
    type Item = (Time, Span);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let now = self.times.next()?;
        let list = &mut self.departures.list;
        for i in 0..self.each {
            self.left = list.pop_front()?.time();
            list.push_back(Departure(now.0));
            if i == 0 {
                self.oldest = now - self.left;
            }
        }
        self.departures.first += u64::from(self.each);
        self.last = now - self.left;
        self.least = self.least.min(self.last);
        Some((now, self.last))
    }
}

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

    /// Whether it was sent more than twice: an ACK of a retransmission may then be that of an earlier one.
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

    /// Transmission time of this entry, segment `seq`, if it was sent once, between `after` and `before`.
    #[inline]
    fn left_between(self, seq: u64, after: Transmission, before: Transmission) -> Option<Time> {
        let left = (self.time(), seq);
        (self.is_first() && after.order() <= left && left <= before.order()).then_some(left.0)
    }
}

/// Transmission of a segment. RACK compares transmissions by time and, at one instant, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    pub at: Time,
    pub seq: u64,
}

impl Transmission {
    /// Key by which transmissions are compared.
    #[inline]
    #[must_use]
    pub fn order(self) -> (Time, u64) {
        (self.at, self.seq)
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

    /// Transmission of the first segment from `seq` on that was sent once and that no ACK has reported since.
    #[inline]
    #[must_use]
    pub fn first_from(&self, mut seq: u64) -> Option<Transmission> {
        // Mostly it is the first that is looked at, or one of the next few.
        loop {
            let departure = self.get(seq)?;
            if departure.is_first() {
                return Some(Transmission { at: departure.time(), seq });
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

    /// Marks `seq` as delivered if it was sent once, between `after` and `before`. Returns when it was sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every ACK of a repair")]
    pub fn deliver_first(&mut self, seq: u64, after: Transmission, before: Transmission) -> Option<Time> {
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
        after: Transmission,
        before: Transmission,
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
            (latest, row) = (Transmission { at: left, seq }, Some(((seq + 1 - first) as u32, left, now)));
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

    /// Releases memory that is not needed soon, because a reduced window grows slowly. Call it when the window may have
    /// fallen.
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

    /// Takes ACKs at `times`. Each ACK acknowledges the first `each` segments and releases the same number of new ones.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments 7, 8, ... sent once, at these times.
    fn sent(times: &[u64]) -> Departures {
        let mut departures = Departures::default();
        departures.begin_at(7);
        for &time in times {
            departures.sent_next(Time(time));
        }
        departures
    }

    fn flags(departures: &Departures, seq: u64) -> (u64, bool, bool, bool, bool) {
        let d = departures.get(seq).expect("outstanding");
        (d.time().0, d.again(), d.often(), d.lost(), d.delivered())
    }

    #[test]
    fn a_segment_that_is_sent_again_keeps_the_last_time_and_is_not_lost_any_more() {
        let mut departures = sent(&[10, 20]);
        assert!(departures.lose(8) && !departures.lose(8), "only the first time is new");
        assert_eq!(flags(&departures, 8), (20, false, false, true, false));
        departures.sent(8, Time(30));
        assert_eq!(flags(&departures, 8), (30, true, false, false, false));
        departures.sent(8, Time(40));
        assert_eq!(flags(&departures, 8), (40, true, true, false, false));
        assert!(departures.lose(8));
        departures.find_again(8);
        assert_eq!(flags(&departures, 8), (40, true, true, false, false));
        // The next new one comes at the end.
        departures.sent(9, Time(50));
        assert_eq!(flags(&departures, 9), (50, false, false, false, false));
        assert!(departures.get(6).is_none() && departures.get(10).is_none() && !departures.lose(6));
    }

    #[test]
    fn the_first_unreported_segment_is_neither_delivered_nor_retransmitted() {
        let mut departures = sent(&[10, 20, 30, 40]);
        assert_eq!(
            departures.deliver(7).map(|d| (d.time(), d.delivered())),
            Some((Time(10), false)),
            "returns the entry as it was before"
        );
        departures.sent(8, Time(50));
        departures.lose(9);
        assert_eq!(departures.first_from(7), Some(Transmission { at: Time(40), seq: 10 }));
        assert_eq!(departures.first_from(11), None);
    }

    fn bounds(before: u64) -> (Transmission, Transmission) {
        (Transmission { at: Time(5), seq: 0 }, Transmission { at: Time(before), seq: u64::MAX })
    }

    #[test]
    fn a_row_of_deliveries_ends_before_a_retransmitted_or_delivered_segment() {
        let deliver = |departures: &mut Departures, first, before| {
            let mut seen = Vec::new();
            let bounds = bounds(before);
            let row = departures
                .deliver_row(first, bounds.0, bounds.1, (100..).map(Time), |left, now| seen.push((left.0, now.0)));
            (row.map(|(acks, left, now)| (acks, left.0, now.0)), seen)
        };
        let mut departures = sent(&[10, 20, 30, 40]);
        departures.sent(9, Time(60));
        assert_eq!(deliver(&mut departures, 7, 99), (Some((2, 20, 101)), vec![(10, 100), (20, 101)]));
        assert!(departures.get(8).is_some_and(Departure::delivered));
        assert_eq!(
            deliver(&mut departures, 10, 39),
            (None, Vec::new()),
            "segment 10 left after the earliest retransmission"
        );
        assert_eq!(deliver(&mut departures, 11, 99), (None, Vec::new()), "segment 11 was not sent");
        let bounds = bounds(99);
        assert_eq!(departures.deliver_first(10, bounds.0, bounds.1), Some(Time(40)));
        assert_eq!(departures.deliver_first(10, bounds.0, bounds.1), None, "segment 10 has arrived already");
    }

    #[test]
    fn acknowledged_segments_are_removed() {
        let mut departures = sent(&[10, 20, 30, 40, 50, 60]);
        departures.advance(8);
        departures.advance(10);
        assert_eq!((departures.get(9), departures.get(10).map(Departure::time)), (None, Some(Time(40))));
        assert_eq!(departures.pop_ends(2).map(|(a, b)| (a.time(), b.time())), Some((Time(40), Time(50))));
        assert_eq!(departures.pop(1).map(Departure::time), Some(Time(60)));
        assert!(departures.pop(1).is_none() && departures.pop_ends(1).is_none());
    }

    #[test]
    fn memory_of_a_window_that_has_fallen_is_released() {
        let mut departures = sent(&[1; 1000]);
        departures.advance(1005);
        departures.trim();
        assert!(departures.list.capacity() <= 2 * departures.list.len() + SLACK);
        assert_eq!(departures.get(1006).map(Departure::time), Some(Time(1)));
    }

    #[test]
    fn the_ends_of_acknowledged_segments_omit_segments_reported_before() {
        let mut departures = sent(&[10, 20, 30, 40]);
        departures.deliver(7);
        assert_eq!(departures.ends_of_first(7, 10), Some((Time(20), Time(30))));
        departures.sent(9, Time(50));
        assert_eq!(departures.ends_of_first(7, 9), Some((Time(20), Time(20))));
        assert_eq!(departures.ends_of_first(7, 10), None, "segment 9 was sent again");
        assert_eq!(departures.ends_of_first(7, 8), None, "segment 7 was reported before");
    }

    #[test]
    fn each_ack_of_a_row_removes_its_segments_and_adds_as_many_new_ones() {
        let mut departures = sent(&[10, 20, 30, 40]);
        let mut taken = departures.take([110, 125].map(Time).into_iter(), 2);
        let rtts: Vec<_> = taken.by_ref().map(|(now, rtt)| (now.0, rtt.0)).collect();
        assert_eq!(rtts, [(110, 90), (125, 85)], "the round-trip time of the last segment of each ACK");
        assert_eq!((taken.least, taken.last, taken.oldest, taken.left), (Span(85), Span(85), Span(95), Time(40)));
        let left: Vec<_> = (11..15).map(|seq| departures.get(seq).map(|d| d.time().0)).collect();
        assert_eq!(left, [Some(110), Some(110), Some(125), Some(125)]);
    }
}

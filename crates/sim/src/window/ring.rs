//! Records of packets in flight, 16 bytes each, in rings that grow when used.

use base::steps::count_steps;
use base::{Flags, PacketNumber, Span, Time};

/// An instant after the end of every run. Packets that an unlimited queue would serve later all count as served at this
/// time.
pub const FAR: Time = Time(1 << 62);

/// A packet between two places: its arrival time, and its tag (packet number in the low half, flow and flags above).
///
/// Segments sent one after the other have consecutive tags, so one comparison shows whether the next segment is in
/// order. This holds up to the largest 32-bit number ([`until_wrap`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rec {
    pub time: Time,
    pub tag: u64,
}

/// The tag of packet `number` (a segment, a datagram or an ACK) of `flow`: 32 bits of number, 24 of flow, 8 of flags.
#[inline]
pub fn tag(flow: u32, number: PacketNumber, flags: Flags) -> u64 {
    u64::from(flags.0) << 56 | u64::from(flow) << 32 | u64::from(number.0)
}

/// Number of packets from this one on whose tags are consecutive: their 32-bit numbers do not wrap.
#[inline]
pub fn until_wrap(number: PacketNumber) -> u64 {
    (1 << 32) - u64::from(number.0)
}

impl Rec {
    #[inline]
    pub fn number(&self) -> PacketNumber {
        PacketNumber(self.tag as u32)
    }

    #[inline]
    pub fn flow(&self) -> u32 {
        (self.tag >> 32) as u32 & 0x00ff_ffff
    }

    #[inline]
    pub fn flags(&self) -> Flags {
        Flags((self.tag >> 56) as u8)
    }

    #[inline]
    pub fn is_data(&self) -> bool {
        !self.flags().has(Flags::ACK)
    }

    /// Order of arrivals at a link: by time, then by flow. Records equal in both keep the order in which they were sent.
    #[inline]
    pub fn before(&self, other: &Self) -> bool {
        self.time < other.time || (self.time == other.time && self.flow() < other.flow())
    }
}

/// First-in first-out queue in one contiguous piece. Entries that were read are removed when there are as many of them
/// as unread entries (in a long ring, a third as many). So each entry is moved rarely, and the ring does not keep more
/// memory than it needs.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    /// Delay from the link that feeds this ring to the reader, the same for every record.
    pub delay: Span,
    recs: Vec<Rec>,
    head: usize,
}

/// Rings shorter than this are not worth moving or shrinking.
const SMALL: usize = 32;

/// The initial capacity of a ring. An empty ring of this capacity frees its memory: of a million flows, most have
/// nothing in flight most of the time.
const FIRST: usize = 4;

/// Length above which rings keep fewer of the entries that were read.
const LONG: usize = 4096;

impl Ring {
    /// An empty ring.
    pub fn new(delay: Span) -> Self {
        Self { delay, ..Self::default() }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.recs.len() - self.head
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head >= self.recs.len()
    }

    #[inline]
    pub fn push(&mut self, rec: Rec) {
        if self.recs.len() == self.recs.capacity() {
            self.make_room();
        }
        self.recs.push(rec);
    }

    /// Appends a record if the ring is not empty and has room. Returns whether it did.
    #[inline]
    pub fn push_plain(&mut self, rec: Rec) -> bool {
        // For an empty ring the slow path is needed, because it also wakes the reader.
        let plain = !self.recs.is_empty() && self.recs.len() < self.recs.capacity();
        if plain {
            self.recs.push(rec);
        }
        plain
    }

    /// Makes room by removing entries that were read, or else by growing by half: with many flows, doubling would waste
    /// memory.
    #[cold]
    fn make_room(&mut self) {
        if 4 * self.head >= self.recs.len() && self.head > 0 {
            count_steps(self.len());
            self.recs.drain(..self.head);
            self.head = 0;
        } else {
            self.recs.reserve_exact(self.recs.len() / 2 + FIRST);
        }
    }

    #[inline]
    pub fn peek(&self) -> Option<&Rec> {
        self.recs.get(self.head)
    }

    /// All unread records, in order.
    #[inline]
    pub fn all(&self) -> &[Rec] {
        self.recs.get(self.head..).unwrap_or_default()
    }

    /// Removes the first `n` records.
    #[inline]
    pub fn consume(&mut self, n: usize) {
        self.head += n;
        if self.head == self.recs.len() {
            self.empty();
        }
    }

    #[inline]
    fn empty(&mut self) {
        self.head = 0;
        if self.recs.capacity() == FIRST {
            self.recs = Vec::new();
        } else {
            self.recs.clear();
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Rec> {
        let rec = *self.peek()?;
        self.consume(1);
        Some(rec)
    }

    /// Removes entries that were read, if that is worth the cost. The reader calls it from time to time.
    #[inline]
    pub fn tidy(&mut self) {
        // A short ring moves each record at most once. A long ring moves it up to three times, because it should stay in
        // the cache.
        let share = if self.recs.len() > LONG { 4 } else { 2 };
        if self.head > SMALL && share * self.head >= self.recs.len() {
            self.cut();
        }
    }

    #[cold]
    fn cut(&mut self) {
        self.recs.drain(..self.head);
        self.head = 0;
        if self.recs.capacity() > 3 * self.recs.len() + SMALL {
            self.recs.shrink_to(2 * self.recs.len() + SMALL / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_holds_sequence_number_flow_and_flags_and_grows_with_the_sequence_number() {
        let (number, flow) = (PacketNumber(u32::MAX - 1), (1 << 24) - 1);
        let rec = Rec { time: Time(1), tag: tag(flow, number, Flags::ACK) };
        assert_eq!((rec.number(), rec.flow(), rec.flags(), rec.is_data()), (number, flow, Flags::ACK, false));
        assert_eq!((tag(flow, number.plus(1), Flags::ACK), until_wrap(number)), (rec.tag + 1, 2));
    }

    #[test]
    fn simultaneous_arrivals_are_ordered_by_flow_and_not_by_sequence_number() {
        let rec = |time, flow, number| Rec { time: Time(time), tag: tag(flow, PacketNumber(number), Flags::CE) };
        assert!(rec(1, 9, 0).before(&rec(2, 0, 0)) && rec(2, 0, 5).before(&rec(2, 1, 0)));
        assert!(!rec(2, 1, 0).before(&rec(2, 1, 5)) && !rec(2, 1, 5).before(&rec(2, 1, 0)));
    }

    #[test]
    fn keeps_the_order_when_it_grows_and_when_read_entries_are_removed() {
        let (mut ring, mut next, mut expected) = (Ring::default(), 0u64, 0u64);
        for round in 0..400usize {
            for _ in 0..round % 7 {
                ring.push(Rec { time: Time(next), tag: next });
                next += 1;
            }
            for _ in 0..round % 5 + usize::from(round > 300) {
                if let Some(rec) = ring.pop() {
                    assert_eq!(rec.time, Time(expected));
                    expected += 1;
                }
            }
            ring.tidy();
            assert!(ring.all().iter().zip(expected..).all(|(rec, i)| rec.time == Time(i)));
        }
        assert!(next > 1000 && ring.len() as u64 == next - expected);
    }
}

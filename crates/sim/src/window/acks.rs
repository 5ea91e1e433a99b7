//! ACKs of a flow on their way through return links, oldest first. An ACK with only a cumulative number takes 8 bytes.

use base::PacketNumber;
use std::collections::{BTreeMap, VecDeque};
use transport::Ack;

/// Bit of an ACK that carries more than its cumulative number; such an ACK is stored in `full`.
const FULL: u64 = 1 << 63;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct AckQueue {
    /// Packet number of the oldest ACK.
    first: PacketNumber,
    /// Cumulative number of each ACK; with the bit [`FULL`], the ACK itself is in `full`.
    numbers: VecDeque<u64>,
    full: VecDeque<Ack>,
    /// By number, the ACKs that others have overtaken or that were lost; `None` if no link reorders.
    #[expect(clippy::box_collection, reason = "few flows have any, and all have the field")]
    late: Option<Box<BTreeMap<u32, Ack>>>,
}

impl AckQueue {
    /// An empty queue whose next ACK gets the number `first`. ACKs may overtake each other if the path `reorders`.
    pub fn new(first: PacketNumber, reorders: bool) -> Self {
        let late = reorders.then(Box::default);
        Self { first, numbers: VecDeque::new(), full: VecDeque::new(), late }
    }

    /// The number of the next ACK.
    #[inline]
    pub fn next(&self) -> PacketNumber {
        self.first.plus(self.numbers.len() as u32)
    }

    /// Adds an ACK that only acknowledges everything below `cum`.
    #[inline]
    pub fn push_plain(&mut self, cum: u64) {
        self.numbers.push_back(cum);
    }

    /// Adds any ACK.
    pub fn push(&mut self, ack: &Ack) {
        let is_plain = ack.blocks().is_empty() && !ack.ece && !ack.echoes_resent;
        if is_plain && ack.feedback == 0.0 && ack.tuning == 0 {
            self.push_plain(ack.cum);
        } else {
            self.numbers.push_back(ack.cum | FULL);
            self.full.push_back(*ack);
        }
    }

    /// Takes the ACK with this number. The ACKs before it were lost, or it has overtaken them.
    #[inline]
    pub fn take(&mut self, number: PacketNumber) -> Option<Ack> {
        if number == self.first { self.pop() } else { self.take_other(number) }
    }

    /// [`Self::take`] for an ACK that is not the oldest.
    #[inline(never)]
    fn take_other(&mut self, number: PacketNumber) -> Option<Ack> {
        let ahead = number.after(self.first);
        if let Some(late) = self.late.as_deref_mut() {
            if let Some(ack) = late.remove(&number.0) {
                return Some(ack);
            }
            self.put_aside(ahead);
        } else {
            for _ in 0..ahead {
                self.pop();
            }
        }
        self.pop()
    }

    /// Sets the oldest `n` ACKs aside, because they may still arrive.
    fn put_aside(&mut self, n: u32) {
        for _ in 0..n {
            let number = self.first.0;
            if let (Some(ack), Some(late)) = (self.pop(), self.late.as_deref_mut()) {
                late.insert(number, ack);
            }
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Ack> {
        self.first = self.first.plus(1);
        let cum = self.numbers.pop_front()?;
        if cum & FULL == 0 { Some(Ack::new(cum, &[], false)) } else { self.full.pop_front() }
    }

    /// Number of leading ACKs, at most `most`, that carry only a cumulative number, and each acknowledge `each`
    /// segments more than the ACK before (the first ACK: `each` more than `una`).
    #[inline]
    pub fn alike(&self, most: usize, una: u64, each: u64) -> usize {
        let expected = std::iter::successors(Some(una + each), |cum| Some(cum + each));
        self.numbers.iter().take(most).zip(expected).take_while(|(cum, expected)| **cum == *expected).count()
    }

    /// The number of the oldest ACK, and how many segments above `una` it acknowledges. `None` if the ACK carries more
    /// than a cumulative number, or acknowledges no new segment.
    #[inline]
    pub fn oldest(&self, una: u64) -> Option<(PacketNumber, u32)> {
        let cum = *self.numbers.front()?;
        (una < cum && cum & FULL == 0).then(|| (self.first, (cum - una) as u32))
    }

    /// Removes the oldest `n` ACKs, which have arrived; all must be plain.
    #[inline]
    pub fn forget(&mut self, n: u32) {
        self.first = self.first.plus(n);
        self.numbers.drain(..n as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_is_found_even_if_acks_before_it_were_lost() {
        let numbered = |i: u64| match i % 3 {
            0 => Ack::new(i, &[(i + 2, i + 4)], false),
            1 => Ack::new(i, &[], i % 2 == 1),
            _ => Ack::new(i, &[], false),
        };
        for lost in 0..7 {
            let first = PacketNumber(u32::MAX - 3);
            let mut acks = AckQueue::new(first, false);
            (0..50).map(numbered).for_each(|ack| acks.push(&ack));
            let mut i = 0;
            while i + lost < 50 {
                i += lost;
                assert_eq!(acks.take(first.plus(i as u32)), Some(numbered(i)), "{i} after {lost} lost ACKs");
                i += 1;
            }
            assert_eq!(acks.next(), first.plus(50));
        }
    }

    #[test]
    fn an_ack_that_others_overtook_is_found_when_it_arrives() {
        let first = PacketNumber(u32::MAX - 1);
        let mut acks = AckQueue::new(first, true);
        (0..6).for_each(|i| acks.push(&Ack::new(i, &[(i + 1, i + 2)], false)));
        let order = [2, 0, 1, 5, 4];
        assert!(order.iter().all(|&i| acks.take(first.plus(i)).is_some_and(|ack| ack.cum == u64::from(i))));
        assert_eq!(acks.next(), first.plus(6));
    }

    #[test]
    fn plain_acks_for_the_same_number_of_segments_are_alike() {
        let mut acks = AckQueue::new(PacketNumber(7), false);
        for cum in [12, 14, 16, 17, 19] {
            acks.push_plain(cum);
        }
        assert_eq!((acks.oldest(10), acks.oldest(12)), (Some((PacketNumber(7), 2)), None), "nothing new");
        assert_eq!((acks.alike(9, 10, 2), acks.alike(2, 10, 2), acks.alike(9, 11, 2)), (3, 2, 0));
        acks.forget(3);
        assert_eq!((acks.oldest(16), acks.alike(9, 16, 1)), (Some((PacketNumber(10), 1)), 1));
        acks.forget(2);
        acks.push(&Ack::new(21, &[], true));
        assert_eq!(
            (acks.oldest(19), acks.alike(9, 19, 2)),
            (None, 0),
            "the ACK carries more than its cumulative number"
        );
    }
}

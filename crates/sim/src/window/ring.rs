//! Records in flight: 16 bytes each, in rings that grow when used.

use base::Flags;

/// A packet between two places: when it gets there, which segment, whose, with which flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rec {
    pub time: u64,
    pub seq: u32,
    /// Flow number in the low 24 bits, flags in the high 8.
    pub meta: u32,
}

const FLOW: u32 = (1 << 24) - 1;

/// Flow number and flags in one word.
#[inline]
pub fn meta(flow: u32, flags: Flags) -> u32 {
    flow | u32::from(flags.0) << 24
}

impl Rec {
    #[inline]
    pub fn flow(&self) -> u32 {
        self.meta & FLOW
    }

    #[inline]
    pub fn flags(&self) -> Flags {
        Flags((self.meta >> 24) as u8)
    }

    #[inline]
    pub fn is_data(&self) -> bool {
        !self.flags().has(Flags::ACK)
    }

    /// Order of arrivals at a link: by time, then by flow. What is equal in both keeps the order sent.
    #[inline]
    pub fn before(&self, other: &Self) -> bool {
        self.time < other.time || (self.time == other.time && self.flow() < other.flow())
    }
}

/// First-in first-out, a power of two long.
#[derive(Debug, Default)]
pub struct Ring {
    slots: Vec<Rec>,
    head: u32,
    tail: u32,
}

impl Ring {
    #[inline]
    pub fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline]
    pub fn push(&mut self, rec: Rec) {
        if self.len() as usize == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        self.slots[self.tail as usize & mask] = rec;
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline]
    pub fn peek(&self) -> Option<&Rec> {
        if self.is_empty() { None } else { self.slots.get(self.head as usize & (self.slots.len() - 1)) }
    }

    /// The longest stretch from the head that lies in one piece.
    #[inline]
    pub fn front(&self) -> &[Rec] {
        if self.is_empty() {
            return &[];
        }
        let start = self.head as usize & (self.slots.len() - 1);
        let end = (start + self.len() as usize).min(self.slots.len());
        &self.slots[start..end]
    }

    /// Forgets the first `n`.
    #[inline]
    pub fn consume(&mut self, n: u32) {
        self.head = self.head.wrapping_add(n);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Rec> {
        let rec = *self.peek()?;
        self.consume(1);
        Some(rec)
    }

    /// What it holds, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Rec> {
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.len()).map(move |i| &self.slots[self.head.wrapping_add(i) as usize & mask])
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![Rec::default(); (self.slots.len() * 2).max(4)];
        for (slot, rec) in slots.iter_mut().zip(self.iter()) {
            *slot = *rec;
        }
        self.tail = self.len();
        self.head = 0;
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_through_growth_and_wrapping() {
        let (mut ring, mut next, mut expected) = (Ring::default(), 0u32, 0u32);
        for round in 0..200u32 {
            for _ in 0..round % 7 {
                ring.push(Rec { time: u64::from(next), seq: next, meta: 0 });
                next += 1;
            }
            assert_eq!(ring.iter().count(), ring.len() as usize);
            for _ in 0..round % 5 {
                if let Some(rec) = ring.pop() {
                    assert_eq!(rec.seq, expected);
                    expected += 1;
                }
            }
            let front = ring.front().to_vec();
            assert!(front.iter().enumerate().all(|(i, rec)| rec.seq == expected + i as u32));
        }
        assert!(next > 500 && ring.len() == next - expected);
    }
}

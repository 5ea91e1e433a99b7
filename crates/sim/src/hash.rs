//! The rolling hash that detects any change of results: over every arrival at a link, every ACK at a sender, and every
//! datagram at its receiver.
//!
//! It is not cryptographic: a multiplication and a rotation per word are enough to distinguish runs that differ in one
//! event.

use base::{PacketNumber, Time};
use law::CongestionControl;
use transport::Sender;

/// Fate of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketFate {
    Accepted = 0,
    Marked = 1,
    Dropped = 2,
    /// A packet that was already waiting was dropped or marked.
    ChangedLater = 3,
}

/// A rolling hash. Numbers of packets and segments count from the first of each flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rolling {
    value: u64,
    first: u64,
}

impl Rolling {
    /// Hash of an empty sequence; `first` is the number of each flow's first segment.
    pub fn new(first: u64) -> Self {
        Self { value: 0, first }
    }

    /// Hash of everything added until now.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Adds one word.
    #[inline]
    pub fn word(&mut self, x: u64) {
        self.value = (self.value ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// Adds a packet at a link, and its fate.
    #[inline]
    pub fn packet(&mut self, time: Time, flow: u32, number: PacketNumber, fate: PacketFate) {
        self.word(time.0);
        self.word(u64::from(flow) << 34 | self.since_first(number) << 2 | fate as u64);
    }

    /// Adds the state of a sender after an ACK.
    #[inline]
    pub fn ack(&mut self, time: Time, cwnd: f64, una: u64, nxt: u64, in_flight: u32) {
        self.word(time.0);
        self.word(cwnd.to_bits());
        // A rotation keeps both numbers whole: the bits of the first number above bit 32 must not cancel bits of the
        // second.
        self.word((una - self.first).rotate_left(32) ^ (nxt - self.first));
        self.word(u64::from(in_flight));
    }

    /// Adds the arrival of a datagram at its receiver.
    #[inline]
    pub fn delivery(&mut self, time: Time, number: PacketNumber) {
        self.word(time.0);
        self.word(self.since_first(number));
    }

    fn since_first(&self, number: PacketNumber) -> u64 {
        u64::from(number.after(PacketNumber::of(self.first)))
    }

    /// Adds the present state of a sender.
    pub fn sender<C: CongestionControl>(&mut self, now: Time, sender: &Sender<C>) {
        self.ack(now, sender.control().cwnd(), sender.seq().una(), sender.seq().nxt(), sender.in_flight());
    }
}

//! The rolling hash that pins the physics: over every arrival at a link, every ACK at a sender, and every
//! datagram at its receiver.
//!
//! Not cryptographic: a multiply and a rotation per word, enough that two runs with one different event differ.

use base::Time;
use law::CongestionControl;
use transport::Sender;

/// What became of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketFate {
    Accepted = 0,
    Marked = 1,
    Dropped = 2,
    /// It had been there before, and was dropped or marked now.
    ChangedLater = 3,
}

/// A rolling hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rolling(pub u64);

impl Rolling {
    /// Takes in one word.
    #[inline]
    pub fn word(&mut self, x: u64) {
        self.0 = (self.0 ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// A packet at a link, and what became of it.
    #[inline]
    pub fn packet(&mut self, time: Time, flow: u32, seq: u32, fate: PacketFate) {
        self.word(time.0);
        self.word(u64::from(flow) << 34 | u64::from(seq) << 2 | fate as u64);
    }

    /// The sender after an ACK.
    #[inline]
    pub fn ack(&mut self, time: Time, cwnd: f64, una: u32, nxt: u32, in_flight: u32) {
        self.word(time.0);
        self.word(cwnd.to_bits());
        self.word(u64::from(una) << 32 | u64::from(nxt));
        self.word(u64::from(in_flight));
    }

    /// A datagram at its receiver.
    #[inline]
    pub fn delivery(&mut self, time: Time, seq: u32) {
        self.word(time.0);
        self.word(u64::from(seq));
    }

    /// The sender as it is now.
    pub fn sender<C: CongestionControl>(&mut self, now: Time, sender: &Sender<C>) {
        self.ack(now, sender.control().cwnd(), sender.una(), sender.nxt(), sender.in_flight());
    }
}

//! Fast paths of a receiver for segments in a row that have equal effects.

use super::Receiver;
use base::Time;

impl Receiver {
    /// Whether every in-order segment is acknowledged at once and nothing is out of order.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.acknowledges_each && self.held.is_empty() && !self.echo && !self.is_announced
    }

    /// Processes `n` in-order segments, each acknowledged, when [`Self::is_plain`].
    #[inline]
    pub fn take_plain(&mut self, n: u32) {
        debug_assert!(self.is_plain());
        self.next += u64::from(n);
    }

    /// Number of in-order unmarked segments that only produce an ACK per [`Self::delayed_ack`] segments, unless one of
    /// them arrives after the delayed ACK of the one before is due.
    #[inline]
    #[must_use]
    pub fn delays_plainly(&self) -> u64 {
        let plain = self.held.is_empty() && !self.echo && !self.is_announced && !self.is_special && !self.echoes_resent;
        let plain = plain && self.quick == 0;
        // The last segment of a transfer is acknowledged at once.
        let row = if self.next < self.end { self.end - 1 - self.next } else { u64::MAX };
        if plain { row } else { 0 }
    }

    /// Processes `n` segments as in [`Self::delays_plainly`], the last at `last`; those that are not acknowledged yet
    /// have an ACK at `deadline` at the latest.
    #[inline]
    pub fn take_delayed(&mut self, n: u32, last: Time, deadline: Time) {
        debug_assert!(u64::from(n) <= self.delays_plainly());
        self.next += u64::from(n);
        self.pending = (self.pending + n) % self.delayed_ack();
        self.deadline = deadline;
        self.last = last;
        debug_assert_eq!(self.pending == 0, deadline == Time::NEVER);
    }

    /// Whether it holds segments out of order.
    #[inline]
    #[must_use]
    pub fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Highest run of segments out of order, if the following segments only extend it, each with an ACK that says so.
    #[inline]
    #[must_use]
    pub fn extends_plainly(&self) -> Option<(u64, u64)> {
        let plain = self.pending == 0 && self.sack_blocks == 1 && !self.echo && !self.is_special && !self.is_announced;
        if plain { self.held.top() } else { None }
    }

    /// Processes the next `n` segments, as in [`Self::extends_plainly`].
    #[inline]
    pub fn extend(&mut self, n: u32) {
        debug_assert!(self.extends_plainly().is_some() && self.deadline == Time::NEVER);
        // Each of their ACKs counts as a quick one.
        self.quick = self.quick.saturating_sub(n.min(u32::from(u8::MAX)) as u8);
        self.held.extend(n);
    }
}

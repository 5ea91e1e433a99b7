//! Quick acknowledgements: at the start of a connection and after a pause ACKs are not delayed.
//!
//! Source: Linux 6.12, `tcp_event_data_recv` and `tcp_incr_quickack` (facts, not text).

use super::Receiver;
use base::{Span, Time};

impl Receiver {
    /// Receiver that does not delay its first `acks` ACKs, nor those after a pause of `quick_after`.
    #[must_use]
    pub fn acknowledging_quickly(mut self, acks: u32, quick_after: Span) -> Self {
        let acks = acks.min(u32::from(u8::MAX)) as u8;
        (self.quick, self.quick_acks, self.quick_after) = (acks, acks, quick_after);
        self
    }

    /// Processes an in-order segment: after a long pause ACKs are quick again.
    #[inline]
    pub(super) fn note_arrival(&mut self, now: Time) {
        if self.is_late(now) {
            self.quick = self.quick_acks;
        }
        self.last = now;
    }

    /// Whether a segment in order at `now` ends a pause after which ACKs are quick.
    #[inline]
    #[must_use]
    pub fn is_late(&self, now: Time) -> bool {
        self.quick_acks > 0 && self.last > Time::ZERO && now > self.last + self.quick_after
    }
}

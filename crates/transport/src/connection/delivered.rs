//! Reports of single deliveries and losses to controls that ask for them.

use super::Connection;
use crate::optional::OptionalState;
use crate::recovery::RecoveryRules;
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Connection<C> {
    /// Reports that segments [start, end) above `una` were SACKed.
    #[inline]
    pub fn on_sacked(&mut self, now: Time, start: u64, end: u64) {
        if let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) {
            deliveries.delivered(start, end, now);
        }
    }

    /// Reports the SACK of the single segment `seq`, which is the next.
    #[inline]
    pub fn on_next_sacked(&mut self, now: Time, seq: u64) {
        if let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) {
            deliveries.delivered_one(seq, now);
        }
    }

    /// Reports that `segments` are considered lost.
    #[inline]
    pub fn on_lost(&mut self, now: Time, segments: impl Iterator<Item = u64>) {
        if let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) {
            deliveries.on_lost(segments, now, &mut self.control);
        }
    }

    /// Whether the control wants to know of deliveries and losses one by one.
    #[inline]
    pub fn counts_deliveries(&self) -> bool {
        self.optional.as_deref().is_some_and(OptionalState::counts_deliveries)
    }

    /// Reports the delivery-rate sample of an ACK to the control.
    #[inline]
    pub(super) fn report_delivery(&mut self, recovery: &impl RecoveryRules, now: Time, in_flight_before: u32) {
        let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) else { return };
        let in_flight = (in_flight_before, recovery.in_flight(&self.seq));
        let recovering = self.phase.repairs();
        if let Some(mut delivery) = deliveries.sample(now, self.rtt.min(), in_flight, recovering) {
            if let Some(rtt) = delivery.rtt {
                self.rtt.observe(rtt);
                delivery.min_rtt = self.rtt.min();
            }
            self.control.on_delivery(&delivery);
        }
    }
}

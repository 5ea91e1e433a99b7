//! Reports of single deliveries and losses to controls that ask for them.

use super::core::Core;
use crate::loss::rules::Loss;
use crate::optional::OptionalState;
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Core<C> {
    /// Reports the segments that were found lost to the control, if it wants to know.
    #[inline]
    pub(super) fn report_lost(&mut self) {
        if let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) {
            deliveries.report_lost(&mut self.state.control);
        }
    }

    /// Whether the control wants to know of deliveries and losses one by one.
    #[inline]
    pub fn counts_deliveries(&self) -> bool {
        self.optional.as_deref().is_some_and(OptionalState::counts_deliveries)
    }

    /// Reports the delivery-rate sample of an ACK to the control.
    #[inline]
    pub(super) fn report_delivery(&mut self, loss: &impl Loss, now: Time, in_flight_before: u32) {
        let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) else { return };
        let (min_rtt, in_flight) = (self.state.rtt.min(), loss.in_flight(&self.state.seq));
        let recovering = self.state.phase.repairs();
        if let Some(mut delivery) = deliveries.sample(now, min_rtt, in_flight_before, in_flight, recovering) {
            if let Some(rtt) = delivery.rtt {
                self.state.rtt.observe(rtt);
                delivery.min_rtt = self.state.rtt.min();
            }
            self.state.control.on_delivery(&delivery);
        }
    }
}

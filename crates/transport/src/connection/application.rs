//! Connection whose application writes at intervals: new data, and validation of the window that it did not use.
//!
//! Source: RFC 5681, Section 4.1; [`crate::validation`] has the rules.

use super::{AckInfo, Connection};
use crate::optional::OptionalState;
use crate::recovery::RecoveryRules;
use crate::validation::{Validation, WindowState};
use crate::{Options, Phase, Wire};
use base::Time;
use law::{CongestionControl, Restart};

impl<C: CongestionControl> Connection<C> {
    /// Enables window validation according to `options`, for an application that writes at intervals.
    pub fn expect_writes(&mut self, options: &Options) {
        let validation = Validation::new(options.window_validation, options.initial_window, options.rto_granularity);
        let base = self.seq.base();
        let optional = self.optional.get_or_insert_with(|| Box::new(OptionalState::none(options)));
        optional.validate(validation);
        optional.begin_at(base);
    }

    /// Adds `segments` of data; `None` for as many as can be sent until [`Self::stop`].
    pub fn write(&mut self, recovery: &mut impl RecoveryRules, now: Time, segments: Option<u64>, wire: &mut impl Wire) {
        let is_idle = self.seq.una() == self.seq.high() && self.seq.high() > self.seq.base();
        self.seq.offer(segments);
        if is_idle {
            let state = self.window_state(recovery, now);
            if let Some(validation) = self.validation() {
                let restart = validation.restart(&state);
                self.control.on_restart(&restart);
            }
        }
        let high = self.seq.high();
        recovery.fill(self, now, wire);
        self.arm_timers(recovery, now, self.seq.high() > high);
    }

    /// Validates the window after an ACK and before anything is sent; `phase_before` is the phase when the ACK arrived.
    #[inline(never)]
    pub(super) fn validate_after_ack(&mut self, recovery: &impl RecoveryRules, info: &AckInfo, phase_before: Phase) {
        if info.acked == 0 || self.phase.repairs() {
            return;
        }
        if phase_before == Phase::Recovery {
            self.validate(recovery, info.now, Validation::on_recovered);
        }
        self.validate(recovery, info.now, Validation::on_ack);
    }

    #[inline]
    fn validation(&mut self) -> Option<&mut Validation> {
        self.optional.as_deref_mut().and_then(OptionalState::validation)
    }

    /// State of the sender as input to the validation.
    fn window_state(&self, recovery: &impl RecoveryRules, now: Time) -> WindowState {
        WindowState {
            now,
            cwnd: self.control.cwnd(),
            ssthresh: self.control.ssthresh(),
            in_flight: recovery.in_flight(&self.seq),
            outstanding: self.seq.outstanding(),
            una: self.seq.una(),
            nxt: self.seq.nxt(),
            sent: self.counters.sent,
            retransmitted: self.counters.retransmitted,
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            waits_for_data: self.seq.unsent() == 0 && !self.phase.repairs(),
        }
    }

    /// Applies the result of the validation, where there is one.
    #[inline]
    pub(super) fn validate(
        &mut self,
        recovery: &impl RecoveryRules,
        now: Time,
        ask: impl FnOnce(&mut Validation, &WindowState) -> Option<Restart>,
    ) {
        if self.validation().is_none() {
            return;
        }
        let state = self.window_state(recovery, now);
        if let Some(restart) = self.validation().and_then(|validation| ask(validation, &state)) {
            self.control.on_restart(&restart);
        }
    }
}

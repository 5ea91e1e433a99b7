//! Connection whose application writes at intervals: new data, and validation of the window that it did not use.
//!
//! Source: RFC 5681, Section 4.1; [`crate::validation`] has the rules.

use super::core::Core;
use crate::loss::rules::{AckInfo, Loss};
use crate::optional::OptionalState;
use crate::state::Phase;
use crate::validation::{Validation, WindowState};
use crate::{Options, Wire};
use base::Time;
use law::{CongestionControl, Restart};

impl<C: CongestionControl> Core<C> {
    /// Enables window validation according to `options`, for an application that writes at intervals.
    pub fn expect_writes(&mut self, options: &Options) {
        let validation = Validation::new(options.window_validation, options.initial_window, options.rto_granularity);
        let base = self.state.seq.base();
        let optional = self.optional.get_or_insert_with(|| Box::new(OptionalState::none(options)));
        optional.validate(validation);
        optional.begin_at(base);
    }

    /// Adds `segments` of data; `None` for as many as can be sent until [`crate::Sender::stop`].
    pub fn write(&mut self, loss: &mut impl Loss, now: Time, segments: Option<u64>, wire: &mut impl Wire) {
        let is_idle = self.state.seq.una() == self.state.seq.high() && self.state.seq.high() > self.state.seq.base();
        self.state.seq.offer(segments);
        if is_idle {
            let state = self.window_state(loss, now);
            if let Some(validation) = self.validation() {
                let restart = validation.restart(&state);
                self.state.control.on_restart(&restart);
            }
        }
        let high = self.state.seq.high();
        self.fill(loss, now, wire);
        self.arm_timers(loss, now, self.state.seq.high() > high);
    }

    /// Validates the window after an ACK and before anything is sent; `phase_before` is the phase when the ACK arrived.
    #[inline(never)]
    pub(super) fn validate_after_ack(&mut self, loss: &impl Loss, info: &AckInfo, phase_before: Phase) {
        if info.acked == 0 || self.state.phase.repairs() {
            return;
        }
        if phase_before == Phase::Recovery {
            self.validate(loss, info.now, Validation::on_recovered);
        }
        self.validate(loss, info.now, Validation::on_ack);
    }

    #[inline]
    fn validation(&mut self) -> Option<&mut Validation> {
        self.optional.as_deref_mut().and_then(OptionalState::validation)
    }

    /// State of the sender as input to the validation.
    fn window_state(&self, loss: &impl Loss, now: Time) -> WindowState {
        WindowState {
            now,
            cwnd: self.state.control.cwnd(),
            ssthresh: self.state.control.ssthresh(),
            in_flight: loss.in_flight(&self.state.seq),
            outstanding: self.state.seq.outstanding(),
            una: self.state.seq.una(),
            nxt: self.state.seq.nxt(),
            sent: self.counters.sent,
            retransmitted: self.counters.retransmitted,
            srtt: self.state.rtt.srtt(),
            rto: self.state.rtt.rto(),
            waits_for_data: self.state.seq.unsent() == 0 && !self.state.phase.repairs(),
        }
    }

    /// Applies the result of the validation, where there is one.
    #[inline]
    pub(super) fn validate(
        &mut self,
        loss: &impl Loss,
        now: Time,
        ask: impl FnOnce(&mut Validation, &WindowState) -> Option<Restart>,
    ) {
        if self.validation().is_none() {
            return;
        }
        let state = self.window_state(loss, now);
        if let Some(restart) = self.validation().and_then(|validation| ask(validation, &state)) {
            self.state.control.on_restart(&restart);
        }
    }
}

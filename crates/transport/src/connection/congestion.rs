//! Reductions of the window: by losses, by congestion echoes, and how long each lasts.
//!
//! Source: RFC 5681, Section 3.2; RFC 3168, Section 6.1.2; Linux 6.12, `tcp_enter_cwr` (facts, not text).

use super::{AckInfo, Connection};
use crate::recovery::RecoveryRules;
use crate::{Phase, Wire, selective};
use base::Time;
use law::{CongestionControl, CongestionEvent, Signal};

impl<C: CongestionControl> Connection<C> {
    /// RFC 3168, 6.1.2: at a window of one segment a sender whose segments are marked sends one for each timeout.
    pub(super) fn on_held_timer(&mut self, recovery: &mut impl RecoveryRules, now: Time, wire: &mut impl Wire) {
        self.ecn.hold(false);
        self.timers.set_rto(Time::NEVER);
        let high = self.seq.high();
        recovery.fill(self, now, wire);
        self.arm_timers(recovery, now, self.seq.high() > high);
    }

    /// Reduces the window, once.
    pub(super) fn reduce(&mut self, recovery: &impl RecoveryRules, now: Time, signal: Signal) {
        self.counters.loss_events += 1;
        self.ecn.on_reduction();
        let event = CongestionEvent {
            now,
            signal,
            in_flight: f64::from(recovery.in_flight(&self.seq)),
            delivered: self.delivered(recovery),
            rtt: self.rtt.latest(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            floor: f64::from(self.ecn.floor()),
        };
        let (before, flight) = (self.control.cwnd(), recovery.in_flight(&self.seq));
        self.control.on_congestion(&event);
        match signal {
            Signal::Timeout => self.validate(recovery, now, |validation, state| {
                validation.on_timeout(state.now);
                None
            }),
            Signal::Loss | Signal::Ecn => self.validate(recovery, now, |validation, state| {
                validation.on_congestion(state, before, flight, signal == Signal::Loss)
            }),
        }
    }

    /// Reduces the window and begins a fast retransmit.
    pub fn enter_recovery(&mut self, recovery: &impl RecoveryRules, now: Time) {
        self.ecn.hold(false);
        // One reduction for a window of data, whether it was marked or lost (RFC 3168, 6.1.2).
        if self.phase != Phase::Reduction && (self.seq.is_past_mark() || self.control.needs().marks) {
            self.reduce(recovery, now, Signal::Loss);
        }
        self.seq.begin_recovery();
        self.phase = Phase::Recovery;
        // The segment being timed may be acknowledged only after the repair: its time would not be the path's.
        self.timed.cancel();
        self.restart_rto(now);
    }

    /// Ends a recovery: every loss was repaired.
    pub fn leave_recovery(&mut self) {
        self.phase = Phase::Open;
        self.control.on_recovered();
    }

    /// Tahoe's fast retransmit: as after a timeout, the threshold stays.
    pub fn collapse(&mut self) {
        self.control.collapse();
        self.phase = Phase::Loss;
        self.seq.go_back();
    }

    /// Reacts to a congestion echo: at most one reduction per window, none during a recovery (RFC 3168, 6.1.2).
    pub(super) fn on_echo(&mut self, recovery: &mut impl RecoveryRules, info: &AckInfo) {
        if self.phase != Phase::Open || !self.seq.is_past_echo() {
            return;
        }
        if self.ecn.floor() == 1 && self.control.cwnd() < 2.0 {
            // No window is smaller: the next segment waits for the timer.
            self.ecn.on_reduction();
            self.ecn.hold(true);
            self.restart_rto(info.now);
        } else {
            self.reduce(recovery, info.now, Signal::Ecn);
            self.seq.mark_echo();
            if selective::begin_reduction(recovery, self, info) {
                self.phase = Phase::Reduction;
            }
        }
    }

    /// Ends a reduction: all that was outstanding when it began is acknowledged.
    pub fn leave_reduction(&mut self) {
        self.phase = Phase::Open;
    }
}

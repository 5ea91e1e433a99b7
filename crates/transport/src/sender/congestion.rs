//! Reductions of the window: by losses, by congestion echoes, and how long each lasts.
//!
//! Source: RFC 5681, Section 3.2; RFC 3168, Section 6.1.2; Linux 6.12, `tcp_enter_cwr` (facts, not text).

use super::core::Core;
use crate::events::{CaState, Reason};
use crate::loss::prr::Prr;
use crate::loss::rules::{AckInfo, Begin, Cause, Loss, Segments, Verdict};
use crate::state::Phase;
use crate::{Rto, Wire};
use base::Time;
use law::{CongestionControl, CongestionEvent, Signal};

impl<C: CongestionControl> Core<C> {
    /// RFC 3168, 6.1.2: at a window of one segment a sender whose segments are marked sends one for each timeout.
    pub(super) fn on_held_timer(&mut self, loss: &mut impl Loss, now: Time, wire: &mut impl Wire) {
        self.state.ecn.hold(false);
        self.state.timers.set_rto(Time::NEVER);
        let high = self.state.seq.high();
        self.fill(loss, now, wire);
        self.arm_timers(loss, now, self.state.seq.high() > high);
    }

    /// Reduces the window, once.
    pub(super) fn reduce(&mut self, loss: &impl Loss, now: Time, signal: Signal) {
        self.counters.loss_events += 1;
        if self.may_undo() {
            self.note_reduction(now, signal);
        }
        self.state.ecn.on_reduction();
        let event = CongestionEvent {
            now,
            signal,
            in_flight: f64::from(loss.in_flight(&self.state.seq)),
            delivered: self.delivered(loss),
            rtt: self.state.rtt.latest(),
            srtt: self.state.rtt.srtt(),
            min_rtt: self.state.rtt.min(),
            floor: f64::from(self.state.ecn.floor()),
        };
        let (before, flight) = (self.state.control.cwnd(), loss.in_flight(&self.state.seq));
        self.state.control.on_congestion(&event);
        match signal {
            Signal::Timeout => self.validate(loss, now, |validation, state| {
                validation.on_timeout(state.now);
                None
            }),
            Signal::Loss | Signal::Ecn => self.validate(loss, now, |validation, state| {
                validation.on_congestion(state, before, flight, signal == Signal::Loss)
            }),
        }
    }

    /// Does what follows from an ACK: ends a recovery, grows the window, begins a recovery, retransmits.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK")]
    pub(super) fn act_on_ack<L: Loss>(&mut self, loss: &mut L, info: &AckInfo, wire: &mut impl Wire) {
        let log = self.log(wire);
        let mut segments = Segments::new(info.now, &mut self.departures, &mut self.optional, log);
        let verdict = loss.decide(&self.state, &mut segments, info);
        self.report_lost();
        let safe = info.acked > 0 && !verdict.lost;
        if matches!(self.state.phase, Phase::Reduction | Phase::Recovery) {
            self.report_marks(loss, info);
        }
        match self.state.phase {
            Phase::Open if info.acked > 0 => self.grow(loss, info, self.gained(info)),
            Phase::Open => {
                // The ACK that begins a recovery does not grow the window, as in Linux (`tcp_cong_control`).
                let grows = info.report.sacked > 0 && verdict.begins.is_none() && loss.grows_by_sacks();
                if grows && self.state.rtt.options().rule() == Rto::Linux {
                    self.grow(loss, info, self.gained(info));
                }
            }
            Phase::Reduction if self.state.seq.is_past_mark() => {
                self.state.phase = Phase::Open;
                self.log_repaired(loss, info.now, Reason::Recovered, wire);
            }
            Phase::Recovery if verdict.ends => self.leave_recovery(loss, info.now, Reason::Recovered, wire),
            Phase::Reduction | Phase::Recovery => self.count_delivered(loss, info.report.delivered, safe),
            Phase::Loss => {
                if self.state.seq.is_recovered() {
                    self.leave_recovery(loss, info.now, Reason::Recovered, wire);
                }
                // An ACK may acknowledge many segments that arrived long ago. It counts as one segment at most (RFC
                // 3465, Section 2.1: L = 1).
                self.grow(loss, info, info.acked.min(1));
            }
        }
        let cause = Cause { delivered: info.report.delivered, reason: L::RULE };
        self.act(loss, info.now, &verdict, cause, wire);
    }

    /// Whether the control learns of every ACK in a recovery, too.
    #[inline]
    pub(super) fn counts_marks(&self) -> bool {
        self.state.ecn.is_on() && self.state.control.needs().marks && !self.counts_deliveries()
    }

    /// Reports an ACK in a recovery or a reduction to a law that counts marks (Linux: `in_ack_event`).
    fn report_marks(&mut self, loss: &impl Loss, info: &AckInfo) {
        let delivered = info.report.delivered;
        if delivered > 0 && self.counts_marks() {
            self.state.control.on_recovery_ack(&self.ack_sample(loss, info, delivered));
        }
    }

    /// Does what follows from a verdict: sets timers, begins a recovery, retransmits.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK")]
    pub(super) fn act(
        &mut self,
        loss: &mut impl Loss,
        now: Time,
        verdict: &Verdict,
        cause: Cause,
        wire: &mut impl Wire,
    ) {
        if let Some(at) = verdict.reorder_at {
            self.state.timers.set_reorder(at);
        }
        if let Some(begin) = verdict.begins {
            self.begin_recovery(loss, now, begin, cause, wire);
        }
        if let Some(at) = verdict.rto_at {
            self.state.timers.set_rto(at);
        }
        if verdict.retransmits {
            self.send_pending(loss, now, wire);
        }
    }

    /// Reduces the window and begins a recovery; under PRR, counts from now on what may be sent.
    #[inline(never)]
    fn begin_recovery(
        &mut self,
        loss: &mut impl Loss,
        now: Time,
        begin: Begin,
        Cause { delivered, reason }: Cause,
        wire: &mut impl Wire,
    ) {
        self.log(wire);
        let before = self.state.phase;
        self.state.ecn.hold(false);
        // One reduction for a window of data, whether it was marked or lost (RFC 3168, 6.1.2).
        if before != Phase::Reduction && (self.state.seq.is_past_mark() || self.state.control.needs().marks) {
            self.reduce(loss, now, Signal::Loss);
        } else {
            self.forget_reduction();
        }
        self.state.seq.begin_recovery();
        self.state.phase = Phase::Recovery;
        // The segment being timed may be acknowledged only after the repair: its time would not be the path's.
        self.timed.cancel();
        self.restart_rto(now);
        if begin == Begin::SlowStart {
            // As after a timeout; the threshold stays.
            self.state.control.collapse();
            self.state.phase = Phase::Loss;
            self.state.seq.go_back();
        } else if before != Phase::Reduction {
            // `flight` is the data that this recovery has to deliver: without the segments SACKed before this ACK, with
            // those that it reports. The ACK shows losses, so it is not safe. After a reduction, the PRR state of the
            // reduction continues (`tcp_enter_recovery` of Linux).
            let flight = self.state.seq.outstanding() - loss.sacked() + delivered;
            self.begin_prr(loss, flight, delivered, false);
        }
        let state = if begin == Begin::SlowStart { CaState::Loss } else { CaState::Recovery };
        self.log_state(now, state, reason, wire);
    }

    /// Ends a recovery: every loss was repaired, or there was none.
    pub(super) fn leave_recovery(&mut self, loss: &impl Loss, now: Time, reason: Reason, wire: &mut impl Wire) {
        self.log(wire);
        self.state.phase = Phase::Open;
        self.state.control.on_recovered();
        self.log_repaired(loss, now, reason, wire);
    }

    /// Starts PRR, if it is in use: `flight` segments are to be delivered, and the present ACK reported `delivered` of
    /// them. Returns whether PRR is in use.
    fn begin_prr(&mut self, loss: &mut impl Loss, flight: u32, delivered: u32, safe: bool) -> bool {
        let in_flight = loss.in_flight(&self.state.seq);
        let Some(prr) = loss.prr() else { return false };
        *prr = Prr::new(flight, in_flight);
        self.count_delivered(loss, delivered, safe);
        true
    }

    /// Updates PRR, where it is in use, for an ACK that reported `delivered` segments; `safe` is RFC 9937's `SafeACK`.
    #[inline]
    pub(super) fn count_delivered(&self, loss: &mut impl Loss, delivered: u32, safe: bool) {
        let in_flight = loss.in_flight(&self.state.seq);
        if let Some(prr) = loss.prr() {
            prr.on_ack(delivered, in_flight, self.state.control.ssthresh() as u32, safe);
        }
    }

    /// Notes for PRR that a segment is sent: those sent in recovery count.
    #[inline]
    pub(super) fn count_sent(&self, loss: &mut impl Loss) {
        if matches!(self.state.phase, Phase::Recovery | Phase::Reduction)
            && let Some(prr) = loss.prr()
        {
            prr.on_transmit();
        }
    }

    /// Reacts to a congestion echo: at most one reduction per window, none during a recovery (RFC 3168, 6.1.2).
    pub(super) fn on_echo(&mut self, loss: &mut impl Loss, info: &AckInfo, wire: &mut impl Wire) {
        if self.state.phase != Phase::Open || !self.state.seq.is_past_echo() {
            return;
        }
        if self.state.ecn.floor() == 1 && self.state.control.cwnd() < 2.0 {
            // The window cannot become smaller, so the next segment waits for the timer.
            self.state.ecn.on_reduction();
            self.state.ecn.hold(true);
            self.restart_rto(info.now);
        } else {
            self.log(wire);
            self.reduce(loss, info.now, Signal::Ecn);
            self.state.seq.mark_echo();
            self.log_cut(info.now, Reason::Ecn, wire);
            // Under PRR the window falls gradually to ssthresh (`TCP_CA_CWR`); this ACK is the first.
            if self.begin_prr(loss, info.in_flight_before, info.report.delivered, info.acked > 0) {
                self.state.phase = Phase::Reduction;
            } else {
                self.log_repaired(loss, info.now, Reason::Ecn, wire);
            }
        }
    }
}

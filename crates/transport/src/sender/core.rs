//! Sender without its recovery: what follows from ACKs and timers. The recovery reads the state and returns decisions
//! ([`crate::loss::rules`]).
//!
//! Source: RFC 5681, RFC 6298 (timer), RFC 3042 (limited transmit), RFC 3168 (ECN).

use super::kept::Kept;
use crate::ecn::EcnSender;
use crate::events::{CaState, EventKind, Reason};
use crate::loss::rules::{AckInfo, Cause, Loss, Report, Restart, Segments};
use crate::optional::OptionalState;
use crate::options::Rto;
use crate::rtt::{TimedSegment, TimerOptions};
use crate::sequence::{MAX_OUTSTANDING, Outstanding, SequenceSpace};
use crate::state::{Phase, SenderState};
use crate::switches::Switches;
use crate::timers::{Due, Timers};
use crate::validation::Validation;
use crate::{Ack, Counters, Options, Rtt, WindowLimits, Wire};
use base::{Span, Time};
use law::{AckSample, CongestionControl, Signal};
use std::sync::Arc;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Core<C> {
    pub state: SenderState<C>,
    pub(super) timed: TimedSegment,
    /// Transmission times of the outstanding segments, where the recovery, the control, the pacer or timestamps need them.
    /// And the last reduction, where duplicates are reported.
    pub(super) departures: Option<Box<Kept<C>>>,
    pub(super) optional: Option<Box<OptionalState>>,
    pub(super) counters: Counters,
}

impl<C: CongestionControl> Core<C> {
    /// Creates a connection of `data_end` segments. `departures` says whether the recovery uses transmission times.
    pub fn new(control: C, options: &Options, data_end: u64, departures: bool) -> Self {
        let needs = control.needs();
        let window = options.receive_window.segments();
        let optional = OptionalState::new(needs, options, control.pacing_rate().is_some());
        let paced = optional.as_deref().is_some_and(OptionalState::asks_departures);
        let departures = departures || options.timestamps || needs.every_rtt || paced;
        Self {
            departures: departures.then(Box::default),
            optional,
            state: SenderState {
                seq: SequenceSpace::new(0, data_end),
                timers: Timers::new(),
                rtt: Rtt::new(Arc::new(TimerOptions::new(options))),
                phase: Phase::Open,
                ecn: EcnSender::new(options.ecn.flags(needs), if needs.marks { 2 } else { options.ecn_floor }),
                switches: Switches::new(options, needs),
                receive_window: window.unwrap_or(MAX_OUTSTANDING),
                control,
            },
            timed: TimedSegment::none(),
            counters: Counters::default(),
        }
    }

    /// Uses the limits within which the receiver tunes its window.
    pub fn follow_window(&mut self, limits: WindowLimits, options: &Options) {
        self.state.receive_window = limits.initial();
        self.optional.get_or_insert_with(|| Box::new(OptionalState::none(options))).follow_window(limits);
    }

    /// Sets the number of the first segment to `first`. Call it before anything is sent.
    pub fn begin_at(&mut self, first: u64) {
        self.state.seq = SequenceSpace::new(first, self.state.seq.unsent());
        self.state.rtt.begin_at(first);
        self.begin_optional_at(first);
    }

    /// Sets the number of the first segment where data of single segments is kept.
    fn begin_optional_at(&mut self, first: u64) {
        if let Some(departures) = self.departures.as_deref_mut() {
            departures.begin_at(first);
        }
        if let Some(optional) = self.optional.as_deref_mut() {
            optional.begin_at(first);
        }
    }

    /// Continues after the previous connection, with its counters and first timeout. The `segments` of this connection
    /// have numbers after all of the previous one's.
    pub fn follow(&mut self, seq: &SequenceSpace, rtt: &Rtt, counters: Counters, segments: u64) {
        self.state.seq = SequenceSpace::after(seq, segments);
        self.state.rtt.follow(rtt);
        self.state.rtt.begin_at(self.state.seq.base());
        self.begin_optional_at(self.state.seq.base());
        self.counters = counters;
    }

    /// Restarts the retransmission timer.
    pub fn restart_rto(&mut self, now: Time) {
        self.state.timers.set_rto(now + self.state.rtt.rto());
    }

    /// Largest number of segments by which one ACK grows the window in slow start.
    #[inline]
    pub(super) fn abc_limit(&self) -> f64 {
        self.optional.as_deref().map_or_else(|| self.state.switches.abc_limit(), OptionalState::abc_limit)
    }

    /// Starts the connection: sends the initial window.
    pub fn start(&mut self, loss: &mut impl Loss, now: Time, wire: &mut impl Wire) {
        self.fill(loss, now, wire);
        self.arm_timers(loss, now, true);
    }

    /// Processes an acknowledgement.
    #[inline]
    pub fn on_ack<L: Loss>(&mut self, loss: &mut L, now: Time, ack: &Ack, wire: &mut impl Wire) {
        if self.may_undo() {
            self.take_noticing(loss, now, ack, wire);
        } else {
            self.take_ack::<L, false>(loss, now, ack, wire);
        }
    }

    /// [`Self::on_ack`] of a sender that expects reports of duplicates.
    #[cold]
    #[inline(never)]
    fn take_noticing<L: Loss>(&mut self, loss: &mut L, now: Time, ack: &Ack, wire: &mut impl Wire) {
        self.take_ack::<L, true>(loss, now, ack, wire);
    }

    /// Processes an acknowledgement. `NOTICES`: it may report duplicates, and reductions may be undone.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "twice in the code, and once in all but few senders")]
    fn take_ack<L: Loss, const NOTICES: bool>(&mut self, loss: &mut L, now: Time, ack: &Ack, wire: &mut impl Wire) {
        if !self.state.seq.accepts(ack.cum) {
            return;
        }
        let in_flight_before = loss.in_flight(&self.state.seq);
        let phase_before = self.state.phase;
        let rtt = self.sample(now, ack.cum);
        let mut info = AckInfo {
            now,
            acked: (ack.cum - self.state.seq.una()) as u32,
            marked: ack.ece,
            in_flight_before,
            // Limited by cwnd itself: a sender that the receive window limits must not grow cwnd.
            limited: self.state.phase != Phase::Open
                || in_flight_before >= self.state.control.cwnd() as u32
                || self.counts_as_full()
                || NOTICES && self.is_full_of_sacked(),
            rtt,
            round_start: rtt.is_some(),
            report: Report::default(),
        };
        let stamped = self.state.switches.timestamps().then(|| self.ack_times(loss, now, ack));
        if stamped.is_none() {
            self.sample_departure(loss, &mut info, ack);
        }
        if NOTICES {
            self.note_evidence(ack, stamped.as_ref());
        }
        if let Some(optional) = self.optional.as_deref_mut() {
            optional.on_ack(now, ack, info.limited, &mut self.state);
        }
        let log = self.log(wire).map(|log| log.acknowledge(info.acked));
        let mut segments = Segments::new(now, &mut self.departures, &mut self.optional, log);
        info.report = loss.on_ack(&self.state, &mut segments, ack, info.acked);
        if NOTICES {
            info.report.delivered += self.delivered_in_vain(ack);
        }
        self.report_lost();
        if let Some(times) = stamped {
            self.sample_stamped(&mut info, ack, &times);
        }
        if info.acked > 0 {
            if !L::USES_DEPARTURES
                && let Some(departures) = self.departures.as_deref_mut()
            {
                departures.advance(ack.cum);
            }
            self.state.seq.acknowledge(ack.cum);
            self.state.timers.set_rto(if self.state.seq.outstanding() == 0 {
                Time::NEVER
            } else {
                now + self.state.rtt.rto()
            });
        }
        if NOTICES {
            self.try_undo(loss, &info, wire);
        }
        self.act_on_ack(loss, &info, wire);
        if info.report.probe_repaired && !self.state.phase.repairs() {
            // RFC 8985, 7.4: the response is that of a fast recovery which ends at once. A mark in the same window is
            // the same event.
            self.log(wire);
            self.reduce(loss, now, Signal::Loss);
            self.state.seq.mark_echo();
            self.log_cut(now, Reason::ProbeRepaired, wire);
            self.state.control.on_recovered();
            self.log_repaired(loss, now, Reason::ProbeRepaired, wire);
        }
        if self.state.ecn.is_on() {
            if ack.ece {
                self.on_echo(loss, &info, wire);
            } else if info.acked > 0 {
                self.state.ecn.hold(false);
            }
            if self.state.ecn.is_held() && self.state.timers.rto() == Time::NEVER {
                self.restart_rto(now);
            }
        }
        if self.counts_deliveries() {
            self.report_delivery(loss, now, in_flight_before);
        }
        if self.optional.as_deref().is_some_and(OptionalState::validates) {
            self.validate_after_ack(loss, &info, phase_before);
        }
        let high = self.state.seq.high();
        if !(NOTICES && self.tests_timeout(&info) && self.send_test(loss, now, wire)) {
            self.fill(loss, now, wire);
        }
        self.arm_timers(loss, now, info.acked > 0 || self.state.seq.high() > high);
        self.log_order(loss, &info, wire);
    }

    /// Whether the window counts as full although the pace holds segments back.
    #[inline]
    fn counts_as_full(&self) -> bool {
        let waits = self.state.timers.is_pacing();
        self.optional.as_deref().is_some_and(|optional| optional.counts_as_full(&self.state.control, waits))
    }

    /// Whether the window is full although the pipe is not: segments that were SACKed count, too, while nothing is lost
    /// (RFC 5681, `FlightSize`).
    #[inline]
    fn is_full_of_sacked(&self) -> bool {
        self.state.seq.outstanding() >= self.state.control.cwnd() as u32
    }

    /// Takes the round-trip sample of the timed segment, if `cum` acknowledges it.
    #[inline]
    pub(super) fn sample(&mut self, now: Time, cum: u64) -> Option<Span> {
        let rtt = self.timed.on_ack(now, cum)?;
        if !self.state.switches.timestamps() {
            self.state.rtt.sample(rtt, Outstanding { una: cum, nxt: self.state.seq.nxt() });
        }
        Some(rtt)
    }

    /// Measures the round-trip time of the last acknowledged segment, where the times of departures are kept.
    #[inline]
    fn sample_departure(&mut self, loss: &impl Loss, info: &mut AckInfo, ack: &Ack) {
        // In recovery, and while segments are SACKed, a segment may be acknowledged long after it arrived.
        if info.acked == 0 || self.state.phase.repairs() || loss.sacked() > 0 {
            return;
        }
        if let Some(departure) = self.departures.as_deref().and_then(|departures| departures.get(ack.cum - 1))
            && !departure.again()
        {
            let rtt = info.now - departure.time();
            self.state.rtt.observe(rtt);
            if let Some(optional) = self.optional.as_deref_mut() {
                optional.on_rtt(rtt);
            }
            if self.state.switches.every_rtt() {
                info.rtt = Some(rtt);
            }
        }
    }

    /// Handles the timers that have expired, if any has.
    pub fn on_timer(&mut self, loss: &mut impl Loss, now: Time, wire: &mut impl Wire) {
        if let Some(due) = self.state.timers.take_others_due(now) {
            self.on_other_timers(loss, now, due, wire);
        }
        if self.state.timers.is_rto_due(now) {
            if self.state.ecn.is_held() && self.state.seq.outstanding() == 0 {
                return self.on_held_timer(loss, now, wire);
            }
            self.on_timeout(loss, now, wire);
        }
    }

    fn on_other_timers(&mut self, loss: &mut impl Loss, now: Time, due: Due, wire: &mut impl Wire) {
        let high = self.state.seq.high();
        if due.reorder {
            let log = self.log_event(now, EventKind::ReorderTimer, Reason::ReorderTimer, None, wire);
            let mut segments = Segments::new(now, &mut self.departures, &mut self.optional, log);
            let verdict = loss.on_reorder_timer(&self.state, &mut segments);
            self.report_lost();
            self.act(loss, now, &verdict, Cause { delivered: 0, reason: Reason::ReorderTimer }, wire);
        } else if due.probe {
            let mut segments = Segments::new(now, &mut self.departures, &mut self.optional, None);
            if let Some(next) = loss.on_probe_timer(&self.state, &mut segments) {
                let (reason, segment) = self.probed(next);
                self.log_event(now, EventKind::Probe, reason, segment, wire);
                self.send(loss, now, next, wire);
            }
            self.restart_rto(now);
            self.state.timers.set_probe(Time::NEVER);
        }
        self.fill(loss, now, wire);
        self.arm_timers(loss, now, self.state.seq.high() > high);
    }

    fn on_timeout<L: Loss>(&mut self, loss: &mut L, now: Time, wire: &mut impl Wire) {
        self.counters.timeouts += 1;
        self.state.ecn.hold(false);
        self.state.timers.set_reorder(Time::NEVER);
        self.state.timers.set_probe(Time::NEVER);
        let log = self.log(wire).map(|log| log.timed_out(now));
        let mut segments = Segments::new(now, &mut self.departures, &mut self.optional, log);
        let restart = loss.on_timeout(&self.state, &mut segments);
        self.report_lost();
        let is_first = self.state.seq.on_timeout();
        if L::USES_DEPARTURES && self.may_undo() {
            self.begin_frto(!is_first || !self.state.phase.repairs());
        }
        if is_first {
            self.reduce(loss, now, Signal::Timeout);
        } else {
            self.state.control.collapse();
        }
        self.state.rtt.back_off();
        self.timed.cancel();
        self.state.seq.begin_recovery();
        self.state.phase = Phase::Loss;
        self.log_state(now, CaState::Loss, Reason::Rto, wire);
        self.restart_rto(now);
        match restart {
            Restart::GoBack => self.state.seq.go_back(),
            Restart::Next => {
                if let Some(next) = self.next(loss, now) {
                    self.send(loss, now, next, wire);
                }
            }
            Restart::Fill => {}
        }
        self.fill(loss, now, wire);
        self.arm_timers(loss, now, false);
    }

    /// Sets the timers other than the retransmission timer, after everything else. `moved` says whether there was
    /// progress or a new segment left.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK, where most senders have nothing but the recovery's")]
    pub(super) fn arm_timers(&mut self, loss: &mut impl Loss, now: Time, moved: bool) {
        if self.optional.is_some() {
            self.note_sent(loss, now);
        }
        self.arm_probe(loss, now, moved);
    }

    /// Sets the timer of the tail-loss probe.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as `arm_timers`")]
    pub(super) fn arm_probe(&mut self, loss: &impl Loss, now: Time, moved: bool) {
        if let Some(at) = loss.probe_at(&self.state, now, moved) {
            self.state.timers.set_probe(at);
        }
    }

    /// Updates optional state (pacing, bursts, validation) after everything that may be sent has been sent.
    #[inline(never)]
    pub(super) fn note_sent(&mut self, loss: &impl Loss, now: Time) {
        let pacer = self.optional.as_deref_mut().and_then(OptionalState::pacer);
        if let Some(pacer) = pacer.filter(|pacer| pacer.notes_window_use()) {
            let (cwnd, sent) = (self.state.control.cwnd() as u32, self.counters.sent);
            pacer.note_window_use(&self.state.seq, loss.in_flight(&self.state.seq), cwnd, sent);
        }
        if self.state.seq.unsent() == 0 {
            self.note_idle_application(loss);
        }
        self.validate(loss, now, Validation::after_sending);
    }

    /// Sets `app_limited` in the delivery-rate estimator, where there is one; called when there is nothing more to send.
    fn note_idle_application(&mut self, loss: &impl Loss) {
        let window = self.state.window();
        let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) else { return };
        let in_flight = loss.in_flight(&self.state.seq);
        if !loss.has_lost() && in_flight < window {
            deliveries.limited_by_application(in_flight);
        }
    }

    /// Segments that have reached the receiver, as the sender knows.
    #[inline]
    pub fn delivered(&self, loss: &impl Loss) -> u64 {
        self.state.seq.acknowledged() + u64::from(loss.sacked())
    }

    /// Number of segments by which an ACK grows the window: those it acknowledges (RFC 5681), or in Linux those newly
    /// delivered, SACKed segments included and those SACKed before excluded (`acked_sacked` of `tcp_cong_avoid`).
    #[inline]
    pub fn gained(&self, info: &AckInfo) -> u32 {
        if self.state.rtt.options().rule() == Rto::Linux { info.report.delivered } else { info.acked }
    }

    /// Grows the window for `acked` segments.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK")]
    pub fn grow(&mut self, loss: &impl Loss, info: &AckInfo, acked: u32) {
        // RFC 3168, 6.1.2: an ACK that echoes a mark does not grow the window. Laws that count marks decide for themselves.
        let marked = info.marked && self.state.ecn.is_on() && !self.state.control.needs().marks;
        if acked == 0 || marked || self.counts_deliveries() {
            return;
        }
        self.state.control.on_ack(&self.ack_sample(loss, info, acked));
    }

    /// Sample for the control of an ACK that counts as `acked` segments.
    #[inline]
    pub(super) fn ack_sample(&self, loss: &impl Loss, info: &AckInfo, acked: u32) -> AckSample {
        AckSample {
            now: info.now,
            acked: f64::from(acked),
            ce_marked: if info.marked { f64::from(acked) } else { 0.0 },
            rtt: info.rtt,
            delivered: self.delivered(loss),
            round_start: info.round_start,
            srtt: self.state.rtt.srtt(),
            min_rtt: self.state.rtt.min(),
            in_flight: f64::from(info.in_flight_before),
            cwnd_limited: info.limited,
            abc_limit: self.abc_limit(),
            paced: self.optional.as_deref().is_some_and(OptionalState::spaces),
        }
    }
}

//! State that all loss recoveries share: sequence numbers, window, timers, round-trip times, and the sending of a segment.
//! The recoveries ([`crate::recovery`]) use it only through its methods.
//!
//! Source: RFC 5681, RFC 6298 (timer), RFC 3042 (limited transmit), RFC 3168 (ECN).

mod application;
mod congestion;
mod delivered;
mod pace;
mod paced;
mod repairs;
mod runs;
mod stamped;

use crate::bursts::Ask;
use crate::departures::Departure;
use crate::ecn::EcnSender;
use crate::habits::Habits;
use crate::optional::OptionalState;
use crate::options::Rto;
use crate::recovery::RecoveryRules;
use crate::rtt::{Round, TimedSegment, TimerOptions};
use crate::sequence::{MAX_OUTSTANDING, SequenceSpace};
use crate::timers::{Due, Timers};
use crate::validation::Validation;
use crate::{Ack, Counters, DUP_THRESH, Options, Phase, Rtt, WindowLimits, Wire};
use base::{Flags, Span, Time};
use law::{AckSample, CongestionControl, Signal};
use std::sync::Arc;

/// Contents of an acknowledgement before a recovery has interpreted it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what an ACK may say besides numbers")]
pub struct AckInfo {
    pub now: Time,
    /// Segments newly acknowledged.
    pub acked: u32,
    /// Segments newly SACKed.
    pub sacked: u32,
    /// Transmission times of the first and the last of those that were sent once, where the recovery keeps them.
    pub sacked_ends: Option<(Time, Time)>,
    /// Number of segments that it reported as delivered, cumulatively or selectively.
    pub delivered: u32,
    /// Whether it echoes a congestion mark.
    pub marked: bool,
    /// Segments in flight before it.
    pub in_flight_before: u32,
    /// Whether the window limited the sender (Linux: `is_cwnd_limited`).
    pub limited: bool,
    /// Round-trip sample that it gave.
    pub rtt: Option<Span>,
    /// Whether it acknowledged the segment being timed.
    pub round_start: bool,
    /// Whether it shows further losses, for recoveries that ask.
    pub lost: bool,
    /// Whether it says that a tail-loss probe repaired a loss that was not detected otherwise.
    pub probe_repaired: bool,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Connection<C> {
    seq: SequenceSpace,
    timers: Timers,
    timed: TimedSegment,
    rtt: Rtt,
    control: C,
    phase: Phase,
    ecn: EcnSender,
    habits: Habits,
    receive_window: u32,
    optional: Option<Box<OptionalState>>,
    counters: Counters,
}

impl<C: CongestionControl> Connection<C> {
    /// Creates a connection of `data_end` segments. `departures` says whether the recovery keeps them.
    pub fn new(control: C, options: &Options, data_end: u64, departures: bool) -> Self {
        let needs = control.needs();
        let window = options.receive_window.segments();
        Self {
            seq: SequenceSpace::new(0, data_end),
            timers: Timers::new(),
            timed: TimedSegment::none(),
            rtt: Rtt::new(Arc::new(TimerOptions::new(options))),
            phase: Phase::Open,
            ecn: EcnSender::new(options.ecn.flags(needs.marks), if needs.marks { 2 } else { options.ecn_floor }),
            habits: Habits::new(options, needs),
            receive_window: window.unwrap_or(MAX_OUTSTANDING),
            optional: OptionalState::new(needs, options, control.pacing_rate().is_some(), departures),
            control,
            counters: Counters::default(),
        }
    }

    /// Uses the limits within which the receiver tunes its window.
    pub fn follow_window(&mut self, limits: WindowLimits, options: &Options) {
        self.receive_window = limits.initial();
        self.optional.get_or_insert_with(|| Box::new(OptionalState::none(options))).follow_window(limits);
    }

    /// Sets the receive window to `segments`.
    pub fn set_receive_window(&mut self, segments: u32) {
        self.receive_window = segments.min(MAX_OUTSTANDING);
    }

    /// Shares `options` of the timers with other connections. Call it before anything is sent.
    pub fn share(&mut self, options: Arc<TimerOptions>) {
        self.rtt.share(options);
    }

    /// Takes the sample of the handshake, before anything else is sent: see [`Rtt::shake_hands`].
    pub fn shake_hands(&mut self, sample: Span, longest: Span) {
        self.rtt.shake_hands(sample, longest);
    }

    /// Sets the number of the first segment to `first`. Call it before anything is sent.
    pub fn begin_at(&mut self, first: u64) {
        self.seq = SequenceSpace::new(first, self.seq.unsent());
        self.rtt.begin_at(first);
        if let Some(optional) = self.optional.as_deref_mut() {
            optional.begin_at(first);
        }
    }

    /// Continues after `last`, the connection before it, with its numbers, counters and first timeout: `segments` with
    /// numbers after all of its.
    pub fn follow(&mut self, last: (&SequenceSpace, &Rtt), counters: Counters, segments: u64) {
        self.seq = SequenceSpace::after(last.0, segments);
        self.rtt.follow(last.1);
        self.rtt.begin_at(self.seq.base());
        if let Some(optional) = self.optional.as_deref_mut() {
            optional.begin_at(self.seq.base());
        }
        self.counters = counters;
    }

    /// The sequence numbers.
    #[inline]
    pub fn seq(&self) -> &SequenceSpace {
        &self.seq
    }

    /// The congestion control.
    #[inline]
    pub fn control(&self) -> &C {
        &self.control
    }

    pub fn control_mut(&mut self) -> &mut C {
        &mut self.control
    }

    /// Flags of new data, as long as nothing has reduced the window.
    pub fn data_flags(&self) -> Flags {
        self.ecn.data()
    }

    /// The round-trip estimator.
    #[inline]
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Phase of congestion control and recovery (Linux: `ca_state`).
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Counts of segments and events since the start.
    #[inline]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Expiry of the next timer.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.deadline()
    }

    /// Expiry of the next timer other than the pacing timer.
    #[inline]
    pub fn deadline_but_pacing(&self) -> Time {
        self.timers.deadline_but_pacing()
    }

    /// Expiry of the retransmission timer.
    #[inline]
    pub fn rto_at(&self) -> Time {
        self.timers.rto()
    }

    /// Sets the retransmission timer to `at`.
    pub fn set_rto_at(&mut self, at: Time) {
        self.timers.set_rto(at);
    }

    /// Restarts the retransmission timer.
    pub fn restart_rto(&mut self, now: Time) {
        self.timers.set_rto(now + self.rtt.rto());
    }

    /// Sets RACK's reordering timer to `at`.
    pub fn set_reorder_at(&mut self, at: Time) {
        self.timers.set_reorder(at);
    }

    /// Stops RACK's reordering timer.
    #[inline]
    pub fn stop_reorder(&mut self) {
        self.timers.set_reorder(Time::NEVER);
    }

    /// Sets the timer of the tail-loss probe to `at`.
    #[inline]
    pub fn set_probe_at(&mut self, at: Time) {
        self.timers.set_probe(at);
    }

    /// Ends the data: the application has nothing to offer beyond what was sent.
    pub fn stop(&mut self) {
        self.seq.stop();
    }

    /// Congestion window in whole segments.
    #[inline]
    pub fn window(&self) -> u32 {
        if self.ecn.is_held() { 0 } else { (self.control.cwnd() as u32).min(self.receive_window) }
    }

    /// Largest number of segments by which one ACK grows the window in slow start.
    #[inline]
    fn abc_limit(&self) -> f64 {
        self.optional.as_deref().map_or_else(|| self.habits.abc_limit(), OptionalState::abc_limit)
    }

    /// Whether another new segment may be sent as far as receiver and application are concerned.
    #[inline]
    pub fn has_new(&self) -> bool {
        self.seq.unsent() > 0 && self.seq.outstanding() < self.receive_window
    }

    /// Starts the connection: sends the initial window.
    pub fn start(&mut self, recovery: &mut impl RecoveryRules, now: Time, wire: &mut impl Wire) {
        recovery.fill(self, now, wire);
        self.arm_timers(recovery, now, true);
    }

    /// Processes an acknowledgement.
    pub fn on_ack(&mut self, recovery: &mut impl RecoveryRules, now: Time, ack: &Ack, wire: &mut impl Wire) {
        if !self.seq.accepts(ack.cum) {
            return;
        }
        let in_flight_before = recovery.in_flight(&self.seq);
        let phase_before = self.phase;
        let rtt = self.sample(now, ack.cum);
        let mut info = AckInfo {
            now,
            acked: (ack.cum - self.seq.una()) as u32,
            sacked: 0,
            sacked_ends: None,
            delivered: 0,
            marked: ack.ece,
            in_flight_before,
            // Held back by cwnd itself: a sender that the receive window holds back must not grow it.
            limited: self.phase != Phase::Open
                || in_flight_before >= self.control.cwnd() as u32
                || self.counts_as_full(),
            rtt,
            round_start: rtt.is_some(),
            lost: false,
            probe_repaired: false,
        };
        let stamped = self.habits.timestamps().then(|| self.ack_times(recovery, ack));
        if stamped.is_none() {
            self.sample_departure(recovery, &mut info, ack);
        }
        if let Some(optional) = self.optional.as_deref_mut() {
            optional.on_ack(ack, &info, &mut self.control, (&mut self.receive_window, &mut self.ecn));
        }
        recovery.on_report(self, &mut info, ack);
        if let Some(times) = stamped {
            self.sample_stamped(recovery, &mut info, ack, &times);
        }
        if info.acked > 0 {
            if let Some(optional) = self.optional.as_deref_mut() {
                optional.forget_below(ack.cum);
            }
            self.seq.acknowledge(ack.cum);
            self.timers.set_rto(if self.seq.outstanding() == 0 { Time::NEVER } else { now + self.rtt.rto() });
        }
        recovery.on_ack(self, &info, wire);
        if info.probe_repaired && !self.phase.repairs() {
            // RFC 8985, 7.4: as after a fast recovery, which is over at once. A mark in the same window is the same event.
            self.reduce(recovery, now, Signal::Loss);
            self.seq.mark_echo();
            self.control.on_recovered();
        }
        if self.ecn.is_on() {
            if ack.ece {
                self.on_echo(recovery, &info);
            } else if info.acked > 0 {
                self.ecn.hold(false);
            }
            if self.ecn.is_held() && self.timers.rto() == Time::NEVER {
                self.restart_rto(now);
            }
        }
        if self.counts_deliveries() {
            self.report_delivery(recovery, now, in_flight_before);
        }
        if self.optional.as_deref().is_some_and(OptionalState::validates) {
            self.validate_after_ack(recovery, &info, phase_before);
        }
        let high = self.seq.high();
        recovery.fill(self, now, wire);
        self.arm_timers(recovery, now, info.acked > 0 || self.seq.high() > high);
    }

    /// Whether the window counts as full although the pace holds segments back.
    #[inline]
    fn counts_as_full(&self) -> bool {
        let waits = self.timers.is_pacing();
        self.optional.as_deref().is_some_and(|optional| optional.counts_as_full(&self.control, waits))
    }

    /// Takes the round-trip sample of the timed segment, if `cum` acknowledges it.
    #[inline]
    fn sample(&mut self, now: Time, cum: u64) -> Option<Span> {
        let rtt = self.timed.on_ack(now, cum)?;
        if !self.habits.timestamps() {
            self.rtt.sample(rtt, Round { una: cum, nxt: self.seq.nxt() });
        }
        Some(rtt)
    }

    /// Measures the round-trip time of the last acknowledged segment, where the times of departures are kept.
    #[inline]
    fn sample_departure(&mut self, recovery: &mut impl RecoveryRules, info: &mut AckInfo, ack: &Ack) {
        // In recovery a number may be acknowledged long after its segment arrived, and so above what is SACKed.
        if info.acked == 0 || self.phase.repairs() || recovery.sacked() > 0 {
            return;
        }
        let optional = self.optional.as_deref_mut();
        let departures = recovery.departures().or_else(|| optional?.departures());
        if let Some(departure) = departures.and_then(|departures| departures.get(ack.cum - 1))
            && !departure.again()
        {
            let rtt = info.now - departure.time();
            self.rtt.observe(rtt);
            if let Some(optional) = self.optional.as_deref_mut() {
                optional.on_rtt(rtt);
            }
            if self.habits.every_rtt() {
                info.rtt = Some(rtt);
            }
        }
    }

    /// Handles the timers that have expired, if any has.
    pub fn on_timer(&mut self, recovery: &mut impl RecoveryRules, now: Time, wire: &mut impl Wire) {
        if let Some(due) = self.timers.take_others_due(now) {
            self.on_other_timers(recovery, now, due, wire);
        }
        if self.timers.is_rto_due(now) {
            if self.ecn.is_held() && self.seq.outstanding() == 0 {
                return self.on_held_timer(recovery, now, wire);
            }
            self.on_timeout(recovery, now, wire);
        }
    }

    fn on_other_timers(&mut self, recovery: &mut impl RecoveryRules, now: Time, due: Due, wire: &mut impl Wire) {
        let high = self.seq.high();
        recovery.on_timer(self, now, due, wire);
        recovery.fill(self, now, wire);
        self.arm_timers(recovery, now, self.seq.high() > high);
    }

    fn on_timeout(&mut self, recovery: &mut impl RecoveryRules, now: Time, wire: &mut impl Wire) {
        self.counters.timeouts += 1;
        self.ecn.hold(false);
        recovery.on_timeout(self, now);
        if self.seq.on_timeout() {
            self.reduce(recovery, now, Signal::Timeout);
        } else {
            self.control.collapse();
        }
        self.rtt.back_off();
        self.timed.cancel();
        self.seq.begin_recovery();
        self.phase = Phase::Loss;
        self.restart_rto(now);
        recovery.restart(self, now, wire);
        recovery.fill(self, now, wire);
        self.arm_timers(recovery, now, false);
    }

    /// Sets the timers that are not the retransmission timer, after everything else. `moved` says whether there was
    /// progress or a new segment left.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK, where most senders have nothing but the recovery's")]
    fn arm_timers(&mut self, recovery: &mut impl RecoveryRules, now: Time, moved: bool) {
        if self.optional.is_some() {
            self.note_sent(recovery, now);
        }
        recovery.arm_timers(self, now, moved);
    }

    /// Updates optional state (pacing, bursts, validation) after everything that may be sent has been sent.
    #[inline(never)]
    fn note_sent(&mut self, recovery: &impl RecoveryRules, now: Time) {
        let pacer = self.optional.as_deref_mut().and_then(OptionalState::pacer);
        if let Some(pacer) = pacer.filter(|pacer| pacer.notes_window_use()) {
            let (cwnd, sent) = (self.control.cwnd() as u32, self.counters.sent);
            pacer.note_window_use(&self.seq, recovery.in_flight(&self.seq), cwnd, sent);
        }
        if self.seq.unsent() == 0 {
            self.note_idle_application(recovery);
        }
        self.validate(recovery, now, Validation::after_sending);
    }

    /// Sets `app_limited` in the delivery-rate estimator, where there is one; called when there is nothing more to send.
    fn note_idle_application(&mut self, recovery: &impl RecoveryRules) {
        let window = self.window();
        let Some(deliveries) = self.optional.as_deref_mut().and_then(OptionalState::deliveries) else { return };
        let in_flight = recovery.in_flight(&self.seq);
        if !recovery.has_lost() && in_flight < window {
            deliveries.limited_by_application(in_flight);
        }
    }

    /// Goes back to `una`: everything outstanding is sent again, in order.
    pub fn go_back(&mut self) {
        self.seq.go_back();
    }

    /// Segments that have reached the receiver, as the sender knows.
    #[inline]
    pub fn delivered(&self, recovery: &impl RecoveryRules) -> u64 {
        self.seq.acknowledged() + u64::from(recovery.sacked())
    }

    /// Sends new segments while fewer than the window plus `inflation` are outstanding.
    #[inline]
    pub fn fill_window(&mut self, recovery: &mut impl RecoveryRules, now: Time, inflation: u32, wire: &mut impl Wire) {
        let window = self.window().saturating_add(inflation).min(self.receive_window);
        let end = self.seq.end_of_window(window);
        while self.seq.nxt() < end && self.may_send(recovery, now, (end - self.seq.nxt()) as u32) {
            self.transmit_next(recovery, now, wire);
        }
    }

    /// Limited transmit (RFC 3042): the first two of `dupacks` each release a new segment beyond the window. They show
    /// that segments have left the network; cwnd counts those still outstanding.
    #[inline]
    pub fn limited_transmit(&self, dupacks: u32) -> u32 {
        if self.habits.limited_transmit() { dupacks.min(DUP_THRESH - 1) } else { 0 }
    }

    /// Whether a segment may be sent now, with `room` in the window; if pacing delays it, the timer is set.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loops that send, where most senders have nothing to ask")]
    pub fn may_send(&mut self, recovery: &mut impl RecoveryRules, now: Time, room: u32) -> bool {
        self.optional.is_none() || self.may_leave(recovery, now, room)
    }

    /// The same as [`Self::may_send`] for a sender with pacing or bursts.
    fn may_leave(&mut self, recovery: &mut impl RecoveryRules, now: Time, room: u32) -> bool {
        let Some(optional) = self.optional.as_deref_mut() else { return true };
        let Some(pacer) = optional.pacer() else { return true };
        let wait = pacer.wait(now);
        self.timers.set_pacing(wait.unwrap_or(Time::NEVER));
        wait.is_none() && (!pacer.makes_bursts() || self.begins_burst(recovery, now, room))
    }

    /// Whether a segment may be sent now: as part of a burst, or as the first of one.
    fn begins_burst(&mut self, recovery: &mut impl RecoveryRules, now: Time, room: u32) -> bool {
        let Some(optional) = self.optional.as_deref_mut() else { return true };
        let una = self.seq.una();
        let departures = recovery.departures().map(|departures| departures.get(una));
        let oldest = departures.or_else(|| optional.departures().map(|departures| departures.get(una))).flatten();
        let Some(pacer) = optional.pacer() else { return true };
        let interval = pacer.interval(&self.control, &self.seq);
        // A receive window that lets less leave than the congestion window is what holds the sender back.
        let cwnd_limited = room < self.receive_window.saturating_sub(self.seq.outstanding());
        pacer.begins(now, || Ask {
            now,
            room,
            cwnd_limited,
            cwnd: self.control.cwnd() as u32,
            repairs: self.phase.repairs(),
            interval,
            own_rate: self.control.pacing_rate().is_some(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            oldest: oldest.map(Departure::time),
            last: now,
        })
    }

    /// Sends the segment after those sent.
    #[inline]
    pub fn transmit_next(&mut self, recovery: &mut impl RecoveryRules, now: Time, wire: &mut impl Wire) {
        let seq = self.seq.take_next();
        self.transmit(recovery, now, seq, wire);
    }

    /// Sends one segment, new or old.
    pub fn transmit(&mut self, recovery: &mut impl RecoveryRules, now: Time, seq: u64, wire: &mut impl Wire) {
        let flags = if self.seq.on_transmit(seq) {
            self.counters.retransmitted += 1;
            // Karn: an acknowledgement would not say which of the two was timed.
            self.timed.cancel_from(seq);
            self.ecn.retransmission(self.control.needs().marks)
        } else {
            self.timed.begin(now, seq);
            self.ecn.on_new_segment()
        };
        self.counters.sent += 1;
        self.timers.start_rto(now + self.rtt.rto());
        if let Some(departures) = recovery.departures() {
            departures.sent(seq, now);
        }
        recovery.count_sent(self.phase);
        if let Some(optional) = self.optional.as_deref_mut() {
            let in_flight = recovery.in_flight(&self.seq);
            let sender = (&self.control, self.rtt.srtt(), &self.seq);
            if let Some(header) = optional.on_transmit(now, seq, in_flight, sender) {
                return wire.send_with(now, seq, flags, header);
            }
        }
        wire.send(now, seq, flags);
    }

    /// Number of segments by which an ACK grows the window: those it acknowledges (RFC 5681), or in Linux those newly
    /// delivered, SACKed segments included and those SACKed before excluded (`acked_sacked` of `tcp_cong_avoid`).
    #[inline]
    pub fn gained(&self, info: &AckInfo) -> u32 {
        if self.rtt.options().rule() == Rto::Linux { info.delivered } else { info.acked }
    }

    /// Grows the window for `acked` segments.
    #[inline]
    pub fn grow(&mut self, recovery: &impl RecoveryRules, info: &AckInfo, acked: u32) {
        // RFC 3168, 6.1.2: an ACK that echoes a mark does not grow the window. Laws that count marks decide for themselves.
        let marked = info.marked && self.ecn.is_on() && !self.control.needs().marks;
        if acked == 0 || marked || self.counts_deliveries() {
            return;
        }
        let (abc_limit, paced) = (self.abc_limit(), self.optional.as_deref().is_some_and(OptionalState::spaces));
        self.control.on_ack(&AckSample {
            now: info.now,
            acked: f64::from(acked),
            ce_marked: if info.marked { f64::from(acked) } else { 0.0 },
            rtt: info.rtt,
            delivered: self.delivered(recovery),
            round_start: info.round_start,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            in_flight: f64::from(info.in_flight_before),
            cwnd_limited: info.limited,
            abc_limit,
            paced,
        });
    }

    /// Grows the window after a timeout, when one ACK may acknowledge much that arrived long ago: by one segment at most
    /// (RFC 3465, Section 2.1: L = 1).
    pub fn grow_by_one(&mut self, recovery: &impl RecoveryRules, info: &AckInfo) {
        self.grow(recovery, info, info.acked.min(1));
    }
}

//! The sender: window, timers, and what every recovery shares. How a recovery answers ACKs is in `cumulative` and
//! `selective`; what only some senders keep is in `extra`; the short ways through it are in `runs`.
//!
//! Source: RFC 5681, RFC 6298 (timer), RFC 3042 (limited transmit), RFC 3168 (ECN). Sequence numbers count segments.
//! Differs from ns-2: see `recover` below, the scoreboard and the estimator.

use crate::extra::Extra;
use crate::{Ack, DUP_THRESH, Options, Recovery, Rtt, Scoreboard};
use base::{Flags, Header, Time};
use law::{AckSample, CongestionControl, CongestionEvent, Signal};

/// Where the sender puts its segments: the access link, the path behind it.
pub trait Wire {
    /// Segment `seq` leaves TCP at `now`.
    fn send(&mut self, now: Time, seq: u32, flags: Flags);

    /// The same with a header for routers, in segments; only senders whose control wants one call it.
    fn send_with(&mut self, now: Time, seq: u32, flags: Flags, _header: Header) {
        self.send(now, seq, flags);
    }

    /// An ACK at `now` was taken by [`Sender::take_plain`], and left the sender like this.
    fn on_window(&mut self, _now: Time, _cwnd: f64, _una: u32, _nxt: u32) {}
}

/// What the sender is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing known to be lost.
    Open,
    /// Repairing after a fast retransmit.
    Recovery,
    /// Repairing after a timeout (for Tahoe, after a fast retransmit too).
    Loss,
}

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Expired timers.
    pub timeouts: u64,
    /// Window reductions.
    pub loss_events: u64,
}

/// What an acknowledgement told, before any recovery has made something of it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "five things that an ACK may tell besides numbers")]
pub(crate) struct News {
    pub now: Time,
    /// Segments newly acknowledged.
    pub acked: u32,
    /// Whether it echoes a congestion mark.
    pub marked: bool,
    /// Segments in the network before it.
    pub before: u32,
    /// Whether the window was what held the sender back.
    pub limited: bool,
    /// The round-trip sample that it gave.
    pub rtt: Option<base::Span>,
    /// Whether it acknowledged the segment being timed.
    pub round_start: bool,
    /// Segments that it reported as arrived, cumulatively or selectively.
    pub delivered: u32,
    /// Whether it made the scoreboard take further segments for lost; RACK says so itself, later.
    pub lost: bool,
    /// Whether it told that a tail-loss probe put right a loss that nobody else had noticed.
    pub probe_repaired: bool,
}

/// No segment is being timed.
pub(crate) const UNTIMED: u32 = u32::MAX;

/// The sending end of one connection under congestion control `C`.
#[derive(Clone, Debug)]
pub struct Sender<C> {
    pub(crate) una: u32,
    pub(crate) nxt: u32,
    /// One past the highest segment ever sent; above `nxt` only when going back after a timeout without SACK.
    pub(crate) high: u32,
    /// The segment being timed, and since when.
    pub(crate) timed: u32,
    pub(crate) timed_at: Time,
    /// When the retransmission timer expires.
    pub(crate) rto_at: Time,
    /// When another timer does: pacing, reordering, probe.
    pub(crate) other_at: Time,
    /// What the application offers: segments below this.
    pub(crate) data_end: u32,
    pub(crate) phase: Phase,
    pub(crate) dupacks: u32,
    /// Whether the next data segment tells the receiver that the window was reduced.
    pub(crate) cwr: bool,
    pub(crate) control: C,
    pub(crate) rtt: Rtt,
    /// Segments that must be passed before losses count anew: RFC 6582's `recover` (one past it), RFC 6675's
    /// `RecoveryPoint`. `None` before the first event.
    pub(crate) recover: Option<u32>,
    /// Segments that must be passed before another congestion echo counts.
    echoed: Option<u32>,
    /// Segments added to the window during Reno's and NewReno's recovery.
    pub(crate) inflation: u32,
    pub(crate) board: Scoreboard,
    /// Whether this recovery has sent its rescue retransmission (RFC 6675, `NextSeg` rule 4).
    pub(crate) rescued: bool,
    /// The deadline that the first partial ACK of this recovery set and later ones leave alone (RFC 6582's "impatient"
    /// form).
    pub(crate) patience: Option<Time>,
    /// `una` at the last timeout: ssthresh is set once per segment that times out (RFC 5681, equation 4).
    timed_out: Option<u32>,
    pub(crate) recovery: Recovery,
    limited_transmit: bool,
    /// Flags of data: whether it can be marked.
    pub(crate) ect: Flags,
    pub(crate) receive_window: u32,
    /// One past the highest segment sent when a segment was last retransmitted.
    pub(crate) resent: u32,
    pub(crate) extra: Option<Box<Extra>>,
    /// The first segment of the transfer that is open.
    pub(crate) base: u32,
    /// What has happened so far.
    pub counters: Counters,
}

impl<C: CongestionControl> Sender<C> {
    /// A sender of `data_end` segments (`u32::MAX` for no end) that has sent nothing.
    #[must_use]
    pub fn new(control: C, recovery: Recovery, options: &Options, data_end: u32) -> Self {
        let needs = control.needs();
        Self {
            extra: Extra::new(recovery, needs, control.pacing_rate().is_some(), options),
            una: 0,
            nxt: 0,
            high: 0,
            timed: UNTIMED,
            timed_at: Time::ZERO,
            rto_at: Time::NEVER,
            other_at: Time::NEVER,
            data_end,
            phase: Phase::Open,
            dupacks: 0,
            cwr: false,
            control,
            rtt: Rtt::new(options.min_rto, options.rto_granularity),
            recover: None,
            echoed: None,
            inflation: 0,
            board: Scoreboard::default(),
            rescued: false,
            patience: None,
            timed_out: None,
            recovery,
            limited_transmit: options.limited_transmit,
            ect: options.ecn.flags(needs.marks),
            receive_window: options.receive_window.unwrap_or(u32::MAX),
            resent: 0,
            base: 0,
            counters: Counters::default(),
        }
    }

    /// Becomes `fresh`, a sender that has sent nothing, for another transfer of `segments`: a connection of its own, with the
    /// numbers from the first returned up to the second. They leave one out, so that an ACK of the old connection
    /// acknowledges nothing of the new one. What has happened is counted on.
    pub fn open(&mut self, fresh: &Self, segments: u32) -> (u32, u32) {
        let first = if self.high == 0 { 0 } else { self.high + 1 };
        let counters = self.counters;
        self.clone_from(fresh);
        (self.una, self.nxt, self.high, self.base, self.resent) = (first, first, first, first, first);
        // What would need more numbers than there are is more than any run passes that may begin.
        self.data_end = first.saturating_add(segments).min(UNTIMED - 1);
        self.board.begin_at(first);
        if let Some(extra) = self.extra.as_deref_mut() {
            extra.begin_at(first);
        }
        self.counters = counters;
        (first, self.data_end)
    }

    /// The application opens: the initial window leaves.
    pub fn start(&mut self, now: Time, wire: &mut impl Wire) {
        self.fill(now, wire);
        self.settle(now, true);
    }

    /// The application has nothing more to offer than what was sent.
    pub fn stop(&mut self) {
        self.data_end = self.data_end.min(self.high);
    }

    /// An acknowledgement arrives.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, wire: &mut impl Wire) {
        if ack.cum < self.una || ack.cum > self.high {
            return;
        }
        let before = self.in_flight();
        // Held back by cwnd itself: a sender that the receive window holds back must not grow it.
        let limited = self.phase != Phase::Open || before >= self.control.cwnd() as u32;
        let acked = ack.cum - self.una;
        let rtt = self.sample(now, ack.cum);
        let round_start = rtt.is_some();
        let mut news = News {
            now,
            acked,
            marked: ack.ece,
            before,
            limited,
            rtt,
            round_start,
            delivered: 0,
            lost: false,
            probe_repaired: false,
        };
        let sacked = if self.extra.is_some() {
            self.hear(&mut news, ack)
        } else if self.recovery == Recovery::Sack {
            self.board.update(self.una, ack, |_, _| {})
        } else {
            0
        };
        if acked > 0 {
            self.una = ack.cum;
            self.nxt = self.nxt.max(ack.cum);
            self.rto_at = if self.una == self.nxt { Time::NEVER } else { now + self.rtt.rto() };
        }
        if self.recovery.selective() {
            self.on_sack(news, sacked, wire);
        } else {
            self.on_cumulative(news, wire);
        }
        if news.probe_repaired && self.phase == Phase::Open {
            // RFC 8985, 7.4: as after a fast recovery, which is over at once. A mark in the same window is the same event.
            self.reduce(now, Signal::Loss);
            self.echoed = Some(self.high);
            self.control.on_recovered();
        }
        if ack.ece && self.ect != Flags::NONE {
            self.on_echo(now);
        }
        if self.extra.is_some() {
            self.report(news);
        }
        let high = self.high;
        self.fill(now, wire);
        self.settle(now, acked > 0 || self.high > high);
    }

    /// A timer may have expired: call at [`Self::deadline`].
    pub fn on_timer(&mut self, now: Time, wire: &mut impl Wire) {
        if now >= self.other_at {
            self.on_other_timer(now, wire);
        }
        if now >= self.rto_at {
            self.time_out(now, wire);
        }
    }

    fn time_out(&mut self, now: Time, wire: &mut impl Wire) {
        self.counters.timeouts += 1;
        match self.recovery {
            Recovery::Sack | Recovery::Prr => {
                self.tell_all_lost(now);
                self.board.all_lost(self.una, self.nxt);
            }
            Recovery::Rack => self.lose_overdue(now),
            _ => {}
        }
        if self.timed_out == Some(self.una) {
            self.control.collapse();
        } else {
            self.timed_out = Some(self.una);
            self.reduce(now, Signal::Timeout);
        }
        self.rtt.back_off();
        self.timed = UNTIMED;
        self.dupacks = 0;
        self.inflation = 0;
        self.recover = Some(self.high);
        self.phase = Phase::Loss;
        self.rto_at = now + self.rtt.rto();
        match self.recovery {
            Recovery::Sack | Recovery::Prr => {}
            // The window is one segment, and this is it, whatever else may still be on its way.
            Recovery::Rack => self.resend(now, self.una, wire),
            _ => self.nxt = self.una,
        }
        self.fill(now, wire);
        self.settle(now, false);
    }

    /// When the next timer expires; `NEVER` when none is set.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.rto_at.min(self.other_at)
    }

    /// The timeout that would be set now.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> base::Span {
        self.rtt.rto()
    }

    /// First segment not acknowledged.
    #[inline]
    #[must_use]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Next new segment, or the next to be sent again when going back.
    #[inline]
    #[must_use]
    pub fn nxt(&self) -> u32 {
        self.nxt
    }

    /// Segments in the network as the sender sees it: RFC 6675's pipe with SACK, all outstanding without.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        match self.recovery {
            Recovery::Sack | Recovery::Prr => self.board.pipe(self.una, self.nxt),
            Recovery::Rack => self.rack_pipe(),
            _ => self.nxt - self.una,
        }
    }

    /// Segments that have reached the receiver, as the sender knows.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        u64::from(self.una - self.base) + u64::from(self.sacked())
    }

    /// SACKed segments above `una`.
    pub(crate) fn sacked(&self) -> u32 {
        if self.recovery == Recovery::Rack { self.rack_sacked() } else { self.board.sacked() }
    }

    /// The congestion control.
    #[must_use]
    pub fn control(&self) -> &C {
        &self.control
    }

    /// The round-trip estimator.
    #[must_use]
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// What the sender is busy with.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether everything the application offered is acknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.una == self.data_end
    }

    /// The window in whole segments.
    pub(crate) fn window(&self) -> u32 {
        (self.control.cwnd() as u32).min(self.receive_window)
    }

    pub(crate) fn sample(&mut self, now: Time, cum: u32) -> Option<base::Span> {
        if self.timed == UNTIMED || cum <= self.timed {
            return None;
        }
        let rtt = now - self.timed_at;
        self.timed = UNTIMED;
        self.rtt.sample(rtt);
        Some(rtt)
    }

    /// Reduces the window, once.
    pub(crate) fn reduce(&mut self, now: Time, signal: Signal) {
        self.counters.loss_events += 1;
        // RFC 3168, 6.1.2: the receiver is told of every reduction, or its echo of an older mark would bring another.
        self.cwr = self.ect != Flags::NONE;
        let event = CongestionEvent {
            now,
            signal,
            in_flight: f64::from(self.in_flight()),
            delivered: self.delivered(),
            rtt: self.rtt.latest(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
        };
        self.control.on_congestion(&event);
    }

    /// What every fast retransmit begins with.
    pub(crate) fn enter_recovery(&mut self, now: Time) {
        self.reduce(now, Signal::Loss);
        self.recover = Some(self.high);
        self.phase = Phase::Recovery;
        // The segment being timed may be acknowledged only after the repair: its time would not be the path's.
        self.timed = UNTIMED;
        self.rescued = false;
        self.patience = None;
        self.rto_at = now + self.rtt.rto();
    }

    /// Everything lost was repaired.
    pub(crate) fn leave_recovery(&mut self) {
        self.phase = Phase::Open;
        if self.extra.is_some() {
            self.control.on_recovered();
        }
    }

    /// A congestion echo: at most one reduction per window, none while a loss is being repaired (RFC 3168, 6.1.2).
    fn on_echo(&mut self, now: Time) {
        if self.phase == Phase::Open && self.recover.max(self.echoed).is_none_or(|passed| self.una > passed) {
            self.reduce(now, Signal::Ecn);
            self.echoed = Some(self.high);
        }
    }

    /// Sends what the window allows.
    pub(crate) fn fill(&mut self, now: Time, wire: &mut impl Wire) {
        if self.recovery == Recovery::Rack {
            self.fill_rack(now, wire);
            return;
        }
        if self.recovery.selective() && self.phase != Phase::Open {
            self.fill_selective(now, wire);
            return;
        }
        // Limited transmit: the first two duplicate ACKs each release a new segment beyond the window.
        let dupacks = if self.limited_transmit { self.dupacks.min(DUP_THRESH - 1) } else { 0 };
        let extra = if self.phase == Phase::Open { dupacks } else { self.inflation };
        // The duplicate ACKs say that segments have left the network; cwnd counts those still outstanding.
        let window = self.window().saturating_add(extra).min(self.receive_window);
        while self.nxt - self.una < window && self.nxt < self.data_end && self.may_send(now) {
            let seq = self.nxt;
            self.nxt += 1;
            self.transmit(now, seq, wire);
        }
    }

    /// Sends one segment, new or old.
    pub(crate) fn transmit(&mut self, now: Time, seq: u32, wire: &mut impl Wire) {
        let mut flags = self.ect;
        if seq < self.high {
            self.counters.retransmitted += 1;
            self.resent = self.high;
            // RFC 3168, 6.1.5: retransmissions are not ECN-capable; DCTCP's are (RFC 8257 needs their marks).
            if !self.control.needs().marks {
                flags = Flags::NONE;
            }
            flags = flags.with(Flags::RETRANSMITTED);
            // Karn: an acknowledgement would not tell which of the two was timed.
            if seq <= self.timed {
                self.timed = UNTIMED;
            }
        } else {
            self.high = seq + 1;
            if self.timed == UNTIMED {
                self.timed = seq;
                self.timed_at = now;
            }
            if std::mem::take(&mut self.cwr) {
                flags = flags.with(Flags::CWR);
            }
        }
        self.counters.sent += 1;
        if self.rto_at == Time::NEVER {
            self.rto_at = now + self.rtt.rto();
        }
        if self.extra.is_some()
            && let Some(header) = self.note_departure(now, seq)
        {
            return wire.send_with(now, seq, flags, header);
        }
        wire.send(now, seq, flags);
    }

    /// Whether another new segment may be sent as far as receiver and application are concerned.
    pub(crate) fn has_new(&self) -> bool {
        self.nxt < self.data_end && self.nxt - self.una < self.receive_window
    }

    /// Grows the window by what `acked` segments earn.
    pub(crate) fn grow(&mut self, news: News, acked: u32) {
        if acked == 0 {
            return;
        }
        self.control.on_ack(&AckSample {
            now: news.now,
            acked: f64::from(acked),
            ce_marked: if news.marked { f64::from(acked) } else { 0.0 },
            rtt: news.rtt,
            delivered: self.delivered(),
            round_start: news.round_start,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            in_flight: f64::from(news.before),
            cwnd_limited: news.limited,
        });
    }

    /// Grows the window after a timeout, when one ACK may acknowledge much that arrived long ago: by one segment at most
    /// (RFC 3465, Section 2.1: L = 1).
    pub(crate) fn grow_by_one(&mut self, news: News) {
        self.grow(news, news.acked.min(1));
    }
}

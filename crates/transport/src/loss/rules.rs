//! Interface of a loss recovery. It reads the state of its sender and returns what the sender should do; it changes only its own
//! data.
//!
//! The sender calls [`Loss::on_ack`] when an ACK arrives and [`Loss::decide`] when it has updated its numbers and timers. It
//! then sends [`Loss::room`] segments, each of them chosen by [`Loss::next`].

use crate::deliveries::Deliveries;
use crate::departures::Departures;
use crate::events::{EventLog, Reason};
use crate::loss::prr::Prr;
use crate::optional::OptionalState;
use crate::rtt::SrttAndMin;
use crate::sequence::SequenceSpace;
use crate::state::SenderState;
use crate::{Ack, DupThresh, Recovery};
use base::{Span, Time};
use law::CongestionControl;
use std::ops::DerefMut;

/// Name and properties of a recovery, for scenario files and the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryCard {
    /// Name in scenario files.
    pub name: &'static str,
    pub title: &'static str,
    pub source: &'static str,
    /// Differences from its source, Linux or ns-2.
    pub differs: &'static str,
    /// Whether it uses selective acknowledgements.
    pub selective: bool,
}

/// Contents of an acknowledgement, and what the recovery says about it.
#[derive(Clone, Copy, Debug)]
pub struct AckInfo {
    pub now: Time,
    /// Segments newly acknowledged.
    pub acked: u32,
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
    pub report: Report,
}

/// Segments that an ACK reports as delivered or lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Number of segments delivered, cumulatively or selectively.
    pub delivered: u32,
    /// Number of segments newly SACKed.
    pub sacked: u32,
    /// Transmission times of the first and the last of those that were sent once, where they are kept.
    pub sacked_ends: Option<(Time, Time)>,
    /// Whether it shows further losses.
    pub lost: bool,
    /// Whether it says that a tail-loss probe repaired a loss that was not detected otherwise.
    pub probe_repaired: bool,
}

/// Cause of a verdict: an ACK that reported `delivered` segments, or a timer; and the reason for which it begins a recovery.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    pub delivered: u32,
    pub reason: Reason,
}

/// Actions of the sender after an ACK or a timer, in this order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdict {
    /// New expiry of the reordering timer, if it changes.
    pub reorder_at: Option<Time>,
    /// Whether further losses were detected.
    pub lost: bool,
    /// Whether fast recovery ends. Recovery after a timeout ends when everything sent before it is acknowledged.
    pub ends: bool,
    /// Recovery that begins.
    pub begins: Option<Begin>,
    /// New expiry of the retransmission timer, if it changes.
    pub rto_at: Option<Time>,
    /// Whether the segment of [`Loss::next`] is sent now, whatever the window allows.
    pub retransmits: bool,
}

/// Kind of recovery that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Fast recovery.
    Recovery,
    /// Slow start from one segment, everything outstanding sent again in order.
    SlowStart,
}

/// Next segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A retransmission.
    Again(u64),
    /// The segment at `nxt`: a new one, or after a timeout the next in order.
    InOrder,
}

/// First transmission after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Everything outstanding is sent again, in order.
    GoBack,
    /// The segment of [`Loss::next`] is sent at once.
    Next,
    /// Segments are sent as the window and the pace allow.
    Fill,
}

/// State of each segment at the sender: transmission times, and deliveries for a control that measures them. Recoveries
/// report to it which segments are newly delivered or lost, also for the log of events, if there is one.
pub struct Segments<'a> {
    pub now: Time,
    departures: Option<&'a mut Departures>,
    pub outcomes: Outcomes<'a>,
}

impl<'a> Segments<'a> {
    /// Segments at `now`, with what the sender keeps of them.
    #[inline]
    pub fn new<D: DerefMut<Target = Departures>>(
        now: Time,
        departures: &'a mut Option<Box<D>>,
        optional: &'a mut Option<Box<OptionalState>>,
        log: Option<&'a mut EventLog>,
    ) -> Self {
        let deliveries = optional.as_deref_mut().and_then(OptionalState::deliveries);
        let outcomes = Outcomes { now, deliveries, log };
        Self { now, departures: departures.as_deref_mut().map(D::deref_mut), outcomes }
    }

    /// Transmission times, for a recovery that [`Loss::USES_DEPARTURES`], and the destination of what is delivered or lost.
    #[inline]
    pub fn split(&mut self) -> (&mut Departures, &mut Outcomes<'a>) {
        (self.departures.as_deref_mut().expect("kept for a recovery that uses them"), &mut self.outcomes)
    }
}

/// Destination of the segments newly delivered or lost: a control that measures deliveries, and the log of events.
pub struct Outcomes<'a> {
    now: Time,
    deliveries: Option<&'a mut Deliveries>,
    log: Option<&'a mut EventLog>,
}

impl Outcomes<'_> {
    /// Whether anything uses these reports.
    #[inline]
    pub fn wanted(&self) -> bool {
        self.deliveries.is_some() || self.log.is_some()
    }

    /// Notes that segments [start, end), above `una`, were SACKed.
    #[inline]
    pub fn delivered(&mut self, start: u64, end: u64) {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.delivered(start, end, self.now);
        }
    }

    /// Notes that segment `seq` is considered lost, by the rule `reason`.
    #[inline]
    pub fn lost(&mut self, seq: u64, reason: Reason) {
        if let Some(log) = &mut self.log {
            log.lose(self.now, seq, reason);
        }
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.lost(seq, self.now);
        }
    }
}

/// ACK in recovery that SACKs the segment after the highest run of SACKed ones, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// Transmission time of that segment, for a recovery that uses it.
    pub left: Option<Time>,
}

/// Numbers of ACKs in a row that each SACK the next segment after the highest run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackRow {
    /// Number of the first of them, which release no segment.
    pub quiet: u32,
    /// Number of all of them, the rest of which release at most one segment each.
    pub all: u32,
}

/// See the [module](self). The methods without a default are those that every recovery needs.
pub trait Loss: Sized {
    /// Whether a pending retransmission is sent in addition to what [`Self::room`] allows; if not, it is the first
    /// segment of it.
    const BESIDE_WINDOW: bool = false;

    /// Rule by which an ACK shows a loss.
    const RULE: Reason = Reason::DupThresh;

    /// Whether a timer waits longer if the outstanding segments are few enough that the receiver may delay their ACK.
    const EXPECTS_DELAYED_ACKS: bool = false;

    /// Whether it uses the transmission times of segments. It removes those that are acknowledged.
    const USES_DEPARTURES: bool = false;

    /// Whether [`Self::room`] is no more than the application has to send, in phase [`crate::Phase::Open`].
    const ROOM_ENDS_WITH_DATA: bool = true;

    /// State of a new connection under `recovery`, one of those that this type implements; `proportional` enables PRR where
    /// the recovery has it.
    fn new(recovery: Recovery, proportional: bool) -> Self;

    /// Sets the number of duplicates that show a loss. It is called before anything is sent.
    fn set_dup_thresh(&mut self, _: DupThresh) {}

    /// Adapts to segments that arrive in another order, where the recovery can. It is called before anything is sent.
    fn expect_reordering(&mut self) {}

    /// Whether a retransmission may be in flight; true if the recovery does not know.
    fn has_resent(&mut self, _: &mut Segments<'_>) -> bool {
        true
    }

    /// Notes that the first segment of those now acknowledged, which was sent again, was only late (Linux: `tcp_try_undo_partial`).
    fn see_late(&mut self, _acked: (u64, u64)) {}

    /// Whether an ACK that only SACKs segments grows the window, because reordering by more than three segments was
    /// seen (Linux: `tcp_may_raise_cwnd`).
    fn grows_by_sacks(&self) -> bool {
        false
    }

    /// Unmarks lost segments, because the recovery proved spurious. Detection begins again.
    fn forgive<C: CongestionControl>(&mut self, _: &SenderState<C>, _: &mut Segments<'_>) {}

    /// Sets the number of the first segment to `first`. It is called before anything is sent.
    fn begin_at(&mut self, _first: u64) {}

    /// Whether nothing is lost, SACKed or suspected, so that ACKs may be taken in rows.
    fn is_quiet(&self) -> bool;

    /// Segments in flight as the sender sees it.
    #[inline]
    fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        seq.outstanding()
    }

    /// SACKed segments above `una`.
    #[inline]
    fn sacked(&self) -> u32 {
        0
    }

    /// Whether a lost segment waits for retransmission.
    #[inline]
    fn has_lost(&self) -> bool {
        false
    }

    /// Whether a retransmission that [`Verdict::retransmits`] announced is held back by pacing.
    #[inline]
    fn is_pending(&self) -> bool {
        false
    }

    /// State of proportional rate reduction, if it limits what a recovery sends. The sender updates it.
    #[inline]
    fn prr(&mut self) -> Option<&mut Prr> {
        None
    }

    /// Limit of proportional rate reduction on the segments in flight, if it is in use.
    fn prr_window(&self) -> Option<u32> {
        None
    }

    /// Reads an ACK of `acked` segments before `una` moves.
    #[inline]
    fn on_ack<C: CongestionControl>(
        &mut self,
        _: &SenderState<C>,
        _: &mut Segments<'_>,
        _: &Ack,
        acked: u32,
    ) -> Report {
        Report { delivered: acked, ..Report::default() }
    }

    /// Decides what follows from an ACK after `una` and the retransmission timer have moved.
    #[inline]
    fn decide<C: CongestionControl>(&mut self, _: &SenderState<C>, _: &mut Segments<'_>, _: &AckInfo) -> Verdict {
        Verdict::default()
    }

    /// Marks segments lost after the retransmission timer expired, and says how to start again.
    fn on_timeout<C: CongestionControl>(&mut self, state: &SenderState<C>, segments: &mut Segments<'_>) -> Restart;

    /// Number of segments that the window allows now.
    #[inline]
    fn room<C: CongestionControl>(&self, state: &SenderState<C>) -> u32 {
        state.room_in_window(0)
    }

    /// Next segment to send. It is sent at once.
    #[inline]
    fn next<C: CongestionControl>(&mut self, state: &SenderState<C>, _: &mut Segments<'_>) -> Option<Next> {
        state.has_new().then_some(Next::InOrder)
    }

    /// Handles the reordering timer.
    fn on_reorder_timer<C: CongestionControl>(&mut self, _: &SenderState<C>, _: &mut Segments<'_>) -> Verdict {
        Verdict::default()
    }

    /// Returns the segment that the expired probe timer sends, if there is one.
    fn on_probe_timer<C: CongestionControl>(&mut self, _: &SenderState<C>, _: &mut Segments<'_>) -> Option<Next> {
        None
    }

    /// New expiry of the probe timer, if it changes; `moved` says whether there was progress or a new segment was sent.
    #[inline]
    fn probe_at<C: CongestionControl>(&self, _: &SenderState<C>, _now: Time, _moved: bool) -> Option<Time> {
        None
    }

    /// First transmission time of segment `seq`, which was retransmitted, where that is kept.
    #[inline]
    fn first_departure(&self, _seq: u64) -> Option<Time> {
        None
    }

    /// Processes ACKs in a row, of segments sent once: the last was `seq`, sent at `left` and acknowledged `rtt` later;
    /// the smoothed and the smallest round-trip time are now `rtts`.
    #[inline]
    fn on_plain_acks(&mut self, _seq: u64, _left: Time, _rtt: Span, _rtts: SrttAndMin) {}

    /// Highest run of SACKed segments, if ACKs that extend it may be taken in a row.
    #[inline]
    fn top(&self) -> Option<(u64, u64)> {
        None
    }

    /// Takes an ACK in recovery that SACKs the segment after the highest run and nothing else. Returns `None`, and
    /// changes nothing, if the ACK has further consequences (for the recovery or timers).
    #[inline]
    fn extend(&mut self, _: &mut Segments<'_>) -> Option<Extension> {
        None
    }

    /// Takes as many as possible of the ACKs at `times`, each as in [`Self::extend`], while no retransmission waits. Calls
    /// `on_each` with transmission and delivery time of each segment. Returns the number of ACKs taken.
    #[inline]
    fn extend_row(
        &mut self,
        _: &mut Departures,
        _times: impl Iterator<Item = Time>,
        _on_each: impl FnMut(Time, Time),
    ) -> u32 {
        0
    }

    /// Numbers of ACKs in a row, each as in [`Self::extend`], that need no decision.
    #[inline]
    fn row<C: CongestionControl>(&self, _: &SenderState<C>) -> Option<SackRow> {
        None
    }

    /// Takes `n` of the ACKs that [`Self::row`] announced.
    #[inline]
    fn extend_by(&mut self, _n: u32) {}
}

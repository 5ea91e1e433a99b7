//! Events of a sender, for debugging: losses, states of recovery, timers, undone reductions. A [`Wire`](crate::Wire) with a log
//! gets them; for wires without one no code for events is compiled.
//!
//! Source: Linux 6.12, `enum tcp_ca_state` (names, not text), and the RFCs at each reason.

use base::{Span, Time};

/// State of loss recovery, by Linux's names (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// No segment is known to be missing.
    #[default]
    Open,
    /// Something is SACKed, or ACKs are duplicates; nothing is lost.
    Disorder,
    /// The window is reduced, and nothing is lost.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// Recovery after a timeout, for Tahoe after a fast retransmit too.
    Loss,
}

impl CaState {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Disorder => "Disorder",
            Self::Cwr => "CWR",
            Self::Recovery => "Recovery",
            Self::Loss => "Loss",
        }
    }
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A segment is declared lost.
    Lost,
    /// The state of recovery changes.
    State,
    /// The retransmission timer expires.
    Rto,
    /// A tail-loss probe is sent.
    Probe,
    /// The reordering timer of RACK expires.
    ReorderTimer,
    /// A reduction of the window proves spurious and is undone.
    Undo,
}

impl EventKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::State => "ca_state",
            Self::Rto => "rto",
            Self::Probe => "tlp",
            Self::ReorderTimer => "reo_timer",
            Self::Undo => "undo",
        }
    }
}

/// Reason of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Enough duplicate ACKs or SACKed segments above it (RFC 5681, RFC 6675).
    DupThresh,
    /// A segment that was sent later has arrived for longer than the reordering window (RFC 8985, Section 6).
    Rack,
    /// The same, found by the reordering timer.
    ReorderTimer,
    /// A partial ACK shows the next hole (RFC 6582).
    PartialAck,
    /// The retransmission timer expired (RFC 6298).
    Rto,
    /// An ACK echoes a congestion mark (RFC 3168).
    Ecn,
    /// A tail-loss probe repaired a loss (RFC 8985, Section 7.4).
    ProbeRepaired,
    /// A probe with new data (RFC 8985, Section 7.3).
    NewData,
    /// A probe with the last segment again.
    LastSegment,
    /// Segments are SACKed.
    Sack,
    /// ACKs are duplicates.
    Dupack,
    /// The missing segments are acknowledged before they count as lost.
    Acked,
    /// All that had left before a recovery or reduction began is acknowledged.
    Recovered,
    /// The reduction was undone.
    Undo,
    /// All retransmissions were reported as duplicates (RFC 2883, RFC 3708).
    Dsack,
    /// The timestamp of an ACK is from before the retransmission (RFC 3522).
    Timestamp,
    /// An original arrived after the timeout (RFC 5682).
    Frto,
}

impl Reason {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DupThresh => "dup_thresh",
            Self::Rack => "rack",
            Self::ReorderTimer => "reo_timer",
            Self::PartialAck => "partial_ack",
            Self::Rto => "rto",
            Self::Ecn => "ecn",
            Self::ProbeRepaired => "tlp_repaired",
            Self::NewData => "new_data",
            Self::LastSegment => "last_segment",
            Self::Sack => "sack",
            Self::Dupack => "dupack",
            Self::Acked => "acked",
            Self::Recovered => "recovered",
            Self::Undo => "undo",
            Self::Dsack => "dsack",
            Self::Timestamp => "timestamp",
            Self::Frto => "frto",
        }
    }
}

/// Window and threshold of a sender, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold; infinite for none.
    pub ssthresh: f64,
}

/// One event at a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SenderEvent {
    /// Time of the event.
    pub time: Time,
    /// Kind of the event.
    pub kind: EventKind,
    /// Reason of the event.
    pub reason: Reason,
    /// State after it.
    pub state: CaState,
    /// The segment that is lost or sent as a probe; of other events the first that is not acknowledged.
    pub segment: u64,
    /// Window before the event.
    pub before: Window,
    /// Window after the event.
    pub after: Window,
    /// Retransmission timeout, of [`EventKind::Rto`] the one that expired.
    pub rto: Span,
    /// Expirations of the retransmission timer without an ACK of new data since, with this one.
    pub backoff: u32,
}

/// Events of one sender, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventLog {
    /// The events.
    pub events: Vec<SenderEvent>,
    state: CaState,
    /// The sender as it was when it was noted last.
    una: u64,
    window: Window,
    rto: Span,
    backoff: u32,
}

impl EventLog {
    /// The events alone, with segments from 0 on, where the first had the number `first`.
    #[must_use]
    pub fn finished(self, first: u64) -> Self {
        let events = self.events.into_iter().map(|event| SenderEvent { segment: event.segment - first, ..event });
        Self { events: events.collect(), ..Self::default() }
    }

    /// Stores the state of the sender before the events that follow.
    pub(crate) fn note(&mut self, una: u64, window: Window, rto: Span) {
        (self.una, self.window, self.rto) = (una, window, rto);
    }

    /// State after the last event.
    pub(crate) fn state(&self) -> CaState {
        self.state
    }

    /// An ACK acknowledges `acked` segments: after one of new data the next timeout is the first.
    pub(crate) fn acknowledge(&mut self, acked: u32) -> &mut Self {
        self.backoff = if acked > 0 { 0 } else { self.backoff };
        self
    }

    /// Segment `seq` is declared lost.
    #[cold]
    pub(crate) fn lose(&mut self, now: Time, seq: u64, reason: Reason) {
        self.push(now, EventKind::Lost, reason, seq, self.window);
    }

    /// The retransmission timer expires.
    #[cold]
    pub(crate) fn timed_out(&mut self, now: Time) -> &mut Self {
        self.backoff += 1;
        self.push(now, EventKind::Rto, Reason::Rto, self.una, self.window);
        self
    }

    /// Something happens that concerns segment `seq` and leaves the window as it is.
    #[cold]
    pub(crate) fn happen(&mut self, now: Time, kind: EventKind, reason: Reason, seq: Option<u64>) {
        self.push(now, kind, reason, seq.unwrap_or(self.una), self.window);
    }

    /// The state becomes `state`, and the window `after`.
    #[cold]
    pub(crate) fn enter(&mut self, now: Time, state: CaState, reason: Reason, after: Window) {
        self.state = state;
        self.push(now, EventKind::State, reason, self.una, after);
    }

    /// A reduction is undone, after which the window is `after`.
    #[cold]
    pub(crate) fn undo(&mut self, now: Time, reason: Reason, after: Window) {
        self.push(now, EventKind::Undo, reason, self.una, after);
    }

    fn push(&mut self, time: Time, kind: EventKind, reason: Reason, segment: u64, after: Window) {
        let (state, before, rto, backoff) = (self.state, self.window, self.rto, self.backoff);
        self.events.push(SenderEvent { time, kind, reason, state, segment, before, after, rto, backoff });
        self.window = after;
    }
}

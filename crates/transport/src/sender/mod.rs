//! Sender of one connection: a core that acts ([`core`]), and a loss recovery that decides ([`crate::loss`]).
//!
//! Source: RFC 5681, RFC 6298 (timer), RFC 3042 (limited transmit), RFC 3168 (ECN). Sequence numbers count segments.
//! Differs from ns-2: see the recoveries, the scoreboard and the estimator.

mod application;
mod congestion;
pub mod core;
mod delivered;
mod emit;
mod events;
mod info;
mod kept;
mod pace;
mod paced;
mod repairs;
mod row;
mod runs;
mod stamped;
mod undo;

use self::core::Core;
use crate::events::EventLog;
use crate::loss::rules::Loss;
use crate::loss::{LossRecovery, each};
use crate::sequence::{MAX_OUTSTANDING, SequenceSpace};
use crate::state::Phase;
use crate::{Ack, Options, Recovery, Rtt, TimerOptions, WindowLimits};
use base::{Flags, Header, Span, Time};
pub use info::{Info, SendLimit};
pub use kept::Spurious;
use law::CongestionControl;
pub use row::AckRow;
use std::sync::Arc;

/// Destination of the segments that a sender sends: the access link and the path behind it.
pub trait Wire {
    /// Whether [`Self::on_window`] does anything.
    const OBSERVES: bool = true;

    /// Sends segment `seq` at `now`.
    fn send(&mut self, now: Time, seq: u64, flags: Flags);

    /// Sends new segments from `first` on, `each` of them at each of `times`, which do not decrease.
    #[inline]
    fn send_row(
        &mut self,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        each: u32,
        first: u64,
        flags: Flags,
    ) {
        let times = times.flat_map(|now| std::iter::repeat_n(now, each as usize));
        for (now, seq) in times.zip(first..) {
            self.send(now, seq, flags);
        }
    }

    /// Sends a segment with a header for routers, in segments; only senders whose control wants one call it.
    fn send_with(&mut self, now: Time, seq: u64, flags: Flags, _header: Header) {
        self.send(now, seq, flags);
    }

    /// Observes that segment `seq` is sent again at `now`, before it is sent.
    fn on_retransmission(&mut self, _now: Time, _seq: u64) {}

    /// Log of the events at the sender, if they are observed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "without a log the code for it must vanish")]
    fn log(&mut self) -> Option<&mut EventLog> {
        None
    }

    /// Observes the sender after an ACK at `now` that was taken in a row.
    fn on_window(&mut self, _now: Time, _cwnd: f64, _una: u64, _nxt: u64, _in_flight: u32) {}
}

/// Counts of segments and events since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Expired timers.
    pub timeouts: u32,
    /// Window reductions.
    pub loss_events: u32,
}

/// Features of a sender beyond those of its options: none of them by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features<'a> {
    /// Timer options, equal to its own, that it shares with others.
    pub timers: Option<&'a Arc<TimerOptions>>,
    /// It expects reordered segments, and reports of duplicates: RACK's window adapts. Reductions that prove spurious are undone if
    /// this is true.
    pub undoes: Option<bool>,
    /// Limits within which its receiver tunes its window.
    pub window: Option<WindowLimits>,
    /// Round-trip time of the handshake on a path without queues, and the longest with them ([`Rtt::shake_hands`]).
    pub handshake: Option<(Span, Span)>,
    /// The application writes at intervals ([`Sender::write`]): it has no data until the first write.
    pub writes: bool,
}

/// The sending end of one connection under congestion control `C`.
#[derive(Clone, Debug)]
pub struct Sender<C> {
    core: Core<C>,
    loss: LossRecovery,
}

impl<C: CongestionControl> Sender<C> {
    /// Creates a sender of `data_end` segments ([`crate::NO_END`] for no end).
    #[must_use]
    pub fn new(control: C, recovery: Recovery, options: &Options, data_end: u64) -> Self {
        let loss = LossRecovery::new(recovery, control.needs(), options);
        Self { core: Core::new(control, options, data_end, loss.uses_departures()), loss }
    }

    /// Sender that has not sent anything, with these features.
    #[must_use]
    pub fn with(mut self, options: &Options, features: Features<'_>) -> Self {
        if let Some(timers) = features.timers {
            self.core.state.rtt.share(Arc::clone(timers));
        }
        if let Some(undoes) = features.undoes {
            each!(&mut self.loss, loss => loss.expect_reordering());
            self.core.expect_duplicates(undoes);
        }
        if let Some(limits) = features.window {
            self.core.follow_window(limits, options);
        }
        if let Some((sample, longest)) = features.handshake {
            self.core.state.rtt.shake_hands(sample, longest);
        }
        if features.writes {
            self.core.expect_writes(options);
        }
        self
    }

    /// Sender that has not sent anything, with the number `first` for its first segment.
    #[must_use]
    pub fn beginning_at(mut self, first: u64) -> Self {
        self.core.begin_at(first);
        each!(&mut self.loss, loss => loss.begin_at(first));
        self
    }

    /// Becomes `fresh`, a new sender, for another transfer of `segments`, as a connection of its own. Returns its
    /// numbers, from the first up to the second. The counters continue.
    pub fn open(&mut self, fresh: &Self, segments: u64) -> (u64, u64) {
        let (last, counters, rtt) = (self.core.state.seq.clone(), self.counters(), self.core.state.rtt.clone());
        let spurious = self.core.spurious();
        self.clone_from(fresh);
        self.core.follow(&last, &rtt, counters, segments);
        self.core.follow_spurious(spurious);
        let (first, end) = (self.core.state.seq.base(), self.core.state.seq.data_end());
        each!(&mut self.loss, loss => loss.begin_at(first));
        (first, end)
    }

    /// Starts the connection: sends the initial window.
    pub fn start(&mut self, now: Time, wire: &mut impl Wire) {
        each!(&mut self.loss, loss => self.core.start(loss, now, wire));
    }

    /// Sets the receive window to `segments`, from the next ACK or write on.
    pub fn set_receive_window(&mut self, segments: u32) {
        self.core.state.receive_window = segments.min(MAX_OUTSTANDING);
    }

    /// Adds `segments` of data; `None` for as many as can be sent until [`Self::stop`].
    pub fn write(&mut self, now: Time, segments: Option<u64>, wire: &mut impl Wire) {
        each!(&mut self.loss, loss => self.core.write(loss, now, segments, wire));
    }

    /// Ends the data: the application has nothing to offer beyond what was sent.
    pub fn stop(&mut self) {
        self.core.state.seq.stop();
    }

    /// Processes an acknowledgement.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, wire: &mut impl Wire) {
        each!(&mut self.loss, loss => self.core.on_ack(loss, now, ack, wire));
    }

    /// Handles expired timers: call it at [`Self::deadline`].
    pub fn on_timer(&mut self, now: Time, wire: &mut impl Wire) {
        each!(&mut self.loss, loss => self.core.on_timer(loss, now, wire));
    }

    /// Row of ACKs, each of the next `each` segments, that [`Self::take_row`] may take; `None` if the next ACK needs
    /// [`Self::on_ack`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "few callers, one in the hottest loop")]
    #[must_use]
    pub fn row(&self, each: u32) -> Option<AckRow> {
        self.core.row(&self.loss, each)
    }

    /// Row of ACKs, the first of them at `first`, that each SACK the next segment after `top` and nothing else: `top` is the highest
    /// run that the receiver holds, and `next` the segment it expects. `None` if the first needs [`Self::on_ack`].
    #[inline]
    #[must_use]
    pub fn row_in_repair(&self, next: u64, top: (u64, u64), first: Time) -> Option<AckRow> {
        self.core.row_in_repair(&self.loss, next, top, first)
    }

    /// Takes ACKs at `times`, of which there is one at least, as [`Self::row`] or [`Self::row_in_repair`] announced them: the same
    /// as calling [`Self::on_ack`] for each, and [`Self::on_timer`] between them, without checks that are unnecessary here. Returns the
    /// number of ACKs taken: all of them, but in a repair those before the first that shows a loss or that a timer other than the
    /// pacing timer precedes.
    #[inline]
    pub fn take_row(
        &mut self,
        row: &AckRow,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        wire: &mut impl Wire,
    ) -> u32 {
        self.core.take_row(&mut self.loss, row, times, wire)
    }

    /// Sends paced segments at their times, all before `limit`: the same as calls of [`Self::on_timer`] at
    /// [`Self::deadline`]. Returns whether any was sent; others may be left for those calls.
    pub fn take_pace(&mut self, limit: Time, wire: &mut impl Wire) -> bool {
        each!(&mut self.loss, loss => self.core.take_pace(loss, limit, wire))
    }

    /// Expiry of the next timer; `NEVER` when none is set.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.core.state.timers.deadline()
    }

    /// The sequence numbers.
    #[inline]
    #[must_use]
    pub fn seq(&self) -> &SequenceSpace {
        &self.core.state.seq
    }

    /// Returns a read-only view of the rest of its state, as for `tcp_info`.
    #[inline]
    #[must_use]
    pub fn info(&self) -> Info<'_, C> {
        Info { core: &self.core, loss: &self.loss }
    }

    /// Segments in flight as the sender sees it: RFC 6675's pipe with SACK, all outstanding ones without.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.loss.in_flight(&self.core.state.seq)
    }

    /// Number of segments that have reached the receiver, as the sender knows (Linux: `delivered`).
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.core.state.seq.acknowledged() + u64::from(self.loss.sacked())
    }

    /// The congestion control.
    #[must_use]
    pub fn control(&self) -> &C {
        &self.core.state.control
    }

    /// Control, to be changed from outside. Changes take effect with the next ACK, timer or paced segment.
    #[must_use]
    pub fn control_mut(&mut self) -> &mut C {
        &mut self.core.state.control
    }

    /// The round-trip estimator.
    #[must_use]
    pub fn rtt(&self) -> &Rtt {
        &self.core.state.rtt
    }

    /// Phase of congestion control and recovery (Linux: `ca_state`).
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.core.state.phase
    }

    /// Counts of segments and events since the start.
    #[inline]
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.core.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_takes_no_more_lines_of_the_cache_than_it_did() {
        // Runs of 10^6 flows keep this much for each, beside lists: the sender, what RACK keeps in a box, the receiver.
        let bytes = (
            size_of::<Sender<law::Control>>(),
            size_of::<crate::loss::rack_recovery::RackRecovery>(),
            size_of::<crate::Receiver>(),
        );
        assert!(bytes.0 <= 384 && bytes.1 <= 168 && bytes.2 <= 112, "{bytes:?}");
    }
}

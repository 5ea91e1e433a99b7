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
mod kept;
mod limit;
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
use crate::loss::{LossRecovery, each, each_ref};
use crate::sequence::MAX_OUTSTANDING;
use crate::state::Phase;
use crate::{Ack, Options, Recovery, Rtt, TimerOptions, WindowLimits};
use base::{Flags, Header, Span, Time};
pub use kept::Spurious;
use law::CongestionControl;
pub use limit::SendLimit;
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

    /// Sender whose receiver tunes its window within `limits`.
    #[must_use]
    pub fn following_window(mut self, limits: WindowLimits, options: &Options) -> Self {
        self.core.follow_window(limits, options);
        self
    }

    /// Sender that expects reordered segments, and reports of duplicates: RACK's window adapts. Reductions that prove spurious are
    /// undone if `undoes`.
    #[must_use]
    pub fn expecting_reordering(mut self, undoes: bool) -> Self {
        each!(&mut self.loss, loss => loss.expect_reordering());
        self.core.expect_duplicates(undoes);
        self
    }

    /// Sender that has not sent anything and shares its timer options, equal to its own, with others.
    #[must_use]
    pub fn sharing(mut self, options: &Arc<TimerOptions>) -> Self {
        self.core.state.rtt.share(Arc::clone(options));
        self
    }

    /// Sender opened over a path that takes `sample` without queues and up to `longest` with them ([`Rtt::shake_hands`]).
    #[must_use]
    pub fn after_handshake(mut self, sample: Span, longest: Span) -> Self {
        self.core.state.rtt.shake_hands(sample, longest);
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
        let spurious = self.spurious();
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

    /// Sender of an application that writes at intervals ([`Self::write`]): it has no data until the first write.
    #[must_use]
    pub fn expecting_writes(mut self, options: &Options) -> Self {
        self.core.expect_writes(options);
        self
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

    /// Takes ACKs at `times` as [`Self::row`] or [`Self::row_in_repair`] announced them: the same as calling
    /// [`Self::on_ack`] for each, without checks that are unnecessary here. Paced segments are sent between the ACKs.
    #[inline]
    pub fn take_row(
        &mut self,
        row: &AckRow,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        wire: &mut impl Wire,
    ) {
        self.core.take_row(&mut self.loss, row, times, wire);
    }

    /// Whether [`Self::take_repairs`] may take ACKs that each SACK the next segment after `top` and nothing else: `top` is the
    /// highest run that the receiver holds, and `next` the segment it expects.
    #[inline]
    #[must_use]
    pub fn repairs(&self, next: u64, top: (u64, u64)) -> bool {
        self.core.repairs(&self.loss, next, top)
    }

    /// Row of ACKs (as for [`Self::repairs`]), each of which releases one new segment at most, for [`Self::take_row`].
    #[inline]
    #[must_use]
    pub fn row_in_repair(&self) -> Option<AckRow> {
        each_ref!(&self.loss, loss => self.core.row_in_repair(loss))
    }

    /// Takes ACKs in a row (see [`Self::repairs`]) at `times`: those that show no loss, up to the first before which a timer
    /// other than the pacing timer expires. Paced segments are sent before each. The same as calling [`Self::on_ack`] and
    /// [`Self::on_timer`]. Returns the number of ACKs taken.
    pub fn take_repairs(&mut self, times: impl Iterator<Item = Time> + Clone, wire: &mut impl Wire) -> u32 {
        each!(&mut self.loss, loss => self.core.take_repairs(loss, times, wire))
    }

    /// Sends paced segments at their times, all before `limit`: the same as calls of [`Self::on_timer`] at
    /// [`Self::deadline`]. Returns whether any was sent; others may be left for those calls.
    pub fn take_pace(&mut self, limit: Time, wire: &mut impl Wire) -> bool {
        each!(&mut self.loss, loss => self.core.take_pace(loss, limit, wire))
    }

    /// Flags of its new data, as long as nothing has reduced the window: whether it can be marked.
    #[must_use]
    pub fn data_flags(&self) -> Flags {
        self.core.state.ecn.data()
    }

    /// Expiry of the next timer other than the pacing timer.
    #[inline]
    #[must_use]
    pub fn deadline_but_pacing(&self) -> Time {
        self.core.state.timers.deadline_but_pacing()
    }

    /// Whether every segment between sender and receiver was sent once, in order.
    #[inline]
    #[must_use]
    pub fn is_pristine(&self) -> bool {
        self.core.state.seq.is_pristine()
    }

    /// Expiry of the next timer; `NEVER` when none is set.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.core.state.timers.deadline()
    }

    /// Timeout that would be set now.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> base::Span {
        self.core.state.rtt.rto()
    }

    /// One past the last segment that the application offers.
    #[must_use]
    pub fn data_end(&self) -> u64 {
        self.core.state.seq.data_end()
    }

    /// First segment not acknowledged.
    #[inline]
    #[must_use]
    pub fn una(&self) -> u64 {
        self.core.state.seq.una()
    }

    /// Next new segment, or after a timeout the next to be sent again (`snd_nxt`).
    #[inline]
    #[must_use]
    pub fn nxt(&self) -> u64 {
        self.core.state.seq.nxt()
    }

    /// Segments in flight as the sender sees it: RFC 6675's pipe with SACK, all outstanding ones without.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.loss.in_flight(&self.core.state.seq)
    }

    /// Segments sent and not acknowledged cumulatively.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.core.state.seq.outstanding()
    }

    /// Limit of proportional rate reduction on the segments in flight: what Linux shows as `snd_cwnd` in recovery.
    pub fn window_in_repair(&mut self) -> Option<u32> {
        if !matches!(self.phase(), Phase::Recovery | Phase::Reduction) {
            return None;
        }
        each!(&mut self.loss, loss => loss.prr()).map(|prr| prr.cwnd())
    }

    /// Retransmissions in flight, for a recovery that uses transmission times.
    pub fn resent(&mut self) -> Option<u32> {
        let range = self.core.state.seq.una()..self.core.state.seq.high();
        let departures = self.core.departures.as_deref().filter(|_| self.loss.uses_departures())?;
        let is_out = |seq| departures.get(seq).is_some_and(|d| d.again() && !d.lost() && !d.delivered());
        Some(range.filter(|&seq| is_out(seq)).count() as u32)
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

    /// Counts of segments sent in vain; `None` where the receiver does not report duplicates.
    #[must_use]
    pub fn spurious(&self) -> Option<Spurious> {
        self.core.spurious()
    }

    /// Delivery rate in segments per second (`tcpi_delivery_rate`); `None` before the first rate sample, and of a sender whose
    /// control takes none.
    #[must_use]
    pub fn delivery_rate(&self) -> Option<f64> {
        self.core.optional.as_deref()?.delivery_rate()
    }

    /// Rate in segments per second at which it spaces segments, or from which the sizes of its bursts follow (`tcpi_pacing_rate`);
    /// `None` of a sender that does neither, and before the first round-trip sample.
    #[must_use]
    pub fn pacing_rate(&self) -> Option<f64> {
        self.core.optional.as_deref()?.pacing_rate(&self.core.state.control, &self.core.state.seq)
    }

    /// Limit that keeps it from sending now; `None` before its first segment and when a transfer is complete.
    #[must_use]
    pub fn limit(&self) -> Option<SendLimit> {
        each_ref!(&self.loss, loss => self.core.limit(loss))
    }

    /// Whether all data that the application offered is acknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.core.state.seq.una() == self.core.state.seq.data_end()
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

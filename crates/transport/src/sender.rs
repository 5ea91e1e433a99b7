//! Sender of one connection: the shared state in `connection`, and the recovery that drives it, in `recovery` and the
//! files of each recovery.
//!
//! Source: RFC 5681, RFC 6298 (timer), RFC 3042 (limited transmit), RFC 3168 (ECN). Sequence numbers count segments.
//! Differs from ns-2: see the recoveries, the scoreboard and the estimator.

use crate::connection::Connection;
use crate::recovery::{LossRecovery, RecoveryRules, each};
use crate::{Ack, Options, Recovery, Rtt, TimerOptions, WindowLimits};
use base::{Flags, Header, Span, Time};
use law::CongestionControl;
use std::sync::Arc;

/// Destination of the segments that a sender sends: the access link and the path behind it.
pub trait Wire {
    /// Sends segment `seq` at `now`.
    fn send(&mut self, now: Time, seq: u64, flags: Flags);

    /// Sends new segments from `first` on at `times`, which do not decrease.
    #[inline]
    fn send_row(
        &mut self,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        first: u64,
        flags: Flags,
    ) {
        for (now, seq) in times.zip(first..) {
            self.send(now, seq, flags);
        }
    }

    /// Sends a segment with a header for routers, in segments; only senders whose control wants one call it.
    fn send_with(&mut self, now: Time, seq: u64, flags: Flags, _header: Header) {
        self.send(now, seq, flags);
    }

    /// Observes the sender after an ACK at `now` that was taken in a run.
    fn on_window(&mut self, _now: Time, _cwnd: f64, _una: u64, _nxt: u64, _in_flight: u32) {}
}

/// Phase of congestion control and recovery (Linux: `ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No segment is known to be lost.
    Open,
    /// The window falls after a congestion echo, segment by segment (Linux: `TCP_CA_CWR`), with PRR.
    Reduction,
    /// Fast recovery after a fast retransmit (Linux: `TCP_CA_Recovery`).
    Recovery,
    /// Recovery after a timeout, for Tahoe after a fast retransmit too (Linux: `TCP_CA_Loss`).
    Loss,
}

impl Phase {
    /// Whether losses are being repaired.
    #[inline]
    #[must_use]
    pub fn repairs(self) -> bool {
        matches!(self, Self::Recovery | Self::Loss)
    }
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
    connection: Connection<C>,
    recovery: LossRecovery,
}

impl<C: CongestionControl> Sender<C> {
    /// Creates a sender of `data_end` segments ([`crate::NO_END`] for no end).
    #[must_use]
    pub fn new(control: C, recovery: Recovery, options: &Options, data_end: u64) -> Self {
        let recovery = LossRecovery::new(recovery, control.needs());
        Self { connection: Connection::new(control, options, data_end, recovery.keeps_departures()), recovery }
    }

    /// Sender whose receiver tunes its window within `limits`.
    #[must_use]
    pub fn following_window(mut self, limits: WindowLimits, options: &Options) -> Self {
        self.connection.follow_window(limits, options);
        self
    }

    /// Sender that has not sent anything and shares its timer options, equal to its own, with others.
    #[must_use]
    pub fn sharing(mut self, options: &Arc<TimerOptions>) -> Self {
        self.connection.share(Arc::clone(options));
        self
    }

    /// Sender opened over a path that takes `sample` without queues and up to `longest` with them ([`Rtt::shake_hands`]).
    #[must_use]
    pub fn after_handshake(mut self, sample: Span, longest: Span) -> Self {
        self.connection.shake_hands(sample, longest);
        self
    }

    /// Sender that has not sent anything, with the number `first` for its first segment.
    #[must_use]
    pub fn beginning_at(mut self, first: u64) -> Self {
        self.connection.begin_at(first);
        each!(&mut self.recovery, recovery => recovery.begin_at(first));
        self
    }

    /// Becomes `fresh`, a new sender, for another transfer of `segments`, as a connection of its own. Returns its
    /// numbers, from the first up to the second. The counters continue.
    pub fn open(&mut self, fresh: &Self, segments: u64) -> (u64, u64) {
        let (last, counters, rtt) = (self.connection.seq().clone(), self.counters(), self.connection.rtt().clone());
        self.clone_from(fresh);
        self.connection.follow((&last, &rtt), counters, segments);
        let (first, end) = (self.connection.seq().base(), self.connection.seq().data_end());
        each!(&mut self.recovery, recovery => recovery.begin_at(first));
        (first, end)
    }

    /// Starts the connection: sends the initial window.
    pub fn start(&mut self, now: Time, wire: &mut impl Wire) {
        each!(&mut self.recovery, recovery => self.connection.start(recovery, now, wire));
    }

    /// Sender of an application that writes at intervals ([`Self::write`]): it has no data until the first write.
    #[must_use]
    pub fn expecting_writes(mut self, options: &Options) -> Self {
        self.connection.expect_writes(options);
        self
    }

    /// Sets the receive window to `segments`, from the next ACK or write on.
    pub fn set_receive_window(&mut self, segments: u32) {
        self.connection.set_receive_window(segments);
    }

    /// Adds `segments` of data; `None` for as many as can be sent until [`Self::stop`].
    pub fn write(&mut self, now: Time, segments: Option<u64>, wire: &mut impl Wire) {
        each!(&mut self.recovery, recovery => self.connection.write(recovery, now, segments, wire));
    }

    /// Ends the data: the application has nothing to offer beyond what was sent.
    pub fn stop(&mut self) {
        self.connection.stop();
    }

    /// Processes an acknowledgement.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, wire: &mut impl Wire) {
        each!(&mut self.recovery, recovery => self.connection.on_ack(recovery, now, ack, wire));
    }

    /// Handles expired timers: call it at [`Self::deadline`].
    pub fn on_timer(&mut self, now: Time, wire: &mut impl Wire) {
        each!(&mut self.recovery, recovery => self.connection.on_timer(recovery, now, wire));
    }

    /// Number of ACKs in a row, each of the next `each` segments, that each release the same number of new segments and change
    /// only the window, by the control's step. Zero if the next ACK may do more than that.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers, one in the hottest loop")]
    #[must_use]
    pub fn steady(&self, each: u32) -> u32 {
        self.connection.steady(&self.recovery, each)
    }

    /// Takes `acks` ACKs of `each` segments as [`Self::steady`] announced; they arrived at `times`, the last at `last`.
    #[inline]
    pub fn take_steady(&mut self, acks: u32, each: u32, last: Time, times: impl Iterator<Item = Time>) {
        self.connection.take_steady(&mut self.recovery, acks, each, last, times);
    }

    /// Number of ACKs in a row, each of the next segment, that each release two new segments and change only the window, which
    /// each opens by one. Zero if the next ACK may do anything else.
    #[inline]
    #[must_use]
    pub fn opening(&self) -> u32 {
        self.connection.opening(&self.recovery)
    }

    /// Takes `acks` ACKs as [`Self::opening`] announced; the last arrived at `last`.
    #[inline]
    pub fn take_opening(&mut self, acks: u32, last: Time) {
        self.connection.take_opening(acks, last);
    }

    /// Whether an ACK for just the next segments does no more than grow the window, and release what that allows: nothing
    /// is lost, SACKed, marked or paced.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.connection.is_plain(&self.recovery)
    }

    /// Number of ACKs in a row, each of the next `each` segments, that [`Self::take_plain`] may take: up to the one that may
    /// change the timeout.
    #[inline]
    #[must_use]
    pub fn plain(&self, each: u32) -> u32 {
        self.connection.plain(&self.recovery, each)
    }

    /// Takes ACKs in a row: the time of each, and the number of next segments it acknowledges, which were sent once. At most
    /// [`Self::plain`] of them, none later than [`Self::deadline`]. The same as calling [`Self::on_ack`] for each, without
    /// checks that are unnecessary here.
    pub fn take_plain(&mut self, acks: impl Iterator<Item = (Time, u32)>, wire: &mut impl Wire) {
        debug_assert!(self.is_plain());
        each!(&mut self.recovery, recovery => self.connection.take_plain(recovery, acks, wire));
    }

    /// Number of ACKs in a row, each of the next `each` segments, that [`Self::take_paced`] may take.
    #[inline]
    #[must_use]
    pub fn paced(&self, each: u32) -> u32 {
        self.connection.paced(&self.recovery, each)
    }

    /// [`Self::take_plain`] for a paced sender: segments whose time has come are sent between the ACKs. Takes at most
    /// [`Self::paced`] ACKs, none later than [`Self::deadline_but_pacing`].
    pub fn take_paced(&mut self, acks: impl Iterator<Item = (Time, u32)>, wire: &mut impl Wire) {
        each!(&mut self.recovery, recovery => self.connection.take_paced(recovery, acks, wire));
    }

    /// Whether [`Self::take_repairs`] may take ACKs that each SACK the next segment after `top` and nothing else: `top` is the
    /// highest run that the receiver holds, and `next` the segment it expects.
    #[inline]
    #[must_use]
    pub fn repairs(&self, next: u64, top: (u64, u64)) -> bool {
        self.connection.repairs(&self.recovery, next, top)
    }

    /// Number of ACKs in a row (as for [`Self::repairs`]) that release no segment, and the number of ACKs until one may do
    /// more than release one new segment, as far as timers allow.
    #[inline]
    #[must_use]
    pub fn row_of_repairs(&self) -> Option<(u32, u32)> {
        match &self.recovery {
            LossRecovery::Sack(sack) => self.connection.row_of_repairs(&**sack),
            _ => None,
        }
    }

    /// Takes ACKs in a row at `times`, as announced by [`Self::row_of_repairs`]; the first `quiet` release no segment, and
    /// none is later than [`Self::deadline`]. The same as calling [`Self::on_ack`] for each.
    #[inline]
    pub fn take_row_of_repairs(
        &mut self,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        quiet: u32,
        wire: &mut impl Wire,
    ) {
        each!(&mut self.recovery, recovery => self.connection.take_row_of_repairs(recovery, times, quiet, wire));
    }

    /// Takes ACKs in a row (see [`Self::repairs`]) at `times`: those that show no loss, up to the first before which a timer
    /// other than the pacing timer expires. Paced segments are sent before each. The same as calling [`Self::on_ack`] and
    /// [`Self::on_timer`]. Returns the number of ACKs taken.
    pub fn take_repairs(&mut self, times: impl Iterator<Item = Time> + Clone, wire: &mut impl Wire) -> u32 {
        each!(&mut self.recovery, recovery => self.connection.take_repairs(recovery, times, wire))
    }

    /// Sends paced segments at their times, all before `limit`: the same as calls of [`Self::on_timer`] at
    /// [`Self::deadline`]. Returns whether any was sent; others may be left for those calls.
    pub fn take_pace(&mut self, limit: Time, wire: &mut impl Wire) -> bool {
        each!(&mut self.recovery, recovery => self.connection.take_pace(recovery, limit, wire))
    }

    /// Flags of its new data, as long as nothing has reduced the window: whether it can be marked.
    #[must_use]
    pub fn data_flags(&self) -> Flags {
        self.connection.data_flags()
    }

    /// Expiry of the next timer other than the pacing timer.
    #[inline]
    #[must_use]
    pub fn deadline_but_pacing(&self) -> Time {
        self.connection.deadline_but_pacing()
    }

    /// Whether every segment between sender and receiver was sent once, in order.
    #[inline]
    #[must_use]
    pub fn is_pristine(&self) -> bool {
        self.connection.seq().is_pristine()
    }

    /// Expiry of the next timer; `NEVER` when none is set.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.connection.deadline()
    }

    /// Timeout that would be set now.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> base::Span {
        self.connection.rtt().rto()
    }

    /// One past the last segment that the application offers.
    #[must_use]
    pub fn data_end(&self) -> u64 {
        self.connection.seq().data_end()
    }

    /// First segment not acknowledged.
    #[inline]
    #[must_use]
    pub fn una(&self) -> u64 {
        self.connection.seq().una()
    }

    /// Next new segment, or after a timeout the next to be sent again (`snd_nxt`).
    #[inline]
    #[must_use]
    pub fn nxt(&self) -> u64 {
        self.connection.seq().nxt()
    }

    /// Segments in flight as the sender sees it: RFC 6675's pipe with SACK, all outstanding ones without.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.recovery.in_flight(self.connection.seq())
    }

    /// Segments sent and not acknowledged cumulatively.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.connection.seq().outstanding()
    }

    /// Limit of proportional rate reduction on the segments in flight: what Linux shows as `snd_cwnd` in recovery.
    pub fn window_in_repair(&mut self) -> Option<u32> {
        if !matches!(self.phase(), Phase::Recovery | Phase::Reduction) {
            return None;
        }
        each!(&mut self.recovery, recovery => recovery.prr()).map(|prr| prr.cwnd())
    }

    /// Retransmissions in flight, for a recovery that keeps transmission times.
    pub fn resent(&mut self) -> Option<u32> {
        let range = self.connection.seq().una()..self.connection.seq().high();
        let departures = each!(&mut self.recovery, recovery => recovery.departures())?;
        let is_out = |seq| departures.get(seq).is_some_and(|d| d.again() && !d.lost() && !d.delivered());
        Some(range.filter(|&seq| is_out(seq)).count() as u32)
    }

    /// Number of segments that have reached the receiver, as the sender knows (Linux: `delivered`).
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.connection.seq().acknowledged() + u64::from(self.recovery.sacked())
    }

    /// The congestion control.
    #[must_use]
    pub fn control(&self) -> &C {
        self.connection.control()
    }

    /// Control, to be changed from outside. Changes take effect with the next ACK, timer or paced segment.
    #[must_use]
    pub fn control_mut(&mut self) -> &mut C {
        self.connection.control_mut()
    }

    /// The round-trip estimator.
    #[must_use]
    pub fn rtt(&self) -> &Rtt {
        self.connection.rtt()
    }

    /// Phase of congestion control and recovery (Linux: `ca_state`).
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.connection.phase()
    }

    /// Counts of segments and events since the start.
    #[inline]
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.connection.counters()
    }

    /// Whether all data that the application offered is acknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.connection.seq().una() == self.connection.seq().data_end()
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
            size_of::<crate::rack_recovery::RackRecovery>(),
            size_of::<crate::Receiver>(),
        );
        assert!(bytes.0 <= 384 && bytes.1 <= 168 && bytes.2 <= 112, "{bytes:?}");
    }
}

//! Reductions of the window that prove to be spurious, and their undoing.
//!
//! Source: RFC 3708 (all retransmissions are reported as duplicates, RFC 2883), RFC 3522 (an ACK echoes a timestamp from before the
//! first retransmission), RFC 5682, Section 3 (an original arrives after a timeout); RFC 4015 and RFC 9438, Section 4.9, for what is
//! restored. Linux 6.12, `tcp_try_undo_recovery`, `tcp_try_undo_partial`, `tcp_try_undo_dsack`, `tcp_process_loss` and
//! `tcp_undo_cwnd_reduction` (facts, not text) for when each of them counts.
//! Differs from Linux: F-RTO needs RACK; a probe that was sent after the recovery counts as one of its retransmissions.

use super::core::Core;
use super::kept::{Kept, Spurious, Undo};
use super::stamped::AckTimes;
use crate::departures::Departure;
use crate::events::Reason;
use crate::loss::rules::{AckInfo, Loss, Next, Segments};
use crate::state::Phase;
use crate::{Ack, Rto, Wire};
use base::Time;
use law::{CongestionControl, Signal};

impl<C: CongestionControl> Core<C> {
    /// Counts segments that the receiver reports as duplicates; undoes reductions that they, timestamps or originals prove spurious,
    /// if `undoes`.
    pub fn expect_duplicates(&mut self, undoes: bool) {
        self.state.switches.notice_duplicates();
        self.departures.get_or_insert_default().undo = Some(Box::new(Undo::new(undoes)));
    }

    /// Whether duplicates are reported, and a reduction may be undone.
    #[inline]
    pub(super) fn may_undo(&self) -> bool {
        self.state.switches.notices_duplicates()
    }

    #[inline]
    fn undo(&mut self) -> Option<&mut Undo<C>> {
        self.departures.as_deref_mut()?.undo.as_deref_mut()
    }

    /// Counts of segments sent in vain; `None` where duplicates are not reported.
    pub fn spurious(&self) -> Option<Spurious> {
        Some(self.departures.as_deref()?.undo.as_deref()?.counts)
    }

    /// Continues the counts of the connection before it.
    pub fn follow_spurious(&mut self, before: Option<Spurious>) {
        if let (Some(undo), Some(before)) = (self.undo(), before) {
            undo.counts = before;
        }
    }

    /// Keeps the state to which the following reduction may be undone. A further reduction in the same recovery is
    /// undone together with the first.
    #[cold]
    pub(super) fn note_reduction(&mut self, now: Time, signal: Signal) {
        let again = self.state.phase.repairs();
        let (una, resent, before) = (self.state.seq.una(), self.counters.retransmitted, &self.state.control);
        let Some(Kept { departures, undo: Some(undo) }) = self.departures.as_deref_mut() else { return };
        if !undo.is_on {
            return;
        }
        match signal {
            Signal::Ecn => undo.before = None,
            Signal::Loss | Signal::Timeout if again && undo.before.is_some() => {}
            Signal::Loss | Signal::Timeout => {
                undo.before = Some(before.clone());
                // A retransmission by the previous recovery or by a probe may still be in flight (Linux keeps
                // `retrans_stamp`).
                let resent_at = departures.get(una).filter(|departure| departure.again() && signal == Signal::Loss);
                undo.since = resent_at.map_or(now, Departure::time);
                (undo.una, undo.resent, undo.duplicates) = (una, resent, 0);
                undo.by_timeout = signal == Signal::Timeout;
            }
        }
    }

    /// Called when a recovery begins without its own reduction, so that there is nothing to undo.
    pub(super) fn forget_reduction(&mut self) {
        if let Some(undo) = self.undo() {
            undo.before = None;
        }
    }

    /// Notes what `ack` shows about the last reduction, before its segments are forgotten.
    #[cold]
    pub(super) fn note_evidence(&mut self, ack: &Ack, times: Option<&AckTimes>) {
        let (una, phase) = (self.state.seq.una(), self.state.phase);
        let Some(Kept { departures, undo: Some(undo) }) = self.departures.as_deref_mut() else { return };
        let duplicate = ack.duplicate();
        undo.counts.duplicates += duplicate.map_or(0, |(start, end)| end - start);
        // The timestamp of a late original is not echoed if that of a retransmission was echoed before.
        undo.ts_recent = times.and_then(|times| times.echoed).map_or(undo.ts_recent, |left| left.max(undo.ts_recent));
        if undo.before.is_none() {
            return;
        }
        if let Some((start, end)) = duplicate.filter(|&(_, end)| end > undo.una) {
            undo.duplicates += end - start;
        }
        let has_echo = times.is_some_and(|times| times.echoed.is_some()) && ack.cum > una && !ack.echoes_resent;
        undo.is_delayed = has_echo && undo.ts_recent < undo.since;
        undo.is_original = false;
        if phase == Phase::Loss && undo.by_timeout {
            let is_original =
                |seq: u64| departures.get(seq).is_some_and(|d| !d.again() && !d.delivered() && d.time() < undo.since);
            let sacked = ack.blocks().iter().flat_map(|&(start, end)| start.max(ack.cum)..end.max(ack.cum));
            undo.is_original = (una..ack.cum).chain(sacked).any(is_original);
        }
    }

    /// Number of segments that `ack` reports as duplicates and that count as delivered: under Linux's rules a spurious retransmission
    /// does, unless more duplicates were reported than segments sent again (`tcp_dsack_seen`).
    #[cold]
    pub(super) fn delivered_in_vain(&mut self, ack: &Ack) -> u32 {
        let (is_linux, resent) = (self.state.rtt.options().rule() == Rto::Linux, self.counters.retransmitted);
        let counts = self.undo().is_some_and(|undo| is_linux && undo.counts.duplicates <= resent);
        ack.duplicate().filter(|_| counts).map_or(0, |(start, end)| (end - start) as u32)
    }

    /// Undoes the last reduction, if the ACK of [`Self::note_evidence`] proves it spurious.
    #[cold]
    pub(super) fn try_undo<L: Loss>(&mut self, loss: &mut L, info: &AckInfo, wire: &mut impl Wire) {
        if self.undo().is_none_or(|undo| undo.before.is_none()) {
            return;
        }
        let Some(mut undo) = self.departures.as_deref_mut().and_then(|kept| kept.undo.take()) else { return };
        if let Some(reason) = self.is_spurious(loss, info, &undo)
            && let Some(before) = undo.before.take()
        {
            self.restore(loss, info.now, before, reason, wire);
            if undo.by_timeout {
                undo.counts.timeouts += 1;
            } else {
                undo.counts.recoveries += 1;
            }
        }
        if let Some(kept) = self.departures.as_deref_mut() {
            kept.undo = Some(undo);
        }
    }

    /// Evidence that the last reduction was spurious, if there is any.
    fn is_spurious<L: Loss>(&mut self, loss: &mut L, info: &AckInfo, undo: &Undo<C>) -> Option<Reason> {
        let resent = self.counters.retransmitted - undo.resent;
        let all_duplicates = resent > 0 && undo.duplicates >= resent;
        let is_delayed = info.acked > 0 && undo.is_delayed;
        if self.state.phase == Phase::Recovery && is_delayed && !self.state.seq.is_recovered() {
            let una = self.state.seq.una();
            loss.see_late((una - u64::from(info.acked), una));
        }
        let mut segments = Segments::new(info.now, &mut self.departures, &mut self.optional, None);
        match self.state.phase {
            _ if all_duplicates => Some(Reason::Dsack),
            Phase::Open | Phase::Reduction => None,
            // After a partial ACK only if no retransmission that may repair a loss is in flight.
            Phase::Recovery => {
                let is_whole = is_delayed && (self.state.seq.is_recovered() || !loss.has_resent(&mut segments));
                is_whole.then_some(Reason::Timestamp)
            }
            Phase::Loss if is_delayed => Some(Reason::Timestamp),
            Phase::Loss => (L::USES_DEPARTURES && undo.is_original).then_some(Reason::Frto),
        }
    }

    /// Begins F-RTO after a timeout, if `begins` (Linux, `tcp_enter_loss`: outside of a recovery, or when the timer
    /// expires again).
    #[cold]
    pub(super) fn begin_frto(&mut self, begins: bool) {
        if let Some(undo) = self.undo().filter(|undo| undo.is_on) {
            undo.tests_timeout = begins;
        }
    }

    /// Whether the first ACK after a timeout releases new segments in the place of retransmissions (RFC 5682, step 2.b): ACKs of
    /// originals then show that the timeout was spurious, and SACKs of the new ones that it was not (Linux: `tcp_process_loss`).
    #[cold]
    pub(super) fn tests_timeout(&mut self, info: &AckInfo) -> bool {
        let (in_loss, has_new) = (self.state.phase == Phase::Loss, self.state.has_new());
        let tested = self.state.seq.has_sent_past_recovery();
        let Some(undo) = self.undo().filter(|undo| undo.tests_timeout) else { return false };
        undo.tests_timeout = in_loss && if tested { info.report.sacked == 0 } else { info.acked == 0 || has_new };
        undo.tests_timeout && !tested && info.acked > 0
    }

    /// Sends as many new segments as the window permits. Returns whether any was sent.
    #[cold]
    pub(super) fn send_test(&mut self, loss: &mut impl Loss, now: Time, wire: &mut impl Wire) -> bool {
        let (room, before) = (loss.room(&self.state), self.counters.sent);
        self.fill_room::<false, false, _>(loss, now, room, wire, |core, _| {
            core.state.has_new().then_some(Next::InOrder)
        });
        let sent = self.counters.sent > before;
        if let Some(undo) = self.undo() {
            undo.tests_timeout &= sent;
        }
        sent
    }

    /// Restores the control to what it was `before` a reduction, and ends the recovery.
    fn restore(&mut self, loss: &mut impl Loss, now: Time, before: C, reason: Reason, wire: &mut impl Wire) {
        self.log(wire);
        let mut segments = Segments::new(now, &mut self.departures, &mut self.optional, None);
        loss.forgive(&self.state, &mut segments);
        let control = &mut self.state.control;
        let (cwnd, ssthresh) = (before.cwnd().max(control.cwnd()), before.ssthresh().max(control.ssthresh()));
        if before.restores_on_undo() {
            *control = before;
        }
        control.on_undo(cwnd, ssthresh);
        self.log_undo(now, reason, wire);
        if self.state.phase.repairs() {
            self.leave_recovery(loss, now, Reason::Undo, wire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;
    use crate::loss::rack_recovery::RackRecovery;
    use crate::loss::sack::SackRecovery;
    use crate::testing::Driven;

    #[test]
    fn duplicates_of_all_retransmissions_undo_a_recovery_also_when_it_is_over() {
        // RFC 3708: segment 0 was only late. It is sent again, its original arrives, and then the second copy.
        for together in [false, true] {
            let mut driven = Driven::undoing(SackRecovery::new(Recovery::Sack, false));
            assert_eq!(driven.ack(100, 0, &[(1, 4)])[0], (0, true));
            assert_eq!((driven.core.state.phase, driven.cwnd()), (Phase::Recovery, 5));
            if together {
                driven.duplicate(10, 4, (0, 1));
            } else {
                driven.ack(5, 10, &[]);
                assert_eq!((driven.core.state.phase, driven.cwnd()), (Phase::Open, 5));
                driven.duplicate(5, 10, (0, 1));
            }
            assert_eq!((driven.core.state.phase, driven.cwnd() >= 10), (Phase::Open, true));
            assert_eq!(driven.spurious(), (1, 1, 0));
            // A second report has nothing left to undo.
            driven.duplicate(5, 10, (0, 1));
            assert_eq!(driven.spurious(), (2, 1, 0));
        }
    }

    #[test]
    fn a_late_original_undoes_a_recovery_unless_a_retransmission_came_before_it() {
        // RFC 3522: segment 0 was only late.
        let mut driven = Driven::undoing_by_time(RackRecovery::new(Recovery::Rack, true));
        assert_eq!(driven.ack(100, 0, &[(1, 9)])[0], (0, true));
        driven.ack(1, 9, &[]);
        assert_eq!((driven.core.state.phase, driven.spurious()), (Phase::Open, (0, 1, 0)));
        // Segment 0 was lost, and 9 is late. The receiver echoes the timestamp of the retransmission again (RFC 7323, 4.3).
        let mut driven = Driven::undoing_by_time(RackRecovery::new(Recovery::Rack, true));
        driven.ack(100, 0, &[(1, 9)]);
        driven.repaired(100, 9);
        driven.ack(1, 10, &[]);
        assert_eq!(driven.spurious(), (0, 0, 0));
        driven.ack(100, 18, &[]);
        assert_eq!((driven.core.state.phase, driven.spurious(), driven.cwnd()), (Phase::Open, (0, 0, 0), 5));
    }

    #[test]
    fn one_retransmission_that_was_needed_keeps_the_reduction() {
        let mut driven = Driven::undoing(SackRecovery::new(Recovery::Sack, false));
        driven.ack(100, 0, &[(2, 8)]);
        driven.ack(1, 0, &[(2, 10)]);
        assert_eq!(driven.core.counters.retransmitted, 2, "0 and 1");
        driven.duplicate(10, 1, (0, 1));
        driven.ack(10, 10, &[]);
        assert_eq!((driven.spurious(), driven.cwnd()), ((1, 0, 0), 5));
        // Reports are counted, not segments: a second report of segment 0 makes as many reports as retransmissions,
        // which undoes the reduction.
        driven.duplicate(10, 10, (0, 1));
        assert_eq!(driven.spurious(), (2, 1, 0), "two retransmissions, two reports");
    }

    /// Segment 0 took 100 ms; segment 1 was sent again by the timer, and 2 to 9 were not.
    fn timed_out() -> Driven<RackRecovery> {
        let mut driven = Driven::undoing(RackRecovery::new(Recovery::Rack, true));
        driven.ack(100, 1, &[]);
        while driven.core.state.phase != Phase::Loss {
            driven.time_out();
        }
        assert_eq!(driven.cwnd(), 1);
        driven
    }

    #[test]
    fn an_original_that_arrives_after_a_timeout_undoes_it() {
        // RFC 5682, step 3.b.
        let mut driven = timed_out();
        driven.ack(1, 3, &[]);
        assert_eq!((driven.core.state.phase, driven.spurious()), (Phase::Open, (0, 0, 1)));
        assert!(driven.cwnd() >= 10 && !driven.recovery.has_lost());
    }

    /// [`timed_out`] after the ACK of the retransmission, and the segments that this ACK released.
    fn tested() -> (Driven<RackRecovery>, Vec<(u64, bool)>) {
        let mut driven = timed_out();
        let released = driven.ack(150, 2, &[]);
        assert_eq!((driven.core.state.phase, driven.spurious()), (Phase::Loss, (0, 0, 0)));
        (driven, released)
    }

    #[test]
    fn the_first_ack_after_a_timeout_releases_new_segments() {
        // RFC 5682, step 2.b. A probe was sent as segment 11 before the timeout.
        let (mut driven, released) = tested();
        assert_eq!(released, [(12, false), (13, false)]);
        // Step 3.b: an original arrives. RACK marks the segments sent together with it lost, because the
        // retransmission, sent later, arrived before them.
        driven.ack(1, 3, &[]);
        assert_eq!((driven.spurious(), driven.core.state.phase), ((0, 0, 1), Phase::Recovery));
    }

    #[test]
    fn sacks_of_the_new_segments_show_that_the_timeout_was_not_spurious() {
        // RFC 5682, step 3.a.
        let (mut driven, _) = tested();
        let released = driven.ack(150, 2, &[(12, 13)]);
        assert_eq!((driven.core.state.phase, driven.spurious()), (Phase::Loss, (0, 0, 0)));
        assert_eq!(released[0], (2, true));
        assert!(driven.ack(10, 3, &[(12, 13)]).iter().all(|sent| sent.1), "F-RTO does not test again");
    }

    #[test]
    fn without_new_data_the_first_ack_releases_a_retransmission() {
        let mut recovery = RackRecovery::new(Recovery::Rack, true);
        recovery.expect_reordering();
        let mut driven = Driven::new(recovery, 10);
        driven.core.expect_duplicates(true);
        driven.ack(100, 1, &[]);
        while driven.core.state.phase != Phase::Loss {
            driven.time_out();
        }
        assert_eq!(driven.ack(150, 2, &[])[0], (2, true));
    }
}

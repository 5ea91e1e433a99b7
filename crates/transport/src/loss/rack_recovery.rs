//! Sender under RACK-TLP: detection of losses, retransmission, and the tail-loss probe.
//!
//! Source: RFC 8985, Sections 6 and 7; RFC 9937 for how much may be sent meanwhile.

use super::prr::Prr;
use super::rack::Rack;
use super::rules::{AckInfo, Begin, Extension, Loss, Next, RecoveryCard, Report, Restart, Segments, Verdict};
use crate::departures::Departures;
use crate::events::Reason;
use crate::rtt::SrttAndMin;
use crate::sequence::SequenceSpace;
use crate::state::{Phase, SenderState};
use crate::{Ack, DUP_THRESH, DupThresh, Recovery};
use base::{Span, Time};
use law::CongestionControl;

/// Card of [`Recovery::Rack`].
pub const RACK: RecoveryCard = RecoveryCard {
    name: "rack",
    title: "RACK-TLP with proportional rate reduction",
    source: "RFC 8985, RFC 9937",
    differs: "The reordering window adapts only where a link of the path reorders, or with `undo = \"always\"`. A probe is not \
              paced, as where Linux paces without its queue fq.",
    selective: true,
};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct RackRecovery {
    rack: Rack,
    /// Whether the fast retransmit is held back by pacing.
    pending: bool,
    /// PRR state, unless the control sets the window in recovery.
    prr: Option<Prr>,
}

impl RackRecovery {
    /// Marks segments that are lost by now. Returns the new expiry of the reordering timer, and whether any was not marked
    /// before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK")]
    fn detect<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
        reason: Reason,
    ) -> Verdict {
        let now = segments.now;
        let (departures, outcomes) = segments.split();
        let (recovering, rtts) = (state.phase.repairs(), state.rtt.srtt_and_min());
        let mut lost = false;
        let reorder_at = self.rack.detect(departures, now, state.seq.out(), recovering, rtts, |seq| {
            lost = true;
            outcomes.lost(seq, reason);
        });
        Verdict { reorder_at: Some(reorder_at), lost, ..Verdict::default() }
    }

    /// Begins a recovery, if anything is lost. `again` says that a recovery has just ended. If segments that were sent
    /// after its start had to be sent again in it, the network lost them although the window was cut. While such a
    /// retransmission is in flight the next recovery begins at once, as in RFC 6675 (5, step 2: a retransmitted segment
    /// stays lost until it arrives) and in Linux.
    fn begin_if_lost(&mut self, verdict: &mut Verdict, segments: &mut Segments<'_>, again: bool) {
        let (departures, _) = segments.split();
        let lost = self.rack.next_lost(departures).is_some();
        if !(lost || again && self.rack.has_resent(departures)) {
            return;
        }
        self.rack.forget_probe();
        self.pending = lost;
        (verdict.begins, verdict.retransmits) = (Some(Begin::Recovery), lost);
    }
}

impl Loss for RackRecovery {
    const RULE: Reason = Reason::Rack;
    const EXPECTS_DELAYED_ACKS: bool = true;
    const USES_DEPARTURES: bool = true;
    const ROOM_ENDS_WITH_DATA: bool = false;

    fn new(_: Recovery, proportional: bool) -> Self {
        Self { rack: Rack::new(), pending: false, prr: proportional.then(Prr::default) }
    }

    fn set_dup_thresh(&mut self, dup_thresh: DupThresh) {
        self.rack.set_dup_thresh(dup_thresh.initial());
    }

    fn expect_reordering(&mut self) {
        self.rack.expect_reordering();
    }

    fn see_late(&mut self, acked: (u64, u64)) {
        self.rack.see_late(acked);
    }

    fn grows_by_sacks(&self) -> bool {
        self.rack.reordering() > DUP_THRESH
    }

    fn has_resent(&mut self, segments: &mut Segments<'_>) -> bool {
        self.rack.has_resent(segments.split().0)
    }

    fn forgive<C: CongestionControl>(&mut self, state: &SenderState<C>, segments: &mut Segments<'_>) {
        self.pending = false;
        self.rack.forgive(segments.split().0, state.seq.out());
    }

    fn begin_at(&mut self, first: u64) {
        self.rack.begin_at(first);
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.rack.is_quiet()
    }

    #[inline]
    fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        self.rack.pipe(seq.una(), seq.nxt())
    }

    #[inline]
    fn sacked(&self) -> u32 {
        self.rack.sacked()
    }

    #[inline]
    fn has_lost(&self) -> bool {
        self.rack.has_lost()
    }

    #[inline]
    fn is_pending(&self) -> bool {
        self.pending
    }

    #[inline]
    fn prr(&mut self) -> Option<&mut Prr> {
        self.prr.as_mut()
    }

    fn prr_window(&self) -> Option<u32> {
        self.prr.as_ref().map(Prr::cwnd)
    }

    fn on_ack<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
        ack: &Ack,
        acked: u32,
    ) -> Report {
        let (now, una, before) = (segments.now, state.seq.una(), self.rack.sacked());
        let (departures, outcomes) = segments.split();
        let on_new = |start, end| outcomes.delivered(start, end);
        self.rack.note_order(departures, ack, state.seq.out());
        let (sacked, sacked_ends) = self.rack.update(departures, now, una, ack, state.rtt.min(), on_new);
        Report {
            delivered: (acked + self.rack.sacked()).saturating_sub(before),
            sacked,
            sacked_ends,
            lost: false,
            probe_repaired: self.rack.probe_repaired(ack, acked > 0, sacked),
        }
    }

    fn decide<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
        _: &AckInfo,
    ) -> Verdict {
        let repaired = state.phase.repairs();
        let mut verdict = self.detect(state, segments, Self::RULE);
        verdict.ends = true;
        if repaired {
            verdict.ends = state.seq.is_recovered();
            if verdict.ends {
                self.rack.end_recovery();
            }
        }
        // Segments that have arrived after all are not lost any more and need not be sent again.
        self.pending &= !verdict.ends && self.rack.has_lost();
        if verdict.ends {
            self.begin_if_lost(&mut verdict, segments, repaired);
        }
        verdict
    }

    /// The window is one segment after a timeout, and the first segment is sent, whatever else may be in flight.
    fn on_timeout<C: CongestionControl>(&mut self, state: &SenderState<C>, segments: &mut Segments<'_>) -> Restart {
        let now = segments.now;
        let (departures, outcomes) = segments.split();
        self.pending = false;
        if state.phase == Phase::Open {
            self.rack.forget_reordering();
        }
        self.rack.on_timeout(departures, now, state.seq.out(), |seq| outcomes.lost(seq, Reason::Rto));
        Restart::Next
    }

    /// The fast retransmit is sent even without room in the pipe.
    #[inline]
    fn room<C: CongestionControl>(&self, state: &SenderState<C>) -> u32 {
        Prr::room(self.prr.as_ref(), state, self.in_flight(&state.seq)).max(u32::from(self.pending))
    }

    /// Lost segments, then new ones.
    #[inline]
    fn next<C: CongestionControl>(&mut self, state: &SenderState<C>, segments: &mut Segments<'_>) -> Option<Next> {
        let now = segments.now;
        let (departures, _) = segments.split();
        let Some(seq) = self.rack.next_lost(departures) else { return state.has_new().then_some(Next::InOrder) };
        self.pending = false;
        self.rack.on_retransmit(departures, now, seq);
        Some(Next::Again(seq))
    }

    fn on_reorder_timer<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
    ) -> Verdict {
        let mut verdict = self.detect(state, segments, Reason::ReorderTimer);
        if !state.phase.repairs() {
            self.begin_if_lost(&mut verdict, segments, false);
        }
        verdict
    }

    /// The tail-loss probe is a new segment if there is one, else the last one again.
    fn on_probe_timer<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
    ) -> Option<Next> {
        let (now, nxt) = (segments.now, state.seq.nxt());
        if state.has_new() {
            self.rack.on_probe(nxt + 1, false);
            return Some(Next::InOrder);
        }
        self.rack.on_probe(nxt, true);
        let last = self.rack.last_segment(nxt)?;
        self.rack.on_retransmit(segments.split().0, now, last);
        Some(Next::Again(last))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK")]
    fn probe_at<C: CongestionControl>(&self, state: &SenderState<C>, now: Time, moved: bool) -> Option<Time> {
        let outstanding = state.seq.outstanding();
        if state.phase.repairs() || !self.rack.is_quiet() || outstanding == 0 {
            Some(Time::NEVER)
        } else if moved {
            let wait = state.rtt.options().wait_for_ack(outstanding);
            Some(self.rack.probe_at(now, wait, state.rtt.srtt(), state.timers.rto()))
        } else {
            None
        }
    }

    #[inline]
    fn first_departure(&self, seq: u64) -> Option<Time> {
        self.rack.first_departure(seq)
    }

    #[inline]
    fn on_plain_acks(&mut self, seq: u64, left: Time, rtt: Span, rtts: SrttAndMin) {
        self.rack.on_plain_acks(seq, left, rtt, rtts);
    }

    #[inline]
    fn top(&self) -> Option<(u64, u64)> {
        self.rack.top()
    }

    #[inline]
    fn extend(&mut self, segments: &mut Segments<'_>) -> Option<Extension> {
        let now = segments.now;
        let (departures, outcomes) = segments.split();
        let (seq, left) = self.rack.extend(departures, now)?;
        outcomes.delivered(seq, seq + 1);
        Some(Extension { left: Some(left) })
    }

    #[inline]
    fn extend_row(
        &mut self,
        departures: &mut Departures,
        times: impl Iterator<Item = Time>,
        on_each: impl FnMut(Time, Time),
    ) -> u32 {
        if self.pending || self.rack.has_lost() { 0 } else { self.rack.extend_row(departures, times, on_each) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driven;

    fn driven(data_end: u64) -> Driven<RackRecovery> {
        Driven::new(RackRecovery::new(Recovery::Rack, true), data_end)
    }

    /// Segment 1 of ten is lost; the third SACKed segment above it shows this.
    fn in_recovery() -> Driven<RackRecovery> {
        let mut driven = driven(10);
        driven.ack(100, 1, &[]);
        driven.ack(1, 1, &[(2, 3)]);
        assert_eq!(driven.core.state.phase, Phase::Open, "segment 2 may have overtaken segment 1");
        assert_eq!(driven.ack(1, 1, &[(2, 5)]), [(1, true)], "three SACKed segments show a loss");
        assert_eq!(driven.core.state.phase, Phase::Recovery);
        driven
    }

    #[test]
    fn lost_segments_leave_the_pipe_and_retransmissions_enter_it() {
        let driven = in_recovery();
        // Nine outstanding, three of them SACKed.
        assert_eq!(driven.state(), (Phase::Recovery, 6, false));
        assert!(!driven.recovery.has_lost());
    }

    #[test]
    fn a_recovery_ends_when_all_segments_sent_before_it_are_acknowledged() {
        let mut driven = in_recovery();
        driven.ack(100, 9, &[]);
        assert_eq!(driven.core.state.phase, Phase::Recovery);
        driven.ack(1, 10, &[]);
        assert_eq!(driven.state(), (Phase::Open, 0, true));
        assert_eq!(driven.core.state.timers.deadline(), Time::NEVER, "no timer runs");
    }

    /// Segment 1 is lost twice, and segment 12, which was sent in the recovery, once. Both have been sent again.
    fn with_a_loss_in_recovery() -> Driven<RackRecovery> {
        let mut driven = driven(30);
        driven.ack(100, 1, &[]);
        driven.ack(1, 1, &[(2, 3)]);
        assert_eq!(driven.ack(1, 1, &[(2, 5)])[0], (1, true));
        let new: Vec<u64> = driven.ack(1, 1, &[(2, 11)]).into_iter().map(|(seq, _)| seq).collect();
        assert_eq!(new, [12, 13, 14]);
        assert_eq!(driven.ack(100, 1, &[(13, 15), (2, 12)])[..2], [(1, true), (12, true)]);
        driven
    }

    #[test]
    fn a_loss_of_a_segment_sent_in_a_recovery_begins_the_next_one_at_its_end() {
        let mut driven = with_a_loss_in_recovery();
        let before = driven.core.state.control.ssthresh();
        driven.ack(1, 12, &[(13, 15)]);
        // The window is cut again, but only once: the next recovery ends when everything sent so far is acknowledged.
        assert_eq!(driven.core.state.phase, Phase::Recovery);
        assert!(driven.core.state.control.ssthresh() < before);
        let (end, cut) = (driven.core.state.seq.nxt(), driven.core.state.control.ssthresh());
        driven.ack(100, end, &[]);
        assert_eq!((driven.core.state.phase, driven.core.state.control.ssthresh()), (Phase::Open, cut));
    }

    #[test]
    fn no_recovery_follows_one_whose_segments_have_all_arrived() {
        let mut driven = with_a_loss_in_recovery();
        driven.ack(1, 1, &[(2, 15)]);
        let before = driven.core.state.control.ssthresh();
        driven.ack(1, 15, &[]);
        assert_eq!((driven.core.state.phase, driven.core.state.control.ssthresh()), (Phase::Open, before));
    }

    #[test]
    fn the_reordering_timer_finds_a_loss_that_no_ack_shows() {
        let mut driven = driven(10);
        driven.ack(100, 1, &[]);
        let before = driven.core.state.timers.deadline();
        driven.ack(1, 1, &[(9, 10)]);
        // RFC 8985, 6.2, step 4: a quarter of the smallest RTT after the segment that arrived was due.
        assert!(driven.core.state.timers.deadline() < before);
        assert_eq!(driven.time_out()[0], (1, true));
        assert_eq!(driven.core.state.phase, Phase::Recovery);
    }

    #[test]
    fn the_probe_is_the_last_segment_and_only_one_is_out() {
        let mut driven = driven(10);
        driven.ack(100, 1, &[]);
        // RFC 8985, 7.2: two smoothed round-trip times after the last progress.
        assert_eq!(driven.core.state.timers.deadline(), Time::ZERO + Span::secs(1) + Span::millis(100 + 200));
        assert_eq!(driven.time_out(), [(9, true)]);
        assert!(!driven.recovery.is_quiet());
        assert_eq!(
            driven.core.state.timers.deadline(),
            driven.core.state.timers.rto(),
            "the retransmission timer is next"
        );
    }

    #[test]
    fn acks_in_a_run_set_the_same_reordering_window_as_single_ones() {
        let sent = |in_a_run: bool| {
            let mut driven = driven(crate::NO_END);
            // Round trips of three seconds, longer than the minimum timeout. Equal samples reduce the timeout to little
            // more than one round trip.
            for _ in 0..30 {
                driven.ack(3000, driven.core.state.seq.nxt(), &[]);
            }
            assert!(driven.until_rto() < Span::millis(3200));
            // The recovery from one loss ends with a window of zero (RFC 8985, 6.2, step 4).
            let (una, nxt) = (driven.core.state.seq.una(), driven.core.state.seq.nxt());
            driven.ack(3000, una, &[(una + 1, nxt)]);
            assert_eq!(driven.core.state.phase, Phase::Recovery);
            driven.ack(3000, driven.core.state.seq.nxt(), &[]);
            assert_eq!(driven.core.state.phase, Phase::Open);
            // The ACK after it makes it a quarter of the smallest round trip again.
            let una = driven.core.state.seq.una();
            let released = if in_a_run { driven.run(3000, 1) } else { driven.ack(3000, una + 1, &[]) };
            assert!(!released.is_empty());
            // Segments that the following timeouts mark lost are sent again before new segments.
            let mut all = vec![released];
            for _ in 0..3 {
                all.push(driven.time_out());
                all.push(vec![(u64::from(driven.state().1), false)]);
            }
            all
        };
        assert_eq!(sent(true), sent(false));
    }

    #[test]
    fn a_timeout_marks_the_first_segment_lost_and_sends_only_it() {
        let mut driven = driven(10);
        // Without a round-trip sample there is no probe.
        assert_eq!(driven.time_out(), [(0, true)]);
        assert_eq!((driven.core.state.phase, driven.cwnd()), (Phase::Loss, 1));
    }
}

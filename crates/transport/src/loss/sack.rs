//! SACK recovery with a scoreboard, which sends as the pipe allows (`sack`) or in proportion to arriving data (`prr`).
//!
//! Source: RFC 6675, Section 5; Section 5.1 after a timeout; RFC 9937, Section 6.

use super::prr::Prr;
use super::rules::{AckInfo, Begin, Extension, Loss, Next, RecoveryCard, Report, Restart, SackRow, Segments, Verdict};
use super::scoreboard::Scoreboard;
use crate::events::Reason;
use crate::sequence::SequenceSpace;
use crate::state::{Phase, SenderState};
use crate::{Ack, DupThresh, Recovery};
use law::CongestionControl;

/// Card of [`Recovery::Sack`].
pub const SACK: RecoveryCard = RecoveryCard {
    name: "sack",
    title: "SACK: scoreboard and pipe",
    source: "RFC 2018, RFC 6675",
    differs: "SACKed data survives a timeout (ns-2's Sack1 forgets it); a lost retransmission means a timeout, as the RFC \
              has it.",
    selective: true,
};

/// Card of [`Recovery::Prr`].
pub const PRR: RecoveryCard = RecoveryCard {
    name: "prr",
    title: "SACK with proportional rate reduction",
    source: "RFC 6675, RFC 9937",
    differs: "A lost retransmission means a timeout. Linux divides by the cwnd before the reduction, not by what was outstanding.",
    selective: true,
};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SackRecovery {
    board: Scoreboard,
    dupacks: u32,
    /// Whether this recovery has sent its rescue retransmission (`NextSeg` rule 4).
    rescued: bool,
    /// Whether the fast retransmit is held back by pacing.
    pending: bool,
    /// PRR state, if it and not the pipe limits what a recovery sends.
    prr: Option<Prr>,
}

impl SackRecovery {
    /// Segment that `NextSeg` chooses (Section 4).
    fn next_seg<C: CongestionControl>(&mut self, state: &SenderState<C>) -> Option<Next> {
        let recovering = state.phase == Phase::Recovery;
        let seq = if std::mem::take(&mut self.pending) {
            state.seq.una()
        } else if let Some(seq) = self.board.next_lost() {
            seq
        } else if state.has_new() {
            return Some(Next::InOrder);
        } else if !recovering {
            return None;
        } else if let Some(seq) = self.board.next_unsacked() {
            seq
        } else if !self.rescued
            && let Some(seq) = self.board.rescue(state.seq.nxt())
        {
            // HighRxt does not move, so the pipe does not count it.
            self.rescued = true;
            return Some(Next::Again(seq));
        } else {
            return None;
        };
        self.board.on_retransmit(seq);
        Some(Next::Again(seq))
    }
}

impl Loss for SackRecovery {
    fn new(recovery: Recovery, proportional: bool) -> Self {
        let prr = (recovery == Recovery::Prr && proportional).then(Prr::default);
        Self { board: Scoreboard::default(), dupacks: 0, rescued: false, pending: false, prr }
    }

    fn set_dup_thresh(&mut self, dup_thresh: DupThresh) {
        self.board.set_dup_thresh(dup_thresh);
    }

    fn forgive<C: CongestionControl>(&mut self, state: &SenderState<C>, _: &mut Segments<'_>) {
        self.board.forgive(state.seq.una());
        (self.dupacks, self.pending) = (0, false);
    }

    fn begin_at(&mut self, first: u64) {
        self.board.begin_at(first);
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.dupacks == 0 && self.board.is_empty()
    }

    /// RFC 6675's pipe.
    #[inline]
    fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        self.board.pipe(seq.una(), seq.nxt())
    }

    #[inline]
    fn sacked(&self) -> u32 {
        self.board.sacked()
    }

    #[inline]
    fn has_lost(&self) -> bool {
        self.pending || self.board.next_lost().is_some()
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

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every ACK of most senders")]
    fn on_ack<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
        ack: &Ack,
        acked: u32,
    ) -> Report {
        let outcomes = &mut segments.outcomes;
        let (edge, before) = (self.board.edge().max(ack.cum), self.board.sacked());
        let sacked = self.board.update(state.seq.una(), ack, |start, end| outcomes.delivered(start, end));
        if outcomes.wanted() {
            self.board.holes(edge, self.board.edge()).for_each(|seq| outcomes.lost(seq, Self::RULE));
        }
        Report {
            delivered: (acked + self.board.sacked()).saturating_sub(before),
            sacked,
            lost: self.prr.is_some() && self.board.has_lost_above(edge),
            ..Report::default()
        }
    }

    #[inline]
    fn decide<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        _: &mut Segments<'_>,
        info: &AckInfo,
    ) -> Verdict {
        let recovered = !state.phase.repairs() || state.seq.is_recovered();
        let mut verdict = Verdict { lost: info.report.lost, ends: recovered, ..Verdict::default() };
        if !recovered {
            return verdict;
        }
        if info.acked > 0 {
            // The segment that waited to be sent again has arrived.
            (self.dupacks, self.pending) = (0, false);
        } else if info.report.sacked > 0 {
            self.dupacks += 1;
        }
        let una = state.seq.una();
        if self.dupacks >= self.board.dup_thresh() || (!self.board.is_empty() && self.board.is_lost(una)) {
            self.board.begin_recovery(una);
            (self.dupacks, self.rescued, self.pending) = (0, false, true);
            (verdict.begins, verdict.retransmits) = (Some(Begin::Recovery), true);
        }
        verdict
    }

    /// Every segment that is not SACKed is lost after a timeout.
    fn on_timeout<C: CongestionControl>(&mut self, state: &SenderState<C>, segments: &mut Segments<'_>) -> Restart {
        let outcomes = &mut segments.outcomes;
        let (una, nxt) = (state.seq.una(), state.seq.nxt());
        if outcomes.wanted() {
            let was_lost = |seq: &u64| *seq < self.board.edge() && !self.board.is_resent(*seq);
            self.board.holes(una, nxt).filter(|seq| !was_lost(seq)).for_each(|seq| outcomes.lost(seq, Reason::Rto));
        }
        self.board.all_lost(una, nxt);
        (self.dupacks, self.pending) = (0, false);
        Restart::Fill
    }

    /// The fast retransmit is sent even without room in the pipe.
    #[inline]
    fn room<C: CongestionControl>(&self, state: &SenderState<C>) -> u32 {
        if state.phase == Phase::Open {
            return state.room_in_window(state.limited_transmit(self.dupacks, self.board.dup_thresh()));
        }
        let in_flight = self.in_flight(&state.seq);
        Prr::room(self.prr.as_ref(), state, in_flight).max(u32::from(self.pending))
    }

    #[inline]
    fn next<C: CongestionControl>(&mut self, state: &SenderState<C>, _: &mut Segments<'_>) -> Option<Next> {
        if state.phase == Phase::Open { Some(Next::InOrder) } else { self.next_seg(state) }
    }

    #[inline]
    fn top(&self) -> Option<(u64, u64)> {
        self.board.top()
    }

    #[inline]
    fn extend(&mut self, segments: &mut Segments<'_>) -> Option<Extension> {
        let outcomes = &mut segments.outcomes;
        let ((_, next), edge) = (self.board.top()?, self.board.edge());
        self.board.extend(next);
        if outcomes.wanted() {
            outcomes.delivered(next, next + 1);
            self.board.holes(edge, self.board.edge()).for_each(|seq| outcomes.lost(seq, Self::RULE));
        }
        Some(Extension { left: None })
    }

    #[inline]
    fn row<C: CongestionControl>(&self, state: &SenderState<C>) -> Option<SackRow> {
        let (plain, below_edge) = (self.board.grows_plainly(), self.board.grows_below_edge());
        if self.prr.is_some() || self.pending || !plain && below_edge == 0 {
            return None;
        }
        // Once the pipe is not larger than the window, each segment that leaves it permits another one.
        let quiet = self.in_flight(&state.seq).checked_sub(state.window())?;
        if plain {
            Some(SackRow { quiet, all: quiet.saturating_add(state.new_in_row()) })
        } else {
            Some(SackRow { quiet: below_edge, all: below_edge })
        }
    }

    #[inline]
    fn extend_by(&mut self, n: u32) {
        self.board.extend_by(n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driven;

    /// Connection in recovery: the first of ten outstanding segments is lost, the next three are SACKed.
    fn in_recovery(proportional: bool) -> Driven<SackRecovery> {
        let mut driven = Driven::new(SackRecovery::new(Recovery::Prr, proportional), crate::NO_END);
        assert_eq!(driven.ack(100, 0, &[(1, 2)]), [(10, false)], "RFC 3042");
        assert!(!driven.recovery.is_quiet());
        assert_eq!(driven.ack(1, 0, &[(1, 3)]), [(11, false)], "RFC 3042");
        assert_eq!(driven.ack(1, 0, &[(1, 4)]), [(0, true)]);
        assert_eq!((driven.core.state.phase, driven.cwnd()), (Phase::Recovery, 5));
        driven
    }

    #[test]
    fn the_pipe_omits_sacked_and_lost_segments_and_counts_retransmissions() {
        let driven = in_recovery(false);
        // Twelve were sent, three of them are SACKed, and the lost one was sent again.
        assert_eq!(driven.state(), (Phase::Recovery, 9, false));
        assert!(!driven.recovery.has_lost() && driven.recovery.prr.is_none());
    }

    #[test]
    fn it_sends_nothing_until_the_pipe_is_below_the_window() {
        let mut driven = in_recovery(false);
        for end in 5..=8 {
            assert_eq!(driven.ack(1, 0, &[(1, end)]), [], "{end}");
        }
        assert_eq!(driven.state().1, 5);
        assert_eq!(driven.ack(1, 0, &[(1, 9)]), [(12, false)]);
    }

    #[test]
    fn prr_sends_one_segment_for_two_delivered() {
        let mut driven = in_recovery(true);
        let sent = (5..=11).map(|end| driven.ack(1, 0, &[(1, end)]).len()).collect::<Vec<_>>();
        // RFC 9937, Section 6, with ssthresh 5 and RecoverFS 10: ceil(delivered / 2) minus the segments sent in
        // recovery. The ACK that began it counts as the first delivered, and its retransmission as the first sent. Once
        // the pipe is down to ssthresh, one is sent for each delivered.
        assert_eq!(sent, [0, 1, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn a_segment_is_lost_when_as_many_segments_above_it_are_sacked_as_the_threshold() {
        for thresh in [1, 2, 6] {
            let mut recovery = SackRecovery::new(Recovery::Sack, false);
            recovery.set_dup_thresh(DupThresh::Segments(thresh));
            let mut driven = Driven::new(recovery, crate::NO_END);
            for end in 2..=u64::from(thresh) {
                assert_eq!(driven.ack(1, 0, &[(1, end)]), [(8 + end, false)], "limited transmit");
            }
            assert_eq!(driven.ack(1, 0, &[(1, u64::from(thresh) + 1)])[0], (0, true));
        }
    }

    #[test]
    fn a_recovery_ends_when_all_segments_sent_before_it_are_acknowledged() {
        let mut driven = in_recovery(false);
        driven.ack(100, 11, &[]);
        assert_eq!(driven.core.state.phase, Phase::Recovery, "12 had left");
        driven.ack(1, 12, &[]);
        assert_eq!(driven.core.state.phase, Phase::Open);
        assert!(driven.recovery.is_quiet());
    }

    #[test]
    fn one_rescue_retransmission_leaves_in_a_recovery() {
        // RFC 6675, NextSeg rule 4: no new data, nothing known to be lost, no hole below a SACKed segment.
        let mut driven = Driven::new(SackRecovery::new(Recovery::Sack, false), 10);
        driven.ack(100, 0, &[(1, 4)]);
        assert_eq!(driven.core.state.phase, Phase::Recovery);
        let sent = (5..=9).flat_map(|end| driven.ack(1, 0, &[(1, end)])).collect::<Vec<_>>();
        assert_eq!(sent, [(9, true)], "once the pipe is below five");
        assert!(driven.recovery.rescued);
    }

    #[test]
    fn a_timeout_marks_every_hole_lost_and_keeps_sacked_segments() {
        let mut driven = in_recovery(false);
        assert_eq!(driven.time_out(), [(0, true)]);
        assert_eq!(driven.state(), (Phase::Loss, 1, false));
        assert_eq!(driven.ack(100, 4, &[]), [(4, true), (5, true)], "1 to 3 had arrived");
    }
}

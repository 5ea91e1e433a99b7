//! Recoveries that use only cumulative acknowledgements: Tahoe, Reno, NewReno.
//!
//! Source: RFC 5681, Section 3.2 (fast retransmit, fast recovery); RFC 6582, Section 3.2 (partial ACKs, "impatient": the timer
//! restarts on the first only; `recover` guards the second fast retransmit for all three).
//! Differs from ns-2: the ACK that ends Reno's recovery does not also grow the window.

use super::rules::{AckInfo, Begin, Loss, Next, RecoveryCard, Restart, Segments, Verdict};
use crate::events::Reason;
use crate::state::{Phase, SenderState};
use crate::{DUP_THRESH, DupThresh, Recovery};
use base::Time;
use law::CongestionControl;

/// Card of [`Recovery::Tahoe`].
pub const TAHOE: RecoveryCard = RecoveryCard {
    name: "tahoe",
    title: "Tahoe: fast retransmit, no fast recovery",
    source: "Jacobson 1988; Fall and Floyd 1996",
    differs: "As in ns-2, but the ACK that ends recovery does not also grow the window.",
    selective: false,
};

/// Card of [`Recovery::Reno`].
pub const RENO: RecoveryCard =
    RecoveryCard { name: "reno", title: "Reno: fast recovery, one hole per recovery", source: "RFC 5681", ..TAHOE };

/// Card of [`Recovery::NewReno`].
pub const NEW_RENO: RecoveryCard = RecoveryCard {
    name: "newreno",
    title: "NewReno: partial acknowledgements",
    source: "RFC 6582",
    differs: "The impatient form: the timer restarts on the first partial ACK only, as in ns-2.",
    selective: false,
};

/// Reaction to the duplicate ACK that shows a loss, the third unless another number is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// Slow start from one segment: Tahoe.
    SlowStart,
    /// Fast recovery until the first ACK of new data: Reno.
    OneHole,
    /// Fast recovery until everything is repaired: NewReno.
    EveryHole,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Cumulative {
    after: After,
    dupacks: u32,
    /// Number of duplicate ACKs that show a loss.
    dup_thresh: u32,
    /// Number of segments added to the window during recovery: those that have left the network according to the
    /// duplicate ACKs.
    inflation: u32,
    /// Whether a fast retransmit is held back by pacing.
    pending: bool,
    /// Deadline that the first partial ACK of this recovery set; later ones do not change it.
    first_partial_ack_rto: Option<Time>,
}

impl Cumulative {
    /// An ACK of new data.
    #[inline]
    fn on_progress<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
        info: &AckInfo,
    ) -> Verdict {
        self.dupacks = 0;
        if state.phase != Phase::Recovery {
            return Verdict::default();
        }
        if self.after == After::EveryHole && !state.seq.is_recovered() {
            // A partial ACK: the next hole is sent again. The window shrinks by the acknowledged segments minus the one
            // sent now.
            self.inflation = (self.inflation + 1).saturating_sub(info.acked);
            self.pending = true;
            segments.outcomes.lost(state.seq.una(), Reason::PartialAck);
            let rto_at = *self.first_partial_ack_rto.get_or_insert(state.timers.rto());
            return Verdict { rto_at: Some(rto_at), retransmits: true, ..Verdict::default() };
        }
        (self.inflation, self.pending) = (0, false);
        Verdict { ends: true, ..Verdict::default() }
    }

    /// A duplicate ACK.
    #[inline]
    fn on_duplicate<C: CongestionControl>(&mut self, state: &SenderState<C>, segments: &mut Segments<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        match state.phase {
            Phase::Recovery => self.inflation += 1,
            Phase::Loss => {}
            Phase::Open | Phase::Reduction => {
                self.dupacks += 1;
                if self.dupacks == self.dup_thresh && state.seq.is_past_recovery() {
                    self.first_partial_ack_rto = None;
                    segments.outcomes.lost(state.seq.una(), Self::RULE);
                    if self.after == After::SlowStart {
                        self.dupacks = 0;
                        verdict.begins = Some(Begin::SlowStart);
                    } else {
                        (self.inflation, self.pending) = (self.dup_thresh, true);
                        (verdict.begins, verdict.retransmits) = (Some(Begin::Recovery), true);
                    }
                }
            }
        }
        verdict
    }
}

impl Loss for Cumulative {
    /// The retransmission of a hole is not counted in the inflated window.
    const BESIDE_WINDOW: bool = true;

    /// Tahoe, Reno or, in all other cases, NewReno.
    fn new(recovery: Recovery, _proportional: bool) -> Self {
        let after = match recovery {
            Recovery::Tahoe => After::SlowStart,
            Recovery::Reno => After::OneHole,
            _ => After::EveryHole,
        };
        let dup_thresh = DUP_THRESH;
        Self { after, dupacks: 0, dup_thresh, inflation: 0, pending: false, first_partial_ack_rto: None }
    }

    fn set_dup_thresh(&mut self, dup_thresh: DupThresh) {
        self.dup_thresh = dup_thresh.initial();
    }

    fn forgive<C: CongestionControl>(&mut self, _: &SenderState<C>, _: &mut Segments<'_>) {
        (self.dupacks, self.inflation, self.pending) = (0, 0, false);
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.dupacks == 0
    }

    #[inline]
    fn is_pending(&self) -> bool {
        self.pending
    }

    #[inline]
    fn decide<C: CongestionControl>(
        &mut self,
        state: &SenderState<C>,
        segments: &mut Segments<'_>,
        info: &AckInfo,
    ) -> Verdict {
        if info.acked > 0 {
            self.on_progress(state, segments, info)
        } else if state.seq.outstanding() > 0 {
            self.on_duplicate(state, segments)
        } else {
            Verdict::default()
        }
    }

    fn on_timeout<C: CongestionControl>(&mut self, state: &SenderState<C>, segments: &mut Segments<'_>) -> Restart {
        if segments.outcomes.wanted() {
            (state.seq.una()..state.seq.nxt()).for_each(|seq| segments.outcomes.lost(seq, Reason::Rto));
        }
        (self.dupacks, self.inflation, self.pending) = (0, 0, false);
        Restart::GoBack
    }

    #[inline]
    fn room<C: CongestionControl>(&self, state: &SenderState<C>) -> u32 {
        let open = state.phase == Phase::Open;
        state.room_in_window(if open { state.limited_transmit(self.dupacks, self.dup_thresh) } else { self.inflation })
    }

    #[inline]
    fn next<C: CongestionControl>(&mut self, state: &SenderState<C>, _: &mut Segments<'_>) -> Option<Next> {
        Some(if std::mem::take(&mut self.pending) { Next::Again(state.seq.una()) } else { Next::InOrder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driven;
    use base::Span;

    /// Ten segments are outstanding, of which the first is lost; two more have left on the first two duplicate ACKs, and the
    /// third begins the repair.
    fn in_recovery(recovery: Recovery) -> Driven<Cumulative> {
        let mut driven = Driven::new(Cumulative::new(recovery, false), crate::NO_END);
        assert_eq!(driven.ack(100, 0, &[]), [(10, false)], "RFC 3042");
        assert_eq!(driven.ack(1, 0, &[]), [(11, false)], "RFC 3042");
        assert!(!driven.recovery.is_quiet());
        assert_eq!(driven.ack(1, 0, &[]), [(0, true)]);
        assert_eq!(driven.cwnd(), if recovery == Recovery::Tahoe { 1 } else { 5 });
        driven
    }

    #[test]
    fn reno_deflates_and_is_done_at_the_first_new_ack() {
        let mut driven = in_recovery(Recovery::Reno);
        assert_eq!((driven.core.state.phase, driven.recovery.inflation), (Phase::Recovery, 3));
        driven.ack(1, 0, &[]);
        assert_eq!(driven.recovery.inflation, 4);
        assert_eq!(driven.ack(100, 3, &[]), [], "nine are outstanding, and the window is five");
        assert_eq!((driven.core.state.phase, driven.recovery.inflation), (Phase::Open, 0));
        assert!(driven.recovery.is_quiet());
    }

    #[test]
    fn newreno_repairs_a_hole_for_each_partial_ack_and_sets_its_timer_at_the_first() {
        let mut driven = in_recovery(Recovery::NewReno);
        for _ in 0..5 {
            driven.ack(1, 0, &[]);
        }
        assert_eq!(driven.recovery.inflation, 8);
        assert_eq!(driven.ack(100, 3, &[]), [(3, true), (13, false)]);
        // RFC 6582, 3.2, step 3: less the three acknowledged, one more for the segment that left.
        assert_eq!(driven.recovery.inflation, 6);
        assert_eq!(driven.until_rto(), Span::secs(1));
        assert_eq!(driven.ack(100, 5, &[])[0], (5, true));
        assert_eq!(driven.until_rto(), Span::millis(900), "the timer runs on");
        // 13 segments had left when the repair began, 12 of them before the partial ACKs.
        driven.ack(100, 12, &[]);
        assert_eq!((driven.core.state.phase, driven.recovery.inflation), (Phase::Open, 0));
    }

    #[test]
    fn the_deadline_of_one_recovery_is_not_that_of_the_next() {
        let mut driven = in_recovery(Recovery::NewReno);
        driven.ack(100, 3, &[]);
        assert!(driven.recovery.first_partial_ack_rto.is_some());
        driven.ack(100, 12, &[]);
        let next = driven.ack(100, 13, &[]).len();
        assert!(next > 0, "the window allows new segments again");
        (0..3).for_each(|_| drop(driven.ack(1, 13, &[])));
        assert_eq!((driven.core.state.phase, driven.recovery.first_partial_ack_rto), (Phase::Recovery, None));
    }

    #[test]
    fn tahoe_goes_back_and_forgets_its_duplicates() {
        let mut driven = in_recovery(Recovery::Tahoe);
        assert_eq!(driven.state(), (Phase::Loss, 1, true));
        assert_eq!(driven.ack(1, 0, &[]), [], "a duplicate ACK for a segment sent before is ignored");
        driven.ack(100, 12, &[]);
        assert_eq!(driven.core.state.phase, Phase::Open);
    }

    #[test]
    fn a_higher_threshold_lets_a_new_segment_leave_for_each_duplicate_before_it() {
        let mut recovery = Cumulative::new(Recovery::NewReno, false);
        recovery.set_dup_thresh(DupThresh::Segments(5));
        let mut driven = Driven::new(recovery, crate::NO_END);
        let sent: Vec<_> = (0..5).flat_map(|_| driven.ack(1, 0, &[])).collect();
        assert_eq!(sent, [(10, false), (11, false), (12, false), (13, false), (0, true)]);
        assert_eq!(driven.recovery.inflation, 5);
    }

    #[test]
    fn a_timeout_ends_the_inflation_and_sends_again_from_the_first() {
        let mut driven = in_recovery(Recovery::Reno);
        assert_eq!(driven.time_out(), [(0, true)]);
        assert_eq!(driven.recovery.inflation, 0);
        assert_eq!(driven.state(), (Phase::Loss, 1, true));
        assert_eq!(driven.ack(100, 1, &[]), [(1, true), (2, true)], "slow start");
    }
}

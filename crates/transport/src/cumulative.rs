//! Recoveries that use only cumulative acknowledgements: Tahoe, Reno, NewReno.
//!
//! Source: RFC 5681, Section 3.2 (fast retransmit, fast recovery); RFC 6582, Section 3.2 (partial ACKs, "impatient": the timer
//! restarts on the first only; `recover` guards the second fast retransmit for all three).
//! Differs from ns-2: the ACK that ends Reno's recovery does not also grow the window.

use crate::connection::{AckInfo, Connection};
use crate::recovery::RecoveryRules;
use crate::sequence::SequenceSpace;
use crate::{Ack, DUP_THRESH, Phase, Recovery, Wire};
use base::Time;
use law::CongestionControl;

/// Reaction to the third duplicate ACK.
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
    /// Number of segments added to the window during recovery: those that have left the network by the duplicate ACKs.
    inflation: u32,
    /// Whether a fast retransmit is held back by pacing.
    waits: bool,
    /// Deadline that the first partial ACK of this recovery set; later ones do not change it.
    first_partial_ack_rto: Option<Time>,
}

impl Cumulative {
    /// Tahoe, Reno or, in all other cases, NewReno.
    #[must_use]
    pub fn new(recovery: Recovery) -> Self {
        let after = match recovery {
            Recovery::Tahoe => After::SlowStart,
            Recovery::Reno => After::OneHole,
            _ => After::EveryHole,
        };
        Self { after, dupacks: 0, inflation: 0, waits: false, first_partial_ack_rto: None }
    }

    /// The fast retransmit, or that of the next hole, when its pace allows.
    fn repair<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        self.waits = !connection.may_send(self, now, 1);
        if !self.waits {
            let una = connection.seq().una();
            connection.transmit(self, now, una, wire);
        }
    }

    fn on_progress<C: CongestionControl>(
        &mut self,
        connection: &mut Connection<C>,
        info: &AckInfo,
        wire: &mut impl Wire,
    ) {
        self.dupacks = 0;
        let recovered = connection.seq().is_recovered();
        match connection.phase() {
            Phase::Open | Phase::Reduction => connection.grow(self, info, info.acked),
            Phase::Loss => {
                if recovered {
                    connection.leave_recovery();
                }
                connection.grow_by_one(self, info);
            }
            Phase::Recovery if self.after == After::EveryHole && !recovered => {
                // Partial: the next hole. The window shrinks by what was acknowledged less the one sent now.
                self.inflation = (self.inflation + 1).saturating_sub(info.acked);
                let rto_at = *self.first_partial_ack_rto.get_or_insert(connection.rto_at());
                connection.set_rto_at(rto_at);
                self.repair(connection, info.now, wire);
            }
            Phase::Recovery => {
                (self.inflation, self.waits) = (0, false);
                connection.leave_recovery();
            }
        }
    }

    fn on_duplicate<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        match connection.phase() {
            Phase::Recovery => self.inflation += 1,
            Phase::Loss => {}
            Phase::Open | Phase::Reduction => {
                self.dupacks += 1;
                if self.dupacks == DUP_THRESH && connection.seq().is_past_recovery() {
                    self.first_partial_ack_rto = None;
                    connection.enter_recovery(self, now);
                    if self.after == After::SlowStart {
                        connection.collapse();
                        self.dupacks = 0;
                        // `fill` sends it: the window is one.
                    } else {
                        self.inflation = DUP_THRESH;
                        self.repair(connection, now, wire);
                    }
                }
            }
        }
    }
}

impl RecoveryRules for Cumulative {
    fn begin_at(&mut self, _first: u64) {}

    #[inline]
    fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        seq.outstanding()
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.dupacks == 0
    }

    #[inline]
    fn on_report<C: CongestionControl>(&mut self, _: &mut Connection<C>, info: &mut AckInfo, _ack: &Ack) {
        info.delivered = info.acked;
    }

    #[inline]
    fn on_ack<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &AckInfo, wire: &mut impl Wire) {
        if info.acked > 0 {
            self.on_progress(connection, info, wire);
        } else if connection.seq().outstanding() > 0 {
            self.on_duplicate(connection, info.now, wire);
        }
    }

    fn on_timeout<C: CongestionControl>(&mut self, _: &mut Connection<C>, _now: Time) {
        (self.dupacks, self.inflation, self.waits) = (0, 0, false);
    }

    fn restart<C: CongestionControl>(&mut self, connection: &mut Connection<C>, _now: Time, _: &mut impl Wire) {
        connection.go_back();
    }

    #[inline]
    fn fill<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        let open = connection.phase() == Phase::Open;
        if !open && self.waits {
            self.repair(connection, now, wire);
            if self.waits {
                return;
            }
        }
        let inflation = if open { connection.limited_transmit(self.dupacks) } else { self.inflation };
        connection.fill_window(self, now, inflation, wire);
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
        let mut driven = Driven::new(Cumulative::new(recovery), crate::NO_END, false);
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
        assert_eq!((driven.connection.phase(), driven.recovery.inflation), (Phase::Recovery, 3));
        driven.ack(1, 0, &[]);
        assert_eq!(driven.recovery.inflation, 4);
        assert_eq!(driven.ack(100, 3, &[]), [], "nine are outstanding, and the window is five");
        assert_eq!((driven.connection.phase(), driven.recovery.inflation), (Phase::Open, 0));
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
        assert_eq!((driven.connection.phase(), driven.recovery.inflation), (Phase::Open, 0));
    }

    #[test]
    fn the_deadline_of_one_recovery_is_not_that_of_the_next() {
        let mut driven = in_recovery(Recovery::NewReno);
        driven.ack(100, 3, &[]);
        assert!(driven.recovery.first_partial_ack_rto.is_some());
        driven.ack(100, 12, &[]);
        let next = driven.ack(100, 13, &[]).len();
        assert!(next > 0, "the window is open again");
        (0..3).for_each(|_| drop(driven.ack(1, 13, &[])));
        assert_eq!((driven.connection.phase(), driven.recovery.first_partial_ack_rto), (Phase::Recovery, None));
    }

    #[test]
    fn tahoe_goes_back_and_forgets_its_duplicates() {
        let mut driven = in_recovery(Recovery::Tahoe);
        assert_eq!(driven.state(), (Phase::Loss, 1, true));
        assert_eq!(driven.ack(1, 0, &[]), [], "a duplicate of what left before says nothing");
        driven.ack(100, 12, &[]);
        assert_eq!(driven.connection.phase(), Phase::Open);
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

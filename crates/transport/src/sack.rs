//! SACK recovery with a scoreboard, which sends as the pipe allows (`sack`) or in proportion to arriving data (`prr`).
//!
//! Source: RFC 6675, Section 5; Section 5.1 after a timeout; RFC 9937, Section 6.

use crate::connection::{AckInfo, Connection};
use crate::prr::Prr;
use crate::recovery::RecoveryRules;
use crate::selective::{self, begin_repair, room};
use crate::sequence::SequenceSpace;
use crate::{Ack, DUP_THRESH, Phase, Scoreboard, Wire};
use base::Time;
use law::CongestionControl;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SackRecovery {
    board: Scoreboard,
    dupacks: u32,
    /// Whether this recovery has sent its rescue retransmission (`NextSeg` rule 4).
    rescued: bool,
    /// Whether the fast retransmit is held back by pacing.
    waits: bool,
    /// Whether PRR, not the pipe, limits what a recovery sends.
    proportional: bool,
    prr: Prr,
}

impl SackRecovery {
    /// State of a new connection; `proportional` enables PRR.
    #[must_use]
    pub fn new(proportional: bool) -> Self {
        Self {
            board: Scoreboard::default(),
            dupacks: 0,
            rescued: false,
            waits: false,
            proportional,
            prr: Prr::default(),
        }
    }

    /// Highest run of SACKed segments.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        self.board.top()
    }

    /// Retransmits `seq`, which the scoreboard chose.
    fn resend<C: CongestionControl>(
        &mut self,
        connection: &mut Connection<C>,
        now: Time,
        seq: u64,
        wire: &mut impl Wire,
    ) {
        self.board.on_retransmit(seq);
        connection.transmit(self, now, seq, wire);
    }

    /// Sends, while there is room, the segments that `NextSeg` chooses (Section 5, step C).
    fn fill_pipe<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        // Each segment sent adds one to the pipe. The fast retransmit leaves whatever the pipe has room for.
        let room = room(self, connection).max(u32::from(self.waits));
        for sent in 0..room {
            if !connection.may_send(self, now, room - sent) {
                return;
            }
            let recovering = connection.phase() == Phase::Recovery;
            if std::mem::take(&mut self.waits) {
                let una = connection.seq().una();
                self.resend(connection, now, una, wire);
            } else if let Some(seq) = self.board.next_lost() {
                self.resend(connection, now, seq, wire);
            } else if connection.has_new() {
                connection.transmit_next(self, now, wire);
            } else if recovering && let Some(seq) = self.board.next_unsacked() {
                self.resend(connection, now, seq, wire);
            } else if recovering
                && !self.rescued
                && let Some(seq) = self.board.rescue(connection.seq().nxt())
            {
                // HighRxt does not move, so the pipe does not count it.
                self.rescued = true;
                connection.transmit(self, now, seq, wire);
            } else {
                return;
            }
        }
    }
}

impl RecoveryRules for SackRecovery {
    fn begin_at(&mut self, first: u64) {
        self.board.begin_at(first);
    }

    /// RFC 6675's pipe.
    #[inline]
    fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        self.board.pipe(seq.una(), seq.nxt())
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.dupacks == 0 && self.board.is_empty()
    }

    #[inline]
    fn sacked(&self) -> u32 {
        self.board.sacked()
    }

    #[inline]
    fn has_lost(&self) -> bool {
        self.waits || self.board.next_lost().is_some()
    }

    #[inline]
    fn prr(&mut self) -> Option<&mut Prr> {
        self.proportional.then_some(&mut self.prr)
    }

    #[inline]
    fn room_for_new<C: CongestionControl>(&mut self, connection: &Connection<C>) -> u32 {
        if connection.phase() == Phase::Open {
            connection.room_in_window(connection.limited_transmit(self.dupacks))
        } else {
            selective::room_for_new(self, connection)
        }
    }

    #[inline]
    fn waits(&self) -> bool {
        self.waits
    }

    #[inline]
    fn extend<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) -> bool {
        let (Some((_, next)), edge) = (self.board.top(), self.board.edge()) else { return false };
        self.board.extend(next);
        if connection.counts_deliveries() {
            connection.on_next_sacked(now, next);
            connection.on_lost(now, self.board.holes(edge, self.board.edge()));
        }
        selective::on_next_sacked(self, connection);
        true
    }

    #[inline]
    fn row<C: CongestionControl>(&self, connection: &Connection<C>) -> Option<(u32, u32)> {
        let (plain, below_edge) = (self.board.grows_plainly(), self.board.grows_below_edge());
        if self.proportional || self.waits || !plain && below_edge == 0 {
            return None;
        }
        // The pipe takes a segment for each that leaves it, once it is no larger than the window.
        let quiet = self.in_flight(connection.seq()).checked_sub(connection.window())?;
        if plain {
            Some((quiet, quiet.saturating_add(connection.new_in_row())))
        } else {
            Some((below_edge, below_edge))
        }
    }

    #[inline]
    fn extend_by(&mut self, n: u32) {
        self.board.extend_by(n);
    }

    #[inline]
    fn room_in_repair<C: CongestionControl>(&mut self, connection: &Connection<C>) -> Option<u32> {
        if self.waits { None } else { selective::room_in_repair(self, connection) }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every ACK of most senders")]
    fn on_report<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &mut AckInfo, ack: &Ack) {
        let (now, una) = (info.now, connection.seq().una());
        let (edge, before) = (self.board.edge().max(ack.cum), self.board.sacked());
        if connection.counts_deliveries() {
            info.sacked = self.board.update(una, ack, |start, end| connection.on_sacked(now, start, end));
            connection.on_lost(now, self.board.holes(edge, self.board.edge()));
        } else {
            info.sacked = self.board.update(una, ack, |_, _| {});
        }
        info.delivered = (info.acked + self.board.sacked()).saturating_sub(before);
        info.lost = self.proportional && self.board.has_lost_above(edge);
    }

    #[inline]
    fn on_ack<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &AckInfo, wire: &mut impl Wire) {
        if !selective::on_ack(self, connection, info, info.lost) {
            return;
        }
        if info.acked > 0 {
            // What waited to be sent again has arrived.
            (self.dupacks, self.waits) = (0, false);
        } else if info.sacked > 0 {
            self.dupacks += 1;
        }
        let una = connection.seq().una();
        if self.dupacks >= DUP_THRESH || (!self.board.is_empty() && self.board.is_lost(una)) {
            self.board.begin_recovery(una);
            (self.dupacks, self.rescued) = (0, false);
            begin_repair(self, connection, info.now, info.delivered);
            self.waits = !connection.may_send(self, info.now, 1);
            if !self.waits {
                self.resend(connection, info.now, una, wire);
            }
        }
    }

    /// Marks losses after a timeout: every segment that is not SACKed is lost.
    fn on_timeout<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) {
        let (una, nxt) = (connection.seq().una(), connection.seq().nxt());
        let was_lost = |seq: &u64| *seq < self.board.edge() && !self.board.is_resent(*seq);
        connection.on_lost(now, self.board.holes(una, nxt).filter(|seq| !was_lost(seq)));
        self.board.all_lost(una, nxt);
        (self.dupacks, self.waits) = (0, false);
    }

    /// Retransmits as the scoreboard says.
    fn restart<C: CongestionControl>(&mut self, _: &mut Connection<C>, _now: Time, _: &mut impl Wire) {}

    #[inline]
    fn fill<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        if connection.phase() == Phase::Open {
            connection.fill_window(self, now, connection.limited_transmit(self.dupacks), wire);
        } else {
            self.fill_pipe(connection, now, wire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driven;

    /// Connection in recovery: the first of ten outstanding segments is lost, the next three are SACKed.
    fn in_recovery(proportional: bool) -> Driven<SackRecovery> {
        let mut driven = Driven::new(SackRecovery::new(proportional), crate::NO_END, false);
        assert_eq!(driven.ack(100, 0, &[(1, 2)]), [(10, false)], "RFC 3042");
        assert!(!driven.recovery.is_quiet());
        assert_eq!(driven.ack(1, 0, &[(1, 3)]), [(11, false)], "RFC 3042");
        assert_eq!(driven.ack(1, 0, &[(1, 4)]), [(0, true)]);
        assert_eq!((driven.connection.phase(), driven.cwnd()), (Phase::Recovery, 5));
        driven
    }

    #[test]
    fn the_pipe_counts_what_is_sacked_lost_and_sent_again() {
        let driven = in_recovery(false);
        // Twelve left, three of them are SACKed; the lost one is on its way again.
        assert_eq!(driven.state(), (Phase::Recovery, 9, false));
        assert!(!driven.recovery.has_lost() && !driven.recovery.proportional);
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
    fn prr_sends_one_for_two_meanwhile() {
        let mut driven = in_recovery(true);
        let sent = (5..=11).map(|end| driven.ack(1, 0, &[(1, end)]).len()).collect::<Vec<_>>();
        // RFC 9937, Section 6, with ssthresh 5 and RecoverFS 10: ceil(delivered / 2) less what has left. The ACK that began it
        // counts as the first delivered, and its retransmission as the first sent. Where the pipe is down to ssthresh, one for one.
        assert_eq!(sent, [0, 1, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn a_recovery_ends_when_all_that_left_before_it_is_acknowledged() {
        let mut driven = in_recovery(false);
        driven.ack(100, 11, &[]);
        assert_eq!(driven.connection.phase(), Phase::Recovery, "12 had left");
        driven.ack(1, 12, &[]);
        assert_eq!(driven.connection.phase(), Phase::Open);
        assert!(driven.recovery.is_quiet());
    }

    #[test]
    fn one_rescue_retransmission_leaves_in_a_recovery() {
        // RFC 6675, NextSeg rule 4: no new data, nothing known to be lost, no hole below a SACKed segment.
        let mut driven = Driven::new(SackRecovery::new(false), 10, false);
        driven.ack(100, 0, &[(1, 4)]);
        assert_eq!(driven.connection.phase(), Phase::Recovery);
        let sent = (5..=9).flat_map(|end| driven.ack(1, 0, &[(1, end)])).collect::<Vec<_>>();
        assert_eq!(sent, [(9, true)], "once the pipe is below five");
        assert!(driven.recovery.rescued);
    }

    #[test]
    fn a_timeout_takes_every_hole_for_lost_and_keeps_what_is_sacked() {
        let mut driven = in_recovery(false);
        assert_eq!(driven.time_out(), [(0, true)]);
        assert_eq!(driven.state(), (Phase::Loss, 1, false));
        assert_eq!(driven.ack(100, 4, &[]), [(4, true), (5, true)], "1 to 3 had arrived");
    }
}

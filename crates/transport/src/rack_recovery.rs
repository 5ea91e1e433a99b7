//! Sender under RACK-TLP: detection of losses, retransmission, and the tail-loss probe.
//!
//! Source: RFC 8985, Sections 6 and 7; RFC 9937 for how much may be sent meanwhile.

use crate::connection::{AckInfo, Connection};
use crate::departures::Departures;
use crate::prr::Prr;
use crate::rack::Rack;
use crate::recovery::RecoveryRules;
use crate::selective::{self, begin_repair, room};
use crate::sequence::SequenceSpace;
use crate::timers::Due;
use crate::{Ack, Phase, Wire};
use base::{Span, Time};
use law::CongestionControl;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct RackRecovery {
    rack: Rack,
    /// Whether the fast retransmit is held back by pacing.
    waits: bool,
    /// PRR state, unless the control sets the window in recovery.
    prr: Option<Prr>,
}

impl RackRecovery {
    /// State of a new connection; `proportional` enables PRR.
    #[must_use]
    pub fn new(proportional: bool) -> Self {
        Self { rack: Rack::new(), waits: false, prr: proportional.then(Prr::default) }
    }

    /// Highest run of SACKed segments, for a connection without a probe.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        self.rack.top()
    }

    /// Marks segments that are lost by now; returns whether any was not marked before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK")]
    fn detect<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) -> bool {
        let seq = connection.seq();
        let (range, recovering) = ((seq.una(), seq.nxt()), connection.phase().repairs());
        let times = (connection.rtt().srtt(), connection.rtt().min());
        let mut any = false;
        let reorder_at = self.rack.detect(now, range, recovering, times, |seq| {
            any = true;
            connection.on_lost(now, std::iter::once(seq));
        });
        connection.set_reorder_at(reorder_at);
        any
    }

    /// Begins to repair, if anything is lost: the fast retransmit. `again` says that a repair has just ended, and with it
    /// segments were sent again that had left after it began: the network lost them although the window was cut. While
    /// any of them is on its way the next repair begins at once, as in RFC 6675 (5, step 2: what was sent again stays lost
    /// until it arrives) and in Linux.
    fn repair_lost<C: CongestionControl>(
        &mut self,
        connection: &mut Connection<C>,
        now: Time,
        (delivered, again): (u32, bool),
        wire: &mut impl Wire,
    ) {
        let next = self.rack.next_lost();
        if next.is_none() && !(again && self.rack.has_resent()) {
            return;
        }
        self.rack.forget_probe();
        begin_repair(self, connection, now, delivered);
        self.waits = next.is_some() && !connection.may_send(self, now, 1);
        if let Some(seq) = next.filter(|_| !self.waits) {
            self.resend(connection, now, seq, wire);
        }
    }

    #[inline(never)]
    fn resend<C: CongestionControl>(
        &mut self,
        connection: &mut Connection<C>,
        now: Time,
        seq: u64,
        wire: &mut impl Wire,
    ) {
        self.rack.on_retransmit(now, seq);
        connection.transmit(self, now, seq, wire);
    }

    /// Sends the tail-loss probe: a new segment if there is one, else the last one again.
    fn probe<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        let again = !connection.has_new();
        if !again {
            connection.transmit_next(self, now, wire);
        } else if let Some(seq) = self.rack.last_segment(connection.seq().nxt()) {
            self.resend(connection, now, seq, wire);
        }
        connection.restart_rto(now);
        self.rack.on_probe(connection.seq().nxt(), again);
        connection.set_probe_at(Time::NEVER);
    }
}

impl RecoveryRules for RackRecovery {
    fn begin_at(&mut self, first: u64) {
        self.rack.begin_at(first);
    }

    #[inline]
    fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        self.rack.pipe(seq.una(), seq.nxt())
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.rack.is_quiet()
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
    fn prr(&mut self) -> Option<&mut Prr> {
        self.prr.as_mut()
    }

    #[inline]
    fn room_for_new<C: CongestionControl>(&mut self, connection: &Connection<C>) -> u32 {
        selective::room_for_new(self, connection)
    }

    #[inline]
    fn waits(&self) -> bool {
        self.waits
    }

    #[inline]
    fn extend<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) -> bool {
        let in_flight = self.in_flight(connection.seq());
        let Some((seq, left)) = self.rack.extend(now) else { return false };
        connection.on_next_sacked(now, seq);
        connection.sample_next_sacked(self, now, left, in_flight);
        connection.stop_reorder();
        selective::on_next_sacked(self, connection);
        true
    }

    #[inline]
    fn extend_row(&mut self, times: impl Iterator<Item = Time>, on_each: impl FnMut(Time, Time)) -> u32 {
        if self.waits || self.rack.has_lost() { 0 } else { self.rack.extend_row(times, on_each) }
    }

    #[inline]
    fn room_in_repair<C: CongestionControl>(&mut self, connection: &Connection<C>) -> Option<u32> {
        if self.waits { None } else { selective::room_in_repair(self, connection) }
    }

    #[inline]
    fn departures(&mut self) -> Option<&mut Departures> {
        Some(self.rack.departures())
    }

    #[inline]
    fn first_departure(&self, seq: u64) -> Option<Time> {
        self.rack.first_departure(seq)
    }

    fn on_report<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &mut AckInfo, ack: &Ack) {
        let (now, una, before) = (info.now, connection.seq().una(), self.rack.sacked());
        let min_rtt = connection.rtt().min();
        let on_new = |start, end| connection.on_sacked(now, start, end);
        (info.sacked, info.sacked_ends) = self.rack.update(now, una, ack, min_rtt, on_new);
        info.delivered = (info.acked + self.rack.sacked()).saturating_sub(before);
        info.probe_repaired = self.rack.probe_repaired(ack, info.acked > 0, info.sacked);
    }

    fn on_ack<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &AckInfo, wire: &mut impl Wire) {
        let lost = self.detect(connection, info.now);
        let was_repairing = connection.phase().repairs();
        if selective::on_ack(self, connection, info, lost) {
            self.repair_lost(connection, info.now, (info.delivered, was_repairing), wire);
        }
    }

    fn on_timeout<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) {
        connection.set_reorder_at(Time::NEVER);
        connection.set_probe_at(Time::NEVER);
        self.waits = false;
        let range = (connection.seq().una(), connection.seq().nxt());
        self.rack.on_timeout(now, range, |seq| connection.on_lost(now, std::iter::once(seq)));
    }

    /// Restarts after a timeout: the window is one segment, which is the first, whatever else may be in flight.
    fn restart<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        let una = connection.seq().una();
        self.resend(connection, now, una, wire);
    }

    /// Sends lost segments, then new ones, as far as there is room; the fast retransmit also without room.
    fn fill<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        let mut room = room(self, connection);
        if self.waits {
            // What is not lost any more, since it has arrived after all, need not be sent again.
            self.waits = connection.phase() == Phase::Recovery && self.rack.has_lost();
            room = room.max(u32::from(self.waits));
        }
        for sent in 0..room {
            if !connection.may_send(self, now, room - sent) {
                return;
            }
            if let Some(seq) = self.rack.next_lost() {
                self.waits = false;
                self.resend(connection, now, seq, wire);
            } else if connection.is_unpaced() {
                connection.send_unpaced(self, now, room - sent, wire);
                return;
            } else if connection.has_new() {
                connection.transmit_next(self, now, wire);
            } else {
                return;
            }
        }
    }

    fn on_timer<C: CongestionControl>(
        &mut self,
        connection: &mut Connection<C>,
        now: Time,
        due: Due,
        wire: &mut impl Wire,
    ) {
        if due.reorder {
            self.detect(connection, now);
            if !connection.phase().repairs() {
                self.repair_lost(connection, now, (0, false), wire);
            }
        } else if due.probe {
            self.probe(connection, now, wire);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK")]
    fn arm_timers<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, moved: bool) {
        let outstanding = connection.seq().outstanding();
        if connection.phase().repairs() || !self.rack.is_quiet() || outstanding == 0 {
            connection.set_probe_at(Time::NEVER);
        } else if moved {
            let wait = connection.rtt().options().wait_for_ack(outstanding);
            let probe_at = self.rack.probe_at(now, wait, connection.rtt().srtt(), connection.rto_at());
            connection.set_probe_at(probe_at);
        }
    }

    #[inline]
    fn on_plain_acks(&mut self, seq: u64, left: Time, rtt: Span, rtts: (Span, Span)) {
        self.rack.on_plain_acks(seq, left, rtt, rtts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driven;

    fn driven(data_end: u64) -> Driven<RackRecovery> {
        Driven::new(RackRecovery::new(true), data_end, true)
    }

    /// The first of ten segments is lost, and known to be so when a quarter of the smallest RTT is over.
    fn in_recovery() -> Driven<RackRecovery> {
        let mut driven = driven(10);
        driven.ack(100, 1, &[]);
        driven.ack(1, 1, &[(2, 3)]);
        assert_eq!(driven.connection.phase(), Phase::Open, "one SACKed segment may have overtaken it");
        assert_eq!(driven.ack(1, 1, &[(2, 5)]), [(1, true)], "three have not");
        assert_eq!(driven.connection.phase(), Phase::Recovery);
        driven
    }

    #[test]
    fn what_is_lost_leaves_the_pipe_and_returns_when_it_is_sent_again() {
        let driven = in_recovery();
        // Nine outstanding, three of them SACKed.
        assert_eq!(driven.state(), (Phase::Recovery, 6, false));
        assert!(!driven.recovery.has_lost());
    }

    #[test]
    fn a_recovery_ends_when_all_that_left_before_it_is_acknowledged() {
        let mut driven = in_recovery();
        driven.ack(100, 9, &[]);
        assert_eq!(driven.connection.phase(), Phase::Recovery);
        driven.ack(1, 10, &[]);
        assert_eq!(driven.state(), (Phase::Open, 0, true));
        assert_eq!(driven.connection.deadline(), Time::NEVER, "no timer runs");
    }

    /// Segment 1 is lost twice, and of those that left during its repair segment 12; both have been sent again.
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
    fn a_loss_of_what_left_during_a_repair_begins_the_next_when_it_ends() {
        let mut driven = with_a_loss_in_recovery();
        let before = driven.connection.control().ssthresh();
        driven.ack(1, 12, &[(13, 15)]);
        // The window is cut again, which happens once: the next recovery ends with what has left by now.
        assert_eq!(driven.connection.phase(), Phase::Recovery);
        assert!(driven.connection.control().ssthresh() < before);
        let (end, cut) = (driven.connection.seq().nxt(), driven.connection.control().ssthresh());
        driven.ack(100, end, &[]);
        assert_eq!((driven.connection.phase(), driven.connection.control().ssthresh()), (Phase::Open, cut));
    }

    #[test]
    fn a_repair_of_which_all_has_arrived_is_followed_by_none() {
        let mut driven = with_a_loss_in_recovery();
        driven.ack(1, 1, &[(2, 15)]);
        let before = driven.connection.control().ssthresh();
        driven.ack(1, 15, &[]);
        assert_eq!((driven.connection.phase(), driven.connection.control().ssthresh()), (Phase::Open, before));
    }

    #[test]
    fn the_reordering_timer_finds_what_no_ack_does() {
        let mut driven = driven(10);
        driven.ack(100, 1, &[]);
        let before = driven.connection.deadline();
        driven.ack(1, 1, &[(9, 10)]);
        // RFC 8985, 6.2, step 4: a quarter of the smallest RTT after the segment that arrived was due.
        assert!(driven.connection.deadline() < before);
        assert_eq!(driven.time_out()[0], (1, true));
        assert_eq!(driven.connection.phase(), Phase::Recovery);
    }

    #[test]
    fn the_probe_is_the_last_segment_and_only_one_is_out() {
        let mut driven = driven(10);
        driven.ack(100, 1, &[]);
        // RFC 8985, 7.2: two smoothed round-trip times after the last progress.
        assert_eq!(driven.connection.deadline(), Time::ZERO + Span::secs(1) + Span::millis(100 + 200));
        assert_eq!(driven.time_out(), [(9, true)]);
        assert!(!driven.recovery.is_quiet());
        assert_eq!(driven.connection.deadline(), driven.connection.rto_at(), "the retransmission timer is next");
    }

    #[test]
    fn acks_in_a_run_leave_the_reordering_window_that_others_do() {
        let sent = |in_a_run: bool| {
            let mut driven = driven(crate::NO_END);
            // Three seconds a round trip, above the smallest timeout: steady ones take it down to little more than one of them.
            for _ in 0..30 {
                driven.ack(3000, driven.connection.seq().nxt(), &[]);
            }
            assert!(driven.until_rto() < Span::millis(3200));
            // The recovery from one loss ends with a window of zero (RFC 8985, 6.2, step 4).
            let (una, nxt) = (driven.connection.seq().una(), driven.connection.seq().nxt());
            driven.ack(3000, una, &[(una + 1, nxt)]);
            assert_eq!(driven.connection.phase(), Phase::Recovery);
            driven.ack(3000, driven.connection.seq().nxt(), &[]);
            assert_eq!(driven.connection.phase(), Phase::Open);
            // The ACK after it makes it a quarter of the smallest round trip again.
            let una = driven.connection.seq().una();
            let released = if in_a_run { driven.run(3000, 1) } else { driven.ack(3000, una + 1, &[]) };
            assert!(!released.is_empty());
            // What is lost by the timeouts that follow goes again before new segments do.
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
    fn a_timeout_takes_the_first_for_lost_and_sends_it_alone() {
        let mut driven = driven(10);
        // Without a round-trip sample there is no probe.
        assert_eq!(driven.time_out(), [(0, true)]);
        assert_eq!((driven.connection.phase(), driven.cwnd()), (Phase::Loss, 1));
    }
}

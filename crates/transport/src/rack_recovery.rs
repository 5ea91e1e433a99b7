//! The sender under RACK-TLP: when it looks for losses, how it repairs them, and the tail-loss probe.
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
use crate::{Ack, Options, Phase, Wire};
use base::{Span, Time};
use law::CongestionControl;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct RackRecovery {
    rack: Rack,
    /// How much a recovery may send, unless the control rules that.
    prr: Option<Prr>,
}

impl RackRecovery {
    /// Nothing has left; `proportional` asks for PRR.
    #[must_use]
    pub fn new(proportional: bool, options: &Options) -> Self {
        let rack = Rack::new((options.delayed_ack, options.delayed_ack_timeout));
        Self { rack, prr: proportional.then(Prr::default) }
    }

    /// Marks what is lost by now; returns whether something was that was not before.
    fn detect<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) -> bool {
        let seq = connection.seq();
        let (range, recovering) = ((seq.una(), seq.nxt()), connection.phase() != Phase::Open);
        let times = (connection.rtt().srtt(), connection.rtt().min());
        connection.set_reorder_at(self.rack.detect(now, range, recovering, times));
        self.report_lost(connection, now)
    }

    /// Reports what was taken for lost since the last time; returns whether anything was.
    fn report_lost<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) -> bool {
        let newly_lost = self.rack.take_newly_lost();
        let any = newly_lost.len() > 0;
        connection.on_lost(now, newly_lost);
        any
    }

    /// Begins to repair, if anything is lost: the fast retransmit.
    fn repair_lost<C: CongestionControl>(
        &mut self,
        connection: &mut Connection<C>,
        now: Time,
        delivered: u32,
        wire: &mut impl Wire,
    ) {
        if let Some(seq) = self.next_lost(connection) {
            self.rack.forget_probe();
            begin_repair(self, connection, now, delivered);
            self.resend(connection, now, seq, wire);
        }
    }

    /// The lowest segment that is lost and not sent since.
    fn next_lost<C: CongestionControl>(&mut self, connection: &Connection<C>) -> Option<u32> {
        self.rack.next_lost(connection.seq().una(), connection.seq().nxt())
    }

    fn resend<C: CongestionControl>(
        &mut self,
        connection: &mut Connection<C>,
        now: Time,
        seq: u32,
        wire: &mut impl Wire,
    ) {
        self.rack.on_retransmit(now, seq);
        connection.transmit(self, now, seq, wire);
    }

    /// The tail-loss probe: a new segment if there is one, else the last again.
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
    fn begin_at(&mut self, first: u32) {
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
    fn departures(&mut self) -> Option<&mut Departures> {
        Some(self.rack.departures())
    }

    fn on_report<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &mut AckInfo, ack: &Ack) {
        let (now, una, before) = (info.now, connection.seq().una(), self.rack.sacked());
        let min_rtt = connection.rtt().min();
        info.sacked = self.rack.update(now, una, ack, min_rtt, |start, end| connection.on_sacked(now, start, end));
        info.delivered = (info.acked + self.rack.sacked()).saturating_sub(before);
        info.probe_repaired = self.rack.probe_repaired(ack, info.acked > 0, info.sacked);
    }

    fn on_ack<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: AckInfo, wire: &mut impl Wire) {
        let lost = self.detect(connection, info.now);
        if selective::on_ack(self, connection, info, lost) {
            self.repair_lost(connection, info.now, info.delivered, wire);
        }
    }

    fn on_timeout<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time) {
        connection.set_reorder_at(Time::NEVER);
        connection.set_probe_at(Time::NEVER);
        self.rack.on_timeout(now, (connection.seq().una(), connection.seq().nxt()));
        self.report_lost(connection, now);
    }

    /// The window is one segment, and the first is it, whatever else may still be on its way.
    fn restart<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        let una = connection.seq().una();
        self.resend(connection, now, una, wire);
    }

    /// Lost segments first, then new ones, as far as there is room.
    fn fill<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire) {
        for _ in 0..room(self, connection) {
            if !connection.may_send(now) {
                return;
            }
            if let Some(seq) = self.next_lost(connection) {
                self.resend(connection, now, seq, wire);
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
            if connection.phase() == Phase::Open {
                self.repair_lost(connection, now, 0, wire);
            }
        } else if due.probe {
            self.probe(connection, now, wire);
        }
    }

    #[inline]
    fn arm_timers<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, moved: bool) {
        let outstanding = connection.seq().outstanding();
        if connection.phase() != Phase::Open || !self.rack.is_quiet() || outstanding == 0 {
            connection.set_probe_at(Time::NEVER);
        } else if moved {
            let probe_at = self.rack.probe_at(now, outstanding, connection.rtt().srtt(), connection.rto_at());
            connection.set_probe_at(probe_at);
        }
    }

    #[inline]
    fn on_plain_acks(&mut self, seq: u32, left: Time, rtt: Span) {
        self.rack.on_plain_acks(seq, left, rtt);
    }
}

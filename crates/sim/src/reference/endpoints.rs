//! A sender of the reference engine with its receiver, and the packets that it sends.

use crate::Trace;
use crate::hash::Rolling;
use crate::meter::FlowMeter;
use crate::places::OpenTransfer;
use crate::plan::{FlowControl, FlowPlan, TcpPlan};
use base::{Flags, Header, PacketNumber, Time};
use queue::Packet;
use std::collections::VecDeque;
use transport::{Ack, Counters, EventLog, Spurious, Wire};

/// The sender's own link.
#[derive(Default)]
pub struct AccessLink {
    pub waiting: VecDeque<Packet>,
    pub serving: Option<Packet>,
}

/// See the [module](self).
pub struct Endpoints<C> {
    pub plan: FlowPlan<C>,
    pub datagrams_sent: u64,
    pub datagrams_delivered: u64,
    pub access: AccessLink,
    pub meter: FlowMeter,
    /// Wire bytes delivered since the end of the warm-up, if packet sizes differ.
    pub bytes: Option<u64>,
    pub last_enter: Time,
    pub hash: Rolling,
    /// The last ACK that the receiver made.
    pub ack: Ack,
    /// ACKs on their way through return links, oldest first (`None` if it has arrived), and the number of the oldest.
    pub acks: VecDeque<Option<Ack>>,
    pub first_ack: PacketNumber,
    pub dropped: u64,
    pub trace: Option<Trace>,
    /// The session of which this is a place, and the transfer that is open there.
    pub session: Option<usize>,
    pub open: Option<OpenTransfer>,
}

impl<C: FlowControl> Endpoints<C> {
    /// Counters of the sender, and the number of segments that the receiver has in order; for datagrams, the numbers of
    /// packets sent and delivered.
    pub fn counters(&self) -> (Counters, Option<Spurious>, u64) {
        match &self.plan {
            FlowPlan::Tcp(_, tcp) => (tcp.sender.counters(), tcp.sender.info().spurious(), tcp.receiver.delivered()),
            FlowPlan::Datagrams(_) => {
                (Counters { sent: self.datagrams_sent, ..Counters::default() }, None, self.datagrams_delivered)
            }
        }
    }

    /// Takes the ACK that arrived through the return links. ACKs sent before it were lost there, or arrive later.
    pub fn ack_numbered(&mut self, number: PacketNumber) -> Ack {
        if !self.plan.party().reorders {
            self.acks.drain(..number.after(self.first_ack) as usize);
            self.first_ack = number;
        }
        let at = number.after(self.first_ack) as usize;
        let ack = self.acks[at].take().expect("an ACK that was sent");
        while self.acks.front().is_some_and(Option::is_none) {
            self.acks.pop_front();
            self.first_ack = self.first_ack.plus(1);
        }
        ack
    }

    /// The TCP endpoints of a flow that must be TCP, because only TCP has ACKs and timers.
    pub fn tcp(&mut self) -> &mut TcpPlan<C> {
        match &mut self.plan {
            FlowPlan::Tcp(_, tcp) => tcp,
            FlowPlan::Datagrams(_) => unreachable!("datagrams have no ACKs and no timers"),
        }
    }
}

/// Segments that TCP hands over during one call, and the flow's trace if it has one.
pub struct Outbox {
    pub sent: Vec<(u64, Flags, Header)>,
    pub trace: Option<Trace>,
}

impl Wire for Outbox {
    fn send(&mut self, now: Time, seq: u64, flags: Flags) {
        self.send_with(now, seq, flags, Header::NONE);
    }

    fn send_with(&mut self, _now: Time, seq: u64, flags: Flags, header: Header) {
        self.sent.push((seq, flags, header));
    }

    fn on_retransmission(&mut self, now: Time, seq: u64) {
        if let Some(trace) = &mut self.trace {
            trace.retransmit(now, seq);
        }
    }

    fn log(&mut self) -> Option<&mut EventLog> {
        self.trace.as_mut().map(|trace| &mut trace.log)
    }
}

//! Fair queueing by flow over a shared buffer: each flow a queue of its own, and a full buffer drops from the longest.
//!
//! Source: Suter, Lakshman, Stiliadis and Choudhury 1998 (dropping); Shreedhar and Varghese 1995 (`drr`); Goyal, Vin and
//! Cheng 1996 (`start-time`). The sources leave open: the arrival is put in first and may be the one that goes; lengths are
//! bytes rounded up to packets of the mean size; one of several longest queues goes by chance; a packet that is dropped
//! leaves no trace in the tags.

use crate::flows::Flows;
use crate::longest::Longest;
use crate::order::{Order, Scheduler, Victim};
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Card, Cause, ParamError, Stream, Time};

base::params! {
    /// Suter and others 1998.
    pub struct Params {
        /// Who is served next: `drr` or `start-time`.
        scheduler: Scheduler = Scheduler::Drr, "";
        /// What a flow may send in its turn of the round robin.
        quantum: Amount = Amount::Packets(1.0), "packets";
        /// Which packet of the longest queue is dropped: `tail` or `head`.
        victim: Victim = Victim::Tail, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Fq {
    limit: Limit,
    victim: Victim,
    flows: Flows,
    order: Order,
    longest: Longest,
    chance: Stream,
}

impl Rule for Fq {
    type Params = Params;
    const CARD: Card = Card {
        name: "fq",
        aliases: &["fair-queueing", "fair-queuing", "fq-longest", "longest-queue-drop"],
        title: "Fair queueing, dropping from the longest queue",
        source: "Suter, Lakshman, Stiliadis and Choudhury 1998",
        differs: "The length of a queue is its bytes, rounded up to packets of the link's mean size; ties go by chance.",
    };

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        let quantum = crate::order::quantum(p.quantum, port)?;
        Ok(Self {
            limit: port.limit,
            victim: p.victim,
            flows: Flows::default(),
            order: Order::new(p.scheduler, quantum),
            longest: Longest::new(port.packet),
            chance,
        })
    }
}

impl Fq {
    #[cold]
    fn make_room(&mut self, now: Time, fates: &mut impl Fates) {
        while !self.limit.holds(self.flows.backlog()) {
            let lane = self.longest.pick(&self.flows, &mut self.chance);
            let packet = self.flows.pop_end(lane, self.victim);
            self.longest.changed(lane);
            self.order.dropped(&mut self.flows, lane);
            fates.dropped(&packet, Cause::Overflow, now);
        }
    }
}

impl QueueDiscipline for Fq {
    #[inline]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        let (lane, new) = self.flows.push(packet);
        self.order.arrive(&mut self.flows, lane, new);
        self.longest.changed(lane);
        if idle_since.is_none() && !self.limit.holds(self.flows.backlog()) {
            self.make_room(packet.arrived, fates);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        let (lane, packet) = self.order.next(&mut self.flows)?;
        self.longest.changed(lane);
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }
}

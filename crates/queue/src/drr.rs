//! Deficit round robin: every flow a queue of its own, served in turn for a quantum of bytes.
//!
//! Source: Shreedhar and Varghese 1995 ("Efficient Fair Queueing using Deficit Round Robin"), Section 3.
//! Differs from ns-2: each flow may hold `flow_limit` packets of the shared buffer, and an arrival that finds its queue
//! or the buffer full is dropped; ns-2's `Queue/DRR` limits bytes of hashed buckets.

use crate::flows::Flows;
use crate::order::Turn;
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Card, Cause, ParamError, Stream, Time};

base::params! {
    /// Shreedhar and Varghese 1995.
    pub struct Params {
        /// What a flow may send in its turn.
        quantum: Amount = Amount::Packets(1.0), "packets";
        /// What one flow may have waiting; 0 for the whole buffer.
        flow_limit: Amount = Amount::Packets(0.0), "packets";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Drr {
    limit: Limit,
    flow_limit: Option<u64>,
    flows: Flows,
    turn: Turn,
}

impl Rule for Drr {
    type Params = Params;
    const CARD: Card = Card {
        name: "drr",
        aliases: &["DRR", "deficit-round-robin"],
        title: "Deficit round robin",
        source: "Shreedhar and Varghese 1995",
        differs: "Flows are never hashed together; a full queue drops the arrival.",
    };

    fn new(p: &Params, port: &Port, _chance: Stream) -> Result<Self, ParamError> {
        let quantum = crate::order::quantum(p.quantum, port)?;
        let flow_limit = p.flow_limit.packets();
        Ok(Self {
            limit: port.limit,
            flow_limit: (flow_limit > 0.0).then_some((flow_limit * port.packet).round() as u64),
            flows: Flows::default(),
            turn: Turn::new(quantum),
        })
    }
}

impl QueueDiscipline for Drr {
    #[inline]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        if idle_since.is_none() {
            let full = |limit| self.flows.bytes_of(packet.flow) + u64::from(packet.size) > limit;
            if !self.limit.has_room(self.flows.backlog(), &packet) || self.flow_limit.is_some_and(full) {
                return fates.dropped(&packet, Cause::Overflow, packet.arrived);
            }
        }
        if let (lane, true) = self.flows.push(packet) {
            self.turn.join(&mut self.flows, lane);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        self.turn.next(&mut self.flows).map(|(_, packet)| packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }
}

//! Deficit round robin: every flow has a queue of its own; the queues are served in turn, each for a quantum of bytes.
//!
//! Source: Shreedhar and Varghese 1995 ("Efficient Fair Queueing using Deficit Round Robin"), Section 3.
//! Differs from the source: an arrival is dropped if the buffer, or its flow's share `flow_limit` of it, is full. The
//! source hashes flows into buckets and drops from the longest queue (as `fq` does).
//! Differs from ns-2: ns-2 hashes flows into 16 buckets. Beyond `blimit_` bytes it drops the oldest packet of the
//! largest bucket (similar to `fq` with `victim = "head"`).
//! Differs from Linux: Linux's `drr` is classful and drops everything without classes; classes and filters do not fit
//! one line of tc.

use crate::flows::Flows;
use crate::order::RoundRobin;
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Card, Cause, ParamError, Registered, Stream, Time};

base::params! {
    /// Shreedhar and Varghese 1995.
    pub struct Params {
        /// Amount of data that a flow may send in its turn.
        quantum: Amount = Amount::Packets(1.0), "packets";
        /// Limit of one flow's backlog; 0 for the whole buffer.
        flow_limit: Amount = Amount::Packets(0.0), "packets";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Drr {
    limit: Limit,
    flow_limit: Option<u64>,
    flows: Flows,
    round: RoundRobin,
}

impl Registered for Drr {
    type Params = Params;
    const CARD: Card = Card {
        name: "drr",
        aliases: &["DRR", "deficit-round-robin"],
        title: "Deficit round robin",
        source: "Shreedhar and Varghese 1995",
        differs: "Flows are never hashed together; a full buffer drops the arrival, where the paper steals from the longest.",
    };
}

impl Rule for Drr {
    fn new(p: &Params, port: &Port, _chance: Stream) -> Result<Self, ParamError> {
        let quantum = crate::order::quantum(p.quantum, port)?;
        let flow_limit = p.flow_limit.packets();
        Ok(Self {
            limit: port.limit,
            flow_limit: (flow_limit > 0.0).then_some(port.bytes(p.flow_limit) as u64),
            flows: Flows::default(),
            round: RoundRobin::new(quantum),
        })
    }
}

impl QueueDiscipline for Drr {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        if idle_since.is_none() {
            let full = |limit| self.flows.bytes_of(packet.flow) + u64::from(packet.size) > limit;
            if !self.limit.has_room(self.flows.backlog(), &packet) || self.flow_limit.is_some_and(full) {
                return fates.dropped(&packet, Cause::Overflow, packet.arrived);
            }
        }
        if let (lane, true) = self.flows.push(packet) {
            self.round.join(&mut self.flows, lane);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        self.round.next(&mut self.flows)
    }

    #[inline]
    fn pass(&mut self, packet: Packet, _idle_since: Time, _fates: &mut impl Fates) -> Option<Packet> {
        // A lane that opens and closes at once leaves no state behind.
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("active_flows", self.flows.open_lanes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{Ledger, offer, queue, serve};

    fn drr(quantum: f64, flow_limit: f64, limit: Limit) -> Drr {
        let params = Params { quantum: Amount::Packets(quantum), flow_limit: Amount::Packets(flow_limit) };
        queue(&params, limit)
    }

    #[test]
    fn the_unused_part_of_a_quantum_is_carried_to_the_next_turn() {
        // The first queue is that of Figures 2 and 3: 500 - 200 leaves 300, too little for 750; then 300 + 500 - 750 - 20.
        // The second queue uses up each of its turns; the third waits for one turn and then sends 600 + 100 of its 500 +
        // 500.
        let mut q = drr(0.5, 0.0, Limit::Unlimited);
        offer(&mut q, &[(0, 200), (0, 750), (0, 20), (1, 500), (1, 500), (2, 600), (2, 100)]);
        let first_round = [(0, 200), (1, 500)];
        let second_round = [(0, 750), (0, 20), (1, 500), (2, 600), (2, 100)];
        assert_eq!(serve(&mut q, 9), [&first_round[..], &second_round[..]].concat());
    }

    #[test]
    fn a_flow_that_was_empty_begins_without_credit() {
        let mut q = drr(0.5, 0.0, Limit::Unlimited);
        offer(&mut q, &[(0, 100), (1, 300), (1, 300), (1, 300)]);
        // The remaining 400 of flow 0's turn are lost. Flow 1 has 500 - 300 = 200 left.
        assert_eq!(serve(&mut q, 2), [(0, 100), (1, 300)]);
        offer(&mut q, &[(0, 600)]);
        // Flow 0 has only 500 and must wait; flow 1 has 200 + 500, enough for both; then flow 0 has 1000, which is enough.
        assert_eq!(serve(&mut q, 3), [(1, 300), (1, 300), (0, 600)]);
    }

    #[test]
    fn drops_the_arrival_beyond_its_flows_share_or_the_buffer() {
        let mut q = drr(1.0, 2.0, Limit::Packets(3));
        let arrivals = [(0, 1000), (0, 1000), (0, 1000), (1, 1000), (2, 1000)];
        assert_eq!(offer(&mut q, &arrivals), [(0, 2), (2, 4)]);
        let mut none = drr(1.0, 0.0, Limit::Packets(0));
        let mut ledger = Ledger::default();
        none.enqueue(Packet::new(0, 0, 1000, Time::ZERO), Some(Time::ZERO), &mut ledger);
        assert_eq!(serve(&mut none, 1), [(0, 1000)], "an idle server needs no room");
        assert!(ledger.dropped.is_empty());
    }

    #[test]
    fn a_quantum_of_zero_is_refused() {
        let port = Port::new(Limit::Unlimited, base::Rate(1_000_000), 1000.0);
        let params = Params { quantum: Amount::Packets(0.0), ..Params::default() };
        let error = Drr::new(&params, &port, crate::order::tests::chance()).unwrap_err();
        assert_eq!(error.field, "quantum");
    }
}

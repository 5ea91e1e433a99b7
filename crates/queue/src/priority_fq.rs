//! Fair queueing that gives priority to flows that have just become active: implicit service differentiation.
//!
//! Source: Kortebi, Oueslati and Roberts, HPSR 2004 (`start-time`: PFQ) and ITC 19, 2005 (`drr`: PDRR). A flow is active
//! while it has packets waiting and for some time after: with `start-time` until the virtual time passes its last finish
//! tag, with `drr` until its turn finds no packets. One FIFO is served before everything else. It takes the first packet of
//! a flow that was not active, and the next packets as long as they total at most one quantum and no packet of the flow
//! waits outside the FIFO. These packets are charged to the flow's tag or deficit; the virtual time does not move with
//! them.
//! Choices: this file follows the paper's description, because its pseudo-code was not available. Drops are as in `fq`;
//! dropped packets are not charged.

use crate::flows::{Flows, NONE, Victim};
use crate::longest::Longest;
use crate::order::{Order, Scheduler};
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Card, Cause, ParamError, Registered, Stream, Time};

base::params! {
    /// Kortebi, Oueslati and Roberts 2004.
    pub struct Params {
        /// Scheduler of the other packets: `start-time` or `drr`.
        scheduler: Scheduler = Scheduler::StartTime, "";
        /// Amount of data that a flow may send first when it becomes active, and in its turn of the round robin.
        quantum: Amount = Amount::Packets(1.0), "packets";
        /// Packet of the longest queue that is dropped: `tail` or `head`.
        victim: Victim = Victim::Tail, "";
    }
}

/// State of a flow in addition to its lane. The oldest `ahead` packets of the lane are those in the FIFO.
#[derive(Clone, Copy, Debug, Default)]
struct Active {
    /// Bytes that went into the FIFO since the flow became active.
    spent: i64,
    /// Number of its packets in the FIFO.
    ahead: u32,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct PriorityFq {
    limit: Limit,
    quantum: i64,
    victim: Victim,
    flows: Flows,
    active: Vec<Active>,
    first: Chain,
    order: Order,
    longest: Longest,
    chance: Stream,
}

impl Registered for PriorityFq {
    type Params = Params;
    const CARD: Card = Card {
        name: "priority-fq",
        aliases: &["pfq", "pdrr", "priority-fair-queueing"],
        title: "Priority fair queueing",
        source: "Kortebi, Oueslati and Roberts 2004",
        differs: "Drops as fq does; a flow gets one quantum of priority each time it becomes active.",
    };
}

impl Rule for PriorityFq {
    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        let quantum = crate::order::quantum(p.quantum, port)?;
        Ok(Self {
            limit: port.limit,
            quantum,
            victim: p.victim,
            flows: Flows::default(),
            active: Vec::new(),
            first: Chain::default(),
            order: Order::new(p.scheduler, quantum),
            longest: Longest::new(port.packet),
            chance,
        })
    }
}

impl PriorityFq {
    fn put(&mut self, packet: Packet) {
        let flow = packet.flow as usize;
        let was_active = self.flows.lane(packet.flow) != NONE
            || matches!(&self.order, Order::StartTime(tags) if tags.is_ahead(packet.flow));
        let (lane, new) = self.flows.push(packet);
        if self.active.len() <= flow {
            self.active.resize(flow + 1, Active::default());
        }
        let active = &mut self.active[flow];
        if !was_active {
            active.spent = 0;
        }
        let size = i64::from(packet.size);
        let behind = self.flows.packets(lane) - 1 - active.ahead;
        let ahead = behind == 0 && (!was_active || active.spent + size <= self.quantum);
        match &mut self.order {
            Order::RoundRobin(round) => {
                if new {
                    // The flow joins the round at the end. What it sends before its turn uses the quantum of the present
                    // round.
                    round.join(&mut self.flows, lane);
                    *self.flows.deficit(lane) = self.quantum;
                }
                if ahead {
                    *self.flows.deficit(lane) -= size;
                }
            }
            Order::StartTime(tags) => {
                tags.arrive(&self.flows, lane, new);
                if !ahead && behind == 0 && active.ahead == 0 {
                    tags.join(&self.flows, lane);
                }
            }
        }
        if ahead {
            active.spent += size;
            active.ahead += 1;
            self.first.append(self.flows.back_slot(lane));
        }
    }

    /// The oldest packet of the FIFO.
    fn take_first(&mut self) -> Option<Packet> {
        let slot = self.first.head()?;
        let lane = self.flows.lane(self.flows.at(slot).flow);
        self.first.remove(slot);
        let packet = self.flows.pop_front(lane);
        let active = &mut self.active[packet.flow as usize];
        active.ahead -= 1;
        if let Order::StartTime(tags) = &mut self.order {
            tags.overtook(&mut self.flows, lane, packet.size);
            if active.ahead == 0 && self.flows.lane(packet.flow) != NONE {
                tags.join(&self.flows, lane);
            }
        }
        Some(packet)
    }

    /// The next packet without priority.
    fn take_other(&mut self) -> Option<Packet> {
        let round = match &mut self.order {
            Order::StartTime(tags) => return tags.next(&mut self.flows),
            Order::RoundRobin(round) => round,
        };
        while !round.is_empty() {
            let lane = round.front();
            if self.flows.packets(lane) == 0 {
                round.leave(&mut self.flows, lane);
                self.flows.close(lane);
            } else if round.charge(&mut self.flows) {
                let packet = self.flows.pop_front(lane);
                if self.flows.packets(lane) == 0 {
                    // The flow had its turn in this round: packets that arrive before its next turn wait for that turn.
                    *self.flows.deficit(lane) = 0;
                    self.active[packet.flow as usize].spent = self.quantum;
                    round.pass(&self.flows);
                }
                return Some(packet);
            } else {
                round.pass(&self.flows);
            }
        }
        None
    }

    #[cold]
    fn make_room(&mut self, now: Time, fates: &mut impl Fates) {
        while !self.limit.holds(self.flows.backlog()) {
            let lane = self.longest.pick(&mut self.flows, &mut self.chance);
            let active = &mut self.active[self.flows.flow(lane) as usize];
            let (slot, ahead) = match self.victim {
                Victim::Head => (self.flows.front_slot(lane), active.ahead > 0),
                Victim::Tail => (self.flows.back_slot(lane), active.ahead == self.flows.packets(lane)),
            };
            if ahead {
                self.first.remove(slot);
                active.ahead -= 1;
            }
            let packet = self.flows.pop_end(lane, self.victim);
            if ahead {
                active.spent -= i64::from(packet.size);
            }
            match &mut self.order {
                // A lane that becomes empty stays until its turn.
                Order::RoundRobin(_) => *self.flows.deficit(lane) += if ahead { i64::from(packet.size) } else { 0 },
                Order::StartTime(tags) => {
                    tags.dropped(&mut self.flows, lane);
                    if ahead && active.ahead == 0 && self.flows.lane(packet.flow) != NONE {
                        tags.join(&self.flows, lane);
                    }
                }
            }
            fates.dropped(&packet, Cause::Overflow, now);
        }
    }
}

impl QueueDiscipline for PriorityFq {
    #[inline]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        self.put(packet);
        if idle_since.is_none() && !self.limit.holds(self.flows.backlog()) {
            self.make_room(packet.arrived, fates);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        self.take_first().or_else(|| self.take_other())
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("active_flows", self.flows.open_lanes());
    }
}

/// A list of slots from which any slot can be removed.
#[derive(Clone, Debug)]
struct Chain {
    /// For each slot, the slots before and after it.
    links: Vec<(u32, u32)>,
    head: u32,
    tail: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { links: Vec::new(), head: NONE, tail: NONE }
    }
}

impl Chain {
    #[inline]
    fn head(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    #[inline]
    fn append(&mut self, slot: u32) {
        if self.links.len() <= slot as usize {
            self.links.resize(slot as usize + 1, (NONE, NONE));
        }
        self.links[slot as usize] = (self.tail, NONE);
        match self.tail {
            NONE => self.head = slot,
            tail => self.links[tail as usize].1 = slot,
        }
        self.tail = slot;
    }

    #[inline]
    fn remove(&mut self, slot: u32) {
        let (before, after) = self.links[slot as usize];
        match before {
            NONE => self.head = after,
            before => self.links[before as usize].1 = after,
        }
        match after {
            NONE => self.tail = before,
            after => self.links[after as usize].0 = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{Ledger, offer, queue, serve};

    fn scheduled(scheduler: Scheduler, limit: Limit) -> PriorityFq {
        queue(&Params { scheduler, ..Params::default() }, limit)
    }

    #[test]
    fn one_quantum_of_a_new_flow_goes_before_a_backlog() {
        for scheduler in [Scheduler::StartTime, Scheduler::Drr] {
            let mut q = scheduled(scheduler, Limit::Unlimited);
            // The first packet of flow 0 has priority too; a quantum is 1000 bytes.
            offer(&mut q, &[(0, 1000), (0, 1000), (0, 1000)]);
            assert_eq!(serve(&mut q, 1), [(0, 1000)]);
            // 400 + 600 bytes are one quantum. The next 100 exceed it, so they wait although they came before flow 2.
            offer(&mut q, &[(1, 400), (1, 600), (1, 100), (2, 300)]);
            assert_eq!(serve(&mut q, 3), [(1, 400), (1, 600), (2, 300)], "{scheduler:?}");
            // Tags: flow 0 waits at 1000, and flow 1 at 0 + 400 + 600 = 1000 behind it. Turns: flow 0 joined first.
            assert_eq!(serve(&mut q, 4), [(0, 1000), (1, 100), (0, 1000)], "{scheduler:?}");
        }
    }

    #[test]
    fn a_small_packet_does_not_overtake_waiting_packets_of_its_flow() {
        for scheduler in [Scheduler::StartTime, Scheduler::Drr] {
            let mut q = scheduled(scheduler, Limit::Unlimited);
            // 900 + 200 would be 1100 bytes, so the 200 wait; then the 50 wait too, although they would fit the quantum.
            offer(&mut q, &[(0, 900), (0, 200), (0, 50)]);
            assert_eq!(serve(&mut q, 3), [(0, 900), (0, 200), (0, 50)], "{scheduler:?}");
        }
    }

    #[test]
    fn a_packet_larger_than_the_quantum_goes_first_once() {
        for scheduler in [Scheduler::StartTime, Scheduler::Drr] {
            let mut q = scheduled(scheduler, Limit::Unlimited);
            offer(&mut q, &[(0, 1000), (0, 1000), (0, 1000), (0, 1000)]);
            serve(&mut q, 1);
            offer(&mut q, &[(1, 1500), (1, 1500)]);
            // Tags: flow 0 at 1000 and 2000, flow 1 at 1500. Deficits: flow 1 owes 500 after its first packet; its turns
            // then bring 500 and 1500.
            let expected = match scheduler {
                Scheduler::StartTime => [(1, 1500), (0, 1000), (1, 1500), (0, 1000), (0, 1000)],
                Scheduler::Drr => [(1, 1500), (0, 1000), (0, 1000), (1, 1500), (0, 1000)],
            };
            assert_eq!(serve(&mut q, 5), expected, "{scheduler:?}");
        }
    }

    #[test]
    fn a_flow_stays_active_until_the_virtual_time_passes_its_tag() {
        let mut q = scheduled(Scheduler::StartTime, Limit::Unlimited);
        offer(&mut q, &[(0, 1000), (0, 1000), (0, 1000), (0, 1000)]);
        // The packet with tag 0 comes first, then the one with tag 1000.
        assert_eq!(serve(&mut q, 2), [(0, 1000), (0, 1000)]);
        // v = 1000: flow 1 sends from 1000 to 1600 at once. With the next 600 it would be 1200 bytes: tag 1600, before flow
        // 0's 2000.
        offer(&mut q, &[(1, 600), (1, 600)]);
        assert_eq!(serve(&mut q, 3), [(1, 600), (1, 600), (0, 1000)]);
        // v = 2000 and the tag of flow 1 is 2200, so it is still active and has spent 600 of its 1000 bytes: the next 600
        // wait at 2200, before flow 0 at 3000.
        offer(&mut q, &[(1, 600), (0, 1000)]);
        assert_eq!(serve(&mut q, 2), [(1, 600), (0, 1000)]);
        // v = 3000 has passed 2800, so flow 1 gets priority again.
        offer(&mut q, &[(1, 600)]);
        assert_eq!(serve(&mut q, 2), [(1, 600), (0, 1000)]);
        assert!(serve(&mut q, 1).is_empty());
    }

    #[test]
    fn a_flow_stays_active_until_it_has_no_packet_at_its_turn() {
        let mut q = scheduled(Scheduler::Drr, Limit::Unlimited);
        offer(&mut q, &[(0, 1000), (0, 1000), (0, 1000), (0, 1000), (0, 1000), (1, 400)]);
        assert_eq!(serve(&mut q, 3), [(0, 1000), (1, 400), (0, 1000)]);
        // 400 + 700 bytes exceed the quantum of this round: the 700 wait for the turn.
        offer(&mut q, &[(1, 700)]);
        assert_eq!(serve(&mut q, 1), [(1, 700)]);
        // Flow 1 had its turn: the 500 wait for the next one.
        offer(&mut q, &[(1, 500)]);
        assert_eq!(serve(&mut q, 2), [(0, 1000), (1, 500)]);
        // A turn in between found no packets, so flow 1 gets priority again.
        assert_eq!(serve(&mut q, 2), [(0, 1000), (0, 1000)]);
        offer(&mut q, &[(0, 1000), (0, 1000)]);
        serve(&mut q, 1);
        offer(&mut q, &[(1, 500)]);
        assert_eq!(serve(&mut q, 2), [(1, 500), (0, 1000)]);
    }

    #[test]
    fn an_overflow_may_drop_a_packet_of_the_priority_fifo() {
        for scheduler in [Scheduler::StartTime, Scheduler::Drr] {
            let mut q = scheduled(scheduler, Limit::Packets(3));
            // The quantum of flow 0 covers all three; its fourth packet waits outside the FIFO.
            offer(&mut q, &[(0, 300), (0, 300), (0, 300)]);
            let mut ledger = Ledger::default();
            for packet in [Packet::new(0, 9, 800, Time::ZERO), Packet::new(1, 10, 300, Time::ZERO)] {
                q.enqueue(packet, None, &mut ledger);
            }
            // The fourth packet is one too many. Then 900 and 300 bytes both count as one packet, rounded up: one of the
            // two is dropped first.
            assert_eq!(ledger.dropped.len(), 2);
            assert_eq!(ledger.dropped[0].token, 9);
            assert_eq!(serve(&mut q, 4).len(), 3, "{scheduler:?}");
        }
    }
}

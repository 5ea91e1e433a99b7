//! Fair queueing by flow over a shared buffer: each flow has a queue of its own, and a full buffer drops from the longest
//! queue.
//!
//! Source: Suter, Lakshman, Stiliadis and Choudhury 1998 (dropping); Shreedhar and Varghese 1995 (`drr`); Goyal, Vin and
//! Cheng 1996 (`start-time`). Where the sources are not specific, these rules apply. The arrival is enqueued first and may
//! be the packet dropped. Lengths are bytes rounded up to packets of the mean size. One of several longest queues is chosen
//! at random. A dropped packet leaves no trace in the tags.
//! Differs from Linux: its `fq` is another discipline, which paces and limits each flow.

use crate::flows::{Flows, Victim};
use crate::longest::Longest;
use crate::order::{Order, Scheduler};
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Card, Cause, ParamError, Registered, Stream, Time};

base::params! {
    /// Suter and others 1998.
    pub struct Params {
        /// Scheduler: `drr` or `start-time`.
        scheduler: Scheduler = Scheduler::Drr, "";
        /// Amount of data that a flow may send in its turn of the round robin.
        quantum: Amount = Amount::Packets(1.0), "packets", needs [Is("scheduler", "drr")];
        /// Packet of the longest queue that is dropped: `tail` or `head`.
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

impl Registered for Fq {
    type Params = Params;
    const CARD: Card = Card {
        name: "fq",
        aliases: &["fair-queueing", "fair-queuing", "fq-longest", "longest-queue-drop"],
        title: "Fair queueing, dropping from the longest queue",
        source: "Suter, Lakshman, Stiliadis and Choudhury 1998",
        differs: "The length of a queue is its bytes, rounded up to packets of the link's mean size; ties go by chance.",
    };
}

impl Rule for Fq {
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
            let lane = self.longest.pick(&mut self.flows, &mut self.chance);
            let packet = self.flows.pop_end(lane, self.victim);
            self.order.dropped(&mut self.flows, lane);
            fates.dropped(&packet, Cause::Overflow, now);
        }
    }
}

impl QueueDiscipline for Fq {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        let (lane, new) = self.flows.push(packet);
        self.order.arrive(&mut self.flows, lane, new);
        if idle_since.is_none() && !self.limit.holds(self.flows.backlog()) {
            self.make_room(packet.arrived, fates);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        self.order.next(&mut self.flows)
    }

    #[inline]
    fn pass(&mut self, packet: Packet, idle_since: Time, fates: &mut impl Fates) -> Option<Packet> {
        if self.order.is_turn() {
            // A lane that opens and closes at once leaves no state behind.
            return Some(packet);
        }
        self.enqueue(packet, Some(idle_since), fates);
        self.dequeue(packet.arrived, fates)
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
    use crate::order::tests::{chance, offer, queue, serve};
    use base::Bytes;

    fn start_time() -> Fq {
        queue(&Params { scheduler: Scheduler::StartTime, ..Params::default() }, Limit::Unlimited)
    }

    #[test]
    fn serves_by_start_tags_and_then_by_arrival() {
        let mut q = start_time();
        // Start tags, in the order of arrival: 0 | 0 | 0 + 100 | 100 + 100 | 0 + 250.
        offer(&mut q, &[(0, 100), (1, 250), (0, 100), (0, 100), (1, 250)]);
        assert_eq!(serve(&mut q, 3), [(0, 100), (1, 250), (0, 100)]);
        // v = 100 becomes the tag of a new flow's packet, which comes before 200 and 250.
        offer(&mut q, &[(2, 50)]);
        assert_eq!(serve(&mut q, 3), [(2, 50), (0, 100), (1, 250)]);
        assert!(serve(&mut q, 1).is_empty());
        // The greatest finish tag served is 500; the next packet of any flow starts there.
        offer(&mut q, &[(1, 10), (0, 20), (2, 30)]);
        assert_eq!(serve(&mut q, 3), [(1, 10), (0, 20), (2, 30)]);
    }

    #[test]
    fn a_flow_that_was_served_ahead_waits_when_it_returns() {
        let mut q = start_time();
        // Start tags: 0 | 0, 100, 200; the finish tag of flow 0 is 1000.
        offer(&mut q, &[(0, 1000), (1, 100), (1, 100), (1, 100)]);
        assert_eq!(serve(&mut q, 3), [(0, 1000), (1, 100), (1, 100)]);
        // v = 100, but flow 0 starts at 1000, after 200 and 300.
        offer(&mut q, &[(0, 500), (1, 100)]);
        assert_eq!(serve(&mut q, 3), [(1, 100), (1, 100), (0, 500)]);
    }

    #[test]
    fn a_dropped_packet_leaves_no_trace_in_the_tags() {
        for victim in [Victim::Tail, Victim::Head] {
            let mut q: Fq = queue(
                &Params { scheduler: Scheduler::StartTime, victim, ..Params::default() },
                Limit::Bytes(Bytes(4000)),
            );
            // 4100 bytes exceed the limit: flow 0 has 3 packets of the mean size and loses one; flow 1, which has 2, loses
            // none.
            let lost = match victim {
                Victim::Tail => (0, 2),
                Victim::Head => (0, 0),
            };
            assert_eq!(offer(&mut q, &[(0, 900), (0, 900), (0, 900), (1, 700), (1, 700)]), [lost]);
            // Start tags: 0, 900 | 0, 700. The heads have equal tags; that of flow 0, packet 0 or 1, arrived before
            // packet 3 of flow 1.
            assert_eq!(serve(&mut q, 4), [(0, 900), (1, 700), (1, 700), (0, 900)]);
        }
    }

    #[test]
    fn an_overflow_drops_from_the_tail_or_the_head_of_the_longest_queue() {
        for (victim, lost) in [(Victim::Tail, (0, 2)), (Victim::Head, (0, 0))] {
            let mut q: Fq = queue(&Params { victim, ..Params::default() }, Limit::Packets(4));
            assert_eq!(offer(&mut q, &[(0, 1000), (0, 1000), (0, 1000), (1, 1000), (2, 1000)]), [lost]);
            assert_eq!(serve(&mut q, 9), [(0, 1000), (1, 1000), (2, 1000), (0, 1000)]);
        }
    }

    #[test]
    fn the_arrival_may_be_the_victim() {
        let mut q: Fq = queue(&Params::default(), Limit::Packets(2));
        assert_eq!(offer(&mut q, &[(0, 1000), (1, 1000), (0, 1000)]), [(0, 2)]);
    }

    #[test]
    fn one_arrival_may_drop_several_packets_and_each_tie_takes_one_draw() {
        let mut q: Fq = queue(&Params::default(), Limit::Bytes(Bytes(3000)));
        // 4500 bytes: flow 0 (3 packets) loses one, 3500 remain. Now both have 2 packets, and flow 1 is first in the
        // bucket.
        let dropped = offer(&mut q, &[(0, 1000), (0, 1000), (0, 1000), (1, 1500)]);
        let mut draws = chance();
        let second = if draws.below(2) == 0 { (1, 3) } else { (0, 1) };
        assert_eq!(dropped, [(0, 2), second]);
        assert_eq!(q.chance.next_u64(), draws.next_u64(), "exactly one draw");
    }

    #[test]
    fn ties_are_broken_evenly() {
        let mut q: Fq = queue(&Params::default(), Limit::Packets(10));
        let mut lost = [0; 10];
        offer(&mut q, &(0..10).map(|flow| (flow, 1000)).collect::<Vec<_>>());
        // Each arrival is dropped or replaces another flow's packet: there are ten queues of one packet, and a newcomer.
        for flow in 0..11_000 {
            let from: Vec<_> = offer(&mut q, &[(10 + flow, 1000)]);
            lost[from[0].0 as usize % 10] += 1;
        }
        // 1100 each on average; five standard errors of a binomial are 5 sqrt(11000 x 0.1 x 0.9) = 157.
        assert!(lost.iter().all(|n| (1100i32 - n).abs() < 157), "{lost:?}");
    }
}

//! FQ-CoDel: flows are hashed to queues, each with CoDel; a deficit round robin serves the queues, new ones first.
//!
//! Source: RFC 8290, Section 4; parameters: Section 5.2. A full buffer drops half the packets of the queue with most bytes
//! (rounded up, at most `drop_batch_size`) from its head, Section 4.1.
//! Differs from Linux: half means packets and not bytes, and the drops do not change CoDel's count; CoDel's `mtu` is
//! compared with the flow's own backlog and not with the total; an emptied new queue always joins the old ones.

use crate::codel::control::{self, Head, Setting, Source};
use crate::codel::heaviest::Heaviest;
use crate::flows::{Flows, NONE, spread};
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Bytes, Card, Cause, Need, ParamError, Registered, Span, Stream, Time};
use list::{List, Queue};

mod list;

base::params! {
    /// RFC 8290, Section 5.2.
    pub struct Params {
        /// Queues that flows are hashed to, by a function drawn from the seed.
        flows: u32 = 1024, "";
        /// Amount of data that a queue may send in its turn; auto for 1514 bytes or a packet of the link, whichever is larger.
        quantum: Amount = Amount::Auto, "packets";
        /// Standing delay that is acceptable.
        target: Span = Span::millis(5), "";
        /// Time for which the delay must stay above target: a round-trip time that few flows exceed.
        interval: Span = Span::millis(100), "";
        /// A queue's backlog at or below which CoDel drops nothing; auto as the quantum.
        mtu: Amount = Amount::Auto, "packets";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = true, "", needs [EctFlows];
        /// Delay above which every ECN-capable packet is marked; 0 for never.
        ce_threshold: Span = Span::ZERO, "", needs [EctFlows];
        /// Whether that threshold is for ECT(1) alone, as Linux's `ce_threshold_selector 0x1/0x1`.
        ce_threshold_ect1: bool = false, "", needs [Not("ce_threshold", "0 s"), EctFlows];
        /// Packets that one overflow takes from the fattest queue at most.
        drop_batch_size: u32 = 64, "packets";
        /// Second limit, on the backlog in bytes, besides the buffer's limit; 0 for none.
        memory_limit: Amount = Amount::Packets(0.0), "packets";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct FqCodel {
    limit: Limit,
    memory: Limit,
    batch: u32,
    quantum: i64,
    setting: Setting,
    salt: u64,
    queues: Vec<Queue>,
    new: List,
    old: List,
    heaviest: Heaviest,
    flows: Flows,
}

impl FqCodel {
    /// The queue that `flow` is hashed to.
    #[inline]
    fn hash(&self, flow: u32) -> u32 {
        let z = spread(u64::from(flow) ^ self.salt);
        (((z >> 32) * self.queues.len() as u64) >> 32) as u32
    }

    /// Section 4.1: drops half the packets of the queue with most bytes, from its head.
    fn shed(&mut self, now: Time, fates: &mut impl Fates) {
        let q = self.heaviest.find();
        let lane = self.flows.lane(q);
        for _ in 0..self.flows.packets(lane).div_ceil(2).min(self.batch) {
            if let Some(packet) = (Waiting { flows: &mut self.flows, heaviest: &mut self.heaviest, q }).take() {
                fates.dropped(&packet, Cause::Overflow, now);
            }
        }
    }
}

/// One of the queues, as CoDel's source of packets.
struct Waiting<'a> {
    flows: &'a mut Flows,
    heaviest: &'a mut Heaviest,
    q: u32,
}

impl Source for Waiting<'_> {
    #[inline]
    fn head(&self) -> Option<Head> {
        match self.flows.lane(self.q) {
            NONE => None,
            lane => Some(Head::of(self.flows.front(lane), self.flows.bytes(lane))),
        }
    }

    fn mark(&mut self) -> Packet {
        self.flows.mark_front(self.flows.lane(self.q))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn take(&mut self) -> Option<Packet> {
        let lane = self.flows.lane(self.q);
        if lane == NONE {
            return None;
        }
        let packet = self.flows.pop_front(lane);
        if self.flows.packets(lane) == 0 {
            self.flows.close(lane);
        }
        self.heaviest.take(self.q, u64::from(packet.size));
        Some(packet)
    }
}

impl Registered for FqCodel {
    type Params = Params;
    const CARD: Card = Card {
        name: "fq-codel",
        aliases: &["fq_codel", "FQ-CoDel", "FqCoDel"],
        title: "Flow queue CoDel",
        source: "RFC 8290",
        differs: "Flow numbers take the place of the five-tuple; the buffer's size is the link's. CoDel's inverse root is \
                  exact, as RFC 8289 has it; Linux takes one Newton step.",
    };
}

impl Rule for FqCodel {
    fn gives(p: &Params) -> Option<Need> {
        (p.ecn || p.ce_threshold > Span::ZERO).then_some(Need::Marks)
    }

    fn resolve(p: &mut Params, port: &Port) -> Result<(), ParamError> {
        p.quantum = control::frame(p.quantum, port);
        p.mtu = control::frame(p.mtu, port);
        Ok(())
    }

    fn new(p: &Params, port: &Port, mut chance: Stream) -> Result<Self, ParamError> {
        if !(1..=65_536).contains(&p.flows) {
            return Err(ParamError::new("flows", "must be 1 to 65536"));
        }
        if p.drop_batch_size == 0 {
            return Err(ParamError::new("drop_batch_size", "must be 1 or more"));
        }
        let bytes = |amount| port.bytes(amount) as u64;
        let memory = bytes(p.memory_limit);
        let quantum = crate::order::quantum(p.quantum, port)?.min(i64::from(u32::MAX));
        Ok(Self {
            limit: port.limit,
            memory: if memory == 0 { Limit::Unlimited } else { Limit::Bytes(Bytes(memory)) },
            batch: p.drop_batch_size,
            quantum,
            setting: Setting::new(p.target, p.interval, bytes(p.mtu), p.ecn, p.ce_threshold)?
                .for_ect1(p.ce_threshold_ect1),
            salt: chance.next_u64(),
            queues: vec![Queue::IDLE; p.flows as usize],
            new: List::EMPTY,
            old: List::EMPTY,
            heaviest: Heaviest::new(p.flows as usize),
            flows: Flows::default(),
        })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        let Limit::Packets(limit) = port.limit else { return None };
        let bytes = |amount| port.bytes(amount) as u64;
        let memory = match bytes(p.memory_limit) {
            0 => String::new(),
            bytes => format!(" memory_limit {bytes}"),
        };
        let codel = control::words(control::at_least_a_packet(p.target, port), p.interval, p.ecn, p.ce_threshold)?;
        let selector =
            if p.ce_threshold > Span::ZERO && p.ce_threshold_ect1 { " ce_threshold_selector 0x1/0x1" } else { "" };
        let (flows, quantum, batch) = (p.flows, bytes(p.quantum), p.drop_batch_size);
        Some(format!(
            "fq_codel limit {limit} flows {flows} quantum {quantum} {codel}{selector}{memory} drop_batch {batch}"
        ))
    }
}

impl QueueDiscipline for FqCodel {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        let q = self.hash(packet.flow);
        self.flows.push_as(packet, q);
        self.heaviest.add(q, u64::from(packet.size));
        let queue = &mut self.queues[q as usize];
        if !queue.listed {
            (queue.listed, queue.deficit) = (true, self.quantum);
            self.new.push(&mut self.queues, q);
        }
        // A packet that goes into service at once needs no room.
        while idle_since.is_none() && !(self.limit.holds(self.backlog()) && self.memory.holds(self.backlog())) {
            self.shed(packet.arrived, fates);
        }
    }

    /// Section 4.2.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet> {
        loop {
            let new = self.new.head != NONE;
            let list = if new { &mut self.new } else { &mut self.old };
            let q = list.head;
            if q == NONE {
                return None;
            }
            let queue = &mut self.queues[q as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop(&self.queues);
                self.old.push(&mut self.queues, q);
                continue;
            }
            let mut waiting = Waiting { flows: &mut self.flows, heaviest: &mut self.heaviest, q };
            if let Some(packet) = queue.codel.next(&self.setting, now, &mut waiting, fates) {
                queue.deficit -= i64::from(packet.size);
                return Some(packet);
            }
            list.pop(&self.queues);
            if new {
                // It is not removed at once: otherwise it could return as a new queue for ever and starve the old ones.
                self.old.push(&mut self.queues, q);
            } else {
                self.queues[q as usize].listed = false;
            }
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("queues", self.queues.iter().filter(|queue| queue.listed).count() as f64);
        put("dropping", self.queues.iter().filter(|queue| queue.codel.dropping).count() as f64);
    }
}

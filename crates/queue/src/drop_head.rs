//! Drop-head: a packet that finds the buffer full is accepted, and the oldest waiting packet is dropped to make room.
//! Senders learn of the loss earlier than with drop-tail, by the time that a full buffer takes to drain.
//!
//! Source: Linux 6.12, `net/sched/sch_fifo.c`, `pfifo_tail_enqueue` (`pfifo_head_drop`).
//! Differs from Linux: a buffer in bytes drops as many packets as the arrival needs; Linux has `pfifo_head_drop` in packets
//! only.

use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Card, Cause, ParamError, Registered, Stream, Time};
use std::collections::VecDeque;

base::params! {
    /// The buffer's size is the link's.
    pub struct Params {}
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct DropHead {
    limit: Limit,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
}

impl Registered for DropHead {
    type Params = Params;
    const CARD: Card = Card {
        name: "drop-head",
        aliases: &["drop-front", "pfifo_head_drop", "DropHead"],
        title: "FIFO that drops from its head",
        source: "Lakshman, Neidhardt and Ott 1996",
        differs: "As Linux's pfifo_head_drop, and in bytes, too: as many packets are dropped as the arrival needs.",
    };
}

impl Rule for DropHead {
    fn new(_params: &Params, port: &Port, _chance: Stream) -> Result<Self, ParamError> {
        Ok(Self { limit: port.limit, waiting: VecDeque::new(), backlog: Backlog::default() })
    }

    fn tc(_params: &Params, port: &Port) -> Option<String> {
        let Limit::Packets(limit) = port.limit else { return None };
        Some(format!("pfifo_head_drop limit {limit}"))
    }
}

impl QueueDiscipline for DropHead {
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        if idle_since.is_none() {
            while !self.limit.has_room(self.backlog, &packet) {
                // If there is no waiting packet to drop, the arrival itself is dropped.
                let Some(oldest) = self.waiting.pop_front() else {
                    return fates.dropped(&packet, Cause::Overflow, packet.arrived);
                };
                self.backlog.remove(&oldest);
                fates.dropped(&oldest, Cause::Overflow, packet.arrived);
            }
        }
        self.backlog.add(&packet);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Rate};

    #[derive(Default)]
    struct Ledger(Vec<u32>);

    impl Fates for Ledger {
        fn dropped(&mut self, packet: &Packet, cause: Cause, _: Time) {
            assert_eq!(cause, Cause::Overflow);
            self.0.push(packet.token);
        }
        fn marked(&mut self, _: &Packet, _: Cause, _: Time) {}
    }

    fn filled(limit: Limit, sizes: &[u32]) -> (DropHead, Vec<u32>) {
        let port = Port::new(limit, Rate(8_000_000), 1000.0);
        let mut queue = DropHead::new(&Params {}, &port, Stream::new(0, 0, ("link", 0), "queue")).unwrap();
        let mut fates = Ledger::default();
        for (token, &size) in (0..).zip(sizes) {
            queue.enqueue(Packet::new(0, token, size, Time::ZERO), None, &mut fates);
        }
        (queue, fates.0)
    }

    #[test]
    fn drops_the_oldest_for_an_arrival_that_finds_the_buffer_full() {
        let (mut queue, dropped) = filled(Limit::Packets(3), &[1000; 5]);
        assert_eq!(dropped, [0, 1]);
        let mut fates = Ledger::default();
        let out: Vec<u32> = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut fates)).map(|p| p.token).collect();
        assert_eq!((out, queue.backlog().packets), (vec![2, 3, 4], 0));
    }

    #[test]
    fn drops_as_many_as_the_arrival_needs_and_the_arrival_that_never_fits() {
        let (queue, dropped) = filled(Limit::Bytes(Bytes(2500)), &[1000, 1000, 2000]);
        assert_eq!((dropped, queue.backlog().packets), (vec![0, 1], 1));
        let (queue, dropped) = filled(Limit::Bytes(Bytes(2500)), &[1000, 3000]);
        assert_eq!((dropped, queue.backlog().packets), (vec![0, 1], 0));
        assert_eq!(filled(Limit::Packets(0), &[1000]).1, [0]);
    }

    #[test]
    fn gives_the_arguments_of_tc() {
        let port = Port::new(Limit::Packets(300), Rate(8_000_000), 1000.0);
        assert_eq!(DropHead::tc(&Params {}, &port).unwrap(), "pfifo_head_drop limit 300");
        assert_eq!(DropHead::tc(&Params {}, &Port { limit: Limit::Unlimited, ..port }), None);
    }
}

//! A queue that drops what does not fit.

use elephan::base::{Cause, Time};
use elephan::queue::{Backlog, Fates, Packet, QueueDiscipline};
use std::collections::VecDeque;

#[derive(Debug)]
pub struct Tail {
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    most: u32,
}

impl Tail {
    pub fn new(most: u32) -> Self {
        Self { waiting: VecDeque::new(), backlog: Backlog::default(), most }
    }
}

impl QueueDiscipline for Tail {
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        // Where the server is free nothing need wait.
        if idle_since.is_none() && self.backlog.packets >= self.most {
            return fates.dropped(&packet, Cause::Overflow, packet.arrived);
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

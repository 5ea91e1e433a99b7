//! One of the two queues: a FIFO, and the accumulated probabilities of its decisions.

use crate::{Backlog, Packet};
use base::{Span, Stream, Time};
use std::collections::VecDeque;

base::words! {
    /// Method that turns a probability into a decision.
    pub enum Decide {
        /// Accumulated probabilities: evenly spaced decisions.
        Recur = "recur",
        /// Random numbers.
        Random = "random",
    }
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub waiting: VecDeque<Packet>,
    pub backlog: Backlog,
    due: f64,
}

impl Lane {
    pub fn push(&mut self, packet: Packet) {
        self.backlog.add(&packet);
        self.waiting.push_back(packet);
    }

    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    /// Waiting time of its oldest packet.
    pub fn delay(&self, now: Time) -> Span {
        self.waiting.front().map_or(Span::ZERO, |packet| now - packet.arrived)
    }

    /// Decides with probability `p`; with [`Decide::Recur`], is true for a share `p` of the calls.
    pub fn happens(&mut self, p: f64, how: Decide, chance: &mut Stream) -> bool {
        if p <= 0.0 || p >= 1.0 {
            return p >= 1.0;
        }
        match how {
            Decide::Random => chance.unit() < p,
            Decide::Recur => {
                self.due += p;
                let yes = self.due > 1.0;
                self.due -= f64::from(u8::from(yes));
                yes
            }
        }
    }
}

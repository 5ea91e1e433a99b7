//! A queue and the server behind it: one packet at a time on a wire of constant rate.
//!
//! The caller owns time: it offers packets as they arrive and completes the service when it told itself to.

use crate::{Backlog, Fates, Packet, QueueDiscipline};
use base::{Bytes, Rate, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Link<Q> {
    rate: Rate,
    queue: Q,
    serving: Option<(Packet, Time)>,
}

impl<Q: QueueDiscipline> Link<Q> {
    /// An idle link.
    #[must_use]
    pub fn new(rate: Rate, queue: Q) -> Self {
        Self { rate, queue, serving: None }
    }

    /// A packet arrives at `packet.arrived`.
    pub fn offer(&mut self, packet: Packet, fates: &mut impl Fates) {
        let (now, idle) = (packet.arrived, self.serving.is_none());
        self.queue.enqueue(packet, idle, fates);
        if idle {
            self.serve(now, fates);
        }
    }

    /// The packet in service and the instant its last bit leaves.
    #[must_use]
    pub fn serving(&self) -> Option<&(Packet, Time)> {
        self.serving.as_ref()
    }

    /// Ends the service that [`Self::serving`] announced for `now`, and begins the next.
    pub fn complete(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet> {
        let (packet, _) = self.serving.take()?;
        self.serve(now, fates);
        Some(packet)
    }

    /// What waits.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// The discipline.
    pub fn queue(&mut self) -> &mut Q {
        &mut self.queue
    }

    fn serve(&mut self, now: Time, fates: &mut impl Fates) {
        self.serving = self
            .queue
            .dequeue(now, fates)
            .map(|packet| (packet, now + self.rate.serialize(Bytes(u64::from(packet.size)))));
    }
}

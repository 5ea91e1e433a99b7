//! A queue and the server behind it: one packet at a time on a wire of constant rate.
//!
//! The caller owns the clock: it offers packets as they arrive and completes a service at the instant that the link gave.

use crate::{Backlog, Fates, Packet, QueueDiscipline};
use base::{Bytes, Rate, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Link<Q> {
    rate: Rate,
    queue: Q,
    serving: Option<(Packet, Time)>,
    /// Since when nothing is in service; of no meaning while something is.
    idle_since: Time,
}

impl<Q: QueueDiscipline> Link<Q> {
    /// An idle link.
    #[must_use]
    pub fn new(rate: Rate, queue: Q) -> Self {
        Self { rate, queue, serving: None, idle_since: Time::ZERO }
    }

    /// A packet arrives at `packet.arrived`.
    pub fn offer(&mut self, packet: Packet, fates: &mut impl Fates) {
        let now = packet.arrived;
        match self.idle_since() {
            None => self.queue.enqueue(packet, None, fates),
            Some(since) => {
                let next = self.queue.pass(packet, since, fates);
                self.begin(next, now);
            }
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
        self.idle_since = now;
        let next = self.queue.dequeue(now, fates);
        self.begin(next, now);
        Some(packet)
    }

    /// When the discipline's timer expires: [`Self::wake`] must be called then.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        self.queue.next_wakeup()
    }

    /// Runs the timer that [`Self::next_wakeup`] announced for `now`: before anything arrives or leaves then.
    pub fn wake(&mut self, now: Time, fates: &mut impl Fates) {
        self.queue.on_wakeup(now, self.idle_since(), fates);
    }

    fn idle_since(&self) -> Option<Time> {
        self.serving.is_none().then_some(self.idle_since)
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

    fn begin(&mut self, next: Option<Packet>, now: Time) {
        self.serving = next.map(|packet| (packet, now + self.rate.serialize(Bytes(u64::from(packet.size)))));
    }
}

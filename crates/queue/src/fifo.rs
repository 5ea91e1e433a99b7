//! First-in first-out behind an admission rule: the structure of drop-tail, RED and its descendants.

use crate::{Admission, Backlog, Fates, Packet, QueueDiscipline, Verdict};
use base::{Cause, Flags, Time};
use std::collections::VecDeque;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Fifo<A> {
    admission: A,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    /// Whether shared memory has room for the next packet.
    shared_room: bool,
}

impl<A: Admission> Fifo<A> {
    /// An empty queue behind `admission`.
    #[must_use]
    pub fn new(admission: A) -> Self {
        Self { admission, waiting: VecDeque::new(), backlog: Backlog::default(), shared_room: true }
    }

    /// Sets whether shared memory has room for arriving packets; it holds until the next call. The rule decides first, as
    /// if there were room.
    pub fn set_shared_room(&mut self, room: bool) {
        self.shared_room = room;
    }

    /// Returns the admission rule, for engines that keep the queue themselves.
    #[must_use]
    pub fn into_admission(self) -> A {
        self.admission
    }
}

impl<A: Admission> QueueDiscipline for Fifo<A> {
    fn enqueue(&mut self, mut packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        match self.admission.admit(&packet, self.backlog, idle_since) {
            Verdict::Accept | Verdict::Mark(_) if idle_since.is_none() && !self.shared_room => {
                return fates.dropped(&packet, Cause::Pool, packet.arrived);
            }
            Verdict::Accept => {}
            Verdict::Mark(cause) => {
                packet.flags = packet.flags.with(Flags::CE);
                fates.marked(&packet, cause, packet.arrived);
            }
            Verdict::Drop(cause) => return fates.dropped(&packet, cause, packet.arrived),
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

    fn next_wakeup(&self) -> Time {
        self.admission.next_wakeup()
    }

    fn on_wakeup(&mut self, now: Time, idle_since: Option<Time>, _fates: &mut impl Fates) {
        self.admission.on_wakeup(now, self.backlog, idle_since);
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.admission.gauges(put);
    }
}

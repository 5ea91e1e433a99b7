//! A queue and the server behind it, which serves one packet at a time, at a constant rate or by a schedule.
//!
//! The caller owns time: before it offers a packet, it lets the link process everything due until the packet's arrival. The
//! link orders events at one instant: timers of the discipline, then departures, then arrivals.

use crate::{Backlog, Fates, Packet, QueueDiscipline, Schedule};
use base::{Bytes, Rate, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Link<Q> {
    rate: Rate,
    /// Schedule, if the rate is not constant.
    schedule: Option<Schedule>,
    queue: Q,
    serving: Option<(Packet, Time)>,
    /// Time since which no packet is in service; meaningless while one is.
    idle_since: Time,
}

/// Kinds of the link's own events, in the order in which they happen at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkEventKind {
    /// A timer of the discipline expires.
    Timer,
    /// The last bit of the packet in service leaves, and the next packet goes into service.
    Departure,
}

/// Next event of the link itself. Events are ordered by time, then by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkEvent {
    /// Time of the event.
    pub at: Time,
    /// Kind of the event.
    pub kind: LinkEventKind,
}

/// Result of one [`LinkEvent`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Time of the step.
    pub at: Time,
    /// The packet that left; `None` if a timer expired.
    pub departed: Option<Packet>,
    /// The packet that went into service.
    pub began: Option<Packet>,
}

impl<Q: QueueDiscipline> Link<Q> {
    /// An idle link.
    #[must_use]
    pub fn new(rate: Rate, queue: Q) -> Self {
        Self { rate, schedule: None, queue, serving: None, idle_since: Time::ZERO }
    }

    /// Link whose rate follows a schedule.
    #[must_use]
    pub fn with_schedule(self, schedule: Option<Schedule>) -> Self {
        Self { schedule, ..self }
    }

    /// Offers a packet that arrives at `packet.arrived`. Everything due until then, that instant included, must have been
    /// processed with [`Self::advance`]. Returns the packet that went into service: `packet` itself, with the marks it got,
    /// if the link was idle and did not drop it.
    pub fn offer(&mut self, packet: Packet, fates: &mut impl Fates) -> Option<Packet> {
        let now = packet.arrived;
        match self.idle_since() {
            None => {
                self.queue.enqueue(packet, None, fates);
                None
            }
            Some(since) => {
                let next = self.queue.pass(packet, since, fates);
                self.begin(next, now, false)
            }
        }
    }

    /// The packet in service, and the time at which its last bit leaves.
    #[must_use]
    pub fn serving(&self) -> Option<&(Packet, Time)> {
        self.serving.as_ref()
    }

    /// The link's next event if no packet arrives; `None` if there is none.
    #[must_use]
    pub fn next_event(&self) -> Option<LinkEvent> {
        let timer = LinkEvent { at: self.next_wakeup(), kind: LinkEventKind::Timer };
        let departure = self.serving.map(|(_, at)| LinkEvent { at, kind: LinkEventKind::Departure });
        let next = departure.map_or(timer, |departure| departure.min(timer));
        (next.at != Time::NEVER).then_some(next)
    }

    /// Processes [`Self::next_event`] if it is due at or before `until`. To be called until it returns `None`. With `until`
    /// at the end of time, the timers of an idle link may go on for ever.
    pub fn advance(&mut self, until: Time, fates: &mut impl Fates) -> Option<Step> {
        let LinkEvent { at, kind } = self.next_event().filter(|event| event.at <= until)?;
        match kind {
            LinkEventKind::Timer => {
                self.queue.on_wakeup(at, self.idle_since(), fates);
                Some(Step { at, departed: None, began: None })
            }
            LinkEventKind::Departure => {
                let departed = self.serving.take().map(|(packet, _)| packet);
                self.idle_since = at;
                let next = self.queue.dequeue(at, fates);
                Some(Step { at, departed, began: self.begin(next, at, true) })
            }
        }
    }

    /// Time at which the discipline's timer expires next.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        self.queue.next_wakeup()
    }

    fn idle_since(&self) -> Option<Time> {
        self.serving.is_none().then_some(self.idle_since)
    }

    /// Packets and bytes waiting.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// The discipline.
    pub fn queue(&mut self) -> &mut Q {
        &mut self.queue
    }

    /// Puts the next packet into service. `follows`: it follows a packet that left just now; otherwise the link was idle.
    fn begin(&mut self, next: Option<Packet>, now: Time, follows: bool) -> Option<Packet> {
        self.serving = next.map(|packet| {
            let end = match &mut self.schedule {
                Some(schedule) => schedule.finish(now, follows, packet.size),
                None => now + self.rate.serialize(Bytes(u64::from(packet.size))),
            };
            (packet, end)
        });
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Cause, Span};

    /// First-in first-out without a limit, with a timer every 10 ps that records the number of waiting packets.
    #[derive(Debug)]
    struct Ticking {
        waiting: Vec<Packet>,
        next: Time,
        found: Vec<(u64, u32)>,
    }

    impl QueueDiscipline for Ticking {
        fn enqueue(&mut self, packet: Packet, _idle_since: Option<Time>, _fates: &mut impl Fates) {
            self.waiting.push(packet);
        }
        fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
            (!self.waiting.is_empty()).then(|| self.waiting.remove(0))
        }
        fn backlog(&self) -> Backlog {
            Backlog { packets: self.waiting.len() as u32, bytes: Bytes(0) }
        }
        fn next_wakeup(&self) -> Time {
            self.next
        }
        fn on_wakeup(&mut self, now: Time, _idle_since: Option<Time>, _fates: &mut impl Fates) {
            self.found.push((now.0, self.waiting.len() as u32));
            self.next += Span(10);
        }
    }

    struct NoFates;

    impl Fates for NoFates {
        fn dropped(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
        fn marked(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
    }

    #[test]
    fn at_one_instant_timers_come_before_departures_and_both_before_arrivals() {
        // A byte takes 10 ps, so every packet leaves at an expiry of the timer.
        let queue = Ticking { waiting: Vec::new(), next: Time(10), found: Vec::new() };
        let mut link = Link::new(Rate(800_000_000_000), queue);
        let packets: Vec<Packet> = (0..3).map(|i| Packet::new(0, i, 1, Time(0))).collect();
        assert_eq!(link.offer(packets[0], &mut NoFates), Some(packets[0]));
        assert_eq!((link.offer(packets[1], &mut NoFates), link.offer(packets[2], &mut NoFates)), (None, None));
        assert_eq!(link.next_event(), Some(LinkEvent { at: Time(10), kind: LinkEventKind::Timer }));
        assert_eq!(link.advance(Time(9), &mut NoFates), None);
        let mut steps = Vec::new();
        while let Some(step) = link.advance(Time(20), &mut NoFates) {
            steps.push((step.at.0, step.departed.map(|p| p.token), step.began.map(|p| p.token)));
        }
        assert_eq!(steps, [(10, None, None), (10, Some(0), Some(1)), (20, None, None), (20, Some(1), Some(2))]);
        // The timer at 10 found both waiting packets, although one of them went into service at 10.
        assert_eq!(link.queue().found, [(10, 2), (20, 1)]);
    }
}

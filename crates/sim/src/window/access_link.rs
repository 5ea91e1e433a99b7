//! The sender's own link in closed form: its only state is the time at which it becomes free.
//!
//! A first-in first-out link with one packet size needs no queue: a packet that arrives at t leaves at max(t, free) +
//! service, and b or more packets wait if and only if the link stays busy for more than b services. Most own links have
//! no further delays or drops; the state of those that do is boxed.

use super::bucket::Bucket;
use super::headers::HeaderLanes;
use super::ring::{FAR, Rec};
use crate::marks::Marks;
use crate::plan::SendJitter;
use base::{Span, Time};

/// Longest wait of an unlimited queue.
const UNLIMITED: Span = Span(u64::MAX);

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct AccessLink {
    service: Span,
    free: Time,
    first_link_delay: Span,
    /// State of links with jitter, a finite queue or headers; `None` for all others.
    limits: Option<Box<AccessLimits>>,
}

/// Packets that the sender's own full queue dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessDrops {
    pub since_start: u64,
    pub since_warmup: u64,
}

/// Route of the headers of a flow's packets.
#[derive(Clone, Debug)]
pub struct HeaderPath {
    pub lanes: HeaderLanes,
    /// Packet size: senders count in segments, routers in bytes.
    pub packet: f32,
}

/// State that only few own links have: reasons for late or dropped packets, the drops, and the route of headers.
#[derive(Clone, Debug)]
struct AccessLimits {
    headers: Option<HeaderPath>,
    jitter: Option<SendJitter>,
    last_enter: Time,
    /// Longest wait of an accepted packet.
    longest_wait: Span,
    drops: AccessDrops,
    /// Packets that found no room, but would have arrived there only after the end of the run; they do not count as
    /// drops.
    late: u64,
    warmup: Time,
    end: Time,
}

impl AccessLimits {
    /// Whether a packet that enters at `now` finds no room when the link is free at `free`. If so, counts the drop.
    fn drops(&mut self, now: Time, free: Time) -> bool {
        if free.since(now) <= self.longest_wait {
            return false;
        }
        if now < self.end {
            self.drops.since_start += 1;
            self.drops.since_warmup += u64::from(now >= self.warmup);
        } else {
            self.late += 1;
        }
        true
    }
}

impl AccessLink {
    pub fn new(
        service: Span,
        buffer: Option<u32>,
        first_link_delay: Span,
        jitter: Option<Box<SendJitter>>,
        headers: Option<HeaderPath>,
        marks: &Marks,
    ) -> Self {
        // A packet that finds the link busy for w finds ceil(w / service) packets ahead, one of them in service. So at most
        // b packets wait, itself included, as long as w is at most b services.
        let longest_wait = match buffer {
            Some(packets) if service > Span::ZERO => Span(service.0 * u64::from(packets)),
            _ => UNLIMITED,
        };
        let limits = (jitter.is_some() || longest_wait < UNLIMITED || headers.is_some()).then(|| {
            Box::new(AccessLimits {
                headers,
                jitter: jitter.map(|jitter| *jitter),
                last_enter: Time::ZERO,
                longest_wait,
                drops: AccessDrops::default(),
                late: 0,
                warmup: marks.warmup,
                end: marks.end,
            })
        });
        Self { service, free: Time::ZERO, first_link_delay, limits }
    }

    /// Route of the headers, if packets carry any.
    #[inline]
    pub fn headers(&self) -> Option<&HeaderPath> {
        self.limits.as_deref()?.headers.as_ref()
    }

    /// Service time of a packet.
    pub fn service(&self) -> Span {
        self.service
    }

    /// Delay from this link to the first link of the path.
    #[inline]
    pub fn first_link_delay(&self) -> Span {
        self.first_link_delay
    }

    /// Number of drops on this link.
    pub fn drops(&self) -> AccessDrops {
        self.limits.as_ref().map_or_else(AccessDrops::default, |limits| limits.drops)
    }

    /// Packets that found no room at or after the end of the run.
    pub fn late(&self) -> u64 {
        self.limits.as_ref().map_or(0, |limits| limits.late)
    }

    /// How many of `n` packets sent from `now` on certainly pass without a drop, however close together they are.
    #[inline]
    pub fn room(&self, now: Time, n: usize) -> usize {
        let Some(limits) = self.limits.as_deref().filter(|limits| limits.longest_wait < UNLIMITED) else { return n };
        // Each packet adds at most one service to the wait of the next.
        let spare = limits.longest_wait.0.checked_sub(self.free.since(now).0);
        spare.map_or(0, |spare| n.min((spare / self.service.0) as usize + 1))
    }

    /// Latest arrival at the first link of the last of `n` packets handed over until `now`.
    #[inline]
    pub fn latest(&self, now: Time, n: u32) -> Time {
        let busy = self.service.0.saturating_mul(u64::from(n)).saturating_add(self.first_link_delay.0);
        let enters = self.limits.as_deref().map_or(now, |limits| {
            let late = limits.jitter.as_ref().map_or(Span::ZERO, |jitter| jitter.longest);
            limits.last_enter.max(now + late)
        });
        self.free.max(enters).saturating_add(Span(busy))
    }

    /// Sends one packet at each of `times`, given that there is [`Self::room`]; tags count from `tag`. The arrivals at the
    /// first link go into `bucket`, which must reach as far as [`Self::latest`].
    #[inline(never)]
    pub fn pass_all(&mut self, times: impl ExactSizeIterator<Item = Time>, mut tag: u64, bucket: &mut Bucket) {
        if self.limits.is_some() {
            bucket.extend(times.map(|time| {
                let arrival = Rec { time: self.pass(time), tag };
                tag += 1;
                arrival
            }));
            return;
        }
        let (service, first_link_delay, mut free) = (self.service, self.first_link_delay, self.free);
        bucket.extend(times.map(|time| {
            free = free.max(time) + service;
            let arrival = Rec { time: free + first_link_delay, tag };
            tag += 1;
            arrival
        }));
        self.free = free;
    }

    /// Passes a packet handed over at `now`, given that there is [`Self::room`]. Returns its arrival time at the first
    /// link.
    #[inline]
    pub fn pass(&mut self, now: Time) -> Time {
        let enter = self.enter(now);
        self.serve(enter)
    }

    /// Passes a packet that enters when it is handed over; `None` on links where packets may be late or dropped.
    #[inline]
    pub fn pass_plainly(&mut self, now: Time) -> Option<Time> {
        self.limits.is_none().then(|| self.serve(now))
    }

    /// Passes a packet handed over at `now`. Returns its arrival time at the first link, or `None` if it is dropped.
    #[inline]
    pub fn admit(&mut self, now: Time) -> Option<Time> {
        let enter = self.enter(now);
        let free = self.free;
        if self.limits.as_deref_mut().is_some_and(|limits| limits.drops(enter, free)) {
            return None;
        }
        Some(self.serve(enter))
    }

    #[inline]
    fn enter(&mut self, now: Time) -> Time {
        let Some(limits) = self.limits.as_deref_mut() else { return now };
        let Some(jitter) = &mut limits.jitter else { return now };
        limits.last_enter = limits.last_enter.max(now + jitter.next());
        limits.last_enter
    }

    #[inline]
    fn serve(&mut self, enter: Time) -> Time {
        self.free = (self.free.max(enter) + self.service).min(FAR);
        self.free + self.first_link_delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks = Marks { warmup: Time(0), end: Time(1000), every: None };

    #[test]
    fn packets_leave_one_service_apart_and_arrive_a_delay_later() {
        let mut link = AccessLink::new(Span(10), None, Span(100), None, None, &MARKS);
        assert_eq!([0, 0, 25, 50].map(|at| link.pass(Time(at))), [110, 120, 135, 160].map(Time));
    }

    #[test]
    fn a_buffer_of_two_drops_the_fourth_of_a_burst() {
        let mut link = AccessLink::new(Span(10), Some(2), Span(5), None, None, &MARKS);
        // At 0 one packet is in service, two wait, and the fourth is dropped. At 10 one packet has left, so one more is
        // accepted; the packet at 11 finds the buffer full again.
        let fates = [0, 0, 0, 0, 10, 10, 11].map(|at| link.admit(Time(at)));
        let arrives = |at| Some(Time(at));
        assert_eq!(fates, [arrives(15), arrives(25), arrives(35), None, arrives(45), None, None]);
        assert_eq!(link.drops().since_start, 3);
    }

    #[test]
    fn room_counts_packets_that_are_accepted_even_if_they_arrive_all_at_once() {
        for buffer in [0, 1, 2, 7] {
            for before in 0..4 {
                let mut link = AccessLink::new(Span(10), Some(buffer), Span::ZERO, None, None, &MARKS);
                for _ in 0..before {
                    link.admit(Time(0));
                }
                let (now, n) = (Time(5), 100);
                let room = link.room(now, n);
                assert!((0..room).all(|_| link.admit(now).is_some()), "{buffer} {before}");
                assert_eq!(link.admit(now), None, "{buffer} {before}: a packet beyond the room is dropped");
            }
        }
    }

    #[test]
    fn latest_is_no_earlier_than_any_arrival_for_any_jitter() {
        let stream = base::Stream::new(1, 0, ("test", 0), "jitter");
        for jitter in [None, Some(Box::new(SendJitter { longest: Span(30), stream }))] {
            let mut link = AccessLink::new(Span(10), None, Span(100), jitter, None, &MARKS);
            for round in 0..50 {
                let now = Time(17 * round);
                let latest = link.latest(now, 3);
                let arrivals = [now; 3].map(|at| link.pass(at));
                assert!(arrivals.is_sorted() && arrivals[2] <= latest, "{arrivals:?} {latest:?}");
            }
        }
    }
}

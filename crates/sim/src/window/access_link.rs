//! The sender's own link in closed form: a clock that says when it is free again.
//!
//! First-in first-out with one size of packet needs no queue: a packet that comes at t leaves at max(t, free) + service, and
//! b packets wait just when the link is free no sooner than b services from now.

use super::bucket::Bucket;
use super::ring::{FAR, Rec};
use crate::plan::SendJitter;
use base::{Span, Time};

/// No wait is longer than this.
const UNLIMITED: Span = Span(u64::MAX);

/// See the [module](self).
#[derive(Debug)]
pub struct AccessLink {
    service: Span,
    free: Time,
    first_link_delay: Span,
    last_enter: Time,
    jitter: Option<Box<SendJitter>>,
    /// Longest wait that a packet may find.
    longest_wait: Span,
    /// Whether packets enter when they are handed over, and all of them.
    is_plain: bool,
}

/// What became of a packet handed over by TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives at the first link then.
    Arrives(Time),
    /// The queue of the sender's own link was full when it entered, then.
    Dropped(Time),
}

impl AccessLink {
    pub fn new(service: Span, buffer: Option<u32>, first_link_delay: Span, jitter: Option<Box<SendJitter>>) -> Self {
        // A packet that finds the link busy for w ahead of it finds ceil(w / service) packets, one of them in service: b
        // or fewer wait with it as long as w is at most b services.
        let longest_wait = match buffer {
            Some(packets) if service > Span::ZERO => Span(service.0 * u64::from(packets)),
            _ => UNLIMITED,
        };
        let is_plain = jitter.is_none() && longest_wait == UNLIMITED;
        Self { service, free: Time::ZERO, first_link_delay, last_enter: Time::ZERO, jitter, longest_wait, is_plain }
    }

    /// How many of `n` packets handed over from `now` on are surely not dropped here, however close together they come.
    #[inline]
    pub fn room(&self, now: Time, n: usize) -> usize {
        if self.longest_wait == UNLIMITED {
            return n;
        }
        // Each one lengthens the wait of the next by a service at most.
        let spare = self.longest_wait.0.checked_sub(self.free.since(now).0);
        spare.map_or(0, |spare| n.min((spare / self.service.0) as usize + 1))
    }

    /// Latest arrival at the first link of the last of `n` packets handed over until `now`.
    #[inline]
    pub fn latest(&self, now: Time, n: u32) -> Time {
        let late = self.jitter.as_ref().map_or(Span::ZERO, |jitter| jitter.longest);
        let busy = self.service.0.saturating_mul(u64::from(n)).saturating_add(self.first_link_delay.0);
        self.free.max(self.last_enter).max(now + late).saturating_add(Span(busy))
    }

    /// One packet at each of `times`, when there is [`Self::room`]; tags count from `tag`. The arrivals at the first link go into
    /// `bucket`, which reaches as far as [`Self::latest`].
    #[inline(never)]
    pub fn pass_all(&mut self, times: impl ExactSizeIterator<Item = Time>, mut tag: u64, bucket: &mut Bucket) {
        if self.jitter.is_some() {
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

    /// A packet handed over at `now`, when there is [`Self::room`]: its arrival at the first link.
    #[inline]
    pub fn pass(&mut self, now: Time) -> Time {
        let enter = self.enter(now);
        self.serve(enter)
    }

    /// The same where every packet enters when it is handed over; `None` elsewhere.
    #[inline]
    pub fn pass_plainly(&mut self, now: Time) -> Option<Time> {
        self.is_plain.then(|| self.serve(now))
    }

    /// A packet handed over at `now`.
    #[inline]
    pub fn admit(&mut self, now: Time) -> Fate {
        let enter = self.enter(now);
        if self.free.since(enter) > self.longest_wait {
            return Fate::Dropped(enter);
        }
        Fate::Arrives(self.serve(enter))
    }

    #[inline]
    fn enter(&mut self, now: Time) -> Time {
        match &mut self.jitter {
            None => now,
            Some(jitter) => {
                self.last_enter = self.last_enter.max(now + jitter.next());
                self.last_enter
            }
        }
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

    #[test]
    fn packets_leave_one_service_apart_and_arrive_a_delay_later() {
        let mut link = AccessLink::new(Span(10), None, Span(100), None);
        assert_eq!([0, 0, 25, 50].map(|at| link.pass(Time(at))), [110, 120, 135, 160].map(Time));
    }

    #[test]
    fn a_buffer_of_two_drops_the_fourth_of_a_burst() {
        let mut link = AccessLink::new(Span(10), Some(2), Span(5), None);
        // At 0 one is served and two wait; at 10 one has left, and at 11 still only one place is free.
        let fates = [0, 0, 0, 0, 10, 10, 11].map(|at| link.admit(Time(at)));
        let arrives = |at| Fate::Arrives(Time(at));
        let dropped = |at| Fate::Dropped(Time(at));
        assert_eq!(fates, [arrives(15), arrives(25), arrives(35), dropped(0), arrives(45), dropped(10), dropped(11)]);
    }

    #[test]
    fn room_is_for_packets_that_are_not_dropped_even_all_at_once() {
        for buffer in [0, 1, 2, 7] {
            for before in 0..4 {
                let mut link = AccessLink::new(Span(10), Some(buffer), Span::ZERO, None);
                for _ in 0..before {
                    link.admit(Time(0));
                }
                let (now, n) = (Time(5), 100);
                let room = link.room(now, n);
                assert!((0..room).all(|_| matches!(link.admit(now), Fate::Arrives(_))), "{buffer} {before}");
                assert_eq!(link.admit(now), Fate::Dropped(now), "{buffer} {before}: one more than there is room for");
            }
        }
    }

    #[test]
    fn latest_is_no_earlier_than_any_arrival_whatever_the_jitter() {
        let stream = base::Stream::new(1, 0, ("test", 0), "jitter");
        for jitter in [None, Some(Box::new(SendJitter { longest: Span(30), stream }))] {
            let mut link = AccessLink::new(Span(10), None, Span(100), jitter);
            for round in 0..50 {
                let now = Time(17 * round);
                let latest = link.latest(now, 3);
                let arrivals = [now; 3].map(|at| link.pass(at));
                assert!(arrivals.is_sorted() && arrivals[2] <= latest, "{arrivals:?} {latest:?}");
            }
        }
    }
}

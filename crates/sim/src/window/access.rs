//! The sender's own link in closed form: a clock that says when it is free again.
//!
//! First-in first-out with one size of packet needs no queue: a packet that comes at t leaves at max(t, free) + service, and
//! b packets wait just when the link is free no sooner than b services from now.

use super::bucket::Bucket;
use super::link::FAR;
use super::ring::Rec;
use base::{Span, Stream};

/// See the [module](self).
#[derive(Debug)]
pub struct Access {
    service: u64,
    free: u64,
    lead: u64,
    last_enter: u64,
    jitter: Option<(Span, Stream)>,
    /// Longest wait that a packet may find; `u64::MAX` for an unlimited queue.
    longest_wait: u64,
}

/// What became of a packet handed over by TCP.
pub enum Fate {
    /// It arrives at the first link then.
    Arrives(u64),
    /// The queue of the sender's own link was full when it entered, then.
    Dropped(u64),
}

impl Access {
    pub fn new(service: Span, buffer: Option<u32>, lead: Span, jitter: Option<(Span, Stream)>) -> Self {
        // A packet that finds the link busy for w ahead of it finds ceil(w / service) packets, one of them in service: b
        // or fewer wait with it as long as w is at most b services.
        let longest_wait = match buffer {
            Some(packets) if service.0 > 0 => service.0 * u64::from(packets),
            _ => u64::MAX,
        };
        Self { service: service.0, free: 0, lead: lead.0, last_enter: 0, jitter, longest_wait }
    }

    /// How many of `n` packets handed over from `now` on are surely not dropped here, however close together they come.
    #[inline]
    pub fn room(&self, now: u64, n: usize) -> usize {
        if self.longest_wait == u64::MAX {
            return n;
        }
        // Each one lengthens the wait of the next by a service at most.
        let spare = self.longest_wait.checked_sub(self.free.saturating_sub(now));
        spare.map_or(0, |spare| n.min((spare / self.service) as usize + 1))
    }

    /// Latest arrival at the first link of the last of `n` packets handed over until `now`.
    #[inline]
    pub fn latest(&self, now: u64, n: u32) -> u64 {
        let late = self.jitter.as_ref().map_or(0, |(jitter, _)| jitter.0);
        let busy = self.service.saturating_mul(u64::from(n)).saturating_add(self.lead);
        self.free.max(self.last_enter).max(now + late).saturating_add(busy)
    }

    /// One packet for each of `acks`, handed over as it arrives, when there is [`Self::room`]; tags count from `tag`. The
    /// arrivals at the first link go into `bucket`, which reaches as far as [`Self::latest`].
    #[inline(never)]
    pub fn pass_all(&mut self, acks: &[Rec], mut tag: u64, bucket: &mut Bucket) {
        if self.jitter.is_some() {
            bucket.extend(acks.iter().map(|ack| {
                let arrival = Rec { time: self.pass(ack.time), tag };
                tag += 1;
                arrival
            }));
            return;
        }
        let (service, lead, mut free) = (self.service, self.lead, self.free);
        bucket.extend(acks.iter().map(|ack| {
            free = free.max(ack.time) + service;
            let arrival = Rec { time: free + lead, tag };
            tag += 1;
            arrival
        }));
        self.free = free;
    }

    /// A packet handed over at `now`, when there is [`Self::room`]: its arrival at the first link.
    #[inline]
    pub fn pass(&mut self, now: u64) -> u64 {
        let enter = self.enter(now);
        self.serve(enter)
    }

    /// A packet handed over at `now`.
    #[inline]
    pub fn admit(&mut self, now: u64) -> Fate {
        let enter = self.enter(now);
        if self.free.saturating_sub(enter) > self.longest_wait {
            return Fate::Dropped(enter);
        }
        Fate::Arrives(self.serve(enter))
    }

    #[inline]
    fn enter(&mut self, now: u64) -> u64 {
        match &mut self.jitter {
            None => now,
            Some((jitter, stream)) => {
                self.last_enter = self.last_enter.max(now + stream.span_between(Span::ZERO, *jitter).0);
                self.last_enter
            }
        }
    }

    #[inline]
    fn serve(&mut self, enter: u64) -> u64 {
        self.free = (self.free.max(enter) + self.service).min(FAR);
        self.free + self.lead
    }
}

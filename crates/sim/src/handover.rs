//! Packets between the server of a link and its far end. With batches, packets wait for the next batch; with a variable or random
//! delay, the part above the smallest delay is added here. Packets stay in order: a packet arrives at the later of its
//! predecessor's arrival and the instant at which it left plus the delay at that instant.

use crate::marks::Marks;
use base::{Span, Stream, Time};
use scenario::{DelayStep, Jitter, LinkDelay};
use std::sync::Arc;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Handover {
    /// Packets are handed over at multiples of this time.
    batch: Option<Span>,
    /// Boxed, as few links have any.
    delay: Option<Box<VaryingDelay>>,
}

impl Handover {
    pub fn new(batch: Option<Span>, delay: Option<VaryingDelay>) -> Self {
        Self { batch, delay: delay.map(Box::new) }
    }

    /// Time from which a packet that leaves the server at `end` has only the least delay of the link ahead. Packets come in
    /// the order in which they leave.
    #[inline]
    pub fn at(&mut self, end: Time) -> Time {
        let left = self.batch.map_or(end, |batch| Time(end.0.div_ceil(batch.0) * batch.0));
        self.delay.as_mut().map_or(left, |delay| delay.passed(left))
    }

    /// Propagation delays that packets experienced, if the delay varies and any packet was counted.
    pub fn propagation(&self) -> Option<Propagation> {
        let seen = self.delay.as_ref().map(|delay| delay.seen).filter(|seen| seen.packets > 0);
        seen.map(|seen| seen.result())
    }
}

/// Propagation delays of the packets that left a link in the measured period, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Propagation {
    /// The mean.
    pub mean: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

impl Propagation {
    /// Delay that is the same for all packets.
    pub fn same(delay: Span) -> Self {
        Self { mean: delay.as_secs(), least: delay.as_secs(), most: delay.as_secs() }
    }
}

/// A delay that changes with time, or is drawn for each packet.
#[derive(Clone, Debug)]
pub struct VaryingDelay {
    steps: Steps,
    jitter: Option<(Jitter, Stream)>,
    /// No packet is on its way for less: what the engines add themselves.
    least: Span,
    /// Time from which the packet before had only the least delay ahead.
    last: Time,
    marks: Marks,
    seen: Seen,
}

impl VaryingDelay {
    /// Hand-over of a link; `drawn` is its propagation delay if that is constant.
    pub fn new(
        (delay, drawn): (&LinkDelay, Span),
        jitter: Option<Jitter>,
        marks: Marks,
        chance: impl FnOnce() -> Stream,
    ) -> Self {
        let (steps, shortest) = match delay {
            LinkDelay::Fixed(_) => (Steps::new([(Span::ZERO, drawn)].into(), None), drawn),
            LinkDelay::Steps(list, period) => (Steps::new(Arc::clone(list), *period), delay.min()),
        };
        let least = shortest + jitter.map_or(Span::ZERO, |jitter| jitter.min());
        let jitter = jitter.map(|jitter| (jitter, chance()));
        Self { steps, jitter, least, last: Time::ZERO, marks, seen: Seen::default() }
    }

    /// The least delay of any packet.
    pub fn least(&self) -> Span {
        self.least
    }

    /// Time from which a packet that left at `left` has only the least delay ahead.
    fn passed(&mut self, left: Time) -> Time {
        let steps = self.steps.at(left);
        let drawn = self.jitter.as_mut().map_or(Span::ZERO, |(law, chance)| match *law {
            Jitter::Uniform(from, to) => chance.span_between(from, to),
            Jitter::Exponential(mean) => Span::from_secs(chance.exponential(mean.as_secs())),
        });
        self.last = self.last.max(left + Span((steps + drawn).0 - self.least.0));
        if (self.marks.warmup..self.marks.end).contains(&left) {
            self.seen.add(self.last - left + self.least);
        }
        self.last
    }
}

/// Delays, each of which holds until the next.
#[derive(Clone, Debug)]
struct Steps {
    list: Arc<[DelayStep]>,
    period: Option<Span>,
    /// Start of the list's present round, and the index of the present step.
    origin: Time,
    at: usize,
}

impl Steps {
    fn new(list: Arc<[DelayStep]>, period: Option<Span>) -> Self {
        Self { list, period, origin: Time::ZERO, at: 0 }
    }

    /// Delay at `now`, which must not be before the last call's.
    fn at(&mut self, now: Time) -> Span {
        if let Some(period) = self.period {
            let whole = (now - self.origin).0 / period.0;
            if whole > 0 {
                (self.origin.0, self.at) = (self.origin.0 + whole * period.0, 0);
            }
        }
        let since = now - self.origin;
        while self.list.get(self.at + 1).is_some_and(|next| next.0 <= since) {
            self.at += 1;
        }
        self.list[self.at].1
    }
}

/// Counts of packets.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    packets: u64,
    sum: u128,
    least: Option<Span>,
    most: Span,
}

impl Seen {
    fn add(&mut self, delay: Span) {
        self.packets += 1;
        self.sum += u128::from(delay.0);
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        self.most = self.most.max(delay);
    }

    fn result(&self) -> Propagation {
        let least = self.least.unwrap_or(self.most);
        let mean = self.sum as f64 / self.packets as f64 / 1e12;
        Propagation { mean, least: least.as_secs(), most: self.most.as_secs() }
    }
}

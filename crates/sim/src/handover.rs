//! Packets between the server of a link and its far end. With batches, packets wait for the next batch. With a variable or
//! random delay, the part above the smallest delay is added here.
//!
//! Packets normally stay in order: a packet arrives at its own departure plus the delay at that time, but not before
//! its predecessor. If the scenario lets packets be reordered, a packet arrives at its departure plus the delay, even
//! if that is before its predecessor.

use crate::marks::Marks;
use base::{Span, Stream, Time};
use scenario::{Apart, DelayStep, Jitter, LinkDelay, Reorder, Spray};
use std::sync::Arc;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Handover {
    /// Interval of hand-overs: packets leave at multiples of it.
    batch: Option<Span>,
    /// Boxed, because few links have a varying delay.
    delay: Option<Box<VaryingDelay>>,
}

impl Handover {
    pub fn new(batch: Option<Span>, delay: Option<VaryingDelay>) -> Self {
        Self { batch, delay: delay.map(Box::new) }
    }

    /// Time at which a packet that leaves the server at `end` arrives, minus the link's least delay. Calls must be in
    /// the order in which packets leave.
    #[inline]
    pub fn at(&mut self, end: Time) -> Time {
        let left = self.left(end);
        self.delay.as_mut().map_or(left, |delay| delay.passed(left))
    }

    /// Time at which a packet whose service ends at `end` is handed over.
    #[inline]
    pub fn left(&self, end: Time) -> Time {
        self.batch.map_or(end, |batch| Time(end.0.div_ceil(batch.0) * batch.0))
    }

    /// The varying delay, if packets have different delays.
    #[inline]
    pub fn varying(&mut self) -> Option<&mut VaryingDelay> {
        self.delay.as_deref_mut()
    }

    /// Whether packets may overtake earlier ones.
    pub fn reorders(&self) -> bool {
        self.delay.as_deref().is_some_and(VaryingDelay::reorders)
    }

    /// Propagation delays that packets experienced; `None` if the delay is constant or no packet was counted.
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
    /// The same delay for all packets.
    pub fn same(delay: Span) -> Self {
        Self { mean: delay.as_secs(), least: delay.as_secs(), most: delay.as_secs() }
    }
}

/// A delay that changes with time, or is drawn for each packet.
#[derive(Clone, Debug)]
pub struct VaryingDelay {
    steps: Steps,
    jitter: Option<(Jitter, Stream)>,
    reordering: Option<Reordering>,
    /// The least delay of any packet. The engines add it themselves.
    least: Span,
    /// Arrival time of the previous packet, minus the least delay.
    last: Time,
    marks: Marks,
    seen: Seen,
}

impl VaryingDelay {
    /// Varying delay of a link; `drawn` is its propagation delay if that is constant.
    pub fn new(
        delay: &LinkDelay,
        drawn: Span,
        jitter: Option<Jitter>,
        reorder: Option<&Reorder>,
        marks: Marks,
        chance: impl Fn(&str) -> Stream,
    ) -> Self {
        let (steps, shortest) = match delay {
            LinkDelay::Fixed(_) => (Steps::new([(Span::ZERO, drawn)].into(), None), drawn),
            LinkDelay::Steps(list, period) => (Steps::new(Arc::clone(list), *period), delay.min()),
        };
        let drawn = jitter.map_or(Span::ZERO, |jitter| jitter.min()) + reorder.map_or(Span::ZERO, Reorder::min);
        let jitter = jitter.map(|jitter| (jitter, chance("jitter")));
        let reordering = reorder.map(|reorder| Reordering::new(reorder.clone(), chance("reorder")));
        Self { steps, jitter, reordering, least: shortest + drawn, last: Time::ZERO, marks, seen: Seen::default() }
    }

    /// The least delay of any packet.
    pub fn least(&self) -> Span {
        self.least
    }

    /// Whether packets may overtake earlier ones.
    #[inline]
    pub fn reorders(&self) -> bool {
        self.reordering.is_some()
    }

    /// Arrival time of a packet that was handed over at `left`, minus the least delay.
    pub fn passed(&mut self, left: Time) -> Time {
        let steps = self.steps.at(left);
        let drawn = self.jitter.as_mut().map_or(Span::ZERO, |(law, chance)| match *law {
            Jitter::Uniform(from, to) => chance.span_between(from, to),
            Jitter::Exponential(mean) => Span::from_secs(chance.exponential(mean.as_secs())),
        });
        let more = self.reordering.as_mut().map_or(Span::ZERO, Reordering::next);
        let own = left + Span((steps + drawn + more).0 - self.least.0);
        self.last = if self.reordering.is_some() { own } else { self.last.max(own) };
        if (self.marks.warmup..self.marks.end).contains(&left) {
            self.seen.add(self.last - left + self.least);
        }
        self.last
    }
}

/// Additional delays of a link that reorders its packets.
#[derive(Clone, Debug)]
struct Reordering {
    rule: Reorder,
    chance: Stream,
    /// Number of packets since the last packet with a different delay; with several paths, the index of the last
    /// packet's path.
    count: u32,
}

impl Reordering {
    fn new(rule: Reorder, chance: Stream) -> Self {
        let first = match &rule {
            Reorder::Paths(list, _) => list.len() as u32 - 1,
            // The first packet may already have a different delay.
            Reorder::Late(apart) | Reorder::Early(apart) => apart.gap - 1,
            Reorder::Jitter => 0,
        };
        Self { rule, chance, count: first }
    }

    /// Additional delay of the next packet.
    fn next(&mut self) -> Span {
        let Self { rule, chance, count } = self;
        let mut is_apart = |apart: &Apart| {
            let is_one = *count + 1 >= apart.gap && chance.unit() < apart.share;
            *count = if is_one { 0 } else { count.saturating_add(1) };
            is_one
        };
        match rule {
            Reorder::Jitter => Span::ZERO,
            Reorder::Late(apart) => {
                if is_apart(apart) {
                    apart.by
                } else {
                    Span::ZERO
                }
            }
            Reorder::Early(apart) => {
                if is_apart(apart) {
                    Span::ZERO
                } else {
                    apart.by
                }
            }
            Reorder::Paths(list, Spray::InTurn) => {
                *count = (*count + 1) % list.len() as u32;
                list[*count as usize]
            }
            Reorder::Paths(list, Spray::Random) => list[chance.below(list.len() as u64) as usize],
        }
    }
}

/// Delays, each of which holds until the next one.
#[derive(Clone, Debug)]
struct Steps {
    list: Arc<[DelayStep]>,
    period: Option<Span>,
    /// Start of the present pass through the list, and the index of the present step.
    origin: Time,
    at: usize,
}

impl Steps {
    fn new(list: Arc<[DelayStep]>, period: Option<Span>) -> Self {
        Self { list, period, origin: Time::ZERO, at: 0 }
    }

    /// Delay at `now`; `now` must not decrease from call to call.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Additional delays of `n` packets, in picoseconds.
    fn delays(rule: Reorder, n: usize) -> Vec<u64> {
        let mut reordering = Reordering::new(rule, Stream::new(1, 0, ("link", 0), "reorder"));
        (0..n).map(|_| reordering.next().0).collect()
    }

    #[test]
    fn the_share_of_late_packets_follows_from_gap_and_probability() {
        for (share, gap) in [(0.25, 1), (0.25, 5), (1.0, 3), (0.01, 1), (0.0, 2)] {
            let apart = Apart { share, by: Span(9), gap };
            let late = delays(Reorder::Late(apart), 200_000);
            let of_all = late.iter().filter(|delay| **delay > 0).count() as f64 / late.len() as f64;
            // The tolerance is five standard deviations of independent draws; with a gap the standard deviation is
            // smaller.
            let tolerance = 5.0 * (of_all / 200_000.0).sqrt();
            assert!((of_all - apart.of_all()).abs() <= tolerance, "{share} {gap}: {of_all}");
            // No two late packets are closer together than the gap.
            let places: Vec<usize> = (0..late.len()).filter(|i| late[*i] > 0).collect();
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= gap as usize));
            let early = delays(Reorder::Early(apart), 200_000);
            assert!(early.iter().zip(&late).all(|(early, late)| early + late == 9));
        }
    }

    #[test]
    fn paths_are_taken_in_turn_or_at_random() {
        let list: Arc<[Span]> = [Span(0), Span(5), Span(7)].into();
        assert_eq!(delays(Reorder::Paths(Arc::clone(&list), Spray::InTurn), 5), [0, 5, 7, 0, 5]);
        let drawn = delays(Reorder::Paths(list, Spray::Random), 3000);
        let of = |delay: u64| drawn.iter().filter(|drawn| **drawn == delay).count();
        // The tolerance is five standard deviations of sqrt(3000 / 3 * 2 / 3) = 26 each.
        assert!([0, 5, 7].iter().all(|&delay| of(delay).abs_diff(1000) < 130));
    }
}

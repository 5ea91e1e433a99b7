//! Delays of datagrams sent at equal gaps. The number of a datagram determines when it was sent, so no send times are
//! stored. Datagrams that arrive in the measured period count; lost ones have no delay.

use crate::histogram::{Histogram, bin_of};
use crate::marks::Marks;
use base::{PacketNumber, Span, Time};

/// Measures the delays of a flow's datagrams, from the instant at which its application sends them.
#[derive(Clone, Debug)]
pub struct DatagramDelays {
    /// Time at which the first datagram is sent, and its number.
    begin: Time,
    first: u64,
    gap: Span,
    /// Delay after the last link of the path.
    rest: Span,
    /// Number of the datagram that arrived last, and its delay in seconds (0 before the first).
    number: u64,
    last_s: f32,
    found: DelayOutcome,
    /// Time of the next sample, if the series are kept.
    sample: Time,
}

/// Delays of a flow's datagrams that arrived in the measured period, from sender to receiver; for a ping, until the answer
/// is back.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DelayOutcome {
    /// Number of these datagrams.
    pub count: u64,
    /// Sum of their delays, in picoseconds.
    pub sum: u128,
    /// The first bin of `counts`.
    lowest: usize,
    /// Counts in the bins of [`Histogram`] from `lowest` on. Only a range is stored, because many flows have delays, all
    /// close together.
    counts: Vec<u64>,
    /// At every sample of the whole run, the delay in seconds of the datagram that arrived last; empty unless asked for.
    samples: Vec<f32>,
}

impl DelayOutcome {
    /// Mean delay in seconds; `None` if no datagram arrived.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / base::time::PS_PER_S as f64)
    }

    /// At every sample of the whole run, the delay in seconds of the datagram that arrived last; 0 before the first.
    #[must_use]
    pub fn samples(&self) -> &[f32] {
        &self.samples
    }

    /// Adds the delays to `all`, in picoseconds.
    pub fn add_to(&self, all: &mut Histogram) {
        all.add_from(self.lowest, &self.counts);
    }

    fn count(&mut self, delay: Span) {
        self.count += 1;
        self.sum += u128::from(delay.0);
        let bin = bin_of(delay.0);
        if self.counts.is_empty() {
            self.lowest = bin;
        } else if bin < self.lowest {
            self.counts.splice(..0, std::iter::repeat_n(0, self.lowest - bin));
            self.lowest = bin;
        }
        let place = bin - self.lowest;
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }
}

impl DatagramDelays {
    /// Measures datagrams that are sent every `gap`; the one with number `first` is sent at `begin`.
    pub fn new(begin: Time, first: u64, gap: Span, rest: Span) -> Self {
        let (last_s, sample) = (0.0, Time::NEVER);
        Self { begin, first, gap, rest, number: first, last_s, found: DelayOutcome::default(), sample }
    }

    /// Records the series of samples too.
    pub fn sampled(self, marks: &Marks) -> Self {
        Self { sample: marks.sample_from(Time::ZERO), ..self }
    }

    /// Notes that datagram `number` arrives at `at`. Calls must be in the order of these times.
    #[inline]
    pub fn on_delivery(&mut self, at: Time, number: PacketNumber, marks: &Marks) {
        self.number = number.near(self.number);
        let sent = self.begin + Span((self.number - self.first) * self.gap.0);
        let delay = at.since(sent) + self.rest;
        if at >= self.sample {
            self.sample_until(at, marks);
        }
        self.last_s = delay.as_secs() as f32;
        if at >= marks.warmup {
            self.found.count(delay);
        }
    }

    /// Takes the samples up to and including `at`: a sample comes before an arrival at the same instant.
    fn sample_until(&mut self, at: Time, marks: &Marks) {
        while self.sample <= at {
            self.found.samples.push(self.last_s);
            self.sample = marks.next_sample(self.sample);
        }
    }

    /// Ends the run and returns the result.
    pub fn finish(mut self, marks: &Marks) -> DelayOutcome {
        if self.sample != Time::NEVER {
            self.sample_until(Time(marks.end.0 - 1), marks);
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    #[test]
    fn delays_run_from_the_instant_of_sending_and_count_from_the_warm_up_on() {
        let marks = Marks { warmup: ms(15), end: ms(40), every: Some(Span::millis(10)) };
        let mut delays = DatagramDelays::new(ms(1), 7, Span::millis(10), Span::millis(2)).sampled(&marks);
        // Sent at 1, 11 and 31 ms; the datagram sent at 21 ms was lost.
        for (number, at) in [(7, 10), (8, 17), (10, 35)] {
            delays.on_delivery(ms(at), PacketNumber::of(number), &marks);
        }
        let found = delays.finish(&marks);
        assert_eq!((found.count, found.mean_s()), (2, Some(0.007)));
        // At 0 and 10 ms none had arrived; at 20 and 30 ms the last delay was 8 ms.
        assert_eq!(found.samples(), [0.0, 0.0, 0.008, 0.008]);
        let mut all = Histogram::default();
        found.add_to(&mut all);
        assert_eq!(
            (all.total(), bin_of(Span::millis(6).0), bin_of(Span::millis(8).0)),
            (2, all.counts().iter().position(|&n| n > 0).unwrap(), all.counts().len() - 1)
        );
    }

    #[test]
    fn bins_grow_on_both_sides() {
        let (mut found, mut plain) = (DelayOutcome::default(), Histogram::default());
        for value in [1_000, 70, 5, 1_000_000, 70] {
            found.count(Span(value));
            plain.count(value);
        }
        let mut all = Histogram::default();
        found.add_to(&mut all);
        assert_eq!((all, found.mean_s()), (plain, Some(1_001_145.0 / 5.0 / 1e12)));
    }
}

//! Times of measurements, the same for both engines. The engines call such a time a *mark*; it has nothing to do with
//! ECN marks.

use base::{Span, Time};
use scenario::Scenario;

/// Times of measurements: the end of the warm-up, the samples and the end. Each comes before any other event at its
/// instant.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub warmup: Time,
    pub end: Time,
    pub every: Option<Span>,
}

impl Marks {
    pub fn of(scenario: &Scenario) -> Self {
        let [warmup, end] = [scenario.warmup, scenario.duration].map(|span| Time::ZERO + span);
        Self { warmup, end, every: scenario.record.every }
    }

    /// Time of the first sample at or after `time`; `NEVER` if nothing is sampled.
    pub fn sample_from(&self, time: Time) -> Time {
        match self.every {
            Some(every) => Time(time.0.div_ceil(every.0) * every.0),
            None => Time::NEVER,
        }
    }

    /// Time of the first sample after `time`; `NEVER` if nothing is sampled.
    pub fn sample_after(&self, time: Time) -> Time {
        self.sample_from(Time(time.0 + 1))
    }

    /// The sample after the one at `sample`.
    pub fn next_sample(&self, sample: Time) -> Time {
        self.every.map_or(Time::NEVER, |every| sample.saturating_add(every))
    }

    /// All samples before the end.
    pub fn samples(&self) -> Vec<Time> {
        match self.every {
            Some(every) => (0..self.end.0.div_ceil(every.0)).map(|i| Time(i * every.0)).collect(),
            None => Vec::new(),
        }
    }
}

//! Samples of a link: what waits, how long that takes to serve, and what began service until then.

use crate::Gauge;
use crate::histogram::Histogram;
use crate::plan::Marks;
use base::{Bytes, Rate, Span, Time};
use queue::Backlog;

/// How a link stands at an instant, before anything happens at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSnapshot {
    pub backlog: Backlog,
    /// What is left of the service in progress.
    pub serving: Span,
}

impl LinkSnapshot {
    /// How long a first-in first-out link would need for all this: what a packet that came now would wait there.
    fn drain(&self, rate: Rate) -> Span {
        match self.backlog.bytes {
            Bytes(0) => self.serving,
            bytes => self.serving + rate.serialize(bytes),
        }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct LinkSamples {
    rate: Rate,
    /// Packets waiting, and bytes that began service since the start.
    pub series: Option<(Vec<u32>, Vec<u64>)>,
    /// Packets waiting, and picoseconds that they will take: counts of samples in the measured period.
    pub backlog: Histogram,
    pub drain: Histogram,
    /// What the discipline shows of itself; with the series.
    pub gauges: Vec<Gauge>,
}

impl LinkSamples {
    pub fn new(rate: Rate, series: bool) -> Self {
        let (backlog, drain) = Default::default();
        Self { rate, series: series.then(Default::default), backlog, drain, gauges: Vec::new() }
    }

    /// Adds what the discipline shows of itself to the sample just taken.
    pub fn gauges(&mut self, show: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        if let Some((taken, _)) = &self.series {
            Gauge::put_row(&mut self.gauges, taken.len(), show);
        }
    }

    pub fn take(&mut self, at: Time, marks: &Marks, snapshot: &LinkSnapshot, begun_bytes: u64) {
        let waiting = snapshot.backlog.packets;
        if let Some(series) = &mut self.series {
            series.0.push(waiting);
            series.1.push(begun_bytes);
        }
        if at >= marks.warmup {
            self.backlog.count(u64::from(waiting));
            self.drain.count(snapshot.drain(self.rate).0);
        }
    }
}

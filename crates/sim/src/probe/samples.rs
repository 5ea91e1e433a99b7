//! Samples of a link: the waiting packets, the time to serve them, and the bytes that began service before the sample.

use crate::Gauge;
use crate::histogram::Histogram;
use crate::marks::Marks;
use crate::plan::LinkPlan;
use base::{Bytes, Rate, Span, Time};
use queue::{Backlog, Schedule};

/// State of a link at an instant, before any event at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSnapshot {
    pub backlog: Backlog,
    /// Remaining time of the service in progress.
    pub serving: Span,
}

impl LinkSnapshot {
    /// Time that a FIFO link would need for this backlog at `at`; it is the wait of a packet that arrives then.
    fn drain(&self, at: Time, server: &mut ServerModel) -> Span {
        match (self.backlog.bytes, server) {
            (Bytes(0), _) => self.serving,
            (bytes, ServerModel::Rate(rate)) => self.serving + rate.serialize(bytes),
            (bytes, ServerModel::Schedule(schedule)) => {
                self.serving + schedule.drain(at + self.serving, self.backlog.packets, bytes)
            }
        }
    }
}

/// Model of the service time of a backlog, for samples. A model is needed because the window engine may have run the
/// link past the time of the sample.
#[derive(Clone, Debug)]
pub enum ServerModel {
    Rate(Rate),
    Schedule(Box<Schedule>),
}

impl ServerModel {
    /// Model of the link's server.
    pub fn of<Q>(plan: &LinkPlan<Q>) -> Self {
        match &plan.schedule {
            Some(schedule) => Self::Schedule(Box::new(schedule.clone())),
            None => Self::Rate(plan.rate),
        }
    }
}

/// Every sample of a run.
#[derive(Clone, Debug, Default)]
pub struct LinkSeries {
    /// Packets waiting.
    pub backlog: Vec<u32>,
    /// Bytes that began service since the start.
    pub begun_bytes: Vec<u64>,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct LinkSamples {
    server: ServerModel,
    pub series: Option<LinkSeries>,
    /// Samples in the measured period by packets waiting.
    pub backlog: Histogram,
    /// Histogram of the time to serve the backlog, in picoseconds.
    pub drain: Histogram,
    /// The discipline's own values, if the series are kept.
    pub gauges: Vec<Gauge>,
}

impl LinkSamples {
    pub fn new(server: ServerModel, series: bool) -> Self {
        let (backlog, drain) = (Histogram::default(), Histogram::default());
        Self { server, series: series.then(LinkSeries::default), backlog, drain, gauges: Vec::new() }
    }

    /// Adds the discipline's own values to the sample just taken.
    pub fn gauges(&mut self, show: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        if let Some(series) = &self.series {
            Gauge::put_row(&mut self.gauges, series.backlog.len(), show);
        }
    }

    /// Takes the sample at `at`; `begun_bytes` bytes had begun service before it.
    pub fn take(&mut self, at: Time, marks: &Marks, snapshot: &LinkSnapshot, begun_bytes: u64) {
        let waiting = snapshot.backlog.packets;
        if let Some(series) = &mut self.series {
            series.backlog.push(waiting);
            series.begun_bytes.push(begun_bytes);
        }
        if at >= marks.warmup {
            self.backlog.count(u64::from(waiting));
            self.drain.count(snapshot.drain(at, &mut self.server).0);
        }
    }
}

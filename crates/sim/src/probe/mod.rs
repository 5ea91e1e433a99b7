//! Measurements at a link in addition to its totals: samples of its backlog, its loss events and, if the scenario asks for
//! them, single packets and all waiting times. Both engines use this code.

mod losses;
mod samples;
mod tracer;
mod watch;

pub use losses::LossEvents;
pub use samples::{LinkSamples, LinkSnapshot, ServerModel};
pub use tracer::PacketTracer;
pub use watch::{FiniteBuffer, LinkWatch, Signal};

use crate::marks::Marks;
use crate::plan::ProbePlan;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Probe {
    /// The number of the first segment of every flow.
    pub first: u64,
    pub samples: LinkSamples,
    pub losses: LossEvents,
    pub tracer: Option<Box<PacketTracer>>,
}

impl Probe {
    pub fn new(server: ServerModel, plan: ProbePlan, marks: &Marks, series: bool) -> Self {
        Self {
            first: plan.first,
            samples: LinkSamples::new(server, series),
            losses: LossEvents::new(plan.gap),
            tracer: plan.traces_packets().then(|| Box::new(PacketTracer::new(plan, marks))),
        }
    }
}

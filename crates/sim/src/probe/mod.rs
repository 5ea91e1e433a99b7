//! What is measured at a link beside its totals: samples of its backlog, its loss events, and, where the scenario asks
//! for it, single packets and every waiting time. The same for both engines.

mod losses;
mod samples;
mod watch;

pub use losses::LossEvents;
pub use samples::{LinkSamples, Standing};
pub use watch::{PacketRow, PacketTrace, Watch};

use base::{Rate, Span, Time};

/// What is to be measured at a link.
#[derive(Clone, Debug, Default)]
pub struct ProbePlan {
    /// Drops that follow each other within less than this are one loss event.
    pub gap: Span,
    /// Whether every waiting time is counted.
    pub delays: bool,
    /// Spans in which every data packet is recorded, in order, without overlap.
    pub packets: Vec<(Time, Time)>,
}

impl ProbePlan {
    /// Whether single packets must be looked at.
    pub fn watches(&self) -> bool {
        self.delays || !self.packets.is_empty()
    }
}

/// See the [module](self).
#[derive(Debug)]
pub struct Probe {
    pub samples: LinkSamples,
    pub losses: LossEvents,
    pub watch: Option<Box<Watch>>,
}

impl Probe {
    pub fn new(plan: ProbePlan, rate: Rate, warmup: Time, series: bool) -> Self {
        Self {
            samples: LinkSamples::new(rate, series),
            losses: LossEvents::new(plan.gap),
            watch: plan.watches().then(|| Box::new(Watch::new(plan.packets, plan.delays, warmup))),
        }
    }
}

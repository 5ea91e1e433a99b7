//! Marks of the reference engine: the end of the warm-up, and samples.

use super::Engine;
use super::event::{Event, Phase};
use crate::plan::{FlowControl, FlowPlan, LinkQueue};
use base::Time;
use queue::QueueDiscipline;

impl<C: FlowControl, Q: LinkQueue> Engine<C, Q> {
    /// Samples every link and sender.
    pub(super) fn sample(&mut self, now: Time) {
        for node in &mut self.nodes {
            let snapshot = node.snapshot(now);
            node.probe.samples.take(now, &self.marks, &snapshot, node.totals.begun_bytes);
            node.probe.samples.gauges(|put| node.link.queue().gauges(put));
        }
        for ends in &mut self.endpoints {
            if let FlowPlan::Tcp(_, tcp) = &ends.plan {
                ends.meter.sample(now, &self.marks, &tcp.sender);
            }
        }
        if let Some(every) = self.marks.every {
            self.push(now + every, Phase::Mark, 0, Event::Sample);
        }
    }

    /// Ends the warm-up: results are counted from now on.
    pub(super) fn warm(&mut self, now: Time) {
        for pool in &mut self.pools {
            pool.warm(now);
        }
        for node in &mut self.nodes {
            node.account(now);
            node.warm = node.totals;
            node.backlog_max = node.link.backlog().packets;
        }
        for ends in &mut self.endpoints {
            let (counters, spurious, next) = ends.counters();
            ends.meter.sender_warm(counters, spurious);
            ends.meter.receiver_warm(next);
            ends.dropped = 0;
        }
    }
}

//! A source of datagrams in the window engine: emits everything before its horizon, and counts what is delivered.
//!
//! Nothing comes back, so the horizon is the end of the window and nothing else: no link has to be waited for. Deliveries
//! are counted when the flow is next visited, each by its own time.

use super::bucket::Bucket;
use super::flow::Finished;
use super::ring::Ring;
use super::way::Way;
use crate::hash::Rolling;
use crate::meter::{FlowMeter, Tally};
use crate::network::{Marks, SourcePlan};
use crate::session::Last;
use base::{Flags, Time};
use traffic::ArrivalProcess;
use transport::Counters;

/// See the [module](self).
#[derive(Debug)]
pub struct Source {
    plan: Box<SourcePlan>,
    way: Way,
    /// When the next packet goes.
    next: Time,
    /// Packets sent, and those of them sent before the warm-up.
    sent: u32,
    sent_before: u32,
    delivered: u32,
    delivered_before: u32,
    /// Bytes delivered since the warm-up, where sizes are drawn.
    bytes: Option<u64>,
    hash: Rolling,
}

impl Source {
    pub fn new(mut plan: Box<SourcePlan>, id: u32, marks: &Marks) -> Self {
        plan.party.path = Vec::new();
        let way = Way::new(&mut plan.party, id, None, marks);
        let next = plan.party.start + plan.source.next_gap();
        Self {
            way,
            next,
            sent: 0,
            sent_before: 0,
            delivered: 0,
            delivered_before: 0,
            bytes: plan.sizes.map(|_| 0),
            hash: Rolling::default(),
            plan,
        }
    }

    /// Mean time between arrivals at the first link while it sends most, in picoseconds.
    pub fn mean_gap(&self) -> f64 {
        self.plan.mean_gap.max(self.plan.party.access.0 as f64)
    }

    /// Emits what goes before `horizon`; arrivals before `until` go into `bucket`. Returns when there is next something to
    /// do, as an arrival at the link.
    pub fn run<const HASH: bool>(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        (horizon, until): (u64, u64),
        marks: &Marks,
    ) -> u64 {
        self.way.release(bucket, until);
        self.deliver(ring, marks, HASH);
        let last = horizon.min(self.plan.party.stop.0);
        while self.next.0 < last {
            self.way.send(self.next.0, self.sent, Flags::NONE, bucket, until);
            self.sent += 1;
            self.sent_before += u32::from(self.next < marks.warmup);
            self.next += self.plan.source.next_gap();
        }
        let next = if self.next < self.plan.party.stop { self.next.0 } else { u64::MAX };
        next.saturating_add(self.plan.party.lead.0).min(self.way.due())
    }

    /// Takes note of what reaches the receiver before the end of the run.
    fn deliver(&mut self, ring: &mut Ring, marks: &Marks, hash: bool) {
        let all = ring.all();
        let n = all.partition_point(|rec| rec.time < marks.end.0);
        if hash {
            for rec in &all[..n] {
                self.hash.delivery(rec.time, rec.seq());
            }
        }
        if let Some(bytes) = &mut self.bytes {
            let counted = all[..n].iter().filter(|rec| rec.time >= marks.warmup.0);
            *bytes += counted.map(|rec| u64::from(self.plan.size_of(rec.seq()))).sum::<u64>();
        }
        self.delivered += n as u32;
        if all.first().is_some_and(|rec| rec.time < marks.warmup.0) {
            self.delivered_before += all[..n].partition_point(|rec| rec.time < marks.warmup.0) as u32;
        }
        ring.consume(n);
        ring.tidy();
    }

    /// The run is over: what is still on its way in `ring` and here, and the result.
    pub fn finish(mut self, ring: &mut Ring, marks: &Marks, dropped: u64, hash: bool) -> Finished {
        self.deliver(ring, marks, hash);
        let mut meter = FlowMeter::default().with_bytes(self.bytes);
        let sent = |n: u32| Counters { sent: u64::from(n), ..Counters::default() };
        meter.sender_warm(sent(self.sent_before));
        meter.receiver_warm(self.delivered_before);
        Finished {
            in_flight: self.way.in_flight() + ring.len() as u64,
            sent: u64::from(self.sent),
            delivered: u64::from(self.delivered),
            access_drops: self.way.drops.0,
            hash: self.hash,
            last: Last {
                flow: self.plan.party.flow,
                open: None,
                tally: Tally {
                    meter,
                    counters: sent(self.sent),
                    delivered: u64::from(self.delivered),
                    dropped: dropped + self.way.drops.1,
                },
            },
        }
    }
}

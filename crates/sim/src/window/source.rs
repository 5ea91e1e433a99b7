//! A source of datagrams in the window engine: emits everything before its horizon, and counts what is delivered.
//!
//! There are no ACKs, so the horizon is the end of the window and nothing else: a source waits for no link. Deliveries
//! are counted when the flow is next visited, each by its own time.

use super::access_path::AccessPath;
use super::bucket::{Bucket, Window};
use super::results::FlowResult;
use super::ring::Ring;
use crate::meter::{FlowMeter, Tally};
use crate::observer::Observer;
use crate::plan::{Marks, SourcePlan};
use crate::results::FinalTally;
use base::{Flags, Time};
use transport::Counters;

/// See the [module](self).
#[derive(Debug)]
pub struct Source<O> {
    plan: Box<SourcePlan>,
    access: AccessPath,
    /// When the next packet goes.
    next: Time,
    /// Packets sent, and those of them sent before the warm-up.
    sent: u32,
    sent_before: u32,
    delivered: u32,
    delivered_before: u32,
    /// Bytes delivered since the warm-up, where sizes are drawn.
    bytes: Option<u64>,
    observer: O,
}

impl<O: Observer> Source<O> {
    pub fn new(mut plan: Box<SourcePlan>, id: u32, marks: &Marks) -> Self {
        plan.party.path = Vec::new();
        let access = AccessPath::new(&mut plan.party, id, None, marks);
        let next = plan.party.start + plan.source.next_gap();
        Self {
            access,
            next,
            sent: 0,
            sent_before: 0,
            delivered: 0,
            delivered_before: 0,
            bytes: plan.sizes.map(|_| 0),
            observer: O::default(),
            plan,
        }
    }

    /// Mean time between arrivals at the first link while it sends most, in picoseconds.
    pub fn mean_gap(&self) -> f64 {
        self.plan.mean_gap.max(self.plan.party.access.0 as f64)
    }

    /// Emits what goes before `horizon`; arrivals before `until` go into `bucket`. Returns when there is next something to
    /// do, as an arrival at the link.
    pub fn run(&mut self, ring: &mut Ring, bucket: &mut Bucket, window: Window, marks: &Marks) -> Time {
        let Window { horizon, until } = window;
        self.access.release(bucket, until);
        self.deliver(ring, marks);
        let last = horizon.min(self.plan.party.stop);
        while self.next < last {
            self.access.send(self.next, self.sent, Flags::NONE, bucket, until);
            self.sent += 1;
            self.sent_before += u32::from(self.next < marks.warmup);
            self.next += self.plan.source.next_gap();
        }
        let next = if self.next < self.plan.party.stop { self.next } else { Time::NEVER };
        next.saturating_add(self.plan.party.first_link_delay).min(self.access.due())
    }

    /// Counts what reaches the receiver before the end of the run.
    fn deliver(&mut self, ring: &mut Ring, marks: &Marks) {
        let all = ring.all();
        let n = all.partition_point(|rec| rec.time < marks.end);
        if O::ACTIVE {
            for rec in &all[..n] {
                self.observer.on_delivery(rec.time, rec.seq());
            }
        }
        if let Some(bytes) = &mut self.bytes {
            let counted = all[..n].iter().filter(|rec| rec.time >= marks.warmup);
            *bytes += counted.map(|rec| u64::from(self.plan.size_of(rec.seq()))).sum::<u64>();
        }
        self.delivered += n as u32;
        if all.first().is_some_and(|rec| rec.time < marks.warmup) {
            self.delivered_before += all[..n].partition_point(|rec| rec.time < marks.warmup) as u32;
        }
        ring.consume(n);
        ring.tidy();
    }

    /// The run is over: what is still on its way in `ring` and here, and the result.
    pub fn finish(mut self, ring: &mut Ring, marks: &Marks, dropped: u64) -> FlowResult {
        self.deliver(ring, marks);
        let mut meter = FlowMeter::default().with_bytes(self.bytes);
        let sent = |n: u32| Counters { sent: u64::from(n), ..Counters::default() };
        meter.sender_warm(sent(self.sent_before));
        meter.receiver_warm(self.delivered_before);
        FlowResult {
            in_flight: self.access.in_flight() + ring.len() as u64,
            sent: u64::from(self.sent),
            delivered: u64::from(self.delivered),
            access_drops: self.access.drops.since_start,
            hash: self.observer.finish().0,
            tally: FinalTally {
                flow: self.plan.party.flow,
                open: None,
                tally: Tally {
                    meter,
                    counters: sent(self.sent),
                    delivered: u64::from(self.delivered),
                    dropped: dropped + self.access.drops.since_warmup,
                },
            },
        }
    }
}

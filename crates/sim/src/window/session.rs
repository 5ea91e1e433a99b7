//! A session of the window engine: runs its places ahead, each until its transfer ends, and opens what is due in the order
//! of time.
//!
//! Places couple through their session alone, and only where a transfer ends. So each runs by itself up to its end or the
//! horizon; then ends and openings are taken in order, and a place that is opened runs on from there.

use super::Sender;
use super::bucket::Bucket;
use super::flow::Flow;
use super::link::Shared;
use crate::network::{Identity, Marks, SessionPlan};
use crate::session::TransferMeter;
use base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// See the [module](self).
#[derive(Debug)]
pub struct Session {
    plan: SessionPlan,
    pub lead: u64,
    /// Places that were ever taken: the lowest are taken first.
    used: u32,
    /// Ends that the session has not heard of: when, and which place.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    /// When the session itself next has something to do, as an arrival at the first link.
    pub due: u64,
}

/// What a session works with in one window.
pub struct Bench<'a> {
    pub flows: &'a mut [Sender],
    pub shared: &'a mut Shared,
    pub bucket: &'a mut Bucket,
    /// The end of the window without that of the run, how far senders may run, and the end of both.
    pub window: (u64, u64, u64),
    pub marks: &'a Marks,
    pub transfers: &'a mut TransferMeter,
    pub who: &'a Identity,
}

impl Session {
    pub fn new(plan: SessionPlan, lead: u64) -> Self {
        let due = plan.desk.due().0.saturating_add(lead);
        Self { plan, lead, used: 0, ends: BinaryHeap::new(), due }
    }

    /// Which flow of the scenario it is.
    pub fn flow(&self) -> usize {
        self.plan.flow as usize
    }

    /// The senders that are its places.
    pub fn places(&self) -> std::ops::Range<usize> {
        self.plan.first as usize..(self.plan.first + self.plan.places) as usize
    }

    fn used(&self) -> std::ops::Range<usize> {
        self.plan.first as usize..(self.plan.first + self.used) as usize
    }

    /// Runs everything before the window's horizon.
    pub fn run<const HASH: bool>(&mut self, bench: &mut Bench<'_>) {
        let horizon = bench.window.1;
        self.run_places::<HASH>(bench, Flow::is_open);
        let mut now = Time::ZERO;
        loop {
            let end = self.ends.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
            let open = self.plan.desk.due().max(now);
            if end.min(open).0 >= horizon {
                break;
            }
            if end <= open {
                now = end;
                self.end(bench);
            } else {
                now = open;
                self.open::<HASH>(bench, now);
            }
        }
        // What still arrives for transfers that have ended: not before, as one may open on the way.
        self.run_places::<HASH>(bench, |_| true);
        self.due = self.plan.desk.due().0.saturating_add(self.lead);
    }

    /// Whether anything happens before `stop`.
    pub fn is_due(&self, shared: &Shared, stop: u64) -> bool {
        self.due < stop || shared.due[self.used()].iter().any(|&due| due < stop)
    }

    /// Runs the places that `are` so and have something to do.
    fn run_places<const HASH: bool>(&mut self, bench: &mut Bench<'_>, are: impl Fn(&Flow) -> bool) {
        let (stop, horizon, _) = bench.window;
        for f in self.used() {
            if bench.shared.due[f] < stop
                && let Sender::Tcp(flow) = &bench.flows[f]
                && are(flow)
            {
                self.run_place::<HASH>(bench, f, horizon);
            }
        }
    }

    /// Runs place `f` up to `horizon`, or the end of its transfer.
    fn run_place<const HASH: bool>(&mut self, bench: &mut Bench<'_>, f: usize, horizon: u64) {
        let Sender::Tcp(flow) = &mut bench.flows[f] else { return };
        let (shared, until) = (&mut *bench.shared, bench.window.2);
        let (ring, trace) = (&mut shared.rings[f], &mut shared.traces[f]);
        let window = (horizon, until);
        shared.due[f] = flow.run::<HASH>(ring, bench.bucket, &mut shared.headers, window, bench.marks, trace);
        if let Some(at) = flow.ended() {
            self.ends.push(Reverse((at, f as u32)));
        }
    }

    /// The earliest end.
    fn end(&mut self, bench: &mut Bench<'_>) {
        let Some(Reverse((_, f))) = self.ends.pop() else { return };
        let Sender::Tcp(flow) = &mut bench.flows[f as usize] else { return };
        let Some(closed) = flow.close() else { return };
        self.plan.close(f, closed, bench.who, bench.transfers);
    }

    /// What is due opens at `now`.
    fn open<const HASH: bool>(&mut self, bench: &mut Bench<'_>, now: Time) {
        let Some((place, segments)) = self.plan.desk.open(now) else {
            bench.transfers.refused(now);
            return;
        };
        self.used = self.used.max(place + 1);
        let f = (self.plan.first + place) as usize;
        // What arrives for the transfer before, until now.
        self.run_place::<HASH>(bench, f, now.0 + 1);
        let (_, horizon, until) = bench.window;
        let Sender::Tcp(flow) = &mut bench.flows[f] else { return };
        flow.open::<HASH>((now, segments), bench.bucket, &mut bench.shared.headers, until, bench.marks);
        self.run_place::<HASH>(bench, f, horizon);
    }
}

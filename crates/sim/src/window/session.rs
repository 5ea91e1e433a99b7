//! A session of the window engine: it runs each of its places ahead until the place's transfer ends, and opens due
//! transfers in time order.
//!
//! Places affect each other only through their session, and only when a transfer ends. So each place runs by itself up to
//! its end or the horizon. Then the session processes ends and openings in order, and a place that is opened runs on from
//! there.

use super::bucket::{Bucket, Window};
use super::flow::TcpFlow;
use super::sender::AnySender;
use super::shared::Shared;
use crate::identity::Identity;
use crate::marks::Marks;
use crate::observer::Observer;
use crate::places::SessionPlan;
use crate::plan::FlowControl;
use crate::transfers::TransferMeter;
use base::steps::count_steps;
use base::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of transfers that begin or end in a window between two checks of the monitor: there may be millions of them
/// if most are refused.
const TRANSFERS_BETWEEN_LOOKS: u32 = 256;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Session {
    plan: SessionPlan,
    pub first_link_delay: Span,
    /// Number of places that were ever taken; the lowest free place is always taken first.
    used: u32,
    /// Ends that the session has not processed yet: time and place.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    /// Time of the session's own next event, as an arrival time at the first link.
    pub due: Time,
}

/// State that a session uses in one window.
pub struct SessionCtx<'a, O, C> {
    pub flows: &'a mut [AnySender<O, C>],
    pub shared: &'a mut Shared,
    pub bucket: &'a mut Bucket,
    pub window: Window<'a>,
    /// The end of the window, even if the run ends earlier.
    pub stop: Time,
    pub marks: &'a Marks,
    pub transfers: &'a mut TransferMeter,
    pub who: &'a Identity,
}

impl Session {
    pub fn new(plan: SessionPlan, first_link_delay: Span) -> Self {
        let due = plan.places.due().saturating_add(first_link_delay);
        Self { plan, first_link_delay, used: 0, ends: BinaryHeap::new(), due }
    }

    /// Number of the flow in the scenario.
    pub fn flow(&self) -> usize {
        self.plan.flow as usize
    }

    /// The senders that are its places.
    pub fn places(&self) -> std::ops::Range<usize> {
        self.plan.first_place as usize..(self.plan.first_place + self.plan.place_count) as usize
    }

    fn used(&self) -> std::ops::Range<usize> {
        self.plan.first_place as usize..(self.plan.first_place + self.used) as usize
    }

    /// Runs everything before the window's horizon; stops early if the run is stopped.
    pub fn run<O: Observer, C: FlowControl>(&mut self, ctx: &mut SessionCtx<'_, O, C>) {
        let horizon = ctx.window.horizon;
        self.run_places(ctx, TcpFlow::is_open);
        let (mut now, mut transfers) = (Time::ZERO, 0u32);
        loop {
            let end = self.ends.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
            let open = self.plan.places.due().max(now);
            if end.min(open) >= horizon {
                break;
            }
            transfers = transfers.wrapping_add(1);
            count_steps(1);
            if transfers % TRANSFERS_BETWEEN_LOOKS == 0 && (ctx.window.is_stopped)() {
                return;
            }
            if end <= open {
                now = end;
                self.end(ctx);
            } else {
                now = open;
                self.open(ctx, now);
            }
        }
        // Packets still arrive for transfers that have ended. They are processed last, because a new transfer may open at
        // the place before.
        self.run_places(ctx, |_| true);
        self.due = self.plan.places.due().saturating_add(self.first_link_delay);
    }

    /// Whether an event is due before `stop`.
    pub fn is_due(&self, shared: &Shared, stop: Time) -> bool {
        self.due < stop || shared.due[self.used()].iter().any(|&due| due < stop)
    }

    /// Runs the places that have an event due and for which `are` returns true.
    fn run_places<O: Observer, C: FlowControl>(
        &mut self,
        ctx: &mut SessionCtx<'_, O, C>,
        are: impl Fn(&TcpFlow<O, C>) -> bool,
    ) {
        for f in self.used() {
            if ctx.shared.due[f] < ctx.stop
                && let AnySender::Tcp(flow) = &ctx.flows[f]
                && are(flow)
            {
                self.run_place(ctx, f, ctx.window.horizon);
            }
        }
    }

    /// Runs place `f` up to `horizon` or to the end of its transfer.
    fn run_place<O: Observer, C: FlowControl>(&mut self, ctx: &mut SessionCtx<'_, O, C>, f: usize, horizon: Time) {
        let AnySender::Tcp(flow) = &mut ctx.flows[f] else { return };
        let shared = &mut *ctx.shared;
        let mut untraced = None;
        let (ring, trace) = (&mut shared.rings[f], shared.traces.get_mut(f).unwrap_or(&mut untraced));
        let window = Window { horizon, ..ctx.window };
        shared.due[f] = flow.run(ring, ctx.bucket, &mut shared.headers, window, ctx.marks, trace);
        if let Some(at) = flow.ended() {
            self.ends.push(Reverse((at, f as u32)));
        }
    }

    /// Processes the earliest end.
    fn end<O: Observer, C: FlowControl>(&mut self, ctx: &mut SessionCtx<'_, O, C>) {
        let Some(Reverse((_, f))) = self.ends.pop() else { return };
        let AnySender::Tcp(flow) = &mut ctx.flows[f as usize] else { return };
        let Some(transfer) = flow.close() else { return };
        ctx.transfers.close(&mut self.plan, f, transfer, ctx.who);
    }

    /// Opens the transfer due at `now`.
    fn open<O: Observer, C: FlowControl>(&mut self, ctx: &mut SessionCtx<'_, O, C>, now: Time) {
        let Some((place, transfer)) = self.plan.places.open(now) else {
            ctx.transfers.refused(now);
            return;
        };
        self.used = self.used.max(place + 1);
        let f = (self.plan.first_place + place) as usize;
        // First the packets of the previous transfer that arrive until now are processed.
        self.run_place(ctx, f, Time(now.0 + 1));
        let AnySender::Tcp(flow) = &mut ctx.flows[f] else { return };
        flow.open(transfer, ctx.bucket, &mut ctx.shared.headers, ctx.window.until, ctx.marks);
        self.run_place(ctx, f, ctx.window.horizon);
    }
}

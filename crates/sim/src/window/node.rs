//! A link of the window engine: it serves the sorted arrivals of a window and hands each packet on. The common part of all
//! links is in `core`; the kinds of servers are in `fifo` and `local`.

use super::core::{LinkCore, Stages};
use super::fifo::Fifo;
use super::flow_table::FlowTable;
use super::links::Links;
use super::local::Local;
use super::pool::Place;
use super::results::LinkResult;
use super::ring::Rec;
use super::shared::Shared;
use crate::LinkReading;
use crate::marks::Marks;
use crate::plan::{LinkPlan, LinkQueue};
use crate::probe::{FiniteBuffer, Probe, ServerModel};
use base::Time;
use queue::{AnyQueue, Either};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Node<O, Q> {
    pub core: LinkCore<O>,
    server: Server<Q>,
}

/// Server of a link: decides which packet is served, and when.
#[derive(Clone, Debug)]
enum Server<Q> {
    /// A first-in first-out queue with an admission rule.
    Fifo(Box<Fifo>),
    /// A discipline that chooses the packet to serve, or decides at departure.
    Local(Box<Local<Q>>),
}

impl<O: Links, Q: LinkQueue> Node<O, Q> {
    /// `pooled`: the link shares memory.
    pub fn new(index: u32, plan: LinkPlan<Q>, flows: FlowTable, pooled: bool, marks: &Marks, series: bool) -> Self {
        let probe = Probe::new(ServerModel::of(&plan), plan.probe, marks, series);
        let plain = !pooled && plan.ingress.is_none() && flows.lanes.is_empty() && plan.schedule.is_none();
        let (server, timer) = match plan.queue {
            Either::First(AnyQueue::Fifo(fifo)) => {
                let fifo = Fifo::new(fifo.into_admission(), &flows.service, plan.limit, plain, plan.schedule.is_some());
                let timer = fifo.timer();
                (Server::Fifo(Box::new(fifo)), timer)
            }
            // `Local` handles the discipline's timer itself.
            other => (Server::Local(Box::new(Local::new(other))), Time::NEVER),
        };
        let stages = Stages { ingress: plan.ingress, schedule: plan.schedule, handover: plan.handover };
        Self { core: LinkCore::new(index, flows, stages, timer, marks, probe), server }
    }

    /// Time at which a waiting packet goes into service next, if later arrivals can still change which packet that is.
    pub fn due(&self) -> Time {
        match &self.server {
            Server::Local(local) if local.has_waiting() => self.core.free,
            _ => Time::NEVER,
        }
    }

    /// Totals and occupancy of the link at `at`; everything before `at` has been served.
    pub fn state(&self, at: Time) -> LinkReading {
        let (waiting, totals) = match &self.server {
            Server::Fifo(fifo) => fifo.state(&self.core, at),
            Server::Local(local) => (local.waiting(), self.core.totals),
        };
        LinkReading {
            waiting,
            arrived: totals.arrived,
            dropped: totals.dropped,
            marked: totals.marked,
            begun: totals.begun,
            begun_bytes: totals.begun_bytes,
        }
    }

    /// Drops and marks nothing from `now` on; everything before `now` has been served. `finite` is the buffer for the
    /// link's idle time.
    pub fn spare(&mut self, now: Time, finite: Option<FiniteBuffer>) {
        let mut watch = self.core.observer.watch().map(|watch| watch.sparing(finite)).unwrap_or_default();
        if let Server::Local(local) = &mut self.server {
            local.spare(now, |packet| watch.on_waiting(packet));
        }
        self.core.observer.set_watch(watch);
    }

    /// Counts the waiting times until `end`, the end of the run, of the packets whose start of service is not known.
    pub fn count_waits(&mut self, end: Time) {
        if let (Server::Local(local), Some(watch)) = (&mut self.server, self.core.observer.watch()) {
            local.spare(end, |packet| watch.on_wait(packet, end));
        }
    }

    /// Serves `arrivals`, which are in order and before `until`; `until` is not after the end of the run.
    pub fn serve(&mut self, arrivals: &[Rec], until: Time, marks: &Marks, shared: &mut Shared) {
        match &mut self.server {
            Server::Fifo(fifo) => O::serve(fifo, &mut self.core, arrivals, marks, shared),
            Server::Local(local) => local.serve(&mut self.core, arrivals, until, marks, shared, O::serve_under),
        }
    }

    /// Serves one arrival of a link that shares memory; only first-in first-out links share memory.
    pub fn serve_in_pool(&mut self, rec: &Rec, pool: &mut Place<'_>, marks: &Marks, shared: &mut Shared) {
        if let Server::Fifo(fifo) = &mut self.server {
            O::serve_in_pool(fifo, &mut self.core, rec, pool, marks, shared);
        }
    }

    /// Ends the run and returns the result.
    pub fn finish(&mut self, marks: &Marks, shared: &mut Shared) -> LinkResult {
        match &mut self.server {
            Server::Fifo(fifo) => fifo.finish(&mut self.core, marks, &shared.monitor),
            Server::Local(local) => local.finish(&mut self.core, marks, shared, O::serve_under),
        }
    }
}

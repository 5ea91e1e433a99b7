//! A run that stops at given times. Its windows end there too, so that it does exactly what a run without stops does.
//!
//! At a stop every link has served the packets that arrived before the stop. Senders have run only up to an earlier
//! time, so a sender that is to be inspected is run up to the stop. The packets that it sends then arrive at links
//! after the stop, and wait for their window.

use super::bucket::{Bucket, Window};
use super::chunk::Chunk;
use super::horizon::{self, Part};
use super::links::Links;
use super::sender::AnySender;
use super::shared::Shared;
use super::{Course, Engine};
use crate::observer::{NoObserver, PacketObserver};
use crate::plan::{FlowControl, LinkQueue, Network};
use crate::probe::{FiniteBuffer, LinkWatch};
use crate::{LinkReading, Options, Outcome};
use base::{RunMonitor, Time};
use transport::Sender;

/// Interface of a run in steps, independent of its observer.
pub trait Steps<C>: Send {
    /// Continues to `until`: runs everything before it, and no event at it.
    fn advance(&mut self, until: Time);
    /// Runs sender `f`, which is not a place of a session, up to `until`, the time that the run has reached.
    fn settle(&mut self, f: usize, until: Time);
    /// TCP sender `f`.
    fn sender(&self, f: usize) -> Option<&Sender<C>>;
    /// The congestion control of TCP sender `f`.
    fn control_mut(&mut self, f: usize) -> Option<&mut C>;
    /// Group of the first sender whose control has a fault, and the fault itself.
    fn fault(&self) -> Option<(u32, String)>;
    /// The state of link `l` at `now`, the time that the run has reached.
    fn link(&self, l: usize, now: Time) -> LinkReading;
    /// Attaches a watch to link `l`, if single packets are observed.
    fn record(&mut self, l: usize, watch: LinkWatch);
    /// The watch of link `l`.
    fn watch(&mut self, l: usize) -> Option<&mut LinkWatch>;
    /// Lets link `l` drop and mark nothing from `now` on, the time that the run has reached. `finite` is the buffer for its
    /// idle time.
    fn spare(&mut self, l: usize, now: Time, finite: Option<FiniteBuffer>);
    /// Counts the waiting times at link `l` until `end`, the end of the run, which must have been reached.
    fn count_waits(&mut self, l: usize, end: Time);
    /// A copy of the run in its present state.
    fn fork(&self) -> Box<dyn Steps<C>>;
    /// Continues to the end and returns the outcome.
    fn finish(self: Box<Self>) -> Outcome;
}

#[derive(Clone)]
struct SteppedEngine<O, C, Q> {
    engine: Engine<O, C, Q>,
    parts: Vec<(Part, Course)>,
    options: Options,
}

/// Begins a run in steps.
pub fn begin<C: FlowControl + 'static, Q: LinkQueue + Clone + 'static>(
    network: Network<C, Q>,
    options: Options,
) -> Box<dyn Steps<C>> {
    if options.hash || network.links.iter().any(|link| link.probe.traces_packets()) {
        Box::new(SteppedEngine::<PacketObserver, C, Q>::new(network, options))
    } else {
        Box::new(SteppedEngine::<NoObserver, C, Q>::new(network, options))
    }
}

impl<O: Links, C: FlowControl, Q: LinkQueue> SteppedEngine<O, C, Q> {
    fn new(network: Network<C, Q>, options: Options) -> Self {
        let parts = horizon::parts(&network);
        let engine = Engine::build(network, options, &RunMonitor::default());
        let parts = parts.into_iter().map(|part| {
            let course = engine.course(&part);
            (part, course)
        });
        Self { parts: parts.collect(), engine, options }
    }
}

impl<O: Links + Clone + 'static, C: FlowControl + 'static, Q: LinkQueue + Clone + 'static> Steps<C>
    for SteppedEngine<O, C, Q>
{
    fn advance(&mut self, until: Time) {
        for (part, course) in &mut self.parts {
            let limit = until.min(course.last);
            while course.now < limit {
                self.engine.run_window(part, course, limit);
            }
        }
    }

    fn settle(&mut self, f: usize, until: Time) {
        let Engine { flows, shared, marks, .. } = &mut self.engine;
        let Shared { late, rings, headers, .. } = &mut *shared;
        late.release_ring(f, rings, headers, until);
        let (chunk, headers) = Chunk::all(flows, shared);
        // No packet that the sender sends here arrives before the stop, so all of them wait for a later window.
        let window = Window { horizon: until.min(marks.end), until: Time::ZERO, is_stopped: &|| false };
        chunk.settle(f, window, &mut Bucket::default(), headers, marks);
        if !shared.late.is_empty() {
            shared.wake_ring(f);
        }
    }

    fn sender(&self, f: usize) -> Option<&Sender<C>> {
        match &self.engine.flows[f] {
            AnySender::Tcp(flow) => Some(flow.sender()),
            AnySender::Datagrams(_) => None,
        }
    }

    fn control_mut(&mut self, f: usize) -> Option<&mut C> {
        match &mut self.engine.flows[f] {
            AnySender::Tcp(flow) => Some(flow.control_mut()),
            AnySender::Datagrams(_) => None,
        }
    }

    fn fault(&self) -> Option<(u32, String)> {
        self.engine.flows.iter().find_map(|flow| match flow {
            AnySender::Tcp(flow) => {
                flow.sender().control().fault().map(|reason| (self.engine.identities[flow.number()].group, reason))
            }
            AnySender::Datagrams(_) => None,
        })
    }

    fn link(&self, l: usize, now: Time) -> LinkReading {
        self.engine.nodes[l].state(now)
    }

    fn record(&mut self, l: usize, watch: LinkWatch) {
        self.engine.nodes[l].core.observer.set_watch(watch);
    }

    fn watch(&mut self, l: usize) -> Option<&mut LinkWatch> {
        self.engine.nodes[l].core.observer.watch()
    }

    fn spare(&mut self, l: usize, now: Time, finite: Option<FiniteBuffer>) {
        self.engine.nodes[l].spare(now, finite);
    }

    fn count_waits(&mut self, l: usize, end: Time) {
        self.engine.nodes[l].count_waits(end);
    }

    fn fork(&self) -> Box<dyn Steps<C>> {
        Box::new(self.clone())
    }

    fn finish(mut self: Box<Self>) -> Outcome {
        self.advance(Time::NEVER);
        self.engine.finish(self.options).expect("nothing stops a run in steps")
    }
}

//! The plan of one replication of a scenario: links, flows and sessions, each with its random draws, ready to start.
//!
//! Module `build` makes it; both engines get the plan and nothing else.

use crate::datagrams::DatagramDelays;
use crate::handover::Handover;
use crate::identity::Identity;
use crate::ingress::Ingress;
use crate::marks::Marks;
use crate::places::SessionPlan;
use crate::writes::FlowWrites;
use base::{Bytes, PacketNumber, Rate, RunMonitor, Span, Stream, Time};
use law::{CongestionControl, Control};
use queue::{AnyQueue, Either, Limit, NoOwn, QueueDiscipline, Schedule, SharedMemory};
use std::ops::Range;
use std::sync::Arc;
use traffic::{AnySource, PacketSizes};
use transport::{Receiver, Sender, Wire};

/// The congestion control of a TCP flow, as the engines run it on any thread. This crate needs nothing else of it.
pub trait FlowControl: CongestionControl + Send + Sync {}

impl<C: CongestionControl + Send + Sync> FlowControl for C {}

/// A link's discipline that is not built in, as the engines run it.
pub trait LinkQueue: QueueDiscipline + Send {}

impl<Q: QueueDiscipline + Send> LinkQueue for Q {}

/// Everything an engine needs. Flows use the control `C`; links may use a discipline `Q` in place of a built-in one. The
/// defaults are those of the scenario.
#[derive(Debug)]
pub struct Network<C = Control, Q = NoOwn> {
    /// All links; those of an array are consecutive.
    pub links: Vec<LinkPlan<Q>>,
    pub pools: Vec<PoolPlan>,
    /// Number of links of each table of the scenario file, for the results.
    pub tables: Vec<u32>,
    /// The flows of the scenario, ordered by group.
    pub identities: Vec<Identity>,
    /// Size of each group's data packets on the wire.
    pub packets: Vec<u32>,
    /// The senders: one for each flow of the scenario, or one for each place of a session.
    pub flows: Vec<FlowPlan<C>>,
    pub sessions: Vec<SessionPlan>,
    pub marks: Marks,
}

/// Memory that links share.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    pub memory: SharedMemory,
    /// Links that draw on the pool, in order; each has its alpha.
    pub links: Vec<(u32, f64)>,
}

/// A link of the scenario, with its discipline and its random streams ready.
#[derive(Debug)]
pub struct LinkPlan<Q = NoOwn> {
    /// Rate; with a schedule, its mean.
    pub rate: Rate,
    /// Schedule, if the rate is not constant.
    pub schedule: Option<Schedule>,
    /// Propagation delay; the smallest one if it changes or is drawn for each packet.
    pub delay: Span,
    /// Mean propagation delay over time.
    pub mean_delay: Span,
    pub queue: Either<AnyQueue, Q>,
    /// Its buffer.
    pub limit: Limit,
    /// Drops before the queue.
    pub ingress: Option<Ingress>,
    /// Hand-over behind the server (`handover`); used only on links with a schedule.
    pub handover: Handover,
    pub probe: ProbePlan,
}

impl<Q> LinkPlan<Q> {
    /// Capacity in the measured period, in bit/s; arbitrary if `monitor` stops the run.
    pub fn capacity_bps(&self, marks: &Marks, monitor: &RunMonitor) -> f64 {
        match &self.schedule {
            Some(schedule) => {
                schedule.offered_bits(marks.warmup, marks.end, monitor) / (marks.end - marks.warmup).as_secs()
            }
            None => self.rate.0 as f64,
        }
    }
}

/// Random delay of each packet before it enters the sender's own link.
#[derive(Clone, Debug)]
pub struct SendJitter {
    pub longest: Span,
    pub stream: Stream,
}

impl SendJitter {
    /// Delay of the next packet.
    #[inline]
    pub fn next(&mut self) -> Span {
        self.stream.span_between(Span::ZERO, self.longest)
    }
}

/// Measurements at a link in addition to its totals.
#[derive(Clone, Debug, Default)]
pub struct ProbePlan {
    /// The number of the first segment of every flow.
    pub first: u64,
    /// Drops less than this apart belong to one loss event.
    pub gap: Span,
    /// Whether all waiting times are counted.
    pub delays: bool,
    /// Number of the first sender of each group except the first group, if waiting times are counted.
    pub groups: Arc<[u32]>,
    /// Time spans in which every arriving data packet is recorded, in order and without overlap.
    pub packets: Vec<Range<Time>>,
}

impl ProbePlan {
    /// Whether single packets must be looked at.
    pub fn traces_packets(&self) -> bool {
        self.delays || !self.packets.is_empty()
    }
}

/// A flow that is ready to start. Boxed, so that the engine's lists do not copy it. The party is separate, because the
/// window engine drops it once the flow has started.
#[derive(Debug)]
pub enum FlowPlan<C = Control> {
    Tcp(Box<Party>, Box<TcpPlan<C>>),
    Datagrams(Box<SourcePlan>),
}

/// A TCP sender and its receiver.
#[derive(Clone, Debug)]
pub struct TcpPlan<C = Control> {
    pub sender: Sender<C>,
    pub receiver: Receiver,
    /// The application, unless the flow has all its data, or data without end, at its start.
    pub application: Option<Box<Application<C>>>,
}

/// Source of data that is not available at the flow's start.
#[derive(Clone, Debug)]
pub enum Application<C> {
    /// The flow is a place of a session: the sender with which each transfer begins.
    Session(Arc<Sender<C>>),
    /// The application writes at intervals: the data written so far.
    Writes(FlowWrites),
}

/// A source of datagrams. If there are answers, they travel as data over links appended to the path.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    pub party: Party,
    pub source: AnySource,
    /// The number of its first packet.
    pub first: u64,
    /// Packet sizes, if they differ.
    pub sizes: Option<PacketSizes>,
    /// Mean time between packets at the highest rate, in picoseconds.
    pub mean_gap: f64,
    /// Delays, if packets are sent at equal gaps.
    pub delays: Option<Box<DatagramDelays>>,
}

impl SourcePlan {
    /// Wire bytes of packet `number`.
    pub fn size_of(&self, number: PacketNumber) -> u32 {
        self.sizes.map_or(self.party.packet, |sizes| sizes.of(number))
    }
}

/// Properties that TCP flows and sources of datagrams share.
#[derive(Clone, Debug)]
pub struct Party {
    /// Number of the flow in the scenario.
    pub flow: u32,
    pub start: Time,
    pub stop: Time,
    /// Links of the data, in order.
    pub path: Vec<u32>,
    /// Links of the ACKs, in order; empty if no link can delay them.
    pub return_path: Vec<u32>,
    /// Propagation between the sender's own link and the first link.
    pub first_link_delay: Span,
    /// Propagation between the last link of the return path, or the receiver, and the sender; zero if no packets return.
    pub return_delay: Span,
    /// Service time of a data packet on the sender's own link; zero for an infinite rate.
    pub access: Span,
    /// Number of packets that may wait at the sender's own link.
    pub access_buffer: Option<u32>,
    /// Boxed, because few flows have jitter.
    pub jitter: Option<Box<SendJitter>>,
    /// Size of a data packet on the wire; the mean if sizes are drawn.
    pub packet: u32,
    /// Size of an ACK.
    pub ack: u32,
    /// Whether a link of its paths reorders packets.
    pub reorders: bool,
    pub traced: bool,
}

impl<C> TcpPlan<C> {
    /// Whether the flow is a place of a session: it carries one transfer after the other.
    pub fn is_place(&self) -> bool {
        matches!(self.application.as_deref(), Some(Application::Session(_)))
    }

    /// Data written by the application, if it writes at intervals.
    #[inline]
    pub fn writes(&self) -> Option<&FlowWrites> {
        match self.application.as_deref()? {
            Application::Session(_) => None,
            Application::Writes(writes) => Some(writes),
        }
    }

    /// Takes the data written by the application, at the end of the run.
    pub fn take_writes(&mut self) -> Option<FlowWrites> {
        match *self.application.take()? {
            Application::Session(_) => None,
            Application::Writes(writes) => Some(writes),
        }
    }
}

impl<C: FlowControl> TcpPlan<C> {
    /// Starts the flow, or lets its application act. Returns when the application acts next, as far as is known.
    pub fn start(&mut self, now: Time, wire: &mut impl Wire) -> Time {
        if let Some(Application::Writes(writes)) = self.application.as_deref_mut() {
            // The same time may have been scheduled twice; then the action is already done.
            if writes.due() != now {
                return Time::NEVER;
            }
            writes.write(now, &mut self.sender, &mut self.receiver, wire);
            return writes.due();
        }
        self.sender.start(now, wire);
        Time::NEVER
    }

    /// Handles an ACK. If the application waited for this ACK, returns the time of the application's next action.
    pub fn acknowledged(&mut self, now: Time) -> Option<Time> {
        let Application::Writes(writes) = self.application.as_deref_mut()? else { return None };
        writes.acknowledged(now, &self.sender).then(|| writes.due())
    }

    /// Notes a delivery at `at`, which may complete writes of the application.
    #[cold]
    pub fn delivered(&mut self, at: Time) {
        if let Some(Application::Writes(writes)) = self.application.as_deref_mut() {
            writes.delivered(at, &mut self.receiver);
        }
    }

    /// Opens another transfer of a session; segment numbers continue.
    pub fn open(&mut self, segments: u64) {
        if let Some(Application::Session(template)) = self.application.as_deref() {
            let (first, end) = self.sender.open(template, segments);
            self.receiver.announce(first, end);
        }
    }
}

impl<C: FlowControl> FlowPlan<C> {
    /// Whether its data packets carry headers for routers.
    pub fn has_headers(&self) -> bool {
        matches!(self, Self::Tcp(_, plan) if plan.sender.control().needs().headers)
    }

    /// Fault of the flow's control, if it had one.
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Tcp(_, plan) => plan.sender.control().fault(),
            Self::Datagrams(_) => None,
        }
    }
}

impl<C> FlowPlan<C> {
    pub fn party(&self) -> &Party {
        match self {
            Self::Tcp(party, _) => party,
            Self::Datagrams(plan) => &plan.party,
        }
    }

    pub fn party_mut(&mut self) -> &mut Party {
        match self {
            Self::Tcp(party, _) => party,
            Self::Datagrams(plan) => &mut plan.party,
        }
    }

    /// Whether the flow carries one transfer after the other.
    pub fn is_place(&self) -> bool {
        matches!(self, Self::Tcp(_, plan) if plan.is_place())
    }

    /// Data written by the application, if it writes at intervals.
    pub fn into_writes(self) -> Option<FlowWrites> {
        match self {
            Self::Tcp(_, mut plan) => plan.take_writes(),
            Self::Datagrams(_) => None,
        }
    }

    /// Records samples of the delays of its datagrams too.
    pub fn sampled(mut self, marks: &Marks) -> Self {
        if let Self::Datagrams(plan) = &mut self {
            plan.delays = plan.delays.take().map(|delays| Box::new(delays.sampled(marks)));
        }
        self
    }

    /// Notes the delay of datagram `number`, which arrives at `at`, if delays are measured.
    pub fn time_datagram(&mut self, at: Time, number: PacketNumber, marks: &Marks) {
        if let Self::Datagrams(plan) = self
            && let Some(delays) = &mut plan.delays
        {
            delays.on_delivery(at, number, marks);
        }
    }

    /// Takes the delays of the datagrams, if they are measured.
    pub fn take_delays(&mut self) -> Option<Box<DatagramDelays>> {
        match self {
            Self::Tcp(..) => None,
            Self::Datagrams(plan) => plan.delays.take(),
        }
    }

    /// Sizes of its data packets, if they differ.
    pub fn sizes(&self) -> Option<PacketSizes> {
        match self {
            Self::Tcp(..) => None,
            Self::Datagrams(plan) => plan.sizes,
        }
    }

    /// Whether ACKs come back.
    pub fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp(..))
    }
}

/// Transmission times of a flow's packets on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxTimes {
    pub data: Span,
    pub ack: Span,
}

impl<C, Q> Network<C, Q> {
    /// For every link, the first of the links that share its memory; the link itself if it shares none.
    pub fn first_in_pool(&self) -> Vec<usize> {
        let mut first: Vec<usize> = (0..self.links.len()).collect();
        for pool in &self.pools {
            for &(link, _) in &pool.links {
                first[link as usize] = pool.links[0].0 as usize;
            }
        }
        first
    }

    /// Transmission times of flow `flow`'s packets on link `link`.
    pub fn tx_times(&self, link: u32, flow: u32) -> TxTimes {
        let party = self.flows[flow as usize].party();
        self.times_of(link, party.packet, party.ack)
    }

    /// The shortest possible transmission times of flow `flow`'s packets on link `link`; a drawn size is at least one
    /// byte.
    pub fn shortest_tx_times(&self, link: u32, flow: u32) -> TxTimes {
        let plan = &self.flows[flow as usize];
        let (data, ack) = (plan.sizes().map_or(plan.party().packet, |_| 1), plan.party().ack);
        match &self.links[link as usize].schedule {
            Some(schedule) => {
                let [data, ack] = [data, ack].map(|size| schedule.shortest(Bytes(u64::from(size))));
                TxTimes { data, ack }
            }
            None => self.times_of(link, data, ack),
        }
    }

    fn times_of(&self, link: u32, data: u32, ack: u32) -> TxTimes {
        let rate = self.links[link as usize].rate;
        let time = |size: u32| rate.serialize(Bytes(u64::from(size)));
        TxTimes { data: time(data), ack: time(ack) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_the_multiples_of_their_interval_before_the_end() {
        let marks = Marks { warmup: Time(5), end: Time(30), every: Some(Span(10)) };
        assert_eq!([0, 1, 10, 11].map(|at| marks.sample_from(Time(at))), [0, 10, 10, 20].map(Time));
        assert_eq!([9, 10].map(|at| marks.sample_after(Time(at))), [10, 20].map(Time));
        // A sample at the end is not taken.
        assert_eq!(marks.samples(), [0, 10, 20].map(Time));
        let none = Marks { every: None, ..marks };
        assert_eq!((none.sample_from(Time(3)), none.samples()), (Time::NEVER, Vec::new()));
    }
}

//! A scenario made concrete for one replication: links, flows and sessions, each with what was drawn for it, ready to start.
//!
//! Both engines are given this, and nothing else; `build` makes it.

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

/// The congestion control of a TCP flow, as the engines run it: on whichever thread. Nothing in this crate asks of it more.
pub trait FlowControl: CongestionControl + Send + Sync {}

impl<C: CongestionControl + Send + Sync> FlowControl for C {}

/// Discipline of a link that is not a built-in one, as the engines run it.
pub trait LinkQueue: QueueDiscipline + Send {}

impl<Q: QueueDiscipline + Send> LinkQueue for Q {}

/// Everything an engine needs. Flows run under the control `C`; links may have a discipline `Q` in the place of a built-in one.
/// Both are those of the scenario where nothing else is said.
#[derive(Debug)]
pub struct Network<C = Control, Q = NoOwn> {
    /// All links; those of an array are consecutive.
    pub links: Vec<LinkPlan<Q>>,
    pub pools: Vec<PoolPlan>,
    /// Links by table of the scenario file, for the results.
    pub tables: Vec<u32>,
    /// The flows of the scenario, groups in its order.
    pub identities: Vec<Identity>,
    /// Size of each group's data packets on the wire.
    pub packets: Vec<u32>,
    /// The senders: one for each flow of the scenario, and for a session one for each of its places.
    pub flows: Vec<FlowPlan<C>>,
    pub sessions: Vec<SessionPlan>,
    pub marks: Marks,
}

/// Memory that links share.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    pub memory: SharedMemory,
    /// Links that draw on the pool, in order, each with its alpha.
    pub links: Vec<(u32, f64)>,
}

/// A link of the scenario, with its discipline and its random streams ready.
#[derive(Debug)]
pub struct LinkPlan<Q = NoOwn> {
    /// Rate; for a schedule, its mean.
    pub rate: Rate,
    /// Schedule, if the rate is not constant.
    pub schedule: Option<Schedule>,
    /// Propagation delay; the smallest where it changes or is drawn for each packet.
    pub delay: Span,
    /// The mean of that over time.
    pub mean_delay: Span,
    pub queue: Either<AnyQueue, Q>,
    /// Its buffer.
    pub limit: Limit,
    /// Drops before the queue.
    pub ingress: Option<Ingress>,
    /// Hand-over behind the server, if packets do not leave at once; only with a schedule.
    pub handover: Handover,
    pub probe: ProbePlan,
}

impl<Q> LinkPlan<Q> {
    /// Capacity in the measured period, in bit/s; any number if `monitor` stops the run.
    pub fn capacity_bps(&self, marks: &Marks, monitor: &RunMonitor) -> f64 {
        match &self.schedule {
            Some(schedule) => {
                schedule.offered_bits(marks.warmup, marks.end, monitor) / (marks.end - marks.warmup).as_secs()
            }
            None => self.rate.0 as f64,
        }
    }
}

/// The random time by which each packet enters the sender's own link later.
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

/// Measurements at a link beside its totals.
#[derive(Clone, Debug, Default)]
pub struct ProbePlan {
    /// The number of the first segment of every flow.
    pub first: u64,
    /// Drops that follow each other within less than this are one loss event.
    pub gap: Span,
    /// Whether every waiting time is counted.
    pub delays: bool,
    /// The first sender of each group but the first, if waiting times are counted.
    pub groups: Arc<[u32]>,
    /// Time spans in which every arriving data packet is recorded: in order, without overlap.
    pub packets: Vec<Range<Time>>,
}

impl ProbePlan {
    /// Whether single packets must be looked at.
    pub fn traces_packets(&self) -> bool {
        self.delays || !self.packets.is_empty()
    }
}

/// A flow, ready to start. Boxed: with many flows the engine's own lists should not copy them; and apart, as the window engine forgets
/// whose it is once it has started.
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
    /// Unless it has all of its data, or data without an end, when it starts.
    pub application: Option<Box<Application<C>>>,
}

/// Source of data that a flow does not have at its start.
#[derive(Clone, Debug)]
pub enum Application<C> {
    /// It is a place of a session: the sender with which each transfer begins.
    Session(Arc<Sender<C>>),
    /// Data that the application has written so far; the application writes at intervals.
    Writes(FlowWrites),
}

/// A source of datagrams. What comes back does so as data, at the end of its path.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    pub party: Party,
    pub source: AnySource,
    /// The number of its first packet.
    pub first: u64,
    /// Packet sizes, if they differ.
    pub sizes: Option<PacketSizes>,
    /// Mean time from one packet to the next while it sends most, in picoseconds.
    pub mean_gap: f64,
    /// Their delays, if they go at equal gaps.
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
    /// Links of the ACKs, in order; empty for none that could delay them.
    pub return_path: Vec<u32>,
    /// Propagation between the sender's own link and the first link.
    pub first_link_delay: Span,
    /// Propagation between the last link of the return path, or the receiver, and the sender; zero where nothing comes back.
    pub return_delay: Span,
    /// Time a data packet takes on the sender's own link; zero for an infinite rate.
    pub access: Span,
    /// Packets that may wait at the sender's own link.
    pub access_buffer: Option<u32>,
    /// Boxed, as few flows have any.
    pub jitter: Option<Box<SendJitter>>,
    /// Size of a data packet on the wire; their mean, where sizes are drawn.
    pub packet: u32,
    /// Size of an ACK.
    pub ack: u32,
    /// Whether a link of its paths reorders packets.
    pub reorders: bool,
    pub traced: bool,
}

impl<C> TcpPlan<C> {
    /// Whether it carries one transfer of a session after the other.
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

    /// Takes the writes of the application, when nothing more is written.
    pub fn take_writes(&mut self) -> Option<FlowWrites> {
        match *self.application.take()? {
            Application::Session(_) => None,
            Application::Writes(writes) => Some(writes),
        }
    }
}

impl<C: FlowControl> TcpPlan<C> {
    /// Starts the flow, or does what is due in its application. Returns when the application is next due, as far as is known.
    pub fn start(&mut self, now: Time, wire: &mut impl Wire) -> Time {
        if let Some(Application::Writes(writes)) = self.application.as_deref_mut() {
            // It may have been said twice when, and be done.
            if writes.due() != now {
                return Time::NEVER;
            }
            writes.write(now, &mut self.sender, &mut self.receiver, wire);
            return writes.due();
        }
        self.sender.start(now, wire);
        Time::NEVER
    }

    /// An ACK has arrived. Returns when an application that waited for it is to do something, if there is one.
    pub fn acknowledged(&mut self, now: Time) -> Option<Time> {
        let Application::Writes(writes) = self.application.as_deref_mut()? else { return None };
        writes.acknowledged(now, &self.sender).then(|| writes.due())
    }

    /// Notes a delivery at `at`: writes of the application may be complete with it.
    #[cold]
    pub fn delivered(&mut self, at: Time) {
        if let Some(Application::Writes(writes)) = self.application.as_deref_mut() {
            writes.delivered(at, &mut self.receiver);
        }
    }

    /// Another transfer of a session: its segments are numbered on.
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

    /// Whether it carries one transfer after the other.
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

    /// Samples the delays of its datagrams, which the plan itself measures.
    pub fn sampled(mut self, marks: &Marks) -> Self {
        if let Self::Datagrams(plan) = &mut self {
            plan.delays = plan.delays.take().map(|delays| Box::new(delays.sampled(marks)));
        }
        self
    }

    /// Datagram `number` arrives at `at`: its delay is noted, if they are measured.
    pub fn time_datagram(&mut self, at: Time, number: PacketNumber, marks: &Marks) {
        if let Self::Datagrams(plan) = self
            && let Some(delays) = &mut plan.delays
        {
            delays.on_delivery(at, number, marks);
        }
    }

    /// The delays of its datagrams, if they are measured.
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
    /// For every link the first of those it shares memory with, itself if with none.
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

    /// The least that they take: a drawn size is a byte at least.
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
    fn samples_are_multiples_of_their_distance_before_the_end() {
        let marks = Marks { warmup: Time(5), end: Time(30), every: Some(Span(10)) };
        assert_eq!([0, 1, 10, 11].map(|at| marks.sample_from(Time(at))), [0, 10, 10, 20].map(Time));
        assert_eq!([9, 10].map(|at| marks.sample_after(Time(at))), [10, 20].map(Time));
        // What lies at the end is not before it.
        assert_eq!(marks.samples(), [0, 10, 20].map(Time));
        let none = Marks { every: None, ..marks };
        assert_eq!((none.sample_from(Time(3)), none.samples()), (Time::NEVER, Vec::new()));
    }
}

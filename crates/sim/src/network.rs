//! A scenario made concrete for one replication: every flow with its own round-trip time, start and random streams.
//!
//! Both engines are built from this, and from nothing else. Draws come from streams named by (seed, replication, flow),
//! so another flow in the file does not move them.

use crate::BuildError;
use crate::draw::{self, Draws, Expanded};
use base::{Bytes, Flags, Rate, Span, Stream, Time};
use law::{CongestionControl, Control};
use queue::{AnyQueue, Limit};
use scenario::{Group, HEADER, Loss, Scenario};
use traffic::{AnySource, Offer};
use transport::{Options, Receiver, Sender};

/// Everything an engine needs.
#[derive(Debug)]
pub struct Network {
    /// Those of an array one after the other.
    pub links: Vec<LinkPlan>,
    /// Links by table of the scenario file, for the results.
    pub tables: Vec<u32>,
    pub flows: Vec<FlowPlan>,
    pub marks: Marks,
}

/// A link as the scenario says it, with its discipline and its random streams ready.
#[derive(Debug)]
pub struct LinkPlan {
    pub rate: Rate,
    pub delay: Span,
    pub queue: AnyQueue,
    /// Its buffer.
    pub limit: Limit,
    pub loss: Option<(Loss, Stream)>,
}

/// A flow, ready to start. Boxed: with many flows the engine's own lists should not copy them.
#[derive(Debug)]
pub enum FlowPlan {
    Tcp(Box<TcpPlan>),
    Datagrams(Box<SourcePlan>),
}

/// A TCP sender and its receiver.
#[derive(Debug)]
pub struct TcpPlan {
    pub party: Party,
    pub data_end: u32,
    pub sender: Sender<Control>,
    pub receiver: Receiver,
    /// Flags of its data: whether it can be marked.
    pub ect: Flags,
    /// Whether its data packets carry headers for routers.
    pub headers: bool,
}

/// A source of datagrams. Nothing comes back.
#[derive(Debug)]
pub struct SourcePlan {
    pub party: Party,
    pub source: AnySource,
    /// Mean time from one packet to the next, in picoseconds.
    pub mean_gap: f64,
}

/// What a flow is whatever it carries.
#[derive(Debug)]
pub struct Party {
    pub group: u32,
    pub index: u32,
    pub base_rtt: Span,
    pub start: Time,
    pub stop: Time,
    /// Links of the data, in order.
    pub path: Vec<u32>,
    /// Links of the ACKs, in order; empty for none that could delay them.
    pub back_path: Vec<u32>,
    /// Propagation between the sender's own link and the first link.
    pub lead: Span,
    /// Propagation between the last link of the way back, or the receiver, and the sender; zero where nothing comes back.
    pub back: Span,
    /// Time a data packet takes on the sender's own link; zero for an infinite rate.
    pub access: Span,
    /// Packets that may wait at the sender's own link.
    pub access_buffer: Option<u32>,
    pub jitter: Option<(Span, Stream)>,
    /// Size of a data packet on the wire.
    pub packet: u32,
    pub traced: bool,
}

impl FlowPlan {
    pub fn party(&self) -> &Party {
        match self {
            Self::Tcp(plan) => &plan.party,
            Self::Datagrams(plan) => &plan.party,
        }
    }

    pub fn party_mut(&mut self) -> &mut Party {
        match self {
            Self::Tcp(plan) => &mut plan.party,
            Self::Datagrams(plan) => &mut plan.party,
        }
    }

    /// Whether its data packets carry headers for routers.
    pub fn has_headers(&self) -> bool {
        matches!(self, Self::Tcp(plan) if plan.headers)
    }

    /// Whether ACKs come back.
    pub fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }
}

/// The instants at which a run looks at itself, before anything else happens at them.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub warmup: Time,
    pub end: Time,
    pub every: Option<Span>,
}

impl Marks {
    /// The first sample at or after `time`, if sampling.
    pub fn sample_from(&self, time: Time) -> Time {
        match self.every {
            Some(every) => Time(time.0.div_ceil(every.0) * every.0),
            None => Time::NEVER,
        }
    }

    /// All samples before the end.
    pub fn samples(&self) -> Vec<Time> {
        match self.every {
            Some(every) => (0..self.end.0.div_ceil(every.0)).map(|i| Time(i * every.0)).collect(),
            None => Vec::new(),
        }
    }
}

/// Bit that makes room for flags beside the flow number in a record.
pub const MAX_FLOWS: u64 = (1 << 24) - 1;

impl Network {
    /// Draws what is random and lays out the rest.
    pub fn build(scenario: &Scenario, replication: u32) -> Result<Self, BuildError> {
        let total: u64 = scenario.groups.iter().map(|g| u64::from(g.count)).sum();
        if total > MAX_FLOWS {
            return Err(BuildError::TooManyFlows(total));
        }
        let expanded = Expanded::new(&scenario.links);
        let links = draw::links(scenario, replication);
        let propagation = |path: &[u32]| path.iter().fold(Span::ZERO, |sum, &l| sum + links[l as usize].delay);
        let mut flows = Vec::with_capacity(total as usize);
        for (g, group) in scenario.groups.iter().enumerate() {
            check_sequence_numbers(scenario, g, group)?;
            let draws = Draws::new(group);
            for i in 0..group.count {
                // A flow is named by group and position, so that another group does not move its draws.
                let name = format!("flow/{}", group.name);
                let stream = |purpose: &str| Stream::new(scenario.seed, replication, (&name, u64::from(i)), purpose);
                let (path, back_path) = (expanded.path(&group.path, i), expanded.path(&group.back, i));
                let round = draws.round(i, (propagation(&path), propagation(&back_path)), stream);
                let (start, stop) = draws.life(i, stream);
                let jitter = group.tcp.send_jitter;
                let party = Party {
                    group: g as u32,
                    index: i,
                    base_rtt: round.base_rtt,
                    start,
                    stop,
                    path,
                    back_path,
                    lead: round.lead,
                    back: round.back,
                    access: draws.access(i, stream),
                    access_buffer: group.access.buffer,
                    jitter: (jitter > Span::ZERO).then(|| (jitter, stream("jitter"))),
                    packet: group.packet.0 as u32,
                    traced: scenario.record.trace.contains(&(g, i)),
                };
                let offer = group.traffic.offer(group.packet, group.mss(), || stream("traffic"));
                flows.push(match offer.expect("checked when the scenario was read") {
                    Offer::Segments(segments) => tcp(group, party, segments.unwrap_or(u32::MAX - 1)),
                    Offer::Datagrams(source) => {
                        let mean_gap = 1e12 / packets_per_second(group);
                        FlowPlan::Datagrams(Box::new(SourcePlan { party, source, mean_gap }))
                    }
                });
            }
        }
        let marks = Marks {
            warmup: Time::ZERO + scenario.warmup,
            end: Time::ZERO + scenario.duration,
            every: scenario.record.every,
        };
        Ok(Self { links, tables: expanded.counts(), flows, marks })
    }

    /// Time a packet of flow `flow` takes on link `link`: data, and acknowledgement.
    pub fn serialize(&self, link: u32, flow: u32) -> [u64; 2] {
        let rate = self.links[link as usize].rate;
        let data = self.flows[flow as usize].party().packet;
        [data, HEADER].map(|size| rate.serialize(Bytes(u64::from(size))).0)
    }
}

fn tcp(group: &Group, party: Party, data_end: u32) -> FlowPlan {
    let tcp: &Options = &group.tcp;
    let ssthresh = tcp.initial_ssthresh.unwrap_or(f64::INFINITY);
    let control = group.law.build(&group.slow_start, f64::from(tcp.initial_window), ssthresh);
    let control = control.expect("checked when the scenario was read");
    let needs = control.needs();
    let blocks = match (group.recovery.selective(), group.back.is_empty()) {
        (true, true) => 1,
        (true, false) => 3,
        _ => 0,
    };
    let receiver = Receiver::new(tcp.delayed_ack, tcp.delayed_ack_timeout, blocks);
    FlowPlan::Tcp(Box::new(TcpPlan {
        party,
        data_end,
        sender: Sender::new(control, group.recovery, tcp, data_end),
        receiver: if needs.marks { receiver.echoing_every_mark() } else { receiver },
        ect: tcp.ecn.flags(needs.marks),
        headers: needs.headers,
    }))
}

/// Packets that a flow of `group` sends in a second: datagrams in the mean, TCP at most.
fn packets_per_second(group: &Group) -> f64 {
    group.traffic.rate().map_or(f64::INFINITY, |rate| rate.bytes_in(Span::secs(1)) / group.packet.0 as f64)
}

/// Sequence numbers have 32 bits: TCP sends what its narrowest link passes, datagrams what their source says.
fn check_sequence_numbers(scenario: &Scenario, index: usize, group: &Group) -> Result<(), BuildError> {
    let narrowest = group.path.iter().map(|hop| scenario.links[hop.link].fastest().0).min().unwrap_or(0);
    let passed = Rate(narrowest).bytes_in(scenario.duration) / group.packet.0 as f64;
    // One in a hundred is 600 standard deviations of a Poisson count.
    let offered = 1.01 * packets_per_second(group) * scenario.duration.as_secs();
    let packets = if group.traffic.is_tcp() { passed } else { offered };
    if packets >= f64::from(u32::MAX - 1) {
        return Err(BuildError::TooManyPackets { group: group.name.clone(), index, packets: packets as u64 });
    }
    Ok(())
}

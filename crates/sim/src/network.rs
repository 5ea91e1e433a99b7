//! A scenario made concrete for one replication: every flow with its own round-trip time, start and random streams.
//!
//! Both engines are built from this, and from nothing else. Draws come from streams named by (seed, replication, flow),
//! so another flow in the file does not move them.

use crate::BuildError;
use crate::draw::{self, Draws, Expanded};
use crate::probe::ProbePlan;
use crate::session::Desk;
use base::{Bytes, Flags, Rate, Span, Stream, Time};
use law::{CongestionControl, Control};
use queue::{AnyQueue, Limit};
use scenario::{Group, HEADER, Loss, Scenario};
use std::sync::Arc;
use traffic::{AnySource, Offer, PacketSizes, Sort};
use transport::{Options, Receiver, Sender};

/// Everything an engine needs.
#[derive(Debug)]
pub struct Network {
    /// Those of an array one after the other.
    pub links: Vec<LinkPlan>,
    /// Links by table of the scenario file, for the results.
    pub tables: Vec<u32>,
    /// The flows of the scenario, groups in its order.
    pub identities: Vec<Identity>,
    /// Whoever sends: one for each of them, but for sessions, of which each place is one.
    pub flows: Vec<FlowPlan>,
    pub sessions: Vec<SessionPlan>,
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
    pub probe: ProbePlan,
}

/// Who a flow of the scenario is.
#[derive(Clone, Debug)]
pub struct Identity {
    pub group: u32,
    pub index: u32,
    pub base_rtt: Span,
    pub start: Time,
    /// Size of a data packet on the wire.
    pub packet: u32,
    /// What a packet takes to its receiver if it is alone, and what each that follows at once takes longer.
    pub alone: Span,
    pub slowest: Span,
    /// Whether it is a session.
    pub session: bool,
    /// Its segments, if it is one transfer with an end.
    pub finite: Option<u32>,
}

/// A session, ready to start: its flow, and the senders that are its places.
#[derive(Debug)]
pub struct SessionPlan {
    pub flow: u32,
    pub first: u32,
    pub places: u32,
    pub desk: Desk,
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
    /// The sender as each transfer of a session finds it.
    pub fresh: Option<Arc<Sender<Control>>>,
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
    /// How large its packets are, if not all alike.
    pub sizes: Option<PacketSizes>,
    /// Mean time from one packet to the next while it sends most, in picoseconds.
    pub mean_gap: f64,
}

impl SourcePlan {
    /// Wire bytes of packet `seq`.
    pub fn size_of(&self, seq: u32) -> u32 {
        self.sizes.map_or(self.party.packet, |sizes| sizes.of(seq))
    }
}

/// What a flow is whatever it carries.
#[derive(Debug)]
pub struct Party {
    /// Which flow of the scenario.
    pub flow: u32,
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
    /// Size of a data packet on the wire; their mean, where sizes are drawn.
    pub packet: u32,
    pub traced: bool,
}

impl TcpPlan {
    /// Another transfer of a session: its segments are numbered on.
    pub fn open(&mut self, segments: u32) {
        if let Some(fresh) = &self.fresh {
            let (first, end) = self.sender.open(fresh, segments);
            self.receiver.announce(first, end);
            self.data_end = end;
        }
    }
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

    /// Whether it carries one transfer after the other.
    pub fn is_place(&self) -> bool {
        matches!(self, Self::Tcp(plan) if plan.fresh.is_some())
    }

    /// How large its data packets are, if not all alike.
    pub fn sizes(&self) -> Option<PacketSizes> {
        match self {
            Self::Tcp(_) => None,
            Self::Datagrams(plan) => plan.sizes,
        }
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
        let total: u64 = scenario.groups.iter().map(|g| u64::from(g.count) * u64::from(g.traffic.places())).sum();
        if total > MAX_FLOWS {
            return Err(BuildError::TooManyFlows(total));
        }
        let expanded = Expanded::new(&scenario.links);
        let mut network = Self {
            links: draw::links(scenario, replication),
            tables: expanded.counts(),
            identities: Vec::with_capacity(scenario.flows() as usize),
            flows: Vec::with_capacity(total as usize),
            sessions: Vec::new(),
            marks: Marks {
                warmup: Time::ZERO + scenario.warmup,
                end: Time::ZERO + scenario.duration,
                every: scenario.record.every,
            },
        };
        for (g, group) in scenario.groups.iter().enumerate() {
            check_sequence_numbers(scenario, g, group)?;
            let draws = Draws::new(group);
            for i in 0..group.count {
                network.add((scenario, &expanded, &draws), replication, g, i);
            }
        }
        Ok(network)
    }

    /// Flow `i` of group `g`.
    fn add(
        &mut self,
        (scenario, expanded, draws): (&Scenario, &Expanded, &Draws<'_>),
        replication: u32,
        g: usize,
        i: u32,
    ) {
        let group = &scenario.groups[g];
        // A flow is named by group and position, so that another group does not move its draws.
        let name = format!("flow/{}", group.name);
        let stream = |purpose: &str| Stream::new(scenario.seed, replication, (&name, u64::from(i)), purpose);
        let (path, back_path) = (expanded.path(&group.path, i), expanded.path(&group.back, i));
        let links = &self.links;
        let propagation = |path: &[u32]| path.iter().fold(Span::ZERO, |sum, &l| sum + links[l as usize].delay);
        let there = propagation(&path);
        let round = draws.round(i, (there, propagation(&back_path)), stream);
        let (start, stop) = draws.life(i, stream);
        let access = draws.access(i, stream);
        let hops = path.iter().map(|&l| links[l as usize].rate.serialize(group.packet));
        let slowest = hops.clone().fold(access, Span::max);
        let alone = hops.fold(round.lead + access + there, |sum, hop| sum + hop);
        let jitter = group.tcp.send_jitter;
        // The first place draws as a flow without places does.
        let purpose = |place: u32| if place == 0 { "jitter".to_owned() } else { format!("jitter/{place}") };
        let flow = self.identities.len() as u32;
        let party = |place: u32, start: Time, stop: Time| Party {
            flow,
            start,
            stop,
            path: path.clone(),
            back_path: back_path.clone(),
            lead: round.lead,
            back: round.back,
            access,
            access_buffer: group.access.buffer.map(|packets| packets.0),
            jitter: (jitter > Span::ZERO).then(|| (jitter, stream(&purpose(place)))),
            packet: group.packet.0 as u32,
            traced: place == 0 && scenario.record.trace.contains(&(g, i)),
        };
        let offer = group.traffic.offer(&group.site(scenario, i, start), || stream("traffic"));
        let mut finite = None;
        match offer.expect("checked when the scenario was read") {
            Offer::Segments(segments) => {
                finite = segments;
                self.flows.push(tcp(group, party(0, start, stop), segments.unwrap_or(u32::MAX - 1)));
            }
            Offer::Session(session) => {
                let (first, places) = (self.flows.len() as u32, group.traffic.places());
                self.sessions.push(SessionPlan { flow, first, places, desk: Desk::new(session, places, stop) });
                let fresh = Arc::new(new_sender(group, 0));
                for place in 0..places {
                    // The desk says when it starts, and the session when it stops.
                    let mut plan = tcp(group, party(place, Time::NEVER, Time::NEVER), 0);
                    if let FlowPlan::Tcp(plan) = &mut plan {
                        plan.fresh = Some(Arc::clone(&fresh));
                    }
                    self.flows.push(plan);
                }
            }
            Offer::Datagrams(source) => {
                let mean_gap = 1e12 / packets_per_second(group);
                let sizes = group.traffic.size().sizes(group.packet, || stream("size").next_u64());
                let plan = SourcePlan { party: party(0, start, stop), source, sizes, mean_gap };
                self.flows.push(FlowPlan::Datagrams(Box::new(plan)));
            }
        }
        let session = group.traffic.sort() == Sort::Session;
        let (group, packet) = (g as u32, group.packet.0 as u32);
        let base_rtt = round.base_rtt;
        self.identities.push(Identity { group, index: i, base_rtt, start, packet, alone, slowest, session, finite });
    }

    /// Time a packet of flow `flow` takes on link `link`: data, and acknowledgement.
    pub fn serialize(&self, link: u32, flow: u32) -> [u64; 2] {
        self.time_of(link, [self.flows[flow as usize].party().packet, HEADER])
    }

    /// The least that they take: a drawn size is a byte at least.
    pub fn shortest(&self, link: u32, flow: u32) -> [u64; 2] {
        let plan = &self.flows[flow as usize];
        self.time_of(link, [plan.sizes().map_or(plan.party().packet, |_| 1), HEADER])
    }

    fn time_of(&self, link: u32, sizes: [u32; 2]) -> [u64; 2] {
        let rate = self.links[link as usize].rate;
        sizes.map(|size| rate.serialize(Bytes(u64::from(size))).0)
    }
}

fn new_sender(group: &Group, data_end: u32) -> Sender<Control> {
    let tcp: &Options = &group.tcp;
    let ssthresh = tcp.initial_ssthresh.unwrap_or(f64::INFINITY);
    let control = group.control.law.build(&group.control.slow_start, f64::from(tcp.initial_window), ssthresh);
    Sender::new(control.expect("checked when the scenario was read"), group.recovery, tcp, data_end)
}

fn tcp(group: &Group, party: Party, data_end: u32) -> FlowPlan {
    let tcp: &Options = &group.tcp;
    let sender = new_sender(group, data_end);
    let needs = sender.control().needs();
    let blocks = match (group.recovery.selective(), group.back.is_empty()) {
        (true, true) => 1,
        (true, false) => 3,
        _ => 0,
    };
    let receiver = Receiver::new(tcp.delayed_ack, tcp.delayed_ack_timeout, blocks).until(data_end);
    FlowPlan::Tcp(Box::new(TcpPlan {
        party,
        data_end,
        fresh: None,
        sender,
        receiver: if needs.marks { receiver.echoing_every_mark() } else { receiver },
        ect: tcp.ecn.flags(needs.marks),
        headers: needs.headers,
    }))
}

/// Packets that a flow of `group` sends in a second: datagrams in the mean while they send most, TCP at most.
fn packets_per_second(group: &Group) -> f64 {
    group.traffic.peak().map_or(f64::INFINITY, |rate| rate.bytes_in(Span::secs(1)) / group.packet.0 as f64)
}

/// Sequence numbers have 32 bits: TCP sends what its narrowest link passes, datagrams what their source says.
fn check_sequence_numbers(scenario: &Scenario, index: usize, group: &Group) -> Result<(), BuildError> {
    let narrowest = group.path.iter().map(|hop| scenario.links[hop.link].rate.max().0).min().unwrap_or(0);
    // Each transfer of a session leaves one number out, and may be of one segment.
    let numbers = if group.traffic.sort() == Sort::Session { 2.0 } else { 1.0 };
    let passed = numbers * Rate(narrowest).bytes_in(scenario.duration) / group.packet.0 as f64;
    // One in a hundred is 600 standard deviations of a Poisson count.
    let offered = 1.01 * packets_per_second(group) * scenario.duration.as_secs();
    let packets = if group.traffic.is_tcp() { passed } else { offered };
    if packets >= f64::from(u32::MAX - 1) {
        return Err(BuildError::TooManyPackets { group: group.name.clone(), index, packets: packets as u64 });
    }
    Ok(())
}

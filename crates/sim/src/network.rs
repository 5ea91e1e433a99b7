//! A scenario made concrete for one replication: every flow with its own round-trip time, start and random streams.
//!
//! Both engines are built from this, and from nothing else. Draws come from streams named by (seed, replication, flow),
//! so another flow in the file does not move them.

use crate::BuildError;
use base::{Bytes, Flags, Rate, Span, Stream, Time};
use law::{CongestionControl, Control};
use queue::{AnyQueue, Limit};
use scenario::{Group, HEADER, Loss, Rtt, Scenario};
use traffic::{AnySource, Offer, Sizes};
use transport::{Options, Receiver, Sender};

/// Everything an engine needs.
#[derive(Debug)]
pub struct Network {
    pub links: Vec<LinkPlan>,
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
    /// How large its packets are, if not all alike.
    pub sizes: Option<Sizes>,
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
    /// Size of a data packet on the wire; their mean, where sizes are drawn.
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

    /// How large its data packets are, if not all alike.
    pub fn sizes(&self) -> Option<Sizes> {
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
        let total: u64 = scenario.groups.iter().map(|g| u64::from(g.count)).sum();
        if total > MAX_FLOWS {
            return Err(BuildError::TooManyFlows(total));
        }
        let links = scenario
            .links
            .iter()
            .enumerate()
            .map(|(i, link)| {
                let stream = |purpose| Stream::new(scenario.seed, replication, ("link", i as u64), purpose);
                LinkPlan {
                    rate: link.rate,
                    delay: link.delay,
                    queue: link
                        .queue
                        .build(&scenario.port(i), stream("queue"))
                        .expect("checked when the scenario was read"),
                    limit: link.buffer,
                    loss: link.loss.map(|loss| (loss, stream("loss"))),
                }
            })
            .collect();
        let mut flows = Vec::with_capacity(total as usize);
        for (g, group) in scenario.groups.iter().enumerate() {
            check_sequence_numbers(scenario, g, group)?;
            let wire: u64 = group.path.iter().chain(&group.back).map(|&l| scenario.links[l].delay.0).sum();
            for i in 0..group.count {
                // A flow is named by group and position, so that another group does not move its draws.
                let name = format!("flow/{}", group.name);
                let stream = |purpose| Stream::new(scenario.seed, replication, (&name, u64::from(i)), purpose);
                let base_rtt = draw_rtt(&group.rtt, i, group.count, stream("rtt"));
                let slack = base_rtt.0.saturating_sub(wire);
                let back = if group.traffic.is_tcp() { Span(slack - slack / 2) } else { Span::ZERO };
                let jitter = group.tcp.send_jitter;
                let party = Party {
                    group: g as u32,
                    index: i,
                    base_rtt,
                    start: Time::ZERO + stream("start").span_between(group.start.0, group.start.1),
                    stop: group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
                    path: group.path.iter().map(|&l| l as u32).collect(),
                    back_path: group.back.iter().map(|&l| l as u32).collect(),
                    lead: Span(slack / 2),
                    back,
                    access: group.access.rate.map_or(Span::ZERO, |rate| rate.serialize(group.packet)),
                    access_buffer: group.access.rate.and(group.access.buffer),
                    jitter: (jitter > Span::ZERO).then(|| (jitter, stream("jitter"))),
                    packet: group.packet.0 as u32,
                    traced: scenario.record.trace.contains(&(g, i)),
                };
                let offer = group.traffic.offer(group.packet, group.mss(), || stream("traffic"));
                flows.push(match offer.expect("checked when the scenario was read") {
                    Offer::Segments(segments) => tcp(group, party, segments.unwrap_or(u32::MAX - 1)),
                    Offer::Datagrams(source) => {
                        let mean_gap = 1e12 / packets_per_second(group);
                        let sizes = group.traffic.size().sizes(group.packet, || stream("size").next_u64());
                        FlowPlan::Datagrams(Box::new(SourcePlan { party, source, sizes, mean_gap }))
                    }
                });
            }
        }
        let marks = Marks {
            warmup: Time::ZERO + scenario.warmup,
            end: Time::ZERO + scenario.duration,
            every: scenario.record.every,
        };
        Ok(Self { links, flows, marks })
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

/// Packets that a flow of `group` sends in a second: datagrams in the mean while they send most, TCP at most.
fn packets_per_second(group: &Group) -> f64 {
    group.traffic.peak().map_or(f64::INFINITY, |rate| rate.bytes_in(Span::secs(1)) / group.packet.0 as f64)
}

/// Sequence numbers have 32 bits: TCP sends what its narrowest link passes, datagrams what their source says.
fn check_sequence_numbers(scenario: &Scenario, index: usize, group: &Group) -> Result<(), BuildError> {
    let narrowest = group.path.iter().map(|&l| scenario.links[l].rate.0).min().unwrap_or(0);
    let passed = Rate(narrowest).bytes_in(scenario.duration) / group.packet.0 as f64;
    // One in a hundred is 600 standard deviations of a Poisson count.
    let offered = 1.01 * packets_per_second(group) * scenario.duration.as_secs();
    let packets = if group.traffic.is_tcp() { passed } else { offered };
    if packets >= f64::from(u32::MAX - 1) {
        return Err(BuildError::TooManyPackets { group: group.name.clone(), index, packets: packets as u64 });
    }
    Ok(())
}

fn draw_rtt(rtt: &Rtt, index: u32, count: u32, mut stream: Stream) -> Span {
    match rtt {
        Rtt::Constant(span) => *span,
        Rtt::Spread(from, to) => match u64::from(count) {
            1 => Span(u64::midpoint(from.0, to.0)),
            n => {
                let step = u128::from(to.0.abs_diff(from.0)) * u128::from(index) / u128::from(n - 1);
                Span(if to >= from { from.0 + step as u64 } else { from.0 - step as u64 })
            }
        },
        Rtt::Uniform(from, to) => stream.span_between(*from, *to),
        Rtt::Pareto { mean, shape, max } => Span::from_secs(stream.pareto(mean.as_secs(), *shape)).min(*max),
        Rtt::List(list) if list.len() == count as usize => list[index as usize],
        Rtt::List(list) => list[stream.below(list.len() as u64) as usize],
    }
}

//! A scenario made concrete for one replication: every flow with its own round-trip time, start and random streams.
//!
//! Both engines are built from this, and from nothing else. Draws come from streams named by (seed, replication, flow),
//! so another flow in the file does not move them.

use crate::BuildError;
use base::{Bytes, Rate, Span, Stream, Time};
use law::{CongestionControl, Control};
use queue::AnyQueue;
use scenario::{HEADER, Loss, Rtt, Scenario};
use transport::{Options, Receiver, Sender};

/// Everything an engine needs.
#[derive(Debug)]
pub struct Network {
    pub links: Vec<LinkPlan>,
    /// Boxed: with many flows the engine's own lists should not copy them.
    #[expect(clippy::vec_box, reason = "the boxes move into the engine's flows")]
    pub flows: Vec<Box<FlowPlan>>,
    pub marks: Marks,
}

/// A link as the scenario says it, with its discipline and its random streams ready.
#[derive(Debug)]
pub struct LinkPlan {
    pub rate: Rate,
    pub delay: Span,
    pub queue: AnyQueue,
    pub loss: Option<(Loss, Stream)>,
}

/// A flow, ready to start.
#[derive(Debug)]
pub struct FlowPlan {
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
    /// Propagation between the last link of the way back, or the receiver, and the sender.
    pub back: Span,
    /// Time a data packet takes on the sender's own link; zero for an infinite rate.
    pub access: Span,
    /// Packets that may wait at the sender's own link.
    pub access_buffer: Option<u32>,
    pub jitter: Option<(Span, Stream)>,
    /// Size of a data packet on the wire.
    pub packet: u32,
    pub data_end: u32,
    pub sender: Sender<Control>,
    pub receiver: Receiver,
    pub traced: bool,
    pub ecn: bool,
    /// Whether its data packets carry headers for routers.
    pub headers: bool,
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
                    loss: link.loss.map(|loss| (loss, stream("loss"))),
                }
            })
            .collect();
        let mut flows = Vec::with_capacity(total as usize);
        for (g, group) in scenario.groups.iter().enumerate() {
            let narrowest = group.path.iter().map(|&l| scenario.links[l].rate.0).min().unwrap_or(0);
            let packets = Rate(narrowest).bytes_in(scenario.duration) / group.packet.0 as f64;
            if packets >= f64::from(u32::MAX - 1) {
                let group = group.name.clone();
                return Err(BuildError::TooManyPackets { group, index: g, packets: packets as u64 });
            }
            let tcp: &Options = &group.tcp;
            let ssthresh = tcp.initial_ssthresh.unwrap_or(f64::INFINITY);
            let control = group.law.build(&group.slow_start, f64::from(tcp.initial_window), ssthresh);
            let control = control.expect("checked when the scenario was read");
            let needs = control.needs();
            let wire: u64 = group.path.iter().chain(&group.back).map(|&l| scenario.links[l].delay.0).sum();
            for i in 0..group.count {
                // A flow is named by group and position, so that another group does not move its draws.
                let name = format!("flow/{}", group.name);
                let stream = |purpose| Stream::new(scenario.seed, replication, (&name, u64::from(i)), purpose);
                let base_rtt = draw_rtt(&group.rtt, i, group.count, stream("rtt"));
                let slack = base_rtt.0.saturating_sub(wire);
                let data_end = group.traffic.segments(group.mss()).unwrap_or(u32::MAX - 1);
                let blocks = match (group.recovery.selective(), group.back.is_empty()) {
                    (true, true) => 1,
                    (true, false) => 3,
                    _ => 0,
                };
                let receiver = Receiver::new(tcp.delayed_ack, tcp.delayed_ack_timeout, blocks);
                let receiver = if needs.marks { receiver.echoing_every_mark() } else { receiver };
                flows.push(Box::new(FlowPlan {
                    group: g as u32,
                    index: i,
                    base_rtt,
                    start: Time::ZERO + stream("start").span_between(group.start.0, group.start.1),
                    stop: group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
                    path: group.path.iter().map(|&l| l as u32).collect(),
                    back_path: group.back.iter().map(|&l| l as u32).collect(),
                    lead: Span(slack / 2),
                    back: Span(slack - slack / 2),
                    access: group.access.rate.map_or(Span::ZERO, |rate| rate.serialize(group.packet)),
                    access_buffer: group.access.rate.and(group.access.buffer),
                    jitter: (tcp.send_jitter > Span::ZERO).then(|| (tcp.send_jitter, stream("jitter"))),
                    packet: group.packet.0 as u32,
                    data_end,
                    sender: Sender::new(control.clone(), group.recovery, tcp, data_end),
                    receiver,
                    traced: scenario.record.trace.contains(&(g, i)),
                    ecn: tcp.ecn || needs.marks,
                    headers: needs.headers,
                }));
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
        let rate = self.links[link as usize].rate;
        let data = self.flows[flow as usize].packet;
        [data, HEADER].map(|size| rate.serialize(Bytes(u64::from(size))).0)
    }
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

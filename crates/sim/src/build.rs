//! Builds the network of one replication from its scenario.
//!
//! Each random stream is named by (seed, replication, flow), so adding a flow to the file does not change the draws of
//! the other flows.

use crate::datagrams::DatagramDelays;
use crate::draw::{self, Draws, Expanded, Propagation, RoundTrip};
use crate::identity::{Identity, Transfers};
use crate::marks::Marks;
use crate::own::{self, FlowPlace, FlowSite, Parts};
use crate::places::SessionPlaces;
use crate::places::SessionPlan;
use crate::plan::{Application, FlowControl, FlowPlan, LinkPlan, Network, Party, SendJitter, SourcePlan, TcpPlan};
use crate::writes::FlowWrites;
use crate::{BuildError, sizes};
use base::{PacketNumber, RunMonitor, Span, Stream, Time};
use queue::Limit;
use scenario::{Group, Scenario};
use std::num::NonZeroU64;
use std::sync::Arc;
use traffic::{Offer, Sort};
use transport::{Features, NO_END, Options, ReceiveWindow, Receiver, Sender, TimerOptions, WindowLimits};

/// A flow number has 24 bits, because a record holds it together with eight bits of flags.
const MAX_FLOWS: u64 = (1 << 24) - 1;

/// Number of flows between two checks of the monitor.
const FLOWS_BETWEEN_LOOKS: u32 = 1024;

/// Builds the network of a scenario given as text, for unit tests.
#[cfg(test)]
pub fn network_of(text: &str) -> Network<law::Control, queue::NoOwn> {
    let scenario = scenario::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    network(&scenario, 0, 0, &mut crate::BuiltIn, &RunMonitor::default()).expect("a network this small")
}

/// Makes the random draws and lays out the network. If `monitor` stops it, the remaining flows are missing.
pub fn network<P: Parts>(
    scenario: &Scenario,
    replication: u32,
    first: u64,
    parts: &mut P,
    monitor: &RunMonitor,
) -> Result<Network<P::Control, P::Queue>, BuildError> {
    let total: u64 = scenario.groups.iter().map(|g| u64::from(g.count) * u64::from(g.traffic.places())).sum();
    if total > MAX_FLOWS {
        return Err(BuildError::TooManyFlows(total));
    }
    if let Some(bytes) = sizes::refused(scenario) {
        return Err(BuildError::OutOfMemory { bytes, senders: total });
    }
    let expanded = Expanded::new(&scenario.links);
    let network = Network {
        links: draw::links(scenario, replication, first, parts)?,
        pools: expanded.pools(scenario),
        tables: expanded.counts(),
        identities: Vec::with_capacity(scenario.flows() as usize),
        packets: scenario.groups.iter().map(|group| group.packet.0 as u32).collect(),
        flows: Vec::with_capacity(total as usize),
        sessions: Vec::new(),
        marks: Marks::of(scenario),
    };
    let largest = scenario.groups.iter().map(|group| group.packet.0).max().unwrap_or(0);
    let mut builder = Builder { scenario, replication, first, largest, expanded, network, parts };
    for (g, group) in scenario.groups.iter().enumerate() {
        let shared = Shared {
            draws: Draws::new(group),
            options: group.tcp.with_mss(group.mss()),
            timers: Arc::new(TimerOptions::new(&group.tcp)),
        };
        for i in 0..group.count {
            if i % FLOWS_BETWEEN_LOOKS == FLOWS_BETWEEN_LOOKS - 1 && monitor.is_stopped() {
                return Ok(builder.network);
            }
            builder.add(g, i, &shared)?;
        }
    }
    Ok(builder.network)
}

/// Settings that all flows of one group share.
struct Shared<'a> {
    draws: Draws<'a>,
    options: Options,
    timers: Arc<TimerOptions>,
}

struct Builder<'a, P: Parts> {
    scenario: &'a Scenario,
    replication: u32,
    /// The number of the first segment or datagram of every flow.
    first: u64,
    /// Size of the largest data packet.
    largest: u64,
    expanded: Expanded,
    network: Network<P::Control, P::Queue>,
    parts: &'a mut P,
}

impl<P: Parts> Builder<'_, P> {
    /// Adds flow `i` of group `g`.
    fn add(&mut self, g: usize, i: u32, shared: &Shared<'_>) -> Result<(), BuildError> {
        let Self { scenario, replication, first, largest, expanded, network, parts } = self;
        let (first, draws) = (*first, &shared.draws);
        let group = &scenario.groups[g];
        // Streams are named by the group and the flow's position in it, so that adding a group does not change the
        // draws.
        let name = format!("flow/{}", group.name);
        let stream = |purpose: &str| Stream::new(scenario.seed, *replication, (&name, u64::from(i)), purpose);
        let (path, return_path) = (expanded.path(&group.path, i), expanded.path(&group.back, i));
        let links = &network.links;
        let propagation = |path: &[u32]| path.iter().fold(Span::ZERO, |sum, &l| sum + links[l as usize].mean_delay);
        let forward = propagation(&path);
        let round_trip = draws.round_trip(i, Propagation { forward, back: propagation(&return_path) }, stream);
        let (start, stop) = draws.start_and_stop(i, stream);
        let access = draws.access(i, stream);
        let reorders = path.iter().chain(&return_path).any(|&l| links[l as usize].handover.reorders());
        let hops = path.iter().map(|&l| links[l as usize].rate.serialize(group.packet));
        let bottleneck_tx_time = hops.clone().fold(access, Span::max);
        let one_way_latency = hops.fold(round_trip.first_link_delay + access + forward, |sum, hop| sum + hop);
        let handshake = Handshake::new(links, &path, &return_path, group, *largest, one_way_latency, &round_trip);
        let jitter = group.tcp.send_jitter;
        // The first place makes the same draws as a flow without places.
        let purpose = |place: u32| if place == 0 { "jitter".to_owned() } else { format!("jitter/{place}") };
        let flow = network.identities.len() as u32;
        let party = |place: u32, start: Time, stop: Time| Party {
            flow,
            start,
            stop,
            path: path.clone(),
            return_path: return_path.clone(),
            first_link_delay: round_trip.first_link_delay,
            return_delay: if group.traffic.is_tcp() { round_trip.return_delay } else { Span::ZERO },
            access,
            access_buffer: group.access.buffer.map(|packets| packets.0),
            jitter: (jitter > Span::ZERO)
                .then(|| Box::new(SendJitter { longest: jitter, stream: stream(&purpose(place)) })),
            packet: group.packet.0 as u32,
            ack: group.tcp.header.0 as u32,
            reorders,
            traced: place == 0 && scenario.record.trace.contains(&(g, i)),
        };
        let mut sender = |segments, writes| {
            let place = FlowPlace { group: g, index: i, replication: *replication };
            let flow = FlowSite::new(scenario, place, round_trip.base_rtt, start);
            let control = parts.control(&flow)?;
            own::check_needs(&flow, &control)?;
            let options = &shared.options;
            let features = features(group, shared, reorders, &handshake, writes);
            Ok(Sender::new(control, group.recovery, options, segments).with(options, features))
        };
        let offer = group.traffic.offer(&group.site(scenario, i, start), || stream("traffic"));
        let (mut finite, mut writes) = (None, false);
        match offer.expect("checked when the scenario was read") {
            Offer::Segments(segments) => {
                finite = segments.and_then(NonZeroU64::new);
                let plan = tcp(group, first, reorders, &handshake, sender(segments.unwrap_or(NO_END), false)?);
                network.flows.push(FlowPlan::Tcp(Box::new(party(0, start, stop)), Box::new(plan)));
            }
            Offer::Writes(application) => {
                let own = FlowWrites::new(application, stop);
                writes = own.has_transfers();
                let mut plan = tcp(group, first, reorders, &handshake, sender(0, true)?);
                plan.receiver = plan.receiver.until(NO_END);
                plan.application = Some(Box::new(Application::Writes(own)));
                network.flows.push(FlowPlan::Tcp(Box::new(party(0, start, stop)), Box::new(plan)));
            }
            Offer::Session(session) => {
                let (first_place, place_count) = (network.flows.len() as u32, group.traffic.places());
                let places = SessionPlaces::new(session, place_count, stop);
                network.sessions.push(SessionPlan { flow, first_place, place_count, places });
                let template = Arc::new(sender(0, false)?);
                for place in 0..place_count {
                    // The session decides when each place starts and stops.
                    let party = party(place, Time::NEVER, Time::NEVER);
                    let plan = tcp(group, first, reorders, &handshake, Sender::clone(&template));
                    let application = Some(Box::new(Application::Session(Arc::clone(&template))));
                    let plan = TcpPlan { application, ..plan };
                    network.flows.push(FlowPlan::Tcp(Box::new(party), Box::new(plan)));
                }
            }
            Offer::Datagrams(source) => {
                let mean_gap = 1e12 / packets_per_second(group);
                let sizes = group.traffic.size().sizes(group.packet, || stream("size").next_u64());
                let sizes = sizes.map(|sizes| sizes.beginning_at(PacketNumber::of(first)));
                let answered = group.traffic.is_answered();
                let rest = if answered { round_trip.return_delay } else { Span::ZERO };
                let delays = group.traffic.gap(group.packet);
                let delays = delays.map(|gap| Box::new(DatagramDelays::new(start, first, gap, rest)));
                let mut party = party(0, start, stop);
                // There is no separate answer: the request travels the return path as data.
                party.path.append(&mut party.return_path);
                let plan = SourcePlan { party, source, first, sizes, mean_gap, delays };
                network.flows.push(FlowPlan::Datagrams(Box::new(plan)));
            }
        }
        let session = group.traffic.sort() == Sort::Session;
        let transfers = Transfers { one_way_latency, bottleneck_tx_time, session, finite };
        network.identities.push(Identity {
            group: g as u32,
            index: i,
            base_rtt: round_trip.base_rtt,
            start,
            transfers: (session || writes || finite.is_some()).then(|| Box::new(transfers)),
        });
        Ok(())
    }
}

/// Round-trip times that the handshake of a connection may have measured; its packets are not simulated.
struct Handshake {
    /// Time of a data packet and its ACK, without queues.
    sample: Span,
    /// Round-trip time of the path with full buffers.
    longest: Span,
}

impl Handshake {
    fn new<Q>(
        links: &[LinkPlan<Q>],
        path: &[u32],
        return_path: &[u32],
        group: &Group,
        largest: u64,
        one_way_latency: Span,
        round_trip: &RoundTrip,
    ) -> Self {
        let back = return_path.iter().map(|&l| &links[l as usize]);
        let back = back
            .fold(round_trip.return_delay, |sum, link| sum + link.mean_delay + link.rate.serialize(group.tcp.header));
        let sample = one_way_latency + back;
        let longest = path.iter().chain(return_path).fold(sample, |sum, &l| {
            let link = &links[l as usize];
            let bytes = match link.limit {
                Limit::Packets(packets) => u64::from(packets).saturating_mul(largest),
                Limit::Bytes(bytes) => bytes.0,
                Limit::Unlimited => u64::MAX,
            };
            // Longer queues count as one minute.
            let seconds = (bytes as f64 * 8.0 / link.rate.0 as f64).min(60.0);
            sum + Span::from_secs(seconds)
        });
        Self { sample, longest }
    }
}

/// Features of a sender of `group`. `writes`: its application writes at intervals.
fn features<'a>(
    group: &Group,
    shared: &'a Shared<'_>,
    reorders: bool,
    handshake: &Handshake,
    writes: bool,
) -> Features<'a> {
    Features {
        timers: Some(&shared.timers),
        undoes: group.tcp.notices_duplicates(reorders).then(|| group.tcp.undoes(reorders)),
        window: window_limits(group),
        handshake: Some((handshake.sample, handshake.longest)),
        writes,
    }
}

/// Limits of the receive windows of `group`, if its receivers tune their windows automatically.
fn window_limits(group: &Group) -> Option<WindowLimits> {
    let ReceiveWindow::Autotuned(tuning) = group.tcp.receive_window else { return None };
    Some(WindowLimits::new(&tuning, group.mss()))
}

fn tcp<C: FlowControl>(
    group: &Group,
    first: u64,
    reorders: bool,
    handshake: &Handshake,
    sender: Sender<C>,
) -> TcpPlan<C> {
    let sender = sender.beginning_at(first);
    let needs = sender.control().needs();
    let blocks = match (group.recovery.selective(), group.back.is_empty()) {
        (true, true) => 1,
        (true, false) => 3,
        _ => 0,
    };
    // Linux's receiver uses its own retransmission timeout; this is its value after the handshake.
    let quick_after = handshake.sample + group.tcp.min_rto.max(Span(2 * handshake.sample.0));
    let receiver = Receiver::new(group.tcp.delayed_ack, group.tcp.delayed_ack_timeout, blocks)
        .acknowledging_quickly(group.tcp.quick_acks, quick_after)
        .until(sender.seq().data_end())
        .behind(group.tcp.receive_offload);
    let receiver = match window_limits(group) {
        Some(limits) => receiver.tuning(limits, !group.back.is_empty()),
        None => receiver,
    };
    let receiver = receiver.beginning_at(first);
    let receiver = if group.tcp.notices_duplicates(reorders) { receiver.reporting_duplicates() } else { receiver };
    TcpPlan { sender, receiver: if needs.marks { receiver.echoing_every_mark() } else { receiver }, application: None }
}

/// Packets that a flow of `group` sends per second: the mean at the highest rate for datagrams, the maximum for TCP.
fn packets_per_second(group: &Group) -> f64 {
    group.traffic.peak(group.packet).map_or(f64::INFINITY, |rate| rate.bytes_in(Span::secs(1)) / group.packet.0 as f64)
}

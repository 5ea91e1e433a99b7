//! A scenario file with QUIC flows in the place of its TCP flows.
//!
//! Source: none. Starts and round-trip times are those that the simulator draws for the same scenario, seed and
//! replication.

use crate::network::{self, Epoch, Flow, HEADERS};
use crate::stack::Setup;
use base::{Span, Stream, Time};
use emu::emulator::{Emulator, FlowDelays};
use emu::record::Counters;
use law::CongestionControl;
use queue::Link;
use scenario::{Group, LinkDelay, LinkRate, Scenario};
use traffic::TrafficSpec;

/// Options of a stack besides its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Datagrams that leave at once at most.
    pub offload: usize,
    /// Packets after which a receiver acknowledges; `None` for the stack's own way.
    pub ack_every: Option<u32>,
    /// Whether packets leave when the window lets them, without a pace.
    pub unpaced: bool,
}

impl Default for Choice {
    /// Settings of quinn and noq on Linux, where segmentation offload takes ten datagrams.
    fn default() -> Self {
        Self { offload: 10, ack_every: None, unpaced: false }
    }
}

/// Results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Share of the link's rate that began service in the measured period.
    pub utilization: f64,
    /// Share of the packets arriving at the link that it dropped, in the measured period.
    pub loss_ratio: f64,
    /// Packets that the link dropped in the measured period.
    pub dropped: u64,
    /// Mean time that served packets had waited, in seconds.
    pub queueing_delay_s: f64,
    /// Samples are at multiples of this.
    pub every: Span,
    /// Results of each flow.
    pub flows: Vec<FlowOutcome>,
    /// Over every datagram that was sent, in order, with its flow; none of what the simulator sent.
    pub hash: Option<u64>,
}

/// Results of one flow.
#[derive(Clone, Debug)]
pub struct FlowOutcome {
    /// Start time.
    pub start: Time,
    /// Round-trip time without queues.
    pub base_rtt: Span,
    /// Bits of its stream per second in the measured period, without any header.
    pub goodput_bps: f64,
    /// Packets that the client's stack sent, acknowledgements and handshake included, over the whole run.
    pub sent: u64,
    /// Packets of these that it took for lost; of elephan's own senders, that they sent again.
    pub lost: u64,
    /// Congestion windows at the samples, in datagrams; zero before it is open.
    pub cwnd: Vec<f64>,
    /// Smoothed round-trip times at the samples, in seconds; zero before it is open.
    pub srtt_s: Vec<f64>,
}

/// Digest of everything sent (FNV-1a, in words of eight bytes).
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0 = (self.0 ^ u64::from_be_bytes(word)).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
        }
    }
}

/// Reason why a scenario cannot be run here: the place first.
fn refusal(scenario: &Scenario) -> Option<String> {
    let [link] = scenario.links.as_slice() else {
        return Some("links: one link is all that QUIC flows can cross here".into());
    };
    let plain = link.loss.is_none()
        && link.policer.is_none()
        && link.shaper.is_none()
        && link.batch.is_none()
        && link.jitter.is_none()
        && link.pool.is_none();
    if link.count > 1 || !plain {
        return Some("links[0]: must be one link with a queue and nothing else".into());
    }
    if !matches!(link.rate, LinkRate::Fixed(_)) || !matches!(link.delay, LinkDelay::Fixed(_)) {
        return Some("links[0]: rate and delay must not change".into());
    }
    let at = |i: usize, say: &str| Some(format!("flows[{i}].{say}"));
    scenario.groups.iter().enumerate().find_map(|(i, group)| match group {
        Group { path, .. } if path.len() != 1 => at(i, "path: must be the one link"),
        Group { back, .. } if !back.is_empty() => at(i, "return: must be empty: ACKs of QUIC flows meet no queue here"),
        Group { stop: Some(_), .. } => at(i, "stop: QUIC flows go on to the end here"),
        Group { traffic, .. } if !matches!(traffic, TrafficSpec::Bulk(_)) => at(i, "traffic: must be bulk"),
        Group { packet, .. } if !(1228..=65_000).contains(&packet.0) => {
            at(i, "packet: must be from 1228 to 65000 bytes, for a datagram of QUIC and 28 bytes of headers")
        }
        _ => None,
    })
}

/// Runs one replication in elephan's own senders, with the control that `control` makes of each TCP flow's datagram
/// size and random stream.
///
/// # Errors
/// One line that names the place, if the scenario cannot be run.
pub fn in_elephan<C: CongestionControl + Send + Sync>(
    scenario: &Scenario,
    replication: u32,
    mut control: impl FnMut(u16, Stream) -> C,
) -> Result<Outcome, String> {
    let run = elephan::Simulation::new(scenario).replication(replication).options(SERIES);
    let run = run.control(|site| control((site.packet.0 as usize).saturating_sub(HEADERS) as u16, site.stream("quic")));
    run.run().map(|found| of_elephan(scenario, &found)).map_err(|error| error.to_string())
}

/// Runs one replication as the scenario says, so that the same numbers stand beside those of others.
///
/// # Errors
/// As of [`in_elephan`].
pub fn as_it_is(scenario: &Scenario, replication: u32) -> Result<Outcome, String> {
    let found = sim::simulate(scenario, replication, SERIES).map_err(|error| error.to_string())?;
    Ok(of_elephan(scenario, &found))
}

const SERIES: sim::Options =
    sim::Options { engine: sim::Engine::Window, series: true, hash: false, first_number: 0, chunks: 0 };

fn of_elephan(scenario: &Scenario, found: &sim::Outcome) -> Outcome {
    let link = &found.links[0];
    let dropped: u64 = link.dropped.iter().sum();
    let flows = found.flows.iter().map(|flow| FlowOutcome {
        start: flow.start,
        base_rtt: flow.base_rtt,
        goodput_bps: flow.goodput_bps,
        sent: flow.sent,
        lost: flow.retransmitted,
        cwnd: flow.cwnd_samples().iter().map(|&segments| f64::from(segments)).collect(),
        srtt_s: flow.srtt_samples().iter().map(|&srtt| f64::from(srtt)).collect(),
    });
    Outcome {
        utilization: link.utilization,
        loss_ratio: share(dropped as f64, link.arrived),
        dropped,
        queueing_delay_s: link.queueing_delay_s,
        every: scenario.record.every.unwrap_or(Span::millis(100)),
        flows: flows.collect(),
        hash: None,
    }
}

fn share(part: f64, whole: u64) -> f64 {
    if whole > 0 { part / whole as f64 } else { 0.0 }
}

/// Runs one replication, each flow as `flow` makes it.
///
/// # Errors
/// One line that names the place, if the scenario has what QUIC flows cannot cross here.
pub fn simulate(
    scenario: &Scenario,
    replication: u32,
    choice: &Choice,
    mut flow: impl FnMut(&Setup, Epoch, &Group) -> Box<dyn Flow>,
) -> Result<Outcome, String> {
    if let Some(why) = refusal(scenario) {
        return Err(why);
    }
    let drawn = sim::simulate(scenario, replication, sim::Options::default()).map_err(|error| error.to_string())?;
    let port = scenario.use_of(0).port();
    let discipline =
        scenario.links[0].queue.build(&port, Stream::new(scenario.seed, replication, ("link", 0), "queue"));
    let link = Link::new(port.rate, discipline.map_err(|error| format!("links[0].queue.{error}"))?);
    let epoch = Epoch::new();
    let mut flows: Vec<(Time, Box<dyn Flow>)> = Vec::new();
    for (number, each) in drawn.flows.iter().enumerate() {
        let group = &scenario.groups[each.group as usize];
        let setup = Setup {
            datagram: (group.packet.0 as usize - HEADERS) as u16,
            offload: choice.offload,
            ack_every: choice.ack_every,
            send_window: 1 << 26,
            streams: None,
            stream: (scenario.seed, replication, number as u64),
        };
        flows.push((each.start, flow(&setup, epoch, group)));
    }
    // Half of the way lies behind the link, as in the testbed.
    let delays = drawn.flows.iter().map(|each| {
        let forward = Span(each.base_rtt.0 / 2);
        FlowDelays { forward, backward: Span(each.base_rtt.0 - forward.0) }
    });
    let (warmup, end) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let every = scenario.record.every.unwrap_or(Span::millis(100));
    let mut emulator = Emulator::new(link, delays.collect(), warmup..end, every);
    let mut hash = Digest::default();
    let seen = network::run(&mut flows, &mut emulator, (warmup, end), every, &mut |number, packet| {
        hash.add(&number.to_be_bytes());
        hash.add(packet);
    });
    let measured_s = (scenario.duration - scenario.warmup).as_secs();
    let flows = drawn.flows.iter().zip(flows).zip(seen).map(|((each, (_, mut flow)), seen)| {
        let (sent, lost) = flow.sent_and_lost();
        let datagram = (scenario.groups[each.group as usize].packet.0 - HEADERS as u64) as f64;
        FlowOutcome {
            start: each.start,
            base_rtt: each.base_rtt,
            goodput_bps: 8.0 * seen.measured as f64 / measured_s,
            sent,
            lost,
            cwnd: seen.window.iter().map(|bytes| *bytes as f64 / datagram).collect(),
            srtt_s: seen.srtt_s,
        }
    });
    let flows = flows.collect();
    let Counters { arrived, begun, begun_bytes, drops, waited, .. } = emulator.into_record().counters;
    let dropped: u64 = drops.iter().sum();
    Ok(Outcome {
        utilization: 8.0 * begun_bytes as f64 / (port.rate.0 as f64 * measured_s),
        loss_ratio: share(dropped as f64, arrived),
        dropped,
        queueing_delay_s: share(waited as f64 * 1e-12, begun),
        every,
        flows,
        hash: Some(hash.0),
    })
}

//! A scenario with nothing left open: every default filled, every quantity an integer in base units.
//!
//! A `Scenario` that exists is valid; what builds a network from it has nothing to check but memory.

use base::{Bytes, Rate, Span};
use law::{LawSpec, StartSpec};
use queue::{Limit, QueueSpec};
use traffic::TrafficSpec;
use transport::{Options, Recovery};

/// A whole scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// One line about it.
    pub title: String,
    /// Simulated time, warm-up included.
    pub duration: Span,
    /// What is simulated but not measured, at the start.
    pub warmup: Span,
    /// Independent runs.
    pub replications: u32,
    /// Seed of all random streams.
    pub seed: u64,
    /// Links, in the file's order.
    pub links: Vec<Link>,
    /// Groups of flows, in the file's order.
    pub groups: Vec<Group>,
    /// What is recorded besides counters.
    pub record: Record,
}

/// A directed link: queue, server, wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name in paths.
    pub name: String,
    /// Bits per second on the wire.
    pub rate: Rate,
    /// Propagation, one way.
    pub delay: Span,
    /// What may wait, the packet in service excluded.
    pub buffer: Limit,
    /// What the router does with it.
    pub queue: QueueSpec,
    /// Loss that is not the queue's.
    pub loss: Option<Loss>,
}

/// Injected loss, decided before the queue sees the packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each packet with this probability.
    Random(f64),
    /// Every n-th packet.
    Every(u64),
}

/// Flows that differ only in what is drawn for them.
///
/// Of datagrams (`traffic` says so) nothing comes back: `back` is empty, and the law, the slow start, the recovery and
/// `tcp` have their defaults and mean nothing, but for `tcp.send_jitter`.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name in results.
    pub name: String,
    /// How many flows.
    pub count: u32,
    /// Links that data crosses, as indices into `Scenario::links`.
    pub path: Vec<usize>,
    /// Links that ACKs cross; empty for an uncongested way back.
    pub back: Vec<usize>,
    /// Base round-trip time, all propagation included.
    pub rtt: Rtt,
    /// The sender's own link.
    pub access: Access,
    /// Congestion-control law.
    pub law: LawSpec,
    /// How the window opens.
    pub slow_start: StartSpec,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Size of a full data packet on the wire, headers included.
    pub packet: Bytes,
    /// Start: uniform in [from, to], a draw per flow and replication.
    pub start: (Span, Span),
    /// When the application stops offering data; what is in flight is still delivered.
    pub stop: Option<Span>,
    /// What the application offers.
    pub traffic: TrafficSpec,
    /// The `tcp = {…}` keys.
    pub tcp: Options,
}

/// Base round-trip times of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Rtt {
    /// All the same.
    Constant(Span),
    /// Equally spaced from the first to the last flow.
    Spread(Span, Span),
    /// Uniform draws.
    Uniform(Span, Span),
    /// Pareto draws with this mean and shape; larger ones are cut at `max`.
    Pareto {
        /// Mean of the law.
        mean: Span,
        /// Shape, above 1.
        shape: f64,
        /// Cut.
        max: Span,
    },
    /// As many as there are flows: one each, in order. Otherwise each flow draws one of them.
    List(Vec<Span>),
}

/// The sender's own link into the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// `None` for no serialisation at all.
    pub rate: Option<Rate>,
    /// Packets that may wait in the sender's own queue; `None` for no limit.
    pub buffer: Option<u32>,
}

/// What is recorded besides counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Interval of the samples of cwnd, srtt and backlog; `None` for none.
    pub every: Option<Span>,
    /// Flows recorded ACK by ACK, as group and index within the group.
    pub trace: Vec<(usize, u32)>,
}

impl Group {
    /// Payload of a full segment: the packet without its 40 bytes of header.
    #[must_use]
    pub fn mss(&self) -> u32 {
        self.packet.0 as u32 - HEADER
    }
}

/// Bytes of IP and TCP header in every data packet, and the size of an acknowledgement.
pub const HEADER: u32 = 40;

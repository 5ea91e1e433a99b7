//! A scenario with nothing left open: every default filled, every quantity an integer in base units.
//!
//! A `Scenario` that exists is valid; what builds a network from it has nothing to check but memory.

use crate::Values;
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

/// A directed link (queue, server, wire), or an array of links that differ only in what is drawn for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name in paths.
    pub name: String,
    /// How many; each has a queue of its own.
    pub count: u32,
    /// Bits per second on the wire: the mean, where they are drawn.
    pub rate: Rate,
    /// Ends of the uniform draw of each link and replication.
    pub rate_range: Option<(Rate, Rate)>,
    /// Propagation, one way: the mean, where they are drawn.
    pub delay: Span,
    /// Ends of the uniform draw of each link and replication.
    pub delay_range: Option<(Span, Span)>,
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

/// A link on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Index into `Scenario::links`.
    pub link: usize,
    /// Which of an array.
    pub pick: Pick,
}

/// Which link of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// This one; 0 where there is only one.
    One(u32),
    /// Flow i of the group takes number i mod count.
    Each,
}

impl Hop {
    /// A link that is alone under its name.
    #[must_use]
    pub fn alone(link: usize) -> Self {
        Self { link, pick: Pick::One(0) }
    }
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
    /// Links that data crosses.
    pub path: Vec<Hop>,
    /// Links that ACKs cross; empty for an uncongested way back.
    pub back: Vec<Hop>,
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
    /// When the application starts to offer data.
    pub start: Start,
    /// When it stops; what is in flight is still delivered.
    pub stop: Option<Stop>,
    /// What the application offers.
    pub traffic: TrafficSpec,
    /// The `tcp = {…}` keys.
    pub tcp: Options,
}

/// Base round-trip times of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Rtt {
    /// What the links on the way propagate (as much again on the way back where no link is named) and the access delay,
    /// there and back.
    Auto,
    /// As the file says.
    Given(Values<Span>),
    /// A Pareto law with this mean and shape; larger values are cut at `max`.
    Pareto {
        /// Mean of the law.
        mean: Span,
        /// Shape, above 1.
        shape: f64,
        /// Cut.
        max: Span,
        /// How flows get theirs.
        by: By,
    },
}

/// How the flows of a group come by values of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A draw each, per replication.
    Draws,
    /// The quantiles of as many equal shares, scaled so that their mean is the law's.
    Quantiles,
}

/// The sender's own link into the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// `None` for no serialisation at all.
    pub rate: Option<Values<Rate>>,
    /// Packets that may wait in the sender's own queue; `None` for no limit.
    pub buffer: Option<u32>,
    /// Propagation before the first link; `None` for half of what the links leave of the base RTT.
    pub delay: Option<Values<Span>>,
}

/// When flows start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Uniform between two times, a draw per flow and replication.
    Between(Span, Span),
    /// Flow i at the first time and i times the second.
    Every(Span, Span),
    /// As many as there are flows: one each, in order. Otherwise each flow draws one of them.
    List(Vec<Span>),
}

/// When flows stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Uniform between two times, a draw per flow and replication.
    Between(Span, Span),
    /// So long after the flow's own start.
    After(Span),
    /// The same, an exponential draw with this mean.
    AfterExponential(Span),
}

/// What is recorded besides counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Interval of the samples of cwnd, srtt and backlog; `None` for none.
    pub every: Option<Span>,
    /// Flows recorded ACK by ACK, as group and index within the group.
    pub trace: Vec<(usize, u32)>,
    /// Where and when every data packet is recorded.
    pub packets: Vec<PacketSpan>,
    /// Whether every waiting time at every link is counted, in a histogram.
    pub delays: bool,
}

/// A link, and the span [from, to) in which every data packet that arrives there is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSpan {
    /// The link; of an array, one.
    pub link: Hop,
    /// Start, from the start of the run.
    pub from: Span,
    /// End.
    pub to: Span,
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

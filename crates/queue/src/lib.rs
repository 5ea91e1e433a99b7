//! Queue disciplines: what a router does with packets that it cannot send at once.
//!
//! There are two levels. Most disciplines of the literature decide *on arrival* and then serve first-in first-out: they are
//! an [`Admission`] inside a [`Fifo`]. Disciplines that choose the flow to serve, or decide at departure, implement
//! [`QueueDiscipline`] themselves. This crate knows neither TCP nor a clock: times are arguments, and a [`Link`] serves
//! simulated and real packets alike.

use base::{Bytes, Flags, Header, Time};

#[macro_use]
mod discipline;
mod bucket;
mod checks;
mod early;
mod fifo;
mod flows;
mod link;
mod longest;
mod memory;
mod order;
mod own;
mod port;
mod profile;
mod replay;
mod schedule;
mod signal;

pub use base::Entry;
pub use bucket::TokenBucket;
pub use discipline::{Admission, Fates, QueueDiscipline, RuleVisitor, Verdict, Visitor};
pub use drop_tail::DropTail;
pub use fifo::Fifo;
pub use flows::Victim;
pub use link::{Link, LinkEvent, LinkEventKind, Step};
pub use memory::{MemorySize, SharedMemory, Sharing};
pub use order::Scheduler;
pub use own::{Either, NoOwn};
pub use port::{Limit, Port};
pub use profile::{LINUX, PROFILES, Profile, Setting};
pub use registry::{AnyAdmission, AnyQueue, Rule};
pub use replay::{Fate, replay, replay_monitored};
pub use schedule::{OPPORTUNITY_BYTES, Opportunities, Rates, Schedule, mean_of_steps};

// All disciplines, one line each: first those that decide on arrival in front of a FIFO, then those that are complete
// queues.
base::registry! {
    ($)
    /// A discipline and its parameters, as a scenario file says them.
    pub enum QueueSpec, QUEUES, each_queue;
    admissions {
        DropTail = drop_tail,
        Red = red,
        Ared = ared,
        Gared = gared,
        PdRed = pd_red,
        Blue = blue,
        Rem = rem,
        Pie = pie,
    }
    disciplines {
        DropHead = drop_head,
        Drr = drr,
        Fq = fq,
        PriorityFq = priority_fq,
        Sfq = sfq,
        Codel = codel,
        FqCodel = fq_codel,
        DualPi2 = dualpi2,
        Xcp = xcp,
    }
}

// After the list, because it uses the list's macro.
mod registry;

/// A packet as queues see it. `token` is a sequence number in the simulator, and a buffer slot for real packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// Number of its flow.
    pub flow: u32,
    /// A number for the caller; queues never read it.
    pub token: u32,
    /// Size on the wire, in bytes.
    pub size: u32,
    /// ECN codepoint and other flags.
    pub flags: Flags,
    /// Arrival time at this queue.
    pub arrived: Time,
    /// Header for routers that compute feedback (XCP).
    pub header: Header,
}

impl Packet {
    /// A plain packet of `size` bytes.
    #[inline]
    #[must_use]
    pub const fn new(flow: u32, token: u32, size: u32, arrived: Time) -> Self {
        Self { flow, token, size, flags: Flags::NONE, arrived, header: Header::NONE }
    }

    /// The same packet with these flags.
    #[inline]
    #[must_use]
    pub const fn with(self, flags: Flags) -> Self {
        Self { flags, ..self }
    }
}

/// Packets and bytes waiting, without the packet in service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
}

impl Backlog {
    /// Adds a packet.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes.0 += u64::from(packet.size);
    }

    /// Removes a packet.
    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes.0 -= u64::from(packet.size);
    }
}

/// Tests the examples of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Queue disciplines: what a router does with packets that it cannot send at once.
//!
//! Two levels. Most disciplines of the literature decide *on arrival* and then serve first-in first-out: they are an
//! [`Admission`] inside one [`Fifo`]. Those that choose whom to serve, or decide at departure, implement
//! [`QueueDiscipline`] themselves. No TCP, no clock: times arrive as arguments, and a [`Link`] serves simulated and real
//! packets alike.

use base::{Bytes, Cause, Flags, Param, Time};

pub mod drop_tail;
mod fifo;
mod link;
mod registry;

pub use fifo::Fifo;
pub use link::Link;
pub use registry::{AnyAdmission, AnyQueue, QUEUES, QueueSpec, Rule};

/// A packet as queues see it. `token` is a sequence number in the simulator, a buffer slot in front of real packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Whose it is.
    pub flow: u32,
    /// Its owner's name for it; queues never look at it.
    pub token: u32,
    /// Size on the wire, in bytes.
    pub size: u32,
    /// What it carries for routers.
    pub flags: Flags,
    /// When it arrived at this queue.
    pub arrived: Time,
}

/// What waits; the packet in service is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
}

/// The size of the buffer: what may wait, the packet in service excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most so many packets wait.
    Packets(u32),
    /// At most so many bytes wait.
    Bytes(Bytes),
    /// Nothing is ever refused for lack of room.
    Unlimited,
}

impl Limit {
    /// Whether `packet` still fits beside `backlog`.
    #[inline]
    #[must_use]
    pub fn has_room(self, backlog: Backlog, packet: &Packet) -> bool {
        match self {
            Self::Packets(n) => backlog.packets < n,
            Self::Bytes(n) => backlog.bytes.0 + u64::from(packet.size) <= n.0,
            Self::Unlimited => true,
        }
    }
}

/// What an [`Admission`] decides about a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may wait, or go into service.
    Accept,
    /// It may, with the congestion-experienced mark.
    Mark(Cause),
    /// It is dropped.
    Drop(Cause),
}

/// A rule that decides on arrival, before a first-in first-out queue.
///
/// It is asked for every arrival, also for one that goes into service at once (`idle`): that one needs no room.
pub trait Admission: std::fmt::Debug {
    /// The fate of `packet`, which finds `backlog` waiting.
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle: bool) -> Verdict;
    /// If the rule is nothing but this limit, the limit: engines may then decide without asking.
    fn plain_limit(&self) -> Option<Limit> {
        None
    }
    /// Private numbers worth showing, by name.
    fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// Where disciplines report the packets they refuse or mark.
pub trait Fates {
    /// `packet` is gone.
    fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time);
    /// `packet` goes on, marked.
    fn marked(&mut self, packet: &Packet, cause: Cause, now: Time);
}

/// A queue in front of one server.
///
/// The server asks for the next packet when it falls idle; a packet that finds it idle is enqueued and dequeued at the
/// same instant, so that every packet passes both decisions.
pub trait QueueDiscipline: std::fmt::Debug {
    /// A packet arrives; `idle` when the server is free and nothing waits. It may be dropped, or push another out.
    fn enqueue(&mut self, packet: Packet, idle: bool, fates: &mut impl Fates);
    /// The packet to serve next.
    fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet>;
    /// What waits.
    fn backlog(&self) -> Backlog;
    /// When [`Self::on_wakeup`] wants to be called: timers of PIE, adaptive RED.
    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }
    /// A timer of the discipline.
    fn on_wakeup(&mut self, _now: Time) {}
    /// Private numbers worth showing, by name.
    fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// A catalogue entry: the card and the parameters.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name, title, source.
    pub card: base::Card,
    /// Its parameters.
    pub rows: fn() -> Vec<Param>,
}

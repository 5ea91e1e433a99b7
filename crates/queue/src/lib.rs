//! Queue disciplines: what a router does with packets that it cannot send at once.
//!
//! Two levels. Most disciplines of the literature decide *on arrival* and then serve first-in first-out: they are an
//! [`Admission`] inside one [`Fifo`]. Those that choose whom to serve, or decide at departure, implement
//! [`QueueDiscipline`] themselves. No TCP, no clock: times arrive as arguments, and a [`Link`] serves simulated and real
//! packets alike.

use base::{Bytes, Cause, Flags, Header, Param, Time};

#[macro_use]
mod registry;
mod checks;
mod early;
mod fifo;
mod flows;
mod link;
mod longest;
mod order;
mod port;
mod replay;
mod signal;

pub use fifo::Fifo;
pub use link::{Link, LinkEvent, LinkEventKind, Step};
pub use order::{Scheduler, Victim};
pub use port::{Limit, Port};
pub use registry::Rule;
pub use replay::{Fate, replay};

// Every discipline there is, one line each: those that decide on arrival in front of a FIFO, then those that do all
// themselves.
queues! {
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

/// A packet as queues see it. `token` is a sequence number in the simulator, a buffer slot in front of real packets.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// What it carries for routers that compute feedback (XCP).
    pub header: Header,
}

impl Packet {
    /// A plain packet of `size` bytes.
    #[inline]
    #[must_use]
    pub const fn new(flow: u32, token: u32, size: u32, arrived: Time) -> Self {
        Self { flow, token, size, flags: Flags::NONE, arrived, header: Header::NONE }
    }

    /// With these flags.
    #[inline]
    #[must_use]
    pub const fn with(self, flags: Flags) -> Self {
        Self { flags, ..self }
    }
}

/// What waits; the packet in service is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
}

impl Backlog {
    /// One more.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes.0 += u64::from(packet.size);
    }

    /// One less.
    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes.0 -= u64::from(packet.size);
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
/// It is asked for every arrival, also for one that goes into service at once (`idle_since` says since when the server is
/// free and nothing waits): that one needs no room.
pub trait Admission: std::fmt::Debug {
    /// The fate of `packet`, which finds `backlog` waiting.
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict;
    /// If the rule is nothing but this limit, the limit: engines may then decide without asking.
    fn plain_limit(&self) -> Option<Limit> {
        None
    }
    /// When [`Self::on_wakeup`] wants to be called.
    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }
    /// A timer of the rule, with what waits at `now`. A packet that arrives or departs at the same instant comes later.
    fn on_wakeup(&mut self, _now: Time, _backlog: Backlog, _idle_since: Option<Time>) {}
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
    /// A packet arrives; `idle_since` says since when, if the server is free and nothing waits: such a packet needs no
    /// room. It may be dropped, or push another out.
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates);
    /// The packet to serve next. `None` only if nothing waits any more (packets may have been dropped here).
    fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet>;
    /// A packet arrives while the server is free, since `idle_since`, and nothing waits: what [`Self::enqueue`] and
    /// [`Self::dequeue`] would do, at once. What goes into service is returned.
    #[inline]
    fn pass(&mut self, packet: Packet, idle_since: Time, fates: &mut impl Fates) -> Option<Packet> {
        let now = packet.arrived;
        self.enqueue(packet, Some(idle_since), fates);
        self.dequeue(now, fates)
    }
    /// What waits.
    fn backlog(&self) -> Backlog;
    /// When [`Self::on_wakeup`] wants to be called: timers of PIE, adaptive RED, XCP.
    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }
    /// A timer of the discipline. A packet that arrives or departs at the same instant comes later.
    fn on_wakeup(&mut self, _now: Time, _idle_since: Option<Time>, _fates: &mut impl Fates) {}
    /// Private numbers worth showing, by name.
    fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// Something to do with a discipline, compiled for each by itself: see [`AnyQueue::visit`].
pub trait Visitor {
    /// What comes out.
    type Out;
    /// Does it.
    fn visit<Q: QueueDiscipline>(self, queue: &mut Q) -> Self::Out;
}

/// Something to do with a rule, compiled for each by itself: see [`AnyAdmission::visit`].
pub trait RuleVisitor {
    /// Does it.
    fn visit<A: Admission>(self, rule: &mut A);
}

/// A catalogue entry: the card and the parameters.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name, title, source.
    pub card: base::Card,
    /// Its parameters.
    pub rows: fn() -> Vec<Param>,
}

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

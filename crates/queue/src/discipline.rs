//! What a discipline does: decides on arrival ([`Admission`]), or does all of a queue ([`QueueDiscipline`]). Each trait is
//! declared together with its dispatch over the disciplines of the registry.

use crate::{Backlog, Limit, Packet};
use base::{Cause, Time};

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

base::dispatched! {
    ($) macro admission;
    /// A rule that decides on arrival, before a first-in first-out queue.
    ///
    /// It is asked for every arrival, also for one that goes into service at once (`idle_since` says since when the server is
    /// free and nothing waits): that one needs no room.
    pub trait Admission: [Sized + std::fmt::Debug] {
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
        /// Shows `visitor` the rule itself.
        fn visit<V: RuleVisitor>(&mut self, visitor: V) {
            visitor.visit(self);
        }
    }
}

/// Where disciplines report the packets they refuse or mark.
pub trait Fates {
    /// `packet` is gone.
    fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time);
    /// `packet` goes on, marked.
    fn marked(&mut self, packet: &Packet, cause: Cause, now: Time);
}

base::dispatched! {
    ($) macro queue_discipline;
    /// A queue in front of one server.
    ///
    /// The server asks for the next packet when it falls idle; a packet that finds it idle is enqueued and dequeued at the
    /// same instant, so that every packet passes both decisions.
    pub trait QueueDiscipline: [Sized + std::fmt::Debug] {
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
        /// Shows `visitor` the discipline itself.
        fn visit<V: Visitor>(&mut self, visitor: V) -> V::Out {
            visitor.visit(self)
        }
    }
}

/// Something to do with a discipline, compiled for each by itself: see [`QueueDiscipline::visit`].
pub trait Visitor {
    /// What comes out.
    type Out;
    /// Does it.
    fn visit<Q: QueueDiscipline>(self, queue: &mut Q) -> Self::Out;
}

/// Something to do with a rule, compiled for each by itself: see [`Admission::visit`].
pub trait RuleVisitor {
    /// Does it.
    fn visit<A: Admission>(self, rule: &mut A);
}

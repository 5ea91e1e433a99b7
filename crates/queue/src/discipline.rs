//! Interfaces of disciplines: a decision on arrival ([`Admission`]), or a complete queue ([`QueueDiscipline`]). Each trait
//! is declared together with its dispatch over the registered disciplines.

use crate::{Backlog, Limit, Packet};
use base::{Cause, Time};

/// Decision of an [`Admission`] about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet may wait or go into service.
    Accept,
    /// The packet may wait or go into service, with the congestion-experienced mark.
    Mark(Cause),
    /// The packet is dropped.
    Drop(Cause),
}

base::dispatched! {
    ($) macro admission;
    /// A rule that decides on arrival, before a first-in first-out queue.
    ///
    /// It is called for every arrival, also for one that goes into service at once: then `idle_since` gives the time since
    /// which the server is free and nothing waits. Such an arrival needs no room.
    pub trait Admission: [Sized + std::fmt::Debug] {
        /// Decides about `packet`, which finds `backlog` waiting.
        fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict;
        /// The limit, if the rule is nothing but a limit: engines may then decide without calling the rule.
        fn plain_limit(&self) -> Option<Limit> {
            None
        }
        /// Time at which [`Self::on_wakeup`] must be called.
        fn next_wakeup(&self) -> Time {
            Time::NEVER
        }
        /// Called when the rule's timer expires, with the backlog at `now`. Arrivals and departures at the same instant
        /// come later.
        fn on_wakeup(&mut self, _now: Time, _backlog: Backlog, _idle_since: Option<Time>) {}
        /// Reports internal values worth showing, by name.
        fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
        /// Passes the rule itself to `visitor`.
        fn visit<V: RuleVisitor>(&mut self, visitor: V) {
            visitor.visit(self);
        }
    }
}

/// Receiver of a discipline's reports about packets that it drops or marks.
pub trait Fates {
    /// `packet` was dropped.
    fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time);
    /// `packet` goes on with a mark.
    fn marked(&mut self, packet: &Packet, cause: Cause, now: Time);
}

base::dispatched! {
    ($) macro queue_discipline;
    /// A queue in front of one server.
    ///
    /// The server asks for the next packet when it becomes idle. A packet that finds the server idle is enqueued and
    /// dequeued at the same instant, so that every packet passes both decisions.
    pub trait QueueDiscipline: [Sized + std::fmt::Debug] {
        /// A packet arrives. It may be dropped, or cause another one to be dropped. `idle_since` gives the time since which
        /// the server is free and nothing waits; such a packet needs no room.
        fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates);
        /// Returns the packet to serve next, possibly after drops. `None` only if no packet waits any more.
        fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet>;
        /// A packet arrives while the server is free since `idle_since` and nothing waits. Combines [`Self::enqueue`] and
        /// [`Self::dequeue`], and returns the packet that goes into service.
        #[inline]
        fn pass(&mut self, packet: Packet, idle_since: Time, fates: &mut impl Fates) -> Option<Packet> {
            let now = packet.arrived;
            self.enqueue(packet, Some(idle_since), fates);
            self.dequeue(now, fates)
        }
        /// Packets and bytes waiting.
        fn backlog(&self) -> Backlog;
        /// Time at which [`Self::on_wakeup`] must be called: timers of PIE, adaptive RED, XCP.
        fn next_wakeup(&self) -> Time {
            Time::NEVER
        }
        /// A timer of the discipline expires. Arrivals and departures at the same instant come later.
        fn on_wakeup(&mut self, _now: Time, _idle_since: Option<Time>, _fates: &mut impl Fates) {}
        /// Reports internal values worth showing, by name.
        fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
        /// Passes the discipline itself to `visitor`.
        fn visit<V: Visitor>(&mut self, visitor: V) -> V::Out {
            visitor.visit(self)
        }
    }
}

/// An operation on a discipline, compiled for each discipline by itself: see [`QueueDiscipline::visit`].
pub trait Visitor {
    /// Result of the visit.
    type Out;
    /// Performs the operation.
    fn visit<Q: QueueDiscipline>(self, queue: &mut Q) -> Self::Out;
}

/// An operation on a rule, compiled for each rule by itself: see [`Admission::visit`].
pub trait RuleVisitor {
    /// Performs the operation.
    fn visit<A: Admission>(self, rule: &mut A);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Overrides every method of trait number `TRAIT` and records the calls.
    #[derive(Clone, Debug, Default)]
    pub struct Noting<const TRAIT: u8>(RefCell<Vec<&'static str>>);

    impl<const TRAIT: u8> Noting<TRAIT> {
        fn note<T>(&self, method: &'static str, answer: T) -> T {
            self.0.borrow_mut().push(method);
            answer
        }
    }

    const WAKEUP: Time = Time(7);

    impl Admission for Noting<0> {
        fn admit(&mut self, _packet: &Packet, _backlog: Backlog, _idle_since: Option<Time>) -> Verdict {
            self.note("admit", Verdict::Drop(Cause::Early))
        }
        fn plain_limit(&self) -> Option<Limit> {
            self.note("plain_limit", Some(Limit::Packets(3)))
        }
        fn next_wakeup(&self) -> Time {
            self.note("next_wakeup", WAKEUP)
        }
        fn on_wakeup(&mut self, _now: Time, _backlog: Backlog, _idle_since: Option<Time>) {
            self.note("on_wakeup", ());
        }
        fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
            put("own", self.note("gauges", 1.0));
        }
        fn visit<V: RuleVisitor>(&mut self, visitor: V) {
            self.note("visit", ());
            visitor.visit(self);
        }
    }

    impl QueueDiscipline for Noting<1> {
        fn enqueue(&mut self, _packet: Packet, _idle_since: Option<Time>, _fates: &mut impl Fates) {
            self.note("enqueue", ());
        }
        fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
            self.note("dequeue", None)
        }
        fn pass(&mut self, packet: Packet, _idle_since: Time, _fates: &mut impl Fates) -> Option<Packet> {
            self.note("pass", Some(packet))
        }
        fn backlog(&self) -> Backlog {
            self.note("backlog", Backlog { packets: 2, ..Backlog::default() })
        }
        fn next_wakeup(&self) -> Time {
            self.note("next_wakeup", WAKEUP)
        }
        fn on_wakeup(&mut self, _now: Time, _idle_since: Option<Time>, _fates: &mut impl Fates) {
            self.note("on_wakeup", ());
        }
        fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
            put("own", self.note("gauges", 1.0));
        }
        fn visit<V: Visitor>(&mut self, visitor: V) -> V::Out {
            self.note("visit", ());
            visitor.visit(self)
        }
    }

    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnyRule: admission { Own(Noting<0>), }
    }
    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnyDiscipline: queue_discipline { Own(Noting<1>), }
    }

    struct NoFates;

    impl Fates for NoFates {
        fn dropped(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
        fn marked(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
    }

    struct Length;

    impl Visitor for Length {
        type Out = u32;
        fn visit<Q: QueueDiscipline>(self, queue: &mut Q) -> u32 {
            queue.backlog().packets
        }
    }

    struct ReadLimit<'a>(&'a mut Option<Limit>);

    impl RuleVisitor for ReadLimit<'_> {
        fn visit<A: Admission>(self, rule: &mut A) {
            *self.0 = rule.plain_limit();
        }
    }

    /// The methods that a trait's declaration in this file lists.
    fn declared(name: &str) -> Vec<&'static str> {
        let file = include_str!("discipline.rs");
        let body = file.split(&format!("pub trait {name}: [")).nth(1).unwrap().split("\n    }\n").next().unwrap();
        body.split("\n        fn ").skip(1).map(|method| method.split(['(', '<']).next().unwrap()).collect()
    }

    fn sorted(mut names: Vec<&'static str>) -> Vec<&'static str> {
        names.sort_unstable();
        names.dedup();
        names
    }

    fn own(gauges: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        let mut put = Vec::new();
        gauges(&mut |name, x| put.push((name, x)));
        assert_eq!(put, [("own", 1.0)]);
    }

    #[test]
    fn every_method_of_a_rule_arrives_through_the_enum() {
        let mut any = AnyRule::from(Noting::default());
        let packet = Packet::new(0, 0, 1000, Time::ZERO);
        assert_eq!(any.admit(&packet, Backlog::default(), None), Verdict::Drop(Cause::Early));
        assert_eq!((any.plain_limit(), any.next_wakeup()), (Some(Limit::Packets(3)), WAKEUP));
        any.on_wakeup(WAKEUP, Backlog::default(), None);
        let mut limit = None;
        any.visit(ReadLimit(&mut limit));
        assert_eq!(limit, Some(Limit::Packets(3)));
        own(|put| any.gauges(put));
        let AnyRule::Own(noting) = any;
        assert_eq!(sorted(noting.0.take()), sorted(declared("Admission")));
    }

    #[test]
    fn every_method_of_a_discipline_arrives_through_the_enum() {
        let mut any = AnyDiscipline::from(Noting::default());
        let packet = Packet::new(0, 0, 1000, Time::ZERO);
        any.enqueue(packet, None, &mut NoFates);
        assert_eq!((any.dequeue(WAKEUP, &mut NoFates), any.next_wakeup()), (None, WAKEUP));
        // The default implementation would call `enqueue` and `dequeue` and return nothing.
        assert_eq!(any.pass(packet, Time::ZERO, &mut NoFates), Some(packet));
        any.on_wakeup(WAKEUP, None, &mut NoFates);
        assert_eq!(any.visit(Length), 2);
        own(|put| any.gauges(put));
        let AnyDiscipline::Own(noting) = any;
        assert_eq!(sorted(noting.0.take()), sorted(declared("QueueDiscipline")));
    }
}

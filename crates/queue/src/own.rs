//! Disciplines of two types in one run: those of the registry, and the caller's.

use crate::{Backlog, Fates, Packet, QueueDiscipline, Visitor};
use base::Time;

/// One of two types of disciplines, for runs that use both. Nested pairs allow three or more types.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The first type.
    First(A),
    /// The second type.
    Second(B),
}

queue_discipline! { Either<A, B> { First Second } }

/// For callers without a discipline of their own: the type has no values, so built-in disciplines have no extra cost.
#[derive(Clone, Copy, Debug)]
pub enum NoOwn {}

impl QueueDiscipline for NoOwn {
    fn enqueue(&mut self, _packet: Packet, _idle_since: Option<Time>, _fates: &mut impl Fates) {
        match *self {}
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        match *self {}
    }

    fn backlog(&self) -> Backlog {
        match *self {}
    }
}

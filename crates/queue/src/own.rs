//! Disciplines of two types in one run: the registry's, and others that callers have.

use crate::{Backlog, Fates, Packet, QueueDiscipline, Visitor};
use base::Time;

/// One of two disciplines: for runs in which some links have the one and some the other. For three, one of the two is such a pair.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The one.
    First(A),
    /// The other.
    Second(B),
}

queue_discipline! { Either<A, B> { First Second } }

/// The caller has no discipline of its own: there is no such value, so that built-in ones cost what they cost alone.
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

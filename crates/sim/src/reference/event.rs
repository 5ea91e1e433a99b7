//! The events of the reference engine and their order in its heap: by time, then by phase, flow, link and order of
//! insertion.

use base::Time;
use queue::Packet;
use transport::Ack;

/// Kinds of events, in the order in which they happen at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Mark,
    Wakeup,
    Depart,
    Deliver,
    DelayedAck,
    AckAtSender,
    Timer,
    Start,
    Stop,
    Emit,
    EnterAccess,
    Arrive,
}

#[derive(Clone, Copy, Debug)]
pub enum Event {
    Warm,
    Sample,
    Wakeup(usize),
    LinkDone(usize),
    AccessDone(usize),
    Deliver(Packet),
    DelayedAck(usize),
    AckAtSender(usize, Ack),
    Timer(usize),
    Open(usize),
    Start(usize),
    Stop(usize),
    Emit(usize),
    EnterAccess(Packet),
    Arrive(usize, Packet),
}

/// Time of an event, and its rank among the events of the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub time: Time,
    pub phase: Phase,
    pub flow: u32,
    /// Link at which a packet arrives.
    pub link: usize,
    /// Sequence number of insertion into the heap.
    pub pushed: u64,
}

/// An event in the heap; its key alone orders it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub key: Key,
    pub event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

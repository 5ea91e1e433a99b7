//! Packets waiting by flow, in one shared pool: what fair queueing, round robins and their kin are built of.
//!
//! A flow with packets waiting holds a *lane*, a list through the pool; lanes are given back when they are empty, so that
//! memory follows what waits and not how many flows there ever were (but for 4 bytes a flow number).

use crate::{Backlog, Packet, Port};
use base::{Amount, ParamError};

/// No lane, no slot.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Slot {
    packet: Packet,
    next: u32,
    prev: u32,
}

#[derive(Clone, Debug)]
struct Lane {
    head: u32,
    tail: u32,
    flow: u32,
    packets: u32,
    bytes: u64,
    /// Bytes that it may still send in its turn.
    deficit: u64,
    /// Its neighbours in a round, while it is in one.
    next: u32,
    prev: u32,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    lanes: Vec<Lane>,
    free_lanes: Vec<u32>,
    lane_of: Vec<u32>,
    backlog: Backlog,
}

impl Flows {
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The lane of `flow`; [`NONE`] if nothing of it waits.
    #[inline]
    pub fn lane(&self, flow: u32) -> u32 {
        self.lane_of.get(flow as usize).copied().unwrap_or(NONE)
    }

    #[inline]
    pub fn flow(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].flow
    }

    #[inline]
    pub fn bytes(&self, lane: u32) -> u64 {
        self.lanes[lane as usize].bytes
    }

    #[inline]
    pub fn packets(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].packets
    }

    /// Bytes of `flow` that wait.
    #[inline]
    pub fn bytes_of(&self, flow: u32) -> u64 {
        match self.lane(flow) {
            NONE => 0,
            lane => self.bytes(lane),
        }
    }

    /// The oldest packet of a lane.
    #[inline]
    pub fn front(&self, lane: u32) -> &Packet {
        &self.slots[self.lanes[lane as usize].head as usize].packet
    }

    /// Appends `packet` to its flow's lane. Returns the lane, and whether it is new.
    #[inline]
    pub fn push(&mut self, packet: Packet) -> (u32, bool) {
        self.push_as(packet, packet.flow)
    }

    /// Appends `packet` to the lane of `flow`, which need not be its own: hashed flows share one.
    #[inline]
    pub fn push_as(&mut self, packet: Packet, flow: u32) -> (u32, bool) {
        let (lane, new) = match self.lane(flow) {
            NONE => (self.open(flow), true),
            lane => (lane, false),
        };
        let entry = &mut self.lanes[lane as usize];
        let tail = entry.tail;
        let filled = Slot { packet, next: NONE, prev: tail };
        let slot = if let Some(slot) = self.free_slots.pop() {
            self.slots[slot as usize] = filled;
            slot
        } else {
            self.slots.push(filled);
            self.slots.len() as u32 - 1
        };
        if tail == NONE {
            entry.head = slot;
        } else {
            self.slots[tail as usize].next = slot;
        }
        entry.tail = slot;
        entry.packets += 1;
        entry.bytes += u64::from(packet.size);
        self.backlog.add(&packet);
        (lane, new)
    }

    /// Takes the oldest packet of a lane. An empty lane must be [closed](Self::close).
    #[inline]
    pub fn pop_front(&mut self, lane: u32) -> Packet {
        let entry = &mut self.lanes[lane as usize];
        let slot = entry.head;
        let Slot { packet, next, .. } = self.slots[slot as usize];
        entry.head = next;
        if next == NONE {
            entry.tail = NONE;
        } else {
            self.slots[next as usize].prev = NONE;
        }
        self.taken(lane, slot, packet)
    }

    /// Takes the youngest packet of a lane. An empty lane must be [closed](Self::close).
    pub fn pop_back(&mut self, lane: u32) -> Packet {
        let entry = &mut self.lanes[lane as usize];
        let slot = entry.tail;
        let Slot { packet, prev, .. } = self.slots[slot as usize];
        entry.tail = prev;
        if prev == NONE {
            entry.head = NONE;
        } else {
            self.slots[prev as usize].next = NONE;
        }
        self.taken(lane, slot, packet)
    }

    #[inline]
    fn taken(&mut self, lane: u32, slot: u32, packet: Packet) -> Packet {
        let entry = &mut self.lanes[lane as usize];
        entry.packets -= 1;
        entry.bytes -= u64::from(packet.size);
        self.free_slots.push(slot);
        self.backlog.remove(&packet);
        packet
    }

    /// Gives an empty lane back; it must be in no round any more.
    #[inline]
    pub fn close(&mut self, lane: u32) {
        debug_assert_eq!(self.lanes[lane as usize].packets, 0);
        self.lane_of[self.lanes[lane as usize].flow as usize] = NONE;
        self.free_lanes.push(lane);
    }

    fn open(&mut self, flow: u32) -> u32 {
        if self.lane_of.len() <= flow as usize {
            self.lane_of.resize(flow as usize + 1, NONE);
        }
        let fresh = Lane { head: NONE, tail: NONE, flow, packets: 0, bytes: 0, deficit: 0, next: NONE, prev: NONE };
        let lane = if let Some(lane) = self.free_lanes.pop() {
            self.lanes[lane as usize] = fresh;
            lane
        } else {
            self.lanes.push(fresh);
            self.lanes.len() as u32 - 1
        };
        self.lane_of[flow as usize] = lane;
        lane
    }
}

/// A deficit round robin over lanes: who is served next.
///
/// Source: Shreedhar and Varghese 1995, Section 3. The lane in front is served until its deficit is used up.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    quantum: u64,
    /// The lane whose turn it is.
    front: u32,
    /// Whether it has had its quantum.
    granted: bool,
}

impl Turn {
    pub fn new(quantum: u64) -> Self {
        Self { quantum, front: NONE, granted: false }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.front == NONE
    }

    /// A lane that just opened joins at the end of the round.
    #[inline]
    pub fn join(&mut self, flows: &mut Flows, lane: u32) {
        if self.front == NONE {
            (self.front, self.granted) = (lane, false);
            let entry = &mut flows.lanes[lane as usize];
            (entry.next, entry.prev) = (lane, lane);
        } else {
            let front = self.front;
            let last = std::mem::replace(&mut flows.lanes[front as usize].prev, lane);
            flows.lanes[last as usize].next = lane;
            let entry = &mut flows.lanes[lane as usize];
            (entry.next, entry.prev) = (front, last);
        }
    }

    /// A lane that is empty leaves.
    #[inline]
    pub fn leave(&mut self, flows: &mut Flows, lane: u32) {
        let Lane { next, prev, .. } = flows.lanes[lane as usize];
        if next == lane {
            self.front = NONE;
        } else {
            flows.lanes[prev as usize].next = next;
            flows.lanes[next as usize].prev = prev;
            if self.front == lane {
                (self.front, self.granted) = (next, false);
            }
        }
    }

    /// The lane to serve next, its deficit charged for the packet in front; `None` if nothing waits.
    #[inline]
    pub fn choose(&mut self, flows: &mut Flows) -> Option<u32> {
        if self.front == NONE {
            return None;
        }
        loop {
            let lane = self.front;
            let size = u64::from(flows.front(lane).size);
            let entry = &mut flows.lanes[lane as usize];
            if !self.granted {
                entry.deficit += self.quantum;
                self.granted = true;
            }
            if size <= entry.deficit {
                entry.deficit -= size;
                return Some(lane);
            }
            (self.front, self.granted) = (entry.next, false);
        }
    }

    /// The packet to serve next; lanes that it empties leave and close.
    #[inline]
    pub fn next(&mut self, flows: &mut Flows) -> Option<Packet> {
        let lane = self.choose(flows)?;
        let packet = flows.pop_front(lane);
        if flows.packets(lane) == 0 {
            self.leave(flows, lane);
            flows.close(lane);
        }
        Some(packet)
    }
}

/// A quantum in bytes, at least one.
pub(crate) fn quantum(amount: Amount, port: &Port) -> Result<u64, ParamError> {
    let bytes = (amount.packets() * port.packet).round();
    if bytes >= 1.0 { Ok(bytes as u64) } else { Err(ParamError::new("quantum", "must be a byte or more")) }
}

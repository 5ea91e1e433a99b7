//! Packets waiting by flow, in one shared pool: what fair queueing, round robins and their kin are built of.
//!
//! A flow with packets waiting holds a *lane*, a list through the pool; lanes are given back when they are empty, so that
//! memory follows what waits and not how many flows there ever were (but for 4 bytes a flow number).

use crate::order::Victim;
use crate::{Backlog, Packet};

/// No lane, no slot.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Slot {
    packet: Packet,
    next: u32,
    prev: u32,
}

/// Its ends mean nothing while it is empty, nor does what lies beyond them.
#[derive(Clone, Debug, Default)]
struct Lane {
    head: u32,
    tail: u32,
    flow: u32,
    packets: u32,
    bytes: u64,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// Its neighbours in a round, while it is in one.
    next: u32,
    prev: u32,
    /// Whether it is among those that changed.
    changed: bool,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    lanes: Vec<Lane>,
    free_lanes: Vec<u32>,
    lane_of: Vec<u32>,
    /// Lanes whose length changed since somebody asked, in the order of the first change.
    changed: Vec<u32>,
    backlog: Backlog,
}

impl Flows {
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// How many lanes there are.
    #[inline]
    pub fn open_lanes(&self) -> f64 {
        (self.lanes.len() - self.free_lanes.len()) as f64
    }

    /// The lane of `flow`; [`NONE`] if nothing of it waits.
    #[inline]
    pub fn lane(&self, flow: u32) -> u32 {
        self.lane_of.get(flow as usize).copied().unwrap_or(NONE)
    }

    /// Whose lane it is.
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
        &self.slots[self.front_slot(lane) as usize].packet
    }

    /// Where the oldest packet of a lane lies; something must.
    #[inline]
    pub fn front_slot(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].head
    }

    /// Where the youngest packet of a lane lies; something must.
    #[inline]
    pub fn back_slot(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].tail
    }

    /// The packet that lies in a slot.
    #[inline]
    pub fn at(&self, slot: u32) -> &Packet {
        &self.slots[slot as usize].packet
    }

    /// Appends `packet` to its flow's lane. Returns the lane, and whether it is new.
    #[inline]
    pub fn push(&mut self, packet: Packet) -> (u32, bool) {
        self.push_as(packet, packet.flow)
    }

    /// Appends `packet` to the lane of `flow`, which need not be its own: hashed flows share one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
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
        if entry.packets == 0 {
            entry.head = slot;
        } else {
            self.slots[tail as usize].next = slot;
        }
        entry.tail = slot;
        entry.packets += 1;
        entry.bytes += u64::from(packet.size);
        let known = std::mem::replace(&mut entry.changed, true);
        self.backlog.add(&packet);
        if !known {
            self.changed.push(lane);
        }
        (lane, new)
    }

    /// Takes the oldest packet of a lane. An empty lane must be [closed](Self::close).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    pub fn pop_front(&mut self, lane: u32) -> Packet {
        let slot = self.lanes[lane as usize].head;
        let Slot { packet, next, .. } = self.slots[slot as usize];
        self.lanes[lane as usize].head = next;
        self.taken(lane, slot, &packet);
        packet
    }

    /// Takes the youngest packet of a lane. An empty lane must be [closed](Self::close).
    #[inline]
    pub fn pop_back(&mut self, lane: u32) -> Packet {
        let slot = self.lanes[lane as usize].tail;
        let Slot { packet, prev, .. } = self.slots[slot as usize];
        self.lanes[lane as usize].tail = prev;
        self.taken(lane, slot, &packet);
        packet
    }

    /// Takes the packet at one end of a lane.
    pub fn pop_end(&mut self, lane: u32, end: Victim) -> Packet {
        match end {
            Victim::Head => self.pop_front(lane),
            Victim::Tail => self.pop_back(lane),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    fn taken(&mut self, lane: u32, slot: u32, packet: &Packet) {
        let entry = &mut self.lanes[lane as usize];
        entry.packets -= 1;
        entry.bytes -= u64::from(packet.size);
        let known = std::mem::replace(&mut entry.changed, true);
        self.free_slots.push(slot);
        self.backlog.remove(packet);
        if !known {
            self.changed.push(lane);
        }
    }

    /// The `i`-th lane whose length changed since the list was [forgotten](Self::forget_changes).
    #[inline]
    pub fn change(&mut self, i: usize) -> Option<u32> {
        let lane = *self.changed.get(i)?;
        self.lanes[lane as usize].changed = false;
        Some(lane)
    }

    /// All changes have been looked at.
    pub fn forget_changes(&mut self) {
        self.changed.clear();
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
        let lane = self.free_lanes.pop().unwrap_or(self.lanes.len() as u32);
        // A lane keeps its place among those that changed, whoever has it.
        let changed = self.lanes.get(lane as usize).is_some_and(|lane| lane.changed);
        let fresh = Lane { flow, changed, ..Lane::default() };
        if let Some(old) = self.lanes.get_mut(lane as usize) {
            *old = fresh;
        } else {
            self.lanes.push(fresh);
        }
        self.lane_of[flow as usize] = lane;
        lane
    }
}

/// The ring of a round, threaded through the lanes.
impl Flows {
    /// Who is before and after a lane.
    #[inline]
    pub fn neighbours(&self, lane: u32) -> (u32, u32) {
        let Lane { prev, next, .. } = self.lanes[lane as usize];
        (prev, next)
    }

    /// Puts `lane` between `prev` and `next`, which may be itself.
    #[inline]
    pub fn link(&mut self, prev: u32, lane: u32, next: u32) {
        self.bridge(prev, lane);
        self.bridge(lane, next);
    }

    /// Makes `prev` and `next` neighbours.
    #[inline]
    pub fn bridge(&mut self, prev: u32, next: u32) {
        self.lanes[prev as usize].next = next;
        self.lanes[next as usize].prev = prev;
    }

    /// Bytes that a lane may still send in its turn.
    #[inline]
    pub fn deficit(&mut self, lane: u32) -> &mut i64 {
        &mut self.lanes[lane as usize].deficit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;

    #[test]
    fn memory_follows_what_waits() {
        let mut flows = Flows::default();
        for flow in 0..1000 {
            let (lane, new) = flows.push(Packet::new(flow, 0, 1000, Time::ZERO));
            assert!(new);
            flows.pop_front(lane);
            flows.close(lane);
        }
        assert_eq!((flows.slots.len(), flows.lanes.len(), flows.changed.len()), (1, 1, 1));
        assert_eq!(flows.backlog(), Backlog::default());
    }
}

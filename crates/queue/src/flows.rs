//! Waiting packets by flow, in one shared pool: the storage for fair queueing and round robins.
//!
//! A flow with waiting packets has a *lane*, a list through the pool. Empty lanes are given back, so that memory depends on
//! the waiting packets and not on the number of flows (except 4 bytes per flow number). Free entries form a list, with the
//! one freed last in front, because it is still in the cache.

use crate::{Backlog, Packet};
use base::Flags;

base::words! {
    /// Packet of the longest queue that is dropped.
    pub enum Victim {
        /// The oldest packet.
        Head = "head",
        /// The youngest packet.
        Tail = "tail",
    }
}

/// Marker for no lane or no slot.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Slot {
    packet: Packet,
    /// The next younger packet in its lane, or the next free slot.
    next: u32,
    prev: u32,
}

/// Storage slots for packets.
#[derive(Clone, Debug)]
struct Pool {
    slots: Vec<Slot>,
    /// The slot freed last.
    free: u32,
}

impl Pool {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn put(&mut self, filled: Slot) -> u32 {
        let slot = self.free;
        // [`NONE`] is out of bounds.
        if let Some(place) = self.slots.get_mut(slot as usize) {
            self.free = place.next;
            *place = filled;
            return slot;
        }
        self.slots.push(filled);
        self.slots.len() as u32 - 1
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn take(&mut self, slot: u32) -> Slot {
        let place = &mut self.slots[slot as usize];
        let taken = Slot { packet: place.packet, next: place.next, prev: place.prev };
        place.next = self.free;
        self.free = slot;
        taken
    }
}

/// The packets of a flow. `head` and `tail` are valid only while the lane holds packets; the links beyond them are never
/// valid.
#[derive(Clone, Debug, Default)]
struct Lane {
    head: u32,
    tail: u32,
    flow: u32,
    packets: u32,
    bytes: u64,
    /// Bytes that the lane may still send in its turn.
    deficit: i64,
    /// Its neighbours in a round, while it is in one; for a free lane, `next` is the next free lane.
    next: u32,
    prev: u32,
    /// Whether it is in the list of changed lanes.
    changed: bool,
}

impl Lane {
    /// Removes a packet of `size` bytes. Returns whether the lane was already in the list of changed lanes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn lose(&mut self, size: u32) -> bool {
        self.packets -= 1;
        self.bytes -= u64::from(size);
        std::mem::replace(&mut self.changed, true)
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Flows {
    pool: Pool,
    lanes: Vec<Lane>,
    free_lane: u32,
    /// Number of lanes in use.
    open: u32,
    lane_of: Vec<u32>,
    /// Lanes whose length changed since the list was last read, in the order of their first change.
    changed: Vec<u32>,
    backlog: Backlog,
}

impl Default for Flows {
    fn default() -> Self {
        Self {
            pool: Pool { slots: Vec::new(), free: NONE },
            lanes: Vec::new(),
            free_lane: NONE,
            open: 0,
            lane_of: Vec::new(),
            changed: Vec::new(),
            backlog: Backlog::default(),
        }
    }
}

impl Flows {
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Number of lanes with packets.
    #[inline]
    pub fn open_lanes(&self) -> f64 {
        f64::from(self.open)
    }

    /// The lane of `flow`; [`NONE`] if it has no waiting packets.
    #[inline]
    pub fn lane(&self, flow: u32) -> u32 {
        self.lane_of.get(flow as usize).copied().unwrap_or(NONE)
    }

    /// The flow of a lane.
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

    /// Waiting bytes of `flow`.
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
        &self.pool.slots[self.front_slot(lane) as usize].packet
    }

    /// Marks the oldest packet of a lane and returns it.
    pub fn mark_front(&mut self, lane: u32) -> Packet {
        let slot = self.front_slot(lane);
        let packet = &mut self.pool.slots[slot as usize].packet;
        packet.flags = packet.flags.with(Flags::CE);
        *packet
    }

    /// Slot of the oldest packet of a lane, which must not be empty.
    #[inline]
    pub fn front_slot(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].head
    }

    /// Slot of the youngest packet of a lane, which must not be empty.
    #[inline]
    pub fn back_slot(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].tail
    }

    /// The packet in a slot.
    #[inline]
    pub fn at(&self, slot: u32) -> &Packet {
        &self.pool.slots[slot as usize].packet
    }

    /// Appends `packet` to its flow's lane. Returns the lane, and whether it is new.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    pub fn push(&mut self, packet: Packet) -> (u32, bool) {
        self.push_as(packet, packet.flow)
    }

    /// Appends `packet` to the lane of `flow`, which may be another flow: hashed flows share a lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    pub fn push_as(&mut self, packet: Packet, flow: u32) -> (u32, bool) {
        let (lane, new) = match self.lane(flow) {
            NONE => (self.open(flow), true),
            lane => (lane, false),
        };
        let entry = &mut self.lanes[lane as usize];
        let tail = entry.tail;
        let slot = self.pool.put(Slot { packet, next: NONE, prev: tail });
        if entry.packets == 0 {
            entry.head = slot;
        } else {
            self.pool.slots[tail as usize].next = slot;
        }
        entry.tail = slot;
        entry.packets += 1;
        entry.bytes += u64::from(packet.size);
        if !std::mem::replace(&mut entry.changed, true) {
            self.changed.push(lane);
        }
        self.backlog.add(&packet);
        (lane, new)
    }

    /// Takes the oldest packet of a lane. An empty lane must be [closed](Self::close).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    pub fn pop_front(&mut self, lane: u32) -> Packet {
        let entry = &mut self.lanes[lane as usize];
        let Slot { packet, next, .. } = self.pool.take(entry.head);
        entry.head = next;
        if !entry.lose(packet.size) {
            self.changed.push(lane);
        }
        self.backlog.remove(&packet);
        packet
    }

    /// Takes the oldest packet of the lane whose turn it is, if its deficit plus `more` bytes suffices; returns it with the
    /// number of packets left. Otherwise stores the new deficit, and returns the next lane in the round.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    pub fn pop_within(&mut self, lane: u32, more: i64) -> Result<(Packet, u32), u32> {
        let entry = &mut self.lanes[lane as usize];
        let left = entry.deficit + more;
        // Mostly nothing is left and no packet can fit, so the packet need not be read.
        if left > 0 || more > 0 {
            let size = i64::from(self.pool.slots[entry.head as usize].packet.size);
            if size <= left {
                let Slot { packet, next, .. } = self.pool.take(entry.head);
                entry.head = next;
                entry.deficit = left - size;
                let known = entry.lose(packet.size);
                let packets = entry.packets;
                if !known {
                    self.changed.push(lane);
                }
                self.backlog.remove(&packet);
                return Ok((packet, packets));
            }
        }
        entry.deficit = left;
        Err(entry.next)
    }

    /// Takes the youngest packet of a lane. An empty lane must be [closed](Self::close).
    #[inline]
    pub fn pop_back(&mut self, lane: u32) -> Packet {
        let entry = &mut self.lanes[lane as usize];
        let Slot { packet, prev, .. } = self.pool.take(entry.tail);
        entry.tail = prev;
        if !entry.lose(packet.size) {
            self.changed.push(lane);
        }
        self.backlog.remove(&packet);
        packet
    }

    /// Takes the packet at one end of a lane.
    pub fn pop_end(&mut self, lane: u32, end: Victim) -> Packet {
        match end {
            Victim::Head => self.pop_front(lane),
            Victim::Tail => self.pop_back(lane),
        }
    }

    /// The `i`-th lane whose length changed since the list was [forgotten](Self::forget_changes).
    #[inline]
    pub fn change(&mut self, i: usize) -> Option<u32> {
        let lane = *self.changed.get(i)?;
        self.lanes[lane as usize].changed = false;
        Some(lane)
    }

    /// Clears the list of changed lanes, after all were read.
    pub fn forget_changes(&mut self) {
        self.changed.clear();
    }

    /// Gives an empty lane back; it must not be in a round any more.
    #[inline]
    pub fn close(&mut self, lane: u32) {
        let entry = &mut self.lanes[lane as usize];
        debug_assert_eq!(entry.packets, 0);
        entry.next = self.free_lane;
        self.free_lane = lane;
        self.open -= 1;
        self.lane_of[entry.flow as usize] = NONE;
    }

    #[inline]
    fn open(&mut self, flow: u32) -> u32 {
        let lane = self.free_lane;
        // [`NONE`] is out of bounds.
        if let (Some(free), Some(place)) = (self.lanes.get_mut(lane as usize), self.lane_of.get_mut(flow as usize)) {
            self.free_lane = free.next;
            self.open += 1;
            // A free lane is empty. It stays in the list of changed lanes, whichever flow gets it.
            (free.flow, free.deficit) = (flow, 0);
            *place = lane;
            return lane;
        }
        self.open_new(flow)
    }

    /// Opens a lane for a flow without one, if no lane is free or the flow never had one.
    #[cold]
    fn open_new(&mut self, flow: u32) -> u32 {
        if self.lane_of.len() <= flow as usize {
            self.lane_of.resize(flow as usize + 1, NONE);
        }
        if self.free_lane == NONE {
            self.free_lane = self.lanes.len() as u32;
            self.lanes.push(Lane { next: NONE, ..Lane::default() });
        }
        self.open(flow)
    }
}

/// The ring of a round robin, linked through the lanes.
impl Flows {
    /// The lanes before and after a lane.
    #[inline]
    pub fn neighbours(&self, lane: u32) -> (u32, u32) {
        let Lane { prev, next, .. } = self.lanes[lane as usize];
        (prev, next)
    }

    /// Inserts `lane` between `prev` and `next`, which may be the lane itself.
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

/// Spreads the bits of a salted flow number, for disciplines that hash flows: the finalizer of `SplitMix64` (Steele, Lea and
/// Flood 2014).
#[inline]
pub(crate) fn spread(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;

    #[test]
    fn numbers_are_spread_as_by_the_published_generator() {
        // The first two outputs of SplitMix64 from seed 0: its state grows by the golden ratio.
        let golden = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(spread(golden), 0xe220_a839_7b1d_cdaf);
        assert_eq!(spread(golden.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn memory_depends_on_the_waiting_packets_only() {
        let mut flows = Flows::default();
        for flow in 0..1000 {
            let (lane, new) = flows.push(Packet::new(flow, 0, 1000, Time::ZERO));
            assert!(new);
            flows.pop_front(lane);
            flows.close(lane);
        }
        assert_eq!((flows.pool.slots.len(), flows.lanes.len(), flows.changed.len()), (1, 1, 1));
        assert_eq!(flows.backlog(), Backlog::default());
    }
}

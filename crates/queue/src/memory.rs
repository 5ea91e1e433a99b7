//! Memory shared by the buffers of several links, as in switch chips: how much of it each may use.
//!
//! Source: A. K. Choudhury, E. L. Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM
//! Transactions on Networking 6(2), 1998: complete sharing, complete partitioning, dynamic thresholds.
//! Differs from the source: packets instead of cells, so a queue below its threshold may exceed it by less than a packet.

use crate::Backlog;

/// Rule by which queues share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A packet is accepted if the pool has room for it, so one queue may use the whole pool.
    Complete,
    /// Each queue has an equal share of its own.
    Static,
    /// Each queue is limited to alpha times the free memory.
    Dynamic,
}

impl Sharing {
    /// All rules, with their names in files.
    pub const ALL: [(Self, &str); 3] =
        [(Self::Complete, "complete"), (Self::Static, "static"), (Self::Dynamic, "dynamic")];
}

/// Size of a memory: what may wait in all its queues together, without the packets in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySize {
    /// Size in packets of any size.
    Packets(u64),
    /// Size in bytes.
    Bytes(u64),
}

/// See the [module](self). Amounts are in packets or bytes, like the size.
#[derive(Clone, Copy, Debug)]
pub struct SharedMemory {
    size: MemorySize,
    sharing: Sharing,
    queues: u32,
}

impl SharedMemory {
    /// Memory for `queues` queues.
    #[must_use]
    pub fn new(size: MemorySize, sharing: Sharing, queues: u32) -> Self {
        Self { size, sharing, queues }
    }

    /// Memory used by a packet of `size` bytes, in the pool's unit.
    #[inline]
    #[must_use]
    pub fn taken_by(&self, size: u32) -> u64 {
        match self.size {
            MemorySize::Packets(_) => 1,
            MemorySize::Bytes(_) => u64::from(size),
        }
    }

    /// Memory used by `backlog`, in the pool's unit.
    #[must_use]
    pub fn held_by(&self, backlog: Backlog) -> u64 {
        match self.size {
            MemorySize::Packets(_) => u64::from(backlog.packets),
            MemorySize::Bytes(_) => backlog.bytes.0,
        }
    }

    /// Whether a packet of `packet` bytes may join a queue that uses `own` of the memory, when all queues together use
    /// `used`.
    #[inline]
    #[must_use]
    pub fn has_room(&self, packet: u32, own: u64, used: u64, alpha: f64) -> bool {
        let (MemorySize::Packets(size) | MemorySize::Bytes(size)) = self.size;
        let more = self.taken_by(packet);
        used + more <= size
            && match self.sharing {
                Sharing::Complete => true,
                Sharing::Static => u128::from(own + more) * u128::from(self.queues) <= u128::from(size),
                // An arrival is refused if its queue is at or above the threshold.
                Sharing::Dynamic => (own as f64) < alpha * (size - used) as f64,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Bytes;

    fn room(sharing: Sharing, own: u64, used: u64) -> bool {
        SharedMemory::new(MemorySize::Packets(100), sharing, 3).has_room(1500, own, used, 2.0)
    }

    #[test]
    fn with_complete_sharing_one_queue_may_hold_all_memory() {
        assert!(room(Sharing::Complete, 99, 99) && room(Sharing::Complete, 0, 99));
        assert!(!room(Sharing::Complete, 0, 100));
    }

    #[test]
    fn a_static_share_is_the_size_divided_by_the_number_of_queues() {
        // Each of three queues has 33 of 100.
        assert!(room(Sharing::Static, 32, 32) && room(Sharing::Static, 32, 98));
        assert!(!room(Sharing::Static, 33, 33));
    }

    #[test]
    fn a_dynamic_threshold_is_alpha_times_the_free_memory() {
        // A single queue: 66 < 2 (100 - 66) = 68, but 67 > 2 (100 - 67) = 66, so the 67th packet is the last one accepted.
        assert!(room(Sharing::Dynamic, 66, 66) && !room(Sharing::Dynamic, 67, 67));
        // With 80 in use by all queues, the threshold is 40.
        assert!(room(Sharing::Dynamic, 39, 80) && !room(Sharing::Dynamic, 40, 80));
        assert!(!room(Sharing::Dynamic, 0, 100));
    }

    #[test]
    fn bytes_are_counted_in_bytes() {
        let memory = SharedMemory::new(MemorySize::Bytes(3000), Sharing::Complete, 2);
        assert!(memory.has_room(1500, 0, 1500, 1.0) && !memory.has_room(1501, 0, 1500, 1.0));
        let backlog = Backlog { packets: 2, bytes: Bytes(2900) };
        assert_eq!((memory.held_by(backlog), memory.taken_by(40)), (2900, 40));
    }
}

//! Lower bound for the benchmarks: the time to move all packets through memory, without any decision about them.
//!
//! Per-flow rings hold a bandwidth-delay product of 8-byte records. Each step takes a record from a ring in a known
//! round-robin order, touches the flow's 32 bytes of state, and puts a record back. There is no queue, no TCP and no
//! sorting.

use base::RunMonitor;

/// Number of packets between two checks of the monitor.
const PACKETS_BETWEEN_LOOKS: u64 = 1 << 20;

/// State that a link would keep for a flow.
#[derive(Clone, Copy, Default)]
struct FlowState {
    head: u64,
    tail: u64,
    clock: u64,
    count: u64,
}

/// Moves `packets` records through the rings of `flows` flows, which hold `in_flight` records in all; stops early if
/// `monitor` says so. Returns a checksum.
#[must_use]
pub fn memory_floor(packets: u64, in_flight: u64, flows: u32, monitor: &RunMonitor) -> u64 {
    let flows = flows.max(1) as usize;
    let each = (in_flight as usize / flows).max(1);
    let capacity = each.next_power_of_two();
    let mask = capacity - 1;
    let mut rings = vec![vec![0u64; capacity]; flows];
    let mut states = vec![FlowState { tail: each as u64, ..FlowState::default() }; flows];
    let (mut checksum, mut f) = (0u64, 0);
    let mut next = 0;
    while next < packets && !monitor.is_stopped() {
        let from = next;
        next = packets.min(from + PACKETS_BETWEEN_LOOKS);
        for i in from..next {
            let (ring, state) = (&mut rings[f], &mut states[f]);
            let record = ring[state.head as usize & mask];
            state.clock = state.clock.wrapping_add(record ^ i);
            ring[state.tail as usize & mask] = state.clock;
            state.head += 1;
            state.tail += 1;
            state.count += 1;
            checksum ^= record;
            f += 1;
            if f == flows {
                f = 0;
            }
        }
    }
    states.iter().fold(checksum, |sum, state| sum ^ state.clock ^ state.count)
}

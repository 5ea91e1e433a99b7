//! Memory that the window engine uses for each sender, flow, link and packet, in bytes. Estimates before a run use the
//! sizes of the types, so they stay right when a type grows.

use crate::datagrams::DatagramDelays;
use crate::identity::Identity;
use crate::plan::{Network, SourcePlan, TcpPlan};
use crate::{LinkOutcome, window};
use scenario::Scenario;
use std::hint::black_box;

/// See the [module](self). Memory allocated on demand (packets in flight, selective acknowledgements, samples) is not
/// included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemorySizes {
    /// TCP sender with its receiver, without the recovery; one for each flow or for each place of a session.
    pub tcp: usize,
    /// Source of datagrams.
    pub source: usize,
    /// Ring of a receiver. If the ACKs of any flow cross links, every receiver has a ring.
    pub receiver_ring: usize,
    /// Identity of a flow, without its senders. Its results reuse the memory of its sender.
    pub flow: usize,
    /// Link, without the memory that its discipline allocates.
    pub link: usize,
    /// Results of a link.
    pub link_outcome: usize,
    /// Entry of a sender at each link that it crosses.
    pub hop: usize,
    /// Packet in flight.
    pub packet: usize,
}

/// The sizes in this build.
#[must_use]
pub fn memory_sizes() -> MemorySizes {
    MemorySizes {
        tcp: window::SENDER_BYTES + size_of::<TcpPlan>(),
        source: window::SENDER_BYTES + size_of::<SourcePlan>() + size_of::<DatagramDelays>(),
        receiver_ring: window::RING_BYTES,
        flow: size_of::<Identity>(),
        link: window::LINK_BYTES,
        link_outcome: size_of::<LinkOutcome>(),
        hop: window::HOP_BYTES,
        packet: window::PACKET_BYTES,
    }
}

/// Least memory that `scenario` needs in any case, in bytes.
fn least(scenario: &Scenario) -> usize {
    let sizes = memory_sizes();
    let flows = scenario.groups.iter().map(|group| {
        let sender = if group.traffic.is_tcp() { sizes.tcp + group.recovery.bytes() } else { sizes.source };
        group.count as usize * (sizes.flow + group.traffic.places() as usize * sender)
    });
    let links = scenario.links.iter().map(|link| link.count as usize * sizes.link);
    size_of::<Network>() + flows.sum::<usize>() + links.sum::<usize>()
}

/// Least memory that `scenario` needs, in bytes, if the system refuses to allocate it. It is requested in one piece before
/// the run, because a refused allocation during a run would end the process.
pub fn refused(scenario: &Scenario) -> Option<usize> {
    let bytes = least(scenario);
    let mut room = Vec::<u8>::new();
    let reserved = room.try_reserve_exact(bytes);
    // Without this the compiler may remove the unused allocation.
    black_box(&mut room);
    reserved.err().map(|_| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::Recovery;

    #[test]
    fn the_memory_of_a_scenario_is_the_sum_over_its_flows_places_and_links() {
        let sizes = memory_sizes();
        let of = |count: u32, traffic: &str| {
            let text = format!(
                "duration = \"1 s\"\n[[links]]\nname = \"a\"\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\n[[flows]]\n\
                 count = {count}\npath = [\"a\"]\nrtt = \"20 ms\"\n{traffic}"
            );
            let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(refused(&scenario), None);
            least(&scenario)
        };
        let flow = |recovery: Recovery| 1000 * (sizes.flow + sizes.tcp + recovery.bytes());
        assert_eq!(of(1001, "") - of(1, ""), flow(Recovery::Sack));
        let rack = "recovery = \"rack\"";
        assert_eq!(of(1001, rack) - of(1, rack), flow(Recovery::Rack));
        assert_eq!(of(1001, "traffic = \"cbr\"") - of(1, "traffic = \"cbr\""), 1000 * (sizes.flow + sizes.source));
        // A sender includes its law, its recovery and a ring; the upper bound guards against growth.
        assert!((500..1600).contains(&sizes.tcp), "{sizes:?}");
    }
}

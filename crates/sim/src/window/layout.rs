//! Paths of all flows: a ring for each hop, and for each link a table of the flows that cross it.
//!
//! A table has places only for the flows of its link, so that the memory of a link depends only on its own flows.

use super::flow_table::{FlowPlaces, FlowTable};
use super::headers::{HeaderLanes, Headers, NONE};
use super::ring::Ring;
use super::service::{DRAWN, Drawn, Service, Tx};
use super::shared::Shared;
use crate::plan::{FlowControl, Network};
use base::{Span, Time};
use scenario::HEADER;
use std::collections::BTreeMap;

/// The flows that cross each link, and the sources of each link's packets.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Table of each link.
    pub tables: Vec<FlowTable>,
    /// For each link: the flows that enter the network there (without places of sessions), and the receivers whose ACKs
    /// enter there. Their arrivals come before those in the rings from other links.
    pub senders: Vec<Vec<u32>>,
    pub receivers: Vec<Vec<u32>>,
    pub pipes: Vec<Vec<u32>>,
    /// For each flow, its lanes if its packets carry headers; empty if no flow has headers.
    pub header_lanes: Vec<Option<HeaderLanes>>,
}

/// One flow at one link: the next ring of its packets, and their size and service time there.
#[derive(Clone, Copy, Debug)]
struct Hop {
    flow: u32,
    ring: u32,
    tx: Tx,
}

/// Lays out `network`; the rings go into `shared`.
pub fn lay_out<C: FlowControl, Q>(network: &Network<C, Q>, shared: &mut Shared) -> Layout {
    let (n, links) = (network.flows.len(), network.links.len());
    let mut layout = Layout {
        tables: Vec::with_capacity(links),
        senders: vec![Vec::new(); links],
        receivers: vec![Vec::new(); links],
        pipes: vec![Vec::new(); links],
        header_lanes: Vec::new(),
    };
    let mut hops: Vec<Vec<Hop>> = vec![Vec::new(); links];
    let mut pipes = BTreeMap::new();
    // The order of rings: one per sender, then one per receiver (if receivers have rings), then one for each pair of
    // consecutive links.
    let any_return = network.flows.iter().any(|plan| !plan.party().return_path.is_empty());
    shared.receivers = if any_return { n } else { 0 };
    let mut delays = vec![Span::ZERO; n + shared.receivers];
    let mut late = Vec::new();
    for (f, plan) in network.flows.iter().enumerate() {
        let flow = plan.party();
        if !plan.is_place() {
            layout.senders[flow.path[0] as usize].push(f as u32);
        }
        if let Some(&first) = flow.return_path.first() {
            layout.receivers[first as usize].push(f as u32);
        }
        for (path, is_ack) in [(&flow.path, false), (&flow.return_path, true)] {
            for (hop, &link) in path.iter().enumerate() {
                let (ring, more) = match path.get(hop + 1) {
                    Some(&next) => {
                        let ring = *pipes.entry((link, next)).or_insert_with(|| {
                            delays.push(Span::ZERO);
                            layout.pipes[next as usize].push(delays.len() as u32 - 1);
                            delays.len() as u32 - 1
                        });
                        (ring, Span::ZERO)
                    }
                    None if is_ack || flow.return_path.is_empty() => (f as u32, flow.return_delay),
                    None => ((n + f) as u32, Span::ZERO),
                };
                delays[ring as usize] = network.links[link as usize].delay + more;
                if network.links[link as usize].handover.reorders() {
                    let back = if is_ack { flow.path[0] } else { *flow.return_path.first().unwrap_or(&flow.path[0]) };
                    let next = path.get(hop + 1).copied();
                    late.push((ring, (next.unwrap_or(back) as usize, next.is_none() && !plan.is_tcp())));
                }
                let times = network.tx_times(link, f as u32);
                let tx = if is_ack {
                    Tx { size: flow.ack, time: times.ack, is_ack: true }
                } else {
                    Tx { size: flow.packet, time: times.data, is_ack: false }
                };
                hops[link as usize].push(Hop { flow: f as u32, ring, tx });
            }
        }
    }
    let rings = delays.len();
    for (ring, (reader, is_datagrams)) in late {
        shared.late.add(ring, reader, is_datagrams, rings, links);
    }
    shared.rings = delays.into_iter().map(Ring::new).collect();
    shared.due = vec![Time::NEVER; rings];
    shared.delay_to_link = vec![Span::ZERO; rings];
    shared.dropped = vec![0; n];
    layout.tables.extend(hops.iter().enumerate().map(|(link, hops)| table(network, link, hops)));
    lay_lanes(network, &mut layout, shared);
    layout
}

/// Lays a lane for each hop of the flows whose packets carry headers, and one to the receiver behind the last hop.
fn lay_lanes<C: FlowControl, Q>(network: &Network<C, Q>, layout: &mut Layout, shared: &mut Shared) {
    let mut next = 0;
    for (f, flow) in network.flows.iter().enumerate().filter(|(_, flow)| flow.has_headers()) {
        let flow = flow.party();
        for (&link, lane) in flow.path.iter().zip(next..) {
            let table = &mut layout.tables[link as usize];
            table.lanes.resize(table.routes.len(), NONE);
            table.lanes[table.places.of(f as u32)] = lane;
        }
        let last = next + flow.path.len() as u32;
        layout.header_lanes.resize(network.flows.len(), None);
        layout.header_lanes[f] = Some(HeaderLanes { first: next, last });
        next = last + 1;
    }
    shared.headers = Headers::new(next as usize);
}

/// The table of a link that the flows of `hops` cross; `hops` are in the order of flow numbers.
fn table<C, Q>(network: &Network<C, Q>, link: usize, hops: &[Hop]) -> FlowTable {
    let places = FlowPlaces::new(hops.iter().map(|hop| hop.flow));
    let mut routes = vec![u32::MAX; places.count()];
    for hop in hops {
        routes[places.of(hop.flow)] = hop.ring;
    }
    let service = service(network, link, hops, &places);
    FlowTable { places, routes, service, lanes: Vec::new() }
}

/// Service times of the packets of these flows on a link.
fn service<C, Q>(network: &Network<C, Q>, link: usize, hops: &[Hop], places: &FlowPlaces) -> Service {
    // A link without flows serves nothing, so any packet size will do.
    let Some(first) = hops.first() else { return Service::One(Tx { size: HEADER, time: Span(1), is_ack: true }) };
    let drawn_sizes = |hop: &Hop| network.flows[hop.flow as usize].sizes();
    let any_drawn = hops.iter().any(|hop| drawn_sizes(hop).is_some());
    if !any_drawn && hops.iter().all(|hop| hop.tx == first.tx) {
        return Service::One(first.tx);
    }
    let n = places.count();
    let mut each = vec![Tx::default(); n];
    let mut by_flow = vec![None; if any_drawn { n } else { 0 }];
    for hop in hops {
        let (place, sizes) = (places.of(hop.flow), drawn_sizes(hop));
        each[place] = Tx { time: if sizes.is_some() { DRAWN } else { hop.tx.time }, ..hop.tx };
        if any_drawn {
            by_flow[place] = sizes;
        }
    }
    let drawn = any_drawn.then(|| Box::new(Drawn { rate: network.links[link].rate, sizes: by_flow }));
    Service::Each(each, drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layout of these flows on links "a" (10 ms) and "b" (3 ms), both of 10 Mbit/s.
    fn laid_out(flows: &str) -> (Layout, Shared) {
        let link = |name: &str, ms: u32| {
            format!("[[links]]\nname = \"{name}\"\nrate = \"10 Mbit/s\"\ndelay = \"{ms} ms\"\nbuffer = \"5 packets\"\n")
        };
        let text = format!("duration = \"1 s\"\n{}{}{flows}", link("a", 10), link("b", 3));
        let mut shared = Shared::default();
        let network = crate::build::network_of(&text);
        let layout = lay_out(&network, &mut shared);
        (layout, shared)
    }

    #[test]
    fn packets_go_from_link_to_link_and_then_to_the_receiver_or_the_sender() {
        let back = "[[flows]]\npath = [\"a\"]\nreturn = [\"b\"]\nrtt = \"20 ms\"\npacket = \"1000 B\"\n";
        let both = "[[flows]]\npath = [\"a\", \"b\"]\nrtt = \"20 ms\"\npacket = \"1000 B\"\n";
        let (layout, shared) = laid_out(&format!("{back}{both}"));
        // Two rings for senders, two for receivers, and one from a to b.
        assert_eq!(shared.rings.len(), 5);
        let routes = |l: usize| layout.tables[l].routes.as_slice();
        assert_eq!((routes(0), routes(1)), ([2, 4].as_slice(), [0, 1].as_slice()));
        assert_eq!((&layout.senders[0], &layout.receivers[1], &layout.pipes[1]), (&vec![0, 1], &vec![0], &vec![4]));
        // 7 ms of the 20 ms are not on links: 3.5 ms before the first link, the rest behind the last.
        let delays = [0, 1, 2, 4].map(|ring: usize| shared.rings[ring].delay);
        assert_eq!(delays, [6_500, 6_500, 10_000, 10_000].map(Span::micros));
        // ACKs of one flow and data of the other have different sizes.
        let tx = |size, micros| Tx { size, time: Span::micros(micros), is_ack: size == HEADER };
        assert_eq!(layout.tables[0].service.of(1, base::PacketNumber(0)), tx(1000, 800));
        assert_eq!(
            [0, 1].map(|place| layout.tables[1].service.of(place, base::PacketNumber(0))),
            [tx(HEADER, 32), tx(1000, 800)]
        );
    }

    #[test]
    fn tables_have_places_for_the_flows_of_their_link() {
        let flow = |link: &str| format!("[[flows]]\npath = [\"{link}\"]\nrtt = \"20 ms\"\npacket = \"1000 B\"\n");
        let (layout, _) = laid_out(&[flow("a"), flow("b"), flow("a"), flow("b")].concat());
        let routes = |l: usize| layout.tables[l].routes.as_slice();
        assert_eq!(routes(0), [0, u32::MAX, 2]);
        assert_eq!(routes(1), [1, u32::MAX, 3]);
        assert!(matches!(layout.tables[0].service, Service::One(Tx { size: 1000, .. })));
    }

    #[test]
    fn the_size_of_all_tables_is_proportional_to_the_flows_and_not_to_links_times_flows() {
        // Three groups on an array of 500 links: flows i, i + 500 and i + 1000 meet on link i.
        let array = "[[links]]\nname = \"d\"\ncount = 500\nrate = \"10 Mbit/s\"\nbuffer = \"5 packets\"\n";
        let group = |packet: u32| {
            format!("[[flows]]\ncount = 500\npath = [\"d[*]\"]\nrtt = \"20 ms\"\npacket = \"{packet} B\"\n")
        };
        let (layout, shared) = laid_out(&[array.to_owned(), group(500), group(1000), group(1500)].concat());
        let places: usize = layout.tables.iter().map(|table| table.routes.len()).sum();
        assert_eq!((places, shared.rings.len()), (1500, 1500));
        let table = &layout.tables[2 + 17];
        assert_eq!(table.routes, [17, 517, 1017]);
        assert_eq!(table.service.of(table.places.of(1017), base::PacketNumber(0)).size, 1500);
    }

    #[test]
    fn headers_have_a_lane_for_each_hop_and_one_to_the_receiver() {
        let flow = |law: &str, path: &str| {
            format!(
                "[[flows]]\npath = [{path}]\nrtt = \"30 ms\"\npacket = \"1000 B\"\ncontrol = {{ law = \"{law}\" }}\n"
            )
        };
        let (layout, _) =
            laid_out(&[flow("xcp", "\"a\", \"b\""), flow("reno", "\"a\""), flow("xcp", "\"b\"")].concat());
        let lanes = |first, last| Some(HeaderLanes { first, last });
        assert_eq!(layout.header_lanes, [lanes(0, 2), None, lanes(3, 4)]);
        assert_eq!((&layout.tables[0].lanes, &layout.tables[1].lanes), (&vec![0, NONE], &vec![1, NONE, 3]));
    }
}

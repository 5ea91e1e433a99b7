//! Where every flow's packets go: a ring for each hop, and for each link a table of the flows that cross it.
//!
//! Tables reach from the lowest to the highest flow number on the link, so that separate links with their own flows cost
//! what their flows cost.

use super::headers::{Headers, NONE};
use super::link::{DRAWN, Drawn, Service, Shared};
use super::ring::Ring;
use crate::network::Network;
use scenario::HEADER;
use std::collections::BTreeMap;

/// What links know of the flows that cross them, and who feeds whom.
#[derive(Debug, Default)]
pub struct Layout {
    /// By link: its table of routes, the first flow in it, and its service times.
    pub tables: Vec<(u32, Vec<u32>, Service)>,
    /// By link: flows that send into it (places of sessions left out), receivers that acknowledge into it, rings that other links feed.
    pub senders: Vec<Vec<u32>>,
    pub receivers: Vec<Vec<u32>>,
    pub pipes: Vec<Vec<u32>>,
    /// By link: the lane in which headers come, by flow as its routes; empty on a link without headers.
    pub lanes: Vec<Vec<u32>>,
    /// By flow: its first lane and its last, the receiver's, if its packets carry headers.
    pub header_ways: Vec<Option<(u32, u32)>>,
}

/// One flow at one link: its number, the ring that its packets go to, their size and their time on the wire.
type Hop = (u32, u32, u32, u64);

/// Lays out `network`; the rings go into `shared`.
pub fn lay_out(network: &Network, shared: &mut Shared) -> Layout {
    let (n, links) = (network.flows.len(), network.links.len());
    let mut layout = Layout {
        tables: Vec::with_capacity(links),
        senders: vec![Vec::new(); links],
        receivers: vec![Vec::new(); links],
        pipes: vec![Vec::new(); links],
        lanes: vec![Vec::new(); links],
        header_ways: vec![None; n],
    };
    let mut hops: Vec<Vec<Hop>> = vec![Vec::new(); links];
    let mut pipes = BTreeMap::new();
    // Senders' rings by flow, receivers' by flow, then one for each pair of links in series.
    let mut delays = vec![0; 2 * n];
    for (f, plan) in network.flows.iter().enumerate() {
        let flow = plan.party();
        if !plan.is_place() {
            layout.senders[flow.path[0] as usize].push(f as u32);
        }
        if let Some(&first) = flow.back_path.first() {
            layout.receivers[first as usize].push(f as u32);
        }
        for (path, is_ack) in [(&flow.path, false), (&flow.back_path, true)] {
            for (hop, &link) in path.iter().enumerate() {
                let (ring, more) = match path.get(hop + 1) {
                    Some(&next) => {
                        let ring = *pipes.entry((link, next)).or_insert_with(|| {
                            delays.push(0);
                            layout.pipes[next as usize].push(delays.len() as u32 - 1);
                            delays.len() as u32 - 1
                        });
                        (ring, 0)
                    }
                    None if is_ack || flow.back_path.is_empty() => (f as u32, flow.back.0),
                    None => ((n + f) as u32, 0),
                };
                delays[ring as usize] = network.links[link as usize].delay.0 + more;
                let size = if is_ack { HEADER } else { flow.packet };
                let time = network.serialize(link, f as u32)[usize::from(is_ack)];
                hops[link as usize].push((f as u32, ring, size, time));
            }
        }
    }
    let rings = delays.len();
    shared.rings = delays.into_iter().map(Ring::new).collect();
    shared.due = vec![u64::MAX; rings];
    shared.lead = vec![0; rings];
    shared.dropped = vec![0; n];
    layout.tables.extend(hops.iter().enumerate().map(|(link, hops)| table(network, link, hops)));
    lay_lanes(network, &mut layout, shared);
    layout
}

/// A lane for each hop of the flows whose packets carry headers, and one for the receiver behind the last.
fn lay_lanes(network: &Network, layout: &mut Layout, shared: &mut Shared) {
    let mut next = 0;
    for (f, flow) in network.flows.iter().enumerate().filter(|(_, flow)| flow.has_headers()) {
        let flow = flow.party();
        for (&link, lane) in flow.path.iter().zip(next..) {
            let (first, routes, _) = &layout.tables[link as usize];
            let lanes = &mut layout.lanes[link as usize];
            lanes.resize(routes.len(), NONE);
            lanes[f - *first as usize] = lane;
        }
        let last = next + flow.path.len() as u32;
        layout.header_ways[f] = Some((next, last));
        next = last + 1;
    }
    shared.headers = Headers::new(next as usize);
}

fn table(network: &Network, link: usize, hops: &[Hop]) -> (u32, Vec<u32>, Service) {
    // A link without flows serves nobody; one packet size is as good as another.
    let Some(&(first, _, size, time)) = hops.first() else { return (0, Vec::new(), Service::One(HEADER, 1)) };
    let last = hops[hops.len() - 1].0;
    let mut routes = vec![u32::MAX; (last - first) as usize + 1];
    for &(flow, ring, ..) in hops {
        routes[(flow - first) as usize] = ring;
    }
    let sizes: Vec<_> = hops.iter().map(|hop| network.flows[hop.0 as usize].sizes()).collect();
    let drawn = sizes.iter().any(Option::is_some);
    if !drawn && hops.iter().all(|hop| (hop.2, hop.3) == (size, time)) {
        return (first, routes, Service::One(size, time));
    }
    let mut each = vec![(0, 0); routes.len()];
    let mut by_flow = vec![None; if drawn { routes.len() } else { 0 }];
    for (&(flow, _, size, time), sizes) in hops.iter().zip(sizes) {
        let place = (flow - first) as usize;
        each[place] = (size, if sizes.is_some() { DRAWN } else { time });
        if drawn {
            by_flow[place] = sizes;
        }
    }
    let drawn = drawn.then(|| Box::new(Drawn { rate: network.links[link].rate, sizes: by_flow }));
    (first, routes, Service::Each(each, drawn))
}

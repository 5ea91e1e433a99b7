//! The longest possible window.
//!
//! Links are nodes, and flows are edges between them: what one link serves at t reaches the next at t + latency or later.
//! Within a window, links are processed in an order that respects the short edges; an edge against this order must be at
//! least a window long. So the longest window is the latency at which edges, added from short to long, first close a cycle.

use crate::plan::Network;
use base::Span;

/// A connected component of the network: links that are connected by flows or shared memory, directly or through other
/// links. No event in a part affects another part, so each part runs by itself, with its own window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The links, in the order in which a window processes them.
    pub order: Vec<usize>,
    /// Length of the window.
    pub window: Span,
}

/// Edge from one link to the next, with its smallest latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    latency: Span,
    from: usize,
    to: usize,
}

/// Edges between consecutive links of a path, sorted by latency.
fn edges<C, Q>(network: &Network<C, Q>) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (f, plan) in network.flows.iter().enumerate() {
        let flow = plan.party();
        let times = |link: u32| network.shortest_tx_times(link, f as u32);
        let delay = |link: u32| network.links[link as usize].delay;
        let data = flow.path.iter().map(|&l| (l, times(l).data + delay(l)));
        let acks = flow.return_path.iter().map(|&l| (l, times(l).ack + delay(l)));
        let round: Vec<_> = data.chain(acks).collect();
        // Datagrams cause no feedback to their first link, so there is no edge from the last link back to the first.
        let hops = if plan.is_tcp() { round.len() } else { round.len() - 1 };
        for (i, &(link, latency)) in round[..hops].iter().enumerate() {
            let next = round.get(i + 1).map_or(round[0].0, |next| next.0);
            let more = if i + 1 == round.len() { flow.return_delay + flow.first_link_delay } else { Span::ZERO };
            edges.push(Edge { latency: latency + more, from: link as usize, to: next as usize });
        }
    }
    // Of parallel edges only the shortest matters.
    edges.sort_unstable_by_key(|edge| (edge.from, edge.to, edge.latency));
    edges.dedup_by_key(|edge| (edge.from, edge.to));
    edges.sort_unstable();
    edges
}

/// For every link, the link with the lowest number in its part.
fn parts_of(n: usize, edges: &[Edge]) -> Vec<usize> {
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut parent: Vec<usize> = (0..n).collect();
    for edge in edges {
        let (a, b) = (root(&mut parent, edge.from), root(&mut parent, edge.to));
        parent[a.max(b)] = a.min(b);
    }
    (0..n).map(|i| root(&mut parent, i)).collect()
}

/// The parts of `network`, each with its longest exact window.
pub fn parts<C, Q>(network: &Network<C, Q>) -> Vec<Part> {
    let (n, first) = (network.links.len(), network.first_in_pool());
    // Links that share memory are one node, so an edge between two such links is a loop at this node.
    let edges: Vec<Edge> =
        edges(network).into_iter().map(|edge| Edge { from: first[edge.from], to: first[edge.to], ..edge }).collect();
    let part_of = parts_of(n, &edges);
    let mut nodes_of = vec![Vec::new(); n];
    let mut edges_of = vec![Vec::new(); n];
    // Within its part each node has a local number, so that the cost of a part depends only on its own size.
    let mut number = vec![0; n];
    for (node, &part) in part_of.iter().enumerate().filter(|(node, _)| first[*node] == *node) {
        number[node] = nodes_of[part].len();
        nodes_of[part].push(node);
    }
    for Edge { latency, from, to } in edges {
        edges_of[part_of[from]].push(Edge { latency, from: number[from], to: number[to] });
    }
    let parts = nodes_of.iter().zip(&edges_of).filter(|(nodes, _)| !nodes.is_empty());
    let mut parts: Vec<Part> = parts.map(|(nodes, edges)| part(nodes, edges)).collect();
    if !network.pools.is_empty() {
        let mut together = vec![Vec::new(); n];
        first.iter().enumerate().for_each(|(link, &node)| together[node].push(link));
        for part in &mut parts {
            part.order = part.order.iter().flat_map(|&node| together[node].iter().copied()).collect();
        }
    }
    parts
}

/// The part of these nodes: bisection finds the longest prefix of `edges` (sorted from short to long) without a cycle.
fn part(nodes: &[usize], edges: &[Edge]) -> Part {
    let graph = Graph::new(nodes.len(), edges);
    let (mut good, mut bad) = (0, edges.len() + 1);
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        if graph.order(middle).is_some() { good = middle } else { bad = middle }
    }
    let order = graph.order(good).unwrap_or_else(|| (0..nodes.len()).collect());
    let order = order.into_iter().map(|i| nodes[i]).collect();
    Part { order, window: edges.get(good).map_or(Span(u64::MAX), |edge| edge.latency) }
}

/// Edges by their start node: the rank of each among all edges, from short to long, and its end node.
struct Graph(Vec<Vec<(usize, usize)>>);

impl Graph {
    fn new(n: usize, edges: &[Edge]) -> Self {
        let mut leaving = vec![Vec::new(); n];
        for (rank, edge) in edges.iter().enumerate() {
            leaving[edge.from].push((rank, edge.to));
        }
        Self(leaving)
    }

    /// An order of the nodes that respects the first `count` edges; `None` if they close a cycle.
    fn order(&self, count: usize) -> Option<Vec<usize>> {
        let n = self.0.len();
        let among = |node: usize| self.0[node].iter().take_while(move |edge| edge.0 < count).map(|edge| edge.1);
        let mut incoming = vec![0usize; n];
        for to in (0..n).flat_map(among) {
            incoming[to] += 1;
        }
        let mut order: Vec<usize> = (0..n).filter(|&i| incoming[i] == 0).collect();
        let mut done = 0;
        while done < order.len() {
            for to in among(order[done]) {
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    order.push(to);
                }
            }
            done += 1;
        }
        (order.len() == n).then_some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_WAYS: &str = r#"
duration = "1 s"
[[links]]
name = "a"
rate = "10 Mbit/s"
delay = "7 ms"
buffer = "10 packets"
[[links]]
name = "b"
rate = "10 Mbit/s"
delay = "3 ms"
buffer = "10 packets"
[[links]]
name = "c"
rate = "10 Mbit/s"
buffer = "10 packets"
"#;

    fn parts_with(flows: &[&str]) -> Vec<Part> {
        let text = flows.iter().fold(TWO_WAYS.to_owned(), |text, flow| format!("{text}[[flows]]\n{flow}\n"));
        parts(&crate::build::network_of(&text))
    }

    const TCP: &str = "path = [\"a\"]\nreturn = [\"b\"]\nrtt = \"20 ms\"\npacket = \"1000 B\"";
    const DATAGRAMS: &str = "path = [\"a\"]\nrtt = \"7 ms\"\npacket = \"100 B\"\ntraffic = \"cbr\"";

    #[test]
    fn a_window_is_the_longest_edge_of_the_shortest_loop() {
        // From b back to a: 32 us to send an ACK, 3 ms of propagation on b, and the 10 ms of the round trip that are
        // not on links.
        let part = &parts_with(&[TCP])[0];
        assert_eq!((part.order.as_slice(), part.window), ([0, 1].as_slice(), Span(13_032_000_000)));
    }

    #[test]
    fn datagrams_do_not_shorten_windows() {
        assert_eq!(parts_with(&[TCP, DATAGRAMS]), parts_with(&[TCP]));
        let datagrams = parts_with(&[DATAGRAMS]);
        assert!(datagrams.iter().all(|part| part.window == Span(u64::MAX)), "{datagrams:?}");
    }

    #[test]
    fn datagrams_join_the_links_that_they_cross() {
        let both = DATAGRAMS.replace("[\"a\"]", "[\"c\", \"b\"]");
        let parts = parts_with(&[&both]);
        assert_eq!(parts.iter().map(|part| part.order.clone()).collect::<Vec<_>>(), [vec![0], vec![2, 1]]);
    }

    #[test]
    fn links_that_share_memory_are_one_node() {
        let shared = TWO_WAYS.replace("buffer = \"10 packets\"", "pool = \"chip\"");
        let of = |links: &str, flow: &str| {
            let pool = "[[pools]]\nname = \"chip\"\nsize = \"30 packets\"\n";
            parts(&crate::build::network_of(&format!("{links}{pool}[[flows]]\n{flow}\n")))
        };
        // The edge from a to b is a loop at the pool: 0.8 ms to send a packet and 7 ms of propagation. No flow crosses
        // c.
        let all = of(&shared, TCP);
        assert_eq!((all.len(), all[0].order.as_slice(), all[0].window), (1, [0, 1, 2].as_slice(), Span(7_800_000_000)));
        // Without b in the pool the loop is as before, and a and c, which share memory, are served together.
        let two = shared.replacen("delay = \"3 ms\"\npool = \"chip\"", "delay = \"3 ms\"\nbuffer = \"10 packets\"", 1);
        let two = of(&two, TCP);
        assert_eq!(
            (two.len(), two[0].order.as_slice(), two[0].window),
            (1, [0, 2, 1].as_slice(), Span(13_032_000_000))
        );
    }

    #[test]
    fn links_of_an_array_are_separate_parts_unless_their_paths_meet() {
        let array =
            "[[links]]\nname = \"d\"\ncount = 500\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"5 packets\"\n";
        let text = |path: &str| {
            format!("{TWO_WAYS}{array}[[flows]]\ncount = 1000\npath = [{path}]\nrtt = \"20 ms\"\npacket = \"1000 B\"\n")
        };
        let of = |path: &str| parts(&crate::build::network_of(&text(path)));
        // 19 ms of the round trip are not on the link; the link takes 0.8 ms to send a packet.
        let apart = of("\"d[*]\"");
        assert_eq!(apart.len(), 503);
        assert!(apart[3..].iter().all(|part| part.order.len() == 1 && part.window == Span(20_800_000_000)));
        // All flows meet at link c. From d to c it takes 1.8 ms; back it takes the 19 ms that are not on links, and 0.8 ms.
        let star = of("\"d[*]\", \"c\"");
        assert_eq!(star.len(), 3);
        assert_eq!((star[2].order.len(), star[2].order.last(), star[2].window), (501, Some(&2), Span(19_800_000_000)));
    }
}

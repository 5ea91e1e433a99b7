//! How long a window may be.
//!
//! Links are the nodes, flows the edges between them: what one link serves at t reaches the next at t + latency or later.
//! Within a window links are taken in an order that respects the short edges; an edge against the order must be at least
//! a window long. The longest window is therefore the latency that, adding edges from short to long, first closes a cycle.

use crate::network::Network;

/// Links that flows connect, directly or through others: nothing that happens at them is heard of elsewhere, so each such
/// part of the network runs by itself, with its own window.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// Its links, in the order in which a window takes them.
    pub order: Vec<usize>,
    /// Length of the window, in picoseconds.
    pub window: u64,
}

/// Where packets go from one link to the next, and how soon at the earliest.
fn edges(network: &Network) -> Vec<(u64, usize, usize)> {
    let mut edges = Vec::new();
    for (f, plan) in network.flows.iter().enumerate() {
        let flow = plan.party();
        let latency =
            |link: u32, kind: usize| network.shortest(link, f as u32)[kind] + network.links[link as usize].delay.0;
        let data = flow.path.iter().map(|&l| (l, latency(l, 0)));
        let acks = flow.back_path.iter().map(|&l| (l, latency(l, 1)));
        let round: Vec<_> = data.chain(acks).collect();
        // Of datagrams nobody at the first link hears what became of them: no edge closes their round.
        let hops = if plan.is_tcp() { round.len() } else { round.len() - 1 };
        for (i, &(link, latency)) in round[..hops].iter().enumerate() {
            let next = round.get(i + 1).map_or(round[0].0, |next| next.0);
            let more = if i + 1 == round.len() { flow.back.0 + flow.lead.0 } else { 0 };
            edges.push((latency + more, link as usize, next as usize));
        }
    }
    // Of parallel edges only the shortest counts.
    edges.sort_unstable_by_key(|&(latency, from, to)| (from, to, latency));
    edges.dedup_by_key(|&mut (_, from, to)| (from, to));
    edges.sort_unstable();
    edges
}

/// For every link the lowest link of its part.
fn parts_of(n: usize, edges: &[(u64, usize, usize)]) -> Vec<usize> {
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut parent: Vec<usize> = (0..n).collect();
    for &(_, a, b) in edges {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    }
    (0..n).map(|i| root(&mut parent, i)).collect()
}

/// The parts of `network`, each with its longest exact window.
pub fn parts(network: &Network) -> Vec<Part> {
    let (n, edges) = (network.links.len(), edges(network));
    let part_of = parts_of(n, &edges);
    let mut nodes_of = vec![Vec::new(); n];
    let mut edges_of = vec![Vec::new(); n];
    // Within its part each link has a number of its own, so that a part costs what it holds.
    let mut number = vec![0; n];
    for (node, &part) in part_of.iter().enumerate() {
        number[node] = nodes_of[part].len();
        nodes_of[part].push(node);
    }
    for (latency, from, to) in edges {
        edges_of[part_of[from]].push((latency, number[from], number[to]));
    }
    let parts = nodes_of.iter().zip(&edges_of).filter(|(nodes, _)| !nodes.is_empty());
    parts.map(|(nodes, edges)| part(nodes, edges)).collect()
}

/// The longest prefix of `edges`, short to long, without a cycle; by bisection.
fn part(nodes: &[usize], edges: &[(u64, usize, usize)]) -> Part {
    let graph = Graph::new(nodes.len(), edges);
    let (mut good, mut bad) = (0, edges.len() + 1);
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        if graph.order(middle).is_some() { good = middle } else { bad = middle }
    }
    let order = graph.order(good).unwrap_or_else(|| (0..nodes.len()).collect());
    let order = order.into_iter().map(|i| nodes[i]).collect();
    Part { order, window: edges.get(good).map_or(u64::MAX, |edge| edge.0) }
}

/// Edges by the node that they leave, each as its rank among all, short to long, and the node that it reaches.
struct Graph(Vec<Vec<(usize, usize)>>);

impl Graph {
    fn new(n: usize, edges: &[(u64, usize, usize)]) -> Self {
        let mut leaving = vec![Vec::new(); n];
        for (rank, &(_, from, to)) in edges.iter().enumerate() {
            leaving[from].push((rank, to));
        }
        Self(leaving)
    }

    /// An order of the nodes along the first `count` edges, or `None` if they close a cycle.
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
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
        parts(&Network::build(&scenario, 0).expect("small"))
    }

    const TCP: &str = "path = [\"a\"]\nreturn = [\"b\"]\nrtt = \"20 ms\"\npacket = \"1000 B\"";
    const DATAGRAMS: &str = "path = [\"a\"]\nrtt = \"7 ms\"\npacket = \"100 B\"\ntraffic = \"cbr\"";

    #[test]
    fn a_window_is_the_longest_edge_of_the_shortest_loop() {
        // From b back to a: 32 us for an ACK, 3 ms, and the 10 ms that the links leave of the round trip.
        let part = &parts_with(&[TCP])[0];
        assert_eq!((part.order.as_slice(), part.window), ([0, 1].as_slice(), 13_032_000_000));
    }

    #[test]
    fn datagrams_make_windows_no_shorter() {
        assert_eq!(parts_with(&[TCP, DATAGRAMS]), parts_with(&[TCP]));
        let alone = parts_with(&[DATAGRAMS]);
        assert!(alone.iter().all(|part| part.window == u64::MAX), "{alone:?}");
    }

    #[test]
    fn datagrams_join_the_links_that_they_cross() {
        let both = DATAGRAMS.replace("[\"a\"]", "[\"c\", \"b\"]");
        let parts = parts_with(&[&both]);
        assert_eq!(parts.iter().map(|part| part.order.clone()).collect::<Vec<_>>(), [vec![0], vec![2, 1]]);
    }

    #[test]
    fn arrays_fall_into_parts_or_into_one_in_the_order_of_paths() {
        let array =
            "[[links]]\nname = \"d\"\ncount = 500\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"5 packets\"\n";
        let text = |path: &str| {
            format!("{TWO_WAYS}{array}[[flows]]\ncount = 1000\npath = [{path}]\nrtt = \"20 ms\"\npacket = \"1000 B\"\n")
        };
        let of = |path: &str| {
            let scenario = scenario::read(&text(path)).unwrap_or_else(|e| panic!("{e}"));
            parts(&Network::build(&scenario, 0).expect("small"))
        };
        // 19 ms of the round trip are not the link's, which takes 0.8 ms for a packet.
        let alone = of("\"d[*]\"");
        assert_eq!(alone.len(), 503);
        assert!(alone[3..].iter().all(|part| part.order.len() == 1 && part.window == 20_800_000_000));
        // All meet at link c. From d to c it takes 1.8 ms, and back the 19 ms that the links leave and 0.8 ms.
        let star = of("\"d[*]\", \"c\"");
        assert_eq!(star.len(), 3);
        assert_eq!((star[2].order.len(), star[2].order.last(), star[2].window), (501, Some(&2), 19_800_000_000));
    }
}

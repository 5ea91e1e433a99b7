//! The window engine: no global order of events, only of arrivals at each link.
//!
//! Time advances in windows short enough that everything that reaches a link in one was sent before it (`horizon`). In a
//! window each flow runs ahead over the ACKs it knows and emits arrivals (`flow`; `source` for datagrams), each link sorts its arrivals (`bucket`),
//! serves them and appends them to the rings of whoever hears of them next (`link`, `ring`).

mod access;
mod bucket;
mod fifo;
mod flow;
mod headers;
mod horizon;
mod layout;
mod link;
mod local;
mod ring;
mod session;
mod source;
mod way;

use crate::hash::Rolling;
use crate::meter::Tally;
use crate::meter::link_outcome;
use crate::network::{FlowPlan, Identity, Marks, Network};
use crate::probe::Probe;
use crate::session::{TransferMeter, outcomes};
use crate::{Balance, Options, Outcome, Trace};
use base::Rate;
use bucket::Bucket;
use flow::Flow;
use horizon::Part;
use layout::{Layout, lay_out};
use link::{Node, Shared};
use session::{Bench, Session};
use source::Source;

/// Arrivals a window should hold: enough to pay for visiting flows and slots, few enough for the caches.
const ARRIVALS: u64 = 4096;

/// Arrivals per flow and window that are worth a visit, when there are many flows.
const ARRIVALS_PER_FLOW: u64 = 4;

/// A flow of either sort.
enum Sender {
    Tcp(Flow),
    Datagrams(Source),
}

struct Engine {
    nodes: Vec<Node>,
    buckets: Vec<Bucket>,
    flows: Vec<Sender>,
    identities: Vec<Identity>,
    /// The sessions, by the link that they send into first.
    sessions: Vec<Vec<Session>>,
    /// By group.
    transfers: Vec<TransferMeter>,
    shared: Shared,
    layout: Layout,
    parts: Vec<Part>,
    rates: Vec<Rate>,
    marks: Marks,
}

/// Runs `network` to its end.
pub fn run(network: Network, options: Options) -> Outcome {
    let mut engine = Engine::build(network, options);
    // Whoever watches single packets takes the slower way, on which they are all looked at.
    if options.hash || engine.nodes.iter().any(|node| node.probe.watch.is_some()) {
        engine.simulate::<true>();
    } else {
        engine.simulate::<false>();
    }
    engine.finish(options)
}

impl Engine {
    fn build(network: Network, options: Options) -> Self {
        let marks = network.marks;
        let mut shared = Shared::default();
        let mut layout = lay_out(&network, &mut shared);
        let mut engine = Self {
            nodes: Vec::with_capacity(network.links.len()),
            buckets: network.links.iter().map(|_| Bucket::default()).collect(),
            flows: Vec::with_capacity(network.flows.len()),
            sessions: network.links.iter().map(|_| Vec::new()).collect(),
            transfers: TransferMeter::by_group(&network.identities, marks, options.series),
            identities: Vec::new(),
            shared,
            parts: horizon::parts(&network),
            rates: network.links.iter().map(|link| link.rate).collect(),
            marks,
            layout: Layout::default(),
        };
        let Network { links, flows, identities, sessions, .. } = network;
        engine.identities = identities;
        for plan in sessions {
            let party = flows[plan.first as usize].party();
            engine.sessions[party.path[0] as usize].push(Session::new(plan, party.lead.0));
        }
        let tables = layout.tables.drain(..).zip(layout.lanes.drain(..));
        for ((i, plan), ((first, routes, service), lanes)) in links.into_iter().enumerate().zip(tables) {
            let routes = (first, routes, lanes);
            engine.nodes.push(Node::new(
                i as u32,
                service,
                (plan.queue, plan.limit),
                plan.loss,
                routes,
                &marks,
                Probe::new(plan.probe, plan.rate, marks.warmup, options.series),
            ));
        }
        let header_ways = std::mem::take(&mut layout.header_ways);
        engine.layout = layout;
        for (f, plan) in flows.into_iter().enumerate() {
            let party = plan.party();
            let trace = party.traced.then(|| Box::new(Trace { flow: party.flow, ..Trace::default() }));
            engine.shared.traces.push(trace);
            engine.shared.lead[f] = party.lead.0;
            engine.shared.due[f] = party.start.min(party.stop).0.saturating_add(party.lead.0);
            engine.flows.push(match plan {
                FlowPlan::Tcp(plan) => Sender::Tcp(Flow::new(plan, f as u32, header_ways[f], &marks, options.series)),
                FlowPlan::Datagrams(plan) => Sender::Datagrams(Source::new(plan, f as u32, &marks)),
            });
        }
        engine
    }

    fn simulate<const HASH: bool>(&mut self) {
        for part in std::mem::take(&mut self.parts) {
            self.run_part::<HASH>(&part);
        }
    }

    /// Runs one part of the network from start to end.
    fn run_part<const HASH: bool>(&mut self, part: &Part) {
        let of =
            |lists: &[Vec<u32>]| -> Vec<u32> { part.order.iter().flat_map(|&l| lists[l].iter().copied()).collect() };
        let n = self.flows.len() as u32;
        let mut senders = of(&self.layout.senders);
        let sessions = part.order.iter().flat_map(|&l| &self.sessions[l]);
        let window = self.arrivals_span(&part.order, &senders, sessions.clone().count());
        senders.extend(sessions.flat_map(Session::places).map(|f| f as u32));
        // The rings whose readers belong to this part.
        let mut rings = of(&self.layout.pipes);
        rings.extend(of(&self.layout.receivers).iter().map(|f| n + f));
        rings.extend(&senders);
        let lead = senders.iter().map(|&f| self.shared.lead[f as usize]).max().unwrap_or(0);
        let last = self.marks.end.0 + lead;
        let window = part.window.min(window);
        let mut start = 0;
        while start < last {
            let stop = start.saturating_add(window).min(last);
            let busy = self.step::<HASH>(part, start, stop);
            start = stop;
            if !busy {
                // Nothing happened: on to the next thing that will.
                let next = rings.iter().map(|&ring| self.shared.due[ring as usize]).min().unwrap_or(last);
                let served = part.order.iter().map(|&l| self.nodes[l].due()).min().unwrap_or(last);
                let opened = part.order.iter().flat_map(|&l| &self.sessions[l]).map(|session| session.due);
                start = start.max(next.min(served).min(opened.min().unwrap_or(last)));
            }
        }
    }

    /// How long about [`ARRIVALS`] packets take on the fastest of `links`, more if there are many `flows` or `sessions`, or less if they
    /// send more than the links can carry.
    fn arrivals_span(&self, links: &[usize], flows: &[u32], sessions: usize) -> u64 {
        let arrivals = ARRIVALS.max(ARRIVALS_PER_FLOW * (flows.len() + sessions) as u64);
        let shortest = links.iter().filter_map(|&l| self.nodes[l].shortest_data()).min();
        let datagrams = flows.iter().filter_map(|&f| match &self.flows[f as usize] {
            Sender::Tcp(_) => None,
            Sender::Datagrams(source) => Some(1.0 / source.mean_gap()),
        });
        // An empty sum would be -0.0, whose inverse is no long time.
        let gap = (1.0 / datagrams.fold(0.0, |sum, rate| sum + rate)) as u64;
        shortest.unwrap_or(1).min(gap).saturating_mul(arrivals).max(1)
    }

    /// One window at every link of a part. Returns whether anything arrived anywhere.
    fn step<const HASH: bool>(&mut self, part: &Part, start: u64, stop: u64) -> bool {
        let end = self.marks.end.0;
        let until = stop.min(end);
        let n = self.flows.len();
        let mut busy = false;
        for &l in &part.order {
            let (shared, bucket) = (&mut self.shared, &mut self.buckets[l]);
            bucket.begin(start, until);
            for &pipe in &self.layout.pipes[l] {
                let ring = &mut shared.rings[pipe as usize];
                while let Some(&rec) = ring.peek()
                    && rec.time < until
                {
                    bucket.push(rec);
                    ring.consume(1);
                }
                ring.tidy();
                shared.due[pipe as usize] = ring.peek().map_or(u64::MAX, |rec| rec.time);
            }
            for &f in &self.layout.receivers[l] {
                let (f, r) = (f as usize, n + f as usize);
                if shared.due[r] < until
                    && let Sender::Tcp(flow) = &mut self.flows[f]
                {
                    let (ring, headers) = (&mut shared.rings[r], &mut shared.headers);
                    shared.due[r] = flow.run_receiver(ring, bucket, headers, until, &self.marks);
                }
            }
            for &f in &self.layout.senders[l] {
                let f = f as usize;
                if shared.due[f] < stop {
                    let horizon = stop.saturating_sub(shared.lead[f]).min(end);
                    let (ring, trace) = (&mut shared.rings[f], &mut shared.traces[f]);
                    let window = (horizon, until);
                    shared.due[f] = match &mut self.flows[f] {
                        Sender::Tcp(flow) => {
                            flow.run::<HASH>(ring, bucket, &mut shared.headers, window, &self.marks, trace)
                        }
                        Sender::Datagrams(source) => source.run::<HASH>(ring, bucket, window, &self.marks),
                    };
                }
            }
            for session in &mut self.sessions[l] {
                if session.is_due(shared, stop) {
                    let who = &self.identities[session.flow()];
                    let horizon = stop.saturating_sub(session.lead).min(end);
                    session.run::<HASH>(&mut Bench {
                        flows: &mut self.flows,
                        shared,
                        bucket,
                        window: (stop, horizon, until),
                        marks: &self.marks,
                        transfers: &mut self.transfers[who.group as usize],
                        who,
                    });
                }
            }
            if !bucket.is_empty() || self.nodes[l].due() < until {
                busy = true;
                let by_flow = self.layout.pipes[l].is_empty()
                    && self.layout.receivers[l].is_empty()
                    && self.sessions[l].is_empty();
                let arrivals = bucket.sort(by_flow);
                self.nodes[l].serve::<HASH>(arrivals, until, &self.marks, shared);
            }
        }
        busy
    }

    fn finish(mut self, options: Options) -> Outcome {
        let mut hash = Rolling::default();
        let mut balance = Balance { dropped: self.shared.dropped_total, ..Balance::default() };
        let mut links = Vec::with_capacity(self.nodes.len());
        let mut packets = Vec::new();
        for (l, (mut node, rate)) in self.nodes.into_iter().zip(&self.rates).enumerate() {
            let (totals, most, waiting) = node.finish(&self.marks, &mut self.shared);
            balance.in_flight += waiting;
            hash.word(node.hash.0);
            let (link, seen) = link_outcome(l, (&node.warm, &totals), *rate, &self.marks, most, node.probe);
            links.push(link);
            packets.extend(seen);
        }
        let n = self.flows.len();
        for ring in &self.shared.rings[2 * n..] {
            balance.in_flight += ring.all().iter().filter(|rec| rec.is_data()).count() as u64;
        }
        let mut tallies: Vec<Tally> = self.identities.iter().map(|_| Tally::default()).collect();
        for (f, flow) in self.flows.into_iter().enumerate() {
            let dropped = self.shared.dropped[f];
            let done = match flow {
                Sender::Tcp(flow) => {
                    let (senders, receivers) = (&self.shared.rings[f], &self.shared.rings[n + f]);
                    flow.finish(senders, receivers, &self.marks, dropped)
                }
                Sender::Datagrams(source) => {
                    source.finish(&mut self.shared.rings[f], &self.marks, dropped, options.hash)
                }
            };
            hash.word(done.hash.0);
            balance.sent += done.sent;
            balance.delivered += done.delivered;
            balance.dropped += done.access_drops;
            balance.in_flight += done.in_flight;
            done.last.settle(&self.identities, &mut tallies, &mut self.transfers, self.marks.end);
        }
        let (flows, transfers) = outcomes(tallies, &self.identities, self.transfers, &self.marks);
        Outcome {
            links,
            flows,
            transfers,
            sampled_at: if options.series { self.marks.samples() } else { Vec::new() },
            balance,
            traces: self.shared.traces.into_iter().flatten().map(|trace| trace.in_order()).collect(),
            packets,
            hash: if options.hash { hash.0 } else { 0 },
        }
    }
}

//! The window engine: no global order of events, only of arrivals at each link.
//!
//! Time advances in windows short enough that everything that reaches a link in one was sent before it (`horizon`). In a
//! window each flow runs ahead over the ACKs it knows and emits arrivals (`flow`), each link sorts its arrivals (`bucket`),
//! serves them and appends them to the rings of whoever hears of them next (`link`, `ring`).

mod access;
mod bucket;
mod flow;
mod horizon;
mod link;
mod ring;

use crate::hash::Rolling;
use crate::meter::link_outcome;
use crate::network::{Marks, Network};
use crate::{Balance, Options, Outcome, Trace};
use base::Rate;
use bucket::Bucket;
use flow::Flow;
use link::{Node, Service, Shared};
use queue::AnyQueue;
use ring::Ring;
use scenario::HEADER;

/// Arrivals a window should hold: enough to pay for visiting flows and slots, few enough for the caches.
const ARRIVALS: u64 = 4096;

/// Arrivals per flow and window that are worth a visit, when there are many flows.
const ARRIVALS_PER_FLOW: u64 = 4;

struct Engine {
    nodes: Vec<Node>,
    buckets: Vec<Bucket>,
    flows: Vec<Flow>,
    shared: Shared,
    order: Vec<usize>,
    /// By link: flows that send into it, receivers that acknowledge into it, rings that other links feed.
    senders: Vec<Vec<u32>>,
    receivers: Vec<Vec<u32>>,
    pipes: Vec<Vec<u32>>,
    rates: Vec<Rate>,
    marks: Marks,
    window: u64,
}

/// Runs `network` to its end.
pub fn run(network: Network, options: Options) -> Outcome {
    let mut engine = Engine::build(network, options);
    if options.hash {
        engine.simulate::<true>();
    } else {
        engine.simulate::<false>();
    }
    engine.finish(options)
}

impl Engine {
    fn build(network: Network, options: Options) -> Self {
        let horizon = horizon::horizon(&network);
        let (links, flows) = (network.links.len(), network.flows.len());
        let marks = network.marks;
        let mut engine = Self {
            nodes: Vec::with_capacity(links),
            buckets: (0..links).map(|_| Bucket::default()).collect(),
            flows: Vec::with_capacity(flows),
            shared: Shared::default(),
            order: horizon.order,
            senders: vec![Vec::new(); links],
            receivers: vec![Vec::new(); links],
            pipes: vec![Vec::new(); links],
            rates: network.links.iter().map(|link| link.rate).collect(),
            marks,
            window: horizon.window.min(sensible_window(&network)),
        };
        let (services, routes) = engine.lay_out(&network);
        let Network { links, flows, .. } = network;
        for (i, ((plan, service), routes)) in links.into_iter().zip(services).zip(routes).enumerate() {
            let AnyQueue::Fifo(fifo) = plan.queue;
            let admission = fifo.into_admission();
            engine.nodes.push(Node::new(i as u32, service, admission, plan.loss, routes, &marks, options.series));
        }
        for (f, plan) in flows.into_iter().enumerate() {
            let ecn = plan.ecn;
            let trace = plan.traced.then(|| Box::new(Trace { flow: f as u32, ..Trace::default() }));
            engine.shared.traces.push(trace);
            engine.shared.lead[f] = plan.lead.0;
            engine.shared.due[f] = plan.start.min(plan.stop).0 + plan.lead.0;
            engine.flows.push(Flow::new(plan, f as u32, &marks, options.series, ecn));
        }
        engine
    }

    /// Gives every hop its ring, with the delay to it, and every link its table of routes and service times.
    fn lay_out(&mut self, network: &Network) -> (Vec<Service>, Vec<Vec<u32>>) {
        let n = network.flows.len();
        let links = network.links.len();
        let mut routes = vec![vec![u32::MAX; n]; links];
        let mut service: Vec<Vec<(u32, u64)>> = vec![vec![(0, 0); n]; links];
        let mut pipe = vec![vec![u32::MAX; links]; links];
        let mut delays = vec![0; 2 * n];
        for (f, flow) in network.flows.iter().enumerate() {
            self.senders[flow.path[0] as usize].push(f as u32);
            if let Some(&first) = flow.back_path.first() {
                self.receivers[first as usize].push(f as u32);
            }
            for (path, is_ack) in [(&flow.path, false), (&flow.back_path, true)] {
                for (hop, &l) in path.iter().enumerate() {
                    let link = l as usize;
                    let delay = network.links[link].delay.0;
                    let size = if is_ack { HEADER } else { flow.packet };
                    service[link][f] = (size, network.serialize(l, f as u32)[usize::from(is_ack)]);
                    let (ring, more) = match path.get(hop + 1) {
                        Some(&next) => {
                            let ring = &mut pipe[link][next as usize];
                            if *ring == u32::MAX {
                                *ring = delays.len() as u32;
                                self.pipes[next as usize].push(*ring);
                                delays.push(0);
                            }
                            (*ring, 0)
                        }
                        None if is_ack || flow.back_path.is_empty() => (f as u32, flow.back.0),
                        None => ((n + f) as u32, 0),
                    };
                    routes[link][f] = ring;
                    delays[ring as usize] = delay + more;
                }
            }
        }
        let rings = delays.len();
        self.shared.rings = delays.into_iter().map(Ring::new).collect();
        self.shared.due = vec![u64::MAX; rings];
        self.shared.lead = vec![0; rings];
        self.shared.dropped = vec![0; n];
        let services = service
            .into_iter()
            .map(|all| {
                let mut used = all.iter().filter(|s| s.0 > 0);
                match used.next().copied() {
                    Some(first) if used.all(|s| *s == first) => Service::One(first.0, first.1),
                    // A link without flows serves nobody; one packet size is as good as another.
                    None => Service::One(HEADER, 1),
                    Some(_) => Service::Each(all),
                }
            })
            .collect();
        (services, routes)
    }

    fn simulate<const HASH: bool>(&mut self) {
        let end = self.marks.end.0;
        let last = end + self.shared.lead.iter().max().copied().unwrap_or(0);
        let mut start = 0;
        while start < last {
            let stop = start.saturating_add(self.window).min(last);
            let busy = self.step::<HASH>(start, stop);
            start = stop;
            if !busy {
                // Nothing happened: on to the next thing that will.
                start = start.max(self.shared.due.iter().min().copied().unwrap_or(last));
            }
        }
    }

    /// One window at every link. Returns whether anything arrived anywhere.
    fn step<const HASH: bool>(&mut self, start: u64, stop: u64) -> bool {
        let end = self.marks.end.0;
        let until = stop.min(end);
        let n = self.flows.len();
        let mut busy = false;
        for i in 0..self.order.len() {
            let l = self.order[i];
            let (shared, bucket) = (&mut self.shared, &mut self.buckets[l]);
            bucket.begin(start, until);
            for &pipe in &self.pipes[l] {
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
            for &f in &self.receivers[l] {
                let (f, r) = (f as usize, n + f as usize);
                if shared.due[r] < until {
                    let ring = &mut shared.rings[r];
                    shared.due[r] = self.flows[f].run_receiver(ring, bucket, until, &self.marks);
                }
            }
            for &f in &self.senders[l] {
                let f = f as usize;
                if shared.due[f] < stop {
                    let horizon = stop.saturating_sub(shared.lead[f]).min(end);
                    let (ring, trace) = (&mut shared.rings[f], &mut shared.traces[f]);
                    let window = (horizon, until);
                    shared.due[f] = self.flows[f].run::<HASH>(ring, bucket, window, &self.marks, trace);
                }
            }
            if !bucket.is_empty() {
                busy = true;
                let arrivals = bucket.sort(self.pipes[l].is_empty() && self.receivers[l].is_empty());
                self.nodes[l].serve::<HASH>(arrivals, &self.marks, shared);
            }
        }
        busy
    }

    fn finish(mut self, options: Options) -> Outcome {
        let mut hash = Rolling::default();
        let mut balance = Balance { dropped: self.shared.dropped_total, ..Balance::default() };
        let mut links = Vec::with_capacity(self.nodes.len());
        for (node, rate) in self.nodes.iter_mut().zip(&self.rates) {
            let (totals, most) = node.finish(&self.marks);
            hash.word(node.hash.0);
            let samples = std::mem::take(&mut node.samples);
            links.push(link_outcome(&node.warm, &totals, *rate, &self.marks, most, samples));
        }
        let n = self.flows.len();
        for ring in &self.shared.rings[2 * n..] {
            balance.in_flight += ring.all().iter().filter(|rec| rec.is_data()).count() as u64;
        }
        let mut flows = Vec::with_capacity(n);
        for (f, flow) in self.flows.into_iter().enumerate() {
            let (senders, receivers) = (&self.shared.rings[f], &self.shared.rings[n + f]);
            let done = flow.finish(senders, receivers, &self.marks, self.shared.dropped[f]);
            hash.word(done.hash.0);
            balance.sent += done.sent;
            balance.delivered += done.delivered;
            balance.dropped += done.access_drops;
            balance.in_flight += done.in_flight;
            flows.push(done.outcome);
        }
        Outcome {
            links,
            flows,
            sampled_at: if options.series { self.marks.samples() } else { Vec::new() },
            balance,
            traces: self.shared.traces.into_iter().flatten().map(|trace| *trace).collect(),
            hash: if options.hash { hash.0 } else { 0 },
        }
    }
}

/// A window of about [`ARRIVALS`] packets on the fastest link, more if there are many flows.
fn sensible_window(network: &Network) -> u64 {
    let arrivals = ARRIVALS.max(ARRIVALS_PER_FLOW * network.flows.len() as u64);
    let shortest = network
        .flows
        .iter()
        .enumerate()
        .flat_map(|(f, flow)| flow.path.iter().map(move |&l| network.serialize(l, f as u32)[0]));
    shortest.min().unwrap_or(1).saturating_mul(arrivals).max(1)
}

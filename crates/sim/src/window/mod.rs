//! The window engine. It orders arrivals per link and per window only; it keeps no global order of events.
//!
//! Time advances in windows that are so short that every packet that reaches a link within a window was sent before it
//! (`horizon`). In each window every flow runs ahead over the ACKs it already knows and emits arrivals (`flow`; `source`
//! for datagrams, `session` for places). Then each link sorts its arrivals (`bucket`), serves them (`node`) and appends
//! them to the rings of the next readers (`ring`).

mod access_link;
mod access_path;
mod acks;
mod bucket;
mod chunk;
mod core;
mod course;
mod fifo;
mod flow;
mod flow_table;
mod headers;
mod horizon;
mod late;
mod layout;
mod links;
mod local;
mod node;
mod pool;
mod results;
mod ring;
mod sender;
mod service;
mod session;
mod shared;
mod source;
pub mod steps;
mod threads;

use crate::hash::Rolling;
use crate::identity::Identity;
use crate::marks::Marks;
use crate::meter::{LinkFacts, LinkSpan, link_outcome};
use crate::observer::{NoObserver, PacketObserver};
use crate::plan::{FlowControl, FlowPlan, LinkQueue, Network};
use crate::probe::Probe;
use crate::results::{FinalResults, FlowResults};
use crate::transfers::TransferMeter;
use crate::{Balance, Options, Outcome, Trace};
use base::{RunMonitor, Span, Time};
use bucket::{Bucket, Window};
use chunk::{AtLink, Chunk, Ends, FLOWS_BETWEEN_LOOKS};
use course::{ARRIVALS, Course};
use flow::TcpFlow;
use horizon::Part;
use layout::{Layout, lay_out};
use links::Links;
use node::Node;
use pool::Pool;
use ring::{Rec, Ring};
use sender::AnySender;
use service::Tx;
use session::{Session, SessionCtx};
use shared::{ARRIVALS_BETWEEN_LOOKS, Shared};
use source::Source;
use threads::Threads;

/// [`ARRIVALS`] for several threads. Windows are longer with threads, because threads wait for each other in every
/// window.
const ARRIVALS_ON_THREADS: u64 = 16_384;

/// A part runs on one thread if its windows have fewer arrivals, if it has fewer flows, or if it has more links: threads
/// wait for each other at every link in every window.
const FEWEST_ARRIVALS: u64 = 8192;
const FEWEST_FLOWS: usize = 64;
const MOST_LINKS: usize = 16;

/// Number of arrivals per flow above which threads do not pay, because long runs of ACKs are cheap. This bound does not
/// apply to laws that measure every delivery: [`FEWEST_MEASURING`] flows of such laws are enough for threads.
const MOST_ARRIVALS_PER_FLOW: u64 = 64;
const FEWEST_MEASURING: usize = 4;

/// Arrivals per flow for which a window of many flows is made long enough, so that visiting a flow pays.
const ARRIVALS_PER_FLOW: u64 = 4;

/// Memory of a ring and of its entries in other tables, in bytes.
pub const RING_BYTES: usize = size_of::<Ring>() + size_of::<Time>() + size_of::<Span>();
/// Memory of a sender without its plan: the sender, its ring and its drop count, in bytes. If the ACKs of any flow cross
/// links, each receiver has a ring too.
pub const SENDER_BYTES: usize = size_of::<AnySender<NoObserver, law::Control>>() + RING_BYTES + size_of::<u64>();
/// Memory of a link without its discipline, in bytes.
pub const LINK_BYTES: usize =
    size_of::<Node<NoObserver, queue::NoOwn>>() + size_of::<Bucket>() + size_of::<Vec<u32>>() * 3;
/// Memory that a sender takes at each of its links, in bytes: the next ring of its packets, and their transmission time.
pub const HOP_BYTES: usize = size_of::<u32>() * 2 + size_of::<Tx>();
/// Memory of a packet in flight, in bytes.
pub const PACKET_BYTES: usize = size_of::<Rec>();

struct Engine<O, C, Q> {
    nodes: Vec<Node<O, Q>>,
    buckets: Vec<Bucket>,
    pools: Vec<Pool>,
    /// For each link, if there are pools: its pool, and its place in that pool.
    places: Vec<Option<(usize, usize)>>,
    flows: Vec<AnySender<O, C>>,
    identities: Vec<Identity>,
    /// Packet size of each group.
    packets: Vec<u32>,
    /// The sessions of each link, which is the first link of their path.
    sessions: Vec<Vec<Session>>,
    /// Transfer results of each group.
    transfers: Vec<TransferMeter>,
    shared: Shared,
    layout: Layout,
    /// Capacity and delays of each link.
    facts: Vec<LinkFacts>,
    marks: Marks,
    /// Threads, for a part that runs on more than one.
    threads: Option<Threads>,
    /// Number of chunks, as in [`Options`].
    chunks: usize,
}

/// The copy runs on one thread, as all runs in steps do.
impl<O: Clone, C: Clone, Q: Clone> Clone for Engine<O, C, Q> {
    fn clone(&self) -> Self {
        Self {
            nodes: self.nodes.clone(),
            buckets: self.buckets.clone(),
            pools: self.pools.clone(),
            places: self.places.clone(),
            flows: self.flows.clone(),
            identities: self.identities.clone(),
            packets: self.packets.clone(),
            sessions: self.sessions.clone(),
            transfers: self.transfers.clone(),
            shared: self.shared.clone(),
            layout: self.layout.clone(),
            facts: self.facts.clone(),
            marks: self.marks,
            threads: None,
            chunks: self.chunks,
        }
    }
}

/// Runs `network` to its end. Returns `None` if `monitor` stops the run earlier.
pub fn run<C: FlowControl, Q: LinkQueue>(
    network: Network<C, Q>,
    options: Options,
    monitor: &RunMonitor,
) -> Option<Outcome> {
    if options.hash || network.links.iter().any(|link| link.probe.traces_packets()) {
        run_observed::<PacketObserver, C, Q>(network, options, monitor)
    } else {
        run_observed::<NoObserver, C, Q>(network, options, monitor)
    }
}

fn run_observed<O: Links, C: FlowControl, Q: LinkQueue>(
    network: Network<C, Q>,
    options: Options,
    monitor: &RunMonitor,
) -> Option<Outcome> {
    let parts = horizon::parts(&network);
    let mut engine = Engine::<O, C, Q>::build(network, options, monitor);
    for (done, part) in parts.iter().enumerate() {
        if monitor.was_stopped() {
            return None;
        }
        engine.run_part(part, [done, done + 1].map(|parts_done| parts_done as f64 / parts.len() as f64));
    }
    engine.finish(options)
}

impl<O: Links, C: FlowControl, Q: LinkQueue> Engine<O, C, Q> {
    fn build(network: Network<C, Q>, options: Options, monitor: &RunMonitor) -> Self {
        let mut shared = Shared { monitor: monitor.clone(), ..Shared::default() };
        let mut layout = lay_out(&network, &mut shared);
        let Network { links, pools, flows, identities, packets, sessions, marks, .. } = network;
        let mut engine = Self {
            facts: links.iter().map(|link| LinkFacts::of(link, &marks, monitor)).collect(),
            buckets: links.iter().map(|_| Bucket::default()).collect(),
            pools: pools.iter().map(Pool::new).collect(),
            places: Vec::new(),
            sessions: links.iter().map(|_| Vec::new()).collect(),
            nodes: Vec::with_capacity(links.len()),
            flows: Vec::with_capacity(flows.len()),
            transfers: TransferMeter::by_group(&identities, marks, options.series),
            identities,
            packets,
            shared,
            marks,
            layout: Layout::default(),
            threads: None,
            chunks: options.chunks,
        };
        for plan in sessions {
            let party = flows[plan.first_place as usize].party();
            engine.sessions[party.path[0] as usize].push(Session::new(plan, party.first_link_delay));
        }
        if !pools.is_empty() {
            engine.places.resize(links.len(), None);
            for (p, pool) in engine.pools.iter().enumerate() {
                for (place, &link) in pool.links.iter().enumerate() {
                    engine.places[link] = Some((p, place));
                }
            }
        }
        for ((i, plan), table) in links.into_iter().enumerate().zip(layout.tables.drain(..)) {
            let pooled = engine.place_of(i).is_some();
            engine.nodes.push(Node::new(i as u32, plan, table, pooled, &marks, options.series));
        }
        let header_lanes = std::mem::take(&mut layout.header_lanes);
        engine.layout = layout;
        let n = flows.len();
        for (f, plan) in flows.into_iter().enumerate() {
            if f % FLOWS_BETWEEN_LOOKS == FLOWS_BETWEEN_LOOKS - 1 && monitor.is_stopped() {
                break;
            }
            let plan = if options.series { plan.sampled(&marks) } else { plan };
            let party = plan.party();
            if party.traced {
                engine.shared.traces.resize_with(n, || None);
                engine.shared.traces[f] = Some(Box::new(Trace { flow: party.flow, ..Trace::default() }));
            }
            engine.shared.delay_to_link[f] = party.first_link_delay;
            engine.shared.due[f] = party.start.min(party.stop).saturating_add(party.first_link_delay);
            engine.flows.push(match plan {
                FlowPlan::Tcp(party, plan) => AnySender::Tcp(TcpFlow::new(
                    *party,
                    plan,
                    f as u32,
                    header_lanes.get(f).copied().flatten(),
                    &marks,
                    options.series,
                )),
                FlowPlan::Datagrams(plan) => AnySender::Datagrams(Source::new(plan, f as u32, &marks)),
            });
        }
        engine
    }

    /// Runs one part of the network from start to end, or until the run is stopped. `shares` are the shares of the whole
    /// run that are done before this part and after it.
    fn run_part(&mut self, part: &Part, shares: [f64; 2]) {
        let monitor = self.shared.monitor.clone();
        let mut course = self.course(part);
        let last = course.last;
        // With a fixed number of chunks (as tests have), chunks are used on one thread too.
        let mut threads = usize::from(self.chunks == 0);
        while course.now < last && !monitor.is_stopped() {
            monitor.report(shares[0] + (shares[1] - shares[0]) * (course.now.0 as f64 / last.0 as f64));
            if course.threadable && monitor.threads() != threads {
                threads = monitor.threads();
                self.take_threads(part, threads);
                course.longest = course.windows[usize::from(self.threads.is_some())];
                course.window = course.longest;
            }
            self.run_window(part, &mut course, last);
        }
        self.leave_threads();
    }

    /// The progress of a part at the start of the run.
    fn course(&self, part: &Part) -> Course {
        let of =
            |lists: &[Vec<u32>]| -> Vec<u32> { part.order.iter().flat_map(|&l| lists[l].iter().copied()).collect() };
        let mut senders = of(&self.layout.senders);
        let sessions = part.order.iter().flat_map(|&l| &self.sessions[l]);
        let count = sessions.clone().count();
        senders.extend(sessions.flat_map(Session::places).map(|f| f as u32));
        let gap = self.gap(&part.order, &senders);
        let length = |arrivals: u64| {
            let arrivals = arrivals.max(ARRIVALS_PER_FLOW * (senders.len() + count) as u64);
            part.window.min(Span(gap.saturating_mul(arrivals).max(1)))
        };
        let windows = [ARRIVALS, ARRIVALS_ON_THREADS].map(length);
        // Senders run ahead of their links by no more than this.
        let ahead = senders.iter().map(|&f| self.shared.delay_to_link[f as usize]).max().unwrap_or(Span::ZERO);
        Course {
            now: Time::ZERO,
            last: self.marks.end + ahead,
            window: windows[0],
            windows,
            longest: windows[0],
            gap,
            threadable: self.may_take_threads(part, windows[1].0 / gap),
            pooled: part.order.iter().any(|&l| self.place_of(l).is_some()),
        }
    }

    /// Runs the next window of a part; it ends at `limit` or earlier.
    fn run_window(&mut self, part: &Part, course: &mut Course, limit: Time) {
        let (start, stop) = (course.now, course.now.saturating_add(course.window).min(limit));
        let (busy, arrivals) =
            if course.pooled { self.step::<true>(part, start, stop) } else { self.step::<false>(part, start, stop) };
        course.now = stop;
        course.after(stop - start, arrivals as u64);
        if !busy {
            // Nothing happened in this window, so skip to the next event.
            let next = self.next_reading(part).unwrap_or(course.last);
            let served = part.order.iter().map(|&l| self.nodes[l].due()).min().unwrap_or(course.last);
            let opened = part.order.iter().flat_map(|&l| &self.sessions[l]).map(|session| session.due);
            course.now = stop.max(next.min(served).min(opened.min().unwrap_or(course.last)));
        }
    }

    /// Time at which the first reader of a ring in this part has something to do.
    fn next_reading(&self, part: &Part) -> Option<Time> {
        let n = self.flows.len();
        let of_link = |&l: &usize| {
            let Layout { pipes, receivers, senders, .. } = &self.layout;
            let places = self.sessions[l].iter().flat_map(Session::places);
            let senders = senders[l].iter().chain(&pipes[l]).map(|&ring| ring as usize);
            senders.chain(receivers[l].iter().map(move |&f| n + f as usize)).chain(places)
        };
        part.order.iter().flat_map(of_link).map(|ring| self.shared.due[ring]).min()
    }

    /// Typical time between arrivals at the fastest of `links`, in picoseconds. It is the link's service time; it is longer
    /// if the senders' own links pass fewer packets than that, and shorter if datagram sources send more than the links
    /// carry.
    fn gap(&self, links: &[usize], flows: &[u32]) -> u64 {
        let shortest = links.iter().filter_map(|&l| self.nodes[l].core.flows.service.shortest_data()).min();
        let (mut of_tcp, mut of_datagrams) = (0.0, 0.0);
        for &f in flows {
            match &self.flows[f as usize] {
                AnySender::Tcp(flow) => of_tcp += 1.0 / flow.access().0 as f64,
                AnySender::Datagrams(source) => of_datagrams += 1.0 / source.mean_gap(),
            }
        }
        // On an almost idle link, a window sized for packets back to back would hold one packet or none.
        let apart = (1.0 / (of_tcp + of_datagrams)) as u64;
        shortest.map_or(1, |time| time.0).max(apart).min((1.0 / of_datagrams) as u64).max(1)
    }

    /// Whether several threads are faster than one, despite their synchronization, in a part whose windows hold
    /// `arrivals` arrivals.
    fn may_take_threads(&self, part: &Part, arrivals: u64) -> bool {
        let flows = self.flows_of(part);
        let measures =
            |f: &&u32| matches!(&self.flows[**f as usize], AnySender::Tcp(flow) if flow.measures_deliveries());
        let measuring = flows.iter().filter(measures).count();
        let many = flows.len() >= FEWEST_FLOWS && arrivals <= MOST_ARRIVALS_PER_FLOW * flows.len() as u64;
        let costly = many || measuring >= FEWEST_MEASURING && 2 * measuring >= flows.len();
        let fits = costly && arrivals >= FEWEST_ARRIVALS && part.order.len() <= MOST_LINKS;
        // Threads are not possible with headers (links write into lanes while flows read them), with links that reorder
        // (their packets come from one list) or with shared memory (no link can serve before the arrivals at all of them
        // are known).
        let shares = part.order.iter().any(|&l| self.place_of(l).is_some());
        (fits || self.chunks > 0) && self.shared.headers.is_empty() && self.shared.late.is_empty() && !shares
    }

    /// The flows of a part in the order of their numbers, without the places of sessions.
    fn flows_of(&self, part: &Part) -> Vec<u32> {
        let mut flows: Vec<u32> = part.order.iter().flat_map(|&l| self.layout.senders[l].iter().copied()).collect();
        flows.sort_unstable();
        flows
    }

    /// Continues `part` on `threads` threads.
    fn take_threads(&mut self, part: &Part, threads: usize) {
        self.leave_threads();
        if threads < 2 && self.chunks == 0 {
            return;
        }
        let (flows, n) = (self.flows_of(part), self.flows.len());
        if let Some(mut own) = Threads::new(threads, self.chunks, &flows) {
            let mut nodes: Vec<_> = self.nodes.iter_mut().enumerate().filter(|(l, _)| part.order.contains(l)).collect();
            let tables = nodes.iter_mut().map(|(l, node)| (*l, &mut node.core.flows));
            own.redirect(tables, &flows, n, &mut self.shared);
            self.threads = Some(own);
        }
    }

    /// Continues without threads.
    fn leave_threads(&mut self) {
        if let Some(threads) = self.threads.take() {
            for (l, routes) in threads.leave(&mut self.flows, &mut self.shared) {
                self.nodes[l].core.flows.routes = routes;
            }
        }
    }

    /// The pool of link `l`, and its place there.
    fn place_of(&self, l: usize) -> Option<(usize, usize)> {
        self.places.get(l).copied().flatten()
    }

    /// Runs one window at every link of a part. Returns whether anything arrived, and the largest number of arrivals at one
    /// link. `POOLED`: some links share memory.
    fn step<const POOLED: bool>(&mut self, part: &Part, start: Time, stop: Time) -> (bool, usize) {
        let (end, monitor) = (self.marks.end, self.shared.monitor.clone());
        let until = stop.min(end);
        let ends = Ends { stop, until };
        let (mut busy, mut most) = (false, 0);
        for &l in &part.order {
            let (shared, bucket) = (&mut self.shared, &mut self.buckets[l]);
            bucket.begin(start, until);
            if !shared.late.is_empty() {
                shared.release_late(l, start, stop);
            }
            for &pipe in &self.layout.pipes[l] {
                let ring = &mut shared.rings[pipe as usize];
                while let Some(&rec) = ring.peek()
                    && rec.time < until
                {
                    bucket.push(rec);
                    ring.consume(1);
                }
                ring.tidy();
                shared.due[pipe as usize] = ring.peek().map_or(Time::NEVER, |rec| rec.time);
            }
            let at_link = AtLink { senders: &self.layout.senders[l], receivers: &self.layout.receivers[l] };
            let bucket = if let Some(threads) = &mut self.threads {
                threads.begin(start, until);
                threads.run(&mut self.flows, shared, at_link, ends, &self.marks, &monitor);
                threads.of_sessions()
            } else {
                let (mut all, headers) = Chunk::all(&mut self.flows, shared);
                all.run(at_link, ends, bucket, headers, &self.marks, || monitor.is_stopped());
                bucket
            };
            if monitor.was_stopped() {
                return (false, most);
            }
            for session in &mut self.sessions[l] {
                if session.is_due(shared, stop) {
                    let who = &self.identities[session.flow()];
                    let horizon = stop.saturating_sub(session.first_link_delay).min(end);
                    session.run(&mut SessionCtx {
                        flows: &mut self.flows,
                        shared,
                        bucket,
                        window: Window { horizon, until, is_stopped: &|| monitor.is_stopped() },
                        stop,
                        marks: &self.marks,
                        transfers: &mut self.transfers[who.group as usize],
                        who,
                    });
                }
            }
            if !shared.late.is_empty() {
                shared.wake_late(l);
            }
            if POOLED && let Some((p, place)) = self.places.get(l).copied().flatten() {
                let pool = &mut self.pools[p];
                pool.add(place, self.buckets[l].sort(false));
                // The links of a pool are neighbours in the order. All of them are served when the last one has its
                // arrivals.
                if place + 1 == pool.links.len() {
                    let (nodes, marks) = (&mut self.nodes, &self.marks);
                    busy |= pool.serve(marks, &mut self.shared, |link, rec, place, shared| {
                        nodes[link].serve_in_pool(rec, place, marks, shared);
                    });
                }
                continue;
            }
            let bucket = &mut self.buckets[l];
            let none = bucket.is_empty() && self.threads.as_ref().is_none_or(Threads::is_empty);
            if !none || self.nodes[l].due() < until {
                busy = true;
                let arrivals = if let Some(threads) = &mut self.threads {
                    threads.sort(bucket)
                } else {
                    bucket.sort(
                        self.layout.pipes[l].is_empty()
                            && self.layout.receivers[l].is_empty()
                            && self.sessions[l].is_empty(),
                    )
                };
                most = most.max(arrivals.len());
                let mut rest = arrivals;
                while let Some((now, later)) = split_off(rest) {
                    self.nodes[l].serve(now, later[0].time, &self.marks, shared);
                    if monitor.is_stopped() {
                        return (false, most);
                    }
                    rest = later;
                }
                self.nodes[l].serve(rest, until, &self.marks, shared);
            }
        }
        (busy, most)
    }

    /// Returns the outcome at the end of the run; `None` if the run is stopped.
    fn finish(mut self, options: Options) -> Option<Outcome> {
        let monitor = self.shared.monitor.clone();
        for flow in &mut self.flows {
            if monitor.is_stopped() {
                return None;
            }
            if let AnySender::Tcp(flow) = flow {
                flow.pass_marks_before(self.marks.end, &self.marks);
            }
        }
        let mut hash = Rolling::default();
        let mut balance = Balance { dropped: self.shared.dropped_total, ..Balance::default() };
        let mut links = Vec::with_capacity(self.nodes.len());
        let mut packets = Vec::new();
        for (l, (mut node, facts)) in self.nodes.into_iter().zip(self.facts).enumerate() {
            let result = node.finish(&self.marks, &mut self.shared);
            if monitor.is_stopped() {
                return None;
            }
            balance.in_flight += result.still_waiting;
            let (seen, tracer) = node.core.observer.finish();
            hash.word(seen.value());
            let probe = Probe { tracer, ..node.core.probe };
            let measured = LinkSpan { from: &node.core.totals_at_warmup, to: &result.totals };
            let facts = facts.seen(&node.core.handover);
            let (link, trace) = link_outcome(l, measured, facts, &self.marks, result.most_waiting, probe);
            links.push(link);
            packets.extend(trace);
        }
        let pools = self.pools.into_iter().map(|pool| pool.finish(&self.marks, &mut links)).collect();
        let n = self.flows.len();
        let Shared { late, rings, headers, .. } = &mut self.shared;
        late.release_all(rings, headers);
        for ring in &self.shared.rings[n + self.shared.receivers..] {
            balance.in_flight += ring.all().iter().filter(|rec| rec.is_data()).count() as u64;
        }
        let none = Ring::default();
        let results = FlowResults::new(&self.identities, &self.packets, self.transfers, &self.marks);
        let FinalResults { fault, flows, transfers } = results.of(self.flows, |f, flow| {
            let dropped = self.shared.dropped[f];
            let mut ring = std::mem::take(&mut self.shared.rings[f]);
            let result = match flow {
                AnySender::Tcp(flow) => {
                    let receivers = if self.shared.receivers > 0 { &self.shared.rings[n + f] } else { &none };
                    flow.finish(&ring, receivers, &self.marks, dropped)
                }
                AnySender::Datagrams(source) => source.finish(&mut ring, &self.marks, dropped),
            };
            hash.word(result.hash.value());
            balance.sent += result.sent;
            balance.delivered += result.delivered;
            balance.dropped += result.access_drops;
            balance.in_flight += result.in_flight;
            result.tally
        });
        Some(Outcome {
            fault,
            links,
            pools,
            flows,
            transfers,
            sampled_at: if options.series { self.marks.samples() } else { Vec::new() },
            balance,
            traces: self
                .shared
                .traces
                .into_iter()
                .flatten()
                .map(|trace| trace.in_order(options.first_number))
                .collect(),
            packets,
            hash: if options.hash { hash.value() } else { 0 },
        })
    }
}

/// Splits `arrivals` after the first [`ARRIVALS_BETWEEN_LOOKS`] of them; arrivals at the same instant stay together.
/// `None` if nothing is left for the second part.
fn split_off(arrivals: &[Rec]) -> Option<(&[Rec], &[Rec])> {
    let last = arrivals.get(ARRIVALS_BETWEEN_LOOKS)?.time;
    let (now, later) = arrivals.split_at(arrivals.partition_point(|rec| rec.time <= last));
    (!later.is_empty()).then_some((now, later))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::NoObserver;

    /// Whether `count` flows of a law on a link of 10 Gbit/s use threads.
    fn take_threads(count: u32, law: &str, ms: u32) -> bool {
        let text = format!(
            "duration = \"1 s\"\n[[links]]\nname = \"l\"\nrate = \"10 Gbit/s\"\nbuffer = \"5000 packets\"\n[[flows]]\ncount = {count}\n\
             path = [\"l\"]\nrtt = \"{ms} ms\"\npacket = \"1500 B\"\ncontrol = {{ law = \"{law}\" }}\nrecovery = \"sack\"\n"
        );
        let network = crate::build::network_of(&text);
        let parts = horizon::parts(&network);
        let engine = Engine::<NoObserver, _, _>::build(network, Options::default(), &RunMonitor::default());
        let gap = engine.gap(&parts[0].order, &engine.flows_of(&parts[0]));
        engine.may_take_threads(&parts[0], parts[0].window.0 / gap)
    }

    #[test]
    fn threads_are_used_for_many_arrivals_of_many_or_costly_flows() {
        // A round trip of 20 ms is 16,667 packets.
        assert!(take_threads(500, "cubic", 20) && take_threads(4, "bbr", 20));
        assert!(!take_threads(10, "highspeed", 20) && !take_threads(3, "bbr", 20));
        // Windows for a round-trip time of 5 ms have too few arrivals, and XCP needs headers.
        assert!(!take_threads(500, "cubic", 5) && !take_threads(500, "xcp", 20));
    }
}

//! The reference engine: one heap event per packet and hop, all in the simplest form. The tests compare the window engine
//! with it, event for event.
//!
//! Order at one instant: marks, timers of disciplines, departures, deliveries, delayed-ACK timers, ACKs at senders, timers,
//! starts, stops, datagrams from their sources, packets entering the sender's own link, and arrivals at links. Arrivals are
//! ordered by flow, then by link, then in the order in which they were sent.

mod endpoints;
mod event;
mod marks;
mod pools;
mod sessions;

use crate::handover::Handover;
use crate::hash::Rolling;
use crate::identity::Identity;
use crate::ingress::Ingress;
use crate::ledger::Ledger;
use crate::marks::Marks;
use crate::meter::{FlowMeter, LinkFacts, LinkSpan, LinkTotals, Tally, link_outcome};
use crate::places::SessionPlan;
use crate::plan::{FlowControl, FlowPlan, LinkQueue, Network, TcpPlan};
use crate::pool::PoolAccount;
use crate::probe::{LinkSnapshot, Probe, ServerModel};
use crate::results::{FinalResults, FinalTally, FlowResults};
use crate::transfers::TransferMeter;
use crate::{Balance, Options, Outcome, Trace, TraceDrop, cause_index};
use base::{Cause, Flags, Header, PacketNumber, RunMonitor, Span, Time};
use endpoints::{AccessLink, Endpoints, Outbox};
use event::{Entry, Event, Key, Phase};
use queue::{AnyQueue, Either, Link, LinkEvent, LinkEventKind, Packet, QueueDiscipline};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use traffic::ArrivalProcess;
use transport::{Ack, Sender};

/// One link: the link of the queue crate, and its running totals.
struct Node<Q> {
    link: Link<Either<AnyQueue, Q>>,
    ingress: Option<Ingress>,
    handover: Handover,
    /// The link's pool, and its place in that pool.
    pool: Option<(usize, usize)>,
    totals: LinkTotals,
    warm: LinkTotals,
    touched: Time,
    /// Time of the event in the heap that wakes the discipline.
    armed: Time,
    backlog_max: u32,
    probe: Probe,
    /// The flows that lost packets here, in the order of their first losses.
    places: BTreeMap<u32, usize>,
    hash: Rolling,
}

impl<Q: LinkQueue> Node<Q> {
    /// Adds the time since this link's last event to the totals.
    fn account(&mut self, now: Time) {
        let (span, backlog) = (now - self.touched, self.link.backlog().packets);
        self.totals.waiting += u128::from(span.0) * u128::from(backlog);
        self.totals.nonempty += if backlog > 0 { span.0 } else { 0 };
        self.touched = now;
    }

    /// The state of the link at `now`.
    fn snapshot(&self, now: Time) -> LinkSnapshot {
        let serving = self.link.serving().map_or(Span::ZERO, |&(_, until)| until.since(now));
        LinkSnapshot { backlog: self.link.backlog(), serving }
    }

    /// Counts a packet that goes into service at `now`. Returns when its service ends.
    fn count_begun(&mut self, packet: &Packet, now: Time) -> Time {
        self.totals.begun += 1;
        self.totals.begun_bytes += u64::from(packet.size);
        if let Some(tracer) = &mut self.probe.tracer {
            tracer.on_service(packet, now);
        }
        let until = self.link.serving().map_or(Time::NEVER, |&(_, until)| until);
        debug_assert!(until > now);
        until
    }
}

struct Engine<C, Q> {
    heap: BinaryHeap<Reverse<Entry>>,
    pushed: u64,
    nodes: Vec<Node<Q>>,
    pools: Vec<PoolAccount>,
    endpoints: Vec<Endpoints<C>>,
    identities: Vec<Identity>,
    /// Packet size of each group.
    packets: Vec<u32>,
    sessions: Vec<SessionPlan>,
    /// Transfer results of each group.
    transfers: Vec<TransferMeter>,
    delays: Vec<Span>,
    marks: Marks,
    first_number: u64,
    balance: Balance,
}

/// Number of events between two checks of the monitor.
const EVENTS_BETWEEN_LOOKS: u64 = 4096;

/// Runs `network` to its end. Returns `None` if `monitor` stops the run earlier.
pub fn run<C: FlowControl, Q: LinkQueue>(
    network: Network<C, Q>,
    options: Options,
    monitor: &RunMonitor,
) -> Option<Outcome> {
    let (marks, first) = (network.marks, options.first_number);
    let delays = network.links.iter().map(|link| link.delay).collect();
    let facts: Vec<_> = network.links.iter().map(|link| LinkFacts::of(link, &marks, monitor)).collect();
    let nodes = network.links.into_iter().map(|plan| Node {
        probe: Probe::new(ServerModel::of(&plan), plan.probe, &marks, options.series),
        link: Link::new(plan.rate, plan.queue).with_schedule(plan.schedule),
        ingress: plan.ingress,
        handover: plan.handover,
        pool: None,
        totals: LinkTotals::default(),
        warm: LinkTotals::default(),
        touched: Time::ZERO,
        armed: Time::NEVER,
        backlog_max: 0,
        places: BTreeMap::new(),
        hash: Rolling::new(first),
    });
    let endpoints = network.flows.into_iter().map(|plan| if options.series { plan.sampled(&marks) } else { plan });
    let endpoints = endpoints.map(|plan| Endpoints {
        trace: plan.party().traced.then(|| Trace { flow: plan.party().flow, ..Trace::default() }),
        meter: FlowMeter::new(options.series && plan.is_tcp() && !plan.is_place()),
        bytes: plan.sizes().map(|_| 0),
        plan,
        datagrams_sent: 0,
        datagrams_delivered: 0,
        access: AccessLink::default(),
        last_enter: Time::ZERO,
        hash: Rolling::new(first),
        ack: Ack::NONE,
        acks: VecDeque::new(),
        first_ack: PacketNumber::of(first),
        dropped: 0,
        session: None,
        open: None,
    });
    let mut engine = Engine {
        heap: BinaryHeap::new(),
        pushed: 0,
        nodes: nodes.collect(),
        pools: network.pools.iter().map(PoolAccount::new).collect(),
        endpoints: endpoints.collect(),
        transfers: TransferMeter::by_group(&network.identities, marks, options.series),
        identities: network.identities,
        packets: network.packets,
        sessions: network.sessions,
        delays,
        marks,
        first_number: first,
        balance: Balance::default(),
    };
    engine.join_pools(&network.pools);
    engine.push(marks.warmup, Phase::Mark, 0, Event::Warm);
    if marks.every.is_some() {
        engine.push(Time::ZERO, Phase::Mark, 0, Event::Sample);
    }
    for l in 0..engine.nodes.len() {
        engine.arm(l);
    }
    for f in 0..engine.endpoints.len() {
        let plan = &engine.endpoints[f].plan;
        let (start, stop) = (plan.party().start, plan.party().stop);
        if plan.is_tcp() {
            engine.push(start, Phase::Start, f as u32, Event::Start(f));
            engine.push(stop, Phase::Stop, f as u32, Event::Stop(f));
        } else {
            engine.emit_after(start, f);
        }
    }
    for s in 0..engine.sessions.len() {
        let SessionPlan { first_place, place_count, .. } = engine.sessions[s];
        for place in first_place..first_place + place_count {
            engine.endpoints[place as usize].session = Some(s);
        }
        engine.open_next(Time::ZERO, s);
    }
    let mut events = 0;
    while let Some(&Reverse(Entry { key: Key { time, .. }, event })) = engine.heap.peek()
        && time < marks.end
    {
        events += 1;
        // A sample visits every flow and link, so it is always worth a check.
        if events % EVENTS_BETWEEN_LOOKS == 0 || matches!(event, Event::Sample) {
            monitor.report(time.0 as f64 / marks.end.0 as f64);
            if monitor.is_stopped() {
                return None;
            }
        }
        engine.heap.pop();
        engine.dispatch(time, event);
    }
    Some(engine.finish(options, facts))
}

impl<C: FlowControl, Q: LinkQueue> Engine<C, Q> {
    fn push(&mut self, time: Time, phase: Phase, flow: u32, event: Event) {
        self.pushed += 1;
        // For links that share memory: simultaneous arrivals are ordered by flow, then by link.
        let link = if let Event::Arrive(l, _) = event { l } else { 0 };
        let key = Key { time, phase, flow, link, pushed: self.pushed };
        self.heap.push(Reverse(Entry { key, event }));
    }

    fn dispatch(&mut self, now: Time, event: Event) {
        match event {
            Event::Warm => self.warm(now),
            Event::Sample => self.sample(now),
            Event::Wakeup(l) => {
                let node = &mut self.nodes[l];
                // A timer that was set again has an outdated entry in the heap.
                if node.link.next_event() == Some(LinkEvent { at: now, kind: LinkEventKind::Timer }) {
                    node.account(now);
                    let mut ledger = Ledger::default();
                    node.link.advance(now, &mut ledger);
                    self.count_fates(now, l, &ledger, None);
                    self.arm(l);
                }
            }
            Event::LinkDone(l) => self.link_done(now, l),
            Event::AccessDone(f) => {
                let access = &mut self.endpoints[f].access;
                let packet = access.serving.take().expect("a packet was in service");
                access.serving = access.waiting.pop_front();
                if access.serving.is_some() {
                    self.push(
                        now + self.endpoints[f].plan.party().access,
                        Phase::Depart,
                        f as u32,
                        Event::AccessDone(f),
                    );
                }
                self.leave_access(now, packet);
            }
            Event::Deliver(packet) => self.deliver(now, packet),
            Event::DelayedAck(f) => {
                let ends = &mut self.endpoints[f];
                let FlowPlan::Tcp(_, tcp) = &mut ends.plan else { return };
                if tcp.receiver.deadline() == now {
                    let ack = tcp.receiver.on_timer(now, &mut ends.ack);
                    ends.meter.delivered(now, tcp);
                    tcp.delivered(now);
                    self.acknowledge(now, f, ack);
                }
            }
            Event::AckAtSender(f, ack) => {
                self.with_sender(now, f, |sender, out| sender.on_ack(now, &ack, out));
                let ends = &mut self.endpoints[f];
                if let FlowPlan::Tcp(_, tcp) = &ends.plan {
                    ends.hash.sender(now, &tcp.sender);
                }
                self.trace(now, f, Some(&ack));
                self.close(now, f);
                if let Some(due) = self.endpoints[f].tcp().acknowledged(now) {
                    self.start_at(due, f);
                }
            }
            Event::Timer(f) => {
                let sender = &self.endpoints[f].tcp().sender;
                if sender.deadline() == now {
                    let timeouts = sender.counters().timeouts;
                    self.with_sender(now, f, |sender, out| sender.on_timer(now, out));
                    if self.endpoints[f].tcp().sender.counters().timeouts > timeouts {
                        self.trace(now, f, None);
                    }
                }
            }
            Event::Open(s) => self.open(now, s),
            Event::Start(f) => {
                let mut due = Time::NEVER;
                self.with_tcp(now, f, |tcp, out| due = tcp.start(now, out));
                self.start_at(due, f);
            }
            Event::Stop(f) => self.endpoints[f].tcp().sender.stop(),
            Event::Emit(f) => {
                let ends = &mut self.endpoints[f];
                let seq = self.first_number + ends.datagrams_sent;
                ends.datagrams_sent += 1;
                self.send(now, f, seq, Flags::NONE, Header::NONE);
                self.emit_after(now, f);
            }
            Event::EnterAccess(packet) => self.enter_access(now, packet),
            Event::Arrive(l, packet) => self.arrive(now, l, packet),
        }
    }

    /// Calls the sender, sends what it hands over, and keeps its timer in the heap.
    fn with_sender(&mut self, now: Time, f: usize, call: impl FnOnce(&mut Sender<C>, &mut Outbox)) {
        self.with_tcp(now, f, |tcp, out| call(&mut tcp.sender, out));
    }

    /// Schedules the start of the flow, or the next action of its application, at `due`; `due` may be never.
    fn start_at(&mut self, due: Time, f: usize) {
        if due != Time::NEVER {
            self.push(due, Phase::Start, f as u32, Event::Start(f));
        }
    }

    fn with_tcp(&mut self, now: Time, f: usize, call: impl FnOnce(&mut TcpPlan<C>, &mut Outbox)) {
        let mut out = Outbox { sent: Vec::new(), trace: self.endpoints[f].trace.take() };
        call(self.endpoints[f].tcp(), &mut out);
        self.endpoints[f].trace = out.trace;
        for (seq, flags, header) in out.sent {
            self.send(now, f, seq, flags, header);
        }
        let deadline = self.endpoints[f].tcp().sender.deadline();
        if deadline != Time::NEVER {
            self.push(deadline, Phase::Timer, f as u32, Event::Timer(f));
        }
    }

    /// Sends a packet to the sender's own link.
    fn send(&mut self, now: Time, f: usize, seq: u64, flags: Flags, header: Header) {
        self.balance.sent += 1;
        let ends = &mut self.endpoints[f];
        let sizes = ends.plan.sizes();
        let party = ends.plan.party_mut();
        let late = party.jitter.as_mut().map_or(Span::ZERO, |jitter| jitter.next());
        let enter = (now + late).max(ends.last_enter);
        ends.last_enter = enter;
        let header = header.times(party.packet as f32);
        let number = PacketNumber::of(seq);
        let size = sizes.map_or(party.packet, |sizes| sizes.of(number));
        let packet = Packet { header, ..Packet::new(f as u32, number.0, size, enter).with(flags) };
        self.push(enter, Phase::EnterAccess, f as u32, Event::EnterAccess(packet));
    }

    /// Schedules the datagram after the one at `now` (or after the start), if it comes before the stop.
    fn emit_after(&mut self, now: Time, f: usize) {
        if let FlowPlan::Datagrams(plan) = &mut self.endpoints[f].plan {
            let (next, stop) = (now + plan.source.next_gap(), plan.party.stop);
            if next < stop {
                self.push(next, Phase::Emit, f as u32, Event::Emit(f));
            }
        }
    }

    fn deliver(&mut self, now: Time, packet: Packet) {
        let f = packet.flow as usize;
        self.balance.delivered += 1;
        let ends = &mut self.endpoints[f];
        let FlowPlan::Tcp(party, tcp) = &mut ends.plan else {
            ends.datagrams_delivered += 1;
            ends.hash.delivery(now, PacketNumber(packet.token));
            ends.plan.time_datagram(now, PacketNumber(packet.token), &self.marks);
            if let Some(bytes) = ends.bytes.as_mut().filter(|_| now >= self.marks.warmup) {
                *bytes += u64::from(packet.size);
            }
            return;
        };
        let seq = tcp.receiver.segment(PacketNumber(packet.token));
        tcp.receiver.on_header(seq, &packet.header.times(1.0 / party.packet as f32));
        let ack = tcp.receiver.on_segment(now, seq, packet.flags, &mut ends.ack);
        ends.meter.delivered(now, tcp);
        tcp.delivered(now);
        self.acknowledge(now, f, ack);
    }

    /// Sends `ack`, if the receiver of flow `f` made one, and sets the receiver's timer.
    fn acknowledge(&mut self, now: Time, f: usize, ack: bool) {
        let deadline = self.endpoints[f].tcp().receiver.deadline();
        if ack {
            self.send_ack(now, f);
        }
        if deadline != Time::NEVER {
            self.push(deadline, Phase::DelayedAck, f as u32, Event::DelayedAck(f));
        }
    }

    fn enter_access(&mut self, now: Time, packet: Packet) {
        let f = packet.flow as usize;
        let ends = &mut self.endpoints[f];
        let (service, buffer) = (ends.plan.party().access, ends.plan.party().access_buffer);
        if service.0 == 0 {
            self.leave_access(now, packet);
        } else if ends.access.serving.is_none() {
            ends.access.serving = Some(packet);
            self.push(now + service, Phase::Depart, packet.flow, Event::AccessDone(f));
        } else if buffer.is_some_and(|b| ends.access.waiting.len() >= b as usize) {
            self.balance.dropped += 1;
            ends.dropped += 1;
        } else {
            ends.access.waiting.push_back(packet);
        }
    }

    fn leave_access(&mut self, now: Time, packet: Packet) {
        let party = self.endpoints[packet.flow as usize].plan.party();
        let (at, first) = (now + party.first_link_delay, party.path[0] as usize);
        self.push(at, Phase::Arrive, packet.flow, Event::Arrive(first, Packet { arrived: at, ..packet }));
    }

    fn send_ack(&mut self, now: Time, f: usize) {
        let ends = &mut self.endpoints[f];
        let ack = ends.ack;
        let party = ends.plan.party();
        if party.return_path.is_empty() {
            let at = now + party.return_delay;
            self.push(at, Phase::AckAtSender, f as u32, Event::AckAtSender(f, ack));
        } else {
            let number = ends.first_ack.plus(ends.acks.len() as u32);
            ends.acks.push_back(Some(ack));
            let packet = Packet::new(f as u32, number.0, party.ack, now).with(Flags::ACK);
            let first = party.return_path[0] as usize;
            self.push(now, Phase::Arrive, f as u32, Event::Arrive(first, packet));
        }
    }

    fn arrive(&mut self, now: Time, l: usize, packet: Packet) {
        self.ask_pool(l, packet.size);
        let node = &mut self.nodes[l];
        node.account(now);
        node.totals.arrived += 1;
        if let Some(tracer) = &mut node.probe.tracer {
            tracer.on_arrival(&packet, node.link.backlog().packets);
        }
        let mut ledger = Ledger::default();
        let arrived = node.totals.arrived;
        if let Some(cause) = node.ingress.as_mut().and_then(|ingress| ingress.drops(now, arrived, packet.size)) {
            ledger.dropped.push((packet, cause));
        } else {
            let began = node.link.offer(packet, &mut ledger);
            node.backlog_max = node.backlog_max.max(node.link.backlog().packets);
            if let Some(next) = began {
                let done = node.count_begun(&next, now);
                self.push(done, Phase::Depart, packet.flow, Event::LinkDone(l));
            }
        }
        self.count_fates(now, l, &ledger, Some(&packet));
        self.keep_pool(now, l);
        self.arm(l);
    }

    /// Schedules the next wake-up of link `l`, if it is not in the heap yet.
    fn arm(&mut self, l: usize) {
        let next = self.nodes[l].link.next_wakeup();
        if next != self.nodes[l].armed && next != Time::NEVER {
            self.nodes[l].armed = next;
            self.push(next, Phase::Wakeup, 0, Event::Wakeup(l));
        }
    }

    /// Counts the drops and marks of one call: of `arrival`, and of packets that were waiting at the link before it.
    fn count_fates(&mut self, now: Time, l: usize, ledger: &Ledger, arrival: Option<&Packet>) {
        ledger.hash(&mut self.nodes[l].hash, now, arrival);
        for (packet, cause) in &ledger.dropped {
            let node = &mut self.nodes[l];
            node.totals.dropped[cause_index(*cause)] += 1;
            if let (Cause::Pool, Some((p, place))) = (*cause, node.pool) {
                self.pools[p].count_drop(place);
            }
            if !packet.flags.has(Flags::ACK) {
                if let Some(tracer) = &mut node.probe.tracer {
                    tracer.on_drop(packet, now);
                }
                if now >= self.marks.warmup {
                    let next = node.places.len();
                    let place = *node.places.entry(packet.flow).or_insert(next);
                    node.probe.losses.on_drop(now, place);
                }
                self.balance.dropped += 1;
                let ends = &mut self.endpoints[packet.flow as usize];
                ends.dropped += 1;
                if let Some(trace) = &mut ends.trace {
                    trace.drops.push(TraceDrop { time: now, link: l as u32, seq: packet.token.into() });
                }
            }
        }
        for (_, cause) in &ledger.marked {
            self.nodes[l].totals.marked[cause_index(*cause)] += 1;
        }
    }

    fn link_done(&mut self, now: Time, l: usize) {
        let node = &mut self.nodes[l];
        node.account(now);
        let mut ledger = Ledger::default();
        let step = node.link.advance(now, &mut ledger).expect("a packet was in service");
        let packet = step.departed.expect("timers of this instant expired before");
        if let Some(next) = step.began {
            let done = node.count_begun(&next, now);
            self.push(done, Phase::Depart, next.flow, Event::LinkDone(l));
        }
        self.count_fates(now, l, &ledger, None);
        self.keep_pool(now, l);
        self.arm(l);
        let at = self.nodes[l].handover.at(now) + self.delays[l];
        let (f, party) = (packet.flow as usize, self.endpoints[packet.flow as usize].plan.party());
        let is_ack = packet.flags.has(Flags::ACK);
        let path = if is_ack { &party.return_path } else { &party.path };
        let hop = path.iter().position(|&x| x as usize == l).expect("the packet is on its path");
        let moved = Packet { arrived: at, ..packet };
        match path.get(hop + 1) {
            Some(&next) => self.push(at, Phase::Arrive, packet.flow, Event::Arrive(next as usize, moved)),
            None if is_ack => {
                let at = at + party.return_delay;
                let ack = self.endpoints[f].ack_numbered(PacketNumber(packet.token));
                self.push(at, Phase::AckAtSender, packet.flow, Event::AckAtSender(f, ack));
            }
            None => self.push(at, Phase::Deliver, packet.flow, Event::Deliver(moved)),
        }
    }

    fn trace(&mut self, now: Time, f: usize, ack: Option<&Ack>) {
        let ends = &mut self.endpoints[f];
        if let (Some(trace), FlowPlan::Tcp(_, tcp)) = (&mut ends.trace, &ends.plan) {
            trace.record(now, &tcp.sender, ack);
        }
    }

    fn finish(self, options: Options, facts: Vec<LinkFacts>) -> Outcome {
        let is_data = |p: &Packet| u64::from(!p.flags.has(Flags::ACK));
        let mut in_flight: u64 = self
            .heap
            .iter()
            .map(|Reverse(entry)| match &entry.event {
                Event::Deliver(p) | Event::EnterAccess(p) | Event::Arrive(_, p) => is_data(p),
                _ => 0,
            })
            .sum();
        let mut hash = Rolling::default();
        let (mut links, mut traces, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        let results = FlowResults::new(&self.identities, &self.packets, self.transfers, &self.marks);
        let end = self.marks.end;
        for (l, (mut node, facts)) in self.nodes.into_iter().zip(facts).enumerate() {
            node.account(end);
            hash.word(node.hash.value());
            if let Some((packet, _)) = node.link.serving() {
                in_flight += is_data(packet);
            }
            let mut fates = Ledger::default();
            while let Some(packet) = node.link.queue().dequeue(end, &mut fates) {
                in_flight += is_data(&packet);
            }
            // Packets that the discipline drops while it is emptied also count as waiting.
            in_flight += fates.dropped.iter().map(|(packet, _)| is_data(packet)).sum::<u64>();
            let totals = LinkSpan { from: &node.warm, to: &node.totals };
            let facts = facts.seen(&node.handover);
            let (link, seen) = link_outcome(l, totals, facts, &self.marks, node.backlog_max, node.probe);
            links.push(link);
            packets.extend(seen);
        }
        let pools = self.pools.into_iter().map(|pool| pool.finish(&self.marks, &mut links)).collect();
        let results = results.of(self.endpoints, |_, ends| {
            hash.word(ends.hash.value());
            in_flight += ends.access.waiting.len() as u64 + u64::from(ends.access.serving.is_some());
            let (counters, spurious, delivered) = ends.counters();
            let (meter, bytes, dropped, mut plan) = (ends.meter, ends.bytes, ends.dropped, ends.plan);
            let delays = plan.take_delays().map(|delays| Box::new(delays.finish(&self.marks)));
            let tally = Tally { meter, bytes, counters, spurious, delivered, dropped, delays };
            let (flow, fault) = (plan.party().flow, plan.fault());
            traces.extend(ends.trace.map(|trace| trace.in_order(options.first_number)));
            FinalTally { flow, open: ends.open, writes: plan.into_writes(), fault, tally }
        });
        let FinalResults { fault, flows, transfers } = results;
        Outcome {
            fault,
            links,
            pools,
            flows,
            transfers,
            sampled_at: if options.series { self.marks.samples() } else { Vec::new() },
            balance: Balance { in_flight, ..self.balance },
            traces,
            packets,
            hash: if options.hash { hash.value() } else { 0 },
        }
    }
}

//! A link of the window engine whose discipline chooses whom to serve, or decides at departure: its own little calendar
//! of arrivals, departures and timers, in the reference engine's order. Compiled for each discipline by itself.

use super::link::{Node, Server, Shared};
use super::ring::{Rec, tag};
use crate::cause_index;
use crate::ledger::Ledger;
use crate::meter::LinkTotals;
use crate::network::Marks;
use base::{Cause, Flags, Time};
use queue::{AnyQueue, Packet, QueueDiscipline, Visitor};

/// See the [module](self).
#[derive(Debug)]
pub struct Local {
    queue: AnyQueue,
    /// Whether a packet is in service; it leaves when the link is next free.
    busy: bool,
    waiting: Waiting,
    ledger: Ledger,
}

/// How many wait, and the integrals over time of their number and of there being any, kept up only when it changes:
/// each packet counts minus the instant it came plus the instant it went.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    packets: u32,
    sum: i128,
    nonempty: i128,
}

impl Waiting {
    #[inline]
    fn set(&mut self, packets: u32, now: u64) {
        self.sum -= i128::from(i64::from(packets) - i64::from(self.packets)) * i128::from(now);
        if (packets == 0) != (self.packets == 0) {
            self.nonempty += if packets == 0 { i128::from(now) } else { -i128::from(now) };
        }
        self.packets = packets;
    }

    /// The totals with both integrals until `at`.
    fn totals_at(&self, at: u64, totals: LinkTotals) -> LinkTotals {
        let still = if self.packets > 0 { i128::from(at) } else { 0 };
        LinkTotals {
            waiting: (self.sum + i128::from(self.packets) * i128::from(at)) as u128,
            nonempty: (self.nonempty + still) as u64,
            ..totals
        }
    }
}

impl Local {
    pub fn new(queue: AnyQueue) -> Self {
        Self { queue, busy: false, waiting: Waiting::default(), ledger: Ledger::default() }
    }

    /// Data packets still waiting at the end.
    fn drain(&mut self) -> u64 {
        let mut packets = 0;
        let is_data = |packet: &Packet| u64::from(!packet.flags.has(Flags::ACK));
        while let Some(packet) = self.queue.dequeue(Time::NEVER, &mut self.ledger) {
            packets += is_data(&packet);
        }
        packets + self.ledger.dropped.drain(..).map(|(packet, _)| is_data(&packet)).sum::<u64>()
    }
}

impl Node {
    /// When a packet that waits here will next go into service: later arrivals may still change which one.
    pub fn due(&self) -> u64 {
        match &self.server {
            Server::Local(local) if local.waiting.packets > 0 => self.free,
            _ => u64::MAX,
        }
    }
}

impl Local {
    /// Everything before `until`, with these arrivals.
    pub fn serve<const HASH: bool>(
        &mut self,
        node: &mut Node,
        arrivals: &[Rec],
        until: u64,
        marks: &Marks,
        shared: &mut Shared,
    ) {
        let Self { queue, busy, waiting, ledger } = self;
        let hands = Hands { busy: *busy, free: node.free, waiting: *waiting, counts: Counts::default() };
        let hands = queue.visit(Serve::<HASH> { node: &mut *node, hands, ledger, arrivals, until, marks, shared });
        (*busy, *waiting, node.free) = (hands.busy, hands.waiting, hands.free);
    }

    /// The run is over: totals, most packets that waited, data packets that still do.
    pub fn finish(&mut self, node: &mut Node, marks: &Marks, shared: &mut Shared) -> (LinkTotals, u32, u64) {
        // Timers of an empty queue, at which nothing was due, and the last marks.
        self.serve::<false>(node, &[], marks.end.0, marks, shared);
        (self.waiting.totals_at(marks.end.0, node.totals), node.most_seen, self.drain())
    }
}

/// What changes with every packet, kept by value: in registers, if all goes well.
#[derive(Clone, Copy)]
struct Hands {
    busy: bool,
    free: u64,
    waiting: Waiting,
    counts: Counts,
}

/// Of the node's totals, what was not added yet.
#[derive(Clone, Copy, Default)]
struct Counts {
    arrived: u64,
    begun: u64,
    begun_bytes: u64,
    most: u32,
}

/// Serves everything before `until`.
struct Serve<'a, const HASH: bool> {
    node: &'a mut Node,
    hands: Hands,
    ledger: &'a mut Ledger,
    arrivals: &'a [Rec],
    until: u64,
    marks: &'a Marks,
    shared: &'a mut Shared,
}

impl<const HASH: bool> Visitor for Serve<'_, HASH> {
    type Out = Hands;

    fn visit<Q: QueueDiscipline>(mut self, queue: &mut Q) -> Hands {
        let (mut arrivals, until) = (self.arrivals, self.until);
        loop {
            // Up to here nothing but arrivals and departures.
            let stop = until.min(self.node.next_mark.0).min(queue.next_wakeup().0);
            arrivals = self.run(queue, arrivals, stop);
            let wake = queue.next_wakeup().0;
            let free = if self.hands.busy { self.hands.free } else { u64::MAX };
            let now = wake.min(free).min(arrivals.first().map_or(u64::MAX, |rec| rec.time));
            if now >= until {
                if until >= self.marks.end.0 {
                    self.pass_marks(Time(until - 1), queue);
                }
                self.count();
                return self.hands;
            }
            if now >= self.node.next_mark.0 {
                self.pass_marks(Time(now), queue);
            }
            if wake == now {
                let idle_since = self.idle_since();
                queue.on_wakeup(Time(now), idle_since, self.ledger);
                self.settle(now, None, queue);
            }
        }
    }
}

impl<'a, const HASH: bool> Serve<'a, HASH> {
    /// Arrivals and departures before `stop`, or until a timer is set that rings before. Returns the arrivals left.
    #[inline]
    fn run<Q: QueueDiscipline>(&mut self, queue: &mut Q, mut arrivals: &'a [Rec], mut stop: u64) -> &'a [Rec] {
        loop {
            let at = arrivals.first().map_or(u64::MAX, |rec| rec.time);
            if self.hands.busy && self.hands.free <= at {
                let now = self.hands.free;
                if now >= stop {
                    return arrivals;
                }
                let next = queue.dequeue(Time(now), self.ledger);
                self.begin(now, next);
                self.settle(now, None, queue);
            } else {
                let Some((rec, later)) = arrivals.split_first().filter(|_| at < stop) else { return arrivals };
                arrivals = later;
                self.arrive(rec, queue);
            }
            stop = stop.min(queue.next_wakeup().0);
        }
    }

    #[inline]
    fn idle_since(&self) -> Option<Time> {
        (!self.hands.busy).then_some(Time(self.hands.free))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    fn arrive<Q: QueueDiscipline>(&mut self, rec: &Rec, queue: &mut Q) {
        self.hands.counts.arrived += 1;
        let header = self.node.header_of(rec, self.shared);
        if self.node.loss.is_some() && self.loses() {
            return self.node.drop::<HASH>(rec, Cause::Injected, self.marks, self.shared);
        }
        let (size, _) = self.node.service_of(rec.flow());
        let mut packet = Packet::new(rec.flow(), rec.seq(), size, Time(rec.time)).with(rec.flags());
        if let Some(header) = header {
            packet.header = header;
        }
        match self.idle_since() {
            None => queue.enqueue(packet, None, self.ledger),
            Some(since) => {
                let next = queue.pass(packet, since, self.ledger);
                self.begin(rec.time, next);
            }
        }
        self.hands.counts.most = self.hands.counts.most.max(queue.backlog().packets);
        self.settle(rec.time, Some(&packet), queue);
    }

    /// The next packet, if there is one, goes into service.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers in the hottest loop")]
    fn begin(&mut self, now: u64, next: Option<Packet>) {
        self.hands.busy = next.is_some();
        let Some(packet) = next else { return };
        let (_, time) = self.node.service_of(packet.flow);
        self.hands.counts.begun += 1;
        self.hands.counts.begun_bytes += u64::from(packet.size);
        self.hands.free = now + time;
        if !self.node.lanes.is_empty() {
            self.node.put_header(&packet, self.shared);
        }
        let tag = tag(packet.flow, packet.token, packet.flags);
        self.shared.push(self.node.routes[(packet.flow - self.node.first) as usize], self.hands.free, tag);
    }

    /// Counts what the discipline did in one call.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    fn settle<Q: QueueDiscipline>(&mut self, now: u64, arrival: Option<&Packet>, queue: &Q) {
        self.hands.waiting.set(queue.backlog().packets, now);
        if !self.ledger.is_empty() {
            self.settle_fates(now, arrival);
        } else if HASH && let Some(packet) = arrival {
            self.node.hash.arrival(now, packet.flow, packet.token, 0);
        }
    }

    #[cold]
    fn settle_fates(&mut self, now: u64, arrival: Option<&Packet>) {
        if HASH {
            self.ledger.hash(&mut self.node.hash, Time(now), arrival);
        }
        for (packet, cause) in self.ledger.dropped.drain(..) {
            let rec = Rec { time: now, tag: tag(packet.flow, packet.token, packet.flags) };
            self.node.drop::<false>(&rec, cause, self.marks, self.shared);
        }
        for (_, cause) in self.ledger.marked.drain(..) {
            self.node.totals.marked[cause_index(cause)] += 1;
        }
    }

    #[cold]
    fn pass_marks<Q: QueueDiscipline>(&mut self, now: Time, queue: &Q) {
        self.count();
        while self.node.next_mark <= now {
            let at = self.node.next_mark;
            let totals = self.hands.waiting.totals_at(at.0, self.node.totals);
            self.node.pass_mark(at, self.marks, totals, self.hands.waiting.packets, |put| queue.gauges(put));
            self.node.next_mark = self.node.mark_after(at, Time::NEVER, self.marks);
        }
    }

    /// Adds to the node's totals what was not added yet.
    fn count(&mut self) {
        let Counts { arrived, begun, begun_bytes, most } = std::mem::take(&mut self.hands.counts);
        self.node.totals.arrived += arrived;
        self.node.totals.begun += begun;
        self.node.totals.begun_bytes += begun_bytes;
        self.node.most_seen = self.node.most_seen.max(most);
    }

    /// Whether the scenario asks for the loss of the packet that arrived.
    #[cold]
    fn loses(&mut self) -> bool {
        self.count();
        self.node.loses()
    }
}

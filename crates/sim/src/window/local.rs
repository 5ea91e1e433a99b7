//! A link of the window engine whose discipline chooses whom to serve, or decides at departure: its own little calendar
//! of arrivals, departures and timers, in the reference engine's order. Compiled for each discipline by itself.

use super::link::{Node, Server, Shared};
use super::ring::{Rec, tag};
use crate::cause_index;
use crate::ledger::Ledger;
use crate::meter::LinkTotals;
use crate::network::Marks;
use crate::probe::Standing;
use base::{Cause, Flags, Span, Time};
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
/// each packet counts minus the instant it came plus the instant it went. Negative on the way, so both wrap around.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    packets: u32,
    sum: u128,
    nonempty: u64,
}

impl Waiting {
    /// So many wait, most likely one more than before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    fn came(&mut self, packets: u32, now: u64) {
        if packets == self.packets + 1 && self.packets > 0 {
            self.sum = self.sum.wrapping_sub(u128::from(now));
            self.packets = packets;
        } else if packets != self.packets {
            *self = self.jumped(packets, now);
        }
    }

    /// So many wait, most likely one less than before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    fn went(&mut self, packets: u32, now: u64) {
        if packets + 1 == self.packets && packets > 0 {
            self.sum = self.sum.wrapping_add(u128::from(now));
            self.packets = packets;
        } else if packets != self.packets {
            *self = self.jumped(packets, now);
        }
    }

    /// By any number, to or from none. By value, so that the loop may hold the sums in registers.
    #[cold]
    fn jumped(self, packets: u32, now: u64) -> Self {
        let none = |packets| if packets == 0 { now } else { 0 };
        let (came, went) = (u128::from(packets) * u128::from(now), u128::from(self.packets) * u128::from(now));
        Self {
            packets,
            sum: self.sum.wrapping_add(went).wrapping_sub(came),
            nonempty: self.nonempty.wrapping_add(none(packets)).wrapping_sub(none(self.packets)),
        }
    }

    /// The totals with both integrals until `at`.
    fn totals_at(&self, at: u64, totals: LinkTotals) -> LinkTotals {
        let still = if self.packets > 0 { at } else { 0 };
        LinkTotals {
            waiting: self.sum.wrapping_add(u128::from(self.packets) * u128::from(at)),
            nonempty: self.nonempty.wrapping_add(still),
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
        let hands = Hands { busy: *busy, free: node.free, waiting: *waiting, begun: 0 };
        let plain = node.plain_service();
        let serve = Serve::<HASH, false> { node, hands, service: (0, 0), ledger, arrivals, until, marks, shared };
        let hands = match plain {
            Some(service) if !HASH => queue.visit(serve.plain(service)),
            _ => queue.visit(serve),
        };
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
    /// Services that began and are not in the node's totals yet.
    begun: u64,
}

/// Serves everything before `until`. On a `PLAIN` link packets have one size, nobody hashes or loses them, and none carries
/// a header: what most links are, and then most of a packet need not be looked at.
struct Serve<'a, const HASH: bool, const PLAIN: bool> {
    node: &'a mut Node,
    hands: Hands,
    /// Size and time on the wire, on a plain link.
    service: (u32, u64),
    ledger: &'a mut Ledger,
    arrivals: &'a [Rec],
    until: u64,
    marks: &'a Marks,
    shared: &'a mut Shared,
}

impl<const HASH: bool, const PLAIN: bool> Visitor for Serve<'_, HASH, PLAIN> {
    type Out = Hands;

    fn visit<Q: QueueDiscipline>(mut self, queue: &mut Q) -> Hands {
        let (mut arrivals, until) = (self.arrivals, self.until);
        loop {
            // Up to here nothing but arrivals and departures.
            let stop = until.min(self.node.next_mark.0).min(queue.next_wakeup().0);
            let left = self.run(queue, arrivals, stop);
            self.count(arrivals.len() - left.len());
            arrivals = left;
            let wake = queue.next_wakeup().0;
            let free = if self.hands.busy { self.hands.free } else { u64::MAX };
            let now = wake.min(free).min(arrivals.first().map_or(u64::MAX, |rec| rec.time));
            if now >= until {
                if until >= self.marks.end.0 {
                    self.pass_marks(Time(until - 1), queue);
                }
                return self.hands;
            }
            if now >= self.node.next_mark.0 {
                self.pass_marks(Time(now), queue);
            }
            if wake == now {
                queue.on_wakeup(Time(now), self.hands.idle_since(), self.ledger);
                self.hands.waiting.went(queue.backlog().packets, now);
                self.settle(now, None);
            }
        }
    }
}

impl Hands {
    #[inline]
    fn idle_since(&self) -> Option<Time> {
        (!self.busy).then_some(Time(self.free))
    }
}

impl<'a, const HASH: bool> Serve<'a, HASH, false> {
    fn plain(self, service: (u32, u64)) -> Serve<'a, false, true> {
        let Self { node, hands, ledger, arrivals, until, marks, shared, .. } = self;
        Serve { node, hands, service, ledger, arrivals, until, marks, shared }
    }
}

impl<'a, const HASH: bool, const PLAIN: bool> Serve<'a, HASH, PLAIN> {
    /// Arrivals and departures before `stop`, or until a timer is set that rings before. Returns the arrivals left.
    #[inline]
    fn run<Q: QueueDiscipline>(&mut self, queue: &mut Q, mut arrivals: &'a [Rec], mut stop: u64) -> &'a [Rec] {
        let mut hands = self.hands;
        loop {
            let at = arrivals.first().map_or(u64::MAX, |rec| rec.time);
            if hands.busy && hands.free <= at {
                let now = hands.free;
                if now >= stop {
                    break;
                }
                let next = queue.dequeue(Time(now), self.ledger);
                self.begin(&mut hands, now, next);
                hands.waiting.went(queue.backlog().packets, now);
                self.settle(now, None);
            } else {
                let Some((rec, later)) = arrivals.split_first().filter(|_| at < stop) else { break };
                arrivals = later;
                self.arrive(&mut hands, rec, queue);
            }
            stop = stop.min(queue.next_wakeup().0);
        }
        self.hands = hands;
        arrivals
    }

    /// Adds to the totals what the loop left for afterwards: all packets of a plain link have one size.
    fn count(&mut self, arrived: usize) {
        let begun = std::mem::take(&mut self.hands.begun);
        self.node.totals.begun += begun;
        if PLAIN {
            self.node.totals.arrived += arrived as u64;
            self.node.totals.begun_bytes += begun * u64::from(self.service.0);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    fn arrive<Q: QueueDiscipline>(&mut self, hands: &mut Hands, rec: &Rec, queue: &mut Q) {
        let mut header = None;
        if !PLAIN {
            self.node.totals.arrived += 1;
            header = self.node.header_of(rec, self.shared);
            if HASH {
                let packet = Packet::new(rec.flow(), rec.seq(), 0, Time(rec.time)).with(rec.flags());
                self.node.watch_arrival(&packet, queue.backlog().packets);
            }
            if self.node.loss.is_some() && self.node.loses() {
                if HASH {
                    let packet = Packet::new(rec.flow(), rec.seq(), 0, Time(rec.time)).with(rec.flags());
                    self.node.watch_end(&packet, rec.time, true, self.marks);
                }
                return self.node.drop::<HASH>(rec, Cause::Injected, self.marks, self.shared);
            }
        }
        let size = if PLAIN { self.service.0 } else { self.node.service_of(rec.flow(), rec.seq()).0 };
        let mut packet = Packet::new(rec.flow(), rec.seq(), size, Time(rec.time)).with(rec.flags());
        if let Some(header) = header {
            packet.header = header;
        }
        match hands.idle_since() {
            None => queue.enqueue(packet, None, self.ledger),
            Some(since) => {
                let next = queue.pass(packet, since, self.ledger);
                self.begin(hands, rec.time, next);
            }
        }
        let packets = queue.backlog().packets;
        if packets > self.node.most_seen {
            self.node.most_seen = packets;
        }
        hands.waiting.came(packets, rec.time);
        self.settle(rec.time, Some(&packet));
    }

    /// The next packet, if there is one, goes into service.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers in the hottest loop")]
    fn begin(&mut self, hands: &mut Hands, now: u64, next: Option<Packet>) {
        hands.busy = next.is_some();
        let Some(packet) = next else { return };
        let time = if PLAIN { self.service.1 } else { self.node.time_of(&packet) };
        if HASH {
            self.node.watch_end(&packet, now, false, self.marks);
        }
        hands.begun += 1;
        hands.free = now + time;
        if !PLAIN {
            self.node.totals.begun_bytes += u64::from(packet.size);
            if !self.node.lanes.is_empty() {
                self.node.put_header(&packet, self.shared);
            }
        }
        let tag = tag(packet.flow, packet.token, packet.flags);
        self.shared.push(self.node.routes[(packet.flow - self.node.first) as usize], hands.free, tag);
    }

    /// Counts what the discipline dropped and marked in one call.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two callers in the hottest loop")]
    fn settle(&mut self, now: u64, arrival: Option<&Packet>) {
        if !self.ledger.is_empty() {
            self.settle_fates(now, arrival.copied());
        } else if HASH && let Some(packet) = arrival {
            self.node.hash.arrival(now, packet.flow, packet.token, 0);
        }
    }

    /// The arrival comes by value, so that it need not lie in memory before.
    #[cold]
    fn settle_fates(&mut self, now: u64, arrival: Option<Packet>) {
        if HASH {
            self.ledger.hash(&mut self.node.hash, Time(now), arrival.as_ref());
        }
        for (packet, cause) in self.ledger.dropped.drain(..) {
            if HASH {
                self.node.watch_end(&packet, now, true, self.marks);
            }
            let rec = Rec { time: now, tag: tag(packet.flow, packet.token, packet.flags) };
            self.node.drop::<false>(&rec, cause, self.marks, self.shared);
        }
        for (_, cause) in self.ledger.marked.drain(..) {
            self.node.totals.marked[cause_index(cause)] += 1;
        }
    }

    #[cold]
    fn pass_marks<Q: QueueDiscipline>(&mut self, now: Time, queue: &Q) {
        while self.node.next_mark <= now {
            let at = self.node.next_mark;
            let totals = self.hands.waiting.totals_at(at.0, self.node.totals);
            let left = if self.hands.busy { self.hands.free.saturating_sub(at.0) } else { 0 };
            let standing = Standing { backlog: queue.backlog(), serving: Span(left) };
            self.node.pass_mark(at, self.marks, totals, &standing, |put| queue.gauges(put));
            self.node.next_mark = self.node.mark_after(at, Time::NEVER, self.marks);
        }
    }
}

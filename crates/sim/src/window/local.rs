//! A link of the window engine whose discipline chooses whom to serve, or decides at departure: its own little calendar
//! of arrivals, departures and timers, in the reference engine's order.

use super::link::{Node, Server, Shared};
use super::ring::Rec;
use crate::cause_index;
use crate::ledger::Ledger;
use crate::network::Marks;
use base::{Cause, Flags, Time};
use queue::{AnyQueue, Packet, QueueDiscipline};

/// See the [module](self).
#[derive(Debug)]
pub struct Local {
    pub queue: AnyQueue,
    /// Whether a packet is in service; it leaves when the link is next free.
    busy: bool,
    /// What the queue says of itself, asked once after each call: packets waiting, and when its timer rings.
    pub waiting: u32,
    wake: u64,
    /// Until when the totals are.
    pub touched: u64,
    ledger: Ledger,
}

impl Local {
    pub fn new(queue: AnyQueue) -> Self {
        let mut local = Self { queue, busy: false, waiting: 0, wake: 0, touched: 0, ledger: Ledger::default() };
        local.refresh();
        local
    }

    #[inline]
    fn refresh(&mut self) {
        (self.waiting, self.wake) = (self.queue.backlog().packets, self.queue.next_wakeup().0);
    }

    /// Data packets still waiting at the end.
    pub fn drain(&mut self) -> u64 {
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
            Server::Local(local) if local.waiting > 0 => self.free,
            _ => u64::MAX,
        }
    }

    /// Everything before `until`, with these arrivals.
    #[inline(never)]
    pub fn serve_local<const HASH: bool>(&mut self, arrivals: &[Rec], until: u64, marks: &Marks, shared: &mut Shared) {
        let mut arrivals = arrivals.iter();
        let mut arrival = arrivals.next();
        loop {
            let Server::Local(local) = &mut self.server else { return };
            let wake = local.wake;
            let done = if local.busy { self.free } else { u64::MAX };
            let at = arrival.map_or(u64::MAX, |rec| rec.time);
            let now = wake.min(done).min(at);
            if now >= until {
                return;
            }
            if now >= self.next_mark.0 {
                self.pass_marks(Time(now), marks);
            }
            self.account(now);
            if wake == now {
                let idle_since = self.idle_since();
                let Server::Local(local) = &mut self.server else { return };
                local.queue.on_wakeup(Time(now), idle_since, &mut local.ledger);
                local.refresh();
                self.settle::<HASH>(now, None, marks, shared);
            } else if done == now {
                self.begin(now, shared);
                self.settle::<HASH>(now, None, marks, shared);
            } else if let Some(rec) = arrival {
                self.arrive::<HASH>(rec, marks, shared);
                arrival = arrivals.next();
            }
        }
    }

    fn idle_since(&self) -> Option<Time> {
        match &self.server {
            Server::Local(local) if !local.busy => Some(Time(self.free)),
            _ => None,
        }
    }

    fn arrive<const HASH: bool>(&mut self, rec: &Rec, marks: &Marks, shared: &mut Shared) {
        self.totals.arrived += 1;
        let header = (!self.lanes.is_empty()).then(|| self.take_header(rec, shared));
        if self.loses() {
            return self.drop::<HASH>(rec, Cause::Injected, marks, shared);
        }
        let (size, _) = self.service_of(rec.flow());
        let mut packet = Packet::new(rec.flow(), rec.seq(), size, Time(rec.time)).with(rec.flags());
        if let Some(header) = header {
            packet.header = header;
        }
        let idle_since = self.idle_since();
        let Server::Local(local) = &mut self.server else { return };
        local.queue.enqueue(packet, idle_since, &mut local.ledger);
        if idle_since.is_some() {
            self.begin(rec.time, shared);
        } else {
            local.refresh();
        }
        let Server::Local(local) = &self.server else { return };
        self.most_seen = self.most_seen.max(local.waiting);
        self.settle::<HASH>(rec.time, Some(&packet), marks, shared);
    }

    /// The next packet, if there is one, goes into service.
    #[inline]
    fn begin(&mut self, now: u64, shared: &mut Shared) {
        let Server::Local(local) = &mut self.server else { return };
        let next = local.queue.dequeue(Time(now), &mut local.ledger);
        local.busy = next.is_some();
        local.refresh();
        let Some(packet) = next else { return };
        let (size, time) = self.service_of(packet.flow);
        self.totals.begun += 1;
        self.totals.begun_bytes += u64::from(size);
        self.free = now + time;
        if !self.lanes.is_empty() {
            self.put_header(&packet, shared);
        }
        let rec = Rec::of(self.free, packet.flow, packet.token, packet.flags);
        shared.push(self.routes[(packet.flow - self.first) as usize], self.free, rec.tag);
    }

    /// Counts what the discipline did in one call.
    #[inline]
    fn settle<const HASH: bool>(&mut self, now: u64, arrival: Option<&Packet>, marks: &Marks, shared: &mut Shared) {
        let Server::Local(local) = &mut self.server else { return };
        if local.ledger.is_empty() {
            if HASH && let Some(packet) = arrival {
                self.hash.arrival(now, packet.flow, packet.token, 0);
            }
            return;
        }
        let mut ledger = std::mem::take(&mut local.ledger);
        if HASH {
            ledger.hash(&mut self.hash, Time(now), arrival);
        }
        for (packet, cause) in ledger.dropped.drain(..) {
            let rec = Rec::of(now, packet.flow, packet.token, packet.flags);
            self.drop::<false>(&rec, cause, marks, shared);
        }
        for (_, cause) in ledger.marked.drain(..) {
            self.totals.marked[cause_index(cause)] += 1;
        }
        if let Server::Local(local) = &mut self.server {
            // Its lists keep their memory.
            local.ledger = ledger;
        }
    }

    /// Accounts for the time since the last event here.
    #[inline]
    pub fn account(&mut self, now: u64) {
        let Server::Local(local) = &mut self.server else { return };
        let (span, backlog) = (now - local.touched, local.waiting);
        self.totals.waiting += u128::from(span) * u128::from(backlog);
        self.totals.nonempty += if backlog > 0 { span } else { 0 };
        local.touched = now;
    }
}

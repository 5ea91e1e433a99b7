//! A link of the window engine: serves the sorted arrivals of a window and hands each packet on.
//!
//! First-in first-out in closed form: a packet that arrives at t begins service at max(t, free). With one size of packet
//! and a plain limit, the clock alone says how many wait (`serve_clock`); otherwise the starts of those waiting are kept
//! (`serve_waiting`). Sums are taken at marks, which lie lazily before the next arrival, as the timers of rules do.
//! Disciplines that do more than refuse have a calendar of their own (`local`).

use super::headers::Headers;
use super::local::Local;
use super::ring::{Rec, Ring};
use crate::hash::Rolling;
use crate::meter::{BacklogSamples, LinkTotals};
use crate::network::Marks;
use crate::{Trace, cause_index};
use base::{Bytes, Cause, Flags, Stream, Time};
use queue::{Admission, AnyAdmission, AnyQueue, Backlog, Limit, Packet, QueueDiscipline, Verdict};
use scenario::{HEADER, Loss};
use std::collections::VecDeque;

/// An instant after every run: what an unlimited queue could not serve before it need not be told apart.
pub const FAR: u64 = 1 << 62;

/// What links write into besides their own state.
#[derive(Debug, Default)]
pub struct Shared {
    /// Senders' rings by flow, then receivers' by flow, then one per pair of links in series.
    pub rings: Vec<Ring>,
    /// For each ring: when its reader next has something to do, in the time of the link that the reader feeds.
    pub due: Vec<u64>,
    /// For each ring: what its reader's events take to reach that link.
    pub lead: Vec<u64>,
    /// Data packets dropped since the warm-up, by flow.
    pub dropped: Vec<u64>,
    /// Data packets dropped since the start.
    pub dropped_total: u64,
    /// Headers on their way, of the flows that need them.
    pub headers: Headers,
    /// Traces, by flow where there is one.
    pub traces: Vec<Option<Box<Trace>>>,
}

impl Shared {
    /// A packet left a link at `left` and goes on through ring `i`.
    #[inline]
    pub fn push(&mut self, i: u32, left: u64, tag: u64) {
        let i = i as usize;
        let ring = &mut self.rings[i];
        let time = left + ring.delay;
        let asleep = ring.is_empty();
        ring.push(Rec { time, tag });
        if asleep {
            self.wake(i, time);
        }
    }

    /// Ring `i` was empty until `time`.
    #[cold]
    fn wake(&mut self, i: usize, time: u64) {
        self.due[i] = self.due[i].min(time + self.lead[i]);
    }
}

/// See the [module](self).
#[derive(Debug)]
pub struct Node {
    index: u32,
    service: Service,
    /// When what is in service, or was last, leaves.
    pub free: u64,
    pub server: Server,
    /// The longest wait that still is within the buffer, for the clock alone to decide.
    longest_wait: Option<u64>,
    loss: Option<(Loss, Stream)>,
    /// By flow, from `first` on: the ring that hears of its packets next.
    pub routes: Vec<u32>,
    pub first: u32,
    /// As the routes: the lane in which headers of its packets come; empty on a link without headers.
    pub lanes: Vec<u32>,
    /// Start of service and size of those waiting, oldest first; unused by the clock.
    waiting: VecDeque<(u64, u32)>,
    waiting_bytes: u64,
    longest_seen: u64,
    pub most_seen: u32,
    /// Start of the last accepted packet, for the time with someone waiting.
    last_start: u64,
    pub totals: LinkTotals,
    pub warm: LinkTotals,
    next_sample: Time,
    /// The earliest of warm-up, next sample and the rule's timer.
    pub next_mark: Time,
    pub samples: BacklogSamples,
    pub hash: Rolling,
}

/// Who decides what is served, and when.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one per link")]
pub enum Server {
    /// First-in first-out behind a rule.
    Fifo(AnyAdmission),
    /// A discipline.
    Local(Local),
}

/// How long packets take on the wire.
#[derive(Debug)]
pub enum Service {
    /// All the same: size and time.
    One(u32, u64),
    /// By flow, as the routes: size of the packets that it sends here, and time.
    Each(Vec<(u32, u64)>),
}

impl Node {
    pub fn new(
        index: u32,
        service: Service,
        queue: AnyQueue,
        loss: Option<(Loss, Stream)>,
        (first, routes, lanes): (u32, Vec<u32>, Vec<u32>),
        marks: &Marks,
        series: bool,
    ) -> Self {
        let server = match queue {
            AnyQueue::Fifo(fifo) => Server::Fifo(fifo.into_admission()),
            other => Server::Local(Local::new(other)),
        };
        let plain = match &server {
            Server::Fifo(admission) => admission.plain_limit(),
            Server::Local(_) => None,
        };
        let longest_wait = match (&service, plain, &loss) {
            // The clock looks at nothing but times.
            _ if !lanes.is_empty() => None,
            (Service::One(_, time), Some(Limit::Packets(n)), None) => Some(u64::from(n) * time),
            (Service::One(size, time), Some(Limit::Bytes(Bytes(n))), None) => Some(n / u64::from(*size) * time),
            // An unlimited queue may reach beyond the end of time: see `FAR`.
            _ => None,
        };
        let next_sample = marks.sample_from(Time::ZERO);
        let mut node = Self {
            index,
            service,
            free: 0,
            server,
            longest_wait,
            loss,
            routes,
            first,
            lanes,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            longest_seen: 0,
            most_seen: 0,
            last_start: 0,
            totals: LinkTotals::default(),
            warm: LinkTotals::default(),
            next_sample,
            next_mark: Time::ZERO,
            samples: BacklogSamples::new(series),
            hash: Rolling::default(),
        };
        node.next_mark = node.mark_after(false, marks);
        node
    }

    /// The shortest time that a data packet takes on the wire here; `None` on a link that only ACKs cross.
    pub fn shortest_data(&self) -> Option<u64> {
        let is_data = |each: &&(u32, u64)| each.0 > HEADER;
        match &self.service {
            Service::One(size, time) => Some(&(*size, *time)).filter(is_data).map(|each| each.1),
            Service::Each(all) => all.iter().filter(is_data).map(|each| each.1).min(),
        }
    }

    /// Serves `arrivals`, which are in order, all before `until`, which is not after the end.
    pub fn serve<const HASH: bool>(&mut self, arrivals: &[Rec], until: u64, marks: &Marks, shared: &mut Shared) {
        if matches!(self.server, Server::Local(_)) {
            return self.serve_local::<HASH>(arrivals, until, marks, shared);
        }
        match (self.longest_wait, &self.service) {
            (Some(longest), &Service::One(size, time)) => {
                self.serve_clock::<HASH>(arrivals, longest, size, time, marks, shared);
            }
            _ => self.serve_waiting::<HASH>(arrivals, marks, shared),
        }
    }

    // A function of its own: inlined into the engine's loop its variables would not fit the registers.
    #[inline(never)]
    fn serve_clock<const HASH: bool>(
        &mut self,
        arrivals: &[Rec],
        longest: u64,
        size: u32,
        time: u64,
        marks: &Marks,
        shared: &mut Shared,
    ) {
        let mut rest = arrivals;
        while let Some(first) = rest.first() {
            if first.time >= self.next_mark.0 {
                self.pass_marks(Time(first.time), marks);
            }
            // Up to the next mark nothing needs to be looked at but the clock.
            let mark = self.next_mark.0;
            let n = if rest[rest.len() - 1].time < mark { rest.len() } else { rest.partition_point(|r| r.time < mark) };
            // Waits of a few packets fit 64 bits even where one may be days long.
            let n = n.min((u64::MAX / longest.max(1)) as usize).max(1);
            let (now, later) = rest.split_at(n);
            let (mut free, mut waited, mut nonempty, mut most) = (self.free, 0u64, 0u64, self.longest_seen);
            let mut refused = 0u64;
            for rec in now {
                let wait = free.saturating_sub(rec.time);
                if wait > longest {
                    refused += 1;
                    self.drop::<HASH>(rec, Cause::Overflow, marks, shared);
                    continue;
                }
                if HASH {
                    self.hash.arrival(rec.time, rec.flow(), rec.seq(), 0);
                }
                waited += wait;
                // With someone waiting behind it, the server starts one packet each `time`.
                nonempty += wait.min(time);
                most = most.max(wait);
                free = rec.time + wait + time;
                shared.push(self.routes[(rec.flow() - self.first) as usize], free, rec.tag);
            }
            let accepted = n as u64 - refused;
            self.free = free;
            self.longest_seen = most;
            self.totals.arrived += n as u64;
            self.totals.begun += accepted;
            self.totals.begun_bytes += accepted * u64::from(size);
            self.totals.waiting += u128::from(waited);
            self.totals.nonempty += nonempty;
            rest = later;
        }
    }

    fn serve_waiting<const HASH: bool>(&mut self, arrivals: &[Rec], marks: &Marks, shared: &mut Shared) {
        let headers = !self.lanes.is_empty();
        for rec in arrivals {
            let now = rec.time;
            if now >= self.next_mark.0 {
                self.pass_marks(Time(now), marks);
            }
            self.totals.arrived += 1;
            let header = headers.then(|| self.take_header(rec, shared));
            if self.loses() {
                self.drop::<HASH>(rec, Cause::Injected, marks, shared);
                continue;
            }
            let backlog = self.backlog_from(now + 1);
            let (size, time) = self.service_of(rec.flow());
            let idle = self.free <= now;
            let mut packet = *rec;
            let mut offered = Packet::new(rec.flow(), rec.seq(), size, Time(now)).with(rec.flags());
            if let Some(header) = header {
                offered.header = header;
            }
            let Server::Fifo(admission) = &mut self.server else { return };
            let verdict = admission.admit(&offered, backlog, idle.then_some(Time(self.free)));
            match verdict {
                Verdict::Accept => {}
                Verdict::Mark(cause) => {
                    self.totals.marked[cause_index(cause)] += 1;
                    packet.tag |= u64::from(Flags::CE.0) << 56;
                }
                Verdict::Drop(cause) => {
                    self.drop::<HASH>(rec, cause, marks, shared);
                    continue;
                }
            }
            if HASH {
                let fate = u64::from(matches!(verdict, Verdict::Mark(_)));
                self.hash.arrival(now, rec.flow(), rec.seq(), fate);
            }
            let start = self.free.max(now);
            if !idle {
                self.waiting.push_back((start, size));
                self.waiting_bytes += u64::from(size);
                self.most_seen = self.most_seen.max(self.waiting.len() as u32);
            }
            self.totals.begun += 1;
            self.totals.begun_bytes += u64::from(size);
            self.totals.waiting += u128::from(start - now);
            self.totals.nonempty += start - now.max(self.last_start).min(start);
            self.last_start = start;
            self.free = (start + time).min(FAR);
            if headers {
                self.put_header(&offered, shared);
            }
            shared.push(self.routes[(rec.flow() - self.first) as usize], self.free, packet.tag);
        }
    }

    /// Size and time on the wire of the packets that `flow` sends here.
    #[inline]
    pub fn service_of(&self, flow: u32) -> (u32, u64) {
        match &self.service {
            Service::One(size, time) => (*size, *time),
            Service::Each(all) => all[(flow - self.first) as usize],
        }
    }

    /// What waits for service that begins at `from` or later; what began before is forgotten.
    #[inline]
    fn backlog_from(&mut self, from: u64) -> Backlog {
        while let Some(&(start, size)) = self.waiting.front()
            && start < from
        {
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(size);
        }
        Backlog { packets: self.waiting.len() as u32, bytes: Bytes(self.waiting_bytes) }
    }

    pub fn loses(&mut self) -> bool {
        match &mut self.loss {
            None => false,
            Some((Loss::Random(p), stream)) => stream.unit() < *p,
            Some((Loss::Every(n), _)) => self.totals.arrived.is_multiple_of(*n),
        }
    }

    #[cold]
    pub fn drop<const HASH: bool>(&mut self, rec: &Rec, cause: Cause, marks: &Marks, shared: &mut Shared) {
        self.totals.dropped[cause_index(cause)] += 1;
        if HASH {
            self.hash.arrival(rec.time, rec.flow(), rec.seq(), 2);
        }
        if rec.is_data() {
            let f = rec.flow() as usize;
            shared.dropped_total += 1;
            shared.dropped[f] += u64::from(rec.time >= marks.warmup.0);
            if let Some(trace) = &mut shared.traces[f] {
                trace.drops.push((Time(rec.time), self.index, rec.seq()));
            }
        }
    }

    /// Takes every mark at or before `now`, as it was just before anything happened at the mark.
    #[cold]
    pub fn pass_marks(&mut self, now: Time, marks: &Marks) {
        while self.next_mark <= now {
            let at = self.next_mark;
            if matches!(self.server, Server::Local(_)) {
                self.account(at.0);
            }
            if at == marks.warmup {
                self.warm = self.totals_at(at);
                self.most_seen = self.waiting_at(at);
                self.longest_seen = 0;
            }
            if at == self.next_sample {
                let waiting = self.waiting_at(at);
                self.samples.take(at, marks, waiting);
                let server = &self.server;
                self.samples.gauges(|put| match server {
                    Server::Fifo(admission) => admission.gauges(put),
                    Server::Local(local) => local.queue.gauges(put),
                });
                self.next_sample = marks.sample_from(Time(at.0 + 1));
            }
            if self.timer() == at {
                let backlog = self.backlog_from(at.0);
                let idle_since = (self.free < at.0).then_some(Time(self.free));
                let Server::Fifo(admission) = &mut self.server else { return };
                admission.on_wakeup(at, backlog, idle_since);
            }
            self.next_mark = self.mark_after(at >= marks.warmup, marks);
        }
    }

    /// When the rule's timer rings. Disciplines with a calendar have theirs there.
    fn timer(&self) -> Time {
        match &self.server {
            Server::Fifo(admission) => admission.next_wakeup(),
            Server::Local(_) => Time::NEVER,
        }
    }

    /// The next mark, before or after the warm-up.
    fn mark_after(&self, warm: bool, marks: &Marks) -> Time {
        let next = self.next_sample.min(self.timer());
        let next = if warm { next } else { next.min(marks.warmup) };
        // What comes at or after the end never happens.
        if next >= marks.end { Time::NEVER } else { next }
    }

    /// The run is over: totals before `marks.end`, and the most packets that waited.
    pub fn finish(&mut self, marks: &Marks) -> (LinkTotals, u32) {
        self.pass_marks(Time(marks.end.0 - 1), marks);
        self.account(marks.end.0);
        let most = match self.service {
            Service::One(_, time) if self.longest_wait.is_some() => self.longest_seen.div_ceil(time) as u32,
            _ => 0,
        };
        (self.totals_at(marks.end), most.max(self.most_seen))
    }

    /// Packets waiting at `at`: service not begun before it.
    fn waiting_at(&self, at: Time) -> u32 {
        if let Server::Local(local) = &self.server {
            return local.waiting;
        }
        match self.service {
            Service::One(_, time) if self.longest_wait.is_some() => (self.free.saturating_sub(at.0) / time) as u32,
            _ => self.waiting.iter().filter(|&&(start, _)| start >= at.0).count() as u32,
        }
    }

    /// Totals without what those still waiting at `at` will do after it.
    fn totals_at(&self, at: Time) -> LinkTotals {
        let mut totals = self.totals;
        if matches!(self.server, Server::Local(_)) {
            // Counted as it happens, and accounted for until now.
            return totals;
        }
        let n = u64::from(self.waiting_at(at));
        if n == 0 {
            return totals;
        }
        totals.begun -= n;
        match self.service {
            Service::One(size, time) if self.longest_wait.is_some() => {
                let over = self.free - at.0;
                totals.begun_bytes -= n * u64::from(size);
                // Starts are free - k time, k = 1..n: each was counted to its start, and waits from `at` to it later.
                totals.waiting -= u128::from(n) * u128::from(over) - u128::from(time) * u128::from(n * (n + 1) / 2);
                totals.nonempty -= over - time;
            }
            _ => {
                let mut last = at.0;
                for &(start, size) in self.waiting.iter().filter(|&&(start, _)| start >= at.0) {
                    totals.begun_bytes -= u64::from(size);
                    totals.waiting -= u128::from(start - at.0);
                    last = start;
                }
                totals.nonempty -= last - at.0;
            }
        }
        totals
    }
}

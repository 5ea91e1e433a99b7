//! First-in first-out links of the window engine, in closed form: a packet that arrives at t begins service at max(t,
//! free).
//!
//! With a plain limit and one packet size, this formula alone decides about drops (`plain`). Otherwise the admission
//! rule decides about each arrival (`serve_until_mark`, compiled separately for each rule). Totals are recorded at
//! marks (measurements). Before each arrival, the marks and the timers of rules that are due are processed.

mod plain;

use super::core::LinkCore;
use super::pool::{NoPool, Place, PlaceInPool};
use super::results::LinkResult;
use super::ring::{FAR, Rec};
use super::service::{Service, Tx};
use super::shared::Shared;
use crate::cause_index;
use crate::hash::PacketFate;
use crate::marks::Marks;
use crate::meter::LinkTotals;
use crate::observer::Observer;
use crate::probe::LinkSnapshot;
use base::steps::count_steps;
use base::{Bytes, Cause, Flags, RunMonitor, Span, Time};
use plain::{Clock, TOGETHER};
use queue::{Admission, AnyAdmission, Backlog, Limit, Packet, RuleVisitor, Verdict};
use std::collections::VecDeque;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Fifo {
    rule: AnyAdmission,
    waiting: AnyWaitingQueue,
    /// Longest wait that is still within the buffer, if waiting time alone decides about drops.
    longest_wait: Option<Span>,
    /// Longest wait of any packet so far, if waiting time alone decides about drops.
    longest_seen: Span,
}

/// The waiting packets.
#[derive(Clone, Debug)]
enum AnyWaitingQueue {
    Uniform(UniformQueue),
    Stored(StoredQueue),
}

/// Number of timers of a rule between two checks of the monitor.
pub const TIMERS_BETWEEN_LOOKS: u32 = 1024;

/// Operations of a link on its queue of waiting packets.
trait WaitingQueue {
    /// Packets whose service begins at `from` or later, at a link that becomes idle at `free`. Packets with an earlier
    /// start are removed.
    fn backlog_from(&mut self, from: Time, free: Time) -> Backlog;
    /// Adds a packet of `size` bytes whose service begins at `start`.
    fn join(&mut self, start: Time, size: u32);
    /// The state at `at`; services that begin at `at` or later are taken out of `totals`. The link becomes idle at
    /// `free`.
    fn state_at(&self, at: Time, free: Time, totals: &LinkTotals) -> LinkState;
}

/// State of a link at an instant: totals, and occupancy.
struct LinkState {
    totals: LinkTotals,
    snapshot: LinkSnapshot,
}

/// Packets with equal service times: their services begin at `free` minus 1, 2, ... service times, so the packets need
/// not be stored.
#[derive(Clone, Copy, Debug)]
struct UniformQueue {
    tx: Tx,
    /// 2^64 / `tx.time`, rounded up. For n up to `exact`, the upper 64 bits of n times this number are n / `tx.time`.
    per: u64,
    exact: u64,
}

impl UniformQueue {
    fn new(tx: Tx) -> Self {
        let exact = if tx.time.0 > 1 { u64::MAX / tx.time.0 } else { 0 };
        Self { tx, per: exact + 1, exact }
    }

    /// Number of services that begin in the last `over` before the link becomes idle, including a service that begins
    /// exactly at the start of that time.
    #[inline]
    fn within(&self, over: Span) -> u64 {
        // Rounding up adds over (per time - 2^64) / 2^64 / time, which is less than the 1 / time that could increase the
        // quotient.
        let n = ((u128::from(over.0) * u128::from(self.per)) >> 64) as u64;
        if over.0 <= self.exact { n } else { over.0 / self.tx.time.0 }
    }

    #[inline]
    fn backlog(&self, packets: u64) -> Backlog {
        Backlog { packets: packets as u32, bytes: Bytes(packets * u64::from(self.tx.size)) }
    }
}

impl WaitingQueue for UniformQueue {
    #[inline]
    fn backlog_from(&mut self, from: Time, free: Time) -> Backlog {
        self.backlog(self.within(free.since(from)))
    }

    #[inline]
    fn join(&mut self, _start: Time, _size: u32) {}

    fn state_at(&self, at: Time, free: Time, totals: &LinkTotals) -> LinkState {
        let (over, time) = (free.since(at), self.tx.time.0);
        let (n, mut totals) = (self.within(over), *totals);
        if n > 0 {
            totals.begun -= n;
            totals.begun_bytes -= n * u64::from(self.tx.size);
            // The starts are free - k time, k = 1..n. The totals count each packet's wait up to its start; subtract the
            // part after `at`.
            totals.waiting -= u128::from(n) * u128::from(over.0) - u128::from(time) * u128::from(n * (n + 1) / 2);
            totals.nonempty -= over.0 - time;
        }
        LinkState { totals, snapshot: LinkSnapshot { backlog: self.backlog(n), serving: Span(over.0 - n * time) } }
    }
}

/// Start of service and size of each packet, oldest first: for different sizes, and for waits that may reach beyond
/// [`FAR`].
#[derive(Clone, Debug, Default)]
struct StoredQueue {
    each: VecDeque<(Time, u32)>,
    bytes: u64,
}

impl WaitingQueue for StoredQueue {
    fn backlog_from(&mut self, from: Time, _free: Time) -> Backlog {
        while let Some(&(start, size)) = self.each.front()
            && start < from
        {
            self.each.pop_front();
            self.bytes -= u64::from(size);
        }
        Backlog { packets: self.each.len() as u32, bytes: Bytes(self.bytes) }
    }

    fn join(&mut self, start: Time, size: u32) {
        self.each.push_back((start, size));
        self.bytes += u64::from(size);
    }

    fn state_at(&self, at: Time, free: Time, totals: &LinkTotals) -> LinkState {
        let (mut totals, mut backlog, mut last) = (*totals, Backlog::default(), at);
        let mut until = free.max(at);
        for &(start, size) in self.each.iter().filter(|&&(start, _)| start >= at) {
            if backlog.packets == 0 {
                until = start;
            }
            backlog.packets += 1;
            backlog.bytes.0 += u64::from(size);
            totals.begun -= 1;
            totals.begun_bytes -= u64::from(size);
            totals.waiting -= u128::from((start - at).0);
            last = start;
        }
        totals.nonempty -= (last - at).0;
        LinkState { totals, snapshot: LinkSnapshot { backlog, serving: until - at } }
    }
}

impl Fifo {
    /// `plain`: only the queue drops packets here, no packet carries a header, and packets of one size have one service
    /// time. `scheduled`: a schedule decides how long packets take.
    pub fn new(rule: AnyAdmission, service: &Service, limit: Limit, plain: bool, scheduled: bool) -> Self {
        let waiting = match (service, limit) {
            (&Service::One(tx), Limit::Packets(_) | Limit::Bytes(_)) if !scheduled => {
                AnyWaitingQueue::Uniform(UniformQueue::new(tx))
            }
            // The waits of an unlimited queue may reach beyond `FAR`.
            _ => AnyWaitingQueue::Stored(StoredQueue::default()),
        };
        let longest_wait = match (&waiting, rule.plain_limit()) {
            (AnyWaitingQueue::Uniform(UniformQueue { tx, .. }), Some(limit)) if plain => match limit {
                Limit::Packets(n) => Some(Span(u64::from(n) * tx.time.0)),
                Limit::Bytes(Bytes(n)) => Some(Span(n / u64::from(tx.size) * tx.time.0)),
                Limit::Unlimited => None,
            },
            _ => None,
        };
        Self { rule, waiting, longest_wait, longest_seen: Span::ZERO }
    }

    /// Time at which the rule's timer first expires.
    pub fn timer(&self) -> Time {
        self.rule.next_wakeup()
    }

    /// Serves `arrivals`, which are in order and before the end of the run.
    pub fn serve<O: Observer>(&mut self, core: &mut LinkCore<O>, arrivals: &[Rec], marks: &Marks, shared: &mut Shared) {
        let plain = core.is_plain();
        match (self.longest_wait, &mut self.waiting) {
            (Some(longest), AnyWaitingQueue::Uniform(_)) => self.serve_plain(longest, core, arrivals, marks, shared),
            (_, AnyWaitingQueue::Uniform(waiting)) if plain => {
                let pool = &mut NoPool;
                self.rule.visit(Serve::<O, true, false, _, _> { waiting, core, arrivals, pool, marks, shared });
            }
            (_, AnyWaitingQueue::Uniform(waiting)) => {
                let pool = &mut NoPool;
                Serve::<O, false, false, _, _> { waiting, core, arrivals, pool, marks, shared }.visit(&mut self.rule);
            }
            (_, AnyWaitingQueue::Stored(waiting)) if core.schedule.is_none() => {
                let pool = &mut NoPool;
                Serve::<O, false, false, _, _> { waiting, core, arrivals, pool, marks, shared }.visit(&mut self.rule);
            }
            (_, AnyWaitingQueue::Stored(waiting)) => {
                let pool = &mut NoPool;
                Serve::<O, false, true, _, _> { waiting, core, arrivals, pool, marks, shared }.visit(&mut self.rule);
            }
        }
    }

    /// Serves one arrival of a link that shares memory.
    pub fn serve_in_pool<O: Observer>(
        &mut self,
        core: &mut LinkCore<O>,
        rec: &Rec,
        pool: &mut Place<'_>,
        marks: &Marks,
        shared: &mut Shared,
    ) {
        let arrivals = std::slice::from_ref(rec);
        // There is only one arrival, so a loop compiled for each rule would not be faster.
        match &mut self.waiting {
            AnyWaitingQueue::Uniform(waiting) => {
                Serve::<O, false, false, _, _> { waiting, core, arrivals, pool, marks, shared }.visit(&mut self.rule);
            }
            AnyWaitingQueue::Stored(waiting) if core.schedule.is_none() => {
                Serve::<O, false, false, _, _> { waiting, core, arrivals, pool, marks, shared }.visit(&mut self.rule);
            }
            AnyWaitingQueue::Stored(waiting) => {
                Serve::<O, false, true, _, _> { waiting, core, arrivals, pool, marks, shared }.visit(&mut self.rule);
            }
        }
    }

    // A separate function: inlined into the engine's loop, its variables would not fit the registers.
    #[inline(never)]
    fn serve_plain<O: Observer>(
        &mut self,
        longest: Span,
        core: &mut LinkCore<O>,
        arrivals: &[Rec],
        marks: &Marks,
        shared: &mut Shared,
    ) {
        let AnyWaitingQueue::Uniform(UniformQueue { tx: Tx { size, time, .. }, .. }) = self.waiting else { return };
        // In a fork that drops nothing, the limit is the whole run: a packet that waits longer leaves only after the
        // end.
        let spares = O::ACTIVE && core.observer.spares();
        let longest = if spares { longest.max(marks.end - Time::ZERO) } else { longest };
        let mut room = [Rec::default(); TOGETHER];
        let mut rest = arrivals;
        while let Some(first) = rest.first() {
            if first.time >= core.next_mark {
                self.pass_marks(first.time, core, marks, &shared.monitor);
            }
            // Until the next mark only the times of arrivals matter.
            let n = before(rest, core.next_mark);
            let mut clock = Clock::new(time, longest, core.free, self.longest_seen);
            let n = n.min(clock.at_most()).max(1);
            let (now, later) = rest.split_at(n);
            clock.serve(core, now, size, &mut room, marks, shared);
            self.longest_seen = clock.finish(core, n, size);
            rest = later;
        }
    }

    fn pass_marks<O: Observer>(&mut self, now: Time, core: &mut LinkCore<O>, marks: &Marks, monitor: &RunMonitor) {
        if core.next_mark <= marks.warmup && marks.warmup <= now {
            self.longest_seen = Span::ZERO;
        }
        match &mut self.waiting {
            AnyWaitingQueue::Uniform(waiting) => pass_marks(core, now, marks, &mut self.rule, waiting, monitor),
            AnyWaitingQueue::Stored(waiting) => pass_marks(core, now, marks, &mut self.rule, waiting, monitor),
        }
    }

    /// Number of waiting packets and the totals at `at`; everything before `at` has been served.
    pub fn state<O: Observer>(&self, core: &LinkCore<O>, at: Time) -> (u32, LinkTotals) {
        let LinkState { totals, snapshot } = match &self.waiting {
            AnyWaitingQueue::Uniform(waiting) => waiting.state_at(at, core.free, &core.totals),
            AnyWaitingQueue::Stored(waiting) => waiting.state_at(at, core.free, &core.totals),
        };
        (snapshot.backlog.packets, totals)
    }

    /// Ends the run and returns the result.
    pub fn finish<O: Observer>(&mut self, core: &mut LinkCore<O>, marks: &Marks, monitor: &RunMonitor) -> LinkResult {
        self.pass_marks(Time(marks.end.0 - 1), core, marks, monitor);
        let (end, free) = (marks.end, core.free);
        let (state, most) = match &self.waiting {
            AnyWaitingQueue::Uniform(waiting) => {
                let most = self.longest_seen.0.div_ceil(waiting.tx.time.0) as u32;
                (waiting.state_at(end, free, &core.totals), most)
            }
            AnyWaitingQueue::Stored(waiting) => (waiting.state_at(end, free, &core.totals), 0),
        };
        LinkResult { totals: state.totals, most_waiting: most.max(core.most_seen), still_waiting: 0 }
    }
}

/// Number of `arrivals` before `mark`.
#[inline]
fn before(arrivals: &[Rec], mark: Time) -> usize {
    match arrivals.last() {
        Some(last) if last.time < mark => arrivals.len(),
        _ => arrivals.partition_point(|rec| rec.time < mark),
    }
}

/// Serves the arrivals of a window under a rule.
struct Serve<'a, O, const PLAIN: bool, const SCHEDULED: bool, W, P> {
    waiting: &'a mut W,
    core: &'a mut LinkCore<O>,
    arrivals: &'a [Rec],
    pool: &'a mut P,
    marks: &'a Marks,
    shared: &'a mut Shared,
}

impl<O: Observer, const PLAIN: bool, const SCHEDULED: bool, W: WaitingQueue, P: PlaceInPool> RuleVisitor
    for Serve<'_, O, PLAIN, SCHEDULED, W, P>
{
    fn visit<A: Admission>(self, rule: &mut A) {
        let Self { waiting, core, mut arrivals, pool, marks, shared } = self;
        while let Some(first) = arrivals.first() {
            if first.time >= core.next_mark {
                pass_marks(core, first.time, marks, rule, waiting, &shared.monitor);
            }
            // Until the next mark the sums stay in registers.
            let (now, later) = arrivals.split_at(before(arrivals, core.next_mark));
            arrivals = later;
            serve_until_mark::<O, PLAIN, SCHEDULED, A, W, P>(rule, waiting, core, now, pool, marks, shared);
        }
    }
}

/// Serves arrivals; no other event happens between them. `PLAIN`: all packets have one size, and there are no injected
/// losses and no headers. `SCHEDULED`: a schedule decides how long each packet takes.
#[inline]
fn serve_until_mark<O: Observer, const PLAIN: bool, const SCHEDULED: bool, A, W, P>(
    rule: &mut A,
    waiting: &mut W,
    core: &mut LinkCore<O>,
    arrivals: &[Rec],
    pool: &mut P,
    marks: &Marks,
    shared: &mut Shared,
) where
    A: Admission,
    W: WaitingQueue,
    P: PlaceInPool,
{
    let one = match core.flows.service {
        Service::One(tx) => tx,
        Service::Each(..) => Tx::default(),
    };
    let (mut free, mut last_start, mut most) = (core.free, core.last_start, core.most_seen);
    let (mut begun, mut begun_bytes, mut waited, mut nonempty) = (0u64, 0u64, 0u128, 0u64);
    for rec in arrivals {
        let now = rec.time;
        let mut header = None;
        if !PLAIN {
            // Arrivals are counted one by one here, because the loss process needs their number.
            core.totals.arrived += 1;
            header = core.header_of(rec, shared);
            if core.ingress.is_some()
                && let Some(cause) = core.turns_away(rec)
                && !(O::ACTIVE && core.observer.spares())
            {
                if O::ACTIVE {
                    let packet = Packet::new(rec.flow(), rec.number().0, 0, now).with(rec.flags());
                    core.observer.on_arrival(&packet, waiting.backlog_from(Time(now.0 + 1), free).packets);
                    core.observer.on_drop(&packet, now);
                    core.observer.on_fate(&packet, PacketFate::Dropped);
                }
                core.count_drop(rec, cause, marks, shared);
                continue;
            }
        }
        let backlog = waiting.backlog_from(Time(now.0 + 1), free);
        let Tx { size, time, .. } = if PLAIN { one } else { core.tx_of(rec.flow(), rec.number()) };
        let idle = free <= now;
        let mut tag = rec.tag;
        let mut packet = Packet::new(rec.flow(), rec.number().0, size, now).with(rec.flags());
        core.observer.on_arrival(&packet, backlog.packets);
        let mut verdict = rule.admit(&packet, backlog, idle.then_some(free));
        if !idle && !matches!(verdict, Verdict::Drop(_)) && !pool.has_room(size) {
            verdict = Verdict::Drop(Cause::Pool);
        }
        if O::ACTIVE && core.observer.spares() {
            verdict = Verdict::Accept;
        }
        match verdict {
            Verdict::Accept => core.observer.on_fate(&packet, PacketFate::Accepted),
            Verdict::Mark(cause) => {
                core.totals.marked[cause_index(cause)] += 1;
                tag |= u64::from(Flags::CE.0) << 56;
                if O::ACTIVE {
                    packet.flags = packet.flags.with(Flags::CE);
                }
                core.observer.on_fate(&packet, PacketFate::Marked);
            }
            Verdict::Drop(cause) => {
                core.observer.on_drop(&packet, now);
                core.observer.on_fate(&packet, PacketFate::Dropped);
                core.count_drop(rec, cause, marks, shared);
                continue;
            }
        }
        let mut start = now;
        if !idle {
            start = free;
            waiting.join(start, size);
            pool.join(now, start, size);
            most = most.max(backlog.packets + 1);
            waited += u128::from((start - now).0);
            nonempty += (start - now.max(last_start).min(start)).0;
        }
        begun += 1;
        if !PLAIN {
            begun_bytes += u64::from(size);
        }
        last_start = start;
        free = if SCHEDULED { core.scheduled(start, !idle, size) } else { (start + time).min(FAR) };
        core.observer.on_service(&packet, start, free);
        if let Some(header) = header {
            core.put_header(&Packet { header, ..packet }, shared);
        }
        if SCHEDULED {
            core.hand_over(free, rec.flow(), tag, shared);
        } else {
            shared.push(core.route(rec.flow()), free, tag);
        }
    }
    if PLAIN {
        core.totals.arrived += arrivals.len() as u64;
        begun_bytes = begun * u64::from(one.size);
    }
    core.totals.begun += begun;
    core.totals.begun_bytes += begun_bytes;
    core.totals.waiting += waited;
    core.totals.nonempty += nonempty;
    (core.free, core.last_start, core.most_seen) = (free, last_start, most);
}

/// Processes every mark at or before `now`, with the state just before any event at the mark, and the rule's timer.
/// Stops early if the run is stopped, because after a pause millions of timers may be due.
#[cold]
fn pass_marks<O: Observer, A: Admission, W: WaitingQueue>(
    core: &mut LinkCore<O>,
    now: Time,
    marks: &Marks,
    rule: &mut A,
    waiting: &mut W,
    monitor: &RunMonitor,
) {
    let mut passed = 0u32;
    while core.next_mark <= now {
        let at = core.next_mark;
        let is_mark = core.is_mark(at, marks);
        // The cost of a mark may grow with the backlog, so the monitor is checked before each. The first one needs no
        // check: mostly only one is due.
        if passed > 0 && (is_mark || passed.is_multiple_of(TIMERS_BETWEEN_LOOKS)) && monitor.is_stopped() {
            core.next_mark = Time::NEVER;
            return;
        }
        passed = passed.wrapping_add(1);
        count_steps(1);
        if is_mark {
            let LinkState { totals, snapshot } = waiting.state_at(at, core.free, &core.totals);
            core.pass_mark(at, marks, totals, &snapshot, |put| rule.gauges(put));
        }
        if rule.next_wakeup() == at {
            let idle_since = (core.free < at).then_some(core.free);
            rule.on_wakeup(at, waiting.backlog_from(at, core.free), idle_since);
        }
        core.next_mark = core.mark_after(at, rule.next_wakeup(), marks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(time: u64) -> UniformQueue {
        UniformQueue::new(Tx { size: 1500, time: Span(time), is_ack: false })
    }

    #[test]
    fn the_multiplication_gives_the_exact_quotient() {
        for time in [1, 2, 3, 7, 4_800_000, 12_345_678_901, u64::MAX / 3] {
            let queue = uniform(time);
            let edges = [0, queue.exact, u64::MAX / 2].into_iter().flat_map(|at| [at, at.wrapping_sub(1), at + 1]);
            let multiples = (0..1000).map(|n: u64| n.wrapping_mul(time)).flat_map(|at| [at, at.wrapping_sub(1)]);
            for over in edges.chain(multiples) {
                assert_eq!(queue.within(Span(over)), over / time, "{over} / {time}");
            }
        }
    }

    #[test]
    fn the_state_without_stored_packets_equals_the_state_with_them() {
        // Five packets at 0, 100 ps each: the first begins at 0, the others wait for starts at 100 to 400.
        let (mut clock, mut stored) = (uniform(100), StoredQueue::default());
        let mut totals = LinkTotals { begun: 1, begun_bytes: 1500, ..LinkTotals::default() };
        for start in (100..500).step_by(100) {
            stored.join(Time(start), 1500);
            totals.begun += 1;
            totals.begun_bytes += 1500;
            totals.waiting += u128::from(start);
            totals.nonempty = start;
        }
        let free = Time(500);
        for at in [1, 99, 100, 101, 250, 399, 400, 401, 499, 500, 501].map(Time) {
            let (a, b) = (clock.state_at(at, free, &totals), stored.state_at(at, free, &totals));
            assert_eq!((a.totals, a.snapshot), (b.totals, b.snapshot), "{at:?}");
            assert_eq!(clock.backlog_from(at, free), a.snapshot.backlog);
        }
        // At 250 two packets wait; the next begins at 300. Three have begun; these waited 0, 100 and 200, and the other two
        // have waited 250 each.
        let state = clock.state_at(Time(250), free, &totals);
        assert_eq!((state.snapshot.backlog.packets, state.snapshot.serving), (2, Span(50)));
        assert_eq!((state.totals.begun, state.totals.waiting, state.totals.nonempty), (3, 300 + 500, 250));
    }
}

//! First-in first-out links of the window engine, in closed form: a packet that arrives at t begins service at
//! max(t, free). With a plain limit and one size of packet the clock alone decides (`serve_plain`); rules are asked for
//! each arrival (`serve_until_mark`, compiled for each rule by itself).
//!
//! Sums are taken at marks, which lie lazily before the next arrival, as the timers of rules do.

use super::link::{FAR, Node, Service, Shared};
use super::ring::Rec;
use crate::cause_index;
use crate::meter::LinkTotals;
use crate::network::Marks;
use crate::probe::Standing;
use base::{Bytes, Cause, Flags, Span, Time};
use queue::{Admission, AnyAdmission, Backlog, Limit, Packet, RuleVisitor, Verdict};
use std::collections::VecDeque;

/// See the [module](self).
#[derive(Debug)]
pub struct Fifo {
    rule: AnyAdmission,
    line: AnyLine,
    /// The longest wait that still is within the buffer, for the clock alone to decide.
    longest_wait: Option<u64>,
    /// The longest that any packet waited, where the clock decides.
    longest_seen: u64,
}

/// Who waits.
#[derive(Debug)]
enum AnyLine {
    Clock(Clock),
    Kept(Kept),
}

/// What a link must know of those who wait.
trait Line {
    /// What waits for service that begins at `from` or later, of a link that is free at `free`; what began before is
    /// forgotten.
    fn backlog_from(&mut self, from: u64, free: u64) -> Backlog;
    /// A packet of `size` will begin service at `start`.
    fn join(&mut self, start: u64, size: u32);
    /// Totals without what those still waiting at `at` will do after it, and how the link stands; it is free at `free`.
    fn totals_at(&self, at: u64, free: u64, totals: &LinkTotals) -> (LinkTotals, Standing);
}

/// Those who wait all take as long: they begin at `free` less 1, 2 and so on of that time, so nobody need be remembered.
#[derive(Clone, Copy, Debug)]
struct Clock {
    size: u32,
    time: u64,
    /// 2^64 / `time`, rounded up: a product with it has the quotient in its upper half for up to `exact`.
    per: u64,
    exact: u64,
}

impl Clock {
    fn new(size: u32, time: u64) -> Self {
        let exact = if time > 1 { u64::MAX / time } else { 0 };
        Self { size, time, per: exact + 1, exact }
    }

    /// How many begin within the last `over` before the link is free, at its start included.
    #[inline]
    fn within(&self, over: u64) -> u64 {
        // Rounding up adds over (per time - 2^64) / 2^64 / time, less than the 1 / time that could lift the quotient.
        let n = ((u128::from(over) * u128::from(self.per)) >> 64) as u64;
        if over <= self.exact { n } else { over / self.time }
    }
}

impl Line for Clock {
    #[inline]
    fn backlog_from(&mut self, from: u64, free: u64) -> Backlog {
        let n = self.within(free.saturating_sub(from));
        Backlog { packets: n as u32, bytes: Bytes(n * u64::from(self.size)) }
    }

    #[inline]
    fn join(&mut self, _start: u64, _size: u32) {}

    fn totals_at(&self, at: u64, free: u64, totals: &LinkTotals) -> (LinkTotals, Standing) {
        let over = free.saturating_sub(at);
        let (n, mut totals) = (self.within(over), *totals);
        if n > 0 {
            totals.begun -= n;
            totals.begun_bytes -= n * u64::from(self.size);
            // Starts are free - k time, k = 1..n: each was counted to its start, and waits from `at` to it later.
            totals.waiting -= u128::from(n) * u128::from(over) - u128::from(self.time) * u128::from(n * (n + 1) / 2);
            totals.nonempty -= over - self.time;
        }
        let backlog = Backlog { packets: n as u32, bytes: Bytes(n * u64::from(self.size)) };
        (totals, Standing { backlog, serving: Span(over - n * self.time) })
    }
}

/// Start of service and size of each, oldest first: for sizes that differ, and waits that may reach beyond [`FAR`].
#[derive(Debug, Default)]
struct Kept {
    each: VecDeque<(u64, u32)>,
    bytes: u64,
}

impl Line for Kept {
    fn backlog_from(&mut self, from: u64, _free: u64) -> Backlog {
        while let Some(&(start, size)) = self.each.front()
            && start < from
        {
            self.each.pop_front();
            self.bytes -= u64::from(size);
        }
        Backlog { packets: self.each.len() as u32, bytes: Bytes(self.bytes) }
    }

    fn join(&mut self, start: u64, size: u32) {
        self.each.push_back((start, size));
        self.bytes += u64::from(size);
    }

    fn totals_at(&self, at: u64, free: u64, totals: &LinkTotals) -> (LinkTotals, Standing) {
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
            totals.waiting -= u128::from(start - at);
            last = start;
        }
        totals.nonempty -= last - at;
        (totals, Standing { backlog, serving: Span(until - at) })
    }
}

impl Fifo {
    /// `alone`: nothing but the queue drops here, and no packet carries a header.
    pub fn new(rule: AnyAdmission, service: &Service, limit: Limit, alone: bool) -> Self {
        let line = match (service, limit) {
            (&Service::One(size, time), Limit::Packets(_) | Limit::Bytes(_)) => AnyLine::Clock(Clock::new(size, time)),
            // An unlimited queue may reach beyond the end of time: see `FAR`.
            _ => AnyLine::Kept(Kept::default()),
        };
        let longest_wait = match (&line, rule.plain_limit()) {
            (AnyLine::Clock(clock), Some(Limit::Packets(n))) if alone => Some(u64::from(n) * clock.time),
            (AnyLine::Clock(clock), Some(Limit::Bytes(Bytes(n)))) if alone => {
                Some(n / u64::from(clock.size) * clock.time)
            }
            _ => None,
        };
        Self { rule, line, longest_wait, longest_seen: 0 }
    }

    /// When the rule's timer first rings.
    pub fn timer(&self) -> Time {
        self.rule.next_wakeup()
    }

    /// Serves `arrivals`, which are in order and all before the end.
    pub fn serve<const HASH: bool>(&mut self, node: &mut Node, arrivals: &[Rec], marks: &Marks, shared: &mut Shared) {
        let plain = node.loss.is_none() && node.lanes.is_empty();
        match (self.longest_wait, &mut self.line) {
            (Some(longest), AnyLine::Clock(_)) => self.serve_plain::<HASH>(longest, node, arrivals, marks, shared),
            (_, AnyLine::Clock(line)) if plain => {
                self.rule.visit(Serve::<HASH, true, _> { line, node, arrivals, marks, shared });
            }
            (_, AnyLine::Clock(line)) => {
                Serve::<HASH, false, _> { line, node, arrivals, marks, shared }.visit(&mut self.rule);
            }
            (_, AnyLine::Kept(line)) => {
                Serve::<HASH, false, _> { line, node, arrivals, marks, shared }.visit(&mut self.rule);
            }
        }
    }

    // A function of its own: inlined into the engine's loop its variables would not fit the registers.
    #[inline(never)]
    fn serve_plain<const HASH: bool>(
        &mut self,
        longest: u64,
        node: &mut Node,
        arrivals: &[Rec],
        marks: &Marks,
        shared: &mut Shared,
    ) {
        let AnyLine::Clock(Clock { size, time, .. }) = self.line else { return };
        let mut rest = arrivals;
        while let Some(first) = rest.first() {
            if first.time >= node.next_mark.0 {
                self.pass_marks(Time(first.time), node, marks);
            }
            // Up to the next mark nothing needs to be looked at but the clock.
            let mark = node.next_mark.0;
            let n = if rest[rest.len() - 1].time < mark { rest.len() } else { rest.partition_point(|r| r.time < mark) };
            // Waits of a few packets fit 64 bits even where one may be days long.
            let n = n.min((u64::MAX / longest.max(1)) as usize).max(1);
            let (now, later) = rest.split_at(n);
            let (mut free, mut waited, mut nonempty, mut most) = (node.free, 0u64, 0u64, self.longest_seen);
            let mut refused = 0u64;
            for rec in now {
                let wait = free.saturating_sub(rec.time);
                if HASH {
                    let packet = Packet::new(rec.flow(), rec.seq(), size, Time(rec.time)).with(rec.flags());
                    node.watch_arrival(&packet, (wait.div_ceil(time) as u32).saturating_sub(1));
                    node.watch_end(&packet, rec.time + if wait > longest { 0 } else { wait }, wait > longest, marks);
                }
                if wait > longest {
                    refused += 1;
                    node.drop::<HASH>(rec, Cause::Overflow, marks, shared);
                    continue;
                }
                if HASH {
                    node.hash.arrival(rec.time, rec.flow(), rec.seq(), 0);
                }
                waited += wait;
                // With someone waiting behind it, the server starts one packet each `time`.
                nonempty += wait.min(time);
                most = most.max(wait);
                free = rec.time + wait + time;
                shared.push(node.routes[(rec.flow() - node.first) as usize], free, rec.tag);
            }
            let accepted = n as u64 - refused;
            node.free = free;
            self.longest_seen = most;
            node.totals.arrived += n as u64;
            node.totals.begun += accepted;
            node.totals.begun_bytes += accepted * u64::from(size);
            node.totals.waiting += u128::from(waited);
            node.totals.nonempty += nonempty;
            rest = later;
        }
    }

    fn pass_marks(&mut self, now: Time, node: &mut Node, marks: &Marks) {
        if node.next_mark <= marks.warmup && marks.warmup <= now {
            self.longest_seen = 0;
        }
        match &mut self.line {
            AnyLine::Clock(line) => node.pass_marks(now, marks, &mut self.rule, line),
            AnyLine::Kept(line) => node.pass_marks(now, marks, &mut self.rule, line),
        }
    }

    /// The run is over: totals before `marks.end`, and the most packets that waited.
    pub fn finish(&mut self, node: &mut Node, marks: &Marks) -> (LinkTotals, u32) {
        self.pass_marks(Time(marks.end.0 - 1), node, marks);
        let (end, free, totals) = (marks.end.0, node.free, &node.totals);
        let (totals, most) = match &self.line {
            AnyLine::Clock(line) => (line.totals_at(end, free, totals).0, self.longest_seen.div_ceil(line.time) as u32),
            AnyLine::Kept(line) => (line.totals_at(end, free, totals).0, 0),
        };
        (totals, most.max(node.most_seen))
    }
}

/// Serves the arrivals of a window under a rule.
struct Serve<'a, const HASH: bool, const PLAIN: bool, L> {
    line: &'a mut L,
    node: &'a mut Node,
    arrivals: &'a [Rec],
    marks: &'a Marks,
    shared: &'a mut Shared,
}

impl<const HASH: bool, const PLAIN: bool, L: Line> RuleVisitor for Serve<'_, HASH, PLAIN, L> {
    fn visit<A: Admission>(self, rule: &mut A) {
        let Self { line, node, mut arrivals, marks, shared } = self;
        while let Some(first) = arrivals.first() {
            if first.time >= node.next_mark.0 {
                node.pass_marks(Time(first.time), marks, rule, line);
            }
            // Up to the next mark the sums stay in registers.
            let mark = node.next_mark.0;
            let n = match arrivals.last() {
                Some(last) if last.time < mark => arrivals.len(),
                _ => arrivals.partition_point(|rec| rec.time < mark),
            };
            let (now, later) = arrivals.split_at(n);
            arrivals = later;
            serve_until_mark::<HASH, PLAIN, A, L>(rule, line, node, now, marks, shared);
        }
    }
}

/// Serves arrivals between which nothing but they happens. `PLAIN`: all are of one size, none is lost on purpose or carries
/// a header.
#[inline]
fn serve_until_mark<const HASH: bool, const PLAIN: bool, A: Admission, L: Line>(
    rule: &mut A,
    line: &mut L,
    node: &mut Node,
    arrivals: &[Rec],
    marks: &Marks,
    shared: &mut Shared,
) {
    let one = match node.service {
        Service::One(size, time) => (size, time),
        Service::Each(..) => (0, 0),
    };
    let (mut free, mut last_start, mut most) = (node.free, node.last_start, node.most_seen);
    let (mut begun, mut begun_bytes, mut waiting, mut nonempty) = (0u64, 0u64, 0u128, 0u64);
    for rec in arrivals {
        let now = rec.time;
        let mut header = None;
        if !PLAIN {
            // Counted one by one: losses are, too.
            node.totals.arrived += 1;
            header = node.header_of(rec, shared);
            if node.loss.is_some() && node.loses() {
                if HASH {
                    let packet = Packet::new(rec.flow(), rec.seq(), 0, Time(now)).with(rec.flags());
                    node.watch_arrival(&packet, line.backlog_from(now + 1, free).packets);
                    node.watch_end(&packet, now, true, marks);
                }
                node.drop::<HASH>(rec, Cause::Injected, marks, shared);
                continue;
            }
        }
        let backlog = line.backlog_from(now + 1, free);
        let (size, time) = if PLAIN { one } else { node.service_of(rec.flow(), rec.seq()) };
        let idle = free <= now;
        let mut tag = rec.tag;
        let packet = Packet::new(rec.flow(), rec.seq(), size, Time(now)).with(rec.flags());
        if HASH {
            node.watch_arrival(&packet, backlog.packets);
        }
        let verdict = rule.admit(&packet, backlog, idle.then_some(Time(free)));
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark(cause) => {
                node.totals.marked[cause_index(cause)] += 1;
                tag |= u64::from(Flags::CE.0) << 56;
            }
            Verdict::Drop(cause) => {
                if HASH {
                    node.watch_end(&packet, now, true, marks);
                }
                node.drop::<HASH>(rec, cause, marks, shared);
                continue;
            }
        }
        if HASH {
            node.hash.arrival(now, rec.flow(), rec.seq(), u64::from(matches!(verdict, Verdict::Mark(_))));
        }
        let mut start = now;
        if !idle {
            start = free;
            line.join(start, size);
            most = most.max(backlog.packets + 1);
            waiting += u128::from(start - now);
            nonempty += start - now.max(last_start).min(start);
        }
        if HASH {
            node.watch_end(&packet, start, false, marks);
        }
        begun += 1;
        if !PLAIN {
            begun_bytes += u64::from(size);
        }
        last_start = start;
        free = (start + time).min(FAR);
        if let Some(header) = header {
            node.put_header(&Packet { header, ..packet }, shared);
        }
        shared.push(node.routes[(rec.flow() - node.first) as usize], free, tag);
    }
    if PLAIN {
        node.totals.arrived += arrivals.len() as u64;
        begun_bytes = begun * u64::from(one.0);
    }
    node.totals.begun += begun;
    node.totals.begun_bytes += begun_bytes;
    node.totals.waiting += waiting;
    node.totals.nonempty += nonempty;
    (node.free, node.last_start, node.most_seen) = (free, last_start, most);
}

impl Node {
    /// Takes every mark at or before `now`, as it was just before anything happened at the mark, and rings the rule's
    /// timer.
    #[cold]
    fn pass_marks<A: Admission, L: Line>(&mut self, now: Time, marks: &Marks, rule: &mut A, line: &mut L) {
        while self.next_mark <= now {
            let at = self.next_mark;
            if self.is_mark(at, marks) {
                let (totals, standing) = line.totals_at(at.0, self.free, &self.totals);
                self.pass_mark(at, marks, totals, &standing, |put| rule.gauges(put));
            }
            if rule.next_wakeup() == at {
                let idle_since = (self.free < at.0).then_some(Time(self.free));
                rule.on_wakeup(at, line.backlog_from(at.0, self.free), idle_since);
            }
            self.next_mark = self.mark_after(at, rule.next_wakeup(), marks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_divides_exactly() {
        for time in [1, 2, 3, 7, 4_800_000, 12_345_678_901, u64::MAX / 3] {
            let clock = Clock::new(1500, time);
            let edges = [0, clock.exact, u64::MAX / 2].into_iter().flat_map(|at| [at, at.wrapping_sub(1), at + 1]);
            let multiples = (0..1000).map(|n: u64| n.wrapping_mul(time)).flat_map(|at| [at, at.wrapping_sub(1)]);
            for over in edges.chain(multiples) {
                assert_eq!(clock.within(over), over / time, "{over} / {time}");
            }
        }
    }
}

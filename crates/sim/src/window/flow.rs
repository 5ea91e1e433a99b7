//! A TCP flow of the window engine: runs ahead over the ACKs it already knows and emits arrivals at its first link.
//!
//! Where no link could delay an ACK the receiver runs here too, a fixed time before the sender; otherwise deliveries and
//! ACKs have rings of their own. A stretch of ACKs that all do the same (`Sender::steady`) is one simple loop.

use super::access_path::AccessPath;
use super::bucket::{Bucket, Window};
use super::headers::{HeaderLanes, Headers};
use super::results::FlowResult;
use super::ring::{Rec, Ring, tag, until_wrap};
use crate::Trace;
use crate::meter::{FlowMeter, Tally};
use crate::observer::Observer;
use crate::places::{ClosedTransfer, OpenTransfer};
use crate::plan::{Marks, Party, TcpPlan};
use crate::results::FinalTally;
use base::{Flags, Header, PacketNumber, Span, Time};
use law::CongestionControl;
use std::collections::VecDeque;
use transport::{Ack, Wire};

/// See the [module](self).
#[derive(Debug)]
pub struct TcpFlow<O> {
    plan: Box<TcpPlan>,
    /// Whether ACKs reach the sender a fixed time after the delivery.
    folded: bool,
    /// Which flow of the scenario.
    flow: u32,
    return_delay: Span,
    first_link_delay: Span,
    /// Flags of a new data segment.
    data_flags: Flags,
    access: AccessPath,
    start: Time,
    stop: Time,
    /// ACKs on their way through return links, oldest first, and the number of the oldest.
    acks: VecDeque<Ack>,
    first_ack: PacketNumber,
    next_sample: Time,
    sender_warm: Time,
    /// The earlier of the two.
    next_mark: Time,
    receiver_warm: Time,
    meter: FlowMeter,
    /// Whether an application writes to it.
    has_writes: bool,
    /// Of a place: the transfer that is open, and since when its sender knows that everything arrived.
    open: Option<OpenTransfer>,
    ended: Option<Time>,
    observer: O,
    delivered: u64,
}

/// Where TCP's segments go in one window, which ends at `until` at the first link.
struct WindowWire<'a, O> {
    access: &'a mut AccessPath,
    bucket: &'a mut Bucket,
    headers: &'a mut Headers,
    until: Time,
    observer: &'a mut O,
}

impl<O: Observer> Wire for WindowWire<'_, O> {
    #[inline]
    fn on_window(&mut self, now: Time, cwnd: f64, una: u64, nxt: u64) {
        self.observer.on_window(now, cwnd, una, nxt);
    }

    #[inline]
    fn send(&mut self, now: Time, seq: u64, flags: Flags) {
        self.access.send(now, PacketNumber::of(seq), flags, self.bucket, self.until);
    }

    fn send_with(&mut self, now: Time, seq: u64, flags: Flags, header: Header) {
        if self.access.send(now, PacketNumber::of(seq), flags, self.bucket, self.until) {
            self.access.put_header(header, self.headers);
        }
    }
}

/// What happens next at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Record,
    DelayedAck,
    Timer,
    Start,
    Stop,
}

impl<O: Observer> TcpFlow<O> {
    pub fn new(
        mut party: Party,
        plan: Box<TcpPlan>,
        id: u32,
        lanes: Option<HeaderLanes>,
        marks: &Marks,
        series: bool,
    ) -> Self {
        let (first, has_writes) = (plan.sender.una(), plan.writes.is_some());
        let folded = party.return_path.is_empty();
        let meter = FlowMeter::new(series && plan.template.is_none());
        let receiver_warm = if folded { marks.warmup + party.return_delay } else { marks.warmup };
        Self {
            access: AccessPath::new(&mut party, id, lanes, marks),
            start: party.start,
            stop: party.stop,
            data_flags: plan.ect,
            plan,
            folded,
            flow: party.flow,
            return_delay: party.return_delay,
            first_link_delay: party.first_link_delay,
            acks: VecDeque::new(),
            first_ack: PacketNumber::of(first),
            next_sample: marks.sample_from(Time::ZERO),
            sender_warm: marks.warmup,
            next_mark: marks.sample_from(Time::ZERO).min(marks.warmup),
            receiver_warm,
            meter,
            has_writes,
            open: None,
            ended: None,
            observer: O::new(first, None),
            delivered: 0,
        }
    }

    /// A place opens `transfer`; everything until then has been run.
    pub fn open(
        &mut self,
        transfer: OpenTransfer,
        bucket: &mut Bucket,
        headers: &mut Headers,
        until: Time,
        marks: &Marks,
    ) {
        let now = transfer.opened;
        if now >= self.next_mark {
            self.pass_marks(now, marks);
        }
        self.open = Some(transfer);
        self.meter.finished = None;
        self.plan.open(transfer.segments);
        let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
        plan.sender.start(now, &mut wire);
    }

    /// Whether a place is taken.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The transfer that was open, if it has ended since.
    pub fn close(&mut self) -> Option<ClosedTransfer> {
        let closed = self.ended.take()?;
        Some(ClosedTransfer { open: self.open.take()?, closed, delivered: self.meter.finished })
    }

    /// When the transfer of a place ended, until [`Self::close`] takes it.
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// TCP, and where its segments go in a window that ends at `until`.
    #[inline]
    fn plan_and_wire<'a>(
        &'a mut self,
        bucket: &'a mut Bucket,
        headers: &'a mut Headers,
        until: Time,
    ) -> (&'a mut TcpPlan, WindowWire<'a, O>) {
        let wire = WindowWire { access: &mut self.access, bucket, headers, until, observer: &mut self.observer };
        (&mut *self.plan, wire)
    }

    /// Runs the sender (and a folded receiver) over everything before the window's horizon, or until the transfer of a place
    /// ends; arrivals in the window go into `bucket`. Returns when there is next something to do, as an arrival at the link.
    pub fn run(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        window: Window,
        marks: &Marks,
        trace: &mut Option<Box<Trace>>,
    ) -> Time {
        let Window { horizon, until } = window;
        self.access.release(bucket, until);
        loop {
            let steady = self.folded && trace.is_none();
            if steady && self.run_steady(ring, bucket, headers, window) {
                break;
            }
            let (now, next) = self.next(ring);
            if now >= horizon {
                break;
            }
            if now >= self.next_mark {
                self.pass_marks(now, marks);
            }
            let mut acked = false;
            match next {
                Next::Record => {
                    if let Some(rec) = ring.pop() {
                        if self.folded {
                            self.take_header(rec.number(), headers);
                            acked = self.deliver(now - self.return_delay, &rec, marks);
                            if acked {
                                let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                                plan.sender.on_ack(now, plan.receiver.ack(), &mut wire);
                            }
                        } else if let Some(ack) = self.ack_numbered(rec.number()) {
                            acked = true;
                            let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                            plan.sender.on_ack(now, &ack, &mut wire);
                        }
                    }
                }
                Next::DelayedAck => {
                    acked = self.time_receiver(now - self.return_delay, marks);
                    if acked {
                        let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                        plan.sender.on_ack(now, plan.receiver.ack(), &mut wire);
                    }
                }
                Next::Timer => {
                    let timeouts = self.plan.sender.counters().timeouts;
                    let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                    plan.sender.on_timer(now, &mut wire);
                    if let Some(trace) = trace
                        && plan.sender.counters().timeouts > timeouts
                    {
                        trace.record(now, &plan.sender, true);
                    }
                }
                Next::Start => {
                    let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                    self.start = plan.start(now, &mut wire);
                }
                Next::Stop => {
                    self.stop = Time::NEVER;
                    self.plan.sender.stop();
                }
            }
            if acked {
                self.observer.on_ack(now, &self.plan.sender);
                if let Some(trace) = trace {
                    trace.record(now, &self.plan.sender, false);
                }
                if self.note_end(now) {
                    break;
                }
            }
        }
        ring.tidy();
        self.next(ring).0.saturating_add(self.first_link_delay).min(self.access.due())
    }

    /// Whether a place's transfer has ended with the ACK at `now`.
    #[inline]
    fn note_end(&mut self, now: Time) -> bool {
        if self.has_writes {
            self.note_writes(now);
        }
        let ends = self.open.is_some() && self.plan.sender.is_done();
        if ends {
            self.ended = Some(now);
        }
        ends
    }

    /// The application hears of the ACK at `now`, if it was the last.
    #[cold]
    fn note_writes(&mut self, now: Time) {
        if let Some(due) = self.plan.acknowledged(now) {
            self.start = due;
        }
    }

    /// Time and kind of what happens next; ACKs before timers at the same instant.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loop over all that happens at a sender")]
    fn next(&self, ring: &Ring) -> (Time, Next) {
        let mut next = (ring.peek().map_or(Time::NEVER, |rec| rec.time), Next::Record);
        let mut or = |at: Time, what: Next| {
            if at < next.0 {
                next = (at, what);
            }
        };
        if self.folded {
            or(self.plan.receiver.deadline().saturating_add(self.return_delay), Next::DelayedAck);
        }
        or(self.plan.sender.deadline(), Next::Timer);
        or(self.start, Next::Start);
        or(self.stop, Next::Stop);
        next
    }

    /// The ACK that arrived through the return links; those before it were lost there.
    fn ack_numbered(&mut self, number: PacketNumber) -> Option<Ack> {
        let lost = number.after(self.first_ack) as usize;
        self.acks.drain(..lost);
        self.first_ack = number.plus(1);
        self.acks.pop_front()
    }

    /// The header of packet `number` that reaches the receiver, if its packets carry any.
    #[inline]
    fn take_header(&mut self, number: PacketNumber, headers: &mut Headers) {
        if let Some(header) = self.access.take_header(headers) {
            let seq = self.plan.receiver.segment(number);
            self.plan.receiver.on_header(seq, &header);
        }
    }

    /// A segment reaches the receiver. Returns whether it triggers an ACK.
    fn deliver(&mut self, at: Time, rec: &Rec, marks: &Marks) -> bool {
        self.pass_receiver_warm(at, marks);
        self.delivered += 1;
        let seq = self.plan.receiver.segment(rec.number());
        let ack = self.plan.receiver.on_segment(at, seq, rec.flags());
        self.meter.delivered(at, &self.plan.receiver, self.plan.data_end);
        if self.has_writes {
            self.plan.delivered(at);
        }
        ack
    }

    /// Notes what the receiver has at the warm-up, if that is over `at`.
    #[inline]
    fn pass_receiver_warm(&mut self, at: Time, marks: &Marks) {
        if at >= marks.warmup && self.receiver_warm != Time::NEVER {
            self.receiver_warm = Time::NEVER;
            self.meter.receiver_warm(self.plan.receiver.delivered());
        }
    }

    /// A timer of the receiver. Returns whether it triggers an ACK.
    fn time_receiver(&mut self, at: Time, marks: &Marks) -> bool {
        self.pass_receiver_warm(at, marks);
        let ack = self.plan.receiver.on_timer(at);
        self.meter.delivered(at, &self.plan.receiver, self.plan.data_end);
        if self.has_writes {
            self.plan.delivered(at);
        }
        ack
    }

    /// The receiver's timers before `at`, when its ACKs reach nobody any more.
    fn time_receiver_before(&mut self, at: Time, marks: &Marks) {
        while self.plan.receiver.deadline() < at {
            let _ = self.time_receiver(self.plan.receiver.deadline(), marks);
        }
    }

    /// Runs a receiver that is not folded over deliveries before `until`; its ACKs go into `bucket`.
    pub fn run_receiver(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        until: Time,
        marks: &Marks,
    ) -> Time {
        loop {
            let record = ring.peek().map_or(Time::NEVER, |rec| rec.time);
            let timer = self.plan.receiver.deadline();
            let at = record.min(timer);
            if at >= until {
                ring.tidy();
                return at;
            }
            let acknowledged = if record <= timer {
                ring.pop().is_some_and(|rec| {
                    self.take_header(rec.number(), headers);
                    self.deliver(at, &rec, marks)
                })
            } else {
                self.time_receiver(at, marks)
            };
            if acknowledged {
                let number = self.first_ack.plus(self.acks.len() as u32);
                self.acks.push_back(*self.plan.receiver.ack());
                bucket.push(Rec { time: at, tag: tag(self.access.id, number, Flags::ACK) });
            }
        }
    }

    /// As many ACKs as are all alike: each releases one segment. Returns whether a place's transfer has ended.
    fn run_steady(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        Window { horizon, until }: Window,
    ) -> bool {
        let limit = horizon.min(self.next_mark).min(self.receiver_warm).min(self.stop);
        loop {
            let front = ring.all();
            let una = PacketNumber::of(self.plan.sender.una());
            let expected = tag(self.access.id, una, self.data_flags);
            let ready = front.first().is_some_and(|rec| rec.time < limit && rec.tag == expected);
            if !ready || !self.plan.receiver.is_plain() {
                return false;
            }
            let sender = &self.plan.sender;
            let steady = sender.steady() as usize;
            let plain = if steady == 0 { sender.plain() as usize } else { 0 };
            let paced = if steady + plain == 0 { sender.paced() as usize } else { 0 };
            if steady + plain + paced == 0 {
                return false;
            }
            // All the ACKs come before the timer that the last one started, so none of them lets it expire.
            let deadline = if paced > 0 { sender.deadline_but_pacing() } else { sender.deadline() };
            let limit = limit.min(deadline.saturating_add(Span(1)));
            // The next segment, and the next that is acknowledged: tags go on by one up to the last number of 32 bits.
            let nxt = PacketNumber::of(self.plan.sender.nxt());
            let alike = until_wrap(una).min(until_wrap(nxt)) as usize;
            let mut acks = &front[..front.len().min(steady + plain + paced).min(alike)];
            if acks.last().is_some_and(|rec| rec.time >= limit) {
                acks = &acks[..acks.partition_point(|rec| rec.time < limit)];
            }
            acks = self.in_order(acks, expected);
            if steady > 0
                && let Some(first) = acks.first()
            {
                // None of their segments is lost at the sender's own link.
                acks = &acks[..self.access.link.room(first.time, acks.len())];
            }
            let Some(&Rec { time: last, .. }) = acks.last() else { return false };
            let n = acks.len() as u32;
            if steady == 0 {
                let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                let times = acks.iter().map(|rec| rec.time);
                if paced > 0 {
                    plan.sender.take_paced(times, &mut wire);
                } else {
                    plan.sender.take_plain(times, &mut wire);
                }
                ring.consume(n as usize);
                self.plan.receiver.take_plain(n);
                self.delivered += u64::from(n);
                self.meter.delivered(last - self.return_delay, &self.plan.receiver, self.plan.data_end);
                if self.note_end(last) {
                    return true;
                }
                continue;
            }
            if O::ACTIVE {
                self.observe_steady(acks);
            }
            let new = tag(self.access.id, nxt, self.data_flags);
            if self.access.spill.is_empty() && self.access.link.latest(last, n) < until {
                self.access.link.pass_all(acks, new, bucket);
            } else {
                for (rec, tag) in acks.iter().zip(new..) {
                    let arrival = Rec { time: self.access.link.pass(rec.time), tag };
                    self.access.emit(arrival, bucket, until);
                }
            }
            let times = acks.iter().map(|rec| rec.time);
            self.plan.sender.take_steady(n, last, times);
            ring.consume(n as usize);
            self.plan.receiver.take_plain(n);
            self.delivered += u64::from(n);
        }
    }

    /// The first of `acks` that are for the segments `expected`, `expected` + 1 and so on.
    #[inline]
    fn in_order<'a>(&self, acks: &'a [Rec], expected: u64) -> &'a [Rec] {
        let marked = self.data_flags.has(Flags::ECT);
        if !self.plan.sender.is_pristine() || marked {
            let other = acks.iter().zip(expected..).position(|(rec, tag)| rec.tag != tag);
            return &acks[..other.unwrap_or(acks.len())];
        }
        // Sent once and in order: tags only grow, and where the last of n is n-1 above the first nothing is missing.
        match acks.last() {
            Some(last) if last.tag == expected + acks.len() as u64 - 1 => acks,
            _ => &acks[..tags_in_row(acks, expected)],
        }
    }

    /// Shows the sender after each of `acks`, as it would be had it taken them one by one.
    fn observe_steady(&mut self, acks: &[Rec]) {
        let sender = &self.plan.sender;
        let (mut cwnd, gain) = (sender.control().cwnd(), sender.control().step().map_or(0.0, |step| step.gain));
        let (mut una, mut nxt) = (sender.una(), sender.nxt());
        for rec in acks {
            (cwnd, una, nxt) = (cwnd + gain, una + 1, nxt + 1);
            self.observer.on_window(rec.time, cwnd, una, nxt);
        }
    }

    /// Takes the marks at or before `now`, as the sender was just before anything happened at them.
    #[cold]
    fn pass_marks(&mut self, now: Time, marks: &Marks) {
        if self.plan.template.is_some() && self.plan.sender.is_done() {
            // A free place is not sampled, however long it was free.
            self.next_sample = self.next_sample.max(marks.sample_after(now));
        }
        while self.next_sample <= now && self.next_sample < marks.end {
            self.meter.sample(self.next_sample, marks, &self.plan.sender);
            self.next_sample = marks.sample_after(self.next_sample);
        }
        if self.sender_warm <= now {
            self.sender_warm = Time::NEVER;
            self.meter.sender_warm(self.plan.sender.counters());
        }
        let next = if self.next_sample < marks.end { self.next_sample } else { Time::NEVER };
        self.next_mark = next.min(self.sender_warm);
    }

    /// The run is over: what the receiver still gets before the end, and the result. Packets that are still on their way are
    /// counted in `senders` and `receivers` (this flow's rings) and here.
    pub fn finish(mut self, senders: &Ring, receivers: &Ring, marks: &Marks, dropped: u64) -> FlowResult {
        let end = marks.end;
        self.pass_marks(Time(end.0 - 1), marks);
        let mut in_flight = self.access.in_flight();
        if self.folded {
            for rec in senders.all() {
                let at = rec.time - self.return_delay;
                if at < end {
                    self.time_receiver_before(at, marks);
                    let _ = self.deliver(at, rec, marks);
                } else {
                    in_flight += 1;
                }
            }
            self.time_receiver_before(end, marks);
        } else {
            in_flight += receivers.len() as u64;
        }
        if self.receiver_warm != Time::NEVER {
            self.meter.receiver_warm(self.plan.receiver.delivered());
        }
        let delivered = self.plan.receiver.delivered();
        let counters = self.plan.sender.counters();
        FlowResult {
            in_flight,
            sent: counters.sent,
            delivered: self.delivered,
            access_drops: self.access.drops.since_start,
            hash: self.observer.finish().0,
            tally: FinalTally {
                flow: self.flow,
                open: self.open,
                writes: self.plan.writes.take(),
                tally: Tally {
                    meter: self.meter,
                    counters,
                    delivered,
                    dropped: dropped + self.access.drops.since_warmup,
                },
            },
        }
    }
}

/// How many records have the tags `expected`, `expected` + 1 and so on, if tags only grow: by bisection.
fn tags_in_row(recs: &[Rec], expected: u64) -> usize {
    let (mut good, mut bad) = (0, recs.len());
    while good < bad {
        let middle = usize::midpoint(good, bad);
        if recs[middle].tag == expected + middle as u64 { good = middle + 1 } else { bad = middle }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_in_a_row_end_where_one_is_missing() {
        let recs = |seqs: &[u32]| -> Vec<Rec> {
            seqs.iter().map(|&seq| Rec { time: Time::ZERO, tag: tag(5, PacketNumber(seq), Flags::NONE) }).collect()
        };
        let expected = tag(5, PacketNumber(10), Flags::NONE);
        for missing in 10..20 {
            let seqs: Vec<u32> = (10..20).filter(|&seq| seq != missing).collect();
            // What lies before the gap; without the last of ten nothing of the nine is missing.
            assert_eq!(tags_in_row(&recs(&seqs), expected), (missing - 10) as usize, "{missing}");
        }
        assert_eq!(tags_in_row(&recs(&[]), expected), 0);
        // Of another flow, or with other flags, the tag is another.
        let mut other = recs(&[10, 11, 12]);
        other[2].tag = tag(5, PacketNumber(12), Flags::CE);
        assert_eq!(tags_in_row(&other, expected), 2);
    }
}

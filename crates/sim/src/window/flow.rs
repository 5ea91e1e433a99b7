//! A TCP flow of the window engine: runs ahead over the ACKs it already knows and emits arrivals at its first link.
//!
//! Where no link could delay an ACK the receiver runs here too, a fixed time before the sender; otherwise deliveries and
//! ACKs have rings of their own. A stretch of ACKs that all do the same (`Sender::steady`) is one simple loop.

use super::bucket::Bucket;
use super::headers::Headers;
use super::ring::{Rec, Ring, tag};
use super::way::Way;
use crate::Trace;
use crate::hash::Rolling;
use crate::meter::{FlowMeter, Tally};
use crate::network::{Marks, TcpPlan};
use crate::session::{Last, Open};
use base::{Flags, Header, Time};
use law::CongestionControl;
use std::collections::VecDeque;
use transport::{Ack, Wire};

/// See the [module](self).
#[derive(Debug)]
pub struct Flow {
    plan: Box<TcpPlan>,
    /// Whether ACKs reach the sender a fixed time after the delivery.
    folded: bool,
    /// Flags of a new data segment.
    data_flags: Flags,
    way: Way,
    start: Time,
    stop: Time,
    /// ACKs on their way through return links, oldest first, and the number of the oldest.
    acks: VecDeque<Ack>,
    first_ack: u32,
    next_sample: Time,
    sender_warm: Time,
    /// The earlier of the two.
    next_mark: Time,
    receiver_warm: Time,
    meter: FlowMeter,
    /// Of a place: the transfer that is open, and since when its sender knows that all has arrived.
    open: Option<Open>,
    ended: Option<Time>,
    pub hash: Rolling,
    pub delivered: u64,
}

/// Where TCP's segments go in one window, which ends at `until` at the first link.
struct Exit<'a, const HASH: bool> {
    way: &'a mut Way,
    bucket: &'a mut Bucket,
    headers: &'a mut Headers,
    until: u64,
    hash: &'a mut Rolling,
}

impl<const HASH: bool> Wire for Exit<'_, HASH> {
    #[inline]
    fn on_window(&mut self, now: Time, cwnd: f64, una: u32, nxt: u32) {
        if HASH {
            self.hash.ack(now.0, cwnd, una, nxt, nxt - una);
        }
    }

    #[inline]
    fn send(&mut self, now: Time, seq: u32, flags: Flags) {
        self.way.send(now.0, seq, flags, self.bucket, self.until);
    }

    fn send_with(&mut self, now: Time, seq: u32, flags: Flags, header: Header) {
        if self.way.send(now.0, seq, flags, self.bucket, self.until) {
            self.way.put_header(header, self.headers);
        }
    }
}

/// What happens next at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Record,
    DelayedAck,
    Timer,
    Start,
    Stop,
}

impl Flow {
    pub fn new(mut plan: Box<TcpPlan>, id: u32, lanes: Option<(u32, u32)>, marks: &Marks, series: bool) -> Self {
        let folded = plan.party.back_path.is_empty();
        (plan.party.path, plan.party.back_path) = (Vec::new(), Vec::new());
        let meter = FlowMeter::new(series && plan.fresh.is_none());
        let receiver_warm = if folded { marks.warmup + plan.party.back } else { marks.warmup };
        Self {
            way: Way::new(&mut plan.party, id, lanes, marks),
            start: plan.party.start,
            stop: plan.party.stop,
            data_flags: plan.ect,
            plan,
            folded,
            acks: VecDeque::new(),
            first_ack: 0,
            next_sample: marks.sample_from(Time::ZERO),
            sender_warm: marks.warmup,
            next_mark: marks.sample_from(Time::ZERO).min(marks.warmup),
            receiver_warm,
            meter,
            open: None,
            ended: None,
            hash: Rolling::default(),
            delivered: 0,
        }
    }

    /// A place opens a transfer at `now`; everything until then has been run.
    pub fn open<const HASH: bool>(
        &mut self,
        (now, segments): (Time, u32),
        bucket: &mut Bucket,
        headers: &mut Headers,
        until: u64,
        marks: &Marks,
    ) {
        if now >= self.next_mark {
            self.pass_marks(now, marks);
        }
        self.open = Some(Open { at: now, segments });
        self.meter.finished = None;
        self.plan.open(segments);
        let mut exit = Exit::<HASH> { way: &mut self.way, bucket, headers, until, hash: &mut self.hash };
        self.plan.sender.start(now, &mut exit);
    }

    /// Whether a place is taken.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The transfer that was open, if it has ended: itself, and when the sender knew and the receiver had everything.
    pub fn close(&mut self) -> Option<(Open, Time, Option<Time>)> {
        let ended = self.ended.take()?;
        Some((self.open.take()?, ended, self.meter.finished))
    }

    /// Whether a transfer has ended that nobody has heard of.
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// Runs the sender (and a folded receiver) over everything before `horizon`, or until the transfer of a place ends;
    /// arrivals before `until` go into `bucket`. Returns when there is next something to do, as an arrival at the link.
    pub fn run<const HASH: bool>(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        (horizon, until): (u64, u64),
        marks: &Marks,
        trace: &mut Option<Box<Trace>>,
    ) -> u64 {
        self.way.release(bucket, until);
        loop {
            let steady = self.folded && trace.is_none();
            if steady && self.run_steady::<HASH>(ring, bucket, headers, horizon, until) {
                break;
            }
            let (at, next) = self.next(ring);
            if at >= horizon {
                break;
            }
            let now = Time(at);
            if now >= self.next_mark {
                self.pass_marks(now, marks);
            }
            let mut heard = false;
            match next {
                Next::Record => {
                    if let Some(rec) = ring.pop() {
                        if self.folded {
                            self.hear(rec.seq(), headers);
                            heard = self.deliver(Time(at - self.plan.party.back.0), &rec, marks);
                            if heard {
                                let ack = self.plan.receiver.ack();
                                self.plan.sender.on_ack(
                                    now,
                                    ack,
                                    &mut Exit::<HASH> {
                                        way: &mut self.way,
                                        bucket,
                                        headers,
                                        until,
                                        hash: &mut self.hash,
                                    },
                                );
                            }
                        } else if let Some(ack) = self.ack_numbered(rec.seq()) {
                            heard = true;
                            self.plan.sender.on_ack(
                                now,
                                &ack,
                                &mut Exit::<HASH> { way: &mut self.way, bucket, headers, until, hash: &mut self.hash },
                            );
                        }
                    }
                }
                Next::DelayedAck => {
                    self.plan.receiver.on_timer();
                    heard = true;
                    self.plan.sender.on_ack(
                        now,
                        self.plan.receiver.ack(),
                        &mut Exit::<HASH> { way: &mut self.way, bucket, headers, until, hash: &mut self.hash },
                    );
                }
                Next::Timer => {
                    let timeouts = self.plan.sender.counters.timeouts;
                    self.plan.sender.on_timer(
                        now,
                        &mut Exit::<HASH> { way: &mut self.way, bucket, headers, until, hash: &mut self.hash },
                    );
                    if let Some(trace) = trace
                        && self.plan.sender.counters.timeouts > timeouts
                    {
                        trace.record(now, &self.plan.sender, true);
                    }
                }
                Next::Start => {
                    self.start = Time::NEVER;
                    self.plan.sender.start(
                        now,
                        &mut Exit::<HASH> { way: &mut self.way, bucket, headers, until, hash: &mut self.hash },
                    );
                }
                Next::Stop => {
                    self.stop = Time::NEVER;
                    self.plan.sender.stop();
                }
            }
            if heard {
                if HASH {
                    self.hash.sender(now, &self.plan.sender);
                }
                if let Some(trace) = trace {
                    trace.record(now, &self.plan.sender, false);
                }
                if self.note_end(now) {
                    break;
                }
            }
        }
        ring.tidy();
        self.next(ring).0.saturating_add(self.plan.party.lead.0).min(self.way.due())
    }

    /// Whether a place's transfer has ended with the ACK at `now`.
    #[inline]
    fn note_end(&mut self, now: Time) -> bool {
        let ends = self.open.is_some() && self.plan.sender.is_done();
        if ends {
            self.ended = Some(now);
        }
        ends
    }

    /// Time and kind of what happens next; ACKs before timers at the same instant.
    fn next(&self, ring: &Ring) -> (u64, Next) {
        let record = ring.peek().map_or(u64::MAX, |rec| rec.time);
        let mut next = (record, Next::Record);
        if self.folded {
            let delayed = self.plan.receiver.deadline().0.saturating_add(self.plan.party.back.0);
            next = next.min((delayed, Next::DelayedAck));
        }
        next.min((self.plan.sender.deadline().0, Next::Timer))
            .min((self.start.0, Next::Start))
            .min((self.stop.0, Next::Stop))
    }

    /// The ACK that came through the return links; those before it were lost there.
    fn ack_numbered(&mut self, number: u32) -> Option<Ack> {
        let lost = number.wrapping_sub(self.first_ack) as usize;
        self.acks.drain(..lost);
        self.first_ack = number.wrapping_add(1);
        self.acks.pop_front()
    }

    /// The header of segment `seq` that reaches the receiver, if its packets carry any.
    #[inline]
    fn hear(&mut self, seq: u32, headers: &mut Headers) {
        if let Some(header) = self.way.take_header(headers) {
            self.plan.receiver.on_header(seq, &header);
        }
    }

    /// A segment reaches the receiver. Returns whether it triggers an ACK.
    fn deliver(&mut self, at: Time, rec: &Rec, marks: &Marks) -> bool {
        if at >= marks.warmup && self.receiver_warm != Time::NEVER {
            self.receiver_warm = Time::NEVER;
            self.meter.receiver_warm(self.plan.receiver.delivered());
        }
        self.delivered += 1;
        let ack = self.plan.receiver.on_segment(at, rec.seq(), rec.flags());
        self.meter.delivered(at, &self.plan.receiver, self.plan.data_end);
        ack
    }

    /// Runs a receiver that is not folded over deliveries before `until`; its ACKs go into `bucket`.
    pub fn run_receiver(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        until: u64,
        marks: &Marks,
    ) -> u64 {
        loop {
            let record = ring.peek().map_or(u64::MAX, |rec| rec.time);
            let timer = self.plan.receiver.deadline().0;
            let at = record.min(timer);
            if at >= until {
                ring.tidy();
                return at;
            }
            let acknowledged = if record <= timer {
                ring.pop().is_some_and(|rec| {
                    self.hear(rec.seq(), headers);
                    self.deliver(Time(at), &rec, marks)
                })
            } else {
                self.plan.receiver.on_timer();
                true
            };
            if acknowledged {
                let seq = self.first_ack.wrapping_add(self.acks.len() as u32);
                self.acks.push_back(*self.plan.receiver.ack());
                bucket.push(Rec { time: at, tag: tag(self.way.id, seq, Flags::ACK) });
            }
        }
    }

    /// As many ACKs as are all alike: each releases one segment. Returns whether a place's transfer has ended.
    fn run_steady<const HASH: bool>(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        horizon: u64,
        until: u64,
    ) -> bool {
        let limit = horizon.min(self.next_mark.0).min(self.receiver_warm.0).min(self.stop.0);
        loop {
            let front = ring.all();
            let expected = tag(self.way.id, self.plan.sender.una(), self.data_flags);
            let ready = front.first().is_some_and(|rec| rec.time < limit && rec.tag == expected);
            if !ready || !self.plan.receiver.is_plain() {
                return false;
            }
            // All the ACKs come before the timer that the last one started, so none of them lets it expire.
            let limit = limit.min(self.plan.sender.deadline().0.saturating_add(1));
            let steady = self.plan.sender.steady() as usize;
            let plain = if steady == 0 { self.plan.sender.plain() as usize } else { 0 };
            if steady + plain == 0 {
                return false;
            }
            let mut acks = &front[..front.len().min(steady + plain)];
            if acks.last().is_some_and(|rec| rec.time >= limit) {
                acks = &acks[..acks.partition_point(|rec| rec.time < limit)];
            }
            acks = self.in_order(acks, expected);
            if steady > 0
                && let Some(first) = acks.first()
            {
                // None of their segments is lost at the sender's own link.
                acks = &acks[..self.way.access.room(first.time, acks.len())];
            }
            let Some(&Rec { time: last, .. }) = acks.last() else { return false };
            let n = acks.len() as u32;
            if plain > 0 {
                let mut exit = Exit::<HASH> { way: &mut self.way, bucket, headers, until, hash: &mut self.hash };
                self.plan.sender.take_plain(acks.iter().map(|rec| Time(rec.time)), &mut exit);
                ring.consume(n as usize);
                self.plan.receiver.take_plain(n);
                self.delivered += u64::from(n);
                self.meter.delivered(Time(last - self.plan.party.back.0), &self.plan.receiver, self.plan.data_end);
                if self.note_end(Time(last)) {
                    return true;
                }
                continue;
            }
            if HASH {
                self.hash_steady(acks);
            }
            let new = tag(self.way.id, self.plan.sender.nxt(), self.data_flags);
            if self.way.spill.is_empty() && self.way.access.latest(last, n) < until {
                self.way.access.pass_all(acks, new, bucket);
            } else {
                for (rec, tag) in acks.iter().zip(new..) {
                    let arrival = Rec { time: self.way.access.pass(rec.time), tag };
                    self.way.emit(arrival, bucket, until);
                }
            }
            let times = acks.iter().map(|rec| Time(rec.time));
            self.plan.sender.take_steady(n, Time(last), times);
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

    /// The sender after each of `acks`, as it would be had it taken them one by one.
    fn hash_steady(&mut self, acks: &[Rec]) {
        let sender = &self.plan.sender;
        let (mut cwnd, gain) = (sender.control().cwnd(), sender.control().step().map_or(0.0, |step| step.gain));
        let (mut una, mut nxt) = (sender.una(), sender.nxt());
        for rec in acks {
            (cwnd, una, nxt) = (cwnd + gain, una + 1, nxt + 1);
            self.hash.ack(rec.time, cwnd, una, nxt, nxt - una);
        }
    }

    /// Takes the marks at or before `now`, as the sender was just before anything happened at them.
    #[cold]
    fn pass_marks(&mut self, now: Time, marks: &Marks) {
        if self.plan.fresh.is_some() && self.plan.sender.is_done() {
            // A free place shows nothing, however long it was free.
            self.next_sample = self.next_sample.max(marks.sample_from(Time(now.0 + 1)));
        }
        while self.next_sample <= now && self.next_sample < marks.end {
            self.meter.sample(self.next_sample, marks, &self.plan.sender);
            self.next_sample = marks.sample_from(Time(self.next_sample.0 + 1));
        }
        if self.sender_warm <= now {
            self.sender_warm = Time::NEVER;
            self.meter.sender_warm(self.plan.sender.counters);
        }
        let next = if self.next_sample < marks.end { self.next_sample } else { Time::NEVER };
        self.next_mark = next.min(self.sender_warm);
    }

    /// The run is over: what the receiver still gets before the end, and the result. Returns it with the packets that
    /// are still on their way in `senders` and `receivers` (this flow's rings) and here, and the drops of its own link.
    pub fn finish(mut self, senders: &Ring, receivers: &Ring, marks: &Marks, dropped: u64) -> Finished {
        let end = marks.end;
        self.pass_marks(Time(end.0 - 1), marks);
        let mut in_flight = self.way.in_flight();
        if self.folded {
            for rec in senders.all() {
                let at = Time(rec.time - self.plan.party.back.0);
                if at < end {
                    let _ = self.deliver(at, rec, marks);
                } else {
                    in_flight += 1;
                }
            }
        } else {
            in_flight += receivers.len() as u64;
        }
        if self.receiver_warm != Time::NEVER {
            self.meter.receiver_warm(self.plan.receiver.delivered());
        }
        let delivered = u64::from(self.plan.receiver.delivered());
        let counters = self.plan.sender.counters;
        Finished {
            in_flight,
            sent: counters.sent,
            delivered: self.delivered,
            access_drops: self.way.drops.0,
            hash: self.hash,
            last: Last {
                flow: self.plan.party.flow,
                open: self.open,
                tally: Tally { meter: self.meter, counters, delivered, dropped: dropped + self.way.drops.1 },
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

/// What a flow leaves behind.
pub struct Finished {
    pub in_flight: u64,
    pub sent: u64,
    pub delivered: u64,
    pub access_drops: u64,
    pub hash: Rolling,
    pub last: Last,
}

//! A TCP flow of the window engine: it runs ahead over the ACKs it already knows and emits arrivals at its first link.
//!
//! If no link can delay an ACK, the receiver runs here too, a fixed time before the sender (the receiver is *folded*).
//! Otherwise deliveries and ACKs have rings of their own. Fast paths process several ACKs at once while nothing is lost
//! (`runs`).

mod runs;
mod wires;

use super::access_path::AccessPath;
use super::acks::AckQueue;
use super::bucket::{Bucket, Window};
use super::headers::{HeaderLanes, Headers};
use super::results::FlowResult;
use super::ring::{Rec, Ring, tag};
use crate::Trace;
use crate::marks::Marks;
use crate::meter::{FlowMeter, Tally};
use crate::observer::Observer;
use crate::places::{ClosedTransfer, OpenTransfer};
use crate::plan::{FlowControl, Party, TcpPlan};
use crate::results::FinalTally;
use crate::writes::FlowWrites;
use base::steps::count_steps;
use base::{Flags, PacketNumber, Span, Time};
use transport::{Ack, Sender};
use wires::{TracedWire, WindowWire};

/// See the [module](self).
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what every record asks for, answered before")]
pub struct TcpFlow<O, C> {
    plan: Box<TcpPlan<C>>,
    /// Number of the flow in the scenario.
    flow: u32,
    return_delay: Span,
    /// Flags of a new data segment.
    data_flags: Flags,
    access: AccessPath,
    start: Time,
    stop: Time,
    /// ACKs on their way through return links; `None` if ACKs reach the sender a fixed time after the delivery.
    acks: Option<Box<AckQueue>>,
    /// Time of the next mark for this sender: the next sample or the end of the warm-up, whichever is earlier. With a
    /// folded receiver, also the time at which the sender's clock reaches the end of the receiver's warm-up.
    next_mark: Time,
    /// Whether the warm-up is over for the sender, and for the receiver.
    is_warm: bool,
    is_receiver_warm: bool,
    meter: FlowMeter,
    /// Whether an application writes to the connection.
    has_writes: bool,
    /// Whether packets may arrive marked, or in another order than they were sent.
    may_differ: bool,
    /// The place, if this is a sender of a session.
    place: Option<Box<Place>>,
    observer: O,
    delivered: u64,
}

/// A place of a session: the open transfer, and the time at which its sender learnt that everything arrived.
#[derive(Clone, Debug, Default)]
struct Place {
    open: Option<OpenTransfer>,
    ended: Option<Time>,
}

/// Calls TCP with the wire of a flow without a trace or with the wire of a traced flow; the call is compiled once for each.
macro_rules! with_wire {
    ($flow:ident, $bucket:ident, $headers:ident, $until:ident, $trace:ident, |$plan:ident, $wire:ident| $call:expr) => {
        if let Some(trace) = $trace.as_deref_mut() {
            let ($plan, mut wire) = $flow.plan_and_traced($bucket, $headers, $until, trace);
            let $wire = &mut wire;
            $call
        } else {
            let ($plan, mut wire) = $flow.plan_and_wire($bucket, $headers, $until);
            let $wire = &mut wire;
            $call
        }
    };
}

/// Kind of the sender's next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Record,
    DelayedAck,
    Timer,
    Start,
    Stop,
}

impl<O: Observer, C: FlowControl> TcpFlow<O, C> {
    pub fn new(
        mut party: Party,
        plan: Box<TcpPlan<C>>,
        id: u32,
        lanes: Option<HeaderLanes>,
        marks: &Marks,
        series: bool,
    ) -> Self {
        let (first, has_writes) = (plan.sender.seq().una(), plan.writes().is_some());
        let data_flags = plan.sender.info().data_flags();
        let folded = party.return_path.is_empty();
        let place = plan.is_place().then(Box::default);
        let meter = FlowMeter::new(series && place.is_none());
        let mut flow = Self {
            access: AccessPath::new(&mut party, id, lanes, marks),
            start: party.start,
            stop: party.stop,
            data_flags,
            may_differ: party.reorders || data_flags.has(Flags::ECT),
            plan,
            acks: (!folded).then(|| Box::new(AckQueue::new(PacketNumber::of(first), party.reorders))),
            flow: party.flow,
            return_delay: party.return_delay,
            next_mark: Time::ZERO,
            is_warm: false,
            is_receiver_warm: false,
            meter,
            has_writes,
            place,
            observer: O::new(first, None),
            delivered: 0,
        };
        flow.next_mark = flow.mark_from(marks.sample_from(Time::ZERO), marks);
        flow
    }

    /// Opens `transfer` at a place; the flow must have processed all earlier events.
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
        self.place.get_or_insert_default().open = Some(transfer);
        self.meter.begin_transfer();
        self.plan.open(transfer.segments);
        let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
        plan.sender.start(now, &mut wire);
    }

    /// Whether ACKs reach the sender a fixed time after the delivery.
    #[inline]
    fn is_folded(&self) -> bool {
        self.acks.is_none()
    }

    /// Number of the flow in the scenario.
    pub fn number(&self) -> usize {
        self.flow as usize
    }

    /// The sender.
    pub fn sender(&self) -> &Sender<C> {
        &self.plan.sender
    }

    /// The congestion control of its sender.
    pub fn control_mut(&mut self) -> &mut C {
        self.plan.sender.control_mut()
    }

    /// Whether the law measures every delivery.
    pub fn measures_deliveries(&self) -> bool {
        self.plan.sender.control().needs().deliveries
    }

    /// Whether the place has an open transfer.
    pub fn is_open(&self) -> bool {
        self.place.as_deref().is_some_and(|place| place.open.is_some())
    }

    /// Service time of a packet on the sender's own link.
    pub fn access(&self) -> Span {
        self.access.link.service()
    }

    /// Takes the transfer that was open, if it has ended.
    pub fn close(&mut self) -> Option<ClosedTransfer> {
        let place = self.place.as_deref_mut()?;
        let closed = place.ended.take()?;
        Some(ClosedTransfer { open: place.open.take()?, closed, delivered: self.meter.finished() })
    }

    /// Time at which the place's transfer ended, until [`Self::close`] takes the transfer.
    pub fn ended(&self) -> Option<Time> {
        self.place.as_deref()?.ended
    }

    /// TCP, and the destination of its segments in a window that ends at `until`.
    #[inline]
    fn plan_and_wire<'a>(
        &'a mut self,
        bucket: &'a mut Bucket,
        headers: &'a mut Headers,
        until: Time,
    ) -> (&'a mut TcpPlan<C>, WindowWire<'a, O>) {
        let observer = &mut self.observer;
        (&mut *self.plan, WindowWire { access: &mut self.access, bucket, headers, until, observer })
    }

    /// [`Self::plan_and_wire`] for a flow with a trace.
    fn plan_and_traced<'a>(
        &'a mut self,
        bucket: &'a mut Bucket,
        headers: &'a mut Headers,
        until: Time,
        trace: &'a mut Trace,
    ) -> (&'a mut TcpPlan<C>, TracedWire<'a, O>) {
        let (plan, wire) = self.plan_and_wire(bucket, headers, until);
        (plan, TracedWire { wire, trace })
    }

    /// Runs the sender (and a folded receiver) over all events before the window's horizon, or until the place's
    /// transfer ends. Arrivals in the window go into `bucket`. Returns the time of the flow's next event, as an arrival
    /// time at the first link.
    pub fn run(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        window: Window<'_>,
        marks: &Marks,
        trace: &mut Option<Box<Trace>>,
    ) -> Time {
        let Window { horizon, until, is_stopped } = window;
        self.access.release(bucket, until);
        let mut ack = Ack::NONE;
        loop {
            // If the application waits for room in the send buffer, ACKs are processed one by one, because one of them
            // makes room.
            if trace.is_none() && !self.is_full() && self.run_short(ring, bucket, headers, window) {
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
                        #[cfg(test)]
                        runs::SINGLE.set(runs::SINGLE.get() + 1);
                        if self.is_folded() {
                            self.take_header(rec.number(), headers);
                            acked = self.deliver(now - self.return_delay, &rec, marks, &mut ack);
                            if acked {
                                with_wire!(self, bucket, headers, until, trace, |plan, wire| {
                                    plan.sender.on_ack(now, &ack, wire);
                                });
                            }
                        } else if let Some(taken) = self.acks.as_mut().and_then(|acks| acks.take(rec.number())) {
                            (acked, ack) = (true, taken);
                            with_wire!(self, bucket, headers, until, trace, |plan, wire| {
                                plan.sender.on_ack(now, &ack, wire);
                            });
                        }
                    }
                }
                Next::DelayedAck => {
                    acked = self.time_receiver(now - self.return_delay, marks, &mut ack);
                    if acked {
                        with_wire!(self, bucket, headers, until, trace, |plan, wire| {
                            plan.sender.on_ack(now, &ack, wire);
                        });
                    }
                }
                Next::Timer => {
                    let limit = self.before_timer(ring).min(horizon).min(self.next_mark);
                    let timeouts = self.plan.sender.counters().timeouts;
                    let paces = with_wire!(self, bucket, headers, until, trace, |plan, wire| {
                        let paces = plan.sender.take_pace(limit, wire);
                        if !paces {
                            plan.sender.on_timer(now, wire);
                        }
                        paces
                    });
                    if paces {
                        continue;
                    }
                    if let Some(trace) = trace
                        && self.plan.sender.counters().timeouts > timeouts
                    {
                        trace.record(now, &self.plan.sender, None);
                    }
                }
                Next::Start => {
                    // An application may write any number of times before the horizon.
                    if is_stopped() {
                        break;
                    }
                    self.start = with_wire!(self, bucket, headers, until, trace, |plan, wire| plan.start(now, wire));
                }
                Next::Stop => {
                    self.stop = Time::NEVER;
                    self.plan.sender.stop();
                }
            }
            if acked {
                self.observer.on_ack(now, &self.plan.sender);
                if let Some(trace) = trace {
                    trace.record(now, &self.plan.sender, Some(&ack));
                }
                if self.note_end(now) {
                    break;
                }
            }
        }
        ring.tidy();
        self.next(ring).0.saturating_add(self.access.link.first_link_delay()).min(self.access.due())
    }

    /// Whether the place's transfer has ended with the ACK at `now`.
    #[inline]
    fn note_end(&mut self, now: Time) -> bool {
        if self.has_writes {
            self.note_writes(now);
        }
        let Some(place) = self.place.as_deref_mut() else { return false };
        let ends = place.open.is_some() && self.plan.sender.seq().is_done();
        if ends {
            place.ended = Some(now);
        }
        ends
    }

    /// Whether the application waits until its connection takes more data.
    #[inline]
    fn is_full(&self) -> bool {
        self.has_writes && self.plan.writes().is_some_and(FlowWrites::is_full)
    }

    /// Tells the application about the ACK at `now`, if it acknowledged everything or made room for data.
    #[cold]
    fn note_writes(&mut self, now: Time) {
        if let Some(due) = self.plan.acknowledged(now) {
            self.start = due;
        }
    }

    /// Time and kind of the next event; at the same instant ACKs come before timers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loop over all that happens at a sender")]
    fn next(&self, ring: &Ring) -> (Time, Next) {
        self.next_of(ring, self.plan.sender.deadline())
    }

    /// Time of the next event, without the sender's timer.
    #[inline(never)]
    fn before_timer(&self, ring: &Ring) -> Time {
        self.next_of(ring, Time::NEVER).0
    }

    /// [`Self::next`] for a sender whose timer expires at `timer`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as `next`")]
    fn next_of(&self, ring: &Ring, timer: Time) -> (Time, Next) {
        let mut next = (ring.peek().map_or(Time::NEVER, |rec| rec.time), Next::Record);
        let mut or = |at: Time, what: Next| {
            if at < next.0 {
                next = (at, what);
            }
        };
        if self.is_folded() {
            or(self.plan.receiver.deadline().saturating_add(self.return_delay), Next::DelayedAck);
        }
        or(timer, Next::Timer);
        or(self.start, Next::Start);
        or(self.stop, Next::Stop);
        next
    }

    /// Takes the header of packet `number`, which reaches the receiver, if the flow's packets carry headers.
    #[inline]
    fn take_header(&mut self, number: PacketNumber, headers: &mut Headers) {
        if let Some(header) = self.access.take_header(headers) {
            let seq = self.plan.receiver.segment(number);
            self.plan.receiver.on_header(seq, &header);
        }
    }

    /// Delivers a segment to the receiver. Returns whether it triggers `ack`.
    #[inline]
    fn deliver(&mut self, at: Time, rec: &Rec, marks: &Marks, ack: &mut Ack) -> bool {
        self.pass_receiver_warm(at, marks);
        self.delivered += 1;
        let seq = self.plan.receiver.segment(rec.number());
        let acknowledges = self.plan.receiver.on_segment(at, seq, rec.flags(), ack);
        self.meter.delivered(at, &self.plan);
        if self.has_writes {
            self.plan.delivered(at);
        }
        acknowledges
    }

    /// Records the receiver's state at the end of the warm-up, if `at` is the first event at or after that time.
    #[inline]
    fn pass_receiver_warm(&mut self, at: Time, marks: &Marks) {
        if !self.is_receiver_warm && at >= marks.warmup {
            self.note_receiver_warm();
        }
    }

    #[cold]
    fn note_receiver_warm(&mut self) {
        self.is_receiver_warm = true;
        self.meter.receiver_warm(self.plan.receiver.delivered());
    }

    /// Runs a timer of the receiver. Returns whether it triggers `ack`.
    fn time_receiver(&mut self, at: Time, marks: &Marks, ack: &mut Ack) -> bool {
        self.pass_receiver_warm(at, marks);
        let acknowledges = self.plan.receiver.on_timer(at, ack);
        self.meter.delivered(at, &self.plan);
        if self.has_writes {
            self.plan.delivered(at);
        }
        acknowledges
    }

    /// Runs the receiver's timers before `at`; their ACKs no longer reach the sender.
    fn time_receiver_before(&mut self, at: Time, marks: &Marks) {
        let mut ack = Ack::NONE;
        while self.plan.receiver.deadline() < at {
            let _ = self.time_receiver(self.plan.receiver.deadline(), marks, &mut ack);
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
        let mut ack = Ack::NONE;
        loop {
            let limit = if self.is_receiver_warm { until } else { until.min(marks.warmup) };
            if self.receive_in_order(ring, bucket, limit) {
                continue;
            }
            let record = ring.peek().map_or(Time::NEVER, |rec| rec.time);
            let timer = self.plan.receiver.deadline();
            let at = record.min(timer);
            if at >= until {
                ring.tidy();
                return at;
            }
            let acknowledged = if record <= timer {
                ring.pop().is_some_and(|rec| {
                    #[cfg(test)]
                    runs::SINGLE.set(runs::SINGLE.get() + 1);
                    self.take_header(rec.number(), headers);
                    self.deliver(at, &rec, marks, &mut ack)
                })
            } else {
                self.time_receiver(at, marks, &mut ack)
            };
            if acknowledged && let Some(acks) = self.acks.as_deref_mut() {
                bucket.push(Rec { time: at, tag: tag(self.access.id, acks.next(), Flags::ACK) });
                acks.push(&ack);
            }
        }
    }

    /// Takes the marks before `at`; the flow has processed all events before `at`. Afterwards the control may be
    /// changed from outside.
    pub fn pass_marks_before(&mut self, at: Time, marks: &Marks) {
        if self.next_mark < at {
            self.pass_marks(Time(at.0 - 1), marks);
        }
    }

    /// Takes the marks at or before `now`, with the sender's state before any event at the same instant.
    #[cold]
    fn pass_marks(&mut self, now: Time, marks: &Marks) {
        if now < self.next_mark {
            return;
        }
        // There is no sample between a mark and the mark before it.
        let mut sample = marks.sample_from(self.next_mark);
        if !self.meter.is_sampled(&self.plan.sender) {
            // A flow that has not started, or has ended, has no samples; skip them all, however many they are.
            sample = sample.max(marks.sample_after(now));
        }
        while sample <= now && sample < marks.end {
            count_steps(1);
            self.meter.sample(sample, marks, &self.plan.sender);
            sample = marks.next_sample(sample);
        }
        if !self.is_warm && marks.warmup <= now {
            self.is_warm = true;
            self.meter.sender_warm(self.plan.sender.counters(), self.plan.sender.info().spurious());
        }
        if self.is_folded() && self.return_delay <= now - Time::ZERO {
            self.pass_receiver_warm(now - self.return_delay, marks);
        }
        self.next_mark = self.mark_from(sample, marks);
    }

    /// The next mark, when the next sample is at `sample`.
    fn mark_from(&self, sample: Time, marks: &Marks) -> Time {
        let next = if sample < marks.end { sample } else { Time::NEVER };
        let next = if self.is_warm { next } else { next.min(marks.warmup) };
        if self.is_folded() && !self.is_receiver_warm { next.min(marks.warmup + self.return_delay) } else { next }
    }

    /// Ends the run: delivers what the receiver still gets before the end, and returns the result. Packets still on their
    /// way are those in `senders` and `receivers` (this flow's rings) and those held here.
    pub fn finish(mut self, senders: &Ring, receivers: &Ring, marks: &Marks, dropped: u64) -> FlowResult {
        let end = marks.end;
        self.pass_marks(Time(end.0 - 1), marks);
        let mut in_flight = self.access.in_flight();
        let mut ack = Ack::NONE;
        if self.is_folded() {
            for rec in senders.all() {
                let at = rec.time - self.return_delay;
                if at < end {
                    self.time_receiver_before(at, marks);
                    let _ = self.deliver(at, rec, marks, &mut ack);
                } else {
                    in_flight += 1;
                }
            }
            self.time_receiver_before(end, marks);
        } else {
            in_flight += receivers.len() as u64;
        }
        if !self.is_receiver_warm {
            self.note_receiver_warm();
        }
        let delivered = self.plan.receiver.delivered();
        let counters = self.plan.sender.counters();
        FlowResult {
            in_flight,
            sent: counters.sent,
            delivered: self.delivered,
            access_drops: self.access.drops().since_start,
            hash: self.observer.finish().0,
            tally: FinalTally {
                flow: self.flow,
                open: self.place.and_then(|place| place.open),
                writes: self.plan.take_writes(),
                fault: self.plan.sender.control().fault(),
                tally: Tally {
                    meter: self.meter,
                    bytes: None,
                    counters,
                    spurious: self.plan.sender.info().spurious(),
                    delivered,
                    dropped: dropped + self.access.drops().since_warmup,
                    delays: None,
                },
            },
        }
    }
}

//! A link of the window engine whose discipline chooses the flow to serve, or decides at departure. It processes
//! arrivals, departures and timers one by one, in the reference engine's order, and is compiled separately for each
//! discipline.

use super::core::LinkCore;
use super::fifo::TIMERS_BETWEEN_LOOKS;
use super::results::LinkResult;
use super::ring::{Rec, tag};
use super::service::Tx;
use super::shared::Shared;
use crate::cause_index;
use crate::hash::PacketFate;
use crate::ledger::Ledger;
use crate::marks::Marks;
use crate::meter::LinkTotals;
use crate::observer::Observer;
use crate::plan::LinkQueue;
use crate::probe::LinkSnapshot;
use base::steps::count_steps;
use base::{Flags, PacketNumber, Span, Time};
use queue::{AnyAdmission, AnyQueue, DropTail, Either, Fifo, Packet, QueueDiscipline, Visitor};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Local<Q> {
    queue: Either<AnyQueue, Q>,
    /// Whether a packet is in service; it leaves when the link is next free.
    busy: bool,
    waiting: BacklogIntegral,
    ledger: Ledger,
}

/// Backlog, and the integrals over time of its size and of its being nonempty. They are updated only when the backlog
/// changes: each packet contributes the instant it left minus the instant it joined. While packets wait, the sums can
/// be negative; they are unsigned and wrap around.
#[derive(Clone, Copy, Debug, Default)]
struct BacklogIntegral {
    packets: u32,
    sum: u128,
    nonempty: u64,
}

impl BacklogIntegral {
    /// Sets the number of waiting packets to `packets`; the fast path is one packet more than before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the hottest loop")]
    fn on_enqueue(&mut self, packets: u32, now: Time) {
        if packets == self.packets + 1 && self.packets > 0 {
            self.sum = self.sum.wrapping_sub(u128::from(now.0));
            self.packets = packets;
        } else if packets != self.packets {
            *self = self.resync(packets, now);
        }
    }

    /// Sets the number of waiting packets to `packets`; the fast path is one packet less than before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the hottest loop")]
    fn on_dequeue(&mut self, packets: u32, now: Time) {
        if packets + 1 == self.packets && packets > 0 {
            self.sum = self.sum.wrapping_add(u128::from(now.0));
            self.packets = packets;
        } else if packets != self.packets {
            *self = self.resync(packets, now);
        }
    }

    /// Sets the number of waiting packets to any value, also from or to zero. Takes `self` by value so that the loop
    /// can keep the sums in registers.
    #[cold]
    fn resync(self, packets: u32, now: Time) -> Self {
        let none = |packets| if packets == 0 { now.0 } else { 0 };
        let (joined, left) = (u128::from(packets) * u128::from(now.0), u128::from(self.packets) * u128::from(now.0));
        Self {
            packets,
            sum: self.sum.wrapping_add(left).wrapping_sub(joined),
            nonempty: self.nonempty.wrapping_add(none(packets)).wrapping_sub(none(self.packets)),
        }
    }

    /// The totals, with both integrals up to `at`.
    fn totals_at(&self, at: Time, totals: LinkTotals) -> LinkTotals {
        let still = if self.packets > 0 { at.0 } else { 0 };
        LinkTotals {
            waiting: self.sum.wrapping_add(u128::from(self.packets) * u128::from(at.0)),
            nonempty: self.nonempty.wrapping_add(still),
            ..totals
        }
    }
}

impl<Q: LinkQueue> Local<Q> {
    pub fn new(queue: Either<AnyQueue, Q>) -> Self {
        Self { queue, busy: false, waiting: BacklogIntegral::default(), ledger: Ledger::default() }
    }

    /// Drops and marks nothing from `now` on: serves the waiting packets and all arrivals first-in first-out. Shows `each`
    /// waiting packet.
    pub fn spare(&mut self, now: Time, mut each: impl FnMut(&Packet)) {
        let mut fifo = Fifo::new(AnyAdmission::from(DropTail::unlimited()));
        loop {
            let next = self.queue.dequeue(now, &mut self.ledger);
            // Packets that the discipline drops here are older than the next one.
            let dropped = self.ledger.dropped.drain(..).map(|(packet, _)| packet);
            for packet in dropped.chain(next) {
                each(&packet);
                fifo.enqueue(packet, None, &mut Ledger::default());
            }
            if next.is_none() {
                break;
            }
        }
        self.ledger.marked.clear();
        self.queue = Either::First(fifo.into());
    }

    /// Counts the data packets that still wait at the end.
    fn drain(&mut self) -> u64 {
        let mut packets = 0;
        let is_data = |packet: &Packet| u64::from(!packet.flags.has(Flags::ACK));
        while let Some(packet) = self.queue.dequeue(Time::NEVER, &mut self.ledger) {
            packets += is_data(&packet);
        }
        packets + self.ledger.dropped.drain(..).map(|(packet, _)| is_data(&packet)).sum::<u64>()
    }
}

impl<Q: LinkQueue> Local<Q> {
    /// Whether any packet waits.
    pub fn has_waiting(&self) -> bool {
        self.waiting.packets > 0
    }

    /// Number of waiting packets.
    pub fn waiting(&self) -> u32 {
        self.waiting.packets
    }

    /// Serves everything before `until`, with these arrivals. `built_in` serves a built-in discipline, see `Links`.
    pub fn serve<O: Observer>(
        &mut self,
        core: &mut LinkCore<O>,
        arrivals: &[Rec],
        until: Time,
        marks: &Marks,
        shared: &mut Shared,
        built_in: UnderBuiltIn<O>,
    ) {
        let Self { queue, busy, waiting, ledger } = self;
        let state = ServerState { busy: *busy, free: core.free, waiting: *waiting, begun: 0 };
        let serve = Serve { core: &mut *core, state, tx: Tx::default(), ledger, arrivals, until, marks, shared };
        let state = match queue {
            Either::First(queue) => built_in(queue, serve),
            Either::Second(queue) => serve.under(queue),
        };
        (*busy, *waiting, core.free) = (state.busy, state.waiting, state.free);
    }

    /// Ends the run and returns the result.
    pub fn finish<O: Observer>(
        &mut self,
        core: &mut LinkCore<O>,
        marks: &Marks,
        shared: &mut Shared,
        built_in: UnderBuiltIn<O>,
    ) -> LinkResult {
        // Runs the remaining timers of an empty queue, for which no earlier call was due, and the last marks.
        self.serve(core, &[], marks.end, marks, shared, built_in);
        LinkResult {
            totals: self.waiting.totals_at(marks.end, core.totals),
            most_waiting: core.most_seen,
            still_waiting: self.drain(),
        }
    }
}

/// Function that serves everything under a built-in discipline.
pub type UnderBuiltIn<O> = fn(&mut AnyQueue, Serve<'_, O, false, false>) -> ServerState;

/// State that changes with every packet; passed by value so that it can stay in registers.
#[derive(Clone, Copy)]
pub struct ServerState {
    busy: bool,
    free: Time,
    waiting: BacklogIntegral,
    /// Services that have begun but are not yet in the link's totals.
    begun: u64,
}

/// Serves everything before `until`. On a `PLAIN` link, all packets have the same size and are not observed, and there
/// are no injected losses and no headers. Most links are plain, and there most fields of a packet are not needed. On a
/// `SCHEDULED` link a schedule may decide how long each packet takes.
pub struct Serve<'a, O, const PLAIN: bool, const SCHEDULED: bool> {
    core: &'a mut LinkCore<O>,
    state: ServerState,
    /// Size and service time of every packet, on a plain link.
    tx: Tx,
    ledger: &'a mut Ledger,
    arrivals: &'a [Rec],
    until: Time,
    marks: &'a Marks,
    shared: &'a mut Shared,
}

impl<'a, O: Observer> Serve<'a, O, false, false> {
    /// Serves everything under `queue`, with the code for this kind of link.
    pub fn under<Q: QueueDiscipline>(self, queue: &mut Q) -> ServerState {
        // Few links are observed, so they share one compiled version; each version adds about a second to the compile
        // time.
        if O::ACTIVE {
            return queue.visit(self.of_kind::<false, true>());
        }
        match self.core.plain_service() {
            Some(tx) => queue.visit(Serve { tx, ..self }.of_kind::<true, false>()),
            None if self.core.schedule.is_none() => queue.visit(self),
            None => queue.visit(self.of_kind::<false, true>()),
        }
    }

    fn of_kind<const PLAIN: bool, const SCHEDULED: bool>(self) -> Serve<'a, O, PLAIN, SCHEDULED> {
        let Self { core, state, tx, ledger, arrivals, until, marks, shared } = self;
        Serve { core, state, tx, ledger, arrivals, until, marks, shared }
    }
}

impl<O: Observer, const PLAIN: bool, const SCHEDULED: bool> Visitor for Serve<'_, O, PLAIN, SCHEDULED> {
    type Out = ServerState;

    fn visit<Q: QueueDiscipline>(mut self, queue: &mut Q) -> ServerState {
        let (mut arrivals, until, mut timers) = (self.arrivals, self.until, 0u32);
        loop {
            // Before `stop` there are only arrivals and departures.
            let stop = until.min(self.core.next_mark).min(queue.next_wakeup());
            let left = self.run(queue, arrivals, stop);
            self.count(arrivals.len() - left.len());
            arrivals = left;
            let wake = queue.next_wakeup();
            let free = if self.state.busy { self.state.free } else { Time::NEVER };
            let now = wake.min(free).min(arrivals.first().map_or(Time::NEVER, |rec| rec.time));
            if now >= until {
                if until >= self.marks.end {
                    self.pass_marks(Time(until.0 - 1), queue);
                }
                return self.state;
            }
            if now >= self.core.next_mark {
                self.pass_marks(now, queue);
            }
            if wake == now {
                timers = timers.wrapping_add(1);
                count_steps(1);
                // After a pause millions of timers may be due.
                if timers.is_multiple_of(TIMERS_BETWEEN_LOOKS) && self.shared.monitor.is_stopped() {
                    return self.state;
                }
                queue.on_wakeup(now, self.state.idle_since(), self.ledger);
                self.state.waiting.on_dequeue(queue.backlog().packets, now);
                self.count_fates(now, None);
            }
        }
    }
}

impl ServerState {
    #[inline]
    fn idle_since(&self) -> Option<Time> {
        (!self.busy).then_some(self.free)
    }
}

impl<'a, O: Observer, const PLAIN: bool, const SCHEDULED: bool> Serve<'a, O, PLAIN, SCHEDULED> {
    /// Runs arrivals and departures before `stop`, or until a timer is set that expires earlier. Returns the remaining
    /// arrivals.
    #[inline]
    fn run<Q: QueueDiscipline>(&mut self, queue: &mut Q, mut arrivals: &'a [Rec], mut stop: Time) -> &'a [Rec] {
        let mut state = self.state;
        loop {
            let at = arrivals.first().map_or(Time::NEVER, |rec| rec.time);
            if state.busy && state.free <= at {
                let now = state.free;
                if now >= stop {
                    break;
                }
                let next = queue.dequeue(now, self.ledger);
                self.begin(&mut state, now, next, true);
                state.waiting.on_dequeue(queue.backlog().packets, now);
                self.count_fates(now, None);
            } else {
                let Some((rec, later)) = arrivals.split_first().filter(|_| at < stop) else { break };
                arrivals = later;
                self.arrive(&mut state, rec, queue);
            }
            stop = stop.min(queue.next_wakeup());
        }
        self.state = state;
        arrivals
    }

    /// Updates the totals after the loop. On a plain link the loop does not count arrivals and bytes, because all
    /// packets have one size.
    fn count(&mut self, arrived: usize) {
        let begun = std::mem::take(&mut self.state.begun);
        self.core.totals.begun += begun;
        if PLAIN {
            self.core.totals.arrived += arrived as u64;
            self.core.totals.begun_bytes += begun * u64::from(self.tx.size);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the hottest loop")]
    fn arrive<Q: QueueDiscipline>(&mut self, state: &mut ServerState, rec: &Rec, queue: &mut Q) {
        let mut header = None;
        if !PLAIN {
            self.core.totals.arrived += 1;
            header = self.core.header_of(rec, self.shared);
            let packet = Packet::new(rec.flow(), rec.number().0, 0, rec.time).with(rec.flags());
            self.core.observer.on_arrival(&packet, queue.backlog().packets);
            if self.core.ingress.is_some()
                && let Some(cause) = self.core.turns_away(rec)
                && !(O::ACTIVE && self.core.observer.spares())
            {
                self.core.observer.on_drop(&packet, rec.time);
                self.core.observer.on_fate(&packet, PacketFate::Dropped);
                return self.core.count_drop(rec, cause, self.marks, self.shared);
            }
        }
        let size = if PLAIN { self.tx.size } else { self.core.tx_of(rec.flow(), rec.number()).size };
        let mut packet = Packet::new(rec.flow(), rec.number().0, size, rec.time).with(rec.flags());
        if let Some(header) = header {
            packet.header = header;
        }
        match state.idle_since() {
            None => queue.enqueue(packet, None, self.ledger),
            Some(since) => {
                let next = queue.pass(packet, since, self.ledger);
                self.begin(state, rec.time, next, false);
            }
        }
        let packets = queue.backlog().packets;
        if packets > self.core.most_seen {
            self.core.most_seen = packets;
        }
        state.waiting.on_enqueue(packets, rec.time);
        self.count_fates(rec.time, Some(&packet));
    }

    /// Puts the next packet, if there is one, into service. `follows`: it follows a packet that just left; otherwise the
    /// link was idle.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the hottest loop")]
    fn begin(&mut self, state: &mut ServerState, now: Time, next: Option<Packet>, follows: bool) {
        state.busy = next.is_some();
        let Some(packet) = next else { return };
        state.begun += 1;
        let scheduled = SCHEDULED && self.core.schedule.is_some();
        state.free = if scheduled {
            self.core.scheduled(now, follows, packet.size)
        } else {
            now + if PLAIN { self.tx.time } else { self.core.time_of(&packet) }
        };
        self.core.observer.on_service(&packet, now, state.free);
        if !PLAIN {
            self.core.totals.begun_bytes += u64::from(packet.size);
            if !self.core.flows.lanes.is_empty() {
                self.core.put_header(&packet, self.shared);
            }
        }
        let tag = tag(packet.flow, PacketNumber(packet.token), packet.flags);
        if scheduled {
            self.core.hand_over(state.free, packet.flow, tag, self.shared);
        } else {
            self.shared.push(self.core.route(packet.flow), state.free, tag);
        }
    }

    /// Counts the drops and marks of the discipline in one call.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the hottest loop")]
    fn count_fates(&mut self, now: Time, arrival: Option<&Packet>) {
        if !self.ledger.is_empty() {
            self.count_drops_and_marks(now, arrival.copied());
        } else if let Some(packet) = arrival {
            self.core.observer.on_fate(packet, PacketFate::Accepted);
        }
    }

    /// Takes the arrival by value, so that the caller can keep the packet in registers.
    #[cold]
    fn count_drops_and_marks(&mut self, now: Time, arrival: Option<Packet>) {
        self.core.observer.on_fates(self.ledger, now, arrival.as_ref());
        for (packet, cause) in self.ledger.dropped.drain(..) {
            self.core.observer.on_drop(&packet, now);
            let rec = Rec { time: now, tag: tag(packet.flow, PacketNumber(packet.token), packet.flags) };
            self.core.count_drop(&rec, cause, self.marks, self.shared);
        }
        for (_, cause) in self.ledger.marked.drain(..) {
            self.core.totals.marked[cause_index(cause)] += 1;
        }
    }

    #[cold]
    fn pass_marks<Q: QueueDiscipline>(&mut self, now: Time, queue: &Q) {
        while self.core.next_mark <= now {
            let at = self.core.next_mark;
            let totals = self.state.waiting.totals_at(at, self.core.totals);
            let serving = if self.state.busy { self.state.free.since(at) } else { Span::ZERO };
            let snapshot = LinkSnapshot { backlog: queue.backlog(), serving };
            self.core.pass_mark(at, self.marks, totals, &snapshot, |put| queue.gauges(put));
            self.core.next_mark = self.core.mark_after(at, Time::NEVER, self.marks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integrals at 100, if the number of waiting packets changes as given in `changes`: instant and number.
    fn integrals(changes: &[(u64, u32)]) -> (u128, u64) {
        let mut waiting = BacklogIntegral::default();
        for &(at, packets) in changes {
            if packets > waiting.packets {
                waiting.on_enqueue(packets, Time(at));
            } else {
                waiting.on_dequeue(packets, Time(at));
            }
        }
        let totals = waiting.totals_at(Time(100), LinkTotals::default());
        (totals.waiting, totals.nonempty)
    }

    #[test]
    fn integrals_are_those_of_the_step_function() {
        // One packet for 10, two for 5, one for 5, none for 20, one for the last 50.
        assert_eq!(integrals(&[(10, 1), (20, 2), (25, 1), (30, 0), (50, 1)]), (10 + 10 + 5 + 50, 20 + 50));
        assert_eq!(integrals(&[(10, 1), (99, 0)]), (89, 89));
        assert_eq!(integrals(&[]), (0, 0));
    }

    #[test]
    fn several_packets_may_join_or_leave_at_once() {
        // Five packets for 10, two for 10, then none, and three for the last 60.
        assert_eq!(integrals(&[(10, 5), (20, 2), (30, 0), (40, 3)]), (50 + 20 + 180, 20 + 60));
        assert_eq!(integrals(&[(10, 1), (20, 4), (30, 1)]), (10 + 40 + 70, 90));
    }
}

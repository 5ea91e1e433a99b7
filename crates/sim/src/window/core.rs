//! Common part of the links of the window engine, however they serve packets: clock, totals, routes, measurements.

use super::flow_table::FlowTable;
use super::headers::NONE;
use super::ring::Rec;
use super::service::{Service, Tx};
use super::shared::Shared;
use crate::handover::Handover;
use crate::ingress::Ingress;
use crate::marks::Marks;
use crate::meter::LinkTotals;
use crate::observer::Observer;
use crate::probe::{LinkSnapshot, Probe};
use crate::{TraceDrop, cause_index};
use base::{Cause, Flags, Header, PacketNumber, Span, Time};
use queue::{Packet, Schedule};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct LinkCore<O> {
    index: u32,
    pub flows: FlowTable,
    /// Time at which the packet in service, or the last one, leaves.
    pub free: Time,
    pub ingress: Option<Ingress>,
    /// Hand-over of packets behind the server; used only with a schedule.
    pub handover: Handover,
    /// Schedule, if the service time of packets varies.
    pub schedule: Option<Box<Schedule>>,
    pub most_seen: u32,
    /// Start of service of the last accepted packet, for the total of the time with a packet waiting.
    pub last_start: Time,
    pub totals: LinkTotals,
    pub totals_at_warmup: LinkTotals,
    next_sample: Time,
    /// The earliest of the end of the warm-up, the next sample and the expiry of the rule's timer.
    pub next_mark: Time,
    pub probe: Probe,
    pub observer: O,
}

/// Stages of a link before its queue and behind it.
#[derive(Debug, Default)]
pub struct Stages {
    pub ingress: Option<Ingress>,
    pub schedule: Option<Schedule>,
    pub handover: Handover,
}

impl<O: Observer> LinkCore<O> {
    /// `timer`: expiry time of the rule's timer.
    pub fn new(
        index: u32,
        flows: FlowTable,
        Stages { ingress, schedule, handover }: Stages,
        timer: Time,
        marks: &Marks,
        mut probe: Probe,
    ) -> Self {
        let next_sample = marks.sample_from(Time::ZERO);
        Self {
            index,
            flows,
            free: Time::ZERO,
            ingress,
            handover,
            schedule: schedule.map(Box::new),
            most_seen: 0,
            last_start: Time::ZERO,
            totals: LinkTotals::default(),
            totals_at_warmup: LinkTotals::default(),
            next_sample,
            next_mark: next_sample.min(marks.warmup).min(timer),
            observer: O::new(probe.first, probe.tracer.take()),
            probe,
        }
    }

    /// Size and service time of packet `number` of `flow` here.
    #[inline]
    pub fn tx_of(&self, flow: u32, number: PacketNumber) -> Tx {
        match &self.flows.service {
            Service::One(tx) => *tx,
            service @ Service::Each(..) => service.of(self.flows.places.of(flow), number),
        }
    }

    /// Transmission time of `packet`, whose size is known.
    #[inline]
    pub fn time_of(&self, packet: &Packet) -> Span {
        self.flows.service.time_of(|| self.flows.places.of(packet.flow), packet)
    }

    /// The next ring for packets of `flow`.
    #[inline]
    pub fn route(&self, flow: u32) -> u32 {
        self.flows.route(flow)
    }

    /// Whether only the queue drops packets here, no packet carries a header, and each flow's packets have a constant
    /// service time.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.ingress.is_none() && self.flows.lanes.is_empty() && self.schedule.is_none()
    }

    /// Size and service time of every packet, if this is a plain link with equal packets.
    pub fn plain_service(&self) -> Option<Tx> {
        match self.flows.service {
            Service::One(tx) if self.is_plain() => Some(tx),
            _ => None,
        }
    }

    /// Departure time of `packet`, whose service begins at `start`, on a link with a schedule. `follows`: it follows
    /// another packet without a pause; otherwise it found the link idle.
    #[inline]
    pub fn scheduled(&mut self, start: Time, follows: bool, size: u32) -> Time {
        self.schedule.as_mut().map_or(start, |schedule| schedule.finish(start, follows, size))
    }

    /// Hands over a packet of `flow` that leaves the server at `end`, on a link with a schedule.
    #[inline]
    pub fn hand_over(&mut self, end: Time, flow: u32, tag: u64, shared: &mut Shared) {
        let (ring, left) = (self.flows.route(flow), self.handover.left(end));
        let Some(delay) = self.handover.varying() else { return shared.push(ring, left, tag) };
        let out = delay.passed(left);
        if delay.reorders() {
            self.hand_over_late(ring, out, flow, tag, shared);
        } else {
            shared.push(ring, out, tag);
        }
    }

    /// Hands over a packet that others may overtake. Its header is the last one in its lane.
    #[inline(never)]
    fn hand_over_late(&self, ring: u32, out: Time, flow: u32, tag: u64, shared: &mut Shared) {
        let lane = if self.flows.lanes.is_empty() { NONE } else { self.lane(flow, Rec { time: out, tag }.flags()) };
        let header = (lane != NONE).then(|| (lane + 1, shared.headers.take_back(lane + 1)));
        shared.push_late(ring, out, tag, header);
    }

    /// Cause for which the arrival just counted is dropped before it reaches the queue; `None` if it is not dropped.
    pub fn turns_away(&mut self, rec: &Rec) -> Option<Cause> {
        let size = self.tx_of(rec.flow(), rec.number()).size;
        self.ingress.as_mut()?.drops(rec.time, self.totals.arrived, size)
    }

    /// Counts the drop of the arrival `rec`.
    #[cold]
    pub fn count_drop(&mut self, rec: &Rec, cause: Cause, marks: &Marks, shared: &mut Shared) {
        self.count_drops(std::iter::once(rec), cause, marks, shared);
    }

    /// Counts several drops.
    #[inline]
    pub fn count_drops<'a>(
        &mut self,
        recs: impl Iterator<Item = &'a Rec>,
        cause: Cause,
        marks: &Marks,
        shared: &mut Shared,
    ) {
        let (mut all, mut data) = (0, 0);
        for rec in recs {
            all += 1;
            if !rec.is_data() {
                continue;
            }
            data += 1;
            let f = rec.flow() as usize;
            if rec.time >= marks.warmup {
                shared.dropped[f] += 1;
                self.probe.losses.on_drop(rec.time, self.flows.places.of(rec.flow()));
            }
            if let Some(Some(trace)) = shared.traces.get_mut(f) {
                trace.drops.push(TraceDrop { time: rec.time, link: self.index, seq: rec.number().0.into() });
            }
        }
        self.totals.dropped[cause_index(cause)] += all;
        shared.dropped_total += data;
    }

    /// Takes the header of the arrival `rec`, on a link with headers.
    #[inline]
    pub fn header_of(&self, rec: &Rec, shared: &mut Shared) -> Option<Header> {
        (!self.flows.lanes.is_empty()).then(|| self.take_header(rec, shared))
    }

    /// Takes the header of the arrival `rec`. ACKs have none.
    #[cold]
    fn take_header(&self, rec: &Rec, shared: &mut Shared) -> Header {
        match self.lane(rec.flow(), rec.flags()) {
            NONE => Header::NONE,
            lane => shared.headers.take(lane),
        }
    }

    /// Passes on the header of `packet`.
    #[cold]
    pub fn put_header(&self, packet: &Packet, shared: &mut Shared) {
        let lane = self.lane(packet.flow, packet.flags);
        if lane != NONE {
            shared.headers.put(lane + 1, packet.header);
        }
    }

    fn lane(&self, flow: u32, flags: Flags) -> u32 {
        if flags.has(Flags::ACK) { NONE } else { self.flows.lanes[self.flows.places.of(flow)] }
    }

    /// Whether a measurement is due at `at`. A timer of the rule needs no measurement, and a measurement costs a search
    /// of the waiting packets.
    pub fn is_mark(&self, at: Time, marks: &Marks) -> bool {
        at == marks.warmup || at == self.next_sample
    }

    /// Records the mark at `at` with the totals and the state of the link at that time.
    pub fn pass_mark(
        &mut self,
        at: Time,
        marks: &Marks,
        totals: LinkTotals,
        snapshot: &LinkSnapshot,
        gauges: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) {
        if at == marks.warmup {
            self.totals_at_warmup = totals;
            self.most_seen = snapshot.backlog.packets;
        }
        if at == self.next_sample {
            self.probe.samples.take(at, marks, snapshot, totals.begun_bytes);
            self.probe.samples.gauges(gauges);
            self.next_sample = marks.sample_after(at);
        }
    }

    /// The next mark after the one at `at`, if the rule's timer expires at `timer`.
    pub fn mark_after(&self, at: Time, timer: Time, marks: &Marks) -> Time {
        let next = self.next_sample.min(timer);
        let next = if at < marks.warmup { next.min(marks.warmup) } else { next };
        // A mark at or after the end never happens.
        if next >= marks.end { Time::NEVER } else { next }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow_table::FlowPlaces;
    use super::*;
    use crate::ingress::InjectedLoss;
    use crate::observer::NoObserver;
    use crate::plan::ProbePlan;
    use crate::probe::ServerModel;
    use base::Rate;
    use scenario::Loss;

    /// A link that flows 7 and 9 cross, measured from 50 to 100 ps with a sample every 20 ps; the rule's timer expires at
    /// 15 ps.
    fn core() -> (LinkCore<NoObserver>, Marks) {
        let marks = Marks { warmup: Time(50), end: Time(100), every: Some(Span(20)) };
        let service = Service::One(Tx { size: 1000, time: Span(8), is_ack: false });
        let flows = FlowTable {
            places: FlowPlaces::new([7, 9].into_iter()),
            routes: vec![3, u32::MAX, 4],
            service,
            lanes: Vec::new(),
        };
        let probe = Probe::new(ServerModel::Rate(Rate(1)), ProbePlan::default(), &marks, true);
        (LinkCore::new(2, flows, Stages::default(), Time(15), &marks, probe), marks)
    }

    #[test]
    fn tables_have_at_most_four_times_as_many_places_as_flows() {
        let near = FlowPlaces::new([7, 9, 9, 14].into_iter());
        assert_eq!(([7, 9, 14].map(|flow| near.of(flow)), near.count()), ([0, 2, 7], 8));
        let far = FlowPlaces::new([7, 9, 9, 20_000].into_iter());
        assert_eq!(([7, 9, 20_000].map(|flow| far.of(flow)), far.count()), ([0, 1, 2], 3));
        assert_eq!(FlowPlaces::new(std::iter::empty()).count(), 0);
    }

    #[test]
    fn marks_are_samples_the_end_of_the_warm_up_and_timers_before_the_end() {
        let (mut core, marks) = core();
        let (mut passed, mut timer) = (Vec::new(), Time(15));
        while core.next_mark != Time::NEVER {
            let at = core.next_mark;
            passed.push(at.0);
            if core.is_mark(at, &marks) {
                core.pass_mark(at, &marks, LinkTotals::default(), &LinkSnapshot::default(), |_| ());
            }
            if timer == at {
                timer = Time(at.0 + 35);
            }
            core.next_mark = core.mark_after(at, timer, &marks);
        }
        // The timer expires at 15, 50 (together with the end of the warm-up) and 85.
        assert_eq!(passed, [0, 15, 20, 40, 50, 60, 80, 85]);
        let series = core.probe.samples.series.expect("asked for");
        assert_eq!(series.backlog.len(), 5);
    }

    #[test]
    fn totals_and_the_largest_backlog_count_from_the_warm_up() {
        let (mut core, marks) = core();
        core.most_seen = 9;
        let totals = LinkTotals { arrived: 12, ..LinkTotals::default() };
        let mut snapshot = LinkSnapshot::default();
        snapshot.backlog.packets = 4;
        core.pass_mark(Time(40), &marks, totals, &snapshot, |_| ());
        assert_eq!((core.most_seen, core.totals_at_warmup.arrived), (9, 0));
        core.pass_mark(Time(50), &marks, totals, &snapshot, |_| ());
        assert_eq!((core.most_seen, core.totals_at_warmup.arrived), (4, 12));
    }

    #[test]
    fn data_that_is_dropped_counts_for_its_flow_from_the_warm_up_and_acks_do_not() {
        let (mut core, marks) = core();
        let mut shared = Shared { dropped: vec![0; 10], traces: (0..10).map(|_| None).collect(), ..Shared::default() };
        for (time, flow, flags) in [(49, 7, Flags::NONE), (50, 7, Flags::NONE), (60, 9, Flags::ACK)] {
            let rec = Rec { time: Time(time), tag: super::super::ring::tag(flow, PacketNumber(1), flags) };
            core.count_drop(&rec, Cause::Overflow, &marks, &mut shared);
        }
        assert_eq!(core.totals.dropped[cause_index(Cause::Overflow)], 3);
        assert_eq!((shared.dropped_total, shared.dropped[7], shared.dropped[9]), (2, 1, 0));
        assert_eq!((core.route(7), core.route(9), core.tx_of(9, PacketNumber(0)).size), (3, 4, 1000));
    }

    #[test]
    fn every_third_arrival_is_lost_where_the_scenario_says_so() {
        let (mut core, _) = core();
        let stream = base::Stream::new(1, 0, ("link", 0), "loss");
        core.ingress = Ingress::new(Some(InjectedLoss::new(&Loss::Every(3), stream)), None);
        let lost = (1..=7).map(|arrived| {
            core.totals.arrived = arrived;
            let rec = Rec { time: Time(arrived), tag: super::super::ring::tag(7, PacketNumber(1), Flags::NONE) };
            core.turns_away(&rec).is_some()
        });
        assert_eq!(lost.collect::<Vec<_>>(), [false, false, true, false, false, true, false]);
    }
}

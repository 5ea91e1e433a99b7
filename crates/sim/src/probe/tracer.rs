//! Single packets at a link: a row for every data packet that arrives in the given intervals, and a histogram of all
//! waiting times. They are off by default, because they force the window engine to look at every packet.

use crate::histogram::Histogram;
use crate::marks::Marks;
use crate::plan::ProbePlan;
use crate::{PacketRow, PacketTrace};
use base::{Flags, PacketNumber, Time};
use queue::Packet;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// A packet that is still at the link: its identity and its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Present {
    flow: u32,
    number: u32,
    arrived: Time,
    row: usize,
}

/// Waiting times in picoseconds: of every packet, and of the data of each group of flows.
#[derive(Clone, Debug, Default)]
pub struct DelayHistograms {
    pub all: Histogram,
    /// Histogram of each group, up to the last group with a packet.
    pub by_group: Vec<Histogram>,
}

#[derive(Clone, Debug)]
struct GroupDelays {
    /// Number of the first sender of each group except the first group.
    first_senders: Arc<[u32]>,
    counted: DelayHistograms,
}

impl GroupDelays {
    fn count(&mut self, packet: &Packet, now: Time) {
        let waited = (now - packet.arrived).0;
        self.counted.all.count(waited);
        if packet.flags.has(Flags::ACK) {
            return;
        }
        let group = self.first_senders.partition_point(|&first| first <= packet.flow);
        if self.counted.by_group.len() <= group {
            self.counted.by_group.resize_with(group + 1, Histogram::default);
        }
        self.counted.by_group[group].count(waited);
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct PacketTracer {
    /// Time spans in which arrivals are recorded.
    recorded: Vec<Range<Time>>,
    /// The number of the first segment of every flow; and for each flow, the number of its last arrival.
    first: u64,
    last: Vec<u64>,
    rows: Vec<PacketRow>,
    present: BTreeSet<Present>,
    delays: Option<GroupDelays>,
    /// Time span in which waiting times are counted.
    measured: Range<Time>,
}

impl PacketTracer {
    pub fn new(plan: ProbePlan, marks: &Marks) -> Self {
        Self {
            recorded: plan.packets,
            first: plan.first,
            last: Vec::new(),
            rows: Vec::new(),
            present: BTreeSet::new(),
            delays: plan
                .delays
                .then(|| GroupDelays { first_senders: plan.groups, counted: DelayHistograms::default() }),
            measured: marks.warmup..marks.end,
        }
    }

    /// Notes that `packet` arrives and finds `backlog` packets waiting.
    pub fn on_arrival(&mut self, packet: &Packet, backlog: u32) {
        let now = packet.arrived;
        if packet.flags.has(Flags::ACK) || self.recorded.is_empty() {
            return;
        }
        // This is done between the intervals too: a 32-bit number is extended to the full number nearest to that of the
        // flow's previous packet.
        let seq = self.count(packet) - self.first;
        if !self.recorded.iter().any(|interval| interval.contains(&now)) {
            return;
        }
        let flow = packet.flow;
        self.present.insert(Present { flow, number: packet.token, arrived: now, row: self.rows.len() });
        let flags = packet.flags;
        self.rows.push(PacketRow {
            time: now,
            flow,
            seq,
            backlog,
            left: Time::NEVER,
            dropped: false,
            marked: false,
            flags,
        });
    }

    /// The full number of an arriving data packet.
    fn count(&mut self, packet: &Packet) -> u64 {
        let flow = packet.flow as usize;
        if self.last.len() <= flow {
            self.last.resize(flow + 1, self.first);
        }
        self.last[flow] = PacketNumber(packet.token).near(self.last[flow]);
        self.last[flow]
    }

    /// Notes that service of `packet` begins at `now`. Nothing is recorded at or after the end of the run.
    pub fn on_service(&mut self, packet: &Packet, now: Time) {
        if now >= self.measured.end {
            return;
        }
        self.left(packet, now, false);
        if now >= self.measured.start
            && let Some(delays) = &mut self.delays
        {
            delays.count(packet, now);
        }
    }

    /// Notes that `packet` is dropped at `now`.
    pub fn on_drop(&mut self, packet: &Packet, now: Time) {
        self.left(packet, now, true);
    }

    fn left(&mut self, packet: &Packet, now: Time, dropped: bool) {
        let key = |row| Present { flow: packet.flow, number: packet.token, arrived: packet.arrived, row };
        let mut same = self.present.range(key(0)..=key(usize::MAX));
        // A segment may arrive twice at one instant: a packet dropped on arrival is the later one, a packet that leaves the
        // earlier one.
        let found = if dropped && now == packet.arrived { same.next_back() } else { same.next() };
        if let Some(&found) = found {
            self.present.remove(&found);
            let row = &mut self.rows[found.row];
            (row.left, row.dropped) = (now, dropped);
            row.marked = packet.flags.has(Flags::CE) && !row.flags.has(Flags::CE);
        }
    }

    /// The recorded packets, and the histograms of waiting times in picoseconds; both are empty unless asked for.
    pub fn finish(self, link: u32) -> (Option<PacketTrace>, DelayHistograms) {
        let trace = (!self.recorded.is_empty()).then_some(PacketTrace { link, member: 0, rows: self.rows });
        (trace, self.delays.map(|delays| delays.counted).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Departure time of each segment and whether it was dropped; all arrive at time 5.
    fn fates(happens: impl FnOnce(&mut PacketTracer, &Packet)) -> Vec<(u64, bool)> {
        let plan = ProbePlan { packets: vec![Time(0)..Time(10)], ..ProbePlan::default() };
        let marks = Marks { warmup: Time::ZERO, end: Time(20), every: None };
        let mut tracer = PacketTracer::new(plan, &marks);
        happens(&mut tracer, &Packet::new(0, 7, 1000, Time(5)));
        let (trace, _) = tracer.finish(0);
        trace.expect("asked for").rows.iter().map(|row| (row.left.0, row.dropped)).collect()
    }

    #[test]
    fn a_segment_that_arrives_twice_at_one_instant_has_two_rows_in_the_order_of_service() {
        // First the order of calls of the reference engine, then that of the window engine, which reports a packet's
        // start of service right after its arrival.
        let in_time = fates(|tracer, packet| {
            tracer.on_arrival(packet, 3);
            tracer.on_arrival(packet, 4);
            tracer.on_service(packet, Time(8));
            tracer.on_service(packet, Time(9));
        });
        let at_once = fates(|tracer, packet| {
            tracer.on_arrival(packet, 3);
            tracer.on_service(packet, Time(8));
            tracer.on_arrival(packet, 4);
            tracer.on_service(packet, Time(9));
        });
        assert_eq!(in_time, [(8, false), (9, false)]);
        assert_eq!(at_once, in_time);
    }

    #[test]
    fn of_two_equal_packets_the_one_dropped_on_arrival_is_the_later() {
        let full = fates(|tracer, packet| {
            tracer.on_arrival(packet, 4);
            tracer.on_arrival(packet, 5);
            tracer.on_drop(packet, Time(5));
            tracer.on_service(packet, Time(8));
        });
        assert_eq!(full, [(8, false), (5, true)]);
    }
}

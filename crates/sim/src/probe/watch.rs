//! Single packets at a link: a row for every data packet that arrives in the spans asked for, and every waiting time in
//! a histogram. Off unless asked for; engines take their slower way then.

use crate::histogram::Histogram;
use base::{Flags, Time};
use queue::Packet;
use std::collections::BTreeSet;

/// One data packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRow {
    /// When it arrived.
    pub time: Time,
    /// Its flow: position in [`Outcome::flows`](crate::Outcome::flows).
    pub flow: u32,
    /// Its sequence number.
    pub seq: u32,
    /// Packets that it found waiting.
    pub backlog: u32,
    /// When its service began, or it was dropped; [`Time::NEVER`] if it still waited when the run ended.
    pub left: Time,
    /// Whether it was dropped.
    pub dropped: bool,
}

/// The packets recorded at one link, in the order of their arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketTrace {
    /// Position in [`Outcome::links`](crate::Outcome::links).
    pub link: u32,
    /// Which of an array.
    pub member: u32,
    /// Its packets.
    pub rows: Vec<PacketRow>,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Watch {
    spans: Vec<(Time, Time)>,
    rows: Vec<PacketRow>,
    /// Packets that are still there: flow, sequence number, arrival and row.
    there: BTreeSet<(u32, u32, Time, usize)>,
    delays: Option<Histogram>,
    warmup: Time,
}

impl Watch {
    pub fn new(spans: Vec<(Time, Time)>, delays: bool, warmup: Time) -> Self {
        let delays = delays.then(Histogram::default);
        Self { spans, rows: Vec::new(), there: BTreeSet::new(), delays, warmup }
    }

    /// `packet` arrives and finds `backlog` packets waiting.
    pub fn arrived(&mut self, packet: &Packet, backlog: u32) {
        let now = packet.arrived;
        if packet.flags.has(Flags::ACK) || !self.spans.iter().any(|&(from, to)| from <= now && now < to) {
            return;
        }
        let (flow, seq) = (packet.flow, packet.token);
        self.there.insert((flow, seq, now, self.rows.len()));
        self.rows.push(PacketRow { time: now, flow, seq, backlog, left: Time::NEVER, dropped: false });
    }

    /// Service of `packet` begins at `now`, before the end of the run.
    pub fn began(&mut self, packet: &Packet, now: Time) {
        self.left(packet, now, false);
        if now >= self.warmup
            && let Some(delays) = &mut self.delays
        {
            delays.count((now - packet.arrived).0);
        }
    }

    /// `packet` is dropped at `now`.
    pub fn dropped(&mut self, packet: &Packet, now: Time) {
        self.left(packet, now, true);
    }

    fn left(&mut self, packet: &Packet, now: Time, dropped: bool) {
        let name = |row| (packet.flow, packet.token, packet.arrived, row);
        let mut same = self.there.range(name(0)..=name(usize::MAX));
        // A segment may arrive twice at one instant: what is dropped as it arrives is the later, what goes on the earlier.
        let found = if dropped && now == packet.arrived { same.next_back() } else { same.next() };
        if let Some(&found) = found {
            self.there.remove(&found);
            let row = &mut self.rows[found.3];
            (row.left, row.dropped) = (now, dropped);
        }
    }

    /// The packets recorded, and the histogram of waiting times in picoseconds, empty unless asked for.
    pub fn finish(self, link: u32) -> (Option<PacketTrace>, Vec<u64>) {
        let trace = (!self.spans.is_empty()).then_some(PacketTrace { link, member: 0, rows: self.rows });
        (trace, self.delays.unwrap_or_default().into_counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What became of segments that all arrived at 5: when each left, and whether it was dropped.
    fn fates(happens: impl FnOnce(&mut Watch, &Packet)) -> Vec<(u64, bool)> {
        let mut watch = Watch::new(vec![(Time(0), Time(10))], false, Time::ZERO);
        happens(&mut watch, &Packet::new(0, 7, 1000, Time(5)));
        let (trace, _) = watch.finish(0);
        trace.expect("asked for").rows.iter().map(|row| (row.left.0, row.dropped)).collect()
    }

    #[test]
    fn a_segment_that_arrives_twice_at_one_instant_has_two_rows_in_the_order_of_service() {
        // As the reference engine tells it, and as the window engine does: each with its end at once.
        let in_time = fates(|watch, packet| {
            watch.arrived(packet, 3);
            watch.arrived(packet, 4);
            watch.began(packet, Time(8));
            watch.began(packet, Time(9));
        });
        let at_once = fates(|watch, packet| {
            watch.arrived(packet, 3);
            watch.began(packet, Time(8));
            watch.arrived(packet, 4);
            watch.began(packet, Time(9));
        });
        assert_eq!(in_time, [(8, false), (9, false)]);
        assert_eq!(at_once, in_time);
    }

    #[test]
    fn of_two_that_are_the_same_the_one_dropped_as_it_arrives_is_the_later() {
        let full = fates(|watch, packet| {
            watch.arrived(packet, 4);
            watch.arrived(packet, 5);
            watch.dropped(packet, Time(5));
            watch.began(packet, Time(8));
        });
        assert_eq!(full, [(8, false), (5, true)]);
    }
}

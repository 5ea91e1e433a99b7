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
    /// Flow, sequence number, arrival and row of packets that are still there. Copies sent at once differ in their row only.
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

    /// Of copies that came at once the first is served first, and the last is dropped.
    fn left(&mut self, packet: &Packet, now: Time, dropped: bool) {
        let (flow, seq, at) = (packet.flow, packet.token, packet.arrived);
        let mut copies = self.there.range((flow, seq, at, 0)..=(flow, seq, at, usize::MAX));
        let found = if dropped { copies.next_back() } else { copies.next() };
        if let Some(&copy) = found {
            self.there.remove(&copy);
            self.rows[copy.3] = PacketRow { left: now, dropped, ..self.rows[copy.3] };
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

    #[test]
    fn copies_that_come_at_once_are_told_apart() {
        let mut watch = Watch::new(vec![(Time(0), Time(100))], true, Time(0));
        let packet = Packet::new(7, 3, 1000, Time(50));
        for backlog in [0, 1, 2] {
            watch.arrived(&packet, backlog);
        }
        watch.dropped(&packet, Time(50));
        watch.began(&packet, Time(60));
        watch.began(&packet, Time(70));
        let (trace, delays) = watch.finish(0);
        let fates: Vec<_> = trace.unwrap_or_default().rows.iter().map(|row| (row.left.0, row.dropped)).collect();
        assert_eq!(fates, [(60, false), (70, false), (50, true)]);
        assert_eq!((delays[10], delays[20]), (1, 1));
    }
}

//! A bottleneck in virtual time: the simulator's link, behind it a wire for each flow, and a way back that only delays.
//!
//! Source: none. Service begins and ends at the instants that rate and arrivals give, whenever somebody looks: a late
//! look makes packets late, never the link slower.

use crate::packet;
use crate::record::{Counters, Drop, Record, Sample};
use base::{Cause, Flags, Span, Time};
use queue::{AnyQueue, Fates, Link, Packet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes from which a packet carries data, and not only what two ends agree on before.
const DATA: usize = 1000;

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// To the servers, through the link.
    Forward,
    /// Back to the clients.
    Back,
}

/// A packet on its wire: when it is due, in which order it got there, where to, and where it lies.
type Flying = Reverse<(Time, u64, Side, u32)>;

/// See the [module](self).
#[derive(Debug)]
pub struct Line {
    link: Link<AnyQueue>,
    /// One way, of each flow: behind the link, and on the way back.
    wires: Vec<(Span, Span)>,
    slots: Slots,
    flying: BinaryHeap<Flying>,
    order: u64,
    /// Counters count from the first of these to the second.
    counts: (Time, Time),
    every: Span,
    next_sample: Time,
    begun_bytes: u64,
    record: Record,
}

/// Packets that are on the way, each in a place of its own.
#[derive(Debug, Default)]
struct Slots {
    list: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Slots {
    fn put(&mut self, packet: &[u8]) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.list.push(Vec::new());
            self.list.len() as u32 - 1
        });
        let place = &mut self.list[slot as usize];
        place.clear();
        place.extend_from_slice(packet);
        slot
    }
}

/// Drops and marks of one call of the link.
struct Heard<'a> {
    slots: &'a mut Slots,
    record: &'a mut Record,
    counts: (Time, Time),
}

impl Fates for Heard<'_> {
    fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time) {
        self.slots.free.push(packet.token);
        self.record.dropped(Drop { time: now, flow: packet.flow, cause }, counts(self.counts, now));
        if counts(self.counts, now) {
            self.record.counters.drops[cause as usize] += 1;
            self.record.flows[packet.flow as usize].drops[cause as usize] += 1;
        }
    }

    fn marked(&mut self, packet: &Packet, _cause: Cause, now: Time) {
        if counts(self.counts, now) {
            self.record.counters.marked += 1;
            self.record.flows[packet.flow as usize].marked += 1;
        }
    }
}

impl Line {
    /// A line with the `wires` of its flows (propagation behind the link, and back); counters count from the first time of
    /// `counts` to the second, samples are taken `every` so often until then.
    #[must_use]
    pub fn new(link: Link<AnyQueue>, wires: Vec<(Span, Span)>, counts: (Time, Time), every: Span) -> Self {
        let n = wires.len();
        let record = Record { flows: vec![Counters::default(); n], firsts: vec![None; n], ..Record::default() };
        Self {
            link,
            wires,
            slots: Slots::default(),
            flying: BinaryHeap::new(),
            order: 0,
            counts,
            every,
            next_sample: Time::ZERO,
            begun_bytes: 0,
            record,
        }
    }

    /// A packet comes from a client, at `now`, not earlier than anything before it.
    pub fn forward(&mut self, now: Time, flow: u32, bytes: &[u8]) {
        self.advance(now);
        let slot = self.slots.put(bytes);
        let packet = Packet::new(flow, slot, bytes.len() as u32, now).with(packet::flags(bytes));
        if bytes.len() >= DATA {
            self.record.firsts[flow as usize].get_or_insert(now);
        }
        if counts(self.counts, now) {
            self.record.counters.arrived += 1;
            self.record.flows[flow as usize].arrived += 1;
        }
        let began = self.link.offer(packet, &mut heard(&mut self.slots, &mut self.record, self.counts));
        self.begun(began, now);
        if counts(self.counts, now) {
            let waiting = self.link.backlog().packets;
            self.record.counters.most = self.record.counters.most.max(waiting);
        }
    }

    /// A packet comes from a server.
    pub fn back(&mut self, now: Time, flow: u32, bytes: &[u8]) {
        let slot = self.slots.put(bytes);
        self.fly(now + self.wires[flow as usize].1, Side::Back, slot);
    }

    /// Lets the link do all it does until `now`, that instant included.
    pub fn advance(&mut self, now: Time) {
        loop {
            let next = self.link.next_event().map_or(Time::NEVER, |event| event.at);
            self.sample_until(next.min(now));
            let mut fates = heard(&mut self.slots, &mut self.record, self.counts);
            let Some(step) = self.link.advance(now, &mut fates) else { return };
            if let Some(packet) = step.departed {
                if packet.flags.has(Flags::CE) {
                    packet::mark(&mut self.slots.list[packet.token as usize]);
                }
                self.fly(step.at + self.wires[packet.flow as usize].0, Side::Forward, packet.token);
            }
            self.begun(step.began, step.at);
        }
    }

    /// When the next packet is due somewhere, or the link has something to do.
    #[must_use]
    pub fn next(&self) -> Time {
        let due = self.flying.peek().map_or(Time::NEVER, |Reverse((due, ..))| *due);
        due.min(self.link.next_event().map_or(Time::NEVER, |event| event.at))
    }

    /// Whether anything is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flying.is_empty() && self.link.serving().is_none()
    }

    /// Hands `deliver` every packet that is due at `now`, oldest first, with where it goes; it says whether the packet
    /// was taken.
    pub fn deliver(&mut self, now: Time, mut deliver: impl FnMut(Side, &[u8]) -> bool) {
        self.advance(now);
        while let Some(&Reverse((due, _, side, slot))) = self.flying.peek()
            && due <= now
        {
            self.flying.pop();
            let taken = deliver(side, &self.slots.list[slot as usize]);
            self.slots.free.push(slot);
            if counts(self.counts, due) {
                self.record.punctuality.delivered(due, now);
                self.record.punctuality.refused += u64::from(!taken);
            }
        }
    }

    /// What is recorded, to be added to.
    pub fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    /// What was recorded.
    #[must_use]
    pub fn into_record(self) -> Record {
        self.record
    }

    fn fly(&mut self, due: Time, side: Side, slot: u32) {
        self.flying.push(Reverse((due, self.order, side, slot)));
        self.order += 1;
    }

    /// Counts what went into service at `now`.
    fn begun(&mut self, packet: Option<Packet>, now: Time) {
        let Some(packet) = packet else { return };
        self.begun_bytes += u64::from(packet.size);
        if !counts(self.counts, now) {
            return;
        }
        let waited = u128::from(now.since(packet.arrived).0);
        for counters in [&mut self.record.counters, &mut self.record.flows[packet.flow as usize]] {
            counters.begun += 1;
            counters.begun_bytes += u64::from(packet.size);
            counters.waited += waited;
        }
    }

    /// Takes the samples before `now`: nothing has changed since the last event.
    fn sample_until(&mut self, now: Time) {
        while self.next_sample < now.min(self.counts.1) && self.every > Span::ZERO {
            let backlog = self.link.backlog().packets;
            self.record.samples.push(Sample { time: self.next_sample, backlog, begun: self.begun_bytes });
            self.next_sample += self.every;
        }
    }
}

fn heard<'a>(slots: &'a mut Slots, record: &'a mut Record, counts: (Time, Time)) -> Heard<'a> {
    Heard { slots, record, counts }
}

fn counts((from, to): (Time, Time), now: Time) -> bool {
    from <= now && now < to
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Rate, Stream};
    use proptest::prelude::*;
    use queue::{Limit, Port, QueueSpec, replay};

    const RATE: Rate = Rate(100_000_000);

    fn queue(name: &str, limit: u32) -> AnyQueue {
        let port = Port { bdp: Some(500_000.0), ..Port::new(Limit::Packets(limit), RATE, 1500.0) };
        QueueSpec::named(name).unwrap().build(&port, Stream::new(1, 0, ("link", 0), "queue")).unwrap()
    }

    fn line(name: &str, limit: u32, wires: Vec<(Span, Span)>) -> Line {
        Line::new(Link::new(RATE, queue(name, limit)), wires, (Time::ZERO, Time::NEVER), Span::millis(1))
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::micros(us)
    }

    /// What is delivered until `now`: where, its first byte, and how many microseconds after the start.
    fn delivered(line: &mut Line, now: Time) -> Vec<(Side, u8)> {
        let mut list = Vec::new();
        line.deliver(now, |side, packet| {
            list.push((side, packet[0]));
            true
        });
        list
    }

    #[test]
    fn serves_at_the_rate_delays_and_drops_what_does_not_fit() {
        let mut line = line("drop-tail", 2, vec![(Span::millis(10), Span::millis(20))]);
        for i in 0..4 {
            // 1500 bytes take 120 us. One is served, two wait, one has no room.
            line.forward(at(0), 0, &[i; 1500]);
        }
        line.back(at(5), 0, &[9; 40]);
        assert_eq!(line.next(), at(120));
        assert_eq!(delivered(&mut line, at(10_119)), []);
        assert_eq!(delivered(&mut line, at(10_240)), [(Side::Forward, 0), (Side::Forward, 1)]);
        assert_eq!(delivered(&mut line, at(30_000)), [(Side::Forward, 2), (Side::Back, 9)]);
        assert!(line.is_empty());
        let record = line.into_record();
        let found = (record.counters.arrived, record.counters.begun, record.counters.drops, record.counters.most);
        assert_eq!(found, (4, 3, [1, 0, 0, 0, 0], 2));
        assert_eq!(record.counters.waited, u128::from(Span::micros(120 + 240).0));
        assert_eq!(record.drops, [Drop { time: at(0), flow: 0, cause: Cause::Overflow }]);
        // The third was due after 3 services and its wire; nobody looked until 30 ms.
        assert_eq!(record.punctuality.latest, Span::micros(30_000 - 10_360));
    }

    #[test]
    fn a_late_look_changes_nothing_but_lateness() {
        let run = |looks: &[u64]| {
            let mut line = line("drop-tail", 5, vec![(Span::micros(50), Span::ZERO)]);
            for i in 0..40_u64 {
                line.forward(at(i * 70), 0, &[i as u8; 1000]);
            }
            let mut list = Vec::new();
            for &look in looks {
                list.extend(delivered(&mut line, at(2730 + look)));
            }
            let record = line.into_record();
            (list, record.counters, record.drops)
        };
        let often: Vec<u64> = (0..200).map(|i| 10 * i).collect();
        assert_eq!(run(&often), run(&[2000]));
    }

    #[test]
    fn each_flow_has_its_own_wires() {
        let mut line = line("drop-tail", 9, vec![(Span::millis(50), Span::ZERO), (Span::millis(1), Span::ZERO)]);
        line.forward(at(0), 0, &[0; 1500]);
        line.forward(at(0), 1, &[1; 1500]);
        assert_eq!(delivered(&mut line, at(1240)), [(Side::Forward, 1)]);
        assert_eq!(delivered(&mut line, at(50_120)), [(Side::Forward, 0)]);
    }

    #[test]
    fn samples_are_the_state_at_their_instants() {
        let mut line = line("drop-tail", 100, vec![(Span::ZERO, Span::ZERO)]);
        for i in 0..20 {
            line.forward(at(10), 0, &[i; 1500]);
        }
        line.advance(at(3000));
        let found: Vec<(u32, u64)> = line.into_record().samples.iter().map(|s| (s.backlog, s.begun)).collect();
        // At 0 nothing had come; by 1 and 2 ms 8 and 16 packets had left, one more is in service.
        assert_eq!(found, [(0, 0), (11, 9 * 1500), (3, 17 * 1500)]);
    }

    #[test]
    fn marks_reach_the_packet() {
        let mut line = line("red", 200, vec![(Span::ZERO, Span::ZERO)]);
        let mut list = vec![0; 1500];
        list[..20].copy_from_slice(&[0x45, 2, 5, 220, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let mut marked = 0;
        for i in 0..4000 {
            line.forward(at(i * 110), 0, &list);
            line.deliver(at(i * 110), |_, packet| {
                marked += u64::from(packet[1] == 3);
                true
            });
        }
        line.deliver(at(20_000_000), |_, packet| {
            marked += u64::from(packet[1] == 3);
            true
        });
        let counted = line.into_record().counters.marked;
        assert_eq!(marked, counted);
    }

    proptest! {
        // The simulator's link on the same arrivals: every packet served at the same picosecond, or dropped alike.
        #[test]
        fn is_the_simulators_link(
            gaps in prop::collection::vec(0_u64..400, 1..300),
            name in prop::sample::select(vec!["drop-tail", "red", "codel", "pie", "fq", "gared"]),
        ) {
            let mut now = 0;
            let packets: Vec<Packet> = gaps.iter().enumerate().map(|(i, gap)| {
                now += gap;
                Packet::new(i as u32 % 3, i as u32, 200 + 13 * (i as u32 % 100), at(now))
            }).collect();
            let fates = replay(queue(name, 20), RATE, &packets, |_, _| ());
            let mut line = line(name, 20, vec![(Span::ZERO, Span::ZERO); 3]);
            for packet in &packets {
                let mut bytes = vec![0; packet.size as usize];
                bytes[..4].copy_from_slice(&packet.token.to_be_bytes());
                line.forward(packet.arrived, packet.flow, &bytes);
            }
            let mut served = Vec::new();
            line.deliver(at(20_000_000), |_, bytes| {
                served.push(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                true
            });
            let mut expected: Vec<(Time, u32)> = packets.iter().zip(&fates)
                .filter(|(_, fate)| fate.cause.is_none()).map(|(p, fate)| (fate.time, p.token)).collect();
            expected.sort_unstable();
            prop_assert_eq!(served, expected.iter().map(|(_, token)| *token).collect::<Vec<_>>());
            let waited: u128 = packets.iter().zip(&fates)
                .filter(|(_, fate)| fate.cause.is_none()).map(|(p, fate)| u128::from(fate.time.since(p.arrived).0)).sum();
            prop_assert_eq!(line.into_record().counters.waited, waited);
        }
    }
}

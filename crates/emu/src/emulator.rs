//! A bottleneck in virtual time. It consists of the simulator's link, a propagation delay for each flow behind the
//! link, and a return path that only adds a delay.
//!
//! Source: none. Rate and arrivals alone determine when service begins and ends. If the caller calls late, packets are
//! delivered late, but the link does not become slower.

use crate::packet;
use crate::record::{Counters, Drop, Record, Sample};
use base::{Bytes, Cause, Flags, Span, Stream, Time};
use queue::{AnyQueue, Fates, Link, Packet, TokenBucket};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Smallest size of a packet with data, in bytes; shorter packets are handshakes or pure ACKs.
const MIN_DATA: usize = 1000;

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Direction to the servers, through the link.
    Forward,
    /// Direction back to the clients.
    Backward,
}

/// Propagation delays of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowDelays {
    /// Delay behind the link, to the server.
    pub forward: Span,
    /// Delay from the server to the client.
    pub backward: Span,
}

/// A packet in propagation. Packets are ordered by due time, then by departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    due: Time,
    order: u64,
    direction: Direction,
    slot: u32,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Emulator {
    link: Link<AnyQueue>,
    /// Delays of each flow.
    delays: Vec<FlowDelays>,
    slots: Slots,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    order: u64,
    /// Time span in which events are counted.
    measured: Range<Time>,
    every: Span,
    next_sample: Time,
    begun_bytes: u64,
    record: Record,
    policer: Option<TokenBucket>,
    jitter: Option<Jitter>,
}

/// Exponential delay of each packet behind the link; packets stay in order.
#[derive(Debug)]
struct Jitter {
    mean: Span,
    chance: Stream,
    /// Time at which the last packet arrived.
    last: Time,
}

/// Bytes of the packets in flight, each in a slot of its own.
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
        let bytes = &mut self.list[slot as usize];
        bytes.clear();
        bytes.extend_from_slice(packet);
        slot
    }
}

/// Records the drops and marks of one call of the link.
struct FateRecorder<'a> {
    slots: &'a mut Slots,
    record: &'a mut Record,
    measured: &'a Range<Time>,
}

impl Fates for FateRecorder<'_> {
    fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time) {
        self.slots.free.push(packet.token);
        let measured = self.measured.contains(&now);
        self.record.on_drop(Drop { time: now, flow: packet.flow, cause }, measured);
        if measured {
            self.record.counters.drops[cause as usize] += 1;
            self.record.flows[packet.flow as usize].drops[cause as usize] += 1;
        }
    }

    fn marked(&mut self, packet: &Packet, _cause: Cause, now: Time) {
        if self.measured.contains(&now) {
            self.record.counters.marked += 1;
            self.record.flows[packet.flow as usize].marked += 1;
        }
    }
}

impl Emulator {
    /// A bottleneck for flows with these `delays`. Events are counted in the `measured` period; samples are taken at
    /// intervals of `every` until its end.
    #[must_use]
    pub fn new(link: Link<AnyQueue>, delays: Vec<FlowDelays>, measured: Range<Time>, every: Span) -> Self {
        let n = delays.len();
        let record = Record { flows: vec![Counters::default(); n], first_data: vec![None; n], ..Record::default() };
        Self {
            link,
            delays,
            slots: Slots::default(),
            in_flight: BinaryHeap::new(),
            order: 0,
            measured,
            every,
            next_sample: Time::ZERO,
            begun_bytes: 0,
            record,
            policer: None,
            jitter: None,
        }
    }

    /// Adds a `policer` that drops packets before the link.
    #[must_use]
    pub fn policed(self, policer: TokenBucket) -> Self {
        Self { policer: Some(policer), ..self }
    }

    /// Adds an exponential delay behind the link for each packet, with this mean, drawn from `chance`; packets stay in
    /// order.
    #[must_use]
    pub fn jittered(self, mean: Span, chance: Stream) -> Self {
        Self { jitter: Some(Jitter { mean, chance, last: Time::ZERO }), ..self }
    }

    /// Takes a packet from a client at `now`, which must not be before the `now` of the previous call.
    pub fn forward(&mut self, now: Time, flow: u32, bytes: &[u8]) {
        self.advance(now);
        let slot = self.slots.put(bytes);
        let packet = Packet::new(flow, slot, bytes.len() as u32, now).with(packet::flags(bytes));
        if bytes.len() >= MIN_DATA {
            self.record.first_data[flow as usize].get_or_insert(now);
        }
        let measured = self.measured.contains(&now);
        if measured {
            self.record.counters.arrived += 1;
            self.record.flows[flow as usize].arrived += 1;
        }
        let Self { link, slots, record, measured: period, policer, .. } = self;
        let mut fates = FateRecorder { slots, record, measured: period };
        if policer.as_mut().is_some_and(|bucket| !bucket.take(now, Bytes(u64::from(packet.size)))) {
            return fates.dropped(&packet, Cause::Forced, now);
        }
        let began = link.offer(packet, &mut fates);
        self.count_begun(began, now);
        if measured {
            let waiting = self.link.backlog().packets;
            self.record.counters.most_waiting = self.record.counters.most_waiting.max(waiting);
        }
    }

    /// Takes a packet from a server.
    pub fn backward(&mut self, now: Time, flow: u32, bytes: &[u8]) {
        let slot = self.slots.put(bytes);
        self.propagate(now + self.delays[flow as usize].backward, Direction::Backward, slot);
    }

    /// Processes all events of the link up to and including `now`.
    pub fn advance(&mut self, now: Time) {
        loop {
            let next = self.link.next_event().map_or(Time::NEVER, |event| event.at);
            self.sample_until(next.min(now));
            let Self { link, slots, record, measured, .. } = self;
            let Some(step) = link.advance(now, &mut FateRecorder { slots, record, measured }) else { return };
            if let Some(packet) = step.departed {
                if packet.flags.has(Flags::CE) {
                    packet::mark(&mut self.slots.list[packet.token as usize]);
                }
                let through = self.jitter.as_mut().map_or(step.at, |jitter| {
                    let late = Span::from_secs(jitter.chance.exponential(jitter.mean.as_secs()));
                    jitter.last = jitter.last.max(step.at + late);
                    jitter.last
                });
                self.propagate(through + self.delays[packet.flow as usize].forward, Direction::Forward, packet.token);
            }
            self.count_begun(step.began, step.at);
        }
    }

    /// Time at which the next packet is due or the link has an event.
    #[must_use]
    pub fn next(&self) -> Time {
        let due = self.in_flight.peek().map_or(Time::NEVER, |Reverse(packet)| packet.due);
        due.min(self.link.next_event().map_or(Time::NEVER, |event| event.at))
    }

    /// Whether no packet is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty() && self.link.serving().is_none()
    }

    /// Passes every packet that is due at `now` to `deliver`, oldest first, with its direction; `deliver` returns whether
    /// the packet was accepted.
    pub fn deliver(&mut self, now: Time, mut deliver: impl FnMut(Direction, &[u8]) -> bool) {
        self.advance(now);
        while let Some(&Reverse(InFlight { due, direction, slot, .. })) = self.in_flight.peek()
            && due <= now
        {
            self.in_flight.pop();
            let taken = deliver(direction, &self.slots.list[slot as usize]);
            self.slots.free.push(slot);
            if self.measured.contains(&due) {
                self.record.punctuality.delivered(due, now);
                self.record.punctuality.refused += u64::from(!taken);
            }
        }
    }

    /// The record of the run, for changes.
    pub fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    /// The record of the run.
    #[must_use]
    pub fn into_record(self) -> Record {
        self.record
    }

    /// Lets the packet in `slot` propagate until `due`.
    fn propagate(&mut self, due: Time, direction: Direction, slot: u32) {
        self.in_flight.push(Reverse(InFlight { due, order: self.order, direction, slot }));
        self.order += 1;
    }

    /// Counts `packet`, whose service began at `now`, if there is one.
    fn count_begun(&mut self, packet: Option<Packet>, now: Time) {
        let Some(packet) = packet else { return };
        self.begun_bytes += u64::from(packet.size);
        if !self.measured.contains(&now) {
            return;
        }
        let waited = u128::from(now.since(packet.arrived).0);
        for counters in [&mut self.record.counters, &mut self.record.flows[packet.flow as usize]] {
            counters.begun += 1;
            counters.begun_bytes += u64::from(packet.size);
            counters.waited += waited;
        }
    }

    /// Takes the samples before `now`; the state has not changed since the last event.
    fn sample_until(&mut self, now: Time) {
        while self.next_sample < now.min(self.measured.end) && self.every > Span::ZERO {
            let backlog = self.link.backlog().packets;
            self.record.samples.push(Sample { time: self.next_sample, backlog, begun: self.begun_bytes });
            self.next_sample += self.every;
        }
    }
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

    fn emulator(name: &str, limit: u32, delays: Vec<FlowDelays>) -> Emulator {
        Emulator::new(Link::new(RATE, queue(name, limit)), delays, Time::ZERO..Time::NEVER, Span::millis(1))
    }

    fn delays(forward: Span, backward: Span) -> FlowDelays {
        FlowDelays { forward, backward }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::micros(us)
    }

    /// Delivers packets until `now`; returns the direction and the first byte of each.
    fn delivered(emulator: &mut Emulator, now: Time) -> Vec<(Direction, u8)> {
        let mut list = Vec::new();
        emulator.deliver(now, |direction, packet| {
            list.push((direction, packet[0]));
            true
        });
        list
    }

    #[test]
    fn serves_at_the_rate_adds_the_delays_and_drops_packets_beyond_the_limit() {
        let mut emulator = emulator("drop-tail", 2, vec![delays(Span::millis(10), Span::millis(20))]);
        for i in 0..4 {
            // 1500 bytes take 120 us. One packet is served, two wait, one finds no room.
            emulator.forward(at(0), 0, &[i; 1500]);
        }
        emulator.backward(at(5), 0, &[9; 40]);
        assert_eq!(emulator.next(), at(120));
        assert_eq!(delivered(&mut emulator, at(10_119)), []);
        assert_eq!(delivered(&mut emulator, at(10_240)), [(Direction::Forward, 0), (Direction::Forward, 1)]);
        assert_eq!(delivered(&mut emulator, at(30_000)), [(Direction::Forward, 2), (Direction::Backward, 9)]);
        assert!(emulator.is_empty());
        let record = emulator.into_record();
        let found =
            (record.counters.arrived, record.counters.begun, record.counters.drops, record.counters.most_waiting);
        assert_eq!(found, (4, 3, [1, 0, 0, 0, 0], 2));
        assert_eq!(record.counters.waited, u128::from(Span::micros(120 + 240).0));
        assert_eq!(record.drops, [Drop { time: at(0), flow: 0, cause: Cause::Overflow }]);
        // The third packet was due after three services and its propagation delay, at 10.36 ms, but was fetched only at
        // 30 ms.
        assert_eq!(record.punctuality.latest, Span::micros(30_000 - 10_360));
    }

    #[test]
    fn late_calls_change_only_the_lateness() {
        let run = |looks: &[u64]| {
            let mut emulator = emulator("drop-tail", 5, vec![delays(Span::micros(50), Span::ZERO)]);
            for i in 0..40_u64 {
                emulator.forward(at(i * 70), 0, &[i as u8; 1000]);
            }
            let mut list = Vec::new();
            for &look in looks {
                list.extend(delivered(&mut emulator, at(2730 + look)));
            }
            let record = emulator.into_record();
            (list, record.counters, record.drops)
        };
        let often: Vec<u64> = (0..200).map(|i| 10 * i).collect();
        assert_eq!(run(&often), run(&[2000]));
    }

    #[test]
    fn a_policer_drops_beyond_its_burst_and_jitter_keeps_the_order() {
        // The policer accepts a burst of three packets, then one packet per 1.2 ms.
        let policer = TokenBucket::new(Rate(10_000_000), Bytes(4500));
        let mut emulator = emulator("drop-tail", 100, vec![delays(Span::ZERO, Span::ZERO)]).policed(policer);
        for i in 0..50_u8 {
            emulator.forward(at(u64::from(i) * 240), 0, &[i; 1500]);
        }
        let passed: Vec<u8> = delivered(&mut emulator, at(20_000)).iter().map(|found| found.1).collect();
        assert_eq!(passed, [0, 1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
        assert_eq!(emulator.into_record().counters.drops, [0, 0, 38, 0, 0]);

        let chance = Stream::new(1, 0, ("link", 0), "jitter");
        let mut emulator =
            self::emulator("drop-tail", 9, vec![delays(Span::ZERO, Span::ZERO)]).jittered(Span::millis(1), chance);
        let mut late = Span::ZERO;
        for i in 0..200_u64 {
            // Only one packet is in flight at a time, so the mean delay is the mean of the draws.
            let sent = at(i * 100_000);
            emulator.forward(sent, 0, &[i as u8; 1500]);
            emulator.advance(sent + Span::micros(120));
            late = late + (emulator.next() - sent - Span::micros(120));
            assert_eq!(delivered(&mut emulator, sent + Span::millis(99)).len(), 1);
        }
        // The standard error of the mean of 200 draws is 7 %.
        assert!((late.as_secs() / 200.0 - 1e-3).abs() < 3e-4, "{late:?}");
        for i in 0..100_u8 {
            emulator.forward(at(30_000_000 + u64::from(i) * 200), 0, &[i; 1500]);
        }
        let order: Vec<u8> = delivered(&mut emulator, at(31_000_000)).iter().map(|found| found.1).collect();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn each_flow_has_its_own_delays() {
        let mut emulator =
            emulator("drop-tail", 9, vec![delays(Span::millis(50), Span::ZERO), delays(Span::millis(1), Span::ZERO)]);
        emulator.forward(at(0), 0, &[0; 1500]);
        emulator.forward(at(0), 1, &[1; 1500]);
        assert_eq!(delivered(&mut emulator, at(1240)), [(Direction::Forward, 1)]);
        assert_eq!(delivered(&mut emulator, at(50_120)), [(Direction::Forward, 0)]);
    }

    #[test]
    fn a_sample_shows_the_state_at_its_instant() {
        let mut emulator = emulator("drop-tail", 100, vec![delays(Span::ZERO, Span::ZERO)]);
        for i in 0..20 {
            emulator.forward(at(10), 0, &[i; 1500]);
        }
        emulator.advance(at(3000));
        let found: Vec<(u32, u64)> = emulator.into_record().samples.iter().map(|s| (s.backlog, s.begun)).collect();
        // At 0 no packet had arrived. At 1 and 2 ms, 8 and 16 packets had left, and one more was in service.
        assert_eq!(found, [(0, 0), (11, 9 * 1500), (3, 17 * 1500)]);
    }

    #[test]
    fn marks_reach_the_packet() {
        let mut emulator = emulator("red", 200, vec![delays(Span::ZERO, Span::ZERO)]);
        let mut list = vec![0; 1500];
        list[..20].copy_from_slice(&[0x45, 2, 5, 220, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let mut marked = 0;
        for i in 0..4000 {
            emulator.forward(at(i * 110), 0, &list);
            emulator.deliver(at(i * 110), |_, packet| {
                marked += u64::from(packet[1] == 3);
                true
            });
        }
        emulator.deliver(at(20_000_000), |_, packet| {
            marked += u64::from(packet[1] == 3);
            true
        });
        let counted = emulator.into_record().counters.marked;
        assert_eq!(marked, counted);
    }

    proptest! {
        // Compares with the simulator's link for the same arrivals: each packet is served at the same picosecond, or
        // dropped by both.
        #[test]
        fn gives_each_packet_the_same_fate_as_the_simulators_link(
            gaps in prop::collection::vec(0_u64..400, 1..300),
            name in prop::sample::select(vec!["drop-tail", "red", "codel", "pie", "fq", "gared"]),
        ) {
            let mut now = 0;
            let packets: Vec<Packet> = gaps.iter().enumerate().map(|(i, gap)| {
                now += gap;
                Packet::new(i as u32 % 3, i as u32, 200 + 13 * (i as u32 % 100), at(now))
            }).collect();
            let fates = replay(queue(name, 20), RATE, &packets, |_, _| ());
            let mut emulator = emulator(name, 20, vec![delays(Span::ZERO, Span::ZERO); 3]);
            for packet in &packets {
                let mut bytes = vec![0; packet.size as usize];
                bytes[..4].copy_from_slice(&packet.token.to_be_bytes());
                emulator.forward(packet.arrived, packet.flow, &bytes);
            }
            let mut served = Vec::new();
            emulator.deliver(at(20_000_000), |_, bytes| {
                served.push(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                true
            });
            let mut expected: Vec<(Time, u32)> = packets.iter().zip(&fates)
                .filter(|(_, fate)| fate.cause.is_none()).map(|(p, fate)| (fate.time, p.token)).collect();
            expected.sort_unstable();
            prop_assert_eq!(served, expected.iter().map(|(_, token)| *token).collect::<Vec<_>>());
            let waited: u128 = packets.iter().zip(&fates)
                .filter(|(_, fate)| fate.cause.is_none()).map(|(p, fate)| u128::from(fate.time.since(p.arrived).0)).sum();
            prop_assert_eq!(emulator.into_record().counters.waited, waited);
        }
    }
}

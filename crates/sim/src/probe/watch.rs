//! Idle time of one link, its drops and marks, and the waiting times of each sender's packets, for the study of the
//! causes of idle time.

use base::{Bytes, Flags, Rate, Span, Time};
use queue::{Limit, Packet};
use std::ops::Range;

/// A data packet dropped or marked at the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    pub time: Time,
    /// The sender of the packet.
    pub flow: u32,
    /// Whether it was marked; if not, it was dropped.
    pub marked: bool,
    /// Idle time of the link before the drop or mark.
    pub idle: Span,
}

/// Rate and buffer of an imagined link that gets the same packets as a link that drops nothing. Its idle time is used
/// in place of the real one, because the unlimited queue of the real link keeps the link busy long after senders stop.
#[derive(Clone, Copy, Debug)]
pub struct FiniteBuffer {
    pub rate: Rate,
    pub limit: Limit,
}

impl FiniteBuffer {
    fn time_of(&self, packet: &Packet) -> Span {
        self.rate.serialize(Bytes(u64::from(packet.size)))
    }

    /// The longest allowed wait of `packet`.
    fn longest_wait(&self, packet: &Packet) -> Span {
        let packets = match self.limit {
            Limit::Packets(n) => u64::from(n),
            Limit::Bytes(Bytes(n)) => n / u64::from(packet.size.max(1)),
            Limit::Unlimited => u64::MAX,
        };
        Span(packets.saturating_mul(self.time_of(packet).0))
    }
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct LinkWatch {
    /// Whether the link drops and marks nothing.
    pub spares: bool,
    /// End of the last known service, and the idle time before that.
    busy_until: Time,
    idle: Span,
    /// Buffer for the idle time of a link that drops nothing, if it is not the link's own.
    finite: Option<FiniteBuffer>,
    /// Time span in which waits are counted; `None` if single drops and waits are not recorded.
    recorded: Option<Range<Time>>,
    /// Drops and marks, in the order of time.
    pub signals: Vec<Signal>,
    /// Waiting times of data packets by sender, in picoseconds, since the last [`Self::take_waits`].
    waits: Vec<u64>,
    /// Waiting times of ACKs.
    ack_waits: u64,
}

impl LinkWatch {
    /// A watch that records drops and marks, and waiting times in `measured`.
    pub fn recording(measured: Range<Time>) -> Self {
        Self { recorded: Some(measured), ..Self::default() }
    }

    /// A watch that continues this one without recording, on a link that drops and marks nothing.
    pub fn sparing(&mut self, finite: Option<FiniteBuffer>) -> Self {
        Self { spares: true, busy_until: self.busy_until, idle: self.idle, finite, ..Self::default() }
    }

    /// Notes that `packet` waits in a queue whose start of service is not known.
    pub fn on_waiting(&mut self, packet: &Packet) {
        if let Some(finite) = &self.finite {
            self.busy_until += finite.time_of(packet);
        }
    }

    /// Notes that the link accepts `packet`.
    pub fn on_accept(&mut self, packet: &Packet) {
        if let Some(finite) = &self.finite
            && self.busy_until.since(packet.arrived) <= finite.longest_wait(packet)
        {
            self.idle = self.idle + packet.arrived.since(self.busy_until);
            self.busy_until = self.busy_until.max(packet.arrived) + finite.time_of(packet);
        }
    }

    /// Notes that service of `packet` begins at `start` and ends at `end`.
    pub fn on_service(&mut self, packet: &Packet, start: Time, end: Time) {
        if self.finite.is_none() {
            self.idle = self.idle + start.since(self.busy_until);
            self.busy_until = end;
        }
        self.on_wait(packet, start);
    }

    /// Notes that `packet` has waited until `end`.
    pub fn on_wait(&mut self, packet: &Packet, end: Time) {
        let Some(measured) = &self.recorded else { return };
        let wait = end.min(measured.end).since(packet.arrived.max(measured.start)).0;
        if packet.flags.has(Flags::ACK) {
            self.ack_waits += wait;
        } else if wait > 0 {
            let flow = packet.flow as usize;
            if self.waits.len() <= flow {
                self.waits.resize(flow + 1, 0);
            }
            self.waits[flow] += wait;
        }
    }

    /// Notes that `packet` is dropped or marked at `now`.
    pub fn on_signal(&mut self, packet: &Packet, now: Time, marked: bool) {
        if !marked {
            // The packet may have waited before it is dropped.
            self.on_wait(packet, now);
        }
        if self.recorded.is_some() && !packet.flags.has(Flags::ACK) {
            let idle = self.idle_before(now);
            self.signals.push(Signal { time: now, flow: packet.flow, marked, idle });
        }
    }

    /// Time without a packet in service before `at`; everything before `at` has been served.
    pub fn idle_before(&self, at: Time) -> Span {
        self.idle + at.since(self.busy_until)
    }

    /// Whether the link is busy until `at` whatever arrives.
    pub fn is_busy_until(&self, at: Time) -> bool {
        self.busy_until >= at
    }

    /// Calls `each` with the waiting times of data packets by sender since the last call, in picoseconds, and returns those
    /// of ACKs. Only packets whose start of service is known count, up to that start.
    pub fn take_waits(&mut self, mut each: impl FnMut(usize, u64)) -> u64 {
        for (flow, wait) in self.waits.iter_mut().enumerate().filter(|(_, wait)| **wait > 0) {
            each(flow, std::mem::take(wait));
        }
        std::mem::take(&mut self.ack_waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32, arrived: u64) -> Packet {
        Packet::new(flow, 0, 1000, Time(arrived))
    }

    #[test]
    fn idle_time_is_the_time_from_the_end_of_a_service_to_the_start_of_the_next() {
        let mut watch = LinkWatch::recording(Time(100)..Time(1000));
        watch.on_service(&packet(0, 50), Time(50), Time(80));
        watch.on_service(&packet(0, 60), Time(80), Time(110));
        assert_eq!((watch.idle_before(Time(105)), watch.idle_before(Time(130))), (Span(50), Span(70)));
        watch.on_service(&packet(0, 140), Time(140), Time(170));
        assert_eq!((watch.idle_before(Time(150)), watch.is_busy_until(Time(170))), (Span(80), true));
    }

    #[test]
    fn a_link_that_drops_nothing_is_idle_when_its_buffer_would_be_empty() {
        // A packet of 1000 bytes takes 1000 ps; two packets may wait.
        let rate = Rate(8_000_000_000_000);
        let mut watch = LinkWatch::default().sparing(Some(FiniteBuffer { rate, limit: Limit::Packets(2) }));
        for _ in 0..9 {
            watch.on_accept(&packet(0, 500));
        }
        // In the finite buffer one packet is served and two wait, until 3500; the unlimited queue is busy until 9500.
        watch.on_service(&packet(0, 500), Time(500), Time(1500));
        assert_eq!((watch.idle_before(Time(3500)), watch.idle_before(Time(4500))), (Span(500), Span(1500)));
        watch.on_waiting(&packet(0, 500));
        assert_eq!(watch.idle_before(Time(4500)), Span(500));
    }

    #[test]
    fn waits_count_within_the_measured_time_and_those_of_acks_are_separate() {
        let mut watch = LinkWatch::recording(Time(100)..Time(1000));
        watch.on_service(&packet(1, 50), Time(120), Time(130));
        watch.on_service(&packet(3, 990), Time(1020), Time(1030));
        watch.on_service(&packet(3, 200).with(Flags::ACK), Time(205), Time(206));
        let mut waits = Vec::new();
        assert_eq!(watch.take_waits(|flow, wait| waits.push((flow, wait))), 5);
        assert_eq!(waits, [(1, 20), (3, 10)]);
        assert_eq!(watch.take_waits(|_, _| panic!("taken")), 0);
    }
}

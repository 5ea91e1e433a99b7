//! Idle time of one link, the drops and marks there, and the waiting times of each sender's packets, for the study of their causes.

use base::{Flags, Span, Time};
use queue::Packet;
use std::ops::Range;

/// A data packet dropped or marked at the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    pub time: Time,
    /// Its sender.
    pub flow: u32,
    /// Whether it was marked; if not, it was dropped.
    pub marked: bool,
    /// Idle time of the link before.
    pub idle: Span,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct LinkWatch {
    /// Whether the link drops and marks nothing.
    pub spares: bool,
    /// Time until which the link is known to be busy, and time without a packet in service before that.
    busy_until: Time,
    idle: Span,
    /// Where single drops and waits are recorded, time span in which waits are counted.
    recorded: Option<Range<Time>>,
    /// Drops and marks, in the order of time.
    pub signals: Vec<Signal>,
    /// Waiting times of data packets by sender, in picoseconds, since [`Self::take_waits`].
    waits: Vec<u64>,
    /// Waiting times of ACKs.
    ack_waits: u64,
}

impl LinkWatch {
    /// Watch that records drops and marks, and waiting times in `measured`.
    pub fn recording(measured: Range<Time>) -> Self {
        Self { recorded: Some(measured), ..Self::default() }
    }

    /// Watch that goes on from this one and records nothing, on a link that drops and marks nothing.
    pub fn sparing(&mut self) -> Self {
        Self { spares: true, busy_until: self.busy_until, idle: self.idle, ..Self::default() }
    }

    /// Service of `packet` begins at `start` and ends at `end`.
    pub fn on_service(&mut self, packet: &Packet, start: Time, end: Time) {
        self.idle = self.idle + start.since(self.busy_until);
        self.busy_until = end;
        self.on_wait(packet, start);
    }

    /// `packet` has waited until `end`.
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

    /// `packet` is dropped or marked at `now`.
    pub fn on_signal(&mut self, packet: &Packet, now: Time, marked: bool) {
        if !marked {
            // It may be dropped after some time.
            self.on_wait(packet, now);
        }
        if self.recorded.is_some() && !packet.flags.has(Flags::ACK) {
            let idle = self.idle_before(now);
            self.signals.push(Signal { time: now, flow: packet.flow, marked, idle });
        }
    }

    /// Time without a packet in service before `at`, before which everything has been served.
    pub fn idle_before(&self, at: Time) -> Span {
        self.idle + at.since(self.busy_until)
    }

    /// Whether the link is busy until `at` whatever happens.
    pub fn is_busy_until(&self, at: Time) -> bool {
        self.busy_until >= at
    }

    /// Waiting times of data packets by sender, up to the last that has any, and of ACKs, in picoseconds, since the last call: those of
    /// packets whose service is known to begin, counted until it begins.
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
    fn idle_time_lies_between_the_end_of_a_service_and_the_start_of_the_next() {
        let mut watch = LinkWatch::recording(Time(100)..Time(1000));
        watch.on_service(&packet(0, 50), Time(50), Time(80));
        watch.on_service(&packet(0, 60), Time(80), Time(110));
        assert_eq!((watch.idle_before(Time(105)), watch.idle_before(Time(130))), (Span(50), Span(70)));
        watch.on_service(&packet(0, 140), Time(140), Time(170));
        assert_eq!((watch.idle_before(Time(150)), watch.is_busy_until(Time(170))), (Span(80), true));
    }

    #[test]
    fn waits_count_within_the_measured_time_and_acks_apart() {
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

//! Flows over one of elephan's links in virtual time: the link, propagation behind it, a way back that only delays,
//! and endpoints that are asked in turn when they have something to do. Nobody sleeps, nothing opens a socket.
//!
//! Source: none; what the link does is `emu`'s emulator, which is the simulator's link.

use base::{Span, Time};
use emu::emulator::{Direction, Emulator};
use std::time::{Duration, Instant};

/// Bytes of IPv4 and UDP header before each datagram.
pub const HEADERS: usize = 28;

/// Both ends of a connection: the client offers data without end, the server takes it.
pub trait Flow {
    /// Time at which it has something to do without a datagram; [`Time::NEVER`] if never.
    fn next(&mut self) -> Time;
    /// It opens.
    fn open(&mut self, now: Time);
    /// A datagram arrives, at the server if it went forward; with the ECN bits of its header.
    fn receive(&mut self, now: Time, direction: Direction, ecn: u8, datagram: &[u8]);
    /// Timers may have expired.
    fn expire(&mut self, now: Time);
    /// Hands `out` every datagram that may leave, with its ECN bits.
    fn send(&mut self, now: Time, out: &mut dyn FnMut(Direction, u8, &[u8]));
    /// Congestion window of the client, in bytes, once it is open.
    fn window(&self) -> Option<u64>;
    /// Smoothed round-trip time of the client, once it is open.
    fn srtt(&self) -> Option<Span>;
    /// Bytes that the server's application has taken, in order.
    fn delivered(&self) -> u64;
    /// Datagrams that the client has sent, and those of them that it took for lost.
    fn sent_and_lost(&mut self) -> (u64, u64);
}

/// Record of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Congestion windows at the samples, in bytes; zero before it is open.
    pub window: Vec<u64>,
    /// Smoothed round-trip times at the samples, in seconds; zero before it is open.
    pub srtt_s: Vec<f64>,
    /// Bytes taken in the measured period.
    pub measured: u64,
}

/// Instants of the standard library for times of a run: those of a stack that takes no others.
#[derive(Clone, Copy, Debug)]
pub struct Epoch(Instant);

impl Epoch {
    /// Any instant: only differences to it are ever used.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "instants cannot be made otherwise, and only differences count")]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// The instant of `time`, to the nanosecond below.
    #[must_use]
    pub fn instant(self, time: Time) -> Instant {
        self.0 + Duration::from_nanos(time.0 / 1000)
    }

    /// The time of an instant.
    #[must_use]
    pub fn time(self, instant: Instant) -> Time {
        Time::ZERO + span(instant.saturating_duration_since(self.0))
    }
}

impl Default for Epoch {
    fn default() -> Self {
        Self::new()
    }
}

/// Converts a duration to elephan's type.
#[must_use]
pub fn span(duration: Duration) -> Span {
    Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000))
}

/// Runs `flows`, each from its start, over `emulator` until `end`; windows are sampled `every` so often, and what is
/// delivered from `warmup` on is measured. `hash` gets every datagram that is sent.
pub fn run(
    flows: &mut [(Time, Box<dyn Flow>)],
    emulator: &mut Emulator,
    (warmup, end): (Time, Time),
    every: Span,
    hash: &mut dyn FnMut(u32, &[u8]),
) -> Vec<Seen> {
    let mut seen = vec![Seen::default(); flows.len()];
    let mut open = vec![false; flows.len()];
    let (mut sample_at, mut is_warm) = (Time::ZERO, false);
    let mut arrivals: Vec<Vec<u8>> = Vec::new();
    loop {
        let timers = flows.iter_mut().zip(&open).map(|((start, flow), open)| if *open { flow.next() } else { *start });
        let now = timers.min().unwrap_or(Time::NEVER).min(emulator.next()).min(end);
        while sample_at <= now && sample_at <= end {
            sample(flows, &open, &mut seen);
            sample_at += every;
        }
        if !is_warm && now >= warmup {
            is_warm = true;
            flows.iter().zip(&mut seen).for_each(|((_, flow), seen)| seen.measured = flow.delivered());
        }
        if now >= end {
            break;
        }
        emulator.deliver(now, |direction, packet| {
            arrivals.push([&[u8::from(direction == Direction::Backward)], packet].concat());
            true
        });
        for packet in arrivals.drain(..) {
            let direction = if packet[0] == 0 { Direction::Forward } else { Direction::Backward };
            let packet = &packet[1..];
            let number = flow_of(packet);
            let flow = &mut flows[number as usize].1;
            flow.receive(now, direction, packet[1] & 3, &packet[HEADERS..]);
            send(&mut **flow, number, now, emulator, hash);
        }
        for (number, ((start, flow), open)) in flows.iter_mut().zip(&mut open).enumerate() {
            if *open && flow.next() <= now {
                flow.expire(now);
                send(&mut **flow, number as u32, now, emulator, hash);
            } else if !*open && *start <= now {
                *open = true;
                flow.open(now);
                send(&mut **flow, number as u32, now, emulator, hash);
            }
        }
    }
    for ((_, flow), seen) in flows.iter().zip(&mut seen) {
        seen.measured = flow.delivered() - seen.measured;
    }
    seen
}

fn sample(flows: &[(Time, Box<dyn Flow>)], open: &[bool], seen: &mut [Seen]) {
    for (((_, flow), open), seen) in flows.iter().zip(open).zip(seen) {
        seen.window.push(if *open { flow.window().unwrap_or(0) } else { 0 });
        seen.srtt_s.push(if *open { flow.srtt().map_or(0.0, Span::as_secs) } else { 0.0 });
    }
}

fn send(flow: &mut dyn Flow, number: u32, now: Time, emulator: &mut Emulator, hash: &mut dyn FnMut(u32, &[u8])) {
    flow.send(now, &mut |direction, ecn, datagram| {
        let packet = wrapped(number, ecn, datagram);
        hash(number, &packet);
        match direction {
            Direction::Forward => emulator.forward(now, number, &packet),
            Direction::Backward => emulator.backward(now, number, &packet),
        }
    });
}

/// A datagram with its headers: the flow's number is an address in it.
fn wrapped(flow: u32, ecn: u8, datagram: &[u8]) -> Vec<u8> {
    let size = (HEADERS + datagram.len()) as u16;
    let mut packet = vec![0; HEADERS];
    packet[0] = 0x45;
    packet[1] = ecn & 3;
    packet[2..4].copy_from_slice(&size.to_be_bytes());
    packet[8] = 64;
    packet[9] = 17;
    packet[12..16].copy_from_slice(&flow.to_be_bytes());
    packet[24..26].copy_from_slice(&(size - 20).to_be_bytes());
    packet.extend_from_slice(datagram);
    packet
}

/// The flow of a packet that [`wrapped`] made.
fn flow_of(packet: &[u8]) -> u32 {
    u32::from_be_bytes([packet[12], packet[13], packet[14], packet[15]])
}

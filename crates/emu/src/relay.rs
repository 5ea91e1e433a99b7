//! The relay: two devices, an emulator between them, and the loop of the thread that serves both.
//!
//! Source: none.

use crate::clock::{Clock, set_realtime_priority};
use crate::emulator::{Direction, Emulator};
use crate::packet::ports;
use crate::record::Record;
use crate::tun::{MAX_PACKET, Tun};
use base::{Span, Time};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest sleep, so that the stop flag is checked at least this often.
const MAX_SLEEP: Span = Span::millis(20);
/// Packets read from one device before the other is served.
const BATCH: usize = 256;

/// Configuration of a relay.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// Duration of the run.
    pub until: Time,
    /// Time span in which punctuality is measured.
    pub measured: Range<Time>,
    /// Server port of the first flow; the next flows have the next ports.
    pub first_port: u16,
    /// Number of flows.
    pub flows: u32,
    /// While packets are in flight, the relay wakes up at multiples of this time; with zero it wakes up for each
    /// packet.
    pub quantum: Span,
    /// Real-time priority; zero for none.
    pub priority: i32,
    /// Time after a pause in which drops are suspect: the longest round-trip time of the flows, including the queue.
    pub suspect_for: Span,
    /// Pauses up to this length are harmless.
    pub limit: Span,
}

/// Report of a relay's run.
#[derive(Debug)]
pub struct RelayReport {
    /// Complete record of the run.
    pub record: Record,
    /// Whether the relay's thread got the requested priority.
    pub had_priority: bool,
    /// Duration of the run.
    pub elapsed: Span,
}

/// Relays packets in this thread until the end of the run, or until `stop` is set.
///
/// # Errors
/// An error of the operating system for a device.
pub fn relay(
    emulator: Emulator,
    client: &Tun,
    server: &Tun,
    config: &RelayConfig,
    stop: &AtomicBool,
) -> io::Result<RelayReport> {
    let had_priority = config.priority > 0 && set_realtime_priority(config.priority);
    let mut relay = Relay { emulator, client, server, config, packet: vec![0; MAX_PACKET] };
    let clock = Clock::start();
    let mut planned = Time::ZERO;
    loop {
        let now = clock.now();
        relay.note_pause(planned, now);
        if now >= config.until || stop.load(Ordering::Relaxed) {
            break;
        }
        let more = relay.serve_devices(&clock)?;
        let done = clock.now();
        relay.note_pause(now, done);
        // If packets may be left, the next iteration is due at once, otherwise at the end of the wait.
        planned = if more { done } else { relay.wait(&clock)? };
    }
    let elapsed = clock.now().since(Time::ZERO);
    Ok(RelayReport { record: relay.emulator.into_record(), had_priority, elapsed })
}

struct Relay<'a> {
    emulator: Emulator,
    client: &'a Tun,
    server: &'a Tun,
    config: &'a RelayConfig,
    packet: Vec<u8>,
}

impl Relay<'_> {
    /// Reads packets that have arrived and delivers those that are due. Returns whether more may have arrived.
    fn serve_devices(&mut self, clock: &Clock) -> io::Result<bool> {
        let first = self.read(Direction::Forward, clock)?;
        let second = self.read(Direction::Backward, clock)?;
        let (client, server) = (self.client, self.server);
        self.emulator.deliver(clock.now(), |direction, packet| match direction {
            Direction::Forward => server.write(packet),
            Direction::Backward => client.write(packet),
        });
        Ok(first || second)
    }

    /// Records that the devices were not served from `since` to `until`.
    fn note_pause(&mut self, since: Time, until: Time) {
        if until.since(since) > self.config.limit {
            self.emulator.record().suspect_until = until + self.config.suspect_for;
        }
        let Range { start, end } = self.config.measured;
        if since >= start && until < end {
            let punctuality = &mut self.emulator.record().punctuality;
            punctuality.longest_pause = punctuality.longest_pause.max(until.since(since));
        }
    }

    /// Reads up to one batch. Returns whether there may be more packets.
    fn read(&mut self, direction: Direction, clock: &Clock) -> io::Result<bool> {
        for _ in 0..BATCH {
            let device = if direction == Direction::Forward { self.client } else { self.server };
            let Some(length) = device.read(&mut self.packet)? else { return Ok(false) };
            let bytes = &self.packet[..length];
            let flow = self.flow(direction, bytes);
            match direction {
                Direction::Forward => self.emulator.forward(clock.now(), flow, bytes),
                Direction::Backward => self.emulator.backward(clock.now(), flow, bytes),
            }
        }
        Ok(true)
    }

    /// The flow of a packet, by the server's port; a packet without a port of a flow counts for the first flow.
    fn flow(&self, direction: Direction, packet: &[u8]) -> u32 {
        let port = ports(packet)
            .map(|(source, destination)| if direction == Direction::Forward { destination } else { source });
        let flow = port.and_then(|port| port.checked_sub(self.config.first_port)).map_or(0, u32::from);
        if flow < self.config.flows { flow } else { 0 }
    }

    /// Sleeps until the emulator has an event or a device is readable. With a quantum, and while packets are in flight,
    /// it sleeps until the next multiple of the quantum. Returns the latest time at which the sleep should have ended.
    fn wait(&self, clock: &Clock) -> io::Result<Time> {
        let (now, quantum) = (clock.now(), self.config.quantum);
        let latest = (now + MAX_SLEEP).min(self.config.until);
        if quantum > Span::ZERO && !self.emulator.is_empty() {
            let wake = Time(now.0 / quantum.0 * quantum.0 + quantum.0).min(latest);
            clock.sleep_until(wake);
            return Ok(wake);
        }
        let wake = self.emulator.next().min(latest);
        clock.wait_until(wake, [self.client.fd(), self.server.fd()])?;
        Ok(wake)
    }
}

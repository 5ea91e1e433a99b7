//! The relay: two devices, a line between them, and a thread that looks after both.
//!
//! Source: none.

use crate::clock::{Clock, hurry};
use crate::line::{Line, Side};
use crate::packet::ports;
use crate::record::Record;
use crate::tun::{LONGEST, Tun};
use base::{Span, Time};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest time between two looks at whether to stop.
const PATIENCE: Span = Span::millis(20);
/// Packets read from a device before the others get their turn.
const BATCH: usize = 256;

/// How a relay works.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// When it ends, from its start.
    pub until: Time,
    /// From when to when its punctuality counts.
    pub counts: (Time, Time),
    /// Port of the server of the first flow; the others follow.
    pub first_port: u16,
    /// Flows.
    pub flows: u32,
    /// Wake-ups are at multiples of this while packets are on the way; zero to wake for each of them.
    pub quantum: Span,
    /// Real-time priority; zero for none.
    pub priority: i32,
    /// Longest round-trip time of the flows, with the queue's: so long a pause makes drops suspect.
    pub shaken: Span,
    /// What pauses are let pass.
    pub limit: Span,
}

/// What a relay did.
#[derive(Debug)]
pub struct Relayed {
    /// All that was recorded.
    pub record: Record,
    /// Whether it had the priority it asked for.
    pub hurried: bool,
    /// How long it ran.
    pub ran: Span,
}

/// Relays in this thread until the time is over or `stop` is set.
///
/// # Errors
/// What the system says of a device.
pub fn relay(line: Line, (client, server): (&Tun, &Tun), manner: &Manner, stop: &AtomicBool) -> io::Result<Relayed> {
    let hurried = manner.priority > 0 && hurry(manner.priority);
    let mut relay = Relay { line, client, server, manner, packet: vec![0; LONGEST] };
    let clock = Clock::start();
    let mut planned = Time::ZERO;
    loop {
        let now = clock.now();
        relay.stood_still(planned, now);
        if now >= manner.until || stop.load(Ordering::Relaxed) {
            break;
        }
        let more = relay.turn(&clock)?;
        let done = clock.now();
        relay.stood_still(now, done);
        // The next look is due at once if packets were left, otherwise when the line has something to do.
        planned = if more { done } else { relay.wait(&clock)? };
    }
    let ran = clock.now().since(Time::ZERO);
    Ok(Relayed { record: relay.line.into_record(), hurried, ran })
}

struct Relay<'a> {
    line: Line,
    client: &'a Tun,
    server: &'a Tun,
    manner: &'a Manner,
    packet: Vec<u8>,
}

impl Relay<'_> {
    /// Reads what has come, delivers what is due; whether more may have come.
    fn turn(&mut self, clock: &Clock) -> io::Result<bool> {
        let first = self.read(Side::Forward, clock)?;
        let second = self.read(Side::Back, clock)?;
        let (client, server) = (self.client, self.server);
        self.line.deliver(clock.now(), |side, packet| match side {
            Side::Forward => server.write(packet),
            Side::Back => client.write(packet),
        });
        Ok(first || second)
    }

    /// Notes the time in which nobody looked.
    fn stood_still(&mut self, since: Time, until: Time) {
        if until.since(since) > self.manner.limit {
            self.line.record().shaken_until = until + self.manner.shaken;
        }
        let (from, to) = self.manner.counts;
        if since >= from && until < to {
            let punctuality = &mut self.line.record().punctuality;
            punctuality.gap = punctuality.gap.max(until.since(since));
        }
    }

    /// Reads up to a batch; whether there may be more.
    fn read(&mut self, side: Side, clock: &Clock) -> io::Result<bool> {
        for _ in 0..BATCH {
            let device = if side == Side::Forward { self.client } else { self.server };
            let Some(length) = device.read(&mut self.packet)? else { return Ok(false) };
            let bytes = &self.packet[..length];
            let flow = self.flow(side, bytes);
            match side {
                Side::Forward => self.line.forward(clock.now(), flow, bytes),
                Side::Back => self.line.back(clock.now(), flow, bytes),
            }
        }
        Ok(true)
    }

    /// Whose packet it is, by the port of the server; what has no such port goes with the first flow.
    fn flow(&self, side: Side, packet: &[u8]) -> u32 {
        let port = ports(packet).map(|(source, destination)| if side == Side::Forward { destination } else { source });
        let flow = port.and_then(|port| port.checked_sub(self.manner.first_port)).map_or(0, u32::from);
        if flow < self.manner.flows { flow } else { 0 }
    }

    /// Sleeps until the line has something to do or a device can be read (at equal steps while packets are on the way);
    /// returns until when it meant to sleep at most.
    fn wait(&self, clock: &Clock) -> io::Result<Time> {
        let (now, quantum) = (clock.now(), self.manner.quantum);
        let latest = (now + PATIENCE).min(self.manner.until);
        if quantum > Span::ZERO && !self.line.is_empty() {
            let wake = Time(now.0 / quantum.0 * quantum.0 + quantum.0).min(latest);
            clock.sleep_until(wake);
            return Ok(wake);
        }
        let wake = self.line.next().min(latest);
        clock.wait_until(wake, [self.client.fd(), self.server.fd()])?;
        Ok(wake)
    }
}

// A client's connection that a script drives, compiled for each stack as `pair.rs` is. Each segment is a stream of its own that fills
// a datagram, so that its number says which segment a packet carries, whatever was sent again. The server serves for the
// handshake only; then ACK frames are written here.

use super::{Pair, shim};
use crate::handshake::TAG;
use crate::network::Flow;
use crate::script::{DATAGRAM, Left, Scripted};
use base::{Span, Time};
use bytes::Bytes;
use emu::emulator::Direction;
use shim::proto::Dir;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Times of the stack are this much later than those of a script, which leaves room for the handshake.
const BEFORE: Span = Span::secs(1000);
/// Silence between handshake and script.
const QUIET: Span = Span::secs(1);
/// The server's packets of a script begin here: none of the handshake has such a number.
const FIRST_ACK: u32 = 1 << 16;
/// Bytes of an identifier of a connection.
const CID: usize = 8;
/// Bytes of a stream, which fill a datagram beside the header (29 bytes with the tag) and at most 25 of a frame: no second one fits.
static SEGMENT: [u8; DATAGRAM as usize - 42] = [0; DATAGRAM as usize - 42];
/// Most ranges of an ACK frame.
const RANGES: usize = 32;

/// See above.
pub struct Driven {
    pair: Pair,
    /// The client's identifier, as the server knew it last.
    client: [u8; CID],
    /// Largest number that the client has used, and the packets that carried a segment.
    largest: u64,
    packets: BTreeMap<u64, Vec<u64>>,
    /// Packets that the peer has acknowledged, and those that it is about to because they carry no segment.
    acknowledged: BTreeSet<u64>,
    others: Vec<u64>,
    /// Segments below this, and these, were reported.
    cum: u64,
    reported: BTreeSet<u64>,
    next_ack: u32,
    /// Priority of the next stream.
    priority: i32,
    left: Vec<Left>,
}

impl Driven {
    /// A connection that has done nothing.
    pub fn new(pair: Pair) -> Self {
        Self {
            pair,
            client: [0; CID],
            largest: 0,
            packets: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            others: Vec::new(),
            cum: 0,
            reported: BTreeSet::new(),
            next_ack: FIRST_ACK,
            priority: 0,
            left: Vec::new(),
        }
    }

    /// Sends what may leave at `now`, in times of the script.
    fn send(&mut self, now: Time) {
        let mut datagrams = Vec::new();
        let (at, most) = (self.pair.epoch.instant(now + BEFORE), self.pair.offload);
        self.pair.client.send(at, most, &mut |_, datagram| datagrams.push(datagram.to_vec()));
        for datagram in datagrams {
            self.note(now, &datagram);
        }
    }

    /// Notes a datagram of the client.
    fn note(&mut self, now: Time, datagram: &[u8]) {
        let Some((number, elicits, stream)) = packet(datagram, self.largest) else { return };
        self.largest = self.largest.max(number);
        if let Some(id) = stream {
            // A client's streams in one direction are 2, 6, 10, ... (RFC 9000, Section 2.1).
            let segment = id / 4;
            let carried = self.packets.entry(segment).or_default();
            self.left.push((now, segment, !carried.is_empty()));
            carried.push(number);
        } else if elicits {
            self.others.push(number);
        }
    }

    /// The peer acknowledges every packet of `self.acknowledged`.
    fn send_ack(&mut self, now: Time) {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for &number in self.acknowledged.iter().rev() {
            let count = ranges.len();
            match ranges.last_mut() {
                Some(range) if range.0 == number + 1 => range.0 = number,
                _ if count == RANGES => break,
                _ => ranges.push((number, number)),
            }
        }
        let Some(&(start, end)) = ranges.first() else { return };
        let mut datagram = vec![0x43];
        datagram.extend_from_slice(&self.client);
        datagram.extend_from_slice(&self.next_ack.to_be_bytes());
        self.next_ack += 1;
        // RFC 9000, Section 19.3: no delay, the first range, and each of the others behind its gap.
        datagram.push(0x02);
        for value in [end, 0, ranges.len() as u64 - 1, end - start] {
            put(&mut datagram, value);
        }
        for pair in ranges.windows(2) {
            put(&mut datagram, pair[0].0 - pair[1].1 - 2);
            put(&mut datagram, pair[1].1 - pair[1].0);
        }
        datagram.extend_from_slice(&TAG);
        self.pair.receive(now + BEFORE, Direction::Backward, 0, &datagram);
    }
}

impl Scripted for Driven {
    fn open(&mut self, now: Time, rtt: Span) {
        let rtt = rtt.max(Span::millis(1));
        let one_way = Span(rtt.0 / 2);
        let mut clock = now + BEFORE - QUIET - Span(20 * rtt.0);
        let mut under_way: VecDeque<(Time, Direction, Vec<u8>)> = VecDeque::new();
        self.pair.open(clock);
        loop {
            let mut sent = Vec::new();
            self.pair.exchange(clock, &mut |direction, datagram| sent.push((direction, datagram.to_vec())));
            for (direction, datagram) in sent {
                if direction == Direction::Backward {
                    if datagram[0] & 0x80 == 0 {
                        self.client.copy_from_slice(&datagram[1..=CID]);
                    }
                } else if let Some((number, _, _)) = packet(&datagram, self.largest) {
                    self.largest = self.largest.max(number);
                }
                under_way.push_back((clock + one_way, direction, datagram));
            }
            let arrives = under_way.front().map_or(Time::NEVER, |first| first.0);
            clock = arrives.min(self.pair.next()).max(clock);
            if clock >= now + BEFORE {
                break;
            }
            match under_way.pop_front_if(|first| first.0 <= clock) {
                Some((_, direction, datagram)) => self.pair.receive(clock, direction, 0, &datagram),
                None => self.pair.expire(clock),
            }
        }
    }

    fn write(&mut self, now: Time, segments: u64) {
        if let Some((_, connection)) = &mut self.pair.client.connection {
            for _ in 0..segments {
                if let Some(stream) = connection.streams().open(Dir::Uni) {
                    let mut sink = connection.send_stream(stream);
                    // In order, as in TCP: what was lost goes again before anything new.
                    let _ = sink.set_priority(self.priority);
                    self.priority -= 1;
                    shim::write(&mut sink, Bytes::from_static(&SEGMENT));
                }
            }
        }
        self.send(now);
    }

    fn acknowledge(&mut self, now: Time, cum: u64, blocks: &[Range<u64>], duplicate: Option<Range<u64>>) {
        let before = self.acknowledged.len();
        let sacked = blocks.iter().cloned().flatten();
        let fresh: Vec<u64> = (self.cum..cum).chain(sacked).filter(|segment| self.reported.insert(*segment)).collect();
        self.cum = self.cum.max(cum);
        // Of a segment that was sent again the last copy has arrived, unless a duplicate is reported.
        let last = fresh.iter().filter_map(|segment| self.packets.get(segment)?.last());
        self.acknowledged.extend(last);
        for segment in duplicate.into_iter().flatten() {
            self.acknowledged.extend(self.packets.get(&segment).into_iter().flatten());
        }
        if self.acknowledged.len() > before {
            self.acknowledged.extend(self.others.drain(..));
            self.send_ack(now);
        }
        self.send(now);
    }

    fn next(&mut self) -> Time {
        self.pair
            .client
            .next()
            .map_or(Time::NEVER, |at| Time::ZERO + (self.pair.epoch.time(at) - (Time::ZERO + BEFORE)))
    }

    fn expire(&mut self, now: Time) {
        // To the nanosecond above: the stack's clock has no finer ones.
        let at = self.pair.epoch.instant(now + BEFORE + Span(999));
        self.pair.client.expire(at);
        self.send(now);
    }

    fn take_left(&mut self) -> Vec<Left> {
        std::mem::take(&mut self.left)
    }

    fn state(&self) -> (f64, Option<f64>, Option<Span>) {
        let datagrams = |bytes: u64| bytes as f64 / f64::from(DATAGRAM);
        let window = self.pair.window().unwrap_or(0);
        let ssthresh = self.pair.client.connection.as_ref().and_then(|(_, connection)| shim::ssthresh(connection));
        (datagrams(window), ssthresh.filter(|bytes| *bytes < 1 << 62).map(datagrams), self.pair.srtt())
    }
}

/// A packet of the client with a short header: its number, whether an ACK is due, and the stream that it carries.
fn packet(datagram: &[u8], largest: u64) -> Option<(u64, bool, Option<u64>)> {
    let first = *datagram.first()?;
    if first & 0x80 != 0 {
        return None;
    }
    let length = usize::from(first & 3) + 1;
    let (start, end) = (1 + CID, datagram.len().checked_sub(TAG.len())?);
    let truncated = datagram.get(start..start + length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    // Numbers rise: the first one above all others that ends so.
    let window = 1 << (8 * length);
    let expected = largest & !(window - 1) | truncated;
    let number = if expected < largest { expected + window } else { expected };
    let mut frames = datagram.get(start + length..end)?;
    let mut elicits = false;
    while let Some(kind) = take(&mut frames) {
        let mut skip = |count: usize| (0..count).try_for_each(|_| take(&mut frames).map(drop));
        match kind {
            0x00 => continue,
            0x02 | 0x03 => {
                take(&mut frames)?;
                take(&mut frames)?;
                let ranges = take(&mut frames)?;
                let more = if kind == 3 { 3 } else { 0 };
                (0..=2 * ranges + more).try_for_each(|_| take(&mut frames).map(drop))?;
                continue;
            }
            0x08..=0x0f => return Some((number, true, take(&mut frames))),
            0x01 => {}
            0x04 | 0x11 | 0x15 => skip(if kind == 4 { 3 } else { 2 })?,
            0x05 => skip(2)?,
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => skip(1)?,
            0x18 => {
                skip(2)?;
                let length = usize::from(*frames.first()?);
                frames = frames.get(1 + length + 16..)?;
            }
            _ => return Some((number, true, None)),
        }
        elicits = true;
    }
    Some((number, elicits, None))
}

/// Takes an integer of variable length (RFC 9000, Section 16).
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let first = *bytes.first()?;
    let length = 1 << (first >> 6);
    let (head, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(head[1..].iter().fold(u64::from(first & 0x3f), |value, byte| value << 8 | u64::from(*byte)))
}

/// Appends one, in eight bytes.
fn put(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend_from_slice(&(value | 0xc0 << 56).to_be_bytes());
}

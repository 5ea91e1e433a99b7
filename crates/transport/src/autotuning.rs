//! Receive window autotuning: the window grows with the data that the application reads (dynamic right-sizing), as in Linux.
//!
//! Source: E. Weigle and W. Feng, Dynamic Right-Sizing: A Simulation Study, ICCCN 2001; Linux 6.12, `tcp_rcv_space_adjust` (the
//! buffer, once in a round-trip time), `tcp_grow_window` (the window follows by two segments for each that arrives),
//! `tcp_rcv_rtt_measure_ts` (round-trip time by the timestamp's echo); RFC 7323 (window scale, timestamps).
//! Differs from Linux: the application reads at once. A timestamp is one bit, which the receiver inverts when its echo
//! arrives. This gives one round-trip sample per round trip, which is not smoothed; Linux smooths a sample per
//! millisecond. The handshake gives no sample. The window stays the same share of the buffer. No ACK is sent only to
//! update the window.

use crate::options::Autotuning;
use crate::sequence::MAX_OUTSTANDING;
use base::{Flags, Span, Time};

/// Timestamp bit in the window field of an ACK.
const TIMESTAMP: u16 = 1 << 15;

/// Initial estimate of the data that the application reads in a round trip, in segments, as in Linux; less for a
/// smaller first window.
const FIRST_SPACE: u64 = 10;

/// Segments added to twice the data that the application read.
const MARGIN: u64 = 16;

/// Initial and largest window in segments, and their unit in ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLimits {
    initial: u32,
    max: u32,
    /// Window scale (RFC 7323, Section 2): ACKs state the window divided by 2 to the power of this.
    scale: u8,
}

impl WindowLimits {
    /// Limits for segments of `payload` bytes of data.
    #[must_use]
    pub fn new(tuning: &Autotuning, payload: u32) -> Self {
        let segments = |buffer: base::Bytes| {
            let window = tuning.share * buffer.0 as f64 / f64::from(payload);
            (window as u32).clamp(1, MAX_OUTSTANDING)
        };
        let max = segments(tuning.max);
        let scale = (max / u32::from(TIMESTAMP)).checked_ilog2().map_or(0, |bits| bits as u8 + 1);
        Self { initial: segments(tuning.initial).min(max), max, scale }
    }

    /// Initial window of ACKs.
    #[must_use]
    pub fn initial(&self) -> u32 {
        self.read(self.field(self.initial))
    }

    /// Largest window of ACKs.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.read(self.field(self.max))
    }

    /// Encodes a window, in segments, as the field of an ACK; at least 1.
    fn field(&self, window: u32) -> u16 {
        ((window >> self.scale) as u16).max(1)
    }

    /// Decodes the window of an ACK.
    #[must_use]
    pub fn read(&self, field: u16) -> u32 {
        u32::from(field & !TIMESTAMP) << self.scale
    }

    /// Whether the timestamp bit of an ACK is set.
    #[must_use]
    pub fn timestamp(field: u16) -> bool {
        field & TIMESTAMP != 0
    }
}

/// Window tuning of one receiver.
#[derive(Clone, Copy, Debug)]
pub struct Tuner {
    limits: WindowLimits,
    /// Whether the final window is repeated in every ACK, since any may be lost.
    repeats: bool,
    /// Advertised window, in segments.
    window: u32,
    /// Largest window the receive buffer allows now, in segments.
    room: u32,
    /// Largest amount of data that the application read in a round trip.
    space: u64,
    /// Start of the count of delivered data: time, and first segment; `NEVER` before the first.
    since: (Time, u64),
    /// Round-trip time; zero before the first sample.
    rtt: Span,
    /// Timestamp bit, and when it was first sent; `NEVER` until it was.
    bit: bool,
    left: Time,
}

impl Tuner {
    /// Tuner of a receiver that has not received anything; `may_lose_acks` says whether ACKs can be lost.
    #[must_use]
    pub fn new(limits: WindowLimits, may_lose_acks: bool) -> Self {
        Self {
            limits,
            repeats: may_lose_acks,
            window: limits.initial,
            room: limits.initial,
            // Linux keeps one segment of the first window back (`tcp_init_buffer_space`), so that a full window grows.
            space: FIRST_SPACE.min(u64::from(limits.initial().saturating_sub(1))).max(1),
            since: (Time::NEVER, 0),
            rtt: Span::ZERO,
            bit: true,
            left: Time::NEVER,
        }
    }

    /// Copy of the tuner with initial state, for another transfer.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self::new(self.limits, self.repeats)
    }

    /// Processes arriving segments, `new` of which are new; `next` is the segment expected in order. Returns the window
    /// field of the ACK, with the timestamp.
    pub fn on_segments(&mut self, now: Time, next: u64, new: u32, flags: Flags) -> u16 {
        if self.since.0 == Time::NEVER {
            self.since = (now, next);
        }
        if self.left != Time::NEVER && flags.has(Flags::ECHO) == self.bit {
            self.rtt = (now - self.left).max(Span(1));
            (self.bit, self.left) = (!self.bit, Time::NEVER);
        }
        self.window = self.window.saturating_add(new.saturating_mul(2)).min(self.room);
        self.limits.field(self.window) | if self.bit { TIMESTAMP } else { 0 }
    }

    /// Notes that an ACK is sent.
    pub fn on_ack(&mut self, now: Time) {
        self.left = self.left.min(now);
    }

    /// Notes that the application has read everything below `next`. Returns whether tuning is complete.
    pub fn on_read(&mut self, now: Time, next: u64) -> bool {
        let (since, from) = self.since;
        if self.rtt == Span::ZERO || now < since + self.rtt {
            return self.is_done();
        }
        let copied = next - from;
        if copied > self.space {
            // Twice the data, because slow start doubles the window, and more in proportion to the growth since the
            // last time.
            let wanted = 2 * copied + MARGIN;
            let wanted = wanted + 2 * (wanted * (copied - self.space) / self.space);
            self.room = self.room.max(wanted.min(u64::from(self.limits.max)) as u32);
            self.space = copied;
        }
        self.since = (now, next);
        self.is_done()
    }

    /// Whether the window is at its maximum and need not be repeated in ACKs.
    fn is_done(&self) -> bool {
        self.window == self.limits.max && !self.repeats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Bytes;

    const MS: Span = Span::millis(1);

    fn limits(max: u64) -> WindowLimits {
        WindowLimits::new(&Autotuning { max: Bytes(max), ..Autotuning::default() }, 1448)
    }

    #[test]
    fn the_first_window_is_the_one_that_linux_advertises_in_a_syn_ack() {
        // A SYN-ACK of Linux with timestamps says 65,160 bytes: 45 segments of 1,448 in half of 128 KiB.
        assert_eq!(limits(6 << 20).initial() * 1448, 65_160);
        // 3 MiB are 2,172 segments, 16 MiB 11,586.
        assert_eq!([6 << 20, 32 << 20].map(|max| limits(max).max()), [2_172, 11_586]);
    }

    #[test]
    fn a_first_window_of_few_segments_grows_when_it_is_used_in_full() {
        // Jumbo frames: 65,536 bytes are 7 segments of 8,948, fewer than the ten that are assumed to be read in the
        // first round trip.
        let mut tuner = Tuner::new(WindowLimits::new(&Autotuning::default(), 8948), false);
        assert_eq!(tuner.limits.initial, 7);
        tuner.rtt = MS;
        tuner.since = (Time::ZERO, 0);
        assert!(!tuner.on_read(Time::ZERO + MS, 7));
        assert!(tuner.room > 14, "{}", tuner.room);
        // In units of two segments the initial window is advertised as six.
        let large = Autotuning { max: Bytes(600_000_000), ..Autotuning::default() };
        let mut tuner = Tuner::new(WindowLimits::new(&large, 8948), false);
        assert_eq!((tuner.limits.initial, tuner.limits.initial()), (7, 6));
        (tuner.rtt, tuner.since) = (MS, (Time::ZERO, 0));
        assert!(!tuner.on_read(Time::ZERO + MS, 6));
        assert!(tuner.room > 12, "{}", tuner.room);
    }

    #[test]
    fn a_large_window_is_advertised_in_larger_units() {
        for max in [94_896_000u64, 94_900_000, 1 << 30, (1 << 31) - 1] {
            let limits = limits(max);
            let exact = (max as f64 * 0.5 / 1448.0) as u32;
            assert!(limits.max() <= exact && exact - limits.max() < 1 << limits.scale, "{max}");
            assert!(limits.max >> limits.scale < u32::from(TIMESTAMP), "{max}");
            assert!(
                limits.scale == 0 || limits.max >> (limits.scale - 1) >= u32::from(TIMESTAMP),
                "a smaller unit is not enough: {max}"
            );
        }
    }

    /// The largest window (`room`) after each round trip of 10 ms, in which the application reads `per_rtt` segments.
    fn rooms(per_rtt: &[u64]) -> Vec<u32> {
        let mut tuner = Tuner::new(limits(1 << 30), false);
        (tuner.rtt, tuner.since) = (Span(10 * MS.0), (Time::ZERO, 0));
        let (mut now, mut next) = (Time::ZERO, 0);
        let rooms = per_rtt.iter().map(|segments| {
            (now, next) = (now + Span(10 * MS.0), next + segments);
            tuner.on_read(now, next);
            tuner.room
        });
        rooms.collect()
    }

    #[test]
    fn room_is_twice_the_data_read_per_round_trip_plus_a_part_that_follows_its_growth() {
        // 2 * 20 + 16 = 56, plus twice that for a doubling of the data; 2 * 40 + 16 = 96, plus twice that; 2 * 60 + 16
        // = 136, plus once that for a growth by one half.
        assert_eq!(rooms(&[10, 20, 40, 60]), [45, 168, 288, 288]);
        assert_eq!(rooms(&[10, 20, 40, 80, 120]), [45, 168, 288, 528, 528], "256 plus 256 is less than 528");
        // With equal or less data the room stays.
        assert_eq!(rooms(&[200, 200, 100]), [416 + 2 * 416 * 19, 416 + 2 * 416 * 19, 416 + 2 * 416 * 19]);
    }

    #[test]
    fn the_window_grows_by_two_segments_for_each_that_arrives() {
        let (mut tuner, limits) = (Tuner::new(limits(6 << 20), false), limits(6 << 20));
        tuner.room = 100;
        let windows = (0..30).map(|k| limits.read(tuner.on_segments(Time::ZERO, k, 1, Flags::NONE)));
        assert_eq!(windows.collect::<Vec<_>>(), (1..=30).map(|k| (45 + 2 * k).min(100)).collect::<Vec<_>>());
    }

    #[test]
    fn a_sample_is_from_the_first_ack_with_a_timestamp_to_its_echo() {
        let mut tuner = Tuner::new(limits(6 << 20), false);
        let mut at = |ms: u64, echo: bool, acks: bool| {
            let (now, flags) = (Time::ZERO + Span(ms * MS.0), if echo { Flags::ECHO } else { Flags::NONE });
            let said = WindowLimits::timestamp(tuner.on_segments(now, 0, 1, flags));
            if acks {
                tuner.on_ack(now);
            }
            (said, tuner.rtt)
        };
        assert_eq!(at(1, true, false), (true, Span::ZERO), "a timestamp that was not sent cannot be echoed");
        assert_eq!(at(2, false, true), (true, Span::ZERO));
        assert_eq!(at(3, false, true), (true, Span::ZERO), "only the first ACK with a timestamp counts");
        assert_eq!(at(12, true, true), (false, Span(10 * MS.0)));
        assert_eq!(at(13, true, true), (false, Span(10 * MS.0)), "sent before the new timestamp arrived");
        assert_eq!(at(27, false, true), (true, Span(15 * MS.0)));
    }
}

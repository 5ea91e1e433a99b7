//! Ranges outside which a scenario is refused: values that would not safely fit the engine's integers, or that are
//! certainly a mistake. A range that only one key uses is given with that key.

use base::{Bytes, Rate, Span};
use std::ops::RangeInclusive;

/// Number of letters in a name.
pub(crate) const NAME: RangeInclusive<u64> = 1..=64;
/// Number of flows in a group, and in all groups together.
pub(crate) const FLOWS: RangeInclusive<u64> = 1..=10_000_000;
/// Number of links in a table, and in all tables together.
pub(crate) const LINKS: RangeInclusive<u64> = 1..=100_000;
/// Wire bytes: at least a header and one byte of payload, at most the largest size in IPv4.
pub(crate) const PACKET: RangeInclusive<Bytes> = Bytes(41)..=Bytes(65_535);

/// Rate of a link; at 1 kbit/s the largest packet takes nine minutes.
pub(crate) const RATE: RangeInclusive<Rate> = Rate(1000)..=Rate(1_000_000_000_000_000);
pub(crate) const DELAY: RangeInclusive<Span> = Span::ZERO..=Span::secs(3600);
/// A segment must not time out before its ACK can return; the largest timeout of RFC 6298 is 60 s.
pub(crate) const RTT: RangeInclusive<Span> = Span::micros(1)..=Span::secs(50);

/// About eleven days, so that sums of several times stay within 64 bits of picoseconds.
pub(crate) const INSTANT: RangeInclusive<Span> = Span::ZERO..=Span::secs(1_000_000);
/// Samples of one run; a table can hold 10^7 rows.
pub(crate) const SAMPLES_MAX: u64 = 10_000_000;
/// Packets recorded one by one in a run, at the highest rate of the links.
pub(crate) const PACKETS_MAX: f64 = 1e7;

//! Ranges outside which a scenario is refused: what fits the engine's integers with room to spare, or what cannot have
//! been meant. Those that only one key has stand with the key.

use base::{Bytes, Rate, Span};
use std::ops::RangeInclusive;

/// Letters of a name.
pub(crate) const NAME: RangeInclusive<u64> = 1..=64;
/// Number of flows in a group, and in all groups together.
pub(crate) const FLOWS: RangeInclusive<u64> = 1..=10_000_000;
/// Number of links in a table, and in all tables together.
pub(crate) const LINKS: RangeInclusive<u64> = 1..=100_000;
/// Wire bytes: a header and at least one byte of payload, at most what IPv4 can say.
pub(crate) const PACKET: RangeInclusive<Bytes> = Bytes(41)..=Bytes(65_535);

/// Rate of a link: at 1 kbit/s the largest packet takes nine minutes.
pub(crate) const RATE: RangeInclusive<Rate> = Rate(1000)..=Rate(1_000_000_000_000_000);
pub(crate) const DELAY: RangeInclusive<Span> = Span::ZERO..=Span::secs(3600);
/// A segment must not time out before its ACK can come back: RFC 6298's largest timeout is 60 s.
pub(crate) const RTT: RangeInclusive<Span> = Span::micros(1)..=Span::secs(50);

/// Sums of a few such times stay inside 64 bits of picoseconds: eleven days.
pub(crate) const INSTANT: RangeInclusive<Span> = Span::ZERO..=Span::secs(1_000_000);
/// Samples of one run: 10^7 rows are what a table still bears.
pub(crate) const SAMPLES_MAX: u64 = 10_000_000;
/// Packets of one run recorded one by one, as many as the links can carry.
pub(crate) const PACKETS_MAX: f64 = 1e7;

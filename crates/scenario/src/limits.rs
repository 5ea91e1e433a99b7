//! Ranges outside which a scenario is refused: what fits the engine's integers with room to spare, or what cannot have
//! been meant.

use base::{Rate, Span};
use std::ops::RangeInclusive;

pub(crate) const REPLICATIONS: RangeInclusive<u64> = 1..=10_000;
/// TOML's integers are signed; canonical forms may hold any 64 bits.
pub(crate) const SEED_IN_FILES: RangeInclusive<u64> = 0..=i64::MAX as u64;
/// Of a group, and of all groups together.
pub(crate) const FLOWS: RangeInclusive<u64> = 1..=10_000_000;
/// Of a table, and of all tables together.
pub(crate) const LINKS: RangeInclusive<u64> = 1..=100_000;
/// Wire bytes: a header and at least one byte of payload, at most what IPv4 can say.
pub(crate) const PACKET: RangeInclusive<u64> = 41..=65_535;
pub(crate) const INITIAL_WINDOW: RangeInclusive<u64> = 1..=1000;
pub(crate) const RECEIVE_WINDOW: RangeInclusive<u64> = 1..=1_000_000_000;
pub(crate) const DELAYED_ACK: RangeInclusive<u64> = 1..=64;
pub(crate) const LOSS_EVERY: RangeInclusive<u64> = 2..=1_000_000_000_000;

/// At 1 kbit/s the largest packet takes nine minutes.
pub(crate) const RATE_MIN: Rate = Rate(1000);
pub(crate) const DELAY: RangeInclusive<Span> = Span::ZERO..=Span::secs(3600);
/// A segment must not time out before its ACK can come back: RFC 6298's largest timeout is 60 s.
pub(crate) const RTT: RangeInclusive<Span> = Span::micros(1)..=Span::secs(50);
pub(crate) const TIMER: RangeInclusive<Span> = Span::nanos(1)..=Span::secs(3600);
pub(crate) const SEND_JITTER: RangeInclusive<Span> = Span::ZERO..=Span::secs(1);

/// Sums of a few such times stay inside 64 bits of picoseconds: eleven days.
pub(crate) const INSTANT: RangeInclusive<Span> = Span::ZERO..=Span::secs(1_000_000);
/// Samples of one run: 10^7 rows are what a table still bears.
pub(crate) const SAMPLES_MAX: u64 = 10_000_000;
/// Packets of one run recorded one by one, as many as the links can carry.
pub(crate) const PACKETS_MAX: f64 = 1e7;

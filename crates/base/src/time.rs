//! Instants and spans in integer picoseconds, so that sums are exact and simultaneous times are equal.
//!
//! 2^64 ps are 213 days. A service time is at least one picosecond ([`crate::Rate::serialize`]), so a packet never takes
//! zero time.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A length of time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event: the deadline of a timer that is not set.
    pub const NEVER: Self = Self(u64::MAX);

    /// Seconds since the start.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The time `span` later; [`Self::NEVER`] if the sum is out of range.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The time `span` earlier, but not before the start.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// The span since `earlier`, or zero if `earlier` is not earlier.
    #[inline]
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Zero time.
    pub const ZERO: Self = Self(0);

    /// `n` nanoseconds.
    #[must_use]
    pub const fn nanos(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// `n` microseconds.
    #[must_use]
    pub const fn micros(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` milliseconds.
    #[must_use]
    pub const fn millis(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// `n` seconds.
    #[must_use]
    pub const fn secs(n: u64) -> Self {
        Self(n * PS_PER_S)
    }

    /// The nearest span to `s` seconds; negative and NaN give zero.
    #[must_use]
    pub fn from_secs(s: f64) -> Self {
        Self((s * PS_PER_S as f64).round() as u64)
    }

    /// The length in seconds.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    #[inline]
    fn sub(self, span: Span) -> Self {
        Self(self.0 - span.0)
    }
}

impl Sub for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_survive_the_round_trip() {
        for s in [0.0, 1e-12, 0.115_5, 3600.0] {
            assert_eq!(Span::from_secs(s).as_secs(), s);
        }
        assert_eq!(Span::from_secs(-1.0), Span::ZERO);
    }

    #[test]
    fn saturating_sums_stay_between_the_start_and_never() {
        assert_eq!((Time(7).saturating_add(Span(2)), Time(7).saturating_sub(Span(2))), (Time(9), Time(5)));
        assert_eq!((Time::NEVER.saturating_add(Span(1)), Time(1).saturating_sub(Span(2))), (Time::NEVER, Time::ZERO));
    }
}

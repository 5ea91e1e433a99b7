//! Switches of a sender: RFC 3042, the usual limits of RFC 3465 (two segments, or none), timestamps, whether its
//! control wants every round-trip time, and whether it expects reports of duplicates.

use crate::Options;
use law::Needs;

/// Flags packed into a byte: another field would make every sender eight bytes larger.
#[derive(Clone, Copy, Debug)]
pub struct Switches(u8);

impl Switches {
    /// Flag: limited transmit (RFC 3042).
    const LIMITED_TRANSMIT: u8 = 1;
    /// Flag: no limit on the growth per ACK in slow start, where RFC 3465 has two segments.
    const NO_ABC_LIMIT: u8 = 2;
    /// Flag: the control wants the round-trip time of every segment.
    const EVERY_RTT: u8 = 4;
    /// Flag: every ACK gives a round-trip sample (RFC 7323).
    const TIMESTAMPS: u8 = 8;
    /// Flag: duplicates are reported, and a reduction may be undone.
    const NOTICES_DUPLICATES: u8 = 16;

    /// Flags for these options and needs. Other limits of growth are kept in `OptionalState`.
    #[must_use]
    pub fn new(options: &Options, needs: Needs) -> Self {
        let when = |is_so: bool, bit: u8| if is_so { bit } else { 0 };
        let limited_transmit = when(options.limited_transmit, Self::LIMITED_TRANSMIT);
        let no_abc_limit = when(options.abc_limit.is_none(), Self::NO_ABC_LIMIT);
        let timestamps = when(options.timestamps, Self::TIMESTAMPS);
        Self(limited_transmit | no_abc_limit | timestamps | when(needs.every_rtt, Self::EVERY_RTT))
    }

    /// Whether the first two duplicate ACKs release new segments.
    #[inline]
    #[must_use]
    pub fn limited_transmit(self) -> bool {
        self.0 & Self::LIMITED_TRANSMIT != 0
    }

    /// Whether the control wants the round-trip time of every segment.
    #[inline]
    #[must_use]
    pub fn every_rtt(self) -> bool {
        self.0 & Self::EVERY_RTT != 0
    }

    /// Whether every ACK gives a round-trip sample.
    #[inline]
    #[must_use]
    pub fn timestamps(self) -> bool {
        self.0 & Self::TIMESTAMPS != 0
    }

    /// Expects reports of duplicates from now on.
    pub fn notice_duplicates(&mut self) {
        self.0 |= Self::NOTICES_DUPLICATES;
    }

    /// Whether duplicates are reported, and a reduction may be undone.
    #[inline]
    #[must_use]
    pub fn notices_duplicates(self) -> bool {
        self.0 & Self::NOTICES_DUPLICATES != 0
    }

    /// Largest number of segments by which one ACK grows the window in slow start.
    #[inline]
    #[must_use]
    pub fn abc_limit(self) -> f64 {
        if self.0 & Self::NO_ABC_LIMIT != 0 { f64::INFINITY } else { 2.0 }
    }
}

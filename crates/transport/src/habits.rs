//! What every sender does or not: RFC 3042, and the limit of RFC 3465 as most have it.

use crate::Options;

/// Two keys in a byte: another would make every sender eight larger.
#[derive(Clone, Copy, Debug)]
pub struct Habits(u8);

impl Habits {
    /// RFC 3042.
    const LIMITED_TRANSMIT: u8 = 1;
    /// No limit to what one ACK grows the window by in slow start, where RFC 3465 has two segments.
    const NO_ABC_LIMIT: u8 = 2;

    /// Those that the keys ask for; other limits of growth are kept elsewhere.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        let when = |is_so: bool, bit: u8| if is_so { bit } else { 0 };
        let limited_transmit = when(options.limited_transmit, Self::LIMITED_TRANSMIT);
        Self(limited_transmit | when(options.abc_limit.is_none(), Self::NO_ABC_LIMIT))
    }

    /// Whether the first two duplicate ACKs release new segments.
    #[inline]
    #[must_use]
    pub fn limited_transmit(self) -> bool {
        self.0 & Self::LIMITED_TRANSMIT != 0
    }

    /// Segments by which one ACK grows the window in slow start at most.
    #[inline]
    #[must_use]
    pub fn abc_limit(self) -> f64 {
        if self.0 & Self::NO_ABC_LIMIT != 0 { f64::INFINITY } else { 2.0 }
    }
}

//! What disciplines refuse alike.

use base::{ParamError, Span};

/// Refuses a clock that would hardly ever stop ringing: each ring costs time, also on an idle link.
pub(crate) fn clock(field: &'static str, period: Span) -> Result<(), ParamError> {
    if period < Span::micros(10) { Err(ParamError::new(field, "must be at least 10 us")) } else { Ok(()) }
}

/// Refuses a gain below 0, or one so large that sums of what it gives are no numbers any more.
pub(crate) fn gain(field: &'static str, gain: f64) -> Result<(), ParamError> {
    if (0.0..=1e6).contains(&gain) { Ok(()) } else { Err(ParamError::new(field, "must lie between 0 and 10^6")) }
}

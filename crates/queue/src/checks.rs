//! Limits of parameters that several disciplines share.

use base::{ParamError, Span};

/// Rejects timer periods below 10 us: each expiry costs simulation time, also on an idle link.
pub(crate) fn clock(field: &'static str, period: Span) -> Result<(), ParamError> {
    if period < Span::micros(10) { Err(ParamError::new(field, "must be at least 10 us")) } else { Ok(()) }
}

/// Rejects gains below 0, and those so large that sums overflow.
pub(crate) fn gain(field: &'static str, gain: f64) -> Result<(), ParamError> {
    if (0.0..=1e6).contains(&gain) { Ok(()) } else { Err(ParamError::new(field, "must lie between 0 and 10^6")) }
}

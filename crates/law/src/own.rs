//! Controls of two types in one run: those of the registry, and the caller's.

use crate::{AckSample, CongestionControl, CongestionEvent, Delivery, Lost, Needs, Restart, Step};
use base::{Header, Span, Time};

/// One of two types of controls, for runs that use both, such as [`crate::Control`], which a scenario names, and a control
/// of the caller. Nested pairs allow three or more types.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The first type.
    First(A),
    /// The second type.
    Second(B),
}

congestion_control! { Either<A, B> { First Second } }

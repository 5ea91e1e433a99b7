//! Controls of two types in one run: the registry's, and others that callers have.

use crate::{AckSample, CongestionControl, CongestionEvent, Delivery, Lost, Needs, Restart, Step};
use base::{Header, Span, Time};

/// One of two controls: for runs in which some flows have the one and some the other, such as [`crate::Control`], which a scenario
/// names, and a control of one's own. For three, one of the two is such a pair.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The one.
    First(A),
    /// The other.
    Second(B),
}

congestion_control! { Either<A, B> { First Second } }

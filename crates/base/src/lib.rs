//! Time, sizes, rates, identifiers, random streams, and quantities as text: what every other room agrees on.
//!
//! Nothing here reads a clock, and nothing here knows TCP or queues.

pub mod amount;
pub mod packet;
pub mod param;
pub mod rate;
pub mod registry;
pub mod rng;
pub mod text;
pub mod time;

pub use amount::{Amount, Auto, Scale};
pub use packet::{Cause, Flags, Header};
pub use param::{Card, Param, ParamError, Value};
pub use rate::{Bytes, Rate};
pub use registry::{Entry, Registered};
pub use rng::Stream;
pub use time::{Span, Time};

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

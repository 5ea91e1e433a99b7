//! Basic types of all other crates: time, sizes, rates, identifiers, random streams, and quantities as text.
//!
//! This crate reads no clock and does not know TCP or queues.

pub mod amount;
pub mod keys;
pub mod monitor;
pub mod need;
pub mod packet;
pub mod param;
pub mod pareto;
pub mod quantity;
pub mod rate;
pub mod registry;
pub mod rng;
pub mod scale;
pub mod spelling;
pub mod steps;
pub mod text;
pub mod time;
pub mod values;

pub use amount::{Amount, Auto};
pub use keys::Key;
pub use monitor::RunMonitor;
pub use need::Need;
pub use packet::{Cause, Flags, Header, PacketNumber};
pub use param::{Card, Param, ParamError, Value};
pub use pareto::ParetoQuantiles;
pub use quantity::Quantity;
pub use rate::{Bytes, Rate};
pub use registry::{Entry, Registered};
pub use rng::Stream;
pub use scale::Scale;
pub use time::{Span, Time};
pub use values::{Ranged, Values};

/// Tests the examples of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! The scenario file as typed data.

mod resolved;

pub use resolved::*;

//! Congestion controls in the Linux kernel: the C that the laws' object takes its parameters from, and (feature `load`) a loader.
//!
//! Source: none. The only crate, with `emu`, that calls the system.

mod header;
#[cfg(feature = "load")]
pub mod loader;

pub use header::header;

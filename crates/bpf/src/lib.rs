//! Congestion controls in the Linux kernel: the C code with the parameters of the laws' object, and (feature `load`) a
//! loader.
//!
//! Source: none. Unlike the simulator's crates, this one calls the operating system.

mod header;
#[cfg(feature = "load")]
pub mod loader;

pub use header::header;

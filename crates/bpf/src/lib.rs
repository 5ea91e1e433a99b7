//! The laws in the Linux kernel: what the objects of `crates/bpf/kernel/` are given, and (feature `load`) who loads them.
//!
//! Source: none. The only crate, with `emu`, that calls the system.

mod header;
#[cfg(feature = "load")]
pub mod loader;
pub mod params;

pub use header::header;
pub use params::{LAWS, Params};

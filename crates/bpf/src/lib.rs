//! The laws in the Linux kernel: the parameters of the objects in `crates/bpf/kernel/`, and (feature `load`) their
//! loader.
//!
//! Source: none. The only crate, with `emu`, that calls the system.

mod header;
#[cfg(feature = "load")]
pub mod loader;
pub mod params;

pub use header::header;
pub use params::{LAWS, Params};

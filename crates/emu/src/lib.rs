//! A bottleneck for real packets. It connects two network namespaces by the simulator's link and disciplines.
//!
//! Source: none. Unlike the simulator's crates, this crate reads a clock and opens devices.

pub mod emulator;
pub mod packet;
pub mod record;

#[cfg(target_os = "linux")]
pub mod awake;
#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod relay;
#[cfg(target_os = "linux")]
pub mod tun;

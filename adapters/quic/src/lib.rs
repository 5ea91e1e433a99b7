//! Congestion controls of QUIC stacks on elephan's links, in virtual time.

pub mod handshake;
pub mod inside;
pub mod laws;
pub mod network;
pub mod noq;
pub mod quinn;
pub mod s2n;
pub mod script;
pub mod simulate;
pub mod stack;

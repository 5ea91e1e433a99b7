//! TCP: the sender and the receiver of one connection, driven by a caller that provides the network and the time.

mod ack;
mod autotuning;
mod bursts;
mod connection;
mod cumulative;
mod deliveries;
mod departures;
mod ecn;
mod habits;
mod optional;
mod options;
mod pacing;
mod prr;
mod rack;
mod rack_recovery;
mod ranges;
mod receiver;
mod recovery;
mod rtt;
mod sack;
mod scoreboard;
mod selective;
mod sender;
mod sequence;
#[cfg(test)]
mod testing;
mod timers;
mod validation;

pub use ack::{Ack, MAX_BLOCKS};
pub use autotuning::WindowLimits;
pub use options::{
    Autotuning, Burst, Coalescing, Device, Ecn, Options, Pacing, PacingFactors, ReceiveWindow, Recovery, Rto,
    WindowValidation,
};
pub use ranges::Ranges;
pub use receiver::Receiver;
pub use rtt::{Rtt, TimerOptions};
pub use scoreboard::{DUP_THRESH, Scoreboard};

pub use sender::{Counters, Phase, Sender, Wire};
pub use sequence::{MAX_OUTSTANDING, NO_END};

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

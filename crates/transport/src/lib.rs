//! TCP: the sender and the receiver of one connection, driven by whoever owns the network and the time.

mod ack;
mod cumulative;
mod deliveries;
mod departures;
mod extra;
mod options;
mod prr;
mod rack;
mod rack_repair;
mod ranges;
mod receiver;
mod rtt;
mod runs;
mod scoreboard;
mod selective;
mod sender;

pub use ack::{Ack, MAX_BLOCKS};
pub use options::{Ecn, Options, Recovery};
pub use ranges::Ranges;
pub use receiver::Receiver;
pub use rtt::Rtt;
pub use scoreboard::{DUP_THRESH, Scoreboard};
pub use sender::{Counters, Phase, Sender, Wire};

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

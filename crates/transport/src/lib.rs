//! TCP: the sender and the receiver of one connection, driven by a caller that provides the network and the time.

mod ack;
mod autotuning;
mod bursts;
mod deliveries;
mod departures;
mod ecn;
mod events;
mod loss;
mod optional;
mod options;
mod pacing;
mod ranges;
mod receiver;
mod rtt;
mod sender;
mod sequence;
mod state;
mod switches;
#[cfg(test)]
mod testing;
mod timers;
mod validation;

pub use ack::{Ack, MAX_BLOCKS};
pub use autotuning::WindowLimits;
pub use events::{CaState, EventKind, EventLog, Reason, SenderEvent, Window};
pub use loss::Recovery;
pub use loss::scoreboard::Scoreboard;
pub use options::{
    Autotuning, Burst, Coalescing, DUP_THRESH, Device, DupThresh, Ecn, Options, Pacing, PacingFactors, ReceiveWindow,
    Rto, Undo, WindowValidation,
};
pub use ranges::Ranges;
pub use receiver::Receiver;
pub use rtt::{Rtt, TimerOptions};
pub use sender::{AckRow, Counters, Features, Info, SendLimit, Sender, Spurious, Wire};
pub use sequence::{MAX_OUTSTANDING, NO_END, Outstanding, SequenceSpace};
pub use state::Phase;

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

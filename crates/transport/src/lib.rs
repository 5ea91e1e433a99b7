//! TCP: the sender and the receiver of one connection, driven by whoever owns the network and the time.

mod options;

pub use options::{Options, Recovery};

//! What an application offers to its sender, and when. TCP internals stay out: traffic answers how much there is to send.
//!
//! Source: greedy and finite FTP sources as every paper on TCP uses them.

mod registry;

pub use registry::{TRAFFIC, TrafficSpec};

use base::{Card, Param};

/// A catalogue entry: the card and the parameters.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name, title, source.
    pub card: Card,
    /// Its parameters.
    pub rows: fn() -> Vec<Param>,
}

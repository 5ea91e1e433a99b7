//! Reference values for amounts of data: properties of a link and of its flows.

use crate::rate::Rate;

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Rate of the link.
    pub rate: Rate,
    /// Mean size of its packets on the wire, in bytes.
    pub packet: f64,
    /// Its buffer, in packets; `None` if it is unlimited.
    pub buffer: Option<f64>,
    /// Its bandwidth-delay product, in packets; `None` if no flow with a round-trip time uses it.
    pub bdp: Option<f64>,
}

impl Scale {
    /// Packets that pass per second.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        self.rate.0 as f64 / (8.0 * self.packet)
    }
}

//! The link as its queue sees it: its buffer, its rate, and the packets and round-trip times of its flows.

use crate::{Backlog, Packet};
use base::{Amount, Bytes, Rate, Scale};

/// The size of the buffer: what may wait, without the packet in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Limit on the number of waiting packets.
    Packets(u32),
    /// Limit on the waiting bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

impl Limit {
    /// Whether `packet` still fits if `backlog` waits.
    #[inline]
    #[must_use]
    pub fn has_room(self, backlog: Backlog, packet: &Packet) -> bool {
        match self {
            Self::Packets(n) => backlog.packets < n,
            Self::Bytes(n) => backlog.bytes.0 + u64::from(packet.size) <= n.0,
            Self::Unlimited => true,
        }
    }

    /// Whether `backlog` is within the limit.
    #[inline]
    #[must_use]
    pub fn holds(self, backlog: Backlog) -> bool {
        match self {
            Self::Packets(n) => backlog.packets <= n,
            Self::Bytes(n) => backlog.bytes <= n,
            Self::Unlimited => true,
        }
    }
}

/// Properties of a link that its discipline uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    /// The buffer.
    pub limit: Limit,
    /// Rate of the link.
    pub rate: Rate,
    /// Mean size of its packets, in bytes.
    pub packet: f64,
    /// The bandwidth-delay product in bytes; `None` if no flow with a round-trip time uses the link.
    pub bdp: Option<f64>,
}

impl Port {
    /// A port whose packets have `packet` bytes.
    #[must_use]
    pub fn new(limit: Limit, rate: Rate, packet: f64) -> Self {
        Self { limit, rate, packet, bdp: None }
    }

    /// The buffer in packets of the mean size; `None` if it is unlimited.
    #[must_use]
    pub fn buffer(&self) -> Option<f64> {
        match self.limit {
            Limit::Packets(n) => Some(f64::from(n)),
            Limit::Bytes(n) => Some(n.0 as f64 / self.packet),
            Limit::Unlimited => None,
        }
    }

    /// The buffer in bytes; `None` if it is unlimited.
    #[must_use]
    pub fn buffer_bytes(&self) -> Option<f64> {
        self.buffer().map(|packets| packets * self.packet)
    }

    /// A resolved amount in whole bytes.
    #[must_use]
    pub fn bytes(&self, amount: Amount) -> f64 {
        (amount.packets() * self.packet).round()
    }

    /// Packets of the mean size that the link carries per second.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        self.scale().capacity()
    }

    /// Reference values for amounts on this link.
    #[must_use]
    pub fn scale(&self) -> Scale {
        Scale { rate: self.rate, packet: self.packet, buffer: self.buffer(), bdp: self.bdp.map(|b| b / self.packet) }
    }
}

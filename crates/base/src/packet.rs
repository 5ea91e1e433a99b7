//! What a packet carries between sender, router and receiver besides its sequence number, and why routers drop it.
//!
//! `law` and `queue` never meet: what sender and router say to each other are these bits.

use serde::Serialize;

/// The flag bits that travel with a packet. Eight bits beside a 24-bit flow number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// Nothing set.
    pub const NONE: Self = Self(0);
    /// ECN-capable transport (RFC 3168).
    pub const ECT: Self = Self(1);
    /// Congestion experienced, set by a router on an ECT packet (RFC 3168).
    pub const CE: Self = Self(2);
    /// Congestion window reduced, on data (RFC 3168).
    pub const CWR: Self = Self(8);
    /// This packet is an acknowledgement.
    pub const ACK: Self = Self(16);
    /// This segment was sent before.
    pub const RETRANSMITTED: Self = Self(32);
    /// Beside ECT, on packets of senders with a scalable control (DCTCP and its kin): the code point is ECT(1), which asks
    /// for low latency (L4S, RFC 9331). Routers without a queue for it see an ECN-capable packet.
    pub const L4S: Self = Self(64);

    /// Whether all bits of `other` are set.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits and those of `other`.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What senders and routers of explicit-control schemes write into each packet: the congestion header of XCP. All zero in
/// packets of everybody else.
///
/// Source: Katabi, Handley and Rohrs 2002, Section 3.2; 32 bits a field as in draft-falk-xcp-spec-03.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// The sender's round-trip time, in seconds; 0 while it knows none.
    pub rtt: f32,
    /// The sender's window, in bytes; 0 in packets without such a header.
    pub cwnd: f32,
    /// Change of the window that the sender asks for, then what the routers grant, in bytes.
    pub feedback: f32,
}

impl Header {
    /// No header.
    pub const NONE: Self = Self { rtt: 0.0, cwnd: 0.0, feedback: 0.0 };

    /// Whether the packet carries one.
    #[inline]
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.cwnd > 0.0
    }

    /// With window and feedback multiplied by `factor`: routers count bytes, senders and receivers segments.
    #[inline]
    #[must_use]
    pub fn times(self, factor: f32) -> Self {
        Self { cwnd: self.cwnd * factor, feedback: self.feedback * factor, ..self }
    }
}

/// Why a router dropped or marked a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The buffer was full.
    Overflow,
    /// An AQM's choice ahead of need: by chance (RED and its kin, PIE), or at a marking threshold.
    Early,
    /// An AQM's certain choice (average above the maximum threshold).
    Forced,
    /// The packet had waited too long (CoDel).
    Sojourn,
    /// The scenario asked for this loss (`loss = {…}` of a link).
    Injected,
}

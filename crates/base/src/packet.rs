//! Packet contents that sender, router and receiver exchange, including the packet number, and the causes of drops.
//!
//! `law` and `queue` do not know each other: these contents are all that sender and router exchange.

use serde::Serialize;

/// The flag bits of a packet. Eight bits, so that they fit beside a 24-bit flow number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// ECN-capable transport (RFC 3168).
    pub const ECT: Self = Self(1);
    /// Congestion experienced, set by a router on an ECT packet (RFC 3168).
    pub const CE: Self = Self(2);
    /// On data: the timestamp bit of the last ACK received, which replaces a timestamp echo if the receiver asks for one
    /// (RFC 7323).
    pub const ECHO: Self = Self(4);
    /// Congestion window reduced, on data (RFC 3168).
    pub const CWR: Self = Self(8);
    /// This packet is an acknowledgement.
    pub const ACK: Self = Self(16);
    /// This segment was sent before.
    pub const RETRANSMITTED: Self = Self(32);
    /// Set in addition to ECT on packets of senders with a scalable control (such as DCTCP): the code point is ECT(1),
    /// which asks for low latency (L4S, RFC 9331). Routers without L4S queue see an ECN-capable packet.
    pub const L4S: Self = Self(64);

    /// Whether all bits of `other` are set.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits without those of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// These bits and those of `other`.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The number in a packet: the low 32 bits of a longer count. The numbers have no order themselves; the full counts
/// ([`Self::near`]) have.
///
/// Source: RFC 9293, Section 3.4 (numbers modulo 2^32); RFC 3550, Appendix A.1 (extended sequence numbers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketNumber(pub u32);

impl PacketNumber {
    /// The packet number for `count`.
    #[inline]
    #[must_use]
    pub const fn of(count: u64) -> Self {
        Self(count as u32)
    }

    /// The count with these low bits that is nearest to `known`; it differs from `known` by less than 2^31.
    #[inline]
    #[must_use]
    pub const fn near(self, known: u64) -> u64 {
        known.wrapping_add_signed(self.0.wrapping_sub(known as u32).cast_signed() as i64)
    }

    /// Distance from `first`, which must not be after this number.
    #[inline]
    #[must_use]
    pub const fn after(self, first: Self) -> u32 {
        self.0.wrapping_sub(first.0)
    }

    /// The number `n` positions later.
    #[inline]
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }
}

/// Congestion header of XCP, which senders and routers of explicit-control schemes write into each packet. All zero in
/// other packets.
///
/// Source: Katabi, Handley and Rohrs 2002, Section 3.2; 32 bits per field as in draft-falk-xcp-spec-03.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// The sender's round-trip time, in seconds; 0 before the first sample.
    pub rtt: f32,
    /// The sender's window, in bytes; 0 in packets without such a header.
    pub cwnd: f32,
    /// Change of the window, in bytes: first the sender's request, then the routers' grant.
    pub feedback: f32,
}

impl Header {
    /// No header.
    pub const NONE: Self = Self { rtt: 0.0, cwnd: 0.0, feedback: 0.0 };

    /// Whether the packet carries a header.
    #[inline]
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.cwnd > 0.0
    }

    /// The header with window and feedback multiplied by `factor`: routers count in bytes, senders and receivers in
    /// segments.
    #[inline]
    #[must_use]
    pub fn times(self, factor: f32) -> Self {
        Self { cwnd: self.cwnd * factor, feedback: self.feedback * factor, ..self }
    }
}

/// Reason why a router dropped or marked a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The buffer was full.
    Overflow,
    /// Early decision of an AQM: by chance (such as RED or PIE), or at a marking threshold.
    Early,
    /// Certain decision of an AQM (average above the maximum threshold).
    Forced,
    /// The packet had waited too long (CoDel).
    Sojourn,
    /// Loss that the scenario injects (`loss = {…}` of a link).
    Injected,
    /// The shared memory had no room, although the buffer itself had.
    Pool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_the_nearest_count() {
        let half = 1_u64 << 31;
        for known in [half, (1 << 32) - 1, 1 << 32, (5 << 32) + 7, (7 << 32) + half] {
            for away in [0, 1, 1000, half - 1] {
                for count in [known + away, known - away] {
                    assert_eq!(PacketNumber::of(count).near(known), count, "{known} {away}");
                }
            }
        }
    }

    #[test]
    fn distances_do_not_end_where_32_bits_do() {
        let last = PacketNumber(u32::MAX);
        assert_eq!((last.plus(3), last.plus(3).after(last)), (PacketNumber(2), 3));
    }
}

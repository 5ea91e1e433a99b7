//! Parser of packets for the bottleneck: it reads ports and ECN bits of IPv4 packets, and writes only the CE mark.
//!
//! Source: RFC 791, RFC 3168 (ECN), RFC 1624 (updating a checksum).

use base::Flags;

/// Bytes of an IPv4 header without options.
const HEADER: usize = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The source and destination port of a packet; `None` if it has no ports.
#[must_use]
pub fn ports(packet: &[u8]) -> Option<(u16, u16)> {
    let length = header_length(packet)?;
    let is_fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x1fff != 0;
    if is_fragment || !matches!(packet[9], TCP | UDP) {
        return None;
    }
    let ports = packet.get(length..length + 4)?;
    Some((u16::from_be_bytes([ports[0], ports[1]]), u16::from_be_bytes([ports[2], ports[3]])))
}

/// The ECN bits as flags: whether the packet is ECN-capable, whether it is marked, and whether it belongs to L4S.
#[must_use]
pub fn flags(packet: &[u8]) -> Flags {
    match header_length(packet).map(|_| packet[1] & 3) {
        Some(1) => Flags::ECT.with(Flags::L4S),
        Some(2) => Flags::ECT,
        Some(3) => Flags::ECT.with(Flags::CE),
        _ => Flags::NONE,
    }
}

/// Marks a packet: congestion experienced.
pub fn mark(packet: &mut [u8]) {
    if header_length(packet).is_none() || packet[1] & 3 == 3 {
        return;
    }
    let old = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] |= 3;
    let new = u16::from_be_bytes([packet[0], packet[1]]);
    // RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
    let sum = u32::from(!u16::from_be_bytes([packet[10], packet[11]])) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = ((folded & 0xffff) + (folded >> 16)) as u16;
    packet[10..12].copy_from_slice(&(!folded).to_be_bytes());
}

/// Length of the header of an IPv4 packet; `None` for all other packets.
fn header_length(packet: &[u8]) -> Option<usize> {
    let length = usize::from(packet.first()? & 15) * 4;
    (packet[0] >> 4 == 4 && length >= HEADER && packet.len() >= length).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ones' complement sum of all 16-bit words of a header; 0xffff if its checksum is right.
    fn sum(header: &[u8]) -> u32 {
        let sum: u32 = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
        (sum & 0xffff) + (sum >> 16)
    }

    /// A TCP packet from port 40000 to 5201 with these ECN bits.
    fn packet(ecn: u8) -> Vec<u8> {
        let mut list = vec![0x45, ecn, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        list.extend([0x9c, 0x40, 0x14, 0x51]);
        list.extend([0; 16]);
        let checksum = !(sum(&list[..20]) as u16);
        list[10..12].copy_from_slice(&checksum.to_be_bytes());
        list
    }

    #[test]
    fn reads_ports_and_ecn_bits() {
        assert_eq!(ports(&packet(0)), Some((40_000, 5201)));
        assert_eq!(flags(&packet(0)), Flags::NONE);
        assert!(flags(&packet(2)).has(Flags::ECT) && !flags(&packet(2)).has(Flags::L4S));
        assert!(flags(&packet(1)).has(Flags::L4S));
        assert!(flags(&packet(3)).has(Flags::CE));
    }

    #[test]
    fn a_marked_header_has_a_correct_checksum() {
        for (ecn, tos) in [(1, 0), (2, 0), (2, 0xb8), (1, 0xfc)] {
            let mut marked = packet(ecn | tos);
            assert_eq!(sum(&marked[..20]), 0xffff);
            mark(&mut marked);
            assert_eq!(marked[1], 3 | tos);
            assert_eq!(sum(&marked[..20]), 0xffff);
        }
    }

    #[test]
    fn bytes_that_are_not_an_ipv4_packet_have_no_ports_and_are_not_changed() {
        let icmp = {
            let mut list = packet(0);
            list[9] = 1;
            list
        };
        let fragment = {
            let mut list = packet(0);
            list[7] = 9;
            list
        };
        for other in [&[][..], &[0x45], &[0x60; 40], &packet(0)[..22], &icmp, &fragment] {
            assert_eq!(ports(other), None);
        }
        let mut short = vec![0x45, 0];
        mark(&mut short);
        assert_eq!(short, [0x45, 0]);
    }
}

//! The ways the literature says how large a buffer is: packets, bytes, time, shares of the BDP or of BDP over sqrt n.
//!
//! Source: BDP rule, Villamizar and Song 1994; BDP/sqrt(n), Appenzeller et al. 2004.
//! BDP is the rate times the mean base RTT of the flows that send data over the link (of TCP's, where there are any); n is
//! their number (of an array of links, that of each link in the mean); time and BDP become packets of their mean size. A link that carries only ACKs has none of these and takes
//! packets or bytes.

use crate::reader::Node;
use crate::{Scenario, ScenarioError};
use base::text::{self, TextError};
use base::{Bytes, Span};
use queue::Limit;

const UNITS: &str = "buffers are in packets, B, kB, MB, KiB, MiB, us, ms, s, bdp or bdp/sqrt(n), or \"unlimited\"";
const EXAMPLE: &str = "1250 packets";

/// A buffer as the file says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Buffer {
    /// Packets, bytes or no limit.
    Fixed(Limit),
    /// What passes in this time.
    Time(Span),
    /// A share of the bandwidth-delay product.
    Bdp(f64),
    /// The same, over the root of the number of flows.
    BdpOverSqrtN(f64),
}

impl Buffer {
    pub fn read(node: &Node) -> Result<Self, ScenarioError> {
        parse(node.buffer(EXAMPLE)?).map_err(|source| node.not_a_quantity(source, EXAMPLE))
    }

    /// The limit of `scenario.links[link]`, now that the flows are known.
    pub fn resolve(&self, scenario: &Scenario, link: usize) -> Result<Limit, ScenarioError> {
        let wrong = |reason: &str| ScenarioError::wrong(format!("links[{link}].buffer"), reason);
        if let Self::Fixed(limit) = self {
            return Ok(*limit);
        }
        let known = (scenario.mean_packet(link), scenario.bdp_bytes(link), scenario.flows_each(link));
        let (Some(packet), Some(bdp), Some(n)) = known else {
            return Err(wrong("no flow sends data over this link, so time and bdp say nothing; give packets or bytes"));
        };
        let bytes = match self {
            Self::Time(span) => scenario.links[link].rate.bytes_in(*span),
            Self::Bdp(share) => share * bdp,
            Self::BdpOverSqrtN(share) => share * bdp / n.sqrt(),
            Self::Fixed(_) => 0.0,
        };
        let packets = (bytes / packet).round().max(1.0);
        if packets > f64::from(u32::MAX) {
            return Err(wrong("comes to more than 4294967295 packets; write \"unlimited\" if that is meant"));
        }
        Ok(Limit::Packets(packets as u32))
    }
}

fn parse(text: &str) -> Result<Buffer, TextError> {
    let trimmed = text.trim();
    if trimmed == "unlimited" {
        return Ok(Buffer::Fixed(Limit::Unlimited));
    }
    let (x, unit) = if trimmed.starts_with("bdp") {
        (1.0, trimmed)
    } else {
        text::split(trimmed).ok_or_else(|| TextError::NotAQuantity(text.into(), "a buffer", EXAMPLE))?
    };
    let out_of_range = |range| TextError::OutOfRange(text.into(), range);
    let share = |made: fn(f64) -> Buffer| match x {
        x if x > 0.0 && x <= 1e6 => Ok(made(x)),
        _ => Err(out_of_range("shares of the bdp lie above 0 and up to 10^6")),
    };
    match unit.replace(' ', "").as_str() {
        "" => Err(TextError::NoUnit(text.into(), format!("{x} packets"))),
        "packets" | "packet" | "pkt" | "pkts" | "p" => {
            let whole = x >= 0.0 && x <= f64::from(u32::MAX) && x == x.trunc();
            if whole {
                Ok(Buffer::Fixed(Limit::Packets(x as u32)))
            } else {
                Err(out_of_range("packets are whole numbers from 0 to 4294967295"))
            }
        }
        "bdp" => share(Buffer::Bdp),
        "bdp/sqrt(n)" => share(Buffer::BdpOverSqrtN),
        word if text::byte_unit(word).is_some() => {
            let Bytes(bytes) = text::bytes(text)?;
            Ok(Buffer::Fixed(Limit::Bytes(Bytes(bytes))))
        }
        word => match text::span(text) {
            Ok(Span(0)) => Err(out_of_range("times lie above 0; \"0 packets\" is no buffer at all")),
            Ok(span) => Ok(Buffer::Time(span)),
            Err(TextError::UnknownUnit { .. }) => {
                Err(TextError::UnknownUnit { text: text.into(), unit: word.into(), known: UNITS })
            }
            Err(other) => Err(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form() {
        let packets = Ok(Buffer::Fixed(Limit::Packets(1250)));
        for text in ["1250 packets", "1250 pkt", "1250p", " 1250 packet ", "1.25e3 packets"] {
            assert_eq!(parse(text), packets, "{text}");
        }
        assert_eq!(parse("125 kB"), Ok(Buffer::Fixed(Limit::Bytes(Bytes(125_000)))));
        assert_eq!(parse("5 ms"), Ok(Buffer::Time(Span::millis(5))));
        assert_eq!(parse("0.1 bdp"), Ok(Buffer::Bdp(0.1)));
        assert_eq!(parse("bdp"), Ok(Buffer::Bdp(1.0)));
        assert_eq!(parse("0.5 bdp/sqrt(n)"), Ok(Buffer::BdpOverSqrtN(0.5)));
        assert_eq!(parse("bdp / sqrt(n)"), Ok(Buffer::BdpOverSqrtN(1.0)));
        assert_eq!(parse("unlimited"), Ok(Buffer::Fixed(Limit::Unlimited)));
        assert!(parse("0 bdp").is_err() && parse("0 ms").is_err() && parse("1.5 packets").is_err());
    }
}

//! Buffers: an amount that depends on the link and its flows, no buffer, or no limit. Once a scenario has been read, the
//! buffer of a link is a [`Limit`].

use crate::ScenarioError;
use crate::names::Names;
use crate::node::Node;
use crate::profile;
use crate::schema::text;
use crate::table::{Defs, KeyType};
use base::text::{self, TextError};
use base::{Amount, Bytes, Key, Span, amount};
use queue::Limit;
use serde_json::{Value as Json, json};

const UNITS: &str = "buffers are in packets, B, kB, MB, KiB, MiB, us, ms, s, bdp or bdp/sqrt(n), or \"unlimited\"";
const EXAMPLE: &str = "1250 packets";

/// A number of packets that may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets(pub u32);

impl KeyType for Packets {
    const EXAMPLE: &'static str = "1000 packets";
    const SUFFIX: &'static str = "_packets";
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        match node.quantity(parse, EXAMPLE)? {
            Amount::Packets(packets) => Ok(Self(packets as u32)),
            _ => Err(node.wrong("must be in packets, such as \"1000 packets\", or \"unlimited\"")),
        }
    }
    fn write(&self, _names: &Names) -> Json {
        json!(self.0)
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        u32::restore(node, key).map(Self)
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        text(&format!(r"{}\s*({})|0", text::NUMBER, amount::PACKETS))
    }
}

/// A link's buffer as the file gives it.
impl KeyType for Amount {
    const EXAMPLE: &'static str = EXAMPLE;
    // The size may be given in the discipline's table instead.
    const REQUIRED: bool = false;
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        node.quantity(parse, EXAMPLE)
    }
    fn find(table: &Node, key: &Key, _default: Option<Self>) -> Result<Self, ScenarioError> {
        match (table.get(key.name), table.get("queue").and_then(|queue| queue.get("limit"))) {
            (Some(buffer), None) => Self::read(&buffer, key),
            // `tc` gives the buffer's size in the discipline's parameters.
            (None, Some(limit)) => Self::read(&limit, key),
            (Some(buffer), Some(limit)) => {
                Err(limit.wrong(format!("is the same as {}; give one of them", buffer.place)))
            }
            // The pool limits the buffer; the link has no limit of its own.
            (None, None) if table.get("pool").is_some_and(|pool| pool.as_text() != Some("none")) => Ok(Self::Unlimited),
            (None, None) => match profile::limit(table)? {
                Some(limit) => Ok(Self::Packets(f64::from(limit))),
                None => Err(table.at(key.name).missing(&format!("{}, or \"unlimited\"", Self::hint(key)))),
            },
        }
    }
    fn write(&self, _names: &Names) -> Json {
        json!(base::param::ParamType::write(self))
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        text(&format!("{}|unlimited", amount::pattern(false)))
    }
}

/// The resolved buffer of a link; it occurs only in canonical forms.
impl KeyType for Limit {
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let of = |kind: &str| node.value.get(kind).and_then(Json::as_u64);
        match (node.as_text(), of("packets").map(u32::try_from), of("bytes")) {
            (Some("unlimited"), None, None) => Ok(Self::Unlimited),
            (None, Some(Ok(n)), None) => Ok(Self::Packets(n)),
            (None, None, Some(n)) => Ok(Self::Bytes(Bytes(n))),
            _ => Err(node.wrong("must be { packets }, { bytes } or \"unlimited\"")),
        }
    }
    fn write(&self, _names: &Names) -> Json {
        match self {
            Self::Packets(n) => json!({ "packets": n }),
            Self::Bytes(n) => json!({ "bytes": n }),
            Self::Unlimited => json!("unlimited"),
        }
    }
    fn schema(key: &Key, defs: &mut Defs) -> Json {
        Amount::schema(key, defs)
    }
}

/// Reads an amount that is allowed for a buffer.
fn parse(text: &str) -> Result<Amount, TextError> {
    let out_of_range = |range| Err(TextError::OutOfRange(text.into(), range));
    match amount::parse(text, "a buffer", EXAMPLE) {
        Ok(Amount::Packets(n)) if n < 0.0 || n > f64::from(u32::MAX) || n != n.trunc() => {
            out_of_range("packets are whole numbers from 0 to 4294967295")
        }
        Ok(Amount::Bdp(share) | Amount::BdpOverSqrtN(share)) if !(share > 0.0 && share <= 1e6) => {
            out_of_range("shares of the bdp lie above 0 and up to 10^6")
        }
        Ok(Amount::Time(Span(0))) => out_of_range("times lie above 0; \"0 packets\" is no buffer at all"),
        Ok(Amount::Buffer(_)) => out_of_range("a buffer is no share of itself; give a share of the bdp"),
        Ok(Amount::Auto) => Err(TextError::NotAQuantity(text.into(), "a buffer", EXAMPLE)),
        Err(TextError::UnknownUnit { text, unit, .. }) => {
            Err(TextError::UnknownUnit { text, unit: unit.replace(' ', ""), known: UNITS })
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form() {
        for text in ["1250 packets", "1250 pkt", "1250p", " 1250 packet ", "1.25e3 packets"] {
            assert_eq!(parse(text), Ok(Amount::Packets(1250.0)), "{text}");
        }
        for (text, amount) in [
            ("125 kB", Amount::Bytes(125_000)),
            ("5 ms", Amount::Time(Span::millis(5))),
            ("0.1 bdp", Amount::Bdp(0.1)),
            ("10 % bdp", Amount::Bdp(0.1)),
            ("10 % of bdp", Amount::Bdp(0.1)),
            ("bdp", Amount::Bdp(1.0)),
            ("0.5 bdp/sqrt(n)", Amount::BdpOverSqrtN(0.5)),
            ("bdp / sqrt(n)", Amount::BdpOverSqrtN(1.0)),
            ("unlimited", Amount::Unlimited),
        ] {
            assert_eq!(parse(text), Ok(amount), "{text}");
        }
        for wrong in ["0 bdp", "0 ms", "1.5 packets", "10 %", "0.5 buffer", "auto", "5"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}

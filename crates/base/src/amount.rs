//! Amounts of waiting data as a file gives them: packets, bytes, time, shares of the buffer or of the bandwidth-delay
//! product; also numbers that may be left to the discipline (`"auto"`). One parser reads the buffers of links and the
//! thresholds of queues; each of these refuses amounts that have no meaning for it.
//!
//! An amount is converted into packets of the link's mean size once the link is known, so that the canonical form shows
//! what a run really used.

use crate::param::{ParamType, Value};
use crate::scale::Scale;
use crate::text::{self, TextError};
use crate::time::Span;

/// An amount as a file gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Packets, not necessarily whole.
    Packets(f64),
    /// Bytes.
    Bytes(u64),
    /// The amount of data that passes in this time.
    Time(Span),
    /// A share of the buffer.
    Buffer(f64),
    /// A share of the bandwidth-delay product.
    Bdp(f64),
    /// A share of the bandwidth-delay product over the square root of the number of flows.
    BdpOverSqrtN(f64),
    /// No limit (`"unlimited"`).
    Unlimited,
    /// Left to the discipline (`"auto"`).
    Auto,
}

/// Description of the allowed forms of a threshold, for messages.
pub const FORM: &str =
    "must be an amount such as \"50 packets\", \"75 kB\", \"5 ms\", \"25 % of buffer\" or \"0.1 bdp\"";

/// Largest amount: far above any backlog, and far below the range of numbers.
const MOST: f64 = 1e18;

impl Amount {
    /// Value in packets. The amount must have been resolved.
    #[must_use]
    pub fn packets(self) -> f64 {
        debug_assert!(matches!(self, Self::Packets(_)), "amounts are resolved before they are used");
        match self {
            Self::Packets(x) => x,
            _ => f64::NAN,
        }
    }

    /// Value in packets; `found()` if it is automatic.
    #[must_use]
    pub fn or(self, found: impl FnOnce() -> f64) -> f64 {
        if self == Self::Auto { found() } else { self.packets() }
    }
}

/// Reads an amount; error messages call it `what` and show the `example`. The caller decides whether negative numbers, no
/// limit and shares are allowed.
///
/// # Errors
/// [`TextError`], with a description of a valid amount.
pub fn parse(text: &str, what: &'static str, example: &'static str) -> Result<Amount, TextError> {
    let trimmed = text.trim();
    match trimmed {
        "auto" => return Ok(Amount::Auto),
        "unlimited" => return Ok(Amount::Unlimited),
        _ => {}
    }
    let (x, unit) = if trimmed.starts_with("bdp") {
        (1.0, trimmed)
    } else {
        text::split(trimmed).ok_or_else(|| TextError::NotAQuantity(text.into(), what, example))?
    };
    match unit.replace(' ', "").as_str() {
        // Zero needs no unit.
        "" if x == 0.0 => Ok(Amount::Packets(0.0)),
        "" => Err(TextError::NoUnit(text.into(), format!("{x} packets"))),
        "packets" | "packet" | "pkt" | "pkts" | "p" => Ok(Amount::Packets(x)),
        "buffer" | "ofbuffer" => Ok(Amount::Buffer(x)),
        "%" | "%buffer" | "%ofbuffer" => Ok(Amount::Buffer(x / 100.0)),
        "bdp" | "ofbdp" => Ok(Amount::Bdp(x)),
        "%bdp" | "%ofbdp" => Ok(Amount::Bdp(x / 100.0)),
        "bdp/sqrt(n)" | "ofbdp/sqrt(n)" => Ok(Amount::BdpOverSqrtN(x)),
        "%bdp/sqrt(n)" | "%ofbdp/sqrt(n)" => Ok(Amount::BdpOverSqrtN(x / 100.0)),
        word if text::byte_unit(word).is_some() => text::bytes(text).map(|bytes| Amount::Bytes(bytes.0)),
        _ => text::span(text).map(Amount::Time),
    }
}

/// Regular expression for the unit of packets.
pub const PACKETS: &str = "packets?|pkts?|p";

/// Regular expression for the texts that [`parse`] reads, without words: with shares of the bdp over sqrt(n), or, for a
/// `threshold`, with shares of the buffer instead.
#[must_use]
pub fn pattern(threshold: bool) -> String {
    let shares = if threshold { r"%?\s*(of\s*)?(buffer|bdp)|%" } else { r"%?\s*(of\s*)?bdp(\s*/\s*sqrt\(n\))?" };
    let alone = if threshold { "bdp" } else { r"bdp(\s*/\s*sqrt\(n\))?" };
    let units = [PACKETS, shares, &text::byte_units().join("|"), &text::time_units().join("|")].join("|");
    format!(r"{}\s*({units})|0|{alone}", text::NUMBER)
}

impl ParamType for Amount {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            // ns-2 and the papers give numbers of packets without a unit.
            Value::Number(x) if x.is_finite() && *x >= 0.0 => Ok(Self::Packets(*x)),
            Value::Text(text) => match parse(text, "an amount", "50 packets") {
                Ok(Self::Packets(x) | Self::Buffer(x) | Self::Bdp(x)) if x < 0.0 => Err(FORM.into()),
                Ok(Self::Unlimited) | Err(_) => Err(FORM.into()),
                Ok(Self::BdpOverSqrtN(_)) => {
                    Err("bdp/sqrt(n) sizes buffers; give a share of the buffer or of the bdp".into())
                }
                Ok(amount) => Ok(amount),
            },
            _ => Err(FORM.into()),
        }
    }

    fn write(&self) -> Value {
        Value::Text(match self {
            Self::Packets(x) => format!("{x} packets"),
            Self::Bytes(n) => format!("{n} B"),
            Self::Time(span) => text::format_span(*span),
            Self::Buffer(share) => format!("{share} buffer"),
            Self::Bdp(share) => format!("{share} bdp"),
            Self::BdpOverSqrtN(share) => format!("{share} bdp/sqrt(n)"),
            Self::Unlimited => "unlimited".into(),
            Self::Auto => "auto".into(),
        })
    }

    fn resolve(&mut self, scale: &Scale) -> Result<(), String> {
        let packets = match *self {
            Self::Auto => return Ok(()),
            // Thresholds do not allow these; they are refused when read.
            Self::BdpOverSqrtN(_) | Self::Unlimited => return Err(FORM.into()),
            Self::Packets(x) => x,
            Self::Bytes(n) => n as f64 / scale.packet,
            Self::Time(span) => scale.rate.bytes_in(span) / scale.packet,
            Self::Buffer(share) => {
                share * scale.buffer.ok_or("is a share of a buffer without limit; give packets, bytes or a time")?
            }
            Self::Bdp(share) => {
                share
                    * scale
                        .bdp
                        .ok_or("is a share of a bdp that no flow gives this link; give packets, bytes or a time")?
            }
        };
        if packets > MOST {
            return Err("must be at most 10^18 packets".into());
        }
        *self = Self::Packets(packets);
        Ok(())
    }
}

/// A number, or `"auto"`: the discipline computes it once it knows the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto {
    /// Left to the discipline.
    Auto,
    /// Given or computed.
    Is(f64),
}

impl Auto {
    /// The number; `found()` if it is automatic.
    #[must_use]
    pub fn or(self, found: impl FnOnce() -> f64) -> f64 {
        match self {
            Self::Is(x) => x,
            Self::Auto => found(),
        }
    }
}

impl ParamType for Auto {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Number(x) if x.is_finite() => Ok(Self::Is(*x)),
            Value::Text(text) if text == "auto" => Ok(Self::Auto),
            _ => Err("must be a number, or \"auto\"".into()),
        }
    }
    fn write(&self) -> Value {
        match self {
            Self::Auto => Value::Text("auto".into()),
            Self::Is(x) => Value::Number(*x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Rate;

    #[test]
    fn every_way_to_say_a_threshold_becomes_packets() {
        let scale = Scale { rate: Rate(1_000_000_000), packet: 1000.0, buffer: Some(1250.0), bdp: Some(15_000.0) };
        for (text, packets) in [
            ("50 packets", 50.0),
            ("12.5p", 12.5),
            ("75 kB", 75.0),
            ("1 ms", 125.0),
            ("20 %", 250.0),
            ("20 % of buffer", 250.0),
            ("0.2 buffer", 250.0),
            ("0.1 bdp", 1500.0),
            ("10% bdp", 1500.0),
            ("10 % of bdp", 1500.0),
            ("bdp", 15_000.0),
        ] {
            let mut amount = Amount::read(&Value::Text(text.into())).unwrap();
            amount.resolve(&scale).unwrap();
            assert_eq!(amount, Amount::Packets(packets), "{text}");
            assert_eq!(Amount::read(&amount.write()), Ok(amount));
        }
        assert_eq!(Amount::read(&Value::Number(5.0)), Ok(Amount::Packets(5.0)));
        for wrong in ["many", "-1 packets", "-1 bdp", "5 elephants", "5", "unlimited", "bdp/sqrt(n)"] {
            assert!(Amount::read(&Value::Text(wrong.into())).is_err(), "{wrong}");
        }
        let boundless = Scale { buffer: None, bdp: None, ..scale };
        assert!(Amount::Buffer(0.5).resolve(&boundless).is_err() && Amount::Bdp(0.5).resolve(&boundless).is_err());
    }
}

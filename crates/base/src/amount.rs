//! Thresholds of queues: packets, bytes, time, shares of the buffer or of the bandwidth-delay product; and numbers that
//! may be left to the discipline (`"auto"`).
//!
//! Whatever a file says becomes packets of the link's mean size once the link is known, so that the canonical form shows
//! what a run really used.

use crate::param::{ParamType, Value};
use crate::rate::Rate;
use crate::text;
use crate::time::Span;

/// What amounts are measured against: a link and those who use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Rate of the link.
    pub rate: Rate,
    /// Mean size of its packets on the wire, in bytes.
    pub packet: f64,
    /// Its buffer, in packets; `None` for one without limit.
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

/// A threshold as a file says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Packets, not necessarily whole.
    Packets(f64),
    /// Bytes.
    Bytes(u64),
    /// What passes in this time.
    Time(Span),
    /// A share of the buffer.
    Buffer(f64),
    /// A share of the bandwidth-delay product.
    Bdp(f64),
    /// Left to the discipline (`"auto"`).
    Auto,
}

/// What an amount looks like.
pub const FORM: &str =
    "must be an amount such as \"50 packets\", \"75 kB\", \"5 ms\", \"25 % of buffer\" or \"0.1 bdp\"";

/// Far beyond what can wait anywhere, far below where numbers end.
const MOST: f64 = 1e18;

impl Amount {
    /// In packets; once resolved, nothing else is left.
    #[must_use]
    pub fn packets(self) -> f64 {
        debug_assert!(matches!(self, Self::Packets(_)), "amounts are resolved before they are used");
        match self {
            Self::Packets(x) => x,
            _ => f64::NAN,
        }
    }

    /// In packets; `found()` of them if it was left open.
    #[must_use]
    pub fn or(self, found: impl FnOnce() -> f64) -> f64 {
        if self == Self::Auto { found() } else { self.packets() }
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "auto" {
            return Some(Self::Auto);
        }
        let (x, unit) = text::split(text)?;
        if x < 0.0 {
            return None;
        }
        match unit.replace(' ', "").as_str() {
            "packets" | "packet" | "pkt" | "pkts" | "p" => Some(Self::Packets(x)),
            "buffer" | "ofbuffer" => Some(Self::Buffer(x)),
            "%" | "%buffer" | "%ofbuffer" => Some(Self::Buffer(x / 100.0)),
            "bdp" | "ofbdp" => Some(Self::Bdp(x)),
            "%bdp" | "%ofbdp" => Some(Self::Bdp(x / 100.0)),
            word if text::byte_unit(word).is_some() => text::bytes(text).ok().map(|bytes| Self::Bytes(bytes.0)),
            _ => text::span(text).ok().map(Self::Time),
        }
    }
}

impl ParamType for Amount {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            // ns-2 and the papers count packets without saying so.
            Value::Number(x) if x.is_finite() && *x >= 0.0 => Ok(Self::Packets(*x)),
            Value::Text(text) => Self::parse(text).ok_or_else(|| FORM.into()),
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
            Self::Auto => "auto".into(),
        })
    }

    fn resolve(&mut self, scale: &Scale) -> Result<(), String> {
        let packets = match *self {
            Self::Auto => return Ok(()),
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

/// A number, or `"auto"`: the discipline finds it, once it knows the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto {
    /// Left to the discipline.
    Auto,
    /// Given, or found.
    Is(f64),
}

impl Auto {
    /// The number; `found()` if it was left open.
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
        ] {
            let mut amount = Amount::read(&Value::Text(text.into())).unwrap();
            amount.resolve(&scale).unwrap();
            assert_eq!(amount, Amount::Packets(packets), "{text}");
            assert_eq!(Amount::read(&amount.write()), Ok(amount));
        }
        assert_eq!(Amount::read(&Value::Number(5.0)), Ok(Amount::Packets(5.0)));
        for wrong in ["many", "-1 packets", "5 elephants", "5"] {
            assert!(Amount::read(&Value::Text(wrong.into())).is_err(), "{wrong}");
        }
        let boundless = Scale { buffer: None, bdp: None, ..scale };
        assert!(Amount::Buffer(0.5).resolve(&boundless).is_err() && Amount::Bdp(0.5).resolve(&boundless).is_err());
    }
}

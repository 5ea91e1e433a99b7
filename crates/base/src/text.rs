//! Quantities as text, both ways: `"100 ms"`, `"2.5 Gbit/s"`, `"1500 B"`.
//!
//! Decimal prefixes are powers of 1000, `KiB`/`MiB`/`GiB` powers of 1024. `mbps` in lower case is refused, because it
//! means 10^6 bit/s in ns-3 and most papers, but 8·10^6 bit/s in `tc`. Spaces between number and unit are optional.

use crate::rate::{Bytes, Rate};
use crate::time::Span;

/// Error in the text of a quantity. The message describes a valid text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text does not begin with a number.
    #[error("{0:?} is not {1}; write for example {2:?}")]
    NotAQuantity(String, &'static str, &'static str),
    /// A number without a unit.
    #[error("{0:?} has no unit; write for example {1:?}")]
    NoUnit(String, String),
    /// Unknown unit.
    #[error("unknown unit {unit:?} in {text:?}; {known}")]
    UnknownUnit {
        /// Text as written.
        text: String,
        /// The unit in the text.
        unit: String,
        /// The known units.
        known: &'static str,
    },
    /// One of the ambiguous units `mbps`, `gbps`, `kbps`.
    #[error("{0:?} is ambiguous: write {1:?} (bits, as in ns-3 and most papers) or {2:?} (bytes, as in tc)")]
    Ambiguous(String, String, String),
    /// Too large for the engine's integers, or negative.
    #[error("{0:?} is out of range; {1}")]
    OutOfRange(String, &'static str),
}

/// Units of time, in picoseconds.
const TIMES: &[(&str, f64)] = &[
    ("ps", 1.0),
    ("ns", 1e3),
    ("us", 1e6),
    ("µs", 1e6),
    ("μs", 1e6),
    ("ms", 1e9),
    ("s", 1e12),
    ("sec", 1e12),
    ("min", 60e12),
    ("h", 3600e12),
];

/// Units of rate, in bit/s, with the allowed prefixes; `m` and `g` are allowed only if they are unambiguous.
const RATES: &[(&str, f64, &str)] = &[
    ("bit/s", 1.0, "kKMGT"),
    ("bits/s", 1.0, "kKMGT"),
    ("bit", 1.0, "kKmMgGT"),
    ("b/s", 1.0, "kKMGT"),
    // "kbps" has been refused before.
    ("bps", 1.0, "KMGT"),
    ("B/s", 8.0, "kKMGT"),
    ("Bps", 8.0, "kKMGT"),
];

/// Units of size, in bytes.
const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("byte", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1024.0 * 1024.0),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
];

/// Regular expression for a non-negative number.
pub const NUMBER: &str = r"\+?[0-9._]+([eE][+-]?[0-9]+)?";

/// Splits `"2.5 Gbit/s"` into 2.5 and `"Gbit/s"`; `None` if the text does not begin with a number.
#[must_use]
pub fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let mut end = 0;
    let bytes = text.as_bytes();
    while end < bytes.len() {
        let c = bytes[end];
        let exponent_sign = (c == b'+' || c == b'-') && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        let exponent = (c == b'e' || c == b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(|n| n.is_ascii_digit() || *n == b'-' || *n == b'+');
        let leading_sign = end == 0 && (c == b'+' || c == b'-');
        if !(c.is_ascii_digit() || c == b'.' || c == b'_' || exponent || exponent_sign || leading_sign) {
            break;
        }
        end += 1;
    }
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim_start()))
}

fn number(text: &str, what: &'static str, example: &'static str) -> Result<(f64, String), TextError> {
    let (x, unit) = split(text).ok_or_else(|| TextError::NotAQuantity(text.into(), what, example))?;
    if unit.is_empty() && x != 0.0 {
        let unit = example.split_once(' ').map_or("", |(_, unit)| unit);
        return Err(TextError::NoUnit(text.into(), format!("{x} {unit}")));
    }
    Ok((x, unit.to_owned()))
}

/// Reads a time: `ps ns us µs ms s min h`.
///
/// # Errors
/// [`TextError`], with a description of a valid text.
pub fn span(text: &str) -> Result<Span, TextError> {
    let (x, unit) = number(text, "a time", "100 ms")?;
    let word = if unit.is_empty() { "s" } else { &unit };
    let scale = scale_of(word, TIMES).ok_or_else(|| TextError::UnknownUnit {
        text: text.into(),
        unit: unit.clone(),
        known: "times are in ns, us, ms, s, min or h",
    })?;
    // 10^18 ps are eleven days, so that sums of several spans stay far below 2^64.
    integer(x * scale, 1e18)
        .map(Span)
        .ok_or_else(|| TextError::OutOfRange(text.into(), "times lie between 0 and 11 days"))
}

/// Reads a rate: `bit/s kbit/s Mbit/s Gbit/s Tbit/s`, `Gbit`, `Gb/s`, `Gbps`, and bytes as `MB/s` or `MBps`.
///
/// # Errors
/// [`TextError`], with a description of a valid text.
pub fn rate(text: &str) -> Result<Rate, TextError> {
    let (x, unit) = number(text, "a rate", "1 Gbit/s")?;
    if let Some(prefix) = unit.strip_suffix("bps")
        && matches!(prefix, "k" | "m" | "g" | "t")
    {
        let big = if prefix == "k" { "k".to_owned() } else { prefix.to_uppercase() };
        return Err(TextError::Ambiguous(text.into(), format!("{x} {big}bit/s"), format!("{x} {big}B/s")));
    }
    let scale = rate_unit(&unit).ok_or_else(|| TextError::UnknownUnit {
        text: text.into(),
        unit: unit.clone(),
        known: "rates are in bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s (bytes: kB/s, MB/s, GB/s)",
    })?;
    match integer(x * scale, 1e15) {
        Some(bits) if bits > 0 => Ok(Rate(bits)),
        _ => Err(TextError::OutOfRange(text.into(), "rates lie between 1 bit/s and 1000 Tbit/s")),
    }
}

fn rate_unit(unit: &str) -> Option<f64> {
    RATES.iter().find_map(|(suffix, bits, prefixes)| {
        let mut prefix = unit.strip_suffix(suffix)?.chars();
        match (prefix.next(), prefix.next()) {
            (None, _) => Some(*bits),
            (Some(letter), None) if prefixes.contains(letter) => Some(bits * prefix_scale(letter)),
            _ => None,
        }
    })
}

fn prefix_scale(letter: char) -> f64 {
    match letter {
        'k' | 'K' => 1e3,
        'm' | 'M' => 1e6,
        'g' | 'G' => 1e9,
        _ => 1e12,
    }
}

/// Reads a size: `B kB MB GB KiB MiB GiB`.
///
/// # Errors
/// [`TextError`], with a description of a valid text.
pub fn bytes(text: &str) -> Result<Bytes, TextError> {
    let (x, unit) = number(text, "a size", "1500 B")?;
    let scale = byte_unit(&unit).ok_or_else(|| TextError::UnknownUnit {
        text: text.into(),
        unit: unit.clone(),
        known: "sizes are in B, kB, MB, GB, KiB, MiB or GiB",
    })?;
    integer(x * scale, 1e15)
        .map(Bytes)
        .ok_or_else(|| TextError::OutOfRange(text.into(), "sizes lie between 0 and 1000 TB"))
}

/// Number of bytes in a unit of size; `None` for other units.
#[must_use]
pub fn byte_unit(unit: &str) -> Option<f64> {
    if unit.is_empty() { Some(1.0) } else { scale_of(unit, SIZES) }
}

fn scale_of(unit: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find(|row| row.0 == unit).map(|row| row.1)
}

/// Units of time, for regular expressions.
#[must_use]
pub fn time_units() -> Vec<&'static str> {
    TIMES.iter().map(|row| row.0).collect()
}

/// Units of size, for regular expressions.
#[must_use]
pub fn byte_units() -> Vec<&'static str> {
    SIZES.iter().map(|row| row.0).collect()
}

/// Units of rate, for regular expressions.
#[must_use]
pub fn rate_units() -> Vec<String> {
    RATES.iter().map(|(suffix, _, prefixes)| format!("[{prefixes}]?{suffix}")).collect()
}

fn integer(x: f64, limit: f64) -> Option<u64> {
    (x >= 0.0 && x <= limit).then(|| x.round() as u64)
}

fn shortest(value: u64, units: &[(u64, &str)]) -> String {
    let &(scale, unit) = units.iter().find(|(scale, _)| value >= *scale).unwrap_or(&units[units.len() - 1]);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let digits = scale.to_string().len() - 1;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{} {unit}", fraction.trim_end_matches('0'))
}

/// Writes a time exactly, in the largest unit that is not larger than it.
#[must_use]
pub fn format_span(span: Span) -> String {
    if span.0 == 0 {
        return "0 s".into();
    }
    shortest(span.0, &[(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")])
}

/// Writes a rate exactly, in the largest unit that is not larger than it.
#[must_use]
pub fn format_rate(rate: Rate) -> String {
    shortest(
        rate.0,
        &[
            (1_000_000_000_000, "Tbit/s"),
            (1_000_000_000, "Gbit/s"),
            (1_000_000, "Mbit/s"),
            (1_000, "kbit/s"),
            (1, "bit/s"),
        ],
    )
}

/// Writes a size exactly, in the largest decimal unit that is not larger than it.
#[must_use]
pub fn format_bytes(bytes: Bytes) -> String {
    shortest(bytes.0, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_engineers_write() {
        for text in ["10 Gbit/s", "10Gbit/s", "10gbit", "10Gb/s", "10Gbps", "1.25 GB/s", "1.25GBps", "1e10 bit/s"] {
            assert_eq!(rate(text), Ok(Rate(10_000_000_000)), "{text}");
        }
        for text in ["100 ms", "100ms", "0.1 s", "1e5 us", "100_000 µs"] {
            assert_eq!(span(text), Ok(Span::millis(100)), "{text}");
        }
        assert_eq!(bytes("1.5 kB"), Ok(Bytes(1500)));
        assert_eq!(bytes("1 MiB"), Ok(Bytes(1_048_576)));
    }

    #[test]
    fn refuses_what_has_two_meanings_or_none() {
        let message = |e: TextError| e.to_string();
        assert_eq!(
            message(rate("100 mbps").unwrap_err()),
            "\"100 mbps\" is ambiguous: write \"100 Mbit/s\" (bits, as in ns-3 and most papers) or \"100 MB/s\" (bytes, as in tc)"
        );
        assert_eq!(message(span("100").unwrap_err()), "\"100\" has no unit; write for example \"100 ms\"");
        assert_eq!(message(span("soon").unwrap_err()), "\"soon\" is not a time; write for example \"100 ms\"");
        assert_eq!(
            message(span("3 weeks").unwrap_err()),
            "unknown unit \"weeks\" in \"3 weeks\"; times are in ns, us, ms, s, min or h"
        );
        assert_eq!(message(span("-1 s").unwrap_err()), "\"-1 s\" is out of range; times lie between 0 and 11 days");
        assert!(rate("0 bit/s").is_err());
    }

    proptest! {
        #[test]
        fn writing_and_reading_back_is_the_identity(x in 1u64..(1 << 50)) {
            // Above 2^50, the two roundings of number times unit can add up to half a picosecond.
            prop_assert_eq!(span(&format_span(Span(x))), Ok(Span(x)));
            prop_assert_eq!(bytes(&format_bytes(Bytes(x % 1_000_000_000_000_000))), Ok(Bytes(x % 1_000_000_000_000_000)));
            let r = x % 1_000_000_000_000_000 + 1;
            prop_assert_eq!(rate(&format_rate(Rate(r))), Ok(Rate(r)));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in "\\PC*") {
            let _ = (span(&text), rate(&text), bytes(&text), split(&text));
        }
    }
}

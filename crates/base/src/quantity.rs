//! Times, rates and sizes as quantities: integers in a base unit, written as text in files.

use crate::keys::Range;
use crate::rate::{Bytes, Rate};
use crate::text::{self, TextError};
use crate::time::Span;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::RangeInclusive;

/// An integer in a base unit, which files write as a number with a unit.
pub trait Quantity: Copy + Ord + Serialize + DeserializeOwned {
    /// Name for messages, such as `"Time"`.
    const NAME: &'static str;
    /// Two examples for messages, the smaller one first, as in a range.
    const EXAMPLES: [&'static str; 2];
    /// Suffix of canonical keys that hold the integer: the base unit.
    const SUFFIX: &'static str;
    /// The integer in base units.
    fn base(self) -> u64;
    /// Creates the quantity from a number of base units.
    fn of(base: u64) -> Self;
    /// Reads the quantity from text.
    ///
    /// # Errors
    /// [`TextError`], with a description of a valid text.
    fn parse(text: &str) -> Result<Self, TextError>;
    /// Writes the quantity as text.
    fn text(self) -> String;
    /// Regular expression of the texts that can be read.
    fn pattern() -> String;
    /// The ends of a range of such quantities.
    fn ends(range: &Range) -> Option<&RangeInclusive<Self>>;

    /// The name in lower case, such as `"time"`.
    #[must_use]
    fn word() -> String {
        Self::NAME.to_lowercase()
    }
}

macro_rules! quantities {
    ($($ty:ident: $name:ident $examples:tt $suffix:literal $parse:path, $text:path, $pattern:expr;)+) => {
        $(impl Quantity for $ty {
            const NAME: &'static str = stringify!($name);
            const EXAMPLES: [&'static str; 2] = $examples;
            const SUFFIX: &'static str = $suffix;
            fn base(self) -> u64 {
                self.0
            }
            fn of(base: u64) -> Self {
                Self(base)
            }
            fn parse(text: &str) -> Result<Self, TextError> {
                $parse(text)
            }
            fn text(self) -> String {
                $text(self)
            }
            fn pattern() -> String {
                $pattern
            }
            fn ends(range: &Range) -> Option<&RangeInclusive<Self>> {
                if let Range::$name(ends) = range { Some(ends) } else { None }
            }
        })+
    };
}

quantities! {
    Span: Time ["10 ms", "200 ms"] "_ps" text::span, text::format_span,
        format!(r"{}\s*({})|0", text::NUMBER, text::time_units().join("|"));
    // No `|0`: a rate must be above 0. The keys that allow an outage read "0 bit/s" themselves.
    Rate: Rate ["100 Mbit/s", "155 Mbit/s"] "_bps" text::rate, text::format_rate,
        format!(r"{}\s*({})", text::NUMBER, text::rate_units().join("|"));
    Bytes: Size ["1500 B", "9000 B"] "_bytes" text::bytes, size,
        format!(r"{}\s*({})|0", text::NUMBER, text::byte_units().join("|"));
}

/// Writes sizes below 100 kB, such as those of packets, in bytes, and larger ones as [`text::format_bytes`] does.
fn size(bytes: Bytes) -> String {
    if bytes.0 < 100_000 { format!("{} B", bytes.0) } else { text::format_bytes(bytes) }
}

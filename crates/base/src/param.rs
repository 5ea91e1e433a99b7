//! Parameters of laws, queues and traffic, each declared once: the `params!` macro makes the struct, its defaults, the
//! reader used by scenario files, and the rows shown by `elephan list`.

use crate::need::Need;
use crate::rate::{Bytes, Rate};
use crate::scale::Scale;
use crate::time::Span;
use serde::Serialize;

/// A value in the form of a scenario file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A number without a unit.
    Number(f64),
    /// A quantity with its unit, or a word.
    Text(String),
    /// A list of pairs of numbers (a table).
    Pairs(Vec<[f64; 2]>),
}

/// One row of a catalogue card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Param {
    /// Key in the scenario file.
    pub name: &'static str,
    /// Value used when the key is absent.
    pub default: Value,
    /// Unit, empty for pure numbers.
    pub unit: &'static str,
    /// One sentence, followed by the conditions of the parameter.
    pub meaning: String,
    /// Conditions for the parameter to have an effect.
    pub needs: &'static [Need],
}

/// The catalogue card of a law, queue, slow start or kind of traffic.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Name in scenario files.
    pub name: &'static str,
    /// Other spellings (Linux, ns-2, the papers).
    pub aliases: &'static [&'static str],
    /// Full name.
    pub title: &'static str,
    /// Publication that defines it.
    pub source: &'static str,
    /// Differences of this implementation from the source, Linux or ns-2.
    pub differs: &'static str,
}

/// Error for a parameter value that its owner cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}{}: {reason}", .entry.map(|i| format!("[{i}]")).unwrap_or_default())]
pub struct ParamError {
    /// Key in the scenario file.
    pub field: &'static str,
    /// Index of the entry in a list, counted from 0.
    pub entry: Option<usize>,
    /// Description of a correct value.
    pub reason: String,
}

impl ParamError {
    /// An error at `field`; `reason` describes a correct value.
    #[must_use]
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, entry: None, reason: reason.into() }
    }

    /// An error at one entry of the list `field`.
    #[must_use]
    pub fn at(field: &'static str, entry: usize, reason: impl Into<String>) -> Self {
        Self { field, entry: Some(entry), reason: reason.into() }
    }
}

/// A type of parameter values.
pub trait ParamType: Sized {
    /// Reads a value from a file.
    ///
    /// # Errors
    /// A description of a valid value.
    fn read(value: &Value) -> Result<Self, String>;
    /// Writes the value in canonical form.
    fn write(&self) -> Value;
    /// Converts a value that depends on the link into a number.
    ///
    /// # Errors
    /// If `scale` lacks a value that is needed.
    fn resolve(&mut self, _scale: &Scale) -> Result<(), String> {
        Ok(())
    }
}

impl ParamType for f64 {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Number(x) if x.is_finite() => Ok(*x),
            _ => Err("must be a number".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Number(*self)
    }
}

impl ParamType for u32 {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Number(x) if *x >= 0.0 && *x <= f64::from(Self::MAX) && *x == x.trunc() => Ok(*x as Self),
            _ => Err("must be a whole number, 0 or more".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Number(f64::from(*self))
    }
}

impl ParamType for bool {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Bool(x) => Ok(*x),
            _ => Err("must be true or false".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

impl ParamType for String {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err("must be a text".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl ParamType for Span {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(text) => crate::text::span(text).map_err(|e| e.to_string()),
            _ => Err("must be a time such as \"100 ms\"".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Text(crate::text::format_span(*self))
    }
}

impl ParamType for Rate {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(text) => crate::text::rate(text).map_err(|e| e.to_string()),
            _ => Err("must be a rate such as \"1.25 Mbit/s\"".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Text(crate::text::format_rate(*self))
    }
}

impl ParamType for Bytes {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(text) => crate::text::bytes(text).map_err(|e| e.to_string()),
            _ => Err("must be a size such as \"10 MB\"".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Text(crate::text::format_bytes(*self))
    }
}

/// Declares a parameter type whose values are a few words.
///
/// ```
/// elephan_base::words! {
///     /// Which packet of the longest queue goes.
///     pub enum Victim {
///         /// The oldest.
///         Head = "head",
///         /// The youngest.
///         Tail = "tail",
///     }
/// }
/// use elephan_base::param::ParamType;
/// assert_eq!(Victim::read(&elephan_base::Value::Text("tail".into())), Ok(Victim::Tail));
/// assert_eq!(Victim::read(&elephan_base::Value::Bool(true)).unwrap_err(), "must be \"head\" or \"tail\"");
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $word:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $word,)+ }

        impl $crate::param::ParamType for $name {
            fn read(value: &$crate::Value) -> Result<Self, String> {
                match value {
                    $($crate::Value::Text(text) if text == $text => Ok(Self::$word),)+
                    _ => Err(format!("must be {}", [$(concat!("\"", $text, "\""),)+].join(" or "))),
                }
            }
            fn write(&self) -> $crate::Value {
                $crate::Value::Text(match self { $(Self::$word => $text,)+ }.into())
            }
        }
    };
}

/// Declares a `Params` struct with defaults, units and meanings; `needs` gives the conditions for a parameter to have an
/// effect.
///
/// ```
/// elephan_base::params! {
///     /// RFC 5681.
///     pub struct Params {
///         /// Segments gained per round trip.
///         increase: f64 = 1.0, "segments";
///         /// Whether growth follows the clock.
///         timed: bool = false, "";
///         /// Tick of that clock.
///         tick: f64 = 0.01, "s", needs [Is("timed", "true")];
///     }
/// }
/// let mut params = Params::default();
/// params.set("increase", &elephan_base::Value::Number(2.0)).unwrap().unwrap();
/// assert_eq!(params.increase, 2.0);
/// assert_eq!(Params::rows()[0].unit, "segments");
/// assert_eq!(Params::rows()[2].meaning, "Tick of that clock. Needs timed = true.");
/// assert_eq!(Params::rows()[2].needs, [elephan_base::Need::Is("timed", "true")]);
/// assert!(params.set("incerase", &elephan_base::Value::Number(2.0)).is_none());
/// ```
#[macro_export]
macro_rules! params {
    ($(#[$about:meta])* pub struct Params {
        $(#[doc = $meaning:literal] $field:ident : $ty:ty = $default:expr, $unit:literal $(, needs [$($needs:tt)+])?;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct Params {
            $(#[doc = $meaning] pub $field: $ty,)*
        }

        impl Default for Params {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl Params {
            /// Name, default, unit and meaning of every parameter.
            #[must_use]
            pub fn rows() -> Vec<$crate::Param> {
                vec![$($crate::Param {
                    name: stringify!($field),
                    default: { let d: $ty = $default; $crate::param::ParamType::write(&d) },
                    unit: $unit,
                    meaning: $crate::need::with_needs($meaning.trim_ascii(), $crate::needs!($($($needs)+)?)),
                    needs: $crate::needs!($($($needs)+)?),
                },)*]
            }

            /// Sets one parameter by name; `None` if there is no such parameter.
            #[allow(unused_variables, clippy::allow_attributes, reason = "a law without parameters uses neither")]
            pub fn set(&mut self, name: &str, value: &$crate::Value) -> Option<Result<(), $crate::ParamError>> {
                match name {
                    $(stringify!($field) => Some(match $crate::param::ParamType::read(value) {
                        Ok(x) => { self.$field = x; Ok(()) }
                        Err(reason) => Err($crate::ParamError::new(stringify!($field), reason)),
                    }),)*
                    _ => None,
                }
            }

            /// Turns every amount into packets on a link of this `scale`.
            ///
            /// # Errors
            /// The first amount that says nothing there.
            #[allow(unused_variables, clippy::allow_attributes, reason = "a law without parameters uses it not")]
            pub fn resolve(&mut self, scale: &$crate::Scale) -> Result<(), $crate::ParamError> {
                $($crate::param::ParamType::resolve(&mut self.$field, scale)
                    .map_err(|reason| $crate::ParamError::new(stringify!($field), reason))?;)*
                Ok(())
            }

            /// Every parameter with its value, in canonical form.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, $crate::Value)> {
                vec![$((stringify!($field), $crate::param::ParamType::write(&self.$field)),)*]
            }
        }
    };
}

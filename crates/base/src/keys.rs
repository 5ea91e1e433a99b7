//! Tables of the scenario file, each declared once: the [`keys!`](crate::keys!) macro makes the struct of a table and
//! passes each of its keys, with default, example, unit, range and meaning, to the code that reads, writes or describes
//! the table.
//!
//! This module does not know the form of a type in a file, in the canonical form or in the schema: readers and visitors
//! implement [`ReadKey`] and [`VisitKey`] for the types that they support.

use crate::need::Need;
use crate::rate::{Bytes, Rate};
use crate::time::Span;
use std::ops::RangeInclusive;

/// Metadata of a scenario key in addition to its type and default.
#[derive(Clone, Debug, Default)]
pub struct Key {
    /// Name in files.
    pub name: &'static str,
    /// One or two sentences.
    pub meaning: &'static str,
    /// A valid value for messages; empty to use the example of the type.
    pub example: &'static str,
    /// Unit of a plain number; empty for pure numbers.
    pub unit: &'static str,
    /// Range of allowed values.
    pub range: Option<Range>,
    /// Word that is allowed in place of a value; empty if there is none. For an `Option` it means `None`; for other types
    /// it is only for programs that prepare a file.
    pub word: &'static str,
    /// The version that introduced the key; empty if every stored canonical form has it. Canonical forms omit such a key
    /// if it has its default, so that older stored scenarios keep their identity.
    pub since: &'static str,
    /// Conditions for the key to have an effect.
    pub needs: &'static [Need],
}

/// A range of values, both ends included.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// Range of integers; for texts and lists, of their length.
    Whole(RangeInclusive<u64>),
    /// Range of numbers.
    Number(RangeInclusive<f64>),
    /// Range of times.
    Time(RangeInclusive<Span>),
    /// Range of rates.
    Rate(RangeInclusive<Rate>),
    /// Range of sizes.
    Size(RangeInclusive<Bytes>),
}

macro_rules! ranges {
    ($($kind:ident: $bound:ty;)+) => {
        $(impl From<RangeInclusive<$bound>> for Range {
            fn from(ends: RangeInclusive<$bound>) -> Self {
                Self::$kind(ends)
            }
        })+
    };
}

ranges! {
    Whole: u64;
    Number: f64;
    Time: Span;
    Rate: Rate;
    Size: Bytes;
}

/// Reads a table; values that it cannot read are an `Error`.
pub trait KeyReader {
    /// Error of a wrong table.
    type Error;
}

/// Reads keys of one type.
pub trait ReadKey<T>: KeyReader {
    /// Reads the value at `key`; returns its `default` if there is no value.
    ///
    /// # Errors
    /// A description of the error, or that the key is missing.
    fn read_key(&mut self, key: &Key, default: Option<T>) -> Result<T, Self::Error>;
}

/// Visits keys of one type.
pub trait VisitKey<T> {
    /// Visits `key`, with its value if there is a table, and its default if there is one.
    fn visit_key(&mut self, key: &Key, value: Option<&T>, default: Option<T>);
}

/// A table that `R` can read.
pub trait ReadTable<R: KeyReader>: Sized {
    /// Reads the table, key by key in the order of declaration.
    ///
    /// # Errors
    /// The error of the first key that cannot be read.
    fn read_table(reader: &mut R) -> Result<Self, R::Error>;
}

/// A table whose keys `V` can visit.
pub trait VisitTable<V> {
    /// Visits every key, with its value if there is a `table`.
    fn visit_table(table: Option<&Self>, visitor: &mut V);
}

/// Description of a table.
pub trait About {
    /// One sentence.
    const ABOUT: &'static str;
}

/// Declares a table of the scenario file: a struct whose fields are keys.
///
/// A field is `name: Type`, then, each of them only if there is one and in this order: `as "key"` in front of the colon where
/// files spell it otherwise; `= default` (a key without default must be given); `eg "a right value"`; `unit "segments"`;
/// `in 1..=10`; `or "word"` (see [`Key::word`]); `since "version"`, which every key needs that comes after
/// the first release (see [`Key::since`]); `needs [Not("delayed_ack", "1")]`, what it needs to have an effect ([`Need`]). The schema and the reference page end the meaning with the default, unless the
/// meaning itself says `Default: …`.
///
/// ```
/// elephan_base::keys! {
///     /// A sender's timers.
///     pub struct Timers {
///         /// Smallest retransmission timeout.
///         min_rto: elephan_base::Span = elephan_base::Span::secs(1), eg "200 ms", in elephan_base::Span(1)..=elephan_base::Span::secs(60);
///         /// Most retransmissions in a row.
///         tries: Option<u32> = None, unit "packets", in 1..=100, or "unlimited";
///     }
/// }
/// use elephan_base::keys::{Range, VisitKey, VisitTable};
/// struct Ranges(Vec<(&'static str, Option<Range>)>);
/// impl<T> VisitKey<T> for Ranges {
///     fn visit_key(&mut self, key: &elephan_base::Key, _value: Option<&T>, _default: Option<T>) {
///         self.0.push((key.name, key.range.clone()));
///     }
/// }
/// let mut ranges = Ranges(Vec::new());
/// Timers::visit_table(None, &mut ranges);
/// assert_eq!(ranges.0[1], ("tries", Some(Range::Whole(1..=100))));
/// assert_eq!(Timers::default().min_rto, elephan_base::Span::secs(1));
/// ```
#[macro_export]
macro_rules! keys {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $table:ident $(<$param:ident $(= $usual:ty)?>)? {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident $(as $name:literal)? : $ty:ty
                $(= $default:expr)? $(, eg $example:literal)? $(, unit $unit:literal)? $(, in $range:expr)?
                $(, or $word:literal)? $(, since $since:literal)? $(, needs [$($needs:tt)+])?;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $table $(<$param $(= $usual)?>)? {
            $($(#[doc = $meaning])+ pub $field: $ty,)+
        }

        impl $(<$param>)? $crate::keys::About for $table $(<$param>)? {
            const ABOUT: &'static str = concat!($($about),+).trim_ascii();
        }

        impl<$($param,)? Reader> $crate::keys::ReadTable<Reader> for $table $(<$param>)?
        where
            Reader: $crate::keys::KeyReader $(+ $crate::keys::ReadKey<$ty>)+,
        {
            fn read_table(reader: &mut Reader) -> Result<Self, Reader::Error> {
                Ok(Self {
                    $($field: {
                        let key = $crate::keys!(@key $field $(as $name)?, [$($meaning)+] $(, eg $example)?
                            $(, unit $unit)? $(, in $range)? $(, or $word)? $(, since $since)? $(, needs [$($needs)+])?);
                        $crate::keys::ReadKey::<$ty>::read_key(reader, &key, $crate::keys!(@option $($default)?))?
                    },)+
                })
            }
        }

        impl<$($param,)? Visitor> $crate::keys::VisitTable<Visitor> for $table $(<$param>)?
        where
            $(Visitor: $crate::keys::VisitKey<$ty>,)+
        {
            fn visit_table(table: Option<&Self>, visitor: &mut Visitor) {
                $({
                    let key = $crate::keys!(@key $field $(as $name)?, [$($meaning)+] $(, eg $example)?
                        $(, unit $unit)? $(, in $range)? $(, or $word)? $(, since $since)? $(, needs [$($needs)+])?);
                    let value = table.map(|table| &table.$field);
                    $crate::keys::VisitKey::<$ty>::visit_key(visitor, &key, value, $crate::keys!(@option $($default)?));
                })+
            }
        }

        $crate::keys!(@default $table $(<$param>)? { $($field [$($default)?])+ });
    };
    (@key $field:ident $(as $name:literal)?, [$($meaning:literal)+] $(, eg $example:literal)?
        $(, unit $unit:literal)? $(, in $range:expr)? $(, or $word:literal)? $(, since $since:literal)? $(, needs [$($needs:tt)+])?) => {
        $crate::Key {
            name: $crate::keys!(@first $($name)? stringify!($field)),
            meaning: concat!($($meaning),+).trim_ascii(),
            example: concat!($($example)?),
            unit: concat!($($unit)?),
            range: $crate::keys!(@option $($crate::keys::Range::from($range))?),
            word: concat!($($word)?),
            since: concat!($($since)?),
            needs: $crate::needs!($($($needs)+)?),
        }
    };
    (@first $name:literal $($field:tt)+) => { $name };
    (@first $field:expr) => { $field };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    // Only for tables in which every key has a default.
    (@default $table:ident { $($field:ident [$default:expr])+ }) => {
        impl Default for $table {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }
    };
    (@default $($other:tt)+) => {};
}

//! The simple types of keys: texts, numbers, quantities, flags, words, and optional values and lists of them.

use crate::ScenarioError;
use crate::names::{Names, unknown};
use crate::node::{Node, or_word};
use crate::schema::{number, text};
use crate::table::{self, Defs, KeyType, Table, example};
use base::keys::Range;
use base::{Bytes, Key, Quantity, Rate, Span};
use serde_json::{Value as Json, json};
use transport::{
    Autotuning, Burst, Coalescing, Device, DupThresh, Ecn, Pacing, PacingFactors, ReceiveWindow, Rto, Undo,
    WindowValidation,
};

impl KeyType for String {
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        node.text(key.example).map(str::to_owned)
    }
    fn write(&self, _names: &Names) -> Json {
        json!(self)
    }
    fn schema(key: &Key, _defs: &mut Defs) -> Json {
        match &key.range {
            Some(Range::Whole(letters)) => {
                json!({ "type": "string", "minLength": letters.start(), "maxLength": letters.end() })
            }
            _ => json!({ "type": "string" }),
        }
    }
}

/// Numbers and flags, which are the same in files and canonical forms.
macro_rules! plain {
    ($($ty:ty: $kind:literal, $read:expr;)+) => {
        $(impl KeyType for $ty {
            fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
                let read: fn(&Node, &Key) -> Result<Self, ScenarioError> = $read;
                read(node, key)
            }
            fn write(&self, _names: &Names) -> Json {
                json!(self)
            }
            fn hint(key: &Key) -> String {
                format!("write for example {} = {}", key.name, key.example)
            }
            fn schema(key: &Key, _defs: &mut Defs) -> Json {
                number($kind, key)
            }
        })+
    };
}

plain! {
    u32: "integer", |node, key| node.whole(key);
    u64: "integer", |node, key| node.whole(key);
    f64: "number", |node, key| node.number(key);
    bool: "boolean", |node, _key| node.value.as_bool().ok_or_else(|| node.wrong("must be true or false"));
}

/// Quantities: texts with a unit in files, integers in canonical forms.
macro_rules! quantities {
    ($($ty:ident)+) => {
        $(impl KeyType for $ty {
            const EXAMPLE: &'static str = Self::EXAMPLES[0];
            const SUFFIX: &'static str = <Self as Quantity>::SUFFIX;
            fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
                if !key.word.is_empty() && node.as_text() == Some(key.word) {
                    let right = format!("give a {} such as {:?}", Self::word(), example::<Self>(key));
                    let reason = format!("{:?} is for a pilot to find before a file comes here; {right}", key.word);
                    return Err(node.wrong(reason));
                }
                quantity(node, key, example::<Self>(key))
            }
            fn write(&self, _names: &Names) -> Json {
                json!(self)
            }
            fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
                within(node, node.derived()?, key)
            }
            fn shown(&self, _key: &Key) -> String {
                format!("{:?}", self.text())
            }
            fn schema(key: &Key, defs: &mut Defs) -> Json {
                or_said(defs.refer(Self::NAME, |_| text(&Self::pattern())), key)
            }
        })+
    };
}

quantities! { Span Rate Bytes }

/// Reads one quantity; `example` is a valid one.
pub(crate) fn quantity<T: Quantity>(node: &Node, key: &Key, example: &str) -> Result<T, ScenarioError> {
    within(node, node.quantity(T::parse, example)?, key)
}

/// A value that is either one quantity or a table of other forms.
pub(crate) trait OneOrTable: Sized {
    type One: Quantity;
    type Table: Table;
    /// Description of the allowed forms, for messages.
    const FORM: &'static str;
    fn of_one(one: Self::One) -> Self;
    /// Reads a table; an error if it is invalid.
    fn of_table(table: Self::Table, node: &Node, key: &Key) -> Result<Self, ScenarioError>;

    /// Reads either form; `example` is a valid quantity.
    fn read_either(node: &Node, key: &Key, example: &str) -> Result<Self, ScenarioError> {
        if node.value.is_object() {
            return Self::of_table(table::read(node, Self::FORM)?, node, key);
        }
        if node.value.is_array() {
            return Err(node.wrong(format!("must be {}", Self::FORM)));
        }
        quantity(node, key, example).map(Self::of_one)
    }

    /// Reads the canonical form.
    fn restore_either(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if node.value.is_object() {
            return Self::of_table(table::restore(node)?, node, key);
        }
        within(node, node.derived()?, key).map(Self::of_one)
    }
}

/// Checks that both ends of a uniform draw are in order and each is allowed; `what` names them in messages.
pub(crate) fn ordered<T: Quantity>(
    (from, to): (T, T),
    what: &str,
    node: &Node,
    key: &Key,
) -> Result<(T, T), ScenarioError> {
    if from > to {
        return Err(node.at("uniform").wrong(format!("the first {what} must not be above the second")));
    }
    within(node, from, key).and(within(node, to, key)).and(Ok((from, to)))
}

/// Returns `x` if it is within the range of its `key`.
pub(crate) fn within<T: Quantity>(node: &Node, x: T, key: &Key) -> Result<T, ScenarioError> {
    match key.range.as_ref().and_then(T::ends) {
        Some(range) if x.base() == 0 && range.start().base() == 1 => {
            Err(node.wrong(format!("must be above 0{}", or_word(key))))
        }
        Some(range) if !range.contains(&x) => {
            let [given, from, to] = [x, *range.start(), *range.end()].map(T::text);
            Err(node.wrong(format!("must lie between {from} and {to}, not {given}")))
        }
        _ => Ok(x),
    }
}

/// `schema`, or the alternative word of the key.
fn or_said(schema: Json, key: &Key) -> Json {
    if key.word.is_empty() { schema } else { json!({ "anyOf": [schema, { "const": key.word }] }) }
}

/// An optional value, or a value for which a word may be written.
impl<T: KeyType> KeyType for Option<T> {
    const EXAMPLE: &'static str = T::EXAMPLE;
    const SUFFIX: &'static str = T::SUFFIX;
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        let none = !key.word.is_empty() && node.as_text() == Some(key.word);
        if none { Ok(None) } else { T::read(node, key).map(Some) }
    }
    fn write(&self, names: &Names) -> Json {
        self.as_ref().map_or(Json::Null, |x| x.write(names))
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if node.value.is_null() { Ok(None) } else { T::restore(node, key).map(Some) }
    }
    fn shown(&self, key: &Key) -> String {
        match self {
            Some(x) => x.shown(key),
            None if key.word.is_empty() => String::new(),
            None => format!("{:?}", key.word),
        }
    }
    fn schema(key: &Key, defs: &mut Defs) -> Json {
        or_said(T::schema(&Key { word: "", ..key.clone() }, defs), key)
    }
}

impl<T: KeyType> KeyType for Vec<T> {
    const SUFFIX: &'static str = T::SUFFIX;
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        list_of(node, key, T::read)
    }
    fn write(&self, names: &Names) -> Json {
        self.iter().map(|x| x.write(names)).collect()
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        list_of(node, key, T::restore)
    }
    fn hint(key: &Key) -> String {
        match example::<T>(key) {
            table if table.starts_with("[[") => format!("write at least one {table} table"),
            item => format!("write for example {} = [{item:?}]", key.name),
        }
    }
    fn shown(&self, _key: &Key) -> String {
        "[]".into()
    }
    fn schema(key: &Key, defs: &mut Defs) -> Json {
        let mut schema = json!({ "type": "array", "items": T::schema(key, defs) });
        if least(key) > 0 {
            schema["minItems"] = json!(least(key));
        }
        schema
    }
}

/// Smallest number of elements.
fn least(key: &Key) -> u64 {
    if let Some(Range::Whole(range)) = &key.range { *range.start() } else { 0 }
}

fn list_of<T: KeyType>(
    node: &Node,
    key: &Key,
    read: fn(&Node, &Key) -> Result<T, ScenarioError>,
) -> Result<Vec<T>, ScenarioError> {
    let [form, empty] = T::LIST;
    let list: Vec<T> = node.list(form)?.iter().map(|item| read(item, key)).collect::<Result<_, _>>()?;
    if (list.len() as u64) < least(key) {
        return Err(node.wrong(empty));
    }
    T::listed(&list, node.names)?;
    Ok(list)
}

/// Types with a few words, the same in files and canonical forms; for some types, `true` and `false` stand for two words.
macro_rules! words {
    ($($ty:ty, $example:literal $(, true $on:ident, false $off:ident)? $({ $($own:item)* })?;)+) => {
        $(impl KeyType for $ty {
            const EXAMPLE: &'static str = $example;
            fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
                let name = match node.value {
                    $(Json::Bool(on) => return Ok(if *on { Self::$on } else { Self::$off }),)?
                    _ => node.text($example)?,
                };
                let found = Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0);
                let known = Self::ALL.map(|row| row.1);
                found.ok_or_else(|| node.wrong($crate::names::unknown(key.name, name, &known, &[])))
            }
            fn write(&self, _names: &Names) -> Json {
                Self::ALL.iter().find(|row| row.0 == *self).map(|row| row.1).into()
            }
            fn schema(_key: &Key, _defs: &mut Defs) -> Json {
                let words: Vec<Json> = Self::ALL.iter().map(|row| json!(row.1)).collect();
                $(let words = [words, [Self::$on, Self::$off].map(|word| json!(word == Self::$on)).into()].concat();)?
                json!({ "enum": words })
            }
            $($($own)*)?
        })+
    };
}
pub(crate) use words;

words! {
    Ecn, "on", true On, false Off;
    Rto, "linux";
    Undo, "always";
    WindowValidation, "linux";
}

/// Description of the allowed forms of `pacing`, for messages.
const PACING: &str = "\"none\", \"linux\", \"quic\" or a table such as { slow_start = 2.0, avoidance = 1.2 }";

/// A word, or a table of Linux's factors.
impl KeyType for Pacing {
    const EXAMPLE: &'static str = "linux";
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        match node.value {
            Json::Object(_) => table::read(node, PACING).map(Self::Linux),
            _ => match node.text("linux")? {
                "none" => Ok(Self::None),
                "linux" => Ok(Self::Linux(PacingFactors::default())),
                "quic" => Ok(Self::Quic),
                name => Err(node.wrong(unknown(key.name, name, &["none", "linux", "quic"], &[]))),
            },
        }
    }
    fn write(&self, names: &Names) -> Json {
        match self {
            Self::None => json!("none"),
            Self::Quic => json!("quic"),
            Self::Linux(factors) if *factors == PacingFactors::default() => json!("linux"),
            Self::Linux(factors) => table::write(factors, names),
        }
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if node.value.is_object() { table::restore(node).map(Self::Linux) } else { Self::read(node, key) }
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let factors = defs.table::<PacingFactors>("PacingFactors");
        json!({ "anyOf": [json!({ "enum": ["none", "linux", "quic"] }), factors] })
    }
}

/// Description of the allowed forms of `receive_window`, for messages.
const RECEIVE_WINDOW: &str = "\"none\", \"linux\", a whole number of segments from 1 to 1000000000, or a table such as \
                              { max = \"32 MiB\" }";

/// A word, a number, or a table of the limits between which the buffer grows.
impl KeyType for ReceiveWindow {
    const EXAMPLE: &'static str = "linux";
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        match node.value {
            Json::Object(_) => {
                let tuning: Autotuning = table::read(node, RECEIVE_WINDOW)?;
                if tuning.max < tuning.initial {
                    return Err(node.wrong(format!("max must not be less than initial, {} B", tuning.initial.0)));
                }
                Ok(Self::Autotuned(tuning))
            }
            Json::String(name) => match name.as_str() {
                "none" => Ok(Self::None),
                "linux" => Ok(Self::Autotuned(Autotuning::default())),
                name if name.starts_with(|first: char| first.is_ascii_digit()) => {
                    Err(node.wrong(format!("must be {RECEIVE_WINDOW}")))
                }
                name => Err(node.wrong(unknown(key.name, name, &["none", "linux"], &[]))),
            },
            _ => match node.value.as_u64() {
                Some(segments @ 1..=1_000_000_000) => Ok(Self::Segments(segments as u32)),
                _ => Err(node.wrong(format!("must be {RECEIVE_WINDOW}"))),
            },
        }
    }
    /// Writes the complete table, so that a stored run contains Linux's values.
    fn write(&self, names: &Names) -> Json {
        match self {
            Self::None => Json::Null,
            Self::Segments(segments) => json!(segments),
            Self::Autotuned(tuning) => table::write(tuning, names),
        }
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        match node.value {
            Json::Null => Ok(Self::None),
            Json::Object(_) => table::restore(node).map(Self::Autotuned),
            _ => Self::read(node, key),
        }
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let tuning = defs.table::<Autotuning>("Autotuning");
        let segments = json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000_000 });
        json!({ "anyOf": [json!({ "enum": ["none", "linux"] }), segments, tuning] })
    }
}

/// Description of the allowed forms of `burst`, for messages.
const BURST: &str = "\"none\", \"linux\", a number of segments such as 8, or a table such as { max_segments = 128 }";

/// A word, a number, or a table of the device's size.
impl KeyType for Burst {
    const EXAMPLE: &'static str = "linux";
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        match node.value {
            Json::Object(_) => table::read(node, BURST).map(Self::Linux),
            Json::Number(_) => match node.value.as_u64() {
                Some(segments @ 2..=65_536) => Ok(Self::Segments(segments as u32)),
                _ => Err(node.wrong(format!("must be {BURST}; 2 to 65536 segments"))),
            },
            _ => match node.text("linux")? {
                "none" => Ok(Self::None),
                "linux" => Ok(Self::Linux(Device::default())),
                name => Err(node.wrong(unknown(key.name, name, &["none", "linux"], &[]))),
            },
        }
    }
    fn write(&self, names: &Names) -> Json {
        match self {
            Self::None => json!("none"),
            Self::Segments(segments) => json!(segments),
            Self::Linux(device) if *device == Device::default() => json!("linux"),
            Self::Linux(device) => table::write(device, names),
        }
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if node.value.is_object() { table::restore(node).map(Self::Linux) } else { Self::read(node, key) }
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let device = defs.table::<Device>("BurstDevice");
        let segments = json!({ "type": "integer", "minimum": 2, "maximum": 65_536 });
        json!({ "anyOf": [json!({ "enum": ["none", "linux"] }), segments, device] })
    }
}

/// Description of the allowed forms of `dup_thresh`, for messages.
const DUP_THRESH: &str = "a whole number of segments from 1 to 1000000, or \"adaptive\"";

/// A number, or a word.
impl KeyType for DupThresh {
    const EXAMPLE: &'static str = "3";
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        match (node.value.as_str(), node.value.as_u64()) {
            (Some("adaptive"), _) => Ok(Self::Adaptive),
            (_, Some(segments @ 1..=1_000_000)) => Ok(Self::Segments(segments as u32)),
            _ => Err(node.wrong(format!("must be {DUP_THRESH}"))),
        }
    }
    fn write(&self, _names: &Names) -> Json {
        match self {
            Self::Segments(segments) => json!(segments),
            Self::Adaptive => json!("adaptive"),
        }
    }
    fn hint(key: &Key) -> String {
        format!("write for example {} = 3", key.name)
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        let segments = json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 });
        json!({ "anyOf": [json!({ "enum": ["adaptive"] }), segments] })
    }
}

table::table_types! {
    Coalescing = "Coalescing", "\"none\" or a table such as { segments = 44, wait = \"50 us\" }";
}

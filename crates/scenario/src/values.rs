//! Quantities that need not be the same for all flows of a group: one value, equally spaced, drawn, or a list.

use crate::ScenarioError;
use crate::reader::Node;
use base::{Rate, Span};

/// Rates and times, as integers in their base unit.
pub trait Quantity: Copy + Ord {
    /// The integer.
    fn base(self) -> u64;
    /// The quantity of so many base units.
    fn of(base: u64) -> Self;
}

impl Quantity for Rate {
    fn base(self) -> u64 {
        self.0
    }
    fn of(base: u64) -> Self {
        Self(base)
    }
}

impl Quantity for Span {
    fn base(self) -> u64 {
        self.0
    }
    fn of(base: u64) -> Self {
        Self(base)
    }
}

/// A quantity of each flow of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values<T> {
    /// All the same.
    Same(T),
    /// Equally spaced from the first to the last flow.
    Spread(T, T),
    /// Uniform draws.
    Uniform(T, T),
    /// As many as there are flows: one each, in order. Otherwise each flow draws one of them.
    List(Vec<T>),
}

impl<T: Quantity> Values<T> {
    /// The smallest that a flow can have.
    #[must_use]
    pub fn min(&self) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Spread(from, to) | Self::Uniform(from, to) => *from.min(to),
            Self::List(list) => list.iter().min().copied().unwrap_or(T::of(0)),
        }
    }

    /// The largest that a flow can have.
    #[must_use]
    pub fn max(&self) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Spread(from, to) | Self::Uniform(from, to) => *from.max(to),
            Self::List(list) => list.iter().max().copied().unwrap_or(T::of(0)),
        }
    }

    /// The mean over flows: exact for values and spreads, expected for draws.
    #[must_use]
    pub fn mean(&self) -> T {
        match self {
            Self::Same(x) => *x,
            Self::Spread(from, to) | Self::Uniform(from, to) => T::of(u64::midpoint(from.base(), to.base())),
            Self::List(list) => {
                let sum: u128 = list.iter().map(|x| u128::from(x.base())).sum();
                T::of((sum / (list.len() as u128).max(1)) as u64)
            }
        }
    }

    /// What is wrong with it, if anything; `word` is what one of them is called.
    pub(crate) fn fault(&self, word: &str) -> Option<String> {
        match self {
            Self::Spread(from, to) | Self::Uniform(from, to) if from > to => {
                Some(format!("the first {word} must not be above the second"))
            }
            Self::List(list) if list.is_empty() => Some("must not be empty".into()),
            _ => None,
        }
    }
}

/// Keys of a table of values.
pub(crate) const VALUES_KEYS: &[&str] = &["from", "to", "uniform"];

/// Keys of a range from which the links of an array draw.
pub(crate) const RANGE_KEYS: &[&str] = &["uniform"];

/// How one kind of quantity is read, and examples of it.
pub(crate) struct Kind<T> {
    pub read: fn(&Node, &str) -> Result<T, ScenarioError>,
    /// What several of them are called.
    pub words: &'static str,
    pub examples: [&'static str; 2],
}

pub(crate) const TIMES: Kind<Span> =
    Kind { read: |node, example| node.span(example), words: "times", examples: ["10 ms", "200 ms"] };

pub(crate) const RATES: Kind<Rate> =
    Kind { read: |node, example| node.rate(example), words: "rates", examples: ["100 Mbit/s", "155 Mbit/s"] };

impl<T> Kind<T> {
    /// One quantity.
    pub fn one(&self, node: &Node) -> Result<T, ScenarioError> {
        (self.read)(node, self.examples[0])
    }

    /// Both ends of what stands at `uniform`.
    pub fn pair(&self, node: &Node) -> Result<(T, T), ScenarioError> {
        let form = format!("a list of two {} such as {:?}", self.words, self.examples);
        match node.list(&form)?.as_slice() {
            [from, to] => Ok(((self.read)(from, self.examples[0])?, (self.read)(to, self.examples[1])?)),
            _ => Err(node.wrong(format!("must be {form}"))),
        }
    }

    /// A list of them, not empty.
    pub fn list(&self, node: &Node) -> Result<Vec<T>, ScenarioError> {
        let items = node.list("a list")?;
        if items.is_empty() {
            return Err(node.wrong("must not be empty"));
        }
        items.iter().map(|item| self.one(item)).collect()
    }

    /// Any of the forms.
    pub fn values(&self, node: &Node) -> Result<Values<T>, ScenarioError> {
        let [first, second] = self.examples;
        let form = format!("{first:?}, {{ from, to }}, {{ uniform = [{first:?}, {second:?}] }} or a list");
        match node.value {
            toml::Value::Array(_) => self.list(node).map(Values::List),
            toml::Value::Table(_) => {
                let fields = node.table(VALUES_KEYS, &form)?;
                match (fields.get("from"), fields.get("to"), fields.get("uniform")) {
                    (Some(from), Some(to), None) => Ok(Values::Spread(self.one(&from)?, (self.read)(&to, second)?)),
                    (None, None, Some(uniform)) => self.pair(&uniform).map(|(from, to)| Values::Uniform(from, to)),
                    _ => Err(node.wrong(format!("must be {form}"))),
                }
            }
            _ => self.one(node).map(Values::Same),
        }
    }
}

impl<T: Quantity> Kind<T> {
    /// One quantity such as `example`, or the ends of a range from which each link draws: the mean, and the range if there
    /// is one.
    pub fn mean_or_range(&self, node: &Node, example: &str) -> Result<(T, Option<(T, T)>), ScenarioError> {
        if !node.value.is_table() {
            return Ok(((self.read)(node, example)?, None));
        }
        let [first, second] = self.examples;
        let form = format!("{example:?} or {{ uniform = [{first:?}, {second:?}] }}");
        let fields = node.table(RANGE_KEYS, &form)?;
        let Some(uniform) = fields.get("uniform") else { return Err(node.wrong(format!("must be {form}"))) };
        let (from, to) = self.pair(&uniform)?;
        Ok((Values::Uniform(from, to).mean(), Some((from, to))))
    }
}

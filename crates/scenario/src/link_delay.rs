//! Propagation delay of a link: constant, or by a schedule, and the additional delay of each packet (jitter).
//!
//! No packet overtakes the one before it on its link, unless the link has [`crate::Reorder`]. Where a single number is
//! needed (round-trip times, and so BDP, rules and models) it is the mean: for steps without a period over the run, for
//! steps with a period over the period, and for jitter that of packets far apart.

use crate::names::Names;
use crate::node::Node;
use crate::table::{self, Defs, KeyType};
use crate::types::{OneOrTable, ordered, within};
use crate::{ScenarioError, limits, schedule};
use base::{Key, Quantity, Ranged, Span};
use queue::mean_of_steps;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A time, and the delay that holds from then on.
pub type DelayStep = (Span, Span);

/// The propagation delay of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkDelay {
    /// A constant delay.
    Fixed(Ranged<Span>),
    /// Times, the first of which is 0, with the delays that hold from then on; the list repeats after the period, if there
    /// is one.
    Steps(Arc<[DelayStep]>, Option<Span>),
}

base::keys! {
    /// A delay that changes, or is drawn: one of uniform, steps, trace.
    pub struct DelayTable {
        /// Both ends of a uniform draw of each link.
        uniform: Option<(Span, Span)> = None, in limits::DELAY, since "0.1";
        /// Times, the first of them 0, and the delays of packets that leave from then on, in order: [["0 s", "20 ms"], ["15 s", "45 ms"]].
        steps: Option<Vec<DelayStep>> = None, eg "[[\"0 s\", \"20 ms\"], [\"15 s\", \"45 ms\"]]", since "0.1";
        /// Period after which the steps repeat.
        period: Option<Span> = None, eg "30 s", in schedule::PERIOD, since "0.1";
        /// A .csv file with the columns time_s and delay_s: steps, each of which holds until the next.
        trace: Option<String> = None, eg "passes.csv", since "0.1";
    }
}

/// Random delay of each packet in addition to the delay of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Uniform draws between these values.
    Uniform(Span, Span),
    /// Exponential draws with this mean.
    Exponential(Span),
}

base::keys! {
    /// Distribution of a delay drawn for each packet: one of uniform, exponential.
    pub struct JitterTable {
        /// Both ends of a uniform draw.
        uniform: Option<(Span, Span)> = None, in limits::DELAY, since "0.1";
        /// Mean of an exponential draw.
        exponential: Option<Span> = None, eg "1 ms", in LONGEST_MEAN, since "0.1";
    }
}

/// Range of the mean of exponential draws, so that all draws are below the largest delay.
const LONGEST_MEAN: std::ops::RangeInclusive<Span> = Span::ZERO..=Span::secs(60);
/// Upper bound of exponential draws, in means: draws are logarithms of 53-bit numbers.
const MOST_MEANS: u64 = 37;

const FORM: &str = "a time such as \"50 ms\" or a table such as { steps = [[\"0 s\", \"20 ms\"], [\"15 s\", \"45 ms\"]] }, \
                    { trace = \"passes.csv\" } or { uniform = [\"10 ms\", \"20 ms\"] }";
const JITTER_FORM: &str =
    "a time such as \"2 ms\" or a table such as { uniform = [\"1 ms\", \"3 ms\"] } or { exponential = \"1 ms\" }";

impl LinkDelay {
    /// A constant delay.
    #[must_use]
    pub fn same(delay: Span) -> Self {
        Self::Fixed(Ranged::Same(delay))
    }

    /// The mean in a run of this `duration`.
    #[must_use]
    pub fn mean(&self, duration: Span) -> Span {
        match self {
            Self::Fixed(delay) => delay.mean(),
            Self::Steps(list, period) => mean_of_steps(list, period.unwrap_or(duration)),
        }
    }

    /// The shortest delay.
    #[must_use]
    pub fn min(&self) -> Span {
        match self {
            Self::Fixed(delay) => delay.min(),
            Self::Steps(list, _) => list.iter().map(|step| step.1).min().unwrap_or(Span::ZERO),
        }
    }

    /// The longest delay.
    #[must_use]
    pub fn max(&self) -> Span {
        match self {
            Self::Fixed(delay) => delay.max(),
            Self::Steps(list, _) => list.iter().map(|step| step.1).max().unwrap_or(Span::ZERO),
        }
    }

    fn to_table(&self) -> DelayTable {
        match self.clone() {
            Self::Fixed(Ranged::Same(_)) => DelayTable::default(),
            Self::Fixed(Ranged::Uniform(from, to)) => DelayTable { uniform: Some((from, to)), ..DelayTable::default() },
            Self::Steps(list, period) => DelayTable { steps: Some(list.to_vec()), period, ..DelayTable::default() },
        }
    }
}

impl Jitter {
    /// The mean of the draws.
    #[must_use]
    pub fn mean(&self) -> Span {
        match *self {
            Self::Uniform(from, to) => Span(u64::midpoint(from.0, to.0)),
            Self::Exponential(mean) => mean,
        }
    }

    /// The shortest possible draw.
    #[must_use]
    pub fn min(&self) -> Span {
        match *self {
            Self::Uniform(from, _) => from,
            Self::Exponential(_) => Span::ZERO,
        }
    }

    /// Upper bound of all draws.
    #[must_use]
    pub fn max(&self) -> Span {
        match *self {
            Self::Uniform(_, to) => to,
            Self::Exponential(mean) => Span(mean.0 * MOST_MEANS),
        }
    }
}

impl OneOrTable for LinkDelay {
    type One = Span;
    type Table = DelayTable;
    const FORM: &'static str = FORM;
    fn of_one(one: Span) -> Self {
        Self::same(one)
    }
    fn of_table(table: DelayTable, node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if table.trace.is_some() {
            let reason = "a file is read by the command line and by Python; what it holds goes into steps";
            return Err(node.at("trace").wrong(reason));
        }
        match (table.uniform, table.steps, table.period) {
            (Some(uniform), None, None) => {
                ordered(uniform, "time", node, key).map(|(a, b)| Self::Fixed(Ranged::Uniform(a, b)))
            }
            (None, Some(steps), period) => {
                let place = node.at("steps");
                schedule::check_times(&steps, period, &place)?;
                for (i, step) in steps.iter().enumerate() {
                    within(&schedule::entry(&place, i), step.1, key)?;
                }
                Ok(Self::Steps(steps.into(), period))
            }
            (Some(_), None, Some(_)) => Err(node.at("period").wrong("is for steps only")),
            _ => Err(node.wrong(format!("must be {FORM}; one of its forms"))),
        }
    }
}

impl KeyType for LinkDelay {
    const EXAMPLE: &'static str = Span::EXAMPLES[0];
    const SUFFIX: &'static str = <Span as Quantity>::SUFFIX;
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        Self::read_either(node, key, table::example::<Self>(key))
    }
    fn write(&self, names: &Names) -> Json {
        match self {
            Self::Fixed(Ranged::Same(delay)) => json!(delay),
            _ => table::write(&self.to_table(), names),
        }
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        Self::restore_either(node, key)
    }
    fn shown(&self, key: &Key) -> String {
        self.min().shown(key)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        defs.refer("LinkDelay", |defs| {
            let (one, table) = (Span::schema(&Key::default(), defs), defs.table::<DelayTable>("DelayTable"));
            schedule::periodic(&mut defs.0["DelayTable"]);
            json!({ "description": "One delay, or one that changes or is drawn.", "anyOf": [one, table] })
        })
    }
}

impl OneOrTable for Jitter {
    type One = Span;
    type Table = JitterTable;
    const FORM: &'static str = JITTER_FORM;
    fn of_one(one: Span) -> Self {
        Self::Uniform(Span::ZERO, one)
    }
    fn of_table(table: JitterTable, node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        match (table.uniform, table.exponential) {
            (Some(uniform), None) => ordered(uniform, "time", node, key).map(|(a, b)| Self::Uniform(a, b)),
            (None, Some(mean)) => Ok(Self::Exponential(mean)),
            _ => Err(node.wrong(format!("must be {JITTER_FORM}; one of its forms"))),
        }
    }
}

impl KeyType for Jitter {
    const EXAMPLE: &'static str = "2 ms";
    const SUFFIX: &'static str = <Span as Quantity>::SUFFIX;
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        Self::read_either(node, key, "2 ms")
    }
    fn write(&self, names: &Names) -> Json {
        let table = match *self {
            Self::Uniform(Span::ZERO, longest) => return json!(longest),
            Self::Uniform(from, to) => JitterTable { uniform: Some((from, to)), exponential: None },
            Self::Exponential(mean) => JitterTable { uniform: None, exponential: Some(mean) },
        };
        table::write(&table, names)
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        Self::restore_either(node, key)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        defs.refer("Jitter", |defs| {
            let (one, table) = (Span::schema(&Key::default(), defs), defs.table::<JitterTable>("JitterTable"));
            (defs.0["JitterTable"]["minProperties"], defs.0["JitterTable"]["maxProperties"]) = (json!(1), json!(1));
            json!({ "description": "The longest of uniform draws from 0 on, or another distribution.", "anyOf": [one, table] })
        })
    }
}

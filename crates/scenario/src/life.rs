//! Start and end of flows: `start` and `stop` of a group.

use crate::ScenarioError;
use crate::forms::Forms;
use crate::node::Node;
use crate::table::KeyType;
use base::{Key, Span};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Start times of flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Start {
    /// Flow i starts at `from` plus i times `every`.
    Every {
        /// The start of the first flow.
        #[serde(rename = "from_ps")]
        from: Span,
        /// Time between the starts of two flows.
        #[serde(rename = "every_ps")]
        every: Span,
    },
    /// One value per flow, in order, if the list is as long as the number of flows. Otherwise each flow draws one of them.
    List(Vec<Span>),
    /// Uniform between two times, drawn for each flow and replication.
    #[serde(untagged)]
    Between(Span, Span),
}

/// Stop times of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Uniform between two times, drawn for each flow and replication.
    Between(Span, Span),
    /// A fixed time after the flow's own start.
    After(Span),
    /// A time after the flow's own start, drawn from an exponential law with this mean.
    AfterExponential(Span),
}

base::keys! {
    /// Start times: { from, to }, a uniform draw per flow and replication; { from, every }, flow i at from + i every.
    pub struct StartTable {
        /// The earliest: "0 s".
        from: Span, eg "0 s";
        /// The latest: "5 s".
        to: Option<Span> = None, eg "5 s";
        /// Time between the starts of two flows: "10 s".
        every: Option<Span> = None, eg "10 s";
    }
}

base::keys! {
    /// Stop times: { from, to }, a uniform draw per flow and replication; { after }, measured from the flow's own start.
    pub struct StopTable {
        /// The earliest: "90 s".
        from: Option<Span> = None, eg "90 s";
        /// The latest: "100 s".
        to: Option<Span> = None, eg "100 s";
        /// Time after the flow's start.
        after: Option<After> = None, eg "100 s";
    }
}

base::keys! {
    /// An exponential draw.
    pub struct AfterTable {
        /// Its mean: "100 s".
        exponential: Span, eg "100 s";
    }
}

/// Value of `after` in the table of `stop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct After(Stop);

impl Forms for Start {
    type Unit = Span;
    type Table = StartTable;
    const NAMES: [&'static str; 2] = ["Start", "StartTable"];
    const EXAMPLE: &'static str = "0 s";
    const MEANINGS: [&'static str; 4] = [
        "The same for all: \"0 s\".",
        "One each if as many as flows, else drawn.",
        "A draw, or one after the other.",
        "When flows start.",
    ];
    fn right(example: &str) -> String {
        format!("{example:?}, {{ from, to }}, {{ from, every }} or a list")
    }
    fn one(at: Span) -> Self {
        Self::Between(at, at)
    }
    fn list(list: Vec<Span>) -> Option<Self> {
        Some(Self::List(list))
    }
    fn table(table: StartTable, node: &Node) -> Result<Self, Option<ScenarioError>> {
        match (table.to, table.every) {
            (Some(to), None) => Ok(Self::Between(table.from, to)),
            (None, Some(every)) => Ok(Self::Every { from: table.from, every }),
            (Some(_), Some(_)) => Err(Some(node.at("every").wrong("does not go with `to`; give one of them"))),
            (None, None) => Err(Some(node.at("to").missing("write for example to = \"5 s\", or every = \"10 s\""))),
        }
    }
    fn default_shown(&self, key: &Key) -> String {
        self.first().shown(key)
    }
}

impl Forms for After {
    type Unit = Span;
    type Table = AfterTable;
    const NAMES: [&'static str; 2] = ["After", "AfterTable"];
    const EXAMPLE: &'static str = "100 s";
    const MEANINGS: [&'static str; 4] =
        ["The same for all.", "", "A draw per flow and replication.", "\"100 s\", or an exponential draw."];
    fn right(example: &str) -> String {
        format!("{example:?} or {{ exponential = {example:?} }}")
    }
    fn one(after: Span) -> Self {
        Self(Stop::After(after))
    }
    fn table(table: AfterTable, _node: &Node) -> Result<Self, Option<ScenarioError>> {
        Ok(Self(Stop::AfterExponential(table.exponential)))
    }
}

impl Forms for Stop {
    type Unit = Span;
    type Table = StopTable;
    const NAMES: [&'static str; 2] = ["Stop", "StopTable"];
    const EXAMPLE: &'static str = "100 s";
    const MEANINGS: [&'static str; 4] =
        ["The same for all: \"100 s\".", "", "A draw, or after the start.", "When flows stop."];
    fn right(example: &str) -> String {
        format!("{example:?}, {{ from, to }} or {{ after }}")
    }
    fn one(at: Span) -> Self {
        Self::Between(at, at)
    }
    fn table(table: StopTable, node: &Node) -> Result<Self, Option<ScenarioError>> {
        let missing = |key: &str, hint: &str| Err(Some(node.at(key).missing(hint)));
        match (table.from, table.to, table.after) {
            (None, None, Some(After(stop))) => Ok(stop),
            (_, _, Some(_)) => {
                Err(Some(node.at("after").wrong("does not go with `from` and `to`; give one or the other")))
            }
            (Some(from), Some(to), None) => Ok(Self::Between(from, to)),
            (None, _, None) => missing("from", "write for example from = \"90 s\", or after = \"100 s\""),
            (_, None, None) => missing("to", "write for example to = \"100 s\""),
        }
    }
    fn canonical(&self) -> Json {
        match self {
            Self::Between(from, to) if from == to => json!(from),
            _ => json!(self),
        }
    }
    fn of_canonical(node: &Node) -> Result<Self, ScenarioError> {
        if node.value.is_number() { node.derived().map(Self::one) } else { node.derived() }
    }
}

impl Start {
    /// The earliest start.
    #[must_use]
    pub fn first(&self) -> Span {
        match self {
            Self::Between(from, _) | Self::Every { from, .. } => *from,
            Self::List(list) => list.iter().min().copied().unwrap_or(Span::ZERO),
        }
    }

    /// The latest start of `count` flows.
    #[must_use]
    pub fn last(&self, count: u32) -> Span {
        match self {
            Self::Between(_, to) => *to,
            Self::Every { from, every } => {
                let later = every.0.saturating_mul(u64::from(count.saturating_sub(1)));
                Span(from.0.saturating_add(later))
            }
            Self::List(list) => list.iter().max().copied().unwrap_or(Span::ZERO),
        }
    }
}

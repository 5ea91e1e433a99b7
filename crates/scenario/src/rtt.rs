//! Base round-trip times of a group: `rtt`.

use crate::forms::Forms;
use crate::names::Names;
use crate::node::Node;
use crate::table::{self, Defs, KeyType, table_types};
use crate::types::words;
use crate::{ScenarioError, limits};
use base::{Key, ParetoQuantiles, Span, Values};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Base round-trip times of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Rtt {
    /// Sum of the delays of the links on the path (doubled if no return path is given) and of the access delay in both
    /// directions.
    Auto,
    /// Values given in the file.
    #[serde(skip)]
    Given(Values<Span>),
    /// Draws or quantiles of a Pareto law.
    #[serde(skip)]
    Pareto(Pareto),
}

/// How the values of a distribution are assigned to the flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A random draw for each flow and replication.
    Draws,
    /// The quantiles of as many equal shares as flows, scaled so that their mean is that of the law.
    Quantiles,
}

impl By {
    /// All assignments, with their names in scenario files.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Draws, "draws"), (Self::Quantiles, "quantiles")];
}

words! {
    By, "quantiles";
}

base::keys! {
    /// Round-trip times: { from, to }, { uniform } or { pareto }.
    pub struct RttTable {
        /// RTT of the first flow.
        from: Option<Span> = None, eg "38 ms";
        /// RTT of the last flow.
        to: Option<Span> = None, eg "142 ms";
        /// Uniform draws between two times.
        uniform: Option<(Span, Span)> = None;
        /// Pareto draws.
        pareto: Option<Pareto> = None;
    }
}

base::keys! {
    /// A Pareto law; the smallest draw is mean (shape - 1) / shape.
    pub struct Pareto {
        /// Mean of the law: "100 ms".
        mean: Span, eg "100 ms";
        /// Shape, above 1.
        shape: f64, eg "1.2";
        /// Larger values are cut here. Default: 100 means, but no more than an RTT may be.
        max: Span = Span::ZERO, eg "10 s";
        /// Draws (the default), or the quantiles of as many equal shares as flows, scaled to the mean.
        by: By = By::Draws, since "0.1";
    }
}

impl Pareto {
    /// Quantiles of the law for `count` flows.
    #[must_use]
    pub fn quantiles(&self, count: u32) -> ParetoQuantiles {
        ParetoQuantiles::new(self.mean, self.shape, self.max, count)
    }
}

table_types! {
    Pareto = "Pareto" {
        fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
            let law: Self = table::read(node, "a table such as { mean = \"100 ms\", shape = 1.2 }")?;
            // 100 means (at shape 1.2, one flow in 1500 is above). The default cut must not make the file invalid.
            let cut = Span(law.mean.0.saturating_mul(100)).min(*limits::RTT.end()).max(law.mean);
            Ok(if node.get("max").is_some() { law } else { Self { max: cut, ..law } })
        }
    };
}

impl Forms for Rtt {
    type Unit = Span;
    type Table = RttTable;
    const NAMES: [&'static str; 2] = ["Rtt", "RttTable"];
    const EXAMPLE: &'static str = "100 ms";
    const WORD: &'static str = "auto";
    const SUFFIX: &'static str = "";
    const MEANINGS: [&'static str; 4] = [
        "The same for all.",
        "One each, or drawn.",
        "Equally spaced, or drawn.",
        "\"100 ms\"; \"auto\": what the links and the access propagate; { from, to } equally spaced; { uniform = [from, to] } or { pareto = { mean, shape } } drawn; a list: one each if as many as flows, else drawn.",
    ];
    fn right(example: &str) -> String {
        let table = "{ from, to }, { uniform = [\"10 ms\", \"200 ms\"] }, { pareto = { mean, shape } }";
        format!("{example:?}, \"auto\", {table} or a list")
    }
    fn word() -> Option<Self> {
        Some(Self::Auto)
    }
    fn one(rtt: Span) -> Self {
        Self::Given(Values::Same(rtt))
    }
    fn list(list: Vec<Span>) -> Option<Self> {
        Some(Self::Given(Values::List(list)))
    }
    fn table(table: RttTable, _node: &Node) -> Result<Self, Option<ScenarioError>> {
        match (table.from, table.to, table.uniform, table.pareto) {
            (Some(from), Some(to), None, None) => Ok(Self::Given(Values::Spread(from, to))),
            (None, None, Some((from, to)), None) => Ok(Self::Given(Values::Uniform(from, to))),
            (None, None, None, Some(law)) => Ok(Self::Pareto(law)),
            _ => Err(None),
        }
    }
    fn checked(self, node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if let Self::Given(values) = self { values.checked(node, key).map(Self::Given) } else { Ok(self) }
    }
    /// The form contains the unit, not the key.
    fn canonical(&self) -> Json {
        match self {
            Self::Auto => json!(Self::WORD),
            Self::Given(Values::Same(rtt)) => json!({ "constant_ps": rtt }),
            Self::Given(values) => json!(values)
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, form)| (format!("{name}_ps"), form.clone()))
                .collect(),
            Self::Pareto(law) => json!({ "pareto": law.write(&Names::default()) }),
        }
    }
    fn of_canonical(node: &Node) -> Result<Self, ScenarioError> {
        let form = node.value.as_object().and_then(|form| form.iter().next());
        match form.map(|(name, value)| (name.as_str(), value)) {
            None if node.as_text() == Some(Self::WORD) => Ok(Self::Auto),
            Some(("constant_ps", same)) => node.with(same).derived().map(Self::Given),
            Some(("pareto", law)) => Pareto::restore(&node.with(law), &Key::default()).map(Self::Pareto),
            Some((name, value)) if name.ends_with("_ps") => {
                node.with(&json!({ name.trim_end_matches("_ps"): value })).derived().map(Self::Given)
            }
            _ => Err(node.wrong("must be \"auto\" or a table of one of its forms")),
        }
    }
}

//! Rate of a link: constant, or by a schedule.
//!
//! Where a single number is needed (buffers in time and BDP, disciplines that know the rate of their link, models) it is
//! the mean: for steps without a period over the run, for all others over infinite time.

use crate::names::Names;
use crate::node::Node;
use crate::opportunities::OpportunityTimes;
use crate::table::{self, Defs, KeyType};
use crate::types::{OneOrTable, ordered, quantity, within};
use crate::{ScenarioError, limits, schedule};
use base::keys::Range;
use base::text;
use base::{Key, Quantity, Ranged, Rate, Span};
use queue::mean_of_steps;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A time, and the rate that holds from then on.
pub type RateStep = (Span, Rate);

/// The rate of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkRate {
    /// A constant rate.
    Fixed(Ranged<Rate>),
    /// Times, the first of which is 0, with the rates that hold from then on; the list repeats after the period, if there
    /// is one.
    Steps(Arc<[RateStep]>, Option<Span>),
    /// Instants at which a number of bytes may be sent (transmission opportunities).
    Opportunities(OpportunityTimes),
    /// A sine wave.
    Sine(Sine),
    /// Two alternating rates.
    Markov(Markov),
}

base::keys! {
    /// A rate that changes, or is drawn: one of uniform, steps, trace, opportunities, sine, markov.
    pub struct RateTable {
        /// Both ends of a uniform draw of each link.
        uniform: Option<(Rate, Rate)> = None, in limits::RATE, since "0.1";
        /// Times, the first of them 0, and the rates that hold from then on, in order: [["0 s", "50 Mbit/s"], ["3 s", "5 Mbit/s"]].
        /// "0 bit/s" is an outage.
        steps: Option<Vec<RateStep>> = None, eg "[[\"0 s\", \"50 Mbit/s\"], [\"3 s\", \"5 Mbit/s\"]]", since "0.1";
        /// Period after which the steps repeat.
        period: Option<Span> = None, eg "10 s", in schedule::PERIOD, since "0.1";
        /// A file. A .csv with the columns time_s and rate_bps has steps; any other is in mahimahi's format: each line a time in
        /// whole milliseconds at which 1504 bytes may leave, a packet of 1500 and 4 of its device. Small packets share one; what
        /// nothing takes is lost; after the last line it begins anew.
        trace: Option<String> = None, eg "cellular.up", since "0.1";
        /// Contents of such a file, on one line: "1 3x2 7" is a time of 1 ms, twice 3 ms, and 7 ms.
        opportunities: Option<OpportunityTimes> = None, eg "1 3x2 7", since "0.1";
        /// A wave around a mean.
        sine: Option<Sine> = None, since "0.1";
        /// Two rates in turn, each for exponential times; every link draws its own.
        markov: Option<Markov> = None, since "0.1";
    }
}

base::keys! {
    /// A wave around a mean, in 360 steps per period, each of its mean over the step.
    pub struct Sine {
        /// Mean of the wave, from which it begins to rise.
        mean: Rate, eg "50 Mbit/s", in limits::RATE;
        /// Amplitude, from the mean to the top; not above the mean.
        amplitude: Rate, eg "20 Mbit/s", in limits::RATE;
        /// Period, from one top to the next.
        period: Span, eg "10 s", in schedule::PERIOD;
    }
}

base::keys! {
    /// Two rates in turn, each for exponential times.
    pub struct Markov {
        /// One rate, and the other. "0 bit/s" is an outage.
        rates: RatePair;
        /// Mean times for which they hold.
        times: (Span, Span), eg "2 s", in schedule::PERIOD;
    }
}

/// Two rates, one of which may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatePair(pub Rate, pub Rate);

const FORM: &str = "a rate such as \"1 Gbit/s\" or a table such as { steps = [[\"0 s\", \"50 Mbit/s\"], [\"3 s\", \"5 Mbit/s\"]] }, \
                    { trace = \"cellular.up\" } or { uniform = [\"100 Mbit/s\", \"155 Mbit/s\"] }";

impl LinkRate {
    /// A constant rate.
    #[must_use]
    pub fn same(rate: Rate) -> Self {
        Self::Fixed(Ranged::Same(rate))
    }

    /// The mean in a run of this `duration`.
    #[must_use]
    pub fn mean(&self, duration: Span) -> Rate {
        match self {
            Self::Fixed(rate) => rate.mean(),
            Self::Steps(list, period) => mean_of_steps(list, period.unwrap_or(duration)),
            Self::Opportunities(list) => list.mean(),
            Self::Sine(sine) => sine.mean,
            Self::Markov(Markov { rates, times }) => {
                let work = |rate: Rate, time: Span| u128::from(rate.0) * u128::from(time.0);
                let all = u128::from(times.0.0) + u128::from(times.1.0);
                Rate(((work(rates.0, times.0) + work(rates.1, times.1) + all / 2) / all) as u64)
            }
        }
    }

    /// Lowest rate above zero.
    #[must_use]
    pub fn min(&self) -> Rate {
        let lowest = match self {
            Self::Fixed(rate) => Some(rate.min()),
            Self::Steps(list, _) => list.iter().map(|step| step.1).filter(|rate| rate.0 > 0).min(),
            Self::Opportunities(list) => Some(list.mean()),
            Self::Sine(sine) => Some(Rate(sine.mean.0 - sine.amplitude.0)),
            Self::Markov(markov) => [markov.rates.0, markov.rates.1].into_iter().filter(|rate| rate.0 > 0).min(),
        };
        lowest.map_or(*limits::RATE.start(), |rate| rate.max(*limits::RATE.start()))
    }

    /// Highest rate; for opportunities, the mean.
    #[must_use]
    pub fn max(&self) -> Rate {
        match self {
            Self::Fixed(rate) => rate.max(),
            Self::Steps(list, _) => list.iter().map(|step| step.1).max().unwrap_or(Rate(0)),
            Self::Opportunities(list) => list.mean(),
            Self::Sine(sine) => Rate(sine.mean.0 + sine.amplitude.0),
            Self::Markov(markov) => markov.rates.0.max(markov.rates.1),
        }
    }

    /// Whether the rate changes during a run.
    #[must_use]
    pub fn changes(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    fn to_table(&self) -> RateTable {
        let mut table = RateTable::default();
        match self.clone() {
            Self::Fixed(Ranged::Same(_)) => {}
            Self::Fixed(Ranged::Uniform(from, to)) => table.uniform = Some((from, to)),
            Self::Steps(list, period) => (table.steps, table.period) = (Some(list.to_vec()), period),
            Self::Opportunities(list) => table.opportunities = Some(list),
            Self::Sine(sine) => table.sine = Some(sine),
            Self::Markov(markov) => table.markov = Some(markov),
        }
        table
    }
}

/// A rate in a schedule: zero, or a rate allowed for links.
fn passing(rate: Rate, node: &Node) -> Result<Rate, ScenarioError> {
    let key = Key { range: Some(Range::Rate(limits::RATE)), ..Key::default() };
    if rate.0 == 0 { Ok(rate) } else { within(node, rate, &key) }
}

/// Reads a rate in a schedule.
fn read_passing(node: &Node) -> Result<Rate, ScenarioError> {
    // Other keys do not accept "0 bit/s".
    let none = node.as_text().and_then(text::split).filter(|(number, _)| *number == 0.0);
    if none.is_some_and(|(_, unit)| text::rate(&format!("1 {unit}")).is_ok()) {
        return Ok(Rate(0));
    }
    passing(quantity(node, &Key::default(), "5 Mbit/s")?, node)
}

fn check_steps(steps: &[RateStep], period: Option<Span>, node: &Node) -> Result<(), ScenarioError> {
    schedule::check_times(steps, period, node)?;
    match (period, steps.last()) {
        (Some(_), _) if steps.iter().all(|step| step.1.0 == 0) => Err(node.wrong("must let something pass")),
        (None, Some(last)) if last.1.0 == 0 => Err(node.wrong("must let something pass in the end, or have a period")),
        _ => Ok(()),
    }
}

impl OneOrTable for LinkRate {
    type One = Rate;
    type Table = RateTable;
    const FORM: &'static str = FORM;
    fn of_one(one: Rate) -> Self {
        Self::same(one)
    }
    fn of_table(table: RateTable, node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if table.trace.is_some() {
            let reason = "a file is read by the command line and by Python; what it holds goes into opportunities";
            return Err(node.at("trace").wrong(reason));
        }
        let period = table.period;
        let rate = match (table.uniform, table.steps, table.opportunities, table.sine, table.markov) {
            (Some(uniform), None, None, None, None) => {
                let (from, to) = ordered(uniform, "rate", node, key)?;
                Self::Fixed(Ranged::Uniform(from, to))
            }
            (None, Some(steps), None, None, None) => {
                check_steps(&steps, period, &node.at("steps"))?;
                return Ok(Self::Steps(steps.into(), period));
            }
            (None, None, Some(list), None, None) => Self::Opportunities(list),
            (None, None, None, Some(sine), None) => {
                if sine.amplitude > sine.mean {
                    return Err(node.at("sine").at("amplitude").wrong("must not be above the mean"));
                }
                Self::Sine(sine)
            }
            (None, None, None, None, Some(markov)) => {
                if markov.rates.0.0 + markov.rates.1.0 == 0 {
                    return Err(node.at("markov").at("rates").wrong("must not both be 0: nothing would ever pass"));
                }
                Self::Markov(markov)
            }
            _ => return Err(node.wrong(format!("must be {FORM}; one of its forms"))),
        };
        if period.is_some() { Err(node.at("period").wrong("is for steps only")) } else { Ok(rate) }
    }
}

impl KeyType for LinkRate {
    const EXAMPLE: &'static str = Rate::EXAMPLES[0];
    const SUFFIX: &'static str = <Rate as Quantity>::SUFFIX;
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        Self::read_either(node, key, table::example::<Self>(key))
    }
    fn write(&self, names: &Names) -> Json {
        match self {
            Self::Fixed(Ranged::Same(rate)) => json!(rate),
            _ => table::write(&self.to_table(), names),
        }
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        Self::restore_either(node, key)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        defs.refer("LinkRate", |defs| {
            let (one, table) = (Rate::schema(&Key::default(), defs), defs.table::<RateTable>("RateTable"));
            schedule::periodic(&mut defs.0["RateTable"]);
            json!({ "description": "One rate, or one that changes or is drawn.", "anyOf": [one, table] })
        })
    }
}

/// A time and a rate.
impl KeyType for RateStep {
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let form = "a list of steps such as [\"3 s\", \"5 Mbit/s\"]";
        match node.list(form)?.as_slice() {
            [time, rate] => Ok((quantity(time, &Key::default(), "3 s")?, read_passing(rate)?)),
            _ => Err(node.wrong("must be a time and a rate, such as [\"3 s\", \"5 Mbit/s\"]")),
        }
    }
    fn write(&self, _names: &Names) -> Json {
        json!([self.0, self.1])
    }
    fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let step: Self = node.derived()?;
        passing(step.1, node).map(|_| step)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let (time, rate) = (Span::schema(&Key::default(), defs), Rate::schema(&Key::default(), defs));
        json!({ "type": "array", "prefixItems": [time, rate], "minItems": 2, "maxItems": 2 })
    }
}

impl KeyType for RatePair {
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let form = "a list of two rates such as [\"100 Mbit/s\", \"10 Mbit/s\"]";
        match node.list(form)?.as_slice() {
            [one, other] => Ok(Self(read_passing(one)?, read_passing(other)?)),
            _ => Err(node.wrong(format!("must be {form}"))),
        }
    }
    fn write(&self, _names: &Names) -> Json {
        json!([self.0, self.1])
    }
    fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let (one, other) = node.derived()?;
        Ok(Self(passing(one, node)?, passing(other, node)?))
    }
    fn hint(key: &Key) -> String {
        format!("write for example {} = [\"100 Mbit/s\", \"10 Mbit/s\"]", key.name)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let rate = Rate::schema(&Key::default(), defs);
        json!({ "type": "array", "items": rate, "minItems": 2, "maxItems": 2 })
    }
}

table::table_types! {
    Sine = "Sine", "a table such as { mean = \"50 Mbit/s\", amplitude = \"20 Mbit/s\", period = \"10 s\" }";
    Markov = "Markov", "a table such as { rates = [\"100 Mbit/s\", \"10 Mbit/s\"], times = [\"2 s\", \"1 s\"] }";
}

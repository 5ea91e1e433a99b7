//! Canonical forms of what flows draw: round-trip times, access, start, stop.

use crate::{Access, By, Quantity, Rtt, Start, Stop, Values};
use base::{Rate, Span};
use serde::{Deserialize, Serialize};

/// A number, or more than one.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ValuesForm<T> {
    Same(T),
    Other(OtherForm<T>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OtherForm<T> {
    Spread(T, T),
    Uniform(T, T),
    List(Vec<T>),
}

/// A number, or the ends of the range from which the links of an array draw.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RangeForm<T> {
    Same(T),
    Range(UniformForm<T>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UniformForm<T> {
    uniform: (T, T),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum RttForm {
    Auto,
    ConstantPs(Span),
    SpreadPs(Span, Span),
    UniformPs(Span, Span),
    Pareto {
        mean_ps: Span,
        shape: f64,
        max_ps: Span,
        /// "quantiles"; left out for draws.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<ByForm>,
    },
    ListPs(Vec<Span>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ByForm {
    Quantiles,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccessForm {
    rate_bps: Option<ValuesForm<Rate>>,
    buffer_packets: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ps: Option<ValuesForm<Span>>,
}

/// The ends of a uniform draw, or a table.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum StartForm {
    Between(Span, Span),
    Other(OtherStart),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OtherStart {
    Every { from_ps: Span, every_ps: Span },
    List(Vec<Span>),
}

/// A time, or a table.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum StopForm {
    At(Span),
    Other(OtherStop),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OtherStop {
    Between(Span, Span),
    After(Span),
    AfterExponential(Span),
}

impl<T: Quantity> RangeForm<T> {
    pub fn new(mean: T, range: Option<(T, T)>) -> Self {
        range.map_or(Self::Same(mean), |uniform| Self::Range(UniformForm { uniform }))
    }

    /// The mean, and the range if there is one.
    pub fn mean_and_range(self) -> (T, Option<(T, T)>) {
        match self {
            Self::Same(x) => (x, None),
            Self::Range(UniformForm { uniform: (from, to) }) => (Values::Uniform(from, to).mean(), Some((from, to))),
        }
    }
}

impl<T: Copy> From<&Values<T>> for ValuesForm<T> {
    fn from(values: &Values<T>) -> Self {
        match values {
            Values::Same(x) => Self::Same(*x),
            Values::Spread(from, to) => Self::Other(OtherForm::Spread(*from, *to)),
            Values::Uniform(from, to) => Self::Other(OtherForm::Uniform(*from, *to)),
            Values::List(list) => Self::Other(OtherForm::List(list.clone())),
        }
    }
}

impl<T> From<ValuesForm<T>> for Values<T> {
    fn from(form: ValuesForm<T>) -> Self {
        match form {
            ValuesForm::Same(x) => Self::Same(x),
            ValuesForm::Other(OtherForm::Spread(from, to)) => Self::Spread(from, to),
            ValuesForm::Other(OtherForm::Uniform(from, to)) => Self::Uniform(from, to),
            ValuesForm::Other(OtherForm::List(list)) => Self::List(list),
        }
    }
}

impl From<&Rtt> for RttForm {
    fn from(rtt: &Rtt) -> Self {
        match rtt {
            Rtt::Auto => Self::Auto,
            Rtt::Given(Values::Same(rtt)) => Self::ConstantPs(*rtt),
            Rtt::Given(Values::Spread(from, to)) => Self::SpreadPs(*from, *to),
            Rtt::Given(Values::Uniform(from, to)) => Self::UniformPs(*from, *to),
            Rtt::Given(Values::List(list)) => Self::ListPs(list.clone()),
            Rtt::Pareto { mean, shape, max, by } => {
                let by = (*by == By::Quantiles).then_some(ByForm::Quantiles);
                Self::Pareto { mean_ps: *mean, shape: *shape, max_ps: *max, by }
            }
        }
    }
}

impl From<RttForm> for Rtt {
    fn from(form: RttForm) -> Self {
        match form {
            RttForm::Auto => Self::Auto,
            RttForm::ConstantPs(rtt) => Self::Given(Values::Same(rtt)),
            RttForm::SpreadPs(from, to) => Self::Given(Values::Spread(from, to)),
            RttForm::UniformPs(from, to) => Self::Given(Values::Uniform(from, to)),
            RttForm::ListPs(list) => Self::Given(Values::List(list)),
            RttForm::Pareto { mean_ps, shape, max_ps, by } => {
                let by = by.map_or(By::Draws, |ByForm::Quantiles| By::Quantiles);
                Self::Pareto { mean: mean_ps, shape, max: max_ps, by }
            }
        }
    }
}

impl From<&Access> for AccessForm {
    fn from(access: &Access) -> Self {
        Self {
            rate_bps: access.rate.as_ref().map(ValuesForm::from),
            buffer_packets: access.buffer,
            delay_ps: access.delay.as_ref().map(ValuesForm::from),
        }
    }
}

impl From<AccessForm> for Access {
    fn from(form: AccessForm) -> Self {
        Self {
            rate: form.rate_bps.map(Values::from),
            buffer: form.buffer_packets,
            delay: form.delay_ps.map(Values::from),
        }
    }
}

impl From<&Start> for StartForm {
    fn from(start: &Start) -> Self {
        match start {
            Start::Between(from, to) => Self::Between(*from, *to),
            Start::Every(from, every) => Self::Other(OtherStart::Every { from_ps: *from, every_ps: *every }),
            Start::List(list) => Self::Other(OtherStart::List(list.clone())),
        }
    }
}

impl From<StartForm> for Start {
    fn from(form: StartForm) -> Self {
        match form {
            StartForm::Between(from, to) => Self::Between(from, to),
            StartForm::Other(OtherStart::Every { from_ps, every_ps }) => Self::Every(from_ps, every_ps),
            StartForm::Other(OtherStart::List(list)) => Self::List(list),
        }
    }
}

impl From<Stop> for StopForm {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Between(from, to) if from == to => Self::At(from),
            Stop::Between(from, to) => Self::Other(OtherStop::Between(from, to)),
            Stop::After(span) => Self::Other(OtherStop::After(span)),
            Stop::AfterExponential(mean) => Self::Other(OtherStop::AfterExponential(mean)),
        }
    }
}

impl From<StopForm> for Stop {
    fn from(form: StopForm) -> Self {
        match form {
            StopForm::At(at) => Self::Between(at, at),
            StopForm::Other(OtherStop::Between(from, to)) => Self::Between(from, to),
            StopForm::Other(OtherStop::After(span)) => Self::After(span),
            StopForm::Other(OtherStop::AfterExponential(mean)) => Self::AfterExponential(mean),
        }
    }
}

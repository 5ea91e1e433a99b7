//! Schema of what differs between the flows of a group or the links of an array.

use schemars::JsonSchema;

/// "100 ms"; "auto": what the links and the access propagate; { from, to } equally spaced; { uniform = [from, to] } or
/// { pareto = { mean, shape } } drawn; a list: one each if as many as flows, else drawn.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Rtt {
    /// The same for all.
    Value(String),
    /// One each, or drawn.
    List(Vec<String>),
    /// Equally spaced, or drawn.
    Table(RttTable),
}

/// { from, to }, { uniform } or { pareto }.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RttTable {
    /// RTT of the first flow.
    from: Option<String>,
    /// RTT of the last flow.
    to: Option<String>,
    /// Uniform draws between two times.
    uniform: Option<[String; 2]>,
    /// Pareto draws.
    pareto: Option<Pareto>,
}

/// A Pareto law; the smallest draw is mean (shape - 1) / shape.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Pareto {
    /// Mean of the law: "100 ms".
    mean: String,
    /// Shape, above 1.
    shape: f64,
    /// Larger values are cut here; 100 means by default.
    max: Option<String>,
    /// Draws (the default), or the quantiles of as many equal shares as flows, scaled to the mean.
    by: Option<By>,
}

/// How flows come by values of a law.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum By {
    /// A draw each.
    Draws,
    /// The middle of the i-th of n equal shares.
    Quantiles,
}

/// One value, or { uniform = [from, to] } to be drawn.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum OrRange {
    /// The same for all.
    Value(String),
    /// A draw each.
    Range(Range),
}

/// A uniform draw.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Range {
    /// Both ends.
    uniform: [String; 2],
}

/// One value; { from, to } equally spaced; { uniform = [from, to] } drawn; a list: one each if as many as flows, else
/// drawn.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Values {
    /// The same for all.
    Value(String),
    /// One each, or drawn.
    List(Vec<String>),
    /// Equally spaced, or drawn.
    Table(ValuesTable),
}

/// { from, to } or { uniform }.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ValuesTable {
    /// That of the first flow.
    from: Option<String>,
    /// That of the last flow.
    to: Option<String>,
    /// Both ends of uniform draws.
    uniform: Option<[String; 2]>,
}

/// The sender's own link.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Access {
    /// "10 Gbit/s", "unlimited", or one that differs between flows. Default: "unlimited".
    rate: Option<Values>,
    /// "1000 packets" or "unlimited". Default: "unlimited".
    buffer: Option<String>,
    /// Propagation before the first link: "1 ms", or one that differs between flows. Without it, half of what the links
    /// leave of the base RTT.
    delay: Option<Values>,
}

/// When flows start.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Start {
    /// The same for all: "0 s".
    Value(String),
    /// One each if as many as flows, else drawn.
    List(Vec<String>),
    /// A draw, or one after the other.
    Table(StartTable),
}

/// { from, to }: a uniform draw per flow and replication; { from, every }: flow i at from + i every.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct StartTable {
    /// The earliest: "0 s".
    from: String,
    /// The latest: "5 s".
    to: Option<String>,
    /// From one flow to the next: "10 s".
    every: Option<String>,
}

/// When flows stop.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Stop {
    /// The same for all: "100 s".
    Value(String),
    /// A draw, or after the start.
    Table(StopTable),
}

/// { from, to }: a uniform draw per flow and replication; { after }: measured from the flow's own start.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct StopTable {
    /// The earliest: "90 s".
    from: Option<String>,
    /// The latest: "100 s".
    to: Option<String>,
    /// So long after the flow's start.
    after: Option<After>,
}

/// "100 s", or an exponential draw.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum After {
    /// The same for all.
    Value(String),
    /// A draw per flow and replication.
    Table(AfterTable),
}

/// An exponential draw.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct AfterTable {
    /// Its mean: "100 s".
    exponential: String,
}

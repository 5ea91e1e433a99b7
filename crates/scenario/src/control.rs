//! What a group says about its senders: the law, the slow start, the recovery, the traffic.

use crate::ScenarioError;
use crate::names::unknown_name;
use crate::parameters::{self, Parameters};
use crate::reader::{Fields, Node, parse};
use base::{Param, ParamError, Value};
use law::{CongestionControl, LAWS, LawSpec, STARTS, StartSpec};
use traffic::{TRAFFIC, TrafficSpec};
use transport::Recovery;

impl Parameters for LawSpec {
    fn rows(&self) -> Vec<Param> {
        self.rows()
    }
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>> {
        self.set(name, value)
    }
}

impl Parameters for StartSpec {
    fn rows(&self) -> Vec<Param> {
        self.rows()
    }
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>> {
        self.set(name, value)
    }
}

impl Parameters for TrafficSpec {
    fn rows(&self) -> Vec<Param> {
        self.rows()
    }
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>> {
        self.set(name, value)
    }
}

/// Reads what a file may write after `control =`: a name, or a table.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn read_control(text: &str) -> Result<(LawSpec, StartSpec), ScenarioError> {
    let document = parse(&format!("control = {text}"))?;
    let fields = Fields::new(&document, String::new(), &["control"])?;
    let (law, start) = control(fields.get("control").as_ref())?;
    let place = |source| ScenarioError::Parameter { place: "control".to_owned(), source };
    law.build(&start, 2.0, f64::INFINITY).map_err(place)?;
    Ok((law, start))
}

/// The law and the slow start; Reno and the classic one by default.
pub(crate) fn control(node: Option<&Node>) -> Result<(LawSpec, StartSpec), ScenarioError> {
    let classic = StartSpec::Classic(law::start::classic::Params::default());
    let Some(node) = node else {
        return Ok((LawSpec::Reno(law::reno::Params::default()), classic));
    };
    // A table without a law only chooses the slow start of Reno.
    let law = parameters::read(node, "law", &["slow_start"], (Some("reno"), "highspeed"), &law_named)?;
    let slow_start = match node.value.get("slow_start") {
        Some(value) => {
            let node = Node { value, place: format!("{}.slow_start", node.place) };
            parameters::read(&node, "kind", &[], (None, "limited"), &start_named)?
        }
        None => classic,
    };
    Ok((law, slow_start))
}

/// The law called `name`; `place` is where the name stands.
pub(crate) fn law_named(name: &str, place: &str) -> Result<LawSpec, ScenarioError> {
    LawSpec::named(name).ok_or_else(|| {
        let names: Vec<_> = LAWS.iter().map(|entry| entry.card.name).collect();
        let aliases: Vec<_> = LAWS.iter().flat_map(|entry| entry.card.aliases).copied().collect();
        unknown_name(place, "law", name, &names, &aliases)
    })
}

/// The slow start called `name`.
pub(crate) fn start_named(name: &str, place: &str) -> Result<StartSpec, ScenarioError> {
    StartSpec::named(name).ok_or_else(|| {
        let names: Vec<_> = STARTS.iter().map(|entry| entry.card.name).collect();
        let aliases: Vec<_> = STARTS.iter().flat_map(|entry| entry.card.aliases).copied().collect();
        unknown_name(place, "slow start", name, &names, &aliases)
    })
}

/// The recovery; SACK by default, but RACK under `tcp = "linux"`, and for controls that rule their window in recovery:
/// their retransmissions meet losses, too, and only RACK finds those without a timeout.
pub(crate) fn recovery(
    node: Option<&Node>,
    tcp: Option<&Node>,
    (law, start): (&LawSpec, &StartSpec),
) -> Result<Recovery, ScenarioError> {
    if let Some(node) = node {
        return recovery_named(node.text("sack")?, &node.place);
    }
    let linux = tcp.and_then(Node::as_text) == Some("linux");
    let rules = law.build(start, 2.0, f64::INFINITY).is_ok_and(|control| control.needs().deliveries);
    Ok(if linux || rules { Recovery::Rack } else { Recovery::Sack })
}

/// The recovery called `name`.
pub(crate) fn recovery_named(name: &str, place: &str) -> Result<Recovery, ScenarioError> {
    Recovery::named(name).ok_or_else(|| unknown_name(place, "recovery", name, &Recovery::ALL.map(|row| row.1), &[]))
}

/// The traffic; bulk by default.
pub(crate) fn traffic(node: Option<&Node>) -> Result<TrafficSpec, ScenarioError> {
    match node {
        None => Ok(TrafficSpec::Bulk(traffic::bulk::Params::default())),
        Some(node) => parameters::read(node, "kind", &[], (None, "bulk"), &traffic_named),
    }
}

/// Refuses the keys of a group of datagrams that only TCP has. Those of `tcp = {…}` are left to [`crate::tcp`].
pub(crate) fn without_tcp(fields: &Fields, traffic: &TrafficSpec) -> Result<(), ScenarioError> {
    let kind = traffic.card().name;
    for (key, reason) in [
        ("control", "is datagrams without congestion control"),
        ("recovery", "is datagrams that are never sent again"),
        ("return", "is datagrams that nobody acknowledges"),
    ] {
        if let Some(node) = fields.get(key) {
            return Err(node.wrong(format!("{kind} traffic {reason}; leave this key out")));
        }
    }
    Ok(())
}

/// The kind of traffic called `name`.
pub(crate) fn traffic_named(name: &str, place: &str) -> Result<TrafficSpec, ScenarioError> {
    TrafficSpec::named(name).ok_or_else(|| {
        let names: Vec<_> = TRAFFIC.iter().map(|entry| entry.card.name).collect();
        let aliases: Vec<_> = TRAFFIC.iter().flat_map(|entry| entry.card.aliases).copied().collect();
        unknown_name(place, "traffic", name, &names, &aliases)
    })
}

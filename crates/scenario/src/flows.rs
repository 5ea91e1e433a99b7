//! The `[[flows]]` tables: groups of flows that differ only in what is drawn for them.

use crate::names::nearest;
use crate::reader::{Fields, Node};
use crate::values::{RATES, TIMES, Values};
use crate::{Access, By, Group, Link, Rtt, ScenarioError, Start, check, control, hops, life, limits, tcp};
use base::{Bytes, Span};
use transport::Options;

/// Keys of a `[[flows]]` table.
pub(crate) const KEYS: &[&str] = &[
    "name", "count", "path", "return", "rtt", "access", "control", "recovery", "packet", "start", "stop", "traffic",
    "tcp",
];

/// Keys of `access = {…}`.
pub(crate) const ACCESS_KEYS: &[&str] = &["rate", "buffer", "delay"];

/// Keys of `rtt = {…}`.
pub(crate) const RTT_KEYS: &[&str] = &["from", "to", "uniform", "pareto"];

/// Keys of `rtt = { pareto = {…} }`.
pub(crate) const PARETO_KEYS: &[&str] = &["mean", "shape", "max", "by"];

const RTT_FORM: &str =
    "\"100 ms\", \"auto\", { from, to }, { uniform = [\"10 ms\", \"200 ms\"] }, { pareto = { mean, shape } } or a list";

/// Where the file gives no `max`, Pareto draws are cut at this many means: one flow in 1500 at shape 1.2.
const PARETO_CUT: u64 = 100;

/// The groups, in the file's order.
pub(crate) fn read(node: &Node, links: &[Link]) -> Result<Vec<Group>, ScenarioError> {
    let items = node.list("a list of tables, each headed [[flows]]")?;
    if items.is_empty() {
        return Err(node.wrong("must not be empty"));
    }
    let mut flows = 0;
    let mut groups = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let group = group(item, i, links)?;
        flows += u64::from(group.count);
        if flows > *limits::FLOWS.end() {
            return Err(node.wrong(format!("must be at most {} flows in all", limits::FLOWS.end())));
        }
        groups.push(group);
    }
    // Before traces look for names.
    check::names("flows", groups.iter().map(|group| group.name.as_str()))?;
    Ok(groups)
}

fn group(node: &Node, index: usize, links: &[Link]) -> Result<Group, ScenarioError> {
    let fields = node.table(KEYS, "a table headed [[flows]]")?;
    let name = match fields.get("name") {
        Some(name) => name.text("hstcp")?.to_owned(),
        None => format!("flows{}", index + 1),
    };
    let count = fields.get("count").map_or(Ok(1), |n| n.whole(&limits::FLOWS))? as u32;
    let path = hops::path(&fields.need("path", "write for example path = [\"bottleneck\"]")?, links)?;
    if path.is_empty() {
        return Err(ScenarioError::wrong(fields.at("path"), "must name at least one link"));
    }
    let traffic = control::traffic(fields.get("traffic").as_ref())?;
    if !traffic.is_tcp() {
        control::without_tcp(&fields, &traffic)?;
    }
    let back = fields.get("return").map_or(Ok(Vec::new()), |n| hops::path(&n, links))?;
    let rtt = rtt(&fields.need("rtt", "write for example rtt = \"100 ms\"")?)?;
    let access = fields.get("access").map_or(Ok(Access::default()), |n| access(&n))?;
    let (law, slow_start) = control::control(fields.get("control").as_ref())?;
    let recovery = control::recovery(fields.get("recovery").as_ref(), fields.get("tcp").as_ref(), (&law, &slow_start))?;
    let packet = fields.get("packet").map_or(Ok(Bytes(1500)), |n| n.bytes("1500 B"))?;
    let start = fields.get("start").map_or(Ok(Start::Between(Span::ZERO, Span::ZERO)), |n| life::start(&n))?;
    let stop = fields.get("stop").map(|n| life::stop(&n)).transpose()?;
    let tcp = match fields.get("tcp") {
        None => Options::default(),
        Some(node) if traffic.is_tcp() => tcp::options(&node)?,
        Some(node) => tcp::options_of_datagrams(&node, traffic.card().name)?,
    };
    Ok(Group { name, count, path, back, rtt, access, law, slow_start, recovery, packet, start, stop, traffic, tcp })
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// The flow called `hstcp[3]`, or what to say if there is none.
pub(crate) fn flow_named(text: &str, groups: &[Group]) -> Result<(usize, u32), String> {
    let parts = text.strip_suffix(']').and_then(|t| t.rsplit_once('['));
    let Some((name, Ok(flow))) = parts.map(|(name, index)| (name, index.parse::<u32>())) else {
        return Err(format!("{text:?} is no flow; write for example \"hstcp[0]\", the first of group \"hstcp\""));
    };
    let Some(group) = groups.iter().position(|group| group.name == name) else {
        let known = groups.iter().map(|group| group.name.as_str());
        return Err(match nearest(name, known.clone()) {
            Some(near) => format!("unknown group {name:?}; did you mean {near:?}?"),
            None => format!("unknown group {name:?}; known: {}", quoted(known)),
        });
    };
    let count = groups[group].count;
    if flow >= count {
        return Err(format!("group {name:?} has {count} flows, counted from 0"));
    }
    Ok((group, flow))
}

fn rtt(node: &Node) -> Result<Rtt, ScenarioError> {
    match node.value {
        toml::Value::Array(_) => TIMES.list(node).map(|list| Rtt::Given(Values::List(list))),
        toml::Value::Table(_) => {
            let fields = node.table(RTT_KEYS, RTT_FORM)?;
            match (fields.get("from"), fields.get("to"), fields.get("uniform"), fields.get("pareto")) {
                (Some(from), Some(to), None, None) => {
                    Ok(Rtt::Given(Values::Spread(from.span("38 ms")?, to.span("142 ms")?)))
                }
                (None, None, Some(uniform), None) => {
                    TIMES.pair(&uniform).map(|(from, to)| Rtt::Given(Values::Uniform(from, to)))
                }
                (None, None, None, Some(law)) => pareto(&law),
                _ => Err(node.wrong(format!("must be {RTT_FORM}"))),
            }
        }
        _ if node.as_text() == Some("auto") => Ok(Rtt::Auto),
        _ => node.span("100 ms").map(|rtt| Rtt::Given(Values::Same(rtt))),
    }
}

fn pareto(node: &Node) -> Result<Rtt, ScenarioError> {
    let fields = node.table(PARETO_KEYS, "a table such as { mean = \"100 ms\", shape = 1.2 }")?;
    let mean = fields.need("mean", "write for example mean = \"100 ms\"")?.span("100 ms")?;
    let shape = fields.need("shape", "write for example shape = 1.2")?.number()?;
    // A cut nobody asked for must not be what makes the file wrong.
    let cut = Span(mean.0.saturating_mul(PARETO_CUT)).min(*limits::RTT.end()).max(mean);
    let max = fields.get("max").map_or(Ok(cut), |n| n.span("10 s"))?;
    let by = match fields.get("by") {
        None => By::Draws,
        Some(node) => match node.text("quantiles")? {
            "draws" => By::Draws,
            "quantiles" => By::Quantiles,
            _ => return Err(node.wrong("must be \"draws\" or \"quantiles\"")),
        },
    };
    Ok(Rtt::Pareto { mean, shape, max, by })
}

fn access(node: &Node) -> Result<Access, ScenarioError> {
    let fields = node.table(ACCESS_KEYS, "a table such as { rate = \"10 Gbit/s\" }")?;
    let rate = match fields.get("rate") {
        None => None,
        Some(node) if node.as_text() == Some("unlimited") => None,
        Some(node) => Some(RATES.values(&node)?),
    };
    let delay = fields.get("delay").map(|node| TIMES.values(&node)).transpose()?;
    Ok(Access { rate, buffer: access_buffer(&fields)?, delay })
}

fn access_buffer(fields: &Fields) -> Result<Option<u32>, ScenarioError> {
    let Some(node) = fields.get("buffer") else { return Ok(None) };
    match crate::buffer::Buffer::read(&node)? {
        crate::buffer::Buffer::Fixed(queue::Limit::Packets(packets)) => Ok(Some(packets)),
        crate::buffer::Buffer::Fixed(queue::Limit::Unlimited) => Ok(None),
        _ => Err(node.wrong("must be in packets, such as \"1000 packets\", or \"unlimited\"")),
    }
}

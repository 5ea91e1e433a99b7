//! The table `[record]`: what a run keeps besides counters.

use crate::reader::Node;
use crate::{Group, HEADER, Link, PacketSpan, Pick, Record, Scenario, ScenarioError, flows, hops, limits};
use base::Span;
use base::text::format_span;

/// Keys of `[record]`.
pub(crate) const KEYS: &[&str] = &["every", "trace", "packets", "delays"];

/// Keys of an element of `packets`.
pub(crate) const PACKETS_KEYS: &[&str] = &["link", "from", "to"];

/// Interval of samples where the file says nothing.
const EVERY: Span = Span::millis(100);

/// What is recorded where the file says nothing.
pub(crate) fn usual() -> Record {
    Record { every: Some(EVERY), trace: Vec::new(), packets: Vec::new(), delays: false }
}

pub(crate) fn read(node: &Node, groups: &[Group], links: &[Link]) -> Result<Record, ScenarioError> {
    let fields = node.table(KEYS, "a table such as { every = \"100 ms\" }")?;
    let mut record = usual();
    if let Some(node) = fields.get("every") {
        record.every = if node.as_text() == Some("none") { None } else { Some(node.span("100 ms")?) };
    }
    if let Some(node) = fields.get("trace") {
        for item in node.list("a list of flows such as [\"hstcp[0]\"]")? {
            let flow = flows::flow_named(item.text("hstcp[0]")?, groups).map_err(|reason| item.wrong(reason))?;
            record.trace.push(flow);
        }
    }
    if let Some(node) = fields.get("packets") {
        let form = "a list of tables such as [{ link = \"bottleneck\", from = \"10 s\", to = \"10.5 s\" }]";
        for item in node.list(form)? {
            record.packets.push(packets(&item, links)?);
        }
    }
    if let Some(node) = fields.get("delays") {
        record.delays = node.flag()?;
    }
    Ok(record)
}

fn packets(node: &Node, links: &[Link]) -> Result<PacketSpan, ScenarioError> {
    let fields =
        node.table(PACKETS_KEYS, "a table such as { link = \"bottleneck\", from = \"10 s\", to = \"10.5 s\" }")?;
    let name = fields.need("link", "write for example link = \"bottleneck\"")?;
    let link = hops::hop_named(name.text("bottleneck")?, links).map_err(|reason| name.wrong(reason))?;
    let from = fields.need("from", "write for example from = \"10 s\"")?.span("10 s")?;
    let to = fields.need("to", "write for example to = \"10.5 s\"")?.span("10.5 s")?;
    Ok(PacketSpan { link, from, to })
}

/// Refuses spans of packets that mean nothing, or hold more packets than a table bears.
pub(crate) fn check_packets(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut most = 0.0;
    for (i, span) in scenario.record.packets.iter().enumerate() {
        let refuse = |key: &str, reason: String| Err(ScenarioError::wrong(format!("record.packets[{i}]{key}"), reason));
        let Some(link) = scenario.links.get(span.link.link) else {
            return refuse(".link", "there is no such link".into());
        };
        if span.link.pick == Pick::Each {
            return refuse(".link", format!("must be one link of the array, such as \"{}[0]\"", link.name));
        }
        if span.to <= span.from {
            return refuse(".to", format!("must be later than from, {}", format_span(span.from)));
        }
        if span.to > scenario.duration {
            return refuse(".to", format!("must not be after the end, {}", format_span(scenario.duration)));
        }
        let overlaps = |other: &PacketSpan| other.link == span.link && other.from < span.to && span.from < other.to;
        if let Some(other) = scenario.record.packets[..i].iter().position(overlaps) {
            return refuse("", format!("overlaps record.packets[{other}], of the same link"));
        }
        let smallest =
            scenario.groups_on(span.link.link).map(|group| group.packet.0).min().unwrap_or(u64::from(HEADER));
        most += link.rate.bytes_in(span.to - span.from) / smallest as f64;
        if most > limits::PACKETS_MAX {
            return refuse("", format!("would give about {most:.3e} packets; at most {:e}", limits::PACKETS_MAX));
        }
    }
    Ok(())
}

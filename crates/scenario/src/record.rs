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

#[cfg(test)]
mod tests {
    use crate::read;

    /// What is said of a file whose `[record]` holds `line`.
    fn message(line: &str) -> String {
        message_with(line, "1000 B")
    }

    fn message_with(line: &str, packet: &str) -> String {
        let text = format!(
            r#"
duration = "20 s"
[record]
{line}
[[links]]
name = "bottleneck"
rate = "1 Gbit/s"
buffer = "100 packets"
[[links]]
name = "client"
count = 3
rate = "1 Gbit/s"
buffer = "100 packets"
[[flows]]
name = "hstcp"
count = 10
path = ["bottleneck", "client[*]"]
rtt = "100 ms"
packet = "{packet}"
"#
        );
        read(&text).map_or_else(|error| error.to_string(), |_| "it was read".into())
    }

    #[test]
    fn refuses_what_cannot_be_recorded() {
        let span = |link: &str, from: &str, to: &str| format!("{{ link = {link:?}, from = {from:?}, to = {to:?} }}");
        let packets = |spans: &[String]| format!("packets = [{}]", spans.join(", "));
        let one = |link: &str, from: &str, to: &str| packets(&[span(link, from, to)]);
        let twice = packets(&[span("bottleneck", "2 s", "3 s"), span("bottleneck", "2.5 s", "4 s")]);
        for (line, said) in [
            ("every = \"0 s\"", "every: must be above 0, or \"none\""),
            ("every = \"1 us\"", "every: would give 20000000 samples a run; at most 10000000"),
            ("evry = \"1 us\"", "evry: unknown key; did you mean `every`?"),
            (
                "trace = [\"hstcp\"]",
                "trace[0]: \"hstcp\" is no flow; write for example \"hstcp[0]\", the first of group \"hstcp\"",
            ),
            ("trace = [\"hstpc[0]\"]", "trace[0]: unknown group \"hstpc\"; did you mean \"hstcp\"?"),
            ("trace = [\"hstcp[10]\"]", "trace[0]: group \"hstcp\" has 10 flows, counted from 0"),
            ("trace = [\"hstcp[0]\", \"hstcp[0]\"]", "trace[1]: is listed twice"),
            (
                "packets = [\"bottleneck\"]",
                "packets[0]: must be a table such as { link = \"bottleneck\", from = \"10 s\", to = \"10.5 s\" }, not text",
            ),
            (
                &one("bottelneck", "1 s", "2 s"),
                "packets[0].link: unknown link \"bottelneck\"; did you mean \"bottleneck\"?",
            ),
            (&one("client[*]", "1 s", "2 s"), "packets[0].link: must be one link of the array, such as \"client[0]\""),
            (
                "packets = [{ link = \"bottleneck\", to = \"2 s\" }]",
                "packets[0].from: missing; write for example from = \"10 s\"",
            ),
            (&one("bottleneck", "2 s", "2 s"), "packets[0].to: must be later than from, 2 s"),
            (&one("bottleneck", "2 s", "21 s"), "packets[0].to: must not be after the end, 20 s"),
            (&twice, "packets[1]: overlaps record.packets[0], of the same link"),
            ("delays = \"yes\"", "delays: must be true or false"),
        ] {
            assert_eq!(message(line), format!("record.{said}"), "{line}");
        }
    }

    #[test]
    fn refuses_more_packets_than_a_table_bears() {
        // 1 Gbit/s for 20 s are 2.5 million packets of 1000 B at each of four links: just as many as there may be.
        let spans = |links: &[&str]| {
            let one = |link: &&str| format!("{{ link = {link:?}, from = \"0 s\", to = \"20 s\" }}");
            format!("packets = [{}]", links.iter().map(one).collect::<Vec<_>>().join(", "))
        };
        let all = spans(&["bottleneck", "client[0]", "client[1]", "client[2]"]);
        assert_eq!(message(&all), "it was read");
        let said = "record.packets[3]: would give about 1.001e7 packets; at most 1e7";
        assert_eq!(message_with(&all, "999 B"), said);
    }
}

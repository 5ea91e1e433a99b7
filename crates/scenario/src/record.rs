//! The table `[record]`: what a run keeps besides counters.

use crate::table::table_types;
use crate::{Flow, Hop};
use base::Span;

base::keys! {
    /// Data recorded besides counters.
    pub struct Record {
        /// Interval of the samples of cwnd, srtt and backlog: "100 ms" or "none".
        every: Option<Span> = Some(Span::millis(100)), eg "100 ms", in Span(1)..=Span(u64::MAX), or "none";
        /// Flows recorded ACK by ACK: `"hstcp[0]"` is the first of group "hstcp".
        trace: Vec<Flow> = Vec::new();
        /// Links and spans in which every data packet is recorded.
        packets: Vec<PacketSpan> = Vec::new();
        /// Whether every waiting time is counted, in a histogram for each link.
        delays: bool = false;
    }
}

base::keys! {
    /// A link, and the span in which every data packet that arrives there is recorded.
    pub struct PacketSpan {
        /// Name of the link.
        link: Hop, eg "bottleneck";
        /// Start: "10 s".
        from: Span, eg "10 s";
        /// End: "10.5 s".
        to: Span, eg "10.5 s";
    }
}

table_types! {
    Record = "Record", "a table such as { every = \"100 ms\" }";
    PacketSpan = "Packets", "a table such as { link = \"bottleneck\", from = \"10 s\", to = \"10.5 s\" }" {
        const LIST: [&'static str; 2] =
            ["a list of tables such as [{ link = \"bottleneck\", from = \"10 s\", to = \"10.5 s\" }]", ""];
    };
}

#[cfg(test)]
mod tests {
    use crate::read;

    /// Message for a file whose `[record]` contains `line`.
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
        // 1 Gbit/s for 20 s are 2.5 million packets of 1000 B at each of four links, which is exactly the limit.
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

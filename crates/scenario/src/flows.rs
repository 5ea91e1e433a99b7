//! The `[[flows]]` tables: groups of flows that differ only in their random draws.

use crate::names::{self, Names};
use crate::node::Node;
use crate::table::{self, Defs, KeyType, table_types};
use crate::{Control, Hop, Packets, Rtt, ScenarioError, Start, Stop, control, limits};
use base::{Bytes, Key, Rate, Span, Values};
use law::CongestionControl;
use serde_json::{Value as Json, json};
use traffic::TrafficSpec;
use transport::{Options, Recovery};

base::keys! {
    /// Flows that differ only in their random draws.
    pub struct Group {
        /// The group's name in results. Default: "flows1", "flows2", … by its place in the file.
        name: String = String::new(), eg "hstcp", in limits::NAME;
        /// Number of flows.
        count: u32 = 1, in limits::FLOWS;
        /// Links that data crosses, by name and in order: `["bottleneck"]`.
        path: Vec<Hop>, in 1..=u64::MAX;
        /// Links that ACKs, and answers to pings, cross; empty for an uncongested way back.
        back as "return": Vec<Hop> = Vec::new();
        /// Base round-trip time, all propagation included: "100 ms", { from = "80 ms", to = "120 ms" }, "auto", a draw or a
        /// list.
        rtt: Rtt, in limits::RTT;
        /// The sender's own link: { rate = "10 Gbit/s" }. Default: of infinite rate.
        access: Access = Access::default();
        /// Congestion-control law and slow start: a name, or a table such as { law = "highspeed" }. Under tcp = "linux" the law is
        /// what Linux runs: "cubic" is variant "linux" with "hystart-linux", "bbr" is "bbr1" (version 3 is "bbr3"), each unless the
        /// table says otherwise. Default: "reno"; under tcp = "linux" "cubic".
        control: Control = Control::default();
        /// Loss detection and recovery. Default: "sack", where the law does not ask for more.
        recovery: Recovery = Recovery::Sack;
        /// Size of a full data packet on the wire, headers included: "1500 B". Default for a ping: 84 B.
        packet: Bytes = Bytes(1500);
        /// Start of the flows: "0 s", { from = "0 s", to = "5 s" } for a uniform draw, { from = "0 s", every = "1 s" } for one
        /// after the other, or a list.
        start: Start = Start::Between(Span::ZERO, Span::ZERO);
        /// Time at which the application stops offering data: "100 s", a uniform draw, or a time after the flow's own start.
        /// Default: never.
        stop: Option<Stop> = None;
        /// Traffic that the application offers: a name, or a table such as { kind = "poisson", rate = "1 Mbit/s" }.
        traffic: TrafficSpec = TrafficSpec::Bulk(traffic::bulk::Params::default());
        /// TCP besides the law: "linux" for its defaults, or a table such as `{ min_rto = "200 ms" }`. Datagrams take only
        /// `send_jitter`, and have no `control` and `recovery`; a `return` only a ping has.
        tcp: Options = Options::default();
    }
}

base::keys! {
    /// The sender's own link.
    pub struct Access {
        /// "10 Gbit/s", "unlimited", or one that differs between flows.
        rate: Option<Values<Rate>> = None, in limits::RATE, or "unlimited";
        /// "1000 packets" or "unlimited".
        buffer: Option<Packets> = None, or "unlimited";
        /// Propagation before the first link: "1 ms", or one that differs between flows. Without it, half of what the links
        /// leave of the base RTT.
        delay: Option<Values<Span>> = None, in limits::DELAY, since "0.1";
    }
}

table_types! {
    Access = "Access", "a table such as { rate = \"10 Gbit/s\" }";
}

/// Bytes of IP and TCP headers without options: the smallest size of a packet, and its size where no data packet gives one.
pub const HEADER: u32 = 40;

impl Group {
    /// Payload of a full segment: the packet size minus its headers.
    #[must_use]
    pub fn mss(&self) -> u32 {
        (self.packet.0 - self.tcp.header.0) as u32
    }

    /// Builds the congestion control that the scenario names, for segments of this group.
    ///
    /// # Panics
    ///
    /// Panics if the parameters of the law are wrong, which is excluded for scenarios that were read.
    #[must_use]
    pub fn built_in_control(&self) -> law::Control {
        let ssthresh = self.tcp.initial_ssthresh.unwrap_or(f64::INFINITY);
        let built = self.control.law.build(&self.control.slow_start, f64::from(self.tcp.initial_window), ssthresh);
        let mut control = built.expect("checked when the scenario was read");
        control.set_mss(self.mss());
        control
    }
}

impl KeyType for Group {
    const EXAMPLE: &'static str = "[[flows]]";
    const LIST: [&'static str; 2] = ["a list of tables, each headed [[flows]]", "must not be empty"];
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        control::only_tcp(node)?;
        let mut group: Self = table::read(node, "a table headed [[flows]]")?;
        if let Some(packet) = group.traffic.usual_packet().filter(|_| node.get("packet").is_none()) {
            group.packet = packet;
        }
        if node.get("name").is_some() {
            return Ok(group);
        }
        // The group `flows[0]` is called "flows1".
        let place = node.place.trim_start_matches("flows[").trim_end_matches(']').parse().unwrap_or(0);
        Ok(Self { name: format!("flows{}", place + 1), ..group })
    }
    fn write(&self, names: &Names) -> Json {
        let group = table::write(self, names);
        if self.traffic.is_tcp() { group } else { control::without_tcp(group) }
    }
    fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let group: Self = table::restore(node)?;
        control::fits(node, &group.traffic)?;
        Ok(group)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        defs.table::<Self>("Flows")
    }
    fn listed(list: &[Self], names: &Names) -> Result<(), ScenarioError> {
        // This must precede the traces, which refer to the names.
        names::learn(&names.groups, "flows", list.iter().map(|group| (&group.name, group.count)))
    }
}

/// A flow: its group, and its index within the group.
pub type Flow = (usize, u32);

impl KeyType for Flow {
    const LIST: [&'static str; 2] = ["a list of flows such as [\"hstcp[0]\"]", ""];
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        flow_named(node.text("hstcp[0]")?, node.names.groups()).map_err(|reason| node.wrong(reason))
    }
    fn write(&self, names: &Names) -> Json {
        json!(format!("{}[{}]", names.groups()[self.0].0, self.1))
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        json!({ "type": "string" })
    }
}

/// The flow called, for example, `hstcp[3]`, or an error message.
fn flow_named(text: &str, groups: &[(String, u32)]) -> Result<Flow, String> {
    let parts = text.strip_suffix(']').and_then(|t| t.rsplit_once('['));
    let Some((name, Ok(flow))) = parts.map(|(name, index)| (name, index.parse::<u32>())) else {
        return Err(format!("{text:?} is no flow; write for example \"hstcp[0]\", the first of group \"hstcp\""));
    };
    let group = groups.iter().position(|group| group.0 == name).ok_or_else(|| {
        let known: Vec<_> = groups.iter().map(|group| group.0.as_str()).collect();
        names::unknown("group", name, &known, &[])
    })?;
    let count = groups[group].1;
    if flow >= count {
        return Err(format!("group {name:?} has {count} flows, counted from 0"));
    }
    Ok((group, flow))
}

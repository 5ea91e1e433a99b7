//! Settings of a group's senders other than the law's parameters: the pair of law and slow start, the recovery, and the
//! keys of `tcp`; also which of them are allowed for datagrams.

use crate::ScenarioError;
use crate::linux;
use crate::names::Names;
use crate::node::Node;
use crate::own::OwnLaw;
use crate::parameters;
use crate::table::{self, Defs, KeyType};
use crate::types::words;
use base::{Key, Span};
use law::{CongestionControl, LawSpec, StartSpec};
use serde_json::{Value as Json, json};
use traffic::TrafficSpec;
use transport::{Options, Recovery};

/// Congestion-control law and slow start.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// The law.
    pub law: LawSpec,
    /// Slow start.
    pub slow_start: StartSpec,
    /// A law that is not built in. `law` and `slow_start` then only serve to check the file, and are never run.
    pub own: Option<OwnLaw>,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            law: LawSpec::Reno(law::reno::Params::default()),
            slow_start: StartSpec::Classic(law::start::classic::Params::default()),
            own: None,
        }
    }
}

impl Control {
    /// The name of the law.
    #[must_use]
    pub fn name(&self) -> &str {
        self.own.as_ref().map_or(self.law.card().name, |own| &own.name)
    }
}

impl KeyType for Control {
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        if let Some(own) = OwnLaw::read(node)? {
            return Ok(Self { own: Some(own), ..Self::default() });
        }
        let law = LawSpec::read(node, key)?;
        let slow_start = node.get("slow_start").map(|node| StartSpec::read(&node, key)).transpose()?;
        let slow_start = slow_start.unwrap_or_else(|| own_start(&law));
        Ok(Self { law, slow_start, own: None })
    }
    fn find(group: &Node, key: &Key, default: Option<Self>) -> Result<Self, ScenarioError> {
        let node = group.get(key.name);
        if is_linux(group) {
            return linux::control(&group.at(key.name), node.map(|node| node.value), key);
        }
        node.map_or_else(|| Ok(default.unwrap_or_default()), |node| Self::read(&node, key))
    }
    fn write(&self, names: &Names) -> Json {
        if let Some(own) = &self.own {
            return own.write();
        }
        let mut law = self.law.write(names);
        law["slow_start"] = self.slow_start.write(names);
        law
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        // Datagrams have no control.
        if node.value.is_null() {
            return Ok(Self::default());
        }
        if let Some(own) = OwnLaw::read(node)? {
            return Ok(Self { own: Some(own), ..Self::default() });
        }
        let slow_start = node.get("slow_start").ok_or_else(|| node.at("slow_start").missing("a law has it"))?;
        let law = parameters::read(node, &["slow_start"])?;
        Ok(Self { law, slow_start: StartSpec::restore(&slow_start, key)?, own: None })
    }
    fn shown(&self, _key: &Key) -> String {
        format!("{:?}", self.name())
    }
    fn schema(key: &Key, defs: &mut Defs) -> Json {
        // The schema of the law includes its slow start.
        LawSpec::schema(key, defs)
    }
}

/// The slow start of a law if the file does not name one: the classic one, except for Linux's CUBIC, which has its own.
fn own_start(law: &LawSpec) -> StartSpec {
    match law {
        LawSpec::Cubic(p) if p.variant == law::cubic::Variant::Linux => {
            StartSpec::HystartLinux(law::start::hystart_linux::Params::default())
        }
        _ => Control::default().slow_start,
    }
}

/// Reads the value of `control` in a file: a name, or a table.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn read_control(text: &str) -> Result<(LawSpec, StartSpec), ScenarioError> {
    let Control { law, slow_start, own } = table::read_alone("control", text)?;
    if let Some(own) = own {
        return Err(ScenarioError::wrong(
            "control",
            format!("{} is no law of elephan's: it runs in simulations alone", own.name),
        ));
    }
    law.build(&slow_start, 2.0, f64::INFINITY).map_err(ScenarioError::parameter("control"))?;
    Ok((law, slow_start))
}

words! {
    Recovery, "sack" {
        // The default is RACK with `tcp = "linux"`, and for controls that set their window in recovery: such senders also
        // lose retransmissions, and only RACK detects that without a timeout.
        fn find(table: &Node, key: &Key, default: Option<Self>) -> Result<Self, ScenarioError> {
            if let Some(node) = table.get(key.name) {
                return Self::read(&node, key);
            }
            let control = Control::find(table, &Key { name: "control", ..Key::default() }, None)?;
            let built = control.law.build(&control.slow_start, 2.0, f64::INFINITY);
            let rules = built.is_ok_and(|control| control.needs().deliveries || control.needs().own_recovery);
            Ok(if is_linux(table) || rules { Self::Rack } else { default.unwrap_or(Self::Sack) })
        }
        fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
            // Datagrams have no recovery.
            if node.value.is_null() { Ok(Self::Sack) } else { Self::read(node, key) }
        }
    };
}

const FORM: &str = "\"linux\" or a table such as { min_rto = \"200 ms\" }";

const LINUX: &str = "linux";

/// Key of the profile in a table that may have other keys.
const PROFILE: &str = "profile";

/// Profile that `tcp` names, alone or together with other keys.
fn profile<'a>(tcp: &'a Node<'a>) -> Option<Node<'a>> {
    if tcp.as_text().is_some() {
        return Some(Node { value: tcp.value, place: tcp.place.clone(), names: tcp.names });
    }
    tcp.get(PROFILE)
}

/// Whether the group's key `tcp` names Linux's profile.
fn is_linux(group: &Node) -> bool {
    group.get("tcp").is_some_and(|tcp| profile(&tcp).is_some_and(|named| named.as_text() == Some(LINUX)))
}

/// The options of the profile named at `node`.
fn named(node: &Node) -> Result<Options, ScenarioError> {
    match node.as_text() {
        Some(LINUX) => Ok(Options::linux()),
        Some(name) => Err(node.wrong(format!("unknown profile {name:?}; must be {FORM}"))),
        None => Err(node.wrong(format!("must be {LINUX:?}, a profile"))),
    }
}

/// Reads the keys of the table `tcp`; all other options are those of `profile`.
fn beside(tcp: &Node, profile: &Options) -> Result<Options, ScenarioError> {
    let mut stated = tcp.value.clone();
    stated.as_object_mut().map(|table| table.remove(PROFILE));
    let alone = Node { value: &stated, place: tcp.place.clone(), names: tcp.names };
    let read: Options = table::read(&alone, FORM)?;
    let (mut merged, read) = (table::write(profile, tcp.names), table::write(&read, tcp.names));
    for (key, canonical) in table::canonical_names::<Options>(tcp.names) {
        if alone.get(key).is_some() {
            match read.get(&canonical) {
                Some(value) => merged[&canonical] = value.clone(),
                // A key that the file sets to its default is absent from the canonical form.
                None => drop(merged.as_object_mut().map(|form| form.remove(&canonical))),
            }
        }
    }
    table::restore(&Node { value: &merged, place: tcp.place.clone(), names: tcp.names })
}

/// The profile `tcp = "linux"`, a table of keys, or both: `{ profile = "linux", send_jitter = "12 us" }`.
impl KeyType for Options {
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        match profile(node) {
            Some(named_at) if node.as_text().is_some() => named(&named_at),
            Some(named_at) => beside(node, &named(&named_at)?),
            None => table::read(node, FORM),
        }
    }
    fn write(&self, names: &Names) -> Json {
        table::write(self, names)
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        // Datagrams have only this key.
        match (node.get(JITTER_PS), node.value.as_object()) {
            (Some(jitter), Some(table)) if table.len() == 1 => {
                Ok(Self { send_jitter: Span::restore(&jitter, key)?, ..Self::default() })
            }
            _ => table::restore(node),
        }
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let table = defs.table::<Self>("TcpTable");
        let profile = json!({ "description": "Linux's defaults.", "const": LINUX });
        let beside = "The profile that the other keys of the table change; alone it is tcp = \"linux\".";
        defs.0["TcpTable"]["properties"][PROFILE] = json!({ "description": beside, "const": LINUX });
        json!({ "anyOf": [profile, table] })
    }
}

/// Keys of a group that have no meaning for datagrams, and the reason.
const TCP_ONLY: [(&str, &str); 3] = [
    ("control", "is datagrams without congestion control"),
    ("recovery", "is datagrams that are never sent again"),
    ("return", "is datagrams that nobody acknowledges"),
];

/// The only key of `tcp` that datagrams have.
const JITTER: &str = "send_jitter";
const JITTER_PS: &str = "send_jitter_ps";

/// The kind of traffic named at `node`, with its defaults; `None` if there is no such kind.
fn kind(node: &Node) -> Option<TrafficSpec> {
    TrafficSpec::named(node.as_text().or_else(|| node.value.get("kind")?.as_str())?)
}

/// Refuses keys of TCP in a group of datagrams.
pub(crate) fn only_tcp(group: &Node) -> Result<(), ScenarioError> {
    let datagrams = |node: &Node| kind(node).is_some_and(|traffic| !traffic.is_tcp());
    let Some(node) = group.get("traffic").filter(datagrams) else { return Ok(()) };
    // Errors in the traffic itself are reported first.
    let traffic = TrafficSpec::read(&node, &Key::default())?;
    let kind = traffic.card().name;
    for (key, reason) in TCP_ONLY {
        // Answered datagrams come back, so they may have a return path.
        let known = key == "return" && traffic.is_answered();
        if let Some(node) = group.get(key).filter(|_| !known) {
            return Err(node.wrong(format!("{kind} traffic {reason}; leave this key out")));
        }
    }
    let Some(tcp) = group.get("tcp") else { return Ok(()) };
    let reason = format!("{kind} traffic is datagrams, which take only {JITTER}");
    if tcp.as_text().is_some() {
        return Err(tcp.wrong(reason));
    }
    let entries = tcp.value.as_object().into_iter().flatten();
    match entries.map(|entry| entry.0.as_str()).find(|&key| key != JITTER) {
        // An unknown key is reported as unknown.
        Some(PROFILE) => Err(tcp.at(PROFILE).wrong(reason)),
        Some(key) => table::read::<Options>(&tcp, "a table such as { send_jitter = \"8 us\" }")
            .and(Err(tcp.at(key).wrong(reason))),
        None => Ok(()),
    }
}

/// The canonical form of a group of datagrams, without the keys that have no meaning for it.
pub(crate) fn without_tcp(mut group: Json) -> Json {
    let jitter = group["tcp"][JITTER_PS].take();
    for (key, value) in [("control", Json::Null), ("recovery", Json::Null), ("tcp", json!({ JITTER_PS: jitter }))] {
        group[key] = value;
    }
    group
}

/// Refuses a canonical form with keys that do not fit its traffic, or without required ones.
pub(crate) fn fits(node: &Node, traffic: &TrafficSpec) -> Result<(), ScenarioError> {
    for (key, datagrams) in [
        ("control", node.value["control"].is_null()),
        ("recovery", node.value["recovery"].is_null()),
        ("tcp", node.value["tcp"].as_object().is_some_and(|tcp| tcp.len() == 1)),
    ] {
        if datagrams == traffic.is_tcp() {
            return Err(node.at(key).wrong(format!("does not go with {} traffic", traffic.card().name)));
        }
    }
    Ok(())
}

//! The keys of `tcp = {…}`, and the profile `tcp = "linux"`.

use crate::reader::Node;
use crate::{ScenarioError, limits};
use transport::{Ecn, Options};

/// Keys of `tcp = {…}`.
pub(crate) const KEYS: &[&str] = &[
    "min_rto",
    "rto_granularity",
    "initial_window",
    "initial_ssthresh",
    "receive_window",
    "delayed_ack",
    "delayed_ack_timeout",
    "limited_transmit",
    "ecn",
    "send_jitter",
];

pub(crate) fn options(node: &Node) -> Result<Options, ScenarioError> {
    let form = "\"linux\" or a table such as { min_rto = \"200 ms\" }";
    if let Some(name) = node.as_text() {
        return if name == "linux" {
            Ok(Options::linux())
        } else {
            Err(node.wrong(format!("unknown profile {name:?}; must be {form}")))
        };
    }
    let fields = node.table(KEYS, form)?;
    let mut tcp = Options::default();
    for (key, node) in fields.entries() {
        match key {
            "min_rto" => tcp.min_rto = node.span("1 s")?,
            "rto_granularity" => tcp.rto_granularity = node.span("1 ms")?,
            "initial_window" => tcp.initial_window = node.whole(&limits::INITIAL_WINDOW)? as u32,
            "initial_ssthresh" => {
                tcp.initial_ssthresh = or_none(&node, Node::number, "a number of segments")?;
            }
            "receive_window" => {
                let whole = |node: &Node| node.whole(&limits::RECEIVE_WINDOW).map(|n| n as u32);
                tcp.receive_window = or_none(&node, whole, "a whole number of segments")?;
            }
            "delayed_ack" => tcp.delayed_ack = node.whole(&limits::DELAYED_ACK)? as u32,
            "delayed_ack_timeout" => tcp.delayed_ack_timeout = node.span("200 ms")?,
            "limited_transmit" => tcp.limited_transmit = node.flag()?,
            "ecn" => tcp.ecn = ecn(&node)?,
            "send_jitter" => tcp.send_jitter = node.span("8 us")?,
            // The table has no other keys.
            _ => {}
        }
    }
    Ok(tcp)
}

/// The one key that says something about datagrams of this `kind`.
pub(crate) fn options_of_datagrams(node: &Node, kind: &str) -> Result<Options, ScenarioError> {
    let reason = format!("{kind} traffic is datagrams, which take only send_jitter");
    if node.as_text().is_some() {
        return Err(node.wrong(reason));
    }
    let fields = node.table(KEYS, "a table such as { send_jitter = \"8 us\" }")?;
    if let Some((_, node)) = fields.entries().find(|(key, _)| *key != "send_jitter") {
        return Err(node.wrong(reason));
    }
    options(node)
}

fn or_none<'a, T>(
    node: &Node<'a>,
    read: impl Fn(&Node<'a>) -> Result<T, ScenarioError>,
    what: &str,
) -> Result<Option<T>, ScenarioError> {
    match node.as_text() {
        Some("none") => Ok(None),
        Some(_) => Err(node.wrong(format!("must be {what}, or \"none\""))),
        None => read(node).map(Some),
    }
}

fn ecn(node: &Node) -> Result<Ecn, ScenarioError> {
    match node.value {
        toml::Value::String(text) => Ecn::named(text),
        toml::Value::Boolean(on) => Some(if *on { Ecn::On } else { Ecn::Off }),
        _ => None,
    }
    .ok_or_else(|| node.wrong("must be \"on\", \"off\" or \"l4s\""))
}

//! Paths: the names of links and of links of an array, such as `"client[3]"`; `"client[*]"` assigns flows to the links in
//! turn.

use crate::ScenarioError;
use crate::names::Names;
use crate::node::Node;
use crate::table::{Defs, KeyType};
use base::Key;
use base::spelling::nearest;
use serde_json::{Value as Json, json};

/// A link on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Index into `Scenario::links`.
    pub link: usize,
    /// Choice of a link of an array.
    pub pick: Pick,
}

/// Rule that selects the link of an array that a path crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The link with this number; 0 for a table with one link.
    One(u32),
    /// Flow i of the group takes number i mod count.
    Each,
}

impl Hop {
    /// A link that is the only one of its table.
    #[must_use]
    pub fn alone(link: usize) -> Self {
        Self { link, pick: Pick::One(0) }
    }

    /// Whether one flow could cross the same link at both hops.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.link == other.link && (self.pick == Pick::Each || other.pick == Pick::Each || self.pick == other.pick)
    }

    /// The name of this hop in a path; its table has `count` links called `name`.
    pub(crate) fn spelled(self, name: &str, count: u32) -> String {
        match self.pick {
            _ if count == 1 => name.to_owned(),
            Pick::One(i) => format!("{name}[{i}]"),
            Pick::Each => format!("{name}[*]"),
        }
    }
}

impl KeyType for Hop {
    const EXAMPLE: &'static str = "bottleneck";
    const LIST: [&'static str; 2] = ["a list of links such as [\"bottleneck\"]", "must name at least one link"];
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        named(node.text(Self::EXAMPLE)?, node.names.links()).map_err(|reason| node.wrong(reason))
    }
    fn write(&self, names: &Names) -> Json {
        let (name, count) = &names.links()[self.link];
        json!(self.spelled(name, *count))
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        json!({ "type": "string" })
    }
}

/// The link called `text`, or an error message.
fn named(text: &str, links: &[(String, u32)]) -> Result<Hop, String> {
    let (name, which) = match text.strip_suffix(']').and_then(|t| t.rsplit_once('[')) {
        Some((name, which)) => (name, Some(which)),
        None => (text, None),
    };
    let Some(link) = links.iter().position(|link| link.0 == name) else {
        let near = nearest(name, links.iter().map(|link| link.0.as_str()));
        if let Some(near) = near.and_then(|near| links.iter().find(|link| link.0 == near)) {
            return Err(format!("unknown link {name:?}; did you mean {}?", spelled(near)));
        }
        let known = links.iter().map(spelled).collect::<Vec<_>>().join(", ");
        return Err(format!("unknown link {name:?}; known: {known}"));
    };
    let count = links[link].1;
    let one = |i: u32| Hop { link, pick: Pick::One(i) };
    match which.map(|which| (which, which.parse::<u32>())) {
        None if count > 1 => Err(format!(
            "{name:?} are {count} links; write \"{name}[*]\" (flow i takes link i mod {count}), or \"{name}[0]\" for one"
        )),
        None => Ok(one(0)),
        // A table with one link is not an array.
        Some(("*", _)) if count == 1 => Ok(one(0)),
        Some(("*", _)) => Ok(Hop { link, pick: Pick::Each }),
        Some((_, Ok(i))) if i < count => Ok(one(i)),
        Some((_, Ok(_))) if count == 1 => Err(format!("{name:?} is one link; write {name:?}")),
        Some((_, Ok(_))) => Err(format!("there are {count} of {name:?}, counted from 0")),
        Some(_) => Err(format!("{text:?} is no link; write \"{name}[*]\" or for example \"{name}[0]\"")),
    }
}

/// The name of a link in a list of names.
fn spelled((name, count): &(String, u32)) -> String {
    if *count > 1 { format!("\"{name}[*]\"") } else { format!("{name:?}") }
}

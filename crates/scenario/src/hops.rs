//! Paths: the names of links, and of links of an array: `"client[3]"`, or `"client[*]"` for one after the other.

use crate::names::nearest;
use crate::reader::Node;
use crate::{Hop, Link, Pick, ScenarioError};

/// The links listed at `node`.
pub(crate) fn path(node: &Node, links: &[Link]) -> Result<Vec<Hop>, ScenarioError> {
    let items = node.list("a list of links such as [\"bottleneck\"]")?;
    items.iter().map(|item| hop_named(item.text("bottleneck")?, links).map_err(|reason| item.wrong(reason))).collect()
}

/// The link called `text`, or what to say if there is none.
pub(crate) fn hop_named(text: &str, links: &[Link]) -> Result<Hop, String> {
    let (name, which) = match text.strip_suffix(']').and_then(|t| t.rsplit_once('[')) {
        Some((name, which)) => (name, Some(which)),
        None => (text, None),
    };
    let Some(link) = links.iter().position(|link| link.name == name) else {
        let near = nearest(name, links.iter().map(|link| link.name.as_str()));
        if let Some(near) = near.and_then(|near| links.iter().find(|link| link.name == near)) {
            return Err(format!("unknown link {name:?}; did you mean {}?", spelled(near, "*")));
        }
        let known = links.iter().map(|link| spelled(link, "*")).collect::<Vec<_>>().join(", ");
        return Err(format!("unknown link {name:?}; known: {known}"));
    };
    let count = links[link].count;
    let one = |i: u32| Hop { link, pick: Pick::One(i) };
    match which.map(|which| (which, which.parse::<u32>())) {
        None if count > 1 => Err(format!(
            "{name:?} are {count} links; write \"{name}[*]\" (flow i takes link i mod {count}), or \"{name}[0]\" for one"
        )),
        None => Ok(one(0)),
        // An array of one is no array.
        Some(("*", _)) if count == 1 => Ok(one(0)),
        Some(("*", _)) => Ok(Hop { link, pick: Pick::Each }),
        Some((_, Ok(i))) if i < count => Ok(one(i)),
        Some((_, Ok(_))) if count == 1 => Err(format!("{name:?} is one link; write {name:?}")),
        Some((_, Ok(_))) => Err(format!("there are {count} of {name:?}, counted from 0")),
        Some(_) => Err(format!("{text:?} is no link; write \"{name}[*]\" or for example \"{name}[0]\"")),
    }
}

/// The name of `link` in a list of names.
fn spelled(link: &Link, which: &str) -> String {
    let name = &link.name;
    if link.count > 1 { format!("\"{name}[{which}]\"") } else { format!("{name:?}") }
}

/// How a path names `hop`.
pub(crate) fn name_of(hop: Hop, links: &[Link]) -> String {
    let link = &links[hop.link];
    match hop.pick {
        _ if link.count == 1 => link.name.clone(),
        Pick::One(i) => format!("{}[{i}]", link.name),
        Pick::Each => format!("{}[*]", link.name),
    }
}

impl Hop {
    /// Whether one flow could cross the same link at both.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.link == other.link && (self.pick == Pick::Each || other.pick == Pick::Each || self.pick == other.pick)
    }
}

//! Names: known names that later parts of a file refer to, and messages for unknown names with the nearest known name or a
//! list of all.

use crate::error::breaks_line;
use crate::{ScenarioError, limits};
use base::spelling::nearest;
use law::LawSpec;
use queue::QueueSpec;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Names of pools, links and groups, each with the number of members under it. Each list is empty until its tables have
/// been read: links refer to pools, paths to links, and recordings to links and groups.
#[derive(Default)]
pub(crate) struct Names {
    pub pools: OnceCell<Vec<(String, u32)>>,
    pub links: OnceCell<Vec<(String, u32)>>,
    pub groups: OnceCell<Vec<(String, u32)>>,
}

impl Names {
    pub fn pools(&self) -> &[(String, u32)] {
        self.pools.get().map_or(&[], Vec::as_slice)
    }

    pub fn links(&self) -> &[(String, u32)] {
        self.links.get().map_or(&[], Vec::as_slice)
    }

    pub fn groups(&self) -> &[(String, u32)] {
        self.groups.get().map_or(&[], Vec::as_slice)
    }
}

/// Fills `known` with the names of a `list` (links or flows) and the number of members under each. Refuses names that are
/// not unique, or that cannot be written as `name[3]`.
pub(crate) fn learn<'a>(
    known: &OnceCell<Vec<(String, u32)>>,
    list: &str,
    names: impl Iterator<Item = (&'a String, u32)>,
) -> Result<(), ScenarioError> {
    let all = known.get_or_init(|| names.map(|(name, count)| (name.clone(), count)).collect());
    let mut seen = BTreeSet::new();
    for (i, (name, _)) in all.iter().enumerate() {
        let place = format!("{list}[{i}].name");
        if !limits::NAME.contains(&(name.len() as u64)) || name.chars().any(|c| breaks_line(c) || c == '[' || c == ']')
        {
            return Err(ScenarioError::wrong(place, "must have 1 to 64 bytes, without brackets and line breaks"));
        }
        if !seen.insert(name) {
            return Err(ScenarioError::wrong(place, format!("{name:?} is taken by another")));
        }
    }
    Ok(())
}

/// Message for an unknown name: `name` is not a `what` (law, queue, …) of `names` or their `aliases`.
pub(crate) fn unknown(what: &str, name: &str, names: &[&str], aliases: &[&str]) -> String {
    if let Some(place) = elsewhere(what, name) {
        return format!("{name:?} is no {what}; {place}");
    }
    // Spellings from papers, such as FqCoDel, are accepted but not suggested.
    let plain = aliases.iter().filter(|alias| !alias.chars().any(char::is_uppercase));
    match nearest(name, names.iter().chain(plain).copied()) {
        Some(near) => format!("unknown {what} {name:?}; did you mean {near:?}?"),
        None => format!("unknown {what} {name:?}; available: {}", names.join(", ")),
    }
}

/// Key to which `name` belongs, if it is not a `what` but a law or a discipline.
fn elsewhere(what: &str, name: &str) -> Option<&'static str> {
    match what {
        "law" if QueueSpec::named(name).is_some() => Some("it is a discipline of links, as in links[0].queue"),
        "discipline" if LawSpec::named(name).is_some() => Some("it is a law of flows, as in flows[0].control"),
        _ => None,
    }
}

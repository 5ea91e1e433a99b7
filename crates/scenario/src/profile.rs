//! The profile of a discipline, `queue = { discipline = "pie", profile = "linux" }`: parameters that the table does not
//! give have Linux's values, and so has the size of the buffer.

use crate::ScenarioError;
use crate::node::Node;
use queue::{Profile, QueueSpec};

/// The key of the profile in the table.
pub(crate) const KEY: &str = "profile";

/// The profile that the table at `queue` names for its `discipline`.
pub(crate) fn of(queue: &Node, discipline: &str) -> Result<Option<&'static Profile>, ScenarioError> {
    let Some(named) = queue.get(KEY) else { return Ok(None) };
    let name = named.text(queue::LINUX)?;
    Profile::named(name, discipline).map(Some).map_err(|reason| named.wrong(reason))
}

/// The buffer of a link whose queue names a profile that sets one.
pub(crate) fn limit(link: &Node) -> Result<Option<u32>, ScenarioError> {
    let Some(queue) = link.get("queue") else { return Ok(None) };
    // An unknown discipline is refused where it is read.
    let spec = queue.get("discipline").and_then(|name| QueueSpec::named(name.as_text()?));
    let Some(spec) = spec else { return Ok(None) };
    Ok(of(&queue, spec.card().name)?.and_then(Profile::limit))
}

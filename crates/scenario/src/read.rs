//! From the text of a scenario file to a [`Scenario`].
//!
//! Three steps: the file's shape (keys, types, units), the buffers that depend on the flows, and the checks of values
//! that a canonical form must pass as well.

use crate::reader::{Fields, Node, parse};
use crate::{Scenario, ScenarioError, check, flows, limits, links, record};
use base::Span;

/// Keys at the top of the file.
pub(crate) const KEYS: &[&str] = &["title", "duration", "warmup", "replications", "seed", "links", "flows", "record"];

/// Reads a scenario file.
///
/// # Errors
/// The first thing wrong with it, in one line that names the place first.
pub fn read(text: &str) -> Result<Scenario, ScenarioError> {
    let table = parse(text)?;
    let file = Fields::new(&table, String::new(), KEYS)?;
    let title = file.get("title").map_or(Ok(String::new()), |n| n.text("Ten flows on 1 Gbit/s").map(str::to_owned))?;
    let duration = file.need("duration", "write for example duration = \"200 s\"")?.span("200 s")?;
    let warmup = file.get("warmup").map_or(Ok(Span::ZERO), |node| warmup(&node))?;
    let replications = file.get("replications").map_or(Ok(1), |n| n.whole(&limits::REPLICATIONS))? as u32;
    let seed = file.get("seed").map_or(Ok(1), |n| n.whole(&limits::SEED_IN_FILES))?;
    let (links, buffers) = links::read(&file.need("links", "write at least one [[links]] table")?)?;
    let groups = flows::read(&file.need("flows", "write at least one [[flows]] table")?, &links)?;
    let record = match file.get("record") {
        Some(node) => record::read(&node, &groups, &links)?,
        None => record::usual(),
    };
    let mut scenario = Scenario { title, duration, warmup, replications, seed, links, groups, record };
    for (link, buffer) in buffers.iter().enumerate() {
        scenario.links[link].buffer = buffer.resolve(&scenario, link)?;
        let port = scenario.port(link);
        let place = || format!("links[{link}].queue");
        let wrong = |source| ScenarioError::Parameter { place: place(), source };
        scenario.links[link].queue.resolve(&port).map_err(wrong)?;
    }
    check::check(&scenario)?;
    Ok(scenario)
}

fn warmup(node: &Node) -> Result<Span, ScenarioError> {
    if node.as_text() == Some("auto") {
        return Err(
            node.wrong("\"auto\" is for a pilot to find before a file comes here; give a time such as \"60 s\"")
        );
    }
    node.span("60 s")
}

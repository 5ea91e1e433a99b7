//! Reader of scenario files: first the tables with their keys, then the buffers and thresholds that depend on the flows,
//! then the checks of the whole.
//!
//! Source: BDP rule, Villamizar and Song 1994; BDP/sqrt(n), Appenzeller et al. 2004. The BDP is the rate times the mean
//! base RTT of the flows that send data over the link (only TCP flows, if there are any); n is their number (for an array,
//! the mean number per link). Times and BDP are converted into packets of the flows' mean size. A link that carries only
//! ACKs has none of these values, so its buffer must be in packets or bytes.

use crate::names::Names;
use crate::node::{Node, parse};
use crate::{Link, LinkUse, Scenario, ScenarioError, check, table};
use base::{Amount, Bytes};
use queue::Limit;
use schemars::Schema;
use serde_json::{Value as Json, json};

/// The version of the file format, which files may state as `format`. It is increased when the meaning of a key changes.
pub const FORMAT: u64 = 1;

/// Reads a scenario file.
///
/// # Errors
/// The first error in the file, in one line that begins with the place.
pub fn read(text: &str) -> Result<Scenario, ScenarioError> {
    let (mut tree, names) = (parse(text)?, Names::default());
    take_format(&mut tree)?;
    check_top(&tree)?;
    let file: Scenario<Amount> = table::read(&Node { value: &tree, place: String::new(), names: &names }, "a table")?;
    let links = file.uses().iter().enumerate().map(|(i, on)| link(&file, i, on)).collect::<Result<_, _>>()?;
    let Scenario { title, duration, warmup, replications, seed, pools, links: _, groups, record } = file;
    let scenario = Scenario { title, duration, warmup, replications, seed, pools, links, groups, record };
    check::check(&scenario)?;
    Ok(scenario)
}

/// Removes the version of the file format, because it is not part of the scenario.
fn take_format(tree: &mut serde_json::Value) -> Result<(), ScenarioError> {
    match tree.as_object_mut().and_then(|top| top.remove("format")) {
        None => Ok(()),
        Some(format) if format.as_u64().is_some_and(|it| (1..=FORMAT).contains(&it)) => Ok(()),
        Some(format) if format.as_u64().is_some_and(|it| it > FORMAT) => {
            let reason = format!("the file is for a newer elephan; this one reads form {FORMAT}");
            Err(ScenarioError::wrong("format", reason))
        }
        Some(_) => Err(ScenarioError::wrong("format", format!("must be {FORMAT}, the version of the file's form"))),
    }
}

/// For a key at the top level that belongs to a link or to flows, says where it belongs.
fn check_top(tree: &Json) -> Result<(), ScenarioError> {
    let names = Names::default();
    let of = |keys: Vec<(&'static str, String)>| keys.into_iter().map(|key| key.0).collect::<Vec<_>>();
    let top = of(table::canonical_names::<Scenario<Amount>>(&names));
    let places = [
        ("links", of(table::canonical_names::<Link<Amount>>(&names))),
        ("flows", of(table::canonical_names::<crate::Group>(&names))),
    ];
    for key in tree.as_object().into_iter().flat_map(|top| top.keys()).filter(|key| !top.contains(&key.as_str())) {
        if let Some((list, _)) = places.iter().find(|(_, known)| known.contains(&key.as_str())) {
            let reason = format!("unknown key here; did you mean `{list}[0].{key}`?");
            return Err(ScenarioError::wrong(key.clone(), reason));
        }
    }
    Ok(())
}

/// The link `file.links[index]`, with its buffer as a limit and the amounts of its discipline in packets.
fn link(file: &Scenario<Amount>, index: usize, on: &LinkUse<'_, Amount>) -> Result<Link, ScenarioError> {
    let Link {
        name,
        count,
        rate,
        delay,
        buffer: _,
        mut queue,
        loss,
        policer,
        shaper,
        batch,
        jitter,
        reorder,
        pool,
        alpha,
    } = file.links[index].clone();
    let buffer = limit(file, index, on)?;
    let place = ScenarioError::parameter(format!("links[{index}].queue"));
    queue.resolve(&on.port_of(buffer)).map_err(place)?;
    Ok(Link { name, count, rate, delay, buffer, queue, loss, policer, shaper, batch, jitter, reorder, pool, alpha })
}

/// The limit of the buffer of `scenario.links[link]`, computed once the flows are known.
fn limit(scenario: &Scenario<Amount>, link: usize, on: &LinkUse<'_, Amount>) -> Result<Limit, ScenarioError> {
    let wrong = |reason: &str| ScenarioError::wrong(format!("links[{link}].buffer"), reason);
    let known = (on.mean_packet(), on.bdp_bytes(), on.flows_each());
    let sized = |bytes: &dyn Fn(f64, f64) -> f64| {
        let (Some(packet), Some(bdp), Some(n)) = known else {
            return Err(wrong("no flow sends data over this link, so time and bdp say nothing; give packets or bytes"));
        };
        let packets = (bytes(bdp, n) / packet).round().max(1.0);
        if packets > f64::from(u32::MAX) {
            return Err(wrong("comes to more than 4294967295 packets; write \"unlimited\" if that is meant"));
        }
        Ok(Limit::Packets(packets as u32))
    };
    let (rate, buffer) = (scenario.mean_rate(link), scenario.links[link].buffer);
    match buffer {
        Amount::Packets(n) => Ok(Limit::Packets(n as u32)),
        Amount::Bytes(n) => Ok(Limit::Bytes(Bytes(n))),
        Amount::Time(span) => sized(&|_, _| rate.bytes_in(span)),
        Amount::Bdp(share) => sized(&|bdp, _| share * bdp),
        Amount::BdpOverSqrtN(share) => sized(&|bdp, n| share * bdp / n.sqrt()),
        // The last two are refused earlier, when they are read.
        Amount::Unlimited | Amount::Auto | Amount::Buffer(_) => Ok(Limit::Unlimited),
    }
}

/// JSON Schema (2020-12) of a scenario file, as text.
#[must_use]
pub fn schema() -> String {
    let mut defs = table::Defs::default();
    let mut file = table::described::<Scenario<Amount>>(&mut defs);
    file["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    file["title"] = json!("elephan scenario");
    let format = "Version of this file's form, for readers to come. Default: 1.";
    file["properties"]["format"] = json!({ "description": format, "type": "integer", "minimum": 1, "maximum": FORMAT });
    file["$defs"] = Json::Object(defs.0);
    // `Schema` puts the description first, because readers look for it first.
    Schema::try_from(file).and_then(|schema| serde_json::to_string_pretty(&schema)).unwrap_or_default()
}

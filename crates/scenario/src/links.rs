//! The `[[links]]` tables.

use crate::buffer::Buffer;
use crate::names::unknown_name;
use crate::parameters::{self, Parameters};
use crate::reader::{Fields, Node, parse};
use crate::values::{RATES, TIMES};
use crate::{Link, Loss, ScenarioError, check, limits};
use base::{Span, Stream};
use queue::{Limit, Port, QUEUES, QueueSpec};

/// Keys of a `[[links]]` table.
pub(crate) const KEYS: &[&str] = &["name", "count", "rate", "delay", "buffer", "queue", "loss"];

/// Keys of `loss = {…}`.
pub(crate) const LOSS_KEYS: &[&str] = &["random", "every"];

/// The links, and their buffers as the file says them: those in time or BDP depend on the flows.
pub(crate) fn read(node: &Node) -> Result<(Vec<Link>, Vec<Buffer>), ScenarioError> {
    let items = node.list("a list of tables, each headed [[links]]")?;
    if items.is_empty() {
        return Err(node.wrong("must not be empty"));
    }
    let (links, buffers): (Vec<Link>, Vec<Buffer>) =
        items.iter().map(link).collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    // Before paths look for names.
    check::names("links", links.iter().map(|link| link.name.as_str()))?;
    Ok((links, buffers))
}

fn link(node: &Node) -> Result<(Link, Buffer), ScenarioError> {
    let fields = node.table(KEYS, "a table headed [[links]]")?;
    let name = fields.need("name", "write for example name = \"bottleneck\"")?.text("bottleneck")?.to_owned();
    let count = fields.get("count").map_or(Ok(1), |n| n.whole(&limits::LINKS))? as u32;
    let rate = fields.need("rate", "write for example rate = \"1 Gbit/s\"")?;
    let (rate, rate_range) = RATES.mean_or_range(&rate, "1 Gbit/s")?;
    let (delay, delay_range) =
        fields.get("delay").map_or(Ok((Span::ZERO, None)), |n| TIMES.mean_or_range(&n, "50 ms"))?;
    let queue = fields.get("queue");
    let buffer = Buffer::read(&match (fields.get("buffer"), queue.as_ref().and_then(limit)) {
        (Some(buffer), None) => buffer,
        // `tc` says the buffer's size with the discipline.
        (None, Some(limit)) => limit,
        (Some(buffer), Some(limit)) => {
            return Err(limit.wrong(format!("is the same as {}; give one of them", buffer.place)));
        }
        (None, None) => fields.need("buffer", "write for example buffer = \"1250 packets\", or \"unlimited\"")?,
    })?;
    let queue = match queue {
        Some(node) => discipline(&node)?,
        None => QueueSpec::DropTail(queue::drop_tail::Params::default()),
    };
    let loss = fields.get("loss").map_or(Ok(None), |n| loss(&n))?;
    let unsized_yet = Limit::Unlimited;
    Ok((Link { name, count, rate, rate_range, delay, delay_range, buffer: unsized_yet, queue, loss }, buffer))
}

/// Reads what a file may write after `queue =`, settled on `port`.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn read_queue(text: &str, port: &Port) -> Result<QueueSpec, ScenarioError> {
    let document = parse(&format!("queue = {text}"))?;
    let fields = Fields::new(&document, String::new(), &["queue"])?;
    let mut spec = discipline(&fields.need("queue", "write for example queue = \"red\"")?)?;
    let place = |source| ScenarioError::Parameter { place: "queue".to_owned(), source };
    spec.resolve(port).map_err(place)?;
    let chance = Stream::new(0, 0, ("check", 0), "queue");
    spec.build(port, chance).map_err(place)?;
    Ok(spec)
}

/// What stands at `limit` in the table of a discipline.
fn limit<'a>(node: &Node<'a>) -> Option<Node<'a>> {
    let value = node.value.as_table()?.get("limit")?;
    Some(Node { value, place: format!("{}.limit", node.place) })
}

fn discipline(node: &Node) -> Result<QueueSpec, ScenarioError> {
    parameters::read(node, "discipline", &["limit"], (None, "drop-tail"), &queue_named)
}

impl Parameters for QueueSpec {
    fn rows(&self) -> Vec<base::Param> {
        self.rows()
    }
    fn spellings(&self) -> &'static [(&'static str, &'static str)] {
        self.spellings()
    }
    fn set(&mut self, name: &str, value: &base::Value) -> Option<Result<(), base::ParamError>> {
        self.set(name, value)
    }
}

/// The discipline called `name`; `place` is where the name stands.
pub(crate) fn queue_named(name: &str, place: &str) -> Result<QueueSpec, ScenarioError> {
    QueueSpec::named(name).ok_or_else(|| {
        let names: Vec<_> = QUEUES.iter().map(|entry| entry.card.name).collect();
        let aliases: Vec<_> = QUEUES.iter().flat_map(|entry| entry.card.aliases).copied().collect();
        unknown_name(place, "discipline", name, &names, &aliases)
    })
}

fn loss(node: &Node) -> Result<Option<Loss>, ScenarioError> {
    if node.as_text() == Some("none") {
        return Ok(None);
    }
    let fields = node.table(LOSS_KEYS, "a table such as { random = 1e-4 } or { every = 10000 }")?;
    match (fields.get("random"), fields.get("every")) {
        (Some(random), None) => Ok(Some(Loss::Random(random.number()?))),
        (None, Some(every)) => Ok(Some(Loss::Every(every.whole(&limits::LOSS_EVERY)?))),
        _ => Err(node.wrong("must hold either random = 1e-4 or every = 10000")),
    }
}

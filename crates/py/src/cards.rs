//! The cards of everything that exists, as JSON.

use crate::error::bad_catalog;
use base::{Card, Param};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

const KINDS: [&str; 5] = ["laws", "slow-starts", "recoveries", "queues", "traffic"];

type Spellings = [(&'static str, &'static str)];

fn entry(card: Card, rows: Vec<Param>, spellings: &Spellings) -> Value {
    let spellings: Map<String, Value> = spellings.iter().map(|&(other, name)| (other.into(), name.into())).collect();
    json!({
        "name": card.name,
        "title": card.title,
        "source": card.source,
        "parameters": rows,
        "aliases": card.aliases,
        "differs": card.differs,
        "spellings": spellings,
    })
}

/// The catalogue of a kind (laws, slow-starts, recoveries, queues, traffic), as JSON.
#[pyfunction]
pub fn catalog(kind: &str) -> PyResult<String> {
    let entries: Vec<Value> = match kind {
        "laws" => law::LAWS.iter().map(|e| entry(e.card, (e.rows)(), &[])).collect(),
        "slow-starts" => law::STARTS.iter().map(|e| entry(e.card, (e.rows)(), &[])).collect(),
        "queues" => queue::QUEUES
            .iter()
            .map(|e| {
                let spec = queue::QueueSpec::named(e.card.name);
                entry(e.card, (e.rows)(), spec.as_ref().map_or(&[], queue::QueueSpec::spellings))
            })
            .collect(),
        "traffic" => traffic::TRAFFIC.iter().map(|e| entry(e.card, (e.rows)(), &[])).collect(),
        "recoveries" => transport::Recovery::ALL
            .iter()
            .map(|&(recovery, name, title, source)| {
                let differs = recovery.differs();
                entry(Card { name, aliases: &[], title, source, differs }, Vec::new(), &[])
            })
            .collect(),
        _ => return Err(bad_catalog(kind, &KINDS)),
    };
    Ok(Value::Array(entries).to_string())
}

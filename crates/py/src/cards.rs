//! The cards of everything that exists, as JSON.

use crate::error::bad_catalog;
use base::{Card, Entry, Need, Param};
use law::LawSpec;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

const KINDS: [&str; 5] = ["laws", "slow-starts", "recoveries", "queues", "traffic"];

fn entry(card: &Card, rows: &[Param], spellings: &[(&'static str, &'static str)], needs: (&[Need], &str)) -> Value {
    let spellings: Map<String, Value> = spellings.iter().map(|&(other, name)| (other.into(), name.into())).collect();
    json!({
        "name": card.name,
        "title": card.title,
        "source": card.source,
        "parameters": rows,
        "aliases": card.aliases,
        "differs": card.differs,
        "spellings": spellings,
        "needs": needs.0,
        "without": needs.1,
    })
}

fn registered(entries: &[Entry]) -> Vec<Value> {
    entries.iter().map(|e| entry(&e.card, &(e.rows)(), e.spellings, (e.needs, e.without))).collect()
}

/// Cards of the laws, with data for models: whether growth remembers, and the source of the response function.
fn laws() -> Vec<Value> {
    let card = |(entry, mut card): (&Entry, Value)| {
        let (remembers, response) = LawSpec::named(entry.card.name).map_or((true, None), |law| law.response());
        (card["remembers"], card["response"]) = (json!(remembers), json!(response));
        card
    };
    law::LAWS.iter().zip(registered(law::LAWS)).map(card).collect()
}

/// Parameters that another implementation has for a discipline, each with its source.
fn profile(profile: &queue::Profile) -> Value {
    let settings: Vec<Value> = profile
        .settings
        .iter()
        .map(|setting| json!({ "name": setting.name, "default": setting.value, "source": setting.source }))
        .collect();
    let (name, discipline, version) = (profile.name, profile.discipline, profile.version);
    json!({ "name": name, "discipline": discipline, "version": version, "differs": profile.differs, "settings": settings })
}

/// The catalogue of a kind (laws, slow-starts, recoveries, queues, traffic), or the profiles of queues, as JSON.
#[pyfunction]
pub fn catalog(kind: &str) -> PyResult<String> {
    let entries: Vec<Value> = match kind {
        "laws" => laws(),
        "slow-starts" => registered(law::STARTS),
        "queues" => registered(queue::QUEUES),
        "traffic" => registered(traffic::TRAFFIC),
        "queue-profiles" => queue::PROFILES.iter().map(profile).collect(),
        "recoveries" => transport::Recovery::ALL
            .iter()
            .map(|&(recovery, name, title, source)| {
                let differs = recovery.differs();
                entry(&Card { name, aliases: &[], title, source, differs }, &[], &[], (&[], ""))
            })
            .collect(),
        _ => return Err(bad_catalog(kind, &KINDS)),
    };
    Ok(Value::Array(entries).to_string())
}

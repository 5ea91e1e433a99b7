//! The canonical form: JSON with every default filled in, integers in base units with the unit in the key, and sorted keys.
//! The same scenario gives the same bytes however its file is written; these bytes are hashed, stored and shown.
//!
//! Places are named as in the file (`flows[0].control.law`), so that both forms share their messages.

use crate::names::Names;
use crate::node::Node;
use crate::{Scenario, ScenarioError, check, table};
use serde_json::Value as Json;

impl Scenario {
    /// The canonical form.
    #[must_use]
    pub fn canonical(&self) -> String {
        let names = Names::default();
        names.pools.get_or_init(|| self.pools.iter().map(|pool| (pool.name.clone(), 1)).collect());
        names.links.get_or_init(|| self.links.iter().map(|link| (link.name.clone(), link.count)).collect());
        names.groups.get_or_init(|| self.groups.iter().map(|group| (group.name.clone(), group.count)).collect());
        let mut json = table::write(self, &names);
        // Already sorted, unless a dependency enables serde_json's feature that keeps the order of insertion.
        json.sort_all_objects();
        json.to_string()
    }

    /// Identifier of the result: BLAKE3 of the engine's version, the seed and the canonical form, in hexadecimal.
    #[must_use]
    pub fn id(&self) -> String {
        let named = format!("elephan/{}/{}/{}", env!("CARGO_PKG_VERSION"), self.seed, self.canonical());
        blake3::hash(named.as_bytes()).to_hex().to_string()
    }
}

/// Reads a canonical form.
///
/// # Errors
/// If `json` is not a canonical form, or is a scenario that no file could describe.
pub fn from_canonical(json: &str) -> Result<Scenario, ScenarioError> {
    let value: Json = serde_json::from_str(json).map_err(|error| {
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or_default();
        ScenarioError::syntax((error.line().max(1), error.column().max(1)), reason)
    })?;
    let scenario = table::restore(&Node { value: &value, place: String::new(), names: &Names::default() })?;
    check::check(&scenario)?;
    Ok(scenario)
}

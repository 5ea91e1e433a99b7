//! The canonical form: JSON with every default filled, base integers with their unit in the key, keys sorted. The same
//! scenario gives the same bytes, whatever its file looked like; those bytes are what is hashed, stored and shown.
//!
//! Places follow the file (`flows[0].control.law`), so that one set of messages serves both.

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
        // Sorted already unless somebody in the build asks serde_json to keep the order of insertion.
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

/// Reads a canonical form back.
///
/// # Errors
/// If `json` is not a canonical form, or holds a scenario that no file could have given.
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

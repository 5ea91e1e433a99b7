//! The law with the profile `tcp = "linux"`: what a Linux host runs for a given law name, and by default.
//!
//! Source: Linux 6.12: `net/ipv4/Kconfig` (`DEFAULT_TCP_CONG`: cubic), `tcp_cubic.c`, `tcp_bbr.c` (version 1). Other keys
//! in the file are kept.
//! says beside the name is kept.

use crate::node::Node;
use crate::table::KeyType;
use crate::{Control, ScenarioError};
use base::Key;
use law::LawSpec;
use serde_json::{Value as Json, json};

/// The law that a host uses without further settings.
const DEFAULT: &str = "cubic";

/// The name in Linux, the name of the version that it means there, and the name of version 3.
const BBR: [&str; 3] = ["bbr", "bbr1", "bbr3"];

/// Reads the control at `node`; the file has `written` there.
pub(crate) fn control(node: &Node, written: Option<&Json>, key: &Key) -> Result<Control, ScenarioError> {
    let meant = meant(written);
    let read = Control::read(&node.with(&meant), key);
    let named = written.map(|written| written.get("law").unwrap_or(written));
    if read.is_err()
        && named.and_then(Json::as_str) == Some(BBR[0])
        && let Some(written) = written
        && Control::read(&node.with(written), key).is_ok()
    {
        // The file has parameters of version 3.
        let [bbr, ships, other] = BBR;
        let reason =
            format!("{bbr:?} is version 1 under tcp = \"linux\" ({ships:?}), as Linux ships it; write {other:?}");
        return Err(node.at("law").wrong(format!("{reason} for version 3")));
    }
    read
}

/// The control with the same meaning outside of the profile.
fn meant(written: Option<&Json>) -> Json {
    let mut table = match written {
        None => json!({}),
        Some(Json::String(name)) => json!({ "law": name }),
        // A value that is not a law is refused later.
        Some(other) => other.clone(),
    };
    let Some(keys) = table.as_object_mut() else { return table };
    let law = keys.entry("law").or_insert_with(|| json!(DEFAULT));
    if law.as_str() == Some(BBR[0]) {
        *law = json!(BBR[1]);
    }
    if law.as_str().and_then(LawSpec::named).is_some_and(|law| matches!(law, LawSpec::Cubic(_))) {
        keys.entry("variant").or_insert_with(|| json!("linux"));
    }
    table
}

//! Conditions for a key, a parameter, a law or a discipline to have an effect. They are declared with it, appended to its
//! meaning, and checked by the lint rule `no-effect`.
//!
//! A declaration must be true for every scenario: if a condition is not met, the results must be the same to the bit.
//! Conditions that depend on how a run develops (such as a threshold that is never reached) must not be declared.

use serde::{Serialize, Serializer};
use std::fmt;

/// One condition. If there are several, all must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The key with this name, in the same table or the enclosing one, has this value.
    Is(&'static str, &'static str),
    /// The key with this name has a value other than this one.
    Not(&'static str, &'static str),
    /// The key with this name is automatic: `"auto"`, or not given.
    Open(&'static str),
    /// Condition of a link: at least one group sends data or ACKs over it.
    Crossed,
    /// Condition of a group: a link on its path may mark its packets.
    Marks,
    /// Condition of a link: packets cross it that may be marked.
    EctFlows,
    /// Condition of a link: packets from scalable senders (ECT(1)) cross it.
    L4sFlows,
    /// Condition of a group: a link on its path processes XCP headers.
    XcpRouter,
    /// Condition of a link: packets with XCP headers cross it.
    XcpFlows,
    /// Condition of a group: its law uses a slow start to open the window.
    SlowStart,
    /// Condition of a link: its pool shares by dynamic thresholds.
    DynamicPool,
    /// Condition of a group: its traffic is an application that writes to one connection at intervals.
    Writes,
}

impl Need {
    /// The kind, and the name and value in the condition (empty if there is none).
    #[must_use]
    pub fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Is(name, value) => ("is", name, value),
            Self::Not(name, value) => ("not", name, value),
            Self::Open(name) => ("open", name, ""),
            Self::Crossed => ("crossed", "", ""),
            Self::Marks => ("marks", "", ""),
            Self::EctFlows => ("ect-flows", "", ""),
            Self::L4sFlows => ("l4s-flows", "", ""),
            Self::XcpRouter => ("xcp-router", "", ""),
            Self::XcpFlows => ("xcp-flows", "", ""),
            Self::SlowStart => ("slow-start", "", ""),
            Self::DynamicPool => ("dynamic-pool", "", ""),
            Self::Writes => ("writes", "", ""),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(name, value) => write!(f, "{name} = {value}"),
            Self::Not(name, value) => write!(f, "{name} other than {value}"),
            Self::Open(name) => write!(f, "{name} = auto"),
            Self::Crossed => f.write_str("a group that has it on its path or return"),
            Self::Marks => f.write_str("a queue on the path that marks"),
            Self::EctFlows => f.write_str("flows with tcp.ecn or a law of marks across the link"),
            Self::L4sFlows => f.write_str("flows with tcp.ecn = l4s or the law prague across the link"),
            Self::XcpRouter => f.write_str("a link on the path with the queue xcp"),
            Self::XcpFlows => f.write_str("flows under the law xcp across the link"),
            Self::SlowStart => f.write_str("a law that has a slow start"),
            Self::DynamicPool => f.write_str("a pool with sharing = dynamic"),
            Self::Writes => f.write_str("traffic that writes to one connection now and then"),
        }
    }
}

/// Kind, name and value for programs, and the text for people.
impl Serialize for Need {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, name, value) = self.parts();
        let text = self.to_string();
        [("kind", kind), ("name", name), ("value", value), ("text", &text)]
            .into_iter()
            .collect::<std::collections::BTreeMap<_, _>>()
            .serialize(serializer)
    }
}

/// Appends the conditions to `meaning`.
#[must_use]
pub fn with_needs(meaning: &str, needs: &[Need]) -> String {
    if needs.is_empty() {
        return meaning.into();
    }
    let all: Vec<String> = needs.iter().map(ToString::to_string).collect();
    format!("{meaning} Needs {}.", all.join(", and "))
}

/// Conditions in a declaration, after `needs`.
#[doc(hidden)]
#[macro_export]
macro_rules! needs {
    ($($kind:ident $(($($word:literal),+))?),*) => { &[$($crate::Need::$kind $(($($word),+))?),*] };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_it_needs_after_the_meaning() {
        let needs: &[Need] = crate::needs![Is("scheduler", "drr"), L4sFlows];
        assert_eq!(with_needs("What.", &[]), "What.");
        let said = "What. Needs scheduler = drr, and flows with tcp.ecn = l4s or the law prague across the link.";
        assert_eq!(with_needs("What.", needs), said);
    }
}

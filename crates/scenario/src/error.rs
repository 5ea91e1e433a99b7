//! What is wrong with a scenario, in one line that names the place first.

use base::ParamError;
use base::text::TextError;

/// Why a scenario is refused. Every message is one line: the place, then what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The text is not TOML (or, for a canonical form, not JSON of the right shape).
    #[error("line {line}, column {column}: {reason}")]
    Syntax {
        /// Counted from one.
        line: usize,
        /// Characters, counted from one.
        column: usize,
        /// What the parser expected.
        reason: String,
    },
    /// A key that means nothing here.
    #[error("{place}: unknown key; {hint}")]
    UnknownKey {
        /// The key with the tables around it.
        place: String,
        /// The nearest known key, or all of them.
        hint: String,
    },
    /// A key without which the scenario is not determined.
    #[error("{place}: missing; {hint}")]
    Missing {
        /// Where it should stand.
        place: String,
        /// What to write there.
        hint: &'static str,
    },
    /// A text that is not the quantity it should be.
    #[error("{place}: {source}")]
    Quantity {
        /// The key with the tables around it.
        place: String,
        /// What would be right.
        source: TextError,
    },
    /// A parameter that its law, slow start or queue cannot use.
    #[error("{place}.{source}")]
    Parameter {
        /// The table of the law, slow start or queue.
        place: String,
        /// The parameter, and what would be right.
        source: ParamError,
    },
    /// Anything else.
    #[error("{place}: {reason}")]
    Wrong {
        /// The key with the tables around it.
        place: String,
        /// What is wrong or would be right.
        reason: String,
    },
}

impl ScenarioError {
    pub(crate) fn wrong(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Wrong { place: place.into(), reason: reason.into() }
    }
}

/// Whether `c` would break a line, or worse, where it is shown.
pub(crate) fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// `text` as part of a one-line message: line breaks and other control characters become spaces.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if breaks_line(c) { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Line and column, both from one, of the byte at `offset`.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (line, before[start..].chars().count() + 1)
}

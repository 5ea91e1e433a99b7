//! An error in a scenario: one line that begins with the place.

use base::ParamError;

/// Reason why a scenario is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
#[non_exhaustive]
pub struct ScenarioError {
    /// The key with its enclosing tables; line and column if a text is not valid TOML or JSON.
    pub place: String,
    /// Description of the error, or of a correct value.
    pub reason: String,
}

impl ScenarioError {
    pub(crate) fn wrong(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }

    pub(crate) fn syntax((line, column): (usize, usize), reason: &str) -> Self {
        Self::wrong(format!("line {line}, column {column}"), one_line(reason))
    }

    /// Error in a parameter that a law, slow start, queue or traffic cannot use; `place` is the table of the parameter.
    pub(crate) fn parameter(place: impl Into<String>) -> impl FnOnce(ParamError) -> Self {
        let place = place.into();
        move |error| {
            let entry = error.entry.map(|i| format!("[{i}]")).unwrap_or_default();
            Self::wrong(format!("{place}.{}{entry}", error.field), error.reason)
        }
    }
}

/// Whether `c` would break a line, or cause worse effects, where it is shown.
pub(crate) fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// `text` as part of a one-line message: line breaks and other control characters become spaces.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if breaks_line(c) { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Line and column, both counted from 1, of the byte at `offset`.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let last = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, last.chars().count() + 1)
}

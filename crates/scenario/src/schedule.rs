//! Common part of lists of steps, for the rate or the delay of a link.

use crate::node::Node;
use crate::types::within;
use crate::{ScenarioError, limits};
use base::keys::Range;
use base::{Key, Span};
use serde_json::{Value as Json, json};
use std::ops::RangeInclusive;

/// Range of the periods of waves and steps, and of mean times: with shorter ones a rate has no meaning.
pub(crate) const PERIOD: RangeInclusive<Span> = Span::millis(1)..=*limits::INSTANT.end();
/// Largest number of steps in a list.
const MOST_STEPS: usize = 100_000;

/// Entry `i` of the list at `node`.
pub(crate) fn entry<'a>(node: &Node<'a>, i: usize) -> Node<'a> {
    Node { value: node.value, place: format!("{}[{i}]", node.place), names: node.names }
}

/// Checks that the times of a list are in order, that the first is 0, and that all lie before the end of the period, if
/// there is one.
pub(crate) fn check_times<T>(steps: &[(Span, T)], period: Option<Span>, node: &Node) -> Result<(), ScenarioError> {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return Err(node.wrong("must not be empty"));
    };
    if steps.len() > MOST_STEPS {
        return Err(node.wrong(format!("must be at most {MOST_STEPS} steps, not {}", steps.len())));
    }
    if first.0 > Span::ZERO {
        return Err(entry(node, 0).wrong("must begin at \"0 s\""));
    }
    for (i, pair) in steps.windows(2).enumerate() {
        if pair[1].0 <= pair[0].0 {
            return Err(entry(node, i + 1).wrong("must begin later than the step in front of it"));
        }
    }
    let key = Key { range: Some(Range::Time(limits::INSTANT)), ..Key::default() };
    for (i, step) in steps.iter().enumerate() {
        within(&entry(node, i), step.0, &key)?;
    }
    if period.is_some_and(|period| period <= last.0) {
        return Err(node.wrong("must all begin before the end of the period"));
    }
    Ok(())
}

/// States in the schema of a table that it holds exactly one form, and that only steps (in the file or in another file)
/// have a period.
pub(crate) fn periodic(table: &mut Json) {
    let with_period = |key: &str| json!({ "required": [key, "period"], "maxProperties": 2 });
    let alone = json!({ "maxProperties": 1, "not": { "required": ["period"] } });
    table["minProperties"] = json!(1);
    table["anyOf"] = json!([alone, with_period("steps"), with_period("trace")]);
}

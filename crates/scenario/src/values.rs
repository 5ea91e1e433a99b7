//! Forms of quantities that may differ among the flows of a group or the links of an array.

use crate::ScenarioError;
use crate::forms::Forms;
use crate::names::Names;
use crate::node::Node;
use crate::table::{Defs, KeyType};
use crate::types::{quantity, within};
use base::{Key, Quantity, Values};
use serde_json::{Value as Json, json};

base::keys! {
    /// Values: { from, to } or { uniform }.
    pub struct ValuesTable<T> {
        /// Value of the first flow.
        from: Option<T> = None;
        /// Value of the last flow.
        to: Option<T> = None;
        /// Both ends of uniform draws.
        uniform: Option<(T, T)> = None;
    }
}

/// The two ends of a range.
impl<T: Quantity + KeyType> KeyType for (T, T) {
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        let [first, second] = T::EXAMPLES;
        let form = format!("a list of two {}s such as [{first:?}, {second:?}]", <T as Quantity>::word());
        match node.list(&form)?.as_slice() {
            [from, to] => Ok((quantity(from, key, first)?, quantity(to, key, second)?)),
            _ => Err(node.wrong(format!("must be {form}"))),
        }
    }
    fn hint(key: &Key) -> String {
        format!("write for example {} = {:?}", key.name, T::EXAMPLES)
    }
    fn write(&self, names: &Names) -> Json {
        json!([self.0.write(names), self.1.write(names)])
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        let (from, to) = node.derived()?;
        within(node, from, key).and(within(node, to, key)).and(Ok((from, to)))
    }
    fn schema(key: &Key, defs: &mut Defs) -> Json {
        json!({ "type": "array", "items": T::schema(key, defs), "minItems": 2, "maxItems": 2 })
    }
}

impl<T: Quantity + KeyType> Forms for Values<T> {
    type Unit = T;
    type Table = ValuesTable<T>;
    const NAMES: [&'static str; 2] = ["{}Values", "{}ValuesTable"];
    const EXAMPLE: &'static str = T::EXAMPLES[0];
    const MEANINGS: [&'static str; 4] = [
        "The same for all.",
        "One each, or drawn.",
        "Equally spaced, or drawn.",
        "One value; { from, to } equally spaced; { uniform = [from, to] } drawn; a list: one each if as many as flows, else drawn.",
    ];
    fn right(_example: &str) -> String {
        let [first, second] = T::EXAMPLES;
        format!("{first:?}, {{ from, to }}, {{ uniform = [{first:?}, {second:?}] }} or a list")
    }
    fn one(x: T) -> Self {
        Self::Same(x)
    }
    fn list(list: Vec<T>) -> Option<Self> {
        Some(Self::List(list))
    }
    fn table(table: ValuesTable<T>, _node: &Node) -> Result<Self, Option<ScenarioError>> {
        match table {
            ValuesTable { from: Some(from), to: Some(to), uniform: None } => Ok(Self::Spread(from, to)),
            ValuesTable { from: None, to: None, uniform: Some((from, to)) } => Ok(Self::Uniform(from, to)),
            _ => Err(None),
        }
    }
    /// Checks that the ends are in order, too.
    fn checked(self, node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        match &self {
            Self::Spread(from, to) | Self::Uniform(from, to) if from > to => {
                return Err(node.wrong(format!("the first {} must not be above the second", <T as Quantity>::word())));
            }
            Self::List(list) if list.is_empty() => return Err(node.wrong("must not be empty")),
            _ => {}
        }
        within(node, self.min(), key).and(within(node, self.max(), key)).and(Ok(self))
    }
}

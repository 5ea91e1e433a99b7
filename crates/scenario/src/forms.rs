//! Keys that take one quantity, a list of quantities, or a table: how each form is read, and the schema of all forms.

use crate::ScenarioError;
use crate::names::Names;
use crate::node::Node;
use crate::table::{self, Defs, KeyType, Table, example};
use crate::types::quantity;
use base::{Key, Quantity};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

/// A type with such forms.
pub(crate) trait Forms: Serialize + DeserializeOwned {
    /// Quantity of the values.
    type Unit: Quantity + KeyType;
    /// The table.
    type Table: Table;
    /// Names of the type and its table in the schema.
    const NAMES: [&'static str; 2];
    /// Descriptions of one quantity, of a list (empty if lists are not allowed), of a table, and of all forms together.
    const MEANINGS: [&'static str; 4];
    /// A valid quantity for messages, if the key gives none.
    const EXAMPLE: &'static str;
    /// A word that is allowed in place of a quantity; empty for none.
    const WORD: &'static str = "";
    /// See [`KeyType::SUFFIX`].
    const SUFFIX: &'static str = <Self::Unit as KeyType>::SUFFIX;

    /// Description of the allowed forms, for messages.
    fn right(example: &str) -> String;
    /// Value of the word.
    fn word() -> Option<Self> {
        None
    }
    /// The form of one quantity.
    fn one(x: Self::Unit) -> Self;
    /// The form of a list of quantities; `None` if lists are not allowed.
    fn list(_list: Vec<Self::Unit>) -> Option<Self> {
        None
    }
    /// The form of a table. The error describes what is wrong; `None` means that the table is not one of the forms.
    fn table(table: Self::Table, node: &Node) -> Result<Self, Option<ScenarioError>>;
    /// Returns the value if it is within the range of the key.
    fn checked(self, _node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        Ok(self)
    }
    /// The canonical form.
    fn canonical(&self) -> Json {
        json!(self)
    }
    /// Reads the canonical form.
    fn of_canonical(node: &Node) -> Result<Self, ScenarioError> {
        node.derived()
    }
    /// See [`KeyType::shown`].
    fn default_shown(&self, _key: &Key) -> String {
        String::new()
    }
}

impl<T: Forms> KeyType for T {
    const EXAMPLE: &'static str = <T as Forms>::EXAMPLE;
    const SUFFIX: &'static str = <T as Forms>::SUFFIX;
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        let example = example::<Self>(key);
        // The whole value is checked afterwards, so parts are read without a range.
        let part = Key { range: None, word: "", ..key.clone() };
        let wrong = || node.wrong(format!("must be {}", T::right(example)));
        let read = match node.value {
            Json::Array(_) if !T::MEANINGS[1].is_empty() => {
                let item = |item: &Node| quantity(item, &part, T::Unit::EXAMPLES[0]);
                let list: Vec<_> = node.list("a list")?.iter().map(item).collect::<Result<_, _>>()?;
                if list.is_empty() {
                    return Err(node.wrong("must not be empty"));
                }
                T::list(list).ok_or_else(wrong)?
            }
            Json::Object(_) => {
                let table = table::read(node, &T::right(example))?;
                T::table(table, node).map_err(|error| error.unwrap_or_else(wrong))?
            }
            _ => match T::word() {
                Some(meant) if node.as_text() == Some(T::WORD) => meant,
                _ => T::one(quantity(node, &part, example)?),
            },
        };
        read.checked(node, key)
    }
    fn write(&self, _names: &Names) -> Json {
        self.canonical()
    }
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        T::of_canonical(node)?.checked(node, key)
    }
    fn shown(&self, key: &Key) -> String {
        self.default_shown(key)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let [name, table] = T::NAMES.map(|name| name.replace("{}", T::Unit::NAME));
        let described = |mut schema: Json, meaning: &str| {
            schema["description"] = json!(meaning);
            schema
        };
        defs.refer(&name, |defs| {
            let [one, list, of_table, whole] = T::MEANINGS;
            let item = T::Unit::schema(&Key::default(), defs);
            let mut forms = vec![described(T::Unit::schema(&Key { word: T::WORD, ..Key::default() }, defs), one)];
            if !list.is_empty() {
                forms.push(described(json!({ "type": "array", "items": item }), list));
            }
            forms.push(described(defs.table::<T::Table>(&table), of_table));
            json!({ "description": whole, "anyOf": forms })
        })
    }
}

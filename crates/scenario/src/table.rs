//! Interface of the types of keys in files, in canonical forms and in the schema, and the readers and writers that apply it
//! to all keys of a table ([`base::keys!`]).

use crate::ScenarioError;
use crate::names::Names;
use crate::node::{Node, parse};
use base::Key;
use base::keys::{About, KeyReader, ReadKey, ReadTable, VisitKey, VisitTable};
use base::need::with_needs;
use serde_json::{Map, Value as Json, json};

/// A type of key values.
pub(crate) trait KeyType: Sized {
    /// A valid value for messages, if the key gives none.
    const EXAMPLE: &'static str = "";
    /// Suffix of the key in the canonical form: the unit of its integers.
    const SUFFIX: &'static str = "";
    /// Whether a key without a default is required in a file.
    const REQUIRED: bool = true;
    /// Messages for a value that is not a list, and for a list with too few elements.
    const LIST: [&'static str; 2] = ["a list", "must not be empty"];

    /// Reads the value of `key`.
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError>;

    /// Writes the canonical form.
    fn write(&self, names: &Names) -> Json;

    /// Reads the canonical form; by default it is the same as in a file.
    fn restore(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        Self::read(node, key)
    }

    /// JSON Schema of the value of `key`, without description.
    fn schema(key: &Key, defs: &mut Defs) -> Json;

    /// The value as written in a file, if it can be a default; empty if it can only be described in words.
    fn shown(&self, _key: &Key) -> String {
        let form = self.write(&Names::default());
        if form.is_object() || form.is_null() { String::new() } else { form.to_string() }
    }

    /// Finds the key's value in a table: by default the value at the key, or the default, or an error that says what to
    /// write.
    fn find(table: &Node, key: &Key, default: Option<Self>) -> Result<Self, ScenarioError> {
        match (table.get(key.name), default) {
            (Some(node), _) => Self::read(&node, key),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(table.at(key.name).missing(&Self::hint(key))),
        }
    }

    /// Hint for a missing key.
    fn hint(key: &Key) -> String {
        format!("write for example {} = {:?}", key.name, example::<Self>(key))
    }

    /// Checks a whole list of values before the rest of the file is read.
    fn listed(_list: &[Self], _names: &Names) -> Result<(), ScenarioError> {
        Ok(())
    }
}

/// A valid value of `key`.
pub(crate) fn example<T: KeyType>(key: &Key) -> &'static str {
    if key.example.is_empty() { T::EXAMPLE } else { key.example }
}

/// Reads the keys of a table in a file or in a canonical form.
pub(crate) struct Reader<'a> {
    table: &'a Node<'a>,
    canonical: bool,
}

impl KeyReader for Reader<'_> {
    type Error = ScenarioError;
}

impl<T: KeyType> ReadKey<T> for Reader<'_> {
    fn read_key(&mut self, key: &Key, default: Option<T>) -> Result<T, ScenarioError> {
        if !self.canonical {
            return T::find(self.table, key, default);
        }
        let name = format!("{}{}", key.name, T::SUFFIX);
        match (self.table.get(&name), default) {
            (Some(node), _) => T::restore(&node, key),
            (None, Some(default)) if !key.since.is_empty() => Ok(default),
            (None, _) => Err(self.table.at(&name).missing("canonical forms have it")),
        }
    }
}

/// The keys of a table in files and in canonical forms, and the canonical form of those with a value.
pub(crate) struct Keys<'n> {
    all: Vec<(&'static str, String)>,
    written: Map<String, Json>,
    names: &'n Names,
}

impl<T: KeyType + PartialEq> VisitKey<T> for Keys<'_> {
    fn visit_key(&mut self, key: &Key, value: Option<&T>, default: Option<T>) {
        let name = format!("{}{}", key.name, T::SUFFIX);
        self.all.push((key.name, name.clone()));
        if let Some(value) = value.filter(|value| key.since.is_empty() || default.as_ref() != Some(*value)) {
            self.written.insert(name, value.write(self.names));
        }
    }
}

/// A table of keys.
pub(crate) trait Table:
    for<'a> ReadTable<Reader<'a>> + for<'n> VisitTable<Keys<'n>> + for<'d> VisitTable<SchemaTable<'d>> + About
{
}

impl<T> Table for T where
    T: for<'a> ReadTable<Reader<'a>> + for<'n> VisitTable<Keys<'n>> + for<'d> VisitTable<SchemaTable<'d>> + About
{
}

/// The keys of a table type `T`, and the canonical form of `table` if it is given.
fn keys<'n, T: Table>(table: Option<&T>, names: &'n Names) -> Keys<'n> {
    let mut keys = Keys { all: Vec::new(), written: Map::new(), names };
    T::visit_table(table, &mut keys);
    keys
}

/// Names of a table's keys in files, each with its name in canonical forms.
pub(crate) fn canonical_names<T: Table>(names: &Names) -> Vec<(&'static str, String)> {
    keys::<T>(None, names).all
}

/// The schemas that other schemas refer to.
#[derive(Default)]
pub(crate) struct Defs(pub Map<String, Json>);

impl Defs {
    /// A reference to the schema called `name`; `make` is called for the first reference.
    pub fn refer(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.0.contains_key(name) {
            // Inserted first, because the schema may refer to itself.
            self.0.insert(name.into(), Json::Null);
            let made = make(self);
            self.0.insert(name.into(), made);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// A reference to the schema of a table.
    pub fn table<T: Table>(&mut self, name: &str) -> Json {
        self.refer(name, described::<T>)
    }
}

pub(crate) fn described<T: Table>(defs: &mut Defs) -> Json {
    let mut table = SchemaTable { properties: Map::new(), required: Vec::new(), defs };
    T::visit_table(None, &mut table);
    let mut schema = json!({ "description": T::ABOUT, "type": "object", "properties": table.properties });
    schema["additionalProperties"] = json!(false);
    if !table.required.is_empty() {
        schema["required"] = json!(table.required);
    }
    schema
}

/// The keys of one table.
pub(crate) struct SchemaTable<'d> {
    properties: Map<String, Json>,
    required: Vec<&'static str>,
    defs: &'d mut Defs,
}

impl<T: KeyType> VisitKey<T> for SchemaTable<'_> {
    fn visit_key(&mut self, key: &Key, _value: Option<&T>, default: Option<T>) {
        let mut schema = T::schema(key, self.defs);
        let shown = default.as_ref().map_or_else(String::new, |default| default.shown(key));
        let said = shown.is_empty() || key.meaning.contains("Default: ");
        let meaning = if said { key.meaning.to_owned() } else { format!("{} Default: {shown}.", key.meaning) };
        schema["description"] = json!(with_needs(&meaning, key.needs));
        if !key.needs.is_empty() {
            // For the lint rule that is derived from it.
            schema["needs"] = json!(key.needs);
        }
        self.properties.insert(key.name.into(), schema);
        if default.is_none() && T::REQUIRED {
            self.required.push(key.name);
        }
    }
}

/// Reads the table at `node`; `form` describes a valid value for messages.
pub(crate) fn read<T: Table>(node: &Node, form: &str) -> Result<T, ScenarioError> {
    let known: Vec<_> = keys::<T>(None, node.names).all.into_iter().map(|key| key.0).collect();
    node.table(&known, form)?;
    T::read_table(&mut Reader { table: node, canonical: false })
}

/// Reads `text` as the value of `key` in a file.
pub(crate) fn read_alone<T: KeyType>(key: &'static str, text: &str) -> Result<T, ScenarioError> {
    let (tree, names) = (parse(&format!("{key} = {text}"))?, Names::default());
    let file = Node { value: &tree, place: String::new(), names: &names };
    file.table(&[key], "a table")?;
    T::find(&file, &Key { name: key, ..Key::default() }, None)
}

/// Writes a table of a canonical form.
pub(crate) fn write<T: Table>(table: &T, names: &Names) -> Json {
    keys(Some(table), names).written.into()
}

/// Reads a table of a canonical form.
pub(crate) fn restore<T: Table>(node: &Node) -> Result<T, ScenarioError> {
    let keys = keys::<T>(None, node.names).all;
    node.table(&keys.iter().map(|key| key.1.as_str()).collect::<Vec<_>>(), "a table")?;
    T::read_table(&mut Reader { table: node, canonical: true })
}

/// Makes tables types of keys: `Table = "name in the schema", "description of valid values";`, or with their own `read`.
macro_rules! table_types {
    ($($table:ty = $name:literal $(, $form:literal)? $({ $($own:item)* })?;)+) => {
        $(impl $crate::table::KeyType for $table {
            $(fn read(node: &$crate::node::Node, _key: &base::Key) -> Result<Self, $crate::ScenarioError> {
                $crate::table::read(node, $form)
            })?
            fn write(&self, names: &$crate::names::Names) -> serde_json::Value {
                $crate::table::write(self, names)
            }
            fn restore(node: &$crate::node::Node, _key: &base::Key) -> Result<Self, $crate::ScenarioError> {
                $crate::table::restore(node)
            }
            fn schema(_key: &base::Key, defs: &mut $crate::table::Defs) -> serde_json::Value {
                defs.table::<Self>($name)
            }
            $($($own)*)?
        })+
    };
}
pub(crate) use table_types;

//! A user-defined law: its name, the hash of its source, and its parameters. The program that runs the scenario must
//! provide the law.
//!
//! The reader expects `{ law = "mine", source = "<hash>", … }`. A user writes `control = "mine"`, and the front end that
//! knows the law adds `source`.

use crate::ScenarioError;
use crate::node::Node;
use law::LawSpec;
use serde_json::{Map, Value as Json, json};

/// The key of the hash.
pub(crate) const SOURCE: &str = "source";

/// Number of hexadecimal digits of a hash.
const DIGITS: usize = 64;

/// Keys of the table that are not parameters of the law.
const KEYS: [&str; 3] = ["law", SOURCE, "slow_start"];

/// See the [module](self).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OwnLaw {
    /// Its name.
    pub name: String,
    /// Hash of its source.
    pub source: String,
    /// Its parameters, each a number, a text, or true or false.
    pub parameters: Map<String, Json>,
}

impl OwnLaw {
    /// Reads the law at `node`, if it is user-defined.
    pub(crate) fn read(node: &Node) -> Result<Option<Self>, ScenarioError> {
        let Some(source) = node.get(SOURCE) else { return Ok(None) };
        let law = node.get("law").ok_or_else(|| node.at("law").missing("law = \"mine\""))?;
        let name = law.text("mine")?;
        if LawSpec::named(name).is_some() {
            return Err(law.wrong(format!(
                "{name:?} is one of elephan's own laws; leave the source out, or name yours otherwise"
            )));
        }
        let hash = source.text("the hash of a law's source")?;
        if hash.len() != DIGITS || !hash.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(source.wrong(format!(
                "must be a hash of {DIGITS} hexadecimal digits; it is filled in where the law is known"
            )));
        }
        if let Some(start) = node.get("slow_start") {
            return Err(start.wrong(format!("{name} opens its window itself; leave this key out")));
        }
        let all = node.value.as_object().into_iter().flatten();
        let own = all.filter(|(key, _)| !KEYS.contains(&key.as_str()));
        for (key, value) in own.clone() {
            if !matches!(value, Json::Bool(_) | Json::Number(_) | Json::String(_)) {
                return Err(node.at(key).wrong("must be a number, a text, true or false"));
            }
        }
        let parameters = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        Ok(Some(Self { name: name.to_owned(), source: hash.to_owned(), parameters }))
    }

    pub(crate) fn write(&self) -> Json {
        let mut table = Map::from_iter([("law".to_owned(), json!(self.name)), (SOURCE.to_owned(), json!(self.source))]);
        table.extend(self.parameters.clone());
        table.into()
    }

    /// Schema of a user-defined law, which a file may have instead of a built-in law.
    pub(crate) fn schema() -> Json {
        json!({
            "type": "object",
            "description": "A law of one's own, which whoever runs the scenario declares.",
            "properties": {
                "law": { "type": "string", "description": "Its name." },
                SOURCE: {
                    "type": "string",
                    "pattern": format!("^[0-9a-f]{{{DIGITS}}}$"),
                    "description": "What its source hashes to: filled in where the law is declared.",
                },
            },
            "required": ["law", SOURCE],
            "additionalProperties": { "type": ["number", "string", "boolean"] },
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{from_canonical, read};

    const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn with(control: &str) -> String {
        format!(
            "duration = \"1 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\n[[flows]]\npath = [\"l\"]\n\
             rtt = \"20 ms\"\ncontrol = {control}\n"
        )
    }

    #[test]
    fn a_law_of_ones_own_is_named_by_its_source_and_keeps_its_parameters() {
        let text = with(&format!("{{ law = \"mine\", source = {HASH:?}, gain = 2, name = \"x\", quick = true }}"));
        let scenario = read(&text).unwrap();
        let own = scenario.groups[0].control.own.as_ref().unwrap();
        assert_eq!((own.name.as_str(), own.source.as_str(), own.parameters.len()), ("mine", HASH, 3));
        assert_eq!(from_canonical(&scenario.canonical()).unwrap(), scenario);
        // A different source or a different parameter makes a different run.
        for (from, to) in [("0123", "0124"), ("gain = 2", "gain = 3")] {
            assert_ne!(read(&text.replace(from, to)).unwrap().id(), scenario.id());
        }
        assert!(!read(&with("\"reno\"")).unwrap().canonical().contains("source"));
    }

    #[test]
    fn what_is_wrong_with_it_is_said_in_one_line() {
        for (control, said) in [
            (
                "{ law = \"mine\", source = \"abc\" }",
                "flows[0].control.source: must be a hash of 64 hexadecimal digits",
            ),
            ("{ source = HASH }", "flows[0].control.law: missing"),
            ("{ law = \"reno\", source = HASH }", "flows[0].control.law: \"reno\" is one of elephan's own laws"),
            (
                "{ law = \"mine\", source = HASH, slow_start = \"classic\" }",
                "flows[0].control.slow_start: mine opens its window",
            ),
            ("{ law = \"mine\", source = HASH, a = [1] }", "flows[0].control.a: must be a number, a text"),
            ("\"mine\"", "flows[0].control: unknown law \"mine\""),
        ] {
            let error = read(&with(&control.replace("HASH", &format!("{HASH:?}")))).unwrap_err().to_string();
            assert!(error.starts_with(said) && error.lines().count() == 1, "{error}");
        }
    }
}

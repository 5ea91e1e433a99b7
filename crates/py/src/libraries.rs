//! Laws in shared libraries (`elephan-abi`): opened once in a process, and found again by what they hash to.

use crate::error::from_library;
use abi::{Fault, LibraryControl, LoadedLaw, Report};
use pyo3::prelude::*;
use sim::FlowSite;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The laws of libraries that are open, by the hash of library and law.
static OPEN: Mutex<Option<HashMap<String, LoadedLaw>>> = Mutex::new(None);

/// A law as Python sees it: its name, the hash, parameters with their defaults.
type Described = (String, String, Vec<(String, f64)>);

fn open_laws<T>(act: impl FnOnce(&mut HashMap<String, LoadedLaw>) -> T) -> T {
    act(OPEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Opens the library at `path`; returns its laws. The same bytes are opened once.
#[pyfunction]
pub fn law_library(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Described>> {
    py.detach(|| {
        let bytes = std::fs::read(&path).map_err(|error| format!("cannot be read: {error}"))?;
        let of_file = blake3::hash(&bytes).to_hex();
        let source = |law: &str| {
            let hash = blake3::Hasher::new().update(of_file.as_bytes()).update(b":").update(law.as_bytes()).finalize();
            hash.to_hex().to_string()
        };
        // While one thread opens it, others wait: it must not be loaded twice.
        open_laws(|known| {
            let here = |law: &LoadedLaw| (law.name.clone(), source(&law.name), law.parameters.clone());
            let mut found: Vec<Described> =
                known.iter().filter(|(hash, law)| **hash == source(&law.name)).map(|(_, law)| here(law)).collect();
            if found.is_empty() {
                for law in abi::open(&bytes)?.laws {
                    found.push(here(&law));
                    known.insert(source(&law.name), law);
                }
            }
            found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            Ok(found)
        })
    })
    .map_err(from_library)
}

/// The control of a flow under the law that hashes to `source`; `None` if no library that is open has it.
pub fn control<'a>(
    source: &str,
    flow: &FlowSite<'_>,
    parameters: &serde_json::Map<String, serde_json::Value>,
    report: Report<'a>,
) -> Option<LibraryControl<'a>> {
    let law = open_laws(|known| known.get(source).cloned())?;
    let given = |(name, default): &(String, f64)| match parameters.get(name) {
        None => *default,
        Some(value) => value.as_f64().unwrap_or_else(|| {
            report(Fault { method: "make", reason: format!("{name} is {value}; it must be a number") });
            *default
        }),
    };
    let numbers: Vec<f64> = law.parameters.iter().map(given).collect();
    Some(law.control(&flow.site(), &numbers, report))
}

//! Conversion of Rust's errors to Python's: one function per crate, and no message is written twice.

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::Path;

pyo3::import_exception!(elephan.errors, InputError);
pyo3::import_exception!(elephan.errors, ScenarioError);
pyo3::import_exception!(elephan.errors, UnitError);

/// A scenario that cannot be read.
pub fn from_scenario(error: scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A valid scenario that is too large for the engine.
pub fn from_build(error: sim::BuildError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A quantity that cannot be read.
pub fn from_text(error: base::text::TextError) -> PyErr {
    UnitError::new_err(error.to_string())
}

/// Converts the error of a law that the kernel refuses.
pub fn from_kernel(error: impl std::fmt::Display) -> PyErr {
    InputError::new_err(error.to_string())
}

/// A shared library that cannot be used.
pub fn from_library(error: String) -> PyErr {
    InputError::new_err(error)
}

/// A parameter that the kernel's numbers cannot hold.
pub fn from_params(error: base::ParamError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// Error for columns that do not form a table.
pub fn from_parquet(error: ::parquet::errors::ParquetError) -> PyErr {
    PyValueError::new_err(format!("parquet: {error}"))
}

/// Converts an error of the system, with its number and the path, to Python's form.
pub fn from_system(error: &std::io::Error, path: &Path) -> PyErr {
    let said = error.to_string();
    let reason = said.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((error.raw_os_error(), reason, path.as_os_str().to_owned()))
}

/// Error for a value that JSON cannot represent.
pub fn bad_value(value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("json: {} has no form", value.get_type()))
}

/// A number that is none, which JSON has no form for either.
pub fn bad_number(number: f64) -> PyErr {
    PyValueError::new_err(format!("json: {number} has no form"))
}

/// An engine that does not exist.
pub fn bad_engine(name: &str) -> PyErr {
    PyValueError::new_err(format!("engine: there is no {name:?}; use \"window\" or \"reference\""))
}

/// A catalogue that does not exist.
pub fn bad_catalog(kind: &str, kinds: &[&str]) -> PyErr {
    PyValueError::new_err(format!("list: there is no {kind:?}; use {}", kinds.join(", ")))
}

/// Arrivals of the wrong shape.
pub fn bad_arrivals(reason: &str) -> PyErr {
    PyValueError::new_err(format!("arrivals: {reason}"))
}

/// A port that no link has; `reason` names the argument.
pub fn bad_port(reason: &'static str) -> PyErr {
    PyValueError::new_err(reason)
}

/// A control that rules its window by itself.
pub fn no_window_law(name: &str) -> PyErr {
    InputError::new_err(format!("law: {name} rules its window by itself; it has no growth and no cut to ask for"))
}

/// Windows and times that do not belong together.
pub fn bad_lengths() -> PyErr {
    PyValueError::new_err("windows, rtts, bases: must be of one length")
}

/// Error for an array with more or fewer flows than there is room for.
pub fn bad_shape(has: usize, wants: usize) -> PyErr {
    PyValueError::new_err(format!("flows: {has} are driven, and there is room for {wants}"))
}

/// Events of the wrong shape.
pub fn bad_events(columns: usize) -> PyErr {
    PyValueError::new_err(format!("events: must have {columns} columns"))
}

/// A fault of a control that is a program.
pub fn wrong_control(reason: &str) -> PyErr {
    InputError::new_err(format!("flows[0].control: {reason}"))
}

/// A call that a sender cannot take; `reason` names the argument.
pub fn bad_sender(reason: &'static str) -> PyErr {
    PyValueError::new_err(reason)
}

//! The document of a run as text, the same as Python's `json` writes it, which takes a third of the time to keep a run.

use crate::error::{bad_number, bad_value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::fmt::Write;

/// A table as JSON with a line for each of its parts. Texts, numbers, booleans, `None`, lists, tuples and tables of these.
#[pyfunction]
pub fn json_lines<'py>(py: Python<'py>, parts: Bound<'py, PyDict>) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = String::with_capacity(8192);
    for (i, (name, part)) in parts.iter().enumerate() {
        out.push_str(if i == 0 { "{\n " } else { ",\n " });
        text(&mut out, name.extract()?);
        out.push_str(": ");
        value(&mut out, &part)?;
    }
    out.push_str("\n}\n");
    Ok(PyBytes::new(py, out.as_bytes()))
}

fn value(out: &mut String, given: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(number) = given.cast::<PyFloat>() {
        if !number.value().is_finite() {
            return Err(bad_number(number.value()));
        }
        // Where two shortest forms are equally near, Rust takes another one.
        out.push_str(number.repr()?.extract()?);
    } else if given.is_none() {
        out.push_str("null");
    } else if let Ok(table) = given.cast::<PyDict>() {
        out.push('{');
        for (i, (name, part)) in table.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ", " });
            text(out, name.extract()?);
            out.push_str(": ");
            value(out, &part)?;
        }
        out.push('}');
    } else if let Ok(said) = given.cast::<PyString>() {
        text(out, said.extract()?);
    } else if let Ok(flag) = given.cast::<PyBool>() {
        out.push_str(if flag.is_true() { "true" } else { "false" });
    } else if let Ok(number) = given.cast::<PyInt>() {
        match number.extract::<i64>() {
            Ok(small) => write!(out, "{small}").expect("a text takes all"),
            Err(_) => out.push_str(number.str()?.extract()?),
        }
    } else if let Ok(list) = given.cast::<PyList>() {
        row(out, list.iter())?;
    } else if let Ok(list) = given.cast::<PyTuple>() {
        row(out, list.iter())?;
    } else {
        return Err(bad_value(given));
    }
    Ok(())
}

fn row<'py>(out: &mut String, values: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
    out.push('[');
    for (i, part) in values.enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        value(out, &part)?;
    }
    out.push(']');
    Ok(())
}

/// Writes a string in quotes; characters beyond ASCII as UTF-16, in four hexadecimal digits.
fn text(out: &mut String, said: &str) {
    out.push('"');
    for letter in said.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").expect("a text takes all");
                }
            }
        }
    }
    out.push('"');
}

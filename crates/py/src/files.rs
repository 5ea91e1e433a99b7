//! The files of a run. A sweep writes some for each of its runs, and from Python each takes several calls of the system, at
//! every one of which another thread may take the interpreter for milliseconds.

use crate::error::from_system;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes a folder, which must not be there, and the files in it; the interpreter is not held meanwhile.
#[pyfunction]
pub fn write_folder(py: Python<'_>, folder: PathBuf, files: Vec<(String, PyBackedBytes)>) -> PyResult<()> {
    py.detach(|| {
        DirBuilder::new().create(&folder).map_err(|error| from_system(&error, &folder))?;
        files.iter().try_for_each(|(name, content)| write(&folder.join(name), content))
    })
}

fn write(path: &Path, content: &[u8]) -> PyResult<()> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    opened.and_then(|mut file| file.write_all(content)).map_err(|error| from_system(&error, path))
}

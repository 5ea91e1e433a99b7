//! The laws in the running kernel. Built without the feature `kernel` all of this says so.

use crate::error::{from_kernel, from_params, from_scenario};
use bpf::Params;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(not(feature = "kernel"))]
use absent as loader;
#[cfg(feature = "kernel")]
use bpf::loader;

/// A law and the parameters of all, with those that `control` gives it.
fn read(control: &str) -> PyResult<(String, Params)> {
    let (law, _) = scenario::read_control(control).map_err(from_scenario)?;
    let mut params = Params::default();
    params.set(&law).map_err(from_params)?;
    Ok((law.card().name.into(), params))
}

/// Whether this was built to load laws.
#[pyfunction]
pub fn kernel_built() -> bool {
    cfg!(feature = "kernel")
}

/// Raises what keeps this machine from loading laws.
#[pyfunction]
pub fn kernel_check() -> PyResult<()> {
    loader::check().map_err(from_kernel)
}

/// Puts the law of `control` (as a scenario says it) into the kernel until it is taken out; returns its name there.
#[pyfunction]
pub fn kernel_load(py: Python<'_>, control: &str) -> PyResult<()> {
    let (name, params) = read(control)?;
    py.detach(|| loader::keep(&name, &params)).map_err(from_kernel)
}

/// Takes a law out.
#[pyfunction]
pub fn kernel_unload(py: Python<'_>, name: &str) -> PyResult<()> {
    py.detach(|| loader::take_out(name)).map_err(from_kernel)
}

/// The laws: name in scenarios, name in the kernel, whether sockets can choose it, whether it is kept.
#[pyfunction]
pub fn kernel_laws() -> PyResult<Vec<(&'static str, &'static str, bool, bool)>> {
    let list = loader::list().map_err(from_kernel)?;
    Ok(list.into_iter().map(|law| (law.name, law.called, law.offered, law.kept)).collect())
}

/// What the sockets of a kept law have done.
#[pyfunction]
pub fn kernel_counters<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    as_dict(py, loader::show(name).map_err(from_kernel)?)
}

fn as_dict(py: Python<'_>, counters: loader::Counters) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("connections", counters.connections)?;
    dict.set_item("losses", counters.losses)?;
    dict.set_item("timeouts", counters.timeouts)?;
    dict.set_item("tests", counters.tests)?;
    dict.set_item("rising", counters.rising)?;
    dict.set_item("strays", counters.strays)?;
    Ok(dict)
}

/// A law in the kernel as long as this lives, and no longer than this process.
#[pyclass(unsendable)]
pub struct HeldLaw(Option<loader::Held>);

#[pymethods]
impl HeldLaw {
    /// Of the law of `control`.
    #[new]
    fn new(control: &str) -> PyResult<Self> {
        let (name, params) = read(control)?;
        Ok(Self(Some(loader::hold(&name, &params).map_err(from_kernel)?)))
    }

    /// What its sockets have done; nothing once it is released.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(held) = &self.0 else { return Ok(None) };
        Ok(Some(as_dict(py, held.counters().map_err(from_kernel)?)?))
    }

    /// Takes it out.
    fn release(&mut self) {
        self.0 = None;
    }
}

/// What there is without the feature: a sentence.
#[cfg(not(feature = "kernel"))]
mod absent {
    use bpf::Params;

    const SAID: &str = "this elephan was built without the kernel's laws; install the headers of libelf and zlib (Debian: apt \
                        install libelf-dev zlib1g-dev) and build it again (make build)";

    #[derive(Clone, Copy)]
    pub struct Counters {
        pub connections: u64,
        pub losses: u64,
        pub timeouts: u64,
        pub tests: u64,
        pub rising: u64,
        pub strays: u64,
    }

    pub struct State {
        pub name: &'static str,
        pub called: &'static str,
        pub offered: bool,
        pub kept: bool,
    }

    /// There is none.
    pub enum Held {}

    impl Held {
        pub fn counters(&self) -> Result<Counters, &'static str> {
            match *self {}
        }
    }

    pub fn check() -> Result<(), &'static str> {
        Err(SAID)
    }

    pub fn hold(_name: &str, _params: &Params) -> Result<Held, &'static str> {
        Err(SAID)
    }

    pub fn keep(_name: &str, _params: &Params) -> Result<(), &'static str> {
        Err(SAID)
    }

    pub fn take_out(_name: &str) -> Result<(), &'static str> {
        Err(SAID)
    }

    pub fn list() -> Result<Vec<State>, &'static str> {
        Err(SAID)
    }

    pub fn show(_name: &str) -> Result<Counters, &'static str> {
        Err(SAID)
    }
}

//! The laws in the running kernel. Built without the feature `kernel` all of this says so.

use crate::error::{from_kernel, from_params, from_scenario};
use law::LawSpec;
use law::kernel::Params;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(not(feature = "kernel"))]
use absent as loader;
#[cfg(feature = "kernel")]
use bpf::loader;

/// Kernel's form of `control`, which is given as in scenarios.
enum InKernel {
    /// A law of elephan's, and the parameters of all.
    Ours(&'static str, Box<Params>),
    /// Object of the user's own.
    Other { object: Vec<u8>, variable: String, called: String },
}

fn read(control: &str) -> PyResult<InKernel> {
    let (law, _) = scenario::read_control(control).map_err(from_scenario)?;
    if let LawSpec::Bpf(p) = &law {
        let (called, variable) = p.control().map_err(from_params)?;
        return Ok(InKernel::Other { object: p.object.object().bytes().to_vec(), variable, called });
    }
    let mut params = Params::default();
    params.set(&law).map_err(from_params)?;
    Ok(InKernel::Ours(law::kernel::program(&law), Box::new(params)))
}

impl InKernel {
    /// Calls the function for its kind with the loader's arguments.
    fn with<T>(&self, ours: impl FnOnce(&str, &Params) -> T, other: impl FnOnce(&loader::Control) -> T) -> T {
        match self {
            Self::Ours(name, params) => ours(name, params),
            Self::Other { object, variable, called } => {
                other(&loader::Control { object, variable, called, params: None })
            }
        }
    }
}

/// Whether this was built to load laws.
#[pyfunction]
pub fn kernel_built() -> bool {
    cfg!(feature = "kernel")
}

/// Raise an error if this machine cannot load laws.
#[pyfunction]
pub fn kernel_check() -> PyResult<()> {
    loader::check().map_err(from_kernel)
}

/// Loads the law of `control` (as in a scenario) into the kernel, until it is unloaded.
#[pyfunction]
pub fn kernel_load(py: Python<'_>, control: &str) -> PyResult<()> {
    let law = read(control)?;
    py.detach(|| law.with(loader::keep, loader::keep_control)).map_err(from_kernel)
}

/// Return the name for sockets of the law of `control`.
#[pyfunction]
pub fn kernel_name(control: &str) -> PyResult<String> {
    Ok(match read(control)? {
        InKernel::Ours(name, _) => {
            law::kernel::LAWS.into_iter().find(|law| law.0 == name).map_or(name, |law| law.1).into()
        }
        InKernel::Other { called, .. } => called,
    })
}

/// Takes a law out.
#[pyfunction]
pub fn kernel_unload(py: Python<'_>, name: &str) -> PyResult<()> {
    py.detach(|| loader::take_out(name)).map_err(from_kernel)
}

/// The laws: name in scenarios, name in the kernel, whether sockets can choose it, whether it is kept.
#[pyfunction]
pub fn kernel_laws() -> PyResult<Vec<(String, String, bool, bool)>> {
    let list = loader::list().map_err(from_kernel)?;
    Ok(list.into_iter().map(|law| (law.name, law.called, law.offered, law.kept)).collect())
}

/// Return the counters of a kept law's sockets; `None` for an object that does not count as elephan's does.
#[pyfunction]
pub fn kernel_counters<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    loader::show(name).map_err(from_kernel)?.map(|counters| as_dict(py, counters)).transpose()
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
    /// Hold the law of `control`.
    #[new]
    fn new(control: &str) -> PyResult<Self> {
        let held = read(control)?.with(loader::hold, loader::hold_control);
        Ok(Self(Some(held.map_err(from_kernel)?)))
    }

    /// Return the counters of its sockets; `None` once it is released, and for an object that does not count as elephan's does.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(held) = &self.0 else { return Ok(None) };
        held.counters().map_err(from_kernel)?.map(|counters| as_dict(py, counters)).transpose()
    }

    /// Takes it out.
    fn release(&mut self) {
        self.0 = None;
    }
}

/// Replacement without the feature: every function returns an error.
#[cfg(not(feature = "kernel"))]
mod absent {
    use law::kernel::Params;

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
        pub name: String,
        pub called: String,
        pub offered: bool,
        pub kept: bool,
    }

    #[expect(dead_code, reason = "nobody reads them here")]
    pub struct Control<'a> {
        pub object: &'a [u8],
        pub variable: &'a str,
        pub called: &'a str,
        pub params: Option<&'a [u8]>,
    }

    /// There is none.
    pub enum Held {}

    impl Held {
        pub fn counters(&self) -> Result<Option<Counters>, &'static str> {
            match *self {}
        }
    }

    pub fn check() -> Result<(), &'static str> {
        Err(SAID)
    }

    pub fn hold(_name: &str, _params: &Params) -> Result<Held, &'static str> {
        Err(SAID)
    }

    pub fn hold_control(_control: &Control) -> Result<Held, &'static str> {
        Err(SAID)
    }

    pub fn keep(_name: &str, _params: &Params) -> Result<(), &'static str> {
        Err(SAID)
    }

    pub fn keep_control(_control: &Control) -> Result<(), &'static str> {
        Err(SAID)
    }

    pub fn take_out(_name: &str) -> Result<(), &'static str> {
        Err(SAID)
    }

    pub fn list() -> Result<Vec<State>, &'static str> {
        Err(SAID)
    }

    pub fn show(_name: &str) -> Result<Option<Counters>, &'static str> {
        Err(SAID)
    }
}

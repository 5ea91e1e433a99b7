//! Laws that the caller has. Those that are classes in Python: one instance for each flow, called for what it has a method for. The
//! interpreter's lock is taken for each call; the window is read when a call has returned. Those of shared libraries: see
//! `libraries`. What goes wrong ends the run.

use crate::libraries;
use crate::own_samples::{LawAck, LawEvent, LawFlow, LawRestart, LawRound};
use abi::{Fault, LibraryControl};
use base::{Span, Time};
use law::{AckSample, CongestionControl, CongestionEvent, Control, Either, Held, Needs, Restart, Signal, Step};
use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use queue::NoOwn;
use sim::{BuildError, FlowSite, LinkSite, Parts};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A law that is not elephan's.
#[derive(FromPyObject)]
pub enum OwnLaw {
    Python(#[pyo3(from_py_with = shared)] Arc<PythonLaw>),
    Library(LibraryLaw),
}

fn shared(law: &Bound<'_, PyAny>) -> PyResult<Arc<PythonLaw>> {
    law.extract().map(Arc::new)
}

impl OwnLaw {
    fn source(&self) -> &str {
        match self {
            Self::Python(law) => &law.source,
            Self::Library(law) => &law.source,
        }
    }
}

/// A law as `elephan.own_laws.LibraryLaw` describes it.
#[derive(FromPyObject)]
pub struct LibraryLaw {
    source: String,
}

/// A law as `elephan.own_laws.OwnLaw` describes it.
#[derive(FromPyObject)]
#[expect(clippy::struct_excessive_bools, reason = "methods and wishes, each for itself")]
pub struct PythonLaw {
    name: String,
    source: String,
    cls: Py<PyAny>,
    wants_flow: bool,
    on_ack: bool,
    on_recovery_ack: bool,
    on_loss: bool,
    on_rtt_round: bool,
    on_restart: bool,
    every_rtt: bool,
    marks: bool,
}

/// The laws that the caller has, by name.
pub type OwnLaws = HashMap<String, OwnLaw>;

/// Failure of a law: its name, the method (or the attribute), and the exception or the reason.
pub struct Failure {
    law: String,
    method: &'static str,
    reason: Result<PyErr, String>,
}

impl Failure {
    /// Python exception, made by `elephan.own_laws.failure`.
    pub fn raised(self, py: Python<'_>, laws: &Bound<'_, PyDict>) -> PyErr {
        let told = || {
            let law = laws.get_item(&self.law)?;
            let say = py.import(intern!(py, "elephan.own_laws"))?.getattr(intern!(py, "failure"))?;
            let (error, reason) = match &self.reason {
                // With its traceback.
                Ok(error) => (Some(error.clone_ref(py).into_value(py)), None),
                Err(reason) => (None, Some(reason)),
            };
            say.call1((law, self.method, error, reason))
        };
        told().map_or_else(|error| error, PyErr::from_value)
    }
}

/// Receiver of the failures of the laws of one run.
pub type Failures<'a> = Arc<dyn Fn(Failure) + Send + Sync + 'a>;

/// Keeps the first failure.
pub fn keep_first(first: &Mutex<Option<Failure>>, failure: Failure) {
    first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
}

/// Controls of runs in which the caller has a hand: what the scenario names, classes in Python, laws of libraries, windows held from
/// outside. One type for all, as the engine is compiled for each type by itself.
pub type OwnControl<'a> = Either<Control, Either<Either<PythonControl<'a>, LibraryControl<'a>>, Held>>;

/// The control of a flow: the caller's if its group names one, otherwise the built-in one.
///
/// # Errors
/// [`BuildError::NotHere`] for a law that is not among `laws`.
pub fn control<'a>(laws: &OwnLaws, flow: &FlowSite<'_>, failures: &Failures<'a>) -> Result<OwnControl<'a>, BuildError> {
    let Some(own) = &flow.plan().control.own else { return Ok(Either::First(flow.built_in())) };
    let control = match laws.get(&own.name).filter(|law| law.source() == own.source) {
        Some(OwnLaw::Python(law)) => {
            let (law, failures) = (Arc::clone(law), Arc::clone(failures));
            let maker = Maker { law, failures, flow: LawFlow::of(flow), parameters: own.parameters.clone() };
            Some(Either::First(PythonControl::new(Arc::new(maker), flow)))
        }
        Some(OwnLaw::Library(_)) => {
            let (law, failures) = (own.name.clone(), Arc::clone(failures));
            let report = move |fault: Fault| {
                failures(Failure { law: law.clone(), method: fault.method, reason: Err(fault.reason) });
            };
            libraries::control(&own.source, flow, &own.parameters, Arc::new(report)).map(Either::Second)
        }
        None => None,
    };
    let missing = || BuildError::NotHere { group: flow.group_index, law: own.name.clone() };
    control.map(|control| Either::Second(Either::First(control))).ok_or_else(missing)
}

/// The laws of a run.
pub struct OwnParts<'a> {
    pub laws: &'a OwnLaws,
    pub failures: Failures<'a>,
}

impl<'a> Parts for OwnParts<'a> {
    type Control = OwnControl<'a>;
    type Queue = NoOwn;

    fn control(&mut self, flow: &FlowSite<'_>) -> Result<Self::Control, BuildError> {
        control(self.laws, flow, &self.failures)
    }

    fn queue(&mut self, _link: &LinkSite<'_>) -> Option<NoOwn> {
        None
    }
}

/// Arguments for making the instance of a flow.
struct Maker<'a> {
    law: Arc<PythonLaw>,
    failures: Failures<'a>,
    flow: LawFlow,
    parameters: serde_json::Map<String, serde_json::Value>,
}

impl Maker<'_> {
    fn make(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let parameters = PyDict::new(py);
        for (name, value) in &self.parameters {
            match value {
                serde_json::Value::Bool(x) => parameters.set_item(name, x)?,
                serde_json::Value::String(x) => parameters.set_item(name, x)?,
                value => match (value.as_i64(), value.as_f64()) {
                    (Some(x), _) => parameters.set_item(name, x)?,
                    (None, x) => parameters.set_item(name, x)?,
                },
            }
        }
        if self.law.wants_flow {
            parameters.set_item(intern!(py, "flow"), Py::new(py, self.flow.clone())?)?;
        }
        self.law.cls.call(py, (), Some(&parameters))
    }
}

/// Window as an instance states it.
#[derive(Clone, Copy, Debug)]
struct Window {
    cwnd: f64,
    /// `None` where the class has none.
    ssthresh: Option<f64>,
    /// Pacing rate in segments per second; `None` where the class has none.
    pace: Option<f64>,
}

/// A flow's law. A clone is a new instance: what is cloned has not run.
pub struct PythonControl<'a> {
    maker: Arc<Maker<'a>>,
    /// Instance; `None` after a failure: the run is about to end.
    law: Option<Py<PyAny>>,
    window: Window,
    /// Window after the last congestion event, for a class without a threshold.
    cut: f64,
    /// Segments that had been delivered when the round trip began.
    round: u64,
}

impl std::fmt::Debug for PythonControl<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PythonControl").field("law", &self.maker.law.name).field("window", &self.window).finish()
    }
}

impl Clone for PythonControl<'_> {
    fn clone(&self) -> Self {
        let mut fresh = Self { maker: Arc::clone(&self.maker), law: None, ..*self };
        fresh.begin();
        fresh
    }
}

impl<'a> PythonControl<'a> {
    fn new(maker: Arc<Maker<'a>>, flow: &FlowSite<'_>) -> Self {
        let window = Window { cwnd: flow.initial_window, ssthresh: None, pace: None };
        let mut control = Self { maker, law: None, window, cut: f64::INFINITY, round: 0 };
        control.begin();
        control
    }

    /// Makes the instance.
    fn begin(&mut self) {
        (self.cut, self.round) = (f64::INFINITY, 0);
        let made = Python::attach(|py| {
            let law = self.maker.make(py).map_err(Ok)?;
            let bound = law.bind(py);
            let has = |name: &Bound<'_, PyString>| bound.hasattr(name).map_err(Ok);
            let (ssthresh, pace) = (has(intern!(py, "ssthresh"))?, has(intern!(py, "pacing_rate"))?);
            let expected = Window { cwnd: 1.0, ssthresh: ssthresh.then_some(0.0), pace: pace.then_some(0.0) };
            let window = expected.read(bound, self.maker.flow.packet)?;
            Ok((law, window))
        });
        match made {
            Ok((law, window)) => (self.law, self.window) = (Some(law), window),
            Err(reason) => self.fail("__init__", reason),
        }
    }

    #[cold]
    fn fail(&mut self, method: &'static str, reason: Result<PyErr, String>) {
        self.law = None;
        (self.maker.failures)(Failure { law: self.maker.law.name.clone(), method, reason });
    }

    /// Calls `method` with the argument that `make` creates, and reads the window.
    fn call<A>(&mut self, method: &'static str, make: impl FnOnce(Python<'_>) -> PyResult<Py<A>>)
    where
        A: PyClass,
    {
        self.act(method, |law, py| law.call_method1(PyString::intern(py, method), (make(py)?,)).map(drop));
    }

    /// Applies `what` to the instance in the name of `method`, and reads the window.
    fn act(&mut self, method: &'static str, what: impl FnOnce(&Bound<'_, PyAny>, Python<'_>) -> PyResult<()>) {
        let Some(law) = &self.law else { return };
        let done = Python::attach(|py| {
            let law = law.bind(py);
            what(law, py).map_err(Ok)?;
            self.window.read(law, self.maker.flow.packet)
        });
        match done {
            Ok(window) => self.window = window,
            Err(reason) => self.fail(method, reason),
        }
    }

    /// Sets the window, and the threshold where there is one, because the transport says so.
    fn set(&mut self, method: &'static str, cwnd: Option<f64>, ssthresh: Option<f64>) {
        let has_ssthresh = self.window.ssthresh.is_some();
        self.act(method, |law, py| {
            if let Some(cwnd) = cwnd {
                law.setattr(intern!(py, "cwnd"), cwnd)?;
            }
            if let Some(ssthresh) = ssthresh.filter(|_| has_ssthresh) {
                law.setattr(intern!(py, "ssthresh"), ssthresh)?;
            }
            Ok(())
        });
    }
}

impl Window {
    /// Reads the window of the instance, or describes what is wrong with it.
    fn read(&self, law: &Bound<'_, PyAny>, packet: u64) -> Result<Self, Result<PyErr, String>> {
        let py = law.py();
        let cwnd = number(law, intern!(py, "cwnd"))?;
        if !(cwnd.is_finite() && cwnd > 0.0) {
            return Err(Err(format!("cwnd is {cwnd}; it must be a number of segments above 0")));
        }
        let ssthresh = match self.ssthresh {
            None => None,
            Some(_) => match number(law, intern!(py, "ssthresh"))? {
                x if x >= 0.0 => Some(x),
                x => return Err(Err(format!("ssthresh is {x}; it must be a number of segments, or infinite"))),
            },
        };
        let pace = match self.pace {
            None => None,
            Some(_) => match number(law, intern!(py, "pacing_rate"))? {
                x if x.is_finite() && x > 0.0 => Some(x / (8.0 * packet as f64)),
                x => return Err(Err(format!("pacing_rate is {x}; it must be a number of bit/s above 0"))),
            },
        };
        // A window is a whole number of segments to the sender, and one at the least.
        Ok(Self { cwnd: cwnd.max(1.0), ssthresh, pace })
    }
}

/// The number that an attribute holds.
fn number(law: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> Result<f64, Result<PyErr, String>> {
    let value = law.getattr(name).map_err(Ok)?;
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyTypeError>(law.py()) {
            return Err(format!("{name} is {value}; it must be a number"));
        }
        Ok(error)
    })
}

impl CongestionControl for PythonControl<'_> {
    fn needs(&self) -> Needs {
        let PythonLaw { on_rtt_round, every_rtt, marks, .. } = *self.maker.law;
        Needs { rounds: on_rtt_round, every_rtt, marks, ..Needs::default() }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if self.maker.law.on_rtt_round && ack.round_start {
            let acked = ack.delivered.saturating_sub(self.round);
            self.round = ack.delivered;
            self.call("on_rtt_round", |py| Py::new(py, LawRound::of(ack, acked)));
        }
        if self.maker.law.on_ack {
            self.call("on_ack", |py| Py::new(py, LawAck(*ack)));
        }
    }

    fn on_recovery_ack(&mut self, ack: &AckSample) {
        if self.maker.law.on_recovery_ack {
            self.call("on_recovery_ack", |py| Py::new(py, LawAck(*ack)));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if self.maker.law.on_loss {
            self.call("on_loss", |py| Py::new(py, LawEvent(*event)));
        }
        if event.signal != Signal::Timeout || self.cut.is_infinite() {
            self.cut = self.window.cwnd.max(2.0);
        }
    }

    fn on_restart(&mut self, restart: &Restart) {
        if self.maker.law.on_restart {
            return self.call("on_restart", |py| Py::new(py, LawRestart(*restart)));
        }
        let cwnd = (restart.cwnd < self.window.cwnd).then_some(restart.cwnd.max(1.0));
        if cwnd.is_some() || restart.ssthresh.is_some() {
            self.set("on_restart", cwnd, restart.ssthresh.map(|ssthresh| ssthresh.max(2.0)));
        }
    }

    fn collapse(&mut self) {
        self.set("cwnd", Some(1.0), None);
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh.unwrap_or(self.cut)
    }

    fn step(&self) -> Option<Step> {
        // Between the ACKs that begin a round trip nothing happens to the window.
        (!self.maker.law.on_ack).then_some(Step { gain: 0.0, below: f64::INFINITY, acks: u32::MAX })
    }

    fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
        samples.for_each(drop);
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.window.pace
    }
}

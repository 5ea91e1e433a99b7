//! Many replications in one call: a sweep of short runs hands the interpreter's lock over once for all of them.

use crate::columns;
use crate::monitor::{RunMonitor, interruptible};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use sim::{Engine, Options, Outcome};
use std::time::Instant;

/// Columns of a replication, or the error in its scenario, and the seconds it took.
type Done<'py> = (Option<Bound<'py, PyDict>>, Option<String>, f64);

/// Runs replications of canonical scenarios one after the other, without the interpreter's lock.
#[pyfunction]
#[pyo3(signature = (jobs, *, series = false, monitor = None))]
pub fn simulate_several<'py>(
    py: Python<'py>,
    jobs: Vec<(PyBackedStr, u32)>,
    series: bool,
    monitor: Option<&Bound<'py, RunMonitor>>,
) -> PyResult<Vec<Done<'py>>> {
    let done = interruptible(py, monitor, |monitor| {
        let mut reader = Reader::default();
        let run = |(canonical, replication)| reader.run(canonical, replication, series, monitor);
        jobs.iter().map(|(canonical, replication)| (&**canonical, *replication)).map_while(run).collect::<Vec<_>>()
    })?;
    let mut list = Vec::with_capacity(done.len());
    for (found, seconds) in done {
        list.push(match found {
            Ok(outcome) => (Some(columns::outcome(py, outcome)?), None, seconds),
            Err(error) => (None, Some(error), seconds),
        });
    }
    Ok(list)
}

/// The scenario read last: replications of one follow each other.
#[derive(Default)]
struct Reader<'a>(Option<(&'a str, scenario::Scenario)>);

impl<'a> Reader<'a> {
    /// Outcome and the seconds it took; `None` if it was stopped.
    #[expect(clippy::disallowed_methods, reason = "a result says what its run took")]
    fn run(
        &mut self,
        canonical: &'a str,
        replication: u32,
        series: bool,
        monitor: &base::RunMonitor,
    ) -> Option<(Result<Outcome, String>, f64)> {
        let begun = Instant::now();
        let outcome = self.read(canonical).and_then(|scenario| {
            let options = Options { engine: Engine::Window, series, hash: false, ..Options::default() };
            sim::simulate_monitored(scenario, replication, options, monitor).map_err(|error| error.to_string())
        });
        Some((outcome.transpose()?, begun.elapsed().as_secs_f64()))
    }

    fn read(&mut self, canonical: &'a str) -> Result<&scenario::Scenario, String> {
        if self.0.as_ref().is_none_or(|(known, _)| *known != canonical) {
            let scenario = scenario::from_canonical(canonical).map_err(|error| error.to_string())?;
            self.0 = Some((canonical, scenario));
        }
        let (_, scenario) = self.0.as_ref().expect("has just been read");
        Ok(scenario)
    }
}

//! Native loops that react to Ctrl-C: the caller that waits for several threads stops their monitors; a single call checks the
//! interpreter's signals while it runs.

use crate::arrays;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Milliseconds between two looks at the signals.
const BETWEEN_LOOKS_MS: u64 = 30;

/// Progress of native calls that are given it, for another thread, which can also stop them.
#[pyclass(frozen, module = "elephan._native")]
#[derive(Default)]
pub struct RunMonitor(Arc<base::RunMonitor>);

#[pymethods]
impl RunMonitor {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stop calls with this monitor, running ones and later ones.
    fn stop(&self) {
        self.0.stop();
    }

    /// Lets calls with this monitor use `threads` threads, their own included, but at most the number of cores.
    fn allow_threads(&self, threads: usize) {
        self.0.allow_threads(at_most_cores(threads));
    }

    /// Return the share of the simulated time of the running replication that has passed, from 0 to 1.
    #[getter]
    fn share(&self) -> f64 {
        self.0.share()
    }
}

/// Number of threads, limited to the cores: they wait for each other too often to share one.
pub fn at_most_cores(threads: usize) -> usize {
    threads.min(std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get))
}

/// Does `work` without the interpreter's lock. Under a monitor that was given, its owner ends it; without one, a signal does.
///
/// # Errors
/// What the signal's handler raised; `KeyboardInterrupt` if the monitor was stopped.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    given: Option<&Bound<'_, RunMonitor>>,
    work: impl FnOnce(&base::RunMonitor) -> T + Send,
) -> PyResult<T> {
    arrays::load(py);
    let raised = Arc::new(Mutex::new(None));
    let monitor =
        given.map_or_else(|| Arc::new(asking_for_signals(Arc::clone(&raised))), |own| Arc::clone(&own.get().0));
    let done = py.detach(|| work(&monitor));
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    if monitor.is_stopped() {
        return Err(PyKeyboardInterrupt::new_err("stopped"));
    }
    Ok(done)
}

/// Stops once a signal's handler raises, which it then puts into `raised`. Off the main thread none ever does.
#[expect(clippy::disallowed_methods, reason = "signals come in real time")]
fn asking_for_signals(raised: Arc<Mutex<Option<PyErr>>>) -> base::RunMonitor {
    let begun = Instant::now();
    let looked_ms = AtomicU64::new(0);
    base::RunMonitor::asking(move || {
        let now_ms = begun.elapsed().as_millis() as u64;
        if now_ms < looked_ms.load(Ordering::Relaxed) + BETWEEN_LOOKS_MS {
            return false;
        }
        looked_ms.store(now_ms, Ordering::Relaxed);
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is of one lifetime")]
        let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
        *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        true
    })
}

//! The extension module `elephan._native`: text and numbers in, JSON and `NumPy` columns out. No logic lives here.
//!
//! Data crosses once in each direction, and no simulation holds the interpreter's lock.

mod arrays;
mod cards;
mod causes;
mod columns;
mod error;
mod facts;
mod files;
mod json;
mod kernel;
mod laws;
mod libraries;
#[cfg(unix)]
mod memory;
mod monitor;
mod needs;
mod own;
mod own_samples;
mod parquet;
mod queues;
mod relay;
mod sender;
mod several;
mod steps;

use pyo3::prelude::*;

/// The native half of elephan. See `_native.pyi` for the types.
#[pymodule(gil_used = false)]
mod _native {
    use crate::{
        cards, columns, error, facts, files, json, kernel, laws, libraries, monitor, needs, own, parquet, queues,
        several, steps,
    };
    use error::{bad_engine, from_build, from_scenario};
    use monitor::interruptible;
    use pyo3::prelude::*;
    use pyo3::types::PyDict;
    use std::sync::{Arc, Mutex, PoisonError};

    #[pymodule_export]
    use cards::catalog;

    #[pymodule_export]
    use crate::causes::idle_causes;

    #[pymodule_export]
    use files::write_folder;

    #[pymodule_export]
    use json::json_lines;

    #[pymodule_export]
    use kernel::{
        HeldLaw, kernel_built, kernel_check, kernel_counters, kernel_laws, kernel_load, kernel_name, kernel_unload,
    };

    #[pymodule_export]
    use laws::{LawEvaluator, law_rounds, replay_law};

    #[cfg(unix)]
    #[pymodule_export]
    use crate::memory::say_where_memory_ends;

    #[pymodule_export]
    use libraries::law_library;

    #[pymodule_export]
    use monitor::RunMonitor;

    #[pymodule_export]
    use crate::own_samples::{LawAck, LawEvent, LawFlow, LawRestart, LawRound};

    #[pymodule_export]
    use parquet::parquet_file;

    #[pymodule_export]
    use queues::{queue_curve, queue_draws, replay_queue};

    #[pymodule_export]
    use several::simulate_several;

    #[pymodule_export]
    use crate::sender::TcpSender;

    #[pymodule_export]
    use steps::SteppedRuns;

    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::relay::Bottleneck;

    /// Segments written and not acknowledged from which on an application waits.
    #[pymodule_export]
    const MOST_WRITTEN: u64 = sim::MOST_WRITTEN;

    /// Version of the engine.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Whether a panic reaches Python as an exception; else it ends the interpreter.
    #[pyfunction]
    fn unwinds() -> bool {
        cfg!(panic = "unwind")
    }

    /// Reads a scenario file's text; returns its resolved canonical form as JSON, the content hash of that, and what follows
    /// from it as `describe` says it.
    #[pyfunction]
    fn resolve(py: Python<'_>, text: &str) -> PyResult<(String, String, String)> {
        py.detach(|| scenario::read(text).map(|s| (s.canonical(), s.id(), facts::describe(&s).to_string())))
            .map_err(from_scenario)
    }

    /// The content hash of a canonical scenario.
    #[pyfunction]
    fn scenario_id(py: Python<'_>, canonical: &str) -> PyResult<String> {
        py.detach(|| scenario::from_canonical(canonical).map(|s| s.id())).map_err(from_scenario)
    }

    /// BLAKE3 of a text, hexadecimal: identity of what is asked beyond a plain run.
    #[pyfunction]
    fn digest(text: &str) -> String {
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// JSON Schema of the scenario file.
    #[pyfunction]
    fn schema() -> String {
        scenario::schema()
    }

    /// Return facts that follow from a canonical scenario without running it, as JSON.
    #[pyfunction]
    fn describe(py: Python<'_>, canonical: &str) -> PyResult<String> {
        py.detach(|| scenario::from_canonical(canonical).map(|s| facts::describe(&s).to_string()))
            .map_err(from_scenario)
    }

    /// Return the needs of keys, parameters and laws that a canonical scenario's links and groups meet, as JSON: see `needs`.
    #[pyfunction]
    fn needs_met(py: Python<'_>, canonical: &str) -> PyResult<String> {
        py.detach(|| scenario::from_canonical(canonical).map(|s| needs::met(&s).to_string())).map_err(from_scenario)
    }

    /// Reads a time such as `"10 ms"` and returns it in seconds.
    #[pyfunction]
    fn seconds(text: &str) -> PyResult<f64> {
        base::text::span(text).map(base::Span::as_secs).map_err(error::from_text)
    }

    /// Reads a rate such as `"1 Gbit/s"` and returns it in bit/s.
    #[pyfunction]
    fn rate_bps(text: &str) -> PyResult<u64> {
        base::text::rate(text).map(|rate| rate.0).map_err(error::from_text)
    }

    /// Reads a size such as `"1500 B"` and returns it in bytes.
    #[pyfunction]
    fn size_bytes(text: &str) -> PyResult<u64> {
        base::text::bytes(text).map(|size| size.0).map_err(error::from_text)
    }

    /// Runs one replication without the interpreter's lock and returns its columns; a signal, or the monitor, can stop it.
    #[pyfunction]
    #[pyo3(signature = (canonical, replication, *, engine = "window", series = false, hash = false, monitor = None, threads = 1, laws = None))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn simulate<'py>(
        py: Python<'py>,
        canonical: &str,
        replication: u32,
        engine: &str,
        series: bool,
        hash: bool,
        monitor: Option<&Bound<'py, RunMonitor>>,
        threads: usize,
        laws: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let own: own::OwnLaws = laws.map(|laws| laws.extract()).transpose()?.unwrap_or_default();
        let failed = Mutex::new(None);
        let engine = match engine {
            "window" => sim::Engine::Window,
            "reference" => sim::Engine::Reference,
            other => return Err(bad_engine(other)),
        };
        let outcome = interruptible(py, monitor, |monitor| {
            if threads > 1 {
                monitor.allow_threads(monitor::at_most_cores(threads));
            }
            let scenario = scenario::from_canonical(canonical).map_err(from_scenario)?;
            let options = sim::Options { engine, series, hash, ..Default::default() };
            if own.is_empty() {
                return sim::simulate_monitored(&scenario, replication, options, monitor).map_err(from_build);
            }
            let end = |failure| {
                own::keep_first(&failed, failure);
                monitor.stop();
            };
            let mut parts = own::OwnParts { laws: &own, failures: Arc::new(end) };
            sim::simulate_parts(&scenario, replication, options, monitor, &mut parts).map_err(from_build)
        });
        if let (Some(failure), Some(laws)) = (failed.into_inner().unwrap_or_else(PoisonError::into_inner), laws) {
            return Err(failure.raised(py, laws));
        }
        let outcome = outcome??;
        columns::outcome(py, outcome.expect("a stopped run has raised"))
    }

    /// Return the memory that the engine uses for each sender, flow, link and packet: names and bytes.
    #[pyfunction]
    fn memory_sizes() -> Vec<(&'static str, usize)> {
        let sizes = sim::memory_sizes();
        vec![
            ("tcp", sizes.tcp),
            ("source", sizes.source),
            ("receiver_ring", sizes.receiver_ring),
            ("flow", sizes.flow),
            ("link", sizes.link),
            ("link_outcome", sizes.link_outcome),
            ("hop", sizes.hop),
            ("packet", sizes.packet),
        ]
    }

    /// The memory floor of the benchmarks; returns a checksum.
    #[pyfunction]
    fn memory_floor(py: Python<'_>, packets: u64, in_flight: u64, flows: u32) -> PyResult<u64> {
        interruptible(py, None, |monitor| sim::memory_floor(packets, in_flight, flows, monitor))
    }
}

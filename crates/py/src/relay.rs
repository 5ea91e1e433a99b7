//! The live bottleneck, as Python asks for it.

#![cfg(target_os = "linux")]

use crate::error::{from_scenario, from_system};
use base::{Span, Stream, Time};
use emu::awake::with_cpus_awake;
use emu::emulator::{Emulator, FlowDelays};
use emu::record::{Counters, Record};
use emu::relay::{RelayConfig, RelayReport, relay};
use emu::tun::Tun;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use queue::{AnyQueue, Link, TokenBucket};
use scenario::Jitter;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A bottleneck between two network namespaces: the first link of a scenario, and a wire for each flow.
#[pyclass(frozen)]
pub struct Bottleneck {
    canonical: String,
    replication: u32,
    devices: (Tun, Tun),
    stop: AtomicBool,
}

#[pymethods]
impl Bottleneck {
    /// Makes a device in each of two namespaces (paths such as `/proc/PID/ns/net`), as they are called there.
    #[new]
    #[pyo3(signature = (canonical, replication, *, client, server))]
    fn new(canonical: &str, replication: u32, client: (PathBuf, String), server: (PathBuf, String)) -> PyResult<Self> {
        let open = |(namespace, name): &(PathBuf, String)| {
            Tun::new(namespace, name).map_err(|error| from_system(&error, namespace))
        };
        let devices = (open(&client)?, open(&server)?);
        Ok(Self { canonical: canonical.into(), replication, devices, stop: AtomicBool::new(false) })
    }

    /// Relays packets until `stop`, and at most for `longest_s`; counts what happens from `warmup_s` to `measured_s`; keeps
    /// processors `awake`. The lock of the interpreter is released meanwhile.
    #[pyo3(signature = (*, warmup_s, measured_s, longest_s, every_s, wires_s, first_port, quantum_s, priority, limit_s, shaken_s, awake))]
    #[expect(clippy::too_many_arguments, reason = "all by keyword")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        warmup_s: f64,
        measured_s: f64,
        longest_s: f64,
        every_s: f64,
        wires_s: Vec<(f64, f64)>,
        first_port: u16,
        quantum_s: f64,
        priority: i32,
        limit_s: f64,
        shaken_s: f64,
        awake: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        crate::arrays::load(py);
        let delays =
            |&(to, back): &(f64, f64)| FlowDelays { forward: Span::from_secs(to), backward: Span::from_secs(back) };
        let delays: Vec<_> = wires_s.iter().map(delays).collect();
        let config = RelayConfig {
            until: Time::ZERO + Span::from_secs(longest_s),
            measured: Time::ZERO + Span::from_secs(warmup_s)..Time::ZERO + Span::from_secs(measured_s),
            first_port,
            flows: delays.len() as u32,
            quantum: Span::from_secs(quantum_s),
            priority,
            suspect_for: Span::from_secs(shaken_s),
            limit: Span::from_secs(limit_s),
        };
        let scenario = scenario::from_canonical(&self.canonical).map_err(from_scenario)?;
        let (bottleneck, replication) = (link(&scenario, self.replication), self.replication);
        let (policer, jitter) = (scenario.links[0].policer.clone(), scenario.links[0].jitter);
        let relayed = py.detach(|| {
            let mut emulator = Emulator::new(bottleneck, delays, config.measured.clone(), Span::from_secs(every_s));
            if let Some(bucket) = &policer {
                emulator = emulator.policed(TokenBucket::new(bucket.rate, bucket.burst));
            }
            if let Some(Jitter::Exponential(mean)) = jitter {
                emulator = emulator.jittered(mean, Stream::new(scenario.seed, replication, ("link", 0), "jitter"));
            }
            let (client, server) = &self.devices;
            let stop = &self.stop;
            // A thread of its own, because it may get a priority.
            let work = || {
                std::thread::scope(|scope| {
                    let relaying = scope.spawn(|| relay(emulator, client, server, &config, stop));
                    relaying.join().expect("a relay does not panic")
                })
            };
            if awake { with_cpus_awake(work) } else { work() }
        });
        let relayed = relayed.map_err(|error| from_system(&error, &PathBuf::from("/dev/net/tun")))?;
        let rtt = wires_s.iter().map(|(to, back)| Span::from_secs(to + back)).min();
        as_dict(py, &relayed, rtt.unwrap_or(Span::ZERO), config.limit)
    }

    /// Ends `run`, from another thread.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The first link, with the random stream that it has in a simulation.
fn link(scenario: &scenario::Scenario, replication: u32) -> Link<AnyQueue> {
    let port = scenario.use_of(0).port();
    let chance = Stream::new(scenario.seed, replication, ("link", 0), "queue");
    let queue = scenario.links[0].queue.build(&port, chance);
    Link::new(port.rate, queue.expect("checked when the scenario was read"))
}

fn as_dict<'py>(py: Python<'py>, relayed: &RelayReport, rtt: Span, limit: Span) -> PyResult<Bound<'py, PyDict>> {
    let record: &Record = &relayed.record;
    let dict = PyDict::new(py);
    dict.set_item("ran_s", relayed.elapsed.as_secs())?;
    dict.set_item("hurried", relayed.had_priority)?;
    dict.set_item("link", counters(py, &record.counters)?)?;
    let flows: PyResult<Vec<_>> = record.flows.iter().map(|flow| counters(py, flow)).collect();
    dict.set_item("flows", flows?)?;
    let samples = PyDict::new(py);
    let of = |value: fn(&emu::record::Sample) -> u64| PyArray1::from_iter(py, record.samples.iter().map(value));
    samples.set_item("time_s", PyArray1::from_iter(py, record.samples.iter().map(|s| s.time.as_secs())))?;
    samples.set_item("backlog_packets", of(|s| s.backlog.into()))?;
    samples.set_item("begun_bytes", of(|s| s.begun))?;
    dict.set_item("samples", samples)?;
    let drops = PyDict::new(py);
    drops.set_item("time_s", PyArray1::from_iter(py, record.drops.iter().map(|d| d.time.as_secs())))?;
    drops.set_item("flow", PyArray1::from_iter(py, record.drops.iter().map(|d| d.flow)))?;
    dict.set_item("drops", drops)?;
    let firsts: Vec<_> = record.first_data.iter().map(|first| first.map(Time::as_secs)).collect();
    dict.set_item("first_s", firsts)?;
    let punctual = &record.punctuality;
    dict.set_item("objection", punctual.invalid_reason(rtt, limit))?;
    let late = PyDict::new(py);
    late.set_item("late_us", punctual.late.to_vec())?;
    late.set_item("latest_s", punctual.latest.as_secs())?;
    late.set_item("gap_s", punctual.longest_pause.as_secs())?;
    late.set_item("later", punctual.later_than(limit))?;
    late.set_item("limit_s", limit.as_secs())?;
    late.set_item("suspect", punctual.suspect)?;
    late.set_item("drops", punctual.drops)?;
    late.set_item("refused", punctual.refused)?;
    late.set_item("p50_us", punctual.quantile(0.5))?;
    late.set_item("p99_us", punctual.quantile(0.99))?;
    dict.set_item("punctuality", late)?;
    Ok(dict)
}

fn counters<'py>(py: Python<'py>, from: &Counters) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("arrived", from.arrived)?;
    dict.set_item("begun", from.begun)?;
    dict.set_item("begun_bytes", from.begun_bytes)?;
    dict.set_item("drops", from.drops.to_vec())?;
    dict.set_item("marked", from.marked)?;
    dict.set_item("waited_s", from.waited as f64 / base::time::PS_PER_S as f64)?;
    dict.set_item("most_packets", from.most_waiting)?;
    Ok(dict)
}

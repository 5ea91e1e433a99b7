//! Causes of a link's idle time, as JSON: all times in picoseconds, which are integers.

use crate::error::{from_build, from_scenario};
use crate::monitor::{RunMonitor, interruptible};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use sim::{Causes, IdleLimit, Span, Time};

/// Find the causes of the idle time of a link in one replication of a canonical scenario, without the interpreter's lock.
#[pyfunction]
#[pyo3(signature = (canonical, replication, link, *, forks = 0, monitor = None))]
pub fn idle_causes(
    py: Python<'_>,
    canonical: &str,
    replication: u32,
    link: usize,
    forks: usize,
    monitor: Option<&Bound<'_, RunMonitor>>,
) -> PyResult<String> {
    let found = interruptible(py, monitor, |monitor| {
        let scenario = scenario::from_canonical(canonical).map_err(from_scenario)?;
        sim::causes(&scenario, replication, link, forks, monitor).map_err(from_build)
    });
    Ok(document(&found??.expect("a stopped study has raised")).to_string())
}

fn document(causes: &Causes) -> Value {
    let events = causes.events.iter().map(|event| {
        json!({
            "from": event.from.0,
            "to": event.to.0,
            "dropped": event.dropped,
            "marked": event.marked,
            "hit": event.hit,
            "flows": event.flows,
            "idle": event.idle.0,
            "timeout": event.timeout.0,
        })
    });
    let periods = causes.periods.iter().map(|period| {
        json!({
            "from": period.from.0,
            "to": period.to.0,
            "idle": period.idle.0,
            "charged": period.charged.iter().map(|(event, idle)| (event, idle.0)).collect::<Vec<_>>(),
            "rest": limits(&period.rest, |span: &Span| json!(span.0)),
            "rest_steps": period.rest_steps.as_deref().map(pairs),
            "is_cut": period.is_cut,
        })
    });
    json!({
        "hash": format!("{:016x}", causes.hash),
        "arrived": causes.arrived,
        "dropped": causes.dropped,
        "from": causes.measured.0.0,
        "to": causes.measured.1.0,
        "step": causes.step.0,
        "idle": causes.idle.0,
        "idle_steps": pairs(&causes.idle_steps),
        "events": events.collect::<Vec<_>>(),
        "periods": periods.collect::<Vec<_>>(),
        // They have more than 64 bits.
        "waits": causes.waits.iter().map(|group| limits(group, |wait| json!(wait.to_string()))).collect::<Vec<_>>(),
        "ack_waits": causes.ack_waits.to_string(),
        "forks": causes.forks,
        "forked": causes.forked.0,
    })
}

/// Ends of steps, and their idle times.
fn pairs(steps: &[(Time, Span)]) -> Vec<(u64, u64)> {
    steps.iter().map(|(end, idle)| (end.0, idle.0)).collect()
}

/// Values by the names of the limits.
fn limits<T>(values: &[T; IdleLimit::ALL.len()], value: impl Fn(&T) -> Value) -> Map<String, Value> {
    IdleLimit::ALL.iter().zip(values).map(|(limit, one)| (limit.name().to_owned(), value(one))).collect()
}

//! The packet simulator: it turns a scenario and a replication number into counters and samples.
//!
//! Two engines run the same transport, laws and queues: the window engine is fast, the reference engine is simple. They
//! produce the same bytes; the tests compare their rolling hashes.

mod build;
mod causes;
mod datagrams;
mod draw;
mod floor;
mod handover;
mod hash;
pub mod histogram;
mod identity;
mod ingress;
mod intervals;
mod ledger;
mod marks;
mod merge;
mod meter;
mod observer;
mod outcome;
mod own;
mod places;
mod plan;
mod pool;
mod probe;
mod reference;
mod results;
mod sizes;
mod stepped;
mod transfers;
mod window;
mod writes;

// What callers of `simulate` need: reading a scenario, and the types of outcomes.
pub use base::{Cause, RunMonitor, Span, Time};
pub use causes::{Causes, IdleLimit, LossEvent, Period, causes};
pub use datagrams::DelayOutcome;
pub use floor::memory_floor;
pub use intervals::{FlowIntervals, MEASURED};
pub use outcome::*;
pub use own::{BuiltIn, FlowPlace, FlowSite, LinkSite, Own, Parts};
pub use scenario;
pub use sizes::{MemorySizes, memory_sizes};
pub use stepped::{FlowReading, LinkReading, SteppedRun};
pub use writes::MOST_WRITTEN;

use scenario::Scenario;

/// Runs one replication.
///
/// # Examples
///
/// ```
/// let scenario = elephan_sim::scenario::read(
///     r#"
///     duration = "2 s"
///     [[links]]
///     name = "bottleneck"
///     rate = "10 Mbit/s"
///     buffer = "20 packets"
///     [[flows]]
///     path = ["bottleneck"]
///     rtt = "20 ms"
///     "#,
/// )?;
/// let outcome = elephan_sim::simulate(&scenario, 0, elephan_sim::Options::default())?;
/// assert!(outcome.links[0].utilization > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BuildError`], when the scenario is too large for the engine's integers.
pub fn simulate(scenario: &Scenario, replication: u32, options: Options) -> Result<Outcome, BuildError> {
    let outcome = simulate_monitored(scenario, replication, options, &RunMonitor::default())?;
    Ok(outcome.expect("nobody stops it"))
}

/// Runs one replication with a monitor that another thread may use. Returns `None` if the monitor stopped the run.
///
/// # Errors
/// As for [`simulate`].
pub fn simulate_monitored(
    scenario: &Scenario,
    replication: u32,
    options: Options,
    monitor: &RunMonitor,
) -> Result<Option<Outcome>, BuildError> {
    simulate_parts(scenario, replication, options, monitor, &mut BuiltIn)
}

/// [`simulate_monitored`] with congestion controls and queues supplied by the caller.
///
/// # Errors
/// As for [`simulate`]; also if a control or a queue cannot run where the caller puts it.
pub fn simulate_parts<P: Parts>(
    scenario: &Scenario,
    replication: u32,
    options: Options,
    monitor: &RunMonitor,
    parts: &mut P,
) -> Result<Option<Outcome>, BuildError> {
    let network = build::network(scenario, replication, options.first_number, parts, monitor)?;
    if monitor.was_stopped() {
        return Ok(None);
    }
    let names = Names::of(&network, scenario);
    let outcome = match options.engine {
        Engine::Window => window::run(network, options, monitor),
        Engine::Reference => reference::run(network, options, monitor),
    };
    match outcome {
        Some(outcome) if !monitor.is_stopped() => names.put(outcome).map(Some),
        _ => Ok(None),
    }
}

/// Maps the numbers of an outcome to the scenario: engines number senders and single links.
#[derive(Clone, Debug)]
struct Names {
    /// Number of links of each table.
    tables: Vec<u32>,
    /// Flow of each sender; empty if each flow has one sender.
    owners: Vec<u32>,
    /// For each table: whether the rate of its links changes, and whether their delay does.
    varies: Vec<(bool, bool)>,
    /// Payload of a full segment of each group, in bytes.
    mss: Vec<u32>,
}

impl Names {
    fn of<C, Q>(network: &plan::Network<C, Q>, scenario: &Scenario) -> Self {
        Self {
            tables: network.tables.clone(),
            owners: if network.sessions.is_empty() {
                Vec::new()
            } else {
                network.flows.iter().map(|flow| flow.party().flow).collect()
            },
            varies: scenario.links.iter().map(|link| (link.rate.changes(), link.delay_varies())).collect(),
            mss: scenario.groups.iter().map(|group| group.packet.0.saturating_sub(group.tcp.header.0) as u32).collect(),
        }
    }

    fn put(&self, mut outcome: Outcome) -> Result<Outcome, BuildError> {
        if let Some((group, reason)) = outcome.fault.take() {
            return Err(BuildError::Fault { group: group as usize, reason });
        }
        // A session has one sender for each of its places; results are by flow.
        for row in outcome.packets.iter_mut().flat_map(|trace| &mut trace.rows) {
            row.flow = self.owners.get(row.flow as usize).copied().unwrap_or(row.flow);
        }
        for flow in &mut outcome.flows {
            if let Some(series) = flow.series.as_deref_mut() {
                series.scale_rates(self.mss[flow.group as usize]);
            }
        }
        merge::by_table(&mut outcome, &self.tables);
        for (link, &(rate, delay)) in outcome.links.iter_mut().zip(&self.varies) {
            (link.rate_changes, link.delay_varies) = (rate, delay);
        }
        Ok(outcome)
    }
}

/// Tests the examples of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#![doc = include_str!("../README.md")]

pub use abi;
pub use base;
pub use law;
pub use queue;
pub use scenario;
pub use sim;
pub use traffic;
pub use transport;

pub use abi::export_laws;
pub use law::LawSite;
pub use scenario::{Scenario, ScenarioError, read};
pub use sim::{BuildError, Engine, FlowSite, LinkSite, Options, Outcome};

mod own;

pub use own::{Simulation, simulate_with};

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Reason why there is no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a scenario: one line, the place first.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario is too large for the engine.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A queue of one's own is for a link that the scenario does not have.
    #[error("links: none is named {0:?}")]
    NoLink(String),
}

/// Runs one replication, numbered from 0, with the fast engine and without the sampled series.
///
/// # Errors
/// [`Error::Build`], when the scenario is too large for the engine's integers.
pub fn simulate(scenario: &Scenario, replication: u32) -> Result<Outcome, Error> {
    Ok(sim::simulate(scenario, replication, Options::default())?)
}

/// The same as [`simulate`], with at most `threads` threads.
fn simulate_on(threads: usize, scenario: &Scenario, replication: u32) -> Result<Outcome, Error> {
    let monitor = sim::RunMonitor::default();
    monitor.allow_threads(threads);
    let outcome = sim::simulate_monitored(scenario, replication, Options::default(), &monitor)?;
    Ok(outcome.expect("nobody stops it"))
}

/// Runs all replications of a scenario on all processors; the outcomes are in their order. Where there are fewer replications than
/// processors, the flows of a large network run on several.
///
/// # Errors
/// As [`simulate`]; the first replication that fails.
///
/// # Examples
/// ```
/// let text = r#"
/// duration = "4 s"
/// replications = 3
/// links = [{ name = "core", rate = "10 Mbit/s", delay = "20 ms", buffer = "25 packets" }]
/// flows = [{ name = "bulk", path = ["core"], rtt = "80 ms", start = { from = "0 s", to = "1 s" } }]
/// "#;
/// let scenario = elephan::read(text)?;
/// let outcomes = elephan::simulate_all(&scenario)?;
/// assert_eq!(outcomes.len(), 3);
/// assert_eq!(outcomes[2], elephan::simulate(&scenario, 2)?);
/// # Ok::<(), elephan::Error>(())
/// ```
pub fn simulate_all(scenario: &Scenario) -> Result<Vec<Outcome>, Error> {
    let count = scenario.replications;
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = cores.min(count as usize);
    let next = AtomicU32::new(0);
    let found = Mutex::new((0..count).map(|_| None).collect::<Vec<_>>());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let replication = next.fetch_add(1, Ordering::Relaxed);
                    if replication >= count {
                        break;
                    }
                    let outcome = simulate_on(cores / threads, scenario, replication);
                    found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[replication as usize] =
                        Some(outcome);
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.into_iter().map(|one| one.expect("every number was taken by one thread")).collect()
}

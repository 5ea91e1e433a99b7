//! The packet simulator: a scenario and a replication number in, counters and samples out.

mod outcome;

pub use outcome::*;

/// Runs one replication.
///
/// # Errors
/// [`BuildError`], when the scenario is too large for the engine's integers.
pub fn simulate(_scenario: &scenario::Scenario, _replication: u32, _options: Options) -> Result<Outcome, BuildError> {
    Ok(Outcome::default())
}

/// The memory floor of the benchmarks: a bare loop that moves `packets` 8-byte records through per-flow rings holding
/// `in_flight` of them, in known order, with nothing decided. Returns a checksum.
#[must_use]
pub fn memory_floor(_packets: u64, _in_flight: u64, _flows: u32) -> u64 {
    0
}

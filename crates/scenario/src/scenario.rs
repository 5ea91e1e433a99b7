//! A scenario with nothing left open: every default filled, every quantity an integer in base units.
//!
//! A `Scenario` that exists is valid; what builds a network from it has nothing to check but memory. With `Amount`s as the
//! buffers of its links it is what a file says, before it is known what uses a link.

use crate::names::Names;
use crate::node::{Node, parse};
use crate::{Group, Link, Record, ScenarioError, check, limits, table};
use base::{Amount, Span};
use queue::Limit;

base::keys! {
    /// An elephan scenario.
    pub struct Scenario<Buffer = Limit> {
        /// One line about it, shown above results. Default: the file's name.
        title: String = String::new(), eg "Ten flows on 1 Gbit/s";
        /// Simulated time, warm-up included: "200 s".
        duration: Span, eg "200 s", in Span(1)..=*limits::INSTANT.end();
        /// What is simulated but not measured, at the start: "60 s", or "auto" to have it found by a pilot run.
        warmup: Span = Span::ZERO, eg "60 s", or "auto";
        /// Independent runs; intervals need at least two.
        replications: u32 = 1, in 1..=10_000;
        /// Seed of all random streams: the same seed gives the same results, to the bit.
        seed: u64 = 1;
        /// Directed links.
        links: Vec<Link<Buffer>>, in 1..=u64::MAX;
        /// Groups of flows.
        groups as "flows": Vec<Group>, in 1..=u64::MAX;
        /// What is recorded besides counters. Default: samples every 100 ms.
        record: Record = Record::default();
    }
}

/// Reads a scenario file.
///
/// # Errors
/// The first thing wrong with it, in one line that names the place first.
pub fn read(text: &str) -> Result<Scenario, ScenarioError> {
    let (tree, names) = (parse(text)?, Names::default());
    let file = Node { value: &tree, place: String::new(), names: &names };
    let scenario = table::read::<Scenario<Amount>>(&file, "a table")?.resolve()?;
    check::check(&scenario)?;
    Ok(scenario)
}

impl Scenario<Amount> {
    /// The same with buffers as limits, now that the flows are known.
    fn resolve(self) -> Result<Scenario, ScenarioError> {
        let links = self.links.iter().enumerate().map(|(i, link)| link.resolve(&self, i)).collect::<Result<_, _>>()?;
        let Self { title, duration, warmup, replications, seed, links: _, groups, record } = self;
        Ok(Scenario { title, duration, warmup, replications, seed, links, groups, record })
    }
}

//! A complete scenario: every default is filled in, and every quantity is an integer in base units.
//!
//! An existing `Scenario` is valid, so building a network from it only has to check memory. With `Amount`s as the buffers
//! of its links, it is the content of a file before the use of the links is known.

use crate::{Group, Link, Pool, Record, limits};
use base::Span;
use queue::Limit;

base::keys! {
    /// An elephan scenario.
    pub struct Scenario<Buffer = Limit> {
        /// One line about it, shown above results. Default: the file's name.
        title: String = String::new(), eg "Ten flows on 1 Gbit/s";
        /// Simulated time, warm-up included: "200 s".
        duration: Span, eg "200 s", in Span(1)..=*limits::INSTANT.end();
        /// Time at the start that is simulated but not measured: "60 s", or "auto" to have it found by a pilot run.
        warmup: Span = Span::ZERO, eg "60 s", or "auto";
        /// Independent runs; intervals need at least two.
        replications: u32 = 1, in 1..=10_000;
        /// Seed of all random streams: the same seed gives the same results, to the bit.
        seed: u64 = 1;
        /// Memory that buffers of links share.
        pools: Vec<Pool> = Vec::new(), since "0.1";
        /// Directed links.
        links: Vec<Link<Buffer>>, in 1..=u64::MAX, needs [Crossed];
        /// Groups of flows.
        groups as "flows": Vec<Group>, in 1..=u64::MAX;
        /// Data recorded besides counters. Default: samples every 100 ms.
        record: Record = Record::default();
    }
}

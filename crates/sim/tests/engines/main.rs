//! The engines: both agree on every event, no run stalls, and what is sampled, recorded and delivered is right. One program for all of them: they share the time to link.

extern crate elephan_sim as sim;

#[path = "../interval.rs"]
mod interval;

mod applications;
mod arrays;
mod autotuning;
mod delayed;
mod delays;
mod equality;
mod fuzz;
#[cfg(debug_assertions)]
mod growth;
mod liveness;
mod monitored;
mod numbers;
mod offload;
mod pacing;
mod pinned;
mod pools;
mod probes;
mod products;
mod recoveries;
mod reorder;
mod schedules;
mod sessions;
mod steps;
mod transfers;

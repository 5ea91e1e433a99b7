//! The scenario file as typed data: [`read()`] turns its text into a [`Scenario`], or says in one line what is wrong and
//! where. The canonical form is hashed, stored and shown.
//!
//! This crate uses no files and no clock: its input and output are texts.

mod buffer;
mod canonical;
mod check;
mod control;
mod derived;
mod error;
mod fair;
mod flows;
mod forms;
mod hops;
mod life;
mod limits;
mod link_delay;
mod link_rate;
mod links;
mod linux;
mod loss;
mod names;
mod node;
mod opportunities;
mod outstanding;
mod own;
mod parameters;
mod pools;
mod profile;
mod read;
mod record;
mod reorder;
mod rtt;
mod scenario;
mod schedule;
mod schema;
mod table;
mod tc;
mod types;
mod values;

pub use base::{Quantity, Ranged, Values};
pub use buffer::Packets;
pub use canonical::from_canonical;
pub use control::{Control, read_control};
pub use derived::LinkUse;
pub use error::ScenarioError;
pub use fair::Fair;
pub use flows::{Access, Flow, Group, HEADER};
pub use hops::{Hop, Pick};
pub use life::{Start, Stop};
pub use link_delay::{DelayStep, Jitter, LinkDelay};
pub use link_rate::{LinkRate, Markov, RatePair, RateStep, Sine};
pub use links::{Bucket, Link, read_queue};
pub use loss::{Gilbert, Loss};
pub use opportunities::OpportunityTimes;
pub use own::OwnLaw;
pub use pools::{Pool, PoolName};
pub use read::{FORMAT, read, schema};
pub use record::{PacketSpan, Record};
pub use reorder::{Apart, Reorder, Spray};
pub use rtt::{By, Pareto, Rtt};
pub use scenario::Scenario;

/// Tests the examples of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

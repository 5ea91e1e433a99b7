//! The scenario file as typed data: [`read()`] makes a [`Scenario`] of its text or says in one line what is wrong and
//! where; the canonical form is what is hashed, stored and shown.
//!
//! No files and no clock: texts come in, texts go out.

mod buffer;
mod canonical;
mod check;
mod control;
mod derived;
mod error;
mod fair;
mod flows;
mod hops;
mod life;
mod limits;
mod links;
mod names;
mod parameters;
mod quantiles;
mod read;
mod reader;
mod record;
mod resolved;
mod schema;
mod tcp;
mod values;

pub use canonical::from_canonical;
pub use control::read_control;
pub use error::ScenarioError;
pub use fair::Fair;
pub use links::read_queue;
pub use quantiles::ParetoQuantiles;
pub use read::read;
pub use resolved::*;
pub use schema::schema;
pub use values::{Quantity, Values};

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

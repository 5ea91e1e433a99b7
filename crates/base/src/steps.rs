//! Steps: what is done for one record of many, counted where debug assertions are on. Tests compare how many there are in small runs
//! and in large ones, as time would vary. In a release nothing is counted.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Adds `n` steps.
#[inline]
pub fn count_steps(n: usize) {
    if cfg!(debug_assertions) {
        STEPS.with(|steps| steps.set(steps.get() + n as u64));
    }
}

/// Steps of this thread so far.
#[must_use]
pub fn steps() -> u64 {
    STEPS.with(Cell::get)
}

//! Counts of steps, where a step is the work for one of many records, with debug assertions only. Tests compare the
//! counts of small and large runs, because times would vary. Release builds do not count.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts `n` steps.
#[inline]
pub fn count_steps(n: usize) {
    if cfg!(debug_assertions) {
        STEPS.with(|steps| steps.set(steps.get() + n as u64));
    }
}

/// Number of steps of this thread so far.
#[must_use]
pub fn steps() -> u64 {
    STEPS.with(Cell::get)
}

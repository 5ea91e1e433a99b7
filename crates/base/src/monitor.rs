//! A long computation seen from outside while it runs: how far it is, on how many threads it may run, and a flag that ends it.
//! Shared by threads.
//!
//! Source: none. A computation asks [`RunMonitor::is_stopped`] about once a millisecond, and several times a second whatever it
//! computes, and returns without a result if it is; the wall clock and the interpreter's signals stay with the caller, in `asks`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Asked by the thread that computes; true ends the computation.
type Asks = Box<dyn Fn() -> bool + Send + Sync>;

/// See the [module](self). A clone is the same monitor.
#[derive(Clone, Default)]
pub struct RunMonitor(Arc<State>);

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    /// Bits of a number from 0 to 1.
    share: AtomicU64,
    /// Threads beside the one that computes.
    spare: AtomicUsize,
    asks: Option<Asks>,
}

impl RunMonitor {
    /// A monitor whose `asks` is called whenever the flag is looked at.
    #[must_use]
    pub fn asking(asks: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(State { asks: Some(Box::new(asks)), ..State::default() }))
    }

    /// Stops computations under this monitor at their next check; those that begin later stop at their first.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether to return without a result.
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        if let Some(asks) = &self.0.asks
            && asks()
        {
            self.stop();
        }
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Whether it was stopped: for threads that help the one that computes, which alone asks.
    #[inline]
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Gives the computation `threads` threads, itself included, from its next check on. Results do not depend on it.
    pub fn allow_threads(&self, threads: usize) {
        self.0.spare.store(threads.saturating_sub(1), Ordering::Relaxed);
    }

    /// Number of threads on which the computation may run: one, unless it was given more.
    #[inline]
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.spare.load(Ordering::Relaxed) + 1
    }

    /// Says how much of the run is done, from 0 to 1.
    #[inline]
    pub fn report(&self, share: f64) {
        self.0.share.store(share.to_bits(), Ordering::Relaxed);
    }

    /// Part of the run that is done, from 0 to 1: simulated time, not work.
    #[must_use]
    pub fn share(&self) -> f64 {
        f64::from_bits(self.0.share.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for RunMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stopped = self.0.stopped.load(Ordering::Relaxed);
        f.debug_struct("RunMonitor").field("stopped", &stopped).field("share", &self.share()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_on_until_it_is_stopped() {
        let monitor = RunMonitor::default();
        assert!(!monitor.is_stopped());
        monitor.stop();
        assert!(monitor.is_stopped());
    }

    #[test]
    fn has_one_thread_until_it_is_given_more() {
        let monitor = RunMonitor::default();
        let seen = [3, 0, 1, 2].map(|threads| {
            let before = monitor.threads();
            monitor.allow_threads(threads);
            before
        });
        assert_eq!((seen, monitor.threads()), ([1, 3, 1, 1], 2));
    }

    #[test]
    fn helpers_see_the_flag_and_ask_nothing() {
        let monitor = RunMonitor::asking(|| true);
        assert!(!monitor.was_stopped());
        assert!(monitor.is_stopped() && monitor.was_stopped());
    }

    #[test]
    fn stops_for_good_once_its_question_was_answered_with_yes() {
        let left = AtomicU64::new(2);
        let monitor = RunMonitor::asking(move || left.fetch_sub(1, Ordering::Relaxed) == 1);
        assert!(!monitor.is_stopped());
        assert!(monitor.is_stopped());
        assert!(monitor.is_stopped());
    }

    #[test]
    fn knows_what_was_reported_last() {
        let monitor = RunMonitor::default();
        assert_eq!(monitor.share(), 0.0);
        monitor.report(0.25);
        assert_eq!(monitor.share(), 0.25);
    }
}

//! The outside view of a long computation: its progress, the number of threads it may use, and a flag that stops it.
//! Shared between threads.
//!
//! Source: none. A computation checks [`RunMonitor::is_stopped`] about once per millisecond, and at least several times
//! per second. If it is stopped it returns without a result. The caller handles wall-clock limits and the interpreter's
//! signals in `asks`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Called by the computing thread; true stops the computation.
type Asks = Box<dyn Fn() -> bool + Send + Sync>;

/// See the [module](self). A clone refers to the same monitor.
#[derive(Clone, Default)]
pub struct RunMonitor(Arc<State>);

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    /// Bits of a floating-point number from 0 to 1.
    share: AtomicU64,
    /// Number of threads in addition to the computing one.
    spare: AtomicUsize,
    asks: Option<Asks>,
}

impl RunMonitor {
    /// A monitor that calls `asks` whenever the flag is checked.
    #[must_use]
    pub fn asking(asks: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(State { asks: Some(Box::new(asks)), ..State::default() }))
    }

    /// Stops computations with this monitor at their next check; later ones stop at their first check.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the computation must return without a result.
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

    /// Whether it was stopped, without a call of `asks`: for helper threads, because only the computing thread may call
    /// it.
    #[inline]
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Lets the computation use `threads` threads, including its own, from its next check on. Results do not depend on
    /// it.
    pub fn allow_threads(&self, threads: usize) {
        self.0.spare.store(threads.saturating_sub(1), Ordering::Relaxed);
    }

    /// Number of threads that the computation may use; one unless [`Self::allow_threads`] set more.
    #[inline]
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.spare.load(Ordering::Relaxed) + 1
    }

    /// Reports the share of the run that is done, from 0 to 1.
    #[inline]
    pub fn report(&self, share: f64) {
        self.0.share.store(share.to_bits(), Ordering::Relaxed);
    }

    /// Share of the run that is done, from 0 to 1, in simulated time.
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

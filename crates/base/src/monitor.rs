//! A long computation seen from outside while it runs: how far it is, and a flag that ends it. Shared by threads.
//!
//! Source: none. Whoever computes asks [`RunMonitor::is_stopped`] about once a millisecond (the engine once a window) and
//! returns without a result if it is; the wall clock and the interpreter's signals stay with the caller, in `asks`.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Asked by the thread that computes; true ends the computation.
type Asks = Box<dyn Fn() -> bool + Send + Sync>;

/// See the [module](self).
#[derive(Default)]
pub struct RunMonitor {
    stopped: AtomicBool,
    /// Bits of a number from 0 to 1.
    share: AtomicU64,
    asks: Option<Asks>,
}

impl RunMonitor {
    /// A monitor whose `asks` is called whenever the flag is looked at.
    #[must_use]
    pub fn asking(asks: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { asks: Some(Box::new(asks)), ..Self::default() }
    }

    /// Ends what runs under this monitor, at its next look; what begins later ends at its first.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether to return without a result.
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        if let Some(asks) = &self.asks
            && asks()
        {
            self.stop();
        }
        self.stopped.load(Ordering::Relaxed)
    }

    /// Says how much of the run is done, from 0 to 1.
    #[inline]
    pub fn report(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }

    /// How much of the run is done, from 0 to 1: simulated time, not work.
    #[must_use]
    pub fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for RunMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stopped = self.stopped.load(Ordering::Relaxed);
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

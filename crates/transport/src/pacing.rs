//! When the next segment may leave, for senders that pace.
//!
//! A fast retransmit, a probe and the first segment after a timeout leave at once even where the sender paces; they count for
//! the pace of what follows. The rate is the control's ([`law::CongestionControl::pacing_rate`]); nothing here knows where it
//! comes from, and a sender of any law and recovery may keep one.

use base::{Span, Time};

/// The pace of one sender.
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    free_at: Time,
    /// Segments of the present burst that may still leave with it.
    left: u32,
}

impl Pacing {
    /// Nothing has left.
    #[must_use]
    pub fn new() -> Self {
        Self { free_at: Time::ZERO, left: 0 }
    }

    /// When the next segment may leave: `None` if now.
    #[inline]
    #[must_use]
    pub fn wait(&self, now: Time) -> Option<Time> {
        (self.left == 0 && self.free_at > now).then_some(self.free_at)
    }

    /// A segment leaves, at `rate` segments per second in bursts of `burst`.
    pub fn on_transmit(&mut self, now: Time, rate: f64, burst: u32) {
        let from = if self.left > 0 { self.free_at } else { self.free_at.max(now) };
        self.free_at = from + Span::from_secs(1.0 / rate);
        self.left = if self.left > 0 { self.left - 1 } else { burst - 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Time = Time(Span::millis(1).0);

    #[test]
    fn segments_leave_one_interval_apart() {
        let mut pacing = Pacing::new();
        assert_eq!(pacing.wait(MS), None);
        pacing.on_transmit(MS, 100.0, 1);
        assert_eq!(pacing.wait(MS), Some(MS + Span::millis(10)));
        assert_eq!(pacing.wait(MS + Span::millis(10)), None);
        // What leaves before its time takes its interval from those after it.
        pacing.on_transmit(MS, 100.0, 1);
        assert_eq!(pacing.wait(MS), Some(MS + Span::millis(20)));
    }

    #[test]
    fn a_burst_leaves_at_once_and_is_paid_for() {
        let mut pacing = Pacing::new();
        for _ in 0..3 {
            assert_eq!(pacing.wait(MS), None);
            pacing.on_transmit(MS, 100.0, 3);
        }
        assert_eq!(pacing.wait(MS), Some(MS + Span::millis(30)));
    }

    #[test]
    fn time_not_used_is_lost() {
        let mut pacing = Pacing::new();
        pacing.on_transmit(MS, 100.0, 1);
        let late = MS + Span::millis(500);
        pacing.on_transmit(late, 100.0, 1);
        assert_eq!(pacing.wait(late), Some(late + Span::millis(10)));
    }
}

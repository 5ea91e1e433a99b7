//! Limits of a link's senders while the link was idle, sampled at the ends of short steps.
//!
//! The idle time of a step is divided equally among the senders. That a sender was waiting for its retransmission timer
//! is known only when the timer expires; the charges of this sender since its last progress are then moved to the
//! timeout.

use base::{Span, Time};
use law::CongestionControl;
use transport::{Phase, SendLimit, Sender};

/// Limit of a sender while a link is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IdleLimit {
    /// The sender waits for its retransmission timer.
    Timeout,
    /// The sender repairs losses.
    Recovery,
    /// Slow start.
    SlowStart,
    /// Congestion window outside of slow start.
    Window,
    /// Receive window.
    ReceiveWindow,
    /// The application offers no data.
    Application,
}

impl IdleLimit {
    /// All limits, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Timeout, Self::Recovery, Self::SlowStart, Self::Window, Self::ReceiveWindow, Self::Application];

    /// The present limit of a sender. A control that sets its own window (BBR) is never in slow start.
    fn of<C: CongestionControl>(sender: &Sender<C>) -> Self {
        let (limit, control) = (sender.info().limit(), sender.control());
        let (cwnd, ssthresh) = (control.cwnd(), control.ssthresh());
        if limit.is_none() {
            Self::Application
        } else if sender.phase() != Phase::Open {
            Self::Recovery
        } else if limit == Some(SendLimit::App) {
            Self::Application
        } else if limit == Some(SendLimit::Rwnd) {
            Self::ReceiveWindow
        } else if cwnd < ssthresh && !(ssthresh.is_infinite() && control.pacing_rate().is_some()) {
            Self::SlowStart
        } else {
            Self::Window
        }
    }

    /// The limit's name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Recovery => "recovery",
            Self::SlowStart => "slow_start",
            Self::Window => "window",
            Self::ReceiveWindow => "receive_window",
            Self::Application => "application",
        }
    }
}

/// Idle time of one step, and the number of senders under each limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleStep {
    /// End of the step.
    pub end: Time,
    pub idle: Span,
    senders: [u32; IdleLimit::ALL.len()],
}

impl IdleStep {
    /// Adds the idle time to `sums`; their total grows by exactly that time.
    pub fn add_to(&self, sums: &mut [Span; IdleLimit::ALL.len()]) {
        let total = u64::from(self.senders.iter().sum::<u32>()).max(1);
        let mut left = self.idle;
        for (sum, &senders) in sums.iter_mut().zip(&self.senders) {
            let share = Span((u128::from(self.idle.0) * u128::from(senders) / u128::from(total)) as u64);
            *sum = *sum + share;
            left = left - share;
        }
        // The remainder of the division goes to the most frequent limit; without senders it goes to the application.
        let most = (0..sums.len()).rev().max_by_key(|&limit| self.senders[limit]);
        let most = most.filter(|&limit| self.senders[limit] > 0).unwrap_or(IdleLimit::Application as usize);
        sums[most] = sums[most] + left;
    }
}

/// Counters of a sender at the last step, and its limits since its last progress.
#[derive(Clone, Debug, Default)]
struct Progress {
    sent: u64,
    delivered: u64,
    timeouts: u32,
    /// Steps since the last progress, and the limit that was counted in each.
    since: Vec<(usize, IdleLimit)>,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct SenderLimits {
    progress: Vec<Progress>,
    limits: Vec<Option<IdleLimit>>,
    /// Steps with idle time.
    pub steps: Vec<IdleStep>,
}

impl SenderLimits {
    /// Samples `senders` at the end of a step that had `idle` time. For each: a number, counted from 0, whether it is a
    /// place of a session, and the sender.
    pub fn take<'a, C: CongestionControl + 'a>(
        &mut self,
        end: Time,
        idle: Span,
        senders: impl Iterator<Item = (usize, bool, &'a Sender<C>)>,
    ) {
        let (step, mut counts) = (self.steps.len(), [0; IdleLimit::ALL.len()]);
        for (i, is_place, sender) in senders {
            if self.progress.len() <= i {
                self.progress.resize(i + 1, Progress::default());
                self.limits.resize(i + 1, None);
            }
            let (counters, progress) = (sender.counters(), &mut self.progress[i]);
            let timed_out = counters.timeouts > progress.timeouts;
            let now = (counters.sent, sender.delivered());
            if timed_out {
                for (step, limit) in progress.since.drain(..) {
                    let counts = &mut self.steps[step].senders;
                    counts[limit as usize] -= 1;
                    counts[IdleLimit::Timeout as usize] += 1;
                }
            } else if now != (progress.sent, progress.delivered) {
                progress.since.clear();
            }
            (progress.sent, progress.delivered) = now;
            progress.timeouts = counters.timeouts;
            // A place without an open transfer is not counted as a sender.
            self.limits[i] = (!is_place || !sender.seq().is_done())
                .then(|| if timed_out { IdleLimit::Timeout } else { IdleLimit::of(sender) });
            if let Some(limit) = self.limits[i].filter(|_| idle > Span::ZERO) {
                counts[limit as usize] += 1;
                progress.since.push((step, limit));
            }
        }
        if idle > Span::ZERO {
            self.steps.push(IdleStep { end, idle, senders: counts });
        }
    }

    /// The limit of sender `i` in the last step.
    pub fn of(&self, i: usize) -> IdleLimit {
        self.limits.get(i).copied().flatten().unwrap_or(IdleLimit::Application)
    }
}

/// Idle time of the run by the limits of its senders, in the order of time.
#[derive(Debug)]
pub struct IdleLedger<'a> {
    steps: std::slice::Iter<'a, IdleStep>,
    /// Remainder of the last step.
    left: Option<IdleStep>,
}

impl<'a> IdleLedger<'a> {
    /// A ledger of these steps.
    pub fn new(steps: &'a [IdleStep]) -> Self {
        Self { steps: steps.iter(), left: None }
    }

    /// Takes the next `idle` time, divided by limit.
    pub fn take(&mut self, mut idle: Span) -> [Span; IdleLimit::ALL.len()] {
        let mut sums = [Span::ZERO; IdleLimit::ALL.len()];
        while idle > Span::ZERO
            && let Some(step) = self.left.take().or_else(|| self.steps.next().copied())
        {
            let (mut part, mut left) = (step, step);
            part.idle = step.idle.min(idle);
            left.idle = step.idle - part.idle;
            part.add_to(&mut sums);
            idle = idle - part.idle;
            self.left = Some(left).filter(|left| left.idle > Span::ZERO);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_divided_among_the_senders_without_a_remainder() {
        let mut senders = [0; IdleLimit::ALL.len()];
        (senders[IdleLimit::Timeout as usize], senders[IdleLimit::SlowStart as usize]) = (1, 2);
        let mut sums = [Span::ZERO; IdleLimit::ALL.len()];
        IdleStep { end: Time(9), idle: Span(100), senders }.add_to(&mut sums);
        assert_eq!((sums[IdleLimit::Timeout as usize], sums[IdleLimit::SlowStart as usize]), (Span(33), Span(67)));
        assert_eq!(sums.iter().fold(Span::ZERO, |sum, span| sum + *span), Span(100));
        // No sender is active.
        IdleStep { end: Time(9), idle: Span(5), senders: [0; IdleLimit::ALL.len()] }.add_to(&mut sums);
        assert_eq!(sums[IdleLimit::Application as usize], Span(5));
    }

    #[test]
    fn a_step_is_divided_where_a_period_ends() {
        let of = |end, limit: IdleLimit| {
            let mut senders = [0; IdleLimit::ALL.len()];
            senders[limit as usize] = 1;
            IdleStep { end: Time(end), idle: Span(10), senders }
        };
        let steps = [of(20, IdleLimit::SlowStart), of(40, IdleLimit::Application)];
        let mut ledger = IdleLedger::new(&steps);
        let sums = [4, 9, 7].map(|idle| {
            let sums = ledger.take(Span(idle));
            [IdleLimit::SlowStart, IdleLimit::Application].map(|limit| sums[limit as usize].0)
        });
        assert_eq!(sums, [[4, 0], [6, 3], [0, 7]]);
    }
}

//! A sender's timers: when each expires, if it runs.
//!
//! Source: RFC 6298, Section 5 (retransmission); RFC 8985, Sections 6.2 (reordering) and 7.2 (probe).

use base::Time;

/// Each is `NEVER` while it does not run.
#[derive(Clone, Debug)]
pub struct Timers {
    rto: Time,
    /// The earliest of the others.
    other: Time,
    /// Once one of them has run: most senders have none, and should not pay for the room.
    others: Option<Box<Others>>,
}

/// Timers beside that of retransmission.
#[derive(Clone, Debug)]
struct Others {
    /// A segment waits for the pace.
    pacing: Time,
    /// RACK judges segments again.
    reorder: Time,
    /// The tail-loss probe leaves.
    probe: Time,
}

impl Timers {
    /// None runs.
    #[must_use]
    pub fn new() -> Self {
        Self { rto: Time::NEVER, other: Time::NEVER, others: None }
    }

    /// When the first of them expires.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.rto.min(self.other)
    }

    /// Sets one of the others, which `which` picks, to `at`.
    #[inline]
    fn set(&mut self, at: Time, which: impl FnOnce(&mut Others) -> &mut Time) {
        if self.others.is_none() && at == Time::NEVER {
            return;
        }
        let others = self.others.get_or_insert_with(|| Box::new(Others::NONE));
        *which(others) = at;
        self.other = others.pacing.min(others.reorder).min(others.probe);
    }

    /// When the first of them but the pacing timer expires.
    #[inline]
    #[must_use]
    pub fn deadline_but_pacing(&self) -> Time {
        self.others.as_deref().map_or(self.rto, |others| self.rto.min(others.reorder).min(others.probe))
    }

    /// When a segment that waits for the pace leaves.
    #[inline]
    #[must_use]
    pub fn pacing(&self) -> Time {
        self.others.as_deref().map_or(Time::NEVER, |others| others.pacing)
    }

    /// When the retransmission timer expires.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> Time {
        self.rto
    }

    /// The retransmission timer expires at `at`, whatever it was set to before.
    #[inline]
    pub fn set_rto(&mut self, at: Time) {
        self.rto = at;
    }

    /// The retransmission timer expires at `at`, unless it runs already (RFC 6298, 5.1).
    #[inline]
    pub fn start_rto(&mut self, at: Time) {
        if self.rto == Time::NEVER {
            self.rto = at;
        }
    }

    /// The next segment may leave at `at`; `NEVER` if none waits.
    #[inline]
    pub fn set_pacing(&mut self, at: Time) {
        self.set(at, |others| &mut others.pacing);
    }

    /// Whether a segment waits for the pace.
    #[inline]
    #[must_use]
    pub fn is_pacing(&self) -> bool {
        self.others.as_ref().is_some_and(|others| others.pacing != Time::NEVER)
    }

    /// RACK judges segments again at `at`.
    pub fn set_reorder(&mut self, at: Time) {
        self.set(at, |others| &mut others.reorder);
    }

    /// RACK has nothing to judge again.
    #[inline]
    pub fn stop_reorder(&mut self) {
        if self.others.as_deref().is_some_and(|others| others.reorder != Time::NEVER) {
            self.set_reorder(Time::NEVER);
        }
    }

    /// The probe leaves at `at`.
    #[inline]
    pub fn set_probe(&mut self, at: Time) {
        self.set(at, |others| &mut others.probe);
    }

    /// Whether the retransmission timer has expired.
    #[must_use]
    pub fn is_rto_due(&self, now: Time) -> bool {
        self.rto <= now
    }

    /// Which of the other timers have expired, if any has. The pacing timer stops by that; RACK resets its own.
    pub fn take_others_due(&mut self, now: Time) -> Option<Due> {
        if now < self.other {
            return None;
        }
        let others = self.others.as_deref()?;
        let (pacing, due) = (others.pacing <= now, Due { reorder: others.reorder <= now, probe: others.probe <= now });
        if pacing {
            self.set_pacing(Time::NEVER);
        }
        Some(due)
    }
}

impl Others {
    const NONE: Self = Self { pacing: Time::NEVER, reorder: Time::NEVER, probe: Time::NEVER };
}

/// Timers of RACK that have expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The reordering timer.
    pub reorder: bool,
    /// The probe's timer.
    pub probe: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_the_deadline() {
        let mut timers = Timers::new();
        assert_eq!(timers.deadline(), Time::NEVER);
        timers.set_rto(Time(40));
        timers.set_probe(Time(30));
        timers.set_reorder(Time(20));
        timers.set_pacing(Time(10));
        assert_eq!(timers.deadline(), Time(10));
        assert_eq!(timers.take_others_due(Time(9)), None);
        assert_eq!(timers.take_others_due(Time(10)), Some(Due { reorder: false, probe: false }), "pacing alone");
        assert_eq!(timers.deadline(), Time(20), "pacing waits for nothing now");
        assert_eq!(timers.take_others_due(Time(30)), Some(Due { reorder: true, probe: true }));
        assert!(!timers.is_rto_due(Time(39)) && timers.is_rto_due(Time(40)));
    }

    #[test]
    fn a_running_retransmission_timer_is_not_started_again() {
        let mut timers = Timers::new();
        timers.start_rto(Time(5));
        timers.start_rto(Time(9));
        assert_eq!(timers.rto(), Time(5));
        timers.set_rto(Time::NEVER);
        timers.start_rto(Time(9));
        assert_eq!(timers.rto(), Time(9));
    }
}

//! Timers of a sender, with their expiry times.
//!
//! Source: RFC 6298, Section 5 (retransmission); RFC 8985, Sections 6.2 (reordering) and 7.2 (probe).

use base::Time;

/// Expiry times; `NEVER` for a stopped timer.
#[derive(Clone, Debug)]
pub struct Timers {
    rto: Time,
    /// Pacing timer.
    pacing: Time,
    /// Reordering timer of RACK.
    reorder: Time,
    /// Timer of the tail-loss probe.
    probe: Time,
}

impl Timers {
    /// No timer is set.
    #[must_use]
    pub fn new() -> Self {
        Self { rto: Time::NEVER, pacing: Time::NEVER, reorder: Time::NEVER, probe: Time::NEVER }
    }

    /// Expiry of the first of them.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.rto.min(self.others())
    }

    /// Expiry of the first of them except the retransmission timer.
    #[inline]
    fn others(&self) -> Time {
        self.pacing.min(self.reorder.min(self.probe))
    }

    /// Expiry of the first of them except the pacing timer.
    #[inline]
    #[must_use]
    pub fn deadline_but_pacing(&self) -> Time {
        self.rto.min(self.reorder.min(self.probe))
    }

    /// Expiry of the first of them except the reordering timer.
    #[inline]
    #[must_use]
    pub fn deadline_but_reorder(&self) -> Time {
        self.rto.min(self.pacing.min(self.probe))
    }

    /// Time at which a paced segment is sent.
    #[inline]
    #[must_use]
    pub fn pacing(&self) -> Time {
        self.pacing
    }

    /// Expiry of the retransmission timer.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> Time {
        self.rto
    }

    /// Sets the retransmission timer to `at`, whatever it was set to before.
    #[inline]
    pub fn set_rto(&mut self, at: Time) {
        self.rto = at;
    }

    /// Sets the retransmission timer to `at`, unless it is set already (RFC 6298, 5.1).
    #[inline]
    pub fn start_rto(&mut self, at: Time) {
        if self.rto == Time::NEVER {
            self.rto = at;
        }
    }

    /// Sets the pacing timer to `at`; `NEVER` stops it.
    #[inline]
    pub fn set_pacing(&mut self, at: Time) {
        self.pacing = at;
    }

    /// Whether the pacing timer is set.
    #[inline]
    #[must_use]
    pub fn is_pacing(&self) -> bool {
        self.pacing != Time::NEVER
    }

    /// Sets the reordering timer of RACK to `at`; `NEVER` stops it.
    #[inline]
    pub fn set_reorder(&mut self, at: Time) {
        self.reorder = at;
    }

    /// Sets the timer of the tail-loss probe to `at`.
    #[inline]
    pub fn set_probe(&mut self, at: Time) {
        self.probe = at;
    }

    /// Whether the retransmission timer has expired.
    #[must_use]
    pub fn is_rto_due(&self, now: Time) -> bool {
        self.rto <= now
    }

    /// Takes an expired timer, other than the retransmission timer, if there is one. This stops the pacing timer; RACK
    /// resets its own.
    pub fn take_others_due(&mut self, now: Time) -> Option<Due> {
        if now < self.others() {
            return None;
        }
        let due = Due { reorder: self.reorder <= now, probe: self.probe <= now };
        if self.pacing <= now {
            self.set_pacing(Time::NEVER);
        }
        Some(due)
    }
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
        assert_eq!(timers.deadline(), Time(20), "the pacing timer is stopped");
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

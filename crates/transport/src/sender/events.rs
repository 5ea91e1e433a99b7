//! Events of a sender for the log of its wire. Without a log these functions do nothing.

use super::core::Core;
use crate::Wire;
use crate::events::{CaState, EventKind, EventLog, Reason, Window};
use crate::loss::rules::{AckInfo, Loss, Next};
use crate::state::Phase;
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Core<C> {
    /// Log of the wire, if it keeps one. The log stores the present state of the sender, for comparison with later events.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK; without a log it must vanish")]
    pub(super) fn log<'w>(&self, wire: &'w mut impl Wire) -> Option<&'w mut EventLog> {
        let log = wire.log()?;
        log.note(self.state.seq.una(), self.window_now(), self.state.rtt.rto());
        Some(log)
    }

    fn window_now(&self) -> Window {
        Window { cwnd: self.state.control.cwnd(), ssthresh: self.state.control.ssthresh() }
    }

    /// State of loss recovery, as Linux names it.
    fn ca_state<L: Loss>(&self, loss: &L) -> CaState {
        // While a probe is outstanding RACK is not quiet, although no segment is missing.
        let suspects = if L::USES_DEPARTURES { loss.sacked() > 0 || loss.has_lost() } else { !loss.is_quiet() };
        match self.state.phase {
            Phase::Open if suspects => CaState::Disorder,
            Phase::Open => CaState::Open,
            Phase::Reduction => CaState::Cwr,
            Phase::Recovery => CaState::Recovery,
            Phase::Loss => CaState::Loss,
        }
    }

    /// Logs that the state becomes `state`, with the change of the window since [`Self::log`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "without a log it must vanish")]
    pub(super) fn log_state(&self, now: Time, state: CaState, reason: Reason, wire: &mut impl Wire) {
        if let Some(log) = wire.log() {
            log.enter(now, state, reason, self.window_now());
        }
    }

    /// [`Self::log_state`] for a reduction of the window without a recovery.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "without a log it must vanish")]
    pub(super) fn log_cut(&self, now: Time, reason: Reason, wire: &mut impl Wire) {
        self.log_state(now, CaState::Cwr, reason, wire);
    }

    /// [`Self::log_state`] for the end of a recovery or a reduction.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "without a log it must vanish")]
    pub(super) fn log_repaired(&self, loss: &impl Loss, now: Time, reason: Reason, wire: &mut impl Wire) {
        if let Some(log) = wire.log() {
            log.enter(now, self.ca_state(loss), reason, self.window_now());
        }
    }

    /// Logs an event that does not change the window.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "without a log it must vanish")]
    pub(super) fn log_event<'w>(
        &self,
        now: Time,
        kind: EventKind,
        reason: Reason,
        segment: Option<u64>,
        wire: &'w mut impl Wire,
    ) -> Option<&'w mut EventLog> {
        let log = self.log(wire)?;
        log.happen(now, kind, reason, segment);
        Some(log)
    }

    /// Reason and segment of a tail-loss probe.
    pub(super) fn probed(&self, next: Next) -> (Reason, Option<u64>) {
        match next {
            Next::Again(seq) => (Reason::LastSegment, Some(seq)),
            Next::InOrder => (Reason::NewData, Some(self.state.seq.nxt())),
        }
    }

    /// Logs that a reduction was undone.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "without a log it must vanish")]
    pub(super) fn log_undo(&self, now: Time, reason: Reason, wire: &mut impl Wire) {
        if let Some(log) = wire.log() {
            log.undo(now, reason, self.window_now());
        }
    }

    /// Logs, after an ACK, the state Disorder if segments are missing but not declared lost yet, or the end of this state.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every ACK; without a log it must vanish")]
    pub(super) fn log_order(&self, loss: &impl Loss, info: &AckInfo, wire: &mut impl Wire) {
        let Some(log) = self.log(wire) else { return };
        let state = self.ca_state(loss);
        if state != log.state() {
            let reason = match state {
                CaState::Disorder if loss.sacked() > 0 => Reason::Sack,
                CaState::Disorder => Reason::Dupack,
                _ => Reason::Acked,
            };
            log.enter(info.now, state, reason, self.window_now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;
    use crate::loss::cumulative::Cumulative;
    use crate::loss::rack_recovery::RackRecovery;
    use crate::loss::sack::SackRecovery;
    use crate::testing::Driven;

    #[test]
    fn one_drop_is_a_loss_and_a_recovery() {
        let mut driven = Driven::new(SackRecovery::new(Recovery::Sack, false), 20);
        driven.ack(100, 0, &[(1, 3)]);
        assert_eq!(driven.events(), ["ca_state sack 0 Disorder 10 10"]);
        driven.ack(1, 0, &[(1, 4)]);
        assert_eq!(driven.events(), ["lost dup_thresh 0 Disorder 10 10", "ca_state dup_thresh 0 Recovery 10 5"]);
        driven.ack(100, 10, &[]);
        assert_eq!(driven.events(), [""; 0], "two segments of limited transmit are outstanding");
        driven.ack(100, 12, &[]);
        assert_eq!(driven.events(), ["ca_state recovered 12 Open 5 5"]);
    }

    #[test]
    fn a_timeout_logs_its_losses_and_the_number_of_consecutive_timeouts() {
        let mut driven = Driven::new(SackRecovery::new(Recovery::Sack, false), 3);
        driven.time_out();
        let first = driven.log();
        assert_eq!((first[0].rto, first[0].backoff), (base::Span::secs(1), 1));
        let lost = ["lost rto 0 Open 10 10", "lost rto 1 Open 10 10", "lost rto 2 Open 10 10"];
        let events = driven.events();
        assert_eq!(events[0], "rto rto 0 Open 10 10");
        assert_eq!(
            (&events[1..4], &events[4..]),
            (&lost.map(String::from)[..], &["ca_state rto 0 Loss 10 1".into()][..])
        );
        driven.time_out();
        let second = driven.log();
        assert_eq!((second[0].rto, second[0].backoff), (base::Span::secs(2), 2));
        // Only the segment that was sent after the first timeout is lost again.
        assert_eq!(driven.events(), ["rto rto 0 Loss 1 1", "lost rto 0 Loss 1 1", "ca_state rto 0 Loss 1 1"]);
        driven.ack(100, 3, &[]);
        assert_eq!(driven.events(), ["ca_state recovered 3 Open 1 1"]);
    }

    #[test]
    fn a_probe_logs_whether_it_sends_the_last_segment_or_new_data() {
        let mut driven = Driven::new(RackRecovery::new(Recovery::Rack, true), 10);
        driven.ack(100, 9, &[]);
        driven.time_out();
        assert_eq!(driven.events(), ["tlp last_segment 9 Open 10 10"]);
        driven.ack(100, 10, &[]);
        // RFC 8985, 7.4: whether the probe or the original arrived is not known yet, and nothing follows.
        assert_eq!(driven.events(), [""; 0]);
        let mut driven = Driven::new(RackRecovery::new(Recovery::Rack, true), crate::NO_END);
        driven.ack(100, 9, &[]);
        driven.time_out();
        assert!(driven.events()[0].starts_with("tlp new_data "));
    }

    #[test]
    fn rack_finds_losses_by_time() {
        let mut driven = Driven::new(RackRecovery::new(Recovery::Rack, true), 10);
        driven.ack(100, 1, &[]);
        driven.ack(1, 1, &[(9, 10)]);
        assert_eq!(driven.events(), ["ca_state sack 1 Disorder 10 10"]);
        driven.time_out();
        let events = driven.events();
        assert_eq!(events[..2], ["reo_timer reo_timer 1 Disorder 10 10", "lost reo_timer 1 Disorder 10 10"]);
        assert_eq!(events.last().map(String::as_str), Some("ca_state reo_timer 1 Recovery 10 5"));
    }

    #[test]
    fn an_undone_recovery_logs_the_proof_that_it_was_spurious() {
        let mut driven = Driven::undoing(SackRecovery::new(Recovery::Sack, false));
        driven.ack(100, 0, &[(1, 4)]);
        driven.events();
        driven.duplicate(10, 4, (0, 1));
        assert_eq!(driven.events(), ["undo dsack 4 Recovery 5 10", "ca_state undo 4 Open 10 10"]);
    }

    #[test]
    fn an_undone_timeout_logs_that_an_original_arrived() {
        let mut driven = Driven::undoing(RackRecovery::new(Recovery::Rack, true));
        driven.ack(100, 1, &[]);
        while driven.core.state.phase != Phase::Loss {
            driven.time_out();
        }
        driven.events();
        driven.ack(1, 3, &[]);
        let events = driven.events();
        assert!(events[0].starts_with("undo frto 3 Loss 1 1"), "{events:?}");
        assert!(events[1].starts_with("ca_state undo 3 Open"), "{events:?}");
    }

    #[test]
    fn without_sack_duplicates_and_partial_acks_show_losses() {
        let mut driven = Driven::new(Cumulative::new(Recovery::NewReno, false), crate::NO_END);
        for _ in 0..3 {
            driven.ack(10, 0, &[]);
        }
        let begins = ["lost dup_thresh 0 Disorder 10 10", "ca_state dup_thresh 0 Recovery 10 5"];
        assert_eq!(driven.events(), [&["ca_state dupack 0 Disorder 10 10"][..], &begins[..]].concat());
        driven.ack(100, 4, &[]);
        assert_eq!(driven.events(), ["lost partial_ack 4 Recovery 5 5"]);
        let mut driven = Driven::new(Cumulative::new(Recovery::Tahoe, false), crate::NO_END);
        for _ in 0..3 {
            driven.ack(10, 0, &[]);
        }
        assert_eq!(driven.events().last().map(String::as_str), Some("ca_state dup_thresh 0 Loss 10 1"));
    }
}

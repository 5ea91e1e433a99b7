//! Loss recoveries that prove to be spurious: what BBR saves before one, and restores after it.
//!
//! Source: draft-ietf-ccwg-bbr-06, Section 5.5.11.
//! Differs from the source: the bounds are saved once per recovery, before its first loss changes them. The draft saves them
//! again in each round with losses and at the start of the recovery, when the first losses have already set them.

use super::{Bbr, State};

/// State before the losses of a recovery (`undo_state`, `undo_bw_shortterm`, `undo_inflight_shortterm`,
/// `undo_inflight_longterm`).
#[derive(Clone, Debug)]
pub(super) struct Undo {
    /// State that the losses ended, if they did: Startup or `ProbeBW_UP`.
    pub state: Option<State>,
    pub bw_shortterm: f64,
    pub inflight_shortterm: f64,
    pub inflight_longterm: f64,
    /// Whether the values are those before losses whose recovery has not ended yet.
    is_saved: bool,
    /// Whether an undo has begun a refill. The round of the refill then begins when the deliveries of the same ACK are
    /// counted.
    refills: bool,
}

impl Default for Undo {
    fn default() -> Self {
        Self {
            state: None,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            is_saved: false,
            refills: false,
        }
    }
}

impl Undo {
    /// The recovery is over. Its values stay: duplicates may still prove it spurious.
    pub fn end(&mut self) {
        self.is_saved = false;
    }
}

impl Bbr {
    /// `SaveStateUponLoss` without the window, which `save_cwnd` saves.
    pub(super) fn save_state_upon_loss(&mut self) {
        if !self.undo.is_saved {
            self.undo = Undo {
                state: None,
                bw_shortterm: self.bw_shortterm,
                inflight_shortterm: self.inflight_shortterm,
                inflight_longterm: self.inflight_longterm,
                is_saved: true,
                refills: self.undo.refills,
            };
        }
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss(&mut self) {
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.full_pipe.restart(0.0);
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter(State::Startup);
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill();
                self.undo.refills = true;
            }
            _ => {}
        }
    }

    /// Begins the round of a refill that an undo has begun, after the deliveries of its ACK were counted.
    pub(super) fn start_round_after_undo(&mut self) {
        if std::mem::take(&mut self.undo.refills) {
            self.start_round();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cruising, delivery, lost};
    use super::super::*;

    fn begun(bbr: &mut Bbr, signal: Signal) {
        bbr.on_congestion(&CongestionEvent::plain(Time::ZERO + Span::secs(2), signal, Span::millis(100)));
    }

    #[test]
    fn a_probe_that_spurious_losses_ended_begins_again() {
        let mut bbr = cruising();
        bbr.start_refill();
        bbr.start_up(bbr.bw);
        bbr.is_bw_probe_sample = true;
        bbr.inflight_longterm = 200_000.0;
        bbr.on_lost(&lost(2001.0));
        begun(&mut bbr, Signal::Loss);
        assert_eq!((bbr.state, bbr.inflight_longterm), (State::Down, 99_999.0));
        bbr.on_recovered();
        bbr.on_undo(0.0, 0.0);
        assert_eq!((bbr.state, bbr.inflight_longterm), (State::Refill, 200_000.0));
        // The ACK that causes the undo is for a segment sent before the refill. It therefore only begins the refill's
        // round, even if it reports another loss.
        bbr.on_lost(&lost(1.0));
        bbr.on_delivery(&delivery(Time::ZERO + Span::secs(2), 500_100));
        assert_eq!((bbr.state, bbr.next_round_delivered), (State::Refill, 500_100));
        // A second report restores nothing more.
        bbr.enter(State::Cruise);
        bbr.on_undo(0.0, 0.0);
        assert_eq!(bbr.state, State::Cruise);
    }

    #[test]
    fn startup_that_spurious_losses_ended_goes_on() {
        let mut bbr = cruising();
        bbr.full_bw_reached = false;
        bbr.enter(State::Startup);
        bbr.on_lost(&lost(1.0));
        begun(&mut bbr, Signal::Loss);
        bbr.leave_startup();
        bbr.undo.state = Some(State::Startup);
        bbr.enter(State::Drain);
        for (state, after) in [(State::ProbeRtt, State::ProbeRtt), (State::Drain, State::Startup)] {
            let mut bbr = bbr.clone();
            bbr.enter(state);
            bbr.on_undo(0.0, 0.0);
            assert_eq!((bbr.state, bbr.full_bw_reached, bbr.full_pipe.reached), (after, false, false));
            assert!(bbr.inflight_longterm.is_infinite());
        }
    }

    #[test]
    fn bounds_are_those_before_the_first_loss_of_a_recovery() {
        let mut bbr = cruising();
        let cwnd = bbr.cwnd;
        for signal in [Signal::Loss, Signal::Timeout] {
            bbr.on_lost(&lost(1.0));
            begun(&mut bbr, signal);
            bbr.lower_bounds();
            bbr.on_lost(&lost(2.0));
            assert!(bbr.bw_shortterm.is_finite() && bbr.undo.bw_shortterm.is_infinite());
        }
        bbr.cwnd = 1.0;
        bbr.on_undo(0.0, 0.0);
        assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (f64::INFINITY, f64::INFINITY));
        assert_eq!((bbr.cwnd, bbr.state), (cwnd, State::Cruise));
        // The next recovery saves anew, a mark does not.
        bbr.on_recovered();
        bbr.bw_shortterm = 5.0;
        begun(&mut bbr, Signal::Ecn);
        assert!(bbr.undo.bw_shortterm.is_infinite());
        begun(&mut bbr, Signal::Loss);
        assert_eq!(bbr.undo.bw_shortterm, 5.0);
    }
}

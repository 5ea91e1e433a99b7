//! BBR's state machine: when to send faster, slower or with little in flight.
//!
//! Source: draft-ietf-ccwg-bbr-06, Section 5.3.

use super::{Acks, Bbr, Sample, State};
use crate::{Delivery, larger, scrambled, smaller};
use base::time::PS_PER_S;
use base::{Span, Time};

/// Number of ACKs with losses in a round from which Startup may end (`BBRStartupFullLossCnt`); counted as in Linux.
const STARTUP_LOSSES: u32 = 6;
/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;
/// Rounds after which Reno at 25 Mbit/s and 30 ms would have filled its window (`T_reno_bound`).
const RENO_ROUNDS: f64 = 63.0;

impl Bbr {
    /// `CheckStartupHighLoss`, then the end of Startup at a plateau of the rate.
    pub(super) fn check_startup_done(&mut self, delivery: &Delivery) {
        let lossy = delivery.recovering && self.losses_in_round >= STARTUP_LOSSES;
        if self.loss_round_start {
            if !self.full_bw_reached && lossy && self.is_too_high(delivery.lost, delivery.tx_in_flight) {
                self.undo.state = Some(State::Startup);
                self.leave_startup();
            }
            self.losses_in_round = 0;
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.enter(State::Drain);
            self.drain_start_round = self.round_count;
        }
    }

    pub(super) fn leave_startup(&mut self) {
        self.full_pipe.reached = true;
        self.full_bw_reached = true;
        self.inflight_longterm = self.bdp_multiple(self.bw, 1.0).max(self.inflight_latest);
    }

    pub(super) fn check_drain_done(&mut self) {
        if self.state == State::Drain
            && (self.in_flight <= self.inflight(self.bw, 1.0)
                || self.round_count > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down();
        }
    }

    pub(super) fn update_probe_bw_cycle(&mut self, sample: &Sample) {
        if !self.full_bw_reached || self.adapt_long_term_model(sample) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe_bw() => self.start_refill(),
            State::Down if self.is_time_to_cruise() => self.enter(State::Cruise),
            State::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(sample.rate);
            }
            State::Up if self.is_time_to_go_down(sample) => {
                self.prev_probe_too_high = false;
                self.start_down();
            }
            _ => {}
        }
    }

    /// Returns whether it has begun the next state.
    fn adapt_long_term_model(&mut self, sample: &Sample) -> bool {
        if self.round_start && self.acks == Acks::Starting {
            self.acks = Acks::Feedback;
        }
        if self.round_start && self.acks == Acks::Stopping {
            self.is_bw_probe_sample = false;
            self.acks = Acks::Init;
            if self.is_in_probe_bw() && !sample.app_limited {
                self.max_rate.advance();
            }
            if self.is_in_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        let tx_in_flight = sample.delivery.tx_in_flight;
        if self.inflight_longterm.is_finite() && !self.is_too_high(sample.delivery.lost, tx_in_flight) {
            self.inflight_longterm = larger(self.inflight_longterm, tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(sample.delivery.newly_delivered);
            }
        }
        false
    }

    pub(super) fn start_down(&mut self) {
        self.is_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait. Flows draw different values, because no two flows get an ACK in the same picosecond after the
        // same number of deliveries.
        let dice = scrambled(self.now.0 ^ self.delivered.rotate_left(32));
        self.rounds_since_probe_up = dice & 1;
        self.bw_probe_wait = self.p.probe_wait + Span((dice >> 1) % PS_PER_S);
        self.cycle_stamp = self.now;
        self.acks = Acks::Stopping;
        self.start_round();
        self.enter(State::Down);
    }

    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.acks = Acks::Refilling;
        self.start_round();
        self.enter(State::Refill);
    }

    pub(super) fn start_up(&mut self, rate: f64) {
        self.acks = Acks::Starting;
        self.start_round();
        self.full_pipe.restart(rate);
        self.enter(State::Up);
        self.raise_inflight_longterm_slope();
    }

    fn is_time_to_probe_bw(&self) -> bool {
        self.now.since(self.cycle_stamp) > self.bw_probe_wait
            || self.rounds_since_probe_up as f64 >= smaller(self.target_inflight(), RENO_ROUNDS)
    }

    fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.inflight_with_headroom() && self.in_flight <= self.inflight(self.max_rate.get(), 1.0)
    }

    fn is_time_to_go_down(&mut self, sample: &Sample) -> bool {
        // The number in flight is whole, and smaller by one after the ACK. With a window at the bound it therefore
        // reaches the bound just before the ACK.
        if self.prev_probe_too_high && sample.delivery.prior_in_flight >= self.inflight_longterm.floor() {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.cwnd_use.is_limited() && self.cwnd >= self.inflight_longterm {
            // The bound, not the path, held the rate back.
            self.full_pipe.restart(sample.rate);
            return false;
        }
        self.full_pipe.reached
    }

    pub(super) fn raise_inflight_longterm_slope(&mut self) {
        let growth = (1u64 << self.bw_probe_up_rounds) as f64;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(1.0);
    }

    fn probe_inflight_longterm_upward(&mut self, acked: f64) {
        if !self.cwnd_use.is_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    pub(super) fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.enter(State::ProbeRtt);
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
            self.acks = Acks::Stopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
    }

    fn handle_probe_rtt(&mut self) {
        self.held_back.extend(self.delivered, self.in_flight);
        if self.probe_rtt_done_stamp.is_none() {
            if self.in_flight <= self.probe_rtt_cwnd() {
                self.probe_rtt_done_stamp = Some(self.now + self.p.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done();
        }
    }

    pub(super) fn restart_from_idle(&mut self, now: Time) {
        self.now = now;
        self.aggregation.interval.begin(now);
        if self.is_in_probe_bw() {
            let gain = std::mem::replace(&mut self.pacing_gain, 1.0);
            self.set_pacing_rate();
            self.pacing_gain = gain;
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done_stamp.is_some_and(|done| self.now > done) {
            self.probe_rtt_min.stamp = self.now;
            self.restore_cwnd();
            self.reset_short_term_model();
            if self.full_bw_reached {
                self.start_down();
                self.enter(State::Cruise);
            } else {
                self.enter(State::Startup);
            }
        }
    }
}

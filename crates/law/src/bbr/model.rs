//! BBR's model of the path, and the pace and window that follow from it.
//!
//! Source: draft-ietf-ccwg-bbr-06, Sections 5.5 and 5.6.

use super::{Bbr, MIN_PIPE_CWND, Sample, State};
use crate::filters::{MinRtt, UNKNOWN};
use crate::{larger, smaller};
use base::Span;

impl Bbr {
    pub(super) fn update_latest_delivery_signals(&mut self, sample: &Sample) {
        self.bw_latest = larger(self.bw_latest, sample.rate);
        self.inflight_latest = larger(self.inflight_latest, sample.volume);
        self.loss_round_start = sample.delivery.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
    }

    /// `UpdateCongestionSignals` with `UpdateMaxBw` and `UpdateRound`.
    pub(super) fn update_congestion_signals(&mut self, sample: &Sample) {
        self.cwnd_use.update(sample.delivery.prior_in_flight, self.cwnd);
        self.round_start = sample.delivery.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_use.advance();
            self.aggregation.advance(!self.full_bw_reached);
        }
        if sample.rate > 0.0 && (sample.rate >= self.max_rate.get() || !sample.app_limited) {
            self.max_rate.update(sample.rate);
        }
        if !self.loss_round_start {
            return;
        }
        if self.is_loss_in_round && !matches!(self.state, State::Startup | State::Refill | State::Up) {
            self.lower_bounds();
        }
        self.is_loss_in_round = false;
    }

    /// `InitLowerBounds` and `LossLowerBounds`: once per round with losses.
    pub(super) fn lower_bounds(&mut self) {
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_rate.get();
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(self.p.beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(self.p.beta * self.inflight_shortterm);
    }

    pub(super) fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    pub(super) fn note_loss(&mut self) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.save_cwnd();
        }
        self.is_loss_in_round = true;
    }

    pub(super) fn update_min_rtt(&mut self, rtt: Option<Span>) {
        self.probe_rtt_expired = self.probe_rtt_min.is_expired(self.now, self.p.probe_rtt_interval);
        if let Some(rtt) = rtt {
            self.probe_rtt_min.update(MinRtt { rtt, stamp: self.now }, self.probe_rtt_expired);
        }
        let (is_first, min) = (self.min_rtt.rtt == UNKNOWN, self.probe_rtt_min);
        if self.min_rtt.update(min, self.min_rtt.is_expired(self.now, self.p.min_rtt_window)) {
            self.min_rtt_secs = min.rtt.as_secs();
            if is_first && min.rtt > Span::ZERO {
                // InitPacingRate, with the first sample in place of the nominal one.
                self.pacing_rate = self.p.startup_pacing_gain * (self.initial_window / self.min_rtt_secs);
            }
        }
    }

    pub(super) fn is_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * self.p.loss_thresh
    }

    pub(super) fn handle_inflight_too_high(&mut self, tx_in_flight: f64, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !app_limited {
            self.inflight_longterm = tx_in_flight.max(self.target_inflight() * self.p.beta);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down();
        }
    }

    pub(super) fn set_pacing_rate(&mut self) {
        let rate = self.pacing_gain * self.bw * (1.0 - self.p.pacing_margin);
        if rate > self.pacing_rate || (self.full_bw_reached && rate > 0.0) {
            self.pacing_rate = rate;
        }
    }

    pub(super) fn set_cwnd(&mut self, acked: f64) {
        let max_inflight = self.max_inflight();
        if self.full_bw_reached {
            self.cwnd = smaller(self.cwnd + acked, max_inflight);
        } else if self.cwnd < max_inflight || (self.delivered as f64) < self.initial_window {
            self.cwnd += acked;
        }
        self.cwnd = larger(self.cwnd, MIN_PIPE_CWND);
        self.bound_cwnd();
    }

    /// `BoundCwndForProbeRTT` and `BoundCwndForModel`.
    pub(super) fn bound_cwnd(&mut self) {
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = smaller(self.cwnd, larger(smaller(cap, self.inflight_shortterm), MIN_PIPE_CWND));
    }

    pub(super) fn save_cwnd(&mut self) {
        let modulated = self.in_recovery || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt.rtt == UNKNOWN { self.initial_window } else { gain * bw * self.min_rtt_secs }
    }

    /// `QuantizationBudget`.
    fn with_budget(&self, cap: f64) -> f64 {
        larger(cap, MIN_PIPE_CWND) + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_budget(self.bdp_multiple(bw, gain))
    }

    pub(super) fn max_inflight(&self) -> f64 {
        self.with_budget(self.bdp_multiple(self.bw, self.cwnd_gain) + self.aggregation.get())
    }

    pub(super) fn target_inflight(&self) -> f64 {
        smaller(self.bdp_multiple(self.bw, 1.0), self.cwnd)
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, self.p.probe_rtt_cwnd_gain).max(MIN_PIPE_CWND)
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let bound = self.inflight_longterm;
        if bound.is_infinite() {
            return bound;
        }
        larger(bound - larger(self.p.headroom * bound, 1.0), MIN_PIPE_CWND)
    }
}

/// Number of segments in flight at which the share of losses reached `thresh`. `tx_in_flight` segments were in flight
/// when the lost segment was sent, and it is the last of `lost` ones. If the losses before it already exceeded the
/// threshold, the result is the number in flight before this segment.
pub(super) fn inflight_at_loss(thresh: f64, tx_in_flight: f64, lost: f64) -> f64 {
    let (inflight_prev, lost_prev) = (tx_in_flight - 1.0, lost - 1.0);
    inflight_prev + ((thresh * inflight_prev - lost_prev) / (1.0 - thresh)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::cruising;
    use super::*;

    #[test]
    fn losses_are_two_percent_where_the_bound_is_set() {
        // Section 5.5.10.2: (lost_prev + prefix) / (inflight_prev + prefix) = 0.02.
        let bound = inflight_at_loss(0.02, 130.0, 3.0);
        let prefix = bound - 129.0;
        assert!(((2.0 + prefix) / (129.0 + prefix) - 0.02).abs() < 1e-12, "{bound}");
        assert!((prefix - 0.5918).abs() < 1e-4);
        assert_eq!(inflight_at_loss(0.02, 50.0, 20.0), 49.0);
    }

    #[test]
    fn a_round_with_losses_sets_the_short_term_bounds_to_the_delivered_or_seven_tenths() {
        let mut bbr = cruising();
        let (bw, cwnd) = (bbr.bw, bbr.cwnd);
        (bbr.bw_latest, bbr.inflight_latest) = (0.6 * bw, 0.9 * cwnd);
        bbr.lower_bounds();
        assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (0.7 * bw, 0.9 * cwnd));
        (bbr.bw_latest, bbr.inflight_latest) = (0.0, 0.0);
        bbr.lower_bounds();
        assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (0.7 * (0.7 * bw), 0.7 * (0.9 * cwnd)));
    }

    #[test]
    fn headroom_is_fifteen_percent_and_at_least_one_segment() {
        let mut bbr = cruising();
        assert!(bbr.inflight_with_headroom().is_infinite());
        for (bound, left) in [(100.0, 85.0), (6.0, 5.0), (4.5, 4.0)] {
            bbr.inflight_longterm = bound;
            assert_eq!(bbr.inflight_with_headroom(), left);
        }
    }
}

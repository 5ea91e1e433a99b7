//! Trace variables of BBR, named as in the draft, in segments, seconds and segments per second. Infinite bounds are
//! omitted.
//!
//! Source: draft-ietf-ccwg-bbr-06, Section 2, and the appendix of test cases, which lists the values that a test must
//! observe.

use super::{Bbr, Sample};
use crate::filters::UNKNOWN;
use base::Span;

/// Values of the last ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    rate: f64,
    lost: f64,
    tx_in_flight: f64,
    app_limited: bool,
}

impl Seen {
    pub fn of(sample: &Sample) -> Self {
        let Sample { delivery, rate, app_limited, .. } = *sample;
        Self { rate, lost: delivery.lost, tx_in_flight: delivery.tx_in_flight, app_limited }
    }
}

impl Bbr {
    pub(super) fn show(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("state", f64::from(self.state as u8));
        put("pacing_gain", self.pacing_gain);
        put("cwnd_gain", self.cwnd_gain);
        put("pacing_rate", self.pacing_rate);
        put("max_bw", self.max_rate.get());
        put("bw", self.bw);
        put("bdp", self.bdp_multiple(self.bw, 1.0));
        put("extra_acked", self.aggregation.get());
        put("round_count", self.round_count as f64);
        put("full_bw_count", f64::from(self.full_pipe.flat));
        put("full_bw_now", f64::from(u8::from(self.full_pipe.reached)));
        put("full_bw_reached", f64::from(u8::from(self.full_bw_reached)));
        // These two decide when Drain and ProbeBW_DOWN end. The trace's own column of data in flight has the value
        // after the sender has sent again.
        put("inflight", self.in_flight);
        put("inflight_target", self.inflight(self.bw, 1.0));
        put("cycle_stamp", (self.cycle_stamp - base::Time::ZERO).as_secs());
        put("idle_restart", f64::from(u8::from(self.idle_restart)));
        put("delivery_rate", self.seen.rate);
        put("app_limited", f64::from(u8::from(self.seen.app_limited)));
        put("tx_in_flight", self.seen.tx_in_flight);
        put("lost", self.seen.lost);
        let bounds = [
            ("inflight_longterm", self.inflight_longterm),
            ("inflight_shortterm", self.inflight_shortterm),
            ("bw_shortterm", self.bw_shortterm),
            ("undo_inflight_longterm", self.undo.inflight_longterm),
            ("undo_inflight_shortterm", self.undo.inflight_shortterm),
            ("undo_bw_shortterm", self.undo.bw_shortterm),
        ];
        for (name, bound) in bounds.into_iter().filter(|(_, bound)| bound.is_finite()) {
            put(name, bound);
        }
        if let Some(state) = self.undo.state {
            put("undo_state", f64::from(state as u8));
        }
        if self.drain_start_round > 0 {
            put("drain_start_round", self.drain_start_round as f64);
        }
        if self.bw_probe_wait > Span::ZERO {
            put("bw_probe_wait", self.bw_probe_wait.as_secs());
        }
        if self.min_rtt.rtt != UNKNOWN {
            put("min_rtt", self.min_rtt_secs);
            put("probe_rtt_min_delay", self.probe_rtt_min.rtt.as_secs());
        }
    }
}

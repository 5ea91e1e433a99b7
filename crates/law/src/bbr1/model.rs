//! Path model of BBR version 1, and the pace and window that follow from it.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_bbr.c` (its rules).

use super::parts::{Counts, Policing};
use super::{Bbr1, INIT_CWND, MIN_CWND, Mode, Repair, Sample, in_units};
use crate::GSO_PAYLOAD;
use crate::filters::UNKNOWN;
use base::Span;

/// Pace below which a burst is one segment, in bytes per second: 1.2 Mbit/s (`bbr_min_tso_rate`).
const SINGLES_BELOW: f64 = 150_000.0;
/// Bursts that leave in a second (`sk_pacing_shift`).
const BURSTS_PER_SECOND: f64 = 1024.0;
/// Bursts for which a window has room: one that waits, one that leaves, one that arrives.
const BURSTS: f64 = 3.0;
/// Time for which aggregated ACKs may leave the path without segments, in seconds.
const AGGREGATION_TIME: f64 = 0.1;

impl Bbr1 {
    /// Bandwidth of the path: the largest delivery rate of the last rounds, or the rate of a policer.
    pub(super) fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.max_rate.get())
    }

    pub(super) fn update_bw(&mut self, sample: &Sample) {
        self.round_start = false;
        let Some(rate) = sample.delivery.rate().map(in_units) else { return };
        if sample.delivery.prior_delivered >= self.round_end {
            self.round_end = self.delivered;
            self.round += 1;
            self.round_start = true;
            self.conserving = false;
        }
        self.look_for_policer(sample.losses > 0.0, sample.app_limited);
        if !sample.app_limited || rate >= self.max_rate.get() {
            self.max_rate.update(u64::from(self.p.bw_window), self.round, rate);
        }
        if sample.delivery.newly_delivered > 0.0 {
            if self.round_start {
                self.aggregation.advance();
            }
            let (bw, acked) = (self.bw(), sample.delivery.newly_delivered);
            self.aggregation.update(self.delivered_at, acked, bw, self.cwnd);
        }
    }

    pub(super) fn look_for_policer(&mut self, losses: bool, app_limited: bool) {
        let seen = Policing {
            counts: Counts { at: self.delivered_at, delivered: self.delivered, lost: self.lost },
            losses,
            app_limited,
            round_start: self.round_start,
            is_probing_bw: self.mode == Mode::ProbeBw,
        };
        let was_believed = self.policer.rate().is_some();
        if self.policer.update(&seen) {
            self.begin_cycle();
        } else if !was_believed && self.policer.rate().is_some() {
            self.pacing_gain = 1.0;
        }
    }

    /// Ends a round at a timeout, and looks for growth anew.
    pub(super) fn time_out(&mut self) {
        (self.repair, self.seen) = (Repair::Timeout, Repair::Timeout);
        self.full_pipe.forget_base();
        self.round_start = true;
        self.look_for_policer(true, false);
    }

    /// Sets the first pace, a window per `rtt`: at the first round-trip sample, or with the nominal time before it.
    pub(super) fn begin_pace(&mut self, rtt: Span) {
        self.pacing_rate = self.pace(self.cwnd / rtt.as_secs(), self.p.startup_gain);
    }

    fn pace(&self, bw: f64, gain: f64) -> f64 {
        gain * bw * (1.0 - self.p.pacing_margin)
    }

    /// Sets the pace; it does not decrease before the pipe was full.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.pace(self.bw(), gain);
        if rate > self.pacing_rate || (self.full_pipe.reached && rate > 0.0) {
            self.pacing_rate = rate;
        }
    }

    /// Segments that Linux would send as one burst.
    pub(super) fn quantum(&self) -> f64 {
        let least = if self.pacing_rate * f64::from(self.mss) < SINGLES_BELOW { 1.0 } else { 2.0 };
        let most = f64::from((GSO_PAYLOAD / self.mss).min(self.p.max_burst));
        (self.pacing_rate / BURSTS_PER_SECOND).floor().min(most).max(least)
    }

    /// BDP times `gain`, rounded up: an underestimated BDP would reduce the next estimate, too.
    pub(super) fn bdp(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt.rtt == UNKNOWN { INIT_CWND } else { (gain * bw * self.min_rtt_secs).ceil() }
    }

    /// Adds room for bursts, and rounds up to an even number because of delayed ACKs. In the first phase it adds two
    /// more segments, without which the window would not exceed the BDP of a small path.
    fn with_budget(&self, segments: f64) -> f64 {
        let needed = segments + BURSTS * self.quantum();
        let even = 2.0 * (needed / 2.0).ceil();
        if self.mode == Mode::ProbeBw && self.phase == 0 { even + 2.0 } else { even }
    }

    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_budget(self.bdp(bw, gain))
    }

    fn extra_acked(&self) -> f64 {
        let most = (self.bw() * AGGREGATION_TIME).floor();
        if self.full_pipe.reached { self.aggregation.get().min(most) } else { 0.0 }
    }

    pub(super) fn save_cwnd(&mut self) {
        let is_cut = self.seen != Repair::None || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    pub(super) fn set_cwnd(&mut self, sample: &Sample) {
        let acked = sample.delivery.newly_delivered;
        if acked > 0.0 {
            self.cut_or_restore(sample);
            if self.conserving {
                self.cwnd = self.cwnd.max(sample.in_flight + acked);
            } else {
                self.approach_target(acked);
            }
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_CWND);
        }
    }

    fn approach_target(&mut self, acked: f64) {
        let target = self.with_budget(self.bdp(self.bw(), self.cwnd_gain) + self.extra_acked());
        if self.full_pipe.reached {
            self.cwnd = (self.cwnd + acked).min(target);
        } else if self.cwnd < target || (self.delivered as f64) < INIT_CWND {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(MIN_CWND);
    }

    /// Subtracts lost segments from the window. A repair begins with a window of the data in flight, and its first
    /// round has packet conservation. After the repair the window is restored.
    fn cut_or_restore(&mut self, sample: &Sample) {
        self.cwnd = (self.cwnd - sample.losses).max(1.0);
        if self.repair == Repair::Fast && self.seen != Repair::Fast {
            self.conserving = true;
            self.round_end = self.delivered;
            self.cwnd = sample.in_flight + sample.delivery.newly_delivered;
        } else if self.repair == Repair::None && self.seen != Repair::None {
            self.conserving = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        self.seen = self.repair;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bbr1, Params};
    use crate::{CongestionControl, Controller};

    #[test]
    fn losses_that_prove_spurious_are_forgotten() {
        let mut bbr = Bbr1::new(&Params::default(), 10.0).expect("valid parameters");
        for _ in 0..3 {
            bbr.full_pipe.update(100.0);
        }
        bbr.on_undo(50.0, 50.0);
        assert_eq!(bbr.cwnd(), 10.0, "the window is restored when the recovery ends");
        // Without the undo the third round without growth would be the last of Startup.
        bbr.full_pipe.update(100.0);
        assert!(!bbr.full_pipe.reached);
    }
}

//! The modes of BBR version 1: when to send faster, slower, or with little in flight.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_bbr.c` (its rules).

use super::{Bbr1, MIN_CWND, Mode, PHASES, Sample};
use crate::filters::MinRtt;
use crate::scrambled;
use base::Time;

/// Number of phases at which a cycle may begin; the phase with the lower rate is not one of them.
const FIRST_PHASES: u64 = 7;

impl Bbr1 {
    /// Ends a phase of the cycle after one `min_rtt`. A phase with a gain above 1 lasts until its target is in flight
    /// or a segment is lost, if that is later. A phase with a gain below 1 ends earlier if the queue is drained.
    pub(super) fn update_phase(&mut self, sample: &Sample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let is_full_length = self.delivered_at.since(self.phase_start) > self.min_rtt.rtt;
        let bw = self.max_rate.get();
        let in_flight = self.with_next_burst(sample.delivery.prior_in_flight);
        let ends = if self.pacing_gain > 1.0 {
            is_full_length && (sample.losses > 0.0 || in_flight >= self.inflight(bw, self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            is_full_length || in_flight <= self.inflight(bw, 1.0)
        } else {
            is_full_length
        };
        if ends {
            self.begin_phase((self.phase + 1) % PHASES);
        }
    }

    fn begin_phase(&mut self, phase: u8) {
        (self.phase, self.phase_start) = (phase, self.delivered_at);
    }

    /// Data in flight, and the next burst while the gain is above 1.
    fn with_next_burst(&self, in_flight: f64) -> f64 {
        if self.pacing_gain > 1.0 { in_flight + self.quantum() } else { in_flight }
    }

    pub(super) fn check_full_pipe(&mut self, sample: &Sample) {
        if self.round_start && !sample.app_limited {
            self.full_pipe.update(self.max_rate.get());
        }
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
        }
        // `pacing_gain` is still that of the previous ACK, so the next burst counts if it is Startup's.
        let in_flight = self.with_next_burst(sample.in_flight);
        if self.mode == Mode::Drain && in_flight <= self.inflight(self.max_rate.get(), 1.0) {
            self.begin_cycle();
        }
    }

    /// Begins a cycle at any phase but the second. Flows draw different phases, because no two flows get an ACK in the
    /// same picosecond after the same number of deliveries.
    pub(super) fn begin_cycle(&mut self) {
        self.mode = Mode::ProbeBw;
        let dice = scrambled(self.now.0 ^ self.delivered.rotate_left(32));
        let before = PHASES - 1 - (dice % FIRST_PHASES) as u8;
        self.begin_phase((before + 1) % PHASES);
    }

    /// Updates the smallest round-trip time. If it is older than ten seconds, it is measured with four segments in
    /// flight.
    pub(super) fn update_min_rtt(&mut self, sample: &Sample, idle_restart: bool) {
        let expired = self.min_rtt.is_expired(self.now, self.p.min_rtt_window);
        if let Some(rtt) = sample.delivery.rtt
            && self.min_rtt.update(MinRtt { rtt, stamp: self.now }, expired)
        {
            self.min_rtt_secs = rtt.as_secs();
        }
        if expired && !idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sample.in_flight);
        }
    }

    fn probe_rtt(&mut self, in_flight: f64) {
        // The low rates in this mode are not the path's. Segments sent until all data now in flight is acknowledged
        // count as limited by the application.
        self.held_back.extend(self.delivered, in_flight);
        if self.probe_rtt_done.is_none() {
            if in_flight <= MIN_CWND {
                self.probe_rtt_done = Some(self.now + self.p.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.round_end = self.delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done();
        }
    }

    /// The application sends again at `now`, after a pause in which all data was acknowledged.
    pub(super) fn restart_from_idle(&mut self, now: Time) {
        (self.now, self.restarted) = (now, true);
        self.aggregation.interval.begin(now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(),
            _ => {}
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done.is_none_or(|done| self.now <= done) {
            return;
        }
        self.min_rtt.stamp = self.now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_pipe.reached {
            self.begin_cycle();
        } else {
            self.mode = Mode::Startup;
        }
    }

    pub(super) fn update_gains(&mut self) {
        let p = &self.p;
        (self.pacing_gain, self.cwnd_gain) = match (self.mode, self.phase) {
            (Mode::Startup, _) => (p.startup_gain, p.startup_gain),
            (Mode::Drain, _) => (p.drain_pacing_gain, p.startup_gain),
            (Mode::ProbeRtt, _) => (1.0, 1.0),
            (Mode::ProbeBw, _) if self.policer.rate().is_some() => (1.0, p.cwnd_gain),
            (Mode::ProbeBw, 0) => (p.up_pacing_gain, p.cwnd_gain),
            (Mode::ProbeBw, 1) => (p.down_pacing_gain, p.cwnd_gain),
            (Mode::ProbeBw, _) => (1.0, p.cwnd_gain),
        };
    }
}

//! Reno, written against the port that the transport drives: events in, a window out.
//!
//! Source: RFC 5681, Section 3.1.

use elephan::law::{AckSample, CongestionControl, CongestionEvent, Restart, Signal, Step};

/// Windows are multiples of 2^-32 segments below 2^20: then n ACKs one by one and n at once give the same bits.
const GRID: f64 = 4_294_967_296.0;
const GRID_LIMIT: f64 = 1_048_576.0;

#[derive(Clone, Debug)]
pub struct Reno {
    cwnd: f64,
    ssthresh: f64,
}

impl Reno {
    pub fn new(initial_window: f64, ssthresh: f64) -> Self {
        Self { cwnd: initial_window, ssthresh }
    }

    /// Segments gained for each that is acknowledged, at any window between two whole numbers.
    fn gain(&self) -> f64 {
        if self.cwnd < self.ssthresh { 1.0 } else { on_grid(1.0 / (self.cwnd.floor() + 0.5)) }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &AckSample) {
        if !ack.cwnd_limited {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + ack.acked.min(ack.abc_limit)).min(self.ssthresh);
        } else {
            self.cwnd += self.gain() * ack.acked;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = on_grid((0.5 * self.cwnd).max(2.0));
        self.cwnd = if event.signal == Signal::Timeout { 1.0 } else { self.ssthresh };
    }

    fn on_restart(&mut self, restart: &Restart) {
        if let Some(ssthresh) = restart.ssthresh {
            self.ssthresh = on_grid(ssthresh.max(2.0));
        }
        self.cwnd = self.cwnd.min(on_grid(restart.cwnd.max(1.0)));
    }

    fn collapse(&mut self) {
        self.cwnd = 1.0;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    // From here on it is only fast: ACKs that are all alike are taken at once. Without these two the results are the same.

    fn step(&self) -> Option<Step> {
        let next = self.cwnd.floor() + 1.0;
        let below = if self.cwnd < self.ssthresh { next.min(self.ssthresh) } else { next };
        (below <= GRID_LIMIT).then_some(Step { gain: self.gain(), below, acks: u32::MAX })
    }

    fn advance(&mut self, step: Step, acks: u32) {
        self.cwnd += step.gain * f64::from(acks);
    }
}

fn on_grid(x: f64) -> f64 {
    if x < GRID_LIMIT { (x * GRID).round_ties_even() / GRID } else { x }
}

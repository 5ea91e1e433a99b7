//! CUBIC's arithmetic alone: `FlowSite::windowed` puts it under the scenario's slow start.
//!
//! Source: RFC 9438, Sections 4.2 to 4.7.

use elephan::base::{Span, Time};
use elephan::law::{AckSample, CongestionEvent, Signal, WindowLaw};

#[derive(Clone, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    alpha: f64,
    /// Slow start ended without a loss, or by a timeout.
    plateau: bool,
    w_max: f64,
    cwnd_prior: f64,
    k: f64,
    w_est: f64,
    epoch: Option<Time>,
    last_ack: Time,
}

impl Default for Cubic {
    fn default() -> Self {
        Self::new(0.4, 0.7)
    }
}

impl Cubic {
    pub fn new(c: f64, beta: f64) -> Self {
        let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
        let (epoch, last_ack) = (None, Time::ZERO);
        Self { c, beta, alpha, plateau: true, w_max: 0.0, cwnd_prior: 0.0, k: 0.0, w_est: 0.0, epoch, last_ack }
    }

    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k;
        self.c * x * x * x + self.w_max
    }

    /// Time in which the window was not used does not count (Section 5.8).
    fn unused(&mut self, now: Time) {
        self.epoch = self.epoch.map(|epoch| epoch + now.since(self.last_ack));
    }
}

impl WindowLaw for Cubic {
    fn on_sample(&mut self, ack: &AckSample) {
        if !ack.cwnd_limited {
            self.unused(ack.now);
        }
        self.last_ack = ack.now;
    }

    fn on_idle(&mut self, now: Time, _idle: Span) {
        self.unused(now);
        self.last_ack = now;
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            if self.plateau || self.w_max < cwnd {
                self.w_max = cwnd;
            }
            self.k = libm::cbrt((self.w_max - cwnd) / self.c);
            self.w_est = cwnd;
            ack.now
        });
        let alpha = if self.w_est < self.cwnd_prior { self.alpha } else { 1.0 };
        self.w_est += alpha * (ack.acked / cwnd);
        let t = ack.now.since(epoch);
        if self.w_cubic(t.as_secs()) < self.w_est {
            return cwnd.max(self.w_est);
        }
        let target = self.w_cubic((t + ack.srtt).as_secs()).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) * (ack.acked / cwnd).min(1.0)
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        self.w_max = if cwnd < self.w_max { cwnd * 0.5 * (1.0 + self.beta) } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        self.plateau = event.signal == Signal::Timeout;
        cwnd * self.beta
    }
}

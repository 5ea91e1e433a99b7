//! A control whose window and pacing rate are set from outside between observations of the connection: by a learning agent,
//! or a test.
//!
//! A loss changes nothing, because the agent sees losses and may respond to them. A timeout sets the window to one segment
//! (RFC 6298, Section 5): the network may carry nothing at all, and the agent may not observe it for a long time.

use crate::{AckSample, CongestionControl, CongestionEvent, GRID_LIMIT, Needs, Signal, Step, on_grid};
use base::{Span, Time};

/// Round-trip times since the last [`Held::take_rtts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttSamples {
    /// Number of samples.
    pub count: u64,
    /// Their sum.
    pub sum: Span,
    /// The smallest sample; zero if there is none.
    pub least: Span,
    /// The largest sample; zero if there is none.
    pub most: Span,
}

impl RttSamples {
    fn add(&mut self, rtt: Span) {
        self.least = if self.count == 0 { rtt } else { self.least.min(rtt) };
        self.most = self.most.max(rtt);
        self.count += 1;
        self.sum = Span(self.sum.0 + rtt.0);
    }

    /// The mean; `None` without samples.
    #[must_use]
    pub fn mean(&self) -> Option<Span> {
        (self.count > 0).then(|| Span(self.sum.0 / self.count))
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Held {
    cwnd: f64,
    rate: Option<f64>,
    rtts: RttSamples,
}

impl Held {
    /// A control with a window of `cwnd` segments.
    #[must_use]
    pub fn window(cwnd: f64) -> Self {
        Self { cwnd: in_range(cwnd), rate: None, rtts: RttSamples::default() }
    }

    /// A control with a window of `cwnd` segments, paced at `rate` segments per second.
    #[must_use]
    pub fn paced(cwnd: f64, rate: f64) -> Self {
        Self { rate: Some(rate), ..Self::window(cwnd) }
    }

    /// Sets the window, in segments: at least 1, at most 2^20 - 1.
    pub fn set_window(&mut self, cwnd: f64) {
        self.cwnd = in_range(cwnd);
    }

    /// Sets the pacing rate in segments per second. It has no effect on a control made without a rate, because its sender
    /// is not paced.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = self.rate.map(|_| rate);
    }

    /// The round-trip times since the last call.
    pub fn take_rtts(&mut self) -> RttSamples {
        std::mem::take(&mut self.rtts)
    }
}

/// Limits a window to the range of a sender, on the grid.
fn in_range(cwnd: f64) -> f64 {
    on_grid(cwnd.clamp(1.0, GRID_LIMIT - 1.0))
}

impl CongestionControl for Held {
    fn needs(&self) -> Needs {
        Needs { every_rtt: true, ..Needs::default() }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.rtts.add(rtt);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.signal == Signal::Timeout {
            self.collapse();
        }
    }

    fn collapse(&mut self) {
        self.cwnd = 1.0;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The present window, so that the control is never in slow start and a recovery keeps the window.
    fn ssthresh(&self) -> f64 {
        self.cwnd
    }

    fn step(&self) -> Option<Step> {
        // Less than `u32::MAX`, because the round-trip time of each ACK is needed.
        Some(Step { gain: 0.0, below: GRID_LIMIT, acks: u32::MAX - 1 })
    }

    fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
        samples.for_each(|(_, rtt)| self.rtts.add(rtt));
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_keeps_the_window_and_a_timeout_sets_it_to_one_segment() {
        let rtt = Span::millis(100);
        let mut held = Held::window(50.0);
        for (signal, left) in [(Signal::Loss, 50.0), (Signal::Ecn, 50.0), (Signal::Timeout, 1.0)] {
            held.on_congestion(&CongestionEvent::plain(Time::ZERO, signal, rtt));
            assert_eq!((held.cwnd(), held.ssthresh()), (left, left), "{signal:?}");
        }
        held.set_window(7.5);
        assert_eq!(held.cwnd(), 7.5);
        let windows = [0.0, -3.0, 1e9].map(|cwnd| {
            held.set_window(cwnd);
            held.cwnd()
        });
        assert_eq!(windows, [1.0, 1.0, 1_048_575.0]);
    }

    #[test]
    fn a_control_made_without_a_rate_has_none() {
        let (mut window, mut paced) = (Held::window(10.0), Held::paced(10.0, 100.0));
        window.set_rate(5.0);
        paced.set_rate(5.0);
        assert_eq!((window.pacing_rate(), paced.pacing_rate()), (None, Some(5.0)));
    }

    #[test]
    fn samples_of_acks_and_of_steps_are_taken_once() {
        let mut held = Held::window(10.0);
        held.on_ack(&AckSample { rtt: Some(Span(30)), ..AckSample::plain(Time::ZERO, Span(1)) });
        held.on_ack(&AckSample { rtt: None, ..AckSample::plain(Time::ZERO, Span(1)) });
        held.on_rtt_samples([(Time(1), Span(10)), (Time(2), Span(23))].into_iter());
        let rtts = held.take_rtts();
        assert_eq!(rtts, RttSamples { count: 3, sum: Span(63), least: Span(10), most: Span(30) });
        assert_eq!((rtts.mean(), held.take_rtts().mean()), (Some(Span(21)), None));
    }
}

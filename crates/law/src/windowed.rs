//! A window law with a slow start: the usual TCP sender.
//!
//! Source: RFC 5681 Section 3.1 (the choice between slow start and congestion avoidance, and the lower limit of two
//! segments), RFC 6298 Section 5 (window of one after a timeout), RFC 3465 (growth counts acknowledged segments; in
//! slow start a limited number per ACK).

use crate::{
    AckSample, CongestionControl, CongestionEvent, GRID_LIMIT, MIN_SSTHRESH, Needs, Opening, Restart, Signal,
    SlowStart, Step, WindowLaw, on_grid,
};
use base::{Span, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Windowed<L, S> {
    law: L,
    start: S,
    cwnd: f64,
    ssthresh: f64,
    /// Growth per ACK in the present integer interval of the window, and the upper end of that interval.
    gain: f64,
    below: f64,
    /// Whether the law gets every ACK, because its growth does not depend on the window alone.
    measures: bool,
    /// Whether the law gets the ACKs that begin a round trip.
    samples_rounds: bool,
}

impl<L: WindowLaw, S: SlowStart> Windowed<L, S> {
    /// A sender with `initial_window` segments and slow-start threshold `ssthresh` (infinite for none).
    #[must_use]
    pub fn new(law: L, start: S, initial_window: f64, ssthresh: f64) -> Self {
        let measures = law.per_rtt(initial_window).is_none();
        let samples_rounds = law.needs().rounds;
        let (cwnd, gain, below) = (initial_window, 0.0, 0.0);
        let mut control = Self { law, start, cwnd, ssthresh, gain, below, measures, samples_rounds };
        control.refresh();
        control
    }

    /// The law alone, for evaluation without a sender.
    pub(crate) fn law(&self) -> &L {
        &self.law
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Computes the gain and the end of the window's integer interval. `below` is NaN if the growth does not depend on the
    /// window alone, so that no comparison with it is true.
    #[inline]
    fn refresh(&mut self) {
        let floor = self.cwnd as u64 as f64;
        let gain = if self.measures {
            None
        } else if self.in_slow_start() {
            self.start.gain(floor)
        } else {
            let middle = floor + 0.5;
            self.law.per_rtt(middle).map(|a| a / middle)
        };
        (self.gain, self.below) = match gain {
            Some(gain) => {
                let below = if self.in_slow_start() { (floor + 1.0).min(self.ssthresh) } else { floor + 1.0 };
                (on_grid(gain), below)
            }
            None => (0.0, f64::NAN),
        };
    }

    fn count(&mut self, acked: f64, limit: f64) {
        // The window and the gain are on the grid and the number of ACKs is whole, so the sum is exact.
        if self.in_slow_start() {
            // Limited to the threshold, as in Linux: with a threshold of 2.9 after a timeout, slow start ends at 2.9,
            // which permits two segments, not three.
            self.cwnd = (self.cwnd + self.gain * acked.min(limit)).min(self.ssthresh);
        } else {
            self.cwnd += self.gain * acked;
        }
        if self.cwnd >= self.below {
            self.refresh();
        }
    }
}

impl<L: WindowLaw, S: SlowStart> CongestionControl for Windowed<L, S> {
    fn needs(&self) -> Needs {
        self.law.needs().or(self.start.needs())
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if self.measures {
            if !self.in_slow_start() {
                self.cwnd = self.law.on_avoidance_ack(self.cwnd, ack).max(1.0);
                // A law that shrinks its window must not return to slow start.
                self.ssthresh = self.ssthresh.min(self.cwnd.max(MIN_SSTHRESH));
                return;
            }
            self.law.on_sample(ack);
        } else if self.samples_rounds && ack.round_start {
            self.law.on_sample(ack);
            // The sample may have changed the gain.
            self.refresh();
        }
        if !ack.cwnd_limited {
            return;
        }
        if !self.below.is_nan() {
            self.count(ack.acked, ack.abc_limit);
            return;
        }
        match self.start.open(self.cwnd, ack) {
            Opening::Grow(w) => self.cwnd = w.min(self.ssthresh),
            Opening::Exit(w) => {
                // From here on, a law with `per_rtt` is advanced in steps, which are exact only on the grid.
                self.cwnd = on_grid(w);
                self.ssthresh = self.cwnd;
            }
        }
        if !self.measures {
            self.refresh();
        }
    }

    fn on_recovery_ack(&mut self, ack: &AckSample) {
        self.law.on_sample(ack);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let kept = self.law.backoff(self.cwnd, event);
        self.ssthresh = on_grid(kept.max(MIN_SSTHRESH));
        self.cwnd = match event.signal {
            Signal::Timeout => 1.0,
            // RFC 9438, 4.6: the window may be smaller than the threshold.
            Signal::Ecn => on_grid(kept.max(event.floor)),
            Signal::Loss => self.ssthresh,
        };
        self.start.restart();
        self.refresh();
    }

    fn on_undo(&mut self, cwnd: f64, ssthresh: f64) {
        (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        self.refresh();
    }

    fn restores_on_undo(&self) -> bool {
        self.law.restores_on_undo()
    }

    fn on_restart(&mut self, restart: &Restart) {
        if restart.idle > Span::ZERO {
            self.law.on_idle(restart.now, restart.idle);
        }
        if let Some(ssthresh) = restart.ssthresh {
            self.ssthresh = on_grid(ssthresh.max(MIN_SSTHRESH));
        }
        if restart.cwnd < self.cwnd {
            self.cwnd = on_grid(restart.cwnd.max(1.0));
            if self.in_slow_start() {
                self.start.restart();
            }
        }
        self.refresh();
    }

    fn collapse(&mut self) {
        self.cwnd = 1.0;
        self.refresh();
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[inline]
    fn step(&self) -> Option<Step> {
        if self.measures && !self.in_slow_start() {
            return self.law.step().filter(|step| step.below <= GRID_LIMIT);
        }
        (self.below <= GRID_LIMIT).then_some(Step { gain: self.gain, below: self.below, acks: u32::MAX })
    }

    #[inline]
    fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
        self.law.on_rtt_samples(samples);
    }

    #[inline]
    fn advance(&mut self, step: Step, acks: u32) {
        self.cwnd += step.gain * f64::from(acks);
        debug_assert!(self.cwnd < step.below && acks <= step.acks, "an advance stays inside its step");
    }

    #[inline]
    fn opening(&self) -> u32 {
        // Not for laws that measure, because they may act on each ACK.
        if self.gain != 1.0 || !self.in_slow_start() {
            return 0;
        }
        (self.ssthresh.min(self.start.doubles_to()).min(GRID_LIMIT) - self.cwnd) as u32
    }

    #[inline]
    fn open(&mut self, acks: u32) {
        debug_assert!(acks <= self.opening(), "at most `opening()` segments");
        self.cwnd += f64::from(acks);
        self.refresh();
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.law.gauges(put);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::start::classic::Classic;

    /// A gain of one segment per round trip; a loss cuts by half, a mark by a fifth.
    #[derive(Clone, Debug)]
    struct Aimd;

    impl WindowLaw for Aimd {
        fn per_rtt(&self, _w: f64) -> Option<f64> {
            Some(1.0)
        }

        fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
            cwnd * if event.signal == Signal::Ecn { 0.8 } else { 0.5 }
        }
    }

    /// A law that keeps a window of five from its first ACK in congestion avoidance on.
    #[derive(Clone, Debug)]
    struct Five;

    impl WindowLaw for Five {
        fn avoid(&mut self, _cwnd: f64, _ack: &AckSample) -> f64 {
            5.0
        }

        fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 {
            cwnd
        }
    }

    fn aimd(cwnd: f64, ssthresh: f64) -> Windowed<Aimd, Classic> {
        Windowed::new(Aimd, Classic, cwnd, ssthresh)
    }

    fn windows(control: &impl CongestionControl) -> (f64, f64) {
        (control.cwnd(), control.ssthresh())
    }

    const ACK: fn() -> AckSample = || AckSample::plain(Time::ZERO, Span::millis(100));

    fn event(signal: Signal) -> CongestionEvent {
        CongestionEvent::plain(Time::ZERO, signal, Span::millis(100))
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_counts_a_limited_number_for_an_ack() {
        let mut control = aimd(4.0, 9.5);
        control.on_ack(&AckSample { acked: 5.0, ..ACK() });
        assert_eq!(control.cwnd(), 6.0, "RFC 3465: an ACK for five segments counts as two");
        control.on_ack(&AckSample { cwnd_limited: false, ..ACK() });
        assert_eq!(control.cwnd(), 6.0, "a window that is not full stays");
        (0..4).for_each(|_| control.on_ack(&ACK()));
        assert_eq!(control.cwnd(), 9.5, "growth stops at the threshold");
    }

    #[test]
    fn avoidance_grows_by_the_middle_of_the_integer_interval() {
        let mut control = aimd(10.0, 2.0);
        control.on_ack(&AckSample { acked: 3.0, ..ACK() });
        assert_eq!(control.cwnd(), 10.0 + 3.0 * on_grid(1.0 / 10.5));
        let step = control.step().expect("a law with `per_rtt` has steps");
        assert_eq!((step.gain, step.below), (on_grid(1.0 / 10.5), 11.0));
        // The same ACKs in a step and one by one.
        let mut other = control.clone();
        control.advance(step, 7);
        (0..7).for_each(|_| other.on_ack(&ACK()));
        assert_eq!(windows(&control), windows(&other));
    }

    #[test]
    fn windows_beyond_the_grid_have_no_step() {
        assert!(aimd(GRID_LIMIT - 2.0, 2.0).step().is_some());
        assert!(aimd(GRID_LIMIT, 2.0).step().is_none());
        assert!(aimd(GRID_LIMIT, f64::INFINITY).step().is_none());
    }

    #[test]
    fn each_signal_has_its_window() {
        let after = |cwnd: f64, signal, floor| {
            let mut control = aimd(cwnd, 2.0);
            control.on_congestion(&CongestionEvent { floor, ..event(signal) });
            windows(&control)
        };
        assert_eq!(after(20.0, Signal::Loss, 2.0), (10.0, 10.0));
        assert_eq!(after(20.0, Signal::Timeout, 2.0), (1.0, 10.0));
        assert_eq!(after(20.0, Signal::Ecn, 2.0), (16.0, 16.0));
        // RFC 5681, equation 4: at least two segments; a mark may leave fewer, down to its floor.
        assert_eq!(after(3.0, Signal::Loss, 2.0), (2.0, 2.0));
        assert_eq!(after(1.0, Signal::Ecn, 1.0), (1.0, 2.0));
    }

    #[test]
    fn an_undone_reduction_brings_window_and_threshold_back() {
        let mut control = aimd(20.0, 30.0);
        control.on_congestion(&event(Signal::Timeout));
        control.on_undo(20.0, 30.0);
        assert_eq!(windows(&control), (20.0, 30.0));
        assert_eq!(control.opening(), 10, "it is in slow start again");
        control.collapse();
        assert_eq!(windows(&control), (1.0, 30.0));
    }

    #[test]
    fn an_opening_takes_whole_segments_up_to_the_threshold() {
        let mut control = aimd(4.0, 9.5);
        assert_eq!(control.opening(), 5);
        control.open(5);
        assert_eq!((control.cwnd(), control.opening()), (9.0, 0));
        assert_eq!(aimd(4.0, 4.0).opening(), 0, "congestion avoidance does not double");
        assert_eq!(Windowed::new(Five, Classic, 4.0, 9.0).opening(), 0, "a law that measures takes each ACK");
    }

    #[test]
    fn a_restart_limits_the_window_and_sets_the_threshold() {
        let restart = |cwnd, ssthresh| Restart { now: Time::ZERO, idle: Span::secs(1), cwnd, ssthresh };
        let mut control = aimd(20.0, 10.0);
        control.on_restart(&restart(f64::INFINITY, None));
        assert_eq!(windows(&control), (20.0, 10.0));
        control.on_restart(&restart(0.5, Some(1.0)));
        assert_eq!(windows(&control), (1.0, MIN_SSTHRESH));
        control.on_restart(&restart(7.0, Some(15.0)));
        assert_eq!(windows(&control), (1.0, 15.0), "a restart does not raise the window");
    }

    #[test]
    fn a_law_that_shrinks_its_window_stays_out_of_slow_start() {
        let mut control = Windowed::new(Five, Classic, 9.0, 8.0);
        control.on_ack(&ACK());
        assert_eq!(windows(&control), (5.0, 5.0));
        assert!(control.step().is_none(), "a law that measures takes every ACK");
        // Only the transport sets a window below two; it is then in slow start.
        control.collapse();
        control.on_ack(&ACK());
        assert_eq!(control.cwnd(), 2.0);
    }
}

//! Congestion window validation: treatment of a window that the application does not use, for a while or during a pause.
//!
//! Source: RFC 5681, Section 4.1 (the restart window after an idle timeout); RFC 2861 as Linux 6.12 has it
//! (`tcp_cwnd_restart`, `tcp_cwnd_validate`, `tcp_cwnd_application_limited`, `tcp_is_cwnd_limited`: facts, not text);
//! RFC 7661, Sections 4.2 to 4.5 (pipeACK, the non-validated phase, its end after five minutes, losses in it).
//! Differs from RFC 7661: the largest sample of the sampling period is exact, not kept in a few bins; a sender in the
//! non-validated phase is not held to a rate when it sends again (Section 4.4.3 says SHOULD): `tcp.pacing` does that.
//! Differs from Linux: ticks are those of `tcp.rto_granularity`; Linux checks whether the socket's send buffer is full,
//! this sender whether it has more data to send.

use crate::options::WindowValidation;
use base::{Span, Time};
use law::Restart;
use std::collections::VecDeque;

/// Time for which a non-validated window is kept: RFC 7661, Section 4.4.3.
const NON_VALIDATED: Span = Span::secs(300);

/// Lifetime of a sample of pipeACK: three round trips, or this (RFC 7661, Section 3).
const SHORTEST_PERIOD: Span = Span::secs(1);

/// State of a sender as input to the validation, in segments.
#[derive(Clone, Copy, Debug)]
pub struct WindowState {
    pub now: Time,
    pub cwnd: f64,
    pub ssthresh: f64,
    pub in_flight: u32,
    /// Segments sent and not acknowledged, whether lost or not.
    pub outstanding: u32,
    pub una: u64,
    pub nxt: u64,
    /// Segments sent so far, retransmissions included, and retransmissions alone.
    pub sent: u64,
    pub retransmitted: u64,
    pub srtt: Span,
    pub rto: Span,
    /// Whether the application has nothing more to send, and nothing is being repaired.
    pub waits_for_data: bool,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Validation {
    rule: WindowValidation,
    initial_window: f64,
    /// Tick of the clock that measures pauses and timeouts, in the rule of Linux.
    tick: Span,
    last_sent: Time,
    /// Number of segments sent at the last call.
    sent: u64,
    linux: Usage,
    pipe: PipeAck,
}

/// Linux's record of how much of the window was used.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Whether the window was the limit in the present window of data, the most segments in flight in it, and its end.
    limited: bool,
    most: u32,
    until: u64,
    /// Time at which the window was last used or cut down, and the most segments in flight since.
    used_at: Time,
    used: u32,
}

/// RFC 7661's pipeACK: the data that the path carried in a round trip.
#[derive(Clone, Debug, Default)]
struct PipeAck {
    /// Sample in progress: its start, and `una` then.
    since: Option<(Time, u64)>,
    /// Samples without a later one that is larger, oldest first; empty before the first.
    samples: VecDeque<(Time, f64)>,
    is_defined: bool,
    /// Time at which the window was last validated.
    validated_at: Time,
    /// For a recovery that began in the non-validated phase: pipeACK and the count of retransmissions at its start.
    recovery: Option<(f64, u64)>,
}

impl Validation {
    /// State of a new sender, with this tick of its clock.
    #[must_use]
    pub fn new(rule: WindowValidation, initial_window: u32, tick: Span) -> Self {
        Self {
            rule,
            initial_window: f64::from(initial_window),
            tick: tick.max(Span(1)),
            last_sent: Time::ZERO,
            sent: 0,
            linux: Usage::default(),
            pipe: PipeAck::default(),
        }
    }

    /// Whether it keeps Linux's record of the window's use.
    fn is_linux(&self) -> bool {
        matches!(self.rule, WindowValidation::Linux | WindowValidation::LinuxKept)
    }

    /// Length of a pause in whole ticks.
    fn ticked(&self, span: Span) -> Span {
        Span(span.0 / self.tick.0 * self.tick.0)
    }

    /// Notes that a segment is sent.
    #[inline]
    pub fn on_transmit(&mut self, now: Time) {
        self.last_sent = now;
    }

    /// Decides on the window when the application writes, and everything it wrote before has arrived.
    #[must_use]
    pub fn restart(&mut self, state: &WindowState) -> Restart {
        let WindowState { now, cwnd, ssthresh, rto, .. } = *state;
        let idle = now.since(self.last_sent);
        let mut restart = Restart { now, idle, cwnd: f64::INFINITY, ssthresh: None };
        match self.rule {
            WindowValidation::Rfc5681 if idle > rto => restart.cwnd = self.initial_window.min(cwnd),
            WindowValidation::Linux if self.ticked(idle) > state.rto => {
                restart.ssthresh = Some(kept(cwnd, ssthresh));
                restart.cwnd = self.decayed(cwnd, self.ticked(idle), state.rto);
                (self.linux.used_at, self.linux.used) = (now, 0);
            }
            WindowValidation::None
            | WindowValidation::LinuxKept
            | WindowValidation::Rfc5681
            | WindowValidation::Linux => {}
            WindowValidation::Rfc7661 => {
                if let Some((cwnd, ssthresh)) = self.end_of_phase(state) {
                    (restart.cwnd, restart.ssthresh) = (cwnd, Some(ssthresh));
                }
            }
        }
        restart
    }

    /// Halves the window for each timeout that passes, down to the initial window.
    fn decayed(&self, cwnd: f64, idle: Span, rto: Span) -> f64 {
        let floor = self.initial_window.min(cwnd);
        let (mut cwnd, mut left) = (cwnd, idle.0.saturating_sub(rto.0));
        while left > 0 && cwnd > floor {
            cwnd = (cwnd / 2.0).floor();
            left = left.saturating_sub(rto.0);
        }
        cwnd.max(floor)
    }

    /// Cuts the window down if it is not used, after an ACK, a timer or the application. Call it when all that may be
    /// sent is sent.
    #[must_use]
    pub fn after_sending(&mut self, state: &WindowState) -> Option<Restart> {
        let WindowState { now, cwnd, in_flight, outstanding, .. } = *state;
        let sent = state.sent > self.sent;
        self.sent = state.sent;
        if !self.is_linux() {
            return None;
        }
        let (limited, rto) = (in_flight >= cwnd as u32, state.rto);
        if !sent && !limited {
            return None;
        }
        let usage = &mut self.linux;
        if state.una >= usage.until || limited || (!usage.limited && outstanding > usage.most) {
            (usage.limited, usage.most, usage.until) = (limited, outstanding, state.nxt);
        }
        if usage.is_limited(cwnd, state.ssthresh) {
            (usage.used_at, usage.used) = (now, 0);
            return None;
        }
        usage.used = usage.used.max(outstanding);
        if self.rule == WindowValidation::LinuxKept || now.since(usage.used_at) < rto {
            return None;
        }
        let used = f64::from(std::mem::take(&mut usage.used)).max(self.initial_window);
        usage.used_at = now;
        (state.waits_for_data && used < cwnd).then(|| Restart {
            now,
            idle: Span::ZERO,
            cwnd: cwnd.midpoint(used).floor(),
            ssthresh: Some(kept(cwnd, state.ssthresh)),
        })
    }

    /// Whether the window may grow although it is not full when an ACK arrives: Linux remembers the use for a window of
    /// data.
    #[must_use]
    pub fn counts_as_full(&self, cwnd: f64, ssthresh: f64) -> bool {
        self.is_linux() && self.linux.is_limited(cwnd, ssthresh)
    }

    /// Processes an ACK outside recovery, of everything below `state.una`; cuts the window if it was not validated for long.
    #[must_use]
    pub fn on_ack(&mut self, state: &WindowState) -> Option<Restart> {
        if self.rule != WindowValidation::Rfc7661 {
            return None;
        }
        self.pipe.sample(state);
        let (cwnd, ssthresh) = self.end_of_phase(state)?;
        Some(Restart { now: state.now, idle: Span::ZERO, cwnd, ssthresh: Some(ssthresh) })
    }

    /// Notes that the window was cut by a loss (which a recovery repairs) or mark to `state.cwnd`; before it was `before`, with
    /// `flight` segments in flight.
    #[must_use]
    pub fn on_congestion(&mut self, state: &WindowState, before: f64, flight: u32, is_loss: bool) -> Option<Restart> {
        if self.rule != WindowValidation::Rfc7661 || !self.pipe.is_unvalidated(before) {
            return None;
        }
        let carried = self.pipe.value().max(f64::from(flight));
        self.pipe.recovery = is_loss.then_some((carried, state.retransmitted));
        Some(capped(state, carried / 2.0))
    }

    /// Processes the end of a recovery.
    #[must_use]
    pub fn on_recovered(&mut self, state: &WindowState) -> Option<Restart> {
        let (carried, before) = self.pipe.recovery.take()?;
        self.pipe.forget(state.now);
        Some(capped(state, (carried - (state.retransmitted - before) as f64) / 2.0))
    }

    /// Processes a timeout: the window is validated anew.
    pub fn on_timeout(&mut self, now: Time) {
        self.pipe.forget(now);
    }

    /// Window and threshold at the end of a non-validated phase of five minutes.
    fn end_of_phase(&mut self, state: &WindowState) -> Option<(f64, f64)> {
        self.pipe.expire(state.now, state.srtt);
        if !self.pipe.is_unvalidated(state.cwnd) {
            self.pipe.validated_at = state.now;
            return None;
        }
        if state.now.since(self.pipe.validated_at) < NON_VALIDATED {
            return None;
        }
        self.pipe.validated_at = state.now;
        Some(((state.cwnd / 2.0).max(self.initial_window.min(state.cwnd)), kept(state.cwnd, state.ssthresh)))
    }
}

/// Threshold that remembers a window which is given up: three quarters of it, or its former value.
fn kept(cwnd: f64, ssthresh: f64) -> f64 {
    if ssthresh.is_finite() { ssthresh.max(0.75 * cwnd) } else { ssthresh }
}

/// Limits window and threshold to `most` segments, and at least one.
fn capped(state: &WindowState, most: f64) -> Restart {
    let most = most.max(1.0);
    Restart { now: state.now, idle: Span::ZERO, cwnd: most, ssthresh: Some(state.ssthresh.min(most)) }
}

impl Usage {
    /// Whether the window may grow. In slow start it may reach twice the largest number of segments in flight.
    fn is_limited(&self, cwnd: f64, ssthresh: f64) -> bool {
        self.limited || (cwnd < ssthresh && cwnd < 2.0 * f64::from(self.most))
    }
}

impl PipeAck {
    /// Adds the data acknowledged in a round trip that ends now as a sample. A time of more than twice `srtt` was a
    /// pause.
    fn sample(&mut self, state: &WindowState) {
        let WindowState { now, una, srtt, .. } = *state;
        let Some((since, from)) = self.since else {
            self.since = Some((now, una));
            return;
        };
        let took = now - since;
        if took < srtt || took == Span::ZERO {
            return;
        }
        if took.0 <= srtt.0.saturating_mul(2) {
            let carried = (una - from) as f64 * (srtt.as_secs() / took.as_secs());
            while self.samples.back().is_some_and(|last| last.1 <= carried) {
                self.samples.pop_back();
            }
            self.samples.push_back((now, carried));
            self.is_defined = true;
        }
        self.since = Some((now, una));
    }

    /// Removes samples older than the sampling period.
    fn expire(&mut self, now: Time, srtt: Span) {
        let period = Span(srtt.0.saturating_mul(3)).max(SHORTEST_PERIOD);
        while self.samples.front().is_some_and(|first| now.since(first.0) > period) {
            self.samples.pop_front();
        }
    }

    /// Value of pipeACK; zero after a pause.
    fn value(&self) -> f64 {
        self.samples.front().map_or(0.0, |first| first.1)
    }

    /// Whether less than half of the window was used (Section 4.3).
    fn is_unvalidated(&self, cwnd: f64) -> bool {
        self.is_defined && self.value() < cwnd / 2.0
    }

    fn forget(&mut self, now: Time) {
        *self = Self { validated_at: now, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    /// A sender at `at` ms with this window, a round trip of 100 ms and a timeout of 200 ms, which waits for data.
    fn state(at: u64, cwnd: f64, outstanding: u32) -> WindowState {
        WindowState {
            now: ms(at),
            cwnd,
            ssthresh: 64.0,
            in_flight: outstanding,
            outstanding,
            una: 0,
            nxt: 0,
            sent: 0,
            retransmitted: 0,
            srtt: Span::millis(100),
            rto: Span::millis(200),
            waits_for_data: true,
        }
    }

    fn after_pause(rule: WindowValidation, cwnd: f64, pause: u64) -> (f64, Option<f64>) {
        let mut validation = Validation::new(rule, 10, Span::millis(1));
        validation.on_transmit(ms(1000));
        let restart = validation.restart(&state(1000 + pause, cwnd, 0));
        assert_eq!(restart.idle, Span::millis(pause));
        (restart.cwnd, restart.ssthresh)
    }

    #[test]
    fn a_pause_of_more_than_the_timeout_means_the_restart_window_of_rfc_5681() {
        use WindowValidation::{None as Off, Rfc5681};
        assert_eq!(after_pause(Rfc5681, 100.0, 200), (f64::INFINITY, None));
        assert_eq!(after_pause(Rfc5681, 100.0, 201), (10.0, None));
        assert_eq!(after_pause(Rfc5681, 4.0, 9000), (4.0, None), "never more than the window was");
        assert_eq!(after_pause(Off, 100.0, 9000), (f64::INFINITY, None));
    }

    #[test]
    fn linux_halves_the_window_with_each_timeout_and_remembers_three_quarters() {
        let after = |pause| after_pause(WindowValidation::Linux, 101.0, pause);
        assert_eq!(after(200), (f64::INFINITY, None));
        // By hand: 1 ms beyond the first timeout 50, beyond the second 25, the third 12, the fourth 6, which is below 10.
        let cwnd = [201, 400, 401, 601, 801, 99_000].map(|pause| after(pause).0);
        assert_eq!(cwnd, [50.0, 50.0, 25.0, 12.0, 10.0, 10.0]);
        assert_eq!(after(201).1, Some(75.75));
        // The threshold before was higher.
        assert_eq!(after_pause(WindowValidation::Linux, 80.0, 201).1, Some(64.0));
    }

    #[test]
    fn linux_cuts_a_window_unused_for_a_timeout_halfway_to_the_used_part() {
        let mut validation = Validation::new(WindowValidation::Linux, 10, Span::millis(1));
        let used = |at, sent, outstanding| WindowState { sent, nxt: sent, una: sent, ..state(at, 100.0, outstanding) };
        assert!(validation.after_sending(&used(1000, 100, 100)).is_none(), "full");
        // 20 and 30 of 100 segments in the next rounds.
        assert!(validation.after_sending(&used(1100, 120, 20)).is_none());
        assert!(validation.after_sending(&used(1199, 150, 30)).is_none());
        let cut = validation.after_sending(&used(1200, 151, 12)).expect("a timeout later");
        assert_eq!((cut.cwnd, cut.ssthresh, cut.idle), (65.0, Some(75.0), Span::ZERO));
        // The window is not cut while the application has more data, because something else limited the sender.
        let mut validation = Validation::new(WindowValidation::Linux, 10, Span::millis(1));
        assert!(validation.after_sending(&used(1000, 100, 100)).is_none());
        assert!(validation.after_sending(&WindowState { waits_for_data: false, ..used(1300, 120, 20) }).is_none());
        // RFC 5681 asks for pauses only.
        let mut validation = Validation::new(WindowValidation::Rfc5681, 10, Span::millis(1));
        assert!([1000, 2000, 9000].map(|at| validation.after_sending(&used(at, at, 1))).iter().all(Option::is_none));
    }

    #[test]
    fn linux_lets_a_window_grow_if_it_was_full_in_this_round_or_half_full_in_slow_start() {
        let mut validation = Validation::new(WindowValidation::Linux, 10, Span::millis(1));
        let at = |una, nxt, out| WindowState { una, nxt, sent: nxt, ..state(nxt, 40.0, out) };
        let _ = validation.after_sending(&at(0, 40, 40));
        assert!(validation.counts_as_full(40.0, 20.0));
        let _ = validation.after_sending(&at(30, 41, 11));
        assert!(validation.counts_as_full(40.0, 20.0), "full 11 segments ago");
        let _ = validation.after_sending(&at(41, 62, 21));
        assert!(!validation.counts_as_full(40.0, 20.0));
        assert!(validation.counts_as_full(40.0, 64.0), "21 is more than half of 40, in slow start");
        assert!(!validation.counts_as_full(42.0, 64.0));
    }

    /// A sender of `per_rtt` segments each 100 ms from `from` to `to` ms.
    fn steady(validation: &mut Validation, cwnd: f64, (from, to): (u64, u64), per_rtt: u64) -> Option<Restart> {
        let mut una = validation.pipe.since.map_or(0, |(_, una)| una);
        let times = (from..=to).step_by(100);
        let acks = times.filter_map(|at| {
            una += per_rtt;
            validation.on_ack(&WindowState { una, ..state(at, cwnd, 0) })
        });
        acks.last()
    }

    #[test]
    fn rfc_7661_keeps_a_window_for_five_minutes_in_which_less_than_half_was_used() {
        let mut validation = Validation::new(WindowValidation::Rfc7661, 10, Span::millis(1));
        assert!(steady(&mut validation, 100.0, (0, 1000), 60).is_none());
        assert!(!validation.pipe.is_unvalidated(100.0) && validation.pipe.is_unvalidated(121.0));
        assert!((validation.pipe.value() - 60.0).abs() < 1e-9);
        // The sample of 60 counts for a second, then there are those of 20.
        assert!(steady(&mut validation, 100.0, (1100, 300_900), 20).is_none());
        assert!(validation.pipe.is_unvalidated(100.0));
        let cut = steady(&mut validation, 100.0, (301_000, 303_000), 20).expect("five minutes later");
        assert_eq!((cut.cwnd, cut.ssthresh), (50.0, Some(75.0)));
        // A shorter pause does not reduce the window; pipeACK is zero after it.
        validation.on_transmit(ms(303_000));
        let restart = validation.restart(&state(400_000, 50.0, 0));
        assert_eq!((restart.cwnd, restart.ssthresh, validation.pipe.value()), (f64::INFINITY, None, 0.0));
    }

    #[test]
    fn a_loss_in_the_non_validated_phase_keeps_half_of_pipe_ack_or_flight_size() {
        let mut validation = Validation::new(WindowValidation::Rfc7661, 10, Span::millis(1));
        let _ = steady(&mut validation, 100.0, (0, 3000), 20);
        // A law that keeps 70 of 100; 20 were carried in a round trip, 24 were out.
        let cut = validation.on_congestion(&state(3100, 70.0, 24), 100.0, 24, true).expect("not validated");
        assert_eq!((cut.cwnd, cut.ssthresh), (12.0, Some(12.0)));
        // Four were sent again.
        let end = validation.on_recovered(&WindowState { retransmitted: 4, ..state(3300, 12.0, 8) }).expect("its end");
        assert_eq!(end.cwnd, 10.0);
        assert!(!validation.pipe.is_unvalidated(1e9), "pipeACK is undefined again");
        // Validated: the law's cut stands.
        let mut validation = Validation::new(WindowValidation::Rfc7661, 10, Span::millis(1));
        let _ = steady(&mut validation, 100.0, (0, 3000), 50);
        assert!(validation.on_congestion(&state(3100, 70.0, 50), 100.0, 50, true).is_none());
        assert!(validation.on_recovered(&state(3300, 70.0, 50)).is_none());
    }
}

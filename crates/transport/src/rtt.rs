//! Round-trip time and retransmission timeout.
//!
//! Source: RFC 6298, Section 2 (srtt, rttvar, alpha = 1/8, beta = 1/4, K = 4), Section 5.5 (doubling, 60 s at most). One
//! segment is timed at a time, never one that was sent twice (Karn's rule, Section 3).
//! Differs from ns-2: samples are exact, not counted in timer ticks; the granularity rounds the timeout up.

use crate::Options;
use crate::sequence::NO_SEGMENT;
use base::{Span, Time};
use std::sync::Arc;

/// The longest timeout (RFC 6298, 2.5 allows a maximum of at least 60 seconds).
const MAX_RTO: Span = Span::secs(60);

/// The timeout before the first sample (RFC 6298, 2.1).
const FIRST_RTO: Span = Span::secs(1);

/// What a sender's timers go by whatever happens: the same for all flows of a group, which keep it once.
#[derive(Clone, Debug)]
pub struct TimerOptions {
    min_rto: Span,
    granularity: Span,
    /// How long the receiver may wait until it acknowledges, and for how many segments in order.
    delayed_ack_timeout: Span,
    delayed_ack: u32,
}

impl TimerOptions {
    /// Those that the keys ask for.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        Self {
            min_rto: options.min_rto,
            granularity: options.rto_granularity,
            delayed_ack_timeout: options.delayed_ack_timeout,
            delayed_ack: options.delayed_ack,
        }
    }

    /// How long the receiver may wait until it acknowledges so few segments.
    #[inline]
    pub(crate) fn wait_for_ack(&self, outstanding: u32) -> Span {
        if self.may_delay_ack(outstanding) { self.delayed_ack_timeout } else { Span::ZERO }
    }

    /// Whether the receiver may delay the ACK of so few segments.
    #[inline]
    pub(crate) fn may_delay_ack(&self, outstanding: u32) -> bool {
        outstanding < self.delayed_ack
    }
}

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub struct Rtt {
    srtt: Span,
    rttvar: Span,
    min: Span,
    latest: Span,
    rto: Span,
    options: Arc<TimerOptions>,
}

impl Rtt {
    /// An estimator without samples.
    #[must_use]
    pub fn new(options: Arc<TimerOptions>) -> Self {
        let rto = FIRST_RTO.max(options.min_rto);
        Self { srtt: Span::ZERO, rttvar: Span::ZERO, min: Span::ZERO, latest: Span::ZERO, rto, options }
    }

    /// What it goes by besides samples.
    #[inline]
    pub(crate) fn options(&self) -> &TimerOptions {
        &self.options
    }

    /// A segment sent once took `sample` to be acknowledged; a doubled timeout returns to normal.
    pub fn sample(&mut self, sample: Span) {
        // Zero marks "no sample yet"; no path is that short.
        let sample = sample.max(Span(1));
        self.latest = sample;
        if self.srtt == Span::ZERO {
            self.srtt = sample;
            self.rttvar = Span(sample.0 / 2);
            self.min = if self.min == Span::ZERO { sample } else { self.min.min(sample) };
        } else {
            let error = self.srtt.0.abs_diff(sample.0);
            self.rttvar = Span((3 * self.rttvar.0 + error) / 4);
            self.srtt = Span((7 * self.srtt.0 + sample.0) / 8);
            self.min = self.min.min(sample);
        }
        let TimerOptions { min_rto, granularity, .. } = *self.options;
        let rto = self.srtt.0 + granularity.0.max(4 * self.rttvar.0);
        let tick = granularity.0.max(1);
        self.rto = Span(rto.div_ceil(tick) * tick).clamp(min_rto, MAX_RTO.max(min_rto));
    }

    /// A round trip took `sample`, but is not one that counts for the timeout: only the smallest and the latest move.
    #[inline]
    pub fn observe(&mut self, sample: Span) {
        let sample = sample.max(Span(1));
        self.latest = sample;
        self.min = if self.min == Span::ZERO { sample } else { self.min.min(sample) };
    }

    /// The timer expired: the next timeout is twice as long.
    pub fn back_off(&mut self) {
        self.rto = Span(self.rto.0 * 2).min(MAX_RTO.max(self.options.min_rto));
    }

    /// The timeout.
    #[inline]
    #[must_use]
    pub fn rto(&self) -> Span {
        self.rto
    }

    /// Smoothed round-trip time; zero before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Span {
        self.srtt
    }

    /// Latest sample; zero before the first.
    #[must_use]
    pub fn latest(&self) -> Span {
        self.latest
    }

    /// Smallest sample; zero before the first.
    #[must_use]
    pub fn min(&self) -> Span {
        self.min
    }
}

/// The one segment that is being timed, if any, and since when.
#[derive(Clone, Copy, Debug)]
pub struct TimedSegment {
    /// `NO_SEGMENT` for none: half the size of an option, which every flow would pay for.
    seq: u64,
    since: Time,
}

impl TimedSegment {
    /// None is being timed.
    #[must_use]
    pub fn none() -> Self {
        Self { seq: NO_SEGMENT, since: Time::ZERO }
    }

    /// `seq` leaves: it is timed from now on, unless another is.
    #[inline]
    pub fn begin(&mut self, now: Time, seq: u64) {
        if self.seq == NO_SEGMENT {
            (self.seq, self.since) = (seq, now);
        }
    }

    /// It will give no sample.
    #[inline]
    pub fn cancel(&mut self) {
        self.seq = NO_SEGMENT;
    }

    /// Nor will it if it is `seq` or later (Karn: `seq` is sent again).
    #[inline]
    pub fn cancel_from(&mut self, seq: u64) {
        if seq <= self.seq {
            self.cancel();
        }
    }

    /// Everything below `cum` is acknowledged. Returns the round-trip time, if that completes one.
    #[inline]
    pub fn on_ack(&mut self, now: Time, cum: u64) -> Option<Span> {
        if self.seq == NO_SEGMENT || cum <= self.seq {
            return None;
        }
        self.cancel();
        Some(now - self.since)
    }

    /// How many segments from `una` on are before it, if there is one.
    #[inline]
    #[must_use]
    pub fn distance(self, una: u64) -> Option<u32> {
        (self.seq != NO_SEGMENT).then(|| (self.seq - una) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt(min_rto: Span, rto_granularity: Span) -> Rtt {
        Rtt::new(Arc::new(TimerOptions::new(&Options { min_rto, rto_granularity, ..Options::default() })))
    }

    #[test]
    fn follows_the_formulas_of_rfc_6298() {
        let mut rtt = rtt(Span::ZERO, Span::ZERO);
        assert_eq!(rtt.rto(), Span::secs(1));
        rtt.sample(Span::millis(100));
        // srtt = R, rttvar = R/2, rto = srtt + 4 rttvar.
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::millis(100), Span::millis(300)));
        rtt.sample(Span::millis(180));
        // rttvar = 3/4 50 + 1/4 80 = 57.5, srtt = 7/8 100 + 1/8 180 = 110, rto = 110 + 230.
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::millis(110), Span::millis(340)));
        assert_eq!(rtt.min(), Span::millis(100));
    }

    #[test]
    fn doubles_to_a_minute_and_returns_with_the_next_sample() {
        let mut rtt = rtt(Span::millis(200), Span::millis(10));
        rtt.sample(Span::millis(44));
        // 44 + 4 * 22 = 132, rounded up to 140, below the minimum.
        assert_eq!(rtt.rto(), Span::millis(200));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Span::secs(60));
        rtt.sample(Span::millis(44));
        assert_eq!(rtt.rto(), Span::millis(200));
    }

    #[test]
    fn one_segment_is_timed_at_a_time_and_none_that_is_sent_twice() {
        let mut timed = TimedSegment::none();
        assert_eq!((timed.distance(0), timed.on_ack(Time(9), 5)), (None, None));
        timed.begin(Time(10), 3);
        timed.begin(Time(20), 4);
        assert_eq!(timed.distance(1), Some(2));
        timed.cancel_from(4);
        assert_eq!(timed.on_ack(Time(50), 3), None, "3 is not acknowledged by that");
        assert_eq!(timed.on_ack(Time(50), 4), Some(Span(40)));
        assert_eq!(timed.on_ack(Time(60), 5), None, "once");
        timed.begin(Time(70), 8);
        timed.cancel_from(8);
        assert_eq!(timed.on_ack(Time(90), 9), None);
    }
}

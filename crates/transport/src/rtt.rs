//! Round-trip time estimation and retransmission timeout, by RFC 6298 or as in Linux.
//!
//! Source: RFC 6298, Section 2 (srtt, rttvar, alpha = 1/8, beta = 1/4, K = 4), Section 5.5 (doubling, 60 s at most), Section
//! 5.7 (3 s after a SYN that timed out); RFC 7323, Section 4.1 and Appendix G (samples of every ACK). Linux 6.12,
//! `tcp_rtt_estimator`, `tcp_set_rto` and `tcp_init_metrics` (facts, not text). Without timestamps one segment is timed at a
//! time, never one that was sent twice (Karn's rule, RFC 6298, Section 3).
//! Differs from ns-2 and Linux: samples are exact, not counted in ticks; the granularity rounds the timeout up.
//! Differs from Linux: until data has given a sample the timeout is that after a handshake that met full queues ([`Rtt::shake_hands`]).

use crate::Options;
use crate::options::Rto;
use crate::sequence::{NO_SEGMENT, Outstanding};
use base::{PacketNumber, Span, Time};
use std::sync::Arc;

/// Longest timeout (RFC 6298, 2.5 allows a maximum of at least 60 seconds).
const MAX_RTO: Span = Span::secs(60);

/// Longest timeout of Linux (`TCP_RTO_MAX`).
const MAX_RTO_LINUX: Span = Span::secs(120);

/// Timeout before the first sample (RFC 6298, 2.1).
const FIRST_RTO: Span = Span::secs(1);

/// Timeout of the first data after a SYN that timed out (RFC 6298, 5.7; `TCP_TIMEOUT_FALLBACK` of Linux).
const FALLBACK_RTO: Span = Span::secs(3);

/// Worst-case delay of an acknowledgement for a single segment (RFC 8985, 7.2).
const DELAYED_ACK: Span = Span::millis(200);

/// Shortest timer of Linux (`TCP_TIMEOUT_MIN_US`), which it adds to every probe timer but that of a single segment.
const LEAST_WAIT: Span = Span::millis(2);

/// Timer settings of a sender, shared by all flows of a group.
#[derive(Clone, Debug)]
pub struct TimerOptions {
    rule: Rto,
    min_rto: Span,
    granularity: Span,
    /// Longest delay of an acknowledgement, which the probe timer adds if the receiver may delay it.
    delayed_ack_timeout: Span,
    /// Time that the probe timer adds if the receiver does not delay the acknowledgement.
    least_wait: Span,
    /// Number of in-order segments per acknowledgement.
    delayed_ack: u32,
}

impl TimerOptions {
    /// Settings from the keys of `tcp`.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        Self {
            rule: options.rto,
            min_rto: options.min_rto,
            granularity: options.rto_granularity,
            delayed_ack_timeout: match options.rto {
                // Linux adds its smallest timeout, whatever the receiver does (`tcp_schedule_loss_probe`).
                Rto::Linux => options.min_rto,
                Rto::Rfc6298 => options.delayed_ack_timeout.max(DELAYED_ACK),
            },
            least_wait: if options.rto == Rto::Linux { LEAST_WAIT } else { Span::ZERO },
            delayed_ack: options.delayed_ack,
        }
    }

    /// Computation rule of the timeout.
    #[inline]
    pub(crate) fn rule(&self) -> Rto {
        self.rule
    }

    /// Time that the probe timer adds for the delayed acknowledgement of this number of outstanding segments (RFC 8985, 7.2).
    #[inline]
    pub(crate) fn wait_for_ack(&self, outstanding: u32) -> Span {
        if self.may_delay_ack(outstanding) { self.delayed_ack_timeout } else { self.least_wait }
    }

    /// Whether the receiver may delay the acknowledgement of this number of outstanding segments.
    #[inline]
    pub(crate) fn may_delay_ack(&self, outstanding: u32) -> bool {
        match self.rule {
            Rto::Linux => outstanding == 1,
            Rto::Rfc6298 => outstanding < self.delayed_ack,
        }
    }

    fn max_rto(&self) -> Span {
        match self.rule {
            Rto::Linux => MAX_RTO_LINUX,
            Rto::Rfc6298 => MAX_RTO,
        }
        .max(self.min_rto)
    }
}

/// Round-trip times of an ACK: the samples of its oldest and of its latest newly acknowledged segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRtt {
    /// `seq_rtt_us` of Linux: includes the time for which the receiver delayed the ACK.
    pub oldest: Span,
    /// `ca_rtt_us` of Linux.
    pub latest: Span,
}

/// Smoothed and smallest round-trip time.
#[derive(Clone, Copy, Debug)]
pub struct SrttAndMin {
    pub srtt: Span,
    pub min: Span,
}

/// Time in microseconds, as in Linux. It has half the size of a [`Span`], which saves memory in every flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Micros(u32);

impl Micros {
    #[inline]
    fn of(span: Span) -> Self {
        Self(u32::try_from(span.0 / 1_000_000).unwrap_or(u32::MAX))
    }

    #[inline]
    fn span(self) -> Span {
        Span::micros(u64::from(self.0))
    }
}

/// Estimator of one connection.
#[derive(Clone, Debug)]
pub struct Rtt {
    srtt: Span,
    /// Variation: `rttvar` of RFC 6298, and `rttvar_us` of Linux, which is four times as large.
    rttvar: Span,
    min: Span,
    latest: Span,
    rto: Span,
    /// Linux: four times the mean deviation (`mdev_us`), its largest value in this round trip, and where that ends (`rtt_seq`).
    mdev: Micros,
    mdev_max: Micros,
    round_end: PacketNumber,
    /// Smoothed round-trip time of earlier connections over the same path, zero without one.
    cached: Micros,
    options: Arc<TimerOptions>,
}

impl Rtt {
    /// Estimator without samples.
    #[must_use]
    pub fn new(options: Arc<TimerOptions>) -> Self {
        let (rto, zero) = (FIRST_RTO.max(options.min_rto), Span::ZERO);
        let none = Micros(0);
        let (srtt, rttvar, min, latest) = (zero, zero, zero, zero);
        let (mdev, mdev_max, round_end, cached) = (none, none, PacketNumber(0), none);
        Self { srtt, rttvar, min, latest, rto, mdev, mdev_max, round_end, cached, options }
    }

    /// Timer settings.
    #[inline]
    pub(crate) fn options(&self) -> &TimerOptions {
        &self.options
    }

    /// Replaces the settings, and removes all samples.
    pub(crate) fn share(&mut self, options: Arc<TimerOptions>) {
        *self = Self::new(options);
    }

    /// Sets the number of the first segment to `first`.
    pub(crate) fn begin_at(&mut self, first: u64) {
        self.round_end = PacketNumber::of(first);
    }

    /// Takes the round-trip time `sample` of the handshake as first sample, for a path that takes up to `longest` with queues;
    /// no packet of the handshake is simulated. The smallest round-trip time is left to data, as the handshake may have met a
    /// queue.
    ///
    /// Until data has given a sample the timeout is at least a second, and three seconds where the SYN may have timed out
    /// (RFC 6298, 5.7). By the rule of Linux it is no more than after a handshake that took `longest`: some 200 ms on a short path.
    pub fn shake_hands(&mut self, sample: Span, longest: Span) {
        self.first_sample(sample.max(Span(1)), Outstanding { una: 0, nxt: 0 });
        self.set_rto();
        let least = match self.options.rule {
            _ if longest >= FIRST_RTO => FALLBACK_RTO,
            Rto::Linux => FIRST_RTO.min(longest + self.options.min_rto.max(Span(2 * longest.0))),
            Rto::Rfc6298 => FIRST_RTO,
        };
        self.rto = self.rto.max(least);
    }

    /// Estimator of another connection over the path of `last`, which has ended: its timeout before the first sample allows
    /// for the round-trip time that was measured there (RFC 9040; Linux's `tcp_metrics`, which keep an overestimate for
    /// longer).
    pub(crate) fn follow(&mut self, last: &Self) {
        let (cached, srtt) = (last.cached.span(), if last.latest == Span::ZERO { Span::ZERO } else { last.srtt });
        let cached = if srtt >= cached || srtt == Span::ZERO { srtt.max(cached) } else { moved(cached, srtt, 8) };
        self.cached = Micros::of(cached);
        self.rto = self.rto.max(Span(3 * cached.0)).min(self.options.max_rto());
    }

    /// Takes `sample` of a segment sent once, with one sample for each round trip; a doubled timeout returns to
    /// normal.
    pub fn sample(&mut self, sample: Span, round: Outstanding) {
        // Zero marks "no sample yet"; no path is that short.
        let sample = sample.max(Span(1));
        self.observe(sample);
        self.smooth(sample, round, 1);
        self.set_rto();
    }

    /// Takes the round-trip times of an ACK with a timestamp, which arrived while `outstanding` segments were in
    /// flight; a doubled timeout returns to normal.
    #[inline]
    pub fn sample_ack(&mut self, rtt: AckRtt, round: Outstanding, outstanding: u32) {
        self.smooth_ack(rtt, round, outstanding);
        self.set_rto();
    }

    /// Takes a sample without computing a new timeout, for ACKs in a row: [`Self::set_rto`] has to follow the last.
    #[inline]
    pub fn smooth_ack(&mut self, rtt: AckRtt, round: Outstanding, outstanding: u32) {
        self.observe(rtt.latest);
        // RFC 7323, Appendix G: a window gives a sample for every two segments.
        self.smooth(rtt.oldest.max(Span(1)), round, u64::from(outstanding.div_ceil(2)).max(1));
    }

    /// Smooths a sample, of which a round trip has `expected` (RFC 7323, Appendix G).
    #[inline]
    fn smooth(&mut self, sample: Span, round: Outstanding, expected: u64) {
        if self.srtt == Span::ZERO {
            return self.first_sample(sample, round);
        }
        match self.options.rule {
            Rto::Linux => self.smooth_linux(sample, round),
            Rto::Rfc6298 if expected == 1 => {
                let error = self.srtt.0.abs_diff(sample.0);
                self.rttvar = Span((3 * self.rttvar.0 + error) / 4);
                self.srtt = Span((7 * self.srtt.0 + sample.0) / 8);
            }
            Rto::Rfc6298 => {
                let error = self.srtt.0.abs_diff(sample.0);
                self.rttvar = moved(self.rttvar, Span(error), 4 * expected);
                self.srtt = moved(self.srtt, sample, 8 * expected);
            }
        }
    }

    fn first_sample(&mut self, sample: Span, round: Outstanding) {
        self.srtt = sample;
        self.rttvar = Span(sample.0 / 2);
        if self.options.rule == Rto::Linux {
            self.rttvar = Span(2 * sample.0).max(self.options.min_rto);
            (self.mdev, self.mdev_max) = (Micros::of(Span(2 * sample.0)), Micros::of(self.rttvar));
            self.round_end = PacketNumber::of(round.nxt);
        }
    }

    #[inline]
    fn smooth_linux(&mut self, sample: Span, round: Outstanding) {
        let quarter = self.mdev.0 / 4;
        let deviation = Micros::of(Span(sample.0.abs_diff(self.srtt.0))).0;
        self.mdev.0 = if deviation <= quarter {
            self.mdev.0 - (quarter - deviation)
        } else if sample < self.srtt {
            // A falling round-trip time raises the deviation by an eighth only.
            self.mdev.0.saturating_add((deviation - quarter) / 8)
        } else {
            self.mdev.0.saturating_add(deviation - quarter)
        };
        self.srtt = moved(self.srtt, sample, 8);
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev.span());
        }
        if round.una > self.round_end.near(round.una) {
            let largest = self.mdev_max.span();
            if largest < self.rttvar {
                self.rttvar = moved(self.rttvar, largest, 4);
            }
            (self.round_end, self.mdev_max) = (PacketNumber::of(round.nxt), Micros::of(self.options.min_rto));
        }
    }

    /// Sets the timeout from the present estimates.
    #[inline]
    pub fn set_rto(&mut self) {
        let options = &*self.options;
        let tick = options.granularity.0.max(1);
        let (rto, least) = match options.rule {
            Rto::Linux => (self.srtt.0 + self.rttvar.0, Span::ZERO),
            Rto::Rfc6298 => (self.srtt.0 + options.granularity.0.max(4 * self.rttvar.0), options.min_rto),
        };
        self.rto = Span(rto.div_ceil(tick) * tick).clamp(least, options.max_rto());
    }

    /// Takes `sample` of a round trip for the smallest and the latest time only, not for the timeout.
    #[inline]
    pub fn observe(&mut self, sample: Span) {
        let sample = sample.max(Span(1));
        self.latest = sample;
        self.min = if self.min == Span::ZERO { sample } else { self.min.min(sample) };
    }

    /// Doubles the timeout, after the timer expired.
    pub fn back_off(&mut self) {
        self.rto = Span(self.rto.0 * 2).min(self.options.max_rto());
    }

    /// Retransmission timeout.
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

    /// Variation of the round-trip time as the timeout takes it: `4 rttvar` of RFC 6298, `rttvar` of Linux.
    #[must_use]
    pub fn variation(&self) -> Span {
        match self.options.rule {
            Rto::Linux => self.rttvar,
            Rto::Rfc6298 => Span(4 * self.rttvar.0),
        }
    }

    /// Mean deviation of the round-trip time: `rttvar` of RFC 6298, a quarter of `mdev_us` of Linux, which `ss` shows as `rttvar`.
    #[must_use]
    pub fn deviation(&self) -> Span {
        match self.options.rule {
            Rto::Linux => Span(self.mdev.span().0 / 4),
            Rto::Rfc6298 => self.rttvar,
        }
    }

    /// Latest sample of data; zero before the first.
    #[must_use]
    pub fn latest(&self) -> Span {
        self.latest
    }

    /// Smoothed and smallest round-trip time.
    #[inline]
    pub(crate) fn srtt_and_min(&self) -> SrttAndMin {
        SrttAndMin { srtt: self.srtt(), min: self.min() }
    }

    /// Smallest sample of data; zero before the first.
    #[must_use]
    pub fn min(&self) -> Span {
        self.min
    }
}

/// Moves a value by one part in `n` of the way to `to`.
#[inline]
fn moved(from: Span, to: Span, n: u64) -> Span {
    if to >= from { Span(from.0 + (to.0 - from.0) / n) } else { Span(from.0 - (from.0 - to.0) / n) }
}

/// Segment being timed, if any, and when it was sent.
#[derive(Clone, Copy, Debug)]
pub struct TimedSegment {
    /// `NO_SEGMENT` if none is timed. An `Option` would have twice the size, in every flow.
    seq: u64,
    since: Time,
}

impl TimedSegment {
    /// No segment is timed.
    #[must_use]
    pub fn none() -> Self {
        Self { seq: NO_SEGMENT, since: Time::ZERO }
    }

    /// Times `seq`, which is being sent, unless another segment is timed.
    #[inline]
    pub fn begin(&mut self, now: Time, seq: u64) {
        if self.seq == NO_SEGMENT {
            (self.seq, self.since) = (seq, now);
        }
    }

    /// Stops timing: the segment will give no sample.
    #[inline]
    pub fn cancel(&mut self) {
        self.seq = NO_SEGMENT;
    }

    /// Stops timing if the segment is `seq` or later (Karn: `seq` is retransmitted).
    #[inline]
    pub fn cancel_from(&mut self, seq: u64) {
        if seq <= self.seq {
            self.cancel();
        }
    }

    /// Processes an ACK of everything below `cum`. Returns the round-trip time of the timed segment, if the ACK covers it.
    #[inline]
    pub fn on_ack(&mut self, now: Time, cum: u64) -> Option<Span> {
        if self.seq == NO_SEGMENT || cum <= self.seq {
            return None;
        }
        self.cancel();
        Some(now - self.since)
    }

    /// Distance in segments from `una` to the timed segment, if a segment is timed.
    #[inline]
    #[must_use]
    pub fn distance(self, una: u64) -> Option<u32> {
        (self.seq != NO_SEGMENT).then(|| (self.seq - una) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Outstanding = Outstanding { una: 1, nxt: 10 };

    fn rtt(min_rto: Span, rto_granularity: Span) -> Rtt {
        Rtt::new(Arc::new(TimerOptions::new(&Options { min_rto, rto_granularity, ..Options::default() })))
    }

    fn linux() -> Rtt {
        Rtt::new(Arc::new(TimerOptions::new(&Options::linux())))
    }

    fn alike(ms: u64) -> AckRtt {
        AckRtt { oldest: Span::millis(ms), latest: Span::millis(ms) }
    }

    #[test]
    fn follows_the_formulas_of_rfc_6298() {
        let mut rtt = rtt(Span::ZERO, Span::ZERO);
        assert_eq!(rtt.rto(), Span::secs(1));
        rtt.sample(Span::millis(100), ROUND);
        // srtt = R, rttvar = R/2, rto = srtt + 4 rttvar.
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::millis(100), Span::millis(300)));
        rtt.sample(Span::millis(180), ROUND);
        // rttvar = 3/4 50 + 1/4 80 = 57.5, srtt = 7/8 100 + 1/8 180 = 110, rto = 110 + 230.
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::millis(110), Span::millis(340)));
        assert_eq!(rtt.min(), Span::millis(100));
    }

    #[test]
    fn linux_adds_a_variation_of_at_least_the_smallest_timeout() {
        // The steps of tcp_rtt_estimator by hand, in milliseconds, with mdev and rttvar times four as there.
        let mut rtt = linux();
        rtt.sample_ack(alike(100), Outstanding { una: 1, nxt: 10 }, 10);
        assert_eq!((rtt.srtt(), rtt.mdev.0, rtt.rto()), (Span::millis(100), 200_000, Span::millis(300)));
        // Error 80: mdev = 200 + 80 - 50, which is larger than rttvar.
        rtt.sample_ack(alike(180), Outstanding { una: 2, nxt: 12 }, 10);
        assert_eq!((rtt.srtt(), rtt.mdev.0, rtt.rto()), (Span::millis(110), 230_000, Span::millis(340)));
        // Error -50: 50 - 57.5 is below zero, so mdev falls by all of it. The first round ends; mdev_max restarts at 200.
        rtt.sample_ack(alike(60), Outstanding { una: 11, nxt: 20 }, 10);
        assert_eq!((rtt.srtt(), rtt.mdev.0), (Span::micros(103_750), 222_500));
        assert_eq!((rtt.variation(), rtt.mdev_max.0), (Span::millis(230), 200_000));
        assert_eq!(rtt.rto(), Span::millis(334), "333.75 in ticks of a millisecond");
        // Error -78.75: 78.75 - 55.625 is positive, so mdev rises by an eighth of it.
        rtt.sample_ack(alike(25), Outstanding { una: 12, nxt: 22 }, 10);
        assert_eq!(rtt.mdev.0, 222_500 + 23_125 / 8);
        // A steady path comes down to srtt + 200 ms, a quarter of the excess each round.
        for round in 2..200 {
            rtt.sample_ack(alike(25), Outstanding { una: 10 * round + 1, nxt: 10 * round + 10 }, 10);
        }
        let excess = rtt.rto().0 - Span::millis(225).0;
        assert!(excess <= Span::millis(2).0, "{:?}", rtt.rto());
    }

    #[test]
    fn timestamps_smooth_over_a_window_whatever_the_number_of_samples() {
        // RFC 7323, Appendix G: 100 segments in flight give 50 samples a round trip, and each counts a fiftieth.
        let mut many = rtt(Span::ZERO, Span::ZERO);
        let mut one = many.clone();
        many.sample_ack(alike(100), ROUND, 100);
        one.sample(Span::millis(100), ROUND);
        for _ in 0..50 {
            many.sample_ack(alike(180), ROUND, 100);
        }
        one.sample(Span::millis(180), ROUND);
        // (1 - 1/400)^50 = 0.8823 where a single sample leaves 7/8 = 0.875 of the old value.
        let moved = |rtt: &Rtt| (rtt.srtt().as_secs() - 0.1) / 0.08;
        assert!((moved(&many) - 0.1177).abs() < 1e-3 && (moved(&one) - 0.125).abs() < 1e-9, "{}", moved(&many));
    }

    #[test]
    fn doubles_to_a_minute_and_returns_with_the_next_sample() {
        let mut rtt = rtt(Span::millis(200), Span::millis(10));
        rtt.sample(Span::millis(44), ROUND);
        // 44 + 4 * 22 = 132, rounded up to 140, below the minimum.
        assert_eq!(rtt.rto(), Span::millis(200));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Span::secs(60));
        rtt.sample(Span::millis(44), ROUND);
        assert_eq!(rtt.rto(), Span::millis(200));
        let mut rtt = linux();
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::secs(120), "TCP_RTO_MAX");
    }

    #[test]
    fn a_handshake_gives_the_first_sample_and_three_seconds_where_its_syn_may_have_timed_out() {
        let after = |mut rtt: Rtt, ms, longest| {
            rtt.shake_hands(Span::millis(ms), Span::millis(longest));
            (rtt.srtt(), rtt.rto(), rtt.min())
        };
        let rfc = || rtt(Span::secs(1), Span::millis(1));
        assert_eq!(after(rfc(), 40, 90), (Span::millis(40), Span::secs(1), Span::ZERO));
        assert_eq!(after(rfc(), 500, 900), (Span::millis(500), Span::millis(1500), Span::ZERO));
        // RFC 6298, 5.7: the SYN may time out because of the path's delay, or because of full buffers.
        assert_eq!(after(rfc(), 1100, 1200).1, Span::millis(3300));
        assert_eq!(after(rfc(), 40, 1040).1, Span::secs(3));
        assert_eq!(after(linux(), 1100, 1200).1, Span::millis(3300));
        assert_eq!(after(linux(), 40, 90).1, Span::millis(290), "not 240 ms: the handshake may have met a queue");
        assert_eq!(after(linux(), 40, 500).1, Span::secs(1));
        // The first sample of data replaces this timeout.
        let mut rtt = linux();
        rtt.shake_hands(Span::millis(40), Span::millis(1040));
        rtt.sample_ack(alike(40), ROUND, 2);
        assert_eq!(rtt.rto(), Span::millis(240));
    }

    #[test]
    fn the_timeout_of_the_next_connection_allows_for_the_measured_round_trip_time() {
        let mut last = linux();
        last.shake_hands(Span::millis(40), Span::millis(90));
        let fresh = last.clone();
        let mut next = fresh.clone();
        next.follow(&last);
        assert_eq!(next.rto(), Span::millis(290), "no data was acknowledged");
        (0..100).for_each(|_| last.sample_ack(alike(1100), ROUND, 2));
        next = fresh.clone();
        next.follow(&last);
        assert!((3_290..3_301).contains(&(next.rto().0 / 1_000_000_000)), "{:?}", next.rto());
        // An overestimate is kept for longer: an eighth of the way down.
        next.sample_ack(alike(100), ROUND, 2);
        (0..100).for_each(|_| next.sample_ack(alike(100), ROUND, 2));
        let mut third = fresh;
        third.follow(&next);
        assert!((2_900..2_950).contains(&(third.rto().0 / 1_000_000_000)), "{:?}", third.rto());
    }

    #[test]
    fn one_segment_is_timed_at_a_time_and_none_that_is_sent_twice() {
        let mut timed = TimedSegment::none();
        assert_eq!((timed.distance(0), timed.on_ack(Time(9), 5)), (None, None));
        timed.begin(Time(10), 3);
        timed.begin(Time(20), 4);
        assert_eq!(timed.distance(1), Some(2));
        timed.cancel_from(4);
        assert_eq!(timed.on_ack(Time(50), 3), None, "the ACK does not cover segment 3");
        assert_eq!(timed.on_ack(Time(50), 4), Some(Span(40)));
        assert_eq!(timed.on_ack(Time(60), 5), None, "once");
        timed.begin(Time(70), 8);
        timed.cancel_from(8);
        assert_eq!(timed.on_ack(Time(90), 9), None);
    }
}

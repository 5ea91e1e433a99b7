//! Pacing: the time at which the next segment may be sent, at the rate of a law that names one, as Linux does, or as
//! QUIC's recovery recommends.
//!
//! Source: Linux 6.12, `tcp_update_pacing_rate` (rate) and `tcp_update_skb_after_send` (spacing, first segments,
//! lateness); RFC 9002, Sections 7.7 and 7.8. A probe and the first segment after a timeout leave at once even where
//! the sender paces, as in Linux without the queue `fq`; they delay the segments that follow. A fast retransmit waits
//! for its pacing time (`tcp_xmit_retransmit_queue`), and is sent before other segments.
//! The rate follows a smoothed round-trip time of its own, which takes a sample with every ACK, as Linux's and RFC
//! 9002's do: with one sample per round trip the sender would pace below the rate of the path for some round trips
//! after a queue has drained.
//! Differs from Linux: ACKs that repair something give no sample; times are exact, not in units of a timer. Before the first
//! round-trip sample nothing is paced.

use crate::bursts::{Ask, Bursts};
use crate::options::{Burst, Pacing, PacingFactors};
use crate::sequence::SequenceSpace;
use base::{Span, Time};
use law::CongestionControl;

/// Number of segments of a connection that Linux sends before it begins to space them, as its queue `fq` did.
const LINUX_FIRST: u32 = 10;

/// RFC 9002, 7.7: bursts are no longer than the initial window, which Section 7.2 makes ten packets.
const QUIC_BURST: u64 = 10;

/// RFC 9002, 7.7: the rate is a little above the window per round-trip time.
const QUIC_FACTOR: f64 = 1.25;

/// Rule that spaces segments.
#[derive(Clone, Copy, Debug)]
enum Spacing {
    /// Not at all: bursts alone.
    None,
    /// Evenly, at the law's own rate; time not used is lost.
    Even,
    /// Linux's rule, with these factors.
    Linux(PacingFactors),
    /// RFC 9002's rule: a bucket as large as the largest burst.
    Quic,
}

/// Pacer of one sender, and its bursts.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    pace: Pace,
    /// Segmentation offload, if any.
    bursts: Option<Bursts>,
    /// Time at which a segment was last sent.
    sent_at: Time,
}

/// Pacing of single segments; the whole pacer where no offload makes bursts.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    spacing: Spacing,
    /// Whether the law names a rate: other laws are not asked for one with every segment.
    names_rate: bool,
    /// Rate that the law named last, and the time of a segment at it: it changes only with ACKs.
    named: (f64, Span),
    /// Smoothed round-trip time of every ACK; zero before the first sample.
    srtt: Span,
    free_at: Time,
    /// For QUIC's bucket: time at which all segments sent so far would have been sent at the pacing rate.
    due: Time,
    /// Segments of the law's present burst that may still be sent with it.
    left: u32,
    /// Segments that are still sent without spacing.
    unspaced: u32,
    usage: WindowUse,
}

/// Whether the window was full recently. A paced sender fills it only from time to time, but is limited by it
/// nevertheless.
///
/// Source: Linux 6.12, `tcp_cwnd_validate` and `tcp_is_cwnd_limited`.
#[derive(Clone, Copy, Debug, Default)]
struct WindowUse {
    limited: bool,
    /// Largest number of outstanding segments in this window of data.
    most: u32,
    /// End of the window of data: it ends when this is acknowledged.
    until: u64,
    /// Number of segments sent at the last update.
    sent: u64,
}

impl Pacer {
    /// Pacer of a new connection; `None` where each segment is sent as soon as the window allows. `names_rate` says that the
    /// law sets a pacing rate.
    #[must_use]
    pub fn new(pacing: Pacing, burst: Burst, names_rate: bool) -> Option<Self> {
        let bursts = Bursts::new(burst);
        let (spacing, unspaced) = match pacing {
            Pacing::None if names_rate => (Spacing::Even, 0),
            Pacing::None if bursts.is_none() => return None,
            Pacing::None => (Spacing::None, 0),
            Pacing::Linux(factors) => (Spacing::Linux(factors), LINUX_FIRST - 1),
            Pacing::Quic => (Spacing::Quic, 0),
        };
        let zero = Time::ZERO;
        let pace = Pace {
            spacing,
            names_rate,
            named: (f64::INFINITY, Span::ZERO),
            srtt: Span::ZERO,
            free_at: zero,
            due: zero,
            left: 0,
            unspaced,
            usage: WindowUse::default(),
        };
        Some(Self { pace, bursts, sent_at: zero })
    }

    /// Pacing of single segments, where no offload makes bursts of them.
    #[inline]
    pub fn pace(&mut self) -> &mut Pace {
        debug_assert!(!self.makes_bursts());
        &mut self.pace
    }

    /// Time at which pacing allows the next segment: `None` if now.
    #[inline]
    #[must_use]
    pub fn wait(&self, now: Time) -> Option<Time> {
        if self.bursts.is_some_and(|bursts| bursts.goes_on(now)) { None } else { self.pace.wait(now) }
    }

    /// Whether a segment that pacing does not delay is sent at `now`, and not with more after the next ACK; `ask` is
    /// the state of the sender, without the time of the last transmission and the round-trip time of every ACK.
    #[inline]
    pub fn begins(&mut self, now: Time, ask: impl FnOnce() -> Ask) -> bool {
        let (last, srtt) = (self.sent_at.max(self.pace.free_at), self.pace.srtt);
        match &mut self.bursts {
            Some(bursts) => bursts.goes_on(now) || bursts.begin(&Ask { srtt, last, ..ask() }),
            None => true,
        }
    }

    /// Time of one segment at the pace of a sender with this window: `None` without a pace.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every segment that is spaced")]
    pub fn interval(&mut self, control: &impl CongestionControl, seq: &SequenceSpace) -> Option<Span> {
        let pace = &mut self.pace;
        let named = if pace.names_rate { control.pacing_rate() } else { None };
        named
            .map(|rate| pace.at_rate(rate))
            .or_else(|| pace.interval(control.cwnd(), control.ssthresh(), seq.outstanding()))
    }

    /// Rate in segments per second at which segments are spaced, or from which the sizes of bursts follow (`tcpi_pacing_rate`);
    /// `None` before the first round-trip sample.
    #[must_use]
    pub fn rate(&self, control: &impl CongestionControl, seq: &SequenceSpace) -> Option<f64> {
        let pace = &self.pace;
        let named = if pace.names_rate { control.pacing_rate() } else { None };
        named.or_else(|| {
            let per_rtt = pace.per_rtt(control.cwnd(), control.ssthresh(), seq.outstanding())?;
            (pace.srtt > Span::ZERO).then(|| per_rtt / pace.srtt.as_secs())
        })
    }

    /// Takes the round-trip time of an ACK (RFC 6298, Section 2: with weight 1/8).
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span) {
        self.pace.on_rtt(rtt);
    }

    /// Notes that a segment is sent at a pace of one per `interval`; `burst` gives the burst size of a law with a rate.
    #[inline]
    pub fn on_transmit(&mut self, now: Time, interval: Option<Span>, burst: impl FnOnce() -> u32) {
        self.sent_at = now;
        match &mut self.bursts {
            Some(bursts) => {
                let first = bursts.on_transmit(now);
                self.pace.space(now, interval, first.is_some(), first.unwrap_or(1));
            }
            None => self.pace.on_transmit(now, interval, burst),
        }
    }

    /// Whether the window counts as full although it is not; `waits` says whether a segment waits for its pacing time.
    #[inline]
    #[must_use]
    pub fn counts_as_full(&self, control: &impl CongestionControl, waits: bool) -> bool {
        let usage = &self.pace.usage;
        match self.pace.spacing {
            Spacing::Even => waits || (self.bursts.is_some() && usage.limited),
            _ => self.pace.counts_as_full(control.cwnd(), control.ssthresh(), waits),
        }
    }

    /// Notes how full the window of `cwnd` segments is, after everything that may be sent now has been sent, `sent`
    /// segments so far.
    #[inline]
    pub fn note_window_use(&mut self, seq: &SequenceSpace, in_flight: u32, cwnd: u32, sent: u64) {
        let Some(bursts) = &mut self.bursts else {
            return self.pace.note_window_use(seq, in_flight, cwnd, sent);
        };
        let waited = bursts.take_waited();
        self.pace.usage.note(seq, waited || in_flight >= cwnd, sent);
    }

    /// Whether [`Self::note_window_use`] does anything.
    #[inline]
    #[must_use]
    pub fn notes_window_use(&self) -> bool {
        self.bursts.is_some() || matches!(self.pace.spacing, Spacing::Linux(_))
    }

    /// Whether segments are spaced, not only sent in bursts.
    #[must_use]
    pub fn spaces(&self) -> bool {
        !matches!(self.pace.spacing, Spacing::None)
    }

    /// Whether it needs transmission times: for every round-trip time, or for the age of the oldest segment.
    #[must_use]
    pub fn asks_departures(&self) -> bool {
        self.bursts.is_some() || !matches!(self.pace.spacing, Spacing::Even)
    }

    /// Whether segments are sent in bursts.
    #[must_use]
    pub fn makes_bursts(&self) -> bool {
        self.bursts.is_some()
    }

    /// Sets the number of the first segment to `first`.
    pub fn begin_at(&mut self, first: u64) {
        self.pace.usage.until = first;
    }
}

impl Pace {
    /// Whether the law names a rate.
    #[inline]
    #[must_use]
    pub fn names_rate(&self) -> bool {
        self.names_rate
    }

    /// See [`Pacer::wait`].
    #[inline]
    #[must_use]
    pub fn wait(&self, now: Time) -> Option<Time> {
        (self.left == 0 && self.free_at > now).then_some(self.free_at)
    }

    /// Time of one segment at the law's `rate`.
    #[inline]
    pub fn at_rate(&mut self, rate: f64) -> Span {
        if rate != self.named.0 {
            self.named = (rate, Span::from_secs(1.0 / rate));
        }
        self.named.1
    }

    /// Time of one segment where the law does not name a rate: `None` before the first round-trip sample.
    #[inline]
    #[must_use]
    pub fn interval(&self, cwnd: f64, ssthresh: f64, outstanding: u32) -> Option<Span> {
        if self.srtt == Span::ZERO {
            return None;
        }
        let per_rtt = self.per_rtt(cwnd, ssthresh, outstanding)?;
        // Runs are shorter than 2^63 ps, and signed numbers are converted in one step.
        Some(Span((self.srtt.0.cast_signed() as f64 / per_rtt) as i64 as u64))
    }

    /// Segments per round-trip time where the law does not name a rate: `None` where only a law's rate spaces segments.
    #[inline]
    fn per_rtt(&self, cwnd: f64, ssthresh: f64, outstanding: u32) -> Option<f64> {
        Some(match self.spacing {
            Spacing::Even => return None,
            Spacing::None => linux_rate(PacingFactors::default(), cwnd, ssthresh, outstanding),
            Spacing::Linux(factors) => linux_rate(factors, cwnd, ssthresh, outstanding),
            Spacing::Quic => QUIC_FACTOR * cwnd,
        })
    }

    /// See [`Pacer::on_rtt`].
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span) {
        self.srtt = if self.srtt == Span::ZERO { rtt } else { Span(self.srtt.0 - self.srtt.0 / 8 + rtt.0 / 8) };
    }

    /// See [`Pacer::on_transmit`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every segment that is spaced")]
    pub fn on_transmit(&mut self, now: Time, interval: Option<Span>, burst: impl FnOnce() -> u32) {
        let first = self.left == 0;
        if !first {
            self.left -= 1;
        } else if self.names_rate {
            self.left = burst() - 1;
        }
        self.space(now, interval, first, 1);
    }

    /// Notes that a segment is sent, the first of a burst of `size` or not.
    #[inline]
    fn space(&mut self, now: Time, interval: Option<Span>, first_of_burst: bool, size: u32) {
        let Some(interval) = interval else {
            // Linux counts all segments of the connection, whether paced or not.
            self.unspaced = self.unspaced.saturating_sub(1);
            return;
        };
        let from = if first_of_burst { self.free_at.max(now) } else { self.free_at };
        match self.spacing {
            Spacing::None => {}
            Spacing::Even => self.free_at = from + interval,
            Spacing::Linux(_) if self.unspaced > 0 => {
                self.unspaced -= 1;
                self.free_at = from;
            }
            Spacing::Linux(_) => {
                // A late sender may catch up by half of the time of the segments that it sends at once.
                let late = if first_of_burst { from.since(self.free_at) } else { Span::ZERO };
                let most = interval.0 * u64::from(size) / 2;
                // The first segment of a burst takes the credit for the whole burst.
                self.free_at = Time((from + interval).0.saturating_sub(late.0.min(most)));
            }
            Spacing::Quic => {
                self.due = self.due.max(now) + interval;
                self.free_at = Time(self.due.0.saturating_sub((QUIC_BURST - 1) * interval.0));
            }
        }
    }

    /// See [`Pacer::counts_as_full`].
    #[inline]
    #[must_use]
    pub fn counts_as_full(&self, cwnd: f64, ssthresh: f64, waits: bool) -> bool {
        match self.spacing {
            Spacing::None | Spacing::Linux(_) => {
                self.usage.limited || (cwnd < ssthresh && cwnd < 2.0 * f64::from(self.usage.most))
            }
            // A sender that waits for pacing is not limited by the application (RFC 9002, 7.8).
            Spacing::Even | Spacing::Quic => waits,
        }
    }

    /// See [`Pacer::note_window_use`].
    #[inline]
    pub fn note_window_use(&mut self, seq: &SequenceSpace, in_flight: u32, cwnd: u32, sent: u64) {
        if matches!(self.spacing, Spacing::Linux(_)) {
            self.usage.note(seq, in_flight >= cwnd, sent);
        }
    }
}

impl WindowUse {
    /// Notes that `sent` segments were sent, and whether the window is `limited` by the segments in flight.
    #[inline]
    fn note(&mut self, seq: &SequenceSpace, limited: bool, sent: u64) {
        let (out, any) = (seq.outstanding(), sent > self.sent);
        self.sent = sent;
        if !any && !limited {
            return;
        }
        let more = !self.limited && out > self.most;
        if seq.una() >= self.until || limited || more {
            *self = Self { limited, most: out, until: seq.nxt(), sent };
        }
    }
}

/// Pacing rate of Linux in segments per round-trip time: of all outstanding segments, if they exceed the window, as in
/// a recovery.
#[inline]
fn linux_rate(factors: PacingFactors, cwnd: f64, ssthresh: f64, outstanding: u32) -> f64 {
    let factor = if cwnd < 0.5 * ssthresh { factors.slow_start } else { factors.avoidance };
    factor * cwnd.max(f64::from(outstanding))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Time = Time(Span::millis(1).0);
    const TEN: Option<Span> = Some(Span::millis(10));

    fn pacer(pacing: Pacing) -> Pacer {
        Pacer::new(pacing, Burst::None, true).unwrap()
    }

    fn linux() -> Pacer {
        let mut pacer = pacer(Pacing::Linux(PacingFactors::default()));
        pacer.pace.unspaced = 0;
        pacer
    }

    #[test]
    fn only_a_sender_with_a_rate_paces() {
        assert!(Pacer::new(Pacing::None, Burst::None, false).is_none());
        assert!(Pacer::new(Pacing::Quic, Burst::None, false).is_some());
    }

    #[test]
    fn segments_leave_one_interval_apart() {
        let mut even = pacer(Pacing::None);
        assert_eq!(even.wait(MS), None);
        even.on_transmit(MS, TEN, || 1);
        assert_eq!(even.wait(MS), Some(MS + Span::millis(10)));
        assert_eq!(even.wait(MS + Span::millis(10)), None);
        // A segment sent before its time delays those after it by its interval.
        even.on_transmit(MS, TEN, || 1);
        assert_eq!(even.wait(MS), Some(MS + Span::millis(20)));
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_wait_after_it_is_longer() {
        for mut pacer in [pacer(Pacing::None), linux()] {
            for _ in 0..3 {
                assert_eq!(pacer.wait(MS), None);
                pacer.on_transmit(MS, TEN, || 3);
            }
            // One millisecond late at the start, which Linux lets it catch up.
            let late = u64::from(!matches!(pacer.pace.spacing, Spacing::Even));
            assert_eq!(pacer.wait(MS), Some(MS + Span::millis(30 - late)));
        }
    }

    #[test]
    fn even_spacing_gives_no_credit_for_unused_time() {
        let mut even = pacer(Pacing::None);
        even.on_transmit(MS, TEN, || 1);
        let late = MS + Span::millis(500);
        even.on_transmit(late, TEN, || 1);
        assert_eq!(even.wait(late), Some(late + Span::millis(10)));
    }

    #[test]
    fn linux_credits_half_of_a_segment_at_most() {
        let mut pacer = linux();
        pacer.on_transmit(MS, TEN, || 1);
        let due = pacer.pace.free_at;
        for (late, next) in [(3, 7), (500, 5)] {
            let mut own = pacer;
            let now = due + Span::millis(late);
            own.on_transmit(now, TEN, || 1);
            assert_eq!(own.wait(now), Some(now + Span::millis(next)), "{late} ms late");
        }
    }

    #[test]
    fn linux_does_not_space_the_first_ten() {
        let mut pacer = pacer(Pacing::Linux(PacingFactors::default()));
        for k in 0..10 {
            assert_eq!(pacer.wait(MS), None, "{k}");
            pacer.on_transmit(MS, TEN, || 1);
        }
        assert!(pacer.wait(MS).is_some(), "the eleventh waits for the tenth");
    }

    #[test]
    fn quic_sends_ten_segments_at_once_after_a_pause_and_then_one_by_one() {
        let mut pacer = pacer(Pacing::Quic);
        for start in [MS, MS + Span::secs(5)] {
            for k in 0..10 {
                assert_eq!(pacer.wait(start), None, "{k}");
                pacer.on_transmit(start, TEN, || 1);
            }
            assert_eq!(pacer.wait(start), Some(start + Span::millis(10)));
            pacer.on_transmit(start + Span::millis(10), TEN, || 1);
            assert_eq!(pacer.wait(start + Span::millis(10)), Some(start + Span::millis(20)));
        }
        // Half of a pause fills half of the bucket.
        let later = MS + Span::secs(5) + Span::millis(10 + 50);
        let at_once = (0..20).take_while(|_| {
            let may = pacer.wait(later).is_none();
            if may {
                pacer.on_transmit(later, TEN, || 1);
            }
            may
        });
        assert_eq!(at_once.count(), 5);
    }

    #[test]
    fn without_a_rate_no_segment_waits() {
        let mut pacer = linux();
        pacer.on_transmit(MS, None, || 1);
        assert_eq!(pacer.wait(MS), None);
    }

    #[test]
    fn the_window_counts_as_full_for_a_window_of_data() {
        let mut pacer = linux();
        let control = law::LawSpec::Reno(law::reno::Params::default());
        let start = law::StartSpec::Classic(law::start::classic::Params::default());
        // In congestion avoidance: only a full window counts.
        let control = control.build(&start, 10.0, 4.0).unwrap();
        let mut seq = SequenceSpace::new(0, 1000);
        (0..10).for_each(|_| {
            let _ = seq.send_new();
        });
        assert!(!pacer.counts_as_full(&control, false));
        pacer.note_window_use(&seq, 10, 10, 10);
        assert!(pacer.counts_as_full(&control, false));
        // Three are acknowledged, one leaves: less is out, but within the window of data that was full.
        seq.acknowledge(3);
        let _ = seq.send_new();
        pacer.note_window_use(&seq, 8, 10, 11);
        assert!(pacer.counts_as_full(&control, false));
        // The next window of data was never full.
        seq.acknowledge(10);
        let _ = seq.send_new();
        pacer.note_window_use(&seq, 2, 10, 12);
        assert!(!pacer.counts_as_full(&control, false));
    }
}

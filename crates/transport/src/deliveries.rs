//! Delivery-rate estimation from the state saved with each segment when it was last sent.
//!
//! Source: draft-ietf-ccwg-bbr-06, Section 4.1 (as draft-cheng-iccrg-delivery-rate-estimation-02). Counts segments.

use base::steps::count_steps;
use base::{Span, Time};
use law::{CongestionControl, Delivery, Lost};
use std::collections::VecDeque;

/// State saved with a segment when it is sent (the draft's `P`).
#[derive(Clone, Copy, Debug, Default)]
struct Snapshot {
    delivered: u64,
    /// `NEVER` once the segment was delivered.
    delivered_at: Time,
    first_sent: Time,
    sent: Time,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
    again: bool,
}

/// The connection's account (the draft's `C`), and the sample that the present ACK gives (`rs`).
#[derive(Clone, Debug, Default)]
pub struct Deliveries {
    first: u64,
    list: VecDeque<Snapshot>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Count of deliveries up to which the sender was application-limited; 0 for none.
    app_limited: u64,
    lost: u64,
    /// Saved state of the most recently sent segment that this ACK reports, if it reports any, and the segment's number.
    best: Snapshot,
    best_seq: u64,
    has_best: bool,
    newly_delivered: u32,
    newly_lost: u32,
    /// Losses not reported to the control yet.
    lost_now: Vec<Lost>,
    rate: DeliveryRate,
}

/// Rate sample that Linux shows: the last that the application did not limit, or a higher one that it did.
///
/// Source: Linux 6.12, `tcp_rate_gen` (`rate_delivered`, `rate_interval_us`).
#[derive(Clone, Copy, Debug, Default)]
struct DeliveryRate {
    delivered: u64,
    interval: Span,
}

impl DeliveryRate {
    #[inline]
    fn note(&mut self, delivered: u64, interval: Span, app_limited: bool) {
        let is_higher = || {
            u128::from(delivered) * u128::from(self.interval.0) >= u128::from(self.delivered) * u128::from(interval.0)
        };
        if !app_limited || is_higher() {
            *self = Self { delivered, interval };
        }
    }
}

impl Deliveries {
    /// Sets the number of the first segment to `first`. Call it before anything is sent.
    pub fn begin_at(&mut self, first: u64) {
        self.first = first;
    }

    /// Notes that segment `seq` is sent, with `in_flight` segments in flight before it.
    #[inline]
    pub fn sent(&mut self, seq: u64, now: Time, in_flight: u32) {
        let again = Snapshot { again: true, ..self.snapshot(now, in_flight) };
        match self.list.get_mut((seq - self.first) as usize) {
            Some(slot) => *slot = again,
            None => self.list.push_back(Snapshot { again: false, ..again }),
        }
    }

    /// Notes that the next new segment is sent, with `in_flight` segments in flight before it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it makes would be copied, for every segment")]
    pub fn sent_next(&mut self, now: Time, in_flight: u32) {
        let snapshot = self.snapshot(now, in_flight);
        self.list.push_back(snapshot);
    }

    /// State to save with a segment that is sent for the first time.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as `sent_next`")]
    fn snapshot(&mut self, now: Time, in_flight: u32) -> Snapshot {
        if in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            sent: now,
            lost: self.lost,
            in_flight: in_flight + 1,
            app_limited: self.app_limited > 0,
            again: false,
        }
    }

    /// Notes that segments [start, end) were delivered, as the ACK at `now` reports.
    #[inline]
    pub fn delivered(&mut self, start: u64, end: u64, now: Time) {
        for seq in start.max(self.first)..end {
            count_steps(1);
            self.delivered_one(seq, now);
        }
    }

    /// Notes the delivery of segment `seq`, which must not be below the lowest outstanding one.
    #[inline]
    pub fn delivered_one(&mut self, seq: u64, now: Time) {
        if let Some(segment) = self.list.get_mut((seq - self.first) as usize) {
            let snapshot = *segment;
            segment.delivered_at = Time::NEVER;
            self.note(seq, snapshot, now);
        }
    }

    /// Notes that segment `seq` was delivered, unless its `snapshot` says that it was before.
    #[inline]
    fn note(&mut self, seq: u64, snapshot: Snapshot, now: Time) {
        if snapshot.delivered_at == Time::NEVER {
            return;
        }
        self.delivered += 1;
        self.newly_delivered += 1;
        self.delivered_at = now;
        let (sent, best) = (snapshot.sent, self.best.sent);
        if !self.has_best || sent > best || (sent == best && seq > self.best_seq) {
            self.first_sent = sent;
            (self.best, self.best_seq, self.has_best) = (snapshot, seq, true);
        }
    }

    /// Removes the segments below `cum`, which were delivered.
    #[inline]
    pub fn advance(&mut self, cum: u64, now: Time) {
        for seq in self.first..cum {
            count_steps(1);
            let Some(snapshot) = self.list.pop_front() else { break };
            self.note(seq, snapshot, now);
        }
        self.first = cum;
    }

    /// Reports the segments considered lost since the last call to `control`.
    #[inline]
    pub fn report_lost(&mut self, control: &mut impl CongestionControl) {
        for lost in self.lost_now.drain(..) {
            control.on_lost(&lost);
        }
    }

    /// Notes that segment `seq` is considered lost.
    pub fn lost(&mut self, seq: u64, now: Time) {
        count_steps(1);
        let lost = self.count_lost(seq, now);
        self.lost_now.extend(lost);
    }

    fn count_lost(&mut self, seq: u64, now: Time) -> Option<Lost> {
        let segment = *self.list.get(seq.checked_sub(self.first)? as usize)?;
        self.newly_lost += 1;
        self.lost += 1;
        Some(Lost {
            now,
            delivered: self.delivered,
            prior_delivered: segment.delivered,
            tx_in_flight: f64::from(segment.in_flight),
            lost: (self.lost - segment.lost) as f64,
            app_limited: segment.app_limited,
        })
    }

    /// Delivery rate in segments per second (`tcpi_delivery_rate`); `None` before the first sample.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let DeliveryRate { delivered, interval } = self.rate;
        (interval > Span::ZERO).then(|| delivered as f64 / interval.as_secs())
    }

    /// Marks the sender application-limited, with `in_flight` segments in flight.
    pub fn limited_by_application(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Rate sample of the ACK at `now`, with the segments in flight before and after it; `None` if it neither delivered nor lost anything.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it returns would be copied, for every ACK")]
    pub fn sample(&mut self, now: Time, min_rtt: Span, before: u32, after: u32, recovering: bool) -> Option<Delivery> {
        let (newly_delivered, newly_lost) =
            (std::mem::take(&mut self.newly_delivered), std::mem::take(&mut self.newly_lost));
        let has_best = std::mem::take(&mut self.has_best);
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if newly_delivered == 0 && newly_lost == 0 {
            return None;
        }
        let span = |from: Time, to: Time| Span(to.0.saturating_sub(from.0));
        let best = has_best.then_some(&self.best);
        let interval = best.map(|p| span(p.first_sent, p.sent).max(span(p.delivered_at, now)));
        let interval = interval.filter(|&span| span >= min_rtt && span > Span::ZERO);
        if let (Some(segment), Some(interval)) = (best, interval) {
            self.rate.note(self.delivered - segment.delivered, interval, segment.app_limited);
        }
        Some(Delivery {
            now,
            newly_delivered: f64::from(newly_delivered),
            newly_lost: f64::from(newly_lost),
            delivered: self.delivered,
            prior_delivered: best.map_or(self.delivered, |p| p.delivered),
            interval,
            app_limited: best.is_some_and(|p| p.app_limited),
            rtt: best.filter(|p| !p.again).map(|p| span(p.sent, now)),
            min_rtt,
            prior_in_flight: f64::from(before),
            in_flight: f64::from(after),
            tx_in_flight: best.map_or(0.0, |p| f64::from(p.in_flight)),
            lost: best.map_or(0.0, |p| (self.lost - p.lost) as f64),
            recovering,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_rate_that_the_application_limited_does_not_replace_the_last() {
        // `tcp_rate_gen` of Linux: "the last non-app-limited or the highest app-limited bw".
        let mut deliveries = Deliveries::default();
        assert_eq!(deliveries.rate(), None);
        for (delivered, app_limited, expected) in
            [(10, false, 100.0), (5, true, 100.0), (20, true, 200.0), (20, true, 200.0), (5, false, 50.0)]
        {
            deliveries.rate.note(delivered, Span::millis(100), app_limited);
            assert_eq!(deliveries.rate(), Some(expected), "{delivered} {app_limited}");
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::millis(ms)
    }

    /// Four segments that left 10 ms apart, from 0 ms on, when nothing was in flight.
    fn four() -> Deliveries {
        let mut deliveries = Deliveries::default();
        deliveries.begin_at(5);
        (0..4).for_each(|i| deliveries.sent_next(at(10 * u64::from(i)), i));
        deliveries
    }

    #[test]
    fn a_sample_is_the_delivered_segments_over_the_longer_of_send_and_ack_time() {
        // Section 4.1.1.3 of the draft: 100, 105, 110 and 150 ms.
        let mut deliveries = four();
        let mut samples = Vec::new();
        for (seq, ms) in [(5, 100), (6, 105), (7, 110), (8, 150)] {
            deliveries.advance(seq + 1, at(ms));
            let sample = deliveries.sample(at(ms), Span::millis(1), 1, 0, false).expect("it delivered one");
            samples.push((sample.delivered, sample.prior_delivered, sample.interval, sample.rtt, sample.tx_in_flight));
        }
        let ms = |span| Some(Span::millis(span));
        assert_eq!(
            samples,
            [
                (1, 0, ms(100), ms(100), 1.0),
                (2, 0, ms(105), ms(95), 2.0),
                (3, 0, ms(110), ms(90), 3.0),
                (4, 0, ms(150), ms(120), 4.0)
            ]
        );
        assert_eq!(deliveries.rate(), Some(4.0 / 0.15));
        assert!(deliveries.sample(at(160), Span::millis(1), 0, 0, false).is_none(), "nothing was delivered or lost");
    }

    #[test]
    fn a_segment_that_was_sacked_is_not_delivered_again() {
        let mut deliveries = four();
        deliveries.delivered(7, 9, at(120));
        let sample = deliveries.sample(at(120), Span::ZERO, 4, 2, true).expect("it delivered two");
        assert_eq!((sample.newly_delivered, sample.delivered, sample.rtt), (2.0, 2, Some(Span::millis(90))));
        assert!(sample.recovering);
        deliveries.advance(9, at(130));
        let sample = deliveries.sample(at(130), Span::ZERO, 2, 0, true).expect("it delivered two");
        assert_eq!((sample.newly_delivered, sample.delivered), (2.0, 4));
    }

    #[test]
    fn a_segment_that_was_sent_again_gives_no_round_trip_time() {
        let mut deliveries = four();
        deliveries.sent(5, at(60), 3);
        deliveries.advance(6, at(160));
        let sample = deliveries.sample(at(160), Span::ZERO, 4, 3, true).expect("it delivered one");
        assert_eq!((sample.rtt, sample.tx_in_flight), (None, 4.0));
    }

    #[test]
    fn losses_count_from_when_the_segment_left() {
        let mut deliveries = four();
        deliveries.lost(5, at(50));
        deliveries.sent_next(at(60), 3);
        deliveries.lost(6, at(70));
        deliveries.lost(9, at(80));
        let lost: Vec<_> = deliveries.lost_now.iter().map(|lost| (lost.lost, lost.tx_in_flight)).collect();
        assert_eq!(lost, [(1.0, 1.0), (2.0, 2.0), (2.0, 4.0)], "9 left after the first of them");
        let sample = deliveries.sample(at(80), Span::ZERO, 4, 1, true).expect("three were lost");
        assert_eq!((sample.newly_lost, sample.newly_delivered, sample.interval), (3.0, 0.0, None));
    }

    #[test]
    fn samples_are_app_limited_until_the_segments_then_in_flight_are_delivered() {
        let mut deliveries = four();
        deliveries.limited_by_application(4);
        deliveries.sent_next(at(60), 4);
        let mut limited = Vec::new();
        for (seq, ms) in [(8, 120), (9, 140), (10, 160)] {
            deliveries.advance(seq, at(ms));
            let sample = deliveries.sample(at(ms), Span::ZERO, 1, 0, false).expect("it delivered some");
            deliveries.sent_next(at(ms), 1);
            limited.push((sample.app_limited, deliveries.list.back().is_some_and(|last| last.app_limited)));
        }
        assert_eq!(limited, [(false, true), (false, true), (true, false)]);
    }

    #[test]
    fn a_pause_begins_the_interval_anew() {
        let mut deliveries = four();
        deliveries.advance(9, at(150));
        deliveries.sample(at(150), Span::ZERO, 4, 0, false);
        deliveries.sent_next(at(1000), 0);
        deliveries.advance(10, at(1100));
        let sample = deliveries.sample(at(1100), Span::ZERO, 1, 0, false).expect("it delivered one");
        assert_eq!((sample.interval, sample.prior_delivered), (Some(Span::millis(100)), 4));
    }
}

//! At what rate the path delivers: for each segment, what was known when it last left.
//!
//! Source: draft-ietf-ccwg-bbr-06, Section 4.1 (as draft-cheng-iccrg-delivery-rate-estimation-02). Counts segments.

use base::{Span, Time};
use law::{CongestionControl, Delivery, Lost};
use std::collections::VecDeque;

/// What a segment takes along (the draft's `P`).
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    delivered: u64,
    /// `NEVER` once the segment was delivered.
    delivered_at: Time,
    first_sent: Time,
    sent: Time,
    seq: u64,
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
    /// Deliveries until the end of which the application was the limit; 0 for none.
    app_limited: u64,
    lost: u64,
    best: Option<Snapshot>,
    newly_delivered: u32,
    newly_lost: u32,
}

impl Deliveries {
    /// Nothing has left yet, and numbers begin at `first`.
    pub fn begin_at(&mut self, first: u64) {
        self.first = first;
    }

    /// Segment `seq` leaves with `in_flight` in the network before it.
    pub fn sent(&mut self, seq: u64, now: Time, in_flight: u32) {
        if in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let at = (seq - self.first) as usize;
        let snapshot = Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            sent: now,
            seq,
            lost: self.lost,
            in_flight: in_flight + 1,
            app_limited: self.app_limited > 0,
            again: at < self.list.len(),
        };
        match self.list.get_mut(at) {
            Some(slot) => *slot = snapshot,
            None => self.list.push_back(snapshot),
        }
    }

    /// Segments [start, end) arrived, as the ACK at `now` reports.
    pub fn delivered(&mut self, start: u64, end: u64, now: Time) {
        let from = start.max(self.first);
        for seq in from..end {
            let Some(segment) = self.list.get_mut((seq - self.first) as usize) else { return };
            let at = segment.delivered_at;
            if at == Time::NEVER {
                continue;
            }
            segment.delivered_at = Time::NEVER;
            self.delivered += 1;
            self.newly_delivered += 1;
            self.delivered_at = now;
            let newer = |best: &Snapshot| (segment.sent, segment.seq) > (best.sent, best.seq);
            if self.best.as_ref().is_none_or(newer) {
                self.first_sent = segment.sent;
                self.best = Some(Snapshot { delivered_at: at, ..*segment });
            }
        }
    }

    /// Everything below `cum` arrived.
    pub fn advance(&mut self, cum: u64, now: Time) {
        self.delivered(self.first, cum, now);
        self.list.drain(..((cum - self.first) as usize).min(self.list.len()));
        self.first = cum;
    }

    /// The sender takes `segments` for lost: reports each to `control`.
    pub fn on_lost(&mut self, segments: impl Iterator<Item = u64>, now: Time, control: &mut impl CongestionControl) {
        for seq in segments {
            if let Some(lost) = self.lost(seq, now) {
                control.on_lost(&lost);
            }
        }
    }

    fn lost(&mut self, seq: u64, now: Time) -> Option<Lost> {
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

    /// The application had nothing more to send, with `in_flight` in the network.
    pub fn limited_by_application(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// What the ACK at `now` says; nothing if it neither delivered nor lost anything.
    #[inline]
    pub fn sample(
        &mut self,
        now: Time,
        min_rtt: Span,
        (before, after): (u32, u32),
        recovering: bool,
    ) -> Option<Delivery> {
        let (newly_delivered, newly_lost) =
            (std::mem::take(&mut self.newly_delivered), std::mem::take(&mut self.newly_lost));
        let best = self.best.take();
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if newly_delivered == 0 && newly_lost == 0 {
            return None;
        }
        let span = |from: Time, to: Time| Span(to.0.saturating_sub(from.0));
        let interval = best.map(|p| span(p.first_sent, p.sent).max(span(p.delivered_at, now)));
        Some(Delivery {
            now,
            newly_delivered: f64::from(newly_delivered),
            newly_lost: f64::from(newly_lost),
            delivered: self.delivered,
            prior_delivered: best.map_or(self.delivered, |p| p.delivered),
            interval: interval.filter(|&span| span >= min_rtt && span > Span::ZERO),
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

//! A control alone, without packets: round trip by round trip, under losses at given rounds on a path whose round-trip
//! time grows once the window fills it; or along a list of events. For pictures, snapshots and the check against an
//! independent reading; the simulator uses neither.

use crate::{AckSample, CongestionControl, CongestionEvent, Control, Delivery, Signal};
use base::{Span, Time};

/// A path with nobody else on it and a buffer without end.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Round-trip time without a queue.
    pub base_rtt: Span,
    /// Segments that fill it; more of them wait.
    pub bdp: f64,
}

/// One round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// When it began.
    pub start: Time,
    /// Congestion window then, in segments.
    pub cwnd: f64,
    /// Slow-start threshold then, in segments.
    pub ssthresh: f64,
    /// Its round-trip time.
    pub rtt: Span,
}

/// Takes `control` through `count` round trips on `path`. In the rounds of `events` all is acknowledged but one segment,
/// and then the signal comes.
pub fn rounds(control: &mut Control, path: Path, events: &[(u32, Signal)], count: u32) -> Vec<Round> {
    let mut now = Time::ZERO;
    let mut delivered = 0;
    let mut list = Vec::with_capacity(count as usize);
    let (mut srtt, mut min_rtt) = (path.base_rtt, path.base_rtt);
    for round in 0..count {
        let window = control.cwnd().floor().max(1.0);
        let rtt = Span((path.base_rtt.0 as f64 * (window / path.bdp).max(1.0)) as u64);
        list.push(Round { start: now, cwnd: control.cwnd(), ssthresh: control.ssthresh(), rtt });
        let event = events.iter().find(|event| event.0 == round).map(|event| event.1);
        (srtt, min_rtt) = (Span((7 * srtt.0 + rtt.0) / 8), min_rtt.min(rtt));
        let prior = delivered;
        let acks = window as u64 - u64::from(event.is_some());
        for i in 0..acks {
            delivered += 1;
            let at = now + Span(rtt.0 / window as u64 * (i + 1));
            control.on_ack(&AckSample {
                now: at,
                acked: 1.0,
                ce_marked: 0.0,
                rtt: Some(rtt),
                srtt,
                min_rtt,
                in_flight: window,
                delivered,
                round_start: i == 0,
                cwnd_limited: true,
            });
            if control.needs().deliveries {
                control.on_delivery(&Delivery {
                    now: at,
                    newly_delivered: 1.0,
                    newly_lost: 0.0,
                    delivered,
                    prior_delivered: prior.saturating_sub(window as u64 - i),
                    interval: Some(rtt),
                    app_limited: false,
                    rtt: Some(rtt),
                    min_rtt,
                    prior_in_flight: window,
                    in_flight: window - 1.0,
                    recovering: false,
                });
            }
        }
        now += rtt;
        if let Some(signal) = event {
            control.on_congestion(&CongestionEvent { now, signal, in_flight: window, delivered, rtt, srtt, min_rtt });
            control.on_recovered();
        }
    }
    list
}

/// What happens to a control in [`replay`].
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// New data is acknowledged.
    Ack(AckSample),
    /// Something slows it down.
    Congestion(CongestionEvent),
}

/// Congestion window and slow-start threshold, in segments, after each of `events`.
pub fn replay(control: &mut Control, events: impl Iterator<Item = Event>) -> Vec<(f64, f64)> {
    let after = |event| {
        match event {
            Event::Ack(ack) => control.on_ack(&ack),
            Event::Congestion(event) => control.on_congestion(&event),
        }
        (control.cwnd(), control.ssthresh())
    };
    events.map(after).collect()
}

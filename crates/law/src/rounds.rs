//! A control without packets: round trip by round trip, with losses in given rounds, on a path whose round-trip time
//! grows once the window fills it; or along a list of events. Figures, snapshots and the comparison with an independent
//! implementation use it; the simulator does not.

use crate::{AckSample, CongestionControl, CongestionEvent, Control, Delivery, Lost, Signal};
use base::{RunMonitor, Span, Time};

/// A path without other flows and with an unlimited buffer.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Round-trip time without a queue.
    pub base_rtt: Span,
    /// Segments that fill the path; all further segments wait.
    pub bdp: f64,
}

impl Path {
    /// Round-trip time with `window` segments in flight.
    fn rtt(&self, window: f64) -> Span {
        Span((self.base_rtt.0 as f64 * (window / self.bdp).max(1.0)) as u64)
    }
}

/// Number of ACKs between two checks of the monitor.
const ACKS_BETWEEN_LOOKS: u64 = 16_384;

/// One round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Start of the round.
    pub start: Time,
    /// Congestion window at the start, in segments.
    pub cwnd: f64,
    /// Slow-start threshold at the start, in segments.
    pub ssthresh: f64,
    /// Round-trip time of the round.
    pub rtt: Span,
}

/// Runs `control` for `count` round trips on `path`. In each round listed in `events` all segments but one are
/// acknowledged, and the signal comes at its end; the loss is repaired in the next round.
///
/// With a pacing rate, the data in flight is what that rate sent in the previous round, limited by the window.
pub fn rounds(control: &mut Control, path: Path, events: &[(u32, Signal)], count: u32) -> Vec<Round> {
    rounds_monitored(control, path, events, count, &RunMonitor::default())
}

/// [`rounds`] with a monitor that can stop it; the result then has fewer rounds, and the last one is incomplete.
pub fn rounds_monitored(
    control: &mut Control,
    path: Path,
    events: &[(u32, Signal)],
    count: u32,
    monitor: &RunMonitor,
) -> Vec<Round> {
    let mut now = Time::ZERO;
    let mut delivered = 0;
    let mut list = Vec::new();
    let (mut srtt, mut min_rtt) = (path.base_rtt, path.base_rtt);
    // The previous round, in which the segments of this one were sent.
    let mut sent_in = SentIn { acks: 0, from: 0, rtt: path.base_rtt };
    let (mut recovering, mut lost) = (false, 0.0);
    for round in 0..count {
        let cwnd = control.cwnd().floor().max(1.0);
        let paced = control.pacing_rate().filter(|_| round > 0).map(|rate| (rate * sent_in.rtt.as_secs()).floor());
        let window = paced.map_or(cwnd, |sent| sent.clamp(1.0, cwnd));
        let rtt = path.rtt(window);
        list.push(Round { start: now, cwnd: control.cwnd(), ssthresh: control.ssthresh(), rtt });
        let event = events.iter().find(|event| event.0 == round).map(|event| event.1);
        (srtt, min_rtt) = (Span((7 * srtt.0 + rtt.0) / 8), min_rtt.min(rtt));
        let from = delivered;
        let acks = window as u64 - u64::from(event.is_some());
        for i in 0..acks {
            delivered += 1;
            if delivered % ACKS_BETWEEN_LOOKS == 0 && monitor.is_stopped() {
                return list;
            }
            // The path spreads segments sent back to back by its service time.
            let mates = i % u64::from(control.burst());
            let spread = Span((path.base_rtt.0 as f64 / path.bdp) as u64 * mates);
            let at = now + Span(rtt.0 / window as u64 * (i - mates + 1)) + spread;
            // Segments added to the window during the round already wait in the queue.
            let seen = if paced.is_some() { rtt } else { path.rtt(control.cwnd()) };
            control.on_ack(&AckSample {
                srtt,
                min_rtt,
                in_flight: window,
                delivered,
                round_start: i == 0,
                ..AckSample::plain(at, seen)
            });
            if control.needs().deliveries {
                let share = (i + 1) as f64 / window;
                control.on_delivery(&Delivery {
                    now: at,
                    newly_delivered: 1.0,
                    newly_lost: 0.0,
                    delivered,
                    prior_delivered: sent_in.delivered(share),
                    interval: Some(sent_in.until(rtt, share)),
                    app_limited: false,
                    rtt: Some(rtt + spread),
                    min_rtt,
                    prior_in_flight: window,
                    in_flight: window - 1.0,
                    tx_in_flight: window,
                    lost,
                    recovering,
                });
            }
        }
        now += rtt;
        lost = 0.0;
        if std::mem::take(&mut recovering) {
            control.on_recovered();
        }
        if let Some(signal) = event {
            if control.needs().deliveries && signal != Signal::Ecn {
                lost = 1.0;
                let prior_delivered = sent_in.delivered(1.0);
                let tx_in_flight = window;
                control.on_lost(&Lost { now, delivered, prior_delivered, tx_in_flight, lost, app_limited: false });
            }
            let in_flight = if signal == Signal::Timeout { 0.0 } else { window };
            control.on_congestion(&CongestionEvent {
                now,
                signal,
                in_flight,
                delivered,
                rtt,
                srtt,
                min_rtt,
                floor: crate::MIN_SSTHRESH,
            });
            recovering = signal != Signal::Ecn;
        }
        sent_in = SentIn { acks, from, rtt };
    }
    list
}

/// A round in which segments were sent evenly.
struct SentIn {
    /// Number of ACKs in the round.
    acks: u64,
    /// Segments delivered before the round.
    from: u64,
    rtt: Span,
}

impl SentIn {
    /// Segments delivered when this share of the round had passed.
    fn delivered(&self, share: f64) -> u64 {
        self.from + (self.acks as f64 * share) as u64
    }

    /// Time from the point `share` of this round to the same point of the next round, which takes `next`.
    fn until(&self, next: Span, share: f64) -> Span {
        Span::from_secs(self.rtt.as_secs() * (1.0 - share) + next.as_secs() * share)
    }
}

/// Input to a control in [`replay`].
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// New data is acknowledged.
    Ack(AckSample),
    /// A congestion event.
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

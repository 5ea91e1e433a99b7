//! Reports from the transport to a congestion control.

use crate::number;
use base::time::PS_PER_S;
use base::{Span, Time};

/// Measurements that a law needs beyond one round-trip sample per round trip. The transport measures nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a list of wishes, each for itself")]
pub struct Needs {
    /// The ACKs that begin a round trip, for laws that otherwise only count ACKs ([`crate::WindowLaw::per_rtt`]).
    pub rounds: bool,
    /// A round-trip sample with every ACK ([`AckSample::rtt`]), as with timestamps (RFC 7323).
    pub every_rtt: bool,
    /// [`Delivery`] on every ACK, also in recovery; such a control sets its own window in recovery too.
    pub deliveries: bool,
    /// The number of marked segments, not only whether there are any (RFC 8257); turns ECN on.
    pub marks: bool,
    /// A header on every data packet, with the feedback of routers ([`crate::CongestionControl::on_feedback`]).
    pub headers: bool,
    /// No proportional rate reduction: the new window applies at once after a loss or mark (Linux: `cong_control`).
    pub own_recovery: bool,
    /// ECT(1) on data, which asks routers for the treatment of scalable controls (RFC 9331, Section 4.1); turns ECN on.
    pub l4s: bool,
}

impl Needs {
    /// The union of both needs.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            rounds: self.rounds || other.rounds,
            every_rtt: self.every_rtt || other.every_rtt,
            deliveries: self.deliveries || other.deliveries,
            marks: self.marks || other.marks,
            headers: self.headers || other.headers,
            own_recovery: self.own_recovery || other.own_recovery,
            l4s: self.l4s || other.l4s,
        }
    }
}

/// State of a window that the application did not use.
#[derive(Clone, Copy, Debug)]
pub struct Restart {
    /// Present time.
    pub now: Time,
    /// Time since a segment was last sent, if nothing is in the network; otherwise zero.
    pub idle: Span,
    /// Upper limit of the window from now on; infinite to keep it.
    pub cwnd: f64,
    /// The slow-start threshold from now on; `None` to keep it.
    pub ssthresh: Option<f64>,
}

/// Report of one acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Segments newly acknowledged.
    pub acked: f64,
    /// Number of those segments that were reported as congestion-marked.
    pub ce_marked: f64,
    /// Round-trip time of the newest acknowledged segment, if it was sent once (Karn) and timed. One segment per round trip
    /// is timed, or every segment if the law needs that ([`Needs::every_rtt`]).
    pub rtt: Option<Span>,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Smallest round-trip time seen; zero before the first sample.
    pub min_rtt: Span,
    /// Segments in the network before this ACK.
    pub in_flight: f64,
    /// Segments that have reached the receiver so far, according to this ACK.
    pub delivered: u64,
    /// Whether a round trip ends here: this ACK is for the first segment sent after the last round began.
    pub round_start: bool,
    /// Whether the window limited the sender; if not, the window must not grow (RFC 7661 gives the reasons).
    pub cwnd_limited: bool,
    /// Largest growth of the window in slow start, in segments (L of RFC 3465); infinite for no limit.
    pub abc_limit: f64,
    /// Whether the sender is paced.
    pub paced: bool,
}

impl AckSample {
    /// A sample of one segment acknowledged at `now` on a path with the constant round-trip time `rtt`, with a full window.
    #[must_use]
    pub fn plain(now: Time, rtt: Span) -> Self {
        Self {
            now,
            acked: 1.0,
            ce_marked: 0.0,
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt: rtt,
            in_flight: 0.0,
            delivered: 0,
            round_start: false,
            cwnd_limited: true,
            abc_limit: 2.0,
            paced: false,
        }
    }
}

/// Cause of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Loss found by duplicate ACKs or SACK.
    Loss,
    /// An ECN echo.
    Ecn,
    /// The retransmission timer expired.
    Timeout,
}

/// A request to reduce the window; at most one per window of data.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// Time at which the sender learnt of it.
    pub now: Time,
    /// Cause of the event.
    pub signal: Signal,
    /// Segments in the network.
    pub in_flight: f64,
    /// Segments that have reached the receiver so far, as far as the sender knows.
    pub delivered: u64,
    /// The latest round-trip sample; zero before the first.
    pub rtt: Span,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Smallest round-trip time seen; zero before the first sample.
    pub min_rtt: Span,
    /// Smallest window after a mark, in segments: one in RFC 3168 (6.1.2) and RFC 9438 (4.6), two in Linux.
    pub floor: f64,
}

impl CongestionEvent {
    /// A `signal` at `now` on a path with the constant round-trip time `rtt`.
    #[must_use]
    pub fn plain(now: Time, signal: Signal, rtt: Span) -> Self {
        Self { now, signal, in_flight: 0.0, delivered: 0, rtt, srtt: rtt, min_rtt: rtt, floor: crate::MIN_SSTHRESH }
    }
}

/// Delivery-rate sample of one ACK.
///
/// Source: draft-cheng-iccrg-delivery-rate-estimation, Section 3.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Segments that this ACK reports as delivered, cumulatively or selectively.
    pub newly_delivered: f64,
    /// Segments that the sender marked lost because of this ACK.
    pub newly_lost: f64,
    /// Segments that have reached the receiver so far.
    pub delivered: u64,
    /// Segments delivered when the segment of this sample was last sent.
    pub prior_delivered: u64,
    /// The longer of the two intervals in which the segments from `prior_delivered` to `delivered` were sent and
    /// acknowledged. `None`, so that there is no rate, if it is shorter than the smallest round-trip time or if the ACK
    /// delivered nothing.
    pub interval: Option<Span>,
    /// Whether the application, not the window, limited the sender when the segment was sent.
    pub app_limited: bool,
    /// Round-trip time of the segment, if it was sent once.
    pub rtt: Option<Span>,
    /// Smallest round-trip time seen; zero before the first sample.
    pub min_rtt: Span,
    /// Segments in the network before this ACK.
    pub prior_in_flight: f64,
    /// Segments in flight after this ACK.
    pub in_flight: f64,
    /// Segments in the network right after the sampled segment was last sent, itself included.
    pub tx_in_flight: f64,
    /// Segments marked lost since the sampled segment was last sent, including those of this ACK.
    pub lost: f64,
    /// Whether lost segments are being repaired.
    pub recovering: bool,
}

impl Delivery {
    /// Delivery rate in segments per second, if this ACK gives one.
    #[inline]
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let interval = self.interval.filter(|span| *span > Span::ZERO)?;
        Some(number(self.delivered - self.prior_delivered) / (number(interval.0) / PS_PER_S as f64))
    }
}

/// A segment that the sender has just marked lost.
///
/// Source: draft-ietf-ccwg-bbr-06, Sections 4.1.2 (state kept for a segment) and 5.5.10.2.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Time at which the sender learnt of it.
    pub now: Time,
    /// Segments that have reached the receiver so far, as far as the sender knows.
    pub delivered: u64,
    /// Segments delivered when the segment was last sent.
    pub prior_delivered: u64,
    /// Segments in the network right after the segment was last sent, itself included.
    pub tx_in_flight: f64,
    /// Segments marked lost since it was last sent, itself included.
    pub lost: f64,
    /// Whether the application, not the window, limited the sender when the segment was sent.
    pub app_limited: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn or_contains_the_needs_of_both() {
        let none = Needs::default();
        let each = [
            Needs { rounds: true, ..none },
            Needs { every_rtt: true, ..none },
            Needs { deliveries: true, ..none },
            Needs { marks: true, ..none },
            Needs { headers: true, ..none },
            Needs { own_recovery: true, ..none },
            Needs { l4s: true, ..none },
        ];
        for one in each {
            assert_eq!((one.or(none), none.or(one), one.or(one), none.or(none)), (one, one, one, none));
        }
    }
}

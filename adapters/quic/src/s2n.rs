//! s2n-quic's controllers as laws of elephan: under any sender, queue and network of the simulator.
//!
//! Source: the crate `s2n-quic-core`, of the version in `Cargo.toml`, by its public API.
//!
//! Differs from the source: elephan's senders say what an ACK did, not when each segment left. What left since the
//! last report counts as sent evenly in between; of the segment that an ACK is about, time and delivery rate are those
//! that the sender measured. A packet that s2n may send at once when it enters recovery does not leave. A
//! retransmission timeout is persistent congestion (RFC 9002, 7.6.2): elephan's TCP has no other word for it.

use base::{Span, Stream, Time};
use law::{CongestionControl, CongestionEvent, Delivery, Lost, Needs, Restart, Signal};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, PacketInfo, RateSample};
use s2n_quic_core::recovery::bbr::{self, BbrCongestionController};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, CubicCongestionController, RttEstimator, cubic};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use std::fmt::Debug;
use std::time::Duration;

/// Initial round-trip time before the first sample (RFC 9002, 6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// State saved with a segment, in the form that this controller expects.
pub trait Info: Copy + Debug + Send + Sync {
    /// Converts the state that the sender saved.
    fn new(snapshot: Snapshot) -> Self;
}

/// State that elephan's sender saved with a segment when it was sent, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    delivered: u64,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
    /// Times at which the segments of the rate sample that it ends began to be sent, and to be acknowledged.
    first_sent: Timestamp,
    delivered_at: Timestamp,
    marked: u64,
}

impl Info for () {
    fn new(_snapshot: Snapshot) -> Self {}
}

impl Info for PacketInfo {
    fn new(snapshot: Snapshot) -> Self {
        Self {
            delivered_bytes: snapshot.delivered,
            delivered_time: snapshot.delivered_at,
            lost_bytes: snapshot.lost,
            ecn_ce_count: snapshot.marked,
            first_sent_time: snapshot.first_sent,
            bytes_in_flight: snapshot.in_flight,
            is_app_limited: snapshot.app_limited,
        }
    }
}

/// The pace that a controller published last.
#[derive(Clone, Copy, Debug)]
struct Pace {
    bytes_per_s: f64,
    burst: u32,
}

impl Publisher for Pace {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _window: u32) {}
    fn on_delivery_rate_sampled(&mut self, _sample: RateSample) {}
    fn on_pacing_rate_updated(&mut self, rate: Bandwidth, burst: u32, _gain: num_rational::Ratio<u64>) {
        *self = Self { bytes_per_s: rate.as_bytes_per_second() as f64, burst };
    }
    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

/// Its random numbers, from a stream of elephan's.
#[derive(Clone, Debug)]
struct Draws(Stream);

impl Generator for Draws {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        bytes.chunks_mut(8).for_each(|part| part.copy_from_slice(&self.0.next_u64().to_be_bytes()[..part.len()]));
    }
    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        self.public_random_fill(bytes);
    }
}

/// A controller of s2n-quic's under a sender of elephan's.
#[derive(Clone, Debug)]
pub struct S2n<C> {
    inner: C,
    rtt: RttEstimator,
    pace: Pace,
    draws: Draws,
    /// Bytes of a datagram: what a segment is to the controller.
    datagram: u32,
    /// Time of the last report.
    last: Option<Time>,
    /// Time at which the newest acknowledged segment was sent.
    newest: Time,
    /// Lost segments that the controller does not know of yet, each with how many had been lost when it left.
    unreported: Vec<(Lost, u64)>,
    /// Number of those that are no longer in the network by the sender's count of this ACK.
    reported: f64,
    /// Lost so far, in segments, and marked.
    lost: u64,
    marked: u64,
    /// The window after the last reduction.
    threshold: f64,
    is_paced: bool,
}

/// CUBIC (RFC 8312) with hybrid slow start.
pub type Cubic = S2n<CubicCongestionController>;

/// BBR version 2.
pub type Bbr = S2n<BbrCongestionController>;

impl Cubic {
    /// Controller for datagrams of `datagram` bytes; `stream` is its random stream.
    #[must_use]
    pub fn cubic(datagram: u16, stream: Stream) -> Self {
        // RFC 9002, 7.7, with s2n's factor of slow start: its pacer lets the first ten datagrams leave at once.
        let pace = Pace {
            bytes_per_s: 20.0 * f64::from(datagram) / INITIAL_RTT.as_secs_f64(),
            burst: 10 * u32::from(datagram),
        };
        Self::new(
            CubicCongestionController::new(datagram, cubic::ApplicationSettings::default()),
            datagram,
            pace,
            stream,
        )
    }
}

impl Bbr {
    /// Controller for datagrams of `datagram` bytes; `stream` is its random stream.
    #[must_use]
    pub fn bbr(datagram: u16, stream: Stream) -> Self {
        // Its pace before the first round trip: 2.77 initial windows a millisecond
        // (draft-cardwell-iccrg-bbr-congestion-control-02, 4.6.2), of which it publishes nothing.
        let inner = BbrCongestionController::new(datagram, bbr::ApplicationSettings::default());
        let window = f64::from(inner.congestion_window());
        let pace = Pace { bytes_per_s: 2.77e3 * window, burst: 10 * u32::from(datagram) };
        Self::new(inner, datagram, pace, stream)
    }
}

impl<C: CongestionController> S2n<C>
where
    C::PacketInfo: Info,
{
    fn new(inner: C, datagram: u16, pace: Pace, stream: Stream) -> Self {
        Self {
            inner,
            rtt: RttEstimator::new(INITIAL_RTT),
            pace,
            draws: Draws(stream),
            datagram: u32::from(datagram),
            last: None,
            newest: Time::ZERO,
            unreported: Vec::new(),
            reported: 0.0,
            lost: 0,
            marked: 0,
            threshold: f64::INFINITY,
            is_paced: true,
        }
    }

    /// The same without its pace: segments leave when the window lets them.
    #[must_use]
    pub fn unpaced(self) -> Self {
        Self { is_paced: false, ..self }
    }

    /// Tells the controller which segments were sent since the last report, so that it counts `in_flight` segments.
    fn catch_up(&mut self, now: Time, in_flight: f64, app_limited: bool) {
        let known = f64::from(self.inner.bytes_in_flight()) / f64::from(self.datagram);
        if known > in_flight {
            let surplus = self.inner.bytes_in_flight() - in_flight as u32 * self.datagram;
            self.inner.on_packet_discarded(surplus as usize, &mut self.pace);
        }
        let count = (in_flight - known).max(0.0) as u64;
        let since = self.last.unwrap_or_else(|| now.saturating_sub(span(self.rtt.latest_rtt())));
        let gap = now.since(since).0 / (count + 1);
        for i in 1..=count {
            let sent = timestamp(since + Span(gap * i));
            self.inner.on_packet_sent(sent, self.datagram as usize, Some(app_limited), &self.rtt, &mut self.pace);
        }
    }

    /// Lets it know of the lost segments.
    fn report_lost(&mut self, now: Time, persistent: bool) {
        let unreported = std::mem::take(&mut self.unreported);
        for (i, (lost, before)) in unreported.iter().enumerate() {
            let bytes = self.datagram;
            if self.inner.bytes_in_flight() < bytes {
                self.inner.on_packet_sent(timestamp(now), bytes as usize, Some(false), &self.rtt, &mut self.pace);
            }
            let info = C::PacketInfo::new(Snapshot {
                delivered: lost.prior_delivered * u64::from(bytes),
                lost: before * u64::from(bytes),
                in_flight: lost.tx_in_flight as u32 * bytes,
                app_limited: lost.app_limited,
                first_sent: timestamp(now),
                delivered_at: timestamp(now),
                marked: self.marked,
            });
            let (persistent, first) = (persistent && i + 1 == unreported.len(), i == 0);
            self.inner.on_packet_lost(bytes, info, persistent, first, &mut self.draws, timestamp(now), &mut self.pace);
        }
        self.reported += unreported.len() as f64;
    }
}

impl<C: CongestionController> CongestionControl for S2n<C>
where
    C::PacketInfo: Info,
{
    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.lost += 1;
        self.unreported.push((*lost, self.lost - lost.lost as u64));
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.signal {
            Signal::Loss => self.report_lost(event.now, false),
            Signal::Timeout => self.report_lost(event.now, true),
            Signal::Ecn => {
                self.marked += 1;
                self.inner.on_explicit_congestion(1, timestamp(event.now), &mut self.pace);
            }
        }
        self.threshold = self.cwnd();
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        let (now, bytes) = (delivery.now, u64::from(self.datagram));
        // Before this ACK so much was in the network: what was lost since is no longer, and was reported already.
        let gone = delivery.newly_delivered + self.unreported.len() as f64;
        self.catch_up(now, (delivery.prior_in_flight - self.reported).max(gone), delivery.app_limited);
        // What was lost without an ACK, as a timer finds it, had been lost before what this ACK is about left.
        self.report_lost(now, false);
        self.reported = 0.0;
        if let Some(rtt) = delivery.rtt {
            self.newest = self.newest.max(now.saturating_sub(rtt));
            let sample = Duration::from_nanos(rtt.0 / 1000);
            self.rtt.update_rtt(Duration::ZERO, sample, timestamp(now), true, PacketNumberSpace::ApplicationData);
            self.inner.on_rtt_update(timestamp(self.newest), timestamp(now), &self.rtt, &mut self.pace);
        } else if delivery.newly_delivered > 0.0 {
            // Sent again: it left about a round trip ago.
            self.newest = self.newest.max(now.saturating_sub(span(self.rtt.latest_rtt())));
        }
        if delivery.newly_delivered > 0.0 {
            let interval = delivery.interval.unwrap_or(delivery.min_rtt);
            let info = C::PacketInfo::new(Snapshot {
                delivered: delivery.prior_delivered * bytes,
                lost: (self.lost - delivery.lost as u64) * bytes,
                in_flight: delivery.tx_in_flight as u32 * self.datagram,
                app_limited: delivery.app_limited,
                first_sent: timestamp(self.newest.saturating_sub(interval)),
                delivered_at: timestamp(now.saturating_sub(interval)),
                marked: self.marked,
            });
            let acked = delivery.newly_delivered as u32 * self.datagram;
            self.inner.on_ack(
                timestamp(self.newest),
                acked as usize,
                info,
                &self.rtt,
                &mut self.draws,
                timestamp(now),
                &mut self.pace,
            );
        }
        self.last = Some(now);
    }

    fn on_restart(&mut self, _restart: &Restart) {}

    fn collapse(&mut self) {
        // Another timeout of the same flight: the window is at its least already.
    }

    fn cwnd(&self) -> f64 {
        f64::from(self.inner.congestion_window()) / f64::from(self.datagram)
    }

    fn ssthresh(&self) -> f64 {
        self.threshold
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.is_paced.then(|| self.pace.bytes_per_s / f64::from(self.datagram))
    }

    fn burst(&self) -> u32 {
        (self.pace.burst / self.datagram).max(1)
    }
}

/// The controller's clock begins at a microsecond: it has no time zero.
fn timestamp(time: Time) -> Timestamp {
    NoopClock.get_time() + Duration::from_nanos(time.0 / 1000)
}

fn span(duration: Duration) -> Span {
    crate::network::span(duration)
}

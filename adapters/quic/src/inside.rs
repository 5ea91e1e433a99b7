//! Controllers inside noq's connection that are not noq's: a window law of elephan's, and any controller without its
//! pace. What remains between two runs that differ in one of them alone is what that one does.
//!
//! Source: RFC 9002, Sections 7.3 and 7.8 (what is reported to a controller, and when a window may grow); noq's public trait
//! `Controller`.

use crate::network::{Epoch, span};
use base::Span;
use law::{AckSample, CongestionControl, CongestionEvent, Signal};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A pace that no link here is as fast as, in bytes per second: the window alone holds the sender back.
const AT_ONCE: u64 = 1 << 50;

/// Makes controllers of [`Elephan`].
#[derive(Clone, Debug)]
pub struct ElephanFactory<C> {
    /// Initial state of the control.
    pub control: C,
    /// Origin of its times.
    pub epoch: Epoch,
}

impl<C: CongestionControl + Send + Sync + 'static> ControllerFactory for ElephanFactory<C> {
    fn build(self: Arc<Self>, _now: Instant, mtu: u16) -> Box<dyn Controller> {
        let (control, epoch) = (self.control.clone(), self.epoch);
        Box::new(Elephan {
            control,
            epoch,
            mtu,
            recovery: None,
            last_sent: 0,
            round_end: 0,
            delivered: 0,
            in_flight: 0,
            rtt: (Span::ZERO, Span::ZERO),
        })
    }
}

/// A window law of elephan's in noq's connection.
#[derive(Clone, Debug)]
struct Elephan<C> {
    control: C,
    epoch: Epoch,
    mtu: u16,
    /// Start of the present recovery: what was sent until then does not count.
    recovery: Option<Instant>,
    last_sent: u64,
    /// The round trip ends where this packet is acknowledged.
    round_end: u64,
    delivered: u64,
    in_flight: u64,
    /// Smoothed and smallest round-trip time.
    rtt: (Span, Span),
}

impl<C> Elephan<C> {
    fn in_recovery(&self, sent: Instant) -> bool {
        self.recovery.is_some_and(|began| sent <= began)
    }

    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.mtu)
    }
}

impl<C: CongestionControl + Send + Sync + 'static> Controller for Elephan<C> {
    fn on_packet_sent(&mut self, _now: Instant, bytes: u16, number: u64) {
        self.last_sent = number;
        self.in_flight += u64::from(bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, app_limited: bool, rtt: &RttEstimator) {
        let in_flight = self.segments(self.in_flight);
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.delivered += 1;
        self.rtt = (span(rtt.get()), span(rtt.min()));
        if self.in_recovery(sent) {
            return;
        }
        let round_start = number >= self.round_end;
        if round_start {
            self.round_end = self.last_sent;
        }
        self.control.on_ack(&AckSample {
            now: self.epoch.time(now),
            acked: self.segments(bytes),
            ce_marked: 0.0,
            rtt: Some(span(now - sent)),
            srtt: self.rtt.0,
            min_rtt: self.rtt.1,
            in_flight,
            delivered: self.delivered,
            round_start,
            cwnd_limited: !app_limited,
            abc_limit: f64::INFINITY,
            paced: true,
        });
    }

    fn on_packet_lost(&mut self, bytes: u16, _number: u64, _now: Instant) {
        self.in_flight = self.in_flight.saturating_sub(u64::from(bytes));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        _lost: u64,
        _number: u64,
    ) {
        if self.in_recovery(sent) {
            return;
        }
        self.recovery = Some(now);
        let signal = match (persistent, ecn) {
            (true, _) => Signal::Timeout,
            (false, true) => Signal::Ecn,
            (false, false) => Signal::Loss,
        };
        let (now, in_flight) = (self.epoch.time(now), self.segments(self.in_flight));
        let (srtt, min_rtt) = self.rtt;
        self.control.on_congestion(&CongestionEvent {
            now,
            signal,
            in_flight,
            delivered: self.delivered,
            rtt: srtt,
            srtt,
            min_rtt,
            floor: 2.0,
        });
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.mtu = mtu;
    }

    fn window(&self) -> u64 {
        (self.control.cwnd() * f64::from(self.mtu)) as u64
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Makes controllers of another factory, without their pace.
pub struct UnpacedFactory(pub Arc<dyn ControllerFactory + Send + Sync>);

impl ControllerFactory for UnpacedFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Unpaced(Arc::clone(&self.0).build(now, mtu)))
    }
}

/// A controller whose packets leave when its window lets them.
#[derive(Debug)]
struct Unpaced(Box<dyn Controller>);

impl Controller for Unpaced {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.0.on_sent(now, bytes, largest);
    }
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.0.on_packet_sent(now, bytes, number);
    }
    fn on_cwnd_limited(&mut self) {
        self.0.on_cwnd_limited();
    }
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, app_limited: bool, rtt: &RttEstimator) {
        self.0.on_ack(now, sent, bytes, number, app_limited, rtt);
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.0.on_end_acks(now, in_flight, app_limited, largest);
    }
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost: u64,
        largest: u64,
    ) {
        self.0.on_congestion_event(now, sent, persistent, ecn, lost, largest);
    }
    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.0.on_packet_lost(bytes, number, now);
    }
    fn on_spurious_congestion_event(&mut self) {
        self.0.on_spurious_congestion_event();
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.0.on_mtu_update(mtu);
    }
    fn on_ack_frequency_update(&mut self, threshold: u64, delay: Duration) {
        self.0.on_ack_frequency_update(threshold, delay);
    }
    fn window(&self) -> u64 {
        self.0.window()
    }
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.0.metrics();
        metrics.pacing_rate = Some(AT_ONCE);
        metrics
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self(self.0.clone_box()))
    }
    fn initial_window(&self) -> u64 {
        self.0.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

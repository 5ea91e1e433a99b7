//! Packet-pair rate control: segments leave back to back in pairs. A round-robin server spreads the two by its service time
//! for this flow, which the spacing of their ACKs shows. The pacing rate then brings the flow's backlog there to a
//! setpoint.
//!
//! Source: S. Keshav, A control-theoretic approach to flow control, ACM SIGCOMM 1991 (pairs, and the law of the rate).
//! Differs from the source: the service rate is an exponential average with a constant gain; the source's later version
//! estimates it with fuzzy logic. A window limits the data in flight to the pipe plus two setpoints, which are the
//! flow's share of the buffer. Losses and marks change nothing (the backlog does); a timeout collapses the window until
//! everything is repaired, and the next pair replaces the average. If ACKs cover several segments, bursts of four or eight
//! replace pairs.

use crate::{CongestionControl, CongestionEvent, Controller, Delivery, Needs, Signal};
use base::{Card, ParamError, Registered, Span, Time};

/// Segments of a pair, and the largest burst that may replace it.
const PAIR: u32 = 2;
const MAX_BURST: u32 = 8;
/// Pacing rate of the first pair, in segments per second; the next pair waits until the first one is measured.
const FIRST_PACE: f64 = 1000.0;
/// ACKs less than this apart came together. Packets that a trace of opportunities passes at one instant are picoseconds
/// apart, which does not show the service rate.
const TOGETHER: Span = Span::nanos(1);

base::params! {
    /// Keshav 1991; the numbers are this implementation's.
    pub struct Params {
        /// Backlog to keep at the bottleneck; half of what the flow may hold there.
        setpoint: f64 = 5.0, "segments";
        /// Weight of the newest pair in the average of the service rate.
        gain: f64 = 0.25, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct PacketPair {
    p: Params,
    cwnd: f64,
    burst: u32,
    /// Sending rate, and service rate of the bottleneck (0 before a pair is measured), in segments per second.
    rate: f64,
    service: f64,
    /// Whether the next pair replaces the average.
    fresh: bool,
    /// Smallest and latest round-trip time, in seconds.
    min_rtt: f64,
    rtt: f64,
    backlog: f64,
    /// Time at which the last acknowledged segment was sent, and time of its ACK.
    mate: Option<(u64, Time)>,
    /// Number of deliveries at which the present round trip ends.
    round_end: u64,
    /// Whether a pair was ever measured.
    measured: bool,
    /// Whether a timeout is being repaired.
    collapsed: bool,
}

impl Registered for PacketPair {
    type Params = Params;
    const CARD: Card = Card {
        name: "packet-pair",
        aliases: &["packetpair", "PP"],
        title: "Packet-pair rate control",
        source: "Keshav 1991",
        differs: "A constant gain averages the service rate; a window of the pipe and two setpoints bounds what is in flight.",
    };
}

impl Controller for PacketPair {
    fn new(p: &Params, _initial_window: f64) -> Result<Self, ParamError> {
        if !(1.0..=1e6).contains(&p.setpoint) {
            return Err(ParamError::new("setpoint", "must lie between 1 and 10^6 segments"));
        }
        if p.gain <= 0.0 || p.gain > 1.0 {
            return Err(ParamError::new("gain", "must lie above 0 and be at most 1"));
        }
        Ok(Self {
            p: p.clone(),
            cwnd: f64::from(PAIR),
            burst: PAIR,
            rate: FIRST_PACE,
            service: 0.0,
            fresh: true,
            min_rtt: 0.0,
            rtt: 0.0,
            backlog: 0.0,
            mate: None,
            round_end: 0,
            measured: false,
            collapsed: false,
        })
    }
}

impl CongestionControl for PacketPair {
    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        if let Some(rtt) = delivery.rtt {
            (self.rtt, self.min_rtt) = (rtt.as_secs(), delivery.min_rtt.as_secs());
        }
        let begun = delivery.prior_delivered >= self.round_end;
        let first = self.service == 0.0;
        if let Some(service) = self.spacing(delivery) {
            self.measured = true;
            let gain = if std::mem::take(&mut self.fresh) { 1.0 } else { self.p.gain };
            self.service += gain * (service - self.service);
        } else if begun && !self.measured && self.round_end > 0 {
            // A round trip without a measurement: the service rate is at least the delivery rate.
            self.service = self.service.max(delivery.rate().unwrap_or(0.0));
            self.burst = (2 * self.burst).min(MAX_BURST);
        }
        if self.service > 0.0 && self.rtt > 0.0 && (begun || first) {
            self.steer(delivery.in_flight);
        }
        if begun {
            self.round_end = delivery.delivered;
        }
        self.cwnd =
            if self.collapsed { (self.cwnd + delivery.newly_delivered).min(self.window()) } else { self.window() };
    }

    fn on_recovered(&mut self) {
        self.collapsed = false;
        self.cwnd = self.window();
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.signal == Signal::Timeout {
            (self.fresh, self.mate) = (true, None);
            self.collapse();
        }
    }

    fn collapse(&mut self) {
        self.collapsed = true;
        self.cwnd = 1.0;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.rate)
    }

    fn burst(&self) -> u32 {
        self.burst
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("rate", self.rate);
        put("service_rate", self.service);
        put("backlog", self.backlog);
    }
}

impl PacketPair {
    /// The service rate, if the segment now acknowledged left at the same instant as the previously acknowledged one; then
    /// all segments in between did, too.
    fn spacing(&mut self, delivery: &Delivery) -> Option<f64> {
        let rtt = delivery.rtt?;
        let (sent, now) = (delivery.now.0.saturating_sub(rtt.0), delivery.now);
        let (with, then) = self.mate.replace((sent, now))?;
        (with == sent && now.since(then) >= TOGETHER).then(|| delivery.newly_delivered / (now - then).as_secs())
    }

    /// Sets the rate for the next round trip: the service rate, plus the rate that brings the backlog to the setpoint in
    /// that time.
    fn steer(&mut self, in_flight: f64) {
        // Segments in flight but not in the pipe are waiting. Fewer segments than the pipe holds are in flight only at
        // the start.
        self.backlog = (in_flight - self.service * self.min_rtt).max(0.0);
        let rate = self.service + (self.p.setpoint - self.backlog) / self.rtt;
        // At least one pair per round trip, so that the measurement continues.
        self.rate = rate.max(f64::from(self.burst) / self.rtt);
    }

    /// The pipe plus two setpoints, in whole bursts; one burst before anything is known.
    fn window(&self) -> f64 {
        let burst = f64::from(self.burst);
        if self.service == 0.0 {
            return burst;
        }
        burst * libm::ceil((self.service * self.min_rtt + 2.0 * self.p.setpoint) / burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> PacketPair {
        PacketPair::new(&Params::default(), 10.0).unwrap()
    }

    /// The delivery of one segment at `now`, sent `rtt` before, with `in_flight` segments left.
    fn ack(now: Span, rtt: Span, (prior, delivered): (u64, u64), in_flight: f64) -> Delivery {
        Delivery {
            now: Time::ZERO + now,
            newly_delivered: 1.0,
            newly_lost: 0.0,
            delivered,
            prior_delivered: prior,
            interval: None,
            app_limited: false,
            rtt: Some(rtt),
            min_rtt: Span::millis(100),
            prior_in_flight: in_flight + 1.0,
            in_flight,
            tx_in_flight: in_flight,
            lost: 0.0,
            recovering: false,
        }
    }

    /// A pair sent `millis` after the start and served 1 ms apart.
    fn pair(law: &mut PacketPair, millis: u64, prior: u64, in_flight: f64) {
        for i in [0, 1] {
            let rtt = Span::millis(100 + i);
            law.on_delivery(&ack(Span::millis(millis) + rtt, rtt, (prior, prior + 1 + i), in_flight));
        }
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs(), "{a}, not {b}");
    }

    #[test]
    fn the_first_pair_sets_rate_and_window() {
        let mut law = law();
        assert_eq!((law.cwnd(), law.burst()), (2.0, 2));
        pair(&mut law, 0, 0, 0.0);
        // 1 ms apart: 1000 segments/s, so 100 in flight in 100 ms. The pipe and the setpoint fill in a round trip of 101
        // ms.
        near(law.service, 1000.0);
        near(law.rate, 1000.0 + 5.0 / 0.101);
        assert_eq!(law.cwnd(), 110.0);
    }

    #[test]
    fn the_rate_brings_the_backlog_to_the_setpoint_in_a_round_trip() {
        for (in_flight, backlog) in [(105.0, 5.0), (108.0, 8.0), (101.0, 1.0)] {
            let mut law = law();
            pair(&mut law, 0, 0, 0.0);
            pair(&mut law, 500, 2, in_flight);
            near(law.backlog, backlog);
            // The rate was set at the first ACK of the round, 100 ms after the segment left.
            near(law.rate, 1000.0 + (5.0 - backlog) / 0.1);
        }
    }

    #[test]
    fn averages_the_service_rate() {
        let mut law = law();
        pair(&mut law, 0, 0, 0.0);
        let (sent, first) = (Span::millis(500), Span::millis(100));
        law.on_delivery(&ack(sent + first, first, (2, 3), 100.0));
        let second = Span::millis(102);
        law.on_delivery(&ack(sent + second, second, (2, 4), 100.0));
        // Measured 500/s, average 1000/s: 1000 + (500 - 1000) / 4.
        near(law.service, 875.0);
        // A segment sent later does not form a pair, however early its ACK comes.
        law.on_delivery(&ack(sent + Span::millis(103), Span::millis(101), (2, 5), 100.0));
        near(law.service, 875.0);
    }

    #[test]
    fn acks_of_one_opportunity_of_a_trace_do_not_measure_the_service_rate() {
        let mut law = law();
        for i in [0, 1] {
            let rtt = Span(Span::millis(100).0 + i);
            law.on_delivery(&ack(rtt, rtt, (0, 1 + i), 0.0));
        }
        assert_eq!((law.service, law.cwnd()), (0.0, 2.0));
        pair(&mut law, 500, 2, 0.0);
        near(law.service, 1000.0);
    }

    #[test]
    fn losses_change_nothing_and_a_timeout_only_until_it_is_repaired() {
        let mut law = law();
        pair(&mut law, 0, 0, 0.0);
        let rate = law.rate;
        let event = |signal| CongestionEvent::plain(Time::ZERO + Span::secs(1), signal, Span::millis(100));
        law.on_congestion(&event(Signal::Loss));
        law.on_congestion(&event(Signal::Ecn));
        assert_eq!((law.cwnd(), law.rate), (110.0, rate));
        law.on_congestion(&event(Signal::Timeout));
        assert_eq!(law.cwnd(), 1.0);
        law.on_delivery(&ack(Span::secs(2), Span::millis(100), (2, 3), 1.0));
        assert_eq!(law.cwnd(), 2.0);
        law.on_recovered();
        assert_eq!(law.cwnd(), 110.0);
    }

    #[test]
    fn bursts_of_four_measure_the_service_rate_if_an_ack_covers_two_segments() {
        let mut law = law();
        let two = |at: u64, rtt: u64, prior, delivered| {
            let delivery = ack(Span::millis(at), Span::millis(rtt), (prior, delivered), 10.0);
            Delivery { newly_delivered: 2.0, interval: Some(Span::millis(100)), ..delivery }
        };
        law.on_delivery(&two(101, 101, 0, 2));
        assert_eq!((law.burst(), law.service), (2, 0.0));
        law.on_delivery(&two(203, 101, 2, 4));
        assert_eq!((law.burst(), law.service), (4, 20.0), "at least 2 segments in 100 ms");
        law.on_delivery(&two(305, 101, 4, 6));
        law.on_delivery(&two(307, 103, 4, 8));
        near(law.service, 1000.0);
    }

    #[test]
    fn refuses_invalid_parameters() {
        let says = |p: Params| PacketPair::new(&p, 2.0).unwrap_err().to_string();
        let p = Params::default;
        assert_eq!(says(Params { setpoint: 0.5, ..p() }), "setpoint: must lie between 1 and 10^6 segments");
        assert_eq!(says(Params { gain: 0.0, ..p() }), "gain: must lie above 0 and be at most 1");
    }
}

//! Observations of a sender over an interval, for agents that set its rate or window.
//!
//! Source: N. Jay et al., A Deep Reinforcement Learning Perspective on Internet Congestion Control, ICML 2019 (ratios and gradient);
//! S. Abbasloo et al., Classic Meets Modern, SIGCOMM 2020 (throughput over the largest so far).

use crate::FlowReading;
use base::{Span, Time};

/// Names of the values that [`FlowIntervals::next`] returns, in their order.
pub const MEASURED: [&str; 24] = [
    "time_s",
    "step_s",
    "sent",
    "retransmitted",
    "delivered",
    "timeouts",
    "loss_events",
    "rtt_s",
    "srtt_s",
    "min_rtt_s",
    "base_rtt_s",
    "cwnd",
    "pacing_rate",
    "in_flight",
    "throughput_bps",
    "best_bps",
    "throughput_share",
    "loss_ratio",
    "rtt_ratio",
    "rtt_gradient",
    "sending_ratio",
    "cwnd_log2",
    "in_flight_ratio",
    "segment_bits",
];

/// A flow, observed at the ends of intervals.
#[derive(Clone, Debug)]
pub struct FlowIntervals {
    segment_bits: f64,
    base_rtt: Span,
    at: Time,
    before: FlowReading,
    rtt_s: f64,
    best_bps: f64,
}

impl FlowIntervals {
    /// Begins the first interval of a flow in state `now`; a full segment has `segment_bits` bits on the wire.
    #[must_use]
    pub fn begin(segment_bits: f64, base_rtt: Span, now: FlowReading) -> Self {
        Self { segment_bits, base_rtt, at: Time::ZERO, before: now, rtt_s: 0.0, best_bps: 0.0 }
    }

    /// The smoothed round-trip time at the last observation; before the first sample, the round-trip time without queues.
    #[must_use]
    pub fn rtt(&self) -> Span {
        if self.before.srtt > Span::ZERO { self.before.srtt } else { self.base_rtt }
    }

    /// Values of the interval from the last observation to `at`, in the order of [`MEASURED`]. `now` is the state of
    /// the flow, `mean_rtt` its mean round-trip time in the interval; if it has no sample, the mean of the previous
    /// interval is used.
    pub fn next(&mut self, at: Time, now: FlowReading, mean_rtt: Option<Span>) -> [f64; MEASURED.len()] {
        let before = std::mem::replace(&mut self.before, now);
        let step = at.since(std::mem::replace(&mut self.at, at)).as_secs();
        let [sent, retransmitted, delivered, timeouts, loss_events] = [
            now.sent - before.sent,
            now.retransmitted - before.retransmitted,
            now.delivered - before.delivered,
            now.timeouts - before.timeouts,
            now.loss_events - before.loss_events,
        ]
        .map(|count| count as f64);
        let over = |a: f64, b: f64, none: f64| if b > 0.0 { a / b } else { none };
        let rtt = mean_rtt.map_or(self.rtt_s, Span::as_secs);
        let rises = if self.rtt_s > 0.0 { over(rtt - self.rtt_s, step, 0.0) } else { 0.0 };
        self.rtt_s = rtt;
        let throughput = over(delivered * self.segment_bits, step, 0.0);
        self.best_bps = self.best_bps.max(throughput);
        let (min_rtt, in_flight) = (now.min_rtt.as_secs(), f64::from(now.in_flight));
        [
            at.as_secs(),
            step,
            sent,
            retransmitted,
            delivered,
            timeouts,
            loss_events,
            rtt,
            now.srtt.as_secs(),
            min_rtt,
            self.base_rtt.as_secs(),
            now.cwnd,
            now.pacing_rate.unwrap_or(0.0),
            in_flight,
            throughput,
            self.best_bps,
            over(throughput, self.best_bps, 0.0),
            over(retransmitted, sent, 0.0),
            over(rtt, min_rtt, 1.0),
            rises,
            over(sent, delivered, 1.0 + sent),
            libm::log2(now.cwnd.max(1.0)),
            over(in_flight, now.cwnd, 0.0),
            self.segment_bits,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(values: &[f64; MEASURED.len()], name: &str) -> f64 {
        values[MEASURED.iter().position(|known| *known == name).expect("a name")]
    }

    #[test]
    fn numbers_are_those_of_the_interval_and_ratios_those_of_their_sources() {
        let rtt = Span::millis(100);
        let mut flow = FlowIntervals::begin(12_000.0, rtt, FlowReading { cwnd: 8.0, ..FlowReading::default() });
        assert_eq!(flow.rtt(), rtt);
        let at = |ms: u64| Time(ms * 1_000_000_000);
        let first = FlowReading {
            sent: 110,
            retransmitted: 11,
            delivered: 100,
            in_flight: 4,
            srtt: Span::millis(120),
            min_rtt: rtt,
            cwnd: 8.0,
            ..FlowReading::default()
        };
        let seen = flow.next(at(500), first, Some(Span::millis(150)));
        // 100 segments in half a second; 11 of 110 are retransmissions; the RTT is 150 ms where the base RTT is 100 ms.
        for (name, value) in [
            ("step_s", 0.5),
            ("throughput_bps", 2.4e6),
            ("throughput_share", 1.0),
            ("loss_ratio", 0.1),
            ("rtt_ratio", 1.5),
            ("rtt_gradient", 0.0),
            ("sending_ratio", 1.1),
            ("cwnd_log2", 3.0),
            ("in_flight_ratio", 0.5),
        ] {
            // Quotients of numbers of one or two digits, so they are accurate to the last bits.
            assert!((named(&seen, name) - value).abs() <= 1e-15 * value, "{name}: {}", named(&seen, name));
        }
        // Half as many segments in the same time; the RTT rises from 150 ms to 170 ms.
        let second = FlowReading { sent: 160, delivered: 150, srtt: Span::millis(130), ..first };
        let seen = flow.next(at(1000), second, Some(Span::millis(170)));
        assert_eq!((named(&seen, "throughput_share"), named(&seen, "loss_ratio")), (0.5, 0.0));
        assert!((named(&seen, "rtt_gradient") - 0.04).abs() < 1e-12, "0.02 s in 0.5 s");
        // No ACK arrives: the last round-trip time is kept, and the sending ratio is large.
        let seen = flow.next(at(1500), FlowReading { sent: 163, ..second }, None);
        assert_eq!(
            (named(&seen, "rtt_s"), named(&seen, "sending_ratio"), named(&seen, "best_bps")),
            (0.17, 4.0, 2.4e6)
        );
        assert_eq!(flow.rtt(), Span::millis(130));
    }
}

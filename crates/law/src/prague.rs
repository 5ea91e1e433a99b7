//! TCP Prague: a mark cuts the window by half the recent share of marked segments, as in DCTCP. Only unmarked segments
//! increase the window, and at round-trip times below 25 ms the flow has the rate that it would have at 25 ms. Each loss
//! halves the window, as in Reno. The control is paced, and its packets carry ECT(1). The slow start of a scenario is not
//! used.
//!
//! Source: `tcp_prague` of the L4S team's Linux, version 0.7 (facts, not text), which implements
//! draft-briscoe-iccrg-prague-congestion-control: the share of marks is averaged and the window cut once per virtual
//! round-trip time, the larger of the smoothed one and the reference; each unmarked segment adds (srtt/virtual)²/window.
//! Version 0.6 is RTT-independent from the 500th round trip on and starts with all segments taken as marked
//! (`rtt_transition`, `initial_alpha`); the versions of 2020 were not RTT-independent by default (`rtt_independence`). The
//! pacing rate exceeds the window per round-trip time by the share of headers in packets, so that the window is the limit.
//! Differs from Linux: the window falls at once, not by a segment with each ACK; the pacing rate does not vary by 3 %, and
//! follows the window alone; segments keep their size at low rates; there is no fallback for classic queues that mark,
//! which version 0.7 has dropped and version 0.6 disables. Before the first round-trip sample the window is paced over a
//! nominal millisecond.

use crate::{AckSample, CongestionControl, CongestionEvent, Controller, MIN_SSTHRESH, Needs, Signal};
use base::param::ParamType;
use base::{Card, Need, ParamError, Registered, Span, Time, Value};

/// Dependence of the rate on the round-trip time, with Linux's names (`RTT_CONTROL_RATE`, `RTT_CONTROL_NONE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttIndependence {
    /// The rate is that of a flow at the reference round-trip time.
    #[default]
    Rate,
    /// The window does not depend on a reference, as in DCTCP.
    None,
}

impl ParamType for RttIndependence {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "rate" => Ok(Self::Rate),
            Value::Text(word) if word == "none" => Ok(Self::None),
            _ => Err("must be \"rate\" or \"none\"".into()),
        }
    }

    fn write(&self) -> Value {
        let word = match self {
            Self::Rate => "rate",
            Self::None => "none",
        };
        Value::Text(word.into())
    }
}

base::params! {
    /// `tcp_prague`, version 0.7.
    pub struct Params {
        /// Weight of the latest round trip's share of marks in alpha.
        g: f64 = 0.0625, "", needs [Marks];
        /// Share of marks assumed at first; the first mark halves the window in any case.
        initial_alpha: f64 = 0.0, "", needs [Marks];
        /// Below the reference: "rate" for the rate of a flow at the reference, "none" for its window, as in 2020.
        rtt_independence: RttIndependence = RttIndependence::Rate, "";
        /// Round-trip time up to which flows have the same rate.
        reference_rtt: Span = Span::millis(25), "", needs [Is("rtt_independence", "rate")];
        /// Round trips after slow start until the rate is independent of the round-trip time; 500 in version 0.6.
        rtt_transition: u32 = 4, "", needs [Is("rtt_independence", "rate")];
    }
}

/// Smallest pacing rate in Linux (`MINIMUM_RATE`), in bytes per second.
const LEAST_RATE: f64 = 12_500.0;

/// Bytes of IP and TCP headers with timestamps. Linux includes them in the pacing rate, but spaces segments by their
/// payload.
const HEADERS: f64 = 52.0;

/// A burst contains what the pacing rate sends in this time: 2^-12 s in Linux (`prague_burst_shift`).
const BURST_S: f64 = 1.0 / 4096.0;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Prague {
    g: f64,
    /// Reference round-trip time; zero if the rate depends on the round-trip time.
    reference: Span,
    transition: u32,
    mss: f64,
    /// Window with fractions of a segment, which the pacing rate follows.
    cwnd: f64,
    ssthresh: f64,
    srtt: Span,
    /// Average share of marked segments.
    alpha: f64,
    /// Segments delivered since the last update of alpha, and the number of them that were marked.
    acked: f64,
    marked: f64,
    /// Time of that update, and whether a round trip has ended since.
    updated: Time,
    round_over: bool,
    /// Number of updates since slow start.
    rounds: u32,
    /// Time of the last cut by a mark.
    reduced: Option<Time>,
    /// Whether a mark was seen; alpha is not updated before.
    saw_mark: bool,
    /// Whether a loss is being repaired; the window then does not grow beyond the threshold.
    repairing: bool,
}

impl Registered for Prague {
    type Params = Params;
    const CARD: Card = Card {
        name: "prague",
        aliases: &["tcp-prague", "TcpPrague"],
        title: "TCP Prague",
        source: "draft-briscoe-iccrg-prague-congestion-control; tcp_prague 0.7",
        differs: "The window falls at once, not by a segment with each ACK. The pace does not vary by 3 %, segments keep \
                  their size at low rates, and there is no fallback for classic queues that mark. Version 0.6: \
                  rtt_transition = 500, initial_alpha = 1. Versions of 2020: rtt_independence = \"none\", initial_alpha = 1.",
    };
    const SPELLINGS: &'static [(&'static str, &'static str)] =
        &[("rtt_scaling", "rtt_independence"), ("rtt_target", "reference_rtt")];
    const NEEDS: &'static [Need] = &[Need::Marks];
    const WITHOUT: &'static str = "Reno over 25 ms";
}

impl Controller for Prague {
    fn new(p: &Params, initial_window: f64) -> Result<Self, ParamError> {
        if p.g <= 0.0 || p.g > 1.0 {
            return Err(ParamError::new("g", "must be above 0 and at most 1"));
        }
        if p.initial_alpha < 0.0 || p.initial_alpha > 1.0 {
            return Err(ParamError::new("initial_alpha", "must lie between 0 and 1"));
        }
        if p.reference_rtt == Span::ZERO {
            return Err(ParamError::new("reference_rtt", "must be above 0"));
        }
        Ok(Self {
            g: p.g,
            reference: if p.rtt_independence == RttIndependence::Rate { p.reference_rtt } else { Span::ZERO },
            transition: p.rtt_transition,
            mss: 1448.0,
            cwnd: initial_window,
            ssthresh: f64::INFINITY,
            srtt: Span::ZERO,
            alpha: p.initial_alpha,
            acked: 0.0,
            marked: 0.0,
            updated: Time::ZERO,
            round_over: false,
            rounds: 0,
            reduced: None,
            saw_mark: false,
            repairing: false,
        })
    }
}

impl Prague {
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether it uses the virtual round-trip time.
    fn independent(&self) -> bool {
        !self.in_slow_start() && self.rounds >= self.transition
    }

    /// Counts the segments that an ACK delivered, and updates alpha once per virtual round-trip time.
    fn count(&mut self, ack: &AckSample) {
        self.srtt = ack.srtt;
        self.acked += ack.acked;
        self.marked += ack.ce_marked;
        self.saw_mark |= ack.ce_marked > 0.0;
        self.round_over |= ack.round_start;
        if !self.round_over || (self.independent() && ack.now.since(self.updated) < self.reference) {
            return;
        }
        if self.saw_mark {
            self.alpha += self.g * (self.marked / self.acked - self.alpha);
        }
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        (self.acked, self.marked, self.updated, self.round_over) = (0.0, 0.0, ack.now, false);
    }

    /// Ratio of the smoothed round-trip time to the virtual one.
    fn scale(&self) -> f64 {
        if self.independent() && self.srtt < self.reference && self.srtt > Span::ZERO {
            self.srtt.0 as f64 / self.reference.0 as f64
        } else {
            1.0
        }
    }

    /// Smallest fractional window: that of the smallest pacing rate.
    fn least(&self) -> f64 {
        (LEAST_RATE / (self.mss + HEADERS) * self.srtt.as_secs()).clamp(0.01, MIN_SSTHRESH)
    }

    fn keep(&mut self, share: f64) {
        self.cwnd = (self.cwnd * share).max(self.least());
        self.ssthresh = self.cwnd;
    }
}

impl CongestionControl for Prague {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, marks: true, own_recovery: true, l4s: true, ..Needs::default() }
    }

    fn set_mss(&mut self, mss: u32) {
        self.mss = f64::from(mss);
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.count(ack);
        let unmarked = ack.acked - ack.ce_marked;
        if !ack.cwnd_limited || unmarked <= 0.0 {
            return;
        }
        if self.in_slow_start() {
            self.cwnd = (self.cwnd + unmarked.min(ack.abc_limit)).min(self.ssthresh);
        } else if !self.repairing {
            // scale²/cwnd; a virtual window below one segment grows like one of one segment.
            let scale = self.scale();
            self.cwnd += unmarked * scale / (self.cwnd / scale).max(1.0);
        }
    }

    fn on_recovery_ack(&mut self, ack: &AckSample) {
        self.count(ack);
    }

    fn on_recovered(&mut self) {
        self.repairing = false;
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.repairing |= event.signal != Signal::Ecn;
        match event.signal {
            Signal::Ecn => {
                let early = |last| self.independent() && event.now.since(last) < self.reference;
                if self.reduced.is_some_and(early) {
                    return;
                }
                let share = if self.reduced.is_none() { 1.0 } else { self.alpha };
                self.reduced = Some(event.now);
                self.keep(1.0 - 0.5 * share);
            }
            Signal::Loss => self.keep(0.5),
            Signal::Timeout => {
                self.ssthresh = (0.5 * self.cwnd).max(MIN_SSTHRESH);
                self.cwnd = 1.0;
            }
        }
    }

    fn collapse(&mut self) {
        self.cwnd = 1.0;
    }

    /// Whole segments, at least two; the pacing rate follows the fractional window.
    fn cwnd(&self) -> f64 {
        if self.in_slow_start() { self.cwnd } else { self.cwnd.ceil().max(MIN_SSTHRESH) }
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh.ceil().max(MIN_SSTHRESH)
    }

    fn pacing_rate(&self) -> Option<f64> {
        let rtt = if self.srtt == Span::ZERO { Span::millis(1) } else { self.srtt };
        let factor = if self.cwnd < 0.5 * self.ssthresh { 2.0 } else { 1.0 };
        Some(factor * (1.0 + HEADERS / self.mss) * self.cwnd / rtt.as_secs())
    }

    fn burst(&self) -> u32 {
        self.pacing_rate().map_or(1, |rate| (rate * BURST_S).max(1.0) as u32)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrambled;

    fn in_avoidance(p: &Params) -> Prague {
        let mut law = Prague::new(p, 10.0).unwrap();
        law.ssthresh = 10.0;
        law
    }

    fn of_2020() -> Params {
        Params { rtt_independence: RttIndependence::None, initial_alpha: 1.0, ..Params::default() }
    }

    fn event(law: &mut Prague, now: Time, signal: Signal) {
        law.on_congestion(&CongestionEvent::plain(now, signal, law.srtt));
    }

    /// Mean rate in segments per second, over the second half of 400 s, of a flow with round-trip time `rtt` whose segments
    /// are each marked with probability `p`. As in a sender, the control responds to a mark if its last response was at
    /// least a round trip ago.
    fn rate(params: &Params, rtt: Span, p: f64) -> f64 {
        let mut law = in_avoidance(params);
        let (mut now, mut round, mut answered) = (Time::ZERO, Time::ZERO, Time::ZERO);
        let (half, end) = (Time::ZERO + Span::secs(200), Time::ZERO + Span::secs(400));
        let (mut sent, mut counted) = (0, 0.0);
        while now < end {
            sent += 1;
            now += Span::from_secs(rtt.as_secs() / law.cwnd);
            let marked = (scrambled(sent) as f64) < p * u64::MAX as f64;
            let round_start = now.since(round) >= rtt;
            if round_start {
                round = now;
            }
            law.on_ack(&AckSample {
                ce_marked: f64::from(u8::from(marked)),
                round_start,
                ..AckSample::plain(now, rtt)
            });
            if marked && now.since(answered) >= rtt {
                event(&mut law, now, Signal::Ecn);
                answered = now;
            }
            counted += f64::from(u8::from(now >= half));
        }
        counted / end.since(half).as_secs()
    }

    /// Window of a flow whose segments are marked with probability `p`. From one cut to the next it takes a round trip, and
    /// then 1/p segments until a mark. With q = 1 - p, x = p w and alpha = p, the growth q (1 + 1/x) equals the cut x/2.
    fn window(p: f64) -> f64 {
        let q = 1.0 - p;
        (q + (q * q + 2.0 * q).sqrt()) / p
    }

    #[test]
    fn the_variant_of_2020_has_the_window_of_dctcp_at_every_round_trip_time() {
        assert!((window(0.001) * 0.001 - 2.73).abs() < 0.005, "1 + sqrt(3) for small p");
        for p in [0.1, 0.02, 0.005] {
            for ms in [2, 50] {
                let got = rate(&of_2020(), Span::millis(ms), p) * ms as f64 / 1e3;
                // The mean of a product is not the product of the means: alpha and window vary together by about a fifth.
                assert!((got / window(p) - 1.0).abs() < 0.05, "{p} at {ms} ms: {got} instead of {}", window(p));
            }
        }
    }

    #[test]
    fn up_to_the_reference_the_rate_does_not_depend_on_the_round_trip_time() {
        let params = Params::default();
        for p in [0.02, 0.005] {
            let expected = window(p) / 0.025;
            for ms in [25, 10, 5, 2] {
                let got = rate(&params, Span::millis(ms), p);
                // As above; in addition, a mark right after the 25 ms may fall into a round trip with a response.
                let tolerance = if ms == 10 { 0.12 } else { 0.08 };
                assert!((got / expected - 1.0).abs() < tolerance, "{p} at {ms} ms: {got} instead of {expected}");
            }
            let got = rate(&params, Span::millis(100), p);
            assert!((got * 0.1 / window(p) - 1.0).abs() < 0.05, "{p} at 100 ms: {got}");
        }
    }

    #[test]
    fn the_rate_becomes_independent_some_round_trips_after_slow_start() {
        let mut law = in_avoidance(&Params { rtt_transition: 500, ..Params::default() });
        let rtt = Span::millis(10);
        let gain = |law: &mut Prague, n: u64| {
            let before = law.cwnd;
            law.on_ack(&AckSample { round_start: true, ..AckSample::plain(Time::ZERO + Span::millis(10 * n), rtt) });
            (law.cwnd - before) * before
        };
        for n in 0..499 {
            assert!((gain(&mut law, n) - 1.0).abs() < 1e-9, "{n}");
        }
        // (10/25)^2.
        assert!((gain(&mut law, 499) - 0.16).abs() < 1e-9);
    }

    #[test]
    fn the_first_mark_halves_and_later_marks_cut_by_half_of_alpha_once_in_25_ms() {
        let mut law = in_avoidance(&Params::default());
        law.cwnd = 100.0;
        let at = |ms| Time::ZERO + Span::millis(ms);
        event(&mut law, at(0), Signal::Ecn);
        assert_eq!(law.cwnd, 50.0);
        law.alpha = 0.2;
        event(&mut law, at(10), Signal::Ecn);
        assert_eq!(law.cwnd, 45.0, "before the transition a mark cuts once per round trip");
        law.rounds = 4;
        event(&mut law, at(34), Signal::Ecn);
        assert_eq!(law.cwnd, 45.0);
        event(&mut law, at(35), Signal::Ecn);
        assert_eq!(law.cwnd, 40.5);
        assert_eq!((law.cwnd(), law.ssthresh()), (41.0, 41.0));
    }

    #[test]
    fn losses_halve_and_the_window_does_not_grow_until_they_are_repaired() {
        let mut law = in_avoidance(&Params::default());
        law.cwnd = 100.0;
        let ack = AckSample::plain(Time(1), Span::millis(50));
        event(&mut law, Time(0), Signal::Loss);
        law.on_recovery_ack(&ack);
        assert_eq!(law.cwnd, 50.0);
        law.on_recovered();
        law.on_ack(&ack);
        assert_eq!(law.cwnd, 50.0 + 1.0 / 50.0);
        event(&mut law, Time(2), Signal::Timeout);
        assert_eq!((law.cwnd(), law.ssthresh()), (1.0, 26.0));
        for _ in 0..40 {
            law.on_ack(&ack);
        }
        assert_eq!(law.cwnd, law.ssthresh, "no growth beyond ssthresh before the repair ends");
    }

    #[test]
    fn marked_segments_do_not_grow_the_window_and_alpha_waits_for_the_first() {
        let mut law = in_avoidance(&Params { initial_alpha: 1.0, ..Params::default() });
        let plain = AckSample { round_start: true, ..AckSample::plain(Time(1), Span::millis(50)) };
        law.on_ack(&plain);
        assert_eq!((law.alpha, law.cwnd), (1.0, 10.1));
        law.on_ack(&AckSample { acked: 4.0, ce_marked: 1.0, ..plain });
        assert_eq!((law.alpha, law.cwnd), (1.0 + (0.25 - 1.0) / 16.0, 10.1 + 3.0 / 10.1));
    }

    #[test]
    fn the_pace_follows_the_fraction_of_a_window_below_two() {
        let mut law = in_avoidance(&Params::default());
        law.set_mss(1198);
        law.on_ack(&AckSample::plain(Time(1), Span::millis(10)));
        law.alpha = 1.0;
        for n in 1..30 {
            law.rounds = 0;
            event(&mut law, Time::ZERO + Span::secs(n), Signal::Ecn);
        }
        // 100 kbit/s are ten packets of 1250 bytes per second, which are spaced as segments of 1198.
        let rate = law.pacing_rate().unwrap() * 1198.0;
        assert!(law.cwnd() == 2.0 && (rate - 12_500.0).abs() < 1e-6, "{rate}");
        assert_eq!(law.burst(), 1);
        law.cwnd = 1000.0;
        // 104,341 segments per second for 244 us are 25 segments.
        assert_eq!(law.burst(), 25);
    }

    #[test]
    fn refuses_invalid_parameters() {
        for (p, name) in [
            (Params { g: 0.0, ..Params::default() }, "g"),
            (Params { initial_alpha: 1.5, ..Params::default() }, "initial_alpha"),
            (Params { reference_rtt: Span::ZERO, ..Params::default() }, "reference_rtt"),
        ] {
            let error = Prague::new(&p, 10.0).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }
}

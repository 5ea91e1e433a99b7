//! BBR version 1, as Linux ships it: the largest delivery rate of ten rounds and the smallest round-trip time of ten
//! seconds set pace and window; a cycle of eight gains probes for more bandwidth and then drains the queue that the
//! probe has built.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_bbr.c` (its rules); N. Cardwell et al., BBR: Congestion-based congestion control,
//! ACM Queue 14 (5), 2016.
//! Differs from Linux: the first phase of a cycle is a hash of clock and deliveries; without a handshake the first
//! window is paced for a nominal millisecond; segments that wait for their pace count as in flight; times are not in
//! ticks. SACK is assumed.

mod model;
mod modes;
mod parts;

use crate::filters::{FullPipe, HeldBack, MinRtt, UNKNOWN, WindowMax};
use crate::{CongestionControl, CongestionEvent, Controller, Delivery, Lost, Needs, Restart, Signal};
use base::{Card, ParamError, Registered, Span, Time};
use parts::{Aggregation, Policer};

/// Window that keeps a path with delayed ACKs busy, and that of `ProbeRtt`, in segments.
const MIN_CWND: f64 = 4.0;
/// Linux's initial window, which bounds the window before there is a round-trip time.
const INIT_CWND: f64 = 10.0;
/// Phases of the cycle: faster, slower, and six at the bandwidth itself.
const PHASES: u8 = 8;
/// Payload of a segment of unknown size, in bytes.
const MSS: u32 = 1460;
/// Round-trip time assumed before the first sample.
const NOMINAL_RTT: Span = Span::millis(1);
/// Linux's unit of bandwidth, 2^-24 segments per microsecond, in segments per second.
const UNIT: f64 = 15_625.0 / 262_144.0;

/// Rounds a rate down to Linux's unit. Windows are rounded up, so without this a window could be one segment too large
/// if the exact product is a whole number.
fn in_units(rate: f64) -> f64 {
    (rate / UNIT).floor() * UNIT
}

base::params! {
    /// The constants of Linux 6.12, gains as its 256ths.
    pub struct Params {
        /// Pace and window in Startup, in bandwidths and bandwidth-delay products; 2/ln 2 doubles the rate every round.
        startup_gain: f64 = 2.886_718_75, "";
        /// Pace in Drain; about 1/startup_gain empties the queue in a round.
        drain_pacing_gain: f64 = 0.343_75, "";
        /// Pace in the first phase of the cycle.
        up_pacing_gain: f64 = 1.25, "";
        /// Pace in the second.
        down_pacing_gain: f64 = 0.75, "";
        /// Window during the cycle, in estimated bandwidth-delay products.
        cwnd_gain: f64 = 2.0, "";
        /// Share by which the pace stays below the gain.
        pacing_margin: f64 = 0.01, "";
        /// Rounds for which the largest delivery rate is remembered.
        bw_window: u32 = 10, "rounds";
        /// Time without a smaller round-trip time after which it is probed.
        min_rtt_window: Span = Span::secs(10), "";
        /// Shortest time spent with four segments in flight to probe it.
        probe_rtt_duration: Span = Span::millis(200), "";
        /// Longest burst for three of which windows have room, if 64 KiB are not less; shorter ones last a millisecond.
        max_burst: u32 = 127, "segments";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Repair in progress: none, of losses found by duplicate ACKs or RACK, or after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    Fast,
    Timeout,
}

/// [`Delivery`] with further values of this ACK.
struct Sample<'a> {
    delivery: &'a Delivery,
    /// Segments that the sender marked lost because of this ACK, without those that a timer marked.
    losses: f64,
    /// Segments in flight after this ACK, before a segment is sent again.
    in_flight: f64,
    app_limited: bool,
}

/// See the [module](self).
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of Linux's state, each for itself")]
pub struct Bbr1 {
    p: Params,
    cwnd: f64,
    prior_cwnd: f64,
    pacing_rate: f64,
    mss: u32,
    has_rtt: bool,
    pacing_gain: f64,
    cwnd_gain: f64,
    mode: Mode,
    phase: u8,
    phase_start: Time,
    // State of the connection after the last ACK.
    now: Time,
    delivered_at: Time,
    delivered: u64,
    in_flight: f64,
    // Number of losses so far, time of the last loss, and number of losses at that time.
    lost: u64,
    lost_at: Time,
    losses: f64,
    // The present repair, and the repair at the last update of the window.
    repair: Repair,
    seen: Repair,
    conserving: bool,
    /// Start of the repair, and the number of segments in flight then.
    begun: (Time, f64),
    /// The window before it was restored; needed if another repair begins with the same ACK.
    unrestored: f64,
    // Rounds.
    round: u64,
    round_end: u64,
    round_start: bool,
    // The path.
    max_rate: WindowMax,
    policer: Policer,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    min_rtt: MinRtt,
    min_rtt_secs: f64,
    // Probing for the round-trip time.
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    held_back: HeldBack,
    /// Whether a segment was sent after a pause, and none has been acknowledged since.
    restarted: bool,
}

impl Registered for Bbr1 {
    type Params = Params;
    const CARD: Card = Card {
        name: "bbr1",
        aliases: &["bbrv1", "TcpBbr"],
        title: "BBR, version 1",
        source: "Linux 6.12, tcp_bbr.c",
        differs: "The first phase of a cycle is a hash of clock and deliveries, not a random number. Without a \
                  handshake the first window is paced for a nominal millisecond. Segments that wait for their pace \
                  count as in flight. An ECN mark changes nothing, as in Linux.",
    };
}

impl Controller for Bbr1 {
    fn new(p: &Params, initial_window: f64) -> Result<Self, ParamError> {
        for (name, gain) in [("startup_gain", p.startup_gain), ("up_pacing_gain", p.up_pacing_gain)] {
            if gain <= 1.0 {
                return Err(ParamError::new(name, "must exceed 1"));
            }
        }
        for (name, gain) in [("drain_pacing_gain", p.drain_pacing_gain), ("down_pacing_gain", p.down_pacing_gain)] {
            if gain <= 0.0 || gain >= 1.0 {
                return Err(ParamError::new(name, "must lie strictly between 0 and 1"));
            }
        }
        if p.cwnd_gain < 1.0 {
            return Err(ParamError::new("cwnd_gain", "must be at least 1"));
        }
        if !(0.0..1.0).contains(&p.pacing_margin) {
            return Err(ParamError::new("pacing_margin", "must be at least 0 and below 1"));
        }
        for (name, count) in [("bw_window", p.bw_window), ("max_burst", p.max_burst)] {
            if !(1..=1000).contains(&count) {
                return Err(ParamError::new(name, "must lie between 1 and 1000"));
            }
        }
        Ok(Self::at_rest(p.clone(), initial_window))
    }
}

impl CongestionControl for Bbr1 {
    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    fn set_mss(&mut self, mss: u32) {
        self.mss = mss.max(1);
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        let begins_now = self.repair == Repair::Fast && self.begun.0 == delivery.now;
        let sample = Sample {
            delivery,
            losses: if self.lost_at == delivery.now { self.losses } else { 0.0 },
            // Here the fast retransmit has already been sent; in Linux it is sent after this call.
            in_flight: if begins_now { delivery.in_flight.min(self.begun.1) } else { delivery.in_flight },
            app_limited: delivery.app_limited || self.held_back.contains(delivery.prior_delivered),
        };
        // The network was empty and the application limited the sender, so these segments were sent after an idle time.
        let restarted = self.restarted;
        let idle_restart = restarted || (self.in_flight <= 0.0 && self.delivered > 0 && sample.app_limited);
        (self.now, self.delivered, self.in_flight) = (delivery.now, delivery.delivered, delivery.in_flight);
        if delivery.newly_delivered > 0.0 {
            self.delivered_at = delivery.now;
            self.restarted = false;
        }
        if idle_restart && !restarted {
            self.aggregation.interval.restart();
            if self.mode == Mode::ProbeRtt {
                self.check_probe_rtt_done();
            }
        }
        self.update_bw(&sample);
        self.update_phase(&sample);
        self.check_full_pipe(&sample);
        self.update_min_rtt(&sample, idle_restart);
        self.update_gains();
        if let Some(rtt) = delivery.rtt.filter(|rtt| !self.has_rtt && *rtt > Span::ZERO) {
            self.has_rtt = true;
            self.begin_pace(rtt);
        }
        // If the application is idle now, it will restart with a pacing gain of 1.
        let is_idle = self.mode == Mode::ProbeBw && self.in_flight <= 0.0;
        self.set_pacing_rate(if is_idle { 1.0 } else { self.pacing_gain });
        self.set_cwnd(&sample);
    }

    fn on_restart(&mut self, restart: &Restart) {
        if restart.idle > Span::ZERO {
            self.restart_from_idle(restart.now);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        if self.lost_at != lost.now {
            (self.lost_at, self.losses) = (lost.now, 0.0);
        }
        self.lost += 1;
        self.losses += 1.0;
    }

    /// `bbr_undo_cwnd`: spurious losses say nothing about the path.
    fn on_undo(&mut self, _cwnd: f64, _ssthresh: f64) {
        self.full_pipe.forget_base();
        self.policer = Policer::default();
    }

    fn on_recovered(&mut self) {
        self.repair = Repair::None;
        self.unrestored = self.cwnd;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.signal {
            Signal::Ecn => {}
            Signal::Loss => {
                if self.repair == Repair::None && self.seen != Repair::None {
                    self.cwnd = self.unrestored;
                }
                self.save_cwnd();
                self.repair = Repair::Fast;
                self.begun = (event.now, event.in_flight);
            }
            Signal::Timeout => {
                if self.repair == Repair::None {
                    self.save_cwnd();
                }
                // The segments in flight that are not marked lost, and one more.
                self.cwnd = event.in_flight + 1.0;
                self.time_out();
            }
        }
    }

    fn collapse(&mut self) {
        self.cwnd = 1.0;
        self.time_out();
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("state", f64::from(self.mode as u8));
        put("phase", f64::from(self.phase));
        put("pacing_gain", self.pacing_gain);
        put("max_bw", self.max_rate.get());
        put("bw", self.bw());
        put("bdp", self.bdp(self.bw(), 1.0));
        put("extra_acked", self.aggregation.get());
        if let Some(rate) = self.policer.rate() {
            put("policed_bw", rate);
        }
        if self.min_rtt.rtt != UNKNOWN {
            put("min_rtt", self.min_rtt_secs);
        }
    }
}

impl Bbr1 {
    fn at_rest(p: Params, initial_window: f64) -> Self {
        let mut bbr = Self {
            cwnd: initial_window,
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            mss: MSS,
            has_rtt: false,
            pacing_gain: p.startup_gain,
            cwnd_gain: p.startup_gain,
            mode: Mode::Startup,
            phase: 0,
            phase_start: Time::ZERO,
            now: Time::ZERO,
            delivered_at: Time::ZERO,
            delivered: 0,
            in_flight: 0.0,
            lost: 0,
            lost_at: Time::NEVER,
            losses: 0.0,
            repair: Repair::None,
            seen: Repair::None,
            conserving: false,
            begun: (Time::NEVER, 0.0),
            unrestored: 0.0,
            round: 0,
            round_end: 0,
            round_start: false,
            max_rate: WindowMax::default(),
            policer: Policer::default(),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::default(),
            min_rtt: MinRtt::default(),
            min_rtt_secs: f64::INFINITY,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            held_back: HeldBack::default(),
            restarted: false,
            p,
        };
        bbr.begin_pace(NOMINAL_RTT);
        bbr
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::millis(100);

    fn bbr() -> Bbr1 {
        Bbr1::new(&Params::default(), 10.0).unwrap()
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::millis(ms)
    }

    /// The ACK of one segment at `ms`, on a path that has delivered 1000 segments per second for 100 ms.
    fn delivery(ms: u64, delivered: u64) -> Delivery {
        Delivery {
            now: at(ms),
            newly_delivered: 1.0,
            newly_lost: 0.0,
            delivered,
            prior_delivered: delivered.saturating_sub(100),
            interval: Some(RTT),
            app_limited: false,
            rtt: Some(RTT),
            min_rtt: RTT,
            prior_in_flight: 100.0,
            in_flight: 99.0,
            tx_in_flight: 100.0,
            lost: 0.0,
            recovering: false,
        }
    }

    /// Returns a flow in the cycle's `phase`, at 1000 segments per second over 100 ms.
    fn cycling(phase: u8) -> Bbr1 {
        let mut bbr = bbr();
        for (n, delivered) in [100, 200, 300, 400].into_iter().enumerate() {
            bbr.on_delivery(&delivery(100 * (n as u64 + 1), delivered));
        }
        assert!(bbr.full_pipe.reached);
        (bbr.mode, bbr.phase, bbr.phase_start) = (Mode::ProbeBw, phase, bbr.now);
        bbr.update_gains();
        bbr.set_pacing_rate(bbr.pacing_gain);
        bbr
    }

    #[test]
    fn gains_are_linux_s() {
        // Linux's integers, in units of 1/256: 256 * 2885 / 1000 + 1 and 256 * 1000 / 2885.
        let p = Params::default();
        assert_eq!((256.0 * p.startup_gain, 256.0 * p.drain_pacing_gain), (739.0, 88.0));
        assert!((p.startup_gain * std::f64::consts::LN_2 - 2.0).abs() < 1e-3);
        let table = [
            (Mode::Startup, 0, p.startup_gain, p.startup_gain),
            (Mode::Drain, 0, p.drain_pacing_gain, p.startup_gain),
            (Mode::ProbeBw, 0, 1.25, 2.0),
            (Mode::ProbeBw, 1, 0.75, 2.0),
            (Mode::ProbeBw, 2, 1.0, 2.0),
            (Mode::ProbeBw, 7, 1.0, 2.0),
            (Mode::ProbeRtt, 0, 1.0, 1.0),
        ];
        for (mode, phase, pacing, cwnd) in table {
            let mut bbr = bbr();
            (bbr.mode, bbr.phase) = (mode, phase);
            bbr.update_gains();
            assert_eq!((bbr.pacing_gain, bbr.cwnd_gain), (pacing, cwnd), "{mode:?} {phase}");
        }
        let pace = cycling(0).pacing_rate().unwrap();
        assert!((pace - 0.99 * 1250.0).abs() < 0.1, "{pace}");
    }

    #[test]
    fn the_first_pace_is_the_window_per_millisecond_and_then_per_round_trip() {
        let mut bbr = bbr();
        let pace = |bbr: &Bbr1| bbr.pacing_rate().unwrap() / (0.99 * bbr.p.startup_gain);
        assert!((pace(&bbr) - 10_000.0).abs() < 1e-6);
        bbr.on_delivery(&Delivery { prior_delivered: 0, ..delivery(100, 1) });
        assert!((pace(&bbr) - 100.0).abs() < 1e-6);
        assert_eq!(bbr.cwnd(), 11.0);
        // Slower samples do not lower the pacing rate before the pipe was full.
        bbr.on_delivery(&Delivery { interval: Some(Span::secs(1)), ..delivery(101, 2) });
        assert!((pace(&bbr) - 100.0).abs() < 1e-6);
    }

    #[test]
    fn three_rounds_without_25_percent_growth_end_startup() {
        let mut bbr = bbr();
        for (ms, delivered, mode) in
            [(100, 100, Mode::Startup), (200, 200, Mode::Startup), (300, 300, Mode::Startup), (400, 400, Mode::Drain)]
        {
            bbr.on_delivery(&Delivery { in_flight: 200.0, ..delivery(ms, delivered) });
            assert_eq!(bbr.mode, mode, "at {ms} ms");
        }
        // Drain ends with one BDP and three bursts of two segments in flight: 106.
        bbr.on_delivery(&Delivery { in_flight: 107.0, ..delivery(410, 410) });
        assert_eq!(bbr.mode, Mode::Drain);
        bbr.on_delivery(&Delivery { in_flight: 106.0, ..delivery(411, 411) });
        assert_eq!(bbr.mode, Mode::ProbeBw);
        assert_ne!(bbr.phase, 1);
    }

    #[test]
    fn an_application_that_is_behind_never_ends_startup() {
        let mut bbr = bbr();
        for n in 1..50 {
            bbr.on_delivery(&Delivery { app_limited: true, ..delivery(100 * n, 100 * n) });
        }
        assert_eq!(bbr.mode, Mode::Startup);
    }

    #[test]
    fn windows_are_even_and_have_room_for_three_bursts() {
        let mut bbr = cycling(2);
        // 2 * 100 and three bursts of two.
        assert_eq!(bbr.inflight(1000.0, 2.0), 206.0);
        assert_eq!(bbr.inflight(1001.0, 1.0), 108.0, "100.1 rounds up to 101; 107 with the bursts");
        bbr.phase = 0;
        assert_eq!(bbr.inflight(1000.0, 1.25), 134.0, "125 + 6 rounds up to 132; two more");
        // 10 Gbit/s in segments of 1460 bytes are 836 segments per 1/1024 s, but 64 KiB hold only 44.
        for (pace, burst) in [(100.0, 1.0), (110.0, 2.0), (3071.0, 2.0), (3072.0, 3.0), (856_000.0, 44.0)] {
            bbr.pacing_rate = pace;
            assert_eq!(bbr.quantum(), burst, "{pace}");
        }
        for (mss, burst) in [(1448, 45.0), (8948, 7.0), (100_000, 2.0)] {
            bbr.set_mss(mss);
            assert_eq!(bbr.quantum(), burst, "{mss}");
        }
    }

    #[test]
    fn a_probe_lasts_until_its_target_is_in_flight_or_a_segment_is_lost() {
        // The target is 125 and six for bursts, rounded up to an even number, and two more: 134. The next burst of two
        // has not left yet.
        let after = |ms: u64, prior_in_flight, lost| {
            let mut bbr = cycling(0);
            if lost {
                bbr.on_lost(&loss(400 + ms));
            }
            bbr.on_delivery(&Delivery { prior_in_flight, ..delivery(400 + ms, 401) });
            bbr.phase
        };
        assert_eq!((after(100, 200.0, false), after(101, 131.0, false), after(101, 132.0, false)), (0, 0, 1));
        assert_eq!((after(100, 50.0, true), after(101, 50.0, true)), (0, 1));
    }

    #[test]
    fn the_second_phase_ends_with_the_queue_and_the_others_after_min_rtt() {
        let after = |phase, ms: u64, prior_in_flight| {
            let mut bbr = cycling(phase);
            bbr.on_delivery(&Delivery { prior_in_flight, ..delivery(400 + ms, 401) });
            bbr.phase
        };
        assert_eq!((after(1, 10, 107.0), after(1, 10, 106.0), after(1, 101, 200.0)), (1, 2, 2));
        for phase in 2..8 {
            assert_eq!((after(phase, 100, 4.0), after(phase, 101, 200.0)), (phase, (phase + 1) % 8));
        }
    }

    #[test]
    fn cycles_begin_at_every_phase_but_the_second() {
        let mut count = [0; 8];
        for n in 0..7000 {
            let mut bbr = cycling(2);
            bbr.now += Span(n);
            bbr.begin_cycle();
            count[usize::from(bbr.phase)] += 1;
        }
        assert_eq!(count[1], 0);
        // 1000 in each phase, with a standard deviation of 29. The tolerance is four standard deviations.
        assert!(count.iter().enumerate().all(|(phase, n)| phase == 1 || (884..=1116).contains(n)), "{count:?}");
    }

    fn loss(ms: u64) -> Lost {
        Lost { now: at(ms), delivered: 400, prior_delivered: 300, tx_in_flight: 100.0, lost: 1.0, app_limited: false }
    }

    fn event(ms: u64, signal: Signal, in_flight: f64) -> CongestionEvent {
        CongestionEvent { in_flight, ..CongestionEvent::plain(at(ms), signal, RTT) }
    }

    #[test]
    fn the_first_round_of_a_repair_conserves_and_its_end_restores() {
        let mut bbr = cycling(2);
        bbr.cwnd = 200.0;
        bbr.on_lost(&loss(401));
        bbr.on_congestion(&event(401, Signal::Loss, 150.0));
        bbr.on_delivery(&Delivery { in_flight: 151.0, newly_lost: 1.0, ..delivery(401, 401) });
        assert_eq!(
            (bbr.cwnd(), bbr.prior_cwnd),
            (151.0, 200.0),
            "in flight without the fast retransmit (150), plus one"
        );
        bbr.on_delivery(&Delivery { in_flight: 150.0, ..delivery(402, 402) });
        assert_eq!(bbr.cwnd(), 151.0);
        // A round later it grows by what is acknowledged.
        bbr.on_delivery(&Delivery { prior_delivered: 401, in_flight: 150.0, ..delivery(501, 501) });
        assert_eq!(bbr.cwnd(), 152.0);
        bbr.on_recovered();
        bbr.on_delivery(&Delivery { newly_delivered: 2.0, ..delivery(502, 503) });
        assert_eq!(bbr.cwnd(), 202.0);
    }

    #[test]
    fn a_mark_changes_nothing() {
        let mut bbr = cycling(2);
        let before = format!("{bbr:?}");
        bbr.on_congestion(&event(401, Signal::Ecn, 100.0));
        assert_eq!(format!("{bbr:?}"), before);
    }

    #[test]
    fn a_timeout_sets_cwnd_to_in_flight_plus_one_and_the_end_of_recovery_restores_it() {
        let mut bbr = cycling(2);
        bbr.cwnd = 200.0;
        (0..50).for_each(|_| bbr.on_lost(&loss(700)));
        bbr.on_congestion(&event(700, Signal::Timeout, 3.0));
        assert_eq!(bbr.cwnd(), 4.0);
        // The losses were the timer's, not this ACK's.
        bbr.on_delivery(&Delivery { newly_lost: 50.0, ..delivery(800, 402) });
        assert_eq!(bbr.cwnd(), 5.0);
        bbr.on_recovered();
        bbr.on_delivery(&delivery(801, 403));
        assert_eq!(bbr.cwnd(), 201.0);
    }

    #[test]
    fn refuses_invalid_parameters() {
        let says = |p: Params| Bbr1::new(&p, 10.0).unwrap_err().to_string();
        let p = Params::default;
        assert_eq!(says(Params { startup_gain: 1.0, ..p() }), "startup_gain: must exceed 1");
        assert_eq!(
            says(Params { down_pacing_gain: 1.0, ..p() }),
            "down_pacing_gain: must lie strictly between 0 and 1"
        );
        assert_eq!(says(Params { cwnd_gain: 0.5, ..p() }), "cwnd_gain: must be at least 1");
        assert_eq!(says(Params { pacing_margin: 1.0, ..p() }), "pacing_margin: must be at least 0 and below 1");
        assert_eq!(says(Params { bw_window: 0, ..p() }), "bw_window: must lie between 1 and 1000");
    }
}

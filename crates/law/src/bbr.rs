//! BBR version 3: a model of the path (largest delivery rate, smallest round-trip time, bounds learnt from losses) sets
//! the pace of the sender and bounds what is in flight.
//!
//! Source: draft-ietf-ccwg-bbr-06 (6 July 2026), Section 5. Names and order of steps are the draft's.
//! Differs from the source: random waits are a hash of clock and deliveries; segments leave one by one, so there is no
//! send quantum and no offload budget; an ECN mark, which the draft leaves open, counts as losses above the threshold;
//! `idle_restart` is set at the first ACK after a pause; a restart begins the interval of `extra_acked` with a count of
//! zero, as in Linux (the draft moves only its start); the state that a spurious recovery restores is saved once. The
//! control assumes selective acknowledgements. Recovery `prr` has the same results as `sack`, because the control sets
//! its own window in recovery.
//! Differs from Linux and ns-3: there it is version 1 (2017), a cycle of eight gains without bounds learnt from losses:
//! `bbr1`.

mod gauges;
mod machine;
mod model;
mod parts;
mod undo;

use crate::filters::{FullPipe, HeldBack, MinRtt};
use crate::{CongestionControl, CongestionEvent, Controller, Delivery, Lost, Needs, Restart, Signal, number, smaller};
use base::{Card, ParamError, Registered, Span, Time};
use gauges::Seen;
use model::inflight_at_loss;
use parts::{Aggregation, CwndUse, MaxRate};
use undo::Undo;

/// Window that keeps a path with delayed ACKs busy (`MinPipeCwnd`), in segments.
const MIN_PIPE_CWND: f64 = 4.0;
/// Round-trip time assumed before the first sample.
const NOMINAL_RTT: Span = Span::millis(1);

base::params! {
    /// The draft's constants, Sections 2.5 to 2.16.
    pub struct Params {
        /// Pace in Startup, in estimated bandwidths; 4 ln 2 doubles it every round.
        startup_pacing_gain: f64 = 2.77, "";
        /// Pace in Drain.
        drain_pacing_gain: f64 = 0.5, "";
        /// Pace in ProbeBW_UP.
        up_pacing_gain: f64 = 1.25, "";
        /// Pace in ProbeBW_DOWN.
        down_pacing_gain: f64 = 0.9, "";
        /// Share by which the pace stays below the gain.
        pacing_margin: f64 = 0.01, "";
        /// Window in estimated bandwidth-delay products.
        cwnd_gain: f64 = 2.0, "";
        /// Window in ProbeBW_UP, in estimated bandwidth-delay products.
        up_cwnd_gain: f64 = 2.25, "";
        /// Window in ProbeRTT, in estimated bandwidth-delay products.
        probe_rtt_cwnd_gain: f64 = 0.5, "";
        /// Losses per segment in flight above which a probe went too far.
        loss_thresh: f64 = 0.02, "";
        /// Least share of the short-term bounds kept after a round with losses.
        beta: f64 = 0.7, "";
        /// Share of the long-term bound left free for others while cruising.
        headroom: f64 = 0.15, "";
        /// Shortest wait between two probes for bandwidth; up to one second is added.
        probe_wait: Span = Span::secs(2), "";
        /// Time without a smaller round-trip time after which it is probed.
        probe_rtt_interval: Span = Span::secs(5), "";
        /// Shortest time spent with little in flight to probe it.
        probe_rtt_duration: Span = Span::millis(200), "";
        /// Time for which the smallest round-trip time is remembered.
        min_rtt_window: Span = Span::secs(10), "";
    }
}

/// State of the state machine, Section 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Phase of the ACKs that arrive now, relative to a probe (`ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acks {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// [`Delivery`] with values that the draft derives from it.
struct Sample<'a> {
    delivery: &'a Delivery,
    /// Delivery rate in segments per second; zero if there is none.
    rate: f64,
    /// Segments delivered since the one acknowledged was sent.
    volume: f64,
    app_limited: bool,
}

/// See the [module](self).
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the draft's state, name by name")]
pub struct Bbr {
    p: Params,
    initial_window: f64,
    cwnd: f64,
    prior_cwnd: f64,
    pacing_rate: f64,
    pacing_gain: f64,
    cwnd_gain: f64,
    state: State,
    acks: Acks,
    // State of the connection after the last ACK.
    now: Time,
    delivered: u64,
    in_flight: f64,
    in_recovery: bool,
    /// Whether the last ACK was of segments sent after an application pause.
    idle_restart: bool,
    seen: Seen,
    // Rounds.
    round_count: u64,
    next_round_delivered: u64,
    round_start: bool,
    cwnd_use: CwndUse,
    // Long-term model.
    max_rate: MaxRate,
    min_rtt: MinRtt,
    min_rtt_secs: f64,
    inflight_longterm: f64,
    aggregation: Aggregation,
    full_pipe: FullPipe,
    full_bw_reached: bool,
    drain_start_round: u64,
    // Short-term model.
    bw: f64,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    bw_latest: f64,
    inflight_latest: f64,
    is_loss_in_round: bool,
    loss_round_delivered: u64,
    loss_round_start: bool,
    losses_in_round: u32,
    undo: Undo,
    // Probing for bandwidth.
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    rounds_since_probe_up: u64,
    bw_probe_wait: Span,
    cycle_stamp: Time,
    // Probing for the round-trip time.
    probe_rtt_min: MinRtt,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    held_back: HeldBack,
}

impl Registered for Bbr {
    type Params = Params;
    const CARD: Card = Card {
        name: "bbr3",
        aliases: &["bbr", "bbrv3"],
        title: "BBR, version 3",
        source: "draft-ietf-ccwg-bbr-06",
        differs: "Random waits are a hash of clock and deliveries, segments are paced one by one (no send quantum), \
                  and an ECN mark, which the draft leaves open, counts as losses above the threshold. Linux's own \
                  tcp_bbr and ns-3's TcpBbr are version 1 (a cycle of eight gains, ten rounds of memory, no bound \
                  learnt from losses): bbr1.",
    };
}

impl Controller for Bbr {
    fn new(p: &Params, initial_window: f64) -> Result<Self, ParamError> {
        for (name, gain) in [("startup_pacing_gain", p.startup_pacing_gain), ("up_pacing_gain", p.up_pacing_gain)] {
            if gain <= 1.0 {
                return Err(ParamError::new(name, "must exceed 1"));
            }
        }
        for (name, gain) in [("cwnd_gain", p.cwnd_gain), ("up_cwnd_gain", p.up_cwnd_gain)] {
            if gain < 1.0 {
                return Err(ParamError::new(name, "must be at least 1"));
            }
        }
        let shares = [
            ("drain_pacing_gain", p.drain_pacing_gain),
            ("down_pacing_gain", p.down_pacing_gain),
            ("probe_rtt_cwnd_gain", p.probe_rtt_cwnd_gain),
            ("loss_thresh", p.loss_thresh),
            ("beta", p.beta),
        ];
        for (name, share) in shares {
            if share <= 0.0 || share >= 1.0 {
                return Err(ParamError::new(name, "must lie strictly between 0 and 1"));
            }
        }
        for (name, share) in [("pacing_margin", p.pacing_margin), ("headroom", p.headroom)] {
            if !(0.0..1.0).contains(&share) {
                return Err(ParamError::new(name, "must be at least 0 and below 1"));
            }
        }
        if p.min_rtt_window < p.probe_rtt_interval {
            return Err(ParamError::new("min_rtt_window", "must be at least probe_rtt_interval"));
        }
        Ok(Self::at_rest(p.clone(), initial_window))
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        Needs { deliveries: true, ..Needs::default() }
    }

    /// `UpdateOnACK`.
    fn on_delivery(&mut self, delivery: &Delivery) {
        if delivery.newly_lost > 0.0 {
            self.losses_in_round += 1;
        }
        // The network was empty and the application limited the sender, so these segments were sent after an idle time.
        self.idle_restart = self.in_flight <= 0.0 && self.delivered > 0 && delivery.app_limited;
        (self.now, self.delivered, self.in_flight) = (delivery.now, delivery.delivered, delivery.in_flight);
        self.start_round_after_undo();
        if delivery.newly_delivered <= 0.0 {
            return;
        }
        let sample = Sample {
            delivery,
            rate: delivery.rate().unwrap_or(0.0),
            volume: number(delivery.delivered - delivery.prior_delivered),
            app_limited: delivery.app_limited || self.held_back.contains(delivery.prior_delivered),
        };
        self.seen = Seen::of(&sample);
        self.update_latest_delivery_signals(&sample);
        self.update_congestion_signals(&sample);
        self.aggregation.update(delivery.now, delivery.newly_delivered, self.bw, self.cwnd);
        if self.round_start && !sample.app_limited && sample.rate > 0.0 {
            self.full_pipe.update(sample.rate);
            self.full_bw_reached |= self.full_pipe.reached;
        }
        self.check_startup_done(delivery);
        self.check_drain_done();
        self.update_probe_bw_cycle(&sample);
        self.update_min_rtt(delivery.rtt);
        self.check_probe_rtt();
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (sample.rate, sample.volume);
        }
        self.bw = smaller(self.max_rate.get(), self.bw_shortterm);
        self.set_pacing_rate();
        self.set_cwnd(delivery.newly_delivered);
    }

    /// `HandleRestartFromIdle`.
    fn on_restart(&mut self, restart: &Restart) {
        if restart.idle > Span::ZERO {
            self.restart_from_idle(restart.now);
        }
    }

    /// `HandleLostPacket`.
    fn on_lost(&mut self, lost: &Lost) {
        (self.now, self.delivered) = (lost.now, lost.delivered);
        self.save_state_upon_loss();
        self.note_loss();
        if self.is_bw_probe_sample && self.is_too_high(lost.lost, lost.tx_in_flight) {
            let app_limited = lost.app_limited || self.held_back.contains(lost.prior_delivered);
            let at_loss = inflight_at_loss(self.p.loss_thresh, lost.tx_in_flight, lost.lost);
            self.handle_inflight_too_high(at_loss, app_limited);
        }
    }

    fn on_undo(&mut self, _cwnd: f64, _ssthresh: f64) {
        self.handle_spurious_loss();
    }

    fn on_recovered(&mut self) {
        self.in_recovery = false;
        self.undo.end();
        self.restore_cwnd();
        if self.full_bw_reached {
            self.cwnd = self.cwnd.min(self.max_inflight());
        }
        self.bound_cwnd();
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        (self.now, self.delivered) = (event.now, event.delivered);
        if event.signal == Signal::Ecn {
            self.note_loss();
            if self.state == State::Startup {
                self.leave_startup();
            } else if self.is_bw_probe_sample {
                self.handle_inflight_too_high(event.in_flight, false);
            }
            return;
        }
        self.save_state_upon_loss();
        self.save_cwnd();
        self.in_recovery = true;
        if event.signal == Signal::Timeout {
            // OnEnterRTO: the segments in flight that are not marked lost, and one more.
            self.cwnd = event.in_flight + 1.0;
        }
    }

    fn collapse(&mut self) {
        self.cwnd = 1.0;
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
        self.show(put);
    }
}

impl Bbr {
    /// `OnInit`.
    fn at_rest(p: Params, initial_window: f64) -> Self {
        Self {
            initial_window,
            cwnd: initial_window,
            prior_cwnd: 0.0,
            pacing_rate: p.startup_pacing_gain * initial_window / NOMINAL_RTT.as_secs(),
            pacing_gain: p.startup_pacing_gain,
            cwnd_gain: p.cwnd_gain,
            state: State::Startup,
            acks: Acks::Init,
            now: Time::ZERO,
            delivered: 0,
            in_flight: 0.0,
            in_recovery: false,
            idle_restart: false,
            seen: Seen::default(),
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            cwnd_use: CwndUse::default(),
            max_rate: MaxRate::default(),
            min_rtt: MinRtt::default(),
            min_rtt_secs: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            aggregation: Aggregation::default(),
            full_pipe: FullPipe::default(),
            full_bw_reached: false,
            drain_start_round: 0,
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            losses_in_round: 0,
            undo: Undo::default(),
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            rounds_since_probe_up: 0,
            bw_probe_wait: Span::ZERO,
            cycle_stamp: Time::ZERO,
            probe_rtt_min: MinRtt::default(),
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            held_back: HeldBack::default(),
            p,
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        let p = &self.p;
        (self.pacing_gain, self.cwnd_gain) = match state {
            State::Startup => (p.startup_pacing_gain, p.cwnd_gain),
            State::Drain => (p.drain_pacing_gain, p.cwnd_gain),
            State::Down => (p.down_pacing_gain, p.cwnd_gain),
            State::Cruise | State::Refill => (1.0, p.cwnd_gain),
            State::Up => (p.up_pacing_gain, p.up_cwnd_gain),
            State::ProbeRtt => (1.0, p.probe_rtt_cwnd_gain),
        };
    }

    fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bbr() -> Bbr {
        Bbr::new(&Params::default(), 10.0).unwrap()
    }

    /// The ACK of one segment after `now`, of which 100 are in flight for 100 ms.
    pub(super) fn delivery(now: Time, delivered: u64) -> Delivery {
        Delivery {
            now,
            newly_delivered: 1.0,
            newly_lost: 0.0,
            delivered,
            prior_delivered: delivered.saturating_sub(100),
            interval: Some(Span::millis(100)),
            app_limited: false,
            rtt: Some(Span::millis(100)),
            min_rtt: Span::millis(100),
            prior_in_flight: 100.0,
            in_flight: 99.0,
            tx_in_flight: 100.0,
            lost: 0.0,
            recovering: false,
        }
    }

    /// Returns a flow in CRUISE at 10 Gbit/s over 100 ms in packets of 1500 bytes, as in Section 5.3.3.5.
    pub(super) fn cruising() -> Bbr {
        let mut bbr = bbr();
        bbr.full_bw_reached = true;
        bbr.max_rate.update(10e9 / 8.0 / 1500.0);
        bbr.bw = bbr.max_rate.get();
        bbr.now = Time::ZERO + Span::secs(1);
        bbr.update_min_rtt(Some(Span::millis(100)));
        bbr.enter(State::Cruise);
        bbr.set_pacing_rate();
        bbr.cwnd = bbr.max_inflight();
        bbr
    }

    /// The loss of a segment that was sent with 100,000 segments in flight; `n` segments were lost since then, itself
    /// included.
    pub(super) fn lost(n: f64) -> Lost {
        Lost {
            now: Time::ZERO + Span::secs(2),
            delivered: 500_000,
            prior_delivered: 400_000,
            tx_in_flight: 100_000.0,
            lost: n,
            app_limited: false,
        }
    }

    #[test]
    fn gains_are_those_of_the_table_in_section_5_6_1() {
        let table = [
            (State::Startup, 2.77, 2.0),
            (State::Drain, 0.5, 2.0),
            (State::Down, 0.9, 2.0),
            (State::Cruise, 1.0, 2.0),
            (State::Refill, 1.0, 2.0),
            (State::Up, 1.25, 2.25),
            (State::ProbeRtt, 1.0, 0.5),
        ];
        for (state, pacing, cwnd) in table {
            let mut bbr = bbr();
            bbr.enter(state);
            assert_eq!((bbr.pacing_gain, bbr.cwnd_gain), (pacing, cwnd), "{state:?}");
        }
        // 4 ln 2, printed with two decimals.
        assert!((Params::default().startup_pacing_gain - 4.0 * std::f64::consts::LN_2).abs() < 0.005);
    }

    #[test]
    fn ten_gigabits_over_100_ms_are_83_333_segments() {
        let mut bbr = cruising();
        let bdp = bbr.bdp_multiple(bbr.bw, 1.0);
        // "Around 83,000 packets", Section 5.3.3.5.
        assert!((bdp - 83_333.333).abs() < 0.001, "{bdp}");
        assert!((bbr.max_inflight() / bdp - 2.0).abs() < 1e-12);
        assert!((bbr.probe_rtt_cwnd() / bdp - 0.5).abs() < 1e-12);
        assert!((bbr.pacing_rate / bbr.bw - 0.99).abs() < 1e-12);
        bbr.enter(State::Up);
        assert!((bbr.max_inflight() - 2.25 * bdp - 2.0).abs() < 1e-6);
    }

    #[test]
    fn the_first_pace_is_the_initial_window_per_millisecond_and_then_per_round_trip() {
        let mut bbr = bbr();
        assert!((bbr.pacing_rate().unwrap() - 2.77 * 10.0 / 0.001).abs() < 1e-6);
        bbr.on_delivery(&delivery(Time::ZERO + Span::millis(100), 1));
        assert!((bbr.pacing_rate().unwrap() - 2.77 * 10.0 / 0.1).abs() < 1e-9);
        assert_eq!(bbr.cwnd(), 11.0);
    }

    #[test]
    fn the_window_without_samples_is_the_initial_one() {
        assert_eq!(bbr().bdp_multiple(0.0, 2.0), 10.0);
    }

    #[test]
    fn the_bound_grows_by_1_2_4_8_segments_per_round() {
        let mut bbr = cruising();
        bbr.cwnd = 100.0;
        for per_segment in [100.0, 50.0, 25.0, 12.5] {
            bbr.raise_inflight_longterm_slope();
            assert_eq!(bbr.probe_up_acked_per_inc, per_segment);
        }
    }

    #[test]
    fn a_probe_that_loses_more_than_two_percent_sets_the_bound_and_goes_down() {
        let mut bbr = cruising();
        bbr.start_refill();
        bbr.start_up(bbr.bw);
        bbr.is_bw_probe_sample = true;
        bbr.on_lost(&lost(2000.0));
        assert_eq!(bbr.state, State::Up);
        bbr.on_lost(&lost(2001.0));
        assert_eq!((bbr.state, bbr.prev_probe_too_high), (State::Down, true));
        // Never below 0.7 bdp; here 0.02 (99,999 + prefix) = 2000 + prefix, so the prefix would be negative and is 0.
        assert_eq!(bbr.inflight_longterm, 99_999.0);
        bbr.set_cwnd(1.0);
        assert_eq!(bbr.cwnd, 99_999.0);
        assert!((bbr.pacing_gain - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_mark_while_probing_counts_as_too_many_losses() {
        let mut bbr = cruising();
        bbr.start_refill();
        bbr.start_up(bbr.bw);
        bbr.is_bw_probe_sample = true;
        let event = CongestionEvent::plain(Time::ZERO + Span::secs(2), Signal::Ecn, Span::millis(100));
        bbr.on_congestion(&CongestionEvent { in_flight: 100_000.0, ..event });
        assert_eq!((bbr.state, bbr.inflight_longterm), (State::Down, 100_000.0));
    }

    #[test]
    fn waits_lie_between_two_and_three_seconds_and_look_random() {
        let mut bins = [0u32; 10];
        let mut odd = 0;
        for i in 0..1000 {
            let mut bbr = cruising();
            (bbr.now, bbr.delivered) = (Time::ZERO + Span::secs(10) + Span(i), 5000);
            bbr.start_down();
            let part = bbr.bw_probe_wait.as_secs() - 2.0;
            bins[(part * 10.0) as usize] += 1;
            odd += bbr.rounds_since_probe_up;
        }
        // Of 1000 draws 100 are in each tenth (standard deviation 9.5), and 500 are odd (16). The tolerance is four
        // standard deviations.
        assert!(bins.iter().all(|n| (62..=138).contains(n)), "{bins:?}");
        assert!((436..=564).contains(&odd), "{odd}");
    }

    #[test]
    fn refuses_invalid_parameters() {
        let says = |p: Params| Bbr::new(&p, 10.0).unwrap_err().to_string();
        let p = Params::default;
        assert_eq!(says(Params { startup_pacing_gain: 1.0, ..p() }), "startup_pacing_gain: must exceed 1");
        assert_eq!(says(Params { beta: 1.0, ..p() }), "beta: must lie strictly between 0 and 1");
        assert_eq!(says(Params { headroom: 1.0, ..p() }), "headroom: must be at least 0 and below 1");
        let window = Params { min_rtt_window: Span::secs(4), ..p() };
        assert_eq!(says(window), "min_rtt_window: must be at least probe_rtt_interval");
    }
}

//! PIE, the proportional integral controller enhanced: the queueing delay and its trend control a drop probability.
//!
//! Source: RFC 8033, Section 4 and the enhancements of Sections 5.1 (ECN), 5.4 (de-randomisation) and 5.5 (capped steps).
//! The delay is the backlog, without the packet in service, over the known rate; the RFC allows this method.
//! Differs from the source: `high_delay`, a rule of Linux, adds 0.02 per update above 250 ms; PIE is always on (Section 5.3
//! may switch it off).
//! Differs from Linux: the delay there is the last packet's sojourn time; there the probability decays only without any
//! delay (`decay_when_empty`), by 1/64 and not 0.02; it marks only with `ecn`; it measures sizes by the MTU, not by the
//! mean packet.

use crate::checks::{clock, gain};
use crate::signal::signal;
use crate::{Admission, Backlog, Limit, Packet, Port, Rule, Verdict};
use base::{Card, Cause, Need, ParamError, Rate, Registered, Span, Stream, Time};

base::params! {
    /// RFC 8033.
    pub struct Params {
        /// Queueing delay aimed at (QDELAY_REF).
        target: Span = Span::millis(15), "";
        /// Time between updates of the drop probability.
        t_update: Span = Span::millis(15), "";
        /// Gain of the distance from the target.
        alpha: f64 = 0.125, "1/s";
        /// Gain of the delay's trend.
        beta: f64 = 1.25, "1/s";
        /// Longest burst that passes before random drops begin.
        max_burst: Span = Span::millis(150), "";
        /// Mark packets that can carry the mark instead of dropping them, while the probability is below `mark_ecnth`.
        ecn: bool = true, "", needs [EctFlows];
        /// Drop probability from which on such packets are dropped too.
        mark_ecnth: f64 = 0.1, "", needs [Is("ecn", "true"), EctFlows];
        /// Space drops out: none before the probabilities since the last sum to 0.85, one for certain at 8.5.
        derandomize: bool = true, "";
        /// Smaller packets are dropped less often, in proportion to their size.
        bytemode: bool = false, "";
        /// Delay above which the probability rises by 0.02 more at each update; 0 s for never.
        high_delay: Span = Span::millis(250), "";
        /// The probability decays only after two updates without any backlog, not with the delay below half the target.
        decay_when_empty: bool = false, "";
    }
}

/// Bounds of the summed probabilities between which drops are spaced (Section 5.4).
const ACCUMULATED: (f64, f64) = (0.85, 8.5);

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Pie {
    params: Params,
    limit: Limit,
    rate: Rate,
    mean_packet: f64,
    chance: Stream,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    drop_prob: f64,
    /// Delay at the last update, in seconds.
    qdelay_old: f64,
    burst_allowance: Span,
    /// Sum of the probabilities of the arrivals since the last drop or mark.
    accu_prob: f64,
    next_update: Time,
}

impl Registered for Pie {
    type Params = Params;
    const CARD: Card = Card {
        name: "pie",
        aliases: &["PIE"],
        title: "Proportional integral controller enhanced",
        source: "RFC 8033",
        differs: "Always on; 0.02 more an update above 250 ms, as Linux; delay from the backlog and the link's rate. \
                  Marks by default, where Linux's PIE only drops without the word `ecn`: profile = \"linux\" is Linux's.",
    };
}

impl Rule for Pie {
    fn gives(p: &Params) -> Option<Need> {
        (p.ecn && p.mark_ecnth > 0.0).then_some(Need::Marks)
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        if p.target == Span::ZERO {
            return Err(ParamError::new("target", "must be above 0 s"));
        }
        clock("t_update", p.t_update)?;
        gain("alpha", p.alpha)?;
        gain("beta", p.beta)?;
        if !(0.0..=1.0).contains(&p.mark_ecnth) {
            return Err(ParamError::new("mark_ecnth", "must lie between 0 and 1"));
        }
        let state = State { burst_allowance: p.max_burst, next_update: Time::ZERO + p.t_update, ..State::default() };
        Ok(Self { params: p.clone(), limit: port.limit, rate: port.rate, mean_packet: port.packet, chance, state })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        let Limit::Packets(limit) = port.limit else { return None };
        // tc(8) counts times in microseconds and gains in sixteenths (0 to 32), and has no words for the other parameters.
        let micros = |span: Span| span.0.is_multiple_of(1_000_000).then_some(span.0 / 1_000_000);
        let sixteenths =
            |gain: f64| (gain * 16.0 <= 32.0 && gain * 16.0 == (gain * 16.0).trunc()).then_some(gain * 16.0);
        let fixed = Params::default();
        if (p.max_burst, p.mark_ecnth, p.derandomize, p.high_delay)
            != (fixed.max_burst, fixed.mark_ecnth, fixed.derandomize, fixed.high_delay)
        {
            return None;
        }
        let (target, t_update) = (micros(p.target)?, micros(p.t_update)?);
        let (alpha, beta) = (sixteenths(p.alpha)?, sixteenths(p.beta)?);
        let ecn = if p.ecn { "ecn" } else { "noecn" };
        let bytemode = if p.bytemode { "bytemode" } else { "nobytemode" };
        Some(format!(
            "pie limit {limit} target {target}us tupdate {t_update}us alpha {alpha} beta {beta} {ecn} {bytemode}"
        ))
    }
}

impl Pie {
    fn qdelay(&self, backlog: Backlog) -> f64 {
        8.0 * backlog.bytes.0 as f64 / self.rate.0 as f64
    }

    fn half_target(&self) -> f64 {
        0.5 * self.params.target.as_secs()
    }

    /// The random drop of Sections 4.1 and 5.4, and its cause.
    fn drop_early(&mut self, packet: &Packet, backlog: Backlog) -> Option<Cause> {
        let half_target = self.half_target();
        let state = &mut self.state;
        let is_uncongested = state.qdelay_old < half_target && state.drop_prob < 0.2;
        if is_uncongested || backlog.bytes.0 as f64 <= 2.0 * self.mean_packet {
            return None;
        }
        let share = if self.params.bytemode { (f64::from(packet.size) / self.mean_packet).min(1.0) } else { 1.0 };
        let prob = state.drop_prob * share;
        let mut certain = prob >= 1.0;
        if self.params.derandomize {
            state.accu_prob = if state.drop_prob == 0.0 { 0.0 } else { state.accu_prob + prob };
            if state.accu_prob < ACCUMULATED.0 {
                return None;
            }
            certain |= state.accu_prob >= ACCUMULATED.1;
        }
        if certain { Some(Cause::Forced) } else { (prob > 0.0 && self.chance.unit() < prob).then_some(Cause::Early) }
    }
}

/// Factor for the gains at this drop probability, from auto-tuning (Section 4.2).
fn tuning(drop_prob: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| drop_prob < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl Admission for Pie {
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        if idle_since.is_none() && !self.limit.has_room(backlog, packet) {
            self.state.accu_prob = 0.0;
            return Verdict::Drop(Cause::Overflow);
        }
        let cause = if self.state.burst_allowance == Span::ZERO { self.drop_early(packet, backlog) } else { None };
        if let Some(cause) = cause {
            self.state.accu_prob = 0.0;
            return signal(packet, cause, self.params.ecn && self.state.drop_prob < self.params.mark_ecnth);
        }
        let low = self.qdelay(backlog).max(self.state.qdelay_old) < self.half_target();
        if low && self.state.drop_prob == 0.0 {
            self.state.burst_allowance = self.params.max_burst;
        }
        Verdict::Accept
    }

    fn next_wakeup(&self) -> Time {
        self.state.next_update
    }

    fn on_wakeup(&mut self, now: Time, backlog: Backlog, _idle_since: Option<Time>) {
        let (qdelay, half_target) = (self.qdelay(backlog), self.half_target());
        let (p, state) = (&self.params, &mut self.state);
        let mut change = p.alpha * (qdelay - p.target.as_secs()) + p.beta * (qdelay - state.qdelay_old);
        change *= tuning(state.drop_prob);
        if state.drop_prob >= 0.1 {
            change = change.min(0.02);
        }
        if p.high_delay > Span::ZERO && qdelay > p.high_delay.as_secs() {
            change += 0.02;
        }
        state.drop_prob += change;
        let most = qdelay.max(state.qdelay_old);
        if if p.decay_when_empty { most == 0.0 } else { most < half_target } {
            state.drop_prob *= 0.98;
        }
        state.drop_prob = state.drop_prob.clamp(0.0, 1.0);
        state.burst_allowance = Span(state.burst_allowance.0.saturating_sub(p.t_update.0));
        state.qdelay_old = qdelay;
        state.next_update = now + p.t_update;
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("prob", self.state.drop_prob);
        put("accu_prob", self.state.accu_prob);
        put("qdelay_s", self.state.qdelay_old);
        put("burst_allowance_s", self.state.burst_allowance.as_secs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Flags};

    /// PIE on a link of one byte per microsecond, so that the delay in microseconds is the backlog in bytes.
    fn rule(params: &Params) -> Pie {
        let port = Port::new(Limit::Packets(1000), Rate(8_000_000), 1000.0);
        Pie::new(params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap()
    }

    fn waiting(ms: f64) -> Backlog {
        Backlog { packets: ms as u32, bytes: Bytes((1000.0 * ms) as u64) }
    }

    /// Drop probability after an update with a delay of `ms`; before, it was `drop_prob` with a delay of `old` ms.
    fn updated(params: &Params, drop_prob: f64, old: f64, ms: f64) -> f64 {
        let mut pie = rule(params);
        pie.state.drop_prob = drop_prob;
        pie.state.qdelay_old = old * 1e-3;
        pie.on_wakeup(pie.next_wakeup(), waiting(ms), None);
        assert_eq!(pie.next_wakeup(), Time::ZERO + Span::millis(30));
        pie.state.drop_prob
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12 * expected.abs().max(1e-6), "{found} instead of {expected}");
    }

    #[test]
    fn tunes_its_gains_in_every_range_of_the_probability() {
        // 0.125 (25 ms - 15 ms) + 1.25 (25 ms - 20 ms) = 0.00125 + 0.00625 = 0.0075.
        for (drop_prob, divisor) in [
            (0.0, 2048.0),
            (9e-7, 2048.0),
            (1e-6, 512.0),
            (9e-6, 512.0),
            (1e-5, 128.0),
            (9e-5, 128.0),
            (1e-4, 32.0),
            (9e-4, 32.0),
            (1e-3, 8.0),
            (9e-3, 8.0),
            (1e-2, 2.0),
            (9e-2, 2.0),
            (1e-1, 1.0),
            (0.5, 1.0),
        ] {
            near(updated(&Params::default(), drop_prob, 20.0, 25.0), drop_prob + 0.0075 / divisor);
        }
    }

    #[test]
    fn caps_its_steps_and_hurries_above_the_high_delay() {
        let params = Params::default();
        // 0.125 * 45 ms + 1.25 * 45 ms = 0.061875: capped to 0.02 from 0.1 on; half of it below 0.1.
        near(updated(&params, 0.1, 15.0, 60.0), 0.12);
        near(updated(&params, 0.09, 15.0, 60.0), 0.09 + 0.030_937_5);
        // 0.125 * 285 ms = 0.035625 is capped; above 250 ms another 0.02 is added.
        near(updated(&params, 0.5, 300.0, 300.0), 0.54);
        near(updated(&Params { high_delay: Span::ZERO, ..params.clone() }, 0.5, 300.0, 300.0), 0.52);
        near(updated(&params, 0.5, 250.0, 250.0), 0.52);
        near(updated(&params, 0.99, 300.0, 300.0), 1.0);
        // 0.125 * -5 ms - 1.25 * 190 ms = -0.238125: decreases have no cap.
        near(updated(&params, 0.5, 200.0, 10.0), 0.5 - 0.238_125);
        near(updated(&params, 0.2, 200.0, 10.0), 0.0);
    }

    #[test]
    fn decays_when_the_congestion_is_gone() {
        let params = Params::default();
        // 0.125 * -8 ms = -0.001, then the factor 0.98; no factor if one of the two delays is half the target.
        near(updated(&params, 0.5, 7.0, 7.0), 0.98 * 0.499);
        near(updated(&params, 0.5, 7.5, 7.5), 0.5 - 0.125 * 0.0075);
        // 0.125 * -8 ms - 1.25 * 0.5 ms = -0.001625.
        near(updated(&params, 0.5, 7.5, 7.0), 0.498_375);
        let empty = Params { decay_when_empty: true, ..params };
        near(updated(&empty, 0.5, 7.0, 7.0), 0.499);
        // 0.125 * -15 ms = -0.001875.
        near(updated(&empty, 0.5, 0.0, 0.0), 0.98 * 0.498_125);
    }

    #[test]
    fn follows_the_pseudo_code_from_empty_over_a_growing_queue_and_back() {
        let mut pie = rule(&Params::default());
        let mut update = |ms: f64| {
            pie.on_wakeup(pie.next_wakeup(), waiting(ms), None);
            pie.state.drop_prob
        };
        // (0.125 * 85 ms + 1.25 * 100 ms) / 2048 = 0.135625 / 2048 = 6.622314453125e-5.
        near(update(100.0), 6.622_314_453_125e-5);
        // + 0.125 * 85 ms / 128 = 8.30078125e-5, at 6.6e-5 < 1e-4.
        near(update(100.0), 1.492_309_570_312_5e-4);
        // + (0.125 * 185 ms + 1.25 * 100 ms) / 32 = 0.148125 / 32 = 4.62890625e-3, at 1.5e-4 < 1e-3.
        near(update(200.0), 4.778_137_207_031_25e-3);
        // + (0.125 * 225 ms + 1.25 * 40 ms) / 8 = 0.078125 / 8 = 9.765625e-3, at 4.8e-3 < 1e-2.
        near(update(240.0), 1.454_376_220_703_125e-2);
        // + 0.125 * 225 ms / 2 = 1.40625e-2, at 1.5e-2 < 1e-1.
        near(update(240.0), 2.860_626_220_703_125e-2);
        // + (0.125 * 85 ms - 1.25 * 140 ms) / 2 = -0.164375 / 2: below 0, so 0.
        near(update(100.0), 0.0);
    }

    #[test]
    fn lets_a_burst_pass_before_it_drops() {
        let mut pie = rule(&Params::default());
        let packet = Packet::new(0, 0, 1000, Time::ZERO);
        // 150 ms are ten updates of 15 ms.
        for update in 1..=10 {
            pie.state.drop_prob = 1.0;
            assert_eq!(pie.admit(&packet, waiting(100.0), None), Verdict::Accept, "before update {update}");
            pie.on_wakeup(pie.next_wakeup(), waiting(100.0), None);
            assert_eq!(pie.state.burst_allowance, Span::millis(150 - 15 * update));
        }
        pie.state.drop_prob = 1.0;
        assert_eq!(pie.admit(&packet, waiting(100.0), None), Verdict::Drop(Cause::Forced));
        // The allowance returns once the drop probability is 0 and both delays, now and at the last update, are low.
        for (drop_prob, old, ms, returns) in
            [(1e-9, 0.0, 0.0, false), (0.0, 7.5, 0.0, false), (0.0, 0.0, 7.5, false), (0.0, 7.4, 7.4, true)]
        {
            (pie.state.drop_prob, pie.state.qdelay_old) = (drop_prob, old * 1e-3);
            pie.admit(&packet, waiting(ms), None);
            let expected = if returns { Span::millis(150) } else { Span::ZERO };
            assert_eq!(pie.state.burst_allowance, expected, "{drop_prob} {old} {ms}");
        }
        // An allowance that is not a multiple of the update interval ends at zero.
        let mut short = rule(&Params { max_burst: Span::millis(20), ..Params::default() });
        for left in [5, 0, 0] {
            short.on_wakeup(short.next_wakeup(), waiting(100.0), None);
            assert_eq!(short.state.burst_allowance, Span::millis(left));
        }
    }

    /// PIE after its burst allowance, with this drop probability and this delay at the last update.
    fn dropping(params: &Params, drop_prob: f64, old: f64) -> Pie {
        let mut pie = rule(params);
        (pie.state.drop_prob, pie.state.qdelay_old, pie.state.burst_allowance) = (drop_prob, old * 1e-3, Span::ZERO);
        pie
    }

    #[test]
    fn drops_nothing_while_it_would_waste_the_link() {
        let params = Params { derandomize: false, ..Params::default() };
        let packet = Packet::new(0, 0, 1000, Time::ZERO);
        let drops = |drop_prob, old, ms| {
            let mut pie = dropping(&params, drop_prob, old);
            (0..1000).filter(|_| pie.admit(&packet, waiting(ms), None) != Verdict::Accept).count()
        };
        // No drops: the last delay is below half the target and the probability below 0.2.
        assert_eq!(drops(0.199, 7.4, 50.0), 0);
        assert!(drops(0.2, 7.4, 50.0) > 0 && drops(0.199, 7.5, 50.0) > 0);
        // No drops: at most two mean packets wait.
        assert_eq!(drops(1.0, 50.0, 2.0), 0);
        assert_eq!(drops(1.0, 50.0, 2.001), 1000);
    }

    #[test]
    fn drops_packets_with_its_probability() {
        let n = 100_000;
        let fraction = |params: &Params, size| {
            let mut pie = dropping(params, 0.05, 15.0);
            let packet = Packet::new(0, 0, size, Time::ZERO);
            let drops = |_: &u32| pie.admit(&packet, waiting(15.0), None) == Verdict::Drop(Cause::Early);
            (0..n).filter(drops).count() as f64 / f64::from(n)
        };
        // Binomial: four standard errors, which a correct rule exceeds with probability 6e-5 in each case.
        let four_sigma = |p: f64| 4.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
        let random = Params { derandomize: false, ..Params::default() };
        assert!((fraction(&random, 1000) - 0.05).abs() < four_sigma(0.05));
        // A quarter of the mean size has a quarter of the probability; twice the size has no higher probability.
        let bytes = Params { bytemode: true, ..random };
        assert!((fraction(&bytes, 250) - 0.0125).abs() < four_sigma(0.0125));
        assert!((fraction(&bytes, 2000) - 0.05).abs() < four_sigma(0.05));
        // De-randomised: 16 packets (0.8 < 0.85) always pass, then the wait is geometric with mean 1 / 0.05 = 20, so one
        // packet in 36 is dropped. The standard deviation of a gap is 20, which gives the standard error 20 / 36^1.5 /
        // sqrt(n).
        let spaced = fraction(&Params::default(), 1000);
        assert!((spaced - 1.0 / 36.0).abs() < 4.0 * 20.0 / 216.0 / f64::from(n).sqrt(), "{spaced}");
    }

    #[test]
    fn spaces_drops_between_the_two_sums() {
        let packet = Packet::new(0, 0, 1000, Time::ZERO);
        // 2^-3 per packet: the sum reaches 0.875 at the seventh packet and 8.5 at the 68th.
        let mut pie = dropping(&Params::default(), 0.125, 15.0);
        for nth in 1..=6 {
            assert_eq!(pie.admit(&packet, waiting(15.0), None), Verdict::Accept, "{nth}");
        }
        assert_eq!(pie.state.accu_prob, 0.75);
        pie.state.accu_prob = 8.375;
        assert_eq!(pie.admit(&packet, waiting(15.0), None), Verdict::Drop(Cause::Forced));
        assert_eq!(pie.state.accu_prob, 0.0);
        // A packet that finds no room restarts the sum, too.
        pie.state.accu_prob = 0.5;
        let full = Backlog { packets: 1000, bytes: Bytes(1_000_000) };
        assert_eq!(pie.admit(&packet, full, None), Verdict::Drop(Cause::Overflow));
        assert_eq!(pie.state.accu_prob, 0.0);
    }

    #[test]
    fn marks_below_the_threshold_and_drops_from_there_on() {
        let packet = Packet::new(0, 0, 1000, Time::ZERO).with(Flags::ECT);
        let verdict = |drop_prob, ecn| {
            let mut pie = dropping(&Params { ecn, ..Params::default() }, drop_prob, 15.0);
            pie.state.accu_prob = 8.5;
            pie.admit(&packet, waiting(15.0), None)
        };
        assert_eq!(verdict(0.0999, true), Verdict::Mark(Cause::Forced));
        assert_eq!(verdict(0.1, true), Verdict::Drop(Cause::Forced));
        assert_eq!(verdict(0.0999, false), Verdict::Drop(Cause::Forced));
    }

    #[test]
    fn gives_the_arguments_of_tc_for_values_that_tc_has() {
        let port = Port::new(Limit::Packets(1000), Rate(8_000_000), 1000.0);
        let tc = |params: &Params| Pie::tc(params, &port);
        let d = Params::default;
        assert_eq!(tc(&d()).unwrap(), "pie limit 1000 target 15000us tupdate 15000us alpha 2 beta 20 ecn nobytemode");
        assert_eq!(tc(&Params { alpha: 0.13, ..d() }), None);
        assert_eq!(tc(&Params { beta: 2.5, ..d() }), None);
        assert_eq!(tc(&Params { target: Span::nanos(1500), ..d() }), None);
        assert_eq!(tc(&Params { derandomize: false, ..d() }), None);
        assert_eq!(Pie::tc(&d(), &Port { limit: Limit::Unlimited, ..port }), None);
    }

    #[test]
    fn names_the_parameter_it_refuses() {
        let port = Port::new(Limit::Packets(1000), Rate(8_000_000), 1000.0);
        let d = Params::default;
        for (params, field) in [
            (Params { target: Span::ZERO, ..d() }, "target"),
            (Params { t_update: Span::ZERO, ..d() }, "t_update"),
            (Params { alpha: -0.1, ..d() }, "alpha"),
            (Params { mark_ecnth: 1.1, ..d() }, "mark_ecnth"),
        ] {
            let error = Pie::new(&params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap_err();
            assert_eq!(error.field, field);
        }
    }
}

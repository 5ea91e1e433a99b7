//! Evaluation of a window law without a simulation: its growth and its cuts at a window, the time from one loss to the
//! next, and flows on one link in a fluid model. It serves the analytic models; the simulator does not use it.
//!
//! Source: the law itself, with its parameters; the fluid model is that of Andrew et al. 2005.
//! Differs from a sender: no packets, no timeouts, no slow start, no lower limit of two segments. There are a few ACKs per
//! round trip, each for a share of the window. A loss is detected one round trip later and repaired in another one, in
//! which the window does not change.

use crate::{AckSample, AnyLaw, CongestionEvent, Control, LawSpec, Signal, StartSpec, WindowLaw};
use base::{RunMonitor, Span, Time, Value};

/// ACKs of a flow per round trip in short sawteeth.
const ACKS: f64 = 16.0;
/// Rounds of a sawtooth beyond which ACKs come at longer intervals, so that long sawteeth do not take many more steps.
const ENOUGH: f64 = 1_000.0;
/// Panels of an integral over a sawtooth.
const PANELS: u32 = 200;
/// Number of steps without a loss after which a fluid counts as steady.
const MOST_STEPS: u32 = 400_000;
/// Steps of flows between two checks of the monitor.
const FLOWS_BETWEEN_LOOKS: usize = 4096;
/// Numbers of sawteeth of a single flow before the measurement, and in it. Both are even because some laws aim lower at
/// every second loss.
const SETTLING: u32 = 4;
const MEASURED: u32 = 2;
/// Ratio of the first loss's window to that of an overflow. With fast convergence, laws aim lower when the window at a loss
/// is smaller than at the loss before; with this ratio they do so at every second loss, as they do with noise.
const ABOVE: f64 = 1.01;

/// Averages of one flow from a loss to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// Segments sent.
    pub packets: f64,
    /// Round trips.
    pub rounds: f64,
    /// Share of the window given up.
    pub cut: f64,
}

/// A window law to be evaluated.
#[derive(Clone, Debug)]
pub struct LawEvaluator {
    law: AnyLaw,
    remembers: bool,
}

impl LawEvaluator {
    /// `None` for a control that sets its own window. Laws in the kernel's integers are evaluated in floating point, CUBIC
    /// as in RFC 9438, and laws that count ACKs with one ACK per segment.
    #[must_use]
    pub fn new(spec: &LawSpec) -> Option<Self> {
        let mut spec = spec.clone();
        let _ = spec.set("arithmetic", &Value::Text("exact".into()));
        for source in ["rfc9438", "exact"] {
            let _ = spec.set("variant", &Value::Text(source.into()));
        }
        // In a fluid each segment has its own ACK.
        let _ = spec.set("per_ack", &Value::Bool(false));
        let start = StartSpec::named("classic")?;
        let Ok(Control::Window(control)) = spec.build(&start, 2.0, f64::INFINITY) else { return None };
        Some(Self { law: control.law().clone(), remembers: spec.response().0 })
    }

    /// Whether its growth depends on more than the window and the present round-trip times.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.remembers
    }

    /// Segments gained per round trip at window `w`, with the round-trip time `rtt` and the smallest one so far, `base`
    /// \[s\]; NaN for a law that depends on its history.
    #[must_use]
    pub fn growth(&self, w: f64, rtt: f64, base: f64) -> f64 {
        if self.remembers {
            return f64::NAN;
        }
        self.sampled(w, rtt, base).per_rtt(w).unwrap_or(f64::NAN)
    }

    /// Share of the window `w` given up at a loss; for a law that depends on its history, in repeated sawteeth up to `w`.
    #[must_use]
    pub fn cut(&self, w: f64, rtt: f64, base: f64) -> f64 {
        if self.remembers {
            return self.period(w, rtt, base).cut;
        }
        1.0 - self.sampled(w, rtt, base).backoff(w, &loss_event(Moment::still(w, rtt, base))) / w
    }

    /// Averages from a loss to the next, with all losses at window `w`, on a path with the constant round-trip time `rtt`.
    #[must_use]
    pub fn period(&self, w: f64, rtt: f64, base: f64) -> Period {
        if self.remembers {
            return self.repeated(w, rtt, base);
        }
        let (law, cut) = (self.sampled(w, rtt, base), self.cut(w, rtt, base));
        let cell = w * cut / f64::from(PANELS);
        let (mut packets, mut rounds) = (0.0, 0.0);
        for i in 0..PANELS {
            let x = w * (1.0 - cut) + cell * (f64::from(i) + 0.5);
            let taken = cell / law.per_rtt(x).unwrap_or(f64::NAN);
            rounds += taken;
            packets += x * taken;
        }
        Period { packets, rounds, cut }
    }

    /// Simulates a single flow that has a loss whenever its window reaches `w`.
    fn repeated(&self, w: f64, rtt: f64, base: f64) -> Period {
        let mut flow = Flow::new(self.law.clone(), w);
        let (mut now, mut packets, mut rounds, mut cuts) = (0.0, 0.0, 0.0, 0.0);
        let (mut teeth, mut of_this) = (0, 0.0);
        let kept = flow.law.backoff(ABOVE * w, &loss_event(Moment::still(w, rtt, base)));
        flow.cwnd = kept.clamp(f64::MIN_POSITIVE, w);
        for _ in 0..MOST_STEPS {
            let step = paced(of_this);
            let measured = teeth >= SETTLING;
            if flow.lost_at.is_none() && flow.cwnd >= w {
                flow.lost_at = Some(now);
            }
            if measured {
                packets += flow.cwnd * step;
                rounds += step;
            }
            of_this += step;
            now += step * rtt;
            if let Some(cut) = flow.advance(step, Moment { now, rtt, base, window: flow.cwnd }) {
                teeth += 1;
                of_this = 0.0;
                cuts += if measured { cut } else { 0.0 };
                if teeth == SETTLING + MEASURED {
                    break;
                }
            }
        }
        let measured = f64::from(teeth.saturating_sub(SETTLING));
        Period { packets: packets / measured, rounds: rounds / measured, cut: cuts / measured }
    }

    /// The law after a sample with these round-trip times.
    fn sampled(&self, w: f64, rtt: f64, base: f64) -> AnyLaw {
        let mut law = self.law.clone();
        law.on_sample(&ack_sample(Moment::still(w, rtt, base), 1.0, 1, true));
        law
    }
}

/// Share of a round trip per step, `rounds` round trips after a loss.
fn paced(rounds: f64) -> f64 {
    (rounds / ENOUGH).clamp(1.0 / ACKS, 1.0)
}

/// Conditions of a flow at an instant. Times in seconds.
#[derive(Clone, Copy)]
struct Moment {
    now: f64,
    rtt: f64,
    base: f64,
    window: f64,
}

impl Moment {
    fn still(window: f64, rtt: f64, base: f64) -> Self {
        Self { now: 0.0, rtt, base, window }
    }
}

fn ack_sample(at: Moment, acked: f64, delivered: u64, round_start: bool) -> AckSample {
    let rtt = Span::from_secs(at.rtt);
    AckSample {
        acked,
        min_rtt: Span::from_secs(at.base),
        in_flight: at.window,
        delivered,
        round_start,
        ..AckSample::plain(Time::ZERO + Span::from_secs(at.now), rtt)
    }
}

fn loss_event(at: Moment) -> CongestionEvent {
    let rtt = Span::from_secs(at.rtt);
    CongestionEvent {
        now: Time::ZERO + Span::from_secs(at.now),
        signal: Signal::Loss,
        in_flight: at.window,
        delivered: 0,
        rtt,
        srtt: rtt,
        min_rtt: Span::from_secs(at.base),
        floor: crate::MIN_SSTHRESH,
    }
}

/// One flow of a fluid.
#[derive(Clone)]
struct Flow {
    law: AnyLaw,
    measures: bool,
    needs_rounds: bool,
    cwnd: f64,
    delivered: f64,
    /// Round trips since the start of the present one.
    round: f64,
    /// Time of a loss that is not detected yet \[s\].
    lost_at: Option<f64>,
    /// The window at the time of that loss.
    lost_window: f64,
    /// End of the repair \[s\].
    repaired: f64,
}

impl Flow {
    fn new(law: AnyLaw, cwnd: f64) -> Self {
        let (measures, needs_rounds) = (law.per_rtt(cwnd).is_none(), law.needs().rounds);
        Self {
            law,
            measures,
            needs_rounds,
            cwnd,
            delivered: 0.0,
            round: 1.0,
            lost_at: None,
            lost_window: cwnd,
            repaired: 0.0,
        }
    }

    /// Advances by a share of a round trip, after which conditions are `at`. Returns the share given up, if the flow
    /// detects a loss.
    fn advance(&mut self, share: f64, at: Moment) -> Option<f64> {
        self.delivered += share * self.cwnd;
        if self.lost_at.is_some_and(|lost| at.now - lost >= at.rtt) {
            let event = CongestionEvent { delivered: self.delivered as u64, ..loss_event(at) };
            let kept = self.law.backoff(self.cwnd, &event).max(f64::MIN_POSITIVE);
            let cut = 1.0 - kept / self.cwnd;
            (self.cwnd, self.lost_at, self.repaired, self.round) = (kept, None, at.now + at.rtt, 1.0);
            return Some(cut);
        }
        if at.now < self.repaired {
            return None;
        }
        let round_start = self.round >= 1.0 - 1e-9;
        self.round = if round_start { share } else { self.round + share };
        let ack = |acked| ack_sample(at, acked, self.delivered as u64, round_start);
        if self.measures {
            // The window never reaches zero; a sender has a lower limit, too.
            self.cwnd = self.law.on_avoidance_ack(self.cwnd, &ack(share * self.cwnd)).max(f64::MIN_POSITIVE);
            return None;
        }
        if self.needs_rounds && round_start {
            self.law.on_sample(&ack(share * self.cwnd));
        }
        let mut left = share;
        while left > 0.0 {
            // As in a sender, the growth is constant within an integer interval of the window, unless a step passes through
            // it.
            let floor = self.cwnd.floor();
            let gain = self.law.per_rtt(floor + 0.5).unwrap_or(0.0);
            let end = (floor + 1.0 - self.cwnd) / gain;
            let step = if gain * left > 1.0 || end > left { left } else { end.max(1e-9) };
            self.cwnd += gain * step;
            left -= step;
        }
        None
    }
}

/// A drop-tail link and the flows that share it.
#[derive(Clone, Debug)]
pub struct Link {
    /// Rate in segments per second.
    pub rate: f64,
    /// Buffer in segments.
    pub buffer: f64,
    /// Round-trip time of each flow without a queue \[s\].
    pub rtts: Vec<f64>,
    /// Number of flows that lose at an overflow: those with the largest windows.
    pub cut: usize,
}

/// Average state of a link and its flows.
#[derive(Clone, Debug)]
pub struct FluidSawteeth {
    /// Share of the rate that is used.
    pub utilisation: f64,
    /// Time between two overflows \[s\].
    pub period: f64,
    /// Mean queue in segments.
    pub queue: f64,
    /// Cuts per segment.
    pub events: f64,
    /// Segments lost per segment sent: the growth of a flow until it detects a loss, at least one segment.
    pub dropped: f64,
    /// Rate of each flow, in segments per second.
    pub rates: Vec<f64>,
    /// Window of a flow at a loss, averaged over the cuts.
    pub high: f64,
    /// Window of a flow after the cut, averaged over the cuts.
    pub low: f64,
}

impl LawEvaluator {
    /// Follows the flows through `before` overflows, and then measures over `overflows` more.
    #[must_use]
    pub fn sawteeth(&self, link: &Link, before: u32, overflows: u32) -> FluidSawteeth {
        self.sawteeth_monitored(link, before, overflows, &RunMonitor::default())
    }

    /// [`Self::sawteeth`] with a monitor that can stop it; the result is then incomplete.
    #[must_use]
    pub fn sawteeth_monitored(&self, link: &Link, before: u32, overflows: u32, monitor: &RunMonitor) -> FluidSawteeth {
        let count = link.rtts.len();
        let full = link.buffer / link.rate;
        let mut flows = self.started(link);
        let mut sums = Sums::new(count);
        let (mut now, mut delay, mut seen, mut steps, mut rounds) = (0.0, 0.0, 0, 0, 0.0);
        let mut looked = 0;
        while seen < before + overflows {
            looked += count;
            if looked >= FLOWS_BETWEEN_LOOKS && monitor.is_stopped() {
                break;
            }
            looked %= FLOWS_BETWEEN_LOOKS;
            if steps == MOST_STEPS {
                if seen >= before {
                    break;
                }
                // The fluid is steady without losses, so it is measured in that state.
                (seen, steps) = (before, 0);
                sums = Sums::new(count);
            }
            steps += 1;
            if flows.iter().all(|flow| flow.lost_at.is_none()) && excess(&flows, link, full) >= -1e-9 * link.rate {
                lose(&mut flows, link.cut, now);
                seen += 1;
                (rounds, steps) = (0.0, 0);
                if seen == before {
                    sums = Sums::new(count);
                } else if seen == before + overflows {
                    break;
                }
            }
            delay = waiting(&flows, link, delay, full);
            let over = link.rtts.iter().fold(f64::INFINITY, |least, rtt| least.min(rtt + delay));
            let share = paced(rounds);
            let dt = share * over;
            rounds += share;
            now += dt;
            let carried = link.rate / (link.rate + excess(&flows, link, delay).max(0.0));
            sums.time += dt;
            sums.backlog += delay * link.rate * dt;
            for (i, flow) in flows.iter_mut().enumerate() {
                let rtt = link.rtts[i] + delay;
                sums.sent[i] += flow.cwnd / rtt * dt * carried;
                let window = flow.cwnd;
                if let Some(cut) = flow.advance(dt / rtt, Moment { now, rtt, base: link.rtts[i], window }) {
                    sums.cuts += 1.0;
                    sums.lost += (window - flow.lost_window).max(1.0);
                    sums.high += window;
                    sums.low += window * (1.0 - cut);
                }
            }
        }
        sums.mean(link, f64::from(seen.saturating_sub(before)))
    }

    /// Flows of a link, with different phases of their sawteeth. The phases do not affect the result, because the
    /// overflows before the measurement remove their effect.
    fn started(&self, link: &Link) -> Vec<Flow> {
        let count = link.rtts.len();
        let full = link.buffer / link.rate;
        let shared = link.rate / count as f64;
        (0..count)
            .map(|i| {
                let top = shared * (link.rtts[i] + full);
                let mut flow = Flow::new(self.law.clone(), top);
                let at = Moment { now: 0.0, rtt: link.rtts[i] + full, base: link.rtts[i], window: top };
                let kept = flow.law.backoff(ABOVE * top, &loss_event(at));
                // Evenly spread phases; if all flows lose at once, all begin after the cut.
                let turn = (i % count.div_ceil(link.cut)) as f64 * link.cut as f64 / count as f64;
                let turn = if link.cut < count { turn } else { 1.0 };
                flow.cwnd = (top - (top - kept) * turn).max(f64::MIN_POSITIVE);
                flow
            })
            .collect()
    }
}

/// Sums over a fluid since the start of the measurement.
struct Sums {
    time: f64,
    backlog: f64,
    lost: f64,
    cuts: f64,
    high: f64,
    low: f64,
    sent: Vec<f64>,
}

impl Sums {
    fn new(flows: usize) -> Self {
        Self { time: 0.0, backlog: 0.0, lost: 0.0, cuts: 0.0, high: 0.0, low: 0.0, sent: vec![0.0; flows] }
    }

    fn mean(self, link: &Link, overflows: f64) -> FluidSawteeth {
        let sent: f64 = self.sent.iter().sum();
        FluidSawteeth {
            utilisation: sent / (link.rate * self.time),
            period: self.time / overflows,
            queue: self.backlog / self.time,
            events: overflows * link.cut as f64 / sent,
            dropped: (self.lost / sent).min(1.0),
            rates: self.sent.iter().map(|sent| sent / self.time).collect(),
            high: self.high / self.cuts,
            low: self.low / self.cuts,
        }
    }
}

/// Lets the `cut` flows with the largest windows have a loss.
fn lose(flows: &mut [Flow], cut: usize, now: f64) {
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by(|&a, &b| flows[b].cwnd.total_cmp(&flows[a].cwnd));
    for &i in &order[..cut] {
        flows[i].lost_at = Some(now);
        flows[i].lost_window = flows[i].cwnd;
    }
}

/// Total rate of the windows minus the rate of the link, with this delay \[segments/s\].
fn excess(flows: &[Flow], link: &Link, delay: f64) -> f64 {
    flows.iter().zip(&link.rtts).map(|(flow, rtt)| flow.cwnd / (rtt + delay)).sum::<f64>() - link.rate
}

/// The delay, between 0 and that of a full buffer, at which the windows just fill the link; `guess` is the start of the
/// search.
fn waiting(flows: &[Flow], link: &Link, guess: f64, full: f64) -> f64 {
    let mut delay = guess;
    // Newton's method: the excess rate is convex in the delay, so from the second step on it converges from below.
    for _ in 0..50 {
        let over = excess(flows, link, delay);
        let slope: f64 = flows.iter().zip(&link.rtts).map(|(f, rtt)| f.cwnd / ((rtt + delay) * (rtt + delay))).sum();
        let next = (delay + over / slope).clamp(0.0, full);
        if (next - delay).abs() <= 1e-12 * (1.0 + full) {
            return next;
        }
        delay = next;
    }
    delay
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LAWS;

    fn evaluator(law: &str, set: &[(&str, Value)]) -> LawEvaluator {
        let mut spec = LawSpec::named(law).unwrap();
        for (name, value) in set {
            spec.set(name, value).unwrap().unwrap();
        }
        LawEvaluator::new(&spec).unwrap()
    }

    fn near(found: f64, wanted: f64, part: f64) -> bool {
        (found / wanted - 1.0).abs() < part
    }

    #[test]
    fn a_period_of_aimd_is_that_of_its_triangle() {
        let law = evaluator("reno", &[("increase", Value::Number(2.0)), ("decrease", Value::Number(0.2))]);
        let found = law.period(1000.0, 0.1, 0.1);
        // From 800 to 1000 segments by two per round trip, 900 on average; exact, because the midpoint rule is exact
        // for a straight line.
        assert!(near(found.rounds, 100.0, 1e-9) && near(found.packets, 90_000.0, 1e-9) && near(found.cut, 0.2, 1e-9));
        assert_eq!(law.growth(1000.0, 0.1, 0.1), 2.0);
    }

    #[test]
    fn cubic_returns_to_its_peak_after_k() {
        let law = evaluator("cubic", &[("fast_convergence", Value::Bool(false))]);
        let found = law.period(10_000.0, 0.1, 0.1);
        // K = cbrt(0.3 W / C) = 19.6 s; on the plateau one segment takes 1.4 s.
        assert!((found.rounds * 0.1 - libm::cbrt(0.3 * 10_000.0 / 0.4)).abs() < 1.4, "{found:?}");
        assert!(near(found.cut, 0.3, 1e-9));
        assert!(law.growth(10_000.0, 0.1, 0.1).is_nan());
    }

    #[test]
    fn htcp_keeps_the_ratio_of_its_round_trip_times() {
        let law = evaluator("htcp", &[]);
        assert!(near(law.cut(1000.0, 0.16, 0.1), 0.375, 1e-6));
        assert!(near(law.cut(1000.0, 0.1, 0.1), 0.2, 1e-6));
    }

    #[test]
    fn one_flow_on_a_link_has_the_sawtooth_of_its_closed_form() {
        let link = Link { rate: 4000.0, buffer: 100.0, rtts: vec![0.1], cut: 1 };
        let found = evaluator("reno", &[]).sawteeth(&link, 6, 4);
        // 0.75 (1 + B)² / (1 + B + B²) with B = 1/4. Detection and repair of a loss take two of about 250 round trips.
        assert!(near(found.utilisation, 0.75 * 1.5625 / 1.3125, 0.01), "{found:?}");
        assert!(near(found.high, 501.0, 0.01) && near(found.low, 250.5, 0.01), "{found:?}");
        // From 250 to 400 segments by one per 0.1 s, then to 500 at the rate of the link: (500² - 400²) / (2 · 4000) s.
        let (period, sent) = (15.0 + 11.25, 150.0 * 325.0 + 11.25 * 4000.0);
        assert!(near(found.period, period, 0.02), "{found:?}");
        // The integral of (w - 400) w / 4000 from 400 to 500, over the period.
        assert!(near(found.queue, 583.33 / period, 0.03), "{found:?}");
        assert!(near(found.events, 1.0 / sent, 0.02) && near(found.rates[0], 4000.0 * found.utilisation, 1e-9));
        // At least one segment is lost, and at most two, because a round trip passes before the loss is detected.
        assert!((0.98..=2.05).contains(&(found.dropped * sent)), "{found:?}");
    }

    #[test]
    fn flows_that_lose_together_share_by_the_square_of_their_round_trip_times() {
        let link = Link { rate: 4000.0, buffer: 0.0, rtts: vec![0.1, 0.2], cut: 2 };
        let found = evaluator("reno", &[]).sawteeth(&link, 6, 4);
        // Without a queue each window grows by T / rtt between two halvings, so it peaks at 2 T / rtt. The peaks fill the
        // link: T = rate / (2 (1 / 0.1² + 1 / 0.2²)) = 16 s. A loss is detected one round trip late, and T has 80 round
        // trips.
        assert!(near(found.period, 16.0, 0.03) && near(found.utilisation, 0.75, 0.02), "{found:?}");
        assert!(near(found.rates[0], 2400.0, 0.02) && near(found.rates[1], 600.0, 0.05), "{found:?}");
        assert!(near(found.events, 2.0 / (3000.0 * 16.0), 0.03) && found.queue == 0.0, "{found:?}");
    }

    #[test]
    fn integer_variants_of_the_kernel_are_evaluated_with_real_numbers() {
        let kernel = evaluator("highspeed", &[("arithmetic", Value::Text("kernel".into()))]);
        assert_eq!(kernel.growth(1000.0, 0.1, 0.1), evaluator("highspeed", &[]).growth(1000.0, 0.1, 0.1));
    }

    #[test]
    fn laws_without_memory_have_the_same_growth_before_and_after_a_loss() {
        let specs = LAWS.iter().filter_map(|entry| LawSpec::named(entry.card.name));
        let forgetting: Vec<LawEvaluator> =
            specs.filter_map(|spec| LawEvaluator::new(&spec)).filter(|law| !law.remembers()).collect();
        assert!(forgetting.len() >= 7);
        for mut law in forgetting {
            let before = law.growth(1000.0, 0.15, 0.1);
            assert!(before > 0.0, "{law:?}");
            law.law.backoff(3000.0, &loss_event(Moment { now: 5.0, rtt: 0.2, base: 0.1, window: 3000.0 }));
            assert_eq!(law.growth(1000.0, 0.15, 0.1), before, "{law:?}");
        }
    }

    #[test]
    fn a_control_that_sets_its_own_window_has_no_evaluator() {
        assert!(LawEvaluator::new(&LawSpec::named("bbr").unwrap()).is_none());
    }
}

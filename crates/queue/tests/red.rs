//! The RED family against its sources' pseudo-code, its spacing laws, and idealised loads.

extern crate elephan_queue as queue;

use base::{Amount, Auto, Bytes, Cause, Flags, Rate, Span, Stream, Time, Value};
use queue::{
    Admission, AnyQueue, Backlog, Fates, Fifo, Limit, Link, Packet, Port, QueueDiscipline, QueueSpec, Rule, Verdict,
    ared, gared, pd_red, red,
};
use red::{Count, Unit};
use std::collections::BTreeMap;

fn stream(seed: u64) -> Stream {
    Stream::new(seed, 0, ("link", 0), "queue")
}

/// 10,000 packets of 1000 bytes a second.
fn port() -> Port {
    Port::new(Limit::Packets(1000), Rate(80_000_000), 1000.0)
}

fn make<R: Rule>(mut params: R::Params, port: &Port) -> R {
    R::resolve(&mut params, port).unwrap();
    R::new(&params, port, stream(5)).unwrap()
}

fn waiting(packets: u32) -> Backlog {
    Backlog { packets, bytes: Bytes(u64::from(packets) * 1000) }
}

fn gauges(of: &impl Admission) -> BTreeMap<&'static str, f64> {
    let mut all = BTreeMap::new();
    of.gauges(&mut |name, value| _ = all.insert(name, value));
    all
}

/// Offers a mean packet to a busy server.
fn offer(rule: &mut impl Admission, packets: u32) -> Verdict {
    rule.admit(&Packet::new(0, 0, 1000, Time::ZERO), waiting(packets), None)
}

/// Figure 2 of Floyd and Jacobson 1993 with the gentle form and ns-2's wait, as the gARED paper has it.
struct PseudoCode {
    p: red::Params,
    chance: Stream,
    avg: f64,
    count: i64,
    rate: f64,
}

impl PseudoCode {
    fn arrival(&mut self, size: f64, q: f64, idle_s: Option<f64>, full: bool, ect: bool) -> Verdict {
        let (min, max, w) = (self.p.min_th.packets(), self.p.max_th.packets(), self.p.w_q.or(|| f64::NAN));
        if let Some(s) = idle_s {
            self.avg *= libm::pow(1.0 - w, s * self.rate);
        }
        self.avg = (1.0 - w) * self.avg + w * q;
        let overflow = |count: &mut i64| {
            *count = 0;
            Verdict::Drop(Cause::Overflow)
        };
        if self.avg < min {
            self.count = -1;
            return if full { Verdict::Drop(Cause::Overflow) } else { Verdict::Accept };
        }
        let p_b = if self.avg < max {
            self.p.max_p * (self.avg - min) / (max - min)
        } else if self.p.gentle && self.avg < 2.0 * max {
            self.p.max_p + (1.0 - self.p.max_p) * (self.avg - max) / max
        } else {
            self.count = 0;
            return Verdict::Drop(Cause::Forced);
        };
        let p_b = if self.p.unit == Unit::Bytes { (p_b * size / 1000.0).min(1.0) } else { p_b };
        self.count += 1;
        let np = self.count as f64 * p_b;
        let p_a = match self.p.count {
            Count::Wait if np < 1.0 => 0.0,
            Count::Wait if np < 2.0 => p_b / (2.0 - np),
            Count::Classic if np < 1.0 => p_b / (1.0 - np),
            _ => 1.0,
        };
        let hit = if p_a > 0.0 && p_a < 1.0 { self.chance.unit() < p_a } else { p_a >= 1.0 };
        match (hit, self.p.ecn && ect) {
            (true, false) => {
                self.count = 0;
                Verdict::Drop(Cause::Early)
            }
            _ if full => overflow(&mut self.count),
            (true, true) => {
                self.count = 0;
                Verdict::Mark(Cause::Early)
            }
            (false, _) => Verdict::Accept,
        }
    }
}

#[test]
fn decides_as_the_pseudo_code_of_its_sources_packet_by_packet() {
    let mut seen = BTreeMap::new();
    for setting in 0..16u32 {
        let on = |bit: u32| setting >> bit & 1 == 1;
        let mut p = red::Params {
            min_th: Amount::Packets(20.0),
            max_th: Amount::Packets(60.0),
            w_q: Auto::Is(0.02),
            gentle: on(0),
            count: if on(1) { Count::Wait } else { Count::Classic },
            unit: if on(2) { Unit::Packets } else { Unit::Bytes },
            ecn: on(3),
            ..red::Params::default()
        };
        let port = Port { limit: Limit::Packets(130), ..port() };
        red::Red::resolve(&mut p, &port).unwrap();
        let mut rule = red::Red::new(&p, &port, stream(5)).unwrap();
        let mut plain = PseudoCode { p, chance: stream(5), avg: 0.0, count: -1, rate: 10_000.0 };
        let (mut walk, mut packets, mut now) = (stream(6), 0u32, Time::ZERO);
        for step in 0..40_000 {
            // A backlog that wanders between empty and full, now and then idle for up to 10 ms.
            let up = walk.unit() < if step / 500 % 2 == 0 { 0.75 } else { 0.25 };
            packets = if up { (packets + 1).min(130) } else { packets.saturating_sub(1) };
            let bytes = if packets == 0 { 0 } else { u64::from(packets) * (500 + walk.below(1000)) };
            let idle = (packets == 0).then(|| Span(walk.below(10_000_000_000)));
            let size = 40 + walk.below(1460) as u32;
            let flags = if walk.unit() < 0.5 { Flags::ECT } else { Flags::NONE };
            let since = idle.map(|span| {
                let since = now;
                now += span;
                since
            });
            let verdict =
                rule.admit(&Packet::new(0, 0, size, now).with(flags), Backlog { packets, bytes: Bytes(bytes) }, since);
            let q = if plain.p.unit == Unit::Bytes { bytes as f64 / 1000.0 } else { f64::from(packets) };
            let full = packets == 130;
            let expected = plain.arrival(size.into(), q, idle.map(Span::as_secs), full, flags.has(Flags::ECT));
            assert_eq!(verdict, expected, "setting {setting}, step {step}");
            let gauges = gauges(&rule);
            // Logarithms here, powers there: rounding, which the average forgets as fast as it comes.
            assert!((gauges["avg"] - plain.avg).abs() < 1e-12 * (1.0 + plain.avg), "setting {setting}, step {step}");
            assert_eq!(gauges["count"], plain.count as f64, "setting {setting}, step {step}");
            *seen.entry(format!("{verdict:?}")).or_insert(0) += 1;
        }
    }
    // The walk went everywhere.
    for verdict in ["Accept", "Drop(Early)", "Drop(Forced)", "Drop(Overflow)", "Mark(Early)"] {
        assert!(seen[verdict] > 1000, "{seen:?}");
    }
}

/// A constant average whose drop probability is 1/32: halfway up to 1/16.
fn at_one_in_32(count: Count) -> red::Red {
    let (min_th, max_th) = (Amount::Packets(10.0), Amount::Packets(30.0));
    let p = red::Params { min_th, max_th, w_q: Auto::Is(1.0), max_p: 0.0625, count, ..red::Params::default() };
    make(p, &port())
}

/// Number of packets up to the next drop, the dropped one included.
fn gap(rule: &mut red::Red) -> usize {
    (1..=64).find(|_| offer(rule, 20) == Verdict::Drop(Cause::Early)).unwrap()
}

/// Chi-square of 32,000 gaps against the uniform law on `from..=to`; nothing may lie outside. Also their mean.
fn chi_square(mut gap: impl FnMut() -> usize, from: usize, to: usize) -> (f64, f64) {
    let (n, mut bins, mut sum) = (32_000, vec![0.0; to - from + 1], 0);
    for _ in 0..n {
        let gap = gap();
        bins[gap - from] += 1.0;
        sum += gap;
    }
    let expected = f64::from(n) / bins.len() as f64;
    (bins.iter().map(|seen| (seen - expected) * (seen - expected) / expected).sum(), sum as f64 / f64::from(n))
}

// The 99.9 % points of chi-square: 59.70 with 30 degrees of freedom, 61.10 with 31. The standard error of a mean of
// 32,000 uniform numbers on 32 values is 9.23 / 179 = 0.052; four of them are allowed.

#[test]
fn waiting_spaces_drops_evenly_between_one_and_two_times_1_over_p() {
    let mut rule = at_one_in_32(Count::Wait);
    let (chi, mean) = chi_square(|| gap(&mut rule), 32, 63);
    assert!(chi < 61.10 && (mean - 47.5).abs() < 0.21, "{chi}, {mean}");
}

#[test]
fn classic_counting_spaces_first_drops_evenly_up_to_1_over_p() {
    // Figure 2 resets count to -1 below min_th, so that the next packet has 0: Section 7's 1..1/p, mean 1/(2p) + 1/2.
    let mut rule = at_one_in_32(Count::Classic);
    let first = || {
        offer(&mut rule, 0);
        gap(&mut rule)
    };
    let (chi, mean) = chi_square(first, 1, 32);
    assert!(chi < 61.10 && (mean - 16.5).abs() < 0.21, "{chi}, {mean}");
}

#[test]
fn classic_counting_spaces_later_drops_evenly_below_1_over_p() {
    // After a drop Figure 2's count is 0 and the next packet's 1: 1..1/p - 1, mean 1/(2p).
    let mut rule = at_one_in_32(Count::Classic);
    let (chi, mean) = chi_square(|| gap(&mut rule), 1, 31);
    assert!(chi < 59.70 && (mean - 16.0).abs() < 0.21, "{chi}, {mean}");
}

#[test]
fn the_curve_is_what_the_rule_does() {
    for gentle in [true, false] {
        let mut p = red::Params { w_q: Auto::Is(1.0), gentle, ..red::Params::default() };
        red::Red::resolve(&mut p, &port()).unwrap();
        let mut rule = red::Red::new(&p, &port(), stream(5)).unwrap();
        for (found, gently, abruptly) in [
            (24, 0.0, 0.0),
            (25, 0.0, 0.0),
            (50, 0.05, 0.05),
            (75, 0.1, 1.0),
            // 0.1 + 0.9 / 3
            (100, 0.4, 1.0),
            (149, 0.1 + 0.9 * 74.0 / 75.0, 1.0),
            (150, 1.0, 1.0),
            (151, 1.0, 1.0),
        ] {
            offer(&mut rule, found);
            let p_b = red::Red::curve(&p, f64::from(found)).unwrap();
            assert_eq!(p_b, gauges(&rule)["prob"], "{found}");
            assert!((p_b - if gentle { gently } else { abruptly }).abs() < 1e-15, "{found}: {p_b}");
        }
    }
}

#[test]
fn settling_finds_what_the_sources_give_and_does_it_once() {
    let huge = Port::new(Limit::Packets(10_000), Rate(2_500_000_000), 1500.0);
    let found = |name: &str, port: &Port| {
        let mut spec = QueueSpec::named(name).unwrap();
        spec.resolve(port).unwrap();
        let once = spec.clone();
        spec.resolve(port).unwrap();
        assert_eq!(spec, once, "{name}");
        spec.values().into_iter().collect::<BTreeMap<_, _>>()
    };
    let number = |value: &Value| match value {
        Value::Number(x) => *x,
        Value::Text(text) => text.trim_end_matches(" packets").parse().unwrap(),
        Value::Bool(_) | Value::Pairs(_) => f64::NAN,
    };
    for (name, w_q) in [("red", 0.002), ("ared", 4.8e-6), ("gared", 4.8e-6), ("pd-red", 4.8e-6)] {
        let values = found(name, &huge);
        // 208333 packets/s: 2.5 ms of them; w_q = 1 - exp(-1/208333), to three digits.
        assert!((number(&values["min_th"]) - 520.833).abs() < 1e-3);
        assert!((number(&values["max_th"]) - 1562.5).abs() < 1e-3);
        assert!((number(&values["w_q"]) / w_q - 1.0).abs() < 1e-5, "{values:?}");
        // At most a quarter of the buffer; without a limit, 5 packets at least.
        let small = found(name, &Port::new(Limit::Packets(100), Rate(2_500_000_000), 1500.0));
        assert_eq!((number(&small["min_th"]), number(&small["max_th"])), (25.0, 75.0));
        let slow = found(name, &Port::new(Limit::Unlimited, Rate(10_000_000), 1000.0));
        assert_eq!((number(&slow["min_th"]), number(&slow["max_th"])), (5.0, 15.0));
        found(name, &Port::new(Limit::Packets(0), Rate(10_000_000), 1000.0));
        found(name, &Port::new(Limit::Bytes(Bytes(1)), Rate(10_000_000), 1000.0));
    }
    let mut only_max = red::Params { max_th: Amount::Packets(60.0), ..red::Params::default() };
    red::Red::resolve(&mut only_max, &huge).unwrap();
    assert_eq!(only_max.min_th, Amount::Packets(20.0));
}

/// The same specification, parameters set as a file would.
fn spec(name: &str, parameters: &[(&str, Value)]) -> QueueSpec {
    let mut spec = QueueSpec::named(name).unwrap();
    for (key, value) in parameters {
        spec.set(key, value).unwrap_or_else(|| panic!("{key}")).unwrap();
    }
    spec
}

#[test]
fn speaks_tc_where_linux_has_this_form() {
    let text = |text: &str| Value::Text(text.into());
    let example = [
        ("min", text("30 kB")),
        ("max", text("90 kB")),
        ("probability", Value::Number(0.02)),
        ("avpkt", text("1000 B")),
        ("burst", Value::Number(55.0)),
        ("gentle", Value::Bool(false)),
        ("count", text("classic")),
        ("ecn", Value::Bool(true)),
    ];
    let port = Port::new(Limit::Bytes(Bytes(400_000)), Rate(10_000_000), 1500.0);
    // 0.02 is what tc takes by itself (tc/q_red.c).
    for (name, probability, end) in [("red", "", ""), ("ared", " probability 0.02", " adaptive")] {
        let mut red = spec(name, &example);
        red.resolve(&port).unwrap();
        assert!(red.values().contains(&("w_q", Value::Number(1.0 / 32.0))), "{:?}", red.values());
        let line = red.tc(&port).unwrap();
        let head = "red limit 400000 min 30000 max 90000 avpkt 1000 burst ";
        let tail = format!("{probability} bandwidth 10000000bit ecn harddrop{end}");
        assert!(line.starts_with(head) && line.ends_with(&tail), "{line}");
        // What the line says gives the same weight again.
        let burst = line[head.len()..].split(' ').next().unwrap().parse().unwrap();
        let mut again = spec(name, &example);
        again.set("burst", &Value::Number(burst)).unwrap().unwrap();
        again.resolve(&port).unwrap();
        assert!(again.values().contains(&("w_q", Value::Number(1.0 / 32.0))), "{line}");
        for (key, value) in [("gentle", Value::Bool(true)), ("count", text("wait"))] {
            let mut other = red.clone();
            other.set(key, &value).unwrap().unwrap();
            assert_eq!(other.tc(&port), None, "{key}");
        }
        let unlimited = Port { limit: Limit::Unlimited, ..port };
        assert_eq!(red.tc(&unlimited), None);
    }
    let mut other = spec("ared", &example);
    other.set("beta", &Value::Number(0.8)).unwrap().unwrap();
    other.resolve(&port).unwrap();
    assert_eq!(other.tc(&port), None);
}

#[test]
fn refuses_what_cannot_be_meant() {
    for (name, key, value, blamed) in [
        ("red", "max_th", "5 packets", None),
        ("red", "min_th", "0 packets", Some("max_th")),
        ("red", "w_q", "0", Some("w_q")),
        ("red", "max_p", "1.5", Some("max_p")),
        ("red", "avpkt", "1000", Some("avpkt")),
        ("ared", "avpkt", "0 B", Some("avpkt")),
        ("red", "burst", "3", Some("burst")),
        ("red", "burst", "-1", Some("burst")),
        ("ared", "interval", "0 s", Some("interval")),
        ("ared", "bottom", "0.5", Some("bottom")),
        ("gared", "beta", "1", Some("beta")),
        ("gared", "target_low", "0.7", Some("target_high")),
        ("pd-red", "scale", "0 packets", Some("scale")),
        ("pd-red", "bottom", "0.6", Some("bottom")),
    ] {
        let value = value.parse().map_or_else(|_| Value::Text(value.into()), Value::Number);
        let error = spec(name, &[(key, value)]).build(&port(), stream(5)).err();
        assert_eq!(error.as_ref().map(|error| error.field), blamed, "{name}.{key}: {error:?}");
    }
}

/// Backlogs at the ticks of a clock, with the average that is the backlog itself; `max_p` after each.
fn at_ticks(rule: &mut impl Admission, backlogs: &[u32]) -> Vec<f64> {
    let mut run = |&found: &u32| {
        offer(rule, found);
        rule.on_wakeup(rule.next_wakeup(), waiting(found), None);
        gauges(rule)["max_p"]
    };
    backlogs.iter().map(&mut run).collect()
}

/// Thresholds 100 and 300, so that the band is 180 to 220; the average is the last backlog.
macro_rules! bare {
    ($module:ident) => {
        $module::Params {
            min_th: Amount::Packets(100.0),
            max_th: Amount::Packets(300.0),
            w_q: Auto::Is(1.0),
            ..$module::Params::default()
        }
    };
}

fn close(found: &[f64], expected: &[f64]) {
    // A few roundings of multiplications.
    let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(same), "{found:?}\n{expected:?}");
}

// Figure 7 of Zhang et al.: the average peaks at t2 and comes down into the band at t4. Then it falls below, rises, and
// drains.
const FIGURE_7: [u32; 14] = [150, 250, 280, 270, 230, 200, 170, 150, 160, 90, 50, 240, 240, 221];

#[test]
fn adaptive_red_raises_max_p_while_the_average_is_above_its_band() {
    let max_p = at_ticks(&mut make::<ared::Ared>(bare!(ared), &port()), &FIGURE_7);
    // Down by 0.9 below 180, up by min(0.01, max_p / 4) above 220.
    close(
        &max_p,
        &[
            0.09,
            0.1,
            0.11,
            0.12,
            0.13,
            0.13,
            0.117,
            0.1053,
            0.09477,
            0.085_293,
            0.076_763_7,
            0.086_763_7,
            0.096_763_7,
            0.106_763_7,
        ],
    );
}

#[test]
fn gentle_adaptive_red_leaves_max_p_while_the_average_returns() {
    let max_p = at_ticks(&mut make::<gared::Gared>(bare!(gared), &port()), &FIGURE_7);
    // Up only at 250 and 280 and the first 240, down only at 170 and 150: not while returning to the band, within it,
    // rising below it, below min_th, or steady.
    close(&max_p, &[0.1, 0.11, 0.12, 0.12, 0.12, 0.12, 0.108, 0.0972, 0.0972, 0.0972, 0.0972, 0.1072, 0.1072, 0.1072]);
}

/// `max_p` after arrivals, each at a time in milliseconds and with a number of waiting packets, with looks at arrivals.
fn at_arrivals(rule: &mut impl Admission, arrivals: &[(u64, u32)]) -> Vec<f64> {
    assert_eq!(rule.next_wakeup(), Time::NEVER);
    let mut run = |&(ms, found): &(u64, u32)| {
        rule.admit(&Packet::new(0, 0, 1000, Time::ZERO + Span::millis(ms)), waiting(found), None);
        gauges(rule)["max_p"]
    };
    arrivals.iter().map(&mut run).collect()
}

#[test]
fn arrivals_may_look_instead_of_a_clock_as_often_as_changes_are_an_interval_apart() {
    // Below the band too early, at the interval's end, too early after that, within the band, and at once below it.
    let arrivals = [(499, 150), (500, 150), (999, 150), (1000, 200), (1001, 150), (1002, 250), (1501, 250)];
    let params = ared::Params { looks: ared::AdaptOn::Arrivals, ..bare!(ared) };
    let max_p = at_arrivals(&mut make::<ared::Ared>(params, &port()), &arrivals);
    close(&max_p, &[0.1, 0.09, 0.09, 0.09, 0.081, 0.081, 0.091]);
    // Gentle: the arrival before left 150, so 140 falls; 150 rises below the band; 250 rises, 249 falls above it.
    let arrivals = [(400, 150), (500, 140), (1000, 150), (1001, 149), (1502, 250), (2002, 249), (2003, 260)];
    let params = gared::Params { looks: gared::AdaptOn::Arrivals, ..bare!(gared) };
    let max_p = at_arrivals(&mut make::<gared::Gared>(params, &port()), &arrivals);
    close(&max_p, &[0.1, 0.09, 0.09, 0.081, 0.091, 0.091, 0.101]);
}

#[test]
fn bounds_of_max_p_are_as_in_the_sources() {
    // From 0.1 by 0.01: 0.5 after forty steps, give or take the last one's rounding, which the source lets pass.
    let high: Vec<u32> = (0..100).map(|i| 221 + i).collect();
    let falling: Vec<u32> = (0..74).map(|i| 179 - i).collect();
    let ared = at_ticks(&mut make::<ared::Ared>(bare!(ared), &port()), &high);
    let gared = at_ticks(&mut make::<gared::Gared>(bare!(gared), &port()), &high);
    assert!((0.5 - 1e-12..0.51 + 1e-12).contains(&ared[99]) && ared[99] == gared[99], "{ared:?}");
    // 0.1 0.9^22 = 0.00985 is the first below 0.01; gARED goes on: 0.1 0.9^73, for its first tick rises to 179.
    let ared = at_ticks(&mut make::<ared::Ared>(bare!(ared), &port()), &falling);
    let gared = at_ticks(&mut make::<gared::Gared>(bare!(gared), &port()), &falling);
    assert!((ared[73] / 0.009_847_7 - 1.0).abs() < 1e-4, "{ared:?}");
    assert!((gared[73] / (0.1 * libm::pow(0.9, 73.0)) - 1.0).abs() < 1e-12, "{gared:?}");
    // A small max_p rises by a quarter.
    let small = ared::Params { max_p: 0.0001, bottom: 0.0, ..bare!(ared) };
    let up = at_ticks(&mut make::<ared::Ared>(small, &port()), &high[..10]);
    assert!((up[9] / (0.0001 * libm::pow(1.25, 10.0)) - 1.0).abs() < 1e-12, "{up:?}");
}

#[test]
fn pd_red_adds_its_two_terms_within_bounds() {
    let (k_p, k_d) = (0.1, 0.5);
    let params = pd_red::Params { k_p, k_d, ..bare!(pd_red) };
    let max_p = at_ticks(&mut make::<pd_red::PdRed>(params, &port()), &[200, 250, 230, 230, 0, 0, 1000, 900]);
    // Target 200, buffer 1000; the error begins at -200.
    let steps = [
        // + 0.1 0 + 0.5 0.2
        0.2,   // + 0.1 0.05 + 0.5 0.05
        0.23,  // + 0.1 0.03 - 0.5 0.02
        0.223, // + 0.1 0.03
        0.226, // - 0.1 0.2 - 0.5 0.23
        0.091, // - 0.1 0.2
        0.071, // + 0.1 0.8 + 0.5 1.0 is beyond 0.5
        0.5,   // + 0.1 0.7 - 0.5 0.1 still is
        0.5,
    ];
    close(&max_p, &steps);
}

#[test]
fn clocks_tick_whether_or_not_packets_arrive() {
    for name in ["ared", "gared", "pd-red"] {
        let ticks = |arrivals: usize| {
            let queue = spec(name, &[("interval", Value::Text("500 ms".into()))]).build(&port(), stream(5)).unwrap();
            let AnyQueue::Fifo(fifo) = queue else { panic!("an admission rule") };
            let mut rule = fifo.into_admission();
            let mut times = Vec::new();
            for _ in 0..5 {
                let before = gauges(&rule)["max_p"];
                (0..arrivals).for_each(|_| _ = offer(&mut rule, 60));
                assert_eq!(gauges(&rule)["max_p"], before, "{name}: arrivals do not move max_p");
                let at = rule.next_wakeup();
                rule.on_wakeup(at, waiting(60), None);
                times.push(at);
            }
            times
        };
        assert_eq!(ticks(0), ticks(100));
        assert_eq!(ticks(0), [500, 1000, 1500, 2000, 2500].map(|ms| Time::ZERO + Span::millis(ms)));
    }
}

#[test]
fn a_clock_reads_the_average_as_idle_time_has_left_it() {
    let params = ared::Params { w_q: Auto::Auto, ..bare!(ared) };
    let mut rule = make::<ared::Ared>(params, &port());
    for _ in 0..100_000 {
        offer(&mut rule, 250);
    }
    // After 10 s of 250 with a time constant of 1 s, 1 s of idleness leaves 92: below the band, where 250 is above it.
    let idle = rule.clone();
    let after = |mut rule: ared::Ared, idle_since| {
        rule.on_wakeup(Time::ZERO + Span::secs(11), waiting(0), idle_since);
        (gauges(&rule)["max_p"], gauges(&rule)["avg"])
    };
    let average = gauges(&rule)["avg"];
    assert_eq!(after(rule, None), (0.1 + 0.01, average));
    assert_eq!(after(idle, Some(Time::ZERO + Span::secs(10))), (0.1 * 0.9, average), "reading changes nothing");
}

#[derive(Default)]
struct Drops(u64);

impl Fates for Drops {
    fn dropped(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {
        self.0 += 1;
    }
    fn marked(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
}

/// Poisson arrivals whose rate behaves as 100 flows of 100 ms that learn of drops at once: each packet that gets through
/// adds flows / rtt^2 / rate, each drop halves one flow's share. At 10,000 packets/s they balance at a drop
/// probability of 2 (100 / 1000)^2 = 0.02. Gives the mean of the average over the last 40 of 80 seconds, read every
/// 10 ms, and the last `max_p`.
fn closed_loop<R: Rule + Admission>(params: R::Params) -> (f64, f64) {
    const FLOWS: f64 = 100.0;
    let queue = Fifo::new(make::<R>(params, &port()));
    let mut link = Link::new(port().rate, queue);
    let (mut arrivals, mut drops, mut rate, mut now) = (stream(9), Drops::default(), 8000.0, Time::ZERO);
    let (mut sum, mut readings, mut read_at) = (0.0, 0.0, Time::ZERO + Span::secs(40));
    let gauge = |link: &mut Link<Fifo<R>>, name| {
        let mut found = 0.0;
        link.queue().gauges(&mut |gauge, value| {
            if gauge == name {
                found = value;
            }
        });
        found
    };
    while now < Time::ZERO + Span::secs(80) {
        now += Span::from_secs(arrivals.exponential(1.0 / rate));
        while link.advance(now, &mut drops).is_some() {}
        let before = drops.0;
        link.offer(Packet::new(0, 0, 1000, now), &mut drops);
        rate += if drops.0 == before { FLOWS / 0.01 / rate } else { -rate / FLOWS / 2.0 };
        while read_at <= now {
            sum += gauge(&mut link, "avg");
            readings += 1.0;
            read_at += Span::millis(10);
        }
    }
    (sum / readings, gauge(&mut link, "max_p"))
}

#[test]
fn adaptive_red_finds_its_band_from_either_side() {
    // Thresholds 25 and 75, band 45 to 55. Fixed max_p misses it on both sides.
    for max_p in [0.02, 0.5] {
        let (average, found) = closed_loop::<ared::Ared>(ared::Params { max_p, ..ared::Params::default() });
        assert!((45.0..=55.0).contains(&average), "from {max_p}: {average}, max_p {found}");
        let (average, _) = closed_loop::<red::Red>(red::Params { max_p, ..red::Params::default() });
        assert!(!(45.0..=55.0).contains(&average), "fixed at {max_p}: {average}");
    }
}

#[test]
fn pd_red_finds_its_target_from_either_side() {
    for max_p in [0.02, 0.5] {
        let scale = Amount::Packets(100.0);
        let (average, found) =
            closed_loop::<pd_red::PdRed>(pd_red::Params { max_p, scale, ..pd_red::Params::default() });
        // As wide as adaptive RED's band.
        assert!((average - 50.0).abs() < 5.0, "from {max_p}: {average}, max_p {found}");
    }
}

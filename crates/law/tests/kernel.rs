//! The laws of the object that runs in Linux, in the place of the simulator's: close to them in floating point, to what a bound
//! says, and to the tables of their papers.

extern crate elephan_law as law;

use base::{Span, Stream, Time, Value};
use law::rounds::{Path, rounds};
use law::{AckSample, CongestionControl, CongestionEvent, Control, LawSpec, Signal, StartSpec};

const LAWS: [&str; 5] = ["highspeed", "ghstcp", "nr-hstcp", "scalable", "htcp"];

fn spec(law: &str, arithmetic: &str, params: &[(&str, Value)]) -> LawSpec {
    let mut spec = LawSpec::named(law).unwrap();
    spec.set("arithmetic", &Value::Text(arithmetic.into())).unwrap().unwrap();
    for (name, value) in params {
        spec.set(name, value).unwrap().unwrap();
    }
    spec
}

/// A connection in congestion avoidance at `cwnd`.
fn avoiding(law: &str, params: &[(&str, Value)], cwnd: u32) -> Control {
    let classic = StartSpec::named("classic").unwrap();
    spec(law, "kernel", params).build(&classic, f64::from(cwnd), f64::from(cwnd)).unwrap()
}

fn micros(us: u64) -> Time {
    Time::ZERO + Span::micros(us)
}

/// ACK for `acked` segments on a path of `rtt`, without a sample.
fn ack(now: Time, acked: f64, rtt: Span) -> AckSample {
    AckSample { acked, rtt: None, ..AckSample::plain(now, rtt) }
}

/// Growth per round trip at `cwnd`, in segments, and its precision: many segments are acknowledged at once.
fn growth(control: &mut Control, ack: AckSample) -> (f64, f64) {
    let cwnd = control.cwnd();
    // Not so many that the window would reach its bound of 2^20.
    let whole = f64::from(1 << 16);
    control.on_ack(&AckSample { acked: whole, ..ack });
    let gained = control.cwnd() - cwnd;
    (gained * (cwnd + 0.5) / whole, (cwnd + 0.5) / whole)
}

fn windows(law: &str, arithmetic: &str) -> Vec<f64> {
    let mut control = spec(law, arithmetic, &[]).build(&StartSpec::named("classic").unwrap(), 2.0, 1000.0).unwrap();
    let path = Path { base_rtt: Span::millis(100), bdp: 1e6 };
    let events = [(60, Signal::Loss), (90, Signal::Timeout), (120, Signal::Loss)];
    rounds(&mut control, path, &events, 160).iter().map(|round| round.cwnd).collect()
}

/// Whether `whole` follows `exact`: a segment for each cut and for the one under way; 1 % for H-TCP, whose alpha moves with every ACK
/// and not once a round trip.
fn follows(law: &str, exact: &[f64], whole: &[f64]) -> bool {
    let share = if law == "htcp" { 0.01 } else { 5e-4 };
    exact.iter().zip(whole).all(|(exact, whole)| (whole - exact).abs() < 4.0 + share * exact)
}

#[test]
fn on_a_path_without_a_queue_windows_are_those_of_floating_point_and_of_no_other_law() {
    let found = LAWS.map(|law| windows(law, "kernel"));
    // Where times do not rise, gHSTCP is HighSpeed.
    let alike = |law: &str| ["highspeed", "ghstcp"].contains(&law);
    for law in LAWS {
        let exact = windows(law, "exact");
        for (other, whole) in LAWS.iter().zip(&found) {
            assert!(whole.iter().all(|w| *w == w.trunc()), "{other}: whole segments");
            let right = law == *other || alike(law) && alike(other);
            assert_eq!(follows(law, &exact, whole), right, "{law} by the object's {other}");
        }
    }
}

#[test]
fn highspeed_grows_and_gives_up_as_in_floating_point() {
    for i in 0..32 * 12 {
        // From 38 segments on, 32 windows to the octave.
        let w = (38.0 * libm::exp2(f64::from(i) / 32.0)) as u32;
        let exact = law::evaluator::LawEvaluator::new(&LawSpec::named("highspeed").unwrap()).unwrap();
        let mut control = avoiding("highspeed", &[], w);
        let (a, known) = growth(&mut control, ack(Time::ZERO, 1.0, Span::millis(100)));
        // A straight line over at most a sixteenth of w is short by w^2 a'' / a / 8 / 16^2: 2e-4 up to 83,000 segments; beyond it
        // bends more.
        let right = exact.growth(f64::from(w) + 0.5, 0.1, 0.1);
        let limit = if w < 83_000 { 2e-4 } else { 3.5e-2 } * right + known;
        assert!((a - right).abs() < limit, "a({w}) = {a}, not {right}");
        let mut control = avoiding("highspeed", &[], w);
        control.on_congestion(&CongestionEvent::plain(Time::ZERO, Signal::Loss, Span::millis(100)));
        let kept = (1.0 - exact.cut(f64::from(w), 0.1, 0.1)) * f64::from(w);
        // b is a logarithm: 2.5e-5 of w for its line, and whole segments.
        assert!(
            (control.cwnd() - kept).abs() < 2.7e-5 * f64::from(w) + 1.01,
            "{w}: kept {}, not {kept}",
            control.cwnd()
        );
    }
}

#[test]
fn nr_hstcp_has_the_table_of_the_papers_equations() {
    // cwnd, round-trip time [ms], segment size [B]; equation 9, equation 8.
    let table = [
        (1000, 100, 1500, 7.7398, 0.3299),
        (1000, 200, 1500, 20.160, 0.3659),
        (1000, 50, 1500, 2.9373, 0.2938),
        (20, 250, 1500, 2.1073, 0.5),
        (10, 100, 1500, 1.0, 0.5),
        (3000, 250, 9000, 25.376, 0.2272),
        (500, 100, 576, 7.1518, 0.4157),
        (20_000, 250, 1500, 161.15, 0.2217),
    ];
    for (cwnd, ms, segment, a, b) in table {
        let rtt = Span::millis(ms);
        let params = [("mss", Value::Number(f64::from(segment)))];
        let mut control = avoiding("nr-hstcp", &params, cwnd);
        let (found, known) = growth(&mut control, ack(Time::ZERO, 1.0, rtt));
        // At the middle of the interval the window is half a segment larger: 0.8 0.5 / cwnd, and 1e-4 for the lines.
        let limit = a * (0.5 / f64::from(cwnd) + 2e-4) + known;
        assert!((found - a).abs() < limit, "a({cwnd}, {ms}) = {found}");
        let mut control = avoiding("nr-hstcp", &params, cwnd);
        control.on_congestion(&CongestionEvent::plain(Time::ZERO, Signal::Loss, rtt));
        let kept = f64::from(cwnd) * (1.0 - b);
        assert!((control.cwnd() - kept).abs() <= 1.05, "b({cwnd}, {ms}): {}", control.cwnd());
    }
    // Before the first round trip it is Reno.
    let mut control = avoiding("nr-hstcp", &[], 500);
    let (a, known) = growth(&mut control, ack(Time::ZERO, 1.0, Span::ZERO));
    assert!((a - 1.0).abs() < known, "{a}");
    control = avoiding("nr-hstcp", &[], 500);
    control.on_congestion(&CongestionEvent::plain(Time::ZERO, Signal::Loss, Span::ZERO));
    assert_eq!(control.cwnd(), 250.0);
}

#[test]
fn scalable_gains_a_hundredth_of_a_segment_for_each_and_keeps_seven_eighths() {
    let mut control = avoiding("scalable", &[], 1000);
    for _ in 0..10_000 {
        control.on_ack(&ack(Time::ZERO, 1.0, Span::millis(100)));
    }
    // 0.01 has 20 bits, so 10,000 of them are 100.002; a segment may be under way.
    assert!((1099.0..=1100.0).contains(&control.cwnd()), "{}", control.cwnd());
    for (cwnd, signal, kept) in [(1100, Signal::Loss, 962.0), (16, Signal::Loss, 8.0), (1100, Signal::Timeout, 550.0)] {
        let mut control = avoiding("scalable", &[], cwnd);
        control.on_congestion(&CongestionEvent::plain(Time::ZERO, signal, Span::millis(100)));
        assert_eq!(control.ssthresh(), kept);
    }
}

#[test]
fn htcps_alpha_is_the_papers_function_of_the_time_since_the_loss() {
    for (s, alpha) in [(0.0, 1.0), (1.0, 1.0), (2.0, 11.25), (3.0, 22.0), (11.0, 126.0), (101.0, 3501.0)] {
        let mut control = avoiding("htcp", &[], 1000);
        let rtt = Span::millis(100);
        control.on_ack(&ack(micros(1), 0.0, rtt));
        let (found, known) = growth(&mut control, ack(micros(1 + (s * 1e6) as u64), 1.0, rtt));
        // 16 bits after the point, ten of which are lost in 10 x. It keeps a half: 2 (1 - 1/2) alpha.
        assert!((found - alpha).abs() < 2e-4 + known, "alpha after {s} s = {found}");
    }
}

#[test]
fn htcp_scales_by_the_smallest_round_trip_time() {
    // As in tcp_htcp.c: with 100 ms without a queue nothing is scaled, whatever the smoothed one is.
    for (ms, alpha) in [(50, 0.5), (100, 1.0), (150, 1.5)] {
        let mut control = avoiding("htcp", &[("rtt_scaling", Value::Bool(true))], 1000);
        let sample = |now| AckSample { min_rtt: Span::millis(ms), ..ack(now, 1.0, Span::millis(2 * ms)) };
        control.on_ack(&AckSample { acked: 0.0, ..sample(micros(1)) });
        let (found, known) = growth(&mut control, sample(micros(2)));
        assert!((found - alpha).abs() < 2e-4 + known, "alpha at {ms} ms = {found}");
    }
}

/// Share of the window that the second loss keeps, after two steady cycles of H-TCP in which the queue raises the
/// round-trip time to `full` ms, with `second` segments delivered in the second cycle.
fn kept(full: u64, second: u64) -> f64 {
    let mut control = avoiding("htcp", &[], 1000);
    let base = Span::millis(100);
    let at = |now, delivered, rtt| AckSample {
        delivered,
        rtt: Some(rtt),
        cwnd_limited: false,
        ..AckSample::plain(Time::ZERO + Span::millis(now), base)
    };
    let loss = |now, delivered| CongestionEvent {
        delivered,
        ..CongestionEvent::plain(Time::ZERO + Span::millis(now), Signal::Loss, base)
    };
    control.on_ack(&at(1000, 0, base));
    control.on_ack(&at(2000, 10_000, Span::millis(full)));
    control.on_congestion(&loss(2000, 10_000));
    assert_eq!(control.cwnd(), 500.0);
    control.on_ack(&at(3000, 10_000 + second, Span::millis(full)));
    control.on_congestion(&loss(3000, 20_000));
    control.cwnd() / 500.0
}

#[test]
fn htcp_keeps_the_ratio_of_round_trip_times_between_half_and_four_fifths_if_throughput_is_steady() {
    let near = |found: f64, right: f64| assert!((found - right).abs() <= 1.0 / 500.0, "{found}, not {right}");
    near(kept(160, 10_000), 0.625);
    near(kept(300, 10_000), 0.5);
    near(kept(110, 10_000), 0.8);
    near(kept(110, 12_010), 0.5);
    near(kept(110, 7990), 0.5);
    near(kept(110, 11_990), 0.8);
}

/// Whether gHSTCP takes these round-trip times, one an ACK each 100 us or so, for rising ones: then it grows as Reno does.
fn rises(control: &mut Control, samples: &[(u64, u64)]) -> bool {
    for &(now, rtt) in samples {
        let sample = AckSample { rtt: Some(Span::micros(rtt)), ..ack(micros(now), 0.0, Span::millis(100)) };
        control.on_ack(&sample);
    }
    let (a, _) = growth(control, ack(micros(samples.last().unwrap().0), 1.0, Span::millis(100)));
    assert!((a - 1.0).abs() < 0.01 || (a - 7.85).abs() < 0.05, "a(1000) = {a}");
    a < 2.0
}

#[test]
fn ghstcps_verdicts_are_those_of_floating_point() {
    let mut chance = Stream::new(7, 0, ("test", 0), "samples");
    let (mut rising, mut near) = (0, 0);
    for round in 0..2000_u32 {
        let n = 8 + round % 700;
        let slope = chance.unit() * 0.4;
        let noise = 1 + chance.below(400);
        let params = [("min_samples", Value::Number(n.into())), ("window_factor", Value::Number(1.0 / 256.0))];
        let mut control = avoiding("ghstcp", &params, 1000);
        let samples: Vec<(u64, u64)> = (0..n)
            .map(|i| {
                let now = 5_000_000 + u64::from(i) * 100 + chance.below(50);
                (now, 100_000 + (f64::from(i) * slope) as u64 + chance.below(noise))
            })
            .collect();
        let r = correlation(&samples.iter().map(|&(now, rtt)| ((now - rtt) as f64, rtt as f64)).collect::<Vec<_>>());
        let z = 0.5 * libm::log((1.0 + r) / (1.0 - r)) * f64::from(n - 3).sqrt();
        // The threshold is exact to 2e-4.
        if (z - 3.09).abs() < 2e-3 {
            near += 1;
            continue;
        }
        let found = rises(&mut control, &samples);
        assert_eq!(found, z > 3.09, "round {round}: r = {r}, z = {z}, n = {n}");
        rising += u32::from(found);
    }
    assert!((250..1750).contains(&rising) && near < 20, "{rising} rising, {near} too near to tell");
}

fn correlation(samples: &[(f64, f64)]) -> f64 {
    let n = samples.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|s| s.0), mean(|s| s.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>();
    let (xx, yy) = (sum(&|s| (s.0 - x) * (s.0 - x)), sum(&|s| (s.1 - y) * (s.1 - y)));
    let r = sum(&|s| (s.0 - x) * (s.1 - y)) / (xx * yy).sqrt();
    if r.is_nan() { 0.0 } else { r.clamp(-1.0 + 1e-9, 1.0 - 1e-9) }
}

#[test]
fn flat_and_falling_times_do_not_rise_and_a_cut_ends_renos_mode() {
    let verdict = |rtt: fn(u64) -> u64| {
        let samples: Vec<_> = (0..1000).map(|i| (9_000_000 + 100 * i, rtt(i))).collect();
        let mut control = avoiding("ghstcp", &[], 1000);
        (rises(&mut control, &samples), control)
    };
    assert!(!verdict(|_| 100_000).0);
    assert!(!verdict(|i| 100_000 - i).0);
    let (rising, mut control) = verdict(|i| 100_000 + i);
    assert!(rising);
    while control.cwnd() > 1000.0 {
        control.on_congestion(&CongestionEvent::plain(micros(9_200_000), Signal::Loss, Span::millis(100)));
    }
    let cwnd = control.cwnd();
    let (a, _) = growth(&mut control, ack(micros(9_300_000), 1.0, Span::millis(100)));
    let exact = law::evaluator::LawEvaluator::new(&LawSpec::named("highspeed").unwrap()).unwrap();
    assert!((a / exact.growth(cwnd + 0.5, 0.1, 0.1) - 1.0).abs() < 0.01, "a({cwnd}) = {a}");
}

#[test]
fn what_the_kernel_cannot_do_is_refused_by_name() {
    for (law, parameter, value, said) in [
        ("ghstcp", "window", Value::Text("sliding".into()), "window: must be \"tumbling\" in the kernel"),
        ("nr-hstcp", "rtt", Value::Text("min".into()), "rtt: must be \"srtt\" in the kernel"),
        ("htcp", "throughput_change", Value::Number(20.0), "throughput_change: must be below 16 in the kernel"),
    ] {
        let spec = spec(law, "kernel", &[(parameter, value)]);
        let error = spec.build(&StartSpec::named("classic").unwrap(), 2.0, f64::INFINITY).unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
    }
    let steep = spec("highspeed", "kernel", &[("high_p", Value::Number(9.9e-4))]);
    let error = steep.build(&StartSpec::named("classic").unwrap(), 2.0, f64::INFINITY).unwrap_err();
    assert!(error.to_string().starts_with("high_p: must leave a(w)"), "{error}");
    let error = spec("htcp", "kernel", &[]).build(&StartSpec::named("limited").unwrap(), 2.0, 9.0).unwrap_err();
    assert!(error.to_string().starts_with("arithmetic: \"kernel\" has a slow start of its own"), "{error}");
}

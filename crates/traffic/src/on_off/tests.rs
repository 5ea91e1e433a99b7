//! Compares the distributions of bursts and silences, which are reconstructed from the times of packets, with their
//! laws.

use super::*;

const ON: f64 = 0.3;
const OFF: f64 = 0.7;

/// Source number `key`, with one packet per `gap` while it is on.
fn source(law: Law, shape: f64, gap: Span, key: u64) -> OnOff {
    let rate = Rate((8e15 / gap.0 as f64) as u64);
    let params = Params { rate, on: Span::from_secs(ON), off: Span::from_secs(OFF), law, shape, ..Params::default() };
    OnOff::new(&params, Bytes(1000), Stream::new(5, 0, ("test", key), "traffic")).unwrap()
}

/// Lengths of `n` complete bursts and silences, in seconds; a time between packets that is longer than `gap` contains a
/// silence.
fn cycles(source: &mut OnOff, n: usize) -> (Vec<f64>, Vec<f64>) {
    let gap = source.gap;
    let (mut bursts, mut silences, mut packets) = (Vec::new(), Vec::new(), None);
    while bursts.len() < n {
        let next = source.next_gap();
        if next > gap {
            silences.push((next - gap).as_secs());
            bursts.extend(packets.map(|packets: u32| f64::from(packets) * gap.as_secs()));
            packets = Some(0);
        }
        packets = packets.map(|packets| packets + 1);
    }
    (bursts, silences)
}

/// The Kolmogorov-Smirnov distance between `values` and a law, times the square root of their number.
fn distance(values: &[f64], law: impl Fn(f64) -> f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let each = sorted.iter().enumerate().map(|(i, &x)| {
        let (law, i) = (law(x), i as f64);
        (law - i / n).abs().max(((i + 1.0) / n - law).abs())
    });
    each.fold(0.0, f64::max) * n.sqrt()
}

/// The value that Kolmogorov's distribution exceeds with a probability of 0.001.
const FAR: f64 = 1.95;

fn exponential(mean: f64) -> impl Fn(f64) -> f64 {
    move |x| 1.0 - libm::exp(-x / mean)
}

fn pareto(mean: f64, shape: f64) -> impl Fn(f64) -> f64 {
    move |x| 1.0 - libm::pow((x * shape / (mean * (shape - 1.0))).max(1.0), -shape)
}

#[test]
fn bursts_and_silences_have_the_law_of_the_parameters() {
    let (gap, n) = (Span::micros(300), 4000);
    let root = (n as f64).sqrt();
    // The measured length of a burst is off by up to one gap, 0.001 of the mean. This changes the distribution function
    // by up to 0.001 × mean × the largest density, which is 1 / mean (exponential) or shape^2 / (shape - 1) / mean
    // (Pareto). A few of ten thousand measured silences contain a burst too short for a packet.
    let (bursts, silences) = cycles(&mut source(Law::Exponential, 1.5, gap, 1), n);
    assert!(distance(&bursts, exponential(ON)) < FAR + 0.001 * root, "{}", distance(&bursts, exponential(ON)));
    assert!(distance(&silences, exponential(OFF)) < FAR + 0.001 * root);
    let (bursts, silences) = cycles(&mut source(Law::Pareto, 1.5, gap, 2), n);
    assert!(distance(&bursts, pareto(ON, 1.5)) < FAR + 0.0045 * root, "{}", distance(&bursts, pareto(ON, 1.5)));
    assert!(distance(&silences, pareto(OFF, 1.5)) < FAR);
    // The test distinguishes the two laws, and a different shape.
    assert!(distance(&silences, exponential(OFF)) > 10.0 && distance(&silences, pareto(OFF, 1.6)) > FAR);
}

#[test]
fn pareto_lengths_have_the_expected_mean_and_variance() {
    let (_, silences) = cycles(&mut source(Law::Pareto, 5.0, Span::millis(3), 3), 20_000);
    let n = silences.len() as f64;
    let mean = silences.iter().sum::<f64>() / n;
    let squares: Vec<f64> = silences.iter().map(|x| (x - mean) * (x - mean)).collect();
    let variance = squares.iter().sum::<f64>() / n;
    // The variance is mean^2 / (shape (shape - 2)). Four standard errors are allowed; the error of the variance is
    // estimated from the sample.
    let expected = OFF * OFF / 15.0;
    assert!((mean - OFF).abs() < 4.0 * (expected / n).sqrt(), "{mean}");
    let error = (squares.iter().map(|s| (s - variance) * (s - variance)).sum::<f64>() / n / n).sqrt();
    assert!((variance - expected).abs() < 4.0 * error, "{variance} +- {error} for {expected}");
    // With shape 5 the fourth moment exists, but the eighth does not, so the error itself is uncertain by a half.
    assert!(error < 0.1 * expected, "{error}");
}

/// Numbers of packets that each of `n` sources sends in its first `times` seconds.
fn counts<const N: usize>(n: u64, times: [f64; N], new: impl Fn(u64) -> OnOff) -> [Vec<f64>; N] {
    let mut counts: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for key in 0..n {
        let mut source = new(key);
        let (mut at, mut packets) = (source.next_gap(), 0);
        for (time, counts) in times.iter().zip(&mut counts) {
            while at < Span::from_secs(*time) {
                packets += 1;
                at = at + source.next_gap();
            }
            counts.push(f64::from(packets));
        }
    }
    counts
}

/// Mean and variance, each with its standard error.
fn moments(values: &[f64]) -> [(f64, f64); 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: Vec<f64> = values.iter().map(|x| (x - mean) * (x - mean)).collect();
    let variance = squares.iter().sum::<f64>() / n;
    let fourth = squares.iter().map(|s| (s - variance) * (s - variance)).sum::<f64>() / n;
    [(mean, (variance / n).sqrt()), (variance, (fourth / n).sqrt())]
}

#[test]
fn the_mean_rate_is_right_from_the_start_of_the_flow() {
    let times = [0.02, 0.2, 2.0, 20.0];
    for law in [Law::Exponential, Law::Pareto] {
        let counts = counts(4000, times, |key| source(law, 1.5, Span::millis(2), 100 + key));
        for (time, counts) in times.iter().zip(&counts) {
            let [(mean, error), _] = moments(counts);
            // 500 packets per second while the source is on, which is three tenths of the time.
            let expected = 500.0 * time * ON / (ON + OFF);
            assert!((mean - expected).abs() < 4.0 * error, "{law:?}, {time} s: {mean} +- {error} for {expected}");
            assert!(error < 0.03 * expected);
        }
    }
}

#[test]
fn counts_vary_as_those_of_a_two_state_chain() {
    // The rate is r with probability p, and its covariance decays as e^(-k t), k = 1/on + 1/off, so the amount produced
    // until t has variance 2 r^2 p (1 - p) / k^2 (k t - 1 + e^(-k t)). Rounding it to whole packets with a random phase
    // adds f (1 - f), where f is the fraction of an incomplete packet: at most 1/4, and 1/6 if f is uniform.
    let times = [0.1, 1.0, 10.0];
    let counts = counts(4000, times, |key| source(Law::Exponential, 1.5, Span::millis(2), 10_000 + key));
    let (p, k) = (ON / (ON + OFF), 1.0 / ON + 1.0 / OFF);
    for (time, counts) in times.iter().zip(&counts) {
        let [(mean, _), (variance, error)] = moments(counts);
        let expected = 2.0 * 500.0 * 500.0 * p * (1.0 - p) / (k * k) * (k * time - 1.0 + libm::exp(-k * time));
        assert!((variance - expected).abs() < 4.0 * error + 0.25, "{time} s: {variance} +- {error} for {expected}");
        // The index of dispersion (variance over mean) is 1 for a Poisson stream.
        assert!(variance / mean > 30.0, "{time} s: {}", variance / mean);
    }
}

#[test]
fn pareto_bursts_are_self_similar_and_exponential_bursts_are_not() {
    // For large t the variance of counts grows as t^(2H), H = (3 - shape) / 2 (Taqqu, Willinger and Sherman 1997); for
    // exponential bursts it grows as t.
    let slope = |law, key: u64| {
        let counts = counts(2000, [30.0, 1000.0], |i| source(law, 1.4, Span::millis(100), key + i));
        let [(a, error_a), (b, error_b)] = counts.map(|counts| moments(&counts)[1]);
        let span = libm::log(1000.0 / 30.0);
        // Error of the difference of two logarithms; the error of independent values is an upper bound.
        (libm::log(b / a) / span, 4.0 * (error_a / a).hypot(error_b / b) / span)
    };
    let (slope_of_pareto, four) = slope(Law::Pareto, 20_000);
    assert!((slope_of_pareto - 1.6).abs() < four, "{slope_of_pareto} +- {four}");
    assert!(four < 0.15, "{four}");
    let (slope_of_exponential, four) = slope(Law::Exponential, 30_000);
    assert!((slope_of_exponential - 1.0).abs() < four, "{slope_of_exponential} +- {four}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |params: Params| OnOff::new(&params, Bytes(1000), Stream::new(1, 0, ("test", 0), "")).unwrap_err();
    let with = |shape| refused(Params { law: Law::Pareto, shape, ..Params::default() }).to_string();
    assert_eq!(with(1.0), "shape: must lie between 1.05 and 1000: at 1 there is no mean");
    assert_eq!(with(f64::NAN), with(1001.0));
    let short = Params { on: Span::nanos(700), ..Params::default() };
    assert_eq!(refused(short).to_string(), "on: must be at least 800 ns, a ten-thousandth of a packet's time");
    let large = Params { size: PacketSize::Exponential, ..Params::default() };
    assert!(OnOff::new(&large, Bytes(4001), Stream::new(1, 0, ("test", 0), "")).is_err());
}

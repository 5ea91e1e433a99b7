//! The laws of sizes and times against their moments and their distribution functions (Kolmogorov and Smirnov), and what
//! follows for a page of the web.

extern crate elephan_traffic as traffic;

use base::{Bytes, Rate, Span, Stream, Time};
use proptest::prelude::*;
use traffic::{Offer, SessionProcess, Site, SizeLaw, Sizes, TimeLaw, Times, TrafficSpec};

/// Draws in a sample.
const DRAWS: usize = 200_000;

fn stream(name: &str) -> Stream {
    Stream::new(20, 0, ("test", 0), name)
}

/// The largest distance between the share of `sample` up to x and `cdf(x)`, on both sides of each draw.
fn distance(mut sample: Vec<f64>, cdf: &dyn Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let sides = |(i, &x): (usize, &f64)| (cdf(x) - i as f64 / n).max((i + 1) as f64 / n - cdf(x));
    sample.iter().enumerate().map(sides).fold(0.0, f64::max)
}

/// The same where all mass is on whole numbers: at each that was drawn, and just before it.
fn distance_of_counts(sample: &[u32], cdf: &dyn Fn(f64) -> f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_unstable();
    let n = sorted.len() as f64;
    let (mut far, mut below) = (0.0f64, 0);
    for run in sorted.chunk_by(|a, b| a == b) {
        let at = f64::from(run[0]);
        far = far.max((cdf(at - 1.0) - below as f64 / n).abs());
        below += run.len();
        far = far.max((cdf(at) - below as f64 / n).abs());
    }
    far
}

/// Limit that chance exceeds once in ten thousand samples (Kolmogorov's limit: 2 exp(-2 n d²)); less often for distributions on
/// integers.
fn critical(n: usize) -> f64 {
    (libm::log(2.0 / 1e-4) / (2.0 * n as f64)).sqrt()
}

fn exponential(mean: f64) -> impl Fn(f64) -> f64 {
    move |x| -libm::expm1(-x / mean)
}

fn pareto(mean: f64, shape: f64) -> impl Fn(f64) -> f64 {
    let scale = mean * (shape - 1.0) / shape;
    move |x| if x < scale { 0.0 } else { 1.0 - libm::pow(scale / x, shape) }
}

#[test]
fn the_streams_draws_follow_their_laws_and_the_test_tells_laws_apart() {
    let draws = |f: &mut dyn FnMut() -> f64| (0..DRAWS).map(|_| f()).collect::<Vec<_>>();
    let mut chance = stream("exponential");
    let sample = draws(&mut || chance.exponential(3.0));
    assert!(distance(sample.clone(), &exponential(3.0)) < critical(DRAWS));
    // Two percent more in the mean move the distribution by 0.02/e.
    assert!(distance(sample, &exponential(3.06)) > critical(DRAWS));
    for shape in [1.05, 1.2, 1.5, 2.0, 5.0] {
        let mut chance = stream("pareto");
        let sample = draws(&mut || chance.pareto(10.0, shape));
        assert!(distance(sample.clone(), &pareto(10.0, shape)) < critical(DRAWS), "{shape}");
        assert!(distance(sample, &pareto(10.2, shape)) > critical(DRAWS), "{shape}");
    }
}

#[test]
fn times_follow_their_laws() {
    let mean = Span::millis(500);
    for (law, shape) in [(TimeLaw::Exponential, 0.0), (TimeLaw::Pareto, 1.5), (TimeLaw::Pareto, 2.0)] {
        let times = Times::new(law, mean, shape, ["gap", "gap_shape"]).unwrap();
        let mut chance = stream("times");
        let sample = (0..DRAWS).map(|_| times.draw(&mut chance).as_secs()).collect();
        let far = match law {
            TimeLaw::Pareto => distance(sample, &pareto(0.5, shape)),
            _ => distance(sample, &exponential(0.5)),
        };
        assert!(far < critical(DRAWS), "{law:?}, {shape}: {far}");
    }
    let constant = Times::new(TimeLaw::Constant, mean, 0.0, ["gap", "gap_shape"]).unwrap();
    assert_eq!(constant.draw(&mut stream("times")), mean);
}

#[test]
fn times_without_a_variance_stay_within_what_clocks_can_add_up() {
    let times = Times::new(TimeLaw::Pareto, Span::secs(100_000), 1.001, ["gap", "gap_shape"]).unwrap();
    let mut chance = stream("long");
    assert!((0..DRAWS).all(|_| times.draw(&mut chance).0 <= 1_000_000_000_000_000_000));
}

#[test]
fn sizes_follow_their_laws_rounded_up() {
    // 12 kB in segments of 1460 B.
    let mean = 12_000.0 / 1460.0;
    let cdf = |law, shape| -> Box<dyn Fn(f64) -> f64> {
        match law {
            SizeLaw::Constant => Box::new(|k| if k < 9.0 { 0.0 } else { 1.0 }),
            SizeLaw::Exponential => Box::new(exponential(mean)),
            SizeLaw::Pareto => Box::new(pareto(mean, shape)),
            // 2 m - 1 is 15.4.
            SizeLaw::Uniform => Box::new(|k| k.min(15.0) / 15.0),
        }
    };
    for (law, shape) in [
        (SizeLaw::Constant, 0.0),
        (SizeLaw::Exponential, 0.0),
        (SizeLaw::Pareto, 1.2),
        (SizeLaw::Pareto, 3.0),
        (SizeLaw::Uniform, 0.0),
    ] {
        let sizes = Sizes::new(law, Bytes(12_000), shape, 1460).unwrap();
        let mut chance = stream("sizes");
        let sample: Vec<u32> = (0..DRAWS).map(|_| sizes.draw(&mut chance)).collect();
        let far = distance_of_counts(&sample, &*cdf(law, shape));
        assert!(far < critical(DRAWS), "{law:?}, {shape}: {far}");
    }
}

#[test]
fn the_mean_after_rounding_is_what_closed_forms_say() {
    let mean = |law, mean, shape| Sizes::counted(law, mean, shape, ["size", "shape"]).unwrap().mean_segments();
    assert_eq!(mean(SizeLaw::Constant, 2.5, 0.0), 3.0);
    assert_eq!(mean(SizeLaw::Uniform, 100.5, 0.0), 100.5);
    // Geometric: 1/(1 - 1/e).
    assert!((mean(SizeLaw::Exponential, 1.0, 0.0) - 1.581_976_706_869_326_4).abs() < 1e-12);
    // Of scale 1, it is 1 + zeta(shape): zeta(3/2) and zeta(2) as in Abramowitz and Stegun, Table 23.3. What is cut off
    // beyond 10^9 is the integral of k^-shape from there: 2 (10^9)^-1/2, and 10^-9.
    assert!((mean(SizeLaw::Pareto, 3.0, 1.5) - (3.612_375_348_685_488 - 6.324_555e-5)).abs() < 1e-10);
    assert!((mean(SizeLaw::Pareto, 2.0, 2.0) - (2.644_934_066_848_226 - 1e-9)).abs() < 1e-12);
    // Large sizes: half a segment more than before rounding, if nothing is cut off.
    assert!((mean(SizeLaw::Pareto, 1e5, 3.0) - (1e5 + 0.5)).abs() < 1e-3);
}

proptest! {
    // A case is a hundred thousand powers.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_mean_of_a_pareto_size_is_the_sum_of_its_tail(mean in 1.0..300.0f64, shape in 1.01..60.0f64) {
        // Term by term up to 10^5, and bounds of the rest by integrals: decreasing terms lie between those from k and k - 1.
        let scale = mean * (shape - 1.0) / shape;
        let chance = |k: f64| if k < scale { 1.0 } else { libm::pow(scale / k, shape) };
        let integral = |from: f64| {
            let upto = |k: f64| chance(k) * k / (shape - 1.0);
            upto(from) - upto(1e9)
        };
        let sum: f64 = (0..100_000).map(|k| chance(f64::from(k))).sum();
        let ours = Sizes::counted(SizeLaw::Pareto, mean, shape, ["size", "shape"]).unwrap().mean_segments();
        // 1e-9 of it: a hundred thousand roundings.
        let [low, high] = [(sum + integral(1e5)) * (1.0 - 1e-9), (sum + integral(1e5 - 1.0)) * (1.0 + 1e-9)];
        prop_assert!((low..=high).contains(&ours), "{} not in {}..{}", ours, low, high);
    }
}

proptest! {
    #[test]
    // Ten segments or more and shapes with four moments: what 20,000 draws do not show does not count in their mean.
    fn draws_have_the_mean_that_is_said(bytes in 15_000..300_000u64, law in 0..4usize, shape in 4.0..20.0f64) {
        let law = [SizeLaw::Constant, SizeLaw::Exponential, SizeLaw::Pareto, SizeLaw::Uniform][law];
        let sizes = Sizes::new(law, Bytes(bytes), shape, 1460).unwrap();
        let mut chance = stream("mean");
        let n = 20_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = f64::from(sizes.draw(&mut chance));
            (sum, squares) = (sum + x, squares + x * x);
        }
        let (mean, n) = (sum / f64::from(n), f64::from(n));
        let error = ((squares / n - mean * mean).max(0.0) / n).sqrt();
        // Six standard errors, of what has a variance: 256 cases are tried each time.
        prop_assert!((mean - sizes.mean_segments()).abs() <= 6.0 * error + 1e-9 * mean, "{}", mean);
    }
}

/// Objects of each page, gaps between them and segments, of a session of `pages` pages whose transfers end at once.
fn pages(spec: &TrafficSpec, pages: usize) -> (Vec<u32>, Vec<Span>, Vec<u32>, Vec<Span>) {
    let site =
        Site { packet: Bytes(1040), mss: 1000, capacity: Rate(1_000_000_000), index: 0, flows: 1, start: Time::ZERO };
    let Ok(Offer::Session(mut session)) = spec.offer(&site, || stream("web")) else { panic!("no session") };
    let (mut objects, mut gaps, mut segments, mut thinks) = (vec![], vec![], vec![], vec![]);
    let (mut count, mut last) = (0, Time::ZERO);
    while objects.len() < pages {
        // From time to time the clock is as good as over.
        let now = session.due();
        assert!(now.0 < 1 << 63);
        if count > 0 {
            gaps.push(now - last);
        } else if last > Time::ZERO {
            thinks.push(now - last);
        }
        segments.push(session.open(now));
        (count, last) = (count + 1, now);
        if session.ended(now).is_some() {
            objects.push(count);
            count = 0;
        }
    }
    (objects, gaps, segments, thinks)
}

#[test]
fn pages_of_the_web_have_the_laws_of_pagepool() {
    let (objects, gaps, segments, thinks) = pages(&TrafficSpec::named("web").unwrap(), 50_000);
    let secs = |list: &[Span]| list.iter().map(|span| span.as_secs()).collect::<Vec<_>>();
    let far = distance_of_counts(&objects, &pareto(3.0, 1.5));
    assert!(far < critical(objects.len()), "objects: {far}");
    let far = distance(secs(&gaps), &pareto(0.5, 1.5));
    assert!(far < critical(gaps.len()), "gaps: {far}");
    let far = distance_of_counts(&segments, &pareto(12.0, 1.2));
    assert!(far < critical(segments.len()), "segments: {far}");
    let far = distance(secs(&thinks), &pareto(10.0, 2.0));
    assert!(far < critical(thinks.len()), "thinking: {far}");
    // Rounding makes pages of at least two objects, 2 with chance 1 - 2^-1.5: four standard errors.
    let twos = objects.iter().filter(|&&n| n == 2).count() as f64 / objects.len() as f64;
    assert!((twos - 0.646_447).abs() < 4.0 * (0.2286 / objects.len() as f64).sqrt(), "{twos}");
    assert!(objects.iter().all(|&n| n >= 2));
}

#[test]
fn pages_and_objects_are_as_often_so_large_as_in_ns_2() {
    let (objects, _, segments, _) = pages(&TrafficSpec::named("web").unwrap(), 50_000);
    // Counted in ns-2.35: pages of up to k objects among 19,999, objects of up to k packets among 69,621, with the laws of
    // gHSTCP's paper and packets of 1000 B.
    let counted_pages = [(2, 12_989.0), (3, 16_194.0), (4, 17_539.0), (5, 18_220.0), (6, 18_649.0), (7, 18_922.0)];
    let counted_objects = [(3, 26_712.0), (5, 46_609.0), (10, 59_706.0), (50, 68_137.0), (200, 69_350.0)];
    for (what, ours, theirs, of) in
        [("objects", &objects, &counted_pages[..], 19_999.0), ("packets", &segments, &counted_objects[..], 69_621.0)]
    {
        for &(most, count) in theirs {
            let share = ours.iter().filter(|&&n| n <= most).count() as f64 / ours.len() as f64;
            // Four standard errors of the difference of two counts.
            let error = (share * (1.0 - share) * (1.0 / of + 1.0 / ours.len() as f64)).sqrt();
            assert!((share - count / of).abs() < 4.0 * error, "{what}, up to {most}: {share}, not {}", count / of);
        }
    }
}

#[test]
fn a_page_holds_the_bytes_that_its_laws_say() {
    let mut spec = TrafficSpec::named("web").unwrap();
    // Shapes with a variance, or the mean of the draws would not settle.
    for (name, shape) in [("objects_shape", 4.0), ("gap_shape", 4.0), ("shape", 4.0), ("think_shape", 4.0)] {
        spec.set(name, &base::Value::Number(shape)).unwrap().unwrap();
    }
    let (objects, gaps, segments, thinks) = pages(&spec, 50_000);
    let mean = |list: &mut dyn Iterator<Item = f64>| {
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for x in list {
            (n, sum, squares) = (n + 1.0, sum + x, squares + x * x);
        }
        (sum / n, ((squares / n - sum / n * sum / n) / n).sqrt())
    };
    let number = Sizes::counted(SizeLaw::Pareto, 3.0, 4.0, ["", ""]).unwrap().mean_segments();
    let size = Sizes::new(SizeLaw::Pareto, Bytes(12_000), 4.0, 1000).unwrap().mean_segments();
    // Segments of a page: independent numbers and sizes multiply in the mean (Wald).
    let mut rest = segments.iter().map(|&x| f64::from(x));
    let mut sums = objects.iter().map(|&n| rest.by_ref().take(n as usize).sum::<f64>());
    for (what, (got, error), expected) in [
        ("objects of a page", mean(&mut objects.iter().map(|&n| f64::from(n))), number),
        ("segments of an object", mean(&mut segments.iter().map(|&n| f64::from(n))), size),
        ("segments of a page", mean(&mut sums), number * size),
        ("seconds between objects", mean(&mut gaps.iter().map(|gap| gap.as_secs())), 0.5),
        ("seconds between pages", mean(&mut thinks.iter().map(|think| think.as_secs())), 10.0),
    ] {
        // Four standard errors.
        assert!((got - expected).abs() < 4.0 * error, "{what}: {got} instead of {expected}, within {error}");
    }
}

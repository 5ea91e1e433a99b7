//! Response functions: the average window of every law that has one in closed form, under a loss every 1/p segments at
//! a constant round-trip time, ACK by ACK. All windows in segments.

extern crate elephan_law as law;

use base::{Span, Time};
use law::{AckSample, CongestionControl, CongestionEvent, LawSpec, Signal, StartSpec};

/// Mean window and window at the losses.
struct Sawtooth {
    mean: f64,
    peak: f64,
}

/// A law alone at that round-trip time, from a first loss at the window `guess` until it has forgotten it. Without fast
/// convergence, which a flow alone should not have (RFC 9438, Section 4.7): it would answer its own ripple by yielding.
fn sawtooth(law: &str, p: f64, rtt_ms: u64, guess: f64) -> Sawtooth {
    const SETTLE: u64 = 24;
    const CYCLES: u64 = 4;
    let mut law = LawSpec::named(law).expect("registered");
    if let Some(set) = law.set("fast_convergence", &base::Value::Bool(false)) {
        set.expect("a switch");
    }
    let start = StartSpec::named("classic").expect("registered");
    let mut control = law.build(&start, guess, 2.0).expect("defaults");
    let (rtt, segments) = (Span::millis(rtt_ms), (1.0 / p).round() as u64);
    let (mut now, mut round_ends, mut begin) = (Time::ZERO, Time::ZERO, Time::ZERO);
    let (mut delivered, mut peaks) = (0, 0.0);
    control.on_congestion(&CongestionEvent::plain(now, Signal::Loss, rtt));
    for cycle in 0..SETTLE + CYCLES {
        if cycle == SETTLE {
            (begin, peaks) = (now, 0.0);
        }
        for _ in 0..segments {
            // A full window is acknowledged evenly within a round-trip time.
            now += Span((rtt.0 as f64 / control.cwnd()) as u64);
            delivered += 1;
            let round_start = now >= round_ends;
            if round_start {
                round_ends = now + rtt;
            }
            control.on_ack(&AckSample { delivered, round_start, ..AckSample::plain(now, rtt) });
        }
        peaks += control.cwnd();
        control.on_congestion(&CongestionEvent { delivered, ..CongestionEvent::plain(now, Signal::Loss, rtt) });
    }
    let rounds = (now - begin).as_secs() / rtt.as_secs();
    Sawtooth { mean: (segments * CYCLES) as f64 / rounds, peak: peaks / CYCLES as f64 }
}

/// Whether `value` is `expected` up to the relative `tolerance`.
fn close(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{what}: {value} instead of {expected}");
}

/// Mean and peak of AIMD(a, b): sqrt(a (2 - b) / (2 b p)), and the mean over 1 - b/2.
fn aimd(a: f64, b: f64, p: f64) -> (f64, f64) {
    let mean = (a * (2.0 - b) / (2.0 * b * p)).sqrt();
    (mean, mean / (1.0 - 0.5 * b))
}

/// The argument at which the rising `f` is zero, between `low` and `high`.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}

const LOSS_RATES: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];

#[test]
fn reno_averages_1_22_over_the_square_root_of_p() {
    for p in LOSS_RATES {
        let (mean, peak) = aimd(1.0, 0.5, p);
        let measured = sawtooth("reno", p, 100, peak);
        // The growth is that of the middle of the integer interval: second order in 1/w, 0.2 % at twelve segments.
        close(measured.mean, mean, 0.003, "mean");
        close(measured.peak, peak, 0.003, "peak");
    }
}

#[test]
fn constant_rate_gives_every_round_trip_time_the_same_rate() {
    for p in LOSS_RATES {
        for ms in [50, 100, 200, 400] {
            let rtt = ms as f64 / 1e3;
            let (mean, peak) = aimd(100.0 * rtt * rtt, 0.5, p);
            let measured = sawtooth("constant-rate", p, ms, peak);
            // As for Reno; at 50 ms the first window is six segments.
            close(measured.mean, mean, 0.012, "mean");
            close(measured.mean / rtt, (150.0 / p).sqrt(), 0.012, "segments per second");
        }
    }
}

#[test]
fn hybla_has_the_rate_of_its_reference_from_there_on() {
    for p in LOSS_RATES {
        for ms in [25, 50, 100, 300] {
            let rho = ms as f64 / 25.0;
            let (mean, peak) = aimd(rho * rho, 0.5, p);
            let measured = sawtooth("hybla", p, ms, peak);
            close(measured.mean, mean, 0.003, "mean");
            // 1.22 / sqrt(p) segments in 25 ms.
            close(measured.mean / rho, (1.5 / p).sqrt(), 0.003, "share of the reference's");
        }
    }
}

#[test]
fn scalable_peaks_at_eight_hundredths_over_p() {
    for p in [1e-3, 1e-4, 1e-5] {
        let measured = sawtooth("scalable", p, 100, 0.08 / p);
        // 1/p segments of 0.01 each are an eighth of the peak: nothing but one segment's gain in the counting.
        close(measured.peak, 0.08 / p, 3e-4, "peak");
        // Gaining 0.01 w per round trip continuously, an eighth takes ln(8/7) / 0.01 = 13.35 round trips.
        close(measured.mean, 0.01 / libm::log(8.0 / 7.0) / p, 3e-4, "mean");
    }
}

#[test]
fn highspeed_averages_0_12_over_p_to_the_0_835() {
    for p in [1e-4, 1e-5, 1e-6] {
        let expected = 0.12 / libm::pow(p, 0.835);
        // RFC 3649 takes a and b at the average window, while they vary along the sawtooth, and rounds its constants.
        close(sawtooth("highspeed", p, 100, expected).mean, expected, 0.015, "highspeed");
        // NR-HSTCP at its reference; its p(w) is the rounded one.
        close(sawtooth("nr-hstcp", p, 100, expected).mean, expected, 0.006, "nr-hstcp");
    }
    // Equal recovery times at equal rates: under the same losses the rate is the same at any round-trip time.
    let (short, long) = (sawtooth("nr-hstcp", 1e-5, 100, 2100.0), sawtooth("nr-hstcp", 1e-5, 250, 5250.0));
    // What differs is where the whole segments lie.
    close(long.mean / 2.5, short.mean, 1e-3, "at 250 ms");
}

#[test]
fn cubic_averages_what_rfc_9438_tells() {
    // Figures 6, 10 and 12: mean and peak of the cubic function.
    let cubic = |p: f64, rtt: f64| {
        let k = libm::pow(4.0 * 0.3 / (0.4 * 3.7) * rtt / p, 0.25);
        (rtt / (p * k), 0.4 * k * k * k / 0.3)
    };
    // Figure 3 with alpha = 9/17, beta = 0.7: Reno's own mean, by the choice of alpha.
    let friendly = |p: f64| aimd(9.0 / 17.0, 0.3, p);
    // Tables 1 and 2, C = 0.4: loss rate, at 100 ms, at 10 ms.
    let tables =
        [(1e-2, 12.0, 12.0), (1e-3, 38.0, 38.0), (1e-4, 187.0, 120.0), (1e-5, 1054.0, 379.0), (1e-6, 5926.0, 1200.0)];
    for (p, at_100, at_10) in tables {
        close(friendly(p).0, (1.5 / p).sqrt(), 1e-9, "alpha");
        for (ms, printed) in [(100, at_100), (10, at_10)] {
            let (mean, peak) = cubic(p, ms as f64 / 1e3);
            let (reno, reno_peak) = friendly(p);
            // From the fixed point: losses on the plateau bring the next maximum nearer to it only by a cube.
            let measured = sawtooth("cubic", p, ms, peak.max(reno_peak));
            // The table takes the larger of two formulas, and the better of two growths along a sawtooth is more than
            // either: 3.1 % where they are nearly equal. Its formula for Reno has 1.2 instead of 1.22: 2.1 %.
            close(measured.mean, printed, 0.053, "table");
            if mean > 1.5 * reno {
                // The proof replaces a sum over K/RTT round trips by an integral.
                close(measured.mean, mean, 0.01, "Figure 6");
                close(measured.peak, peak, 0.01, "Figure 12");
            } else if reno > 1.3 * mean {
                // As for Reno above.
                close(measured.mean, reno, 0.003, "Figure 3");
                close(measured.peak, reno_peak, 0.003, "Figure 3, peak");
            }
        }
    }
}

#[test]
fn htcp_averages_what_its_alpha_integrates_to() {
    // A constant round-trip time: beta = 0.8. In T seconds the window regains 0.2 of its peak W, at 0.4 alpha(t) per R:
    // W = 2/R (T + 5x² + x³/12), x = T - 1, and 1/p = 0.8 W T/R + 0.4/R² (T²/2 + 5x³/3 + x⁴/48).
    let r = 0.1;
    let peak = |t: f64| {
        let x = (t - 1.0).max(0.0);
        2.0 / r * (t + 5.0 * x * x + x * x * x / 12.0)
    };
    for p in LOSS_RATES {
        let t = root(0.0, 1e3, |t| {
            let x = (t - 1.0).max(0.0);
            let gained = 0.5 * t * t + 5.0 * x * x * x / 3.0 + x * x * x * x / 48.0;
            0.8 * peak(t) * t / r + 0.4 / (r * r) * gained - 1.0 / p
        });
        let measured = sawtooth("htcp", p, 100, peak(t));
        // alpha for the middle of each round trip: exact but for the one in which it begins to rise. At 13 segments the
        // middle of the interval, as for Reno.
        close(measured.mean, r / (p * t), 0.002, "mean");
        close(measured.peak, peak(t), 0.002, "peak");
    }
}

#[test]
fn bic_averages_what_its_search_integrates_to() {
    let (s_max, s_min, b) = (32.0, 0.01, 0.125);
    for p in [1e-3, 1e-4, 1e-5] {
        // From (1 - b) W at the largest step to 2 s_max below W, then exp(-n/2) of the distance after n round trips.
        let rounds = |w: f64| {
            let far = (b * w - 2.0 * s_max).max(0.0);
            (far / s_max, 2.0 * libm::log((b * w - far) / (2.0 * s_min)))
        };
        let peak = root(20.0, 1e7, |w| {
            let (climbing, searching) = rounds(w);
            let far = climbing * s_max;
            let climbed = climbing * ((1.0 - b) * w + 0.5 * far);
            let searched = searching * w - 2.0 * (b * w - far - 2.0 * s_min);
            climbed + searched - 1.0 / p
        });
        let (climbing, searching) = rounds(peak);
        let measured = sawtooth("bic", p, 100, peak);
        // At 1e-3 the whole search has ten segments and begins somewhere within one.
        let tolerance = if p > 5e-4 { 0.016 } else { 4e-4 };
        close(measured.mean, 1.0 / p / (climbing + searching), tolerance, "mean");
        close(measured.peak, peak, tolerance, "peak");
        if p < 2e-5 {
            // The paper's own approximation (Section IV) halves the distance each round trip: a shorter search.
            let (a, c) = (b * (2.0 - b) / (2.0 * s_max), s_max - s_min);
            let log = libm::log2(s_max / s_min) + 0.5 * (2.0 - b);
            let printed = (-log + (log * log + 4.0 * a * (c + 1.0 / p)).sqrt()) / (2.0 * a);
            close(measured.peak, printed, 0.05, "the paper's peak");
        }
    }
}

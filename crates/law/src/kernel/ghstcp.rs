//! Gentle HighSpeed TCP, bit for bit that of `crates/bpf/kernel/ghstcp.h`.
//!
//! Source: Zhang, Hasegawa and Murata 2005, Section 4. Differs from [`crate::ghstcp`]: times in microseconds, tests over
//! at most 65535 samples, the threshold by three steps of a continued fraction; no sliding tests.

use super::arithmetic::{ONE, grow, keep, middle};
use super::{Signal, Twin, highspeed, micros, of};
use crate::ghstcp;
use base::{ParamError, Span};

/// Samples of a test, and how far they may lie from the first one, in microseconds.
const MAX_SAMPLES: u32 = 65_535;
const MAX_DEPARTURE: u64 = 1 << 23;
const MAX_RISE: u64 = 1 << 22;

/// As they lie in the BPF object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    /// Growth and cuts.
    pub highspeed: highspeed::Params,
    /// Of 2^32.
    pub z_squared: u64,
    /// Samples of a test.
    pub least: u32,
    /// Samples of a test, in 1/256 of the window.
    pub factor: u32,
    /// Of the clock that measures round-trip times, in microseconds; 0 for an exact one.
    pub tick: u32,
    /// Padding, so that every byte is defined.
    pub spare: u32,
}

impl Params {
    /// From the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers.
    pub fn of(p: &ghstcp::Params) -> Result<Self, ParamError> {
        if p.window != ghstcp::Window::Tumbling {
            return Err(ParamError::new("window", "must be \"tumbling\" in the kernel, which keeps no samples"));
        }
        if p.z_threshold > 16.0 {
            return Err(ParamError::new("z_threshold", "must be at most 16 in the kernel"));
        }
        if p.min_samples > MAX_SAMPLES {
            return Err(ParamError::new("min_samples", "must be at most 65535 in the kernel"));
        }
        if !(1.0 / 256.0..=256.0).contains(&p.window_factor) {
            return Err(ParamError::new("window_factor", "must lie between 1/256 and 256 in the kernel"));
        }
        let tick = if p.rtt_clock == Span::ZERO { 0 } else { micros("rtt_clock", p.rtt_clock, 1 << 24)? };
        Ok(Self {
            highspeed: highspeed::Params::of(&p.highspeed())?,
            z_squared: of(p.z_threshold * p.z_threshold, 32),
            least: p.min_samples,
            factor: of(p.window_factor, 8) as u32,
            tick,
            spare: 0,
        })
    }
}

/// State of a socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    /// Growth.
    pub highspeed: highspeed::State,
    /// Departure of the first sample.
    pub departure: u64,
    /// Sums over the samples, in two's complement, of departures (x) and round-trip times (y) since the first.
    pub x: u64,
    /// As `x`.
    pub y: u64,
    /// As `x`.
    pub xx: u64,
    /// As `x`.
    pub yy: u64,
    /// As `x`.
    pub xy: u64,
    /// Round-trip time of the first sample.
    pub rtt: u32,
    /// Samples.
    pub count: u32,
    /// Samples that make a test.
    pub wanted: u32,
    /// Whether growth is Reno's.
    pub reno: u32,
}

/// tanh^2(z / sqrt(n - 3)), of 2^32.
fn critical(z_squared: u64, count: u32) -> u64 {
    let u = (z_squared / u64::from(count - 3)).min(4 << 32);
    let coarse = u >> 8;
    let t = (5 << 24) + coarse / 7;
    let t = (3 << 24) + (coarse << 24) / t;
    let t = (1 << 24) + (coarse << 24) / t;
    let inverse = (1 << 54) / t;
    (((u >> 2) * ((inverse * inverse) >> 30)) >> 28).min(0xffff_ffff)
}

/// A number that may be negative.
fn signed(x: u64) -> i128 {
    i128::from(x.cast_signed())
}

/// The 32 leading bits of a number above 0, and how long it is.
fn leading(x: i128) -> (u64, u32) {
    let log = x.ilog2();
    let bits = if log < 32 { x << (31 - log) } else { x >> (log - 31) };
    (bits as u64, log + 1)
}

impl State {
    fn clear(&mut self) {
        (self.x, self.y, self.xx, self.yy, self.xy, self.count) = (0, 0, 0, 0, 0, 0);
    }

    /// A reduction ends Reno mode and drops the samples.
    fn forget(&mut self) {
        self.clear();
        self.reno = 0;
        self.highspeed.grown = 0;
    }

    /// Whether the round-trip times of the samples rise.
    fn rises(&self, p: &Params) -> bool {
        let n = i128::from(self.count);
        let (x, y) = (signed(self.x), signed(self.y));
        let c = n * signed(self.xy) - x * y;
        let x = n * i128::from(self.xx) - x * x;
        let y = n * i128::from(self.yy) - y * y;
        if c <= 0 || x == 0 || y == 0 {
            return false;
        }
        let ((c, of_c), (x, of_x), (y, of_y)) = (leading(c), leading(x), leading(y));
        let (left, right) = (c * c, ((x * y) >> 32) * critical(p.z_squared, self.count));
        let (left_bits, right_bits) = (2 * of_c, of_x + of_y);
        if left_bits >= right_bits {
            let by = left_bits - right_bits;
            by >= 64 || left > right >> by
        } else {
            let by = right_bits - left_bits;
            by < 64 && left >> by > right
        }
    }
}

impl Twin for State {
    type Params = Params;
    const EVERY_RTT: bool = true;

    fn sample(&mut self, p: &Params, cwnd: u32, ack: &Signal) -> bool {
        if ack.rtt == 0 {
            return false;
        }
        let departure = ack.now.wrapping_sub(ack.rtt.into());
        let rtt = ack.rtt.checked_div(p.tick).map_or(ack.rtt, |ticks| ticks * p.tick);
        let (mut x, mut y) = (departure.wrapping_sub(self.departure), u64::from(rtt).wrapping_sub(self.rtt.into()));
        let far = |x: u64, limit| x.cast_signed().unsigned_abs() >= limit;
        if self.count > 0 && (far(x, MAX_DEPARTURE) || far(y, MAX_RISE)) {
            self.clear();
        }
        if self.count == 0 {
            let wanted = (u64::from(cwnd) * u64::from(p.factor)) >> 8;
            self.wanted = wanted.clamp(p.least.into(), MAX_SAMPLES.into()) as u32;
            (self.departure, self.rtt) = (departure, rtt);
            (x, y) = (0, 0);
        }
        self.count += 1;
        self.x = self.x.wrapping_add(x);
        self.y = self.y.wrapping_add(y);
        self.xx = self.xx.wrapping_add(x.wrapping_mul(x));
        self.yy = self.yy.wrapping_add(y.wrapping_mul(y));
        self.xy = self.xy.wrapping_add(x.wrapping_mul(y));
        if self.count < self.wanted {
            return false;
        }
        self.reno = self.rises(p).into();
        self.clear();
        true
    }

    fn avoid(&mut self, p: &Params, cwnd: u32, ack: &Signal) -> u32 {
        let gain = if self.reno > 0 { ONE } else { p.highspeed.a(middle(cwnd)) };
        grow(&mut self.highspeed.grown, gain, cwnd, ack.acked)
    }

    fn backoff(&mut self, p: &Params, cwnd: u32, loss: &Signal) -> u32 {
        self.forget();
        self.highspeed.backoff(&p.highspeed, cwnd, loss)
    }

    fn timeout(&mut self, _p: &Params, cwnd: u32, _loss: &Signal) -> u32 {
        self.forget();
        keep(cwnd, ONE / 2)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("mode", f64::from(self.reno));
        put("samples", f64::from(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Stream;

    #[test]
    fn the_threshold_is_the_square_of_the_simulators() {
        let p = Params::of(&ghstcp::Params::default()).unwrap();
        for n in [8, 10, 38, 100, 417, 1000, 10_000, 65_535] {
            let exact = libm::tanh(3.09 / libm::sqrt(f64::from(n - 3)));
            let found = libm::sqrt(critical(p.z_squared, n) as f64 / 4_294_967_296.0);
            // Three steps of the fraction: at 8 samples its argument is 1.4. At 65535 r^2 has 156,000 units of 2^-30.
            let limit = if n < 38 { 2e-4 } else { 4e-6 };
            assert!((found / exact - 1.0).abs() < limit, "r({n}) = {found}, not {exact}");
        }
    }

    #[test]
    fn verdicts_are_those_of_floating_point() {
        let p = Params::of(&ghstcp::Params::default()).unwrap();
        let mut chance = Stream::new(7, 0, ("test", 0), "samples");
        let (mut rising, mut near) = (0, 0);
        for round in 0..4000_u32 {
            let n = 8 + round % 700;
            let slope = chance.unit() * 0.4;
            let noise = 1 + chance.below(400);
            let mut twin = State::default();
            let p = Params { least: n, factor: 0, ..p.clone() };
            let samples: Vec<(f64, f64)> = (0..n)
                .map(|i| {
                    let now = 5_000_000 + u64::from(i) * 100 + chance.below(50);
                    let rtt = 100_000 + (f64::from(i) * slope) as u32 + chance.below(noise) as u32;
                    twin.sample(&p, 0, &sampled(now, rtt));
                    ((now - u64::from(rtt)) as f64, f64::from(rtt))
                })
                .collect();
            let r = correlation(&samples);
            let z = 0.5 * libm::log((1.0 + r) / (1.0 - r)) * libm::sqrt(f64::from(n - 3));
            // The threshold is exact to 2e-4.
            if (z - 3.09).abs() < 2e-3 {
                near += 1;
                continue;
            }
            assert_eq!(twin.reno > 0, z > 3.09, "round {round}: r = {r}, z = {z}, n = {n}");
            rising += twin.reno;
        }
        assert!((500..3500).contains(&rising) && near < 40, "{rising} rising, {near} too near to tell");
    }

    fn sampled(now: u64, rtt: u32) -> Signal {
        Signal { now, rtt, ..Signal::default() }
    }

    fn correlation(samples: &[(f64, f64)]) -> f64 {
        let n = samples.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|s| s.0), mean(|s| s.1));
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>();
        let (xx, yy) = (sum(&|s| (s.0 - x) * (s.0 - x)), sum(&|s| (s.1 - y) * (s.1 - y)));
        let r = sum(&|s| (s.0 - x) * (s.1 - y)) / libm::sqrt(xx * yy);
        if r.is_nan() { 0.0 } else { r.clamp(-1.0 + 1e-9, 1.0 - 1e-9) }
    }

    #[test]
    fn flat_and_falling_times_do_not_rise_and_a_cut_ends_renos_mode() {
        let p = Params::of(&ghstcp::Params::default()).unwrap();
        let mut twin = State::default();
        let run = |twin: &mut State, rtt: &dyn Fn(u32) -> u32| {
            (0..100).any(|i| twin.sample(&p, 100, &sampled(9_000_000 + 100 * u64::from(i), rtt(i))))
        };
        assert!(run(&mut twin, &|i| 100_000 + i) && twin.reno == 1);
        assert!(run(&mut twin, &|_| 100_000) && twin.reno == 0);
        assert!(run(&mut twin, &|i| 100_000 - i) && twin.reno == 0);
        assert!(run(&mut twin, &|i| 100_000 + i) && twin.reno == 1);
        assert_eq!(twin.backoff(&p, 100, &Signal::default()), 55);
        assert_eq!((twin.reno, twin.count), (0, 0));
    }
}

//! Gentle HighSpeed TCP: HighSpeed that grows like Reno while its round-trip times increase with time, because then a queue
//! builds up. They increase if Fisher's Z of their correlation with the departure times exceeds `z_threshold`.
//!
//! Source: Z. Zhang, G. Hasegawa, M. Murata, Performance Analysis and Improvement of HighSpeed TCP with TailDrop/RED
//! Routers, IEICE Trans. Commun. E88-B(6), 2005, Section 4. Where the source is silent: each test uses N samples, with N
//! from the window at the first sample. Samples are dropped at a reduction, and none is taken in slow start or while the
//! window is not the limit. A mode holds from the ACK that decides it; a timeout also ends Reno mode. With delayed ACKs N
//! samples take two round trips. The sliding test uses the last N samples at every ACK.

use crate::highspeed::Highspeed;
use crate::kernel::Arithmetic;
use crate::{AckSample, CongestionEvent, Law, Needs, Step, WindowLaw, highspeed, on_grid};
use base::param::ParamType;
use base::{Card, ParamError, Registered, Span, Time, Value};
use std::collections::VecDeque;

mod trend;

use trend::Trend;

/// Largest number of samples in a test: a sliding test stores them all, with 16 bytes each.
const MAX_SAMPLES: u32 = 1 << 20;

/// Correlations are limited to this distance from one, so that Z stays finite.
const MARGIN: f64 = 1e-6;

/// Samples that a test uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The samples since the last test; a test is made as soon as there are N.
    Tumbling,
    /// The last N samples; a test is made at every ACK.
    Sliding,
}

impl ParamType for Window {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "tumbling" => Ok(Self::Tumbling),
            Value::Text(word) if word == "sliding" => Ok(Self::Sliding),
            _ => Err("must be \"tumbling\" or \"sliding\"".into()),
        }
    }

    fn write(&self) -> Value {
        let word = match self {
            Self::Tumbling => "tumbling",
            Self::Sliding => "sliding",
        };
        Value::Text(word.into())
    }
}

base::params! {
    /// RFC 3649, Section 5, and Zhang, Hasegawa & Murata 2005.
    pub struct Params {
        /// Window up to which it is Reno.
        low_window: f64 = 38.0, "segments";
        /// Loss rate at `low_window`.
        low_p: f64 = 1e-3, "losses/packet";
        /// Window reached at `high_p`.
        high_window: f64 = 83_000.0, "segments";
        /// Loss rate at `high_window`.
        high_p: f64 = 1e-7, "losses/packet";
        /// Share of the window given up at `high_window`.
        high_decrease: f64 = 0.1, "";
        /// Z above which round-trip times are taken to rise; 3.09 is passed by chance once in a thousand times.
        z_threshold: f64 = 3.09, "";
        /// Fewest samples of a test.
        min_samples: u32 = 8, "samples";
        /// Samples of a test, as a share of the congestion window.
        window_factor: f64 = 1.0, "";
        /// Whether a test is made per window of samples ("tumbling") or on every ACK over the last ones ("sliding").
        window: Window = Window::Tumbling, "";
        /// Tick of the clock that measures round-trip times, which are cut to whole ticks; 0 s for an exact one.
        rtt_clock: Span = Span::ZERO, "";
        /// Numbers it is computed in: floating ones ("exact") or the Linux kernel's whole ones ("kernel").
        arithmetic: Arithmetic = Arithmetic::Exact, "";
    }
}

impl Params {
    /// Parameters of its HighSpeed part.
    pub(crate) fn highspeed(&self) -> highspeed::Params {
        highspeed::Params {
            low_window: self.low_window,
            low_p: self.low_p,
            high_window: self.high_window,
            high_p: self.high_p,
            high_decrease: self.high_decrease,
            arithmetic: self.arithmetic,
        }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ghstcp {
    highspeed: Highspeed,
    /// State of the test; boxed, so that flows with other laws do not need memory for it.
    test: Box<Test>,
    /// Whether the window grows like Reno.
    reno: bool,
    /// Clock tick in picoseconds; one for an exact clock.
    tick: u64,
    /// Growth per acknowledged segment, and the window at which it must be recomputed.
    gain: f64,
    below: f64,
}

impl Registered for Ghstcp {
    type Params = Params;
    const CARD: Card = Card {
        name: "ghstcp",
        aliases: &["gentle-highspeed", "gHSTCP"],
        title: "Gentle HighSpeed TCP",
        source: "Zhang, Hasegawa and Murata 2005",
        differs: "The paper leaves open when to test: once per window of as many samples as the congestion window had \
                  segments, from none after each reduction. Exact response function as in highspeed. A correlation knows \
                  no scale: with an exact clock the microseconds that new segments wait behind their own clump count as a \
                  rising queue; ns-2's ticks of 10 ms (rtt_clock) hide them.",
    };
}

impl Law for Ghstcp {
    fn new(p: &Params) -> Result<Self, ParamError> {
        let highspeed = Highspeed::new(&p.highspeed())?;
        if p.z_threshold <= 0.0 {
            return Err(ParamError::new("z_threshold", "must be above 0"));
        }
        if p.min_samples < 4 || p.min_samples > MAX_SAMPLES {
            return Err(ParamError::new("min_samples", "must lie between 4 and 1048576"));
        }
        if p.window_factor <= 0.0 {
            return Err(ParamError::new("window_factor", "must be above 0"));
        }
        let test = Test {
            threshold: p.z_threshold,
            factor: p.window_factor,
            least: p.min_samples,
            trend: Trend::default(),
            ring: (p.window == Window::Sliding).then(VecDeque::new),
            wanted: 0,
            judged: 0,
            critical: 0.0,
            r: 0.0,
        };
        let tick = p.rtt_clock.0.max(1);
        Ok(Self { highspeed, test: Box::new(test), reno: false, tick, gain: 0.0, below: 0.0 })
    }
}

impl WindowLaw for Ghstcp {
    fn needs(&self) -> Needs {
        Needs { every_rtt: true, ..Needs::default() }
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        if let Some(rtt) = ack.rtt
            && let Some(rising) = self.test.sample(cwnd, (ack.now.0.saturating_sub(rtt.0), self.read(rtt)))
            && rising != self.reno
        {
            (self.reno, self.below) = (rising, 0.0);
        }
        if cwnd >= self.below {
            // As for laws with `per_rtt`: the gain is constant in an integer interval, and taken at its middle.
            let middle = cwnd as u64 as f64 + 0.5;
            let a = if self.reno { 1.0 } else { self.highspeed.a(middle) };
            (self.gain, self.below) = (on_grid(a / middle), middle + 0.5);
        }
        cwnd + self.gain * ack.acked
    }

    fn step(&self) -> Option<Step> {
        let acks = self.test.left();
        (acks > 0).then_some(Step { gain: self.gain, below: self.below, acks })
    }

    fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
        for (now, rtt) in samples {
            self.test.take((now.0.saturating_sub(rtt.0), self.read(rtt)));
        }
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        self.test.clear();
        (self.reno, self.below) = (false, 0.0);
        self.highspeed.backoff(cwnd, event)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("mode", f64::from(u8::from(self.reno)));
        put("r", self.test.r);
        put("z", fisher_z(self.test.r, self.test.judged));
        put("samples", f64::from(self.test.trend.count()));
    }
}

impl Ghstcp {
    /// A round-trip time as the clock measures it, in picoseconds.
    fn read(&self, rtt: Span) -> u64 {
        if self.tick == 1 { rtt.0 } else { rtt.0 / self.tick * self.tick }
    }
}

/// The test whether round-trip times increase.
#[derive(Clone, Debug)]
struct Test {
    threshold: f64,
    /// N is this factor times the window, but at least `least`.
    factor: f64,
    least: u32,
    trend: Trend,
    /// The samples, oldest first, if the test slides.
    ring: Option<VecDeque<(u64, u64)>>,
    /// N of the test in progress.
    wanted: u32,
    /// N of the last test, the threshold of the correlation for that N, and the measured correlation.
    judged: u32,
    critical: f64,
    r: f64,
}

impl Test {
    /// Takes a sample (departure, round-trip time); returns the decision if this sample completes a test.
    fn sample(&mut self, cwnd: f64, sample: (u64, u64)) -> Option<bool> {
        if !self.trend.admits(sample) {
            self.clear();
        }
        if self.ring.is_some() || self.trend.count() == 0 {
            self.wanted = ((self.factor * cwnd) as u32).clamp(self.least, MAX_SAMPLES);
        }
        self.trend.add(sample);
        if let Some(ring) = &mut self.ring {
            ring.push_back(sample);
            while self.trend.count() > self.wanted
                && let Some(oldest) = ring.pop_front()
            {
                self.trend.remove(oldest);
            }
            self.trend.follow(ring[0]);
        }
        (self.trend.count() == self.wanted).then(|| self.judge())
    }

    /// Number of further samples that neither begin nor complete a test; 0 if the test slides.
    fn left(&self) -> u32 {
        if self.ring.is_some() || self.trend.count() == 0 { 0 } else { self.wanted - 1 - self.trend.count() }
    }

    /// Takes a sample that neither begins nor completes a test ([`Self::left`]).
    fn take(&mut self, sample: (u64, u64)) {
        debug_assert!(self.trend.admits(sample), "round-trip times are below an hour");
        self.trend.add(sample);
    }

    fn judge(&mut self) -> bool {
        if self.judged != self.wanted {
            self.judged = self.wanted;
            self.critical = critical_r(self.threshold, self.wanted);
        }
        self.r = self.trend.correlation();
        if self.ring.is_none() {
            self.clear();
        }
        self.r.min(1.0 - MARGIN) > self.critical
    }

    fn clear(&mut self) {
        self.trend = Trend::default();
        if let Some(ring) = &mut self.ring {
            ring.clear();
        }
    }
}

/// Fisher's transform of a correlation of `n` samples; without a correlation it has a normal distribution with variance
/// one.
fn fisher_z(r: f64, n: u32) -> f64 {
    let r = r.clamp(MARGIN - 1.0, 1.0 - MARGIN);
    0.5 * libm::log((1.0 + r) / (1.0 - r)) * libm::sqrt(f64::from(n.max(3) - 3))
}

/// The correlation of `n` samples at which Z is `threshold`.
fn critical_r(threshold: f64, n: u32) -> f64 {
    libm::tanh(threshold / libm::sqrt(f64::from(n.max(4) - 3)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{Path, rounds};
    use crate::{CongestionControl, Control, LawSpec, Signal, StartSpec};

    fn law() -> Ghstcp {
        Ghstcp::new(&Params::default()).unwrap()
    }

    fn sliding() -> Ghstcp {
        Ghstcp::new(&Params { window: Window::Sliding, ..Params::default() }).unwrap()
    }

    #[test]
    fn fishers_z_has_the_values_of_the_table() {
        for (r, n, z) in [(0.1, 1000, 3.168), (0.0975, 1000, 3.088), (0.3, 100, 3.048), (0.5, 38, 3.250)] {
            // The values are printed with three decimals.
            assert!((fisher_z(r, n) - z).abs() < 5.1e-4, "Z({r}, {n}) = {}", fisher_z(r, n));
        }
        assert!(fisher_z(1.0, 1000).is_finite());
    }

    #[test]
    fn the_critical_correlation_has_the_values_of_the_table() {
        let table = [(38, 0.480), (100, 0.304), (417, 0.151), (1000, 0.0976), (1600, 0.0772), (3333, 0.0535)];
        for (n, r) in table.into_iter().chain([(10_000, 0.0309)]) {
            // The values are printed with three digits; they were computed from the exact quantile 3.0902, printed as 3.09.
            let critical = critical_r(3.0902, n);
            assert!((critical - r).abs() < if r > 0.1 { 5.1e-4 } else { 5.1e-5 }, "r*({n}) = {critical}");
            assert!((fisher_z(critical, n) - 3.0902).abs() < 1e-9, "the two functions are inverse to each other");
        }
    }

    /// Feeds `count` ACKs, 100 us apart, at window `w`; `rtt` gives their round-trip times in us.
    fn feed(law: &mut Ghstcp, w: f64, from: u64, count: u64, rtt: impl Fn(u64) -> u64) {
        for i in from..from + count {
            law.avoid(w, &AckSample::plain(Time::ZERO + Span::micros(1_000_000 + 100 * i), Span::micros(rtt(i))));
        }
    }

    #[test]
    fn a_coarse_clock_does_not_see_microseconds() {
        // First 500 us of drift within one clock tick of 10 ms; then 20 ms, which are two ticks.
        let mut law = Ghstcp::new(&Params { rtt_clock: Span::millis(10), ..Params::default() }).unwrap();
        feed(&mut law, 500.0, 0, 500, |i| 100_000 + i);
        assert!(!law.reno && law.test.r == 0.0);
        feed(&mut law, 500.0, 500, 500, |i| 100_000 + 40 * (i - 500));
        assert!(law.reno);
    }

    #[test]
    fn it_is_reno_while_rtts_rise_and_highspeed_otherwise() {
        for mut law in [law(), sliding()] {
            feed(&mut law, 500.0, 0, 499, |i| 100_000 + i);
            assert!(!law.reno, "the test needs as many samples as the window has segments");
            feed(&mut law, 500.0, 499, 1, |i| 100_000 + i);
            assert!(law.reno && law.test.r > 0.999);
            // A drop-tail queue at its limit is long but no longer changes.
            feed(&mut law, 500.0, 500, 500, |_| 100_500);
            assert!(!law.reno && law.test.r == 0.0);
            // A draining queue is not a growing queue.
            feed(&mut law, 500.0, 1000, 500, |i| 101_500 - i);
            assert!(!law.reno && law.test.r < -0.999);
        }
    }

    #[test]
    fn samples_without_a_round_trip_time_do_not_count() {
        let mut law = law();
        for i in 0..2000 {
            law.avoid(500.0, &AckSample { rtt: None, ..AckSample::plain(Time(i), Span::millis(100)) });
        }
        assert_eq!(law.test.trend.count(), 0);
    }

    #[test]
    fn a_reduction_is_that_of_highspeed_in_both_modes_ends_reno_mode_and_drops_the_samples() {
        let mut law = law();
        feed(&mut law, 5000.0, 0, 5100, |i| 100_000 + i);
        assert!(law.reno && law.test.trend.count() == 100);
        // Growth is Reno's, the cut is HighSpeed's.
        let ack = AckSample { rtt: None, ..AckSample::plain(Time(0), Span::millis(100)) };
        assert!((law.avoid(5000.0, &ack) - 5000.0 - 1.0 / 5000.5).abs() < 1e-9);
        let event = |signal| CongestionEvent::plain(Time(0), signal, Span::millis(100));
        let highspeed = Highspeed::new(&highspeed::Params::default()).unwrap();
        assert_eq!(law.backoff(5000.0, &event(Signal::Loss)), 5000.0 * (1.0 - highspeed.b(5000.0)));
        assert!(!law.reno && law.test.trend.count() == 0);
        assert!((law.avoid(5000.0, &ack) - 5000.0 - highspeed.a(5000.5) / 5000.5).abs() < 1e-9);
        assert_eq!(law.backoff(5000.0, &event(Signal::Timeout)), 2500.0);
    }

    fn control(name: &str) -> Control {
        LawSpec::named(name).unwrap().build(&StartSpec::named("classic").unwrap(), 2.0, 300.0).unwrap()
    }

    #[test]
    fn on_a_path_without_a_queue_it_is_highspeed_bit_for_bit() {
        let path = Path { base_rtt: Span::millis(100), bdp: 1e6 };
        let events = [(60, Signal::Loss), (70, Signal::Timeout), (90, Signal::Loss)];
        let one = rounds(&mut control("ghstcp"), path, &events, 120);
        assert_eq!(one, rounds(&mut control("highspeed"), path, &events, 120));
    }

    /// The window every 100 ms of a single sender at an unlimited queue that serves one segment every 100 us, 50 ms
    /// away in each direction. ACKs clock the sender; each segment waits behind those before it.
    fn alone(control: &mut Control, ticks: u64) -> Vec<f64> {
        let (base, service) = (Span::millis(100), Span::micros(100));
        let (mut flying, mut free) = (VecDeque::from([(Time::ZERO, Time::ZERO + base)]), Time::ZERO);
        let mut list = Vec::new();
        while (list.len() as u64) < ticks {
            let (left, now) = flying.pop_front().unwrap();
            if now.0 >= base.0 * (list.len() as u64 + 1) {
                list.push(control.cwnd());
            }
            control.on_ack(&AckSample { in_flight: flying.len() as f64, ..AckSample::plain(now, now - left) });
            while (flying.len() as u64) < control.cwnd() as u64 {
                free = free.max(now) + service;
                flying.push_back((now, free + base));
            }
        }
        list
    }

    #[test]
    fn it_is_in_reno_mode_when_the_path_is_full() {
        // 1000 segments fill the path. HighSpeed gains 5 to 8 per round trip on the way there, and continues.
        let (gentle, fast) = (alone(&mut control("ghstcp"), 220), alone(&mut control("highspeed"), 220));
        let full = gentle.iter().position(|&w| w >= 1000.0).unwrap();
        // At most a tenth later: a burst from slow start may look like a building queue for a test or two.
        let reference = fast.iter().position(|&w| w >= 1000.0).unwrap();
        assert!(full <= reference + reference / 10, "{full} instead of {reference} round trips");
        // From then on the window grows by one segment per round trip, and the round trips get longer. Before that, up
        // to two tests pass with HighSpeed's growth.
        let (gained, others) = (gentle[219] - gentle[full], fast[219] - fast[full]);
        let rounds = (219 - full) as f64;
        assert!(gained < rounds + 20.0, "{gained} segments in {rounds} round trips");
        assert!(others > 5.0 * rounds, "{others}");
    }

    #[test]
    fn names_its_windows_and_refuses_others() {
        let mut params = Params::default();
        params.set("window", &Value::Text("sliding".into())).unwrap().unwrap();
        assert_eq!((params.window, params.window.write()), (Window::Sliding, Value::Text("sliding".into())));
        let error = params.set("window", &Value::Text("rolling".into())).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "window: must be \"tumbling\" or \"sliding\"");
        assert!(Ghstcp::new(&Params { min_samples: 3, ..Params::default() }).is_err());
    }
}

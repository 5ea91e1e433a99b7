//! NR-HSTCP: HighSpeed's a(w) and b(w), evaluated at the window that would give the flow's rate at a reference segment size
//! and round-trip time, so that flows with equal rates recover in equal time.
//!
//! Source: D. Phillips, J. Hu, Enhancements for RTT-Fair HighSpeed TCP, IEEE GLOBECOM 2006, equations 1 to 9. p(w) is their
//! rounded 0.078 / w^1.2, not the exact line of [`crate::highspeed`]. a and b continue below `low_window`, as the paper's
//! numbers for one second show. Its RTT may be any estimate; the default is the smoothed one.
//! Differs from the source: laws do not know packet sizes, so the flow's own size is the parameter `mss`; a(w) uses a b(w)
//! of at least 0.01 (it would vanish above 567000 segments); a timeout keeps one half.

use crate::kernel::Arithmetic;
use crate::{AckSample, CongestionEvent, Law, Needs, Signal, WindowLaw};
use base::param::ParamType;
use base::{Card, ParamError, Registered, Span, Value};

/// Smallest b(w) in the formula of a(w), as in [`crate::highspeed`].
const MIN_B: f64 = 0.01;

/// Round-trip time that normalises the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// The smoothed one (RFC 6298).
    Srtt,
    /// The latest sample, once per round trip.
    Latest,
    /// The smallest seen.
    Min,
}

impl ParamType for Estimate {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(text) if text == "srtt" => Ok(Self::Srtt),
            Value::Text(text) if text == "latest" => Ok(Self::Latest),
            Value::Text(text) if text == "min" => Ok(Self::Min),
            _ => Err("must be \"srtt\", \"latest\" or \"min\"".into()),
        }
    }

    fn write(&self) -> Value {
        let word = match self {
            Self::Srtt => "srtt",
            Self::Latest => "latest",
            Self::Min => "min",
        };
        Value::Text(word.into())
    }
}

base::params! {
    /// Phillips and Hu 2006 with the parameters of RFC 3649.
    pub struct Params {
        /// The flow's own segment size.
        mss: f64 = 1500.0, "bytes";
        /// Segment size at which it is HighSpeed.
        reference_mss: f64 = 1500.0, "bytes";
        /// Round-trip time at which it is HighSpeed.
        reference_rtt: Span = Span::millis(100), "";
        /// Round-trip time that normalises the window: srtt, latest or min.
        rtt: Estimate = Estimate::Srtt, "";
        /// Least share of the window given up on loss.
        min_decrease: f64 = 0.1, "";
        /// Largest share of the window given up on loss.
        max_decrease: f64 = 0.5, "";
        /// Window at which b(w) is one half.
        low_window: f64 = 38.0, "segments";
        /// Window at which b(w) is `high_decrease`.
        high_window: f64 = 83_000.0, "segments";
        /// Share of the window given up at `high_window`.
        high_decrease: f64 = 0.1, "";
        /// Loss rate of the response function at a window of one segment.
        response_factor: f64 = 0.078, "losses/packet";
        /// Exponent of the response function.
        response_exponent: f64 = 1.2, "";
        /// Numbers it is computed in: floating ones ("exact") or the Linux kernel's whole ones ("kernel").
        arithmetic: Arithmetic = Arithmetic::Exact, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct NrHstcp {
    rtt: Estimate,
    min_decrease: f64,
    max_decrease: f64,
    ln_low_window: f64,
    /// db / d ln w.
    slope: f64,
    response_factor: f64,
    response_exponent: f64,
    /// mss / `reference_mss`.
    mss: f64,
    reference_rtt: Span,
    /// The last round-trip time divided by the reference; zero before the first sample.
    ratio: f64,
}

impl Registered for NrHstcp {
    type Params = Params;
    const CARD: Card = Card {
        name: "nr-hstcp",
        aliases: &["nrhstcp"],
        title: "Normalised-Rate HighSpeed TCP",
        source: "Phillips and Hu 2006",
        differs: "a(w) and b(w) go on below low_window, as the paper's numbers show; its segment size is a parameter.",
    };
}

impl Law for NrHstcp {
    const REMEMBERS: bool = false;
    const RESPONSE: Option<&'static str> = Some("PhillipsHu2006");

    fn new(p: &Params) -> Result<Self, ParamError> {
        for (field, value) in [("mss", p.mss), ("reference_mss", p.reference_mss)] {
            if !(1.0..=1e6).contains(&value) {
                return Err(ParamError::new(field, "must lie between 1 and 1e6"));
            }
        }
        if p.reference_rtt == Span::ZERO {
            return Err(ParamError::new("reference_rtt", "must be above 0"));
        }
        if p.min_decrease <= 0.0 || p.min_decrease >= 1.0 {
            return Err(ParamError::new("min_decrease", "must lie strictly between 0 and 1"));
        }
        if p.max_decrease < p.min_decrease || p.max_decrease >= 1.0 {
            return Err(ParamError::new("max_decrease", "must be at least min_decrease and below 1"));
        }
        if p.low_window < 1.0 {
            return Err(ParamError::new("low_window", "must be at least 1"));
        }
        if p.high_window <= p.low_window {
            return Err(ParamError::new("high_window", "must exceed low_window"));
        }
        if p.high_decrease <= 0.0 || p.high_decrease > 0.5 {
            return Err(ParamError::new("high_decrease", "must lie above 0 and not above 0.5"));
        }
        if p.response_factor <= 0.0 {
            return Err(ParamError::new("response_factor", "must be above 0"));
        }
        if p.response_exponent <= 0.0 || p.response_exponent >= 2.0 {
            return Err(ParamError::new("response_exponent", "must lie strictly between 0 and 2"));
        }
        Ok(Self {
            rtt: p.rtt,
            min_decrease: p.min_decrease,
            max_decrease: p.max_decrease,
            ln_low_window: libm::log(p.low_window),
            slope: (p.high_decrease - 0.5) / (libm::log(p.high_window) - libm::log(p.low_window)),
            response_factor: p.response_factor,
            response_exponent: p.response_exponent,
            mss: p.mss / p.reference_mss,
            reference_rtt: p.reference_rtt,
            ratio: 0.0,
        })
    }
}

impl WindowLaw for NrHstcp {
    fn needs(&self) -> Needs {
        Needs { rounds: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        self.update_ratio(ack.srtt, ack.rtt.unwrap_or(ack.srtt), ack.min_rtt);
    }

    fn per_rtt(&self, w: f64) -> Option<f64> {
        if self.ratio == 0.0 {
            return Some(1.0);
        }
        // Equations 7 and 9.
        let increase = self.a(self.normalised(w)) / self.mss * self.ratio * self.ratio;
        Some(increase.min(w).max(1.0))
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        self.update_ratio(event.srtt, event.rtt, event.min_rtt);
        if event.signal == Signal::Timeout || self.ratio == 0.0 {
            return cwnd * 0.5;
        }
        // Equations 6 and 8.
        cwnd * (1.0 - self.b(self.normalised(cwnd)).clamp(self.min_decrease, self.max_decrease))
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("rtt_ratio", self.ratio);
    }
}

impl NrHstcp {
    fn update_ratio(&mut self, srtt: Span, latest: Span, min: Span) {
        let rtt = match self.rtt {
            Estimate::Srtt => srtt,
            Estimate::Latest => latest,
            Estimate::Min => min,
        };
        self.ratio = rtt.0 as f64 / self.reference_rtt.0 as f64;
    }

    /// Equation 5: the window with the same rate at the reference.
    fn normalised(&self, cwnd: f64) -> f64 {
        cwnd * self.mss / self.ratio
    }

    /// Equation 1, at any window.
    pub(crate) fn b(&self, w: f64) -> f64 {
        0.5 + self.slope * (libm::log(w) - self.ln_low_window)
    }

    /// Equations 2 and 3, at any window.
    pub(crate) fn a(&self, w: f64) -> f64 {
        // Below 1e-11 segments b would exceed 2.
        let b = self.b(w).clamp(MIN_B, 1.9);
        self.response_factor * libm::pow(w, 2.0 - self.response_exponent) * 2.0 * b / (2.0 - b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;

    fn law(ms: f64, mss: f64) -> NrHstcp {
        sampled(&Params { mss, ..Params::default() }, ms)
    }

    fn sampled(p: &Params, ms: f64) -> NrHstcp {
        let mut law = NrHstcp::new(p).unwrap();
        law.on_sample(&AckSample::plain(Time::ZERO, Span::from_secs(ms / 1e3)));
        law
    }

    fn loss(ms: f64) -> CongestionEvent {
        CongestionEvent::plain(Time::ZERO, Signal::Loss, Span::from_secs(ms / 1e3))
    }

    #[test]
    fn agrees_with_the_independently_computed_values() {
        // cwnd, round-trip time [ms], segment size; normalised window, equation 7, equation 9, equation 8.
        let table = [
            (1000.0, 100.0, 1500.0, 1000.0, 7.7398, 7.7398, 0.3299),
            (1000.0, 200.0, 1500.0, 500.0, 20.160, 20.160, 0.3659),
            (1000.0, 50.0, 1500.0, 2000.0, 2.9373, 2.9373, 0.2938),
            (20.0, 250.0, 1500.0, 8.0, 2.1073, 2.1073, 0.5),
            (10.0, 100.0, 1500.0, 10.0, 0.3918, 1.0, 0.5),
            (3000.0, 250.0, 9000.0, 7200.0, 25.376, 25.376, 0.2272),
            (500.0, 100.0, 576.0, 192.0, 7.1518, 7.1518, 0.4157),
            (16.0, 1000.0, 576.0, 0.6144, 15.295, 15.295, 0.5),
            (5.0, 1000.0, 1500.0, 0.5, 5.098, 5.0, 0.5),
            (20_000.0, 250.0, 1500.0, 8000.0, 161.15, 161.15, 0.2217),
        ];
        for (cwnd, ms, mss, nc, raw, a, b) in table {
            let mut law = law(ms, mss);
            assert!((law.normalised(cwnd) / nc - 1.0).abs() < 1e-12, "nc({cwnd}, {ms}, {mss})");
            // Printed with five digits, three values with four: half a unit of the last digit is 1.3e-4 of 0.3918.
            let increase = law.a(nc) / law.mss * law.ratio * law.ratio;
            assert!((increase / raw - 1.0).abs() < 1.3e-4, "increase({cwnd}, {ms}, {mss}) = {increase}");
            let used = law.per_rtt(cwnd).unwrap();
            assert!((used / a - 1.0).abs() < 1.3e-4, "a({cwnd}, {ms}, {mss}) = {used}");
            let given_up = 1.0 - law.backoff(cwnd, &loss(ms)) / cwnd;
            assert!((given_up - b).abs() < 5.1e-5, "b({cwnd}, {ms}, {mss}) = {given_up}");
        }
    }

    /// Seconds from the cut back to the window that gives `mbps` at this round-trip time, as an integral.
    fn recovery(p: &Params, mbps: f64, ms: f64) -> f64 {
        let mut law = sampled(p, ms);
        let w = mbps * ms * 1e3 / (8.0 * p.mss);
        let kept = law.backoff(w, &loss(ms));
        let dx = (w - kept) / 20_000.0;
        (0..20_000).map(|i| dx / law.per_rtt(kept + (f64::from(i) + 0.5) * dx).unwrap()).sum::<f64>() * ms / 1e3
    }

    /// Round trips of that recovery, in steps of a(w) segments.
    fn rounds(p: &Params, mbps: f64, ms: f64) -> u32 {
        let mut law = sampled(p, ms);
        let w = mbps * ms * 1e3 / (8.0 * p.mss);
        let (mut x, mut rounds) = (law.backoff(w, &loss(ms)), 0);
        while x < w {
            x += law.per_rtt(x).unwrap();
            rounds += 1;
        }
        rounds
    }

    /// Plain HighSpeed with the rounded response function: the reference is the flow's own round-trip time.
    fn highspeed(ms: f64) -> Params {
        Params { reference_rtt: Span::from_secs(ms / 1e3), ..Params::default() }
    }

    #[test]
    fn recovers_in_the_times_of_the_papers_first_figure() {
        // Columns: rate [Mbit/s]; seconds for HighSpeed at 87.5, 100, 112.5 and 125 ms; seconds for NR at 75, 100, 150 and
        // 250 ms. Computed independently from the paper's equations.
        let table = [
            (1.0, [0.319, 0.417, 0.527, 0.651], [0.234, 0.417, 0.938, 1.492]),
            (5.0, [1.595, 2.069, 2.555, 3.044], [1.161, 2.063, 2.507, 2.507]),
            (10.0, [2.457, 2.886, 3.325, 3.774], [2.152, 2.886, 2.886, 2.886]),
            (20.0, [2.829, 3.323, 3.829, 4.347], [3.322, 3.323, 3.323, 3.323]),
            (50.0, [3.411, 4.006, 4.617, 5.241], [4.006, 4.006, 4.006, 4.006]),
            (100.0, [3.931, 4.617, 5.321, 6.041], [4.617, 4.617, 4.617, 4.617]),
            (500.0, [5.468, 6.423, 7.403, 8.406], [6.423, 6.423, 6.423, 6.423]),
            (1000.0, [6.306, 7.407, 8.538, 9.694], [7.407, 7.407, 7.407, 7.407]),
            (10_000.0, [10.13, 11.93, 14.66, 17.69], [11.93, 11.93, 11.93, 11.93]),
        ];
        for (mbps, plain, normalised) in table {
            // Printed with three digits after the point, the last row with two.
            let digits = if mbps < 5000.0 { 6e-4 } else { 6e-3 };
            for (ms, seconds) in [75.0, 100.0, 150.0, 250.0].into_iter().zip(normalised) {
                let t = recovery(&Params::default(), mbps, ms);
                assert!((t - seconds).abs() < digits, "NR at {mbps} Mbit/s and {ms} ms: {t} s");
            }
            for (ms, seconds) in [87.5, 100.0, 112.5, 125.0].into_iter().zip(plain) {
                // The table's HighSpeed grows by 0.95 to 1 segments between windows of 38 and 40.8, NR by one. That is a
                // difference of 0.07 round trips for these two rows, which pass through this range.
                let floor = if mbps == 5.0 || mbps == 10.0 { 0.075 * ms / 1e3 } else { 0.0 };
                let t = recovery(&highspeed(ms), mbps, ms);
                assert!((seconds - digits - floor..seconds + digits).contains(&t), "{mbps} Mbit/s, {ms} ms: {t} s");
            }
        }
    }

    #[test]
    fn reproduces_the_papers_four_second_example() {
        // According to the paper, losses every 4 s give these shares [Mbit/s] at these round-trip times with HighSpeed.
        let table = [(87.5, 96.0, 3.90, 45), (100.0, 43.0, 3.88, 39), (112.5, 22.0, 3.90, 35), (125.0, 13.0, 3.98, 33)];
        for (ms, mbps, seconds, count) in table {
            let t = recovery(&highspeed(ms), mbps, ms);
            // The independent integral has two decimals; the paper reads its rates from a plot.
            assert!((t - seconds).abs() < 6e-3, "{ms} ms: {t} s");
            assert!((t / 4.0 - 1.0).abs() < 0.032, "{ms} ms: {t} s");
            assert_eq!(rounds(&highspeed(ms), mbps, ms), count, "{ms} ms, in whole round trips");
        }
    }

    #[test]
    fn at_a_second_it_is_slow_start_up_to_eight_kilobytes() {
        // Windows at which equation 7 gives the window itself: 5.32 segments of 1500 bytes, 13.85 of 576.
        for (mss, w) in [(1500.0, 5.32), (576.0, 13.85)] {
            let law = law(1000.0, mss);
            // The windows have two decimals.
            assert_eq!(law.per_rtt(w - 0.01), Some(w - 0.01), "{mss} bytes");
            assert!(law.per_rtt(w + 0.01).unwrap() < w + 0.01, "{mss} bytes");
        }
    }

    #[test]
    fn with_longer_round_trips_growth_exceeds_renos_from_lower_windows_on() {
        for (ms, w, digit) in
            [(75.0, 73.5, 0.1), (100.0, 40.8, 0.1), (150.0, 18.1, 0.1), (250.0, 6.65, 0.01), (500.0, 1.76, 0.01)]
        {
            let law = law(ms, 1500.0);
            assert_eq!(law.per_rtt(w - digit), Some(1.0), "{ms} ms");
            assert!(law.per_rtt(w + digit).unwrap() > 1.0, "{ms} ms");
        }
    }

    #[test]
    fn equal_rates_grow_equally_at_any_segment_size_and_round_trip_time() {
        // At 400 Mbit/s: bytes per second gained each second, a mss / RTT², and the share given up.
        let reference = law(100.0, 1500.0).per_rtt(4e7 / 8.0 / 1500.0).unwrap() * 1500.0 / 0.01;
        for (ms, mss) in [(100.0, 576.0), (100.0, 9000.0), (250.0, 1500.0), (180.0, 1460.0)] {
            let (rtt, mut law) = (ms / 1e3, law(ms, mss));
            let w = 4e8 * rtt / 8.0 / mss;
            // The tolerance covers rounding only; 4e8 bit/s are 4e7 bits in the reference's round trip.
            let growth = law.per_rtt(w).unwrap() * mss / (rtt * rtt);
            assert!((growth / reference - 1.0).abs() < 1e-12, "{ms} ms, {mss} bytes: {growth}");
            let kept = law.backoff(w, &loss(ms)) / w;
            let reference = NrHstcp::new(&Params::default()).unwrap().backoff(4e7 / 8.0 / 1500.0, &loss(100.0));
            assert!((kept / (reference / (4e7 / 8.0 / 1500.0)) - 1.0).abs() < 1e-12, "{ms} ms, {mss} bytes: {kept}");
        }
    }

    #[test]
    fn the_cut_takes_the_round_trip_time_of_the_loss() {
        // The sample was 100 ms, but the queue has raised the RTT to 200 ms: the normalised window is half, so the cut is
        // that of 500 segments.
        let mut law = law(100.0, 1500.0);
        let kept = law.backoff(1000.0, &loss(200.0));
        assert!((1.0 - kept / 1000.0 - 0.3659).abs() < 5.1e-5, "{kept}");
    }

    #[test]
    fn a_word_chooses_the_round_trip_time() {
        let mut p = Params::default();
        let sample = AckSample {
            rtt: Some(Span::millis(300)),
            min_rtt: Span::millis(50),
            ..AckSample::plain(Time::ZERO, Span::millis(100))
        };
        for (word, ratio) in [("srtt", 1.0), ("latest", 3.0), ("min", 0.5)] {
            p.set("rtt", &Value::Text(word.into())).unwrap().unwrap();
            let mut law = NrHstcp::new(&p).unwrap();
            law.on_sample(&sample);
            assert_eq!(law.ratio, ratio, "{word}");
        }
        let error = p.set("rtt", &Value::Text("mean".into())).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "rtt: must be \"srtt\", \"latest\" or \"min\"");
    }
}

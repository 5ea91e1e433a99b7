//! The parameters of the laws as integers, in the layout of the object (`struct el_params` of
//! `crates/law/kernel/params.h`).
//!
//! Source: that of each law. Fixed point: gains and shares have 20 fractional bits, windows 12; times are in microseconds.

use super::curve::{Curve, MAX_CWND};
use crate::{Law, LawSpec, ghstcp, highspeed, htcp, nr_hstcp, scalable, tabulated};
use base::{ParamError, Span};

/// Picoseconds per microsecond, the kernel's clock tick.
const MICRO: u64 = 1_000_000;

/// Largest number of samples in a test of gHSTCP.
const MAX_SAMPLES: u32 = 65_535;

/// Segments of NR-HSTCP larger than this number of bytes are refused.
const MAX_BYTES: f64 = 65_536.0;

/// HighSpeed TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Highspeed {
    /// Window in units of 1/4096 segment.
    pub low_window: u64,
    /// Fixed-point number in units of 2^-20.
    pub least_b: u64,
    /// The curve a(w) without bounds, because bounds would add corners.
    pub a: Curve,
    /// The curve b(w) without bounds, for the same reason.
    pub b: Curve,
}

/// Gentle HighSpeed TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ghstcp {
    /// Parameters of growth and cuts.
    pub highspeed: Highspeed,
    /// Fixed-point number in units of 2^-32.
    pub z_squared: u64,
    /// Smallest number of samples in a test.
    pub least: u32,
    /// Number of samples in a test, in units of 1/256 of the window.
    pub factor: u32,
    /// Tick of the clock that measures round-trip times, in microseconds; 0 for an exact one.
    pub tick: u32,
}

/// NR-HSTCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NrHstcp {
    /// Time in microseconds.
    pub reference_rtt: u32,
    /// Size in bytes.
    pub reference_segment: u32,
    /// Fixed-point number in units of 2^-20.
    pub min_decrease: u64,
    /// Fixed-point number in units of 2^-20.
    pub max_decrease: u64,
    /// Equations 2 and 3, in units of 2^-20.
    pub a: Curve,
    /// Equation 1, in units of 2^-20; 0 where it is negative.
    pub b: Curve,
}

/// Scalable TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalable {
    /// Window in units of 1/4096 segment.
    pub legacy_window: u64,
    /// Fixed-point number in units of 2^-20, for each segment.
    pub increase: u64,
    /// Fixed-point number in units of 2^-20.
    pub decrease: u64,
}

/// H-TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Htcp {
    /// Time in microseconds.
    pub low_speed: u64,
    /// Fixed-point number in units of 2^-20.
    pub beta_min: u64,
    /// Fixed-point number in units of 2^-20.
    pub beta_max: u64,
    /// Fixed-point number in units of 2^-20.
    pub throughput_change: u64,
    /// Whether the share kept depends on the round-trip times.
    pub adaptive_backoff: u32,
    /// Whether alpha is scaled.
    pub rtt_scaling: u32,
    /// Time in microseconds.
    pub reference_rtt: u32,
}

/// Parameters of all laws, in the object's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// HighSpeed TCP.
    pub highspeed: Highspeed,
    /// gHSTCP.
    pub ghstcp: Ghstcp,
    /// NR-HSTCP.
    pub nr_hstcp: NrHstcp,
    /// Scalable TCP.
    pub scalable: Scalable,
    /// H-TCP.
    pub htcp: Htcp,
}

impl Default for Params {
    fn default() -> Self {
        let fits = "the defaults are within the kernel's numbers";
        Self {
            highspeed: Highspeed::of(&highspeed::Params::default()).expect(fits),
            ghstcp: Ghstcp::of(&ghstcp::Params::default()).expect(fits),
            nr_hstcp: NrHstcp::of(&nr_hstcp::Params::default()).expect(fits),
            scalable: Scalable::of(&scalable::Params::default()).expect(fits),
            htcp: Htcp::of(&htcp::Params::default()).expect(fits),
        }
    }
}

impl Params {
    /// Takes the parameters of a law of a scenario; returns whether the object has that law.
    ///
    /// # Errors
    /// The first parameter that does not fit the kernel's numbers.
    pub fn set(&mut self, law: &LawSpec) -> Result<bool, ParamError> {
        match law {
            LawSpec::Highspeed(p) => self.highspeed = Highspeed::of(p)?,
            LawSpec::Tabulated(p) => self.highspeed = Highspeed::of_tables(p)?,
            LawSpec::Ghstcp(p) => self.ghstcp = Ghstcp::of(p)?,
            LawSpec::NrHstcp(p) => self.nr_hstcp = NrHstcp::of(p)?,
            LawSpec::Scalable(p) => self.scalable = Scalable::of(p)?,
            LawSpec::Htcp(p) => self.htcp = Htcp::of(p)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The bytes of the object's structure, in little-endian order.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Bytes(Vec::with_capacity(9000));
        let (g, n, s, h) = (&self.ghstcp, &self.nr_hstcp, &self.scalable, &self.htcp);
        bytes.highspeed(&self.highspeed).highspeed(&g.highspeed);
        bytes.long(&[g.z_squared]).words(&[g.least, g.factor, g.tick, 0]);
        bytes.words(&[n.reference_rtt, n.reference_segment]).long(&[n.min_decrease, n.max_decrease]);
        bytes.words(&n.a.at).words(&n.b.at);
        bytes.long(&[s.legacy_window, s.increase, s.decrease]);
        bytes.long(&[h.low_speed, h.beta_min, h.beta_max, h.throughput_change]);
        bytes.words(&[h.adaptive_backoff, h.rtt_scaling, h.reference_rtt, 0]);
        bytes.0
    }
}

/// A C structure being written; none of its fields needs padding before it.
struct Bytes(Vec<u8>);

impl Bytes {
    fn long(&mut self, list: &[u64]) -> &mut Self {
        self.0.extend(list.iter().flat_map(|x| x.to_le_bytes()));
        self
    }

    fn words(&mut self, list: &[u32]) -> &mut Self {
        self.0.extend(list.iter().flat_map(|x| x.to_le_bytes()));
        self
    }

    fn highspeed(&mut self, p: &Highspeed) -> &mut Self {
        self.long(&[p.low_window, p.least_b]).words(&p.a.at).words(&p.b.at)
    }
}

impl Highspeed {
    /// Converts the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers.
    pub fn of(p: &highspeed::Params) -> Result<Self, ParamError> {
        let law = highspeed::Highspeed::new(p)?;
        let a = Curve::of(|w| law.line_of_a(w)).ok_or_else(|| {
            ParamError::new("high_p", "must leave a(w) below 4096 segments per round trip for the kernel")
        })?;
        let b = Curve::of(|w| law.line_of_b(w).max(0.0))
            .ok_or_else(|| ParamError::new("high_decrease", "must leave b(w) below 4096 for the kernel"))?;
        Ok(Self { low_window: of_window("low_window", p.low_window)?, least_b: of_one(highspeed::MIN_DECREASE), a, b })
    }
}

impl Highspeed {
    /// HighSpeed's program with other curves, for a tabulated law. With sixteen knots per octave the curves are piecewise
    /// linear, so a jump in a table becomes a slope over at most a sixteenth of the window.
    ///
    /// # Errors
    /// A table that the program cannot represent, because it grows more slowly or cuts more than Reno.
    pub fn of_tables(p: &tabulated::Params) -> Result<Self, ParamError> {
        tabulated::Tabulated::new(p)?;
        p.increase.check(
            "increase",
            |a| (1.0..4096.0).contains(&a),
            "must be at least 1 and below 4096 in the kernel",
        )?;
        p.decrease.check("decrease", |b| b <= 0.5, "must be at most 0.5 in the kernel")?;
        let fits = "every value has been checked";
        let (a, b) = (Curve::of(|w| p.increase.power(w)), Curve::of(|w| p.decrease.line(w)));
        Ok(Self { low_window: 0, least_b: 0, a: a.expect(fits), b: b.expect(fits) })
    }
}

impl Ghstcp {
    /// Converts the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The same as [`Highspeed::of`].
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
            highspeed: Highspeed::of(&p.highspeed())?,
            z_squared: of(p.z_threshold * p.z_threshold, 32),
            least: p.min_samples,
            factor: of(p.window_factor, 8) as u32,
            tick,
        })
    }
}

impl NrHstcp {
    /// Converts the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The same as [`Highspeed::of`].
    pub fn of(p: &nr_hstcp::Params) -> Result<Self, ParamError> {
        let law = nr_hstcp::NrHstcp::new(p)?;
        if p.rtt != nr_hstcp::Estimate::Srtt {
            return Err(ParamError::new("rtt", "must be \"srtt\" in the kernel"));
        }
        for (field, bytes) in [("mss", p.mss), ("reference_mss", p.reference_mss)] {
            if !(64.0..=MAX_BYTES).contains(&bytes) || bytes.fract() != 0.0 {
                return Err(ParamError::new(field, "must be a whole number between 64 and 65536 in the kernel"));
            }
        }
        let a = Curve::of(|w| law.a(w)).ok_or_else(|| {
            ParamError::new("response_factor", "must leave a(w) below 4096 segments per round trip for the kernel")
        })?;
        let b = Curve::of(|w| law.b(w).max(0.0))
            .ok_or_else(|| ParamError::new("high_decrease", "must leave b(w) below 4096 for the kernel"))?;
        Ok(Self {
            reference_rtt: micros("reference_rtt", p.reference_rtt, 1 << 24)?,
            reference_segment: p.reference_mss as u32,
            min_decrease: of_one(p.min_decrease),
            max_decrease: of_one(p.max_decrease),
            a,
            b,
        })
    }
}

impl Scalable {
    /// Converts the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The same as [`Highspeed::of`].
    pub fn of(p: &scalable::Params) -> Result<Self, ParamError> {
        scalable::Scalable::new(p)?;
        Ok(Self {
            legacy_window: of_window("legacy_window", p.legacy_window)?,
            increase: of_one(p.increase),
            decrease: of_one(p.decrease),
        })
    }
}

impl Htcp {
    /// Converts the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The same as [`Highspeed::of`].
    pub fn of(p: &htcp::Params) -> Result<Self, ParamError> {
        htcp::Htcp::new(p)?;
        if p.throughput_change >= 16.0 {
            return Err(ParamError::new("throughput_change", "must be below 16 in the kernel"));
        }
        Ok(Self {
            low_speed: if p.low_speed.0 == 0 { 0 } else { micros("low_speed", p.low_speed, u32::MAX)?.into() },
            beta_min: of_one(p.beta_min),
            beta_max: of_one(p.beta_max),
            throughput_change: of_one(p.throughput_change),
            adaptive_backoff: p.adaptive_backoff.into(),
            rtt_scaling: p.rtt_scaling.into(),
            reference_rtt: micros("reference_rtt", p.reference_rtt, 1 << 24)?,
        })
    }
}

/// Fixed-point number with `bits` fractional bits.
fn of(x: f64, bits: i32) -> u64 {
    libm::round(libm::ldexp(x, bits)) as u64
}

/// A gain or a share.
fn of_one(x: f64) -> u64 {
    of(x, 20)
}

/// A window.
fn of_window(field: &'static str, w: f64) -> Result<u64, ParamError> {
    if w > f64::from(MAX_CWND) {
        return Err(ParamError::new(field, "must be at most 1048576 segments in the kernel"));
    }
    Ok(of(w, 12))
}

/// A time, in whole microseconds, at least one and below `limit`.
fn micros(field: &'static str, span: Span, limit: u32) -> Result<u32, ParamError> {
    let found = u32::try_from(span.0 / MICRO).unwrap_or(u32::MAX);
    if found == 0 || found >= limit {
        let right = format!("must lie between 1 us and {} s in the kernel", limit / MICRO as u32);
        return Err(ParamError::new(field, right));
    }
    Ok(found)
}

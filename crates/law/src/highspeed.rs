//! HighSpeed TCP: Reno up to `low_window`; above it a gain of a(w) segments per round trip, and a cut by the share b(w) on
//! loss.
//!
//! Source: S. Floyd, RFC 3649, Section 5. Appendix B was computed with the rounded p(w) = 0.078 / w^1.2; this file uses the
//! exact response function, so a(w) is up to 2.5 % above that table.
//! Differs from Linux and ns-3: they step through the table's rows.
//! Differs from ns-2: there `low_p` is 1.5 / `low_window`^2, the first cut of a connection halves, and a window that falls
//! below `low_window` is cut by the factor of an earlier cut.

use crate::kernel::Arithmetic;
use crate::{CongestionEvent, Law, Signal, WindowLaw};
use base::{Card, ParamError, Registered};

/// Smallest share given up on loss, for windows far above those in the RFC.
pub(crate) const MIN_DECREASE: f64 = 0.01;

base::params! {
    /// RFC 3649, Section 5. Windows in segments, p in losses per packet.
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
        /// Numbers it is computed in: floating ones ("exact") or the Linux kernel's whole ones ("kernel").
        arithmetic: Arithmetic = Arithmetic::Exact, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Highspeed {
    low_window: f64,
    ln_low_window: f64,
    ln_low_p: f64,
    /// ln(`high_window` / `low_window`).
    ln_span: f64,
    /// d ln p / d ln w, the exponent of the response function (-1.2).
    slope: f64,
    high_decrease: f64,
}

impl Registered for Highspeed {
    type Params = Params;
    const CARD: Card = Card {
        name: "highspeed",
        aliases: &["hstcp", "TcpHighSpeed"],
        title: "HighSpeed TCP",
        source: "RFC 3649",
        differs: "Exact response function instead of the table of Appendix B (Linux, ns-3) and of ns-2's low_p = 1.5/38^2; \
                  the first cut is b(w), not one half.",
    };
}

impl Law for Highspeed {
    const REMEMBERS: bool = false;
    const RESPONSE: Option<&'static str> = Some("RFC3649");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.low_window < 1.0 {
            return Err(ParamError::new("low_window", "must be at least 1"));
        }
        if p.high_window <= p.low_window {
            return Err(ParamError::new("high_window", "must exceed low_window"));
        }
        if p.low_p <= 0.0 || p.low_p >= 1.0 {
            return Err(ParamError::new("low_p", "must lie strictly between 0 and 1"));
        }
        if p.high_p <= 0.0 || p.high_p >= p.low_p {
            return Err(ParamError::new("high_p", "must lie strictly between 0 and low_p"));
        }
        if p.high_decrease < MIN_DECREASE || p.high_decrease > 0.5 {
            return Err(ParamError::new("high_decrease", "must lie between 0.01 and 0.5"));
        }
        let ln_span = libm::log(p.high_window) - libm::log(p.low_window);
        Ok(Self {
            low_window: p.low_window,
            ln_low_window: libm::log(p.low_window),
            ln_low_p: libm::log(p.low_p),
            ln_span,
            slope: (libm::log(p.high_p) - libm::log(p.low_p)) / ln_span,
            high_decrease: p.high_decrease,
        })
    }
}

impl WindowLaw for Highspeed {
    fn per_rtt(&self, w: f64) -> Option<f64> {
        Some(self.a(w))
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        // The RFC changes the response to losses; that to timeouts stays as in RFC 5681.
        let b = if event.signal == Signal::Timeout { 0.5 } else { self.b(cwnd) };
        cwnd * (1.0 - b)
    }
}

impl Highspeed {
    /// Segments gained per round trip at window `w`. Never below Reno's one, although the formula gives 0.96 just above
    /// `low_window` (Appendix B starts from one, too).
    #[must_use]
    pub fn a(&self, w: f64) -> f64 {
        if w <= self.low_window { 1.0 } else { self.line_of_a(w).max(1.0) }
    }

    /// Share of the window given up on loss at window `w`. The line continues above `high_window`, as in Appendix B (0.09
    /// at 94717), but not to zero, which it would reach at 567,000.
    #[must_use]
    pub fn b(&self, w: f64) -> f64 {
        if w <= self.low_window { 0.5 } else { self.line_of_b(w).max(MIN_DECREASE) }
    }

    /// a(w) by the formula, without the range of Reno below `low_window`.
    pub(crate) fn line_of_a(&self, w: f64) -> f64 {
        let (ln_w, b) = (libm::log(w), self.line_of_b(w).max(MIN_DECREASE));
        let p = libm::exp(self.ln_low_p + (ln_w - self.ln_low_window) * self.slope);
        w * w * p * 2.0 * b / (2.0 - b)
    }

    /// b(w) by the formula, without the range of Reno below `low_window` and without a smallest share.
    pub(crate) fn line_of_b(&self, w: f64) -> f64 {
        let y = (libm::log(w) - self.ln_low_window) / self.ln_span;
        0.5 + (self.high_decrease - 0.5) * y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3649, Appendix B: w, a(w), b(w). About every fourth row.
    const APPENDIX_B: &[(f64, f64, f64)] = &[
        (38.0, 1.0, 0.50),
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (495.0, 5.0, 0.37),
        (1058.0, 8.0, 0.33),
        (2076.0, 12.0, 0.29),
        (3399.0, 16.0, 0.27),
        (5036.0, 20.0, 0.25),
        (10_661.0, 30.0, 0.21),
        (18_955.0, 40.0, 0.18),
        (30_975.0, 50.0, 0.15),
        (48_961.0, 60.0, 0.13),
        (79_517.0, 70.0, 0.10),
        (84_035.0, 71.0, 0.10),
    ];

    fn law() -> Highspeed {
        Highspeed::new(&Params::default()).unwrap()
    }

    #[test]
    fn agrees_with_appendix_b() {
        for &(w, a, b) in APPENDIX_B {
            // b is printed with two digits. The table's a comes from the rounded 0.078 / w^1.2, which is 0 to 2.5 % below
            // the exact form, and is rounded down to an integer.
            assert!((law().b(w) - b).abs() <= 0.0051, "b({w}) = {}", law().b(w));
            assert!((0.0..=0.025).contains(&(law().a(w) / a - 1.0)), "a({w}) = {}", law().a(w));
        }
    }

    #[test]
    fn agrees_with_the_exact_interpolation() {
        // Values of the closed form to four digits, computed independently with 30-digit arithmetic.
        for (w, a) in [(118.0, 2.0276), (221.0, 3.0422), (1058.0, 8.1361), (12_834.0, 33.699), (83_000.0, 72.516)] {
            assert!((law().a(w) / a - 1.0).abs() < 2e-5, "a({w}) = {}", law().a(w));
        }
    }

    #[test]
    fn agrees_with_ns2_when_given_its_low_p() {
        let ns2 = Highspeed::new(&Params { low_p: 1.5 / (38.0 * 38.0), ..Params::default() }).unwrap();
        let table = [(50.0, 1.198, 0.4857), (100.0, 1.882, 0.4497), (1000.0, 8.034, 0.3299), (10_000.0, 29.93, 0.2101)];
        for (w, a, b) in table {
            // Printed with four digits: half a unit of the last digit is 4e-4 of 1.198.
            assert!((ns2.a(w) / a - 1.0).abs() < 4.5e-4, "a({w}) = {}", ns2.a(w));
            assert!((ns2.b(w) - b).abs() < 6e-5, "b({w}) = {}", ns2.b(w));
        }
    }
}

//! The laws that also run in the Linux kernel: their object, compiled from the C code in `crates/law/kernel/`, and the
//! parameters in it.
//!
//! Source: that of each law. Differences of the object from the law in floating point: windows are whole segments, a(w) and
//! b(w) are piecewise linear, times are whole microseconds. A scenario chooses with [`Arithmetic`].

use crate::bpf::{Bpf, ObjectFile};
use crate::{LawSpec, StartSpec};
use base::param::ParamType;
use base::{ParamError, Value};

pub mod curve;
pub mod params;

pub use params::Params;

/// The object that `make bpf` builds.
pub static OBJECT: &[u8] = include_bytes!("../../kernel/laws.bpf.o");

/// The laws in the order of `crates/law/kernel/params.h`: their names in scenarios and in the kernel.
pub const LAWS: [(&str, &str); 5] = [
    ("highspeed", "el_highspeed"),
    ("ghstcp", "el_ghstcp"),
    ("nr-hstcp", "el_nrhstcp"),
    ("scalable", "el_scalable"),
    ("htcp", "el_htcp"),
];

/// Name in [`LAWS`] of the program that runs `law` in the kernel; if no program does, the law's own name. A tabulated
/// law uses HighSpeed's program with other curves.
#[must_use]
pub fn program(law: &LawSpec) -> &'static str {
    if let LawSpec::Tabulated(_) = law { "highspeed" } else { law.card().name }
}

/// The arithmetic used to compute a law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Floating point.
    #[default]
    Exact,
    /// Fixed-point integers, by the object that runs in the kernel.
    Kernel,
}

impl ParamType for Arithmetic {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "exact" => Ok(Self::Exact),
            Value::Text(word) if word == "kernel" => Ok(Self::Kernel),
            _ => Err("must be \"exact\" or \"kernel\"".into()),
        }
    }

    fn write(&self) -> Value {
        let word = match self {
            Self::Exact => "exact",
            Self::Kernel => "kernel",
        };
        Value::Text(word.into())
    }
}

impl LawSpec {
    /// The law's program in the object, if the law is to be computed in the kernel's arithmetic.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers, or a slow start that the kernel does not have.
    pub(crate) fn in_object(
        &self,
        start: &StartSpec,
        initial_window: f64,
        ssthresh: f64,
    ) -> Result<Option<Bpf>, ParamError> {
        let (arithmetic, wire) = match self {
            Self::Highspeed(p) => (p.arithmetic, ETHERNET),
            Self::Ghstcp(p) => (p.arithmetic, ETHERNET),
            Self::NrHstcp(p) => (p.arithmetic, p.mss as u32),
            Self::Scalable(p) => (p.arithmetic, ETHERNET),
            Self::Htcp(p) => (p.arithmetic, ETHERNET),
            _ => return Ok(None),
        };
        if arithmetic == Arithmetic::Exact {
            return Ok(None);
        }
        let mut params = Params::default();
        params.set(self)?;
        if !matches!(start, StartSpec::Classic(_)) {
            return Err(ParamError::new("arithmetic", "\"kernel\" has a slow start of its own; leave slow_start out"));
        }
        let name = self.card().name;
        let called = LAWS.into_iter().find(|law| law.0 == name).expect("is one of them").1;
        let loaded = ObjectFile::default().load(called, Some(params.bytes()));
        let loaded = loaded.map_err(|reason| ParamError::new("arithmetic", reason))?;
        let control = Bpf::under(&loaded, initial_window, ssthresh, Some(wire));
        control.map(Some).map_err(|fault| ParamError::new("arithmetic", fault.to_string()))
    }
}

/// Bytes of a segment on the wire, for laws that do not use this size.
const ETHERNET: u32 = 1500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{Path, rounds};
    use crate::{AnyController, Control, Signal};
    use base::Span;

    fn tables(increase: &[[f64; 2]], decrease: &[[f64; 2]]) -> LawSpec {
        let mut spec = LawSpec::named("tabulated").expect("registered");
        for (name, pairs) in [("increase", increase), ("decrease", decrease)] {
            spec.set(name, &Value::Pairs(pairs.to_vec())).expect("a parameter").expect("a table");
        }
        spec
    }

    fn windows(control: &mut Control) -> Vec<f64> {
        let path = Path { base_rtt: Span::millis(100), bdp: 1e6 };
        let events = [(60, Signal::Loss), (90, Signal::Timeout), (120, Signal::Loss)];
        rounds(control, path, &events, 160).iter().map(|round| round.cwnd).collect()
    }

    fn in_the_object(spec: &LawSpec) -> Vec<f64> {
        let mut params = Params::default();
        assert_eq!((params.set(spec), program(spec)), (Ok(true), "highspeed"));
        let loaded = ObjectFile::default().load("el_highspeed", Some(params.bytes())).expect("is ours");
        let program = Bpf::under(&loaded, 2.0, 300.0, Some(ETHERNET)).expect("runs");
        windows(&mut AnyController::from(Box::new(program)).into())
    }

    #[test]
    fn a_law_from_tables_runs_in_the_object_as_in_floating_point() {
        // Reno's table, a power of the window, and a jump as in a learned policy.
        let learned = tables(
            &[[1.0, 1.0], [100.0, 1.0], [400.0, 4.0], [400.01, 12.0], [4000.0, 120.0]],
            &[[300.0, 0.4], [900.0, 0.2]],
        );
        let reno = tables(&[[1.0, 1.0]], &[[1.0, 0.5]]);
        let start = StartSpec::named("classic").expect("registered");
        for spec in [&learned, &reno] {
            let exact = windows(&mut spec.build(&start, 2.0, 300.0).expect("a law"));
            for other in [&learned, &reno] {
                let whole = in_the_object(other);
                // The tolerance is one segment for each cut and for the one in progress. A jump of the growth becomes a
                // slope to the next knot: it comes a round trip or two later, and the window grows by 3 % in each.
                let follows = exact.iter().zip(&whole).all(|(exact, whole)| (whole - exact).abs() < 4.0 + 0.06 * exact);
                assert_eq!(follows, std::ptr::eq(spec, other), "{exact:?} {whole:?}");
            }
        }
    }

    #[test]
    fn tables_that_the_object_cannot_hold_are_refused() {
        for (increase, decrease, line) in [
            ([[1.0, 0.5]], [[1.0, 0.5]], "increase[0]: the value must be at least 1 and below 4096 in the kernel"),
            ([[1.0, 5000.0]], [[1.0, 0.5]], "increase[0]: the value must be at least 1 and below 4096 in the kernel"),
            ([[1.0, 1.0]], [[1.0, 0.6]], "decrease[0]: the value must be at most 0.5 in the kernel"),
        ] {
            let error = Params::default().set(&tables(&increase, &decrease)).expect_err("out of range");
            assert_eq!(error.to_string(), line);
        }
    }
}

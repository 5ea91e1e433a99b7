//! The laws that also run in the Linux kernel: their object, compiled from the C of `crates/law/kernel/`, and the parameters that
//! lie in it.
//!
//! Source: that of each law. What the object does otherwise than the law in floating point: windows are whole segments, a(w)
//! and b(w) straight lines between knots, times whole microseconds. A scenario chooses by [`Arithmetic`].

use crate::bpf::{Bpf, ObjectFile};
use crate::{LawSpec, StartSpec};
use base::param::ParamType;
use base::{ParamError, Value};

pub mod curve;
pub mod params;

pub use params::Params;

/// The object that `make bpf` builds.
pub static OBJECT: &[u8] = include_bytes!("../../kernel/laws.bpf.o");

/// The laws in the order of `crates/law/kernel/params.h`: their names in scenarios, and in the kernel.
pub const LAWS: [(&str, &str); 5] = [
    ("highspeed", "el_highspeed"),
    ("ghstcp", "el_ghstcp"),
    ("nr-hstcp", "el_nrhstcp"),
    ("scalable", "el_scalable"),
    ("htcp", "el_htcp"),
];

/// The arithmetic in which a law is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Floating point.
    #[default]
    Exact,
    /// Fixed point in whole numbers, by the object that runs in the kernel.
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
    /// The law as the object has it, if it is to be computed in the kernel's arithmetic.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers; a slow start that is not the kernel's.
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

/// Bytes of a segment on the wire, for laws that do not use them.
const ETHERNET: u32 = 1500;

//! Twins of the laws that run in the Linux kernel: the same whole numbers, bit for bit, as the C of `crates/bpf/kernel/`, which is
//! compiled for the kernel and, in the tests of the crate `bpf`, for this machine.
//!
//! Source: that of each law. A twin differs from its law in the simulator as its file's head says, and by windows of whole
//! segments. A scenario chooses between them by [`Arithmetic`].

use crate::{AckSample, CongestionEvent, Law, LawSpec, Needs, Signal as Cause, Step, WindowLaw, cubic};
use base::param::ParamType;
use base::{ParamError, Span, Time, Value};
use std::sync::Arc;

pub mod arithmetic;
pub mod ghstcp;
pub mod highspeed;
pub mod htcp;
pub mod nr_hstcp;
pub mod scalable;

/// Picoseconds in a microsecond, the clock's tick in the kernel.
const MICRO: u64 = 1_000_000;

/// The arithmetic in which a law is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Floating point.
    #[default]
    Exact,
    /// Fixed point in whole numbers, as in the kernel.
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

/// What an ACK or a loss reports, as the kernel's hooks get it. Times in microseconds, 0 where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Signal {
    /// When.
    pub now: u64,
    /// Segments since the connection began.
    pub delivered: u64,
    /// Segments newly acknowledged.
    pub acked: u32,
    /// Round-trip time of the newest segment this ACK is for.
    pub rtt: u32,
    /// Smoothed round-trip time.
    pub srtt: u32,
    /// Smallest round-trip time.
    pub min_rtt: u32,
    /// Bytes on the wire of a full segment.
    pub segment: u32,
    /// Padding, so that every byte is defined.
    pub spare: u32,
}

/// A law in the kernel's arithmetic: the state of a socket, and what an ACK or a loss does to it.
pub trait Twin: Clone + std::fmt::Debug + Default {
    /// As they lie in the BPF object.
    type Params: Clone + std::fmt::Debug;
    /// Whether it samples ACKs in slow start, too.
    const IN_SLOW_START: bool = false;
    /// Whether it needs a round-trip time with every ACK.
    const EVERY_RTT: bool = false;
    /// Samples an ACK, before the window grows; returns whether something was decided.
    fn sample(&mut self, _p: &Self::Params, _cwnd: u32, _ack: &Signal) -> bool {
        false
    }
    /// The window after an ACK in congestion avoidance.
    fn avoid(&mut self, p: &Self::Params, cwnd: u32, ack: &Signal) -> u32;
    /// The window kept after a loss.
    fn backoff(&mut self, p: &Self::Params, cwnd: u32, loss: &Signal) -> u32;
    /// The window kept after a timeout, after `backoff` was called for it as for any loss.
    fn timeout(&mut self, p: &Self::Params, cwnd: u32, loss: &Signal) -> u32;
    /// Nothing left for `idle` until `now`, in microseconds.
    fn idle(&mut self, _p: &Self::Params, _now: u64, _idle: u64) {}
    /// Private numbers worth showing in traces, by name.
    fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// A twin in the place of a window law of the simulator.
#[derive(Clone, Debug)]
pub struct Hooked<T: Twin> {
    twin: T,
    /// One for all flows of a group.
    params: Arc<T::Params>,
    segment: u32,
}

impl<T: Twin> Hooked<T> {
    /// With segments of so many bytes.
    pub(crate) fn new(params: T::Params, segment: u32) -> Self {
        Self { twin: T::default(), params: Arc::new(params), segment }
    }
}

impl<T: Twin> WindowLaw for Hooked<T> {
    fn needs(&self) -> Needs {
        Needs { every_rtt: T::EVERY_RTT, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        // In slow start; afterwards `on_avoidance_ack` is called.
        if T::IN_SLOW_START {
            self.twin.sample(&self.params, 0, &self.signal(ack));
        }
    }

    fn on_avoidance_ack(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        let signal = self.signal(ack);
        if T::IN_SLOW_START || ack.cwnd_limited {
            self.twin.sample(&self.params, cwnd as u32, &signal);
        }
        if ack.cwnd_limited { f64::from(self.twin.avoid(&self.params, cwnd as u32, &signal)) } else { cwnd }
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        let loss = Signal {
            now: event.now.0 / MICRO,
            delivered: event.delivered,
            srtt: in_micros(event.srtt),
            min_rtt: in_micros(event.min_rtt),
            segment: self.segment,
            ..Signal::default()
        };
        let kept = self.twin.backoff(&self.params, cwnd as u32, &loss);
        let timed_out = event.signal == Cause::Timeout;
        f64::from(if timed_out { self.twin.timeout(&self.params, cwnd as u32, &loss) } else { kept })
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        self.twin.idle(&self.params, now.0 / MICRO, idle.0 / MICRO);
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.twin.gauges(put);
    }
}

impl<T: Twin> Hooked<T> {
    fn signal(&self, ack: &AckSample) -> Signal {
        Signal {
            now: ack.now.0 / MICRO,
            delivered: ack.delivered,
            acked: ack.acked as u32,
            rtt: ack.rtt.map_or(0, in_micros),
            srtt: in_micros(ack.srtt),
            min_rtt: in_micros(ack.min_rtt),
            segment: self.segment,
            spare: 0,
        }
    }
}

fn in_micros(span: Span) -> u32 {
    u32::try_from(span.0 / MICRO).unwrap_or(u32::MAX)
}

/// A number with so many bits after the point.
fn of(x: f64, bits: i32) -> u64 {
    libm::round(libm::ldexp(x, bits)) as u64
}

/// A gain or a share.
fn of_one(x: f64) -> u64 {
    of(x, 20)
}

/// A window.
fn of_window(field: &'static str, w: f64) -> Result<u64, ParamError> {
    if w > f64::from(arithmetic::MAX_CWND) {
        return Err(ParamError::new(field, "must be at most 1048576 segments in the kernel"));
    }
    Ok(of(w, 12))
}

/// A time, in whole microseconds, at least one and below `limit`.
fn micros(field: &'static str, span: Span, limit: u32) -> Result<u32, ParamError> {
    let found = in_micros(span);
    if found == 0 || found >= limit {
        let right = format!("must lie between 1 us and {} s in the kernel", limit / MICRO as u32);
        return Err(ParamError::new(field, right));
    }
    Ok(found)
}

macro_rules! twins {
    ($($name:ident = $module:ident,)*) => {
        base::dispatching_enum! {
            /// Any of the twins.
            pub enum AnyTwin: window_law {
                $($name(Hooked<$module::State>),)*
                /// Linux's own CUBIC, which brings no BPF program.
                Cubic(Hooked<cubic::linux::State>),
            }
        }

        impl LawSpec {
            /// The law in the kernel's arithmetic, if that is what it is to be computed in.
            ///
            /// # Errors
            /// The first parameter outside the range of the kernel's numbers.
            pub(crate) fn twin(&self) -> Result<Option<AnyTwin>, ParamError> {
                Ok(match self {
                    Self::Cubic(p) if p.variant == cubic::Variant::Linux => {
                        cubic::Cubic::new(p)?;
                        Some(AnyTwin::Cubic(Hooked::new(cubic::linux::Whole::of(p), 0)))
                    }
                    $(Self::$name(p) if p.arithmetic == Arithmetic::Kernel => {
                        Some(AnyTwin::$name(Hooked::new($module::Params::of(p)?, segment_of(self))))
                    })*
                    _ => None,
                })
            }
        }
    };
}

// The laws that the kernel has, one line each.
twins! {
    Highspeed = highspeed,
    Ghstcp = ghstcp,
    NrHstcp = nr_hstcp,
    Scalable = scalable,
    Htcp = htcp,
}

/// Bytes of a segment, for the one law that uses them.
fn segment_of(law: &LawSpec) -> u32 {
    if let LawSpec::NrHstcp(p) = law { p.mss as u32 } else { 0 }
}

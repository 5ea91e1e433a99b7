//! Congestion-control laws: how a sender's window responds to acknowledgements and losses.
//!
//! There are two levels. A [`WindowLaw`] is the arithmetic of a paper: how much the window grows, and what is kept after a
//! loss. A [`SlowStart`] opens the window. [`Windowed`] combines the two into the [`CongestionControl`] that the transport
//! calls. There are no packets, sequence numbers or clocks here: times are arguments. Windows are real numbers, in
//! segments.

#[macro_use]
mod control;
pub mod evaluator;
mod filters;
mod held;
pub mod kernel;
mod knots;
mod own;
pub mod rounds;
mod sample;
mod site;
pub mod start;
pub mod whole;
mod windowed;

pub use base::Entry;
pub use control::{CongestionControl, Opening, SlowStart, Step, WindowLaw};
pub use held::{Held, RttSamples};
pub use knots::Knots;
pub use own::Either;
pub use registry::{AnyController, AnyLaw, Control, Controller, Law};
pub use sample::{AckSample, CongestionEvent, Delivery, Lost, Needs, Restart, Signal};
pub use site::LawSite;
pub use start::{AnyStart, STARTS, Start, StartSpec};
pub use windowed::Windowed;

// All laws, one line each: first window laws, then controls that set their own window.
base::registry! {
    ($)
    /// A law and its parameters, as a scenario file says them.
    pub enum LawSpec, LAWS, each_law;
    windows {
        Reno = reno,
        Highspeed = highspeed,
        Ghstcp = ghstcp,
        NrHstcp = nr_hstcp,
        ConstantRate = constant_rate,
        Scalable = scalable,
        Fast = fast,
        Htcp = htcp,
        Bic = bic,
        Vegas = vegas,
        Cubic = cubic,
        Westwood = westwood,
        Illinois = illinois,
        Yeah = yeah,
        Hybla = hybla,
        Compound = compound,
        Dctcp = dctcp,
        Tabulated = tabulated,
    }
    controllers {
        Bbr = bbr,
        Bbr1 = bbr1,
        Xcp = xcp,
        PacketPair = packet_pair,
        Prague = prague,
        Bpf = bpf,
    }
}

// After the list, because it uses the list's macro.
mod registry;

/// Payload of the largest burst that Linux hands to an interface, in bytes: `GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`
/// (`sk_setup_caps`).
pub const GSO_PAYLOAD: u32 = 65_536 - 1 - 320;

/// The smallest window a law may leave after a loss, in segments (RFC 5681, equation 4).
pub const MIN_SSTHRESH: f64 = 2.0;

/// Windows and gains of laws with `per_rtt` are multiples of 2^-32 segments (the grid). Below this number of segments the
/// sum has at most 52 bits, so adding a gain n times and adding n gains give the same bits. Larger windows are advanced ACK
/// by ACK.
pub(crate) const GRID_LIMIT: f64 = 1_048_576.0;

/// The nearest multiple of 2^-32.
#[inline]
pub(crate) fn on_grid(x: f64) -> f64 {
    // Between 2^20 and 2^21, floating-point numbers are exactly the multiples of 2^-32.
    if x < GRID_LIMIT { (x + GRID_LIMIT) - GRID_LIMIT } else { x }
}

/// Converts a count to a number in one instruction, which exists only for signed integers. No count here needs all 64 bits.
#[inline]
pub(crate) fn number(count: u64) -> f64 {
    count.cast_signed() as f64
}

/// The larger of two numbers, in one instruction: `f64::max` takes five because it handles NaN.
#[inline]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, in one instruction.
#[inline]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood 2014): it decorrelates neighbouring numbers. Where a source uses
/// random numbers, laws use this function of time and deliveries, because they have no random stream.
pub(crate) fn scrambled(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Tests the examples of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

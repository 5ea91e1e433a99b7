//! Types exchanged between elephan and a library, in the layout of C. Any change here requires a new [`VERSION`].

use base::{Span, Time};
use law::{AckSample, CongestionEvent, Delivery, Lost, Needs, Restart, Signal, Step};
use std::ffi::{c_char, c_void};

/// The version of this interface.
pub const VERSION: u32 = 3;

/// The symbol of a library's [`Library`].
pub const SYMBOL: &std::ffi::CStr = c"ELEPHAN_LAWS";

/// The table that a library exports. The first three fields have the same place in every version.
#[repr(C)]
#[derive(Debug)]
pub struct Library {
    /// [`VERSION`] with which the library was compiled.
    pub version: u32,
    /// Size of a [`Law`] in the library, in bytes.
    pub law_size: u32,
    /// Returns the version of elephan with which the library was compiled, as text that ends with a zero byte.
    pub built_with: extern "C" fn() -> *const c_char,
    /// Whether a panic unwinds: 1 or 0.
    pub unwinds: u32,
    /// Called once, before all other functions.
    pub begin: extern "C" fn(),
    /// The laws, counted from 0; null after the last.
    pub law: extern "C" fn(index: u32) -> Option<&'static Law>,
}

/// A parameter of a law: a number.
#[repr(C)]
#[derive(Debug)]
pub struct Parameter {
    /// Its name, which ends with a zero byte.
    pub name: *const c_char,
    /// Its default value.
    pub default: f64,
}

// SAFETY: the name is a constant.
#[expect(unsafe_code, reason = "a pointer to constant text")]
unsafe impl Sync for Parameter {}

/// The flow for which an instance is created.
#[repr(C)]
#[derive(Debug)]
pub struct Site {
    /// The name of its group, in UTF-8.
    pub group: *const u8,
    /// Length of the name, in bytes.
    pub group_len: usize,
    /// Its index in its group.
    pub index: u32,
    /// The replication, from 0.
    pub replication: u32,
    /// Its round-trip time without queues, in picoseconds.
    pub base_rtt: u64,
    /// Start time of the flow, in picoseconds.
    pub start: u64,
    /// Size of a full packet on the wire, in bytes.
    pub packet: u64,
    /// Payload of a full segment, in bytes.
    pub mss: u64,
    /// Initial congestion window, in segments.
    pub initial_window: f64,
    /// Initial slow-start threshold, in segments; infinite for none.
    pub ssthresh: f64,
    /// The seed of the scenario.
    pub seed: u64,
}

/// State of an instance; written by each call that may change it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// The window, in segments.
    pub cwnd: f64,
    /// The slow-start threshold, in segments.
    pub ssthresh: f64,
    /// Pacing rate in segments per second; NaN for none.
    pub pacing_rate: f64,
    /// [`Step::gain`].
    pub step_gain: f64,
    /// [`Step::below`].
    pub step_below: f64,
    /// [`Step::acks`].
    pub step_acks: u32,
    /// Whether there is a step: 1 or 0.
    pub steps: u32,
    /// Number of the next ACKs that add one segment each.
    pub opening: u32,
    /// Segments sent back to back with pacing.
    pub burst: u32,
    /// Whether the call failed: 1 or 0. [`Law::message`] returns the reason.
    pub failed: u32,
}

impl State {
    /// The state without an instance.
    pub const EMPTY: Self = Self {
        cwnd: 1.0,
        ssthresh: f64::INFINITY,
        pacing_rate: f64::NAN,
        step_gain: 0.0,
        step_below: 0.0,
        step_acks: 0,
        steps: 0,
        opening: 0,
        burst: 1,
        failed: 0,
    };

    /// The reason why the state is not valid for a sender; `None` if it is valid.
    #[inline]
    pub(crate) fn wrong(&self) -> Option<String> {
        if !(self.cwnd.is_finite() && self.cwnd > 0.0) {
            return Some(format!("cwnd is {}; it must be a number of segments above 0", self.cwnd));
        }
        if self.ssthresh.is_nan() || self.ssthresh < 0.0 {
            return Some(format!("ssthresh is {}; it must be a number of segments, or infinite", self.ssthresh));
        }
        // NaN means no pacing rate.
        if self.pacing_rate <= 0.0 || self.pacing_rate.is_infinite() {
            return Some(format!("pacing_rate is {}; it must be a number of segments/s above 0", self.pacing_rate));
        }
        None
    }

    pub(crate) fn step(&self) -> Option<Step> {
        (self.steps != 0).then_some(Step { gain: self.step_gain, below: self.step_below, acks: self.step_acks })
    }
}

/// Arrival time and round-trip time of an ACK, in picoseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// Arrival time of the ACK.
    pub at: u64,
    /// The round-trip time.
    pub rtt: u64,
}

/// A header of a data packet for routers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The sender's round-trip time, in seconds.
    pub rtt: f32,
    /// The sender's window, in segments.
    pub cwnd: f32,
    /// The change of the window that the sender requests, in segments.
    pub feedback: f32,
}

/// Callback of [`Law::gauges`]: its context, a name in UTF-8 that stays valid, the length of the name in bytes, and a
/// value.
pub type Put = unsafe extern "C" fn(context: *mut c_void, name: *const u8, len: usize, value: f64);

/// Pointers to an instance, for reading and for changing it.
type Read = *const c_void;
type Change = *mut c_void;

/// A law: functions to create an instance and to report events to it. No function may unwind. Only one thread at a time
/// changes an instance; several may read it.
#[repr(C)]
#[derive(Debug)]
pub struct Law {
    /// Its name, which ends with a zero byte.
    pub name: *const c_char,
    /// The parameters, counted from 0; null after the last.
    pub parameter: extern "C" fn(index: u32) -> Option<&'static Parameter>,
    /// Creates an instance; `parameters` has one number for each parameter of the law. Returns null if it failed.
    pub make: unsafe extern "C" fn(site: &Site, parameters: *const f64, state: &mut State) -> Change,
    /// Creates an instance with the same state. Returns null if it failed.
    pub clone: unsafe extern "C" fn(law: Read) -> Change,
    /// Frees an instance.
    pub drop: unsafe extern "C" fn(law: Change),
    /// The reason why the last call on this thread failed: copies at most `len` bytes of UTF-8 and returns their number.
    pub message: unsafe extern "C" fn(to: *mut u8, len: usize) -> usize,
    /// The needs: one bit for each field of [`Needs`], in the order of the fields.
    pub needs: unsafe extern "C" fn(law: Read) -> u32,
    /// [`law::CongestionControl::on_ack`].
    pub on_ack: unsafe extern "C" fn(law: Change, sample: &Ack, state: &mut State),
    /// [`law::CongestionControl::on_recovery_ack`].
    pub on_recovery_ack: unsafe extern "C" fn(law: Change, sample: &Ack, state: &mut State),
    /// [`law::CongestionControl::on_delivery`].
    pub on_delivery: unsafe extern "C" fn(law: Change, sample: &Delivered, state: &mut State),
    /// [`law::CongestionControl::on_lost`].
    pub on_lost: unsafe extern "C" fn(law: Change, sample: &LostSegment, state: &mut State),
    /// [`law::CongestionControl::on_feedback`].
    pub on_feedback: unsafe extern "C" fn(law: Change, feedback: f64, limited: u32, state: &mut State),
    /// [`law::CongestionControl::on_recovered`].
    pub on_recovered: unsafe extern "C" fn(law: Change, state: &mut State),
    /// [`law::CongestionControl::on_congestion`].
    pub on_congestion: unsafe extern "C" fn(law: Change, event: &Event, state: &mut State),
    /// [`law::CongestionControl::on_restart`].
    pub on_restart: unsafe extern "C" fn(law: Change, restart: &Restarted, state: &mut State),
    /// [`law::CongestionControl::collapse`].
    pub collapse: unsafe extern "C" fn(law: Change, state: &mut State),
    /// [`law::CongestionControl::advance`].
    pub advance: unsafe extern "C" fn(law: Change, gain: f64, below: f64, most: u32, acks: u32, state: &mut State),
    /// [`law::CongestionControl::on_rtt_samples`].
    pub on_rtt_samples: unsafe extern "C" fn(law: Change, samples: *const RttSample, len: usize, state: &mut State),
    /// [`law::CongestionControl::open`].
    pub open: unsafe extern "C" fn(law: Change, acks: u32, state: &mut State),
    /// [`law::CongestionControl::header`].
    pub header: unsafe extern "C" fn(law: Read, srtt: u64) -> Header,
    /// [`law::CongestionControl::gauges`].
    pub gauges: unsafe extern "C" fn(law: Read, put: Put, context: *mut c_void),
}

// SAFETY: the name is a constant; the other fields are functions.
#[expect(unsafe_code, reason = "a pointer to constant text")]
unsafe impl Sync for Law {}

pub(crate) fn needs_to_bits(needs: Needs) -> u32 {
    let Needs { rounds, every_rtt, deliveries, marks, headers, own_recovery, l4s } = needs;
    let all = [rounds, every_rtt, deliveries, marks, headers, own_recovery, l4s];
    all.into_iter().rev().fold(0, |bits, bit| bits << 1 | u32::from(bit))
}

pub(crate) fn needs_of_bits(bits: u32) -> Needs {
    let has = |place: u32| bits >> place & 1 == 1;
    Needs {
        rounds: has(0),
        every_rtt: has(1),
        deliveries: has(2),
        marks: has(3),
        headers: has(4),
        own_recovery: has(5),
        l4s: has(6),
    }
}

/// A type that is passed as a number.
pub trait Crosses: Sized {
    /// The number's type.
    type Wire: Copy + std::fmt::Debug;
    /// Converts to the number.
    fn out(self) -> Self::Wire;
    /// Converts back.
    fn back(wire: Self::Wire) -> Self;
}

macro_rules! crosses {
    ($($kind:ty as $wire:ty: |$x:ident| $out:expr, |$y:ident| $back:expr;)*) => {
        $(impl Crosses for $kind {
            type Wire = $wire;
            #[inline]
            fn out(self) -> $wire {
                let $x = self;
                $out
            }
            #[inline]
            fn back($y: $wire) -> Self {
                $back
            }
        })*
    };
}

/// The value that means no time.
const NONE: u64 = u64::MAX;

crosses! {
    f64 as f64: |x| x, |x| x;
    u64 as u64: |x| x, |x| x;
    bool as u32: |x| u32::from(x), |x| x != 0;
    Time as u64: |x| x.0, |x| Time(x);
    Span as u64: |x| x.0, |x| Span(x);
    Option<Span> as u64: |x| x.map_or(NONE, |span| span.0), |x| (x != NONE).then_some(Span(x));
    Option<f64> as f64: |x| x.unwrap_or(f64::NAN), |x| (!x.is_nan()).then_some(x);
    Signal as u32: |x| match x { Signal::Loss => 0, Signal::Ecn => 1, Signal::Timeout => 2 },
        |x| match x { 0 => Signal::Loss, 1 => Signal::Ecn, _ => Signal::Timeout };
}

/// Structures that mirror those of `law`: times are in picoseconds (`u64::MAX` for none), booleans are 0 or 1 in 32 bits,
/// and NaN means no number.
macro_rules! mirrored {
    ($($(#[$about:meta])* $name:ident of $kind:ident { $($field:ident: $inner:ty),* $(,)? })*) => {
        $(
            $(#[$about])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name {
                $(pub $field: <$inner as Crosses>::Wire,)*
            }

            impl $name {
                #[inline]
                pub(crate) fn out(from: &$kind) -> Self {
                    let $kind { $($field),* } = *from;
                    Self { $($field: $field.out()),* }
                }

                #[inline]
                pub(crate) fn back(&self) -> $kind {
                    $kind { $($field: <$inner as Crosses>::back(self.$field)),* }
                }
            }
        )*
    };
}

mirrored! {
    /// A mirror of [`AckSample`].
    Ack of AckSample {
        now: Time, acked: f64, ce_marked: f64, rtt: Option<Span>, srtt: Span, min_rtt: Span, in_flight: f64,
        delivered: u64, round_start: bool, cwnd_limited: bool, abc_limit: f64, paced: bool,
    }
    /// A mirror of [`CongestionEvent`]; the signal is 0 for a loss, 1 for a mark, 2 for a timeout.
    Event of CongestionEvent {
        now: Time, signal: Signal, in_flight: f64, delivered: u64, rtt: Span, srtt: Span, min_rtt: Span, floor: f64,
    }
    /// A mirror of [`Delivery`].
    Delivered of Delivery {
        now: Time, newly_delivered: f64, newly_lost: f64, delivered: u64, prior_delivered: u64, interval: Option<Span>,
        app_limited: bool, rtt: Option<Span>, min_rtt: Span, prior_in_flight: f64, in_flight: f64, tx_in_flight: f64,
        lost: f64, recovering: bool,
    }
    /// A mirror of [`Lost`].
    LostSegment of Lost {
        now: Time, delivered: u64, prior_delivered: u64, tx_in_flight: f64, lost: f64, app_limited: bool,
    }
    /// A mirror of [`Restart`].
    Restarted of Restart { now: Time, idle: Span, cwnd: f64, ssthresh: Option<f64> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crosses_comes_back() {
        let rtt = Span::millis(80);
        let ack = AckSample { rtt: None, round_start: true, ce_marked: 2.0, ..AckSample::plain(Time(7), rtt) };
        let event = CongestionEvent::plain(Time(9), Signal::Timeout, rtt);
        let restart = Restart { now: Time(3), idle: rtt, cwnd: f64::INFINITY, ssthresh: None };
        let lost =
            Lost { now: Time(3), delivered: 4, prior_delivered: 2, tx_in_flight: 3.0, lost: 1.0, app_limited: true };
        let delivery = Delivery {
            now: Time(1),
            newly_delivered: 1.0,
            newly_lost: 2.0,
            delivered: 9,
            prior_delivered: 3,
            interval: Some(rtt),
            app_limited: false,
            rtt: Some(rtt),
            min_rtt: Span(5),
            prior_in_flight: 4.0,
            in_flight: 5.0,
            tx_in_flight: 6.0,
            lost: 7.0,
            recovering: true,
        };
        for (there, back) in [
            (format!("{ack:?}"), format!("{:?}", Ack::out(&ack).back())),
            (format!("{event:?}"), format!("{:?}", Event::out(&event).back())),
            (format!("{restart:?}"), format!("{:?}", Restarted::out(&restart).back())),
            (format!("{lost:?}"), format!("{:?}", LostSegment::out(&lost).back())),
            (format!("{delivery:?}"), format!("{:?}", Delivered::out(&delivery).back())),
        ] {
            assert_eq!(there, back);
        }
        for signal in [Signal::Loss, Signal::Ecn, Signal::Timeout] {
            assert_eq!(Signal::back(signal.out()), signal);
        }
        for bits in 0..128 {
            assert_eq!(needs_to_bits(needs_of_bits(bits)), bits);
        }
    }

    #[test]
    fn sizes_are_those_of_version_3() {
        // A different size requires a new version.
        let sizes = [size_of::<Ack>(), size_of::<Event>(), size_of::<Delivered>(), size_of::<LostSegment>()];
        assert_eq!(sizes, [88, 64, 112, 48]);
        let sizes = [size_of::<Restarted>(), size_of::<State>(), size_of::<Site>(), size_of::<Law>()];
        assert_eq!((VERSION, sizes), (3, [32, 64, 80, 168]));
    }
}

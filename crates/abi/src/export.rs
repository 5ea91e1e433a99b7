//! The side of the library: a Rust type behind the functions of a [`Law`].

use crate::wire::{
    Ack, Delivered, Event, Header, Law, LostSegment, Parameter, Put, Restarted, RttSample, Site, State, needs_to_bits,
};
use base::{Bytes, Span, Time};
use law::{CongestionControl, LawSite, Step};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Exports laws from a library, a crate with `crate-type = ["cdylib"]`. Each law has a name, parameters with their defaults
/// (numbers as in the scenario), and an expression that creates the [`law::CongestionControl`] of a flow. To be used once
/// per library.
///
/// `site` is a [`LawSite`], with the data of the flow, and with [`LawSite::windowed`] for laws that only define growth and
/// decrease. A panic in a law ends the run with its message in one line, so a law can refuse a parameter with `assert!`.
///
/// # Examples
/// ```standalone_crate
/// # use law::{CongestionEvent, WindowLaw};
/// # #[derive(Clone, Debug)]
/// # struct Kept(f64);
/// # impl WindowLaw for Kept {
/// #     fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 { self.0 * cwnd }
/// # }
/// elephan_abi::export_laws! {
///     "half" => |site| site.windowed(Kept(0.5)),
///     "kept" { kept = 0.75 } => |site| {
///         assert!(kept > 0.0 && kept < 1.0, "kept is {kept}; it must be between 0 and 1");
///         site.windowed(Kept(kept))
///     },
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_laws {
    ($($name:literal $({ $($parameter:ident = $default:expr),* $(,)? })? => |$site:pat_param| $make:expr),+ $(,)?) => {
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub static ELEPHAN_LAWS: $crate::glue::Library = {
            static LAWS: &[$crate::glue::Law] = &[$({
                static PARAMETERS: &[$crate::glue::Parameter] = &[$($(
                    $crate::glue::Parameter {
                        name: ::core::concat!(::core::stringify!($parameter), "\0").as_ptr().cast(),
                        default: $default,
                    },
                )*)?];
                extern "C" fn parameter(index: u32) -> ::core::option::Option<&'static $crate::glue::Parameter> {
                    PARAMETERS.get(index as usize)
                }
                fn make(site: &$crate::glue::LawSite<'_>, parameters: &[f64]) -> impl $crate::glue::Exported + use<> {
                    let mut _given = parameters.iter().copied();
                    $($(let $parameter: f64 = _given.next().unwrap_or($default);)*)?
                    let $site = site;
                    $make
                }
                extern "C" fn make_raw(
                    site: &$crate::glue::Site,
                    parameters: *const f64,
                    state: &mut $crate::glue::State,
                ) -> *mut ::core::ffi::c_void {
                    $crate::glue::make(make, site, (parameters, PARAMETERS.len()), state)
                }
                $crate::glue::law(::core::concat!($name, "\0"), parameter, make, make_raw)
            }),+];
            extern "C" fn law(index: u32) -> ::core::option::Option<&'static $crate::glue::Law> {
                LAWS.get(index as usize)
            }
            $crate::glue::Library {
                version: $crate::glue::VERSION,
                law_size: ::core::mem::size_of::<$crate::glue::Law>() as u32,
                built_with: $crate::glue::built_with,
                unwinds: ::core::cfg!(panic = "unwind") as u32,
                begin: $crate::glue::begin,
                law,
            }
        };
    };
}

/// A control that can be exported.
pub trait Exported: CongestionControl + Send + Sync + 'static {}

impl<C: CongestionControl + Send + Sync + 'static> Exported for C {}

thread_local! {
    /// The last panic of this thread, in one line.
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

fn note(text: &str) {
    MESSAGE.with_borrow_mut(|message| {
        message.clear();
        message.push_str(text);
    });
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

/// Whether the hook of [`begin`] is installed.
static HAS_HOOK: AtomicBool = AtomicBool::new(false);

/// Installs a hook that records a panic of this library and its place, and prints nothing.
pub extern "C" fn begin() {
    HAS_HOOK.store(true, Ordering::Relaxed);
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}, line {}: ", at.file(), at.line()));
        note(&format!("{}{}", place.unwrap_or_default(), said(info.payload())));
    }));
}

/// The version of this crate, which is the version of elephan.
#[must_use]
pub extern "C" fn built_with() -> *const c_char {
    concat!("elephan ", env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Calls `act`; if it panics, records the message and returns `None`.
fn guarded<T>(act: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(act));
    if let Err(panic) = &done
        && !HAS_HOOK.load(Ordering::Relaxed)
    {
        note(said(&**panic));
    }
    done.ok()
}

/// Creates an instance and writes its state.
#[expect(unsafe_code, reason = "memory of the caller")]
pub fn make<C: Exported>(
    make: fn(&LawSite<'_>, &[f64]) -> C,
    site: &Site,
    parameters: (*const f64, usize),
    state: &mut State,
) -> *mut c_void {
    // SAFETY: as the interface requires, `parameters` has as many numbers as the law has parameters.
    let numbers = unsafe { slice(parameters.0, parameters.1) };
    // SAFETY: as above, for the name.
    let group = unsafe { slice(site.group, site.group_len) };
    let made = guarded(|| {
        let site = LawSite {
            group: str::from_utf8(group).expect("a name is text"),
            index: site.index,
            replication: site.replication,
            base_rtt: Span(site.base_rtt),
            start: Time(site.start),
            packet: Bytes(site.packet),
            mss: Bytes(site.mss),
            initial_window: site.initial_window,
            ssthresh: site.ssthresh,
            seed: site.seed,
        };
        let law = make(&site, numbers);
        *state = state_of(&law);
        Box::into_raw(Box::new(law)).cast()
    });
    made.unwrap_or(std::ptr::null_mut())
}

#[expect(unsafe_code, reason = "memory of the caller")]
unsafe fn slice<'a, T>(start: *const T, len: usize) -> &'a [T] {
    // SAFETY: as the caller guarantees; a pointer with length 0 is not used.
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, len) } }
}

#[inline]
fn state_of(law: &impl CongestionControl) -> State {
    let step = law.step();
    let Step { gain, below, acks } = step.unwrap_or(Step { gain: 0.0, below: 0.0, acks: 0 });
    State {
        cwnd: law.cwnd(),
        ssthresh: law.ssthresh(),
        pacing_rate: law.pacing_rate().unwrap_or(f64::NAN),
        step_gain: gain,
        step_below: below,
        step_acks: acks,
        steps: u32::from(step.is_some()),
        opening: law.opening(),
        burst: law.burst(),
        failed: 0,
    }
}

/// Changes an instance and writes its state.
///
/// # Safety
/// `law` is an instance of `C` that nothing else uses during the call.
#[inline]
#[expect(unsafe_code, reason = "a pointer that `make` gave")]
unsafe fn act<C: Exported>(law: *mut c_void, state: &mut State, what: impl FnOnce(&mut C)) {
    // SAFETY: as the caller guarantees.
    let law = unsafe { &mut *law.cast::<C>() };
    let done = guarded(|| {
        what(law);
        let fault = law.fault();
        (state_of(law), fault)
    });
    match done {
        Some((found, None)) => *state = found,
        Some((_, Some(fault))) => {
            note(&fault);
            state.failed = 1;
        }
        None => state.failed = 1,
    }
}

#[expect(unsafe_code, reason = "memory of the caller")]
unsafe extern "C" fn message(to: *mut u8, len: usize) -> usize {
    MESSAGE.with_borrow_mut(|message| {
        let mut end = message.len().min(len);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: as the interface requires, there is room for `len` bytes.
        unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), to, end) };
        message.clear();
        end
    })
}

/// The functions of a law with controls of type `C`.
struct Functions<C>(C);

#[expect(unsafe_code, reason = "pointers that `make` gave")]
impl<C: Exported> Functions<C> {
    unsafe extern "C" fn clone(law: *const c_void) -> *mut c_void {
        // SAFETY: an instance of `C`.
        let law = unsafe { &*law.cast::<C>() };
        guarded(|| Box::into_raw(Box::new(law.clone())).cast()).unwrap_or(std::ptr::null_mut())
    }
    unsafe extern "C" fn drop(law: *mut c_void) {
        // SAFETY: an instance of `C` in a box; this is its last use.
        let law = unsafe { Box::from_raw(law.cast::<C>()) };
        guarded(|| drop(law));
    }
    unsafe extern "C" fn needs(law: *const c_void) -> u32 {
        // SAFETY: an instance of `C`.
        let law = unsafe { &*law.cast::<C>() };
        guarded(|| needs_to_bits(law.needs())).unwrap_or(0)
    }
    unsafe extern "C" fn on_ack(law: *mut c_void, sample: &Ack, state: &mut State) {
        // SAFETY: an instance of `C`; the same holds below.
        unsafe { act::<C>(law, state, |law| law.on_ack(&sample.back())) };
    }
    unsafe extern "C" fn on_recovery_ack(law: *mut c_void, sample: &Ack, state: &mut State) {
        unsafe { act::<C>(law, state, |law| law.on_recovery_ack(&sample.back())) };
    }
    unsafe extern "C" fn on_delivery(law: *mut c_void, sample: &Delivered, state: &mut State) {
        unsafe { act::<C>(law, state, |law| law.on_delivery(&sample.back())) };
    }
    unsafe extern "C" fn on_lost(law: *mut c_void, sample: &LostSegment, state: &mut State) {
        unsafe { act::<C>(law, state, |law| law.on_lost(&sample.back())) };
    }
    unsafe extern "C" fn on_feedback(law: *mut c_void, feedback: f64, limited: u32, state: &mut State) {
        unsafe { act::<C>(law, state, |law| law.on_feedback(feedback, limited != 0)) };
    }
    unsafe extern "C" fn on_recovered(law: *mut c_void, state: &mut State) {
        unsafe { act::<C>(law, state, C::on_recovered) };
    }
    unsafe extern "C" fn on_congestion(law: *mut c_void, event: &Event, state: &mut State) {
        unsafe { act::<C>(law, state, |law| law.on_congestion(&event.back())) };
    }
    unsafe extern "C" fn on_restart(law: *mut c_void, restart: &Restarted, state: &mut State) {
        unsafe { act::<C>(law, state, |law| law.on_restart(&restart.back())) };
    }
    unsafe extern "C" fn collapse(law: *mut c_void, state: &mut State) {
        unsafe { act::<C>(law, state, C::collapse) };
    }
    unsafe extern "C" fn advance(law: *mut c_void, gain: f64, below: f64, most: u32, acks: u32, state: &mut State) {
        let step = Step { gain, below, acks: most };
        unsafe { act::<C>(law, state, |law| law.advance(step, acks)) };
    }
    unsafe extern "C" fn on_rtt_samples(law: *mut c_void, samples: *const RttSample, len: usize, state: &mut State) {
        let samples = unsafe { slice(samples, len) };
        let pairs = samples.iter().map(|sample| (Time(sample.at), Span(sample.rtt)));
        unsafe { act::<C>(law, state, |law| law.on_rtt_samples(pairs)) };
    }
    unsafe extern "C" fn open(law: *mut c_void, acks: u32, state: &mut State) {
        unsafe { act::<C>(law, state, |law| law.open(acks)) };
    }
    unsafe extern "C" fn header(law: *const c_void, srtt: u64) -> Header {
        // SAFETY: an instance of `C`.
        let law = unsafe { &*law.cast::<C>() };
        let base::Header { rtt, cwnd, feedback } = guarded(|| law.header(Span(srtt))).unwrap_or(base::Header::NONE);
        Header { rtt, cwnd, feedback }
    }
    unsafe extern "C" fn gauges(law: *const c_void, put: Put, context: *mut c_void) {
        // SAFETY: an instance of `C`.
        let law = unsafe { &*law.cast::<C>() };
        // SAFETY: the function and its context are the caller's; names are constants.
        guarded(|| law.gauges(&mut |name, value| unsafe { put(context, name.as_ptr(), name.len(), value) }));
    }
}

/// Function of a library that creates an instance.
type MakeRaw = extern "C" fn(&Site, *const f64, &mut State) -> *mut c_void;

/// The law with that name (which ends with a zero byte); its instances have the return type of `_make`.
#[must_use]
pub const fn law<C: Exported>(
    name: &'static str,
    parameter: extern "C" fn(u32) -> Option<&'static Parameter>,
    _make: fn(&LawSite<'_>, &[f64]) -> C,
    make: MakeRaw,
) -> Law {
    Law {
        name: name.as_ptr().cast(),
        parameter,
        make,
        clone: Functions::<C>::clone,
        drop: Functions::<C>::drop,
        message,
        needs: Functions::<C>::needs,
        on_ack: Functions::<C>::on_ack,
        on_recovery_ack: Functions::<C>::on_recovery_ack,
        on_delivery: Functions::<C>::on_delivery,
        on_lost: Functions::<C>::on_lost,
        on_feedback: Functions::<C>::on_feedback,
        on_recovered: Functions::<C>::on_recovered,
        on_congestion: Functions::<C>::on_congestion,
        on_restart: Functions::<C>::on_restart,
        collapse: Functions::<C>::collapse,
        advance: Functions::<C>::advance,
        on_rtt_samples: Functions::<C>::on_rtt_samples,
        open: Functions::<C>::open,
        header: Functions::<C>::header,
        gauges: Functions::<C>::gauges,
    }
}

//! The side of elephan: a flow's control whose law is in a library.

use crate::wire::{Ack, Delivered, Event, Law, LostSegment, Restarted, RttSample, Site, State, needs_of_bits};
use base::{Header, Span, Time};
use law::{AckSample, CongestionControl, CongestionEvent, Delivery, Lost, Needs, Restart, Step};
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// A fault of a law in a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The function that was called.
    pub method: &'static str,
    /// The reason in one line.
    pub reason: String,
}

/// Called with the first fault of an instance; after it the instance is not called again.
pub type Report<'a> = Arc<dyn Fn(Fault) + Send + Sync + 'a>;

/// See the [module](self).
pub struct LibraryControl<'a> {
    law: &'static Law,
    /// The instance; null after a fault.
    this: *mut c_void,
    state: State,
    needs: Needs,
    report: Report<'a>,
}

// SAFETY: the interface requires instances that can move between threads and be read by several; `export_laws!` accepts no
// others.
#[expect(unsafe_code, reason = "the instance is behind a pointer")]
unsafe impl Send for LibraryControl<'_> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "the instance is behind a pointer")]
unsafe impl Sync for LibraryControl<'_> {}

impl fmt::Debug for LibraryControl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryControl").field("state", &self.state).field("needs", &self.needs).finish_non_exhaustive()
    }
}

#[expect(unsafe_code, reason = "functions of the library")]
impl<'a> LibraryControl<'a> {
    /// Creates an instance for `site`; `parameters` must have as many values as the law has parameters.
    pub(crate) fn new(law: &'static Law, site: &Site, parameters: &[f64], report: Report<'a>) -> Self {
        let mut control =
            Self { law, this: std::ptr::null_mut(), state: State::EMPTY, needs: Needs::default(), report };
        // SAFETY: the library was checked to use this interface; the same holds for all calls below.
        control.this = unsafe { (law.make)(site, parameters.as_ptr(), &mut control.state) };
        if control.this.is_null() {
            control.fail("make", message(law));
        } else {
            // SAFETY: as above.
            control.needs = needs_of_bits(unsafe { (law.needs)(control.this) });
            control.look("make");
        }
        control
    }

    #[cold]
    fn fail(&mut self, method: &'static str, reason: String) {
        if !self.this.is_null() {
            // SAFETY: as above; the instance is not used again.
            unsafe { (self.law.drop)(self.this) };
        }
        (self.this, self.state) = (std::ptr::null_mut(), State::EMPTY);
        (self.report)(Fault { method, reason });
    }

    /// Checks the state after a call.
    #[inline]
    fn look(&mut self, method: &'static str) {
        if self.state.failed != 0 {
            return self.fail(method, message(self.law));
        }
        if let Some(wrong) = self.state.wrong() {
            return self.fail(method, format!("left an invalid window: {wrong}"));
        }
        // The sender uses whole segments of the window, at least one.
        self.state.cwnd = self.state.cwnd.max(1.0);
    }

    /// Calls a function of the instance, unless the instance has failed.
    #[inline]
    fn act(&mut self, method: &'static str, what: impl FnOnce(&Law, *mut c_void, &mut State)) {
        if !self.this.is_null() {
            what(self.law, self.this, &mut self.state);
            self.look(method);
        }
    }
}

/// The reason why the last call failed, in one line.
#[expect(unsafe_code, reason = "a function of the library")]
fn message(law: &Law) -> String {
    let mut text = vec![0; 4096];
    // SAFETY: the buffer has room for that many bytes.
    let len = unsafe { (law.message)(text.as_mut_ptr(), text.len()) };
    text.truncate(len);
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { "failed, and does not say why".to_owned() } else { words.join(" ") }
}

#[expect(unsafe_code, reason = "a function of the library")]
impl Clone for LibraryControl<'_> {
    fn clone(&self) -> Self {
        let report = Arc::clone(&self.report);
        let mut fresh = Self { report, this: std::ptr::null_mut(), ..*self };
        if !self.this.is_null() {
            // SAFETY: as in `new`.
            fresh.this = unsafe { (self.law.clone)(self.this) };
            if fresh.this.is_null() {
                fresh.fail("clone", message(self.law));
            }
        }
        fresh
    }
}

#[expect(unsafe_code, reason = "a function of the library")]
impl Drop for LibraryControl<'_> {
    fn drop(&mut self) {
        if !self.this.is_null() {
            // SAFETY: as in `new`; this is the last use.
            unsafe { (self.law.drop)(self.this) };
        }
    }
}

// SAFETY of all calls: as in `new`.
#[expect(unsafe_code, reason = "functions of the library")]
impl CongestionControl for LibraryControl<'_> {
    fn needs(&self) -> Needs {
        self.needs
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSample) {
        let sample = Ack::out(ack);
        self.act("on_ack", |law, this, state| unsafe { (law.on_ack)(this, &sample, state) });
    }

    fn on_recovery_ack(&mut self, ack: &AckSample) {
        let sample = Ack::out(ack);
        self.act("on_recovery_ack", |law, this, state| unsafe { (law.on_recovery_ack)(this, &sample, state) });
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        let sample = Delivered::out(delivery);
        self.act("on_delivery", |law, this, state| unsafe { (law.on_delivery)(this, &sample, state) });
    }

    fn on_lost(&mut self, lost: &Lost) {
        let sample = LostSegment::out(lost);
        self.act("on_lost", |law, this, state| unsafe { (law.on_lost)(this, &sample, state) });
    }

    fn on_feedback(&mut self, feedback: f64, limited: bool) {
        let limited = u32::from(limited);
        self.act("on_feedback", |law, this, state| unsafe { (law.on_feedback)(this, feedback, limited, state) });
    }

    fn header(&self, srtt: Span) -> Header {
        if self.this.is_null() {
            return Header::NONE;
        }
        let crate::wire::Header { rtt, cwnd, feedback } = unsafe { (self.law.header)(self.this, srtt.0) };
        Header { rtt, cwnd, feedback }
    }

    fn on_recovered(&mut self) {
        self.act("on_recovered", |law, this, state| unsafe { (law.on_recovered)(this, state) });
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let event = Event::out(event);
        self.act("on_congestion", |law, this, state| unsafe { (law.on_congestion)(this, &event, state) });
    }

    fn on_restart(&mut self, restart: &Restart) {
        let restart = Restarted::out(restart);
        self.act("on_restart", |law, this, state| unsafe { (law.on_restart)(this, &restart, state) });
    }

    fn collapse(&mut self) {
        self.act("collapse", |law, this, state| unsafe { (law.collapse)(this, state) });
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.state.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.state.ssthresh
    }

    #[inline]
    fn step(&self) -> Option<Step> {
        self.state.step()
    }

    #[inline]
    fn advance(&mut self, step: Step, acks: u32) {
        let Step { gain, below, acks: most } = step;
        self.act("advance", |law, this, state| unsafe { (law.advance)(this, gain, below, most, acks, state) });
    }

    fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
        if !self.needs.every_rtt {
            return samples.for_each(drop);
        }
        let list: Vec<RttSample> = samples.map(|(at, rtt)| RttSample { at: at.0, rtt: rtt.0 }).collect();
        self.act("on_rtt_samples", |law, this, state| unsafe {
            (law.on_rtt_samples)(this, list.as_ptr(), list.len(), state);
        });
    }

    #[inline]
    fn opening(&self) -> u32 {
        self.state.opening
    }

    fn open(&mut self, acks: u32) {
        self.act("open", |law, this, state| unsafe { (law.open)(this, acks, state) });
    }

    #[inline]
    fn pacing_rate(&self) -> Option<f64> {
        (!self.state.pacing_rate.is_nan()).then_some(self.state.pacing_rate)
    }

    #[inline]
    fn burst(&self) -> u32 {
        self.state.burst
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if !self.this.is_null() {
            let mut context = put;
            unsafe { (self.law.gauges)(self.this, put_one, (&raw mut context).cast()) };
        }
    }
}

#[expect(unsafe_code, reason = "called by the library with what `gauges` gave it")]
unsafe extern "C" fn put_one(context: *mut c_void, name: *const u8, len: usize, value: f64) {
    // SAFETY: the context is that of `gauges`, which waits for this call; names are valid for ever, because libraries stay
    // open.
    let (put, name) =
        unsafe { (&mut *context.cast::<&mut dyn FnMut(&'static str, f64)>(), std::slice::from_raw_parts(name, len)) };
    if let Ok(name) = str::from_utf8(name) {
        put(name, value);
    }
}

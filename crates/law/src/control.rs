//! Interfaces of a congestion control, which the transport calls, and of its parts: a window law and a slow start. Each
//! trait is declared together with its dispatch over the registered laws.

use crate::{AckSample, CongestionEvent, Delivery, Lost, Needs, Restart};
use base::{Header, Span, Time};

/// The effect of a run of equal ACKs: each adds `gain` to the window as long as the result stays below `below`. See
/// [`CongestionControl::step`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Segments gained per acknowledged segment; a multiple of 2^-32.
    pub gain: f64,
    /// The window must stay below this for the step to hold.
    pub below: f64,
    /// Largest number of ACKs for which it holds; `u32::MAX` if only the window matters.
    pub acks: u32,
}

base::dispatched! {
    ($) macro congestion_control;
    /// The interface that the transport uses: it reports events and reads the window.
    ///
    /// A control is a small `Clone` value.
    pub trait CongestionControl: [Clone + std::fmt::Debug] {
        /// Measurements it needs beyond one round-trip sample per round trip.
        fn needs(&self) -> Needs {
            Needs::default()
        }
        /// Sets the payload of a full segment, in bytes; called once before everything else, for laws with limits in bytes.
        fn set_mss(&mut self, _mss: u32) {}
        /// New data was acknowledged outside loss recovery. Not called if [`Needs::deliveries`] is set.
        fn on_ack(&mut self, _ack: &AckSample) {}
        /// Data was delivered in a recovery or a reduction, in which the transport decides how much is sent. Called only if
        /// [`Needs::marks`] is set and [`Needs::deliveries`] is not. `acked` includes SACKed segments.
        fn on_recovery_ack(&mut self, _ack: &AckSample) {}
        /// Data was delivered, in recovery or not. Called in place of [`Self::on_ack`] if [`Needs::deliveries`] is set.
        fn on_delivery(&mut self, _delivery: &Delivery) {}
        /// A segment was marked lost. Called only if [`Needs::deliveries`] is set, for each such segment in the order of
        /// sending, before [`Self::on_congestion`] and [`Self::on_delivery`] of the same ACK or timeout.
        fn on_lost(&mut self, _lost: &Lost) {}
        /// An ACK reports the feedback that routers granted to the segments since the last ACK, in segments; infinite if a
        /// segment met no router that gives feedback. `limited` says whether the window limited the sender. Called only if
        /// [`Needs::headers`] is set, before all other calls for the same ACK, also in recovery.
        fn on_feedback(&mut self, _feedback: f64, _limited: bool) {}
        /// Header for routers in the next data packet, in segments; `srtt` is zero before the first sample. Called only if
        /// [`Needs::headers`] is set.
        fn header(&self, _srtt: Span) -> Header {
            Header::NONE
        }
        /// All losses were repaired. Called only if [`Needs::deliveries`] is set, before [`Self::on_delivery`] of the same
        /// ACK.
        fn on_recovered(&mut self) {}
        /// A loss or mark; the window is cut.
        fn on_congestion(&mut self, event: &CongestionEvent);
        /// The last reduction was spurious: window and threshold are restored to these values, but never lowered (RFC 4015;
        /// Linux: `undo_cwnd`). A control that sets its own window restores its own values.
        fn on_undo(&mut self, _cwnd: f64, _ssthresh: f64) {}
        /// Whether the law's state before a reduction is restored too when the reduction is undone (RFC 9438, Section 4.9).
        fn restores_on_undo(&self) -> bool {
            false
        }
        /// The application has data again after a pause, before any of it is sent, or it left the window unused for a long
        /// time. The transport says how much of the window is still valid. A control that sets its own window uses only the
        /// pause.
        fn on_restart(&mut self, _restart: &Restart) {}
        /// Sets the window to one segment; the threshold stays (Tahoe after its fast retransmit).
        fn collapse(&mut self);
        /// Congestion window, in segments.
        fn cwnd(&self) -> f64;
        /// Slow-start threshold, in segments; infinite before the first loss unless set.
        fn ssthresh(&self) -> f64;
        /// Effect of the next ACKs if they are all alike (one segment each, window full); `None` if it depends on more
        /// than their number. If only the window matters ([`Step::acks`]), ACKs that arrive while the window is not
        /// full only begin round trips.
        fn step(&self) -> Option<Step> {
            None
        }
        /// Processes `acks` such ACKs at once, with the same result as that many calls of [`Self::on_ack`].
        fn advance(&mut self, _step: Step, _acks: u32) {}
        /// Reports the times and round-trip times of the ACKs after [`Self::advance`], if [`Needs::every_rtt`] is set. The
        /// iterator must be consumed completely.
        fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
            samples.for_each(drop);
        }
        /// Number of the next ACKs that add one segment each to the window, as in slow start, if they are all alike (one
        /// segment each, window full, none begins a round trip).
        fn opening(&self) -> u32 {
            0
        }
        /// Processes `acks` such ACKs at once, with the same result as that many calls of [`Self::on_ack`].
        fn open(&mut self, _acks: u32) {}
        /// Pacing rate in segments per second; `None` to send at once whatever the window allows.
        fn pacing_rate(&self) -> Option<f64> {
            None
        }
        /// Number of segments sent back to back with pacing; the pacing rate spaces such groups.
        fn burst(&self) -> u32 {
            1
        }
        /// Fault of a user's control, in one line; the run then has no result.
        fn fault(&self) -> Option<String> {
            None
        }
        /// Reports internal values worth showing in traces, by name.
        fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
    }
}

base::dispatched! {
    ($) macro window_law;
    /// The arithmetic that most papers define. Slow start, lower limits of the window, and one reduction per window are
    /// implemented elsewhere.
    pub trait WindowLaw: [Clone + std::fmt::Debug] {
        /// Measurements it needs beyond one round-trip sample per round trip.
        fn needs(&self) -> Needs {
            Needs::default()
        }

        /// Called for laws that measure, also in slow start, before the window grows: for every ACK of new data outside
        /// recovery, and also in recovery for laws that count marks ([`Needs::marks`]). A law with [`Self::per_rtt`] gets
        /// only the ACKs that begin a round trip, and only if it asks for them ([`Needs::rounds`]).
        fn on_sample(&mut self, _ack: &AckSample) {}

        /// Segments gained per round trip at window `w`, for laws whose growth depends only on the window and on the last
        /// [`Self::on_sample`]. Runs of ACKs are then processed at once.
        ///
        /// Such laws grow by a(m)/m per acknowledged segment, where m is the middle of the integer interval that contains
        /// the window. Over the interval, the sum equals that of a(w)/w to second order in 1/w.
        fn per_rtt(&self, _w: f64) -> Option<f64> {
            None
        }

        /// The window after this ACK in congestion avoidance. Called only if [`Self::per_rtt`] returns `None`.
        fn avoid(&mut self, cwnd: f64, _ack: &AckSample) -> f64 {
            cwnd
        }

        /// Effect of the next ACKs, each of which finds the window full; for laws that take every ACK but decide only at
        /// some of them. Their samples follow in [`Self::on_rtt_samples`].
        fn step(&self) -> Option<Step> {
            None
        }

        /// Reports the ACKs of a run that was processed with [`Self::step`], with their round-trip times.
        fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
            samples.for_each(drop);
        }

        /// The effect of an ACK in congestion avoidance: [`Self::on_sample`], then [`Self::avoid`] if the window was the
        /// limit.
        #[inline]
        fn on_avoidance_ack(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
            self.on_sample(ack);
            if ack.cwnd_limited { self.avoid(cwnd, ack) } else { cwnd }
        }

        /// Called when the application had no data for `idle` until `now`, for laws that depend on time.
        fn on_idle(&mut self, _now: Time, _idle: Span) {}

        /// Whether the law's state before a reduction is restored too when the reduction is undone (RFC 9438, Section 4.9).
        fn restores_on_undo(&self) -> bool {
            false
        }

        /// The window kept after a congestion event; it becomes ssthresh.
        fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64;

        /// Reports internal values worth showing in traces, by name.
        fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
    }
}

base::dispatched! {
    ($) macro slow_start;
    /// Growth of the window in slow start.
    pub trait SlowStart: [Clone + std::fmt::Debug] {
        /// Measurements it needs beyond one round-trip sample per round trip.
        fn needs(&self) -> Needs {
            Needs::default()
        }

        /// Segments gained per acknowledged segment at window `w`, for slow starts whose growth depends only on the window.
        fn gain(&self, _w: f64) -> Option<f64> {
            None
        }

        /// The largest whole window up to which [`Self::gain`] is certainly one.
        fn doubles_to(&self) -> f64 {
            0.0
        }

        /// The window after this ACK, and whether slow start is over. The default is for slow starts with [`Self::gain`];
        /// growth counts at most [`AckSample::abc_limit`] segments per ACK (RFC 3465).
        fn open(&mut self, cwnd: f64, ack: &AckSample) -> Opening {
            Opening::Grow(cwnd + self.gain(cwnd as u64 as f64).unwrap_or(0.0) * ack.acked.min(ack.abc_limit))
        }

        /// The window was cut; the next slow start begins from the initial state.
        fn restart(&mut self) {}
    }
}

/// Decision of a slow start on an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Opening {
    /// The new window.
    Grow(f64),
    /// The new window, which also becomes the threshold: congestion avoidance begins.
    Exit(f64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signal;
    use std::cell::RefCell;

    /// Overrides every method of trait number `TRAIT` and records the calls.
    #[derive(Clone, Debug, Default)]
    pub struct Noting<const TRAIT: u8>(RefCell<Vec<&'static str>>);

    impl<const TRAIT: u8> Noting<TRAIT> {
        fn note<T>(&self, method: &'static str, answer: T) -> T {
            self.0.borrow_mut().push(method);
            answer
        }
    }

    const NEEDS: Needs = Needs {
        rounds: true,
        every_rtt: true,
        deliveries: true,
        marks: true,
        headers: true,
        own_recovery: true,
        l4s: true,
    };
    const STEP: Step = Step { gain: 1.0, below: 2.0, acks: 3 };

    impl CongestionControl for Noting<0> {
        fn needs(&self) -> Needs {
            self.note("needs", NEEDS)
        }
        fn set_mss(&mut self, _mss: u32) {
            self.note("set_mss", ());
        }
        fn on_ack(&mut self, _ack: &AckSample) {
            self.note("on_ack", ());
        }
        fn on_recovery_ack(&mut self, _ack: &AckSample) {
            self.note("on_recovery_ack", ());
        }
        fn on_delivery(&mut self, _delivery: &Delivery) {
            self.note("on_delivery", ());
        }
        fn on_lost(&mut self, _lost: &Lost) {
            self.note("on_lost", ());
        }
        fn on_feedback(&mut self, _feedback: f64, _limited: bool) {
            self.note("on_feedback", ());
        }
        fn header(&self, _srtt: Span) -> Header {
            self.note("header", Header { cwnd: 7.0, ..Header::NONE })
        }
        fn on_recovered(&mut self) {
            self.note("on_recovered", ());
        }
        fn on_congestion(&mut self, _event: &CongestionEvent) {
            self.note("on_congestion", ());
        }
        fn on_undo(&mut self, _cwnd: f64, _ssthresh: f64) {
            self.note("on_undo", ());
        }
        fn restores_on_undo(&self) -> bool {
            self.note("restores_on_undo", true)
        }
        fn on_restart(&mut self, _restart: &Restart) {
            self.note("on_restart", ());
        }
        fn collapse(&mut self) {
            self.note("collapse", ());
        }
        fn cwnd(&self) -> f64 {
            self.note("cwnd", 5.0)
        }
        fn ssthresh(&self) -> f64 {
            self.note("ssthresh", 6.0)
        }
        fn step(&self) -> Option<Step> {
            self.note("step", Some(STEP))
        }
        fn advance(&mut self, _step: Step, _acks: u32) {
            self.note("advance", ());
        }
        fn on_rtt_samples(&mut self, _samples: impl Iterator<Item = (Time, Span)>) {
            self.note("on_rtt_samples", ());
        }
        fn opening(&self) -> u32 {
            self.note("opening", 17)
        }
        fn open(&mut self, _acks: u32) {
            self.note("open", ());
        }
        fn pacing_rate(&self) -> Option<f64> {
            self.note("pacing_rate", Some(8.0))
        }
        fn burst(&self) -> u32 {
            self.note("burst", 9)
        }
        fn fault(&self) -> Option<String> {
            self.note("fault", Some("wrong".into()))
        }
        fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
            put("own", self.note("gauges", 10.0));
        }
    }

    impl WindowLaw for Noting<1> {
        fn needs(&self) -> Needs {
            self.note("needs", NEEDS)
        }
        fn on_sample(&mut self, _ack: &AckSample) {
            self.note("on_sample", ());
        }
        fn per_rtt(&self, _w: f64) -> Option<f64> {
            self.note("per_rtt", Some(11.0))
        }
        fn avoid(&mut self, _cwnd: f64, _ack: &AckSample) -> f64 {
            self.note("avoid", 12.0)
        }
        fn step(&self) -> Option<Step> {
            self.note("step", Some(STEP))
        }
        fn on_rtt_samples(&mut self, _samples: impl Iterator<Item = (Time, Span)>) {
            self.note("on_rtt_samples", ());
        }
        fn on_avoidance_ack(&mut self, _cwnd: f64, _ack: &AckSample) -> f64 {
            self.note("on_avoidance_ack", 13.0)
        }
        fn on_idle(&mut self, _now: Time, _idle: Span) {
            self.note("on_idle", ());
        }
        fn restores_on_undo(&self) -> bool {
            self.note("restores_on_undo", true)
        }
        fn backoff(&mut self, _cwnd: f64, _event: &CongestionEvent) -> f64 {
            self.note("backoff", 14.0)
        }
        fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
            put("own", self.note("gauges", 10.0));
        }
    }

    impl SlowStart for Noting<2> {
        fn needs(&self) -> Needs {
            self.note("needs", NEEDS)
        }
        fn gain(&self, _w: f64) -> Option<f64> {
            self.note("gain", Some(15.0))
        }
        fn doubles_to(&self) -> f64 {
            self.note("doubles_to", 18.0)
        }
        fn open(&mut self, _cwnd: f64, _ack: &AckSample) -> Opening {
            self.note("open", Opening::Exit(16.0))
        }
        fn restart(&mut self) {
            self.note("restart", ());
        }
    }

    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnyControl: congestion_control { Own(Box<Noting<0>>), }
    }
    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnyWindowLaw: window_law { Own(Noting<1>), }
    }
    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnySlowStart: slow_start { Own(Noting<2>), }
    }

    /// The methods that a trait's declaration in this file lists.
    fn declared(name: &str) -> Vec<&'static str> {
        let file = include_str!("control.rs");
        let body = file.split(&format!("pub trait {name}: [")).nth(1).unwrap().split("\n    }\n").next().unwrap();
        body.split("\n        fn ").skip(1).map(|method| method.split(['(', '<']).next().unwrap()).collect()
    }

    fn rtt() -> Span {
        Span::millis(100)
    }

    fn ack() -> AckSample {
        AckSample::plain(Time::ZERO, rtt())
    }

    fn loss() -> CongestionEvent {
        CongestionEvent::plain(Time::ZERO, Signal::Loss, rtt())
    }

    fn own(gauges: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        let mut put = Vec::new();
        gauges(&mut |name, x| put.push((name, x)));
        assert_eq!(put, [("own", 10.0)]);
    }

    fn sorted(mut names: Vec<&'static str>) -> Vec<&'static str> {
        names.sort_unstable();
        names
    }

    #[test]
    fn every_method_of_a_control_arrives_through_the_enum() {
        let mut any = AnyControl::from(Box::new(Noting::default()));
        let delivery = Delivery {
            now: Time::ZERO,
            newly_delivered: 1.0,
            newly_lost: 0.0,
            delivered: 1,
            prior_delivered: 0,
            interval: None,
            app_limited: false,
            rtt: None,
            min_rtt: rtt(),
            prior_in_flight: 1.0,
            in_flight: 0.0,
            tx_in_flight: 1.0,
            lost: 0.0,
            recovering: false,
        };
        let (now, delivered, prior_delivered, tx_in_flight, lost, app_limited) = (Time::ZERO, 1, 0, 1.0, 1.0, false);
        any.set_mss(1448);
        any.on_ack(&ack());
        any.on_recovery_ack(&ack());
        any.on_delivery(&delivery);
        any.on_lost(&Lost { now, delivered, prior_delivered, tx_in_flight, lost, app_limited });
        any.on_feedback(1.0, true);
        any.on_recovered();
        any.on_congestion(&loss());
        any.on_undo(1.0, 2.0);
        assert!(any.restores_on_undo());
        any.on_restart(&Restart { now, idle: Span::ZERO, cwnd: 1.0, ssthresh: None });
        any.collapse();
        any.advance(STEP, 1);
        any.on_rtt_samples(std::iter::empty());
        any.open(1);
        assert_eq!((any.needs(), any.header(rtt()).cwnd, any.step(), any.opening()), (NEEDS, 7.0, Some(STEP), 17));
        assert_eq!((any.cwnd(), any.ssthresh(), any.pacing_rate(), any.burst()), (5.0, 6.0, Some(8.0), 9));
        assert_eq!(any.fault().as_deref(), Some("wrong"));
        own(|put| any.gauges(put));
        let AnyControl::Own(noting) = any;
        assert_eq!(sorted(noting.0.take()), sorted(declared("CongestionControl")));
    }

    #[test]
    fn every_method_of_a_window_law_arrives_through_the_enum() {
        let mut any = AnyWindowLaw::from(Noting::default());
        any.on_sample(&ack());
        any.on_idle(Time::ZERO, Span::ZERO);
        assert!(any.restores_on_undo());
        any.on_rtt_samples(std::iter::empty());
        assert_eq!((any.needs(), any.per_rtt(1.0), any.step()), (NEEDS, Some(11.0), Some(STEP)));
        let answers = [any.avoid(1.0, &ack()), any.on_avoidance_ack(1.0, &ack()), any.backoff(1.0, &loss())];
        assert_eq!(answers, [12.0, 13.0, 14.0]);
        own(|put| any.gauges(put));
        let AnyWindowLaw::Own(noting) = any;
        assert_eq!(sorted(noting.0.take()), sorted(declared("WindowLaw")));
    }

    #[test]
    fn every_method_of_a_slow_start_arrives_through_the_enum() {
        let mut any = AnySlowStart::from(Noting::default());
        any.restart();
        assert_eq!((any.needs(), any.gain(1.0), any.open(1.0, &ack())), (NEEDS, Some(15.0), Opening::Exit(16.0)));
        assert_eq!(any.doubles_to(), 18.0);
        let AnySlowStart::Own(noting) = any;
        assert_eq!(sorted(noting.0.take()), sorted(declared("SlowStart")));
    }
}

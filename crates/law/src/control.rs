//! What the transport drives, and what it is made of: a window law and a slow start. Each trait is declared together with its
//! dispatch over the laws of the registry.

use crate::{AckSample, CongestionEvent, Delivery, Lost, Needs};
use base::{Header, Span, Time};

/// A stretch of acknowledgements that all do the same: each adds `gain` to the window as long as the result stays below
/// `below`. See [`CongestionControl::step`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Segments gained per acknowledged segment; a multiple of [`GRID`].
    pub gain: f64,
    /// The window must stay below this for the step to hold.
    pub below: f64,
    /// ACKs for which it holds at most; `u32::MAX` if only the window matters.
    pub acks: u32,
}

base::dispatched! {
    ($) macro congestion_control;
    /// The port the transport drives: events in, a window out.
    ///
    /// A controller is a small `Clone` value. Spurious recoveries are not undone: no path here reorders one flow.
    pub trait CongestionControl: [Clone + std::fmt::Debug] {
        /// What it needs beyond one round-trip sample per round trip.
        fn needs(&self) -> Needs {
            Needs::default()
        }
        /// New data was acknowledged outside loss recovery.
        fn on_ack(&mut self, ack: &AckSample);
        /// Something was delivered, in recovery too: only for those whose [`Needs::deliveries`] is set, after [`Self::on_ack`].
        fn on_delivery(&mut self, _delivery: &Delivery) {}
        /// A segment was taken for lost: only for those whose [`Needs::deliveries`] is set, for each such segment in the
        /// order of sending, before [`Self::on_congestion`] and [`Self::on_delivery`] of the same ACK or timeout.
        fn on_lost(&mut self, _lost: &Lost) {}
        /// An ACK reports what routers granted to the segments since the last one, in segments; infinite if a segment met no
        /// router that grants anything. `limited` says whether the window was what held the sender back. Only for those whose
        /// [`Needs::headers`] is set, before anything else of the same ACK, in recovery too.
        fn on_feedback(&mut self, _feedback: f64, _limited: bool) {}
        /// What the next data packet takes along for routers, in segments; `srtt` is zero before the first sample. Only for
        /// those whose [`Needs::headers`] is set.
        fn header(&self, _srtt: Span) -> Header {
            Header::NONE
        }
        /// Everything lost was repaired: only for those whose [`Needs::deliveries`] is set, before
        /// [`Self::on_delivery`] of the same ACK.
        fn on_recovered(&mut self) {}
        /// A loss or mark; the window is cut.
        fn on_congestion(&mut self, event: &CongestionEvent);
        /// The window becomes one segment, the threshold stays (Tahoe after its fast retransmit).
        fn collapse(&mut self);
        /// Congestion window, in segments.
        fn cwnd(&self) -> f64;
        /// Slow-start threshold, in segments; infinite before the first loss unless set.
        fn ssthresh(&self) -> f64;
        /// What the next ACKs will do if they are all alike (one segment each, window full), or `None` if that depends on
        /// more than their number.
        fn step(&self) -> Option<Step> {
            None
        }
        /// Takes `acks` such ACKs at once. Exactly the same as as many calls of [`Self::on_ack`].
        fn advance(&mut self, _step: Step, _acks: u32) {}
        /// When they came and their round-trip times, after [`Self::advance`]: for those whose [`Needs::every_rtt`] is set.
        /// All are to be taken from the iterator.
        fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
            samples.for_each(drop);
        }
        /// Segments per second at which it wants to send, spread evenly; `None` to send what the window allows at once.
        fn pacing_rate(&self) -> Option<f64> {
            None
        }
        /// Segments that leave back to back where it paces: the pace is that of such groups.
        fn burst(&self) -> u32 {
            1
        }
        /// Private numbers worth showing in traces, by name.
        fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
    }
}

base::dispatched! {
    ($) macro window_law;
    /// The arithmetic that most papers define. Slow start, floors and once-per-window live elsewhere.
    pub trait WindowLaw: [Clone + std::fmt::Debug] {
        /// What it needs beyond one round-trip sample per round trip.
        fn needs(&self) -> Needs {
            Needs::default()
        }

        /// For laws that measure, in slow start too, and before the window grows: every ACK of new data outside recovery. A
        /// law that answers [`Self::per_rtt`] gets only the ACKs that begin a round trip, and those if it asks for them
        /// ([`Needs::rounds`]).
        fn on_sample(&mut self, _ack: &AckSample) {}

        /// Segments gained per round trip at window `w`, for laws in which that depends on the window and on what
        /// the last [`Self::on_sample`]: runs of ACKs are then taken at once.
        ///
        /// Such laws grow by a(m)/m per acknowledged segment with m the middle of the integer interval that holds the
        /// window: the sum over the interval equals that of a(w)/w to second order in 1/w.
        fn per_rtt(&self, _w: f64) -> Option<f64> {
            None
        }

        /// The window after this ACK, in congestion avoidance. Called only when [`Self::per_rtt`] answers `None`.
        fn avoid(&mut self, cwnd: f64, _ack: &AckSample) -> f64 {
            cwnd
        }

        /// For laws that take every ACK and decide only at some of them: what the next ones do, each of which finds the window
        /// full. Their samples follow in [`Self::on_rtt_samples`].
        fn step(&self) -> Option<Step> {
            None
        }

        /// The ACKs of a run that was taken as [`Self::step`] said, with their round-trip times.
        fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
            samples.for_each(drop);
        }

        /// [`Self::on_sample`], then [`Self::avoid`] if the window was the limit: what an ACK in congestion avoidance does.
        #[inline]
        fn on_avoidance_ack(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
            self.on_sample(ack);
            if ack.cwnd_limited { self.avoid(cwnd, ack) } else { cwnd }
        }

        /// The window kept after a congestion event; becomes ssthresh.
        fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64;

        /// Private numbers worth showing in traces, by name.
        fn gauges(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
    }
}

base::dispatched! {
    ($) macro slow_start;
    /// How a flow opens its window.
    pub trait SlowStart: [Clone + std::fmt::Debug] {
        /// What it needs beyond one round-trip sample per round trip.
        fn needs(&self) -> Needs {
            Needs::default()
        }

        /// Segments gained per acknowledged segment at window `w`, for slow starts that only count.
        fn gain(&self, _w: f64) -> Option<f64> {
            None
        }

        /// The window after this ACK, and whether slow start is over. Starts that only count leave it as it is; growth
        /// counts at most two segments per ACK (RFC 3465, L = 2).
        fn open(&mut self, cwnd: f64, ack: &AckSample) -> Opening {
            Opening::Grow(cwnd + self.gain(cwnd as u64 as f64).unwrap_or(0.0) * ack.acked.min(2.0))
        }

        /// The window was cut; the next slow start begins afresh.
        fn restart(&mut self) {}
    }
}

/// What a slow start decides on an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Opening {
    /// The new window.
    Grow(f64),
    /// The new window, which is also the threshold: congestion avoidance begins.
    Exit(f64),
}

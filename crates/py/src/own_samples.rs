//! Arguments for laws in Python: of their flow, of an ACK, of a round trip, of a congestion event. Times are in
//! seconds, and once more in whole picoseconds (`_ps`), as the simulator has them; windows and counts in segments.

use base::Span;
use law::{AckSample, CongestionEvent, Restart, Signal};
use pyo3::prelude::*;
use sim::FlowSite;

/// The flow that an instance is made for.
#[pyclass(frozen, get_all, module = "elephan._native")]
#[derive(Clone, Debug)]
pub struct LawFlow {
    pub group: String,
    pub index: u32,
    pub replication: u32,
    pub base_rtt: f64,
    pub start: f64,
    pub packet: u64,
    pub mss: u64,
    pub initial_window: f64,
    pub initial_ssthresh: f64,
    pub seed: u64,
}

impl LawFlow {
    pub fn of(flow: &FlowSite<'_>) -> Self {
        Self {
            group: flow.group.to_owned(),
            index: flow.index,
            replication: flow.replication,
            base_rtt: flow.base_rtt.as_secs(),
            start: flow.start.as_secs(),
            packet: flow.packet.0,
            mss: flow.mss.0,
            initial_window: flow.initial_window,
            initial_ssthresh: flow.ssthresh,
            seed: flow.stream("law").next_u64(),
        }
    }
}

/// Getters of times: in seconds, and in picoseconds.
macro_rules! sample {
    ($(#[$about:meta])* $name:ident($inner:ty) { $($own:item)* } times $($time:ident $ps:ident),*; $($field:ident: $kind:ty),*) => {
        $(#[$about])*
        #[pyclass(frozen, module = "elephan._native")]
        #[derive(Clone, Debug)]
        pub struct $name(pub $inner);

        #[pymethods]
        impl $name {
            #[getter]
            fn now(&self) -> f64 {
                self.0.now.as_secs()
            }
            #[getter]
            fn now_ps(&self) -> u64 {
                self.0.now.0
            }
            $(
                #[getter]
                fn $time(&self) -> f64 {
                    self.0.$time.as_secs()
                }
                #[getter]
                fn $ps(&self) -> u64 {
                    self.0.$time.0
                }
            )*
            $(
                #[getter]
                fn $field(&self) -> $kind {
                    self.0.$field
                }
            )*
            $($own)*
            fn __repr__(&self) -> String {
                format!("{:?}", self.0)
            }
        }
    };
}

sample! {
    /// An ACK of new data, outside of loss recovery.
    LawAck(AckSample) {
        #[getter]
        fn rtt(&self) -> Option<f64> {
            self.0.rtt.map(Span::as_secs)
        }
        #[getter]
        fn rtt_ps(&self) -> Option<u64> {
            self.0.rtt.map(|rtt| rtt.0)
        }
    }
    times srtt srtt_ps, min_rtt min_rtt_ps;
    acked: f64, ce_marked: f64, in_flight: f64, delivered: u64, round_start: bool, cwnd_limited: bool, abc_limit: f64, paced: bool
}

sample! {
    /// A loss, a timeout or an echoed mark: at most one for each window of data.
    LawEvent(CongestionEvent) {
        #[getter]
        fn signal(&self) -> &'static str {
            match self.0.signal {
                Signal::Loss => "loss",
                Signal::Ecn => "ecn",
                Signal::Timeout => "timeout",
            }
        }
    }
    times rtt rtt_ps, srtt srtt_ps, min_rtt min_rtt_ps;
    in_flight: f64, delivered: u64
}

sample! {
    /// The window was not used for long, or the application paused.
    LawRestart(Restart) {}
    times idle idle_ps;
    cwnd: f64, ssthresh: Option<f64>
}

/// A round trip that has ended.
#[derive(Clone, Debug)]
pub struct RoundSample {
    ack: AckSample,
    acked: u64,
}

impl std::ops::Deref for RoundSample {
    type Target = AckSample;
    fn deref(&self) -> &AckSample {
        &self.ack
    }
}

sample! {
    /// A round trip has ended, with the ACK of the first segment that left in it.
    LawRound(RoundSample) {
        #[getter]
        fn acked(&self) -> u64 {
            self.0.acked
        }
        #[getter]
        fn rtt(&self) -> Option<f64> {
            self.0.ack.rtt.map(Span::as_secs)
        }
        #[getter]
        fn rtt_ps(&self) -> Option<u64> {
            self.0.ack.rtt.map(|rtt| rtt.0)
        }
    }
    times srtt srtt_ps, min_rtt min_rtt_ps;
    in_flight: f64, delivered: u64, cwnd_limited: bool
}

impl LawRound {
    pub fn of(ack: &AckSample, acked: u64) -> Self {
        Self(RoundSample { ack: *ack, acked })
    }
}

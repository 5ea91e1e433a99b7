//! One TCP sender without a network: writes and ACKs in at given times, segments out. The caller keeps the time.

use crate::error::{bad_sender, from_build, from_scenario, wrong_control};
use crate::own::{self, Failure, OwnControl, OwnLaws};
use base::{Flags, Time};
use law::CongestionControl;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::{FlowPlace, FlowSite};
use std::sync::{Arc, Mutex, PoisonError};
use transport::{Ack, Features, Phase, Sender, Wire};

/// A segment that left: time [ps], number, whether it was sent before, whether it can be marked (ECT).
type Segment = (u64, u64, bool, bool);

#[derive(Default)]
struct Sent(Vec<Segment>);

impl Wire for Sent {
    fn send(&mut self, now: Time, seq: u64, flags: Flags) {
        self.0.push((now.0, seq, flags.has(Flags::RETRANSMITTED), flags.has(Flags::ECT)));
    }
}

/// The sender of the first group of a canonical scenario, of which only `control`, `recovery` and `tcp` count; `laws` are those of
/// the caller that it may name. Segments are numbered from 0, times in picoseconds must not fall.
#[pyclass(module = "elephan._native")]
pub struct TcpSender {
    sender: Sender<OwnControl<'static>>,
    /// The control of the connection once it is open: that of the handshake is another one.
    control: Option<OwnControl<'static>>,
    /// The first failure of a law of the caller, and those laws.
    failed: Arc<Mutex<Option<Failure>>>,
    laws: Option<Py<PyDict>>,
    sent: Sent,
    now: Time,
}

impl TcpSender {
    fn advance(&mut self, now_ps: u64) -> PyResult<Time> {
        let now = Time(now_ps);
        // A departure keeps its time beside three flags.
        if now < self.now || now_ps >= 1 << 60 {
            return Err(bad_sender("now_ps: time does not run backwards, and ends at 2^60"));
        }
        self.now = now;
        Ok(now)
    }

    /// Checks a control that is a program: it may have a fault.
    fn checked(&self) -> PyResult<()> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(failure), Some(laws)) = (failed, &self.laws) {
            return Err(Python::attach(|py| failure.raised(py, laws.bind(py))));
        }
        self.sender.control().fault().map_or(Ok(()), |reason| Err(wrong_control(&reason)))
    }
}

#[pymethods]
impl TcpSender {
    #[new]
    #[pyo3(signature = (canonical, laws = None))]
    fn new(canonical: &str, laws: Option<Bound<'_, PyDict>>) -> PyResult<Self> {
        let scenario = scenario::from_canonical(canonical).map_err(from_scenario)?;
        let group = &scenario.groups[0];
        if !group.traffic.is_tcp() {
            return Err(bad_sender("canonical: the first group must send TCP"));
        }
        let options = group.tcp.with_mss(group.mss());
        let own: OwnLaws = laws.as_ref().map(|laws| laws.extract()).transpose()?.unwrap_or_default();
        let failed = Arc::new(Mutex::new(None));
        let keep = Arc::clone(&failed);
        let failures: own::Failures<'static> = Arc::new(move |failure| own::keep_first(&keep, failure));
        let flow = FlowSite::new(&scenario, FlowPlace::default(), group.min_rtt(&scenario), Time::ZERO);
        let control = own::control(&own, &flow, &failures).map_err(from_build)?;
        // There is no path here that could reorder.
        let undoes = options.notices_duplicates(false).then(|| options.undoes(false));
        let features = Features { undoes, writes: true, ..Features::default() };
        let sender = Sender::new(control.clone(), group.recovery, &options, 0).with(&options, features);
        let laws = laws.map(Bound::unbind);
        let made = Self { sender, control: Some(control), failed, laws, sent: Sent::default(), now: Time::ZERO };
        made.checked()?;
        Ok(made)
    }

    /// The handshake, before anything else: the SYN, or what answers it, left at `opened_ps` as segment 0 and is acknowledged now.
    /// It gives the first round-trip sample, as in Linux, and the control does not hear of it.
    #[pyo3(signature = (opened_ps, now_ps, *, receive_window))]
    fn open(&mut self, opened_ps: u64, now_ps: u64, receive_window: u32) -> PyResult<()> {
        let control = self.control.take().ok_or_else(|| bad_sender("open: the connection is open"))?;
        self.write(opened_ps, 1)?;
        self.on_ack(now_ps, 1, Vec::new(), false, false, Some(receive_window), None)?;
        *self.sender.control_mut() = control;
        self.sent.0.clear();
        Ok(())
    }

    /// The application has `segments` more.
    fn write(&mut self, now_ps: u64, segments: u64) -> PyResult<()> {
        let now = self.advance(now_ps)?;
        if segments > 1 << 32 {
            return Err(bad_sender("segments: at most 2^32 at once"));
        }
        self.sender.write(now, Some(segments), &mut self.sent);
        self.checked()
    }

    /// An ACK of everything below `cum`, with the SACK blocks `[start, end)`, of which three count, with the `duplicate` that it
    /// reports before them (RFC 2883). `receive_window` is what it lets be outstanding [segments].
    #[pyo3(signature = (
        now_ps, cum, blocks = Vec::new(), *, ece = false, echoes_resent = false, receive_window = None, duplicate = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "the fields of an ACK, all but two by name")]
    fn on_ack(
        &mut self,
        now_ps: u64,
        cum: u64,
        blocks: Vec<(u64, u64)>,
        ece: bool,
        echoes_resent: bool,
        receive_window: Option<u32>,
        duplicate: Option<(u64, u64)>,
    ) -> PyResult<()> {
        let now = self.advance(now_ps)?;
        let high = self.sender.seq().una() + u64::from(self.sender.seq().outstanding());
        if cum > high || blocks.iter().any(|&(start, end)| start < cum || start >= end || end > high) {
            return Err(bad_sender("on_ack: acknowledges what was not sent, or SACKs what is acknowledged"));
        }
        if duplicate.is_some_and(|(start, end)| start >= end || end > high) {
            return Err(bad_sender("on_ack: reports a duplicate of what was not sent"));
        }
        if let Some(window) = receive_window {
            self.sender.set_receive_window(window);
        }
        let mut ack = Ack::new(cum, if duplicate.is_some() { &[] } else { &blocks }, ece);
        if let Some(duplicate) = duplicate {
            ack.report_duplicate(duplicate);
            for run in blocks {
                ack.report(run);
            }
        }
        ack.echoes_resent = echoes_resent;
        self.sender.on_ack(now, &ack, &mut self.sent);
        self.checked()
    }

    /// The receiver lets `receive_window` segments be outstanding, which it says without an ACK of its own.
    fn update_window(&mut self, now_ps: u64, receive_window: u32) -> PyResult<()> {
        self.sender.set_receive_window(receive_window);
        self.write(now_ps, 0)
    }

    /// The time at which the next timer expires [ps], if one runs.
    fn deadline(&self) -> Option<u64> {
        Some(self.sender.deadline()).filter(|&at| at != Time::NEVER).map(|at| at.0)
    }

    /// The next timer expires. Returns which that was: `"pacing"`, `"timeout"`, `"reordering"` or `"probe"`.
    fn on_timer(&mut self) -> PyResult<&'static str> {
        let at = self.sender.deadline();
        if at == Time::NEVER {
            return Err(bad_sender("on_timer: no timer runs"));
        }
        let now = self.advance(at.0.max(self.now.0))?;
        let paces = self.sender.info().deadline_but_pacing() > at;
        let timeouts = self.sender.counters().timeouts;
        self.sender.on_timer(now, &mut self.sent);
        self.checked()?;
        Ok(if paces {
            "pacing"
        } else if self.sender.counters().timeouts > timeouts {
            "timeout"
        } else if self.sender.phase().repairs() {
            "reordering"
        } else {
            "probe"
        })
    }

    /// The segments that left since the last call.
    fn take_sent(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.sent.0)
    }

    /// The state as `tcp_info` has it: windows in segments, times in picoseconds, and no number where there is none.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sender = &self.sender;
        let (resent, in_repair) = (sender.info().resent(), sender.info().window_in_repair());
        let ssthresh = Some(sender.control().ssthresh()).filter(|ssthresh| ssthresh.is_finite());
        let (outstanding, counters) = (sender.seq().outstanding(), sender.counters());
        let sacked = (sender.delivered() - sender.seq().una()) as u32;
        let phase = match sender.phase() {
            Phase::Open if sacked > 0 => "disorder",
            Phase::Open => "open",
            Phase::Reduction => "reduction",
            Phase::Recovery => "recovery",
            Phase::Loss => "loss",
        };
        let state = PyDict::new(py);
        state.set_item("cwnd", in_repair.map_or_else(|| sender.control().cwnd(), f64::from))?;
        state.set_item("ssthresh", ssthresh)?;
        state.set_item("phase", phase)?;
        state.set_item("una", sender.seq().una())?;
        state.set_item("outstanding", outstanding)?;
        state.set_item("in_flight", sender.in_flight())?;
        state.set_item("sacked", sacked)?;
        state.set_item("resent", resent)?;
        state.set_item("lost", resent.map(|resent| outstanding - sacked + resent - sender.in_flight()))?;
        state.set_item("delivered", sender.delivered())?;
        state.set_item("retransmitted", counters.retransmitted)?;
        state.set_item("timeouts", counters.timeouts)?;
        state.set_item("rto_ps", sender.rtt().rto().0)?;
        state.set_item("srtt_ps", sender.rtt().srtt().0)?;
        state.set_item("rttvar_ps", sender.rtt().variation().0 / 4)?;
        state.set_item("min_rtt_ps", sender.rtt().min().0)?;
        Ok(state)
    }
}

//! Laws without packets: round by round, along a list of events, or evaluated for their growth and their cuts.

use crate::error::{bad_events, bad_lengths, from_scenario, no_window_law};
use crate::monitor::interruptible;
use base::{Span, Time};
use law::evaluator::{self, Link};
use law::rounds::{Event, Path, replay, rounds_monitored};
use law::{AckSample, CongestionEvent, Control, Signal};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Columns of the events that `replay_law` takes.
const COLUMNS: usize = 11;

fn build(control: &str, initial_window: f64) -> PyResult<Control> {
    let (law, start) = scenario::read_control(control).map_err(from_scenario)?;
    let control = law.build(&start, initial_window, f64::INFINITY);
    Ok(control.expect("checked when it was read"))
}

/// The window of `control` at the start of each of `count` round trips on a path of its own, which takes `base_rtt_s`
/// and holds `bdp` segments. `losses` and `timeouts` are the rounds that end in one. Rows of start [s], cwnd, ssthresh
/// [segments] and round-trip time [s].
#[pyfunction]
#[pyo3(signature = (control, *, base_rtt_s, bdp, losses, timeouts, count, initial_window = 2.0))]
#[expect(clippy::too_many_arguments, reason = "all but the first by keyword")]
pub fn law_rounds<'py>(
    py: Python<'py>,
    control: &str,
    base_rtt_s: f64,
    bdp: f64,
    losses: Vec<u32>,
    timeouts: Vec<u32>,
    count: u32,
    initial_window: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let mut control = build(control, initial_window)?;
    let path = Path { base_rtt: Span::from_secs(base_rtt_s), bdp };
    let events = losses.into_iter().map(|round| (round, Signal::Loss));
    let events: Vec<_> = events.chain(timeouts.into_iter().map(|round| (round, Signal::Timeout))).collect();
    let list = interruptible(py, None, |monitor| rounds_monitored(&mut control, path, &events, count, monitor))?;
    let row = |r: &law::rounds::Round| vec![r.start.as_secs(), r.cwnd, r.ssthresh, r.rtt.as_secs()];
    Ok(PyArray2::from_vec2(py, &list.iter().map(row).collect::<Vec<_>>())?)
}

/// The window and the threshold of `control` [segments] after each of `events`, whose columns are kind (0 ACK, 1 loss, 2
/// mark, 3 timeout), now [s], acked, marked, rtt [s] (NaN for none), srtt, `min_rtt` [s], in flight, delivered [segments],
/// whether a round starts, whether the window is the limit.
#[pyfunction]
#[pyo3(signature = (control, events, *, initial_window = 2.0))]
pub fn replay_law<'py>(
    py: Python<'py>,
    control: &str,
    events: PyReadonlyArray2<'py, f64>,
    initial_window: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let mut control = build(control, initial_window)?;
    let events = events.as_array();
    if events.ncols() != COLUMNS {
        return Err(bad_events(COLUMNS));
    }
    let list = replay(&mut control, events.rows().into_iter().map(|row| event(|i| row[i])));
    Ok(PyArray2::from_vec2(py, &list.iter().map(|&(cwnd, ssthresh)| vec![cwnd, ssthresh]).collect::<Vec<_>>())?)
}

fn event(at: impl Fn(usize) -> f64) -> Event {
    let now = Time::ZERO + Span::from_secs(at(1));
    let rtt = Some(at(4)).filter(|rtt| !rtt.is_nan()).map(Span::from_secs);
    let (srtt, min_rtt) = (Span::from_secs(at(5)), Span::from_secs(at(6)));
    let (in_flight, delivered) = (at(7), at(8) as u64);
    let signal = match at(0) as u32 {
        0 => {
            return Event::Ack(AckSample {
                now,
                acked: at(2),
                ce_marked: at(3),
                rtt,
                srtt,
                min_rtt,
                in_flight,
                delivered,
                round_start: at(9) != 0.0,
                cwnd_limited: at(10) != 0.0,
                ..AckSample::plain(now, srtt)
            });
        }
        1 => Signal::Loss,
        2 => Signal::Ecn,
        _ => Signal::Timeout,
    };
    let rtt = rtt.unwrap_or(srtt);
    Event::Congestion(CongestionEvent {
        in_flight,
        delivered,
        srtt,
        min_rtt,
        ..CongestionEvent::plain(now, signal, rtt)
    })
}

/// A window law evaluated without packets: what it gains and gives up; see [`law::evaluator`]. Times in seconds, windows in segments,
/// arrays of one length.
#[pyclass(frozen, module = "elephan._native")]
pub struct LawEvaluator(evaluator::LawEvaluator);

#[pymethods]
impl LawEvaluator {
    #[new]
    fn new(control: &str) -> PyResult<Self> {
        let (spec, _) = scenario::read_control(control).map_err(from_scenario)?;
        evaluator::LawEvaluator::new(&spec).map(Self).ok_or_else(|| no_window_law(spec.card().name))
    }

    /// Whether its growth depends on more than the window and the round-trip times of the moment.
    #[getter]
    fn remembers(&self) -> bool {
        self.0.remembers()
    }

    /// Segments gained per round trip; not a number for a law that remembers.
    fn growth<'py>(
        &self,
        py: Python<'py>,
        windows: PyReadonlyArray1<'py, f64>,
        rtts: PyReadonlyArray1<'py, f64>,
        bases: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, each(py, &windows, &rtts, &bases, |w, rtt, base| self.0.growth(w, rtt, base))?))
    }

    /// Share of the window given up on loss.
    fn cut<'py>(
        &self,
        py: Python<'py>,
        windows: PyReadonlyArray1<'py, f64>,
        rtts: PyReadonlyArray1<'py, f64>,
        bases: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, each(py, &windows, &rtts, &bases, |w, rtt, base| self.0.cut(w, rtt, base))?))
    }

    /// Return averages from a loss to the next, each at that window, at a constant round-trip time: rows of segments
    /// and round trips.
    fn period<'py>(
        &self,
        py: Python<'py>,
        windows: PyReadonlyArray1<'py, f64>,
        rtts: PyReadonlyArray1<'py, f64>,
        bases: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = each(py, &windows, &rtts, &bases, |w, rtt, base| {
            let found = self.0.period(w, rtt, base);
            vec![found.packets, found.rounds]
        })?;
        Ok(PyArray2::from_vec2(py, &rows)?)
    }

    /// Flows of base `rtts` on a drop-tail link, one case a buffer [segments], of which `cut` lose at an overflow, measured
    /// over the second of the `overflows` after the first: rows of utilisation, period [s], queue, events, share dropped,
    /// window before a cut and after it, and the rates of the flows [segments/s].
    fn sawteeth<'py>(
        &self,
        py: Python<'py>,
        rate: f64,
        buffers: Vec<f64>,
        rtts: Vec<f64>,
        cut: usize,
        overflows: (u32, u32),
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let follow = |buffer: f64, monitor: &base::RunMonitor| {
            let link = Link { rate, buffer, rtts: rtts.clone(), cut };
            let found = self.0.sawteeth_monitored(&link, overflows.0, overflows.1, monitor);
            let own =
                [found.utilisation, found.period, found.queue, found.events, found.dropped, found.high, found.low];
            own.into_iter().chain(found.rates).collect::<Vec<f64>>()
        };
        let rows: Vec<_> = interruptible(py, None, |monitor| {
            buffers.into_iter().take_while(|_| !monitor.is_stopped()).map(|buffer| follow(buffer, monitor)).collect()
        })?;
        Ok(PyArray2::from_vec2(py, &rows)?)
    }
}

/// Results for each window and its round-trip times.
fn each<T: Send>(
    py: Python<'_>,
    windows: &PyReadonlyArray1<'_, f64>,
    rtts: &PyReadonlyArray1<'_, f64>,
    bases: &PyReadonlyArray1<'_, f64>,
    ask: impl Fn(f64, f64, f64) -> T + Send + Sync,
) -> PyResult<Vec<T>> {
    let (windows, rtts, bases) = (windows.as_array(), rtts.as_array(), bases.as_array());
    if windows.len() != rtts.len() || windows.len() != bases.len() {
        return Err(bad_lengths());
    }
    let rows: Vec<_> = windows.iter().zip(rtts).zip(bases).map(|((&w, &rtt), &base)| (w, rtt, base)).collect();
    interruptible(py, None, |monitor| {
        let going = rows.into_iter().take_while(|_| !monitor.is_stopped());
        going.map(|(w, rtt, base)| ask(w, rtt, base)).collect()
    })
}

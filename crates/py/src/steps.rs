//! Runs that go on a step at a time, several at once, as environments of learning agents ask for them: windows and rates in,
//! what was measured out, one array for all runs and flows.

use crate::columns;
use crate::error::{bad_shape, from_build, from_scenario};
use crate::own::OwnControl;
use base::Span;
use law::{Either, Held};
use numpy::ndarray::{Array2, Array3, ArrayView2};
use numpy::{IntoPyArray, PyArray2, PyArray3, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use queue::NoOwn;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use scenario::Scenario;
use sim::{BuildError, BuiltIn, FlowIntervals, FlowSite, LinkReading, LinkSite, Options, Parts, SteppedRun};
use std::sync::{Mutex, PoisonError};

/// Numbers of each flow in each step: what its sender can tell, and what only the link knows.
const WIDTH: usize = sim::MEASURED.len() + 2;
const OF_THE_LINK: [&str; 2] = ["waiting", "dropped"];

/// A flow whose window or rate is held from outside.
#[derive(Clone, Debug)]
struct Driven {
    flow: usize,
    intervals: FlowIntervals,
}

/// Controls for flows of which some groups are held from outside; the others have those of the scenario.
struct HeldFlows<'a> {
    groups: &'a [usize],
    paced: bool,
    /// For each such flow, its group and place in it, and its round-trip time without queues.
    base_rtts: Vec<((usize, u32), Span)>,
}

impl Parts for HeldFlows<'_> {
    type Control = OwnControl<'static>;
    type Queue = NoOwn;

    fn control(&mut self, site: &FlowSite<'_>) -> Result<Self::Control, BuildError> {
        if !self.groups.contains(&site.group_index) {
            return BuiltIn.control(site).map(Either::First);
        }
        self.base_rtts.push(((site.group_index, site.index), site.base_rtt));
        let window = site.initial_window;
        let held =
            if self.paced { Held::paced(window, window / site.base_rtt.as_secs()) } else { Held::window(window) };
        Ok(Either::Second(Either::Second(held)))
    }

    fn queue(&mut self, _link: &LinkSite<'_>) -> Option<NoOwn> {
        None
    }
}

/// One run.
struct Run {
    scenario: Scenario,
    canonical: String,
    going: Option<SteppedRun<OwnControl<'static>>>,
    driven: Vec<Driven>,
    link: usize,
    link_before: LinkReading,
}

/// Length of a step.
#[derive(Clone, Copy, Debug)]
enum Length {
    Time(Span),
    /// Length as a multiple of the mean smoothed round-trip time of its flows.
    Rounds(f64),
}

impl Run {
    fn begin(
        &mut self,
        replication: u32,
        groups: &[usize],
        link: usize,
        (paced, hash): (bool, bool),
    ) -> Result<(), BuildError> {
        let mut parts = HeldFlows { groups, paced, base_rtts: Vec::new() };
        let options = Options { hash, ..Options::default() };
        let run = SteppedRun::with_parts(&self.scenario, replication, options, &mut parts)?;
        let mut base_rtts = parts.base_rtts;
        base_rtts.sort_unstable();
        let first =
            |group: usize| self.scenario.groups[..group].iter().map(|group| group.count as usize).sum::<usize>();
        self.driven = base_rtts
            .into_iter()
            .map(|((group, index), base_rtt)| {
                let flow = first(group) + index as usize;
                let bits = 8.0 * self.scenario.groups[group].packet.0 as f64;
                Driven { flow, intervals: FlowIntervals::begin(bits, base_rtt, run.flow(flow).unwrap_or_default()) }
            })
            .collect();
        (self.link, self.link_before) = (link, run.link(link));
        self.going = Some(run);
        Ok(())
    }

    /// Sets windows and rates (NaN leaves them), continues, and measures.
    fn step(&mut self, windows: &[f64], rates: &[f64], length: Length, out: &mut [f64]) {
        let Some(run) = &mut self.going else { return };
        for ((driven, &window), &rate) in self.driven.iter().zip(windows).zip(rates) {
            if let Some(Either::Second(Either::Second(held))) = run.control_mut(driven.flow) {
                if !rate.is_nan() {
                    held.set_rate(rate);
                }
                if !window.is_nan() {
                    held.set_window(window);
                }
            }
        }
        let span = match length {
            Length::Time(span) => span,
            Length::Rounds(rounds) => {
                let rtts = self.driven.iter().map(|driven| driven.intervals.rtt().as_secs());
                Span::from_secs(rounds * rtts.sum::<f64>() / self.driven.len().max(1) as f64)
            }
        };
        run.advance(run.now().saturating_add(span.max(Span(1))));
        self.measure(out);
    }

    fn measure(&mut self, out: &mut [f64]) {
        let Some(run) = &mut self.going else { return };
        let (now, link) = (run.now(), run.link(self.link));
        let dropped = |link: &LinkReading| link.dropped.iter().sum::<u64>();
        let of_the_link = [f64::from(link.waiting), (dropped(&link) - dropped(&self.link_before)) as f64];
        for (driven, row) in self.driven.iter_mut().zip(out.chunks_exact_mut(WIDTH)) {
            let Some(flow) = run.flow(driven.flow) else { continue };
            let mean_rtt = match run.control_mut(driven.flow) {
                Some(Either::Second(Either::Second(held))) => held.take_rtts().mean(),
                _ => None,
            };
            let (own, shared) = row.split_at_mut(sim::MEASURED.len());
            own.copy_from_slice(&driven.intervals.next(now, flow, mean_rtt));
            shared.copy_from_slice(&of_the_link);
        }
        self.link_before = link;
    }
}

/// See the module.
#[pyclass(frozen)]
pub struct SteppedRuns {
    runs: Mutex<Vec<Run>>,
    flows: usize,
    pool: Option<ThreadPool>,
}

#[pymethods]
impl SteppedRuns {
    /// Create runs of these canonical scenarios, each with `flows` driven flows, on `threads` threads.
    #[new]
    #[pyo3(signature = (canonicals, *, flows, threads = 1))]
    fn new(py: Python<'_>, canonicals: Vec<String>, flows: usize, threads: usize) -> PyResult<Self> {
        crate::arrays::load(py);
        let runs = canonicals.into_iter().map(|canonical| {
            let scenario = scenario::from_canonical(&canonical).map_err(from_scenario)?;
            let link_before = LinkReading::default();
            Ok(Run { scenario, canonical, going: None, driven: Vec::new(), link: 0, link_before })
        });
        let runs = Mutex::new(runs.collect::<PyResult<_>>()?);
        let pool = (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads - 1).build());
        // A system that gives no threads has one.
        Ok(Self { runs, flows, pool: pool.and_then(Result::ok) })
    }

    /// Begins run `i` anew, as that replication: the flows of these groups are driven, `link` is the one that is looked at. Returns
    /// what is there at the start, as of `step`.
    #[pyo3(signature = (i, replication, *, groups, link, paced, hash = false, canonical = None))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn begin<'py>(
        &self,
        py: Python<'py>,
        i: usize,
        replication: u32,
        groups: Vec<usize>,
        link: usize,
        paced: bool,
        hash: bool,
        canonical: Option<String>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let run = &mut runs[i];
        if let Some(canonical) = canonical
            && canonical != run.canonical
        {
            run.scenario = scenario::from_canonical(&canonical).map_err(from_scenario)?;
            run.canonical = canonical;
        }
        py.detach(|| run.begin(replication, &groups, link, (paced, hash))).map_err(from_build)?;
        if run.driven.len() != self.flows {
            return Err(bad_shape(run.driven.len(), self.flows));
        }
        let mut out = vec![0.0; self.flows * WIDTH];
        run.measure(&mut out);
        Ok(Array2::from_shape_vec((self.flows, WIDTH), out).expect("as many as its shape says").into_pyarray(py))
    }

    /// Sets windows (in segments) and rates (in segments per second) of shape (runs, flows), where they are not NaN, and goes on by
    /// `seconds`, or by that number of round trips. Returns what was measured, of shape (runs, flows, `len(MEASURED)`); of runs that do
    /// not go on, zeros.
    #[pyo3(signature = (windows, rates, goes, *, seconds = None, rounds = 1.0))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        windows: PyReadonlyArray2<'py, f64>,
        rates: PyReadonlyArray2<'py, f64>,
        goes: Vec<bool>,
        seconds: Option<f64>,
        rounds: f64,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (windows, rates) = (windows.as_array(), rates.as_array());
        let length = seconds.map_or(Length::Rounds(rounds), |seconds| Length::Time(Span::from_secs(seconds)));
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        for shape in [windows.shape(), rates.shape()] {
            if shape != [runs.len(), self.flows] {
                return Err(bad_shape(shape[0] * shape[1], runs.len() * self.flows));
            }
        }
        let width = self.flows * WIDTH;
        let mut out = vec![0.0; runs.len() * width];
        let row = |of: &ArrayView2<'_, f64>, i: usize| of.row(i).to_vec();
        let jobs: Vec<_> = runs
            .iter_mut()
            .zip(out.chunks_exact_mut(width.max(1)))
            .enumerate()
            .filter(|(i, _)| goes[*i])
            .map(|(i, (run, out))| (run, out, row(&windows, i), row(&rates, i)))
            .collect();
        py.detach(|| {
            let step = |(run, out, windows, rates): (&mut Run, &mut [f64], Vec<f64>, Vec<f64>)| {
                run.step(&windows, &rates, length, out);
            };
            match &self.pool {
                Some(pool) if jobs.len() > 1 => pool.in_place_scope(|scope| {
                    let step = &step;
                    let mut jobs = jobs.into_iter();
                    let own = jobs.next();
                    jobs.for_each(|job| scope.spawn(move |_| step(job)));
                    own.into_iter().for_each(step);
                }),
                _ => jobs.into_iter().for_each(step),
            }
        });
        for run in runs.iter().filter_map(|run| run.going.as_ref()) {
            run.check().map_err(from_build)?;
        }
        let out = Array3::from_shape_vec((runs.len(), self.flows, WIDTH), out);
        Ok(out.expect("as many as its shape says").into_pyarray(py))
    }

    /// For each run, whether it is over.
    fn over(&self) -> Vec<bool> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.iter().map(|run| run.going.as_ref().is_none_or(|run| run.now() >= run.end())).collect()
    }

    /// Goes on with run `i` to its end and returns its columns, as `simulate` does; it must be begun anew then.
    fn finish<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let run = self.runs.lock().unwrap_or_else(PoisonError::into_inner)[i].going.take();
        let outcome = py.detach(|| run.map(SteppedRun::finish)).transpose().map_err(from_build)?;
        outcome.map(|outcome| columns::outcome(py, outcome)).transpose()
    }

    /// Return the names of the measurements.
    #[classattr]
    #[pyo3(name = "MEASURED")]
    fn measured() -> Vec<&'static str> {
        [&sim::MEASURED[..], &OF_THE_LINK].concat()
    }
}

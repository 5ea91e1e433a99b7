//! A run in steps. Between steps its flows and links can be read, and the controls of its flows changed.
//!
//! Without changes the results equal those of a run without steps, byte for byte, wherever the steps end. A change takes
//! effect at the sender's next event, as on a real machine: a larger window is filled at the next ACK.

use crate::plan::FlowPlan;
use crate::window::steps::{self, Steps};
use crate::{BuildError, BuiltIn, ByCause, Engine, Names, Options, Outcome, Parts, build};
use base::{RunMonitor, Span, Time};
use law::{CongestionControl, Control};
use scenario::Scenario;
use std::fmt;

/// State of a flow at an instant as its sender knows it, before the events at that instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowReading {
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Segments known to have reached the receiver.
    pub delivered: u64,
    /// Segments in the network, as the sender sees it.
    pub in_flight: u32,
    /// Window reductions caused by losses and marks, timeouts included.
    pub loss_events: u64,
    /// Expired timers.
    pub timeouts: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// The smallest round-trip time; zero before the first sample.
    pub min_rtt: Span,
    /// Congestion window, in segments.
    pub cwnd: f64,
    /// Pacing rate, in segments per second; `None` if only the window limits sending.
    pub pacing_rate: Option<f64>,
}

/// State of a link, or of an array of links together: what happened since the start and before the instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkReading {
    /// Packets waiting.
    pub waiting: u32,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets dropped, by cause.
    pub dropped: ByCause,
    /// Packets marked, by cause.
    pub marked: ByCause,
    /// Packets whose service began.
    pub begun: u64,
    /// Bytes whose service began.
    pub begun_bytes: u64,
}

/// See the [module](self).
///
/// # Examples
/// ```
/// use elephan_sim::{Options, SteppedRun, Time, simulate};
///
/// let scenario = elephan_sim::scenario::read(
///     r#"
///     duration = "2 s"
///     links = [{ name = "bottleneck", rate = "10 Mbit/s", buffer = "20 packets" }]
///     flows = [{ path = ["bottleneck"], rtt = "20 ms" }]
///     "#,
/// )?;
/// let mut run = SteppedRun::begin(&scenario, 0, Options::default())?;
/// let mut longest = 0;
/// for ms in (10..2000).step_by(10) {
///     run.advance(Time(ms * 1_000_000_000));
///     longest = longest.max(run.link(0).waiting);
/// }
/// assert!(run.flow(0).is_some_and(|flow| flow.delivered > 1500) && longest > 15);
/// assert_eq!(run.finish()?, simulate(&scenario, 0, Options::default())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SteppedRun<C = Control> {
    steps: Box<dyn Steps<C>>,
    names: Names,
    /// Sender of each flow, if it is a TCP flow with a single sender.
    senders: Vec<Option<u32>>,
    now: Time,
    end: Time,
}

impl<C> fmt::Debug for SteppedRun<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SteppedRun").field("now", &self.now).field("end", &self.end).finish_non_exhaustive()
    }
}

impl SteppedRun {
    /// A replication of `scenario` at its start. It always uses the window engine, on one thread.
    ///
    /// # Errors
    /// As for [`crate::simulate`].
    pub fn begin(scenario: &Scenario, replication: u32, options: Options) -> Result<Self, BuildError> {
        Self::with_parts(scenario, replication, options, &mut BuiltIn)
    }
}

impl<C: CongestionControl + Send + Sync + 'static> SteppedRun<C> {
    /// [`SteppedRun::begin`] with congestion controls and queues supplied by the caller.
    ///
    /// # Errors
    /// As for [`crate::simulate_parts`].
    pub fn with_parts<P: Parts<Control = C, Queue: Clone + 'static>>(
        scenario: &Scenario,
        replication: u32,
        options: Options,
        parts: &mut P,
    ) -> Result<Self, BuildError> {
        let options = Options { engine: Engine::Window, ..options };
        let network = build::network(scenario, replication, options.first_number, parts, &RunMonitor::default())?;
        let (names, end) = (Names::of(&network, scenario), network.marks.end);
        let mut senders = vec![None; network.identities.len()];
        for (f, plan) in network.flows.iter().enumerate() {
            if let FlowPlan::Tcp(party, plan) = plan
                && !plan.is_place()
            {
                senders[party.flow as usize] = Some(f as u32);
            }
        }
        let steps = steps::begin(network, options);
        Ok(Self { steps, names, senders, now: Time::ZERO, end })
    }

    /// A second run in the same state; the two runs are then independent. Controls are copied with their `Clone`.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { steps: self.steps.fork(), names: self.names.clone(), senders: self.senders.clone(), ..*self }
    }

    /// The present time: all events before this time have happened, and no event at this time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// End of the run.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// Continues to `until`, or to the end if that is earlier. A time in the past has no effect.
    pub fn advance(&mut self, until: Time) {
        self.now = until.min(self.end).max(self.now);
        self.steps.advance(self.now);
        for &f in self.senders.iter().flatten() {
            self.steps.settle(f as usize, self.now);
        }
    }

    /// Number of flows; [`Self::flow`] returns only TCP flows that are not sessions.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.senders.len()
    }

    /// The state of flow number `flow`, ordered by group; `None` for sessions, datagrams, and numbers beyond the last.
    #[must_use]
    pub fn flow(&self, flow: usize) -> Option<FlowReading> {
        let f = (*self.senders.get(flow)?)? as usize;
        let sender = self.steps.sender(f)?;
        let counters = sender.counters();
        Some(FlowReading {
            sent: counters.sent,
            retransmitted: counters.retransmitted,
            delivered: sender.delivered(),
            in_flight: sender.in_flight(),
            loss_events: counters.loss_events.into(),
            timeouts: counters.timeouts.into(),
            srtt: sender.rtt().srtt(),
            min_rtt: sender.rtt().min(),
            cwnd: sender.control().cwnd(),
            pacing_rate: sender.control().pacing_rate(),
        })
    }

    /// The congestion control of flow number `flow`, for the same flows as [`Self::flow`].
    pub fn control_mut(&mut self, flow: usize) -> Option<&mut C> {
        let f = (*self.senders.get(flow)?)?;
        self.steps.control_mut(f as usize)
    }

    /// The links of table number `table` of the scenario.
    ///
    /// # Panics
    /// Panics if there is no such table.
    #[must_use]
    pub fn link(&self, table: usize) -> LinkReading {
        let first: u32 = self.names.tables[..table].iter().sum();
        let mut all = LinkReading::default();
        for l in first..first + self.names.tables[table] {
            let one = self.steps.link(l as usize, self.now);
            all.waiting += one.waiting;
            all.arrived += one.arrived;
            all.begun += one.begun;
            all.begun_bytes += one.begun_bytes;
            for cause in 0..all.dropped.len() {
                all.dropped[cause] += one.dropped[cause];
                all.marked[cause] += one.marked[cause];
            }
        }
        all
    }

    /// Checks whether the run may continue.
    ///
    /// # Errors
    /// [`BuildError::Fault`], if the control of a flow has failed.
    pub fn check(&self) -> Result<(), BuildError> {
        let fault = self.steps.fault();
        fault.map_or(Ok(()), |(group, reason)| Err(BuildError::Fault { group: group as usize, reason }))
    }

    /// Continues to the end and returns the outcome of the whole run.
    ///
    /// # Errors
    /// As for [`Self::check`].
    pub fn finish(self) -> Result<Outcome, BuildError> {
        self.names.put(self.steps.finish())
    }
}

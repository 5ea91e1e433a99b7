//! A run that goes on a step at a time. Between steps its flows and links can be read, and the controls of its flows changed.
//!
//! Where nothing is changed it is the run without steps, byte by byte, wherever the steps end. What is changed counts from the next
//! thing that happens at the sender on, as it would on a machine: a window that has become larger is filled at the next ACK.

use crate::plan::FlowPlan;
use crate::window::steps::{self, Steps};
use crate::{BuildError, BuiltIn, ByCause, Engine, Names, Options, Outcome, Parts, build};
use base::{RunMonitor, Span, Time};
use law::{CongestionControl, Control};
use scenario::Scenario;
use std::fmt;

/// A flow at an instant, as its sender knows it: what happened at that instant is still to come.
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
    /// Window reductions that losses and marks asked for, timeouts included.
    pub loss_events: u64,
    /// Expired timers.
    pub timeouts: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// The smallest round-trip time; zero before the first sample.
    pub min_rtt: Span,
    /// Congestion window, in segments.
    pub cwnd: f64,
    /// Segments per second at which it wants to send; `None` for what the window lets leave.
    pub pacing_rate: Option<f64>,
}

/// A link, or an array of links together, at an instant: what happened before it since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkReading {
    /// Packets that wait.
    pub waiting: u32,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets dropped, by cause.
    pub dropped: ByCause,
    /// Packets marked, by cause.
    pub marked: ByCause,
    /// Packets whose service began.
    pub begun: u64,
    /// Their bytes.
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
    /// Sender of each flow, if it is a TCP flow with one sender of its own.
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
    /// A replication of `scenario`, at its start. It always runs in the window engine, on one thread.
    ///
    /// # Errors
    /// As of [`crate::simulate`].
    pub fn begin(scenario: &Scenario, replication: u32, options: Options) -> Result<Self, BuildError> {
        Self::with_parts(scenario, replication, options, &mut BuiltIn)
    }
}

impl<C: CongestionControl + Send + Sync + 'static> SteppedRun<C> {
    /// The same as [`SteppedRun::begin`], with congestion controls and queues supplied by the caller.
    ///
    /// # Errors
    /// As of [`crate::simulate_parts`].
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

    /// A second run that has come as far as this one: what happens in one of them does not change the other. Controls are copied as
    /// their `Clone` does it.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { steps: self.steps.fork(), names: self.names.clone(), senders: self.senders.clone(), ..*self }
    }

    /// Everything before this has happened, nothing at it.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// End of the run.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// Goes on to `until`, or to the end if that is earlier. What lies behind it already stays as it is.
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

    /// Flow number `flow`, groups in the scenario's order; `None` for sessions, datagrams, and beyond the last.
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

    /// The congestion control of flow number `flow`, as of [`Self::flow`].
    pub fn control_mut(&mut self, flow: usize) -> Option<&mut C> {
        let f = (*self.senders.get(flow)?)?;
        self.steps.control_mut(f as usize)
    }

    /// Links of table number `table` of the scenario.
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

    /// Whether it may go on.
    ///
    /// # Errors
    /// [`BuildError::Fault`], if the control of a flow has done something wrong.
    pub fn check(&self) -> Result<(), BuildError> {
        let fault = self.steps.fault();
        fault.map_or(Ok(()), |(group, reason)| Err(BuildError::Fault { group: group as usize, reason }))
    }

    /// Goes on to the end: the outcome of the whole run.
    ///
    /// # Errors
    /// As of [`Self::check`].
    pub fn finish(self) -> Result<Outcome, BuildError> {
        self.names.put(self.steps.finish())
    }
}

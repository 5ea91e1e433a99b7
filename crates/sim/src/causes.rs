//! Causes of the idle time of a link, by counterfactual replay.
//!
//! Drops and marks at the link in close succession are one *event*; the time from one event to the next is a *period*.
//! For event j, a fork of the run is made just before it; from then on the link in the fork drops and marks nothing, so
//! later periods have less idle time. For the period after event k, the forks of events k, k-1 and so on are examined,
//! until a fork has no idle time in this period. Event j is charged with the amount by which its fork reduces the
//! smallest idle time found so far (at first the idle time of the run itself). What remains is charged to the limits of
//! the senders in the fork with the smallest idle time. The charges of a period add up to its idle time.
//!
//! A fork has an unlimited queue, so that no sender loses a packet. That queue would stay busy long after an application
//! has stopped, so idle time is computed for a link that has the run's buffer and gets the same packets.
//!
//! Waiting times are charged to the packet's group and to the limit of its sender; these charges add up to the whole
//! waiting time.

mod senders;

use crate::plan::{FlowPlan, Network};
use crate::probe::{FiniteBuffer, LinkWatch, Signal};
use crate::window::steps::{self, Steps};
use crate::{BuildError, BuiltIn, Options, build};
use base::{RunMonitor, Span, Time};
use law::Control;
use scenario::Scenario;
pub use senders::IdleLimit;
use senders::{IdleLedger, IdleStep, SenderLimits};
use std::collections::VecDeque;

/// Number of steps in a mean base RTT. The limits of senders are sampled after each step, which gives the resolution of
/// their charges.
const STEPS_PER_RTT: u64 = 10;
/// Upper bound of the number of steps in a run.
const MOST_STEPS: u64 = 20_000;
/// An event ends at the latest after this number of mean base RTTs, so that a queue with continuous drops has many events.
const EVENT_RTTS: u64 = 2;
/// Upper bound of the number of events in a run, and so of forks.
const MOST_EVENTS: u64 = 2000;
/// Number of forks examined for one period by default.
const FORKS: usize = 8;
/// Number of packets that may wait in a fork; it bounds the memory.
const MOST_WAITING: u32 = 1 << 22;

/// Drops and marks in close succession.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossEvent {
    /// Time of its first drop or mark.
    pub from: Time,
    /// Time of its last drop or mark.
    pub to: Time,
    /// Data packets dropped.
    pub dropped: u64,
    /// Data packets marked.
    pub marked: u64,
    /// Flows that lost a packet or had one marked.
    pub hit: u64,
    /// All flows whose data crosses the link and that started before the event.
    pub flows: u64,
    /// Idle time charged to this event.
    pub idle: Span,
    /// The part of `idle` in which senders waited for their retransmission timers.
    pub timeout: Span,
}

/// Measured time from one event to the next, or before the first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Period {
    /// Start.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Idle time.
    pub idle: Span,
    /// Idle time charged to events, latest event first.
    pub charged: Vec<(usize, Span)>,
    /// The remaining idle time, by the limit of the senders.
    pub rest: [Span; IdleLimit::ALL.len()],
    /// Idle time of each step in the fork with the smallest idle time: end of the step, and idle time. `None` if that
    /// is the run itself.
    pub rest_steps: Option<Vec<(Time, Span)>>,
    /// Whether idle time remained, and forks of earlier events were not examined: too many packets waited in a fork, or
    /// the allowed number of forks was reached.
    pub is_cut: bool,
}

/// See the [module](self).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Causes {
    /// Rolling hash of the run, as in [`crate::Outcome`].
    pub hash: u64,
    /// Packets that arrived at the link in the measured time, as in [`crate::LinkOutcome`].
    pub arrived: u64,
    /// Packets that the link dropped in the measured time.
    pub dropped: u64,
    /// Time in which idle time and waiting times are counted.
    pub measured: (Time, Time),
    /// Length of the steps at whose ends the senders' limits are sampled.
    pub step: Span,
    /// Idle time of the link.
    pub idle: Span,
    /// Idle time before the measured time.
    pub idle_in_warmup: Span,
    /// Idle time of each step that has any: end of the step, and idle time.
    pub idle_steps: Vec<(Time, Span)>,
    /// All events, including those of the warm-up.
    pub events: Vec<LossEvent>,
    /// Periods in the measured time.
    pub periods: Vec<Period>,
    /// Waiting times in packet-picoseconds, by group of flows and limit of the sender.
    pub waits: Vec<[u128; IdleLimit::ALL.len()]>,
    /// Waiting times of ACKs, in packet-picoseconds.
    pub ack_waits: u128,
    /// Number of forks made.
    pub forks: u64,
    /// Simulated time of all forks together.
    pub forked: Span,
}

impl Causes {
    /// Idle time charged to the limits of the senders, summed over all periods.
    #[must_use]
    pub fn rest(&self) -> [Span; IdleLimit::ALL.len()] {
        let mut sums = [Span::ZERO; IdleLimit::ALL.len()];
        for (limit, sum) in sums.iter_mut().enumerate() {
            *sum = self.periods.iter().fold(Span::ZERO, |sum, period| sum + period.rest[limit]);
        }
        sums
    }
}

/// A sender whose data crosses the link.
#[derive(Clone, Copy, Debug)]
struct LinkSender {
    /// Its number among all senders.
    number: usize,
    /// Number of its flow in the scenario, and group.
    flow: u32,
    group: u32,
    /// Start of the flow.
    start: Time,
    is_tcp: bool,
    is_place: bool,
}

/// The link under study, and the senders that cross it.
#[derive(Debug)]
struct Question<'a> {
    link: usize,
    senders: Vec<LinkSender>,
    step: Span,
    measured: (Time, Time),
    /// Buffer for the idle time of forks; `None` if the link's rate changes.
    finite: Option<FiniteBuffer>,
    monitor: &'a RunMonitor,
}

/// A run or a fork, and its present time.
struct Run<'a> {
    question: &'a Question<'a>,
    steps: Box<dyn Steps<Control>>,
    now: Time,
}

impl Run<'_> {
    /// Whether the run must continue to determine the idle time before `until`. `None` if too many packets wait, or the
    /// study is stopped.
    fn goes_on(&mut self, until: Time) -> Option<bool> {
        if self.question.monitor.is_stopped() {
            return None;
        }
        let goes_on = self.now < until && !self.watch().is_busy_until(until);
        let fits = !goes_on || self.steps.link(self.question.link, self.now).waiting <= MOST_WAITING;
        fits.then_some(goes_on)
    }

    /// Continues by one step, or to `until` if that is earlier.
    fn step(&mut self, until: Time) {
        let step = self.question.step.0;
        self.now = Time((self.now.0 / step + 1) * step).min(until);
        self.steps.advance(self.now);
    }

    fn watch(&mut self) -> &mut LinkWatch {
        self.steps.watch(self.question.link).expect("it is watched")
    }

    /// Idle time before `at`. The run must have reached `at`, or the link must be busy until `at`.
    fn idle_before(&mut self, at: Time) -> Span {
        self.watch().idle_before(at)
    }

    /// Samples the limits of the senders at the end of a step that had `idle` time.
    fn look(&mut self, idle: Span, limits: &mut SenderLimits) {
        let (now, senders) = (self.now, &self.question.senders);
        for sender in senders.iter().filter(|sender| sender.is_tcp && !sender.is_place) {
            self.steps.settle(sender.number, now);
        }
        let all = senders.iter().enumerate();
        limits.take(
            now,
            idle,
            all.filter_map(|(i, sender)| Some((i, sender.is_place, self.steps.sender(sender.number)?))),
        );
    }
}

/// Fork of a run in which the link drops and marks nothing.
struct Fork<'a> {
    event: usize,
    begun: Time,
    run: Run<'a>,
}

impl<'a> Fork<'a> {
    /// Fork of `run`, just before event number `event`.
    fn of(run: &Run<'a>, event: usize) -> Self {
        let Run { question, now, .. } = *run;
        let mut steps = run.steps.fork();
        steps.spare(question.link, now, question.finite);
        Self { event, begun: now, run: Run { question, steps, now } }
    }

    /// Simulated time from the event to the fork's present time.
    fn went(&self) -> Span {
        self.run.now - self.begun
    }

    /// Idle time from `from` to `to`, in total and by step; `None` if too many packets wait to continue.
    fn idle(&mut self, from: Time, to: Time) -> Option<(Span, Vec<IdleStep>)> {
        let run = &mut self.run;
        while run.goes_on(from)? {
            run.step(from);
        }
        let first = run.idle_before(from);
        let (mut before, mut limits) = (first, SenderLimits::default());
        while run.goes_on(to)? {
            run.step(to);
            let idle = run.idle_before(run.now);
            if idle > before {
                run.look(idle - before, &mut limits);
            }
            before = idle;
        }
        Some((run.idle_before(to) - first, limits.steps))
    }
}

/// Finds the causes of the idle time of link number `link` of table `table` in one replication. At most `forks` forks are
/// examined for each period (0: 8). Returns `None` if `monitor` stops the study.
///
/// # Errors
/// As for [`crate::simulate`].
///
/// # Examples
/// ```
/// use elephan_sim::{RunMonitor, causes};
///
/// let scenario = elephan_sim::scenario::read(
///     r#"
///     duration = "20 s"
///     links = [{ name = "bottleneck", rate = "10 Mbit/s", buffer = "10 packets" }]
///     flows = [{ path = ["bottleneck"], rtt = "100 ms", recovery = "sack" }]
///     "#,
/// )?;
/// let causes = causes(&scenario, 0, 0, 0, &RunMonitor::default())?.expect("not stopped");
/// let charged: u64 = causes.events.iter().map(|event| event.idle.0).sum();
/// let rest: u64 = causes.rest().iter().map(|span| span.0).sum();
/// assert_eq!(charged + rest, causes.idle.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn causes(
    scenario: &Scenario,
    replication: u32,
    table: usize,
    forks: usize,
    monitor: &RunMonitor,
) -> Result<Option<Causes>, BuildError> {
    let options = Options { hash: true, ..Options::default() };
    let network = || build::network(scenario, replication, 0, &mut BuiltIn, monitor);
    let plan = network()?;
    let link = plan.tables[..table].iter().sum::<u32>() as usize;
    let rtt = plan.links[link].probe.gap.max(Span(1));
    let of = |(number, flow): (usize, &FlowPlan)| {
        let party = flow.party();
        let identity = &plan.identities[party.flow as usize];
        party.path.contains(&(link as u32)).then_some(LinkSender {
            number,
            flow: party.flow,
            group: identity.group,
            start: identity.start,
            is_tcp: flow.is_tcp(),
            is_place: flow.is_place(),
        })
    };
    let (warmup, end) = (plan.marks.warmup, plan.marks.end);
    let question = Question {
        link,
        senders: plan.flows.iter().enumerate().filter_map(of).collect(),
        step: Span((rtt.0 / STEPS_PER_RTT).max(end.0 / MOST_STEPS).max(1)),
        measured: (warmup, end),
        monitor,
        finite: plan.links[link]
            .schedule
            .is_none()
            .then(|| FiniteBuffer { rate: plan.links[link].rate, limit: plan.links[link].limit }),
    };
    let groups = scenario.groups.len();
    let run = |plan: Network| Run { question: &question, steps: steps::begin(plan, options), now: Time::ZERO };
    let Some((mut causes, signals, limits)) = question.observe(run(plan), groups)? else { return Ok(None) };
    question.group(&mut causes, &signals, rtt);
    let ledger = IdleLedger::new(&limits.steps);
    let is_done = question.charge(&mut causes, run(network()?), ledger, forks);
    Ok(is_done.then_some(causes))
}

impl Question<'_> {
    /// Observes the run itself: its hash, idle time and waiting times, the drops and marks at the link, and the limits of
    /// the senders.
    fn observe(
        &self,
        mut run: Run<'_>,
        groups: usize,
    ) -> Result<Option<(Causes, Vec<Signal>, SenderLimits)>, BuildError> {
        let (warmup, end) = self.measured;
        run.steps.record(self.link, LinkWatch::recording(warmup..end));
        let mut limits = SenderLimits::default();
        let mut causes = Causes {
            measured: self.measured,
            step: self.step,
            waits: vec![[0; IdleLimit::ALL.len()]; groups],
            ..Causes::default()
        };
        let mut by_number = vec![None; self.senders.last().map_or(0, |last| last.number + 1)];
        for (i, sender) in self.senders.iter().enumerate() {
            by_number[sender.number] = Some((i, sender.group as usize));
        }
        let mut before = Span::ZERO;
        while run.now < end {
            if self.monitor.is_stopped() {
                return Ok(None);
            }
            self.monitor.report(0.4 * run.now.0 as f64 / end.0 as f64);
            run.step(if run.now < warmup { warmup } else { end });
            let idle = run.idle_before(run.now);
            run.look(if run.now > warmup { idle - before } else { Span::ZERO }, &mut limits);
            let sum = if run.now > warmup { &mut causes.idle } else { &mut causes.idle_in_warmup };
            *sum = *sum + (idle - before);
            before = idle;
            if run.now == end {
                run.steps.count_waits(self.link, end);
            }
            let waits = &mut causes.waits;
            let acks = run.watch().take_waits(|number, wait| {
                if let Some((i, group)) = by_number.get(number).copied().flatten() {
                    waits[group][limits.of(i) as usize] += u128::from(wait);
                }
            });
            causes.ack_waits += u128::from(acks);
        }
        let signals = std::mem::take(&mut run.watch().signals);
        if let Some((group, reason)) = run.steps.fault() {
            return Err(BuildError::Fault { group: group as usize, reason });
        }
        let outcome = run.steps.finish();
        let link = &outcome.links[self.link];
        (causes.hash, causes.arrived, causes.dropped) = (outcome.hash, link.arrived, link.dropped.iter().sum());
        causes.idle_steps = limits.steps.iter().map(|step| (step.end, step.idle)).collect();
        Ok(Some((causes, signals, limits)))
    }

    /// Groups drops and marks into events, and the measured time into periods.
    fn group(&self, causes: &mut Causes, signals: &[Signal], rtt: Span) {
        let (warmup, end) = self.measured;
        let shortest = Span(end.0 / MOST_EVENTS);
        let mut events: Vec<LossEvent> = Vec::new();
        let mut periods = vec![Period { from: warmup, ..Period::default() }];
        let mut before = Span::ZERO;
        let mut hit = Vec::new();
        let owners: Vec<(usize, u32)> = self.senders.iter().map(|sender| (sender.number, sender.flow)).collect();
        for signal in signals {
            let continues = events.last().is_some_and(|event| {
                let length = signal.time - event.from;
                length < shortest || signal.time - event.to < rtt && length.0 < rtt.0.saturating_mul(EVENT_RTTS)
            });
            if !continues {
                let mut started: Vec<u32> = self
                    .senders
                    .iter()
                    .filter(|sender| sender.start <= signal.time)
                    .map(|sender| sender.flow)
                    .collect();
                started.dedup();
                hit.clear();
                // Idle time is counted from the end of the warm-up.
                let idle = signal.idle.max(causes.idle_in_warmup) - causes.idle_in_warmup;
                if let Some(period) = periods.last_mut() {
                    (period.to, period.idle) = (signal.time.max(warmup), idle - before);
                }
                before = idle;
                periods.push(Period { from: signal.time.max(warmup), ..Period::default() });
                events.push(LossEvent { from: signal.time, flows: started.len() as u64, ..LossEvent::default() });
            }
            let Some(event) = events.last_mut() else { continue };
            event.to = signal.time;
            *if signal.marked { &mut event.marked } else { &mut event.dropped } += 1;
            let flow = owners
                .binary_search_by_key(&(signal.flow as usize), |owner| owner.0)
                .map_or(signal.flow, |at| owners[at].1);
            if let Err(at) = hit.binary_search(&flow) {
                hit.insert(at, flow);
                event.hit += 1;
            }
        }
        if let Some(last) = periods.last_mut() {
            (last.to, last.idle) = (end, causes.idle - before);
        }
        (causes.events, causes.periods) = (events, periods);
    }

    /// Charges the idle time of every period with forks of `run`. Returns `false` if the study was stopped.
    fn charge(&self, causes: &mut Causes, mut run: Run<'_>, mut ledger: IdleLedger<'_>, most: usize) -> bool {
        let end = self.measured.1;
        let most = if most == 0 { FORKS } else { most };
        run.steps.record(self.link, LinkWatch::default());
        let mut forks: VecDeque<Fork<'_>> = VecDeque::new();
        for k in 0..causes.periods.len() {
            if self.monitor.is_stopped() {
                return false;
            }
            self.monitor.report(0.4 + 0.6 * causes.periods[k].from.0 as f64 / end.0 as f64);
            // This is the period of event k - 1; the first period has no event.
            if let Some(event) = k.checked_sub(1)
                && causes.periods[k..].iter().take(most).any(|period| period.idle > Span::ZERO)
            {
                if forks.len() == most
                    && let Some(oldest) = forks.pop_front()
                {
                    causes.forked = causes.forked + oldest.went();
                }
                run.now = causes.events[event].from;
                run.steps.advance(run.now);
                forks.push_back(Fork::of(&run, event));
                causes.forks += 1;
            }
            let period = &mut causes.periods[k];
            period.rest = ledger.take(period.idle);
            let mut left = period.idle;
            let mut timeout = period.rest[IdleLimit::Timeout as usize];
            let mut is_cut = false;
            for fork in forks.iter_mut().rev() {
                if left == Span::ZERO {
                    break;
                }
                let Some((idle, steps)) = fork.idle(period.from, period.to) else {
                    is_cut = true;
                    break;
                };
                if idle >= left {
                    continue;
                }
                let charged = left - idle;
                period.charged.push((fork.event, charged));
                (left, period.rest) = (idle, IdleLedger::new(&steps).take(idle));
                period.rest_steps = Some(steps.iter().map(|step| (step.end, step.idle)).collect());
                let waited = timeout.min(charged);
                timeout = timeout - waited;
                let event = &mut causes.events[fork.event];
                (event.idle, event.timeout) = (event.idle + charged, event.timeout + waited);
            }
            is_cut |= forks.front().is_some_and(|oldest| oldest.event > 0);
            period.is_cut = is_cut && left > Span::ZERO;
        }
        causes.forked = forks.iter().fold(causes.forked, |sum, fork| sum + fork.went());
        !self.monitor.is_stopped()
    }
}

//! Runs with congestion controls and queues that are none of the built-in ones.

use crate::{Error, Outcome, Scenario};
use law::{CongestionControl, Control};
use queue::{NoOwn, QueueDiscipline};
use sim::{FlowSite, LinkSite, Options, Own, RunMonitor};
use std::fmt;

/// Runs one replication with a control of one's own: `control` makes that of each TCP flow. It costs what a built-in one costs, as
/// the engine is compiled for it.
///
/// The law that the scenario names for a group says nothing then, but for what is valid beside it. [`law::CongestionControl`] is
/// the whole of what a control does; [`FlowSite::windowed`] puts a [`law::WindowLaw`], which is only growth and decrease, under the
/// scenario's slow start. For some flows with a control of one's own and some with that of the scenario there is
/// [`law::Either`]. A session's control is made once, and each of its transfers begins with a clone of it.
///
/// # Errors
/// As [`crate::simulate`]; [`sim::BuildError::NeedsSelective`], where the control asks for what the recovery does not measure.
///
/// # Examples
/// Half a segment for each round trip, a quarter given up on loss:
/// ```
/// use elephan::law::{CongestionEvent, Signal, WindowLaw};
///
/// #[derive(Clone, Debug)]
/// struct Gentle;
///
/// impl WindowLaw for Gentle {
///     fn per_rtt(&self, _w: f64) -> Option<f64> {
///         Some(0.5)
///     }
///     fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
///         if event.signal == Signal::Timeout { 0.5 * cwnd } else { 0.75 * cwnd }
///     }
/// }
///
/// let scenario = elephan::read(
///     r#"
///     duration = "20 s"
///     links = [{ name = "core", rate = "10 Mbit/s", buffer = "20 packets" }]
///     flows = [{ name = "mine", path = ["core"], rtt = "80 ms" }]
///     "#,
/// )?;
/// let mine = elephan::simulate_with(&scenario, 0, |flow| flow.windowed(Gentle))?;
/// let reno = elephan::simulate(&scenario, 0)?;
/// assert!(mine.links[0].utilization > reno.links[0].utilization);
/// # Ok::<(), elephan::Error>(())
/// ```
pub fn simulate_with<C: CongestionControl + Send + Sync>(
    scenario: &Scenario,
    replication: u32,
    control: impl FnMut(&FlowSite<'_>) -> C,
) -> Result<Outcome, Error> {
    Simulation::new(scenario).replication(replication).control(control).run()
}

/// Types of a simulation with only the scenario's own controls and queues.
type BuiltInControl = fn(&FlowSite<'_>) -> Control;
type BuiltInQueue = fn(&LinkSite<'_>) -> Option<NoOwn>;

/// One replication, put together: which engine, which congestion controls, which queues.
///
/// # Examples
/// A queue that drops every hundredth arrival, on the link `core`:
/// ```
/// use elephan::base::{Cause, Time};
/// use elephan::queue::{Admission, Backlog, Fifo, Packet, Verdict};
///
/// #[derive(Debug)]
/// struct EveryHundredth(u32);
///
/// impl Admission for EveryHundredth {
///     fn admit(&mut self, _packet: &Packet, _backlog: Backlog, _idle_since: Option<Time>) -> Verdict {
///         self.0 += 1;
///         if self.0 % 100 == 0 { Verdict::Drop(Cause::Early) } else { Verdict::Accept }
///     }
/// }
///
/// let scenario = elephan::read(
///     r#"
///     duration = "20 s"
///     links = [{ name = "core", rate = "10 Mbit/s", buffer = "20 packets" }]
///     flows = [{ name = "bulk", path = ["core"], rtt = "80 ms" }]
///     "#,
/// )?;
/// let mine = elephan::Simulation::new(&scenario).queue("core", |_link| Fifo::new(EveryHundredth(0))).run()?;
/// let dropped: u64 = mine.links[0].dropped.iter().sum();
/// assert_eq!(dropped, mine.links[0].arrived / 100);
/// # Ok::<(), elephan::Error>(())
/// ```
#[must_use = "it does nothing until it runs"]
pub struct Simulation<'a, F = BuiltInControl, G = BuiltInQueue> {
    scenario: &'a Scenario,
    replication: u32,
    options: Options,
    parts: Own<F, G>,
    /// The link that has a queue of one's own.
    link: Option<String>,
}

fn built_in(flow: &FlowSite<'_>) -> Control {
    flow.built_in()
}

impl<F, G> fmt::Debug for Simulation<'_, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("replication", &self.replication).field("options", &self.options).finish()
    }
}

impl<'a> Simulation<'a> {
    /// The first replication of `scenario` as it stands.
    pub fn new(scenario: &'a Scenario) -> Self {
        let parts = Own { control: built_in as BuiltInControl, queue: (|_| None) as BuiltInQueue };
        Self { scenario, replication: 0, options: Options::default(), parts, link: None }
    }
}

impl<'a, F, G> Simulation<'a, F, G> {
    /// Selects a replication, numbered from 0.
    pub fn replication(self, replication: u32) -> Self {
        Self { replication, ..self }
    }

    /// Sets the options: the engine, series, hashes.
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// `control` makes the congestion control of each TCP flow: see [`simulate_with`].
    pub fn control<C: CongestionControl + Send + Sync, N: FnMut(&FlowSite<'_>) -> C>(
        self,
        control: N,
    ) -> Simulation<'a, N, G> {
        let Self { scenario, replication, options, parts, link } = self;
        Simulation { scenario, replication, options, parts: Own { control, queue: parts.queue }, link }
    }

    /// `queue` makes the discipline of the link `name`, and of each of its members if that is an array. All others keep theirs;
    /// [`Self::queues`] is for several.
    pub fn queue<Q: QueueDiscipline + Send>(
        self,
        name: &str,
        mut queue: impl FnMut(&LinkSite<'_>) -> Q,
    ) -> Simulation<'a, F, impl FnMut(&LinkSite<'_>) -> Option<Q>> {
        let (name, link) = (name.to_owned(), name.to_owned());
        let queues = self.queues(move |site| (site.name == name).then(|| queue(site)));
        Simulation { link: Some(link), ..queues }
    }

    /// `queues` makes the discipline of each link, or says `None` for that of the scenario.
    pub fn queues<Q: QueueDiscipline + Send, N: FnMut(&LinkSite<'_>) -> Option<Q>>(
        self,
        queues: N,
    ) -> Simulation<'a, F, N> {
        let Self { scenario, replication, options, parts, .. } = self;
        Simulation { scenario, replication, options, parts: Own { control: parts.control, queue: queues }, link: None }
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`simulate_with`]; [`Error::NoLink`] for a queue on a link that is not there; [`sim::BuildError::OwnQueueInPool`] for
    /// one on a link that shares memory.
    pub fn run<C, Q>(mut self) -> Result<Outcome, Error>
    where
        C: CongestionControl + Send + Sync,
        Q: QueueDiscipline + Send,
        F: FnMut(&FlowSite<'_>) -> C,
        G: FnMut(&LinkSite<'_>) -> Option<Q>,
    {
        if let Some(name) = self.link.take_if(|name| self.scenario.links.iter().all(|link| link.name != *name)) {
            return Err(Error::NoLink(name));
        }
        let Self { scenario, replication, options, mut parts, .. } = self;
        let outcome = sim::simulate_parts(scenario, replication, options, &RunMonitor::default(), &mut parts)?;
        Ok(outcome.expect("nobody stops it"))
    }
}

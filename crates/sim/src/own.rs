//! Congestion controls and queue disciplines that the caller supplies in place of those in the scenario.
//!
//! The compiler makes a separate copy of the engines for them, so they are as fast as built-in ones.

use crate::BuildError;
use base::{Bytes, Span, Stream, Time};
use law::{AnyStart, CongestionControl, Control, LawSite, WindowLaw, Windowed};
use queue::{AnyQueue, NoOwn, Port, QueueDiscipline};
use scenario::{Group, Link, Scenario};
use std::fmt;

/// Source of a run's controls and disciplines. The order of calls depends on the scenario alone.
pub trait Parts {
    /// The control of every TCP flow.
    type Control: CongestionControl + Send + Sync;
    /// The discipline of the links for which [`Self::queue`] returns one.
    type Queue: QueueDiscipline + Send;

    /// The control of a flow that has sent nothing. For a session it is called once: each transfer begins with a clone.
    ///
    /// # Errors
    /// [`BuildError::NotHere`] for a law that this implementation does not provide.
    fn control(&mut self, flow: &FlowSite<'_>) -> Result<Self::Control, BuildError>;

    /// The discipline of a link, or `None` for the one in the scenario.
    fn queue(&mut self, link: &LinkSite<'_>) -> Option<Self::Queue>;
}

/// Uses all controls and disciplines of the scenario.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn;

impl Parts for BuiltIn {
    type Control = Control;
    type Queue = NoOwn;

    fn control(&mut self, flow: &FlowSite<'_>) -> Result<Control, BuildError> {
        match &flow.plan.control.own {
            None => Ok(flow.built_in()),
            Some(own) => Err(BuildError::NotHere { group: flow.group_index, law: own.name.clone() }),
        }
    }

    fn queue(&mut self, _link: &LinkSite<'_>) -> Option<NoOwn> {
        None
    }
}

/// A TCP flow that needs a congestion control.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FlowSite<'a> {
    /// The name of its group.
    pub group: &'a str,
    /// Index of its group in the scenario.
    pub group_index: usize,
    /// Its index in its group.
    pub index: u32,
    /// The replication, from 0.
    pub replication: u32,
    /// Its round-trip time without queues, as drawn.
    pub base_rtt: Span,
    /// Start time, as drawn.
    pub start: Time,
    /// Size of a full data packet on the wire.
    pub packet: Bytes,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Initial congestion window, in segments.
    pub initial_window: f64,
    /// Initial slow-start threshold, in segments; infinite for none.
    pub ssthresh: f64,
    pub(crate) seed: u64,
    pub(crate) plan: &'a Group,
}

/// Place of a flow: its group, its number there, and the replication.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowPlace {
    /// Number of its group.
    pub group: usize,
    /// Its number in the group.
    pub index: u32,
    /// Number of the replication.
    pub replication: u32,
}

impl<'a> FlowSite<'a> {
    /// The flow with that group, index and replication, with this round-trip time and start.
    #[must_use]
    pub fn new(
        scenario: &'a Scenario,
        FlowPlace { group: group_index, index, replication }: FlowPlace,
        base_rtt: Span,
        start: Time,
    ) -> Self {
        let plan = &scenario.groups[group_index];
        Self {
            group: &plan.name,
            group_index,
            index,
            replication,
            base_rtt,
            start,
            packet: plan.packet,
            mss: Bytes(u64::from(plan.mss())),
            initial_window: f64::from(plan.tcp.initial_window),
            ssthresh: plan.tcp.initial_ssthresh.unwrap_or(f64::INFINITY),
            seed: scenario.seed,
            plan,
        }
    }

    /// The control that the scenario sets.
    #[must_use]
    pub fn built_in(&self) -> Control {
        self.plan.built_in_control()
    }

    /// The slow start that the scenario sets.
    #[must_use]
    pub fn slow_start(&self) -> AnyStart {
        self.plan.control.slow_start.build().expect("checked when the scenario was read")
    }

    /// `law` with the slow start, initial window and threshold of the scenario, and with the floors and timeouts of RFC
    /// 5681.
    #[must_use]
    pub fn windowed<L: WindowLaw>(&self, law: L) -> Windowed<L, AnyStart> {
        Windowed::new(law, self.slow_start(), self.initial_window, self.ssthresh)
    }

    /// The flow's data as passed to a law in a library.
    #[must_use]
    pub fn site(&self) -> LawSite<'a> {
        LawSite {
            group: self.group,
            index: self.index,
            replication: self.replication,
            base_rtt: self.base_rtt,
            start: self.start,
            packet: self.packet,
            mss: self.mss,
            initial_window: self.initial_window,
            ssthresh: self.ssthresh,
            seed: self.seed,
        }
    }

    /// A random stream of this flow for `purpose`: the same in every run of this replication, and independent of other
    /// flows' streams.
    #[must_use]
    pub fn stream(&self, purpose: &str) -> Stream {
        self.site().stream(purpose)
    }

    /// The group in the scenario.
    #[must_use]
    pub fn plan(&self) -> &'a Group {
        self.plan
    }
}

/// A link that may get a discipline from the caller.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkSite<'a> {
    /// Its name, or the name of its array.
    pub name: &'a str,
    /// Its index in its array.
    pub member: u32,
    /// The replication, from 0.
    pub replication: u32,
    /// Buffer, rate, mean size of packets and bandwidth-delay product.
    pub port: Port,
    pub(crate) chance: Stream,
    pub(crate) seed: u64,
    pub(crate) plan: &'a Link,
}

impl<'a> LinkSite<'a> {
    /// The discipline that the scenario sets, with its random stream.
    #[must_use]
    pub fn built_in(&self) -> AnyQueue {
        self.plan.queue.build(&self.port, self.chance.clone()).expect("checked when the scenario was read")
    }

    /// A random stream of this link for `purpose`: the same in every run of this replication, and independent of other
    /// links' streams.
    #[must_use]
    pub fn stream(&self, purpose: &str) -> Stream {
        let name = format!("own/link/{}", self.name);
        Stream::new(self.seed, self.replication, (&name, u64::from(self.member)), purpose)
    }

    /// The link in the scenario.
    #[must_use]
    pub fn plan(&self) -> &'a Link {
        self.plan
    }
}

/// Checks that the flow meets the control's needs.
pub(crate) fn check_needs(flow: &FlowSite<'_>, control: &impl CongestionControl) -> Result<(), BuildError> {
    if control.needs().deliveries && !flow.plan.recovery.selective() {
        return Err(BuildError::NeedsSelective { group: flow.group_index });
    }
    Ok(())
}

/// Parts made of two functions.
pub struct Own<F, G> {
    /// Returns the control of a flow.
    pub control: F,
    /// Returns the discipline of a link.
    pub queue: G,
}

impl<F, G> fmt::Debug for Own<F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").finish_non_exhaustive()
    }
}

impl<C, Q, F, G> Parts for Own<F, G>
where
    C: CongestionControl + Send + Sync,
    Q: QueueDiscipline + Send,
    F: FnMut(&FlowSite<'_>) -> C,
    G: FnMut(&LinkSite<'_>) -> Option<Q>,
{
    type Control = C;
    type Queue = Q;

    fn control(&mut self, flow: &FlowSite<'_>) -> Result<C, BuildError> {
        Ok((self.control)(flow))
    }

    fn queue(&mut self, link: &LinkSite<'_>) -> Option<Q> {
        (self.queue)(link)
    }
}

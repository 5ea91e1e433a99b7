//! Random draws for links and flows: rates, delays, round-trip times, starts and stops.
//!
//! Every draw has a stream of its own, named by (seed, replication, link or flow, purpose). A stream is created only if its
//! draw is needed.

use crate::BuildError;
use crate::handover::{Handover, VaryingDelay};
use crate::ingress::{Ingress, InjectedLoss};
use crate::marks::Marks;
use crate::own::{LinkSite, Parts};
use crate::plan::{LinkPlan, PoolPlan, ProbePlan};
use base::{ParetoQuantiles, Span, Stream, Time};
use queue::{Either, Opportunities, Port, Rates, Schedule, TokenBucket};
use scenario::{By, Group, Hop, Link, LinkDelay, LinkRate, Pick, Quantity, Ranged, Rtt, Scenario, Start, Stop, Values};
use std::sync::Arc;

/// The links of all tables in sequence; those of an array are consecutive.
#[derive(Debug)]
pub struct Expanded {
    tables: Vec<Table>,
}

/// The links of one table of the file.
#[derive(Clone, Copy, Debug)]
struct Table {
    first: u32,
    count: u32,
}

impl Expanded {
    pub fn new(links: &[Link]) -> Self {
        let mut next = 0;
        let tables = links.iter().map(|link| {
            let first = next;
            next += link.count;
            Table { first, count: link.count }
        });
        Self { tables: tables.collect() }
    }

    /// The links that flow `flow` of its group crosses.
    pub fn path(&self, path: &[Hop], flow: u32) -> Vec<u32> {
        let which = |hop: &Hop| {
            let Table { first, count } = self.tables[hop.link];
            first
                + match hop.pick {
                    Pick::One(i) => i,
                    Pick::Each => flow % count,
                }
        };
        path.iter().map(which).collect()
    }

    /// The pools, each with its links.
    pub fn pools(&self, scenario: &Scenario) -> Vec<PoolPlan> {
        let links = |pool: usize| {
            scenario.links_in(pool).flat_map(|(i, _)| {
                let (Table { first, count }, alpha) = (self.tables[i], scenario.alpha(i).unwrap_or_default());
                (first..first + count).map(move |link| (link, alpha))
            })
        };
        let plan = |pool| PoolPlan { memory: scenario.memory(pool), links: links(pool).collect() };
        (0..scenario.pools.len()).map(plan).collect()
    }

    /// Number of links of each table.
    pub fn counts(&self) -> Vec<u32> {
        self.tables.iter().map(|table| table.count).collect()
    }
}

/// The links of `scenario`, each with its discipline and random streams.
pub fn links<P: Parts>(
    scenario: &Scenario,
    replication: u32,
    first: u64,
    parts: &mut P,
) -> Result<Vec<LinkPlan<P::Queue>>, BuildError> {
    let tables = scenario.links.iter().zip(scenario.uses()).enumerate();
    let all = tables.flat_map(|(i, (link, on))| {
        let (port, mean_rtt) = (on.port(), on.mean_rtt().unwrap_or(Span::ZERO));
        (0..link.count).map(move |member| LinkMember { table: i, link, member, port, mean_rtt })
    });
    let plans = all.map(|of| plan(scenario, replication, first, &of, parts));
    let mut plans = plans.collect::<Result<Vec<_>, _>>()?;
    if scenario.record.delays {
        let groups = later_groups(scenario);
        for plan in &mut plans {
            plan.probe.groups = Arc::clone(&groups);
        }
    }
    Ok(plans)
}

/// Number of the first sender of each group except the first group.
fn later_groups(scenario: &Scenario) -> Arc<[u32]> {
    let counts = scenario.groups.iter().map(|group| group.count * group.traffic.places());
    let firsts = counts.scan(0, |next, count| {
        *next += count;
        Some(*next)
    });
    firsts.take(scenario.groups.len().saturating_sub(1)).collect()
}

/// A link of a table, with its port and the mean RTT of its flows.
struct LinkMember<'a> {
    table: usize,
    link: &'a Link,
    member: u32,
    port: Port,
    mean_rtt: Span,
}

/// Builds a link of a table. The first segment of every flow has the number `first`.
fn plan<P: Parts>(
    scenario: &Scenario,
    replication: u32,
    first: u64,
    &LinkMember { table: i, link, member, port, mean_rtt }: &LinkMember<'_>,
    parts: &mut P,
) -> Result<LinkPlan<P::Queue>, BuildError> {
    // The random streams of a link in an array are named by the array's name and the link's number in it, so that
    // adding a table does not change its draws.
    let array = format!("link/{}", link.name);
    let of_array = |purpose: &str| Stream::new(scenario.seed, replication, (&array, u64::from(member)), purpose);
    let stream = |purpose: &str| match link.count {
        1 => Stream::new(scenario.seed, replication, ("link", i as u64), purpose),
        _ => of_array(purpose),
    };
    let wire = match link.rate {
        LinkRate::Fixed(rate) => drawn(rate, || of_array("rate")),
        _ => scenario.mean_rate(i),
    };
    let schedule = schedule(&link.rate, || stream("rate"));
    // Only links that follow a schedule can hand over in batches, so links with a batch or a varying delay get one.
    let plain = || Schedule::Rates(Rates::steps(Arc::new([(Span::ZERO, wire)]), None));
    let behind = link.batch.is_some() || link.delay_varies();
    let schedule = if link.shaper.is_some() || behind { schedule.or_else(|| Some(plain())) } else { schedule };
    let (rate, schedule) = match (&link.shaper, schedule) {
        (Some(shaper), Some(wire_schedule)) => {
            let bucket = TokenBucket::new(shaper.rate, shaper.burst);
            (wire.min(shaper.rate), Some(Schedule::Shaped(bucket, Box::new(wire_schedule))))
        }
        (_, schedule) => (wire, schedule),
    };
    let delay = match &link.delay {
        LinkDelay::Fixed(delay) => drawn(*delay, || of_array("delay")),
        LinkDelay::Steps(..) => Span::ZERO,
    };
    let mean_delay = delay + link.mean_over_time(scenario.duration);
    let varying = link.delay_varies().then(|| {
        let marks = Marks::of(scenario);
        VaryingDelay::new(&link.delay, delay, link.jitter, link.reorder.as_ref(), marks, stream)
    });
    let port = Port { rate, ..port };
    let chance = stream("queue");
    let site = LinkSite { name: &link.name, member, replication, port, chance, seed: scenario.seed, plan: link };
    let queue = match parts.queue(&site) {
        Some(_) if link.pool.is_some() => return Err(BuildError::OwnQueueInPool { link: i }),
        Some(own) => Either::Second(own),
        None => Either::First(site.built_in()),
    };
    Ok(LinkPlan {
        rate,
        schedule,
        delay: varying.as_ref().map_or(mean_delay, VaryingDelay::least),
        mean_delay,
        queue,
        limit: link.buffer,
        ingress: Ingress::new(
            link.loss.as_ref().map(|loss| InjectedLoss::new(loss, stream("loss"))),
            link.policer.as_ref().map(|bucket| TokenBucket::new(bucket.rate, bucket.burst)),
        ),
        handover: Handover::new(link.batch, varying),
        probe: probe(scenario, Hop { link: i, pick: Pick::One(member) }, mean_rtt, first),
    })
}

/// Measurements of one link that the scenario asks for; losses less than `gap` apart are one loss event.
fn probe(scenario: &Scenario, link: Hop, gap: Span, first: u64) -> ProbePlan {
    let mut packets: Vec<_> = scenario.record.packets.iter().filter(|span| span.link == link).collect();
    packets.sort_unstable_by_key(|span| span.from);
    ProbePlan {
        first,
        gap,
        delays: scenario.record.delays,
        groups: Arc::default(),
        packets: packets.iter().map(|span| Time::ZERO + span.from..Time::ZERO + span.to).collect(),
    }
}

/// Schedule of a link whose rate changes; `None` for a constant rate.
fn schedule(rate: &LinkRate, chance: impl FnOnce() -> Stream) -> Option<Schedule> {
    Some(match rate {
        LinkRate::Fixed(_) => return None,
        LinkRate::Steps(list, _) if list.iter().all(|step| step.1 == list[0].1) => return None,
        LinkRate::Steps(list, period) => Schedule::Rates(Rates::steps(Arc::clone(list), *period)),
        LinkRate::Sine(sine) => Schedule::Rates(Rates::sine(sine.mean, sine.amplitude, sine.period)),
        LinkRate::Markov(markov) if markov.rates.0 == markov.rates.1 => return None,
        LinkRate::Markov(markov) => {
            let (rates, times) = (markov.rates, markov.times);
            Schedule::Rates(Rates::markov([rates.0, rates.1], [times.0, times.1], chance()))
        }
        LinkRate::Opportunities(list) => Schedule::Opportunities(Opportunities::new(Arc::clone(list.times()))),
    })
}

fn drawn<T: Quantity>(values: Ranged<T>, stream: impl FnOnce() -> Stream) -> T {
    match values {
        Ranged::Same(x) => x,
        Ranged::Uniform(from, to) => between(from, to, stream()),
    }
}

fn between<T: Quantity>(from: T, to: T, mut stream: Stream) -> T {
    T::of(stream.span_between(Span(from.base()), Span(to.base())).0)
}

/// Propagation on the links of a flow's path, and on those of its return path.
#[derive(Clone, Copy, Debug)]
pub struct Propagation {
    pub forward: Span,
    pub back: Span,
}

/// Propagation times of a flow's round trip.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    pub base_rtt: Span,
    /// Delay between the sender's own link and the first link.
    pub first_link_delay: Span,
    /// Delay between the last link of the return path, or the receiver, and the sender.
    pub return_delay: Span,
}

/// Random draws for the flows of one group.
pub struct Draws<'a> {
    group: &'a Group,
    /// The distribution of the group's RTTs, if each flow gets a quantile of it.
    quantiles: Option<ParetoQuantiles>,
}

impl<'a> Draws<'a> {
    pub fn new(group: &'a Group) -> Self {
        let quantiles = match &group.rtt {
            Rtt::Pareto(law) if law.by == By::Quantiles => Some(law.quantiles(group.count)),
            _ => None,
        };
        Self { group, quantiles }
    }

    /// The round trip of flow `i`.
    pub fn round_trip(&self, i: u32, links: Propagation, stream: impl Fn(&str) -> Stream) -> RoundTrip {
        let (group, Propagation { forward, back }) = (self.group, links);
        let access = group.access.delay.as_ref().map(|delay| value(delay, i, group.count, || stream("access delay")));
        let (base_rtt, first_link_delay) = match (&group.rtt, access) {
            (Rtt::Auto, access) => {
                let own = access.unwrap_or(Span::ZERO);
                let back = if group.back.is_empty() { forward } else { back };
                (forward + back + own + own, own)
            }
            (_, access) => {
                let base_rtt = self.rtt(i, || stream("rtt"));
                let slack = base_rtt.0.saturating_sub((forward + back).0);
                (base_rtt, access.unwrap_or(Span(slack / 2)))
            }
        };
        let rest = base_rtt.0.saturating_sub((forward + back + first_link_delay).0);
        RoundTrip { base_rtt, first_link_delay, return_delay: Span(rest) }
    }

    fn rtt(&self, i: u32, stream: impl FnOnce() -> Stream) -> Span {
        match (&self.group.rtt, &self.quantiles) {
            (Rtt::Given(values), _) => value(values, i, self.group.count, stream),
            (_, Some(quantiles)) => quantiles.at(i),
            (Rtt::Pareto(law), None) => Span::from_secs(stream().pareto(law.mean.as_secs(), law.shape)).min(law.max),
            (Rtt::Auto, None) => Span::ZERO,
        }
    }

    /// Service time of a packet on the own link of flow `i`; zero for an infinite rate.
    pub fn access(&self, i: u32, stream: impl Fn(&str) -> Stream) -> Span {
        let rate = self.group.access.rate.as_ref();
        let rate = rate.map(|rate| value(rate, i, self.group.count, || stream("access rate")));
        rate.map_or(Span::ZERO, |rate| rate.serialize(self.group.packet))
    }

    /// Start and stop time of flow `i`.
    pub fn start_and_stop(&self, i: u32, stream: impl Fn(&str) -> Stream) -> (Time, Time) {
        let start = Time::ZERO
            + match &self.group.start {
                Start::Between(from, to) if from == to => *from,
                Start::Between(from, to) => stream("start").span_between(*from, *to),
                Start::Every { from, every } => Span(from.0 + every.0 * u64::from(i)),
                Start::List(list) => pick_one(list, i, self.group.count, || stream("start")),
            };
        let after = |span: Span| Time(start.0.saturating_add(span.0.max(1)));
        let stop = match self.group.stop {
            None => Time::NEVER,
            Some(Stop::Between(from, to)) if from == to => Time::ZERO + from,
            Some(Stop::Between(from, to)) => Time::ZERO + stream("stop").span_between(from, to),
            Some(Stop::After(span)) => after(span),
            Some(Stop::AfterExponential(mean)) => after(Span::from_secs(stream("stop").exponential(mean.as_secs()))),
        };
        (start, stop)
    }
}

/// The value of the distribution for flow `i` of `n` flows.
fn value<T: Quantity>(values: &Values<T>, i: u32, n: u32, stream: impl FnOnce() -> Stream) -> T {
    match values {
        Values::Same(x) => *x,
        Values::Spread(from, to) if n == 1 => T::of(u64::midpoint(from.base(), to.base())),
        Values::Spread(from, to) => {
            let step = u128::from(to.base() - from.base()) * u128::from(i) / u128::from(n - 1);
            T::of(from.base() + step as u64)
        }
        Values::Uniform(from, to) => between(*from, *to, stream()),
        Values::List(list) => pick_one(list, i, n, stream),
    }
}

/// Element `i` of a list of length `n` (one element per flow); a random element of a list of any other length.
fn pick_one<T: Copy>(list: &[T], i: u32, n: u32, stream: impl FnOnce() -> Stream) -> T {
    if list.len() == n as usize { list[i as usize] } else { list[stream().below(list.len() as u64) as usize] }
}

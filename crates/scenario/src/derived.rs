//! Values derived from a scenario before a run: flows, packet sizes and round-trip times of a link, its BDP.
//!
//! A buffer is sized for long-lived flows that respond to it. If such flows share the link with others, only they count in
//! the n of the square-root rule, in the mean RTT and packet size, and therefore in the BDP. If only sessions or only
//! datagrams cross a link, these count.

use crate::{By, Group, HEADER, Hop, Link, LinkDelay, Pick, Rtt, Scenario};
use base::{Rate, Span, Time, Values};
use queue::{Limit, Port};
use traffic::Site;

/// Choice among the values that could be drawn.
#[derive(Clone, Copy)]
enum Case {
    Least,
    Mean,
    Most,
}

impl Case {
    fn of(self, values: &Values<Span>) -> Span {
        match self {
            Self::Least => values.min(),
            Self::Mean => values.mean(),
            Self::Most => values.max(),
        }
    }
}

impl Group {
    /// The smallest base RTT of any flow at any time.
    #[must_use]
    pub fn min_rtt<B>(&self, scenario: &Scenario<B>) -> Span {
        self.rtt_in(scenario, Case::Least)
    }

    /// The largest base RTT of any flow at any time.
    #[must_use]
    pub fn max_rtt<B>(&self, scenario: &Scenario<B>) -> Span {
        self.rtt_in(scenario, Case::Most)
    }

    /// The mean over flows: exact for values and spreads, expected for draws. For a Pareto law it is the mean given in the
    /// file, as if no draw were cut at `max`, because papers size buffers that way.
    #[must_use]
    pub fn mean_rtt<B>(&self, scenario: &Scenario<B>) -> Span {
        self.rtt_in(scenario, Case::Mean)
    }

    /// Data for the application of flow `index`, which starts at `start`.
    #[must_use]
    pub fn site(&self, scenario: &Scenario, index: u32, start: Time) -> Site {
        // The group's flows are shared out evenly among the links of an array, which together carry them all.
        let capacity = |hop: &Hop| {
            let link = &scenario.links[hop.link];
            let links = if hop.pick == Pick::Each { link.count.min(self.count) } else { 1 };
            Rate(scenario.mean_rate(hop.link).0 * u64::from(links))
        };
        let capacity = self.path.iter().map(capacity).min().unwrap_or(Rate(0));
        Site { packet: self.packet, mss: self.mss(), capacity, index, flows: self.count, start }
    }

    /// Wire bits per second that one of its flows offers on average, independent of the network: for datagrams, and for
    /// applications that write at a rate of their own.
    #[must_use]
    pub fn offered_bps(&self) -> Option<f64> {
        let datagrams = self.traffic.rate(self.packet).map(|rate| rate.0 as f64);
        let written =
            || self.traffic.written_per_second(self.mss()).map(|segments| 8.0 * segments * self.packet.0 as f64);
        datagrams.or_else(written)
    }

    /// The smallest base RTT of any flow, averaged over time.
    #[must_use]
    pub(crate) fn min_mean_rtt(&self, scenario: &Scenario) -> Span {
        self.mean_rtt_in(scenario, Case::Least)
    }

    /// The longest propagation over all links of the round trip and the access delay; a delay that changes with time counts
    /// with its mean. No base RTT of the group is shorter.
    #[must_use]
    pub fn propagation<B>(&self, scenario: &Scenario<B>) -> Span {
        let links = self.path.iter().chain(&self.back);
        plus(total(links, scenario, Case::Most), self.access_delay(Case::Most))
    }

    /// Round-trip time including the variation of delays by steps and jitter.
    fn rtt_in<B>(&self, scenario: &Scenario<B>, case: Case) -> Span {
        let rtt = self.mean_rtt_in(scenario, case);
        let links = self.path.iter().chain(&self.back).map(|hop| &scenario.links[hop.link]);
        links.fold(rtt, |rtt, link| match (case, link.swing(scenario.duration)) {
            (Case::Least, (less, _)) => Span(rtt.0.saturating_sub(less.0)),
            (Case::Mean, _) => rtt,
            (Case::Most, (_, more)) => plus(rtt, more),
        })
    }

    /// Round-trip time with delays averaged over time.
    fn mean_rtt_in<B>(&self, scenario: &Scenario<B>, case: Case) -> Span {
        match (&self.rtt, case) {
            (Rtt::Auto, _) => {
                let there = total(self.path.iter(), scenario, case);
                let back = if self.back.is_empty() { there } else { total(self.back.iter(), scenario, case) };
                let access = self.access_delay(case);
                plus(plus(there, back), plus(access, access))
            }
            (Rtt::Given(values), _) => case.of(values),
            (Rtt::Pareto(law), Case::Mean) => law.mean,
            (Rtt::Pareto(law), Case::Least) if law.by == By::Draws => {
                Span((law.mean.0 as f64 * (law.shape - 1.0) / law.shape).round() as u64)
            }
            (Rtt::Pareto(law), Case::Most) if law.by == By::Draws => law.max,
            (Rtt::Pareto(law), Case::Least) => law.quantiles(self.count).first(),
            (Rtt::Pareto(law), Case::Most) => law.quantiles(self.count).last(),
        }
    }

    fn access_delay(&self, case: Case) -> Span {
        self.access.delay.as_ref().map_or(Span::ZERO, |delay| case.of(delay))
    }
}

fn total<'a, B>(path: impl Iterator<Item = &'a Hop>, scenario: &Scenario<B>, case: Case) -> Span {
    path.fold(Span::ZERO, |sum, hop| {
        let link = &scenario.links[hop.link];
        let drawn = if let LinkDelay::Fixed(delay) = link.delay { case.of(&delay.into()) } else { Span::ZERO };
        plus(sum, plus(drawn, link.mean_over_time(scenario.duration)))
    })
}

/// The sum. It saturates, because unchecked values may be too large.
fn plus(a: Span, b: Span) -> Span {
    Span(a.0.saturating_add(b.0))
}

impl<Buffer> Scenario<Buffer> {
    /// Number of flows in all groups.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Returns the use of each link, in the order of the links. Each group is evaluated once for all links.
    #[must_use]
    pub fn uses(&self) -> Vec<LinkUse<'_, Buffer>> {
        let mut uses: Vec<_> = (0..self.links.len()).map(|link| self.unused(link)).collect();
        for group in &self.groups {
            let crossing = Crossing::of(group, self);
            for hop in &group.path {
                let groups = &mut uses[hop.link].groups;
                if groups.last().is_none_or(|last| !std::ptr::eq(last.group, group)) {
                    groups.push(crossing);
                }
            }
        }
        uses
    }

    /// Returns the use of `links[link]`. [`Self::uses`] is faster for many links.
    #[must_use]
    pub fn use_of(&self, link: usize) -> LinkUse<'_, Buffer> {
        let crosses = |group: &&Group| group.path.iter().any(|hop| hop.link == link);
        let groups = self.groups.iter().filter(crosses).map(|group| Crossing::of(group, self)).collect();
        LinkUse { groups, ..self.unused(link) }
    }

    fn unused(&self, link: usize) -> LinkUse<'_, Buffer> {
        LinkUse { scenario: self, link, groups: Vec::new() }
    }
}

/// A link, and the groups of TCP flows or datagrams that send data over it.
#[derive(Clone, Debug)]
pub struct LinkUse<'a, Buffer = Limit> {
    scenario: &'a Scenario<Buffer>,
    link: usize,
    groups: Vec<Crossing<'a>>,
}

/// A group that crosses a link, and its base RTTs, which depend on its whole path.
#[derive(Clone, Copy, Debug)]
struct Crossing<'a> {
    group: &'a Group,
    least: Span,
    mean: Span,
    most: Span,
}

impl<'a> Crossing<'a> {
    fn of<B>(group: &'a Group, scenario: &Scenario<B>) -> Self {
        let rtt = |case| group.rtt_in(scenario, case);
        Self { group, least: rtt(Case::Least), mean: rtt(Case::Mean), most: rtt(Case::Most) }
    }
}

impl<'a, Buffer> LinkUse<'a, Buffer> {
    /// The groups, in the order of the file.
    pub fn groups(&self) -> impl Iterator<Item = &'a Group> {
        self.groups.iter().map(|crossing| crossing.group)
    }

    /// The groups for which a buffer is sized: see the head of this file.
    fn counted(&self) -> impl Iterator<Item = &Crossing<'a>> {
        let first = self.groups().map(|group| group.traffic.sort()).min();
        self.groups.iter().filter(move |crossing| Some(crossing.group.traffic.sort()) == first)
    }

    /// Number of flows that count, over all links of an array.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.counted().map(|crossing| crossing.group.count).sum()
    }

    /// The n of the square-root rule: the number of flows that count on one link (for an array, the mean); `None` if there
    /// are none.
    #[must_use]
    pub fn flows_each(&self) -> Option<f64> {
        let n = self.flows();
        (n > 0).then(|| (f64::from(n) / f64::from(self.scenario.links[self.link].count)).max(1.0))
    }

    /// Number of flows that do not count.
    #[must_use]
    pub fn background(&self) -> u32 {
        self.groups().map(|group| group.count).sum::<u32>() - self.flows()
    }

    /// Mean base RTT of the flows that count; `None` if there are none.
    #[must_use]
    pub fn mean_rtt(&self) -> Option<Span> {
        let n = u128::from(self.flows());
        let sum: u128 = self.counted().map(|c| u128::from(c.group.count) * u128::from(c.mean.0)).sum();
        (n > 0).then(|| Span(((sum + n / 2) / n) as u64))
    }

    /// The smallest and the largest base RTT, at any time, of the flows that count; `None` if there are none.
    #[must_use]
    pub fn rtt_range(&self) -> Option<(Span, Span)> {
        let least = self.counted().map(|crossing| crossing.least).min()?;
        Some((least, self.counted().map(|crossing| crossing.most).max()?))
    }

    /// Mean packet size of the flows that count, in bytes, weighted by flows; `None` if there are none.
    #[must_use]
    pub fn mean_packet(&self) -> Option<f64> {
        let n = self.flows();
        let sum: u64 = self.counted().map(|c| u64::from(c.group.count) * c.group.packet.0).sum();
        (n > 0).then(|| sum as f64 / f64::from(n))
    }

    /// Bandwidth-delay product of the link (or of one link of an array), in bytes: its rate times [`Self::mean_rtt`].
    #[must_use]
    pub fn bdp_bytes(&self) -> Option<f64> {
        self.mean_rtt().map(|rtt| self.scenario.mean_rate(self.link).bytes_in(rtt))
    }

    /// Bandwidth-delay product in packets of [`Self::mean_packet`].
    #[must_use]
    pub fn bdp_packets(&self) -> Option<f64> {
        Some(self.bdp_bytes()? / self.mean_packet()?)
    }

    /// Properties of the link that its discipline uses, with this buffer. If only ACKs cross the link, the packet size is
    /// theirs.
    pub(crate) fn port_of(&self, limit: Limit) -> Port {
        let packet = self.mean_packet().unwrap_or(f64::from(HEADER));
        Port { limit, rate: self.scenario.mean_rate(self.link), packet, bdp: self.bdp_bytes() }
    }
}

impl LinkUse<'_> {
    /// The link.
    pub(crate) fn link(&self) -> &Link {
        &self.scenario.links[self.link]
    }

    /// Properties of the link that its discipline uses.
    #[must_use]
    pub fn port(&self) -> Port {
        self.port_of(self.link().buffer)
    }
}

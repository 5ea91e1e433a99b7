//! What follows from a scenario before anything runs: flows, packet sizes and round-trip times of a link, its BDP.
//!
//! A buffer is sized for flows that answer it and stay: where they meet others, only they count in the n of the
//! square-root rule, in the mean RTT and packet size, and so in the BDP. A link that only sessions or only datagrams cross
//! has nothing else to count, so there they do.

use crate::{Group, HEADER, Link, Rtt, Scenario};
use base::{Rate, Span, Time};
use queue::Port;
use traffic::Site;

impl Rtt {
    /// The smallest base RTT that a flow can have.
    #[must_use]
    pub fn min(&self) -> Span {
        match self {
            Self::Constant(rtt) => *rtt,
            Self::Spread(from, _) | Self::Uniform(from, _) => *from,
            Self::Pareto { mean, shape, .. } => Span((mean.0 as f64 * (shape - 1.0) / shape).round() as u64),
            Self::List(list) => list.iter().min().copied().unwrap_or(Span::ZERO),
        }
    }

    /// The largest base RTT that a flow can have.
    #[must_use]
    pub fn max(&self) -> Span {
        match self {
            Self::Constant(rtt) => *rtt,
            Self::Spread(_, to) | Self::Uniform(_, to) => *to,
            Self::Pareto { max, .. } => *max,
            Self::List(list) => list.iter().max().copied().unwrap_or(Span::ZERO),
        }
    }

    /// The mean over flows: exact for values and spreads, expected for draws. That of a Pareto law is the mean the file
    /// gives, as if nothing were cut at `max`: papers size buffers by it.
    #[must_use]
    pub fn mean(&self) -> Span {
        match self {
            Self::Constant(rtt) => *rtt,
            Self::Spread(from, to) | Self::Uniform(from, to) => Span(u64::midpoint(from.0, to.0)),
            Self::Pareto { mean, .. } => *mean,
            Self::List(list) => {
                let sum: u128 = list.iter().map(|rtt| u128::from(rtt.0)).sum();
                Span((sum / (list.len() as u128).max(1)) as u64)
            }
        }
    }
}

impl Group {
    /// Where the application of flow `index` is, if it starts at `start`.
    #[must_use]
    pub fn site(&self, scenario: &Scenario, index: u32, start: Time) -> Site {
        let capacity = self.path.iter().map(|&link| scenario.links[link].rate).min().unwrap_or(Rate(0));
        Site { packet: self.packet, mss: self.mss(), capacity, index, flows: self.count, start }
    }

    /// Propagation of the links that data crosses.
    #[must_use]
    pub fn path_delay(&self, scenario: &Scenario) -> Span {
        total(&self.path, scenario)
    }

    /// Propagation of the links that ACKs cross.
    #[must_use]
    pub fn back_delay(&self, scenario: &Scenario) -> Span {
        total(&self.back, scenario)
    }

    /// Propagation of all links on the round trip; no base RTT of the group is shorter.
    #[must_use]
    pub fn propagation(&self, scenario: &Scenario) -> Span {
        self.path_delay(scenario) + self.back_delay(scenario)
    }
}

fn total(path: &[usize], scenario: &Scenario) -> Span {
    path.iter().fold(Span::ZERO, |sum, &link| Span(sum.0.saturating_add(scenario.links[link].delay.0)))
}

impl Scenario {
    /// Flows of all groups.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// The link called `name`, as an index into `links`.
    #[must_use]
    pub fn link_named(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|link| link.name == name)
    }

    /// Groups that send data over `links[link]`, of whatever kind.
    pub fn groups_on(&self, link: usize) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.path.contains(&link))
    }

    /// The groups among them that a buffer is sized for: see the head of this file.
    pub fn counted_on(&self, link: usize) -> impl Iterator<Item = &Group> {
        let first = self.groups_on(link).map(|group| group.traffic.sort()).min();
        self.groups_on(link).filter(move |group| Some(group.traffic.sort()) == first)
    }

    /// Number of the flows counted on `links[link]`: the n of the square-root rule.
    #[must_use]
    pub fn flows_on(&self, link: usize) -> u32 {
        self.counted_on(link).map(|group| group.count).sum()
    }

    /// Flows of other sorts on `links[link]`, which do not count.
    #[must_use]
    pub fn background_on(&self, link: usize) -> u32 {
        self.groups_on(link).map(|group| group.count).sum::<u32>() - self.flows_on(link)
    }

    /// Mean base RTT of the flows counted on `links[link]`; `None` if there are none.
    #[must_use]
    pub fn mean_rtt(&self, link: usize) -> Option<Span> {
        let n = u128::from(self.flows_on(link));
        let sum: u128 = self.counted_on(link).map(|g| u128::from(g.count) * u128::from(g.rtt.mean().0)).sum();
        (n > 0).then(|| Span(((sum + n / 2) / n) as u64))
    }

    /// Mean size of the packets of the flows counted on `links[link]`, in bytes, each flow once; `None` if there are none.
    #[must_use]
    pub fn mean_packet(&self, link: usize) -> Option<f64> {
        let n = self.flows_on(link);
        let sum: u64 = self.counted_on(link).map(|g| u64::from(g.count) * g.packet.0).sum();
        (n > 0).then(|| sum as f64 / f64::from(n))
    }

    /// Bandwidth-delay product of `links[link]`, in bytes: its rate times [`Self::mean_rtt`].
    #[must_use]
    pub fn bdp_bytes(&self, link: usize) -> Option<f64> {
        self.mean_rtt(link).map(|rtt| self.links[link].rate.bytes_in(rtt))
    }

    /// What the discipline of `links[link]` may know of its link. Where only ACKs pass, they are the packets.
    #[must_use]
    pub fn port(&self, link: usize) -> Port {
        let Link { buffer, rate, .. } = self.links[link];
        let packet = self.mean_packet(link).unwrap_or(f64::from(HEADER));
        Port { limit: buffer, rate, packet, bdp: self.bdp_bytes(link) }
    }

    /// The same in packets of [`Self::mean_packet`].
    #[must_use]
    pub fn bdp_packets(&self, link: usize) -> Option<f64> {
        Some(self.bdp_bytes(link)? / self.mean_packet(link)?)
    }
}

//! Needs (`base::Need`) that the network of a scenario meets, for each of its links and groups of flows. Needs that other keys
//! and parameters meet are checked where the file is known.

use base::{Flags, Need};
use law::CongestionControl;
use queue::Sharing;
use scenario::{Group, PoolName, Scenario};
use serde_json::{Value, json};
use traffic::Sort;

/// The kinds of needs that each link and each group finds met, in the scenario's order.
pub fn met(scenario: &Scenario) -> Value {
    let groups: Vec<Met> = scenario.groups.iter().map(|group| Met::of(group, scenario)).collect();
    let links: Vec<Vec<&str>> = (0..scenario.links.len()).map(|link| on_link(scenario, &groups, link)).collect();
    let groups: Vec<Vec<&str>> = groups.iter().map(Met::kinds).collect();
    json!({ "links": links, "groups": groups })
}

fn kinds(met: &[(Need, bool)]) -> Vec<&'static str> {
    met.iter().filter(|(_, is_met)| *is_met).map(|(need, _)| need.parts().0).collect()
}

/// Needs of a link that the groups which send data over it meet.
fn on_link(scenario: &Scenario, groups: &[Met], link: usize) -> Vec<&'static str> {
    let sends = |group: &Group| group.path.iter().any(|hop| hop.link == link);
    let is_crossed = |group: &Group| sends(group) || group.back.iter().any(|hop| hop.link == link);
    let sending = || scenario.groups.iter().zip(groups).filter(|(group, _)| sends(group)).map(|(_, met)| met);
    let marked_elsewhere = |met: &Met| met.marking.iter().any(|&other| other != link);
    kinds(&[
        // In a pool of static shares a link that nothing crosses still has its share.
        (Need::Crossed, scenario.groups.iter().any(is_crossed) || scenario.links[link].pool.is_some()),
        (Need::EctFlows, sending().any(|met| met.flags.has(Flags::ECT))),
        // A packet that another queue has marked counts as one of a scalable sender (RFC 9332).
        (
            Need::L4sFlows,
            sending().any(|met| met.flags.has(Flags::L4S) || (met.flags.has(Flags::ECT) && marked_elsewhere(met))),
        ),
        (Need::XcpFlows, sending().any(|met| met.asks)),
        (
            Need::DynamicPool,
            scenario.links[link].pool.is_some_and(|PoolName(pool)| scenario.pools[pool].sharing == Sharing::Dynamic),
        ),
    ])
}

/// Flags of a group's packets, and properties of its path.
#[expect(clippy::struct_excessive_bools, reason = "what it may say, each for itself")]
struct Met {
    flags: Flags,
    /// Whether they carry headers for routers.
    asks: bool,
    /// Links on the path that may mark.
    marking: Vec<usize>,
    is_answered: bool,
    slow_start: bool,
    writes: bool,
}

impl Met {
    fn of(group: &Group, scenario: &Scenario) -> Self {
        let control = &group.control;
        // Checked when the scenario was read; of datagrams it says nothing.
        let built = control.law.build(&control.slow_start, 2.0, f64::INFINITY).ok().filter(|_| group.traffic.is_tcp());
        let needs = built.as_ref().map(CongestionControl::needs);
        let path = group.path.iter().map(|hop| hop.link);
        let gives = |link: usize, need| scenario.links[link].queue.gives() == Some(need);
        Self {
            flags: needs.map_or(Flags::NONE, |needs| group.tcp.ecn.flags(needs)),
            asks: needs.is_some_and(|needs| needs.headers),
            marking: path.clone().filter(|&link| gives(link, Need::Marks)).collect(),
            is_answered: path.clone().any(|link| gives(link, Need::XcpRouter)),
            // In the kernel's arithmetic a law's object has one, too.
            slow_start: control.own.is_none()
                && match &built {
                    Some(law::Control::Window(_)) => true,
                    Some(law::Control::Own(own)) => {
                        matches!(own, law::AnyController::Bpf(_)) && !matches!(control.law, law::LawSpec::Bpf(_))
                    }
                    None => false,
                },
            writes: group.traffic.sort() == Sort::Application,
        }
    }

    fn kinds(&self) -> Vec<&'static str> {
        kinds(&[
            (Need::Marks, !self.marking.is_empty()),
            (Need::XcpRouter, self.is_answered),
            (Need::SlowStart, self.slow_start),
            (Need::Writes, self.writes),
        ])
    }
}

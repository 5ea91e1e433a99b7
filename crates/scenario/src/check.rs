//! Checks of a whole scenario, read from a file or a canonical form. Single keys are checked when they are read.

use crate::error::breaks_line;
use crate::{
    Group, HEADER, Hop, Link, LinkRate, LinkUse, PacketSpan, Pick, Pool, Rtt, Scenario, ScenarioError, Start, Stop,
    limits, outstanding,
};
use base::text::{format_rate, format_span};
use base::{Bytes, Rate, Span, Stream, Time};
use law::CongestionControl;
use queue::{Port, QUEUES, QueueSpec};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use traffic::{PacketSize, TrafficSpec};

type Checked = Result<(), ScenarioError>;

/// Least delay of links with a trace if packets return to such a link.
const LEAST_DELAY: Span = Span::micros(1);

/// Refuses a scenario that cannot be run or is certainly a mistake.
pub(crate) fn check(scenario: &Scenario) -> Checked {
    if scenario.title.chars().any(breaks_line) {
        return refuse("title", "must be one line");
    }
    if scenario.warmup >= scenario.duration {
        return refuse("warmup", format!("must be shorter than the duration of {}", format_span(scenario.duration)));
    }
    in_all("flows", scenario.groups.iter().map(|group| group.count), &limits::FLOWS)?;
    in_all("links", scenario.links.iter().map(|link| link.count), &limits::LINKS)?;
    let uses = scenario.uses();
    for i in 0..scenario.pools.len() {
        pool(scenario, i, &uses)?;
    }
    for (i, (item, on)) in scenario.links.iter().zip(&uses).enumerate() {
        link(&format!("links[{i}]"), item, &on.port(), largest_packet(on))?;
    }
    circles(scenario)?;
    for (i, item) in scenario.groups.iter().enumerate() {
        group(&format!("flows[{i}]"), item, scenario)?;
    }
    recorded(scenario)?;
    packets_recorded(scenario, &uses)
}

fn refuse(place: impl Into<String>, reason: impl Into<String>) -> Checked {
    Err(ScenarioError::wrong(place, reason))
}

fn in_all(what: &str, counts: impl Iterator<Item = u32>, range: &RangeInclusive<u64>) -> Checked {
    let within = counts.map(u64::from).sum::<u64>() <= *range.end();
    if within { Ok(()) } else { refuse(what, format!("must be at most {} {what} in all", range.end())) }
}

fn span(place: impl Into<String>, span: Span, range: &RangeInclusive<Span>) -> Checked {
    if range.contains(&span) {
        return Ok(());
    }
    let [given, from, to] = [span, *range.start(), *range.end()].map(format_span);
    refuse(place, format!("must lie between {from} and {to}, not {given}"))
}

/// The largest packet that can wait at a link; ACKs are never larger.
pub(crate) fn largest_packet(on: &LinkUse<'_>) -> Bytes {
    let largest = |group: &Group| match group.traffic.size() {
        PacketSize::Constant => group.packet,
        PacketSize::Exponential => *limits::PACKET.end(),
    };
    on.groups().map(largest).max().unwrap_or(Bytes(u64::from(HEADER)))
}

fn link(place: &str, link: &Link, port: &Port, packet: Bytes) -> Checked {
    if port.rate.0 == 0 {
        return refuse(
            format!("{place}.rate"),
            "must let something pass before the end of the run: its mean is below 1 bit/s",
        );
    }
    drains(format!("{place}.buffer"), link.most_waiting(None, packet).unwrap_or(0), slowest(link))?;
    for (key, bucket) in [("policer", &link.policer), ("shaper", &link.shaper)] {
        if bucket.as_ref().is_some_and(|bucket| bucket.burst < packet) {
            return refuse(format!("{place}.{key}.burst"), format!("must hold a packet at least, {} B", packet.0));
        }
    }
    let chance = Stream::new(0, 0, ("check", 0), "queue");
    link.queue.build(port, chance).map_err(ScenarioError::parameter(format!("{place}.queue"))).map(|_| ())
}

fn slowest(link: &Link) -> Rate {
    link.shaper.as_ref().map_or(link.rate.min(), |shaper| shaper.rate.min(link.rate.min()))
}

/// Checks the links that use a pool.
fn pool(scenario: &Scenario, pool: usize, uses: &[LinkUse<'_>]) -> Checked {
    let Pool { name, size, .. } = &scenario.pools[pool];
    if scenario.links_in(pool).next().is_none() {
        return refuse(
            format!("pools[{pool}]"),
            format!("no link draws on it; write pool = {name:?} in a [[links]] table"),
        );
    }
    for (i, link) in scenario.links_in(pool) {
        if !link.queue.can_share_memory() {
            let known: Vec<&str> = QUEUES.iter().map(|entry| entry.card.name).filter(|name| can_share(name)).collect();
            let (last, known) = known.split_last().unwrap_or((&"", &[]));
            let reason = format!("{} cannot share a pool; {} and {last} can", link.queue.card().name, known.join(", "));
            return refuse(format!("links[{i}].queue"), reason);
        }
        let most = link.most_waiting(Some(*size), largest_packet(&uses[i])).unwrap_or(0);
        drains(format!("pools[{pool}].size"), most, slowest(link))?;
    }
    Ok(())
}

fn can_share(discipline: &str) -> bool {
    QueueSpec::named(discipline).is_some_and(|spec| spec.can_share_memory())
}

/// Refuses circles of trace links without delay: a packet that leaves one could be back there at the same instant, and the
/// engine would have to simulate every picosecond.
fn circles(scenario: &Scenario) -> Checked {
    let links = &scenario.links;
    let instant = |i: usize| matches!(links[i].rate, LinkRate::Opportunities(_)) && links[i].delay.min() < LEAST_DELAY;
    let mut next = vec![BTreeSet::new(); links.len()];
    for group in &scenario.groups {
        let round: Vec<usize> = group.path.iter().chain(&group.back).map(|hop| hop.link).collect();
        let pairs = round.windows(2).filter(|pair| instant(pair[0]) && instant(pair[1]));
        pairs.for_each(|pair| {
            next[pair[0]].insert(pair[1]);
        });
    }
    // A link without a next link in the set is in no circle. Remove such links until only circles remain.
    let mut left: BTreeSet<usize> = (0..links.len()).filter(|&i| instant(i)).collect();
    while let Some(&end) = left.iter().find(|&&i| next[i].is_disjoint(&left)) {
        left.remove(&end);
    }
    left.first().map_or(Ok(()), |i| {
        let least = format_span(LEAST_DELAY);
        refuse(format!("links[{i}].delay"), format!("must be at least {least}: packets go round between traces here"))
    })
}

/// Checks that departure times of waiting packets fit the engine's integers.
fn drains(place: String, bytes: u128, rate: Rate) -> Checked {
    let most = u128::from(limits::INSTANT.end().0 / base::time::PS_PER_S) * u128::from(rate.0) / 8;
    if bytes > most {
        return refuse(place, format!("would take more than 11 days to drain at {}", format_rate(rate)));
    }
    Ok(())
}

fn group(place: &str, group: &Group, scenario: &Scenario) -> Checked {
    let at = |key: &str| format!("{place}.{key}");
    path(place, group, &scenario.links)?;
    if !limits::PACKET.contains(&group.packet) {
        let (from, to) = (limits::PACKET.start().0, limits::PACKET.end().0);
        return refuse(at("packet"), format!("must lie between {from} B and {to} B, its 40 bytes of header included"));
    }
    if group.tcp.header >= group.packet {
        return refuse(at("tcp.header"), format!("must be less than the packet, {} B", group.packet.0));
    }
    access(place, group)?;
    rtt(at("rtt"), group, scenario)?;
    group.control.slow_start.build().map_err(ScenarioError::parameter(at("control.slow_start")))?;
    let control = group.control.law.build(&group.control.slow_start, 2.0, f64::INFINITY);
    if control.map_err(ScenarioError::parameter(at("control")))?.needs().deliveries && !group.recovery.selective() {
        let law = group.control.law.card().name;
        return refuse(at("recovery"), format!("{law} needs selective acknowledgements; use sack, prr or rack"));
    }
    life(place, group, scenario)?;
    traffic(place, group, scenario)?;
    outstanding::check(place, group, scenario)
}

fn path(place: &str, group: &Group, all: &[Link]) -> Checked {
    let mut seen: Vec<Hop> = Vec::new();
    for (key, links) in [("path", &group.path), ("return", &group.back)] {
        for (i, &hop) in links.iter().enumerate() {
            if seen.iter().any(|&other| hop.meets(other)) {
                let name = hop.spelled(&all[hop.link].name, all[hop.link].count);
                let reason = "is on the round trip already; links are directed and crossed once";
                return refuse(format!("{place}.{key}[{i}]"), format!("{name:?} {reason}"));
            }
            seen.push(hop);
        }
    }
    Ok(())
}

fn rtt(place: String, group: &Group, scenario: &Scenario) -> Checked {
    match &group.rtt {
        Rtt::Pareto(law) if !(law.shape > 1.0 && law.shape <= 1000.0) => {
            return refuse(format!("{place}.pareto.shape"), "must lie above 1, or there is no mean, and up to 1000");
        }
        Rtt::Pareto(law) if law.max < law.mean => {
            return refuse(format!("{place}.pareto.max"), "must not be below the mean");
        }
        _ => {}
    }
    let (least, most) = (group.min_rtt(scenario), group.max_rtt(scenario));
    if group.rtt == Rtt::Auto {
        let outside = [least, most].into_iter().find(|rtt| !limits::RTT.contains(rtt));
        return outside.map_or(Ok(()), |rtt| {
            let [rtt, from, to] = [rtt, *limits::RTT.start(), *limits::RTT.end()].map(format_span);
            refuse(place, format!("\"auto\" comes to {rtt}; must lie between {from} and {to}"))
        });
    }
    let (least_mean, propagation) = (group.min_mean_rtt(scenario), group.propagation(scenario));
    if least_mean >= propagation {
        // For Pareto laws, and for delays that change with time. Values given in the file have been checked already.
        span(place.clone(), least, &limits::RTT)?;
        span(place, most, &limits::RTT)
    } else {
        let [least, needed] = [least_mean, propagation].map(format_span);
        let least = match group.rtt {
            Rtt::Pareto(_) => format!("its smallest value, {least},"),
            _ => least,
        };
        let who = if group.access.delay.is_some() { "links and access propagate" } else { "links propagate" };
        refuse(place, format!("{least} is below the {needed} that its {who}"))
    }
}

fn access(place: &str, group: &Group) -> Checked {
    let buffer = format!("{place}.access.buffer");
    match (&group.access.rate, group.access.buffer) {
        (Some(rate), Some(packets)) => drains(buffer, u128::from(packets.0) * u128::from(group.packet.0), rate.min()),
        (None, Some(_)) => refuse(buffer, "needs access.rate: nothing waits for an infinite rate"),
        (_, None) => Ok(()),
    }
}

/// Checks start and stop.
fn life(place: &str, group: &Group, scenario: &Scenario) -> Checked {
    let at = |key: &str| format!("{place}.{key}");
    let (first, last) = (group.start.first(), group.start.last(group.count));
    match &group.start {
        Start::Between(from, to) if from > to => return refuse(at("start"), "from must not be later than to"),
        Start::List(list) if list.is_empty() => return refuse(at("start"), "must not be empty"),
        _ => {}
    }
    if first >= scenario.duration {
        return refuse(at("start"), format!("must come before the end at {}", format_span(scenario.duration)));
    }
    span(at("start"), last, &limits::INSTANT)?;
    match group.stop {
        None => Ok(()),
        Some(Stop::Between(from, to)) if from > to => refuse(at("stop"), "from must not be later than to"),
        Some(Stop::Between(from, _)) if from <= last => {
            refuse(at("stop"), format!("must come after the start at {}", format_span(last)))
        }
        Some(Stop::Between(_, to)) => span(at("stop"), to, &limits::INSTANT),
        Some(Stop::After(span) | Stop::AfterExponential(span)) if span == Span::ZERO => {
            refuse(at("stop.after"), "must be above 0")
        }
        Some(Stop::After(after) | Stop::AfterExponential(after)) => span(at("stop.after"), after, &limits::INSTANT),
    }
}

fn traffic(place: &str, group: &Group, scenario: &Scenario) -> Checked {
    let chance = || Stream::new(0, 0, ("check", 0), "traffic");
    let site = group.site(scenario, 0, Time::ZERO);
    group.traffic.offer(&site, chance).map_err(ScenarioError::parameter(format!("{place}.traffic")))?;
    let connections = u64::from(group.count) * u64::from(group.traffic.places());
    let most = *limits::FLOWS.end();
    if connections > most {
        let key = match group.traffic {
            TrafficSpec::Web(_) => "connections",
            TrafficSpec::Page(_) => "hosts",
            _ => "places",
        };
        let reason = format!("comes to {connections} for all flows of the group; at most {most}");
        return refuse(format!("{place}.traffic.{key}"), reason);
    }
    if group.traffic.size() != PacketSize::Constant && group.access.rate.is_some() {
        let reason =
            "must be left out where packets are of exponential size: they reach the first link as they are made";
        return refuse(format!("{place}.access.rate"), reason);
    }
    if !group.traffic.is_tcp() && !group.traffic.is_answered() && !group.back.is_empty() {
        return refuse(format!("{place}.return"), "must be empty: nobody acknowledges datagrams");
    }
    Ok(())
}

/// Checks samples and traces.
fn recorded(scenario: &Scenario) -> Checked {
    let samples = scenario.record.every.map_or(0, |every| scenario.duration.0 / every.0);
    if samples > limits::SAMPLES_MAX {
        let reason = format!("would give {samples} samples a run; at most {}", limits::SAMPLES_MAX);
        return refuse("record.every", reason);
    }
    let mut seen = BTreeSet::new();
    let twice = scenario.record.trace.iter().position(|flow| !seen.insert(flow));
    twice.map_or(Ok(()), |i| refuse(format!("record.trace[{i}]"), "is listed twice"))
}

/// Refuses spans for recorded packets that are meaningless, or that hold more packets than a table can.
fn packets_recorded(scenario: &Scenario, uses: &[LinkUse<'_>]) -> Checked {
    let mut most = 0.0;
    for (i, span) in scenario.record.packets.iter().enumerate() {
        let refuse = |key: &str, reason: String| refuse(format!("record.packets[{i}]{key}"), reason);
        let link = &scenario.links[span.link.link];
        if span.link.pick == Pick::Each {
            return refuse(".link", format!("must be one link of the array, such as \"{}[0]\"", link.name));
        }
        if span.to <= span.from {
            return refuse(".to", format!("must be later than from, {}", format_span(span.from)));
        }
        if span.to > scenario.duration {
            return refuse(".to", format!("must not be after the end, {}", format_span(scenario.duration)));
        }
        let overlaps = |other: &PacketSpan| other.link == span.link && other.from < span.to && span.from < other.to;
        if let Some(other) = scenario.record.packets[..i].iter().position(overlaps) {
            return refuse("", format!("overlaps record.packets[{other}], of the same link"));
        }
        let smallest = uses[span.link.link].groups().map(|group| group.packet.0).min().unwrap_or(u64::from(HEADER));
        most += link.rate.mean(scenario.duration).bytes_in(span.to - span.from) / smallest as f64;
        if most > limits::PACKETS_MAX {
            return refuse("", format!("would give about {most:.3e} packets; at most {:e}", limits::PACKETS_MAX));
        }
    }
    Ok(())
}

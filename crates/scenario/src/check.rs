//! What must hold of every scenario, wherever it comes from: a file or a canonical form.

use crate::error::breaks_line;
use crate::reader::not_whole;
use crate::{
    Group, Hop, Link, Loss, Quantity, Rtt, Scenario, ScenarioError, Start, Stop, Values, hops, limits, record,
};
use base::text::{format_rate, format_span};
use base::{Bytes, ParamError, Rate, Span, Stream, Time};
use law::CongestionControl;
use queue::{Limit, Port};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use traffic::{PacketSize, TrafficSpec};

type Checked = Result<(), ScenarioError>;

/// Refuses a scenario that cannot be run or cannot have been meant.
pub(crate) fn check(scenario: &Scenario) -> Checked {
    if scenario.title.chars().any(breaks_line) {
        return refuse("title", "must be one line");
    }
    if scenario.duration == Span::ZERO {
        return refuse("duration", "must be above 0");
    }
    span("duration", scenario.duration, &limits::INSTANT)?;
    if scenario.warmup >= scenario.duration {
        return refuse("warmup", format!("must be shorter than the duration of {}", format_span(scenario.duration)));
    }
    whole("replications", u64::from(scenario.replications), &limits::REPLICATIONS)?;
    if scenario.links.is_empty() {
        return refuse("links", "must not be empty");
    }
    if scenario.groups.is_empty() {
        return refuse("flows", "must not be empty");
    }
    let flows: u64 = scenario.groups.iter().map(|group| u64::from(group.count)).sum();
    if flows > *limits::FLOWS.end() {
        return refuse("flows", format!("must be at most {} flows in all", limits::FLOWS.end()));
    }
    let links: u64 = scenario.links.iter().map(|link| u64::from(link.count)).sum();
    if links > *limits::LINKS.end() {
        return refuse("links", format!("must be at most {} links in all", limits::LINKS.end()));
    }
    names("links", scenario.links.iter().map(|link| link.name.as_str()))?;
    for (i, item) in scenario.links.iter().enumerate() {
        link(&format!("links[{i}]"), item, &scenario.port(i), largest_packet(scenario, i))?;
    }
    names("flows", scenario.groups.iter().map(|group| group.name.as_str()))?;
    for (i, item) in scenario.groups.iter().enumerate() {
        group(&format!("flows[{i}]"), item, scenario)?;
    }
    recorded(scenario)
}

fn refuse(place: impl Into<String>, reason: impl Into<String>) -> Checked {
    Err(ScenarioError::wrong(place, reason))
}

fn whole(place: impl Into<String>, n: u64, range: &RangeInclusive<u64>) -> Checked {
    if range.contains(&n) { Ok(()) } else { refuse(place, not_whole(range)) }
}

fn span(place: impl Into<String>, span: Span, range: &RangeInclusive<Span>) -> Checked {
    if range.contains(&span) {
        return Ok(());
    }
    let [given, from, to] = [span, *range.start(), *range.end()].map(format_span);
    refuse(place, format!("must lie between {from} and {to}, not {given}"))
}

/// Places `source`, an error about a parameter.
fn parameter(place: String) -> impl Fn(ParamError) -> ScenarioError {
    move |source| ScenarioError::Parameter { place: place.clone(), source }
}

/// Names within `list` (links or flows) must differ, and be writable as `name[3]`.
pub(crate) fn names<'a>(list: &str, names: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen = BTreeSet::new();
    for (i, name) in names.enumerate() {
        let place = format!("{list}[{i}].name");
        if name.is_empty() || name.len() > 64 || name.chars().any(|c| breaks_line(c) || c == '[' || c == ']') {
            return refuse(place, "must be 1 to 64 letters, without brackets");
        }
        if !seen.insert(name) {
            return refuse(place, format!("{name:?} is taken by another"));
        }
    }
    Ok(())
}

/// The largest packet that can wait at a link; ACKs are smaller than any.
fn largest_packet(scenario: &Scenario, link: usize) -> Bytes {
    let largest = |group: &Group| match group.traffic.size() {
        PacketSize::Constant => group.packet,
        PacketSize::Exponential => Bytes(*limits::PACKET.end()),
    };
    scenario.groups_on(link).map(largest).max().unwrap_or(Bytes(u64::from(crate::HEADER)))
}

fn link(place: &str, link: &Link, port: &Port, packet: Bytes) -> Checked {
    whole(format!("{place}.count"), u64::from(link.count), &limits::LINKS)?;
    ordered(format!("{place}.rate.uniform"), "rate", link.rate_range)?;
    ordered(format!("{place}.delay.uniform"), "time", link.delay_range)?;
    rate(format!("{place}.rate"), link.slowest())?;
    rate(format!("{place}.rate"), link.fastest())?;
    span(format!("{place}.delay"), link.longest(), &limits::DELAY)?;
    let waiting = match link.buffer {
        Limit::Packets(n) => u128::from(n) * u128::from(packet.0),
        Limit::Bytes(n) => u128::from(n.0),
        Limit::Unlimited => 0,
    };
    drains(format!("{place}.buffer"), waiting, link.slowest())?;
    let chance = Stream::new(0, 0, ("check", 0), "queue");
    link.queue.build(port, chance).map_err(parameter(format!("{place}.queue")))?;
    match link.loss {
        Some(Loss::Random(p)) if !(0.0..1.0).contains(&p) => {
            refuse(format!("{place}.loss.random"), "must be a probability, at least 0 and below 1")
        }
        Some(Loss::Every(n)) => whole(format!("{place}.loss.every"), n, &limits::LOSS_EVERY),
        _ => Ok(()),
    }
}

fn ordered<T: Quantity>(place: String, word: &str, range: Option<(T, T)>) -> Checked {
    let fault = range.and_then(|(from, to)| Values::Uniform(from, to).fault(word));
    fault.map_or(Ok(()), |fault| refuse(place, fault))
}

fn rate(place: String, rate: Rate) -> Checked {
    if rate < limits::RATE_MIN || rate.0 > 1_000_000_000_000_000 {
        return refuse(place, format!("must lie between 1 kbit/s and 1000 Tbit/s, not {}", format_rate(rate)));
    }
    Ok(())
}

/// Departure times of what waits must fit the engine's integers.
fn drains(place: String, bytes: u128, rate: Rate) -> Checked {
    let most = u128::from(limits::INSTANT.end().0 / base::time::PS_PER_S) * u128::from(rate.0) / 8;
    if bytes > most {
        return refuse(place, format!("would take more than 11 days to drain at {}", format_rate(rate)));
    }
    Ok(())
}

fn group(place: &str, group: &Group, scenario: &Scenario) -> Checked {
    let at = |key: &str| format!("{place}.{key}");
    whole(at("count"), u64::from(group.count), &limits::FLOWS)?;
    path(place, group, scenario)?;
    if !limits::PACKET.contains(&group.packet.0) {
        let (from, to) = (limits::PACKET.start(), limits::PACKET.end());
        return refuse(at("packet"), format!("must lie between {from} B and {to} B, its 40 bytes of header included"));
    }
    access(place, group)?;
    rtt(at("rtt"), group, scenario)?;
    group.slow_start.build().map_err(parameter(at("control.slow_start")))?;
    let control = group.law.build(&group.slow_start, 2.0, f64::INFINITY).map_err(parameter(at("control")))?;
    if control.needs().deliveries && !group.recovery.selective() {
        let law = group.law.card().name;
        return refuse(at("recovery"), format!("{law} needs selective acknowledgements; use sack, prr or rack"));
    }
    life(place, group, scenario)?;
    traffic(place, group, scenario)?;
    tcp(place, group)
}

fn path(place: &str, group: &Group, scenario: &Scenario) -> Checked {
    if group.path.is_empty() {
        return refuse(format!("{place}.path"), "must name at least one link");
    }
    let mut seen: Vec<Hop> = Vec::new();
    for (key, links) in [("path", &group.path), ("return", &group.back)] {
        for (i, &hop) in links.iter().enumerate() {
            if seen.iter().any(|&other| hop.meets(other)) {
                let name = hops::name_of(hop, &scenario.links);
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
        Rtt::Given(values) => {
            if let Some(fault) = values.fault("time") {
                return refuse(place, fault);
            }
        }
        Rtt::Pareto { shape, .. } if !(*shape > 1.0 && *shape <= 1000.0) => {
            return refuse(format!("{place}.pareto.shape"), "must lie above 1, or there is no mean, and up to 1000");
        }
        Rtt::Pareto { mean, max, .. } if max < mean => {
            return refuse(format!("{place}.pareto.max"), "must not be below the mean");
        }
        Rtt::Auto | Rtt::Pareto { .. } => {}
    }
    let (least, most) = (group.min_rtt(scenario), group.max_rtt(scenario));
    if group.rtt == Rtt::Auto {
        let outside = [least, most].into_iter().find(|rtt| !limits::RTT.contains(rtt));
        return outside.map_or(Ok(()), |rtt| {
            let [rtt, from, to] = [rtt, *limits::RTT.start(), *limits::RTT.end()].map(format_span);
            refuse(place, format!("\"auto\" comes to {rtt}; must lie between {from} and {to}"))
        });
    }
    span(place.clone(), least, &limits::RTT)?;
    span(place.clone(), most, &limits::RTT)?;
    let propagation = group.propagation(scenario);
    if least < propagation {
        let [least, needed] = [least, propagation].map(format_span);
        let least = match group.rtt {
            Rtt::Pareto { .. } => format!("its smallest value, {least},"),
            _ => least,
        };
        let who = if group.access.delay.is_some() { "links and access propagate" } else { "links propagate" };
        return refuse(place, format!("{least} is below the {needed} that its {who}"));
    }
    Ok(())
}

fn access(place: &str, group: &Group) -> Checked {
    let at = |key: &str| format!("{place}.access.{key}");
    let access = &group.access;
    if let Some(values) = &access.rate {
        if let Some(fault) = values.fault("rate") {
            return refuse(at("rate"), fault);
        }
        rate(at("rate"), values.min())?;
        rate(at("rate"), values.max())?;
        let waiting = u128::from(access.buffer.unwrap_or(0)) * u128::from(group.packet.0);
        drains(at("buffer"), waiting, values.min())?;
    } else if access.buffer.is_some() {
        return refuse(at("buffer"), "needs access.rate: nothing waits for an infinite rate");
    }
    let Some(values) = &access.delay else { return Ok(()) };
    match values.fault("time") {
        Some(fault) => refuse(at("delay"), fault),
        None => span(at("delay"), values.max(), &limits::DELAY),
    }
}

/// Start and stop.
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
    group.traffic.offer(&site, chance).map_err(parameter(format!("{place}.traffic")))?;
    let connections = u64::from(group.count) * u64::from(group.traffic.places());
    let most = *limits::FLOWS.end();
    if connections > most {
        let key = if matches!(group.traffic, TrafficSpec::Web(_)) { "connections" } else { "places" };
        let reason = format!("comes to {connections} for all flows of the group; at most {most}");
        return refuse(format!("{place}.traffic.{key}"), reason);
    }
    if group.traffic.size() != PacketSize::Constant && group.access.rate.is_some() {
        let reason =
            "must be left out where packets are of exponential size: they reach the first link as they are made";
        return refuse(format!("{place}.access.rate"), reason);
    }
    if !group.traffic.is_tcp() && !group.back.is_empty() {
        return refuse(format!("{place}.return"), "must be empty: nobody acknowledges datagrams");
    }
    Ok(())
}

fn tcp(place: &str, group: &Group) -> Checked {
    let at = |key: &str| format!("{place}.tcp.{key}");
    let tcp = &group.tcp;
    span(at("min_rto"), tcp.min_rto, &limits::TIMER)?;
    span(at("rto_granularity"), tcp.rto_granularity, &limits::TIMER)?;
    span(at("delayed_ack_timeout"), tcp.delayed_ack_timeout, &limits::TIMER)?;
    span(at("send_jitter"), tcp.send_jitter, &limits::SEND_JITTER)?;
    whole(at("initial_window"), u64::from(tcp.initial_window), &limits::INITIAL_WINDOW)?;
    whole(at("delayed_ack"), u64::from(tcp.delayed_ack), &limits::DELAYED_ACK)?;
    if let Some(segments) = tcp.receive_window {
        whole(at("receive_window"), u64::from(segments), &limits::RECEIVE_WINDOW)?;
    }
    // RFC 5681: never below two segments.
    if tcp.initial_ssthresh.is_some_and(|segments| !(2.0..=1e9).contains(&segments)) {
        return refuse(at("initial_ssthresh"), "must lie between 2 and 10^9 segments");
    }
    Ok(())
}

fn recorded(scenario: &Scenario) -> Checked {
    if let Some(every) = scenario.record.every {
        if every == Span::ZERO {
            return refuse("record.every", "must be above 0, or \"none\"");
        }
        let samples = scenario.duration.0 / every.0;
        if samples > limits::SAMPLES_MAX {
            return refuse(
                "record.every",
                format!("would give {samples} samples a run; at most {}", limits::SAMPLES_MAX),
            );
        }
    }
    let mut seen = BTreeSet::new();
    for (i, &(group, flow)) in scenario.record.trace.iter().enumerate() {
        let place = format!("record.trace[{i}]");
        match scenario.groups.get(group) {
            Some(group) if flow < group.count => {}
            _ => return refuse(place, "there is no such flow"),
        }
        if !seen.insert((group, flow)) {
            return refuse(place, "is listed twice");
        }
    }
    record::check_packets(scenario)
}

//! What must hold of every scenario, wherever it comes from: a file or a canonical form.

use crate::error::breaks_line;
use crate::reader::not_whole;
use crate::{Group, Link, Loss, Rtt, Scenario, ScenarioError, limits};
use base::text::{format_rate, format_span};
use base::{Bytes, ParamError, Rate, Span, Stream};
use law::CongestionControl;
use queue::{Limit, Port};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use traffic::Size;

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
    names("links", scenario.links.iter().map(|link| link.name.as_str()))?;
    for (i, item) in scenario.links.iter().enumerate() {
        link(&format!("links[{i}]"), item, &scenario.port(i), largest_packet(scenario, i))?;
    }
    names("flows", scenario.groups.iter().map(|group| group.name.as_str()))?;
    for (i, item) in scenario.groups.iter().enumerate() {
        group(&format!("flows[{i}]"), item, scenario)?;
    }
    record(scenario)
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
        Size::Constant => group.packet,
        Size::Exponential => Bytes(*limits::PACKET.end()),
    };
    scenario.groups_on(link).map(largest).max().unwrap_or(Bytes(u64::from(crate::HEADER)))
}

fn link(place: &str, link: &Link, port: &Port, packet: Bytes) -> Checked {
    rate(format!("{place}.rate"), link.rate)?;
    span(format!("{place}.delay"), link.delay, &limits::DELAY)?;
    let waiting = match link.buffer {
        Limit::Packets(n) => u128::from(n) * u128::from(packet.0),
        Limit::Bytes(n) => u128::from(n.0),
        Limit::Unlimited => 0,
    };
    drains(format!("{place}.buffer"), waiting, link.rate)?;
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
    rtt(at("rtt"), &group.rtt, group.propagation(scenario))?;
    if let Some(access) = group.access.rate {
        rate(at("access.rate"), access)?;
        let waiting = u128::from(group.access.buffer.unwrap_or(0)) * u128::from(group.packet.0);
        drains(at("access.buffer"), waiting, access)?;
    } else if group.access.buffer.is_some() {
        return refuse(at("access.buffer"), "needs access.rate: nothing waits for an infinite rate");
    }
    group.slow_start.build().map_err(parameter(at("control.slow_start")))?;
    let control = group.law.build(&group.slow_start, 2.0, f64::INFINITY).map_err(parameter(at("control")))?;
    if control.needs().deliveries && !group.recovery.selective() {
        let law = group.law.card().name;
        return refuse(at("recovery"), format!("{law} needs selective acknowledgements; use sack, prr or rack"));
    }
    let (from, to) = group.start;
    if from > to {
        return refuse(at("start"), "from must not be later than to");
    }
    if from >= scenario.duration {
        return refuse(at("start"), format!("must come before the end at {}", format_span(scenario.duration)));
    }
    span(at("start"), to, &limits::INSTANT)?;
    if group.stop.is_some_and(|stop| stop <= to) {
        return refuse(at("stop"), format!("must come after the start at {}", format_span(to)));
    }
    span(at("stop"), group.stop.unwrap_or(Span::ZERO), &limits::INSTANT)?;
    traffic(place, group)?;
    tcp(place, group)
}

fn path(place: &str, group: &Group, scenario: &Scenario) -> Checked {
    if group.path.is_empty() {
        return refuse(format!("{place}.path"), "must name at least one link");
    }
    let mut seen = BTreeSet::new();
    for (key, links) in [("path", &group.path), ("return", &group.back)] {
        for (i, &link) in links.iter().enumerate() {
            let place = format!("{place}.{key}[{i}]");
            let Some(crossed) = scenario.links.get(link) else {
                return refuse(place, format!("there is no link {link}"));
            };
            if !seen.insert(link) {
                let reason = "is on the round trip already; links are directed and crossed once";
                return refuse(place, format!("{:?} {reason}", crossed.name));
            }
        }
    }
    Ok(())
}

fn rtt(place: String, rtt: &Rtt, propagation: Span) -> Checked {
    match rtt {
        Rtt::Spread(from, to) | Rtt::Uniform(from, to) if from > to => {
            return refuse(place, "the first time must not be above the second");
        }
        Rtt::Pareto { shape, .. } if !(*shape > 1.0 && *shape <= 1000.0) => {
            return refuse(format!("{place}.pareto.shape"), "must lie above 1, or there is no mean, and up to 1000");
        }
        Rtt::Pareto { mean, max, .. } if max < mean => {
            return refuse(format!("{place}.pareto.max"), "must not be below the mean");
        }
        Rtt::List(list) if list.is_empty() => return refuse(place, "must not be empty"),
        _ => {}
    }
    span(place.clone(), rtt.min(), &limits::RTT)?;
    span(place.clone(), rtt.max(), &limits::RTT)?;
    if rtt.min() < propagation {
        let [least, needed] = [rtt.min(), propagation].map(format_span);
        let least = match rtt {
            Rtt::Pareto { .. } => format!("its smallest value, {least},"),
            _ => least,
        };
        return refuse(place, format!("{least} is below the {needed} that its links propagate"));
    }
    Ok(())
}

fn traffic(place: &str, group: &Group) -> Checked {
    let chance = || Stream::new(0, 0, ("check", 0), "traffic");
    group.traffic.offer(group.packet, group.mss(), chance).map_err(parameter(format!("{place}.traffic")))?;
    if group.traffic.size() != Size::Constant && group.access.rate.is_some() {
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

fn record(scenario: &Scenario) -> Checked {
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
    Ok(())
}

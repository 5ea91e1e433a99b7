//! Facts that follow from a scenario without running it: sizes in packets and bytes, names of the chosen components.

use base::Span;
use queue::{Limit, MemorySize, Sharing};
use scenario::{Hop, LinkDelay, LinkUse, PoolName, Scenario};
use serde_json::{Value, json};

/// The facts of `scenario`, links and groups in its order.
pub fn describe(scenario: &Scenario) -> Value {
    let links: Vec<Value> = scenario.uses().iter().enumerate().map(|(i, on)| link(scenario, i, on)).collect();
    let groups: Vec<Value> = scenario
        .groups
        .iter()
        .map(|group| {
            let is_tcp = group.traffic.is_tcp();
            json!({
                "name": group.name,
                "law": is_tcp.then(|| group.control.name()),
                "slow_start": (is_tcp && group.control.own.is_none()).then(|| group.control.slow_start.card().name),
                "recovery": is_tcp.then(|| group.recovery.name()),
                "traffic": group.traffic.card().name,
                "sort": group.traffic.sort().name(),
                "offered_bps": group.offered_bps(),
                "flows": group.count,
                "packet_bytes": group.packet.0,
                "access_rate_bps": group.access.rate.as_ref().map(|rate| rate.mean().0),
                "path": tables(&group.path),
                "return": tables(&group.back),
            })
        })
        .collect();
    let pools: Vec<Value> = (0..scenario.pools.len()).map(|i| pool(scenario, i)).collect();
    json!({
        "title": scenario.title,
        "duration_s": scenario.duration.as_secs(),
        "warmup_s": scenario.warmup.as_secs(),
        "replications": scenario.replications,
        "seed": scenario.seed,
        "every_s": scenario.record.every.map(Span::as_secs),
        "pools": pools,
        "links": links,
        "fair": fair(scenario),
        "groups": groups,
    })
}

/// Positions in the list of links, whichever of an array they are.
fn tables(path: &[Hop]) -> Vec<usize> {
    path.iter().map(|hop| hop.link).collect()
}

/// The network as max-min fairness sees it; a cap is `null` where there is none.
fn fair(scenario: &Scenario) -> Value {
    let fair = scenario.fair();
    let caps: Vec<_> = fair.caps.into_iter().map(|cap| cap.is_finite().then_some(cap)).collect();
    json!({ "rates_bps": fair.rates, "paths": fair.paths, "caps_bps": caps })
}

fn pool(scenario: &Scenario, index: usize) -> Value {
    let pool = &scenario.pools[index];
    let (packets, bytes) = match pool.size {
        MemorySize::Packets(n) => (Some(n), None),
        MemorySize::Bytes(n) => (None, Some(n)),
    };
    json!({
        "name": pool.name,
        "size_packets": packets,
        "size_bytes": bytes,
        "sharing": Sharing::ALL.iter().find(|row| row.0 == pool.sharing).map(|row| row.1),
        "alpha": (pool.sharing == Sharing::Dynamic).then_some(pool.alpha),
    })
}

fn link(scenario: &Scenario, index: usize, on: &LinkUse<'_>) -> Value {
    let link = &scenario.links[index];
    let (packets, bytes) = match link.buffer {
        Limit::Packets(n) => (Some(u64::from(n)), None),
        Limit::Bytes(n) => (None, Some(n.0)),
        Limit::Unlimited => (None, None),
    };
    let drawn = if let LinkDelay::Fixed(delay) = link.delay { delay.mean() } else { Span::ZERO };
    let delay = drawn + link.mean_over_time(scenario.duration);
    json!({
        "name": link.name,
        "count": link.count,
        "rate_bps": scenario.mean_rate(index).0,
        "rate_changes": link.rate.changes(),
        "delay_s": delay.as_secs(),
        "delay_varies": link.delay_varies(),
        "held_s": (link.batch.unwrap_or(Span::ZERO) + link.swing(scenario.duration).1).as_secs(),
        "discipline": link.queue.card().name,
        "queue": Value::Object(link.queue.values().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()),
        "tc": on.tc("eth0"),
        "buffer_limit_packets": packets,
        "buffer_limit_bytes": bytes,
        "pool": link.pool.map(|PoolName(pool)| pool),
        "flows": on.flows(),
        "background_flows": on.background(),
        "mean_rtt_s": on.mean_rtt().map(Span::as_secs),
        "min_rtt_s": on.rtt_range().map(|(least, _)| least.as_secs()),
        "max_rtt_s": on.rtt_range().map(|(_, most)| most.as_secs()),
        "packet_bytes": on.mean_packet(),
        "bdp_bytes": on.bdp_bytes(),
        "bdp_packets": on.bdp_packets(),
    })
}

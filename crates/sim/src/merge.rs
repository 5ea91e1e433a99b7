//! Merges the results of arrays of links: one row for each table of the scenario file.
//!
//! Counters, samples of the backlog and the memory held of a pool are sums; histograms count the samples of every link.
//! Utilization is the bits of all links over the capacity of all links. Mean backlog and empty time are means over
//! links. Waiting time and propagation delay are means over packets. The largest backlog is the largest of any single
//! link.

use crate::{LinkOutcome, Outcome};

/// Merges the rows of `outcome`, one per link, into one row per table; `counts` are the numbers of links of the tables.
pub fn by_table(outcome: &mut Outcome, counts: &[u32]) {
    if counts.iter().all(|&count| count == 1) {
        return;
    }
    let mut links = std::mem::take(&mut outcome.links).into_iter();
    let mut table_of = Vec::new();
    for (table, &count) in counts.iter().enumerate() {
        table_of.resize(table_of.len() + count as usize, table as u32);
        let members = links.by_ref().take(count as usize);
        outcome.links.extend(merged(members.collect()));
    }
    for trace in &mut outcome.packets {
        trace.member = trace.link - counts[..table_of[trace.link as usize] as usize].iter().sum::<u32>();
        trace.link = table_of[trace.link as usize];
    }
    for trace in &mut outcome.traces {
        for drop in &mut trace.drops {
            drop.link = table_of[drop.link as usize];
        }
    }
}

/// One row for all `members`; `None` if there are none.
fn merged(members: Vec<LinkOutcome>) -> Option<LinkOutcome> {
    let n = members.len();
    let capacity = members.iter().map(|link| link.capacity_bps).sum::<f64>();
    let begun: u64 = members.iter().map(|link| link.begun).sum();
    let mut members = members.into_iter();
    let first = members.next()?;
    if n == 1 {
        return Some(first);
    }
    let weighed = |link: &LinkOutcome| {
        let [waited, travelled] = [link.queueing_delay_s, link.propagation_s].map(|each| each * link.begun as f64);
        (link.utilization * link.capacity_bps, waited, travelled)
    };
    let (mut used, mut waited, mut travelled) = weighed(&first);
    let mut sum = LinkOutcome { gauges: Vec::new(), ..first };
    for link in members {
        let (uses, waits, travels) = weighed(&link);
        used += uses;
        waited += waits;
        travelled += travels;
        sum.propagation_min_s = sum.propagation_min_s.min(link.propagation_min_s);
        sum.propagation_max_s = sum.propagation_max_s.max(link.propagation_max_s);
        sum.arrived += link.arrived;
        for (mine, its) in sum.dropped.iter_mut().zip(link.dropped) {
            *mine += its;
        }
        for (mine, its) in sum.marked.iter_mut().zip(link.marked) {
            *mine += its;
        }
        sum.backlog_mean += link.backlog_mean;
        sum.empty_fraction += link.empty_fraction;
        sum.backlog_max = sum.backlog_max.max(link.backlog_max);
        for (mine, its) in sum.backlog_samples.iter_mut().zip(link.backlog_samples) {
            *mine = mine.saturating_add(its);
        }
        for (mine, its) in sum.begun_bytes_samples.iter_mut().zip(link.begun_bytes_samples) {
            *mine += its;
        }
        if let (Some(mine), Some(its)) = (&mut sum.pool, link.pool) {
            mine.held_mean += its.held_mean;
            mine.held_max = mine.held_max.max(its.held_max);
            mine.dropped += its.dropped;
        }
        sum.loss_events += link.loss_events;
        sum.flows_hit += link.flows_hit;
        sum.backlog_histogram.add(&link.backlog_histogram);
        sum.drain_histogram.add(&link.drain_histogram);
        sum.delay_histogram.add(&link.delay_histogram);
        let groups = sum.group_delay_histograms.len().max(link.group_delay_histograms.len());
        sum.group_delay_histograms.resize_with(groups, Default::default);
        for (mine, its) in sum.group_delay_histograms.iter_mut().zip(&link.group_delay_histograms) {
            mine.add(its);
        }
    }
    Some(LinkOutcome {
        begun,
        capacity_bps: capacity / n as f64,
        utilization: if capacity > 0.0 { used / capacity } else { 0.0 },
        backlog_mean: sum.backlog_mean / n as f64,
        empty_fraction: sum.empty_fraction / n as f64,
        queueing_delay_s: if begun == 0 { 0.0 } else { waited / begun as f64 },
        propagation_s: if begun == 0 { sum.propagation_s } else { travelled / begun as f64 },
        ..sum
    })
}

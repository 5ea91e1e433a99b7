//! Counting for both engines: totals at the end of the warm-up and at the end, and results computed from their difference.

use crate::DelayOutcome;
use crate::handover::{Handover, Propagation};
use crate::identity::Identity;
use crate::marks::Marks;
use crate::plan::{LinkPlan, TcpPlan};
use crate::probe::Probe;
use crate::{ByCause, FlowOutcome, FlowSeries, LinkOutcome, PacketTrace};
use base::{RunMonitor, Time};
use law::CongestionControl;
use transport::{Counters, Sender, Spurious};

/// Counts of a link before an instant. A service that begins exactly at the instant does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    pub arrived: u64,
    pub dropped: ByCause,
    pub marked: ByCause,
    /// Packets whose service has begun.
    pub begun: u64,
    /// Bytes of these packets.
    pub begun_bytes: u64,
    /// Integral of packets waiting over time, in packet-picoseconds.
    pub waiting: u128,
    /// Time with a packet waiting, in picoseconds.
    pub nonempty: u64,
}

/// The totals of a link at the start and end of the measured period.
#[derive(Clone, Copy, Debug)]
pub struct LinkSpan<'a> {
    pub from: &'a LinkTotals,
    pub to: &'a LinkTotals,
}

/// Capacity of a link in the measured period, in bit/s, and the propagation delays of its packets.
#[derive(Clone, Copy, Debug)]
pub struct LinkFacts {
    capacity_bps: f64,
    propagation: Propagation,
}

impl LinkFacts {
    /// Capacity and delay of a link before it serves packets.
    pub fn of<Q>(link: &LinkPlan<Q>, marks: &Marks, monitor: &RunMonitor) -> Self {
        Self { capacity_bps: link.capacity_bps(marks, monitor), propagation: Propagation::same(link.mean_delay) }
    }

    /// Replaces the propagation delays by the measured ones, if the link's delay varies.
    pub fn seen(self, handover: &Handover) -> Self {
        Self { propagation: handover.propagation().unwrap_or(self.propagation), ..self }
    }
}

/// Results of link number `index` in the measured period, and the packets recorded there.
pub fn link_outcome(
    index: usize,
    LinkSpan { from, to }: LinkSpan<'_>,
    LinkFacts { capacity_bps, propagation }: LinkFacts,
    marks: &Marks,
    backlog_max: u32,
    probe: Probe,
) -> (LinkOutcome, Option<PacketTrace>) {
    let Probe { samples, losses, tracer, .. } = probe;
    let series = samples.series.unwrap_or_default();
    let (packets, delays) = tracer.map_or_else(Default::default, |tracer| tracer.finish(index as u32));
    let span = marks.end - marks.warmup;
    let begun = to.begun - from.begun;
    let bits = (to.begun_bytes - from.begun_bytes) as f64 * 8.0;
    let waiting = (to.waiting - from.waiting) as f64;
    let difference = |a: &ByCause, b: &ByCause| std::array::from_fn(|i| a[i] - b[i]);
    let outcome = LinkOutcome {
        arrived: to.arrived - from.arrived,
        begun,
        dropped: difference(&to.dropped, &from.dropped),
        marked: difference(&to.marked, &from.marked),
        capacity_bps,
        rate_changes: false,
        propagation_s: propagation.mean,
        propagation_min_s: propagation.least,
        propagation_max_s: propagation.most,
        delay_varies: false,
        // A link without capacity has utilization 0. The packet in service at the end counts as a whole, so a link that was
        // never idle would exceed 1 by a packet.
        utilization: if capacity_bps > 0.0 { (bits / (capacity_bps * span.as_secs())).min(1.0) } else { 0.0 },
        backlog_mean: waiting / span.0 as f64,
        backlog_max,
        // Mean wait of the served packets, by Little's law.
        queueing_delay_s: if begun == 0 { 0.0 } else { waiting / begun as f64 / 1e12 },
        empty_fraction: 1.0 - (to.nonempty - from.nonempty) as f64 / span.0 as f64,
        loss_events: losses.events,
        flows_hit: losses.hit,
        backlog_samples: series.backlog,
        begun_bytes_samples: series.begun_bytes,
        backlog_histogram: samples.backlog,
        drain_histogram: samples.drain,
        delay_histogram: delays.all,
        group_delay_histograms: delays.by_group,
        gauges: samples.gauges,
        pool: None,
    };
    (outcome, packets)
}

/// Counts of one flow.
#[derive(Clone, Debug, Default)]
pub struct FlowMeter {
    /// Records at the end of the warm-up and at samples. Boxed, so that a million flows without such records do not use
    /// this memory.
    noted: Option<Box<Noted>>,
    finished: Finished,
}

/// Records of a flow at the end of the warm-up and at the samples.
#[derive(Clone, Debug, Default)]
struct Noted {
    at_warmup: Counters,
    /// Counts of spurious retransmissions; boxed, because few senders have any.
    spurious_at_warmup: Option<Box<Spurious>>,
    next_at_warmup: u64,
    cwnd_sum: f64,
    cwnd_count: u64,
    srtt_sum: f64,
    srtt_count: u64,
    /// Values at every sample, if asked for.
    series: Option<Box<FlowSeries>>,
}

/// Time at which the receiver had all of a finite transfer; `NEVER` before that (an `Option` would take twice the
/// memory).
#[derive(Clone, Copy, Debug)]
struct Finished(Time);

impl Default for Finished {
    fn default() -> Self {
        Self(Time::NEVER)
    }
}

/// The counts of a sender at the end of the run.
#[derive(Debug, Default)]
pub struct Tally {
    pub meter: FlowMeter,
    /// Wire bytes delivered since the end of the warm-up, if packet sizes differ.
    pub bytes: Option<u64>,
    pub counters: Counters,
    /// Spurious retransmissions, if the receiver reports them.
    pub spurious: Option<Spurious>,
    /// Segments delivered in order; for datagrams, all that were delivered.
    pub delivered: u64,
    /// Data packets dropped since the end of the warm-up.
    pub dropped: u64,
    /// Delays of datagrams, if they are measured.
    pub delays: Option<Box<DelayOutcome>>,
}

impl Tally {
    /// Adds the counts of another sender of the same session.
    pub fn add(&mut self, other: &Self) {
        if let Some(its) = other.meter.noted.as_deref() {
            self.meter.noted.get_or_insert_default().add(its);
        }
        // A session goes on after the end of a transfer.
        self.meter.finished = Finished::default();
        self.counters = sum(self.counters, other.counters);
        self.spurious = sum_spurious(self.spurious, other.spurious);
        self.delivered += other.delivered;
        self.dropped += other.dropped;
    }
}

impl Noted {
    /// Adds the records of another sender of the same session.
    fn add(&mut self, its: &Self) {
        let mine = self;
        mine.at_warmup = sum(mine.at_warmup, its.at_warmup);
        let spurious = |noted: &Self| noted.spurious_at_warmup.as_deref().copied();
        mine.spurious_at_warmup = sum_spurious(spurious(mine), spurious(its)).map(Box::new);
        mine.next_at_warmup += its.next_at_warmup;
        mine.cwnd_sum += its.cwnd_sum;
        mine.cwnd_count += its.cwnd_count;
        mine.srtt_sum += its.srtt_sum;
        mine.srtt_count += its.srtt_count;
        // The windows of several senders do not form one time series.
        mine.series = None;
    }
}

/// Whether the flow has started and is not complete: only then its window is sampled.
fn has_window<C: CongestionControl>(sender: &Sender<C>) -> bool {
    sender.counters().sent > 0 && !sender.seq().is_done()
}

fn sum(a: Counters, b: Counters) -> Counters {
    Counters {
        sent: a.sent + b.sent,
        retransmitted: a.retransmitted + b.retransmitted,
        timeouts: a.timeouts + b.timeouts,
        loss_events: a.loss_events + b.loss_events,
    }
}

fn sum_spurious(a: Option<Spurious>, b: Option<Spurious>) -> Option<Spurious> {
    let (Some(x), Some(y)) = (a, b) else { return a.or(b) };
    Some(Spurious {
        duplicates: x.duplicates + y.duplicates,
        timeouts: x.timeouts + y.timeouts,
        recoveries: x.recoveries + y.recoveries,
    })
}

impl FlowMeter {
    pub fn new(series: bool) -> Self {
        let noted = || Box::new(Noted { series: Some(Box::default()), ..Noted::default() });
        Self { noted: series.then(noted), ..Self::default() }
    }

    /// Whether a sample of the sender in its present state may add anything.
    pub fn is_sampled<C: CongestionControl>(&self, sender: &Sender<C>) -> bool {
        has_window(sender) || self.noted.as_deref().is_some_and(|noted| noted.series.is_some())
    }

    /// Samples the sender, before any other event at `at`.
    pub fn sample<C: CongestionControl>(&mut self, at: Time, marks: &Marks, sender: &Sender<C>) {
        let (cwnd, srtt) = (sender.control().cwnd(), sender.rtt().srtt().as_secs());
        if at >= marks.warmup && has_window(sender) {
            let noted = self.noted.get_or_insert_default();
            noted.cwnd_sum += cwnd;
            noted.cwnd_count += 1;
            if srtt > 0.0 {
                noted.srtt_sum += srtt;
                noted.srtt_count += 1;
            }
        }
        if let Some(series) = self.noted.as_mut().and_then(|noted| noted.series.as_mut()) {
            series.cwnd.push(cwnd as f32);
            series.srtt.push(srtt as f32);
            series.rttvar.push(sender.rtt().deviation().as_secs() as f32);
            series.min_rtt.push(sender.rtt().min().as_secs() as f32);
            series.delivered.push(sender.delivered());
            series.retrans.push(u32::try_from(sender.counters().retransmitted).unwrap_or(u32::MAX));
            let rate = |rate: Option<f64>| rate.map_or(0.0, |rate| rate as f32);
            series.delivery_rate.push(rate(sender.info().delivery_rate()));
            series.pacing_rate.push(rate(sender.info().pacing_rate()));
            series.limit.push(sender.info().limit());
        }
    }

    /// Records the sender's counters at the end of the warm-up.
    pub fn sender_warm(&mut self, counters: Counters, spurious: Option<Spurious>) {
        if counters != Counters::default() {
            let noted = self.noted.get_or_insert_default();
            noted.at_warmup = counters;
            noted.spurious_at_warmup = spurious.filter(|&counts| counts != Spurious::default()).map(Box::new);
        }
    }

    /// Records the receiver's count at the end of the warm-up.
    pub fn receiver_warm(&mut self, delivered: u64) {
        if delivered > 0 {
            self.noted.get_or_insert_default().next_at_warmup = delivered;
        }
    }

    /// Notes that a segment was delivered at `at`; records the end of a finite transfer.
    #[inline]
    pub fn delivered<C>(&mut self, at: Time, plan: &TcpPlan<C>) {
        if plan.receiver.is_complete() && self.finished.0 == Time::NEVER && plan.writes().is_none() {
            self.finish(at);
        }
    }

    /// Notes that the receiver has all of the transfer.
    #[inline]
    pub fn finish(&mut self, at: Time) {
        self.finished = Finished(at);
    }

    /// Time at which the receiver had all of the transfer.
    pub fn finished(&self) -> Option<Time> {
        (self.finished.0 != Time::NEVER).then_some(self.finished.0)
    }

    /// Begins another transfer.
    pub fn begin_transfer(&mut self) {
        self.finished = Finished::default();
    }
}

impl Tally {
    /// Results of flow `who`, whose data packets have `packet` bytes on the wire.
    pub fn outcome(self, who: &Identity, packet: u32, marks: &Marks) -> FlowOutcome {
        let Self { meter, bytes, counters, spurious, delivered, dropped, delays } = self;
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        let span = (marks.end - marks.warmup).as_secs();
        let finished = meter.finished();
        let noted = meter.noted.map(|noted| *noted).unwrap_or_default();
        let before = noted.at_warmup;
        let spurious_before = noted.spurious_at_warmup.as_deref().copied().unwrap_or_default();
        let alike = (delivered - noted.next_at_warmup) as f64 * f64::from(packet);
        FlowOutcome {
            group: who.group,
            index: who.index,
            base_rtt: who.base_rtt,
            start: who.start,
            goodput_bps: bytes.map_or(alike, |bytes| bytes as f64) * 8.0 / span,
            sent: counters.sent - before.sent,
            retransmitted: counters.retransmitted - before.retransmitted,
            dropped,
            timeouts: (counters.timeouts - before.timeouts).into(),
            loss_events: (counters.loss_events - before.loss_events).into(),
            spurious: spurious.map(|counts| {
                Box::new(Spurious {
                    duplicates: counts.duplicates - spurious_before.duplicates,
                    timeouts: counts.timeouts - spurious_before.timeouts,
                    recoveries: counts.recoveries - spurious_before.recoveries,
                })
            }),
            cwnd_mean: mean(noted.cwnd_sum, noted.cwnd_count),
            srtt_mean_s: mean(noted.srtt_sum, noted.srtt_count),
            delays,
            series: noted.series,
            finished,
        }
    }
}

//! Results of a run: exact counters, means, samples and traces. These are plain numbers; Python writes the files.

use crate::DelayOutcome;
use crate::histogram::Histogram;
use base::{Cause, Flags, PacketNumber, Span, Time};
use law::CongestionControl;
use transport::{Ack, EventLog, SendLimit, Sender, Spurious};

/// Engine that runs the scenario. Both engines produce the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The fast engine, with conservative windows.
    Window,
    /// The simple engine, with one heap event per hop; the window engine is checked against it.
    Reference,
}

/// Options of a run that do not belong to the scenario.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Engine.
    pub engine: Engine,
    /// Whether to keep the sampled series in addition to their means.
    pub series: bool,
    /// Whether to compute the rolling hashes over every arrival and every ACK (slower).
    pub hash: bool,
    /// The number of the first segment, datagram and ACK of every flow. Results do not depend on it and count from 0.
    /// Tests set it near 2^32, because a short run that begins at 0 never reaches the wrap of 32-bit numbers.
    pub first_number: u64,
    /// For tests: the number of chunks into which the flows of a window are split for threads, however few flows there are;
    /// 0 chooses it automatically. Results do not depend on it.
    pub chunks: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { engine: Engine::Window, series: false, hash: false, first_number: 0, chunks: 0 }
    }
}

/// Reason why a network could not be built from a valid scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Flow numbers have 24 bits.
    #[error("flows: {0} flows are more than the 16777215 one run can hold")]
    TooManyFlows(u64),
    /// The system refuses to allocate the memory.
    #[error(
        "flows: {senders} connections and sources need {:.1} GB at the least, and the system refuses so much memory; fewer \
         flows or more memory",
        *bytes as f64 / 1e9
    )]
    OutOfMemory {
        /// Size of the allocation that the system refused, in bytes.
        bytes: usize,
        /// Number of senders: flows, and places of sessions.
        senders: u64,
    },
    /// The caller's control measures deliveries ([`law::Needs::deliveries`]), but the group's recovery does not.
    #[error("flows[{group}].recovery: this control needs selective acknowledgements; use sack, prr or rack")]
    NeedsSelective {
        /// Index of the group in the scenario.
        group: usize,
    },
    /// The control of a flow is a user's program, and it failed.
    #[error("flows[{group}].control: {reason}")]
    Fault {
        /// Index of the group in the scenario.
        group: usize,
        /// Program, position in it, and fault.
        reason: String,
    },
    /// The law of a group is neither built in nor declared.
    #[error(
        "flows[{group}].control: {law:?} is no law of elephan's and not declared here; in Python laws={{{law:?}: ...}}, else --law {law}=FILE.py:CLASS or --law {law}=FILE.so"
    )]
    NotHere {
        /// Index of the group in the scenario.
        group: usize,
        /// The law's name.
        law: String,
    },
    /// The caller's own discipline cannot share memory.
    #[error("links[{link}].pool: links with a queue of one's own share no memory; leave the pool out")]
    OwnQueueInPool {
        /// Index of the link in the scenario.
        link: usize,
    },
}

/// Results of one replication. Counts are of events in [warmup, duration) unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Fault of a flow's control, with the index of its group. The caller then gets this error instead of an outcome.
    pub(crate) fault: Option<(u32, String)>,
    /// Per link, or array of links, in the scenario's order.
    pub links: Vec<LinkOutcome>,
    /// Per pool, in the scenario's order.
    pub pools: Vec<PoolOutcome>,
    /// Per flow, ordered by group as in the scenario.
    pub flows: Vec<FlowOutcome>,
    /// Per group: results of its transfers; `None` for transfers without an end and for datagrams.
    pub transfers: Vec<Option<TransferOutcome>>,
    /// Times of the samples.
    pub sampled_at: Vec<Time>,
    /// Data packets over the whole run, for the balance sent = delivered + dropped + in flight.
    pub balance: Balance,
    /// Flows recorded ACK by ACK.
    pub traces: Vec<Trace>,
    /// Links at which packets were recorded one by one.
    pub packets: Vec<PacketTrace>,
    /// Rolling hash over every arrival at every link and every ACK at every sender; zero unless asked for.
    pub hash: u64,
}

/// Totals of data packets over the whole run, by where the packets ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Balance {
    /// Packets put on the sender's own link, retransmissions included.
    pub sent: u64,
    /// Packets that reached the receiver.
    pub delivered: u64,
    /// Packets dropped by a queue, by injected loss or by the sender's own full queue.
    pub dropped: u64,
    /// Packets in flight at the end of the run.
    pub in_flight: u64,
}

/// Counters by cause, indexed by [`cause_index`].
pub type ByCause = [u64; 5];

/// Position of a cause in [`ByCause`]: overflow, early, forced, sojourn, injected. A full pool is an overflow.
#[must_use]
pub fn cause_index(cause: Cause) -> usize {
    match cause {
        Cause::Overflow | Cause::Pool => 0,
        Cause::Early => 1,
        Cause::Forced => 2,
        Cause::Sojourn => 3,
        Cause::Injected => 4,
    }
}

/// Occupancy of a shared buffer pool, in the unit of its size (packets or bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PoolOutcome {
    /// Time average of the memory in use by all its links.
    pub used_mean: f64,
    /// The largest memory in use at once.
    pub used_max: u64,
}

/// Part of a pool that a link held, in the unit of the pool's size; for an array, that of its links together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PoolShare {
    /// Time average of the memory that the link held.
    pub held_mean: f64,
    /// The largest memory that the link held at once; for an array, the largest of any of its links.
    pub held_max: u64,
    /// Packets dropped because the pool had no room, although the link's own buffer had; they are also counted as
    /// overflows.
    pub dropped: u64,
}

/// Counts and measurements of a link, or of the links of an array together.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LinkOutcome {
    /// Packets that arrived, ACKs included.
    pub arrived: u64,
    /// Packets whose service began.
    pub begun: u64,
    /// Packets dropped, by cause.
    pub dropped: ByCause,
    /// Packets marked, by cause.
    pub marked: ByCause,
    /// Capacity in bit/s: the link's rate, or the mean of its schedule; for an array the mean over its links.
    pub capacity_bps: f64,
    /// Whether a schedule sets the rate.
    pub rate_changes: bool,
    /// Mean propagation delay in seconds; for an array, over the packets of all links.
    pub propagation_s: f64,
    /// The shortest propagation delay, in seconds.
    pub propagation_min_s: f64,
    /// The longest propagation delay, in seconds.
    pub propagation_max_s: f64,
    /// Whether the propagation delay varies, by steps or by jitter.
    pub delay_varies: bool,
    /// Bits that began service, over capacity.
    pub utilization: f64,
    /// Time average of packets waiting.
    pub backlog_mean: f64,
    /// Most packets waiting at once.
    pub backlog_max: u32,
    /// Mean waiting time of accepted packets, own service excluded, in seconds.
    pub queueing_delay_s: f64,
    /// Share of time with no packet waiting.
    pub empty_fraction: f64,
    /// Loss events. Consecutive drops of data packets less than one mean base RTT apart belong to the same event.
    pub loss_events: u64,
    /// Flows hit by loss events, summed over the events.
    pub flows_hit: u64,
    /// Packets waiting at the samples of the whole run; empty unless the series were asked for.
    pub backlog_samples: Vec<u32>,
    /// Bytes that began service before each sample, since the start; empty unless the series were asked for.
    pub begun_bytes_samples: Vec<u64>,
    /// Number of samples in the measured period, by packets waiting.
    pub backlog_histogram: Histogram,
    /// Number of samples in the measured period, by the time that a first-in first-out link would need for the backlog, in
    /// picoseconds.
    pub drain_histogram: Histogram,
    /// Number of packets whose service began in the measured period, by waiting time in picoseconds; empty unless asked
    /// for.
    pub delay_histogram: Histogram,
    /// Number of data packets of each group by waiting time in picoseconds, up to the last group with any; empty unless
    /// asked for.
    pub group_delay_histograms: Vec<Histogram>,
    /// The discipline's own numbers at the samples; empty unless the series were asked for.
    pub gauges: Vec<Gauge>,
    /// Share of its pool, if the link draws on one.
    pub pool: Option<PoolShare>,
}

/// Counts and measurements of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowOutcome {
    /// Index of its group.
    pub group: u32,
    /// Index within the group.
    pub index: u32,
    /// Its base round-trip time.
    pub base_rtt: Span,
    /// Start time.
    pub start: Time,
    /// Wire bits delivered in order, per second; for datagrams, all wire bits delivered.
    pub goodput_bps: f64,
    /// Data packets put on the sender's own link.
    pub sent: u64,
    /// Number of those packets that were retransmissions.
    pub retransmitted: u64,
    /// Data packets dropped anywhere.
    pub dropped: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions, timeouts included.
    pub loss_events: u64,
    /// Segments reported as duplicates, and window reductions undone; `None` if receivers do not report duplicates.
    pub spurious: Option<Box<Spurious>>,
    /// Mean of the sampled congestion windows, in segments; `None` without samples of a running flow.
    pub cwnd_mean: Option<f64>,
    /// Mean of the sampled smoothed round-trip times, in seconds; samples before the first measurement are left out;
    /// `None` without samples.
    pub srtt_mean_s: Option<f64>,
    /// Time at which the receiver had all of a finite transfer; `None` for bulk transfers and unfinished ones.
    pub finished: Option<Time>,
    /// Delays of datagrams sent at equal gaps; `None` for other flows.
    pub delays: Option<Box<DelayOutcome>>,
    /// Time series with a value for every sample; `None` unless asked for, and for datagrams.
    pub series: Option<Box<FlowSeries>>,
}

impl FlowOutcome {
    /// Congestion window at the samples of the whole run, in segments; empty unless asked for, and for datagrams.
    #[must_use]
    pub fn cwnd_samples(&self) -> &[f32] {
        self.series.as_deref().map_or(&[], |series| &series.cwnd)
    }

    /// Smoothed round-trip time at the samples, in seconds; empty unless asked for. For datagrams with measured delays, the
    /// delay of the one that arrived last.
    #[must_use]
    pub fn srtt_samples(&self) -> &[f32] {
        let datagrams = || self.delays.as_deref().map_or(&[][..], DelayOutcome::samples);
        self.series.as_deref().map_or_else(datagrams, |series| &series.srtt)
    }
}

/// Values of a flow at every sample of the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowSeries {
    /// Congestion window, in segments.
    pub cwnd: Vec<f32>,
    /// Smoothed round-trip time, in seconds.
    pub srtt: Vec<f32>,
    /// Mean deviation of the round-trip time, in seconds: `rttvar` of `ss` and iperf3.
    pub rttvar: Vec<f32>,
    /// Smallest round-trip time of data so far, in seconds; zero before the first.
    pub min_rtt: Vec<f32>,
    /// Segments known to have reached the receiver since the start: `delivered` of `ss`.
    pub delivered: Vec<u64>,
    /// Retransmissions since the start: `retrans` of `ss`.
    pub retrans: Vec<u32>,
    /// Delivery rate in payload bit/s: `delivery_rate` of `ss`; zero before the first rate sample, and for a control
    /// without rate samples.
    pub delivery_rate: Vec<f32>,
    /// Pacing rate in payload bit/s: `pacing_rate` of `ss`; zero before the first round-trip sample, and for a sender that
    /// neither paces segments nor sends bursts.
    pub pacing_rate: Vec<f32>,
    /// Limit of the sender; `None` before its first segment and when its transfer is complete.
    pub limit: Vec<Option<SendLimit>>,
}

impl FlowSeries {
    /// Converts rates in segments per second into rates in bit/s, for segments of `mss` bytes.
    pub(crate) fn scale_rates(&mut self, mss: u32) {
        for rate in self.delivery_rate.iter_mut().chain(&mut self.pacing_rate) {
            *rate *= 8.0 * mss as f32;
        }
    }
}

/// Results of a group's transfers; each lasts from the opening of its connection until its receiver has everything. Only
/// transfers opened at or after the end of the warm-up count.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TransferOutcome {
    /// Transfers opened.
    pub opened: u64,
    /// Transfers completed before the end of the run.
    pub completed: u64,
    /// Transfers refused because all places were taken.
    pub refused: u64,
    /// Segments of the completed transfers.
    pub segments: u64,
    /// Sum of the durations of completed transfers, in picoseconds.
    pub duration_sum: u128,
    /// Durations of completed transfers, in picoseconds.
    pub durations: Histogram,
    /// Slowdowns of completed transfers: duration over the shortest possible duration, in 1024ths.
    pub slowdowns: Histogram,
    /// Sum of the slowdowns, in 1024ths.
    pub slowdown_sum: u64,
    /// Pages completed before the end of the run.
    pub pages: u64,
    /// Sum of the durations of pages, in picoseconds.
    pub page_sum: u128,
    /// Durations of pages, in picoseconds.
    pub page_durations: Histogram,
    /// Time average of the number of transfers open at their senders in the measured period.
    pub open_mean: f64,
    /// Number of samples in the measured period at which 0, 1, 2 … transfers were open.
    pub open_histogram: Vec<u64>,
    /// Number of open transfers at the samples of the whole run; empty unless the series were asked for.
    pub open_samples: Vec<u32>,
    /// Each complete transfer, in the order of opening; empty unless the series were asked for.
    pub rows: Vec<TransferRow>,
    /// Each complete page, in the order of opening; empty unless the series were asked for.
    pub page_rows: Vec<PageRow>,
}

/// A complete transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TransferRow {
    /// Time at which its connection opened, at the sender.
    pub opened: Time,
    /// Time at which the receiver had everything.
    pub done: Time,
    /// Group.
    pub group: u32,
    /// Flow within the group.
    pub flow: u32,
    /// Size.
    pub segments: u64,
    /// The shortest possible duration.
    pub ideal: Span,
}

/// A complete page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct PageRow {
    /// Time at which its first object opened.
    pub opened: Time,
    /// Time at which the receiver had the last object.
    pub done: Time,
    /// Group.
    pub group: u32,
    /// Flow within the group.
    pub flow: u32,
}

/// One data packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketRow {
    /// Arrival time.
    pub time: Time,
    /// Its flow: position in [`Outcome::flows`].
    pub flow: u32,
    /// Its number, counted from 0.
    pub seq: u64,
    /// Number of packets waiting at its arrival.
    pub backlog: u32,
    /// Time at which its service began or it was dropped; [`Time::NEVER`] if it still waited at the end of the run.
    pub left: Time,
    /// Whether it was dropped.
    pub dropped: bool,
    /// Whether this link marked it.
    pub marked: bool,
    /// Its flags on arrival.
    pub flags: Flags,
}

/// The packets recorded at one link, in the order of their arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketTrace {
    /// Position in [`Outcome::links`].
    pub link: u32,
    /// Number of the link within its array.
    pub member: u32,
    /// Its packets.
    pub rows: Vec<PacketRow>,
}

/// One row of a trace: the sender after an ACK or a timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TraceRow {
    /// Time of the row.
    pub time: Time,
    /// Congestion window, in segments.
    pub cwnd: f64,
    /// Slow-start threshold, in segments; infinite for none.
    pub ssthresh: f64,
    /// First unacknowledged segment.
    pub una: u64,
    /// Segments in the network as the sender sees it.
    pub in_flight: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Whether this row is a timeout.
    pub timeout: bool,
    /// Whether the ACK echoed a mark (ECE).
    pub ece: bool,
    /// Whether the ACK's first SACK block reports a duplicate (RFC 2883).
    pub dsack: bool,
}

/// SACK block of an ACK in a trace: segments `[start, end)`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceSack {
    /// Position of the ACK in [`Trace::rows`].
    pub row: u64,
    /// First segment.
    pub start: u64,
    /// One past the last segment.
    pub end: u64,
}

/// A segment of a traced flow that was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceRetransmission {
    /// Time at which the sender sent it.
    pub time: Time,
    /// Its number, counted from 0.
    pub seq: u64,
}

/// A value that a law or a discipline reports, for each row of a trace or each sample; NaN where it reported none.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gauge {
    /// The name that the law or discipline gives it.
    pub name: &'static str,
    /// One value for each row or sample.
    pub values: Vec<f64>,
}

impl PartialEq for Gauge {
    fn eq(&self, other: &Self) -> bool {
        let bits = |gauge: &Self| gauge.values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        self.name == other.name && bits(self) == bits(other)
    }
}

impl Gauge {
    /// Adds to `gauges` the values that `show` reports at row number `rows`, counted from 1.
    pub(crate) fn put_row(gauges: &mut Vec<Self>, rows: usize, show: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        show(&mut |name, value| {
            let known = gauges.iter().position(|gauge| gauge.name == name);
            let at = known.unwrap_or_else(|| {
                gauges.push(Self { name, values: Vec::new() });
                gauges.len() - 1
            });
            let values = &mut gauges[at].values;
            values.resize(rows - 1, f64::NAN);
            values.push(value);
        });
    }
}

/// A data packet of a recorded flow that was dropped. Ordered by time, link and sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TraceDrop {
    /// Time of the drop.
    pub time: Time,
    /// Link, as a position in [`Outcome::links`].
    pub link: u32,
    /// Its number, counted from 0.
    pub seq: u64,
}

/// A flow recorded event by event over the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// Flow number: position in [`Outcome::flows`].
    pub flow: u32,
    /// Rows recorded after every ACK and timeout.
    pub rows: Vec<TraceRow>,
    /// The law's own numbers.
    pub gauges: Vec<Gauge>,
    /// Data packets dropped.
    pub drops: Vec<TraceDrop>,
    /// Segments sent again.
    pub retransmissions: Vec<TraceRetransmission>,
    /// SACK blocks of the ACKs, in the order of the ACKs and within each.
    pub sacks: Vec<TraceSack>,
    /// Events: losses, states of recovery, timers and undone window reductions.
    pub log: EventLog,
}

impl Trace {
    /// Notes a retransmission of segment `seq`.
    #[cold]
    pub(crate) fn retransmit(&mut self, time: Time, seq: u64) {
        self.retransmissions.push(TraceRetransmission { time, seq });
    }

    /// Records a row with the present state of the sender, after `ack` or after a timeout.
    pub(crate) fn record(&mut self, now: Time, sender: &Sender<impl CongestionControl>, ack: Option<&Ack>) {
        let row = self.rows.len() as u64;
        let blocks = ack.map_or(&[][..], Ack::blocks);
        self.sacks.extend(blocks.iter().map(|&(start, end)| TraceSack { row, start, end }));
        self.rows.push(TraceRow {
            time: now,
            cwnd: sender.control().cwnd(),
            ssthresh: sender.control().ssthresh(),
            una: sender.seq().una(),
            in_flight: sender.in_flight(),
            srtt: sender.rtt().srtt(),
            timeout: ack.is_none(),
            ece: ack.is_some_and(|ack| ack.ece),
            dsack: ack.is_some_and(|ack| ack.duplicate().is_some()),
        });
        Gauge::put_row(&mut self.gauges, self.rows.len(), |put| sender.control().gauges(put));
    }

    /// The same trace with drops sorted by time, link and sequence number (engines record them in different orders), and
    /// with sequence numbers from 0; the first segment had the number `first`.
    pub(crate) fn in_order(mut self, first: u64) -> Self {
        for drop in &mut self.drops {
            // A drop was recorded with a 32-bit number; the full number is the one nearest to the segment acknowledged
            // at that time.
            let before = self.rows.partition_point(|row| row.time <= drop.time);
            let una = before.checked_sub(1).map_or(first, |row| self.rows[row].una);
            drop.seq = PacketNumber::of(drop.seq).near(una) - first;
        }
        for row in &mut self.rows {
            row.una -= first;
        }
        for sent in &mut self.retransmissions {
            sent.seq -= first;
        }
        self.log = self.log.finished(first);
        for block in &mut self.sacks {
            block.start -= first;
            block.end -= first;
        }
        self.drops.sort_unstable();
        for gauge in &mut self.gauges {
            gauge.values.resize(self.rows.len(), f64::NAN);
        }
        self
    }
}

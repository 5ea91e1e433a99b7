//! An outcome as Python dictionaries of `NumPy` columns, one row per link, pool or flow.

use base::time::PS_PER_S;
use base::{Flags, Span, Time};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use sim::histogram::Histogram;
use sim::{FlowOutcome, LinkOutcome, Outcome, PacketRow, PacketTrace, Trace, TransferOutcome};
use transport::{SendLimit, SenderEvent};

/// Causes of drops and marks, in the order of [`sim::cause_index`].
pub const CAUSES: [&str; 5] = ["overflow", "early", "forced", "sojourn", "injected"];

/// Columns of samples that say what limits a sender.
const LIMITS: [(&str, SendLimit); 4] = [
    ("cwnd_limited", SendLimit::Cwnd),
    ("rwnd_limited", SendLimit::Rwnd),
    ("app_limited", SendLimit::App),
    ("pacing_limited", SendLimit::Pacing),
];

/// Puts one column of `rows` under `name`.
fn column<Row, T: Element>(
    into: &Bound<'_, PyDict>,
    name: &str,
    rows: &[Row],
    value: impl Fn(&Row) -> T,
) -> PyResult<()> {
    into.set_item(name, PyArray1::from_vec(into.py(), rows.iter().map(value).collect()))
}

/// Puts a matrix under `name`: a row per element of `rows`, `width` values each, all `absent` where a row has none.
fn matrix<Row, T: Element + Copy>(
    into: &Bound<'_, PyDict>,
    name: &str,
    rows: &[Row],
    (width, absent): (usize, T),
    values: impl Fn(&Row) -> &[T],
) -> PyResult<()> {
    mapped(into, name, rows, (width, absent), values, |&value| value)
}

/// [`matrix`] of the results of a function.
fn mapped<Row, V, T: Element + Copy>(
    into: &Bound<'_, PyDict>,
    name: &str,
    rows: &[Row],
    (width, absent): (usize, T),
    values: impl Fn(&Row) -> &[V],
    map: impl Fn(&V) -> T,
) -> PyResult<()> {
    let mut flat: Vec<T> = Vec::with_capacity(rows.len() * width);
    for row in rows {
        let values = values(row);
        flat.extend(values.iter().map(&map));
        flat.resize(flat.len() + width - values.len(), absent);
    }
    into.set_item(name, PyArray1::from_vec(into.py(), flat).reshape([rows.len(), width])?)
}

/// Seconds, or NaN for an event that did not happen.
fn seconds_or_nan(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_secs)
}

/// The whole outcome.
pub fn outcome(py: Python<'_>, out: Outcome) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("links", links(py, &out.links)?)?;
    dict.set_item("flows", flows(py, &out.flows)?)?;
    let pools = PyDict::new(py);
    column(&pools, "used", &out.pools, |pool| pool.used_mean)?;
    column(&pools, "used_max", &out.pools, |pool| pool.used_max)?;
    dict.set_item("pools", pools)?;
    let balance = PyDict::new(py);
    balance.set_item("sent", out.balance.sent)?;
    balance.set_item("delivered", out.balance.delivered)?;
    balance.set_item("dropped", out.balance.dropped)?;
    balance.set_item("in_flight", out.balance.in_flight)?;
    dict.set_item("balance", balance)?;
    dict.set_item("hash", out.hash)?;
    dict.set_item("transfers", transfers(py, &out.transfers)?)?;
    let found = histograms(py, &out.links)?;
    found.set_item("datagram_delay_ps", datagram_delays(py, &out)?)?;
    dict.set_item("histograms", found)?;
    let packets = PyList::empty(py);
    for trace in &out.packets {
        packets.append(packets_of(py, trace)?)?;
    }
    dict.set_item("packets", packets)?;
    let traces = PyList::empty(py);
    for row in &out.traces {
        traces.append(trace(py, row)?)?;
    }
    dict.set_item("traces", traces)?;
    dict.set_item("samples", samples(py, &out)?)?;
    let gauges = PyList::empty(py);
    for link in &out.links {
        let shown = PyDict::new(py);
        for gauge in &link.gauges {
            column(&shown, gauge.name, &gauge.values, |&x| x)?;
        }
        gauges.append(shown)?;
    }
    dict.set_item("queue_gauges", gauges)?;
    Ok(dict)
}

/// Counts in the bins of `sim`'s histograms for each link, by name of the histogram.
fn histograms<'py>(py: Python<'py>, rows: &[LinkOutcome]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let put = |name, counts: fn(&LinkOutcome) -> &[u64]| {
        dict.set_item(name, PyList::new(py, rows.iter().map(|row| PyArray1::from_slice(py, counts(row))))?)
    };
    put("backlog_packets", |l| l.backlog_histogram.counts())?;
    put("drain_ps", |l| l.drain_histogram.counts())?;
    put("delay_ps", |l| l.delay_histogram.counts())?;
    let by_group = rows.iter().map(|row| {
        PyList::new(py, row.group_delay_histograms.iter().map(|group| PyArray1::from_slice(py, group.counts())))
    });
    dict.set_item("group_delay_ps", PyList::new(py, by_group.collect::<PyResult<Vec<_>>>()?)?)?;
    Ok(dict)
}

/// The delays of the datagrams of each group, in the bins of `sim`'s histograms; empty where they are not measured.
fn datagram_delays<'py>(py: Python<'py>, out: &Outcome) -> PyResult<Bound<'py, PyList>> {
    let mut groups = vec![Histogram::default(); out.transfers.len()];
    for flow in &out.flows {
        if let Some(delays) = &flow.delays {
            delays.add_to(&mut groups[flow.group as usize]);
        }
    }
    PyList::new(py, groups.iter().map(|group| PyArray1::from_slice(py, group.counts())))
}

/// Results of each group's transfers; `None` for groups without an end.
fn transfers<'py>(py: Python<'py>, groups: &[Option<TransferOutcome>]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for group in groups {
        match group {
            Some(group) => list.append(transfers_of(py, group)?)?,
            None => list.append(py.None())?,
        }
    }
    Ok(list)
}

fn transfers_of<'py>(py: Python<'py>, group: &TransferOutcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("opened", group.opened)?;
    dict.set_item("completed", group.completed)?;
    dict.set_item("refused", group.refused)?;
    dict.set_item("segments", group.segments)?;
    dict.set_item("duration_sum_s", group.duration_sum as f64 / PS_PER_S as f64)?;
    dict.set_item("slowdown_sum", group.slowdown_sum as f64 / 1024.0)?;
    dict.set_item("pages", group.pages)?;
    dict.set_item("page_sum_s", group.page_sum as f64 / PS_PER_S as f64)?;
    dict.set_item("open_mean", group.open_mean)?;
    dict.set_item("open_histogram", PyArray1::from_slice(py, &group.open_histogram))?;
    dict.set_item("open_samples", PyArray1::from_slice(py, &group.open_samples))?;
    dict.set_item("duration_ps", PyArray1::from_slice(py, group.durations.counts()))?;
    dict.set_item("slowdown_1024", PyArray1::from_slice(py, group.slowdowns.counts()))?;
    dict.set_item("page_ps", PyArray1::from_slice(py, group.page_durations.counts()))?;
    let rows = PyDict::new(py);
    column(&rows, "flow", &group.rows, |row| row.flow)?;
    column(&rows, "opened_s", &group.rows, |row| row.opened.as_secs())?;
    column(&rows, "duration_s", &group.rows, |row| (row.done - row.opened).as_secs())?;
    column(&rows, "ideal_s", &group.rows, |row| row.ideal.as_secs())?;
    column(&rows, "segments", &group.rows, |row| row.segments)?;
    dict.set_item("rows", rows)?;
    let pages = PyDict::new(py);
    column(&pages, "flow", &group.page_rows, |row| row.flow)?;
    column(&pages, "opened_s", &group.page_rows, |row| row.opened.as_secs())?;
    column(&pages, "duration_s", &group.page_rows, |row| (row.done - row.opened).as_secs())?;
    dict.set_item("page_rows", pages)?;
    Ok(dict)
}

/// The packets recorded at one link. A packet that still waited when the run ended has waited NaN.
fn packets_of<'py>(py: Python<'py>, trace: &PacketTrace) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("link", trace.link)?;
    dict.set_item("member", trace.member)?;
    column(&dict, "time_s", &trace.rows, |r| r.time.as_secs())?;
    column(&dict, "flow", &trace.rows, |r| r.flow)?;
    column(&dict, "segment", &trace.rows, |r| r.seq)?;
    column(&dict, "backlog_packets", &trace.rows, |r| r.backlog)?;
    let waited = |row: &PacketRow| (row.left != Time::NEVER).then(|| (row.left - row.time).as_secs());
    column(&dict, "waited_s", &trace.rows, |r| waited(r).unwrap_or(f64::NAN))?;
    column(&dict, "dropped", &trace.rows, |r| r.dropped)?;
    column(&dict, "marked", &trace.rows, |r| r.marked)?;
    column(&dict, "retransmission", &trace.rows, |r| r.flags.has(Flags::RETRANSMITTED))?;
    column(&dict, "ecn", &trace.rows, |r| codepoint(r.flags))?;
    column(&dict, "cwr", &trace.rows, |r| r.flags.has(Flags::CWR))?;
    Ok(dict)
}

/// ECN field of the IP header (RFC 3168, Section 5; RFC 9331, Section 4.1).
fn codepoint(flags: Flags) -> u8 {
    match (flags.has(Flags::CE), flags.has(Flags::ECT), flags.has(Flags::L4S)) {
        (true, ..) => 3,
        (false, true, false) => 2,
        (false, true, true) => 1,
        (false, false, _) => 0,
    }
}

fn links<'py>(py: Python<'py>, rows: &[LinkOutcome]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    column(&dict, "arrived", rows, |l| l.arrived)?;
    for (i, cause) in CAUSES.iter().enumerate() {
        column(&dict, &format!("drops_{cause}"), rows, |l| l.dropped[i])?;
        column(&dict, &format!("marks_{cause}"), rows, |l| l.marked[i])?;
    }
    column(&dict, "utilization", rows, |l| l.utilization)?;
    column(&dict, "backlog_packets", rows, |l| l.backlog_mean)?;
    column(&dict, "backlog_max_packets", rows, |l| l.backlog_max)?;
    column(&dict, "queueing_delay_s", rows, |l| l.queueing_delay_s)?;
    column(&dict, "empty_fraction", rows, |l| l.empty_fraction)?;
    column(&dict, "loss_events", rows, |l| l.loss_events)?;
    column(&dict, "flows_hit", rows, |l| l.flows_hit)?;
    if rows.iter().any(|l| l.rate_changes) {
        column(&dict, "capacity_bps", rows, |l| l.capacity_bps)?;
    }
    if rows.iter().any(|l| l.delay_varies) {
        column(&dict, "propagation_s", rows, |l| l.propagation_s)?;
        column(&dict, "propagation_min_s", rows, |l| l.propagation_min_s)?;
        column(&dict, "propagation_max_s", rows, |l| l.propagation_max_s)?;
    }
    if rows.iter().any(|l| l.pool.is_some()) {
        column(&dict, "pool_held", rows, |l| l.pool.map_or(f64::NAN, |pool| pool.held_mean))?;
        column(&dict, "pool_held_max", rows, |l| l.pool.map_or(f64::NAN, |pool| pool.held_max as f64))?;
        column(&dict, "pool_drops", rows, |l| l.pool.map_or(0, |pool| pool.dropped))?;
    }
    Ok(dict)
}

fn flows<'py>(py: Python<'py>, rows: &[FlowOutcome]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    column(&dict, "group", rows, |f| f.group)?;
    column(&dict, "index", rows, |f| f.index)?;
    column(&dict, "base_rtt_s", rows, |f| f.base_rtt.as_secs())?;
    column(&dict, "start_s", rows, |f| f.start.as_secs())?;
    column(&dict, "goodput_bps", rows, |f| f.goodput_bps)?;
    column(&dict, "sent", rows, |f| f.sent)?;
    column(&dict, "retransmitted", rows, |f| f.retransmitted)?;
    column(&dict, "dropped", rows, |f| f.dropped)?;
    column(&dict, "timeouts", rows, |f| f.timeouts)?;
    column(&dict, "loss_events", rows, |f| f.loss_events)?;
    column(&dict, "cwnd_segments", rows, |f| f.cwnd_mean.unwrap_or(f64::NAN))?;
    column(&dict, "srtt_s", rows, |f| f.srtt_mean_s.unwrap_or(f64::NAN))?;
    column(&dict, "finished_s", rows, |f| seconds_or_nan(f.finished))?;
    if rows.iter().any(|f| f.spurious.is_some()) {
        let spurious = |f: &FlowOutcome| f.spurious.as_deref().copied().unwrap_or_default();
        column(&dict, "dsack_dups", rows, |f| spurious(f).duplicates)?;
        column(&dict, "spurious_recoveries", rows, |f| spurious(f).recoveries)?;
        column(&dict, "spurious_timeouts", rows, |f| spurious(f).timeouts)?;
    }
    if rows.iter().any(|f| f.delays.is_some()) {
        column(&dict, "delay_s", rows, |f| f.delays.as_ref().and_then(|delays| delays.mean_s()).unwrap_or(f64::NAN))?;
    }
    Ok(dict)
}

fn samples<'py>(py: Python<'py>, out: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    column(&dict, "time_s", &out.sampled_at, |t| t.as_secs())?;
    let width = |longest: usize| if longest == 0 { 0 } else { out.sampled_at.len() };
    let per_flow = width(out.flows.iter().map(|f| f.srtt_samples().len()).max().unwrap_or(0));
    let per_link = width(out.links.first().map_or(0, |l| l.backlog_samples.len()));
    matrix(&dict, "cwnd_segments", &out.flows, (per_flow, f32::NAN), |f| f.cwnd_samples())?;
    matrix(&dict, "srtt_s", &out.flows, (per_flow, f32::NAN), |f| f.srtt_samples())?;
    matrix(&dict, "rttvar_s", &out.flows, (per_flow, f32::NAN), |f| f.series.as_ref().map_or(&[], |s| &s.rttvar))?;
    matrix(&dict, "min_rtt_s", &out.flows, (per_flow, f32::NAN), |f| f.series.as_ref().map_or(&[], |s| &s.min_rtt))?;
    matrix(&dict, "delivered_segments", &out.flows, (per_flow, 0), |f| {
        f.series.as_ref().map_or(&[], |s| &s.delivered)
    })?;
    matrix(&dict, "retrans_segments", &out.flows, (per_flow, 0), |f| f.series.as_ref().map_or(&[], |s| &s.retrans))?;
    let known = |&rate: &f32| if rate > 0.0 { rate } else { f32::NAN };
    let shape = (per_flow, f32::NAN);
    mapped(
        &dict,
        "delivery_rate_bps",
        &out.flows,
        shape,
        |f| f.series.as_ref().map_or(&[], |s| &s.delivery_rate),
        known,
    )?;
    mapped(&dict, "pacing_rate_bps", &out.flows, shape, |f| f.series.as_ref().map_or(&[], |s| &s.pacing_rate), known)?;
    for (name, limit) in LIMITS {
        let is_it = |&now: &Option<SendLimit>| u8::from(now == Some(limit));
        mapped(&dict, name, &out.flows, (per_flow, 0), |f| f.series.as_ref().map_or(&[], |s| &s.limit), is_it)?;
    }
    matrix(&dict, "backlog_packets", &out.links, (per_link, 0), |l| &l.backlog_samples)?;
    matrix(&dict, "begun_bytes", &out.links, (per_link, 0), |l| &l.begun_bytes_samples)?;
    Ok(dict)
}

fn trace<'py>(py: Python<'py>, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("flow", trace.flow)?;
    column(&dict, "time_s", &trace.rows, |r| r.time.as_secs())?;
    column(&dict, "cwnd_segments", &trace.rows, |r| r.cwnd)?;
    column(&dict, "ssthresh_segments", &trace.rows, |r| r.ssthresh)?;
    column(&dict, "una", &trace.rows, |r| r.una)?;
    column(&dict, "in_flight_segments", &trace.rows, |r| r.in_flight)?;
    column(&dict, "srtt_s", &trace.rows, |r| Span::as_secs(r.srtt))?;
    column(&dict, "timeout", &trace.rows, |r| r.timeout)?;
    column(&dict, "ece", &trace.rows, |r| r.ece)?;
    column(&dict, "dsack", &trace.rows, |r| r.dsack)?;
    let gauges = PyDict::new(py);
    for gauge in &trace.gauges {
        column(&gauges, gauge.name, &gauge.values, |&x| x)?;
    }
    dict.set_item("gauges", gauges)?;
    column(&dict, "drop_time_s", &trace.drops, |d| d.time.as_secs())?;
    column(&dict, "drop_link", &trace.drops, |d| d.link)?;
    column(&dict, "drop_segment", &trace.drops, |d| d.seq)?;
    column(&dict, "retransmit_time_s", &trace.retransmissions, |r| r.time.as_secs())?;
    column(&dict, "retransmit_segment", &trace.retransmissions, |r| r.seq)?;
    column(&dict, "sack_row", &trace.sacks, |s| s.row)?;
    column(&dict, "sack_start", &trace.sacks, |s| s.start)?;
    column(&dict, "sack_end", &trace.sacks, |s| s.end)?;
    dict.set_item("events", events(py, &trace.log.events)?)?;
    Ok(dict)
}

/// Columns of the events of a traced flow.
fn events<'py>(py: Python<'py>, rows: &[SenderEvent]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let text = |name| PyString::intern(py, name).into_any().unbind();
    column(&dict, "time_s", rows, |e| e.time.as_secs())?;
    column(&dict, "event", rows, |e| text(e.kind.name()))?;
    column(&dict, "reason", rows, |e| text(e.reason.name()))?;
    column(&dict, "segment", rows, |e| e.segment)?;
    column(&dict, "ca_state", rows, |e| text(e.state.name()))?;
    column(&dict, "cwnd_before_segments", rows, |e| e.before.cwnd)?;
    column(&dict, "cwnd_segments", rows, |e| e.after.cwnd)?;
    column(&dict, "ssthresh_before_segments", rows, |e| e.before.ssthresh)?;
    column(&dict, "ssthresh_segments", rows, |e| e.after.ssthresh)?;
    column(&dict, "rto_s", rows, |e| Span::as_secs(e.rto))?;
    column(&dict, "backoff", rows, |e| e.backoff)?;
    Ok(dict)
}

//! Disciplines without senders: along a list of arrivals, and their curves.

use crate::columns::CAUSES;
use crate::error::{bad_arrivals, bad_port, from_scenario};
use crate::monitor::interruptible;
use base::{Bytes, Flags, Header, Rate, Stream, Time};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use queue::{Limit, Packet, Port, QueueDiscipline, QueueSpec};

/// Columns of the arrivals that `replay_queue` takes.
const COLUMNS: usize = 4;

fn resolved(queue: &str, port: &Port) -> PyResult<QueueSpec> {
    scenario::read_queue(queue, port).map_err(from_scenario)
}

fn stream(seed: u64) -> Stream {
    Stream::new(seed, 0, ("replay", 0), "queue")
}

/// Sends packets through `queue` on a link of `rate_bps` whose packets have `packet_bytes` on average. Columns of
/// `arrivals` are time [ps], flow, size [bytes], ECN (0 none, 1 ECT(0), 2 ECT(1)); `headers` holds as many rows of round-trip
/// time [s], window and asked-for feedback [bytes]. Returns columns by name, the gauges after each arrival among them.
#[pyfunction]
#[pyo3(signature = (queue, arrivals, *, rate_bps, packet_bytes, buffer_packets = None, buffer_bytes = None, seed = 1,
                    headers = None))]
#[expect(clippy::too_many_arguments, reason = "all but the first two by keyword")]
pub fn replay_queue<'py>(
    py: Python<'py>,
    queue: &str,
    arrivals: PyReadonlyArray2<'py, i64>,
    rate_bps: u64,
    packet_bytes: f64,
    buffer_packets: Option<u32>,
    buffer_bytes: Option<u64>,
    seed: u64,
    headers: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let port = port(limit(buffer_packets, buffer_bytes), rate_bps, packet_bytes)?;
    let spec = resolved(queue, &port)?;
    let arrivals = arrivals.as_array();
    let headers = headers.as_ref().map(PyReadonlyArray2::as_array);
    let rows = arrivals.nrows();
    if arrivals.ncols() != COLUMNS || headers.is_some_and(|h| h.nrows() != rows || h.ncols() != 3) {
        return Err(bad_arrivals(&format!("must have {COLUMNS} columns, and headers as many rows of 3")));
    }
    let mut last = 0;
    for row in arrivals.rows() {
        // Disciplines keep tables by flow.
        if !(last..=1_000_000_000_000_000_000).contains(&row[0]) {
            return Err(bad_arrivals("times must be in order, from 0 to 10^18 ps"));
        }
        if !(0..1 << 24).contains(&row[1]) || !(1..=65_535).contains(&row[2]) {
            return Err(bad_arrivals("flows must lie between 0 and 2^24 - 1, sizes between 1 and 65535 bytes"));
        }
        last = row[0];
    }
    let packet = |i: usize| {
        let row = arrivals.row(i);
        let flags = match row[3] {
            0 => Flags::NONE,
            1 => Flags::ECT,
            _ => Flags::ECT.with(Flags::L4S),
        };
        let header = headers.map_or(Header::NONE, |h| Header {
            rtt: h[[i, 0]] as f32,
            cwnd: h[[i, 1]] as f32,
            feedback: h[[i, 2]] as f32,
        });
        let plain = Packet::new(row[1] as u32, i as u32, row[2] as u32, Time(row[0] as u64));
        Packet { header, ..plain.with(flags) }
    };
    let packets: Vec<Packet> = (0..rows).map(packet).collect();
    let mut backlog = Vec::with_capacity(rows);
    let mut gauges: Vec<(&'static str, Vec<f64>)> = Vec::new();
    let built = spec.build(&port, stream(seed)).expect("checked when it was read");
    let fates = interruptible(py, None, |monitor| {
        queue::replay_monitored(built, port.rate, &packets, monitor, |i, link| {
            backlog.push(link.backlog().packets);
            link.queue().gauges(&mut |name, value| {
                let at = gauges.iter().position(|gauge| gauge.0 == name).unwrap_or_else(|| {
                    gauges.push((name, Vec::new()));
                    gauges.len() - 1
                });
                gauges[at].1.resize(i, f64::NAN);
                gauges[at].1.push(value);
            });
        })
    })?;
    let columns = PyDict::new(py);
    columns.set_item("time_ps", PyArray1::from_iter(py, fates.iter().map(|f| f.time.0)))?;
    columns.set_item(
        "cause",
        fates.iter().map(|f| f.cause.map(|cause| CAUSES[sim::cause_index(cause)])).collect::<Vec<_>>(),
    )?;
    columns.set_item("marked", PyArray1::from_iter(py, fates.iter().map(|f| f.marked)))?;
    columns.set_item("feedback", PyArray1::from_iter(py, fates.iter().map(|f| f64::from(f.feedback))))?;
    columns.set_item("backlog", PyArray1::from_vec(py, backlog))?;
    let shown = PyDict::new(py);
    for (name, mut values) in gauges {
        values.resize(rows, f64::NAN);
        shown.set_item(name, PyArray1::from_vec(py, values))?;
    }
    columns.set_item("gauges", shown)?;
    Ok(columns)
}

/// The first `count` numbers of 64 bits of the stream that `replay_queue` gives a discipline under `seed`; 53 bits of each
/// make a uniform one.
#[pyfunction]
pub fn queue_draws(py: Python<'_>, seed: u64, count: usize) -> Bound<'_, PyArray1<u64>> {
    crate::arrays::load(py);
    let mut chance = stream(seed);
    PyArray1::from_iter(py, (0..count).map(|_| chance.next_u64()))
}

/// Probability that `queue` drops or marks an arrival at each of `averages` [packets]; NaN where it has no such curve.
#[pyfunction]
#[pyo3(signature = (queue, averages, *, rate_bps, packet_bytes, buffer_packets = None))]
pub fn queue_curve<'py>(
    py: Python<'py>,
    queue: &str,
    averages: PyReadonlyArray1<'py, f64>,
    rate_bps: u64,
    packet_bytes: f64,
    buffer_packets: Option<u32>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let spec = resolved(queue, &port(limit(buffer_packets, None), rate_bps, packet_bytes)?)?;
    let values = averages.as_array().iter().map(|&average| spec.curve(average).unwrap_or(f64::NAN)).collect();
    Ok(PyArray1::from_vec(py, values))
}

fn port(limit: Limit, rate_bps: u64, packet_bytes: f64) -> PyResult<Port> {
    if !(1_000..=1_000_000_000_000_000).contains(&rate_bps) {
        return Err(bad_port("rate_bps: must lie between 10^3 and 10^15 bit/s"));
    }
    if !(1.0..=65_535.0).contains(&packet_bytes) {
        return Err(bad_port("packet_bytes: must lie between 1 and 65535"));
    }
    Ok(Port::new(limit, Rate(rate_bps), packet_bytes))
}

fn limit(packets: Option<u32>, bytes: Option<u64>) -> Limit {
    match (packets, bytes) {
        (Some(n), _) => Limit::Packets(n),
        (None, Some(n)) => Limit::Bytes(Bytes(n)),
        (None, None) => Limit::Unlimited,
    }
}

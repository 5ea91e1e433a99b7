//! Flows that pace behind drop-tail buffers of a few packets, against ns-3 with pacing of its own.
//!
//! Source of the numbers: ns-3.37 (Debian 12's libns3-dev), own runs of `ns3/paced.cc`: `EnablePacing` with Linux's ratios (200 and
//! 120 %), SACK without timestamps, proportional rate reduction, 1502 bytes on the wire, initial window 10 (not paced), an ACK for
//! each segment, minimum RTO 0.2 s, access links of 1 Gbit/s, starts within a second; `X` as in `ns3_aqm`.
//! Differs in ns-3: a sender that is late gets no credit, and in a recovery the pace is that of what is in the network.

use sim::{Engine, Options, simulate};

/// Reno flows on a link: how many, Mbit/s, shortest and longest round-trip time [ms], packets that may wait, end and warm-up [s].
struct Cell {
    flows: u32,
    mbps: u32,
    rtt: (u32, u32),
    buffer: u32,
    until: u32,
    warmup: u32,
}

/// Utilization, waiting [ms], share of packets lost, cuts of windows (timeouts are some of them).
#[derive(Clone, Copy, Debug)]
struct Row(f64, f64, f64, f64);

const ONE: Cell = Cell { flows: 1, mbps: 40, rtt: (40, 40), buffer: 33, until: 70, warmup: 10 };
const FIVE: Cell = Cell { flows: 5, mbps: 40, rtt: (30, 50), buffer: 10, until: 50, warmup: 10 };
const FIFTY: Cell = Cell { flows: 50, mbps: 100, rtt: (30, 50), buffer: 10, until: 15, warmup: 5 };

/// ns-3's `X`, by seed from 1 on: paced, and not.
#[rustfmt::skip]
const NS3: [(&Cell, &[Row], Row); 3] = [
    (&ONE, &[Row(0.87992, 2.61874, 1.82038e-4, 16.0)], Row(0.89544, 2.57058, 8.94414e-5, 16.0)),
    (&FIVE, &[Row(0.87680, 0.72119, 4.14545e-3, 296.0), Row(0.87732, 0.72200, 4.03250e-3, 298.0),
        Row(0.87698, 0.73476, 4.14471e-3, 302.0)], Row(0.53692, 0.50658, 1.52346e-2, 455.0)),
    (&FIFTY, &[Row(0.93129, 0.53031, 3.41669e-2, 1726.0), Row(0.93522, 0.53206, 3.27836e-2, 1718.0)],
        Row(0.72563, 0.41621, 6.44122e-2, 1843.0)),
];

impl Cell {
    fn run(&self, pacing: &str, replication: u32) -> Row {
        let Self { flows, mbps, rtt: (from, to), buffer, until, warmup } = self;
        let rtt =
            if from == to { format!("\"{from} ms\"") } else { format!("{{ from = \"{from} ms\", to = \"{to} ms\" }}") };
        let text = format!(
            "duration = \"{until} s\"\nwarmup = \"{warmup} s\"\nreplications = 5\nseed = 1\n\
             [[links]]\nname = \"link\"\nrate = \"{mbps} Mbit/s\"\nbuffer = \"{buffer} packets\"\n\
             [[flows]]\nname = \"flow\"\ncount = {flows}\npath = [\"link\"]\nrtt = {rtt}\n\
             access = {{ rate = \"1 Gbit/s\" }}\ncontrol = {{ law = \"reno\" }}\nrecovery = \"prr\"\npacket = \"1502 B\"\n\
             start = {{ from = \"0 s\", to = \"1 s\" }}\n\
             tcp = {{ initial_window = 10, delayed_ack = 1, min_rto = \"0.2 s\", pacing = \"{pacing}\" }}\n"
        );
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
        let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
        let outcome = simulate(&scenario, replication, options).expect("small");
        let link = &outcome.links[0];
        let dropped: u64 = link.dropped.iter().sum();
        let cuts: u64 = outcome.flows.iter().map(|flow| flow.loss_events).sum();
        Row(link.utilization, 1e3 * link.queueing_delay_s, dropped as f64 / link.arrived as f64, cuts as f64)
    }

    /// Mean of five replications.
    fn ours(&self, pacing: &str) -> Row {
        mean(&(0..5).map(|replication| self.run(pacing, replication)).collect::<Vec<_>>())
    }
}

fn mean(rows: &[Row]) -> Row {
    let of = |pick: fn(&Row) -> f64| rows.iter().map(pick).sum::<f64>() / rows.len() as f64;
    Row(of(|r| r.0), of(|r| r.1), of(|r| r.2), of(|r| r.3))
}

/// Packets lost for each cut of a window.
fn lost_per_cut(cell: &Cell, row: Row) -> f64 {
    let sent = row.0 * f64::from(cell.mbps) * 1e6 * f64::from(cell.until - cell.warmup) / (1502.0 * 8.0);
    row.2 / (1.0 - row.2) * sent / row.3
}

#[test]
fn many_paced_flows_agree_with_ns3s() {
    for (cell, paced, _) in &NS3[1..] {
        let (ns3, ours, null) = (mean(paced), cell.ours("linux"), cell.ours("none"));
        println!("{} flows: ns-3 {ns3:?}, ours {ours:?}, unpaced {null:?}", cell.flows);
        // Without ns-3's two rules of its own, the simulator is 1.5 to 1.7 points above; with them 0.5 (`docs/guide/pacing.md`).
        // One run of ours has a standard deviation of 0.5 points, 3 % of the delay and 3 % of the loss.
        assert!((ours.0 - ns3.0).abs() < 0.025, "{} flows: {ours:?}, ns-3 {ns3:?}", cell.flows);
        assert!((ours.1 / ns3.1 - 1.0).abs() < 0.10, "{} flows: {ours:?}, ns-3 {ns3:?}", cell.flows);
        assert!((ours.2 / ns3.2 - 1.0).abs() < 0.15, "{} flows: {ours:?}, ns-3 {ns3:?}", cell.flows);
        assert!((ours.3 / ns3.3 - 1.0).abs() < 0.05, "{} flows: {ours:?}, ns-3 {ns3:?}", cell.flows);
        // Beside it, senders that do not pace.
        assert!(ns3.0 - null.0 > 0.15 && null.2 > 1.6 * ns3.2, "{} flows: {null:?}, ns-3 {ns3:?}", cell.flows);
    }
}

#[test]
fn one_flow_is_ns3s_but_for_a_second_loss_that_credit_for_lateness_spares() {
    let (cell, paced, unpaced) = NS3[0];
    // Nothing here is random but the start. It says where in a tooth the minute of 16 teeth begins: a tenth of a point, 2 % of the delay.
    let ours = cell.ours("none");
    println!("unpaced: ns-3 {unpaced:?}, ours {ours:?}");
    assert!((ours.0 - unpaced.0).abs() < 2e-3 && (ours.1 / unpaced.1 - 1.0).abs() < 0.03, "{ours:?}");
    assert!((ours.2 / unpaced.2 - 1.0).abs() < 0.01 && (ours.3 - unpaced.3).abs() < 0.1, "{ours:?}");
    let (ours, ns3) = (cell.ours("linux"), paced[0]);
    println!("paced: ns-3 {ns3:?}, ours {ours:?}");
    // A pace of 1.2 windows gains a sixth of a packet's time for each ACK. Without credit the packet by which the window grew
    // is five packets late at the buffer; when it is missed, the window has grown once more. With credit it follows at once.
    assert!((lost_per_cut(cell, ns3) - 2.0).abs() < 0.05, "{}", lost_per_cut(cell, ns3));
    assert!((lost_per_cut(cell, ours) - 1.0).abs() < 0.05, "{}", lost_per_cut(cell, ours));
    // The second loss costs a part of a round trip in 3.7 s, and so does ns-3's slower pace in the repair.
    assert!((0.0..0.015).contains(&(ours.0 - ns3.0)), "{ours:?}");
    assert!((ours.1 / ns3.1 - 1.0).abs() < 0.02 && (ours.3 - ns3.3).abs() < 1.5, "{ours:?}");
}

//! Flows with Pareto-distributed round-trip times against ns-2, the round-trip times drawn by ns-2.
//!
//! Source of the numbers: ns-2 2.35 (Debian 12's package), 5 or 25 FTP flows of 500-byte packets over 16 Mbit/s, 5 ms, access 100
//! Mbit/s, starts U(0, 5 s), 250 s measured from 50 s; `minrto_ 0.2`, `tcpTick_ 0.01`, `limit_` B (B-1 waiting packets),
//! `overhead_` as given. One run each.
//! Not here: 5 flows, `limit_` 10 and no overhead. There ns-2 gives 0.52 and 0.48 whatever the starts, this simulator 0.565
//! and 0.557: a deterministic phase pattern of a few packets, gone in both with an overhead of one packet time (0.484 and
//! 0.470 in ns-2, 0.483 and 0.461 here); ACKs on a queueing way back do not explain it.

use sim::{Engine, Options, simulate};

/// Base round-trip times in ms, two draws of Pareto(1.2) with mean 100 ms; cases with fewer flows take the first of them.
#[rustfmt::skip]
const FIRST: &[f64] = &[
    16.671, 16.867, 27.068, 22.788, 20.826, 22.681, 19.353, 39.054, 85.646, 19.561, 65.656, 21.374, 30.652,
    44.506, 76.681, 20.978, 42.780, 118.451, 18.353, 19.812, 190.532, 18.401, 16.818, 23.435, 41.839,
];
#[rustfmt::skip]
const SECOND: &[f64] = &[
    16.676, 17.072, 99.158, 37.819, 28.254,
];

/// Recovery, round-trip times, flows, `limit_`, `overhead_` in us, utilisation, loss ratio.
type Case = (&'static str, &'static [f64], usize, u32, u32, f64, f64);

#[rustfmt::skip]
const NS2: &[Case] = &[
    ("reno", FIRST, 5, 10, 250, 0.4840, 0.012_28),
    ("reno", SECOND, 5, 10, 250, 0.4703, 0.009_600),
    ("reno", FIRST, 5, 25, 0, 0.8737, 0.005_294),
    ("reno", SECOND, 5, 25, 0, 0.7711, 0.004_793),
    ("reno", FIRST, 5, 50, 0, 0.9508, 0.003_909),
    ("reno", SECOND, 5, 50, 0, 0.8673, 0.003_533),
    ("reno", FIRST, 5, 100, 0, 0.9903, 0.002_452),
    ("reno", SECOND, 5, 100, 0, 0.9680, 0.001_922),
    ("reno", FIRST, 5, 200, 0, 1.0000, 0.001_224),
    ("reno", SECOND, 5, 200, 0, 0.9971, 0.000_934),
    ("reno", FIRST, 5, 50, 250, 0.9034, 0.003_524),
    ("reno", FIRST, 5, 200, 250, 0.9981, 0.000_931),
    ("reno", FIRST, 25, 10, 0, 0.7072, 0.045_481),
    ("reno", FIRST, 25, 25, 0, 0.9161, 0.031_138),
    ("reno", FIRST, 25, 50, 0, 0.9690, 0.025_909),
    ("reno", FIRST, 25, 100, 0, 0.9906, 0.020_086),
    ("reno", FIRST, 25, 200, 0, 0.9996, 0.012_673),
    ("reno", FIRST, 25, 400, 0, 1.0000, 0.006_367),
    ("reno", FIRST, 25, 50, 250, 0.9640, 0.025_165),
    ("reno", FIRST, 25, 200, 250, 0.9993, 0.011_730),
    ("reno", FIRST, 25, 400, 250, 1.0000, 0.005_464),
    ("sack", FIRST, 25, 200, 0, 1.0000, 0.016_636),
];

#[test]
fn utilisation_and_loss_agree_with_ns2() {
    for &(recovery, rtts, flows, limit, overhead, utilization, loss) in NS2 {
        let list: Vec<String> = rtts[..flows].iter().map(|rtt| format!("\"{rtt} ms\"")).collect();
        let text = format!(
            r#"
duration = "250 s"
warmup = "50 s"
[[links]]
name = "l"
rate = "16 Mbit/s"
delay = "5 ms"
buffer = "{} packets"
[[flows]]
count = {flows}
path = ["l"]
rtt = [{}]
packet = "500 B"
access = {{ rate = "100 Mbit/s" }}
recovery = "{recovery}"
start = {{ from = "0 s", to = "5 s" }}
tcp = {{ min_rto = "200 ms", rto_granularity = "10 ms", send_jitter = "{overhead} us" }}
"#,
            limit - 1,
            list.join(", "),
        );
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
        let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
        let runs: Vec<_> = (0..4).map(|r| simulate(&scenario, r, options).expect("small").links.remove(0)).collect();
        let mean = |f: &dyn Fn(&sim::LinkOutcome) -> f64| runs.iter().map(f).sum::<f64>() / runs.len() as f64;
        let ours = mean(&|link| link.utilization);
        let lost = mean(&|link| link.dropped[0] as f64 / link.arrived as f64);
        let name = format!("{recovery}, {flows} flows, limit {limit}, overhead {overhead} us");
        // Without random overhead drop-tail has phase effects: which of a few deterministic flows loses depends on
        // picoseconds, and single runs of ns-2 with other starts lie as far apart. Five points and 15 % cover that.
        assert!((ours - utilization).abs() < 0.05, "{name}: utilisation {ours} for {utilization}");
        assert!((lost / loss - 1.0).abs() < 0.15, "{name}: loss ratio {lost} for {loss}");
    }
}

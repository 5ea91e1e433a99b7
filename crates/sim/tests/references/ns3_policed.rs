//! TCP through a token bucket without room to wait, against ns-3's.
//!
//! Source of the numbers: ns-3.37 (Debian 12's libns3-dev), own runs of `ns3/policed.cc`: `TbfQueueDisc` with a queue of one packet in
//! front of a faster link, SACK without timestamps, proportional rate reduction, initial window 10, an ACK for each segment, minimum
//! RTO 0.2 s, access links of 1 Gbit/s, starts within a second; `X` as in `ns3_aqm`, `cubic` is `TcpCubic` without `HyStart`.
//! Differs in ns-3: a packet may wait for tokens, where a policer drops it: a shaper with room for one stands beside it. Its CUBIC has
//! no Reno-friendly region, so that CUBIC is compared on a path where that region has no part (6.8 s to the old window, 24 s for Reno).

use sim::{Engine, Options, simulate};

/// Throughput behind the policer in Mbit/s, share of packets dropped, recoveries and timeouts of all flows.
#[derive(Clone, Copy, Debug)]
struct Row(f64, f64, f64);

/// Law, flows, tokens and link [Mbit/s], shortest and longest round-trip time [ms], end and warm-up [s].
struct Cell {
    law: &'static str,
    flows: u32,
    mbps: (u32, u32),
    rtt: (u32, u32),
    span: (u32, u32),
}

const RENO: Cell = Cell { law: "reno", flows: 4, mbps: (20, 100), rtt: (30, 50), span: (130, 10) };
const CUBIC: Cell = Cell { law: "cubic", flows: 1, mbps: (50, 500), rtt: (100, 100), span: (190, 40) };

const POLICER: (&str, u32) = ("policer", 1000);
/// ns-3's token bucket: a shaper that holds one waiting packet.
const SHAPER: (&str, u32) = ("shaper", 1);

impl Cell {
    /// Means of three replications with a bucket of `burst` bytes: `kind` and the packets that may wait.
    fn ours(&self, (kind, buffer): (&str, u32), burst: u32) -> Row {
        let Self { law, flows, mbps: (rate, link), rtt: (from, to), span: (until, warmup) } = self;
        let rtt =
            if from == to { format!("\"{from} ms\"") } else { format!("{{ from = \"{from} ms\", to = \"{to} ms\" }}") };
        // The bucket does not serve, as a link does: it is in front of the link.
        let text = format!(
            "duration = \"{until} s\"\nwarmup = \"{warmup} s\"\nreplications = 3\nseed = 1\n\
             [[links]]\nname = \"bucket\"\nrate = \"100 Gbit/s\"\nbuffer = \"{buffer} packets\"\n\
             {kind} = {{ rate = \"{rate} Mbit/s\", burst = \"{burst} B\" }}\n\
             [[links]]\nname = \"link\"\nrate = \"{link} Mbit/s\"\nbuffer = \"10000 packets\"\n\
             [[flows]]\nname = \"flow\"\ncount = {flows}\npath = [\"bucket\", \"link\"]\nrtt = {rtt}\n\
             access = {{ rate = \"1 Gbit/s\" }}\ncontrol = {{ law = \"{law}\" }}\nrecovery = \"prr\"\npacket = \"1500 B\"\n\
             start = {{ from = \"0 s\", to = \"1 s\" }}\ntcp = {{ initial_window = 10, delayed_ack = 1, min_rto = \"0.2 s\" }}\n"
        );
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
        let rows: Vec<_> = (0..3)
            .map(|replication| {
                let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
                let outcome = simulate(&scenario, replication, options).expect("small");
                let bucket = &outcome.links[0];
                let dropped: u64 = bucket.dropped.iter().sum();
                let cuts: u64 = outcome.flows.iter().map(|flow| flow.loss_events).sum();
                let passed = outcome.links[1].utilization * f64::from(*link);
                Row(passed, dropped as f64 / bucket.arrived as f64, cuts as f64)
            })
            .collect();
        mean(&rows)
    }
}

fn mean(rows: &[Row]) -> Row {
    let of = |pick: fn(&Row) -> f64| rows.iter().map(pick).sum::<f64>() / rows.len() as f64;
    Row(of(|r| r.0), of(|r| r.1), of(|r| r.2))
}

/// Whether what passes, what is dropped and how often windows are cut are within these shares of ns-3's.
fn agrees(ours: Row, ns3: Row, (passed, loss, cuts): (f64, f64, f64)) -> bool {
    let near = |ours: f64, ns3: f64, share: f64| (ours / ns3 - 1.0).abs() < share;
    near(ours.0, ns3.0, passed) && near(ours.1, ns3.1, loss) && near(ours.2, ns3.2, cuts)
}

#[test]
fn four_policed_reno_flows_are_ns3s() {
    // By seed: recoveries and timeouts are 978 + 16, 979 + 18, 982 + 12; 859 + 28, 834 + 45, 833 + 51.
    let small = [Row(18.4108, 2.73143e-2, 994.0), Row(18.3389, 2.6985e-2, 997.0), Row(18.4496, 2.68274e-2, 994.0)];
    let large = [Row(19.8664, 3.25214e-2, 887.0), Row(19.7696, 3.25428e-2, 879.0), Row(19.756, 3.25645e-2, 884.0)];
    for (burst, ns3, other) in [(60_000, mean(&small), 200_000), (200_000, mean(&large), 60_000)] {
        let (policer, shaper) = (RENO.ours(POLICER, burst), RENO.ours(SHAPER, burst));
        println!("{burst} B: ns-3 {ns3:?}, policer {policer:?}, shaper {shaper:?}");
        // Seeds of ours differ by 0.3 % of what passes, 3 % of the loss, 2 % of the cuts. The loss is 4 and 8 % below ns-3's, with room for a
        // packet 12 and 14 %: why was not looked for.
        assert!(agrees(policer, ns3, (0.02, 0.12, 0.06)), "{burst}");
        assert!(agrees(shaper, ns3, (0.02, 0.18, 0.06)), "{burst}");
        // Nulls: the other bucket, and tokens a tenth faster.
        assert!(!agrees(RENO.ours(POLICER, other), ns3, (0.02, 0.12, 0.06)), "{burst}");
        let faster = Cell { mbps: (22, 100), ..RENO };
        assert!(!agrees(faster.ours(POLICER, burst), ns3, (0.02, 0.12, 0.06)), "{burst}");
    }
}

#[test]
fn a_policed_cubic_flow_is_ns3s() {
    // A bucket of two BDP: the window rises over the tokens' rate for several seconds, and how the flow is spread over a round trip has
    // no part in it. Twenty teeth, so that one more is 5 %.
    let ns3 = Row(48.9416, 2.35481e-3, 20.0);
    let bands = (0.01, 0.06, 0.08);
    let policer = CUBIC.ours(POLICER, 2_000_000);
    println!("2 MB: ns-3 {ns3:?}, policer {policer:?}, shaper {:?}", CUBIC.ours(SHAPER, 2_000_000));
    assert!(agrees(policer, ns3, bands));
    assert!(!agrees(CUBIC.ours(POLICER, 1_000_000), ns3, bands));
    assert!(!agrees(Cell { law: "reno", ..CUBIC }.ours(POLICER, 2_000_000), ns3, bands));
    // A bucket of half a BDP: a window that leaves in clumps empties it before its mean rate would, and one packet that waits spreads the
    // end of a clump. ns-3's lies between the two.
    let ns3 = Row(41.9758, 7.81341e-5, 19.0);
    let (policer, shaper) = (CUBIC.ours(POLICER, 500_000), CUBIC.ours(SHAPER, 500_000));
    println!("500 kB: ns-3 {ns3:?}, policer {policer:?}, shaper {shaper:?}");
    assert!(policer.0 < ns3.0 && ns3.0 < shaper.0);
    assert!((policer.2 - ns3.2).abs() < 1.5 && (shaper.2 - ns3.2).abs() < 1.5);
}

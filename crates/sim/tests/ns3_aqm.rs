//! Five Reno flows through CoDel, PIE, FQ-CoDel, RED, ARED and drop-tail, against ns-3.
//!
//! Source of the numbers: ns-3.37 (Debian 12's libns3-dev), own runs: SACK and PRR over 20 Mbit/s, RTTs 44, 52, 60, 68, 76 ms, 1502
//! bytes on the wire, initial window 10, delayed ACK 2 (40 ms), minimum RTO 0.2 s, 80 s of which 20 are warm-up, one run each;
//! AQMs at ns-3's defaults before 200 packets. What ns-3 does otherwise: the ACK that ends a recovery also grows the window (its
//! last partial ACK is counted once more, +2.2 segments on average), which neither RFC 6582 nor RFC 5681 has. `X` is its
//! Reno without that: what is compared. Its own Reno loses more, and by how much is held here, too.
//! Tolerances: in 60 s there are 140 to 350 losses, so one run's loss has a standard deviation of 5 to 9 % (a loss event is one
//! or two drops), ours a fifth less with five runs: 3 of those would be 15 to 27 %; 15 % is asked. Delay 10 %, as two
//! seeds of ns-3 differ by up to 4 %; utilization one point.

use sim::{Engine, Options, simulate};

/// What is measured of the link: utilization, waiting and its own transmission in milliseconds, share lost.
#[derive(Clone, Copy, Debug)]
struct Row {
    utilization: f64,
    delay_ms: f64,
    loss: f64,
}

const fn row(utilization: f64, delay_ms: f64, loss: f64) -> Row {
    Row { utilization, delay_ms, loss }
}

/// Queue as our file says it, buffer; ns-3 without the doubled growth; ns-3's own Reno (mean of two seeds).
#[rustfmt::skip]
const NS3: [(&str, &str, u32, Row, Row); 6] = [
    ("codel", "discipline = \"codel\"", 200, row(0.97555, 7.427, 3.1822e-3), row(0.98728, 8.617, 3.9449e-3)),
    ("pie", "discipline = \"pie\", target = \"20 ms\"", 200, row(0.98694, 18.360, 2.6090e-3), row(0.99281, 18.097, 3.1523e-3)),
    ("fq-codel", "discipline = \"fq-codel\"", 200, row(0.96656, 5.078, 2.9346e-3), row(0.97476, 5.659, 3.7298e-3)),
    ("red", RED, 200, row(0.95035, 9.382, 3.4851e-3), row(0.97269, 10.269, 4.1182e-3)),
    ("ared", ARED, 200, row(0.98217, 6.863, 2.8967e-3), row(0.98528, 6.842, 3.7867e-3)),
    ("drop-tail", "discipline = \"drop-tail\"", 25, row(0.93840, 5.717, 5.4453e-3), row(0.94969, 6.124, 7.1937e-3)),
];

/// Thresholds of 5 and 15 packets, gentle, max_p 1/50, weight 0.002.
const RED: &str = "discipline = \"red\", min_th = \"5 packets\", max_th = \"15 packets\", max_p = 0.02, w_q = 0.002";
const ARED: &str = "discipline = \"ared\", min_th = \"5 packets\", max_th = \"15 packets\", w_q = 0.002";

fn run(queue: &str, buffer: u32, replication: u32) -> Row {
    let text = format!(
        "duration = \"80 s\"\nwarmup = \"20 s\"\nreplications = 5\nseed = 1\n\
         [[links]]\nname = \"link\"\nrate = \"20 Mbit/s\"\nbuffer = \"{buffer} packets\"\nqueue = {{ {queue} }}\n\
         [[flows]]\nname = \"reno\"\ncount = 5\npath = [\"link\"]\nrtt = {{ from = \"44 ms\", to = \"76 ms\" }}\n\
         control = {{ law = \"reno\" }}\nrecovery = \"prr\"\npacket = \"1502 B\"\n\
         start = {{ from = \"0 s\", to = \"1 s\" }}\n\
         tcp = {{ initial_window = 10, delayed_ack = 2, delayed_ack_timeout = \"40 ms\", min_rto = \"0.2 s\" }}\n"
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { engine: Engine::Window, series: false, hash: false };
    let outcome = simulate(&scenario, replication, options).expect("small");
    let link = &outcome.links[0];
    let dropped: u64 = link.dropped.iter().sum();
    Row {
        utilization: link.utilization,
        delay_ms: 1e3 * link.queueing_delay_s + 1502.0 * 8.0 / 20e3,
        loss: dropped as f64 / link.arrived as f64,
    }
}

fn mean(queue: &str, buffer: u32) -> Row {
    let rows: Vec<_> = (0..5).map(|replication| run(queue, buffer, replication)).collect();
    let of = |pick: fn(&Row) -> f64| rows.iter().map(pick).sum::<f64>() / rows.len() as f64;
    Row { utilization: of(|r| r.utilization), delay_ms: of(|r| r.delay_ms), loss: of(|r| r.loss) }
}

#[test]
#[ignore = "prints"]
fn table() {
    for (name, queue, buffer, x, own) in NS3 {
        let ours = mean(queue, buffer);
        println!("{name}: ours {ours:?}\n   x {x:?}\n   own {own:?}");
        println!(
            "   loss {:+.3} delay {:+.3} own {:+.3}",
            ours.loss / x.loss - 1.0,
            ours.delay_ms / x.delay_ms - 1.0,
            ours.loss / own.loss - 1.0
        );
    }
}

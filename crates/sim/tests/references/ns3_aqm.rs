//! Five Reno flows through CoDel, PIE, FQ-CoDel, RED, ARED and drop-tail, against ns-3.
//!
//! Source of the numbers: ns-3.37 (Debian 12's libns3-dev), own runs: SACK and PRR over 20 Mbit/s, RTTs 44, 52, 60, 68, 76 ms, 1502
//! bytes on the wire, initial window 10, delayed ACK 2 (40 ms), minimum RTO 0.2 s, 80 s of which 20 are warm-up; AQMs at
//! ns-3's defaults before 200 packets. Waiting there includes the one packet of its device queue, as ours does.
//! Differs in ns-3: the ACK that ends a recovery also grows the window (+2.2 segments on average), which neither RFC 6582 nor
//! RFC 5681 has. `X` is its Reno without that, and what is compared. Its own Reno loses more; by how much is held here, too.
//! Tolerances: in 60 s there are 140 to 350 losses, so one run's loss has a standard deviation of 6 to 9 %: 15 % is asked; delay
//! 10 %, as two seeds of ns-3 differ by up to 4 %; utilization a point and a half, as its two seeds differ by up to 0.7.

use sim::{Engine, Options, simulate};

/// Measurements of the link: utilization, waiting time in milliseconds, share lost.
#[derive(Clone, Copy, Debug)]
struct Row {
    utilization: f64,
    delay_ms: f64,
    loss: f64,
}

const fn row(utilization: f64, delay_ms: f64, loss: f64) -> Row {
    Row { utilization, delay_ms, loss }
}

/// Queue as our file says it, buffer; ns-3's `X`, one seed; ns-3's own Reno, mean of two.
#[rustfmt::skip]
const NS3: [(&str, u32, Row, Row); 5] = [
    ("discipline = \"codel\"", 200, row(0.97555, 7.427, 3.1822e-3), row(0.98728, 8.617, 3.9449e-3)),
    ("discipline = \"pie\", derandomize = false", 200, row(0.98694, 18.360, 2.6090e-3), row(0.99281, 18.097, 3.1523e-3)),
    ("discipline = \"fq-codel\"", 200, row(0.96656, 5.078, 2.9346e-3), row(0.97476, 5.659, 3.7298e-3)),
    (ARED, 200, row(0.98217, 6.863, 2.8967e-3), row(0.98528, 6.842, 3.7867e-3)),
    ("discipline = \"drop-tail\"", 25, row(0.93840, 5.717, 5.4453e-3), row(0.94969, 6.124, 7.1937e-3)),
];

/// ns-3's thresholds are 5 and 15 packets, without the one in the device, which its discipline does not see and ours does: one
/// more here. Gentle, `max_p` 1/50, weight 0.002. There is no run of `X` with RED; of ns-3's own Reno, own run, three seeds.
const RED: &str = "discipline = \"red\", min_th = \"6 packets\", max_th = \"16 packets\", max_p = 0.02, w_q = 0.002";
const RED_OWN: Row = row(0.9818, 6.6, 3.89e-3);
const ARED: &str = "discipline = \"ared\", min_th = \"6 packets\", max_th = \"16 packets\", w_q = 0.002";

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
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    let outcome = simulate(&scenario, replication, options).expect("small");
    let link = &outcome.links[0];
    let dropped: u64 = link.dropped.iter().sum();
    Row {
        utilization: link.utilization,
        delay_ms: 1e3 * link.queueing_delay_s,
        loss: dropped as f64 / link.arrived as f64,
    }
}

fn mean(queue: &str, buffer: u32) -> Row {
    let rows: Vec<_> = (0..5).map(|replication| run(queue, buffer, replication)).collect();
    let of = |pick: fn(&Row) -> f64| rows.iter().map(pick).sum::<f64>() / rows.len() as f64;
    Row { utilization: of(|r| r.utilization), delay_ms: of(|r| r.delay_ms), loss: of(|r| r.loss) }
}

impl Row {
    fn is_near(self, other: Self) -> bool {
        (self.utilization - other.utilization).abs() < 0.015
            && (self.delay_ms / other.delay_ms - 1.0).abs() < 0.10
            && (self.loss / other.loss - 1.0).abs() < 0.15
    }
}

#[test]
fn agrees_with_ns3_where_its_reno_grows_as_the_rfcs_say() {
    let ours: Vec<_> = NS3.iter().map(|&(queue, buffer, ..)| mean(queue, buffer)).collect();
    for (mine, (queue, _, x, _)) in ours.iter().zip(NS3) {
        assert!(mine.is_near(x), "{queue}: {mine:?}, ns-3 {x:?}");
    }
    // Beside it, the wrong queue: of twenty pairs of different queues hardly one is as near.
    let wrong = |i: usize, j: usize| i != j && ours[i].is_near(NS3[j].2);
    let near = (0..NS3.len()).flat_map(|i| (0..NS3.len()).map(move |j| (i, j))).filter(|&(i, j)| wrong(i, j));
    assert!(near.clone().count() <= 2, "{:?}", near.collect::<Vec<_>>());
}

#[test]
fn the_doubled_growth_of_ns3_costs_it_an_eighth_to_a_quarter_more_losses() {
    let rows = NS3.iter().map(|&(queue, buffer, _, own)| (queue, buffer, own)).chain([(RED, 200, RED_OWN)]);
    for (queue, buffer, own) in rows {
        let less = 1.0 - mean(queue, buffer).loss / own.loss;
        // 0.12 to 0.25 in the runs of ns-3 that found it; a sender like ns-3's would be at 0.
        assert!((0.08..0.30).contains(&less), "{queue}: {less}");
    }
}

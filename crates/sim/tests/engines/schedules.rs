//! Links whose rate changes: both engines agree, a schedule with a single rate equals a fixed rate, and a link passes as much as
//! its schedule permits.

use crate::equality::{dumbbell, equal};
use queue::QUEUES;
use sim::{Engine, Options, Outcome, simulate};

const STEPS: &str =
    r#"{ steps = [["0 s", "20 Mbit/s"], ["700 ms", "0 bit/s"], ["900 ms", "4 Mbit/s"]], period = "1.3 s" }"#;
const SINE: &str = r#"{ sine = { mean = "10 Mbit/s", amplitude = "9 Mbit/s", period = "3 s" } }"#;
const MARKOV: &str = r#"{ markov = { rates = ["20 Mbit/s", "1 Mbit/s"], times = ["300 ms", "150 ms"] } }"#;
/// 11 opportunities in 12 ms.
const TRACE: &str = r#"{ opportunities = "1 2 3x3 4 6 7x2 8 12" }"#;

/// `text` with another rate of its link.
fn with_rate(text: &str, rate: &str) -> String {
    text.replace("rate = \"10 Mbit/s\"", &format!("rate = {rate}"))
}

fn run(text: &str, record: &str) -> Outcome {
    let scenario = scenario::read(&format!("{record}\n{text}")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, 0, Options { engine: Engine::Window, series: true, hash: true, ..Options::default() })
        .expect("small")
}

#[test]
fn engines_agree_for_every_discipline_on_changing_rates() {
    for (i, queue) in QUEUES.iter().map(|entry| entry.card.name).enumerate() {
        let law = if queue == "xcp" { "control = { law = \"xcp\" }" } else { "tcp = { ecn = true }" };
        let text = dumbbell(5, "40 packets", &format!("queue = {{ discipline = \"{queue}\" }}"), law);
        // Each discipline with two of the four kinds of rate.
        for rate in [[STEPS, SINE], [MARKOV, TRACE]].map(|two| two[i % 2]) {
            let outcome = equal(&format!("{queue} {rate}"), &with_rate(&text, rate).replace("\"8 s\"", "\"5 s\""));
            // Packets that cross the ends of the measured 3 s add less than 0.1 % at 10 Mbit/s.
            assert!(
                (0.05..1.001).contains(&outcome.links[0].utilization),
                "{queue} {rate}: {}",
                outcome.links[0].utilization
            );
        }
    }
}

#[test]
fn acks_share_a_link_that_changes_and_one_that_is_a_trace() {
    let two = |rate: &str, other: &str| {
        let link = |name: &str, rate: &str| {
            format!("[[links]]\nname = \"{name}\"\nrate = {rate}\ndelay = \"5 ms\"\nbuffer = \"30 packets\"\n")
        };
        let flow = |path: &str, back: &str| {
            format!(
                "[[flows]]\ncount = 2\npath = [\"{path}\"]\nreturn = [\"{back}\"]\nrtt = \"40 ms\"\npacket = \"1500 B\"\n"
            )
        };
        let text = [link("a", rate), link("b", other), flow("a", "b"), flow("b", "a")].concat();
        equal(&format!("{rate} {other}"), &format!("duration = \"4 s\"\n{text}"));
    };
    two(TRACE, TRACE);
    two(STEPS, "{ opportunities = \"1x9\" }");
    two(MARKOV, SINE);
}

#[test]
fn one_rate_in_steps_is_a_link_of_one_rate() {
    for queue in ["drop-tail", "red", "codel", "fq-codel", "pie"] {
        let text = dumbbell(5, "40 packets", &format!("queue = {{ discipline = \"{queue}\" }}"), "");
        let one = equal(queue, &text);
        for rate in [
            r#"{ steps = [["0 s", "10 Mbit/s"]] }"#,
            r#"{ steps = [["0 s", "10 Mbit/s"], ["1 s", "10 Mbit/s"]], period = "3 s" }"#,
            r#"{ markov = { rates = ["10 Mbit/s", "10 Mbit/s"], times = ["1 s", "1 s"] } }"#,
            // Here the link has a schedule and serves packet by packet, but the second rate begins only when the run ends.
            r#"{ steps = [["0 s", "10 Mbit/s"], ["8 s", "20 Mbit/s"]] }"#,
        ] {
            let mut said = equal(&format!("{queue} {rate}"), &with_rate(&text, rate));
            said.links[0].rate_changes = false;
            assert_eq!(said, one, "{queue} {rate}");
        }
    }
}

/// Scenario with a link of this rate and 80 Mbit/s of datagrams of `packet` bytes.
fn flooded(rate: &str, packet: u32) -> String {
    format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[[links]]\nname = \"l\"\nrate = {rate}\nbuffer = \"50 packets\"\n\
         [[flows]]\npath = [\"l\"]\nrtt = \"10 ms\"\npacket = \"{packet} B\"\n\
         traffic = {{ kind = \"cbr\", rate = \"80 Mbit/s\" }}"
    )
}

#[test]
fn a_square_wave_passes_its_mean() {
    let square = r#"{ steps = [["0 s", "40 Mbit/s"], ["1 s", "10 Mbit/s"]], period = "2 s" }"#;
    let link = &run(&flooded(square, 1500), "").links[0];
    assert_eq!(link.capacity_bps, 25e6);
    // Ten seconds are five periods. All of their capacity is used, except for a packet at either end.
    assert!((link.utilization - 1.0).abs() < 2.0 * 12_000.0 / 250e6, "{}", link.utilization);
    // The results are also right if the measured time is not a whole number of periods: 2 to 3.5 s are 1 s at 40 Mbit/s and
    // 0.5 s at 10.
    let part = flooded(square, 1500).replace("\"12 s\"", "\"3.5 s\"");
    let link = &run(&part, "").links[0];
    assert!((link.capacity_bps - 45e6 / 1.5).abs() < 1e-3 && (link.utilization - 1.0).abs() < 2.0 * 12_000.0 / 45e6);
    // Control: relative to the highest rate, 40 Mbit/s, the utilization would be 30/40.
    assert!((link.utilization * link.capacity_bps / 40e6 - 0.75).abs() < 0.01);
}

#[test]
fn a_trace_is_replayed_packet_by_packet_at_exactly_its_opportunities() {
    // Random times in whole milliseconds, with pauses and bursts. The last time of a cycle is time 0 of the next one.
    let mut list = vec![0u64];
    let mut random = base::Stream::new(3, 0, ("test", 0), "trace");
    while list.len() < 1500 {
        let last = list[list.len() - 1];
        list.push(last + [0, 0, 1, 1, 2, 17][random.below(6) as usize]);
    }
    let period = list[list.len() - 1];
    let words: Vec<String> = list.iter().map(u64::to_string).collect();
    let rate = format!("{{ opportunities = \"{}\" }}", words.join(" "));
    let text = flooded(&rate, 1500);
    let outcome = run(&text, "record = { packets = [{ link = \"l\", from = \"0 s\", to = \"12 s\" }] }");
    // Start of service of each packet: for the first its arrival, for the others the departure of the packet before it.
    let began: Vec<u64> = outcome.packets[0]
        .rows
        .iter()
        .filter(|row| !row.dropped && row.left != base::Time::NEVER)
        .map(|row| row.left.0)
        .collect();
    let all = (0..).flat_map(|cycle: u64| list.iter().map(move |ms| cycle * period + ms));
    // Each opportunity after the first arrival passes one packet. Opportunities at or before it are unused.
    let first = began[0];
    let expected: Vec<u64> = all.filter(|ms| ms * 1_000_000_000 > first).take(began.len() - 1).collect();
    let left: Vec<u64> = began[1..].iter().map(|ps| ps / 1_000_000_000).collect();
    assert_eq!(left, expected);
    assert!(left.len() > 3000, "{}", left.len());
    // Packets of the same millisecond leave one picosecond apart.
    let (mut ms, mut since) = (0, 0);
    for ps in &began[1..] {
        since = if ps / 1_000_000_000 == ms { since + 1 } else { 0 };
        ms = ps / 1_000_000_000;
        assert_eq!(ps % 1_000_000_000, since);
    }
}

#[test]
fn small_packets_share_opportunities_and_unused_ones_are_lost() {
    // 1504 bytes each millisecond, and 4 bytes of overhead per packet: two packets of 748, or one of 1000 and half of the
    // next.
    let rate = "{ opportunities = \"1\" }";
    let passed = |packet: u32| run(&flooded(rate, packet), "").links[0].begun as f64 / 10_000.0;
    assert_eq!((passed(748).round(), passed(1500).round()), (2.0, 1.0));
    assert!((passed(1000) - 1504.0 / 1004.0).abs() < 1e-3, "{}", passed(1000));
    // Opportunities that a slow sender does not use are not saved: at 1500 bytes per 2 ms half of the capacity is unused.
    let text = flooded(rate, 1500).replace("80 Mbit/s", "6 Mbit/s");
    let link = &run(&text, "").links[0];
    assert!((link.utilization - 0.5 * 1500.0 / 1504.0).abs() < 1e-3 && link.dropped == [0; 5]);
    assert_eq!(link.capacity_bps, 12_032_000.0);
}

const BUCKET: &str = r#"{ rate = "6 Mbit/s", burst = "20 kB" }"#;

#[test]
fn policers_shapers_and_batches_are_the_same_in_both_engines() {
    for (i, queue) in ["drop-tail", "red", "codel", "fq-codel", "drr"].into_iter().enumerate() {
        for more in [
            format!("policer = {BUCKET}"),
            format!("shaper = {BUCKET}"),
            "batch = \"7 ms\"".to_owned(),
            format!(
                "policer = {BUCKET}\nshaper = {BUCKET}\nbatch = \"3 ms\"\nloss = {{ bursts = {{ mean = 0.01, length = 3 }} }}"
            ),
        ] {
            let text = dumbbell(4, "40 packets", &format!("queue = {{ discipline = \"{queue}\" }}\n{more}"), "");
            let rate = ["\"10 Mbit/s\"", STEPS, TRACE][i % 3];
            let outcome =
                equal(&format!("{queue} {more} {rate}"), &with_rate(&text, rate).replace("\"8 s\"", "\"5 s\""));
            let policed = more.contains("policer") && more.lines().count() == 1;
            // `dropped[2]` counts forced drops, which include those of a policer.
            assert!(!policed || outcome.links[0].dropped[2] > 0, "{queue} {more} {rate}");
        }
    }
}

/// Times at which each served packet began service, in picoseconds.
fn served(outcome: &Outcome) -> Vec<u64> {
    let rows = outcome.packets[0].rows.iter().filter(|row| !row.dropped && row.left != base::Time::NEVER);
    rows.map(|row| row.left.0).collect()
}

const PACKETS: &str = "record = { packets = [{ link = \"l\", from = \"0 s\", to = \"12 s\" }] }";

#[test]
fn a_shaper_lets_a_burst_through_at_the_rate_of_the_link_and_then_its_own_rate() {
    let text = flooded("\"100 Mbit/s\"", 1500)
        .replace("buffer =", "shaper = { rate = \"10 Mbit/s\", burst = \"30 kB\" }\nbuffer =");
    let outcome = run(&text, PACKETS);
    // A packet that waits for tokens counts as in service. Service of a packet ends when service of the next one begins.
    let ends = &served(&outcome)[1..];
    // Packets arrive at 80 Mbit/s, every 150 us, and take 120 us at 100 Mbit/s. The bucket has tokens for 20 packets and fills at 10
    // Mbit/s, by an eighth of a packet per arrival. The 23rd packet is the first that waits (23 - 0.125 x 22 > 20).
    let gaps: Vec<u64> = ends.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).collect();
    assert!(gaps[..20].iter().all(|&us| us == 150), "{:?}", &gaps[..20]);
    // Then 1.2 ms each: 12,000 bits at 10 Mbit/s.
    assert!(gaps[24..1000].iter().all(|&us| us.abs_diff(1200) <= 1), "{:?}", &gaps[20..40]);
    let link = &outcome.links[0];
    assert_eq!(link.capacity_bps, 10e6);
    assert!((link.utilization - 1.0).abs() < 12_000.0 / 100e6, "{}", link.utilization);
}

#[test]
fn a_policer_passes_its_rate_and_queues_nothing() {
    let text = flooded("\"100 Mbit/s\"", 1500)
        .replace("buffer =", "policer = { rate = \"10 Mbit/s\", burst = \"30 kB\" }\nbuffer =");
    let link = &run(&text, "").links[0];
    // The measured ten seconds begin with an empty bucket.
    let passed = link.begun as f64 * 12_000.0;
    assert!((passed / 100e6 - 1.0).abs() < 2.0 * 12_000.0 / 100e6, "{passed}");
    assert_eq!((link.backlog_max, link.dropped[2]), (0, link.arrived - link.begun));
}

#[test]
fn what_is_served_is_handed_over_at_multiples_of_the_batch() {
    // Two links: a batch that the first link hands over arrives at the second 1 ms later, the delay of the first.
    let text = "duration = \"3 s\"\n[[links]]\nname = \"a\"\nrate = \"20 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"50 packets\"\nbatch = \"7 ms\"\n\
                [[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"500 packets\"\n\
                [[flows]]\npath = [\"a\", \"l\"]\nrtt = \"10 ms\"\npacket = \"1500 B\"\ntraffic = { kind = \"cbr\", rate = \"12 Mbit/s\" }";
    let record = PACKETS.replace("\"12 s\"", "\"3 s\"");
    let outcome = run(text, &record);
    let arrived: Vec<u64> = outcome.packets[0].rows.iter().map(|row| row.time.0).collect();
    assert!(arrived.iter().all(|at| (at - 1_000_000_000) % 7_000_000_000 == 0));
    // A batch has 7 packets: one arrives per millisecond, at 12 Mbit/s.
    let each = arrived.chunk_by(|a, b| a == b).map(<[u64]>::len).collect::<Vec<_>>();
    assert!(each[1..each.len() - 1].iter().all(|&n| n == 7), "{each:?}");
}

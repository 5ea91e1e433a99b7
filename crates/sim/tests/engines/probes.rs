//! Measurements at links beside totals: compares histograms with queueing theory, and single packets and loss events with the
//! totals and the traces, and checks that measuring changes nothing. The equality of both engines is in `fuzz`.

use sim::histogram::Histogram;
use sim::{Engine, Options, Outcome, simulate};

/// Time of a packet of 1000 B on the link of 10 Mbit/s, in seconds.
const SERVICE: f64 = 8e-4;

fn run_with(text: &str, replication: u32, options: Options) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, replication, options).expect("small")
}

fn run(text: &str, replication: u32) -> Outcome {
    run_with(text, replication, Options { series: true, ..Options::default() })
}

fn poisson(load: f64, record: &str) -> String {
    let rate = (load * 1e7).round();
    format!(
        r#"
duration = "220 s"
warmup = "20 s"
record = {{ {record} }}
[[links]]
name = "l"
rate = "10 Mbit/s"
buffer = "unlimited"
[[flows]]
path = ["l"]
rtt = "10 ms"
packet = "1000 B"
traffic = {{ kind = "poisson", rate = "{rate} bit/s" }}
"#
    )
}

fn dumbbell(queue: &str, record: &str) -> String {
    format!(
        r#"
duration = "20 s"
warmup = "5 s"
record = {{ {record} }}
[[links]]
name = "l"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "20 packets"
queue = {{ discipline = "{queue}" }}
[[flows]]
count = 6
path = ["l"]
rtt = {{ from = "40 ms", to = "61 ms" }}
packet = "1000 B"
start = {{ from = "0 s", to = "1 s" }}
"#
    )
}

/// Share of what a histogram holds in its first `bins`.
fn below(histogram: &[u64], bins: usize) -> f64 {
    histogram.iter().take(bins).sum::<u64>() as f64 / histogram.iter().sum::<u64>() as f64
}

/// The bin of `sim`'s histograms that holds `value`: 32 to a doubling above 64.
fn bin(value: f64) -> usize {
    let octave = (libm::log2(value).floor() - 5.0).max(0.0);
    (32.0 * octave + (value / libm::exp2(octave)).floor()) as usize
}

/// The smallest value in bin number `bin`.
fn lower(bin: usize) -> f64 {
    let octave = (bin / 32).saturating_sub(1);
    (bin - 32 * octave) as f64 * libm::exp2(octave as f64)
}

/// Probability that M/D/1 waits at most `t` service times.
///
/// Source: A. K. Erlang 1909, in the form of Crommelin 1932:
/// (1 - rho) sum over k <= t of (rho (k - t))^k / k! e^(-rho (k - t)).
fn md1_wait(rho: f64, t: f64) -> f64 {
    let (mut sum, mut factorial) = (0.0, 1.0);
    for k in 0..=t as u32 {
        factorial *= f64::from(k.max(1));
        let x = rho * (f64::from(k) - t);
        sum += libm::pow(x, f64::from(k)) / factorial * libm::exp(-x);
    }
    (1.0 - rho) * sum
}

#[test]
fn waits_at_a_poisson_stream_are_distributed_as_erlang_says() {
    // By packets, and by samples of what a packet would have waited: Poisson arrivals see time averages.
    for load in [0.5, 0.8] {
        let text = poisson(load, "every = \"5 ms\", delays = true");
        let outcomes: Vec<Outcome> = (0..20).map(|replication| run(&text, replication)).collect();
        let bound = |histogram: &dyn Fn(&Outcome) -> f64, expected: f64, name: &str| {
            let values: Vec<f64> = outcomes.iter().map(histogram).collect();
            let mean = values.iter().sum::<f64>() / 20.0;
            let square: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
            // Four standard errors of 20 replications, each of 200 s: a test in a thousand would miss by chance.
            let four = 4.0 * (square / 19.0 / 20.0).sqrt();
            assert!((mean - expected).abs() < four, "{name}, load {load}: {mean} +- {four} for {expected}");
            assert!(four < 0.02, "{name}, load {load}: {four}");
        };
        for t in [0.0f64, 0.5, 1.0, 2.5, 6.0] {
            // Exactly zero is a bin of its own; otherwise the probability where a bin begins.
            let bins = if t > 0.0 { bin(t * SERVICE * 1e12) } else { 1 };
            let expected = md1_wait(load, if t > 0.0 { lower(bins) / (SERVICE * 1e12) } else { 0.0 });
            bound(&|outcome| below(outcome.links[0].delay_histogram.counts(), bins), expected, "packets");
            bound(&|outcome| below(outcome.links[0].drain_histogram.counts(), bins), expected, "samples");
        }
    }
}

#[test]
fn every_packet_is_recorded_and_its_wait_is_what_it_found() {
    for queue in ["drop-tail", "red", "fq", "codel"] {
        let text = dumbbell(queue, "packets = [{ link = \"l\", from = \"5 s\", to = \"20 s\" }], delays = true");
        let outcome = run(&text, 0);
        let (link, rows) = (&outcome.links[0], &outcome.packets[0].rows);
        assert_eq!(rows.len() as u64, link.arrived, "{queue}");
        let dropped = rows.iter().filter(|row| row.dropped).count() as u64;
        // A discipline may drop what came before the warm-up after it.
        let most = link.dropped.iter().sum::<u64>();
        assert!(dropped <= most && dropped + 20 >= most && most > 20, "{queue}: {dropped} of {most}");
        let served = rows.iter().filter(|row| !row.dropped && row.left != base::Time::NEVER);
        let (mut sum, mut n) = (0.0, 0.0);
        for row in served {
            let waited = (row.left - row.time).as_secs() / SERVICE;
            (sum, n) = (sum + waited, n + 1.0);
            // First come first served: behind what it found, and what was left of a service. CoDel may drop some of it.
            let behind = waited - f64::from(row.backlog);
            assert!(behind >= -1e-9 || queue == "codel" || queue == "fq", "{queue}: {row:?} {behind}");
            assert!(queue == "fq" || behind <= 1.0 + 1e-9, "{queue}: {row:?} {behind}");
        }
        // Up to the few that waited at either end.
        assert!((sum / n * SERVICE / link.queueing_delay_s - 1.0).abs() < 0.01, "{queue}");
        let (counted, begun) = (link.delay_histogram.total(), rows.len() as u64 - dropped);
        assert!(counted.abs_diff(begun) <= 21, "{queue}: {counted} {begun}");
    }
}

#[test]
fn the_waits_of_each_group_are_those_of_its_packets() {
    // Two groups, the second of sessions with more senders than flows, and datagrams: by sender they do not lie evenly.
    let more = r#"
[[flows]]
count = 3
path = ["l"]
rtt = "50 ms"
packet = "1000 B"
traffic = { kind = "web", think = "200 ms" }
[[flows]]
path = ["l"]
rtt = "50 ms"
packet = "500 B"
traffic = { kind = "cbr", rate = "1 Mbit/s" }
"#;
    for queue in ["drop-tail", "fq"] {
        let text = dumbbell(queue, "packets = [{ link = \"l\", from = \"5 s\", to = \"20 s\" }], delays = true") + more;
        let outcomes = [Engine::Window, Engine::Reference]
            .map(|engine| run_with(&text, 0, Options { engine, ..Options::default() }));
        let link = &outcomes[0].links[0];
        assert_eq!(link.group_delay_histograms, outcomes[1].links[0].group_delay_histograms, "{queue}");
        assert_eq!(link.group_delay_histograms.len(), 3, "{queue}");
        assert_eq!(
            link.group_delay_histograms.iter().map(Histogram::total).sum::<u64>(),
            link.delay_histogram.total(),
            "{queue}"
        );
        // The datagrams come last: their sender is the one with the largest number.
        let last = outcomes[0].packets[0].rows.iter().map(|row| row.flow).max().expect("packets");
        let of_last = |row: &&sim::PacketRow| row.flow == last && !row.dropped && row.left != base::Time::NEVER;
        let rows = outcomes[0].packets[0].rows.iter().filter(of_last).count() as u64;
        // Up to those that waited at either end.
        assert!(rows > 1000 && rows.abs_diff(link.group_delay_histograms[2].total()) <= 20, "{queue}: {rows}");
    }
}

#[test]
fn looking_at_packets_changes_nothing() {
    for queue in ["drop-tail", "red", "fq"] {
        let plain = run(&dumbbell(queue, ""), 1);
        let mut seen =
            run(&dumbbell(queue, "packets = [{ link = \"l\", from = \"0 s\", to = \"20 s\" }], delays = true"), 1);
        assert!(!seen.packets[0].rows.is_empty() && !seen.links[0].delay_histogram.is_empty());
        seen.packets.clear();
        seen.links[0].delay_histogram = Histogram::default();
        seen.links[0].group_delay_histograms.clear();
        assert_eq!(plain, seen, "{queue}");
    }
}

#[test]
fn bytes_begun_between_samples_are_the_utilization() {
    for queue in ["drop-tail", "drr"] {
        let outcome = run(&dumbbell(queue, "every = \"50 ms\""), 0);
        let (link, begun) = (&outcome.links[0], &outcome.links[0].begun_bytes_samples);
        assert_eq!((begun.len(), begun[0]), (400, 0));
        assert!(begun.windows(2).all(|two| two[1] >= two[0] && two[1] - two[0] <= 62_500 + 1000));
        // From 5 s to 19.95 s of 20 s: the last interval ends with the run.
        let utilization = (begun[399] - begun[100]) as f64 * 8.0 / (1e7 * 14.95);
        assert!((utilization - link.utilization).abs() < 0.05 / 15.0, "{utilization} {}", link.utilization);
    }
}

#[test]
fn drops_of_traced_flows_make_the_loss_events() {
    let trace: Vec<String> = (0..6).map(|flow| format!("\"flows[{flow}]\"")).collect();
    let text = dumbbell("drop-tail", &format!("trace = [{}]", trace.join(", ")));
    for replication in 0..3 {
        for engine in [Engine::Window, Engine::Reference] {
            let outcome = run_with(
                &text.replace("[[flows]]", "[[flows]]\nname = \"flows\""),
                replication,
                Options { engine, ..Options::default() },
            );
            let mut drops: Vec<(u64, u32)> = Vec::new();
            for trace in &outcome.traces {
                drops.extend(trace.drops.iter().map(|drop| (drop.time.0, trace.flow)));
            }
            drops.sort_unstable();
            drops.retain(|drop| drop.0 >= 5_000_000_000_000);
            let (mut events, mut hit, mut last) = (0, 0, 0);
            let mut flows = std::collections::BTreeSet::new();
            for (time, flow) in drops {
                // The mean of 40 ms to 61 ms.
                if events == 0 || time - last >= 50_500_000_000 {
                    events += 1;
                    flows.clear();
                }
                hit += u64::from(flows.insert(flow));
                last = time;
            }
            let link = &outcome.links[0];
            assert_eq!((link.loss_events, link.flows_hit), (events, hit));
            assert!(events > 10 && hit > events, "{events} {hit}");
        }
    }
}

#[test]
fn packets_of_sessions_are_their_flows_and_links_of_arrays_have_a_number() {
    let text = r#"
duration = "5 s"
record = { packets = [{ link = "out", from = "0 s", to = "5 s" }, { link = "in[2]", from = "0 s", to = "5 s" }] }
[[links]]
name = "in"
count = 3
rate = "10 Mbit/s"
buffer = "20 packets"
[[links]]
name = "out"
rate = "10 Mbit/s"
buffer = "20 packets"
[[flows]]
name = "users"
count = 6
path = ["in[*]", "out"]
rtt = "30 ms"
packet = "1000 B"
traffic = { kind = "engset", size = "50 kB", think = "200 ms" }
"#;
    let outcome = run(text, 0);
    let named: Vec<(u32, u32)> = outcome.packets.iter().map(|trace| (trace.link, trace.member)).collect();
    assert_eq!(named, [(0, 2), (1, 0)]);
    let flows = |of: usize| {
        let rows = outcome.packets[of].rows.iter();
        rows.map(|row| row.flow).collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    // Flow i takes link i mod 3 of the array.
    assert_eq!((flows(0), flows(1)), (vec![2, 5], vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(outcome.packets[1].rows.len() as u64, outcome.links[1].arrived);
}

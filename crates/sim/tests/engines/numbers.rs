//! Numbers of segments, datagrams and ACKs around the last one of 32 bits: packets carry the low 32 of 64 bits, and no result
//! depends on where they begin.

use sim::{Engine, Options, Outcome, simulate};

/// Numbers of 32 bits, of which packets carry one.
const WRAP: u64 = 1 << 32;

fn run(text: &str, engine: Engine, first_number: u64) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine, series: true, hash: true, first_number, ..Options::default() };
    simulate(&scenario, 1, options).expect("small")
}

/// Runs `text` with first numbers so far before the end of 32 bits, and wants what it gives with 0, in both engines.
fn same_wherever_numbers_begin(name: &str, text: &str, before: &[u64]) -> Outcome {
    let expected = run(text, Engine::Window, 0);
    for engine in [Engine::Window, Engine::Reference] {
        // At the third the sign of a difference of 32 bits would change; the last has passed the end before.
        let near = before.iter().map(|back| WRAP - back);
        for first in near.chain([WRAP / 2 - before[0], 3 * WRAP - before[0]]) {
            let outcome = run(text, engine, first);
            assert_eq!(outcome.hash, expected.hash, "{name}, {engine:?}, from {first}");
            assert_eq!(outcome, expected, "{name}, {engine:?}, from {first}");
        }
    }
    expected
}

/// Two flows over a link that is too small for their bursts, a third across it, ACKs that share a way back.
fn lossy(recovery: &str, more: &str) -> String {
    let back = if more.contains("return") { "" } else { "return = [\"back\"]\n" };
    format!(
        r#"
duration = "20 s"
[[links]]
name = "there"
rate = "4 Mbit/s"
delay = "5 ms"
buffer = "12 packets"
loss = {{ random = 0.01 }}
[[links]]
name = "back"
rate = "20 kbit/s"
delay = "5 ms"
buffer = "4 packets"
[[flows]]
name = "straight"
path = ["there"]
rtt = "40 ms"
recovery = "{recovery}"
{more}
[[flows]]
name = "acks"
path = ["there"]
rtt = "60 ms"
recovery = "{recovery}"
{back}
{more}
[record]
every = "100 ms"
delays = true
trace = ["straight[0]"]
packets = [{{ link = "there", from = "0 s", to = "1 s" }}, {{ link = "there", from = "15 s", to = "16 s" }}]
"#
    )
}

#[test]
fn every_recovery_goes_on_over_the_end_of_32_bits() {
    for recovery in ["tahoe", "reno", "newreno", "sack", "prr", "rack"] {
        let outcome = same_wherever_numbers_begin(recovery, &lossy(recovery, ""), &[1, 2, 100, 1000, 1001, 1500]);
        let drops = &outcome.traces[0].drops;
        // What the runs are for: segments around the edge were lost, and others arrived.
        assert!(drops.iter().any(|drop| (900..1100).contains(&drop.seq)), "{recovery}");
        let last = outcome.traces[0].rows.last().map(|row| row.una);
        assert!(last > Some(1700), "{recovery}: {last:?}");
        let rows = &outcome.packets[0].rows;
        assert!(rows.iter().any(|row| row.seq > 1500) && rows.iter().all(|row| row.seq < 100_000), "{recovery}");
    }
}

#[test]
fn every_edge_is_met_by_a_loss_a_repair_and_a_timeout() {
    // Each number of a stretch in its turn is the first after the edge.
    for recovery in ["newreno", "sack", "rack"] {
        let edges: Vec<u64> = (180..420).step_by(3).collect();
        same_wherever_numbers_begin(
            recovery,
            &lossy(recovery, "").replace("20 s", "4 s").replace("15 s", "2 s").replace("16 s", "3 s"),
            &edges,
        );
    }
}

#[test]
fn laws_that_keep_segments_and_delayed_acks_go_on_over_it() {
    for (law, tcp) in [
        ("bbr", ""),
        ("bbr1", "tcp = { delayed_ack = 2 }"),
        ("cubic", "tcp = { delayed_ack = 2, ecn = \"on\" }"),
        ("dctcp", "tcp = { delayed_ack = 2 }"),
        ("vegas", ""),
        ("westwood", "tcp = { delayed_ack = 2 }"),
    ] {
        let text = lossy("sack", &format!("control = {{ law = \"{law}\" }}\n{tcp}"));
        // A queue that marks what can be marked.
        let text = text.replacen("buffer =", "queue = { discipline = \"drop-tail\", ecn_threshold = 8 }\nbuffer =", 1);
        let outcome = same_wherever_numbers_begin(law, &text, &[50, 700]);
        let marks: u64 = outcome.links[0].marked.iter().sum();
        assert!((marks > 0) == ["cubic", "dctcp"].contains(&law), "{law}: {marks}");
    }
}

#[test]
fn a_long_window_slides_over_it_in_runs() {
    // No loss, and windows of hundreds: ACKs are taken in runs, which end where the tags do.
    let text = "duration = \"10 s\"\n[[links]]\nname = \"l\"\nrate = \"100 Mbit/s\"\nbuffer = \"5000 packets\"\n\
                [[flows]]\npath = [\"l\"]\nrtt = \"50 ms\"\ncount = 2\ntcp = { initial_ssthresh = 200 }\n\
                [record]\nevery = \"100 ms\"\n";
    for first in [1, 777, 20_000, 20_001] {
        let outcome = same_wherever_numbers_begin("long", text, &[first]);
        assert!(outcome.flows.iter().all(|flow| flow.sent > 25_000 && flow.dropped == 0));
    }
}

#[test]
fn sessions_open_transfers_on_either_side_of_it() {
    for kind in ["engset", "elastic"] {
        let traffic = match kind {
            "engset" => "traffic = { kind = \"engset\", size = \"20 kB\", think = \"100 ms\" }",
            _ => "traffic = { kind = \"elastic\", size = \"20 kB\", load = 0.3, places = 5 }",
        };
        let text = lossy("sack", traffic).replace("trace = [\"straight[0]\"]", "");
        let outcome = same_wherever_numbers_begin(kind, &text, &[1, 14, 15, 16, 200, 203, 205]);
        let completed: u64 = outcome.transfers.iter().flatten().map(|group| group.completed).sum();
        assert!(completed > 40, "{kind}: {completed}");
    }
}

#[test]
fn datagrams_are_the_same_and_as_large() {
    for size in ["constant", "exponential"] {
        let text = format!(
            "duration = \"10 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Mbit/s\"\nbuffer = \"10 packets\"\n[[flows]]\n\
             path = [\"l\"]\nrtt = \"50 ms\"\npacket = \"500 B\"\n\
             traffic = {{ kind = \"poisson\", rate = \"950 kbit/s\", size = \"{size}\" }}\n\
             [record]\nevery = \"100 ms\"\npackets = [{{ link = \"l\", from = \"5 s\", to = \"7 s\" }}]\n"
        );
        let outcome = same_wherever_numbers_begin(size, &text, &[1, 1300, 1400]);
        assert!(outcome.balance.dropped > 0, "{size}");
        let rows = &outcome.packets[0].rows;
        assert!(
            rows.first().is_some_and(|row| row.seq < 1300) && rows.last().is_some_and(|row| row.seq > 1400),
            "{size}"
        );
    }
}

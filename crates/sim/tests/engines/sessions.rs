//! Sessions: transfers that open again and again, in both engines.

use sim::{Engine, Options, Outcome, simulate};

fn run(text: &str, replication: u32, engine: Engine, hash: bool) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, replication, Options { engine, series: hash, hash, ..Options::default() }).expect("small")
}

/// Runs `text` in both engines for some replications, and returns the last outcome.
fn equal(name: &str, text: &str) -> Outcome {
    let mut last = Outcome::default();
    for replication in 0..3 {
        let (fast, plain) =
            (run(text, replication, Engine::Window, true), run(text, replication, Engine::Reference, true));
        assert_eq!(fast.balance, plain.balance, "{name}, {replication}");
        assert_eq!(fast.transfers, plain.transfers, "{name}, {replication}");
        for (f, (a, b)) in fast.flows.iter().zip(&plain.flows).enumerate() {
            assert_eq!(a, b, "{name}, {replication}, flow {f}");
        }
        assert_eq!(fast.hash, plain.hash, "{name}, {replication}");
        assert_eq!(fast, plain, "{name}, {replication}");
        last = fast;
    }
    last
}

fn users(more: &str) -> String {
    format!(
        r#"
duration = "40 s"
warmup = "4 s"
[[links]]
name = "there"
rate = "4 Mbit/s"
delay = "5 ms"
buffer = "20 packets"
[[links]]
name = "back"
rate = "100 kbit/s"
delay = "5 ms"
buffer = "5 packets"
[[flows]]
count = 20
path = ["there"]
rtt = {{ from = "30 ms", to = "90 ms" }}
packet = "500 B"
start = {{ from = "0 s", to = "1 s" }}
traffic = {{ kind = "engset", size = "20 kB", think = "1 s" }}
{more}
[record]
every = "10 ms"
"#
    )
}

#[test]
fn users_are_the_same_in_both_engines() {
    for recovery in ["tahoe", "reno", "newreno", "sack", "prr", "rack"] {
        for back in ["", "return = [\"back\"]"] {
            for law in ["reno", "cubic", "bbr", "bbr1", "westwood"] {
                if law.starts_with("bbr") && !["sack", "prr", "rack"].contains(&recovery) {
                    continue;
                }
                let name = format!("{recovery} {back} {law}");
                let more = format!("recovery = \"{recovery}\"\ncontrol = \"{law}\"\n{back}\n");
                let outcome = equal(&name, &users(&more));
                let group = outcome.transfers[0].as_ref().expect("sessions");
                assert!(group.completed > 20, "{name}: {}", group.completed);
            }
        }
    }
}

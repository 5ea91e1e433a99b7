//! Every finite transfer ends, whatever is lost on either way, under every law, slow start and recovery: no sender waits
//! for something that never comes. And both engines agree where losses are heavy.

use law::{CongestionControl, LAWS, LawSpec, STARTS, StartSpec};
use proptest::prelude::*;
use sim::{Engine, Options, simulate};
use transport::Recovery;

/// What TCP does: law, slow start, recovery, its options.
fn senders() -> impl Strategy<Value = String> {
    let of = |names: Vec<&'static str>| prop::sample::select(names);
    let names = (
        of(LAWS.iter().map(|entry| entry.card.name).collect()),
        of(STARTS.iter().map(|entry| entry.card.name).collect()),
        of(Recovery::ALL.iter().map(|row| row.1).collect()),
    );
    let times = (
        of(vec!["50 ms", "200 ms", "1 s"]),
        of(vec!["0 s", "0 s", "20 ms"]),
        of(vec!["40 ms", "200 ms", "500 ms"]),
        of(vec!["\"none\"", "\"none\"", "1", "2", "3", "5", "9"]),
    );
    let counts = (1u32..5, 1u32..15, any::<(bool, bool)>());
    (names, times, counts).prop_map(
        |((law, start, recovery), (rto, jitter, wait, window), (delayed, initial, flags))| {
            let spec = LawSpec::named(law).expect("registered");
            let classic = StartSpec::named("classic").expect("registered");
            let needs = spec.build(&classic, 2.0, f64::INFINITY).expect("defaults").needs();
            let selective = Recovery::named(recovery).is_some_and(Recovery::selective);
            let recovery = if needs.deliveries && !selective { "sack" } else { recovery };
            format!(
                "control = {{ law = \"{law}\", slow_start = \"{start}\" }}\nrecovery = \"{recovery}\"\n\
             tcp = {{ delayed_ack = {delayed}, delayed_ack_timeout = \"{wait}\", initial_window = {initial}, \
             send_jitter = \"{jitter}\", receive_window = {window}, limited_transmit = {}, ecn = {}, \
             min_rto = \"{rto}\" }}\n",
                flags.0, flags.1,
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_finite_transfer_ends(
        sender in senders(),
        (kbit, delay, buffer) in (100u32..20_000, 0u32..60_000, 1u32..60),
        (loss, ack_loss, back) in (0.0f64..0.3, 0.0f64..0.3, any::<bool>()),
        (size, count, replication) in (1u32..300, 1u32..4, 0u32..100_000),
    ) {
        // Most cases lose some percent, as paths do.
        let loss = loss * loss;
        let text = format!(
            r#"
duration = "20000 s"
record = {{ every = "1000 s" }}
[[links]]
name = "there"
rate = "{kbit} kbit/s"
delay = "{delay} us"
buffer = "{buffer} packets"
queue = {{ discipline = "drop-tail", ecn_threshold = 3 }}
loss = {{ random = {loss} }}
[[links]]
name = "back"
rate = "10 Mbit/s"
delay = "1 ms"
buffer = "100 packets"
loss = {{ random = {ack_loss} }}
[[flows]]
count = {count}
path = ["there"]
return = [{}]
rtt = {{ from = "{} us", to = "{} us" }}
packet = "1000 B"
traffic = {{ kind = "finite", size = "{size} kB" }}
{sender}"#,
            if back { "\"back\"" } else { "" },
            delay + 2_000,
            delay + 40_000,
        );
        let scenario = scenario::read(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let run = |engine| {
            simulate(&scenario, replication, Options { engine, series: false, hash: true, ..Options::default() }).expect("small")
        };
        let (fast, plain) = (run(Engine::Window), run(Engine::Reference));
        for flow in &fast.flows {
            prop_assert!(flow.finished.is_some(), "{:?}\n{}", flow, text);
        }
        prop_assert_eq!(fast.hash, plain.hash, "hashes differ:\n{}", text);
    }
}

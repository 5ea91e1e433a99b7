//! Every finite transfer ends, whatever is lost on either way, under every law, slow start and recovery: no sender waits
//! for something that never comes. And both engines agree where losses are heavy.

use crate::equality::equal;
use law::{CongestionControl, LAWS, LawSpec, STARTS, StartSpec};
use proptest::prelude::*;
use sim::{Engine, Options, simulate};
use transport::Recovery;

/// Random TCP settings: law, slow start, recovery, options.
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
        of(vec!["\"none\"", "\"none\"", "1", "2", "3", "5", "9", "{ initial = \"4096 B\", max = \"60 kB\" }"]),
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

/// A flow of 1000-byte packets whose ACKs, one for each, return over 32 kbit/s; `header` is the size of an ACK in bytes.
fn behind_slow_acks(header: u32, traffic: &str) -> sim::Outcome {
    let text = format!(
        "duration = \"30 s\"\nwarmup = \"5 s\"\n[[links]]\nname = \"there\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"unlimited\"\n\
         [[links]]\nname = \"back\"\nrate = \"32 kbit/s\"\ndelay = \"5 ms\"\nbuffer = \"unlimited\"\n[[flows]]\npath = [\"there\"]\n\
         return = [\"back\"]\nrtt = \"auto\"\npacket = \"1000 B\"\ncontrol = \"reno\"\ntraffic = {traffic}\n\
         tcp = {{ receive_window = 60, header = \"{header} B\" }}\n"
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let run = |engine| {
        let options = sim::Options { engine, hash: true, series: true, ..sim::Options::default() };
        sim::simulate(&scenario, 0, options).expect("small")
    };
    let window = run(sim::Engine::Window);
    assert_eq!(window, run(sim::Engine::Reference), "{header}");
    window
}

#[test]
fn an_ack_is_as_large_as_a_header_and_a_payload_smaller_by_it() {
    // 32 kbit/s are 100 ACKs of 40 bytes a second, or 76.9 of 52, or 55.6 of 72.
    for header in [40, 52, 72] {
        let acks_per_second = 4000.0 / f64::from(header);
        let packets = behind_slow_acks(header, "\"bulk\"").flows[0].sent as f64;
        // Of 25 s, a packet more or less at each end.
        assert!((packets - 25.0 * acks_per_second).abs() <= 2.0, "{header}: {packets}");
    }
    let sent = |header| {
        let text = format!(
            "duration = \"30 s\"\n[[links]]\nname = \"l\"\nrate = \"10 Mbit/s\"\nbuffer = \"unlimited\"\n[[flows]]\npath = [\"l\"]\n\
             rtt = \"20 ms\"\npacket = \"1000 B\"\ntraffic = {{ kind = \"finite\", size = \"96000 B\" }}\ntcp = {{ header = \"{header} B\" }}\n"
        );
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
        sim::simulate(&scenario, 0, sim::Options::default()).expect("small").flows[0].sent
    };
    // 96,000 bytes in packets of 960, 948 and 928.
    assert_eq!([sent(40), sent(52), sent(72)], [100, 102, 104]);
}

#[test]
fn thousands_that_open_at_once_on_a_slow_link() {
    // 20,000 segments arrive in a window in which the link serves 800: the next is shorter.
    let text = "duration = \"0.9 s\"\n[[links]]\nname = \"l\"\nrate = \"100 Mbit/s\"\nbuffer = \"400 packets\"\n\
                [[flows]]\ncount = 2500\npath = [\"l\"]\nrtt = { from = \"100 ms\", to = \"140 ms\" }\npacket = \"1500 B\"\n\
                control = { law = \"cubic\" }\ntcp = \"linux\"\nstart = { from = \"0 s\", to = \"0.05 s\" }\n";
    let outcome = equal("thousands", text);
    assert!(outcome.balance.dropped > 20_000, "{:?}", outcome.balance);
}

//! Hashes over every arrival and every ACK of some 460 small networks, so that a change of the physics cannot pass unnoticed where
//! both engines share the code. A change that intends to move numbers takes the new table (`make bless`) in its own commit, and
//! says which sentence of which source justifies it.
//!
//! The lists are written out, not taken from the registries: a new law or queue adds lines and moves none.

use sim::{Engine, Options, Outcome, simulate};
use std::fmt::Write;

/// Congestion-control laws, and whether each needs delivery rates and thus selective acknowledgements.
const LAWS: &[(&str, bool)] = &[
    ("reno", false),
    ("highspeed", false),
    ("ghstcp", false),
    ("nr-hstcp", false),
    ("constant-rate", false),
    ("scalable", false),
    ("fast", false),
    ("htcp", false),
    ("bic", false),
    ("vegas", false),
    ("cubic", false),
    ("westwood", false),
    ("illinois", false),
    ("yeah", false),
    ("hybla", false),
    ("compound", false),
    ("dctcp", false),
    ("tabulated", false),
    ("bbr3", true),
    ("bbr1", true),
    ("xcp", false),
    ("packet-pair", true),
    ("prague", false),
];

const RECOVERIES: &[&str] = &["tahoe", "reno", "newreno", "sack", "prr", "rack"];

const STARTS: &[&str] = &["classic", "limited", "hystart++", "hystart-linux", "hybla-start", "vegas-start"];

/// Options of TCP, by name.
const SENDERS: &[(&str, &str)] = &[
    ("plain", "{}"),
    ("linux", "\"linux\""),
    ("linux without bursts", "{ profile = \"linux\", burst = \"none\", receive_window = \"none\" }"),
    ("paced as Linux", "{ pacing = \"linux\" }"),
    ("paced as QUIC, jitter", "{ pacing = \"quic\", send_jitter = \"300 us\" }"),
    ("Linux's pacing, bursts, timers", "{ pacing = \"linux\", burst = \"linux\", rto = \"linux\", timestamps = true }"),
    ("bursts of 3, receive offload", "{ burst = 3, receive_offload = { segments = 6, wait = \"3 ms\" } }"),
    (
        "delayed ACKs, limited transmit",
        "{ delayed_ack = 2, limited_transmit = true, quick_acks = 3, min_rto = \"50 ms\" }",
    ),
    ("ECN", "{ ecn = \"on\", ecn_floor = 2 }"),
    ("L4S", "{ ecn = \"l4s\", abc_limit = 1 }"),
    ("window of 9", "{ receive_window = 9, window_validation = \"linux\" }"),
    ("autotuned window", "{ receive_window = \"linux\", initial_window = 3, window_validation = \"rfc7661\" }"),
];

const QUEUES: &[&str] = &[
    "drop-tail",
    "red",
    "ared",
    "gared",
    "pd-red",
    "blue",
    "rem",
    "pie",
    "drr",
    "fq",
    "priority-fq",
    "sfq",
    "codel",
    "fq-codel",
    "dualpi2",
    "xcp",
];

/// Further lines of a link, by name.
const WIRES: &[(&str, &str)] = &[
    ("plain", ""),
    ("random loss", "loss = { random = 0.01 }"),
    ("every 50th lost", "loss = { every = 50 }"),
    ("Gilbert-Elliott", "loss = { gilbert = { enter = 0.01, leave = 0.3, good = 0.0, bad = 0.7 } }"),
    ("outage", "loss = { during = [[\"1 s\", \"1.3 s\"]] }"),
    ("policer", "policer = { rate = \"6 Mbit/s\", burst = \"30 kB\" }"),
    ("shaper", "shaper = { rate = \"7 Mbit/s\", burst = \"20 kB\" }"),
    ("batches", "batch = \"4 ms\""),
    ("jitter", "jitter = \"2 ms\""),
    ("pool", "pool = \"chip\""),
];

/// Applications and datagrams, by name: what follows `traffic =`, and whether it is TCP.
const TRAFFIC: &[(&str, &str, bool)] = &[
    ("bulk", "\"bulk\"", true),
    ("finite", "{ kind = \"finite\", size = \"300 kB\" }", true),
    ("pausing-bulk", "{ kind = \"pausing-bulk\", on = \"400 ms\", off = \"300 ms\" }", true),
    ("video", "{ kind = \"video\", size = \"40 kB\", every = \"90 ms\" }", true),
    ("request-response", "{ kind = \"request-response\", size = \"20 kB\", think = \"50 ms\" }", true),
    ("engset", "{ kind = \"engset\", size = \"40 kB\", think = \"100 ms\" }", true),
    ("elastic", "{ kind = \"elastic\", size = \"30 kB\", rate = \"2 Mbit/s\" }", true),
    ("web", "{ kind = \"web\", size = \"12 kB\", think = \"200 ms\" }", true),
    ("page", "{ kind = \"page\", think = \"300 ms\" }", true),
    ("replay", "{ kind = \"replay\", flows = \"0 s 30 kB; 100 ms 200 kB; 700 ms 1 B\" }", true),
    ("poisson", "{ kind = \"poisson\", rate = \"3 Mbit/s\" }", false),
    ("cbr", "{ kind = \"cbr\", rate = \"3 Mbit/s\" }", false),
    ("ping", "{ kind = \"ping\", every = \"20 ms\" }", false),
    ("on-off", "{ kind = \"on-off\", rate = \"4 Mbit/s\", on = \"200 ms\", off = \"100 ms\" }", false),
];

/// One network: its name, which the table shows, and its scenario file.
struct Network {
    name: String,
    text: String,
}

/// A link of 10 Mbit/s with a buffer of 20 packets unless `more` says otherwise.
fn link(name: &str, queue: &str, more: &str) -> String {
    let pool = if more.starts_with("pool") { "[[pools]]\nname = \"chip\"\nsize = \"30 packets\"\n" } else { "" };
    let buffer = if more.starts_with("pool") { "" } else { "buffer = \"20 packets\"\n" };
    format!(
        "{pool}[[links]]\nname = \"{name}\"\nrate = \"10 Mbit/s\"\ndelay = \"3 ms\"\n{buffer}queue = \"{queue}\"\n{more}\n"
    )
}

/// Three TCP flows; their ACKs cross the links of `back`.
fn flows(law: &str, start: &str, recovery: &str, tcp: &str, path: &str, back: &str) -> String {
    format!(
        "[[flows]]\nname = \"{law}\"\ncount = 3\npath = [{path}]\nreturn = [{back}]\nrtt = {{ from = \"30 ms\", to = \"55 ms\" }}\n\
         start = {{ from = \"0 s\", to = \"300 ms\" }}\npacket = \"1500 B\"\naccess = {{ rate = \"100 Mbit/s\" }}\n\
         control = {{ law = \"{law}\", slow_start = \"{start}\" }}\nrecovery = \"{recovery}\"\ntcp = {tcp}\n"
    )
}

fn network(name: String, tables: &[String]) -> Network {
    let text = format!("duration = \"3 s\"\nwarmup = \"500 ms\"\nseed = 7\n{}", tables.concat());
    Network { name, text }
}

fn networks() -> Vec<Network> {
    let mut all = Vec::new();
    let plain = || link("l", "drop-tail", "");
    for &(law, rates) in LAWS {
        for (i, recovery) in RECOVERIES.iter().enumerate().filter(|(i, _)| !rates || *i >= 3) {
            let (sender, tcp) = SENDERS[i % 3];
            let group = flows(law, "classic", recovery, tcp, "\"l\"", "");
            all.push(network(format!("{law}, {recovery}, {sender}"), &[plain(), group]));
        }
    }
    for recovery in RECOVERIES {
        for (sender, tcp) in SENDERS {
            for law in ["cubic", "dctcp"] {
                let group = flows(law, "hystart-linux", recovery, tcp, "\"l\"", "");
                let red = link("l", "red", "");
                all.push(network(format!("{sender}, {law}, {recovery}, red"), &[red, group]));
            }
        }
    }
    for queue in QUEUES {
        for (law, recovery, sender) in
            [("reno", "newreno", 0), ("cubic", "rack", 1), ("bbr1", "prr", 2), ("dctcp", "sack", 9)]
        {
            let (name, tcp) = SENDERS[sender];
            let group = flows(law, "classic", recovery, tcp, "\"l\"", "");
            let datagrams = "[[flows]]\nname = \"cbr\"\npath = [\"l\"]\nrtt = \"10 ms\"\npacket = \"200 B\"\ntraffic = { kind = \"cbr\", rate = \"200 kbit/s\" }\n";
            all.push(network(
                format!("{queue}, {law}, {name}, cbr"),
                &[link("l", queue, ""), group, datagrams.to_owned()],
            ));
        }
    }
    for start in STARTS {
        for (law, sender) in [("reno", 0), ("cubic", 1), ("highspeed", 3), ("hybla", 7)] {
            let (name, tcp) = SENDERS[sender];
            let group = flows(law, start, "sack", tcp, "\"l\"", "");
            all.push(network(format!("{start}, {law}, {name}"), &[plain(), group]));
        }
    }
    for (wire, more) in WIRES {
        for (law, recovery, sender) in
            [("reno", "reno", 0), ("cubic", "prr", 2), ("cubic", "rack", 1), ("bbr3", "rack", 5)]
        {
            let (name, tcp) = SENDERS[sender];
            let group = flows(law, "classic", recovery, tcp, "\"l\"", "");
            all.push(network(format!("{wire}, {law}, {recovery}, {name}"), &[link("l", "drop-tail", more), group]));
        }
    }
    for (kind, traffic, is_tcp) in TRAFFIC {
        for (law, recovery, sender) in [("reno", "newreno", 0), ("cubic", "rack", 1), ("bbr1", "prr", 5)] {
            let (name, tcp) = SENDERS[sender];
            let beside = flows("cubic", "classic", "sack", "{}", "\"l\"", "");
            let group = if *is_tcp {
                let group = flows(law, "classic", recovery, tcp, "\"l\"", "");
                format!("{}traffic = {traffic}\n", group.replace(&format!("name = \"{law}\""), "name = \"users\""))
            } else {
                format!(
                    "[[flows]]\nname = \"users\"\ncount = {}\npath = [\"l\"]\nrtt = \"20 ms\"\npacket = \"500 B\"\ntraffic = {traffic}\n",
                    1 + sender
                )
            };
            all.push(network(format!("{kind}, {law}, {recovery}, {name}, beside bulk"), &[plain(), group, beside]));
        }
    }
    for (i, &(law, rates)) in LAWS.iter().enumerate() {
        let (name, tcp) = SENDERS[i % SENDERS.len()];
        let recovery = if rates { "rack" } else { RECOVERIES[i % RECOVERIES.len()] };
        let (queue, wire) = (QUEUES[i % QUEUES.len()], WIRES[i % (WIRES.len() - 1)]);
        let tables = [
            link("l", "drop-tail", ""),
            link("m", queue, wire.1),
            flows(law, "classic", recovery, tcp, "\"l\", \"m\"", ""),
            flows("cubic", "classic", "sack", "{}", "\"m\"", "\"l\"").replace("name = \"cubic\"", "name = \"back\""),
        ];
        all.push(network(
            format!("two links and ACKs in a queue, {law}, {recovery}, {name}, {queue}, {}", wire.0),
            &tables,
        ));
    }
    all
}

fn run(network: &Network, engine: Engine) -> Outcome {
    let scenario = scenario::read(&network.text).unwrap_or_else(|e| panic!("{}: {e}\n{}", network.name, network.text));
    simulate(&scenario, 0, Options { engine, series: false, hash: true, ..Options::default() }).expect("small")
}

#[test]
fn events_of_hundreds_of_networks_are_pinned() {
    let mut table = String::new();
    for network in networks() {
        let [fast, plain] = [Engine::Window, Engine::Reference].map(|engine| run(&network, engine));
        assert_eq!(fast.hash, plain.hash, "{}: the engines differ\n{}", network.name, network.text);
        let _ = writeln!(table, "{}: {:016x}, {} delivered", network.name, fast.hash, fast.balance.delivered);
    }
    insta::assert_snapshot!(table);
}

#[test]
fn names_of_pinned_networks_are_unique() {
    let mut names: Vec<String> = networks().into_iter().map(|network| network.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count >= 450, "{count}");
}

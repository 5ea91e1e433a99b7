//! Random small networks: whatever a scenario file can say, both engines must agree on every event, and packets are
//! conserved. New laws, recoveries, disciplines (with their parameters) and kinds of traffic come in through the registries.

#[path = "../../queue/tests/values/mod.rs"]
mod values;

use base::Value;
use law::{CongestionControl, LAWS, LawSpec, STARTS, StartSpec};
use proptest::prelude::*;
use queue::{QUEUES, QueueSpec};
use scenario::Scenario;
use sim::{Engine, Options, simulate};
use std::fmt::Write;
use traffic::{TRAFFIC, TrafficSpec};
use transport::Recovery;

/// How fast the world goes: its times are multiplied by this, its rates divided.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// A hundred: the slowest links there are.
    Slow,
    One,
    /// A millionth: links of Tbit/s.
    Fast,
}

impl Pace {
    /// A time of so many microseconds.
    fn time(self, us: u32) -> String {
        match self {
            Self::Slow => format!("{} us", 100 * u64::from(us)),
            Self::One => format!("{us} us"),
            Self::Fast => format!("{us} ps"),
        }
    }

    /// A rate of so many bit/s.
    fn rate(self, bps: u64) -> String {
        format!(
            "{} bit/s",
            match self {
                Self::Slow => (bps / 100).max(1000),
                Self::One => bps.max(1000),
                Self::Fast => 1_000_000 * bps,
            }
        )
    }
}

#[derive(Clone, Debug)]
struct Link {
    kbit: u32,
    delay_us: u32,
    buffer: String,
    loss: &'static str,
    queue: &'static str,
    /// By parameter: which value, if not the default.
    draws: Vec<Option<u32>>,
    /// What comes of them.
    parameters: String,
}

#[derive(Clone, Debug)]
struct Group {
    count: u32,
    /// Bits: which links the data crosses (one at least), which of the others the ACKs cross.
    path: u8,
    back: u8,
    slack_us: u32,
    spread_us: u32,
    packet: u32,
    access: &'static str,
    law: &'static str,
    start: &'static str,
    recovery: &'static str,
    starts_ms: (u32, u32),
    stop: bool,
    finite: Option<u32>,
    tcp: String,
    datagrams: Option<Datagrams>,
}

/// Kind, packets per second and send jitter of a group that is no TCP.
#[derive(Clone, Debug)]
struct Datagrams {
    kind: &'static str,
    per_s: u32,
    jitter: &'static str,
    /// What only some kinds take: whether sizes are drawn; mean lengths of bursts and silences, and whether they are Pareto.
    drawn: bool,
    lengths_ms: Option<(u32, u32, bool)>,
}

fn link() -> impl Strategy<Value = Link> {
    let buffer = prop_oneof![
        (0u32..60).prop_map(|n| format!("{n} packets")),
        (0u32..40_000).prop_map(|n| format!("{n} B")),
        Just("unlimited".to_owned()),
    ];
    let loss = prop::sample::select(vec!["", "", "", "loss = { random = 0.02 }", "loss = { every = 13 }"]);
    let queue = prop::sample::select(QUEUES.iter().map(|entry| entry.card.name).collect::<Vec<_>>());
    let kbit = prop_oneof![Just(10_000u32), 100u32..50_000];
    let delay_us = prop_oneof![Just(0u32), Just(5_000u32), 0u32..30_000];
    let draws = prop::collection::vec(prop::option::of(any::<u32>()), values::MOST);
    (kbit, delay_us, buffer, loss, queue, draws).prop_map(|(kbit, delay_us, buffer, loss, queue, draws)| Link {
        kbit,
        delay_us,
        buffer,
        loss,
        queue,
        draws,
        parameters: String::new(),
    })
}

fn tcp() -> impl Strategy<Value = String> {
    let jitter = prop::sample::select(vec!["0 s", "0 s", "300 us", "20 ms"]);
    let window = prop::sample::select(vec!["\"none\"", "\"none\"", "1", "9"]);
    let ecn = prop::sample::select(vec!["off", "on", "on", "l4s"]);
    let parts = (1u32..4, 1u32..15, jitter, window, any::<bool>(), ecn, any::<bool>());
    parts.prop_map(|(delayed, initial, jitter, window, limited, ecn, quick)| {
        format!(
            "delayed_ack = {delayed}, initial_window = {initial}, send_jitter = \"{jitter}\", receive_window = {window}, \
             limited_transmit = {limited}, ecn = \"{ecn}\", min_rto = \"{}\"",
            if quick { "50 ms" } else { "1 s" },
        )
    })
}

fn datagrams() -> impl Strategy<Value = Datagrams> {
    let names = TRAFFIC.iter().map(|entry| entry.card.name);
    let kinds = names.filter(|name| !TrafficSpec::named(name).expect("registered").is_tcp()).collect::<Vec<_>>();
    let jitter = vec!["0 s", "0 s", "300 us", "20 ms"];
    let takes = |kind: &str, name: &str| {
        TrafficSpec::named(kind).expect("registered").rows().iter().any(|row| row.name == name)
    };
    let lengths = (1u32..1000, 1u32..1000, any::<bool>());
    (prop::sample::select(kinds), 1u32..600, prop::sample::select(jitter), any::<bool>(), lengths).prop_map(
        move |(kind, per_s, jitter, drawn, lengths)| Datagrams {
            kind,
            per_s,
            jitter,
            drawn: drawn && takes(kind, "size"),
            lengths_ms: takes(kind, "law").then_some(lengths),
        },
    )
}

fn group() -> impl Strategy<Value = Group> {
    let of = |names: Vec<&'static str>| prop::sample::select(names);
    let names = (
        // Routers that hand out windows want senders that ask.
        prop_oneof![3 => of(LAWS.iter().map(|entry| entry.card.name).collect()), 1 => of(vec!["xcp", "packet-pair"])],
        of(STARTS.iter().map(|entry| entry.card.name).collect()),
        of(Recovery::ALL.iter().map(|row| row.1).collect()),
    );
    let access = of(vec!["", "", "rate = \"100 Mbit/s\"", "rate = \"5 Mbit/s\", buffer = \"7 packets\""]);
    let size = prop_oneof![Just(1000u32), 41u32..1500];
    let route = (1u32..9, any::<u8>(), any::<u8>(), 0u32..60_000, prop_oneof![Just(0u32), 0u32..40_000]);
    let when = ((0u32..2000, 0u32..1000), any::<bool>(), prop::option::of(1u32..200));
    let datagrams = prop_oneof![2 => Just(None), 1 => datagrams().prop_map(Some)];
    (route, size, access, names, when, (tcp(), datagrams)).prop_map(
        |(
            (count, path, back, slack_us, spread_us),
            packet,
            access,
            (law, start, recovery),
            (starts_ms, stop, finite),
            (tcp, datagrams),
        )| {
            Group {
                count,
                path,
                back,
                slack_us,
                spread_us,
                packet,
                access,
                law,
                start,
                recovery,
                starts_ms,
                stop,
                finite,
                tcp,
                datagrams,
            }
        },
    )
}

/// The group's recovery, or SACK for a law that needs it.
fn recovery(group: &Group) -> &'static str {
    let law = LawSpec::named(group.law).expect("registered");
    let start = StartSpec::named("classic").expect("registered");
    let needs = law.build(&start, 2.0, f64::INFINITY).expect("defaults").needs();
    let selective = Recovery::named(group.recovery).is_some_and(Recovery::selective);
    if needs.deliveries && !selective { "sack" } else { group.recovery }
}

fn text(pace: Pace, links: &[Link], groups: &[Group]) -> String {
    let mut text = format!("duration = {:?}\nwarmup = {:?}\n", pace.time(4_000_000), pace.time(1_000_000));
    for (i, link) in links.iter().enumerate() {
        let _ = writeln!(
            text,
            "[[links]]\nname = \"l{i}\"\nrate = {:?}\ndelay = {:?}\nbuffer = \"{}\"\nqueue = {{ discipline = \"{}\"{} }}\n{}",
            pace.rate(1000 * u64::from(link.kbit)),
            pace.time(link.delay_us),
            link.buffer,
            link.queue,
            link.parameters,
            link.loss
        );
    }
    for group in groups {
        let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
        let mut path: Vec<usize> = (0..links.len()).filter(|&i| bit(group.path, i)).collect();
        if path.is_empty() {
            path.push(group.path as usize % links.len());
        }
        let back: Vec<usize> = (0..links.len()).filter(|i| bit(group.back, *i) && !path.contains(i)).collect();
        let base: u32 = path.iter().chain(&back).map(|&l| links[l].delay_us).sum::<u32>()
            + group.slack_us.max(if pace == Pace::Fast { 1_000_000 } else { 1 });
        let names = |list: &[usize]| list.iter().map(|l| format!("\"l{l}\"")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            text,
            "[[flows]]\ncount = {}\npath = [{}]\nrtt = {{ from = {:?}, to = {:?} }}\n\
             packet = \"{} B\"\naccess = {{ {} }}\nstart = {{ from = {:?}, to = {:?} }}",
            group.count,
            names(&path),
            pace.time(base),
            pace.time(base + group.spread_us),
            group.packet,
            if pace == Pace::One && !group.datagrams.as_ref().is_some_and(|d| d.drawn) { group.access } else { "" },
            pace.time(1000 * group.starts_ms.0),
            pace.time(1000 * (group.starts_ms.0 + group.starts_ms.1)),
        );
        if group.stop {
            let _ = writeln!(text, "stop = {:?}", pace.time(3_500_000));
        }
        if let Some(Datagrams { kind, per_s, jitter, drawn, lengths_ms }) = &group.datagrams {
            let rate = pace.rate(8 * u64::from(per_s * group.packet));
            let size = if *drawn { ", size = \"exponential\"" } else { "" };
            let lengths = lengths_ms.map_or(String::new(), |(on, off, pareto)| {
                let (on, off) = (pace.time(1000 * on), pace.time(1000 * off));
                let law = if pareto { "pareto" } else { "exponential" };
                format!(", on = {on:?}, off = {off:?}, law = \"{law}\"")
            });
            let _ = writeln!(text, "traffic = {{ kind = \"{kind}\", rate = {rate:?}{size}{lengths} }}");
            let _ = writeln!(text, "tcp = {{ send_jitter = \"{jitter}\" }}");
            continue;
        }
        let _ = writeln!(
            text,
            "return = [{}]\ncontrol = {{ law = \"{}\", slow_start = \"{}\" }}\nrecovery = \"{}\"\ntcp = {{ {} }}",
            names(&back),
            group.law,
            group.start,
            recovery(group),
            group.tcp,
        );
        if let Some(kilobytes) = group.finite {
            let _ = writeln!(text, "traffic = {{ kind = \"finite\", size = \"{kilobytes} kB\" }}");
        }
    }
    text
}

/// Gives the links those of the drawn parameters that are accepted there. Returns the text and what it says.
fn settle(pace: Pace, links: &mut [Link], groups: &[Group]) -> Result<(String, Scenario), TestCaseError> {
    let plain = text(pace, links, groups);
    let mut said = scenario::read(&plain).map_err(|e| TestCaseError::fail(format!("{e}\n{plain}")))?;
    for l in 0..links.len() {
        let spec = QueueSpec::named(links[l].queue).expect("registered");
        // Short timers would ring for ever in a world that goes slowly.
        let rows = if pace == Pace::Slow { Vec::new() } else { spec.rows() };
        prop_assert!(rows.len() <= values::MOST, "{} has more parameters than that", links[l].queue);
        for (row, draw) in rows.iter().zip(links[l].draws.clone()) {
            let Some(draw) = draw else { continue };
            let value = match values::value(&spec, row, draw) {
                Value::Text(text) => format!("{text:?}"),
                Value::Number(x) => format!("{x:?}"),
                Value::Bool(x) => x.to_string(),
            };
            let before = links[l].parameters.clone();
            let _ = write!(links[l].parameters, ", {} = {value}", row.name);
            match scenario::read(&text(pace, links, groups)) {
                Ok(scenario) => said = scenario,
                Err(error) => {
                    let error = error.to_string();
                    prop_assert!(error.starts_with(&format!("links[{l}].queue")), "{}: {value}: {error}", row.name);
                    links[l].parameters = before;
                }
            }
        }
    }
    Ok((text(pace, links, groups), said))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn both_engines_agree_on_any_network(
        pace in prop_oneof![1 => Just(Pace::Slow), 10 => Just(Pace::One), 1 => Just(Pace::Fast)],
        mut links in prop::collection::vec(link(), 1..4),
        groups in prop::collection::vec(group(), 1..4),
        replication in 0u32..1000,
    ) {
        let (text, scenario) = settle(pace, &mut links, &groups)?;
        let canonical = scenario.canonical();
        let again = scenario::from_canonical(&canonical);
        prop_assert_eq!(again.as_ref(), Ok(&scenario), "{}", canonical);
        let run = |engine| simulate(&scenario, replication, Options { engine, series: true, hash: true }).expect("small");
        let (fast, plain) = (run(Engine::Window), run(Engine::Reference));
        prop_assert_eq!(fast.hash, plain.hash, "hashes differ:\n{}", text);
        prop_assert_eq!(&fast, &plain, "results differ:\n{}", text);
        let b = fast.balance;
        prop_assert_eq!(b.sent, b.delivered + b.dropped + b.in_flight, "packets are lost:\n{}", text);
    }
}

//! Random small networks: whatever a scenario file can say, both engines must agree on every event, and packets are
//! conserved. New laws, recoveries, disciplines (with their parameters) and kinds of traffic come in through the registries.

mod pools;
#[path = "../../../queue/tests/values/mod.rs"]
mod values;
mod wires;

use crate::equality::run_in_steps;
use base::Value;
use law::{CongestionControl, LAWS, LawSpec, STARTS, StartSpec};
use pools::{Pool, buffer, pool, pools};
use proptest::prelude::*;
use queue::{QUEUES, QueueSpec};
use scenario::Scenario;
use sim::{Engine, Options, RunMonitor, Span, simulate, simulate_monitored};
use std::fmt::Write;
use traffic::{Sort, TRAFFIC, TrafficSpec};
use transport::Recovery;
use wires::{Wire, wire};

/// Time scale: times are multiplied by this, rates divided.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// A hundred: the slowest links there are.
    Slow,
    One,
    /// A millionth: links of Tbit/s.
    Fast,
}

impl Pace {
    /// Text of a time in microseconds.
    fn time(self, us: u32) -> String {
        match self {
            Self::Slow => format!("{} us", 100 * u64::from(us)),
            Self::One => format!("{us} us"),
            Self::Fast => format!("{us} ps"),
        }
    }

    /// Text of a rate in bit/s.
    fn rate(self, bps: u64) -> String {
        let scaled = match self {
            Self::Slow => (bps / 100).max(1000),
            Self::One => bps.max(1000),
            Self::Fast => 1_000_000 * bps,
        };
        format!("{scaled} bit/s")
    }
}

#[derive(Clone, Debug)]
struct Link {
    /// Above 1: an array.
    count: u32,
    kbit: u32,
    /// A rate that changes, instead.
    rate: Option<&'static str>,
    wire: Wire,
    /// Range above these rates from which rates are drawn.
    more_kbit: u32,
    buffer: String,
    loss: &'static str,
    /// Whether its buffer is in one of two pools, if its discipline lets it.
    pool: Option<Pool>,
    queue: &'static str,
    /// Value of each parameter, if not the default.
    draws: Vec<Option<u32>>,
    /// Text of the parameters.
    parameters: String,
}

#[derive(Clone, Debug)]
struct Group {
    count: u32,
    /// Bits: which links the data crosses (one at least), which of the others the ACKs cross.
    path: u8,
    back: u8,
    /// Link of an array that it crosses: even numbers take one after the other.
    pick: u32,
    slack_us: u32,
    spread_us: u32,
    rtt: Rtt,
    packet: u32,
    access: &'static str,
    /// Share of the slack on the access link, by flow or drawn.
    access_delay: Option<bool>,
    law: &'static str,
    start: &'static str,
    recovery: &'static str,
    starts: Starts,
    starts_ms: (u32, u32),
    stop: Stop,
    finite: Option<u32>,
    tcp: String,
    session: Option<Session>,
    datagrams: Option<Datagrams>,
}

/// Kind of a session, and how much of everything.
#[derive(Clone, Debug)]
struct Session {
    kind: &'static str,
    bytes: u32,
    wait_us: u32,
    places: u32,
}

impl Session {
    /// Text of the scenario file, with the parameters that the kind has.
    fn text(&self, pace: Pace) -> String {
        let spec = TrafficSpec::named(self.kind).expect("registered");
        // No time of a session is below a microsecond.
        let wait = if pace == Pace::Fast { "1 us".to_owned() } else { pace.time(self.wait_us) };
        let rate = pace.rate(8_000_000 * u64::from(self.bytes) / u64::from(self.wait_us));
        let mut text = format!("traffic = {{ kind = \"{}\"", self.kind);
        for row in spec.rows() {
            let _ = match row.name {
                "size" => write!(text, ", size = \"{} B\"", self.bytes),
                // All alike, so that ends and openings of several places fall together.
                "gap_law" | "think_law" | "objects_law" if self.bytes.is_multiple_of(3) => {
                    write!(text, ", {} = \"constant\"", row.name)
                }
                "law" if self.bytes.is_multiple_of(2) => write!(text, ", law = \"constant\""),
                "think_from" if self.places.is_multiple_of(2) => write!(text, ", think_from = \"start\""),
                "think" | "gap" | "on" | "off" | "every" => write!(text, ", {} = \"{wait}\"", row.name),
                "rate" => write!(text, ", rate = \"{rate}\""),
                "places" | "connections" => write!(text, ", {} = {}", row.name, self.places),
                "flows" => write!(text, ", flows = \"0 s {} B; {wait} 100 B; {wait} 1 B; 99 s 10 kB\"", self.bytes),
                _ => Ok(()),
            };
        }
        text + " }\n"
    }
}

fn session() -> impl Strategy<Value = Session> {
    let names = TRAFFIC.iter().map(|entry| entry.card.name);
    let sort = |name: &str| TrafficSpec::named(name).expect("registered").sort();
    let kinds = names.filter(|name| matches!(sort(name), Sort::Session | Sort::Application));
    let kinds = prop::sample::select(kinds.collect::<Vec<_>>());
    let parts = (kinds, 1u32..60_000, 1000u32..500_000, 1u32..5);
    parts.prop_map(|(kind, bytes, wait_us, places)| Session { kind, bytes, wait_us, places })
}

/// Form in which round-trip times are written.
#[derive(Clone, Copy, Debug)]
enum Rtt {
    Auto,
    Spread,
    Uniform,
    Quantiles,
    List,
}

#[derive(Clone, Copy, Debug)]
enum Starts {
    Between,
    Every,
    List,
}

#[derive(Clone, Copy, Debug)]
enum Stop {
    Never,
    At,
    Between,
    After,
    AfterExponential,
}

/// Kind, packets per second and send jitter of a group that is no TCP.
#[derive(Clone, Debug)]
struct Datagrams {
    kind: &'static str,
    per_s: u32,
    jitter: &'static str,
    /// Parameters of some kinds: whether sizes are drawn; mean lengths of bursts and silences, and whether they are Pareto.
    drawn: bool,
    lengths_ms: Option<(u32, u32, bool)>,
}

/// Rates that change.
const RATES: &[&str] = &[
    "{ steps = [[\"0 s\", \"3 Mbit/s\"], [\"400 ms\", \"20 Mbit/s\"], [\"401 ms\", \"1 Mbit/s\"]], period = \"700 ms\" }",
    "{ steps = [[\"0 s\", \"10 Mbit/s\"], [\"300 ms\", \"0 bit/s\"], [\"500 ms\", \"2 Mbit/s\"], [\"2 s\", \"90 Mbit/s\"]] }",
    "{ sine = { mean = \"5 Mbit/s\", amplitude = \"5 Mbit/s\", period = \"600 ms\" } }",
    "{ markov = { rates = [\"20 Mbit/s\", \"300 kbit/s\"], times = [\"50 ms\", \"20 ms\"] } }",
    "{ markov = { rates = [\"0 bit/s\", \"8 Mbit/s\"], times = [\"5 ms\", \"30 ms\"] } }",
    "{ opportunities = \"1 2 3 5x4 9 10 30x20 33\" }",
    "{ opportunities = \"0x2 1x7 2x9 3\" }",
];

fn link() -> impl Strategy<Value = Link> {
    let buffer = prop_oneof![
        (0u32..60).prop_map(|n| format!("{n} packets")),
        (0u32..40_000).prop_map(|n| format!("{n} B")),
        Just("unlimited".to_owned()),
    ];
    let loss = prop::sample::select(vec![
        "",
        "",
        "",
        "loss = { random = 0.02 }",
        "loss = { every = 13 }",
        "loss = { gilbert = { enter = 0.02, leave = 0.3, good = 0.001, bad = 0.7 } }",
        "loss = { bursts = { mean = 0.03, length = 5 }, during = [[\"0.5 s\", \"1 s\"], [\"1.2 s\", \"9 s\"]] }",
        "loss = { during = [[\"700 ms\", \"800 ms\"]] }",
        "policer = { rate = \"2 Mbit/s\", burst = \"70 kB\" }",
        "loss = { random = 0.01 }\npolicer = { rate = \"5 Mbit/s\", burst = \"70 kB\" }",
        "shaper = { rate = \"3 Mbit/s\", burst = \"66 kB\" }",
        "batch = \"4 ms\"",
        "shaper = { rate = \"900 kbit/s\", burst = \"90 kB\" }\nbatch = \"1.5 ms\"",
    ]);
    let queue = prop::sample::select(QUEUES.iter().map(|entry| entry.card.name).collect::<Vec<_>>());
    let kbit = prop_oneof![Just(10_000u32), 100u32..50_000];
    let draws = prop::collection::vec(prop::option::of(any::<u32>()), values::MOST);
    let many = (prop_oneof![2 => Just(1u32), 1 => 2u32..5], prop_oneof![2 => Just(0u32), 1 => 1u32..20_000]);
    let rate = prop_oneof![3 => Just(None), 1 => prop::sample::select(RATES.to_vec()).prop_map(Some)];
    // What shares memory is drop-tail most often.
    let queue = (queue, prop_oneof![1 => Just(None), 1 => pool().prop_map(Some)], any::<bool>());
    let queue =
        queue.prop_map(|(queue, pool, plain)| (if plain && pool.is_some() { "drop-tail" } else { queue }, pool));
    ((kbit, rate), wire(), buffer, loss, queue, draws, many).prop_map(
        |((kbit, rate), wire, buffer, loss, (queue, pool), draws, (count, more_kbit))| Link {
            count,
            kbit,
            rate,
            // Behind a trace packets must be on their way for a while where they go round.
            wire: wire.of_at_least(rate.map_or(0, |_| 1)),
            more_kbit,
            buffer,
            loss,
            pool,
            queue,
            draws,
            parameters: String::new(),
        },
    )
}

/// Windows that begin with a few segments and soon come to their end.
const SMALL_BUFFERS: &str = "{ initial = \"4096 B\", max = \"60 kB\" }";

fn tcp() -> impl Strategy<Value = String> {
    let jitter = prop::sample::select(vec!["0 s", "0 s", "300 us", "20 ms"]);
    let window = prop::sample::select(vec!["\"none\"", "\"none\"", "1", "9", "\"linux\"", SMALL_BUFFERS]);
    let ecn = prop::sample::select(vec!["off", "on", "on", "l4s"]);
    let pacing = vec!["\"none\"", "\"none\"", "\"linux\"", "\"quic\"", "{ slow_start = 3.0, avoidance = 0.7 }"];
    let pacing = prop::sample::select(pacing);
    let offload = vec![
        "",
        "",
        "burst = 3, abc_limit = 1, ",
        "burst = \"linux\", receive_offload = { segments = 6, wait = \"3 ms\" }, ",
        "burst = { max_segments = 5 }, receive_offload = {}, abc_limit = \"none\", ",
        "window_validation = \"linux\", undo = \"always\", ",
        "timestamps = true, quick_acks = 40, rto = \"linux\", undo = \"always\", dup_thresh = 7, ",
        "timestamps = true, rto = \"linux\", burst = \"linux\", ecn_floor = 2, ",
        "timestamps = true, window_validation = \"rfc7661\", burst = \"linux\", rto = \"linux\", ",
        "window_validation = \"none\", abc_limit = 1, ecn_floor = 2, header = \"41 B\", dup_thresh = \"adaptive\", ",
    ];
    let offload = prop::sample::select(offload);
    // Down to what the second of two segments that are acknowledged together comes too late for.
    let delay = prop::sample::select(vec!["200 ms", "200 ms", "40 ms", "3 ms", "200 us"]);
    let parts = (1u32..4, 1u32..15, jitter, window, any::<bool>(), ecn, any::<bool>(), (pacing, offload, delay));
    parts.prop_map(|(delayed, initial, jitter, window, limited, ecn, quick, (pacing, offload, delay))| {
        format!(
            "{offload}delayed_ack = {delayed}, delayed_ack_timeout = \"{delay}\", initial_window = {initial}, \
             send_jitter = \"{jitter}\", receive_window = {window}, \
             limited_transmit = {limited}, ecn = \"{ecn}\", pacing = {pacing}, min_rto = \"{}\"",
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
    let access = of(vec![
        "",
        "",
        "rate = \"100 Mbit/s\"",
        "rate = \"5 Mbit/s\", buffer = \"7 packets\"",
        "rate = { from = \"1 Mbit/s\", to = \"50 Mbit/s\" }",
        "rate = { uniform = [\"1 Mbit/s\", \"50 Mbit/s\"] }, buffer = \"7 packets\"",
        "rate = [\"1 Mbit/s\", \"10 Mbit/s\", \"50 Mbit/s\"]",
    ]);
    let access = (access, prop::option::of(any::<bool>()));
    let rtt = prop::sample::select(vec![Rtt::Auto, Rtt::Spread, Rtt::Spread, Rtt::Uniform, Rtt::Quantiles, Rtt::List]);
    let starts = prop::sample::select(vec![Starts::Between, Starts::Between, Starts::Every, Starts::List]);
    let stop = vec![Stop::Never, Stop::Never, Stop::At, Stop::Between, Stop::After, Stop::AfterExponential];
    let stop = prop::sample::select(stop);
    let size = prop_oneof![Just(1000u32), 42u32..1500];
    let times = (0u32..60_000, prop_oneof![Just(0u32), 0u32..40_000], rtt);
    let route = (1u32..9, any::<u8>(), any::<u8>(), any::<u32>(), times);
    let when = (starts, (0u32..2000, 0u32..1000), stop, prop::option::of(1u32..200));
    let datagrams = prop_oneof![2 => Just(None), 1 => datagrams().prop_map(Some)];
    let session = prop_oneof![2 => Just(None), 1 => session().prop_map(Some)];
    (route, size, access, names, when, (tcp(), session, datagrams)).prop_map(
        |(
            (count, path, back, pick, (slack_us, spread_us, rtt)),
            packet,
            (access, access_delay),
            (law, start, recovery),
            (starts, starts_ms, stop, finite),
            (tcp, session, datagrams),
        )| {
            Group {
                count,
                path,
                back,
                pick,
                slack_us,
                spread_us,
                rtt,
                packet,
                access,
                access_delay,
                law,
                start,
                recovery,
                starts,
                starts_ms,
                stop,
                finite,
                tcp,
                session,
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

/// A quantity, or a draw between two.
fn range(from: &str, to: &str) -> String {
    if from == to { format!("{from:?}") } else { format!("{{ uniform = [{from:?}, {to:?}] }}") }
}

/// Text after `rtt =`; all propagation is at most `base` microseconds.
fn rtts(pace: Pace, group: &Group, base: u32) -> String {
    let (from, to) = (pace.time(base), pace.time(base + group.spread_us));
    match group.rtt {
        // Round trips must take a microsecond at least.
        Rtt::Auto if pace != Pace::Fast && group.slack_us > 1 && group.access_delay.is_some() => "\"auto\"".into(),
        Rtt::Auto | Rtt::Spread => format!("{{ from = {from:?}, to = {to:?} }}"),
        Rtt::Uniform => format!("{{ uniform = [{from:?}, {to:?}] }}"),
        // The smallest draw of this shape is 3/4 of the mean, the least quantile more. Four times `base` would pass the
        // largest mean that the reader takes, 50 s, in the slow world.
        Rtt::Quantiles => {
            let mean = pace.time(2 * base);
            format!("{{ pareto = {{ mean = {mean:?}, shape = 4.0, by = \"quantiles\" }} }}")
        }
        Rtt::List => format!("[{from:?}, {to:?}, {from:?}]"),
    }
}

/// The group's lines about when it starts and stops, within four seconds.
fn life(pace: Pace, group: &Group) -> String {
    let ms = |n: u32| pace.time(1000 * n);
    let (from, more) = group.starts_ms;
    let start = match group.starts {
        Starts::Between => format!("{{ from = {:?}, to = {:?} }}", ms(from), ms(from + more)),
        Starts::Every => format!("{{ from = {:?}, every = {:?} }}", ms(from), ms(more / 8)),
        Starts::List => format!("[{:?}, {:?}, {:?}]", ms(from + more), ms(from), ms(from)),
    };
    let stop = match group.stop {
        Stop::Never => return format!("start = {start}"),
        Stop::At => format!("{:?}", ms(3500)),
        Stop::Between => format!("{{ from = {:?}, to = {:?} }}", ms(3500), ms(4500)),
        Stop::After => format!("{{ after = {:?} }}", ms(1 + more)),
        Stop::AfterExponential => format!("{{ after = {{ exponential = {:?} }} }}", ms(1 + more)),
    };
    format!("start = {start}\nstop = {stop}")
}

fn text(pace: Pace, links: &[Link], groups: &[Group]) -> String {
    let mut text = format!("duration = {:?}\nwarmup = {:?}\n", pace.time(4_000_000), pace.time(1_000_000));
    // Single packets at every second link, in spans around the warm-up and to the end.
    let spans =
        (0..links.len()).step_by(2).flat_map(|i| [(i, 0, 50_000), (i, 900_000, 1_100_000), (i, 3_900_000, 4_000_000)]);
    let packets: Vec<String> = spans
        .map(|(i, from, to)| {
            let member = links[i].count - 1;
            format!("{{ link = \"l{i}[{member}]\", from = {:?}, to = {:?} }}", pace.time(from), pace.time(to))
        })
        .collect();
    // The first flow of every second group: of sessions the first place.
    let traced =
        |(g, group): (usize, &Group)| (group.datagrams.is_none() && group.pick % 4 < 2).then(|| format!("\"g{g}[0]\""));
    let traces: Vec<String> = groups.iter().enumerate().filter_map(traced).collect();
    let _ = writeln!(
        text,
        "record = {{ every = {:?}, delays = true, packets = [{}], trace = [{}] }}",
        pace.time(100_000),
        packets.join(", "),
        traces.join(", "),
    );
    text += &pools(links);
    for (i, link) in links.iter().enumerate() {
        let rate = |kbit: u32| pace.rate(1000 * u64::from(kbit));
        let same = range(&rate(link.kbit), &rate(link.kbit + link.more_kbit));
        let rate = link.rate.filter(|_| pace == Pace::One).map_or(same, str::to_owned);
        let _ = writeln!(
            text,
            "[[links]]\nname = \"l{i}\"\ncount = {}\nrate = {}\ndelay = {}\n{}\n\
             queue = {{ discipline = \"{}\"{} }}\n{}",
            link.count,
            rate,
            link.wire.text(pace),
            buffer(link),
            link.queue,
            link.parameters,
            link.loss
        );
    }
    for (g, group) in groups.iter().enumerate() {
        let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
        let mut path: Vec<usize> = (0..links.len()).filter(|&i| bit(group.path, i)).collect();
        if path.is_empty() {
            path.push(group.path as usize % links.len());
        }
        let back: Vec<usize> = (0..links.len()).filter(|i| bit(group.back, *i) && !path.contains(i)).collect();
        let slack = group.slack_us.max(if pace == Pace::Fast { 1_000_000 } else { 1 });
        let wire = |l: &usize| links[*l].wire.longest();
        let base = path.iter().chain(&back).map(wire).sum::<u32>() + slack;
        let name = |l: &usize| match links[*l].count {
            1 => format!("\"l{l}\""),
            _ if group.pick % 2 == 0 => format!("\"l{l}[*]\""),
            n => format!("\"l{l}[{}]\"", group.pick % n),
        };
        let names = |list: &[usize]| list.iter().map(name).collect::<Vec<_>>().join(", ");
        let drawn = group.datagrams.as_ref().is_some_and(|datagrams| datagrams.drawn);
        let mut access = vec![if pace == Pace::One && !drawn { group.access.to_owned() } else { String::new() }];
        if let Some(drawn) = group.access_delay {
            let (from, to) = (pace.time(slack / 2), pace.time(slack));
            let delay = if drawn { range(&from, &to) } else { format!("{{ from = {from:?}, to = {to:?} }}") };
            access.push(format!("delay = {delay}"));
        }
        access.retain(|part| !part.is_empty());
        let _ = writeln!(
            text,
            "[[flows]]\nname = \"g{g}\"\ncount = {}\npath = [{}]\nrtt = {}\npacket = \"{} B\"\naccess = {{ {} }}\n{}",
            group.count,
            names(&path),
            rtts(pace, group, base),
            group.packet,
            access.join(", "),
            life(pace, group),
        );
        if let Some(Datagrams { kind, per_s, jitter, drawn, lengths_ms }) = &group.datagrams {
            let size = if *drawn { ", size = \"exponential\"" } else { "" };
            let lengths = lengths_ms.map_or(String::new(), |(on, off, pareto)| {
                let (on, off) = (pace.time(1000 * on), pace.time(1000 * off));
                format!(", on = {on:?}, off = {off:?}, law = {:?}", if pareto { "pareto" } else { "exponential" })
            });
            let said = match *kind {
                "ping" => format!("every = \"{} us\" }}\nreturn = [{}]", 1_000_000 / per_s, names(&back)),
                _ => format!("rate = {:?}{size}{lengths} }}", pace.rate(8 * u64::from(per_s * group.packet))),
            };
            let _ = writeln!(text, "traffic = {{ kind = \"{kind}\", {said}\ntcp = {{ send_jitter = \"{jitter}\" }}");
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
        if let Some(session) = &group.session {
            text += &session.text(pace);
        } else if let Some(kilobytes) = group.finite {
            let _ = writeln!(text, "traffic = {{ kind = \"finite\", size = \"{kilobytes} kB\" }}");
        }
    }
    text
}

/// Gives the links those of the drawn parameters that are accepted there. Returns the text and what it says.
fn with_accepted_parameters(
    pace: Pace,
    links: &mut [Link],
    groups: &[Group],
) -> Result<(String, Scenario), TestCaseError> {
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
                Value::Pairs(pairs) => format!("{pairs:?}"),
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

/// Networks to try: a few, or as many as `make fuzz` asks for.
fn networks() -> u32 {
    std::env::var("FUZZ_NETWORKS").ok().and_then(|text| text.parse().ok()).unwrap_or(500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: networks(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn both_engines_agree_on_any_network(
        pace in prop_oneof![1 => Just(Pace::Slow), 10 => Just(Pace::One), 1 => Just(Pace::Fast)],
        mut links in prop::collection::vec(link(), 1..4),
        groups in prop::collection::vec(group(), 1..4),
        replication in 0u32..1000,
        first_number in prop_oneof![(1_u64 << 32) - 600..1 << 32, (1_u64 << 31) - 600..1 << 31],
    ) {
        let (text, scenario) = with_accepted_parameters(pace, &mut links, &groups)?;
        let canonical = scenario.canonical();
        let again = scenario::from_canonical(&canonical);
        prop_assert_eq!(again.as_ref(), Ok(&scenario), "{}", canonical);
        let from = |engine, first_number| {
            let options = Options { engine, series: true, hash: true, first_number, ..Options::default() };
            simulate(&scenario, replication, options).expect("small")
        };
        let run = |engine| from(engine, 0);
        let (fast, plain) = (run(Engine::Window), run(Engine::Reference));
        prop_assert_eq!(fast.hash, plain.hash, "hashes differ:\n{}", text);
        prop_assert_eq!(&fast, &plain, "results differ:\n{}", text);
        let b = fast.balance;
        prop_assert_eq!(b.sent, b.delivered + b.dropped + b.in_flight, "packets are lost:\n{}", text);
        // On how many threads, and in how many chunks, flows run ahead changes nothing.
        let (threads, chunks) = [(1, 2), (2, 3), (3, 8)][replication as usize % 3];
        let monitor = RunMonitor::default();
        monitor.allow_threads(threads);
        let options = Options { series: true, hash: true, chunks, ..Options::default() };
        let split = simulate_monitored(&scenario, replication, options, &monitor).expect("small").expect("not stopped");
        prop_assert_eq!(split.hash, fast.hash, "the hash depends on {} chunks, {} threads:\n{}", chunks, threads, text);
        prop_assert_eq!(&split, &fast, "results depend on {} chunks, {} threads:\n{}", chunks, threads, text);
        let step = Span(1 + scenario.duration.0 / [7, 60, 500][replication as usize % 3]);
        let stepped = run_in_steps(&scenario, replication, step);
        prop_assert_eq!(stepped.hash, fast.hash, "the hash depends on steps of {:?}:\n{}", step, text);
        prop_assert_eq!(&stepped, &fast, "results depend on steps of {:?}:\n{}", step, text);
        // Packets carry 32 bits of their numbers: nothing depends on where these end.
        let engine = if replication % 2 == 0 { Engine::Window } else { Engine::Reference };
        let near = from(engine, first_number);
        prop_assert_eq!(near.hash, fast.hash, "the hash depends on first number {}, {:?}:\n{}", first_number, engine, text);
        prop_assert_eq!(&near, &fast, "results depend on first number {}, {:?}:\n{}", first_number, engine, text);
    }
}

//! Whatever is thrown at the reader: it never panics, and what it refuses it refuses in one line. What it reads survives
//! the canonical form.

extern crate elephan_scenario as scenario;

#[path = "../../queue/tests/values/spec.rs"]
mod spec;
#[path = "../../queue/tests/values/mod.rs"]
mod values;

use base::{Bytes, Rate, Span, Value};
use law::{CongestionControl, LawSpec, StartSpec};
use proptest::prelude::*;
use queue::{Limit, MemorySize, QUEUES, QueueSpec};
use scenario::{
    Access, By, Control, Group, Hop, Jitter, Link, LinkDelay, LinkRate, Loss, PacketSpan, Packets, Pareto, Pick,
    Quantity, Ranged, Record, Reorder, Rtt, Scenario, Start, Stop, Values, from_canonical, read,
};
use traffic::on_off::Law;
use traffic::{PacketSize, TimeLaw, TrafficSpec};
use transport::{
    Autotuning, Burst, Coalescing, Device, Ecn, Options, Pacing, PacingFactors, ReceiveWindow, Recovery, Rto,
    WindowValidation,
};

const FULL: &str = r#"title = "A test"
duration = "20 s"
warmup = "5 s"
replications = 3
seed = 7
[[links]]
name = "a"
rate = "1 Gbit/s"
delay = "50 ms"
buffer = "0.5 bdp/sqrt(n)"
queue = { discipline = "drop-tail" }
loss = { random = 1e-4 }
[[links]]
name = "b"
rate = "100 Mbit/s"
buffer = "unlimited"
[[flows]]
name = "hstcp"
count = 10
path = ["a"]
return = ["b"]
rtt = { from = "100 ms", to = "120 ms" }
access = { rate = "10 Gbit/s", buffer = "100 packets" }
control = { law = "highspeed", low_window = 38, slow_start = { kind = "limited", max_ssthresh = 100 } }
recovery = "sack"
packet = "1000 B"
start = { from = "0 s", to = "5 s" }
stop = "15 s"
traffic = { kind = "finite", size = "10 MB" }
tcp = { min_rto = "200 ms", delayed_ack = 2, ecn = "off", receive_window = "none" }
[[flows]]
path = ["a"]
rtt = { pareto = { mean = "600 ms", shape = 1.2 } }
[record]
every = "100 ms"
trace = ["hstcp[0]"]
"#;

/// Values that a file may have in a wrong place.
const STRAY: &[&str] = &[
    "",
    "0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "9223372036854775807",
    "\"\"",
    "\"1e18 ps\"",
    "\"1e308 bdp\"",
    "\"4294967295 packets\"",
    "[]",
    "[[]]",
    "{}",
    "{ from = \"0 s\" }",
    "true",
    "1979-05-27",
    "\"\\u0000\"",
    "\"\\n\"",
    "\"hstcp[99999999999]\"",
    "\"ü[\"",
    "[[flows]]",
    "[[links]]",
    "=",
    "\"",
    "\n",
    ".",
    "]",
    "}",
    "law",
    "rtt = ",
    "10_000_000",
    "\"0.000000000001 bdp\"",
    "\"11 h\"",
];

fn tokens() -> Vec<&'static str> {
    FULL.split_inclusive([' ', '\n', '=', '[', ']', ',']).collect()
}

/// Reads, and checks what must hold of every answer.
fn answer(text: &str) -> Result<(), TestCaseError> {
    match read(text) {
        Ok(scenario) => {
            let canonical = scenario.canonical();
            let again = from_canonical(&canonical);
            prop_assert_eq!(again, Ok(scenario));
        }
        Err(error) => one_line(&error.to_string())?,
    }
    Ok(())
}

#[test]
fn deep_nesting_is_refused_and_nothing_more() {
    let deep = 100_000;
    for text in [
        format!("title = {}", "[".repeat(deep)),
        format!("title = {}", "{a=".repeat(deep)),
        format!("{}a = 1", "a.".repeat(deep)),
        format!("[{}a]", "a.".repeat(deep)),
    ] {
        assert!(read(&text).is_err());
        assert!(from_canonical(&text).is_err());
    }
    assert!(from_canonical(&"[".repeat(deep)).is_err());
}

fn one_line(message: &str) -> Result<(), TestCaseError> {
    prop_assert!(!message.is_empty());
    prop_assert!(!message.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{}", message);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        answer(&String::from_utf8_lossy(&bytes))?;
        prop_assert!(from_canonical(&String::from_utf8_lossy(&bytes)).is_err());
    }

    #[test]
    fn any_text_as_a_value(text in any::<String>(), key in 0usize..40) {
        let lines: Vec<&str> = FULL.lines().collect();
        let broken = lines[key % lines.len()].split('=').next().unwrap_or_default();
        let quoted = toml::Value::String(text).to_string();
        let line = format!("{broken}= {quoted}");
        let file: Vec<&str> = lines.iter().enumerate().map(|(i, l)| if i == key % lines.len() { line.as_str() } else { l }).collect();
        answer(&file.join("\n"))?;
    }

    #[test]
    fn a_right_file_with_pieces_lost_and_strangers_put_in(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<prop::sample::Index>()), 1..5),
    ) {
        let mut pieces = tokens();
        for (at, what, stray) in changes {
            let at = at.index(pieces.len());
            match what {
                0 => { pieces.remove(at); }
                1 => pieces[at] = STRAY[stray.index(STRAY.len())],
                2 => pieces.insert(at, STRAY[stray.index(STRAY.len())]),
                _ => pieces[at] = pieces[stray.index(pieces.len())],
            }
            if pieces.is_empty() { break; }
        }
        answer(&pieces.concat())?;
    }

    #[test]
    fn a_canonical_form_with_a_piece_changed(at in any::<prop::sample::Index>(), stray in any::<prop::sample::Index>()) {
        let canonical = read(FULL).map_err(|e| TestCaseError::fail(e.to_string()))?.canonical();
        let mut pieces: Vec<&str> = canonical.split_inclusive([',', ':', '{', '[', ']', '}']).collect();
        let at = at.index(pieces.len());
        pieces[at] = STRAY[stray.index(STRAY.len())];
        if let Err(error) = from_canonical(&pieces.concat()) {
            one_line(&error.to_string())?;
        }
    }

    #[test]
    fn every_scenario_survives_its_canonical_form(mut scenario in scenarios()) {
        // Some could have more segments on their way than can be told apart: those have a receive window, as the reader asks.
        if from_canonical(&scenario.canonical()).is_err_and(|error| error.to_string().contains("receive_window: a flow could")) {
            for group in scenario.groups.iter_mut().filter(|group| group.traffic.is_tcp()) {
                if group.tcp.receive_window == ReceiveWindow::None {
                    group.tcp.receive_window = ReceiveWindow::Segments(1000);
                }
            }
        }
        let canonical = scenario.canonical();
        let again = from_canonical(&canonical);
        prop_assert_eq!(again.as_ref(), Ok(&scenario));
        prop_assert_eq!(again.map(|s| s.canonical()), Ok(canonical));
    }
}

fn receive_windows() -> impl Strategy<Value = ReceiveWindow> {
    let buffers = (4096..=1u64 << 20, 1u64 << 20..=1 << 30, 0.01..=1.0);
    let tuned =
        buffers.prop_map(|(initial, max, share)| Autotuning { initial: Bytes(initial), max: Bytes(max), share });
    prop_oneof![
        Just(ReceiveWindow::None),
        (1..=1_000_000_000u32).prop_map(ReceiveWindow::Segments),
        tuned.prop_map(ReceiveWindow::Autotuned),
    ]
}

fn spans(from: Span, to: Span) -> impl Strategy<Value = Span> + Clone + 'static {
    (from.0..=to.0).prop_map(Span)
}

/// A quantity, or a range.
fn range<T: Quantity + std::fmt::Debug>(of: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Ranged<T>> {
    (of.clone(), of, any::<bool>()).prop_map(
        |(a, b, drawn)| {
            if drawn { Ranged::Uniform(a.min(b), a.max(b)) } else { Ranged::Same(a) }
        },
    )
}

/// Any form of a quantity.
fn any_values<T: Quantity + std::fmt::Debug>(
    of: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = Values<T>> {
    let two = (of.clone(), of.clone()).prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![
        of.clone().prop_map(Values::Same),
        two.clone().prop_map(|(a, b)| Values::Spread(a, b)),
        two.prop_map(|(a, b)| Values::Uniform(a, b)),
        prop::collection::vec(of, 1..5).prop_map(Values::List),
    ]
}

/// Any form of a link's rate.
fn link_rates() -> impl Strategy<Value = LinkRate> {
    let rate = || (1_000_000..1_000_000_000_000_000u64).prop_map(Rate);
    let steps = prop::collection::vec((1..1_000_000_000_000u64, rate()), 1..5);
    let period = prop::option::of(spans(Span::secs(5), Span::secs(1000)));
    let steps = (steps, period).prop_map(|(steps, period)| {
        let at = |i: usize| Span(steps[1..=i].iter().map(|step| step.0).sum());
        LinkRate::Steps((0..steps.len()).map(|i| (at(i), steps[i].1)).collect(), period)
    });
    let time = || spans(Span::millis(1), Span::secs(1000));
    let sine = (rate(), 1000..1_000_000u64, time());
    let sine = sine.prop_map(|(mean, amplitude, period)| scenario::Sine { mean, amplitude: Rate(amplitude), period });
    let markov = (rate(), rate(), time(), time());
    let markov = markov.prop_map(|(a, b, c, d)| scenario::Markov { rates: scenario::RatePair(a, b), times: (c, d) });
    prop_oneof![
        3 => range(rate()).prop_map(LinkRate::Fixed),
        1 => steps,
        1 => sine.prop_map(LinkRate::Sine),
        1 => markov.prop_map(LinkRate::Markov),
    ]
}

/// Any form of a link's delay, up to a millisecond.
fn link_delays() -> impl Strategy<Value = LinkDelay> {
    let delay = || spans(Span::ZERO, Span::millis(1));
    let steps = prop::collection::vec((1..1_000_000_000_000u64, delay()), 1..5);
    let period = prop::option::of(spans(Span::secs(5), Span::secs(1000)));
    let steps = (steps, period).prop_map(|(steps, period)| {
        let at = |i: usize| Span(steps[1..=i].iter().map(|step| step.0).sum());
        LinkDelay::Steps((0..steps.len()).map(|i| (at(i), steps[i].1)).collect(), period)
    });
    prop_oneof![3 => range(delay()).prop_map(LinkDelay::Fixed), 1 => steps]
}

fn jitters() -> impl Strategy<Value = Option<Jitter>> {
    let time = || spans(Span::ZERO, Span::micros(100));
    let uniform = (time(), time()).prop_map(|(a, b)| Jitter::Uniform(a.min(b), a.max(b)));
    prop::option::of(prop_oneof![uniform, time().prop_map(Jitter::Exponential)])
}

fn links() -> impl Strategy<Value = Vec<Link>> {
    let packets = (0..1_000_000u32).prop_map(Limit::Packets);
    let bytes = (0..1_000_000_000u64).prop_map(|n| Limit::Bytes(Bytes(n)));
    let buffer = prop_oneof![packets, bytes, Just(Limit::Unlimited)];
    let loss = || {
        let chain = (0.0..1.0, 0.001..1.0, 0.0..1.0, 0.0..1.0);
        let chain = chain.prop_map(|(enter, leave, good, bad)| scenario::Gilbert { enter, leave, good, bad });
        prop_oneof![
            (0.0..1.0).prop_map(Loss::Random),
            (2..u64::from(u32::MAX)).prop_map(Loss::Every),
            chain.prop_map(Loss::Gilbert),
        ]
    };
    let during = (prop::option::of(loss()), 1..1_000_000u64).prop_map(|(law, at)| {
        Loss::During(vec![(Span(at), Span(2 * at)), (Span(3 * at), Span(4 * at))], law.map(Box::new))
    });
    let loss = prop_oneof![4 => loss(), 1 => during];
    let name = "[a-zA-Z0-9 _ü-]{1,20}";
    let rate = (prop_oneof![Just(1u32), 2..50u32], link_rates(), (link_delays(), jitters()));
    let queue = (0..QUEUES.len()).prop_map(|i| QueueSpec::named(QUEUES[i].card.name).expect("registered"));
    let link = (name, rate, buffer, prop::option::of(loss), queue).prop_map(
        |(name, (count, rate, (delay, jitter)), buffer, loss, queue)| Link {
            name,
            count,
            rate,
            delay,
            buffer,
            queue,
            loss,
            policer: None,
            shaper: None,
            batch: None,
            reorder: jitter.map(|_| Reorder::Jitter),
            jitter,
            pool: None,
            alpha: None,
        },
    );
    prop::collection::vec(link, 1..5).prop_map(|mut links| {
        for (i, link) in links.iter_mut().enumerate() {
            link.name = format!("{}{i}", link.name);
        }
        links
    })
}

fn rtts() -> impl Strategy<Value = Rtt> {
    // Jitter makes them longer, at most 50 s.
    let rtt = || spans(Span::millis(20), Span::secs(49));
    let two = || (rtt(), rtt()).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let by = prop::sample::select(vec![By::Draws, By::Quantiles]);
    prop_oneof![
        any_values(rtt()).prop_map(Rtt::Given),
        (two(), 1.5..1000.0, by).prop_map(|((a, b), shape, by)| Rtt::Pareto(Pareto {
            mean: Span(a.0.max(30_000_000_000)),
            shape,
            max: b.max(Span::millis(30)),
            by,
        })),
    ]
}

/// Starts within nine seconds, stops from then on.
fn life() -> impl Strategy<Value = (Start, Option<Stop>)> {
    let early = || spans(Span::ZERO, Span::secs(9));
    let late = || spans(Span::secs(10), Span::secs(99));
    let start = prop_oneof![
        (early(), early()).prop_map(|(a, b)| Start::Between(a.min(b), a.max(b))),
        (early(), spans(Span::ZERO, Span::nanos(1))).prop_map(|(from, every)| Start::Every { from, every }),
        prop::collection::vec(early(), 1..5).prop_map(Start::List),
    ];
    let stop = prop_oneof![
        (late(), late()).prop_map(|(a, b)| Stop::Between(a.min(b), a.max(b))),
        late().prop_map(Stop::After),
        late().prop_map(Stop::AfterExponential),
    ];
    (start, prop::option::of(stop))
}

fn laws() -> impl Strategy<Value = (LawSpec, StartSpec)> {
    ((0..law::LAWS.len()), 0.01..0.5, (0..law::STARTS.len()), 2.0..1e6).prop_map(|(law, share, start, ssthresh)| {
        let mut law = LawSpec::named(law::LAWS[law].card.name).expect("registered");
        for row in law.rows().iter().filter(|row| ["decrease", "high_decrease"].contains(&row.name)) {
            let value = match row.default {
                Value::Pairs(_) => Value::Pairs(vec![[1.0, 0.5], [ssthresh, share]]),
                _ => Value::Number(share),
            };
            law.set(row.name, &value).expect("a parameter").expect("in range");
        }
        let mut start = StartSpec::named(law::STARTS[start].card.name).expect("registered");
        start.set("max_ssthresh", &Value::Number(ssthresh)).transpose().expect("in range");
        (law, start)
    })
}

fn options() -> impl Strategy<Value = Options> {
    let timer = || spans(Span::nanos(1), Span::secs(3600));
    let times = (timer(), timer(), timer(), spans(Span::ZERO, Span::secs(1)));
    let counts = (1..=1000u32, prop::option::of(2.0..1e9), receive_windows(), 1..=64u32, (0..=64u32, 1..=2u32));
    let factors = (0.1..100.0, 0.1..100.0).prop_map(|(slow_start, avoidance)| PacingFactors { slow_start, avoidance });
    let pacing = prop_oneof![Just(Pacing::None), Just(Pacing::Quic), factors.prop_map(Pacing::Linux)];
    let burst = prop_oneof![
        Just(Burst::None),
        (2..=65_536u32).prop_map(Burst::Segments),
        (2..=65_536u32).prop_map(|max_segments| Burst::Linux(Device { max_segments: Some(max_segments) })),
    ];
    let merged = (2..=65_536u32, timer()).prop_map(|(segments, wait)| Coalescing { segments, wait });
    let validation = prop::sample::select(WindowValidation::ALL.map(|row| row.0).to_vec());
    let offload =
        (burst, prop::option::of(merged), prop::option::of(1..=1000u32), validation, (40..=120u64).prop_map(Bytes));
    let ecn = prop::sample::select(Ecn::ALL.map(|row| row.0).to_vec());
    (times, counts, (any::<bool>(), ecn, pacing, any::<bool>()), offload).prop_map(|(times, counts, flags, offload)| {
        Options {
            min_rto: times.0,
            rto_granularity: times.1,
            delayed_ack_timeout: times.2,
            send_jitter: times.3,
            initial_window: counts.0,
            initial_ssthresh: counts.1,
            receive_window: counts.2,
            delayed_ack: counts.3,
            quick_acks: counts.4.0,
            ecn_floor: counts.4.1,
            timestamps: flags.3,
            rto: if flags.3 { Rto::Linux } else { Rto::Rfc6298 },
            limited_transmit: flags.0,
            ecn: flags.1,
            pacing: flags.2,
            burst: offload.0,
            receive_offload: offload.1,
            abc_limit: offload.2,
            window_validation: offload.3,
            header: offload.4,
            ..Options::default()
        }
    })
}

fn applications() -> impl Strategy<Value = TrafficSpec> {
    let times = || spans(Span::micros(1), Span::secs(99));
    // At most a million segments a time, and a segment may be a byte.
    let bytes = || (1..=1_000_000u64).prop_map(Bytes);
    prop_oneof![
        (times(), times(), 1.05..9.0).prop_map(|(on, off, shape)| {
            let law = if shape < 5.0 { TimeLaw::Pareto } else { TimeLaw::Exponential };
            TrafficSpec::PausingBulk(traffic::pausing_bulk::Params { on, off, law, shape })
        }),
        (bytes(), times()).prop_map(|(size, every)| TrafficSpec::Video(traffic::video::Params {
            size,
            every,
            ..Default::default()
        })),
        (bytes(), times()).prop_map(|(size, think)| {
            TrafficSpec::RequestResponse(traffic::request_response::Params { size, think, ..Default::default() })
        }),
    ]
}

/// One place each, as a group may have as many flows as a scenario.
fn sessions() -> impl Strategy<Value = TrafficSpec> {
    let list = prop::collection::vec((0..1_000_000u64, 1..1_000_000u64), 1..5).prop_map(|mut rows| {
        rows.sort_unstable();
        let rows: Vec<_> = rows.iter().map(|(ns, bytes)| format!("{ns} ns {bytes} B")).collect();
        traffic::FlowList::parse(&rows.join("; ")).expect("in order")
    });
    let rate = prop::option::of((1_000..1_000_000u64).prop_map(Rate));
    let (think, gap) = (spans(Span::micros(1), Span::secs(99)), spans(Span::ZERO, Span::secs(9)));
    prop_oneof![
        spans(Span::micros(1), Span::secs(99))
            .prop_map(|think| TrafficSpec::Engset(traffic::engset::Params { think, ..Default::default() })),
        (0.01..2.0f64, rate).prop_map(|(load, rate)| TrafficSpec::Elastic(traffic::elastic::Params {
            load,
            rate: traffic::elastic::Offered(rate),
            places: 1,
            ..Default::default()
        })),
        (think, gap, any::<u32>(), 1.0..99.0f64).prop_map(|(think, gap, pages, objects)| TrafficSpec::Web(
            traffic::web::Params { think, gap, pages, objects, connections: 1, ..Default::default() }
        )),
        list.prop_map(|flows| TrafficSpec::Replay(traffic::replay::Params { flows, places: 1 })),
    ]
}

fn groups(links: &[Link]) -> impl Strategy<Value = Group> + use<> {
    let n = links.len();
    let path = (prop::sample::subsequence((0..n).collect::<Vec<_>>(), 1..=n), any::<prop::sample::Index>());
    let counts: Vec<u32> = links.iter().map(|link| link.count).collect();
    let picks = prop::collection::vec(any::<u32>(), n);
    let path = (path, picks).prop_map(move |((path, cut), picks)| {
        let pick = |link: usize| match picks[link] {
            draw if draw % 2 == 0 && counts[link] > 1 => Pick::Each,
            draw => Pick::One(draw % counts[link]),
        };
        (path.into_iter().map(|link| Hop { link, pick: pick(link) }).collect::<Vec<_>>(), cut)
    });
    let rates = any_values((1_000_000..1_000_000_000_000u64).prop_map(Rate));
    let access = prop::option::of((rates, prop::option::of(0..100_000u32)));
    let delay = prop::option::of(any_values(spans(Span::ZERO, Span::millis(2))));
    let access = (access, delay).prop_map(|(access, delay)| {
        let (rate, buffer) = access.map_or((None, None), |(rate, buffer)| (Some(rate), buffer));
        Access { rate, buffer: buffer.map(Packets), delay }
    });
    let rate = || (1_000..1_000_000_000_000u64).prop_map(Rate);
    let sizes = || prop::sample::select(vec![PacketSize::Constant, PacketSize::Exponential]);
    let lengths = || spans(Span::millis(60), Span::secs(9));
    let traffic = prop_oneof![
        Just(TrafficSpec::Bulk(traffic::bulk::Params::default())),
        (1..1u64 << 30).prop_map(|n| TrafficSpec::Finite(traffic::finite::Params { size: Bytes(n) })),
        (rate(), sizes()).prop_map(|(rate, size)| TrafficSpec::Poisson(traffic::poisson::Params { rate, size })),
        rate().prop_map(|rate| TrafficSpec::Cbr(traffic::cbr::Params { rate })),
        (rate(), lengths(), lengths(), 1.05..9.0, sizes()).prop_map(|(rate, on, off, shape, size)| {
            let law = if shape < 5.0 { Law::Pareto } else { Law::Exponential };
            TrafficSpec::OnOff(traffic::on_off::Params { rate, on, off, law, shape, size })
        }),
        sessions(),
        applications(),
    ];
    let recovery = prop::sample::select(Recovery::ALL.map(|row| row.0).to_vec());
    ((1..1_000u32, path, rtts(), access), (laws(), recovery, 41..=65_535u64, life()), (traffic, options())).prop_map(
        |(
            (count, (mut path, cut), rtt, access),
            ((law, slow_start), recovery, packet, (start, stop)),
            (traffic, tcp),
        )| {
            let mut back = path.split_off(cut.index(path.len()).max(1));
            let (mut law, mut slow_start, mut recovery, mut tcp) = (law, slow_start, recovery, tcp);
            let (mut packet, mut access) = (packet, access);
            if !traffic.is_tcp() {
                back.clear();
                law = LawSpec::named("reno").expect("registered");
                slow_start = StartSpec::named("classic").expect("registered");
                recovery = Recovery::Sack;
                if traffic.size() != PacketSize::Constant {
                    packet = packet.min(4000);
                    (access.rate, access.buffer) = (None, None);
                }
                tcp = Options { send_jitter: tcp.send_jitter, ..Options::default() };
            }
            packet = packet.max(tcp.header.0 + 1);
            let control = law.build(&slow_start, 2.0, f64::INFINITY).expect("in range");
            let recovery = if control.needs().deliveries && !recovery.selective() { Recovery::Sack } else { recovery };
            Group {
                name: String::new(),
                count,
                path,
                back,
                rtt,
                access,
                control: Control { law, slow_start, own: None },
                recovery,
                packet: Bytes(packet),
                start,
                stop,
                traffic,
                tcp,
            }
        },
    )
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let body = links().prop_flat_map(|links| {
        let groups = prop::collection::vec(groups(&links), 1..4);
        (Just(links), groups)
    });
    let head = (
        "[\\PC&&[^\u{2028}\u{2029}]]{0,40}",
        spans(Span::secs(10), Span::secs(10_000)),
        spans(Span::ZERO, Span::secs(9)),
        1..=10_000u32,
        0..=i64::MAX as u64,
    );
    let draws = prop::collection::vec(prop::collection::vec(prop::option::of(any::<u32>()), values::MOST), 4);
    let pool = (0..1_000_000_000u64, any::<bool>(), 0..3usize, 1e-6..1e6, prop::option::of(1e-6..1e6));
    let pool = prop::option::of(pool);
    (head, body, (prop::option::of(spans(Span::millis(1), Span::secs(1))), any::<bool>(), pool), draws).prop_map(
        |(head, (links, mut groups), (every, delays, pool), draws)| {
            for (i, group) in groups.iter_mut().enumerate() {
                group.name = format!("group {i}");
            }
            let packets = if delays {
                vec![PacketSpan { link: Hop { link: 0, pick: Pick::One(0) }, from: Span::ZERO, to: Span::nanos(1) }]
            } else {
                vec![]
            };
            let trace = groups.iter().enumerate().map(|(i, group)| (i, group.count - 1)).collect();
            let mut scenario = Scenario {
                title: head.0,
                duration: head.1,
                warmup: head.2,
                replications: head.3,
                seed: head.4,
                pools: Vec::new(),
                links,
                groups,
                record: Record { every, trace, packets, delays },
            };
            for (i, draws) in draws.iter().enumerate().take(scenario.links.len()) {
                let port = scenario.use_of(i).port();
                let queue = &mut scenario.links[i].queue;
                *queue = spec::drawn(queue.card().name, &port, draws);
                queue.resolve(&port).expect("accepted before");
            }
            if let Some((size, in_bytes, sharing, alpha, own)) = pool {
                for link in scenario.links.iter_mut().filter(|link| link.queue.can_share_memory()) {
                    (link.pool, link.alpha) = (Some(scenario::PoolName(0)), own);
                }
                if scenario.links_in(0).next().is_some() {
                    let size = if in_bytes { MemorySize::Bytes(size) } else { MemorySize::Packets(size / 1000) };
                    let sharing = queue::Sharing::ALL[sharing].0;
                    scenario.pools.push(scenario::Pool { name: "chip".into(), size, sharing, alpha });
                }
            }
            scenario
        },
    )
}

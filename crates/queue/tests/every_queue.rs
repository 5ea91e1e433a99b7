//! Properties that every registered discipline has, under any arrivals and any size of buffer.

extern crate elephan_queue as queue;

#[path = "values/spec.rs"]
mod spec;
mod values;

use base::{Bytes, Cause, Flags, Rate, Span, Stream, Time, Value};
use proptest::prelude::*;
use queue::{AnyQueue, Backlog, Fate, Fates, Limit, Link, Packet, Port, QUEUES, QueueDiscipline, QueueSpec, replay};

#[derive(Default)]
struct Ledger {
    dropped: Vec<(Packet, Cause)>,
    overflows: usize,
    marked: Vec<(Packet, Cause)>,
}

impl Fates for Ledger {
    fn dropped(&mut self, packet: &Packet, cause: Cause, _now: Time) {
        assert!(cause != Cause::Injected, "injected losses are the scenario's");
        self.dropped.push((*packet, cause));
        self.overflows += usize::from(cause == Cause::Overflow);
    }
    fn marked(&mut self, packet: &Packet, cause: Cause, _now: Time) {
        assert!(packet.flags.has(Flags::ECT), "only ECN-capable packets are marked");
        self.marked.push((*packet, cause));
    }
}

/// A link, what left it, and its events in the order of the engines: timers, then departures, then arrivals.
struct Driver {
    link: Link<AnyQueue>,
    limit: Limit,
    /// Whether the discipline has a limit of its own, beside the buffer's.
    limited: bool,
    fates: Ledger,
    out: Vec<Packet>,
    offered: usize,
}

impl Driver {
    /// Everything up to and including `until`; at the end of time until nothing is left.
    fn run(&mut self, until: Time) -> Result<(), TestCaseError> {
        while (self.link.serving().is_some() || until != Time::NEVER)
            && let Some(step) = self.link.advance(until, &mut self.fates)
        {
            if let Some(packet) = step.departed {
                self.out.push(packet);
            } else {
                prop_assert!(self.link.next_wakeup() > step.at, "a timer that rings must be set again, for later");
            }
            self.check()?;
        }
        Ok(())
    }

    fn offer(&mut self, packet: Packet) -> Result<(), TestCaseError> {
        let idle = self.link.serving().is_none();
        let before = self.fates.dropped.len();
        self.offered += 1;
        self.link.offer(packet, &mut self.fates);
        if idle {
            let mut lost = self.fates.dropped[before..].iter();
            prop_assert!(lost.all(|&(_, cause)| cause != Cause::Overflow), "an idle server needs no room");
        }
        self.check()
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let backlog = self.link.backlog();
        prop_assert!(self.limit.holds(backlog), "{:?} beyond {:?}", backlog, self.limit);
        prop_assert!(self.link.serving().is_some() || backlog.packets == 0, "idle beside a backlog");
        prop_assert_eq!(backlog.packets == 0, backlog.bytes.0 == 0);
        let kept = self.out.len() + usize::from(self.link.serving().is_some()) + backlog.packets as usize;
        let Ledger { dropped, overflows, .. } = &self.fates;
        prop_assert_eq!(self.offered, kept + dropped.len(), "arrived; kept or dropped: {:?}", dropped);
        prop_assert!(
            self.limit != Limit::Unlimited || self.limited || *overflows == 0,
            "overflow of a buffer without limit"
        );
        Ok(())
    }
}

/// The same discipline without its shortcut for a packet that finds the server idle: the trait's default, in two steps.
#[derive(Debug)]
struct TwoSteps(AnyQueue);

impl QueueDiscipline for TwoSteps {
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        self.0.enqueue(packet, idle_since, fates);
    }
    fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet> {
        self.0.dequeue(now, fates)
    }
    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }
    fn next_wakeup(&self) -> Time {
        self.0.next_wakeup()
    }
    fn on_wakeup(&mut self, now: Time, idle_since: Option<Time>, fates: &mut impl Fates) {
        self.0.on_wakeup(now, idle_since, fates);
    }
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0u32..40).prop_map(Limit::Packets),
        (0u64..40_000).prop_map(|n| Limit::Bytes(Bytes(n))),
        Just(Limit::Unlimited)
    ]
}

#[test]
fn every_card_is_complete_and_every_name_is_found_once() {
    let mut names = Vec::new();
    for entry in QUEUES {
        assert!(!entry.card.title.is_empty() && !entry.card.source.is_empty(), "{}", entry.card.name);
        assert!(
            (entry.rows)().iter().all(|row| row.meaning.ends_with('.')),
            "{}: meanings are sentences",
            entry.card.name
        );
        names.extend(std::iter::once(entry.card.name).chain(entry.card.aliases.iter().copied()));
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two things share a name");
}

#[test]
fn other_spellings_name_parameters_there_are() {
    for entry in QUEUES {
        let spec = QueueSpec::named(entry.card.name).expect("registered");
        let is = |name: &str| spec.rows().iter().any(|row| row.name == name);
        for (other, name) in spec.spellings() {
            assert!(is(name) && !is(other), "{}: {other} for {name}", entry.card.name);
        }
    }
}

#[test]
fn timers_below_10_us_and_amounts_left_to_a_discipline_that_sets_none_are_rejected() {
    let port = Port::new(Limit::Packets(100), Rate(1_000_000_000), 1000.0);
    let says = |discipline: &str, name: &str, value: &str| {
        let mut spec = QueueSpec::named(discipline).expect("registered");
        spec.set(name, &Value::Text(value.into())).expect("it has one").expect("of this kind");
        spec.build(&port, Stream::new(1, 0, ("link", 0), "queue")).map(|_| ()).map_err(|e| e.to_string())
    };
    for (discipline, name) in [
        ("ared", "interval"),
        ("gared", "interval"),
        ("pd-red", "interval"),
        ("rem", "interval"),
        ("pie", "t_update"),
        ("dualpi2", "tupdate"),
        ("sfq", "perturb"),
        ("xcp", "interval"),
        ("xcp", "min_interval"),
    ] {
        assert_eq!(says(discipline, name, "9999 ns"), Err(format!("{name}: must be at least 10 us")), "{discipline}");
        assert_eq!(says(discipline, name, "10 us"), Ok(()), "{discipline}");
    }
    assert_eq!(says("sfq", "perturb", "0 s"), Ok(()));
    for (discipline, name) in
        [("drr", "quantum"), ("drr", "flow_limit"), ("blue", "threshold"), ("dualpi2", "step_backlog")]
    {
        let refusal = says(discipline, name, "auto").unwrap_err();
        assert!(refusal.starts_with(&format!("{name}: must be an amount such as")), "{refusal}");
    }
    assert_eq!(says("red", "max_th", "1e300 packets"), Err("max_th: must be at most 10^18 packets".into()));
}

/// Resolving twice changes nothing; the values shown give the same specification; its curve gives probabilities.
fn written_and_read(spec: &QueueSpec, port: &Port) -> Result<(), TestCaseError> {
    let mut resolved = spec.clone();
    resolved.resolve(port).expect("accepted before");
    let mut twice = resolved.clone();
    twice.resolve(port).expect("accepted before");
    prop_assert_eq!(&twice, &resolved);
    let mut read = QueueSpec::named(resolved.card().name).expect("registered");
    for (name, value) in resolved.values() {
        prop_assert_eq!(read.set(name, &value), Some(Ok(())), "{}", name);
    }
    prop_assert_eq!(&read, &resolved);
    if let Some(words) = resolved.tc(port) {
        prop_assert!(!words.contains("NaN") && !words.contains("inf"), "{}", words);
    }
    for average in [0.0, 0.1, 1.0, 5.0, 30.0, 1e3, 1e6, 1e18] {
        let p = resolved.curve(average).unwrap_or(0.0);
        prop_assert!((0.0..=1.0).contains(&p), "{} at {}", p, average);
    }
    Ok(())
}

/// Transmission time of a byte, in picoseconds: on fast links timers expire seldom, on slow links often.
fn paces() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1_000u64), Just(1_000_000), Just(100_000_000)]
}

/// Sizes of packets: all the same, or not.
fn sizes() -> impl Strategy<Value = (u32, u32)> {
    prop_oneof![Just((1000u32, 1000u32)), Just((1500, 1500)), Just((40, 2000)), Just((40, 100)), Just((64, 9000))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Every packet leaves once or is dropped once, for one cause; packets of a flow keep their order; the backlog never
    /// exceeds the buffer; the server never idles while something waits; timers go forward.
    #[test]
    fn packets_are_conserved_in_order_within_the_buffer(
        limit in limits(),
        pace in paces(),
        (least, most) in sizes(),
        mean in 0.0f64..=1.0,
        bdp in prop::option::of(1_000.0f64..200_000.0),
        arrivals in prop::collection::vec((0u64..3, 0u64..2000, 0u32..5, 0.0f64..=1.0, any::<bool>()), 1..300),
        draws in prop::collection::vec(prop::option::of(any::<u32>()), values::MOST),
    ) {
        let rate = Rate(8_000_000_000_000 / pace);
        let size = |share: f64| least + (share * f64::from(most - least)) as u32;
        for entry in QUEUES {
            let port = Port { bdp, ..Port::new(limit, rate, f64::from(size(mean))) };
            let defaults = QueueSpec::named(entry.card.name).expect("registered");
            let chance = || Stream::new(1, 0, ("link", 0), "queue");
            prop_assert!(defaults.build(&port, chance()).is_ok(), "the defaults of {} are valid", entry.card.name);
            let spec = spec::drawn(entry.card.name, &port, &draws);
            written_and_read(&spec, &port)?;
            let queue = spec.build(&port, chance()).expect("accepted before");
            let zero = Value::Text("0 packets".into());
            let mut driver = Driver {
                link: Link::new(rate, queue),
                limit,
                limited: spec.values().iter().any(|(name, value)| name.ends_with("_limit") && *value != zero),
                fates: Ledger::default(),
                out: Vec::new(),
                offered: 0,
            };
            let at = |e: TestCaseError| TestCaseError::fail(format!("{spec:?}: {e}"));
            let mut now = Time::ZERO;
            for (token, &(burst, gap, flow, share, ect)) in arrivals.iter().enumerate() {
                // Two of three come right behind the one before; a packet takes as long as a gap on average.
                now.0 += if burst == 0 { 3 * gap * pace } else { 0 };
                driver.run(now).map_err(at)?;
                let flags = if ect { Flags::ECT } else { Flags::NONE };
                driver.offer(Packet::new(flow, token as u32, size(share), now).with(flags)).map_err(at)?;
            }
            driver.run(Time::NEVER).map_err(at)?;
            let Driver { mut link, fates, out, .. } = driver;
            prop_assert_eq!(link.backlog(), Backlog::default());
            prop_assert_eq!(link.queue().backlog().packets, 0);
            let mut seen: Vec<u32> = out.iter().chain(fates.dropped.iter().map(|(p, _)| p)).map(|p| p.token).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..arrivals.len() as u32).collect::<Vec<_>>(), "{}", entry.card.name);
            for flow in 0..5 {
                let tokens: Vec<u32> = out.iter().filter(|p| p.flow == flow).map(|p| p.token).collect();
                prop_assert!(tokens.is_sorted(), "{}: flow {flow} is reordered", entry.card.name);
            }
            // Whoever leaves with the mark was marked, once; what can carry none has none.
            let ce = out.iter().filter(|p| p.flags.has(Flags::CE)).map(|p| p.token).collect::<Vec<_>>();
            let mut marked: Vec<u32> = fates.marked.iter().map(|(p, _)| p.token).collect();
            marked.sort_unstable();
            prop_assert!(ce.iter().all(|token| marked.binary_search(token).is_ok()), "{}", entry.card.name);
            prop_assert!(marked.windows(2).all(|two| two[0] < two[1]), "{}: marked twice", entry.card.name);
        }
    }
}

#[test]
fn every_discipline_lets_packets_pass_again_when_a_flood_is_over() {
    // Ten times what the link carries for a minute, then a packet each second, all of which find it idle, for a quarter of an
    // hour: the slowest, BLUE, needs 360 s from a probability of 0.9.
    let flood = (0..75_000).map(|i| 800 * i);
    let times: Vec<u64> = flood.chain((61..961).map(|s| 1_000_000 * s)).collect();
    let packets: Vec<Packet> = times
        .iter()
        .enumerate()
        .map(|(token, us)| Packet::new(token as u32 % 3, token as u32, 1000, Time::ZERO + Span::micros(*us)))
        .collect();
    for entry in QUEUES {
        let port = Port::new(Limit::Packets(50), Rate(1_000_000), 1000.0);
        let spec = QueueSpec::named(entry.card.name).expect("registered");
        let queue = spec.build(&port, Stream::new(1, 0, ("link", 0), "queue")).expect("its defaults are valid");
        let fates = replay(queue, port.rate, &packets, |_, _| {});
        let passed = |fates: &[Fate]| fates.iter().filter(|fate| fate.cause.is_none()).count();
        assert!(passed(&fates[..75_000]) < 10_000, "{}: it is a flood", entry.card.name);
        assert_eq!(passed(&fates[75_800..]), 100, "{}", entry.card.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// The shortcut for a packet that finds the server idle does what arrival and departure do.
    #[test]
    fn a_packet_that_passes_at_once_meets_the_same_decisions(
        limit in limits(),
        pace in paces(),
        (least, most) in sizes(),
        arrivals in prop::collection::vec((0u64..3, 0u64..4000, 0u32..5, 0.0f64..=1.0, any::<bool>()), 1..300),
        draws in prop::collection::vec(prop::option::of(any::<u32>()), values::MOST),
    ) {
        let mut now = Time::ZERO;
        let packets: Vec<Packet> = arrivals.iter().enumerate().map(|(token, &(burst, gap, flow, share, ect))| {
            now.0 += if burst == 0 { 3 * gap * pace } else { 0 };
            let size = least + (share * f64::from(most - least)) as u32;
            Packet::new(flow, token as u32, size, now).with(if ect { Flags::ECT } else { Flags::NONE })
        }).collect();
        for entry in QUEUES {
            let port = Port::new(limit, Rate(8_000_000_000_000 / pace), f64::from(most));
            let spec = spec::drawn(entry.card.name, &port, &draws);
            let build = || spec.build(&port, Stream::new(1, 0, ("link", 0), "queue")).expect("accepted before");
            let (mut backlogs, mut expected) = (Vec::new(), Vec::new());
            let fates = replay(build(), port.rate, &packets, |_, link| backlogs.push(link.backlog()));
            let steps = replay(TwoSteps(build()), port.rate, &packets, |_, link| expected.push(link.backlog()));
            prop_assert!(fates == steps && backlogs == expected, "{spec:?}: {fates:?}, in two steps {steps:?}");
        }
    }
}

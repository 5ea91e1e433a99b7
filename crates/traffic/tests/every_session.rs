//! Properties that the simulation relies on, for every registered session, with random parameters, over a network that ends
//! transfers after random times; and Engset's flow balance.

extern crate elephan_traffic as traffic;

use base::time::PS_PER_S;
use base::{Bytes, Rate, Span, Stream, Time, Value};
use proptest::prelude::*;
use std::collections::BinaryHeap;
use traffic::{AnySession, Offer, SessionProcess, Site, Sort, TRAFFIC, TrafficSpec};

/// No run is longer: eleven days.
const END: Time = Time(1_000_000_000_000_000_000);

/// Possible values of parameters in files: those are used that the parameter reads and the kind accepts.
const WORDS: [&str; 18] = [
    "constant",
    "exponential",
    "pareto",
    "uniform",
    "end",
    "start",
    "none",
    "0 s",
    "20 us",
    "3 ms",
    "0.7 s",
    "100000 s",
    "1 B",
    "1460 B",
    "30 kB",
    "5 Mbit/s",
    "0 s 1 B; 0 s 5 kB; 0 s 1 MB; 0.5 s 2 kB; 0.500000001 s 77 kB; 60 s 10 GB",
    "1 s 12 kB;",
];
const NUMBERS: [f64; 10] = [0.0, 0.001, 0.3, 1.0, 1.01, 1.7, 3.0, 7.0, 50.0, 1000.0];

fn site(index: u32, flows: u32) -> Site {
    let start = Time(PS_PER_S / 10);
    Site { packet: Bytes(1500), mss: 1460, capacity: Rate(1_000_000_000), index, flows, start }
}

fn session(spec: &TrafficSpec, site: &Site, seed: u64) -> Option<AnySession> {
    match spec.offer(site, || Stream::new(seed, 0, ("flow", u64::from(site.index)), "traffic")) {
        Ok(Offer::Session(session)) => Some(session),
        _ => None,
    }
}

/// The `kind`-th session with parameters chosen by `choices`, one after another; what it refuses stays as it was.
fn random_spec(kind: usize, choices: &[usize]) -> TrafficSpec {
    let specs = TRAFFIC.iter().filter_map(|entry| TrafficSpec::named(entry.card.name));
    let mut sessions: Vec<_> = specs.filter(|spec| spec.sort() == Sort::Session).collect();
    let mut spec = sessions.swap_remove(kind % sessions.len());
    for (row, choice) in spec.rows().iter().zip(choices) {
        let mut changed = spec.clone();
        let words = WORDS.iter().map(|word| Value::Text((*word).into()));
        let readable = words.chain(NUMBERS.iter().map(|x| Value::Number(*x)));
        let readable: Vec<_> = readable.filter(|x| matches!(changed.set(row.name, x), Some(Ok(())))).collect();
        changed = spec.clone();
        changed.set(row.name, &readable[choice % readable.len()]).expect("a row").expect("readable");
        if session(&changed, &site(0, 1), 1).is_some() {
            spec = changed;
        }
    }
    spec
}

/// Whether a session of it may be over.
fn may_end(spec: &TrafficSpec) -> bool {
    match spec {
        TrafficSpec::Replay(_) => true,
        TrafficSpec::Web(params) => params.pages > 0,
        TrafficSpec::Page(params) => params.pages > 0,
        _ => false,
    }
}

/// Event of a session, with its answer.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Opened(Time, u32),
    Refused(Time, u32),
    Ended(Time, Option<Time>),
}

/// A session, its transfers, and a network that ends each after an exponential time.
#[derive(Clone)]
struct Driver {
    session: AnySession,
    places: u32,
    /// Picoseconds.
    mean_service: f64,
    service: Stream,
    /// Ends of open transfers, the next on top.
    ends: BinaryHeap<std::cmp::Reverse<Time>>,
    now: Time,
}

impl Driver {
    fn new(spec: &TrafficSpec, session: AnySession, mean_service: Span) -> Self {
        let service = Stream::new(9, 0, ("test", 0), "service");
        let mean_service = mean_service.0 as f64;
        Self { session, places: spec.places(), mean_service, service, ends: BinaryHeap::new(), now: Time::ZERO }
    }

    /// Next event; `None` if there is none. Ends come first, because they free places.
    fn step(&mut self) -> Option<Step> {
        let due = self.session.due();
        assert!(due >= self.now, "due at {due:?}, which is over at {:?}", self.now);
        assert_eq!(due, self.session.due());
        let full = self.ends.len() as u32 >= self.places;
        let end = self.ends.peek().map_or(Time::NEVER, |end| end.0);
        let due = if full && self.session.waits() { Time::NEVER } else { due };
        if due.min(end) == Time::NEVER {
            return None;
        }
        self.now = due.min(end);
        if end <= due {
            self.ends.pop();
            let page = self.session.ended(self.now);
            assert!(page.is_none_or(|opened| opened <= self.now));
            return Some(Step::Ended(self.now, page));
        }
        let segments = self.session.open(self.now);
        assert!(segments >= 1);
        if full {
            return Some(Step::Refused(self.now, segments));
        }
        let service = self.service.exponential(self.mean_service).round() as u64;
        self.ends.push(std::cmp::Reverse(self.now + Span(service)));
        Some(Step::Opened(self.now, segments))
    }

    /// Up to `most` steps.
    fn steps(&mut self, most: usize) -> Vec<Step> {
        std::iter::from_fn(|| if self.now < END { self.step() } else { None }).take(most).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_session_stalls_whatever_its_parameters_and_however_long_transfers_take(
        kind in 0..100usize,
        choices in prop::collection::vec(0..1000usize, 20),
        seed in 0..1000u64,
        service in prop::sample::select(vec![0, 1, 1_000_000, 1_000_000_000, 300_000_000_000, 60_000_000_000_000]),
        (index, flows) in prop::sample::select(vec![(0, 1), (0, 3), (2, 3), (9, 10)]),
    ) {
        let spec = random_spec(kind, &choices);
        let Some(session) = session(&spec, &site(index, flows), seed) else {
            return Err(TestCaseError::fail(format!("{spec:?} fits one flow and not the {index}th of {flows}")));
        };
        prop_assert!(may_end(&spec) || session.due() < Time::NEVER);
        let mut driver = Driver::new(&spec, session, Span(service));
        let mut early = driver.steps(500);
        // A copy goes on as the original does.
        let mut copy = driver.clone();
        let late = driver.steps(500);
        prop_assert_eq!(&copy.steps(500), &late);
        early.extend(late);
        // Nothing is due for good only when it is over, which it then stays, with nothing open.
        if early.len() < 1000 && driver.now < END {
            prop_assert!(may_end(&spec) && driver.ends.is_empty(), "{:?} stalls at {:?}", spec, driver.now);
            prop_assert_eq!(driver.step(), None);
        }
        let refused = early.iter().any(|step| matches!(step, Step::Refused(..)));
        prop_assert!(!refused || !driver.session.waits());
        // What it opens does not depend on how long transfers take, only when.
        let sizes = |steps: &[Step]| -> Vec<u32> {
            steps.iter().filter_map(|s| if let Step::Opened(_, n) | Step::Refused(_, n) = s { Some(*n) } else { None }).collect()
        };
        let again = self::session(&spec, &site(index, flows), seed).expect("as before");
        let slower = sizes(&Driver::new(&spec, again, Span(77_777_777_777)).steps(1000));
        prop_assert!(sizes(&early).iter().zip(&slower).all(|(a, b)| a == b));
    }

    #[test]
    fn every_page_that_opens_is_complete_once(
        choices in prop::collection::vec(0..1000usize, 20),
        service in prop::sample::select(vec![1_000_000u64, 1_000_000_000, 300_000_000_000]),
    ) {
        let web = (0..100).map(|kind| random_spec(kind, &choices)).find(|spec| matches!(spec, TrafficSpec::Web(_)));
        let mut spec = web.expect("registered");
        for (name, number) in [("pages", 3.0), ("objects", 4.0)] {
            spec.set(name, &Value::Number(number)).expect("a row").expect("a number");
        }
        // Three pages of these are over within eleven days.
        for (name, word) in [("objects_law", "uniform"), ("gap_law", "constant"), ("gap", "0.7 s"), ("think_law", "constant")] {
            spec.set(name, &Value::Text(word.into())).expect("a row").expect("readable");
        }
        let session = session(&spec, &site(0, 1), 3).expect("in range");
        let steps = Driver::new(&spec, session, Span(service)).steps(1000);
        let pages: Vec<Time> = steps.iter().filter_map(|s| if let Step::Ended(_, page) = s { *page } else { None }).collect();
        prop_assert_eq!(pages.len(), 3);
        let opened = |page: &Time| steps.iter().any(|s| matches!(s, Step::Opened(at, _) if at == page));
        prop_assert!(pages.iter().all(opened));
    }
}

/// Transfers that `users` of Engset's end in `time`, thinking `think`, over a network that takes `service`.
fn completions(users: u32, think: Span, service: Span, time: Span) -> f64 {
    let mut spec = TrafficSpec::named("engset").expect("registered");
    let text = Value::Text(base::text::format_span(think));
    spec.set("think", &text).expect("a row").expect("a time");
    let one = |i| {
        let mut session = session(&spec, &site(i, users), 5).expect("in range");
        let mut n = 0u64;
        loop {
            let now = session.due();
            session.open(now);
            if (now + service).since(site(i, users).start) > time {
                return n;
            }
            session.ended(now + service);
            n += 1;
        }
    };
    (0..users).map(one).sum::<u64>() as f64
}

#[test]
fn engsets_users_and_a_network_that_holds_nobody_up_are_in_balance() {
    // X = N / (Z + R), Little's law around the loop. N T/(Z + R) cycles of variance Z² (thinking is exponential) each:
    // their number varies by N T Z²/(Z + R)³ (renewals); four standard errors, and a cycle per user at the ends.
    let time = 50_000.0;
    for (users, think, service) in [(10, 2.0, 0.0), (50, 2.0, 0.5), (20, 0.5, 3.0)] {
        let cycle = think + service;
        let n = completions(users, Span::from_secs(think), Span::from_secs(service), Span::from_secs(time));
        let users = f64::from(users);
        let (expected, variance) = (users * time / cycle, users * time * think * think / (cycle * cycle * cycle));
        assert!((n - expected).abs() < 4.0 * variance.sqrt() + users, "{users}, {think}, {service}: {n}, {expected}");
    }
}

#[test]
fn engset_users_think_exponentially_from_the_start_on() {
    let spec = TrafficSpec::named("engset").expect("registered");
    let mut session = session(&spec, &site(0, 1), 8).expect("in range");
    let (mut last, mut sample) = (site(0, 1).start, vec![]);
    for _ in 0..50_000 {
        let now = session.due();
        sample.push((now - last).as_secs());
        session.open(now);
        // Two picoseconds of service: the clock goes on from the end.
        last = now + Span(2);
        session.ended(last);
    }
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let far = |(i, &x): (usize, &f64)| (-libm::expm1(-x / 2.0) - (i as f64 + 0.5) / n).abs() + 0.5 / n;
    let far = sample.iter().enumerate().map(far).fold(0.0, f64::max);
    // Kolmogorov and Smirnov at 1e-4: sqrt(ln(2e4) / 2n).
    assert!(far < (libm::log(2e4) / (2.0 * n)).sqrt(), "{far}");
}

//! A run seen from outside: it says how far it is, ends when it is stopped, and is the same run when it is not.

use base::steps::steps;
use sim::{Engine, Options, RunMonitor, simulate, simulate_monitored};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

const SCENARIO: &str = r#"
    duration = "20 s"
    [[links]]
    name = "bottleneck"
    rate = "100 Mbit/s"
    buffer = "100 packets"
    [[flows]]
    count = 4
    path = ["bottleneck"]
    rtt = "20 ms"
"#;

/// A second bottleneck without flows in common: the engine runs the two one after the other.
const APART: &str = r#"
    [[links]]
    name = "other"
    rate = "50 Mbit/s"
    buffer = "100 packets"
    [[flows]]
    path = ["other"]
    rtt = "30 ms"
"#;

fn options(engine: Engine) -> Options {
    Options { engine, hash: true, ..Options::default() }
}

#[test]
fn a_run_that_nobody_stops_is_the_same() {
    let scenario = scenario::read(SCENARIO).unwrap();
    for engine in [Engine::Window, Engine::Reference] {
        let monitored = simulate_monitored(&scenario, 0, options(engine), &RunMonitor::default()).unwrap();
        assert_eq!(monitored, Some(simulate(&scenario, 0, options(engine)).unwrap()));
    }
}

#[test]
fn a_run_ends_at_the_first_look_after_it_is_stopped() {
    let scenario = scenario::read(SCENARIO).unwrap();
    for engine in [Engine::Window, Engine::Reference] {
        let looks = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&looks);
        let monitor = RunMonitor::asking(move || counted.fetch_add(1, Ordering::Relaxed) >= 9);
        assert_eq!(simulate_monitored(&scenario, 0, options(engine), &monitor).unwrap(), None);
        // The tenth look stops it; it is looked at once more to see that it was stopped.
        assert!(looks.load(Ordering::Relaxed) <= 11, "{looks:?}");
        assert!(monitor.share() < 0.2, "{}", monitor.share());
    }
}

/// Enough flows, and packets in each window, for several threads.
const LARGE: &str = r#"
    duration = "3 s"
    [[links]]
    name = "bottleneck"
    rate = "3 Gbit/s"
    buffer = "3000 packets"
    [[flows]]
    count = 300
    path = ["bottleneck"]
    rtt = { from = "50 ms", to = "150 ms" }
    start = { from = "0 s", to = "1 s" }
    control = { law = "cubic" }
"#;

#[test]
fn threads_may_come_and_go_during_a_run_without_changing_it() {
    let scenario = scenario::read(LARGE).unwrap();
    let alone = simulate(&scenario, 0, options(Engine::Window)).unwrap();
    let monitor = Arc::new(OnceLock::<RunMonitor>::new());
    let (looks, asked) = (AtomicUsize::new(0), Arc::clone(&monitor));
    monitor
        .set(RunMonitor::asking(move || {
            let look = looks.fetch_add(1, Ordering::Relaxed);
            if let Some(monitor) = asked.get() {
                monitor.allow_threads(1 + look / 8 % 3);
            }
            false
        }))
        .unwrap();
    let shared = simulate_monitored(&scenario, 0, options(Engine::Window), monitor.get().unwrap()).unwrap().unwrap();
    assert_eq!(shared.hash, alone.hash);
    assert_eq!(shared, alone);
}

#[test]
fn a_run_on_threads_ends_when_it_is_stopped() {
    let scenario = scenario::read(LARGE).unwrap();
    let looks = AtomicUsize::new(0);
    let monitor = RunMonitor::asking(move || looks.fetch_add(1, Ordering::Relaxed) >= 99);
    monitor.allow_threads(3);
    assert_eq!(simulate_monitored(&scenario, 0, options(Engine::Window), &monitor).unwrap(), None);
    assert!(monitor.share() < 0.5, "{}", monitor.share());
}

#[test]
fn what_is_stopped_before_it_begins_does_not_run() {
    let scenario = scenario::read(SCENARIO).unwrap();
    let monitor = RunMonitor::default();
    monitor.stop();
    assert_eq!(simulate_monitored(&scenario, 0, options(Engine::Window), &monitor).unwrap(), None);
    assert_eq!(monitor.share(), 0.0);
}

#[test]
fn the_share_reaches_one_over_all_parts() {
    for text in [SCENARIO.to_owned(), format!("{SCENARIO}{APART}")] {
        let scenario = scenario::read(&text).unwrap();
        for engine in [Engine::Window, Engine::Reference] {
            let monitor = RunMonitor::default();
            assert!(simulate_monitored(&scenario, 0, options(engine), &monitor).unwrap().is_some());
            assert!(monitor.share() > 0.95 && monitor.share() <= 1.0, "{engine:?}: {}", monitor.share());
        }
    }
}

#[test]
fn two_parts_are_half_done_when_the_first_is() {
    let scenario = scenario::read(&format!("{SCENARIO}{APART}")).unwrap();
    let looks = Arc::new(AtomicU64::new(0));
    let of = |text: &str| {
        let counted = Arc::clone(&looks);
        looks.store(0, Ordering::Relaxed);
        let monitor = RunMonitor::asking(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        });
        simulate_monitored(&scenario::read(text).unwrap(), 0, options(Engine::Window), &monitor).unwrap();
        looks.load(Ordering::Relaxed)
    };
    // As many looks as the first part alone takes.
    let first = of(SCENARIO);
    let left = AtomicU64::new(first);
    let monitor = RunMonitor::asking(move || left.fetch_sub(1, Ordering::Relaxed) == 1);
    assert_eq!(simulate_monitored(&scenario, 0, options(Engine::Window), &monitor).unwrap(), None);
    assert!((monitor.share() - 0.5).abs() < 0.01, "{}", monitor.share());
}

/// A link of this rate and queue, and a group of flows, each with more of its own keys.
fn one_link(duration_s: u32, rate: &str, queue: &str, flows: &str) -> scenario::Scenario {
    let text = format!(
        "duration = \"{duration_s} s\"\n[[links]]\nname = \"l\"\nrate = {rate}\nbuffer = \"100 packets\"\n{queue}\n\
         [[flows]]\npath = [\"l\"]\n{flows}\n"
    );
    scenario::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the end of a run in the window engine that is stopped at look number `at`: its steps in all and after that look, and
/// the share of the run that it reaches. Steps are counted in this thread (`base::steps`).
fn stopped_at(scenario: &scenario::Scenario, at: u64) -> (u64, u64, f64) {
    let (looks, when_stopped) = (AtomicU64::new(0), Arc::new(AtomicU64::new(u64::MAX)));
    let (seen, before) = (Arc::clone(&when_stopped), steps());
    let monitor = RunMonitor::asking(move || {
        let stops = looks.fetch_add(1, Ordering::Relaxed) + 1 >= at;
        if stops {
            seen.fetch_min(steps(), Ordering::Relaxed);
        }
        stops
    });
    let unhashed = Options { engine: Engine::Window, ..Options::default() };
    assert_eq!(simulate_monitored(scenario, 0, unhashed, &monitor).unwrap(), None);
    let (all, last) = (steps() - before, steps() - when_stopped.load(Ordering::Relaxed));
    (all, last, monitor.share())
}

#[test]
fn what_is_stopped_takes_no_more_samples() {
    // Of 100 flows there are ten million left.
    let scenario = one_link(1000, "\"10 Mbit/s\"", "", "rtt = \"20 ms\"\ncount = 100\n[record]\nevery = \"10 ms\"");
    let (_, last, share) = stopped_at(&scenario, 10);
    assert!(last < 10_000 && share < 0.01, "{last} {share}");
}

#[test]
fn a_run_is_stopped_among_the_timers_of_a_pause() {
    for queue in ["discipline = \"pie\", t_update = \"10 us\"", "discipline = \"dualpi2\", tupdate = \"10 us\""] {
        // Ten million updates lie between one packet and the next.
        let flows = "rtt = \"20 ms\"\ntraffic = { kind = \"ping\", every = \"100 s\" }";
        let scenario = one_link(250, "\"10 Mbit/s\"", &format!("queue = {{ {queue} }}"), flows);
        let (all, last, _) = stopped_at(&scenario, 50);
        assert!(all < 200_000 && last < 10_000, "{queue}: {all} {last}");
    }
}

#[test]
fn a_run_is_stopped_among_the_transfers_of_one_window() {
    // 800 million a second, of which all but one are refused.
    let flows = "rtt = \"10 s\"\ntraffic = { kind = \"elastic\", load = 100, size = \"1500 B\", places = 1 }";
    let (all, last, share) = stopped_at(&one_link(100, "\"100 Gbit/s\"", "", flows), 10);
    // The first window is over before anything arrives.
    assert!(all < 10_000 && last < 1000 && share < 0.1, "{all} {last} {share}");
}

#[test]
fn a_run_is_stopped_among_the_writes_of_one_window() {
    // Windows of 10 s, in each of which the application writes ten million times.
    let flows = "rtt = \"10 s\"\ntcp = { receive_window = 1000 }\n\
                 traffic = { kind = \"video\", size = \"1 B\", every = \"1 us\" }";
    let (_, last, share) = stopped_at(&one_link(1000, "\"1 Mbit/s\"", "", flows), 10);
    assert!(last < 1000 && share < 0.01, "{last} {share}");
}

#[test]
fn a_run_is_stopped_among_the_arrivals_of_one_window() {
    // All open at once; where debug assertions are on a link serves 256 arrivals between looks.
    let scenario = one_link(100, "\"1 Gbit/s\"", "", "rtt = \"20 ms\"\ncount = 1000");
    let (_, last, share) = stopped_at(&scenario, 20);
    assert!(last < 1000 && share == 0.0, "{last} {share}");
}

#[test]
fn flows_that_have_not_started_take_no_samples() {
    let cost = |count: u32| {
        let flows = format!("rtt = \"20 ms\"\ncount = {count}\nstart = \"990 s\"\n[record]\nevery = \"10 ms\"");
        let before = steps();
        simulate(&one_link(1000, "\"10 Mbit/s\"", "", &flows), 0, Options::default()).unwrap();
        steps() - before
    };
    // Before the start of each lie 99,000 samples, and a thousand after it.
    let (one, some) = (cost(1), cost(11));
    assert!(some < one + 10 * 50_000, "{one} {some}");
}

#[test]
fn the_reference_engine_looks_at_its_monitor_at_every_sample() {
    let flows = "rtt = \"20 ms\"\ntraffic = { kind = \"ping\", every = \"100 s\" }\n[record]\nevery = \"1 s\"";
    let looks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&looks);
    let monitor = RunMonitor::asking(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    });
    let scenario = one_link(100, "\"10 Mbit/s\"", "", flows);
    assert!(simulate_monitored(&scenario, 0, options(Engine::Reference), &monitor).unwrap().is_some());
    assert!(looks.load(Ordering::Relaxed) > 100, "{looks:?}");
}

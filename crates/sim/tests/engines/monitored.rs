//! A run seen from outside: it says how far it is, ends when it is stopped, and is the same run when it is not.

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

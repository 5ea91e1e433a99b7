//! Runs in steps: what is read between two of them is what was there. That steps change nothing is tested with everything else, in
//! `equality` and `fuzz`.

use crate::equality::dumbbell;
use law::{Either, Held};
use queue::NoOwn;
use sim::{
    Engine, FlowSite, LinkSite, Options, Outcome, Own, RunMonitor, Span, SteppedRun, Time, simulate, simulate_parts,
};

/// A scenario sampled at every step, with one flow recorded ACK by ACK, and its run.
fn sampled(more_link: &str, more_flow: &str) -> (scenario::Scenario, Outcome) {
    let text = dumbbell(3, "20 packets", more_link, &format!("name = \"f\"\n{more_flow}"))
        + "[record]\nevery = \"50 ms\"\ntrace = [\"f[1]\"]\n";
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { series: true, ..Options::default() };
    let outcome = simulate(&scenario, 0, options).expect("small");
    (scenario, outcome)
}

#[test]
fn readings_are_those_of_the_last_ack_before_and_of_the_samples() {
    for (more_link, more_flow) in [
        ("", "recovery = \"sack\""),
        ("queue = { discipline = \"codel\" }", "recovery = \"rack\"\ncontrol = { law = \"cubic\" }"),
        ("queue = { discipline = \"red\" }", "recovery = \"prr\"\ncontrol = { law = \"vegas\" }"),
        ("", "recovery = \"rack\"\ncontrol = { law = \"bbr\" }"),
        // The own link has a queue: what the sender hands over leaves it later.
        ("", "recovery = \"reno\"\naccess = { rate = \"12 Mbit/s\", buffer = \"7 packets\" }"),
    ] {
        let (scenario, outcome) = sampled(more_link, more_flow);
        let mut run = SteppedRun::begin(&scenario, 0, Options::default()).expect("small");
        let (mut compared, mut waited) = (0, 0);
        for (i, &at) in outcome.sampled_at.iter().enumerate() {
            run.advance(at);
            assert_eq!(run.now(), at);
            // Samples are taken before anything else at their instant.
            assert_eq!(run.link(0).waiting, outcome.links[0].backlog_samples[i], "{more_link} {more_flow} {at:?}");
            assert_eq!(
                run.link(0).begun_bytes,
                outcome.links[0].begun_bytes_samples[i],
                "{more_link} {more_flow} {at:?}"
            );
            waited = waited.max(run.link(0).waiting);
            let flow = run.flow(1).expect("a sender of its own");
            assert_eq!(flow.cwnd as f32, outcome.flows[1].cwnd_samples()[i], "{more_link} {more_flow} {at:?}");
            assert_eq!(
                flow.srtt.as_secs() as f32,
                outcome.flows[1].srtt_samples()[i],
                "{more_link} {more_flow} {at:?}"
            );
            let Some(row) = outcome.traces[0].rows.iter().rev().find(|row| row.time < at) else { continue };
            assert_eq!(flow.srtt, row.srtt, "{more_link} {more_flow} {at:?}");
            assert!(flow.delivered >= row.una, "what is SACKed counts, too");
            compared += 1;
        }
        assert!(compared > 100 && waited > 15, "{more_link} {more_flow}: {compared} {waited}");
    }
}

#[test]
fn senders_are_run_up_to_the_stop_although_their_links_run_ahead_of_them() {
    // 15 to 26 ms before its link: read a millisecond after each ACK, the sender must have taken it.
    let (scenario, outcome) = sampled("", "recovery = \"sack\"");
    let mut run = SteppedRun::begin(&scenario, 0, Options::default()).expect("small");
    let rows = &outcome.traces[0].rows;
    let mut compared = 0;
    for pair in rows.windows(2).filter(|pair| pair[1].time > pair[0].time).step_by(7) {
        run.advance(pair[0].time + Span(1));
        let flow = run.flow(1).expect("a sender of its own");
        assert_eq!((flow.cwnd, flow.srtt), (pair[0].cwnd, pair[0].srtt), "{:?}", pair[0].time);
        assert_eq!(flow.in_flight, pair[0].in_flight, "{:?}", pair[0].time);
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn sessions_and_datagrams_have_no_reading_and_a_run_ends_where_it_ends() {
    let text = dumbbell(1, "20 packets", "", "")
        + "[[flows]]\nname = \"web\"\npath = [\"l\"]\nrtt = \"20 ms\"\ntraffic = { kind = \"web\" }\n\
           [[flows]]\nname = \"noise\"\npath = [\"l\"]\nrtt = \"20 ms\"\ntraffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }\n";
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut run = SteppedRun::begin(&scenario, 0, Options::default()).expect("small");
    assert_eq!((run.flows(), run.end()), (3, Time(8_000_000_000_000)));
    run.advance(Time::NEVER);
    assert_eq!(run.now(), run.end());
    run.advance(Time::ZERO);
    assert_eq!(run.now(), run.end());
    let there = [0, 1, 2, 3].map(|flow| run.flow(flow).is_some());
    assert_eq!(there, [true, false, false, false]);
    assert_eq!(run.finish(), simulate(&scenario, 0, Options::default()));
}

#[test]
fn a_held_window_is_the_same_in_both_engines_and_in_steps() {
    const BACK: &str = "[[links]]\nname = \"back\"\nrate = \"500 kbit/s\"\nbuffer = \"50 packets\"\n";
    let held = [(None, ""), (Some(400.0), ""), (None, "tcp = { delayed_ack = 2 }"), (None, "return = [\"back\"]")];
    for (rate, more) in held {
        for recovery in ["sack", "rack", "prr"] {
            let text = dumbbell(2, "60 packets", BACK, &format!("recovery = \"{recovery}\"\n{more}"));
            let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
            // Windows that fill the link and overflow it; a third flow has the scenario's law.
            let control = |flow: &FlowSite<'_>| match (flow.index, rate) {
                (0, _) => Either::First(flow.built_in()),
                (_, None) => Either::Second(Held::window(40.5)),
                (_, Some(rate)) => Either::Second(Held::paced(40.5, rate)),
            };
            let mut parts = Own { control, queue: |_: &LinkSite<'_>| None::<NoOwn> };
            let options = |engine| Options { engine, series: true, hash: true, ..Options::default() };
            let mut run = |engine| {
                let monitor = RunMonitor::default();
                simulate_parts(&scenario, 0, options(engine), &monitor, &mut parts)
                    .expect("small")
                    .expect("not stopped")
            };
            let (fast, plain) = (run(Engine::Window), run(Engine::Reference));
            assert_eq!(fast, plain, "{rate:?} {more} {recovery}");
            let dropped: u64 = fast.links[0].dropped.iter().sum();
            assert!(
                dropped > 0 && fast.flows[1].sent > 100,
                "{rate:?} {more} {recovery}: {dropped} {:?}",
                fast.flows[1]
            );
            // Held from outside at what it is already: nothing changes, wherever it is looked at.
            let mut run = SteppedRun::with_parts(&scenario, 0, options(Engine::Window), &mut parts).expect("small");
            let mut seen = 0;
            while run.now() < run.end() {
                run.advance(run.now() + Span::millis(7));
                let timeouts = run.flow(1).expect("a sender of its own").timeouts;
                if let Some(Either::Second(held)) = run.control_mut(1) {
                    seen += held.take_rtts().count;
                    if timeouts == 0 {
                        held.set_window(40.5);
                    }
                }
            }
            assert!(seen > 100, "{rate:?} {more} {recovery}: {seen} round-trip times");
            assert_eq!(run.finish().expect("no fault"), plain, "{rate:?} {more} {recovery}, in steps");
        }
    }
}

#[test]
fn a_window_set_between_steps_counts_from_then_on() {
    let text = dumbbell(1, "1000 packets", "", "");
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}"));
    let control = |_: &FlowSite<'_>| Held::window(10.0);
    let mut parts = Own { control, queue: |_: &LinkSite<'_>| None::<NoOwn> };
    let mut run = SteppedRun::with_parts(&scenario, 0, Options::default(), &mut parts).expect("small");
    // 10 segments a round trip, then 30: fewer than the link holds, so that none waits.
    let mut delivered = 0;
    for (until, window) in [(3, 10.0), (6, 30.0)] {
        run.advance(Time((until - 2) * 1_000_000_000_000));
        run.control_mut(0).expect("TCP").set_window(window);
        // A second for the change to reach the receiver.
        run.advance(Time((until - 1) * 1_000_000_000_000));
        let before = run.flow(0).expect("TCP");
        run.advance(Time(until * 1_000_000_000_000));
        delivered = run.flow(0).expect("TCP").delivered;
        let (rate, each) = ((delivered - before.delivered) as f64, window / before.min_rtt.as_secs());
        // A window more or less falls into the second.
        assert!((rate - each).abs() <= window, "{rate} of {each}");
    }
    assert!(delivered > 1000);
}

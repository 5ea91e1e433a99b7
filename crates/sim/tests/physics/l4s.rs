//! A scalable sender beside a classic one through DualPI2: low delay for the one, no harm to the other.
//!
//! Source: RFC 9332 (the coupling k = 2 makes DCTCP and Reno share equally, Section 2.1), RFC 9330 Section 1 (queueing delay
//! of the scalable traffic about a millisecond at most).

use crate::interval::{interval, more};
use sim::{Engine, Options, Outcome, simulate};

/// Two flows of a group under `control`, a name or table.
fn flows(name: &str, rtt: &str, control: &str, ecn: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\ncount = 2\npath = [\"l\"]\nrtt = \"{rtt}\"\npacket = \"1500 B\"\ncontrol = {control}\n\
         access = {{ rate = \"1 Gbit/s\" }}\ntcp = {{ ecn = \"{ecn}\", send_jitter = \"100 us\" }}\n\
         start = {{ from = \"0 s\", to = \"1 s\" }}\n"
    )
}

fn runs(queue: &str, ecn: &str) -> Vec<Outcome> {
    beside(queue, &[flows("scalable", "20 ms", "\"dctcp\"", ecn), flows("classic", "20 ms", "\"reno\"", "off")])
}

fn beside(queue: &str, groups: &[String]) -> Vec<Outcome> {
    let text = format!(
        "duration = \"60 s\"\nwarmup = \"20 s\"\n[[links]]\nname = \"l\"\nrate = \"40 Mbit/s\"\ndelay = \"5 ms\"\n\
         buffer = \"2000 packets\"\nqueue = \"{queue}\"\n{}",
        groups.concat()
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    (0..5).map(|replication| simulate(&scenario, replication, options).expect("small")).collect()
}

/// Mbit/s of a group, and its smoothed round-trip time in ms.
fn of(runs: &[Outcome], group: u32) -> (Vec<f64>, Vec<f64>) {
    let flows = |run: &Outcome| run.flows.iter().filter(|flow| flow.group == group).cloned().collect::<Vec<_>>();
    let goodput = runs.iter().map(|run| flows(run).iter().map(|flow| flow.goodput_bps).sum::<f64>() / 1e6).collect();
    let srtt = runs.iter().map(|run| flows(run).iter().filter_map(|flow| flow.srtt_mean_s).sum::<f64>() * 500.0);
    (goodput, srtt.collect())
}

#[test]
fn scalable_and_classic_senders_share_with_little_delay_for_the_one() {
    let runs = runs("dualpi2", "l4s");
    let ((scalable, short), (classic, long)) = (of(&runs, 0), of(&runs, 1));
    let ((fast, _), (slow, _)) = (interval(&short), interval(&long));
    // The base is 20 ms; both jitters add 0.1 ms in the mean, the step threshold is 1 ms, and PI2's target 15 ms.
    assert!(fast < 22.0, "scalable flows see {fast} ms");
    assert!((28.0..42.0).contains(&slow), "classic flows see {slow} ms");
    // Rates go with 1/RTT on both sides, so what sees the shorter round trip is ahead by up to that ratio, 35 to 21.
    let (ratio, half) = interval(&scalable.iter().zip(&classic).map(|(a, b)| a / b).collect::<Vec<_>>());
    assert!((0.7..2.2).contains(&ratio), "scalable to classic {ratio} +- {half}");
    let (total, _) = interval(&scalable.iter().zip(&classic).map(|(a, b)| a + b).collect::<Vec<_>>());
    assert!(total > 0.93 * 40.0, "together {total} Mbit/s");
}

#[test]
fn without_ect_1_there_is_no_short_queue() {
    // The same senders with ECT(0) are classic to the router: one queue, PI2's delay for all.
    let (l4s, classic) = (of(&runs("dualpi2", "l4s"), 0).1, of(&runs("dualpi2", "on"), 0).1);
    let (longer, half) = interval(&more(&l4s, &classic));
    assert!(longer - half > 5.0, "{longer} +- {half} ms more");
}

#[test]
fn prague_is_in_the_short_queue_and_shares_it_evenly_over_different_round_trips() {
    let ratio = |control: &str| {
        let groups = [flows("near", "10 ms", control, "off"), flows("far", "25 ms", control, "off")];
        let runs = beside("dualpi2", &groups);
        let ((near, short), (far, long)) = (of(&runs, 0), of(&runs, 1));
        // Base round trips, at most the step of a millisecond, and the jitters.
        for (srtt, base) in [(short, 10.0), (long, 25.0)] {
            let (srtt, _) = interval(&srtt);
            assert!((base..base + 1.5).contains(&srtt), "{control}: {srtt} ms");
        }
        interval(&near.iter().zip(&far).map(|(a, b)| a / b).collect::<Vec<_>>())
    };
    // At 10 ms cuts come 30 ms apart where each round trip is marked, not 25: up to 1.2 times the rate.
    let (even, half) = ratio("\"prague\"");
    assert!((0.9..1.3).contains(&even), "{even} +- {half}");
    // Equal windows: rates as 1/RTT, with the queue 26 to 11 at least.
    let (dctcp, half) = ratio("{ law = \"prague\", rtt_independence = \"none\" }");
    assert!(dctcp - half > 2.0, "{dctcp} +- {half}");
}

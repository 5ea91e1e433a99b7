//! Links that share memory: both engines agree, and what each link holds is what its pool's way of sharing gives it.
//!
//! Source: A. K. Choudhury, E. L. Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM
//! Transactions on Networking 6(2), 1998: n saturated queues hold alpha / (1 + n alpha) of the memory each.

use crate::equality::equal;
use queue::{QUEUES, QueueSpec};
use sim::{Engine, Options, Outcome, simulate};
use std::fmt::Write;

const KINDS: [&str; 3] = ["complete", "static", "dynamic"];

fn pool(size: &str, sharing: &str, alpha: f64) -> String {
    format!("[[pools]]\nname = \"chip\"\nsize = {size:?}\nsharing = {sharing:?}\nalpha = {alpha:?}\n")
}

fn link(name: &str, rate: &str, more: &str) -> String {
    format!("[[links]]\nname = {name:?}\nrate = {rate}\ndelay = \"3 ms\"\npool = \"chip\"\n{more}\n")
}

fn flows(count: u32, path: &str, more: &str) -> String {
    format!(
        "[[flows]]\ncount = {count}\npath = [{path}]\nrtt = {{ from = \"40 ms\", to = \"61 ms\" }}\npacket = \"1000 B\"\n{more}\n"
    )
}

const HEAD: &str = "duration = \"5 s\"\nwarmup = \"1 s\"\n";

#[test]
fn tcp_at_links_of_several_rates_that_share_memory() {
    for size in ["60 packets", "60 kB"] {
        for sharing in KINDS {
            let links = [
                link("a", "\"10 Mbit/s\"", ""),
                link("b", "\"10 Mbit/s\"", "alpha = 4.0"),
                link("c", "\"3 Mbit/s\"", "buffer = \"9 packets\""),
            ];
            let groups =
                [flows(3, "\"a\"", ""), flows(3, "\"b\"", ""), flows(2, "\"c\"", ""), flows(1, "\"a\", \"c\"", "")];
            let text = [HEAD, &pool(size, sharing, 0.5), &links.concat(), &groups.concat()].concat();
            let outcome = equal(&format!("{size} {sharing}"), &text);
            let shares: Vec<_> = outcome.links.iter().map(|link| link.pool.expect("in a pool")).collect();
            assert!(shares.iter().any(|share| share.dropped > 0), "{size} {sharing}: {shares:?}");
            // Drops because of the pool are among the overflows, and on the third link its own buffer drops as well.
            let all = |l: usize| outcome.links[l].dropped[0];
            assert!((0..3).all(|l| shares[l].dropped <= all(l)) && shares[2].dropped < all(2), "{size} {sharing}");
            let sum: f64 = shares.iter().map(|share| share.held_mean).sum();
            assert!((sum / outcome.pools[0].used_mean - 1.0).abs() < 1e-12, "{size} {sharing}");
        }
    }
}

#[test]
fn every_discipline_that_may_share_memory() {
    for queue in QUEUES.iter().map(|entry| entry.card.name) {
        if !QueueSpec::named(queue).expect("registered").can_share_memory() {
            continue;
        }
        let queue = format!("buffer = \"40 packets\"\nqueue = \"{queue}\"");
        let links = [link("a", "\"10 Mbit/s\"", &queue), link("b", "\"8 Mbit/s\"", &queue)];
        let groups = [flows(4, "\"a\"", "tcp = { ecn = \"on\" }"), flows(4, "\"b\"", "")];
        let text = [HEAD, &pool("45 packets", "dynamic", 1.0), &links.concat(), &groups.concat()].concat();
        let outcome = equal(&queue, &text);
        assert!(outcome.pools[0].used_max > 5, "{queue}");
    }
}

#[test]
fn acks_share_memory_with_data_and_paths_cross_a_pool_twice() {
    // Both ways in one pool, and a path over two links of it whose packets arrive at one instant as others'.
    for sharing in KINDS {
        let links = [
            link("there", "\"10 Mbit/s\"", ""),
            link("back", "\"10 Mbit/s\"", ""),
            link("on", "\"9 Mbit/s\"", "batch = \"2 ms\""),
        ];
        let groups = [
            flows(3, "\"there\", \"on\"", "return = [\"back\"]"),
            flows(3, "\"back\"", "return = [\"there\"]\ntcp = { delayed_ack = 2 }"),
            flows(1, "\"on\"", "traffic = { kind = \"poisson\", rate = \"2 Mbit/s\" }"),
        ];
        let text = [HEAD, &pool("50 kB", sharing, 2.0), &links.concat(), &groups.concat()].concat();
        equal(sharing, &text);
    }
}

#[test]
fn arrivals_at_one_instant_at_several_links() {
    // Streams of one rate that start together: every arrival meets others of its instant, departures too.
    for sharing in KINDS {
        let ports = "[[links]]\nname = \"port\"\ncount = 5\nrate = \"4 Mbit/s\"\npool = \"chip\"\n";
        let stream = |rate: &str| format!("traffic = {{ kind = \"cbr\", rate = \"{rate} Mbit/s\" }}");
        let groups = [
            flows(5, "\"port[*]\"", &stream("8")).replace("{ from = \"40 ms\", to = \"61 ms\" }", "\"10 ms\""),
            flows(3, "\"port[2]\"", &stream("1")).replace("{ from = \"40 ms\", to = \"61 ms\" }", "\"10 ms\""),
            flows(4, "\"port[1]\"", ""),
        ];
        let text = [HEAD, &pool("30 packets", sharing, 1.0), ports, &groups.concat()].concat();
        equal(sharing, &text);
    }
}

#[test]
fn what_else_a_link_may_have() {
    for (sharing, rate, more) in [
        (
            "complete",
            r#"{ steps = [["0 s", "10 Mbit/s"], ["700 ms", "0 bit/s"], ["900 ms", "4 Mbit/s"]], period = "1.3 s" }"#,
            "",
        ),
        ("dynamic", r#"{ opportunities = "1 2 3x3 4 6 7x2 8 12" }"#, "loss = { random = 0.01 }"),
        ("dynamic", r#""10 Mbit/s""#, "policer = { rate = \"6 Mbit/s\", burst = \"20 kB\" }"),
        ("static", r#""10 Mbit/s""#, "shaper = { rate = \"6 Mbit/s\", burst = \"20 kB\" }\nbatch = \"7 ms\""),
    ] {
        let links = [link("a", rate, more), link("b", "\"7 Mbit/s\"", "")];
        let sessions = "traffic = { kind = \"engset\", size = \"30 kB\", think = \"100 ms\" }";
        let web = "traffic = { kind = \"request-response\" }";
        let groups = [flows(3, "\"a\"", ""), flows(3, "\"b\"", sessions), flows(2, "\"b\", \"a\"", web)];
        let text = [HEAD, &pool("40 packets", sharing, 1.0), &links.concat(), &groups.concat()].concat();
        equal(&format!("{sharing} {rate} {more}"), &text);
    }
}

#[test]
fn memory_without_end_changes_nothing() {
    let links = |pool: &str| {
        let one = |name: &str, rate: &str| link(name, rate, "buffer = \"30 packets\"").replace("pool = \"chip\"", pool);
        [one("a", "\"10 Mbit/s\""), one("b", "\"6 Mbit/s\"")].concat()
    };
    let groups = [flows(4, "\"a\"", ""), flows(3, "\"b\"", ""), flows(2, "\"a\", \"b\"", "")].concat();
    let alone = equal("alone", &[HEAD, &links(""), &groups].concat());
    for sharing in KINDS {
        let mut shared =
            equal(sharing, &[HEAD, &pool("1 GB", sharing, 1.0), &links("pool = \"chip\""), &groups].concat());
        shared.pools.clear();
        shared.links.iter_mut().for_each(|link| link.pool = None);
        assert_eq!(shared, alone, "{sharing}");
    }
}

#[test]
fn a_static_share_is_a_buffer_of_its_own() {
    // 60 packets for three links, of which nothing crosses the third.
    let links = |buffer: &str| {
        ["a", "b", "c"].map(|name| link(name, "\"10 Mbit/s\"", "").replace("pool = \"chip\"", buffer)).concat()
    };
    let groups = [flows(4, "\"a\"", ""), flows(3, "\"b\"", "")].concat();
    let alone = equal("alone", &[HEAD, &links("buffer = \"20 packets\""), &groups].concat());
    let text = [HEAD, &pool("60 packets", "static", 1.0), &links("pool = \"chip\""), &groups].concat();
    let mut shared = equal("static", &text);
    assert!(shared.links[0].pool.is_some_and(|share| share.held_max == 20));
    shared.pools.clear();
    shared.links.iter_mut().for_each(|link| link.pool = None);
    assert_eq!(shared, alone);
}

/// `n` ports at each of which streams of packets of 1500 bytes arrive `over` times as fast as they leave.
fn saturated(n: usize, over: f64, size: &str, sharing: &str, alpha: f64) -> Outcome {
    let mut text = format!("duration = \"12 s\"\nwarmup = \"4 s\"\n{}", pool(size, sharing, alpha));
    for port in 0..n {
        let _ = write!(
            text,
            "{}[[flows]]\ncount = 4\npath = [\"p{port}\"]\nrtt = \"10 ms\"\npacket = \"1500 B\"\nstart = {{ from = \"0 s\", to = \"10 ms\" }}\n\
             traffic = {{ kind = \"poisson\", rate = \"{} Mbit/s\" }}\n",
            link(&format!("p{port}"), "\"20 Mbit/s\"", ""),
            5.0 * over
        );
    }
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, 0, Options { engine: Engine::Window, ..Options::default() }).expect("small")
}

/// Mean occupancy of the link that holds least, and of the one that holds most, as shares of `size`.
fn held(outcome: &Outcome, size: f64) -> [f64; 2] {
    let shares = outcome.links.iter().map(|link| link.pool.expect("in a pool").held_mean / size);
    [shares.clone().fold(f64::INFINITY, f64::min), shares.fold(0.0, f64::max)]
}

#[test]
fn saturated_queues_hold_alpha_over_one_plus_n_alpha_of_the_memory_each() {
    // Packets join below the threshold and leave: at twice the rate two of three times a queue is at it, and never more than a
    // packet beyond. Poisson arrivals leave it a few packets below for a while; three packets of 2000, of the n
    // others' as well.
    let band = 3.0 / 2000.0;
    for n in [1, 2, 4, 8] {
        for alpha in [0.125, 0.5, 1.0, 2.0, 8.0] {
            let expected = alpha / (1.0 + n as f64 * alpha);
            let within = |sharing: &str| {
                let held = held(&saturated(n, 2.0, "2000 packets", sharing, alpha), 2000.0);
                (held.iter().all(|share| (share - expected).abs() < band), held)
            };
            let (dynamic, found) = within("dynamic");
            assert!(dynamic, "{n} queues, alpha {alpha}: {found:?}, not {expected}");
            // The nulls: what all or an equal part of the memory would give.
            assert!(!within("complete").0 && !within("static").0, "{n} queues, alpha {alpha}");
        }
    }
}

#[test]
fn of_bytes_they_hold_as_much() {
    let size = 3_000_000.0;
    for (n, alpha) in [(2, 1.0), (5, 0.5)] {
        let expected = alpha / (1.0 + n as f64 * alpha);
        let found = held(&saturated(n, 2.0, "3 MB", "dynamic", alpha), size);
        assert!(found.iter().all(|share| (share - expected).abs() < 3.0 / 2000.0), "{found:?}, not {expected}");
    }
}

#[test]
fn each_queue_with_an_alpha_of_its_own_has_its_part_by_it() {
    // Thresholds are alpha_i F, and F = B - sum of alpha_i F: F = B / (1 + sum).
    let alphas = [0.5, 1.0, 4.0];
    let mut text = format!("duration = \"12 s\"\nwarmup = \"4 s\"\n{}", pool("2000 packets", "dynamic", 1.0));
    for (port, alpha) in alphas.iter().enumerate() {
        let own = if *alpha == 1.0 { String::new() } else { format!("alpha = {alpha:?}") };
        let _ = write!(
            text,
            "{}{}",
            link(&format!("p{port}"), "\"20 Mbit/s\"", &own),
            flows(1, &format!("\"p{port}\""), "traffic = { kind = \"poisson\", rate = \"40 Mbit/s\" }")
        );
    }
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let outcome = simulate(&scenario, 0, Options::default()).expect("small");
    let sum: f64 = alphas.iter().sum();
    for (alpha, link) in alphas.iter().zip(&outcome.links) {
        let (found, expected) = (link.pool.expect("in a pool").held_mean, 2000.0 * alpha / (1.0 + sum));
        // Alpha 4 makes of three packets below the threshold elsewhere up to twelve more here.
        assert!((found - expected).abs() < 12.0, "{found}, not {expected}");
    }
}

/// A port that four times its rate comes to, and one that gets bursts of ten packets in the mean, far below its rate in the mean.
fn aggressor_and_bursts(sharing: &str) -> Outcome {
    let bursts = "traffic = { kind = \"on-off\", rate = \"100 Mbit/s\", on = \"1 ms\", off = \"49 ms\" }";
    let groups =
        [flows(1, "\"flooded\"", "traffic = { kind = \"cbr\", rate = \"80 Mbit/s\" }"), flows(1, "\"bursty\"", bursts)];
    let links = [link("flooded", "\"20 Mbit/s\"", ""), link("bursty", "\"20 Mbit/s\"", "")];
    let text = [
        "duration = \"12 s\"\nwarmup = \"2 s\"\n",
        &pool("400 packets", sharing, 1.0),
        &links.concat(),
        &groups.concat(),
    ]
    .concat();
    equal(sharing, &text)
}

#[test]
fn an_aggressor_takes_all_where_sharing_is_complete() {
    let [complete, fixed, dynamic] = KINDS.map(aggressor_and_bursts);
    let flooded = |outcome: &Outcome| outcome.links[0].pool.expect("in a pool").held_mean;
    let lost = |outcome: &Outcome| outcome.links[1].dropped[0] as f64 / outcome.links[1].arrived as f64;
    // All but what its packets in the mean leave free, one of four arrivals later.
    assert!(flooded(&complete) > 395.0, "{}", flooded(&complete));
    // Bursts find what the aggressor's port has just sent of it: nearly all that must wait is dropped.
    assert!(lost(&complete) > 0.3, "{}", lost(&complete));
    // Half of the memory with one queue full, a little less while a burst is there; the rest is for bursts.
    assert!((150.0..201.0).contains(&flooded(&dynamic)) && (199.0..201.0).contains(&flooded(&fixed)));
    assert_eq!((lost(&dynamic), lost(&fixed)), (0.0, 0.0));
}

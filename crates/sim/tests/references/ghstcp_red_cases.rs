//! Standard beside HighSpeed TCP under drop-tail, RED, Adaptive RED and gentle Adaptive RED, against the paper's tables.
//!
//! Source: Z. Zhang, G. Hasegawa, M. Murata, Performance Analysis and Improvement of HighSpeed TCP with TailDrop/RED
//! Routers, IEICE Trans. Commun. E88-B(6), 2005: cases 2, 4, 8, 10, 16, 20, 22 and 28 at 50 ms.
//! Source of ns-2's numbers: ns-2 2.35 (Debian 12), one seed, `wait_`, 1500-byte mean, `minrto_ 1`.
//! Differs from the source: utilisation is 3.5 points higher in cases 10 and 22, 13 in 8 and 5 in 20; ns-2 agrees in 8, 10
//! and 22. In case 10 `wait_` off gives the source's fairness (0.90, 0.68, 0.63 at 25, 50, 100 ms), an automatic `w_q` its
//! utilisation (94.3, 90.1, 86.9), both together too little (91.6, 88.4, 82.8). gARED from `max_p` 0.1 stays there: 91 for
//! 97.4; from 0.001 it settles at 1e-5 (900 s) and fills the link, but is fairer than ARED (0.94; source: 0.79, less fair).

use crate::interval::{interval, more};
use sim::{Engine, Options, Outcome, simulate};

const DROP_TAIL: &str = "\"drop-tail\"";

/// A discipline of the RED kind with the paper's thresholds.
fn early(words: &str) -> String {
    format!("{{ min_th = \"2500 packets\", max_th = \"7500 packets\", {words} }}")
}

/// Utilisation in percent and fairness of three replications of 180 s, measured from 80 s, at 50 ms. Access links add 0.1
/// ms at each end; jitter of one packet time; 50 Mbit/s of Poisson background, which the utilisation does not count.
fn table(recovery: &str, queue: &str) -> (Vec<f64>, Vec<f64>) {
    measured(recovery, queue).iter().map(|run| (utilization(run), fairness(run))).unzip()
}

fn measured(recovery: &str, queue: &str) -> Vec<Outcome> {
    let group = |name: &str, access: &str, law: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\ncount = 5\npath = [\"l\"]\nrtt = \"100.4 ms\"\naccess = {{ rate = \"{access}\" }}\n\
             control = {{ law = \"{law}\", slow_start = \"classic\" }}\nrecovery = \"{recovery}\"\npacket = \"1500 B\"\n\
             start = {{ from = \"0 s\", to = \"1 s\" }}\ntcp = {{ send_jitter = \"4.8 us\", min_rto = \"1 s\" }}\n"
        )
    };
    let text = format!(
        "duration = \"180 s\"\nwarmup = \"80 s\"\n[[links]]\nname = \"l\"\nrate = \"2.5 Gbit/s\"\ndelay = \"50 ms\"\n\
         buffer = \"10000 packets\"\nqueue = {queue}\n{}{}[[flows]]\nname = \"background\"\npath = [\"l\"]\n\
         rtt = \"100.4 ms\"\npacket = \"1500 B\"\ntraffic = {{ kind = \"poisson\", rate = \"50 Mbit/s\" }}\n\
         [record]\nevery = \"500 ms\"\n",
        group("standard", "100 Mbit/s", "reno"),
        group("fast", "1 Gbit/s", "highspeed")
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine: Engine::Window, series: true, hash: false, ..Options::default() };
    (0..3).map(|replication| simulate(&scenario, replication, options).expect("small")).collect()
}

fn utilization(run: &Outcome) -> f64 {
    run.flows[..10].iter().map(|flow| flow.goodput_bps).sum::<f64>() / 2.5e7
}

/// Jain's index of goodput over what max-min fairness allots: 100 Mbit/s for a standard flow, 400 for a fast one.
fn fairness(run: &Outcome) -> f64 {
    let shares = run.flows[..10].iter().map(|flow| flow.goodput_bps / if flow.group == 0 { 1e8 } else { 4e8 });
    let (sum, squares) = shares.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    sum * sum / (10.0 * squares)
}

/// The paper's queue without adaptation.
fn red(max_p: f64) -> String {
    early(&format!("discipline = \"red\", w_q = 0.002, max_p = {max_p}"))
}

/// Asserts that the mean of `ours` is within `room`, and half its interval, of `theirs`.
fn near(ours: &[f64], theirs: f64, room: f64, what: &str) {
    let (mean, half) = interval(ours);
    assert!((mean - theirs).abs() <= room + half, "{what}: {mean} +- {half}, not {theirs}");
}

/// Asserts that `b` is larger than `a`; the message says by how much.
fn exceeds(b: &[f64], a: &[f64], what: &str) {
    let (mean, half) = interval(&more(a, b));
    assert!(mean - half > 0.0, "{what}: {mean} +- {half} more");
}

#[test]
fn with_sack_red_and_its_adaptive_form_order_as_in_the_source() {
    let (full, unfair) = table("sack", DROP_TAIL);
    // Case 4; fairness still rises (0.59 after 300 s).
    near(&full, 97.431, 1.0, "drop-tail, utilisation");
    near(&unfair, 0.629, 0.05, "drop-tail, fairness");
    let (used, shared) = table("sack", &red(0.1));
    // Case 10, with ns-2's numbers (20 to 60 s) in place of the source's 90.356 and 0.710. Replications of ours of that
    // length differ by 0.6 points and 0.09 (one standard deviation).
    near(&used, 93.7, 1.0, "RED 0.1, utilisation");
    near(&shared, 0.767, 0.1, "RED 0.1, fairness");
    exceeds(&full, &used, "utilisation of drop-tail over RED 0.1");
    exceeds(&shared, &unfair, "fairness of RED 0.1 over drop-tail");
    let (adaptive, adaptive_shared) = table("sack", &early("discipline = \"ared\""));
    // Case 22, with ns-2's 95.4 and 0.907 (80 to 150 s) in place of the source's 92.707 and 0.887.
    near(&adaptive, 95.4, 1.0, "ARED, utilisation");
    near(&adaptive_shared, 0.907, 0.05, "ARED, fairness");
    exceeds(&adaptive, &used, "utilisation of ARED over RED 0.1");
    // 0.09 of fairness more than RED 0.1 (source: 0.18), but three replications do not prove it.
    let (ahead, _) = interval(&more(&shared, &adaptive_shared));
    assert!(ahead > 0.0, "fairness of ARED over RED 0.1: {ahead}");
    let (mild, mild_shared) = table("sack", &red(0.001));
    // Case 16.
    near(&mild, 96.463, 3.0, "RED 0.001, utilisation");
    near(&mild_shared, 0.946, 0.05, "RED 0.001, fairness");
    exceeds(&mild, &used, "utilisation of RED 0.001 over RED 0.1");
    exceeds(&mild_shared, &shared, "fairness of RED 0.001 over RED 0.1");
    exceeds(&mild, &adaptive, "utilisation of RED 0.001 over ARED");
}

#[test]
fn two_other_readings_of_red_give_the_fairness_or_the_utilisation_of_the_source() {
    // Case 10: 90.356 and 0.710. Without `wait_`, drops are up to 1/p packets apart: three times as many.
    let (_, shared) = table("sack", &early("discipline = \"red\", w_q = 0.002, max_p = 0.1, count = \"classic\""));
    near(&shared, 0.710, 0.05, "fairness without wait_");
    // ns-2's automatic weight, as with ARED: an average over a second drops on long after the queue has drained.
    let (used, _) = table("sack", &early("discipline = \"red\", w_q = 4.8e-6, max_p = 0.1"));
    near(&used, 90.356, 1.0, "utilisation with the automatic weight");
}

#[test]
fn gentle_adaptive_red_stays_where_it_starts_above_a_hundredth() {
    let gentle = |max_p: f64| {
        let runs = measured("sack", &early(&format!("discipline = \"gared\", max_p = {max_p}")));
        let last = |run: &Outcome| {
            let gauge = run.links[0].gauges.iter().find(|gauge| gauge.name == "max_p").expect("of this queue");
            *gauge.values.last().expect("sampled")
        };
        let last: Vec<f64> = runs.iter().map(last).collect();
        (last, runs.iter().map(utilization).collect::<Vec<_>>())
    };
    let (adaptive, _) = table("sack", &early("discipline = \"ared\""));
    // The average, of a time constant of a second, falls below min_th within one interval of its peak: nothing lowers max_p.
    let (stuck, used) = gentle(0.1);
    assert!(stuck.iter().all(|max_p| (0.05..0.3).contains(max_p)), "{stuck:?}");
    exceeds(&adaptive, &used, "utilisation of ARED over gARED from 0.1");
    // From lower, the average lingers around its target, max_p wanders (2e-5 to 1e-3 by now, 1e-5 after 900 s) and the
    // link is full: case 28.
    let (mild, used) = gentle(0.001);
    assert!(mild.iter().all(|&max_p| max_p < 2e-3), "{mild:?}");
    near(&used, 97.425, 1.0, "gARED, utilisation");
    exceeds(&used, &adaptive, "utilisation of gARED from 0.001 over ARED");
}

#[test]
fn without_sack_the_orders_are_the_same_and_the_link_is_emptier() {
    let (full, unfair) = table("reno", DROP_TAIL);
    let (used, shared) = table("reno", &red(0.1));
    // Case 8: 57.937 and 0.920 in the source, 69.6 and 0.867 in ns-2 (20 to 60 s); replications of ours of that length
    // lie at 69.4 and 0.84 and differ by 1.8 and 0.09. Fairness rises to the source's.
    near(&used, 69.6, 3.0, "RED 0.1, utilisation");
    near(&shared, 0.920, 0.05, "RED 0.1, fairness");
    exceeds(&shared, &unfair, "fairness of RED 0.1 over drop-tail");
    let (behind, _) = interval(&more(&used, &full));
    assert!(behind > 0.0, "utilisation of drop-tail over RED 0.1: {behind}");
    let (adaptive, adaptive_shared) = table("reno", &early("discipline = \"ared\""));
    // Case 20.
    near(&adaptive, 81.059, 5.0, "ARED, utilisation");
    near(&adaptive_shared, 0.992, 0.05, "ARED, fairness");
    exceeds(&adaptive, &used, "utilisation of ARED over RED 0.1");
}

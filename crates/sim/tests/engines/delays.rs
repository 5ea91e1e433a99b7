//! Links whose delay changes or is drawn: both engines agree, one delay said as a schedule is that delay, no packet overtakes the one
//! before it, and each arrives when the schedule and the draws say. Pings say how long they took.

use crate::equality::{datagrams, dumbbell, equal};
use base::Span;
use queue::QUEUES;
use sim::{Engine, Options, Outcome, simulate};

const STEPS: &str = r#"{ steps = [["0 s", "10 ms"], ["700 ms", "2 ms"], ["900 ms", "19 ms"]], period = "1.3 s" }"#;
const ONCE: &str = r#"{ steps = [["0 s", "12 ms"], ["3 s", "1 ms"]] }"#;
const JITTERS: [&str; 4] =
    ["", "jitter = \"4 ms\"", "jitter = { uniform = [\"1 ms\", \"2 ms\"] }", "jitter = { exponential = \"1 ms\" }"];

/// `text` with another delay of its link, and another line.
fn with_delay(text: &str, delay: &str, more: &str) -> String {
    text.replace("delay = \"10 ms\"", &format!("delay = {delay}\n{more}"))
}

#[test]
fn every_discipline_on_delays_of_every_kind() {
    for (i, queue) in QUEUES.iter().map(|entry| entry.card.name).enumerate() {
        let law = if queue == "xcp" { "control = { law = \"xcp\" }" } else { "tcp = { ecn = true }" };
        let text = dumbbell(5, "40 packets", &format!("queue = {{ discipline = \"{queue}\" }}"), law);
        let (delay, jitter) = ([STEPS, ONCE, "\"10 ms\""][i % 3], JITTERS[i % 4]);
        let jitter = if i % 3 == 2 && jitter.is_empty() { JITTERS[1] } else { jitter };
        let text = with_delay(&text, delay, jitter).replace("\"8 s\"", "\"5 s\"");
        let link = &equal(&format!("{queue} {delay} {jitter}"), &text).links[0];
        assert!(link.propagation_min_s < link.propagation_s && link.propagation_s < link.propagation_max_s);
    }
}

#[test]
fn acks_share_links_whose_delays_change_beside_rates_that_change_and_batches() {
    let link = |name: &str, more: &str| format!("[[links]]\nname = \"{name}\"\nbuffer = \"30 packets\"\n{more}\n");
    let flow = |path: &str, back: &str, more: &str| {
        format!("[[flows]]\ncount = 2\npath = [{path}]\nreturn = [\"{back}\"]\nrtt = \"60 ms\"\n{more}\n")
    };
    let one = format!("rate = \"9 Mbit/s\"\ndelay = {STEPS}\n{}", JITTERS[1]);
    for other in [
        format!("rate = {{ opportunities = \"1 2 3x3 7\" }}\ndelay = {ONCE}"),
        format!(
            "rate = {{ markov = {{ rates = [\"20 Mbit/s\", \"1 Mbit/s\"], times = [\"90 ms\", \"50 ms\"] }} }}\ndelay = \"1 ms\"\n{}",
            JITTERS[3]
        ),
        format!("rate = \"7 Mbit/s\"\ndelay = {STEPS}\nbatch = \"3 ms\"\n{}", JITTERS[2]),
        "rate = \"7 Mbit/s\"".to_owned(),
    ] {
        let text = [
            link("a", &one),
            link("b", &other),
            link("c", "rate = \"100 Mbit/s\""),
            flow("\"a\", \"c\"", "b", "tcp = { delayed_ack = 2 }"),
            flow("\"b\"", "a", "control = { law = \"bbr\" }"),
            flow("\"a\", \"c\"", "b", "traffic = { kind = \"web\" }").replace("return = [\"b\"]", ""),
        ]
        .concat();
        equal(&other, &format!("duration = \"4 s\"\n{text}"));
    }
}

#[test]
fn one_delay_in_steps_is_a_link_of_one_delay() {
    for queue in ["drop-tail", "red", "codel", "fq-codel", "pie"] {
        let text = dumbbell(5, "40 packets", &format!("queue = {{ discipline = \"{queue}\" }}"), "");
        let one = equal(queue, &text);
        for (delay, jitter) in [
            (r#"{ steps = [["0 s", "10 ms"]] }"#, ""),
            (r#"{ steps = [["0 s", "10 ms"], ["1 s", "10 ms"]], period = "3 s" }"#, "jitter = \"0 s\""),
            ("\"10 ms\"", "jitter = { exponential = \"0 s\" }"),
            ("\"7 ms\"", "jitter = { uniform = [\"3 ms\", \"3 ms\"] }"),
            // A schedule in earnest, though its second delay comes after the end: handed over packet by packet.
            (r#"{ steps = [["0 s", "10 ms"], ["8 s", "2 ms"]] }"#, ""),
        ] {
            let mut said = equal(&format!("{queue} {delay} {jitter}"), &with_delay(&text, delay, jitter));
            said.links[0].delay_varies = false;
            assert_eq!(said, one, "{queue} {delay} {jitter}");
        }
    }
}

/// Packets of 1500 bytes, one each `wait`, over link "a" of 1 Gbit/s with these lines to link "l", where their arrivals are recorded.
fn stream(lines: &str, wait: &str, seconds: u32) -> Outcome {
    let rate = 12_000.0 / wait.strip_suffix(" us").expect("in us").parse::<f64>().expect("a number");
    let text = format!(
        "duration = \"{seconds} s\"\nwarmup = \"1 s\"\n\
         record = {{ packets = [{{ link = \"a\", from = \"0 s\", to = \"{seconds} s\" }}, {{ link = \"l\", from = \"0 s\", to = \"{seconds} s\" }}] }}\n\
         [[links]]\nname = \"a\"\nrate = \"1 Gbit/s\"\nbuffer = \"50 packets\"\n{lines}\n\
         [[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"5000 packets\"\n\
         [[flows]]\npath = [\"a\", \"l\"]\nrtt = \"200 ms\"\npacket = \"1500 B\"\n\
         traffic = {{ kind = \"cbr\", rate = \"{rate} Mbit/s\" }}"
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, 0, Options { engine: Engine::Window, series: true, hash: true, ..Options::default() })
        .expect("small")
}

/// Times at which each packet left link "a" and arrived at "l", in picoseconds; the order is that of both.
fn ways(outcome: &Outcome) -> Vec<(u64, u64)> {
    let [from, to] = [0, 1].map(|link| &outcome.packets[link].rows);
    // Each finds the link idle, and takes 12 us.
    let left = from.iter().map(|row| (row.seq, row.left.0 + 12_000_000));
    let pairs = left.zip(to.iter().map(|row| (row.seq, row.time.0)));
    pairs
        .map(|(a, b)| {
            assert_eq!(a.0, b.0, "no packet overtakes another");
            (a.1, b.1)
        })
        .collect()
}

#[test]
fn a_stream_across_steps_shows_exactly_the_steps() {
    let steps = r#"delay = { steps = [["0 s", "20 ms"], ["2 s", "45 ms"], ["3 s", "20 ms"], ["3.3 s", "7 ms"]], period = "4 s" }"#;
    let delay = |at: u64| match at % 4_000_000_000_000 {
        0..2_000_000_000_000 | 3_000_000_000_000..3_300_000_000_000 => 20,
        2_000_000_000_000..3_000_000_000_000 => 45,
        _ => 7,
    };
    let outcome = stream(steps, "1000 us", 9);
    let ways = ways(&outcome);
    assert!(ways.len() > 8800);
    let mut last = 0;
    for &(left, arrived) in &ways {
        last = last.max(left + delay(left) * 1_000_000_000);
        assert_eq!(arrived, last);
    }
    // After a step down those that left within 25 ms and 13 ms of it arrive together.
    let mut together: Vec<usize> = ways.chunk_by(|a, b| a.1 == b.1).map(<[_]>::len).filter(|&n| n > 1).collect();
    together.sort_unstable();
    assert_eq!(together, [14, 14, 26, 26]);
    // After a step up nothing arrives for 25 ms and 13 ms, and a millisecond.
    let mut gaps: Vec<u64> =
        ways.windows(2).map(|pair| (pair[1].1 - pair[0].1) / 1_000_000_000).filter(|&ms| ms > 1).collect();
    gaps.sort_unstable();
    assert_eq!(gaps, [14, 14, 26, 26]);
    // What results say: two whole periods, of (2 x 20 + 45 + 0.3 x 20 + 0.7 x 7) / 4 ms in the mean; in order, those that must wait
    // for the packet before add 25 x 26 / 2 and 13 x 14 / 2 ms to 4000.
    let link = &outcome.links[0];
    let mean = (2.0 * 20.0 + 45.0 + 0.3 * 20.0 + 0.7 * 7.0) / 4.0;
    let waits = (25.0 * 26.0 / 2.0 + 13.0 * 14.0 / 2.0) / 4000.0;
    // A packet more or less in each of six steps, of up to 45 ms, in 8000.
    assert!((1e3 * link.propagation_s - mean - waits).abs() < 6.0 * 45.0 / 8000.0, "{}", link.propagation_s);
    assert_eq!((link.propagation_min_s, link.propagation_max_s), (0.007, 0.045));
    // The null, a link of the mean delay, has none of it.
    let null = stream(&format!("delay = \"{} us\"", (1000.0 * mean) as u64), "1000 us", 9);
    let arrived: Vec<u64> = null.packets[1].rows.iter().map(|row| row.time.0).collect();
    assert!(arrived.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000_000));
}

#[test]
fn a_round_trip_over_a_stepped_link_has_the_mean_of_its_steps() {
    // A window of four segments, which never wait: a round trip is what propagates, and 12 us for each of two links.
    let text = "duration = \"62 s\"\nwarmup = \"2 s\"\nrecord = { every = \"10 ms\" }\n\
                [[links]]\nname = \"a\"\nrate = \"1 Gbit/s\"\nbuffer = \"50 packets\"\n\
                delay = { steps = [[\"0 s\", \"30 ms\"], [\"10 s\", \"60 ms\"]], period = \"15 s\" }\n\
                [[flows]]\npath = [\"a\"]\nrtt = RTT\npacket = \"1500 B\"\ntcp = { receive_window = 4 }\n";
    for (rtt, rest) in [("\"auto\"", 0.040), ("\"100 ms\"", 0.060)] {
        let outcome = equal(rtt, &text.replace("RTT", rtt));
        // 40 ms there in the mean; the way back does not change: as much, or what 100 ms leave.
        let flow = &outcome.flows[0];
        assert_eq!(flow.base_rtt, Span::from_secs(0.040 + rest));
        // At the end of each step the smoothed round-trip time is that of the step: of a sample each round trip, 40 at least in the
        // 4.9 s, each takes 1/8 of what is left of the 30 ms, (7/8)^40 of which are 0.14 ms.
        let at = |seconds: f64| f64::from(flow.srtt_samples()[(100.0 * seconds) as usize]);
        for (seconds, delay) in [(9.9, 0.030), (14.9, 0.060), (24.9, 0.030), (29.9, 0.060)] {
            assert!((at(seconds) - delay - rest - 12e-6).abs() < 1.5e-4, "{seconds}: {}", at(seconds));
        }
        // Over four periods the mean of the samples is that of the steps. A step is smoothed over two round trips, up and down alike:
        // 30 ms times a few round trips of 0.1 s, of which what is not alike is below 0.03 x 0.1 x 4 / 15 s.
        let (from, to) = (200, 6200);
        let mean = flow.srtt_samples()[from..to].iter().map(|&x| f64::from(x)).sum::<f64>() / (to - from) as f64;
        assert!((mean - 0.040 - rest).abs() < 1e-3, "{mean}");
        // A null that forgets how long each step holds, 45 ms, is five times as far off.
        assert!((mean - 0.045 - rest).abs() > 4e-3, "{mean}");
    }
}

/// The sum of chi-square of `values` in ten classes that are equally likely under the law with this distribution, up to `most`.
fn chi_square(values: &[f64], most: f64, law: impl Fn(f64) -> f64) -> f64 {
    let (mut counts, each) = ([0.0f64; 10], values.len() as f64 / 10.0);
    for &value in values {
        assert!((0.0..=most).contains(&value), "{value}");
        counts[((10.0 * law(value)) as usize).min(9)] += 1.0;
    }
    counts.iter().map(|count| (count - each) * (count - each) / each).sum()
}

/// Nine degrees of freedom: 1 in 1000 lies above.
const MOST: f64 = 27.9;

/// Propagation delay of every `nth` packet above 5 ms, in ms.
fn beyond(jitter: &str, wait: &str, nth: usize) -> Vec<f64> {
    let ways = ways(&stream(&format!("delay = \"5 ms\"\njitter = {jitter}"), wait, 60));
    assert!(ways.windows(2).all(|pair| pair[0].1 <= pair[1].1), "no packet arrives before the one in front of it");
    ways.iter().step_by(nth).map(|&(left, arrived)| (arrived - left) as f64 / 1e9 - 5.0).collect()
}

#[test]
fn packets_far_apart_are_on_their_way_for_what_is_drawn() {
    let uniform = |x: f64| x / 2.0;
    let exponential = |x: f64| 1.0 - libm::exp(-x);
    let drawn = beyond("\"2 ms\"", "3000 us", 1);
    assert!(drawn.len() > 19_000);
    assert!(chi_square(&drawn, 2.0, uniform) < MOST && chi_square(&drawn, 2.0, exponential) > MOST);
    // 40 ms apart: of 1500 draws with a mean of 1 ms none is that long.
    let drawn = beyond("{ exponential = \"1 ms\" }", "40000 us", 1);
    assert!(drawn.len() > 1400);
    assert!(chi_square(&drawn, 40.0, exponential) < MOST && chi_square(&drawn, 40.0, |x| uniform(x).min(1.0)) > MOST);
    // Other links have other draws.
    let other = stream("delay = \"5 ms\"\njitter = \"2 ms\"", "3000 us", 2);
    assert_ne!(ways(&other), ways(&stream("delay = \"5 ms\"\njitter = \"2.1 ms\"", "3000 us", 2)));
}

#[test]
fn packets_near_each_other_wait_for_those_in_front_of_them() {
    // In order, a packet is on its way for the largest of its draw and of those before it, each less the time since: at most x with
    // the product of the probabilities of at most x + k d, where packets are d apart. Every 40th, so that those looked at have no
    // draw in common (2 ms are 20 packets) or hardly any (12 means).
    let d = 0.1;
    let product = |law: fn(f64) -> f64| move |x: f64| (0..400).map(|k| law(x + f64::from(k) * d)).product::<f64>();
    let uniform = |x: f64| (x / 2.0).min(1.0);
    let exponential = |x: f64| 1.0 - libm::exp(-x / 0.3);
    let drawn = beyond("\"2 ms\"", "100 us", 40);
    assert!(drawn.len() > 14_000);
    assert!(chi_square(&drawn, 2.0, product(uniform)) < MOST, "{}", chi_square(&drawn, 2.0, product(uniform)));
    assert!(chi_square(&drawn, 2.0, uniform) > 1000.0, "what is drawn alone is not it");
    let drawn = beyond("{ exponential = \"300 us\" }", "100 us", 40);
    assert!(
        chi_square(&drawn, 40.0, product(exponential)) < MOST,
        "{}",
        chi_square(&drawn, 40.0, product(exponential))
    );
    assert!(chi_square(&drawn, 40.0, exponential) > 1000.0);
}

#[test]
fn jitter_alone_loses_nothing_for_any_recovery() {
    for recovery in ["tahoe", "reno", "newreno", "sack", "prr", "rack"] {
        let text = dumbbell(3, "unlimited", "", &format!("recovery = \"{recovery}\"\ntcp = {{ receive_window = 60 }}"));
        let outcome = equal(recovery, &with_delay(&text, STEPS, "jitter = { exponential = \"2 ms\" }"));
        assert!(outcome.flows.iter().all(|flow| flow.retransmitted == 0 && flow.sent > 1000), "{recovery}");
    }
}

#[test]
fn links_of_an_array_draw_their_own_jitter_and_are_one_row() {
    let text =
        dumbbell(6, "40 packets", "jitter = \"4 ms\"\ncount = 3", "").replace("path = [\"l\"]", "path = [\"l[*]\"]");
    let link = &equal("array", &text).links[0];
    assert!(link.propagation_min_s >= 0.010 && link.propagation_max_s <= 0.014);
    // Saturated links: packets 0.8 ms apart, so those that wait for others pull the mean above the 12 ms of the draws.
    assert!((0.0121..0.0135).contains(&link.propagation_s), "{}", link.propagation_s);
}

#[test]
fn pings_are_timed_there_and_back() {
    // Links of their own: a request of 84 B takes 67.2 us at 10 Mbit/s, and its answer 672 us at 1 Mbit/s; no queue.
    let text = "duration = \"10 s\"\nwarmup = \"2 s\"\n[[links]]\nname = \"out\"\nrate = \"10 Mbit/s\"\ndelay = \"7 ms\"\n\
                buffer = \"9 packets\"\n[[links]]\nname = \"back\"\nrate = \"1 Mbit/s\"\ndelay = \"3 ms\"\n\
                buffer = \"9 packets\"\n[[flows]]\nname = \"ping\"\ncount = 3\npath = [\"out\"]\nreturn = [\"back\"]\n\
                rtt = \"30 ms\"\nstart = { from = \"100 ms\", every = \"5 ms\" }\n\
                traffic = { kind = \"ping\", every = \"100 ms\" }\n[record]\nevery = \"50 ms\"\n";
    let outcome = equal("pings", text);
    for flow in &outcome.flows {
        let delays = flow.delays.as_deref().expect("pings are timed");
        assert_eq!((delays.count, delays.sum), (80, 80 * 30_739_200_000), "{delays:?}");
        assert_eq!(flow.goodput_bps, 80.0 * 84.0 * 8.0 / 8.0);
    }
    // Behind a queue they take longer, and what was lost does not count.
    let text = dumbbell(2, "12 packets", "", "name = \"tcp\"")
        + &datagrams("ping", 2, "\"l\"", "kind = \"ping\", every = \"11 ms\"", "");
    let outcome = equal("pings beside TCP", &text);
    for flow in &outcome.flows[2..] {
        let delays = flow.delays.as_deref().expect("pings are timed");
        assert!(flow.dropped > 0 && delays.count < flow.sent, "{flow:?}");
        let mean = delays.mean_s().expect("some came back");
        // 30 ms, 0.56 ms of service, and up to 12 packets of 0.8 ms and one in service before it.
        assert!((0.0306..0.0410).contains(&mean), "{mean}");
    }
}

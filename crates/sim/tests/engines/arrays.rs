//! Arrays of links, and what flows draw: against the same network written out, and against the laws of the draws.

use base::{Span, Time};
use sim::{Engine, LinkOutcome, Options, Outcome, simulate};

fn run_with(text: &str, replication: u32, engine: Engine) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simulate(&scenario, replication, Options { engine, series: true, hash: true, ..Options::default() }).expect("small")
}

fn run(text: &str, replication: u32) -> Outcome {
    run_with(text, replication, Engine::Window)
}

/// Three flows of unequal access, each over a link of its own.
fn three(links: &str, flows: &str) -> String {
    format!("duration = \"20 s\"\nwarmup = \"2 s\"\n{links}\n{flows}\n[record]\nevery = \"10 ms\"\n")
}

const LINK: &str = "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"20 packets\"\n";

#[test]
fn an_array_is_its_links_written_out() {
    let flow = |path: &str, access: &str| {
        format!("[[flows]]\npath = [\"{path}\"]\nrtt = \"50 ms\"\naccess = {{ rate = {access} }}\n")
    };
    let rates = ["8 Mbit/s", "20 Mbit/s", "100 Mbit/s"];
    let array = three(
        &format!("[[links]]\nname = \"a\"\ncount = 3\n{LINK}"),
        &format!("{}count = 3\n", flow("a[*]", &format!("{rates:?}"))),
    );
    let links = [0, 1, 2].map(|i| format!("[[links]]\nname = \"a{i}\"\n{LINK}")).concat();
    let flows = [0, 1, 2].map(|i| flow(&format!("a{i}"), &format!("{:?}", rates[i]))).concat();
    for engine in [Engine::Window, Engine::Reference] {
        let (one, out) = (run_with(&array, 0, engine), run_with(&three(&links, &flows), 0, engine));
        assert_eq!((one.links.len(), out.links.len()), (1, 3));
        for (a, b) in one.flows.iter().zip(&out.flows) {
            assert_eq!((a.sent, a.goodput_bps, a.loss_events), (b.sent, b.goodput_bps, b.loss_events));
        }
        assert_eq!((one.hash, one.balance), (out.hash, out.balance));
        let link = &one.links[0];
        let sum = |value: &dyn Fn(&LinkOutcome) -> f64| out.links.iter().map(value).sum::<f64>();
        // What follows is the same arithmetic in another order: a few units in the last place.
        let same = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
        same(link.arrived as f64, sum(&|l| l.arrived as f64));
        same(link.dropped[0] as f64, sum(&|l| l.dropped[0] as f64));
        assert!(link.dropped[0] > 0);
        same(link.utilization, sum(&|l| l.utilization) / 3.0);
        same(link.backlog_mean, sum(&|l| l.backlog_mean) / 3.0);
        same(link.empty_fraction, sum(&|l| l.empty_fraction) / 3.0);
        same(link.queueing_delay_s, sum(&|l| l.queueing_delay_s * l.begun as f64) / sum(&|l| l.begun as f64));
        assert_eq!(Some(link.backlog_max), out.links.iter().map(|l| l.backlog_max).max());
        let samples = |i: usize| out.links.iter().map(|l| l.backlog_samples[i]).sum::<u32>();
        assert!((0..link.backlog_samples.len()).all(|i| link.backlog_samples[i] == samples(i)));
        let bin = |i: usize| out.links.iter().filter_map(|l| l.backlog_histogram.counts().get(i)).sum::<u64>();
        assert!(link.backlog_histogram.counts().iter().enumerate().all(|(i, &count)| count == bin(i)));
    }
}

#[test]
fn drops_are_traced_by_table() {
    let text = "duration = \"10 s\"\n[[links]]\nname = \"a\"\ncount = 3\nrate = \"1 Gbit/s\"\nbuffer = \"unlimited\"\n\
                [[links]]\nname = \"core\"\nrate = \"10 Mbit/s\"\nbuffer = \"5 packets\"\n\
                [[flows]]\nname = \"f\"\ncount = 3\npath = [\"a[*]\", \"core\"]\nrtt = \"20 ms\"\n\
                [record]\nevery = \"1 s\"\ntrace = [\"f[2]\"]\n";
    let outcome = run(text, 0);
    let drops = &outcome.traces[0].drops;
    assert!(!drops.is_empty() && drops.iter().all(|drop| drop.link == 1), "{drops:?}");
}

/// A thousand flows, each over its own link of an array whose delays are drawn.
fn clients(more: &str) -> String {
    format!(
        "duration = \"1 ms\"\n{more}[[links]]\nname = \"client\"\ncount = 1000\nrate = \"100 Mbit/s\"\n\
         delay = {{ uniform = [\"20 ms\", \"50 ms\"] }}\nbuffer = \"5 packets\"\n\
         [[flows]]\ncount = 1000\npath = [\"client[*]\"]\nrtt = \"auto\"\n"
    )
}

fn rtts(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.base_rtt.as_secs()).collect()
}

/// Kolmogorov's distance between `values` and the uniform law on [from, to].
fn distance(mut values: Vec<f64>, from: f64, to: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let gap = |(i, x): (usize, &f64)| {
        let law = (x - from) / (to - from);
        (law - i as f64 / n).abs().max((law - (i + 1) as f64 / n).abs())
    };
    values.iter().enumerate().map(gap).fold(0.0, f64::max)
}

#[test]
fn delays_of_an_array_are_drawn_for_each_link_and_replication() {
    let first = run(&clients(""), 0);
    // There and back; beyond 1.95 / sqrt(n) once in a thousand.
    let d = distance(rtts(&first), 0.040, 0.100);
    assert!(d < 1.95 / 1000f64.sqrt(), "{d}");
    assert_ne!(rtts(&first), rtts(&run(&clients(""), 1)));
    // Another table in front does not move them.
    let other = "[[links]]\nname = \"other\"\nrate = \"1 Gbit/s\"\nbuffer = \"5 packets\"\n";
    assert_eq!(rtts(&first), rtts(&run(&clients(other), 0)));
}

#[test]
fn rates_of_an_array_are_drawn_for_each_link() {
    // Datagrams at ten times the rate keep each link busy: what gets through is its rate.
    let text = "duration = \"2 s\"\nwarmup = \"1 s\"\n[[links]]\nname = \"l\"\ncount = 400\n\
                rate = { uniform = [\"1 Mbit/s\", \"3 Mbit/s\"] }\nbuffer = \"5 packets\"\n\
                [[flows]]\ncount = 400\npath = [\"l[*]\"]\nrtt = \"1 ms\"\npacket = \"100 B\"\n\
                traffic = { kind = \"cbr\", rate = \"10 Mbit/s\" }\n";
    let outcome = run(text, 0);
    let rates: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_bps).collect();
    // Beyond 1.95 / sqrt(n) once in a thousand; a packet more or less is 800 bit/s of 2 Mbit/s.
    let d = distance(rates, 1e6, 3e6);
    assert!(d < 1.95 / 20.0 + 800.0 / 2e6, "{d}");
    // Each is busy all the time; a packet in service at an end is all that can be missing or too much.
    assert!((outcome.links[0].utilization - 1.0).abs() < 800.0 / 1e6, "{}", outcome.links[0].utilization);
}

#[test]
fn quantiles_of_rtts_are_dealt_out_once_for_all() {
    let text = "duration = \"1 ms\"\n[[links]]\nname = \"l\"\nrate = \"16 Mbit/s\"\nbuffer = \"5 packets\"\n\
                [[flows]]\ncount = 25\npath = [\"l\"]\n\
                rtt = { pareto = { mean = \"100 ms\", shape = 1.2, by = \"quantiles\" } }\n";
    let first = rtts(&run(text, 0));
    assert_eq!(first, rtts(&run(text, 1)));
    // 25 values, each rounded to a picosecond.
    assert!((first.iter().sum::<f64>() / 25.0 - 0.1).abs() < 1e-12);
    // The i-th of n at (i + 1/2) / n: ratios of the law's quantiles, to a picosecond of 27 ms.
    let quantile = |i: f64| libm::pow(1.0 - (i + 0.5) / 25.0, -1.0 / 1.2);
    for i in 0..25 {
        let expected = quantile(f64::from(i)) / quantile(0.0);
        let ratio = first[i as usize] / first[0];
        assert!((ratio / expected - 1.0).abs() < 1e-10, "{i}: {ratio} {expected}");
    }
}

#[test]
fn every_flow_has_its_own_access_rate() {
    let goodputs = |access: &str| {
        let text = format!(
            "duration = \"30 s\"\nwarmup = \"10 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"500 packets\"\n\
             [[flows]]\ncount = 3\npath = [\"l\"]\nrtt = \"20 ms\"\naccess = {{ rate = {access} }}\n"
        );
        run(&text, 0).flows.iter().map(|flow| flow.goodput_bps).collect::<Vec<_>>()
    };
    for access in ["[\"2 Mbit/s\", \"5 Mbit/s\", \"8 Mbit/s\"]", "{ from = \"2 Mbit/s\", to = \"8 Mbit/s\" }"] {
        for (goodput, rate) in goodputs(access).into_iter().zip([2e6, 5e6, 8e6]) {
            // Bulk flows on an idle link send as fast as their own link lets them, to a packet in 20 s.
            assert!((goodput - rate).abs() <= 12_000.0 / 20.0, "{goodput} of {rate}");
        }
    }
}

#[test]
fn an_access_delay_lies_before_the_first_link() {
    // A datagram every 10 ms, of 0.8 ms on the link. With 30 ms of access and 20 ms of link those sent up to 49.7 ms
    // arrive within 100.5 ms: five. Half of the 80 ms that the link leaves would be 40 ms: four.
    let delivered = |access: &str| {
        let text = format!(
            "duration = \"100.5 ms\"\n[[links]]\nname = \"l\"\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"9 packets\"\n\
             [[flows]]\npath = [\"l\"]\nrtt = \"100 ms\"\npacket = \"1000 B\"\naccess = {{ {access} }}\n\
             traffic = {{ kind = \"cbr\", rate = \"800 kbit/s\" }}\n"
        );
        [Engine::Window, Engine::Reference].map(|engine| run_with(&text, 0, engine).balance.delivered)
    };
    assert_eq!(delivered("delay = \"30 ms\""), [5, 5]);
    assert_eq!(delivered(""), [4, 4]);
}

#[test]
fn flows_come_one_after_the_other() {
    let starts = |start: &str, count: u32| {
        let text = format!(
            "duration = \"100 s\"\n[[links]]\nname = \"l\"\nrate = \"10 Mbit/s\"\nbuffer = \"9 packets\"\n\
             [[flows]]\ncount = {count}\npath = [\"l\"]\nrtt = \"20 ms\"\nstart = {start}\n\
             traffic = {{ kind = \"finite\", size = \"10 kB\" }}\n"
        );
        run(&text, 0).flows.iter().map(|flow| flow.start).collect::<Vec<_>>()
    };
    let at = |s: u64| Time::ZERO + Span::secs(s);
    assert_eq!(starts("{ from = \"5 s\", every = \"10 s\" }", 3), [at(5), at(15), at(25)]);
    assert_eq!(starts("[\"7 s\", \"3 s\"]", 2), [at(7), at(3)]);
    // A list of another length is drawn from.
    let drawn = starts("[\"7 s\", \"3 s\"]", 50);
    assert!(drawn.contains(&at(7)) && drawn.contains(&at(3)));
}

#[test]
fn flows_leave_a_time_after_they_came() {
    // Datagrams tell how long a flow lived: a hundred a second, the first at the start.
    let lives = |stop: &str| {
        let text = format!(
            "duration = \"60 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"unlimited\"\n\
             [[flows]]\ncount = 1000\npath = [\"l\"]\nrtt = \"1 ms\"\npacket = \"100 B\"\n\
             start = {{ from = \"0 s\", to = \"10 s\" }}\nstop = {stop}\n\
             traffic = {{ kind = \"cbr\", rate = \"80 kbit/s\" }}\n"
        );
        run(&text, 0).flows.iter().map(|flow| flow.sent as f64 / 100.0).collect::<Vec<_>>()
    };
    // The gap of cbr falls on a first packet at the start: 2.505 s hold 251.
    assert!(lives("{ after = \"2.505 s\" }").iter().all(|&life| life == 2.51));
    let drawn = lives("{ after = { exponential = \"2 s\" } }");
    let mean = drawn.iter().sum::<f64>() / 1000.0;
    // Four standard errors of an exponential mean, 2 / sqrt(1000); rounding up to packets adds 5 ms.
    assert!((mean - 2.005).abs() < 4.0 * 2.0 / 1000f64.sqrt(), "{mean}");
    // A share e^-1 lives longer than the mean; four standard errors of a share.
    let longer = drawn.iter().filter(|&&life| life > 2.0).count() as f64 / 1000.0;
    assert!((longer - 0.3679).abs() < 4.0 * (0.3679f64 * 0.6321 / 1000.0).sqrt(), "{longer}");
    let between = lives("{ from = \"20 s\", to = \"40 s\" }");
    // Uniform stop minus uniform start: mean 30 - 5, variance (400 + 100) / 12; four standard errors.
    let mean = between.iter().sum::<f64>() / 1000.0;
    assert!((mean - 25.005).abs() < 4.0 * (500.0f64 / 12.0 / 1000.0).sqrt(), "{mean}");
}

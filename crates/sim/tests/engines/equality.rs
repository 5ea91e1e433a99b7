//! The window engine against the reference engine: same hashes over every arrival and every ACK, same results, on small
//! cases and several seeds, with everything that a scenario file can say.

use crate::products::laws_and_recoveries;
use sim::{Engine, LinkReading, Options, Outcome, RunMonitor, Span, SteppedRun, Time, simulate, simulate_monitored};

const RECOVERIES: [&str; 6] = ["tahoe", "reno", "newreno", "sack", "prr", "rack"];

fn run(text: &str, seed: u32, engine: Engine) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, seed, Options { engine, series: true, hash: true, ..Options::default() }).expect("small")
}

/// Runs the window engine with the flows in `chunks` chunks on `threads` threads.
fn run_on(threads: usize, chunks: usize, text: &str, seed: u32) -> Outcome {
    let scenario = scenario::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let monitor = RunMonitor::default();
    monitor.allow_threads(threads);
    let options = Options { series: true, hash: true, chunks, ..Options::default() };
    simulate_monitored(&scenario, seed, options, &monitor).expect("small").expect("nobody stops it")
}

/// Runs the window engine in steps of random lengths, from a twentieth of `step` to `step`. A copy made at a random instant, which goes on
/// when the run is over, must end as the run does.
pub(crate) fn run_in_steps(scenario: &scenario::Scenario, seed: u32, step: Span) -> Outcome {
    let options = Options { series: true, hash: true, ..Options::default() };
    let mut run = SteppedRun::begin(scenario, seed, options).expect("small");
    let mut chance = base::Stream::new(7, seed, ("test", 0), "steps");
    let (mut links, mut flows) = (vec![LinkReading::default(); scenario.links.len()], vec![0; run.flows()]);
    let fork_at = Time::ZERO + chance.span_between(Span::ZERO, scenario.duration);
    let mut fork = None;
    while run.now() < run.end() {
        if fork.is_none() && run.now() >= fork_at {
            fork = Some(run.fork());
        }
        run.advance(run.now() + chance.span_between(Span(step.0 / 20 + 1), step));
        for (l, before) in links.iter_mut().enumerate() {
            let now = run.link(l);
            assert!(now.arrived >= before.arrived && now.begun_bytes >= before.begun_bytes, "link {l}");
            *before = now;
        }
        for (f, before) in flows.iter_mut().enumerate() {
            let delivered = run.flow(f).map_or(0, |flow| flow.delivered);
            assert!(delivered >= *before, "flow {f}");
            *before = delivered;
        }
    }
    let outcome = run.finish().expect("no fault");
    if let Some(fork) = fork {
        assert_eq!(fork.finish().expect("no fault"), outcome, "a copy of {fork_at:?} differs");
    }
    outcome
}

/// Runs `text` in both engines, in the window engine also in chunks and in steps, for replications 0, 1 and 2, and returns the last outcome.
pub(crate) fn equal(name: &str, text: &str) -> Outcome {
    let [.., last] = [0, 1, 2].map(|seed| equal_once(name, text, seed));
    last
}

/// Runs one replication of `text` as [`equal`] does, for products of many cases.
pub(crate) fn equal_once(name: &str, text: &str, seed: u32) -> Outcome {
    let (fast, plain) = (run(text, seed, Engine::Window), run(text, seed, Engine::Reference));
    assert_eq!(fast.balance, plain.balance, "{name}, seed {seed}");
    assert_eq!(fast.flows, plain.flows, "{name}, seed {seed}");
    for (l, (a, b)) in fast.links.iter().zip(&plain.links).enumerate() {
        assert_eq!(a, b, "{name}, seed {seed}, link {l}");
    }
    assert_eq!(fast.hash, plain.hash, "{name}, seed {seed}");
    assert_eq!(fast, plain, "{name}, seed {seed}");
    let (threads, chunks) = [(2, 2), (1, 3), (3, 8)][seed as usize];
    assert_eq!(run_on(threads, chunks, text, seed), plain, "{name}, seed {seed}: {chunks} chunks, {threads} threads");
    let (read, step) = (scenario::read(text).expect("was read above"), Span::millis([3, 20, 700][seed as usize]));
    assert_eq!(run_in_steps(&read, seed, step), plain, "{name}, seed {seed}: steps of {step:?}");
    let b = fast.balance;
    assert_eq!(b.sent, b.delivered + b.dropped + b.in_flight, "{name}, seed {seed}: packets are conserved");
    assert!(b.delivered > 100, "{name}, seed {seed}: only {} delivered", b.delivered);
    fast
}

pub(crate) fn dumbbell(flows: u32, buffer: &str, more_link: &str, more_flow: &str) -> String {
    format!(
        r#"
duration = "8 s"
warmup = "2 s"
[[links]]
name = "l"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "{buffer}"
{more_link}
[[flows]]
count = {flows}
path = ["l"]
rtt = {{ from = "40 ms", to = "61 ms" }}
packet = "1000 B"
start = {{ from = "0 s", to = "1 s" }}
{more_flow}
"#
    )
}

#[test]
fn every_recovery_and_two_laws_on_dumbbells_of_all_kinds() {
    for recovery in RECOVERIES {
        for law in ["reno", "highspeed"] {
            for (flows, buffer) in [(1, "5 packets"), (1, "30 packets"), (7, "20 packets"), (40, "10 packets")] {
                let more = format!("recovery = \"{recovery}\"\ncontrol = {{ law = \"{law}\" }}");
                let name = format!("{recovery} {law} {flows} {buffer}");
                let outcome = equal(&name, &dumbbell(flows, buffer, "", &more));
                assert!(outcome.balance.dropped > 0, "{name} loses packets");
            }
        }
    }
}

#[test]
fn every_law_with_every_recovery_that_it_allows() {
    for (law, recovery, seed) in laws_and_recoveries() {
        for (slow_start, tcp) in [("classic", "send_jitter = \"300 us\""), ("hystart++", "delayed_ack = 2")] {
            let control = format!("control = {{ law = \"{law}\", slow_start = \"{slow_start}\" }}");
            let more = format!("{control}\nrecovery = \"{recovery}\"\ntcp = {{ {tcp} }}");
            let queue = "queue = { discipline = \"drop-tail\", ecn_threshold = 12 }";
            let text = dumbbell(4, "20 packets", queue, &more).replace("\"8 s\"", "\"5 s\"");
            equal_once(&format!("{law} {recovery} {slow_start}"), &text, seed);
        }
    }
}

/// A concave growth with a jump, a reduction that falls, a window below the first knot and one above the last.
const TABLES: &str =
    "increase = [[4, 1], [8, 1.7], [8.001, 3], [60, 9.5]], decrease = [[3, 0.5], [40, 0.2], [50, 0.7]]";

#[test]
fn a_law_from_tables_and_tables_that_are_another_law() {
    let control = |law: &str| format!("control = {{ law = {law} }}\nrecovery = \"sack\"");
    for (flows, buffer) in [(1, "30 packets"), (7, "20 packets")] {
        let run = |law: &str| equal(&format!("{law} {flows} {buffer}"), &dumbbell(flows, buffer, "", &control(law)));
        let reno = run("\"reno\"");
        assert_eq!(run("\"tabulated\"").hash, reno.hash);
        // More knots of the same height are the same law, to the bit.
        let flat = "\"tabulated\", increase = [[1, 1], [7.3, 1], [90, 1]], decrease = [[2, 0.5], [30, 0.5]]";
        assert_eq!(run(flat).hash, reno.hash);
        assert_ne!(run(&format!("\"tabulated\", {TABLES}")).hash, reno.hash);
    }
}

#[test]
fn injected_loss_up_to_ten_percent() {
    for recovery in RECOVERIES {
        for loss in ["random = 1e-3", "random = 0.02", "random = 0.1", "every = 50"] {
            let text =
                dumbbell(3, "100 packets", &format!("loss = {{ {loss} }}"), &format!("recovery = \"{recovery}\""));
            let outcome = equal(&format!("{recovery} {loss}"), &text);
            assert!(outcome.links[0].dropped[4] > 0);
        }
    }
}

#[test]
fn every_tcp_key() {
    for tcp in [
        "min_rto = \"200 ms\", rto_granularity = \"10 ms\", initial_ssthresh = 20",
        "initial_window = 10, delayed_ack = 2",
        "delayed_ack = 3, delayed_ack_timeout = \"7 ms\"",
        "limited_transmit = false",
        "receive_window = 12",
        "send_jitter = \"800 us\"",
        "send_jitter = \"800 us\", receive_window = 30, delayed_ack = 2",
        "ecn = \"on\"",
    ] {
        for recovery in ["reno", "sack", "rack"] {
            let more = format!("tcp = {{ {tcp} }}\nrecovery = \"{recovery}\"");
            equal(&format!("{tcp} {recovery}"), &dumbbell(5, "15 packets", "loss = { random = 1e-3 }", &more));
        }
    }
}

#[test]
fn marks_at_a_threshold_are_echoed_and_answered() {
    for recovery in RECOVERIES {
        let more = format!("recovery = \"{recovery}\"\ntcp = {{ ecn = \"on\" }}");
        let queue = "queue = { discipline = \"drop-tail\", ecn_threshold = 8 }";
        let outcome = equal(&format!("ecn {recovery}"), &dumbbell(3, "60 packets", queue, &more));
        let link = &outcome.links[0];
        assert!(link.marked.iter().sum::<u64>() > 20, "{recovery}: the queue marks");
        assert_eq!(link.dropped.iter().sum::<u64>(), 0, "{recovery}: nothing is lost after the warm-up");
    }
}

#[test]
fn access_links_of_any_rate_and_buffer() {
    for access in [
        "rate = \"100 Mbit/s\"",
        "rate = \"11 Mbit/s\", buffer = \"3 packets\"",
        "rate = \"4 Mbit/s\", buffer = \"0 packets\"",
        "rate = \"2 Mbit/s\"",
        "rate = \"2 Mbit/s\", buffer = \"20 packets\"",
    ] {
        let more = format!("access = {{ {access} }}\ntcp = {{ send_jitter = \"100 us\" }}");
        equal(access, &dumbbell(6, "12 packets", "", &more));
        equal(access, &dumbbell(6, "12 packets", "", &format!("access = {{ {access} }}")));
    }
}

#[test]
fn buffers_in_bytes_none_and_mixed_packet_sizes() {
    for buffer in ["0 packets", "1 packet", "20 kB", "1500 B", "unlimited"] {
        equal(buffer, &dumbbell(4, buffer, "", "tcp = { receive_window = 40 }"));
        let mixed = dumbbell(2, buffer, "", "tcp = { receive_window = 40 }")
            + "[[flows]]\nname = \"small\"\ncount = 2\npath = [\"l\"]\nrtt = \"33 ms\"\npacket = \"300 B\"\n\
               tcp = { receive_window = 60 }\n";
        equal(&format!("mixed {buffer}"), &mixed);
    }
}

#[test]
fn flows_that_start_stop_and_end() {
    let text = dumbbell(5, "20 packets", "", "stop = \"4 s\"")
        + "[[flows]]\nname = \"short\"\ncount = 6\npath = [\"l\"]\nrtt = { uniform = [\"25 ms\", \"90 ms\"] }\n\
           start = { from = \"0 s\", to = \"6 s\" }\ntraffic = { kind = \"finite\", size = \"200 kB\" }\n\
           recovery = \"newreno\"\npacket = \"1000 B\"\n";
    let outcome = equal("start and stop", &text);
    assert!(outcome.flows[5..].iter().any(|flow| flow.finished.is_some()), "short transfers finish");
}

#[test]
fn simultaneous_events_of_identical_flows() {
    // No jitter, equal round-trip times, all at once: everything collides on the same picosecond.
    for recovery in RECOVERIES {
        let text = dumbbell(8, "9 packets", "", &format!("recovery = \"{recovery}\""))
            .replace("{ from = \"40 ms\", to = \"61 ms\" }", "\"40 ms\"")
            .replace("{ from = \"0 s\", to = \"1 s\" }", "\"0 s\"");
        equal(&format!("phase-locked {recovery}"), &text);
    }
}

const TWO_LINKS: &str = r#"
duration = "8 s"
warmup = "1 s"
[[links]]
name = "a"
rate = "10 Mbit/s"
delay = "7 ms"
buffer = "15 packets"
[[links]]
name = "b"
rate = "8 Mbit/s"
delay = "11 ms"
buffer = "20 kB"
[[links]]
name = "back"
rate = "300 kbit/s"
delay = "3 ms"
buffer = "6 packets"
loss = { random = 0.01 }
"#;

#[test]
fn two_links_in_series_with_cross_traffic() {
    for recovery in ["reno", "sack", "rack"] {
        let text = format!(
            "{TWO_LINKS}
[[flows]]
name = \"long\"
count = 3
path = [\"a\", \"b\"]
rtt = \"50 ms\"
packet = \"1000 B\"
recovery = \"{recovery}\"
start = {{ from = \"0 s\", to = \"1 s\" }}
[[flows]]
name = \"first\"
count = 2
path = [\"a\"]
rtt = \"20 ms\"
packet = \"1000 B\"
recovery = \"{recovery}\"
[[flows]]
name = \"second\"
count = 2
path = [\"b\"]
rtt = {{ pareto = {{ mean = \"60 ms\", shape = 1.4 }} }}
packet = \"500 B\"
recovery = \"{recovery}\"
"
        );
        equal(&format!("series {recovery}"), &text);
    }
}

#[test]
fn acks_that_queue_and_are_lost_on_the_way_back() {
    for recovery in RECOVERIES {
        for tcp in ["delayed_ack = 1", "delayed_ack = 2", "ecn = \"on\""] {
            let text = format!(
                "{TWO_LINKS}
[[flows]]
count = 4
path = [\"a\"]
return = [\"back\"]
rtt = {{ from = \"30 ms\", to = \"45 ms\" }}
packet = \"1000 B\"
recovery = \"{recovery}\"
tcp = {{ {tcp} }}
start = {{ from = \"0 s\", to = \"1 s\" }}
"
            );
            let outcome = equal(&format!("return {recovery} {tcp}"), &text);
            assert!(outcome.links[2].dropped.iter().sum::<u64>() > 0, "ACKs are lost");
        }
    }
}

#[test]
fn two_way_traffic_with_acks_among_data() {
    for recovery in RECOVERIES {
        let text = format!(
            "{TWO_LINKS}
[[flows]]
name = \"there\"
count = 3
path = [\"a\"]
return = [\"b\"]
rtt = {{ from = \"30 ms\", to = \"45 ms\" }}
packet = \"1000 B\"
recovery = \"{recovery}\"
[[flows]]
name = \"here\"
count = 3
path = [\"b\"]
return = [\"a\"]
rtt = \"18 ms\"
packet = \"1500 B\"
recovery = \"{recovery}\"
start = {{ from = \"0 s\", to = \"2 s\" }}
"
        );
        equal(&format!("two-way {recovery}"), &text);
    }
}

#[test]
fn traces_are_equal_row_by_row() {
    let text = dumbbell(3, "20 packets", "", "recovery = \"sack\"\nname = \"f\"")
        + "[record]\nevery = \"50 ms\"\ntrace = [\"f[1]\"]\n";
    let outcome = equal("trace", &text);
    assert_eq!(outcome.traces.len(), 1);
    assert!(outcome.traces[0].rows.len() > 100 && !outcome.traces[0].drops.is_empty());
    let lost = outcome.traces[0].log.events.iter().filter(|event| event.kind == transport::EventKind::Lost).count();
    assert!(lost > 10, "{lost}");
    assert_eq!(outcome.flows[1].cwnd_samples().len(), outcome.sampled_at.len());
}

#[test]
fn parts_that_share_nothing_run_by_themselves() {
    // A short loop on link a beside a long one on link b, and a link that nobody uses.
    let text = format!(
        "{TWO_LINKS}
[[flows]]
name = \"short\"
path = [\"a\"]
rtt = \"15 ms\"
packet = \"1000 B\"
[[flows]]
name = \"long\"
count = 5
path = [\"b\"]
rtt = {{ from = \"100 ms\", to = \"150 ms\" }}
packet = \"500 B\"
start = {{ from = \"0 s\", to = \"1 s\" }}
"
    );
    equal("two parts", &text);
}

#[test]
fn bursts_of_many_flows_at_once() {
    let text = dumbbell(400, "300 packets", "", "tcp = { initial_window = 10 }")
        .replace("{ from = \"40 ms\", to = \"61 ms\" }", "\"40 ms\"")
        .replace("{ from = \"0 s\", to = \"1 s\" }", "\"0 s\"")
        .replace("start =", "access = { rate = \"100 Mbit/s\" }\nstart =");
    equal("burst", &text);
}

#[test]
fn queues_of_hours_and_beyond_the_end_of_time() {
    // Sums of waiting times pass 2^64 ps, and in the second case the server would be busy for longer than that.
    for (rate, packet, flows) in [("2 Mbit/s", "1500 B", 100), ("1 kbit/s", "65535 B", 40)] {
        let text = dumbbell(flows, "unlimited", "", "tcp = { initial_window = 1000, min_rto = \"3600 s\" }")
            .replace("10 Mbit/s", rate)
            .replace("1000 B", packet)
            .replace("\"8 s\"", "\"1200 s\"");
        let scenario = scenario::read(&text).expect("valid");
        let run = |engine| {
            simulate(&scenario, 0, Options { engine, series: true, hash: true, ..Options::default() }).expect("small")
        };
        assert_eq!(run(Engine::Window), run(Engine::Reference), "{rate}");
    }
}

#[test]
fn traces_list_drops_at_several_links_in_order() {
    let text = TWO_LINKS
        .replace("name = \"a\"", "loss = { every = 7 }\nname = \"a\"")
        .replace("name = \"b\"", "loss = { every = 5 }\nname = \"b\"")
        + "[[flows]]\nname = \"f\"\npath = [\"a\", \"b\"]\nrtt = \"50 ms\"\npacket = \"1000 B\"\n\
           tcp = { initial_window = 40 }\n[record]\ntrace = [\"f[0]\"]\n";
    let outcome = equal("two links traced", &text);
    assert!(outcome.traces[0].drops.is_sorted() && outcome.traces[0].drops.iter().any(|drop| drop.link == 1));
}

/// A group of datagrams over `path`.
pub(crate) fn datagrams(name: &str, count: u32, path: &str, traffic: &str, more: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\ncount = {count}\npath = [{path}]\nrtt = \"30 ms\"\npacket = \"700 B\"\n\
         traffic = {{ {traffic} }}\n{more}\n"
    )
}

const TRAFFIC: [&str; 4] = [
    "kind = \"poisson\", rate = \"1 Mbit/s\"",
    "kind = \"cbr\", rate = \"1 Mbit/s\"",
    "kind = \"on-off\", rate = \"1 Mbit/s\", on = \"200 ms\", off = \"10 ms\", law = \"pareto\"",
    "kind = \"poisson\", rate = \"1 Mbit/s\", size = \"exponential\"",
];

#[test]
fn datagrams_beside_tcp_under_every_discipline() {
    for entry in queue::QUEUES {
        for traffic in TRAFFIC {
            let queue = entry.card.name;
            let link = format!("queue = {{ discipline = \"{queue}\" }}");
            let text = dumbbell(3, "12 packets", &link, "name = \"tcp\"")
                + &datagrams("few", 4, "\"l\"", traffic, "start = { from = \"0 s\", to = \"4 s\" }\nstop = \"7 s\"");
            let outcome = equal(&format!("{queue} {traffic}"), &text);
            for flow in &outcome.flows[3..] {
                assert!(flow.sent > 500 && flow.goodput_bps > 0.0, "{queue} {traffic}: {flow:?}");
                let none = (flow.retransmitted, flow.timeouts, flow.loss_events, flow.cwnd_mean, flow.srtt_mean_s);
                assert_eq!(none, (0, 0, 0, None, None));
                assert!(flow.cwnd_samples().is_empty() && flow.finished.is_none());
            }
        }
    }
}

#[test]
fn datagrams_over_one_or_both_of_two_links() {
    for traffic in TRAFFIC {
        for path in ["\"a\"", "\"b\"", "\"a\", \"b\"", "\"b\", \"a\""] {
            let text = format!(
                "{TWO_LINKS}
[[flows]]
name = \"there\"
count = 3
path = [\"a\"]
return = [\"b\"]
rtt = {{ from = \"30 ms\", to = \"45 ms\" }}
packet = \"1000 B\"
[[flows]]
name = \"here\"
count = 3
path = [\"b\"]
return = [\"a\"]
rtt = \"18 ms\"
packet = \"1500 B\"
{}",
                datagrams("background", 3, path, traffic, "start = { from = \"0 s\", to = \"2 s\" }")
            );
            equal(&format!("{traffic} over {path}"), &text);
        }
    }
}

#[test]
fn datagrams_alone_in_the_network() {
    for traffic in TRAFFIC {
        // Below the link's rate, in step; above it; and so far below that most windows are empty.
        for (count, rate) in [(5, "1 Mbit/s"), (30, "1 Mbit/s"), (2, "100 kbit/s")] {
            let traffic = traffic.replace("1 Mbit/s", rate);
            let text = format!("{TWO_LINKS}{}", datagrams("only", count, "\"a\", \"b\"", &traffic, ""));
            let outcome = equal(&format!("{count} {traffic}"), &text);
            assert!(outcome.balance.dropped > 0 || count != 30, "{count} {traffic}");
        }
    }
}

#[test]
fn datagrams_through_their_own_links() {
    for traffic in TRAFFIC.into_iter().filter(|traffic| !traffic.contains("size")) {
        for access in [
            "rate = \"100 Mbit/s\"",
            "rate = \"900 kbit/s\", buffer = \"3 packets\"",
            "rate = \"500 kbit/s\"",
            "rate = \"1 Mbit/s\", buffer = \"0 packets\"",
        ] {
            for jitter in ["0 s", "300 us", "50 ms"] {
                let more = format!("access = {{ {access} }}\ntcp = {{ send_jitter = \"{jitter}\" }}");
                let text =
                    dumbbell(2, "12 packets", "", "name = \"tcp\"") + &datagrams("slow", 3, "\"l\"", traffic, &more);
                equal(&format!("{traffic} {access} {jitter}"), &text);
            }
        }
    }
}

#[test]
fn datagrams_in_step_with_each_other_and_with_the_link() {
    // 700 B at 5.6 Mbit/s is a packet a millisecond, and so is 1250 B at the link's 10 Mbit/s: everything ties.
    let cbr = "kind = \"cbr\", rate = \"5.6 Mbit/s\"";
    let text = dumbbell(2, "9 packets", "", "name = \"tcp\"")
        .replace("1000 B", "1250 B")
        .replace("{ from = \"40 ms\", to = \"61 ms\" }", "\"40 ms\"")
        .replace("{ from = \"0 s\", to = \"1 s\" }", "\"0 s\"")
        + &datagrams("cbr", 6, "\"l\"", cbr, "stop = \"6 s\"");
    let outcome = equal("in step", &text);
    // Measured from 2 s; packets go at 2.000 s, ..., 5.999 s, and not at the stop.
    assert!(outcome.flows[2..].iter().all(|flow| flow.sent == 4000), "{:?}", outcome.flows);
}

#[test]
fn drops_of_datagrams_are_traced() {
    let poisson = "kind = \"poisson\", rate = \"4 Mbit/s\"";
    let text = dumbbell(2, "9 packets", "", "name = \"tcp\"")
        + &datagrams("udp", 2, "\"l\"", poisson, "[record]\nevery = \"50 ms\"\ntrace = [\"udp[1]\", \"tcp[0]\"]");
    let outcome = equal("traced datagrams", &text);
    assert_eq!(outcome.traces.len(), 2);
    let (tcp, udp) = (&outcome.traces[0], &outcome.traces[1]);
    assert!(!tcp.rows.is_empty() && udp.rows.is_empty() && udp.drops.len() > 50, "{} drops", udp.drops.len());
}

#[test]
fn headers_and_pairs_over_every_discipline_and_back() {
    // Senders that write headers or send in pairs, beside one that does neither, over two links and one, in both directions.
    for queue in queue::QUEUES.iter().map(|entry| entry.card.name) {
        for (seed, (law, tcp)) in (0..).zip([
            ("xcp", "delayed_ack = 1"),
            ("xcp", "delayed_ack = 2, send_jitter = \"200 us\", initial_window = 10"),
            ("packet-pair", "delayed_ack = 1"),
            ("packet-pair", "delayed_ack = 2, min_rto = \"200 ms\""),
        ]) {
            let links = TWO_LINKS.replace("delay =", &format!("queue = \"{queue}\"\ndelay ="));
            let text = format!(
                "{links}
[[flows]]
name = \"long\"
count = 3
path = [\"a\", \"b\"]
return = [\"back\"]
rtt = {{ from = \"50 ms\", to = \"60 ms\" }}
packet = \"1000 B\"
control = \"{law}\"
tcp = {{ {tcp} }}
start = {{ from = \"0 s\", to = \"1 s\" }}
[[flows]]
name = \"first\"
count = 2
path = [\"a\"]
rtt = \"20 ms\"
packet = \"1500 B\"
control = \"{law}\"
access = {{ rate = \"12 Mbit/s\", buffer = \"4 packets\" }}
[[flows]]
name = \"other\"
path = [\"b\"]
return = [\"a\"]
rtt = \"33 ms\"
packet = \"500 B\"
[[flows]]
name = \"short\"
count = 4
path = [\"b\"]
rtt = {{ uniform = [\"25 ms\", \"90 ms\"] }}
packet = \"1000 B\"
control = \"{law}\"
start = {{ from = \"0 s\", to = \"6 s\" }}
traffic = {{ kind = \"finite\", size = \"100 kB\" }}
"
            );
            let outcome = equal_once(&format!("{law} {queue} {tcp}"), &text, seed % 3);
            assert!(outcome.flows[..6].iter().all(|flow| flow.sent > 0), "{law} {queue}: all take part");
        }
    }
}

#[test]
fn headers_on_a_link_with_one_size_of_packet_and_injected_loss() {
    for (queue, loss) in
        [("drop-tail", ""), ("xcp", ""), ("xcp", "loss = { every = 50 }"), ("drop-tail", "loss = { random = 0.01 }")]
    {
        for recovery in RECOVERIES {
            let link = format!("queue = \"{queue}\"\n{loss}");
            let more =
                format!("control = \"xcp\"\nrecovery = \"{recovery}\"\nname = \"f\"\n[record]\ntrace = [\"f[2]\"]");
            let outcome = equal(&format!("{queue} {loss} {recovery}"), &dumbbell(4, "30 packets", &link, &more));
            assert_eq!(outcome.traces.len(), 1);
        }
    }
}

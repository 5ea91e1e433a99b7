//! quinn and noq on links whose answers are known without them.

use elephan_quic::laws::Law;
use elephan_quic::simulate::{Choice, Outcome};

const OWN: [&str; 4] = ["quinn/reno", "quinn/cubic", "noq/reno", "noq/cubic"];

/// 40 Mbit/s and 40 ms: 133 packets of 1500 bytes fill the path.
fn link(buffer: u32, flows: u32, law: &str, seed: u32) -> String {
    format!(
        r#"
        duration = "60 s"
        warmup = "10 s"
        seed = {seed}
        [[links]]
        name = "bottleneck"
        rate = "40 Mbit/s"
        delay = "20 ms"
        buffer = "{buffer} packets"
        [[flows]]
        count = {flows}
        path = ["bottleneck"]
        rtt = "40 ms"
        packet = "1500 B"
        start = {{ from = "0 s", to = "1 s" }}
        tcp = "linux"
        control = "{law}"
        "#
    )
}

/// The same for a quarter of a minute.
fn short_link(buffer: u32, flows: u32, law: &str, seed: u32) -> String {
    link(buffer, flows, law, seed).replace("60 s", "15 s").replace("10 s", "5 s")
}

fn run_text(name: &str, text: &str, choice: &Choice) -> Outcome {
    let scenario = scenario::read(text).unwrap();
    Law::named(name).unwrap().run(&scenario, 0, choice).unwrap()
}

fn run(name: &str, buffer: u32, flows: u32) -> Outcome {
    run_text(name, &link(buffer, flows, "reno", 1), &Choice::default())
}

/// The sawtooth of the first flow's window after 10 s: mean period in seconds, and the mean share that a cut leaves.
fn sawtooth(found: &Outcome) -> (f64, f64) {
    let cwnd = &found.flows[0].cwnd[100..];
    let cuts: Vec<usize> = (1..cwnd.len()).filter(|&i| cwnd[i] < 0.93 * cwnd[i - 1]).collect();
    let period = 0.1 * (cuts[cuts.len() - 1] - cuts[0]) as f64 / (cuts.len() - 1) as f64;
    let left = cuts.iter().map(|&i| cwnd[i] / cwnd[i - 1]).sum::<f64>() / cuts.len() as f64;
    (period, left)
}

#[test]
fn a_path_of_buffer_lets_one_flow_use_the_link_all_the_time_and_a_tenth_does_not() {
    for name in OWN {
        let [full, short] = [140, 13].map(|buffer| {
            let text = link(buffer, 1, "reno", 1).replace("60 s", "30 s");
            run_text(name, &text, &Choice::default())
        });
        assert!(full.utilization > 0.995, "{name}: {}", full.utilization);
        // Reno's window halves from 147: 74 of 133 fill a half of the path, and grow; CUBIC keeps seven tenths.
        assert!(short.utilization < 0.97, "{name}: {}", short.utilization);
        // Of 1500 bytes some 1438 are the stream's: 28 of IP and UDP, 16 of the tag, 18 of QUIC. What waits at both
        // ends of the twenty seconds is 0.2 % of what passes in them.
        let share = full.flows[0].goodput_bps / (40e6 * full.utilization);
        assert!((0.955..0.965).contains(&share), "{name}: {share}");
    }
}

#[test]
fn the_sawtooth_is_that_of_its_law() {
    // The window grows by a datagram each round trip from half of W = 133 + 167 + 1 to W, and each round trip takes as
    // long as the window takes to serve: 3/8 W^2 packets at 3333 a second, 10.2 s. A cut lands up to three datagrams
    // beside the half (ACKs come in twos), and it is seen at samples every 0.1 s: 6 %.
    for name in ["quinn/reno", "noq/reno"] {
        let (period, left) = sawtooth(&run(name, 167, 1));
        assert!((9.6..10.8).contains(&period), "{name}: {period}");
        // The sample after a cut is up to 0.1 s old, and growth goes on: two datagrams of 150.
        assert!((0.49..0.54).contains(&left), "{name}: {left}");
    }
    // The null: another law's sawtooth is not in these bands.
    for name in ["quinn/cubic", "noq/cubic"] {
        let (period, left) = sawtooth(&run(name, 167, 1));
        assert!(period < 9.0, "{name}: {period}");
        assert!((0.68..0.75).contains(&left), "{name}: {left}");
    }
}

#[test]
fn elephans_reno_in_noq_is_noqs() {
    let (own, other) = (run("noq/reno", 167, 1), run("noq/elephan", 167, 1));
    let (period, beside) = (sawtooth(&own).0, sawtooth(&other).0);
    // Fewer than five periods in 50 s, each seen to 0.1 s at both ends.
    assert!((beside / period - 1.0).abs() < 0.03, "{period} and {beside}");
    let cubic = run_text("noq/elephan", &link(167, 1, "cubic", 1), &Choice::default());
    assert!((sawtooth(&cubic).0 / period - 1.0).abs() > 0.1);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for name in OWN {
        let once = |seed| run_text(name, &short_link(33, 3, "reno", seed), &Choice::default()).hash.unwrap();
        assert_eq!(once(1), once(1), "{name}");
        assert_ne!(once(1), once(2), "{name}");
    }
}

#[test]
fn what_the_link_drops_is_what_the_stack_takes_for_lost() {
    for name in OWN {
        let text = short_link(33, 1, "reno", 1).replace("warmup = \"5 s\"", "warmup = \"0 s\"");
        let found = run_text(name, &text, &Choice::default());
        // What the last round trip dropped is not known yet.
        let (lost, dropped) = (found.flows[0].lost, found.dropped);
        assert!(dropped > 20 && lost <= dropped && dropped - lost <= 5, "{name}: {lost} of {dropped}");
    }
}

#[test]
fn four_flows_share_the_link() {
    for name in ["quinn/reno", "noq/reno"] {
        let goodput: Vec<f64> = run(name, 167, 4).flows.iter().map(|flow| flow.goodput_bps).collect();
        let (sum, squares) = (goodput.iter().sum::<f64>(), goodput.iter().map(|x| x * x).sum::<f64>());
        // Some fifteen cuts each in 50 s: shares differ by a quarter of a cut's half at most, which is an index of
        // 0.98; two that have all are 0.5.
        assert!(sum * sum / (4.0 * squares) > 0.95, "{name}: {goodput:?}");
    }
}

#[test]
fn noqs_pace_can_be_switched_off_and_nothing_else_with_it() {
    let text = short_link(140, 1, "reno", 1);
    let [paced, unpaced] =
        [false, true].map(|unpaced| run_text("noq/reno", &text, &Choice { unpaced, ..Choice::default() }));
    assert_ne!(paced.hash, unpaced.hash);
    // ACKs come at the rate of the link: a window of a path and a buffer keeps it busy with and without.
    assert!(paced.utilization > 0.99 && unpaced.utilization > 0.99);
}

#[test]
fn what_quic_flows_cannot_cross_is_refused_in_one_line() {
    let base = link(33, 1, "reno", 1);
    let cases = [
        (
            "quinn/cubic",
            base.replace("delay = \"20 ms\"", "delay = \"20 ms\"\nloss = { random = 0.1 }"),
            "links[0]: must be one link with a queue and nothing else",
        ),
        (
            "noq/cubic",
            base.replace("path = [", "traffic = { kind = \"poisson\", rate = \"1 Mbit/s\" }\npath = [")
                .replace("tcp = \"linux\"\n        control = \"reno\"", ""),
            "flows[0].traffic: must be bulk",
        ),
        (
            "noq/elephan",
            base.replace("\"reno\"", "\"bbr3\""),
            "flows[0].control: must be a law that needs no delivery rates, such as cubic",
        ),
    ];
    for (name, text, said) in cases {
        let scenario = scenario::read(&text).unwrap();
        assert_eq!(Law::named(name).unwrap().run(&scenario, 0, &Choice::default()).unwrap_err(), said);
    }
    let unpaced = Choice { unpaced: true, ..Choice::default() };
    let scenario = scenario::read(&base).unwrap();
    assert!(Law::named("quinn/reno").unwrap().run(&scenario, 0, &unpaced).unwrap_err().starts_with("--unpaced: "));
    assert!(Law::named("s2n/cubic").unwrap().run(&scenario, 0, &unpaced).unwrap_err().starts_with("--law: "));
}

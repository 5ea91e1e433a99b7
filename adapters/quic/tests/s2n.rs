//! s2n-quic's controllers as laws in elephan's sender.

use elephan_quic::laws::Law;
use elephan_quic::simulate::{Choice, Outcome};

fn run(name: &str, more: &str) -> Outcome {
    run_flows(name, 167, 1, more)
}

fn run_flows(name: &str, buffer: u32, flows: u32, more: &str) -> Outcome {
    let text = format!(
        r#"
        duration = "60 s"
        warmup = "10 s"
        [[links]]
        name = "bottleneck"
        rate = "40 Mbit/s"
        delay = "20 ms"
        buffer = "{buffer} packets"
        {more}
        [[flows]]
        count = {flows}
        path = ["bottleneck"]
        rtt = "40 ms"
        packet = "1500 B"
        recovery = "rack"
        tcp = "linux"
        "#
    );
    Law::named(name).unwrap().run(&scenario::read(&text).unwrap(), 0, &Choice::default()).unwrap()
}

#[test]
fn cubic_gives_up_three_tenths_and_fills_the_link() {
    let found = run("s2n/cubic", "");
    assert!(found.utilization > 0.999);
    let cwnd = &found.flows[0].cwnd[100..];
    let cuts: Vec<f64> = cwnd.windows(2).map(|pair| pair[1] / pair[0]).filter(|left| *left < 0.93).collect();
    // RFC 8312: 0.7 of the window before; the sample before the cut is up to 0.1 s old, when the window was a little
    // smaller.
    assert!(cuts.len() > 3 && cuts.iter().all(|left| (0.68..0.75).contains(left)), "{cuts:?}");
}

#[test]
fn bbr_keeps_two_paths_in_flight_and_probes_for_the_round_trip() {
    let found = run("s2n/bbr", "");
    let (cubic, cwnd) = (run("s2n/cubic", ""), &found.flows[0].cwnd[100..]);
    let mut sorted = cwnd.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Twice 40 ms at 40 Mbit/s is 267 segments; its margin and quanta of ten segments add some.
    let median = sorted[sorted.len() / 2];
    assert!((255.0..295.0).contains(&median), "{median}");
    // Half of a path while it probes for the round-trip time: every five seconds, for 200 ms.
    assert!((60.0..75.0).contains(&sorted[0]), "{}", sorted[0]);
    assert!(found.utilization > 0.95 && found.queueing_delay_s < 0.6 * cubic.queueing_delay_s);
    assert_eq!(found.dropped, 0);
}

#[test]
fn the_same_seed_gives_the_same_windows() {
    for name in ["s2n/cubic", "s2n/bbr"] {
        let loss = "loss = { random = 0.001 }";
        assert_eq!(run(name, loss).flows[0].cwnd, run(name, loss).flows[0].cwnd, "{name}");
    }
}

#[test]
fn goes_on_through_losses_timeouts_and_silence() {
    // What s2n counts is checked by it all the while: bytes in flight never fall below nothing, times never go back.
    for name in ["s2n/cubic", "s2n/bbr"] {
        for loss in ["{ random = 0.02 }", "{ random = 0.2 }", "{ random = 0.999, during = [[\"20 s\", \"23 s\"]] }"] {
            let found = run(name, &format!("loss = {loss}"));
            assert!(found.flows[0].sent > 500, "{name}, {loss}");
        }
    }
    // Probes of four flows overflow a short buffer again and again.
    assert!(run_flows("s2n/bbr", 33, 4, "").dropped > 100);
    // Three seconds of silence, and as long again until a timer that has doubled expires, are 12 % of the measured
    // time; then the window grows from two datagrams.
    let after = run("s2n/cubic", "loss = { random = 0.999, during = [[\"20 s\", \"23 s\"]] }");
    assert!(after.utilization > 0.8, "{}", after.utilization);
}

#[test]
fn marks_slow_cubic_down_without_loss() {
    let found = run("s2n/cubic", "queue = { discipline = \"codel\", ecn = true }");
    let drops = run("s2n/cubic", "queue = \"codel\"");
    assert!(found.queueing_delay_s < 0.02 && drops.queueing_delay_s < 0.02);
}

//! Receive windows that grow, against arithmetic: what a limit leaves of a link, that slow start is not held back, and how a
//! window grows that does hold a sender back.
//!
//! Source: Linux 6.12, `tcp_rcv_space_adjust` and `tcp_grow_window` (the constants); the sums are written here.

use sim::{Engine, Options, Outcome, simulate};

/// Runs one flow with timestamps over a path of 100 ms.
fn run(rate: &str, [warmup, duration]: [u32; 2], tcp: &str) -> Outcome {
    let text = format!(
        r#"
duration = "{duration} ms"
warmup = "{warmup} ms"
[[links]]
name = "l"
rate = "{rate}"
delay = "50 ms"
buffer = "2 bdp"
[[flows]]
path = ["l"]
rtt = "100 ms"
packet = "1500 B"
tcp = {{ header = "52 B", {tcp} }}
"#
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    simulate(&scenario, 0, options).expect("small")
}

fn utilization(window: &str) -> f64 {
    let outcome = run("100 Mbit/s", [8_000, 12_000], &format!("initial_window = 10, receive_window = {window}"));
    outcome.links[0].utilization
}

#[test]
fn a_flow_uses_of_a_link_what_the_largest_window_is_of_its_round_trip() {
    for (max_kib, share) in [(256.0, 0.5), (512.0, 0.5), (512.0, 0.25), (1024.0, 0.8_f64)] {
        let used = utilization(&format!("{{ max = \"{max_kib} KiB\", share = {share} }}"));
        let segments = (share * max_kib * 1024.0 / 1448.0).floor();
        // A round trip takes the link's 100 ms and the time of a packet.
        let expected = segments * 1500.0 * 8.0 / (100e6 * (0.1 + 12e-5));
        // A round trip more or less in four seconds of them is 2.5 %, but it repeats to the packet.
        assert!((used / expected - 1.0).abs() < 0.002, "{max_kib} KiB, {share}: {used:.4} for {expected:.4}");
    }
    // Nulls: without a limit, and with one above the path and its buffer, the link is full.
    for window in ["\"none\"", "\"linux\"", "{ max = \"32 MiB\" }"] {
        let used = utilization(window);
        assert!(used > 0.99, "{window}: {used}");
    }
}

/// Packets delivered in `round_trips` round trips to a flow on an empty link.
fn delivered(round_trips: u32, tcp: &str) -> u64 {
    // Flight k arrives from 50 + 100 k ms on and takes less than 40 ms at this rate.
    run("10 Gbit/s", [0, 100 * round_trips - 5], tcp).balance.delivered
}

#[test]
fn slow_start_is_not_held_back_while_it_doubles() {
    let window = |text: &str| format!("initial_window = 10, receive_window = {text}");
    for k in 1..=10 {
        let doubled = 10 * ((1 << k) - 1);
        assert_eq!(delivered(k, &window("\"none\"")), doubled, "{k}");
        assert_eq!(delivered(k, &window("{ max = \"64 MiB\" }")), doubled, "{k}");
    }
    // A null: half of 128 KiB for good lets through 45 segments in each round trip.
    let held = delivered(10, &window("{ max = \"128 KiB\" }"));
    assert_eq!(held, 10 + 20 + 40 + 7 * 45);
}

#[test]
fn a_window_that_holds_a_sender_back_triples() {
    // Its sender could send a thousand at once. The first segment of the second flight gives the receiver its round-trip time, and
    // 46 in it after 10 make room for 884 at once. Every segment after it adds two to the window and frees one: three leave.
    let tcp = "initial_window = 1000, initial_ssthresh = 2, receive_window = { max = \"64 MiB\" }";
    let flights = [45, 45, 45 + 2 * 44, 3 * (45 + 2 * 44)];
    for k in 1..=4 {
        assert_eq!(delivered(k, tcp), flights[..k as usize].iter().sum::<u64>(), "{k} round trips");
    }
}

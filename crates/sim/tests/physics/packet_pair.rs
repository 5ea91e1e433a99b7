//! Packet-pair rate control behind round-robin service: fair shares, backlogs at the setpoint, no losses.

use sim::{Engine, Options, Outcome, simulate};

/// `flows` of 50 ms over 100 Mbit/s, 625 packets of 1000 bytes per round trip.
fn run(setpoint: u32, flows: u32, more: &str) -> Outcome {
    let text = format!(
        r#"
duration = "40 s"
warmup = "20 s"
[[links]]
name = "l"
rate = "100 Mbit/s"
delay = "20 ms"
buffer = "200 packets"
queue = "drr"
[[flows]]
name = "f"
count = {flows}
path = ["l"]
rtt = "50 ms"
packet = "1000 B"
control = {{ law = "packet-pair", setpoint = {setpoint} }}
start = {{ from = "0 s", to = "5 s" }}
access = {{ rate = "1 Gbit/s" }}
{more}
"#
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    simulate(&scenario, 0, Options { engine: Engine::Window, series: true, hash: false, ..Options::default() })
        .expect("small")
}

/// Goodputs in Mbit/s and the mean backlog per flow; nothing may be lost, and the link must be full.
fn in_steady_state(outcome: &Outcome) -> (Vec<f64>, f64) {
    let link = &outcome.links[0];
    assert_eq!(link.dropped.iter().sum::<u64>(), 0);
    assert!(link.utilization > 0.999, "with a backlog the link never idles: {}", link.utilization);
    let shares: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_bps / 1e6).collect();
    (shares, link.backlog_mean / outcome.flows.len() as f64)
}

#[test]
fn one_flow_fills_the_link_and_keeps_five_packets_waiting() {
    let (shares, backlog) = in_steady_state(&run(5, 1, ""));
    assert!((shares[0] - 100.0).abs() < 0.1, "{shares:?}");
    // The setpoint counts the packet in service, and pairs come two at a time.
    assert!((backlog - 5.0).abs() < 1.0, "{backlog}");
}

#[test]
fn flows_have_equal_shares_and_five_packets_each() {
    for flows in [4, 16] {
        let (shares, backlog) = in_steady_state(&run(5, flows, ""));
        let fair = 100.0 / f64::from(flows);
        // The server is fair; all that is needed of the flows is that they always have something waiting.
        assert!(shares.iter().all(|x| (x / fair - 1.0).abs() < 0.001), "{shares:?}");
        // One service of all others belongs to the smallest round trip of some flows and not of others.
        assert!((backlog - 5.0).abs() < 1.5, "{backlog}");
    }
}

#[test]
fn the_setpoint_is_what_waits() {
    let (_, backlog) = in_steady_state(&run(20, 4, ""));
    // As above, with deeper queues at the start of those that come later.
    assert!((backlog - 20.0).abs() < 3.0, "{backlog}");
}

#[test]
fn bursts_do_for_pairs_where_acks_are_delayed_and_jitter_does_not_matter() {
    for more in ["tcp = { delayed_ack = 2 }", "tcp = { send_jitter = \"100 us\" }"] {
        let (shares, _) = in_steady_state(&run(5, 4, more));
        assert!(shares.iter().all(|x| (x / 25.0 - 1.0).abs() < 0.01), "{more}: {shares:?}");
    }
}

#[test]
fn shares_are_found_again_when_flows_leave() {
    let more = "[[flows]]\nname = \"guests\"\ncount = 3\npath = [\"l\"]\nrtt = \"50 ms\"\npacket = \"1000 B\"\n\
                control = \"packet-pair\"\nstop = \"10 s\"\naccess = { rate = \"1 Gbit/s\" }";
    let (shares, backlog) = in_steady_state(&run(5, 1, more));
    assert!((shares[0] - 100.0).abs() < 0.1, "{shares:?}");
    // Per flow of four, of which one is left.
    assert!((4.0 * backlog - 5.0).abs() < 1.0, "{backlog}");
}

//! Hashes over every arrival and every ACK of a few runs, so that every change of the physics is noticed. A change is
//! reviewed: which sentence of which source justifies the new numbers?

use sim::{Engine, Options, simulate};
use std::fmt::Write;

#[test]
fn the_physics_are_pinned() {
    let mut text = String::new();
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        for law in ["reno", "highspeed"] {
            let scenario = scenario::read(&format!(
                r#"
duration = "20 s"
warmup = "5 s"
[[links]]
name = "l"
rate = "100 Mbit/s"
delay = "20 ms"
buffer = "120 packets"
[[flows]]
count = 4
path = ["l"]
rtt = {{ from = "50 ms", to = "70 ms" }}
packet = "1000 B"
access = {{ rate = "1 Gbit/s" }}
control = {{ law = "{law}" }}
recovery = "{recovery}"
start = {{ from = "0 s", to = "1 s" }}
tcp = {{ send_jitter = "80 us" }}
"#
            ))
            .expect("valid");
            let options = Options { engine: Engine::Window, series: false, hash: true, ..Options::default() };
            let outcome = simulate(&scenario, 0, options).expect("small");
            let (link, timeouts) = (&outcome.links[0], outcome.flows.iter().map(|f| f.timeouts).sum::<u64>());
            let _ = writeln!(
                text,
                "{recovery} {law}: {:016x}, delivered {}, dropped {}, utilisation {:.4}, backlog {:.2}, timeouts {timeouts}",
                outcome.hash, outcome.balance.delivered, outcome.balance.dropped, link.utilization, link.backlog_mean,
            );
        }
    }
    insta::assert_snapshot!(text);
}

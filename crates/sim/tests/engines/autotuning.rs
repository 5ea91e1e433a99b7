//! Receive windows that grow: both engines agree for every law, recovery, pace and offload, whether they come to their end or not.

use crate::equality::{dumbbell, equal};
use crate::products::{laws_and_recoveries, marked_at_twelve};
use transport::Recovery;

/// Windows that hold a flow back for good, for a while, and never.
const WINDOWS: [&str; 4] = [
    "{ initial = \"4096 B\", max = \"14 kB\" }",
    "{ initial = \"4096 B\", max = \"200 kB\" }",
    "{ initial = \"4096 B\", max = \"1 GiB\", share = 0.9 }",
    "\"linux\"",
];

#[test]
fn every_law_with_every_recovery_and_a_growing_window() {
    for (law, recovery, _) in laws_and_recoveries() {
        let r = Recovery::ALL.iter().position(|row| row.1 == recovery).expect("listed");
        // Each window with every law, and with every other recovery.
        for (k, window) in WINDOWS.iter().enumerate().filter(|(k, _)| (r + k) % 2 == 0) {
            let more = format!(
                "control = {{ law = \"{law}\" }}\nrecovery = \"{recovery}\"\ntcp = {{ receive_window = {window}, delayed_ack = {} }}",
                1 + k / 2
            );
            equal(&format!("{law} {recovery} {window}"), &marked_at_twelve(&more));
        }
    }
}

#[test]
fn growing_windows_with_jitter_paces_offload_and_queued_acks() {
    for window in WINDOWS {
        for more in [
            "tcp = { receive_window = W, send_jitter = \"300 us\" }",
            "tcp = { receive_window = W, pacing = \"linux\" }\naccess = { rate = \"11 Mbit/s\", buffer = \"3 packets\" }",
            "tcp = { receive_window = W, ecn = \"on\", initial_window = 10, min_rto = \"200 ms\" }\nrecovery = \"rack\"",
            "tcp = { receive_window = W, burst = 4, receive_offload = { segments = 5, wait = \"700 us\" }, delayed_ack = 2 }",
            "tcp = { receive_window = W }\ntraffic = \"request-response\"",
        ] {
            let more = more.replace('W', window);
            equal(&more, &dumbbell(5, "15 packets", "loss = { random = 1e-3 }", &more));
            // ACKs that are lost: what they say of the window must be said again.
            let back =
                "[[links]]\nname = \"b\"\nrate = \"400 kbit/s\"\nbuffer = \"20 packets\"\nloss = { random = 0.2 }";
            equal(&more, &dumbbell(5, "15 packets", back, &format!("return = [\"b\"]\n{more}")));
        }
    }
}

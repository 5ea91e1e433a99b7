//! A million transfers in one run: memory follows what is open, not what has been. Alone in its file, so that the process's
//! peak is its own.

extern crate elephan_sim as sim;

use sim::{Engine, Options, simulate};

const TEXT: &str = r#"
duration = "910 s"
warmup = "10 s"
[[links]]
name = "l"
rate = "100 Mbit/s"
buffer = "100 packets"
[[flows]]
count = 10
path = ["l"]
rtt = { from = "30 ms", to = "120 ms" }
packet = "1000 B"
access = { rate = "10 Mbit/s" }
traffic = { kind = "elastic", load = 0.8, size = "8 kB", places = 100 }
"#;

/// Peak resident memory of this process in kB, where the system tells.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok())
}

#[test]
fn memory_follows_what_is_open() {
    let scenario = scenario::read(TEXT).unwrap_or_else(|e| panic!("{e}"));
    let before = peak_kb();
    let options = Options { engine: Engine::Window, series: false, hash: false, ..Options::default() };
    let outcome = simulate(&scenario, 0, options).expect("small");
    let transfers = outcome.transfers[0].as_ref().expect("transfers end");
    assert!(transfers.opened > 1_000_000, "{}", transfers.opened);
    assert!(transfers.completed + 1000 > transfers.opened, "the rest is open when the run ends");
    assert_eq!(transfers.refused, 0);
    // A thousand places of 1.5 kB at most, and a few windows of records; sixteen bytes for each transfer would be 16 MB.
    if let (Some(before), Some(after)) = (before, peak_kb()) {
        assert!(after - before < 8_000, "{} kB", after - before);
    }
}

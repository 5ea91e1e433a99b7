//! Utilization and drops by buffer size: `cargo run --release -p elephan --example sizes`.

const SCENARIO: &str = r#"
duration = "30 s"
warmup   = "10 s"

[[links]]
name   = "core"
rate   = "100 Mbit/s"
delay  = "10 ms"
buffer = "BUFFER packets"

[[flows]]
name    = "bulk"
count   = 4
path    = ["core"]
rtt     = { from = "38 ms", to = "42 ms" }
control = "cubic"
"#;

fn main() -> Result<(), elephan::Error> {
    println!("{:>8} {:>12} {:>8}", "packets", "utilization", "dropped");
    for buffer in [10, 30, 100, 300] {
        let scenario = elephan::read(&SCENARIO.replace("BUFFER", &buffer.to_string()))?;
        let outcome = elephan::simulate(&scenario, 0)?;
        let link = &outcome.links[0];
        println!("{buffer:>8} {:>12.3} {:>8}", link.utilization, link.dropped.iter().sum::<u64>());
    }
    Ok(())
}

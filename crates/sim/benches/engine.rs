//! The engines on a dumbbell of ten HighSpeed flows, and the memory floor: time per delivered packet.

extern crate elephan_sim as sim;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim::{Engine, Options, RunMonitor, memory_floor, simulate};
use std::hint::black_box;

fn dumbbell(duration: &str, flows: u32, law: &str) -> scenario::Scenario {
    scenario::read(&format!(
        r#"
duration = "{duration}"
[[links]]
name = "l"
rate = "1 Gbit/s"
delay = "50 ms"
buffer = "1250 packets"
[[flows]]
count = {flows}
path = ["l"]
rtt = {{ from = "115.5 ms", to = "124.5 ms" }}
packet = "1000 B"
access = {{ rate = "10 Gbit/s" }}
control = {{ law = "{law}", slow_start = "limited" }}
start = {{ from = "0 s", to = "1 s" }}
"#
    ))
    .expect("valid")
}

fn engines(c: &mut Criterion) {
    let mut group = c.benchmark_group("dumbbell");
    group.sample_size(10);
    for (name, engine, duration, flows, law) in [
        ("window, 10 highspeed", Engine::Window, "10 s", 10, "highspeed"),
        ("window, 100 reno", Engine::Window, "10 s", 100, "reno"),
        ("reference, 10 highspeed", Engine::Reference, "2 s", 10, "highspeed"),
    ] {
        let scenario = dumbbell(duration, flows, law);
        let options = Options { engine, ..Options::default() };
        let delivered = simulate(&scenario, 0, options).expect("small").balance.delivered;
        group.throughput(Throughput::Elements(delivered));
        group.bench_function(name, |b| b.iter(|| simulate(black_box(&scenario), 0, options)));
    }
    group.throughput(Throughput::Elements(1_000_000));
    group.bench_function("memory floor", |b| {
        b.iter(|| memory_floor(black_box(1_000_000), 16_250, 10, &RunMonitor::default()));
    });
    group.finish();
}

criterion_group!(benches, engines);
criterion_main!(benches);

//! Benchmark of a packet's way into and out of each discipline, with few and with many flows: a buffer of 12,500
//! packets, 40 % full, and arrivals of random flows.

extern crate elephan_queue as queue;

use base::{Cause, Rate, Stream, Time};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use queue::{Fates, Limit, Packet, Port, QUEUES, QueueDiscipline, QueueSpec};
use std::hint::black_box;

struct Nobody;

impl Fates for Nobody {
    fn dropped(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
    fn marked(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
}

fn disciplines(c: &mut Criterion) {
    for entry in QUEUES {
        let mut group = c.benchmark_group(entry.card.name);
        for flows in [10u64, 100, 10_000] {
            let port = Port::new(Limit::Packets(12_500), Rate(10_000_000_000), 1000.0);
            let spec = QueueSpec::named(entry.card.name).expect("registered");
            let mut queue = spec.build(&port, Stream::new(1, 0, ("link", 0), "queue")).expect("defaults are valid");
            let mut chance = Stream::new(1, 0, ("bench", 0), "flows");
            // A kilobyte at 10 Gbit/s takes 800 ns.
            let mut now = Time(1);
            let mut packet = |now| Packet::new(chance.below(flows) as u32, 0, 1000, now);
            for _ in 0..5000 {
                queue.enqueue(packet(now), None, &mut Nobody);
            }
            group.bench_function(BenchmarkId::from_parameter(flows), |b| {
                b.iter(|| {
                    now.0 += 800_000;
                    queue.enqueue(black_box(packet(now)), None, &mut Nobody);
                    black_box(queue.dequeue(now, &mut Nobody))
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, disciplines);
criterion_main!(benches);

//! What an ACK costs every law, when each is taken singly: the upper bound of what the step cache saves.

use base::{Span, Time};
use criterion::{Criterion, criterion_group, criterion_main};
use law::{AckSample, CongestionControl, LAWS, LawSpec, StartSpec};
use std::hint::black_box;

fn laws(c: &mut Criterion) {
    let mut group = c.benchmark_group("on_ack");
    for entry in LAWS {
        let law = LawSpec::named(entry.card.name).expect("registered");
        let start = StartSpec::named("classic").expect("registered");
        let mut control = law.build(&start, 1500.0, 2.0).expect("defaults");
        let ack = AckSample { in_flight: 1500.0, ..AckSample::plain(Time(0), Span::millis(100)) };
        group.bench_function(entry.card.name, |b| b.iter(|| control.on_ack(black_box(&ack))));
    }
    group.finish();
}

criterion_group!(benches, laws);
criterion_main!(benches);

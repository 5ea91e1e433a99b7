//! What an ACK costs every law, when each is taken singly: the upper bound of what the step cache saves.

use base::{Span, Time};
use criterion::{Criterion, criterion_group, criterion_main};
use law::{AckSample, CongestionControl, LAWS, LawSpec, StartSpec, Windowed};
use std::hint::black_box;

fn laws(c: &mut Criterion) {
    let mut group = c.benchmark_group("on_ack");
    for entry in LAWS {
        let law = LawSpec::named(entry.card.name).expect("registered").build().expect("defaults");
        let start = StartSpec::named("classic").expect("registered").build().expect("defaults");
        let mut control = Windowed::new(law, start, 1500.0, 2.0);
        let rtt = Span::millis(100);
        let ack = AckSample {
            now: Time(0),
            acked: 1.0,
            ce_marked: 0.0,
            rtt: None,
            srtt: rtt,
            min_rtt: rtt,
            in_flight: 1500.0,
            cwnd_limited: true,
        };
        group.bench_function(entry.card.name, |b| b.iter(|| control.on_ack(black_box(&ack))));
    }
    group.finish();
}

criterion_group!(benches, laws);
criterion_main!(benches);

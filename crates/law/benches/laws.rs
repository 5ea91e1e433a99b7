//! Benchmark of the ACK processing of every law, one ACK at a time: the upper bound of what the step cache saves.

extern crate elephan_law as law;

use base::{Span, Time};
use criterion::{Criterion, criterion_group, criterion_main};
use law::{AckSample, CongestionControl, Delivery, LAWS, LawSpec, StartSpec};
use std::hint::black_box;

fn laws(c: &mut Criterion) {
    let mut group = c.benchmark_group("on_ack");
    for entry in LAWS {
        let law = LawSpec::named(entry.card.name).expect("registered");
        let start = StartSpec::named("classic").expect("registered");
        let mut control = law.build(&start, 1500.0, 2.0).expect("defaults");
        if control.needs().deliveries {
            continue;
        }
        let ack = AckSample { in_flight: 1500.0, ..AckSample::plain(Time(0), Span::millis(100)) };
        group.bench_function(entry.card.name, |b| b.iter(|| control.on_ack(black_box(&ack))));
    }
    group.finish();
}

/// The same for those that rule their window by deliveries: 10,000 segments per second, 1000 in flight.
fn controllers(c: &mut Criterion) {
    let mut group = c.benchmark_group("on_delivery");
    for entry in LAWS {
        let law = LawSpec::named(entry.card.name).expect("registered");
        let start = StartSpec::named("classic").expect("registered");
        let mut control = law.build(&start, 10.0, f64::INFINITY).expect("defaults");
        if !control.needs().deliveries {
            continue;
        }
        let (mut now, mut delivered) = (Time::ZERO, 1000u64);
        group.bench_function(entry.card.name, |b| {
            b.iter(|| {
                now += Span::micros(100);
                delivered += 1;
                control.on_delivery(black_box(&Delivery {
                    now,
                    newly_delivered: 1.0,
                    newly_lost: 0.0,
                    delivered,
                    prior_delivered: delivered - 1000,
                    interval: Some(Span::millis(100)),
                    app_limited: false,
                    rtt: Some(Span::millis(100)),
                    min_rtt: Span::millis(100),
                    prior_in_flight: 1000.0,
                    in_flight: 999.0,
                    tx_in_flight: 1000.0,
                    lost: 0.0,
                    recovering: false,
                }));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, laws, controllers);
criterion_main!(benches);

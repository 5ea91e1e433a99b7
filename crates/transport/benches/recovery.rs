//! Benchmark of ACK processing in SACK recovery: the receiver's runs, the scoreboard, the choice of the next segment.

extern crate elephan_transport as transport;

use base::{Flags, Time};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use transport::{Ack, Receiver, Scoreboard};

/// A window of `n` segments of which every fifth is lost, acknowledged segment by segment.
fn repair(n: u64) -> u64 {
    let (mut receiver, mut ack) = (Receiver::new(1, base::Span::ZERO, 1), Ack::NONE);
    let mut board = Scoreboard::default();
    board.begin_recovery(0);
    let mut sent = 0;
    for seq in (0..n).filter(|seq| seq % 5 != 0) {
        receiver.on_segment(Time(seq), seq, Flags::NONE, &mut ack);
        board.update(0, &ack, |_, _| {});
        if u64::from(board.pipe(0, n)) < n / 2
            && let Some(lost) = board.next_lost()
        {
            board.on_retransmit(lost);
            sent += 1;
        }
    }
    sent
}

fn recovery(c: &mut Criterion) {
    let mut group = c.benchmark_group("recovery");
    for n in [100, 10_000, 100_000] {
        group.throughput(Throughput::Elements(n));
        group.bench_function(format!("window of {n}"), |b| b.iter(|| repair(black_box(n))));
    }
    group.finish();
}

criterion_group!(benches, recovery);
criterion_main!(benches);

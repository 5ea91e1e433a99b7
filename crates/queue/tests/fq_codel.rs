//! FQ-CoDel as RFC 8290 describes it: the order of service, and the choice of packets to drop.

extern crate elephan_queue as queue;

use base::{Amount, Bytes, Cause, Flags, ParamError, Rate, Span, Stream, Time};
use queue::fq_codel::{FqCodel, Params};
use queue::{Fates, Limit, Packet, Port, QueueDiscipline, Rule};

#[derive(Default)]
struct Ledger {
    /// Flow, token and cause.
    dropped: Vec<(u32, u32, Cause)>,
    marked: usize,
}

impl Fates for Ledger {
    fn dropped(&mut self, packet: &Packet, cause: Cause, _: Time) {
        self.dropped.push((packet.flow, packet.token, cause));
    }
    fn marked(&mut self, _: &Packet, _: Cause, _: Time) {
        self.marked += 1;
    }
}

fn resolved(mut params: Params, port: &Port) -> Params {
    params.resolve(&port.scale()).unwrap();
    FqCodel::resolve(&mut params, port).unwrap();
    params
}

fn build(params: Params, limit: Limit, seed: u64) -> Result<FqCodel, ParamError> {
    let port = Port::new(limit, Rate(8_000_000), 1000.0);
    FqCodel::new(&resolved(params, &port), &port, Stream::new(seed, 0, ("link", 0), "queue"))
}

fn queue(params: Params, limit: Limit) -> FqCodel {
    build(params, limit, 1).unwrap()
}

fn gauge(queue: &FqCodel, name: &str) -> f64 {
    let mut found = f64::NAN;
    queue.gauges(&mut |gauge, x| {
        if gauge == name {
            found = x;
        }
    });
    found
}

/// `n` packets of `flow`, numbered from 0, all at once.
fn fill(queue: &mut FqCodel, flow: u32, n: u32, size: u32, fates: &mut Ledger) {
    for token in 0..n {
        queue.enqueue(Packet::new(flow, token, size, Time::ZERO), None, fates);
    }
}

/// The flows of the next `n` packets to go.
fn serve(queue: &mut FqCodel, n: usize, fates: &mut Ledger) -> Vec<u32> {
    (0..n).map(|_| queue.dequeue(Time::ZERO, fates).unwrap().flow).collect()
}

#[test]
fn serves_by_quanta_of_bytes() {
    let params = Params { quantum: Amount::Bytes(1500), ..Params::default() };
    let (mut queue, mut fates) = (queue(params, Limit::Packets(100)), Ledger::default());
    for flow in [0, 1] {
        fill(&mut queue, flow, 6, 1000, &mut fates);
    }
    assert_eq!(gauge(&queue, "queues"), 2.0, "the two flows do not share a queue");
    // Served while the deficit is above 0: 1500, 500, -500 are two packets; then -500 + 1500 = 1000, 0 is one; again.
    assert_eq!(serve(&mut queue, 12, &mut fates), [0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1]);
    assert_eq!(queue.dequeue(Time::ZERO, &mut fates), None);
    assert_eq!(gauge(&queue, "queues"), 0.0);
}

#[test]
fn serves_a_sparse_flow_before_bulk_but_not_twice_in_a_row() {
    let (mut queue, mut fates) = (queue(Params::default(), Limit::Packets(100)), Ledger::default());
    fill(&mut queue, 0, 20, 1000, &mut fates);
    // 1514, 514, -486: bulk is among the old from the third packet on, with 1028 bytes to send.
    assert_eq!(serve(&mut queue, 3, &mut fates), [0, 0, 0]);
    fill(&mut queue, 1, 1, 100, &mut fates);
    assert_eq!(serve(&mut queue, 1, &mut fates), [1]);
    // The sparse queue is empty and joins the old ones when its turn comes again; a packet that comes then has to wait
    // for the turn of the bulk (28 bytes left are one packet more: 28 - 1000 = -972).
    assert_eq!(serve(&mut queue, 1, &mut fates), [0]);
    fill(&mut queue, 1, 1, 100, &mut fates);
    assert_eq!(serve(&mut queue, 2, &mut fates), [1, 0]);
}

#[test]
fn takes_half_of_the_fattest_flow_from_its_head() {
    let (mut queue, mut fates) = (queue(Params::default(), Limit::Packets(100)), Ledger::default());
    // 61 packets are more than 39 and 1; the bytes decide: 39 of 1500 are 58500, more than 61 of 900, 54900.
    fill(&mut queue, 0, 61, 900, &mut fates);
    fill(&mut queue, 1, 39, 1500, &mut fates);
    assert_eq!(fates.dropped, []);
    fill(&mut queue, 2, 1, 100, &mut fates);
    let first_20: Vec<_> = (0..20).map(|token| (1, token, Cause::Overflow)).collect();
    assert_eq!(fates.dropped, first_20);
    assert_eq!(queue.backlog().packets, 81);
}

#[test]
fn takes_no_more_than_a_batch() {
    for (batch, taken) in [(64, 64), (1, 1), (1000, 151)] {
        let params = Params { drop_batch_size: batch, ..Params::default() };
        let (mut queue, mut fates) = (queue(params, Limit::Packets(300)), Ledger::default());
        fill(&mut queue, 0, 301, 1000, &mut fates);
        assert_eq!(fates.dropped.len(), taken);
    }
}

#[test]
fn holds_both_limits() {
    let params = Params { memory_limit: Amount::Bytes(50_000), drop_batch_size: 1, ..Params::default() };
    let (mut queue, mut fates) = (queue(params, Limit::Packets(100)), Ledger::default());
    fill(&mut queue, 0, 60, 1000, &mut fates);
    assert_eq!(queue.backlog().bytes, Bytes(50_000));
    fill(&mut queue, 1, 90, 40, &mut fates);
    assert_eq!((queue.backlog().packets, queue.backlog().bytes.0 <= 50_000), (100, true));
    assert_eq!(fates.dropped.len(), 50);
}

#[test]
fn drops_and_marks_by_the_delay_of_each_flow() {
    let (mut queue, mut fates) = (queue(Params::default(), Limit::Packets(1000)), Ledger::default());
    fill(&mut queue, 0, 200, 1000, &mut fates);
    for token in 0..200 {
        queue.enqueue(Packet::new(1, token, 1000, Time::ZERO).with(Flags::ECT), None, &mut fates);
    }
    for ms in 0..190 {
        let now = Time::ZERO + Span::millis(ms);
        if ms % 10 == 0 {
            queue.enqueue(Packet::new(2, ms as u32, 100, now), None, &mut fates);
        }
        assert!(queue.dequeue(now, &mut fates).is_some());
    }
    // The bulks are above target from their first turn after 5 ms, and so have a first drop and a first mark shortly after
    // 105 ms, the second 100 ms later; the third flow waits for a packet or two.
    let flows: Vec<_> = fates.dropped.iter().map(|(flow, _, cause)| (*flow, *cause)).collect();
    assert_eq!(flows, [(0, Cause::Sojourn)]);
    assert_eq!(fates.marked, 1);
    assert_eq!(gauge(&queue, "dropping"), 2.0);
}

#[test]
fn flows_in_one_queue_share_its_order() {
    let (mut queue, mut fates) =
        (queue(Params { flows: 1, ..Params::default() }, Limit::Packets(100)), Ledger::default());
    for (token, flow) in [3, 1, 2, 1, 3].into_iter().enumerate() {
        queue.enqueue(Packet::new(flow, token as u32, 1000, Time::ZERO), None, &mut fates);
    }
    assert_eq!(serve(&mut queue, 5, &mut fates), [3, 1, 2, 1, 3]);
}

#[test]
fn the_seed_draws_the_hash() {
    let occupied = |seed| {
        let (mut queue, mut fates) = (build(Params::default(), Limit::Unlimited, seed).unwrap(), Ledger::default());
        for flow in 0..1024 {
            fill(&mut queue, flow, 1, 1000, &mut fates);
        }
        gauge(&queue, "queues")
    };
    assert_eq!(occupied(1), occupied(1));
    let counts: Vec<f64> = (0..20).map(occupied).collect();
    assert!(counts.iter().any(|n| *n != counts[0]));
    let mean = counts.iter().sum::<f64>() / 20.0;
    // 1024 flows at random leave 1024 (1 - 1/1024)^1024 queues empty, 376.5; the occupied ones have a standard deviation
    // of 10 (1024 (1/e - 2/e^2) = 99.6 squared), of 2.2 over 20 seeds.
    assert!((mean - 647.5).abs() < 4.0 * 2.2, "{mean}");
}

#[test]
fn refuses_what_it_cannot_use() {
    let field = |params| build(params, Limit::Packets(10), 1).unwrap_err().field;
    assert_eq!(field(Params { flows: 0, ..Params::default() }), "flows");
    assert_eq!(field(Params { drop_batch_size: 0, ..Params::default() }), "drop_batch_size");
    assert_eq!(field(Params { quantum: Amount::Packets(0.0), ..Params::default() }), "quantum");
    assert_eq!(field(Params { interval: Span::ZERO, ..Params::default() }), "interval");
}

#[test]
fn is_said_in_the_words_of_tc() {
    let port = Port::new(Limit::Packets(10_240), Rate(8_000_000), 1000.0);
    let words = FqCodel::tc(&resolved(Params::default(), &port), &port).unwrap();
    assert_eq!(words, "fq_codel limit 10240 flows 1024 quantum 1514 target 5000us interval 100000us ecn drop_batch 64");
    let params = Params { ce_threshold: Span::millis(1), ce_threshold_ect1: true, ..Params::default() };
    let words = FqCodel::tc(&resolved(params, &port), &port).unwrap();
    assert!(words.ends_with(" ecn ce_threshold 1000us ce_threshold_selector 0x1/0x1 drop_batch 64"), "{words}");
    // 1000 bytes at 500 kbit/s.
    let slow = Port { rate: Rate(500_000), ..port };
    let words = FqCodel::tc(&resolved(Params::default(), &slow), &slow).unwrap();
    assert!(words.contains(" target 16000us interval 100000us "), "{words}");
}

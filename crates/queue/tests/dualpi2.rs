//! DualPI2 as RFC 9332, Appendix A, describes it.

extern crate elephan_queue as queue;

use base::{Cause, Flags, Rate, Span, Stream, Time};
use queue::dualpi2::{Decide, DualPi2, Params, Scheduler};
use queue::{Fates, Limit, Link, Packet, Port, QueueDiscipline, Rule};

const L4S: Flags = Flags::ECT.with(Flags::L4S);

#[derive(Default)]
struct Ledger {
    dropped: Vec<(u32, Cause)>,
    marked: Vec<u32>,
}

impl Fates for Ledger {
    fn dropped(&mut self, packet: &Packet, cause: Cause, _: Time) {
        self.dropped.push((packet.token, cause));
    }
    fn marked(&mut self, packet: &Packet, _: Cause, _: Time) {
        assert!(packet.flags.has(Flags::CE));
        self.marked.push(packet.token);
    }
}

fn queue(params: &Params) -> DualPi2 {
    let port = Port::new(Limit::Packets(100_000), Rate(10_000_000), 1000.0);
    DualPi2::new(params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap()
}

/// The controller's p', and the probabilities of the L4S and of the classic queue.
fn probabilities(queue: &DualPi2) -> [f64; 3] {
    let mut found = [f64::NAN; 3];
    queue.gauges(&mut |name, x| {
        if let Some(i) = ["prob", "p_l4s", "p_classic"].iter().position(|known| *known == name) {
            found[i] = x;
        }
    });
    found
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

/// Rings the timers up to `until` ms.
fn ring(queue: &mut DualPi2, until: u64, fates: &mut Ledger) {
    while queue.next_wakeup() <= at(until) {
        let now = queue.next_wakeup();
        queue.on_wakeup(now, None, fates);
        assert!(queue.next_wakeup() > now);
    }
}

fn near(found: [f64; 3], expected: [f64; 3]) {
    // Sums of a few products, each rounded to 2^-53.
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} is not {expected:?}");
}

#[test]
fn the_controller_moves_as_in_appendix_a() {
    let (mut queue, mut fates) = (queue(&Params::default()), Ledger::default());
    queue.enqueue(Packet::new(0, 0, 1000, Time::ZERO), None, &mut fates);
    // alpha (delay - 15 ms) + beta (delay - delay before).
    // 16 ms: 0.16 x 0.001 + 3.2 x 0.016 = 0.00016 + 0.0512.
    ring(&mut queue, 16, &mut fates);
    near(probabilities(&queue), [0.05136, 0.10272, 0.002_637_849_6]);
    // 32 ms: + 0.16 x 0.017 + 0.0512 = 0.05392.
    ring(&mut queue, 32, &mut fates);
    near(probabilities(&queue), [0.10528, 0.21056, 0.011_083_878_4]);
    // 48 ms: + 0.16 x 0.033 + 0.0512 = 0.05648.
    ring(&mut queue, 48, &mut fates);
    near(probabilities(&queue), [0.16176, 0.32352, 0.026_166_297_6]);
    assert!(queue.dequeue(at(48), &mut fates).is_some());
    // 64 ms, empty: - 0.16 x 0.015 - 3.2 x 0.048 = -0.156; then - 0.0024 each time, down to 0.
    ring(&mut queue, 64, &mut fates);
    near(probabilities(&queue), [0.00576, 0.01152, 0.000_033_177_6]);
    ring(&mut queue, 96, &mut fates);
    near(probabilities(&queue), [0.00096, 0.00192, 0.000_000_921_6]);
    ring(&mut queue, 112, &mut fates);
    near(probabilities(&queue), [0.0, 0.0, 0.0]);
}

#[test]
fn the_controller_looks_at_the_longer_delay() {
    let (mut queue, mut fates) = (queue(&Params::default()), Ledger::default());
    queue.enqueue(Packet::new(0, 0, 1000, at(0)).with(L4S), None, &mut fates);
    queue.enqueue(Packet::new(1, 0, 1000, at(10)), None, &mut fates);
    ring(&mut queue, 16, &mut fates);
    near(probabilities(&queue), [0.05136, 0.10272, 0.002_637_849_6]);
}

#[test]
fn marks_above_the_step_unless_one_packet_or_none_is_left() {
    let (mut queue, mut fates) = (queue(&Params::default()), Ledger::default());
    for token in 0..5 {
        queue.enqueue(Packet::new(0, token, 1000, at(0)).with(L4S), None, &mut fates);
    }
    // Not above 1 ms; above, with 3 and 2 left; above, with 1 and 0 left.
    for after in [1_000, 1_001, 1_100, 2_000, 3_000] {
        assert!(queue.dequeue(Time::ZERO + Span::micros(after), &mut fates).is_some());
    }
    assert_eq!((fates.marked, fates.dropped), (vec![1, 2], vec![]));
}

#[test]
fn the_ramp_marks_in_proportion() {
    let ramp = Params { step_threshold: Span::micros(800), ramp: Span::micros(400), ..Params::default() };
    let (mut queue, mut fates) = (queue(&ramp), Ledger::default());
    for token in 0..1000 {
        queue.enqueue(Packet::new(0, token, 1000, at(0)).with(L4S), None, &mut fates);
    }
    // 900 us are a quarter up the ramp: recur adds 0.25 up and marks when it is above 1, every fourth of them.
    for _ in 0..17 {
        queue.dequeue(Time::ZERO + Span::micros(900), &mut fates);
    }
    assert_eq!(fates.marked, [4, 8, 12, 16]);
    for _ in 17..20 {
        queue.dequeue(Time::ZERO + Span::micros(1200), &mut fates);
    }
    assert_eq!(fates.marked[4..], [17, 18, 19]);
}

#[test]
fn classic_drops_are_the_square_of_half_the_l4s_marks() {
    for decide in [Decide::Recur, Decide::Random] {
        // One update 50 ms after a packet came sets p' to 4 x 0.05 = 0.2 for good: p_CL = 0.4, p_C = 0.04.
        let tupdate = Span::millis(50);
        let (mut queue, mut fates) =
            (queue(&Params { alpha: 0.0, beta: 4.0, tupdate, decide, ..Params::default() }), Ledger::default());
        queue.enqueue(Packet::new(0, 0, 1000, Time::ZERO), None, &mut fates);
        ring(&mut queue, 50, &mut fates);
        near(probabilities(&queue), [0.2, 0.4, 0.04]);
        queue.dequeue(at(50), &mut fates);
        let n = 100_000;
        let mut share = |flags| {
            fates = Ledger::default();
            for token in 0..n {
                queue.enqueue(Packet::new(0, token, 1000, at(60)).with(flags), Some(at(50)), &mut fates);
                queue.dequeue(at(60), &mut fates);
            }
            assert!(fates.dropped.iter().all(|(_, cause)| *cause == Cause::Early));
            let n = f64::from(n);
            (fates.marked.len() as f64 / n, fates.dropped.len() as f64 / n)
        };
        let (marks, none) = share(L4S);
        let (no_marks, drops) = share(Flags::NONE);
        let (squared_marks, no_drops) = share(Flags::ECT);
        assert_eq!((none, no_marks, no_drops), (0.0, 0.0, 0.0));
        // Four standard deviations of n trials: 4 sqrt(0.4 x 0.6 / n) and 4 sqrt(0.04 x 0.96 / n). `recur` is off by one
        // trial at most.
        assert!((marks - 0.4).abs() < 0.0062, "{marks}");
        assert!((drops - 0.04).abs() < 0.0025 && (squared_marks - 0.04).abs() < 0.0025, "{drops} {squared_marks}");
        // The relation itself: (marks / 2)^2 adds its own deviation, 2 x 0.2 x 0.0031.
        assert!((drops - (marks / 2.0) * (marks / 2.0)).abs() < 0.0028);
        if decide == Decide::Recur {
            assert!((marks - 0.4).abs() < 2e-5 && (drops - 0.04).abs() < 2e-5, "{marks} {drops}");
        }
    }
}

#[test]
fn the_weighted_scheduler_keeps_a_tenth_for_the_classic_queue() {
    let (mut queue, mut fates) = (queue(&Params::default()), Ledger::default());
    for token in 0..40 {
        queue.enqueue(Packet::new(0, token, 1000, at(0)), None, &mut fates);
        queue.enqueue(Packet::new(1, token, 1000, at(0)).with(L4S), None, &mut fates);
    }
    let flows: Vec<u32> = (0..30).map(|_| queue.dequeue(at(0), &mut fates).unwrap().flow).collect();
    // Nine L4S packets save up 9 x 100 bytes of the 900 that a classic one takes from the L4S queue.
    let nine_and_one = [1, 1, 1, 1, 1, 1, 1, 1, 1, 0];
    assert_eq!(flows, nine_and_one.repeat(3));
}

#[test]
fn the_time_shifted_scheduler_compares_arrivals() {
    let params = Params { scheduler: Scheduler::TimeShifted, ..Params::default() };
    let (mut queue, mut fates) = (queue(&params), Ledger::default());
    for (token, ms, flags) in [(0, 0, Flags::NONE), (1, 1, Flags::NONE), (2, 30, L4S), (3, 31, L4S), (4, 32, L4S)] {
        queue.enqueue(Packet::new(0, token, 1000, at(ms)).with(flags), None, &mut fates);
    }
    let tokens: Vec<u32> = (0..5).map(|_| queue.dequeue(at(32), &mut fates).unwrap().token).collect();
    // 30 <= 0 + 30; 31 > 30, 31 <= 1 + 30; 32 > 31.
    assert_eq!(tokens, [2, 0, 3, 1, 4]);
}

#[test]
fn a_packet_that_is_marked_already_is_l4s() {
    let (mut queue, mut fates) = (queue(&Params::default()), Ledger::default());
    queue.enqueue(Packet::new(0, 0, 1000, at(0)), None, &mut fates);
    queue.enqueue(Packet::new(0, 1, 1000, at(0)).with(Flags::ECT), None, &mut fates);
    queue.enqueue(Packet::new(0, 2, 1000, at(0)).with(Flags::ECT.with(Flags::CE)), None, &mut fates);
    let tokens: Vec<u32> = (0..3).map(|_| queue.dequeue(at(0), &mut fates).unwrap().token).collect();
    assert_eq!(tokens, [2, 0, 1]);
}

/// A link of 10 Mbit/s under packets of 1000 bytes that come `load` times too fast for 100 s. Returns the shares marked and
/// dropped, the mean delay in ms and the largest, all over the second half.
fn overload(load: f64, flags: &[Flags], decide: Decide) -> (f64, f64, f64, f64) {
    let mut link = Link::new(Rate(10_000_000), queue(&Params { decide, ..Params::default() }));
    let mut fates = Ledger::default();
    let gap = Span::from_secs(0.0008 / load);
    let (mut sent, mut left, mut now) = (0u32, 0u32, Time(1));
    let (mut arrived, mut sum, mut largest) = (0, 0.0, 0.0);
    while now < at(100_000) {
        if let Some(step) = link.advance(now, &mut fates) {
            left += u32::from(step.departed.is_some());
            if let Some((packet, done)) = link.serving().filter(|_| step.departed.is_some())
                && step.at > at(50_000)
            {
                let delay = (*done - packet.arrived).as_secs() * 1e3 - 0.8;
                (arrived, sum, largest) = (arrived + 1, sum + delay, f64::max(largest, delay));
            }
        } else {
            if now < at(50_000) {
                (sent, left, fates) = (0, 0, Ledger::default());
            }
            sent += 1;
            let flags = flags[sent as usize % flags.len()];
            link.offer(Packet::new(0, sent, 1000, now).with(flags), &mut fates);
            now += gap;
        }
    }
    let waiting = link.backlog().packets;
    // What waited at 50 s is no more than what is served in the longest delay.
    let gone = left + fates.dropped.len() as u32 + waiting;
    assert!(sent.abs_diff(gone) < 80, "{sent} came and {gone} went");
    let n = f64::from(sent);
    (fates.marked.len() as f64 / n, fates.dropped.len() as f64 / n, sum / f64::from(arrived), largest)
}

#[test]
fn a_classic_overload_of_a_tenth_stands_at_the_target() {
    for decide in [Decide::Recur, Decide::Random] {
        let (marks, drops, delay, _) = overload(1.1, &[Flags::NONE], decide);
        assert_eq!(marks, 0.0);
        // One packet in eleven is too much. What the queue gained or lost meanwhile is less than 30 of 68750 packets.
        assert!((drops - 1.0 / 11.0).abs() < 0.0005, "{drops}");
        // The integral holds the mean at the target, seen by the timer; half a packet of 0.8 ms between looking and going.
        assert!((delay - 15.0).abs() < 0.8, "{delay}");
    }
}

#[test]
fn an_overload_that_ignores_marks_is_dropped_in_both_queues() {
    // p_C reaches 1/4 and p_CL 1: ECN is no excuse in the classic queue any more, and L4S packets are dropped by p_C too.
    // Half of the packets are too many: p_C = 0.5.
    for flags in [&[L4S][..], &[Flags::ECT], &[L4S, Flags::NONE]] {
        let (marks, drops, delay, largest) = overload(2.0, flags, Decide::Recur);
        assert!((drops - 0.5).abs() < 0.002, "{drops}");
        // All L4S packets that go on are marked, and no classic ones.
        assert_eq!(marks > 0.1, flags.contains(&L4S), "{marks}");
        assert!(largest < 60.0 && delay < 20.0, "{delay} {largest}");
    }
}

#[test]
fn refuses_what_it_cannot_use() {
    let port = Port::new(Limit::Unlimited, Rate(10_000_000), 1000.0);
    let field =
        |params: &Params| DualPi2::new(params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap_err().field;
    assert_eq!(field(&Params { tupdate: Span::ZERO, ..Params::default() }), "tupdate");
    assert_eq!(field(&Params { beta: -1.0, ..Params::default() }), "beta");
    assert_eq!(field(&Params { coupling: 0.0, ..Params::default() }), "coupling");
    assert_eq!(field(&Params { classic_share: 1.0, ..Params::default() }), "classic_share");
}

#[test]
fn is_said_in_the_words_of_tc_where_linux_can() {
    let port = Port::new(Limit::Packets(10_000), Rate(10_000_000), 1000.0);
    assert_eq!(DualPi2::tc(&Params::default(), &port), None);
    assert_eq!(
        DualPi2::tc(&Params { decide: Decide::Random, ..Params::default() }, &port).unwrap(),
        "dualpi2 limit 10000 coupling_factor 2 step_thresh 1000us min_qlen_step 1 drop_on_overload drop_dequeue l4s_ect \
         classic_protection 10% target 15000us tupdate 16000us alpha 0.16 beta 3.2"
    );
}

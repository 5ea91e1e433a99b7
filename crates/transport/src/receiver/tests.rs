//! Tests of the acknowledgements of a receiver, and of their times.

use super::*;
use crate::options::Coalescing;

/// Receiver with the last acknowledgement that it made.
struct Acking(Receiver, Ack);

impl From<Receiver> for Acking {
    fn from(receiver: Receiver) -> Self {
        Self(receiver, Ack::NONE)
    }
}

impl Acking {
    fn on_segment(&mut self, now: Time, seq: u64, flags: Flags) -> bool {
        self.0.on_segment(now, seq, flags, &mut self.1)
    }
    fn on_timer(&mut self, now: Time) -> bool {
        self.0.on_timer(now, &mut self.1)
    }
    fn ack(&self) -> &Ack {
        &self.1
    }
}

#[test]
fn reports_blocks_as_the_example_of_rfc_2018() {
    // Section 7, case 3 in segments: 0 arrives, 1 is lost, 2 arrives, 3 is lost, 4 arrives, 5 lost, 6 arrives; then
    // 3 (the fourth of the RFC's) comes late, and 1.
    let mut receiver = Acking::from(Receiver::new(1, Span::ZERO, 3));
    let mut on = |seq| {
        assert!(receiver.on_segment(Time::ZERO, seq, Flags::NONE), "every segment is acknowledged");
        *receiver.ack()
    };
    assert_eq!(on(0), Ack::new(1, &[], false));
    assert_eq!(on(2), Ack::new(1, &[(2, 3)], false));
    assert_eq!(on(4), Ack::new(1, &[(4, 5), (2, 3)], false));
    assert_eq!(on(6), Ack::new(1, &[(6, 7), (4, 5), (2, 3)], false));
    assert_eq!(on(3), Ack::new(1, &[(2, 5), (6, 7)], false));
    assert_eq!(on(1), Ack::new(5, &[(6, 7)], false));
    assert_eq!(on(5), Ack::new(7, &[], false));
}

#[test]
fn reports_duplicates_as_rfc_2883() {
    // Section 4.1.1: a duplicate below the cumulative ACK. Section 4.2.2: a duplicate within a block that is held,
    // reported before that block.
    for blocks in [1, 3] {
        let mut receiver = Acking::from(Receiver::new(1, Span::ZERO, blocks).reporting_duplicates());
        let mut on = |seq| {
            assert!(receiver.on_segment(Time::ZERO, seq, Flags::NONE));
            (receiver.ack().cum, receiver.ack().duplicate(), receiver.ack().blocks().to_vec())
        };
        assert_eq!(on(0), (1, None, vec![]));
        assert_eq!(on(0), (1, Some((0, 1)), vec![(0, 1)]));
        assert_eq!(on(3), (1, None, vec![(3, 4)]));
        assert_eq!(on(3), (1, Some((3, 4)), vec![(3, 4), (3, 4)]), "the block is the segment");
        on(4);
        assert_eq!(on(3), (1, Some((3, 4)), vec![(3, 4), (3, 5)]));
        let others = if blocks == 3 { vec![(0, 1), (3, 5)] } else { vec![(0, 1)] };
        assert_eq!(on(0), (1, Some((0, 1)), others));
    }
    let mut plain = Acking::from(Receiver::new(1, Span::ZERO, 1));
    assert!(plain.on_segment(Time::ZERO, 0, Flags::NONE) && plain.on_segment(Time::ZERO, 0, Flags::NONE));
    assert_eq!(*plain.ack(), Ack::new(1, &[], false));
}

#[test]
fn delays_in_order_acks_only() {
    let mut receiver = Acking::from(Receiver::new(2, Span::millis(200), 3));
    assert!(!receiver.on_segment(Time::ZERO, 0, Flags::NONE));
    assert_eq!(receiver.0.deadline(), Time::ZERO + Span::millis(200));
    assert!(receiver.on_timer(receiver.0.deadline()));
    assert_eq!(*receiver.ack(), Ack::new(1, &[], false));
    assert!(!receiver.on_segment(Time::ZERO, 1, Flags::NONE));
    assert!(receiver.on_segment(Time::ZERO, 3, Flags::NONE));
    assert_eq!(*receiver.ack(), Ack::new(2, &[(3, 4)], false));
    assert!(receiver.on_segment(Time::ZERO, 2, Flags::NONE));
    assert_eq!(*receiver.ack(), Ack::new(4, &[], false));
    assert_eq!(receiver.0.deadline(), Time::NEVER);
}

#[test]
fn an_ack_returns_what_was_granted_since_the_last() {
    let mut receiver = Acking::from(Receiver::new(2, Span::millis(200), 3));
    let mut on = |seq, feedback| {
        receiver.0.on_header(seq, &Header { rtt: 0.1, cwnd: 10.0, feedback });
        receiver.on_segment(Time::ZERO, seq, Flags::NONE).then(|| receiver.ack().feedback)
    };
    assert_eq!(on(0, 1.5), None);
    assert_eq!(on(1, -0.25), Some(1.25));
    assert_eq!(on(3, 2.0), Some(2.0), "out of order");
    assert_eq!(on(2, 0.5), Some(0.5));
    assert_eq!(on(4, f32::INFINITY), None);
    assert_eq!(on(5, 1.0), Some(f32::INFINITY), "a header that met no router");
}

#[test]
fn echoes_each_mark_and_no_other_when_asked() {
    // RFC 8257, Figure 1: a change of the mark acknowledges what came before it, with the old mark.
    let mut receiver = Acking::from(Receiver::new(2, Span::millis(40), 0).echoing_every_mark());
    let mut on = |seq, marked: bool| {
        let flags = if marked { Flags::ECT.with(Flags::CE) } else { Flags::ECT };
        receiver.on_segment(Time::ZERO, seq, flags).then(|| (receiver.ack().cum, receiver.ack().ece))
    };
    assert_eq!(on(0, false), None);
    assert_eq!(on(1, true), Some((1, false)), "0 was not marked");
    assert_eq!(on(2, true), Some((3, true)));
    assert_eq!(on(3, true), None);
    assert_eq!(on(4, false), Some((4, true)));
    assert_eq!(on(5, false), Some((6, false)));
}

#[test]
fn echoes_congestion_until_the_sender_has_reduced() {
    let mut receiver = Acking::from(Receiver::new(1, Span::ZERO, 0));
    let mut echo = |seq, flags| receiver.on_segment(Time::ZERO, seq, flags) && receiver.ack().ece;
    assert!(!echo(0, Flags::ECT));
    assert!(echo(1, Flags::ECT.with(Flags::CE)));
    assert!(echo(2, Flags::ECT));
    assert!(!echo(3, Flags::ECT.with(Flags::CWR)));
}

/// Three segments at most wait for 50 us, an ACK for two.
fn merging() -> Receiver {
    Receiver::new(2, Span::millis(40), 3).behind(Some(Coalescing { segments: 3, wait: Span::micros(50) }))
}

const US: fn(u64) -> Time = |us| Time(Span::micros(us).0);

#[test]
fn segments_in_a_row_are_one_for_tcp() {
    let mut receiver = Acking::from(merging());
    assert!(!receiver.on_segment(US(0), 0, Flags::NONE) && !receiver.on_segment(US(1), 1, Flags::NONE));
    assert_eq!((receiver.0.next(), receiver.0.deadline()), (0, US(50)), "TCP does not have them yet");
    assert!(receiver.on_segment(US(2), 2, Flags::NONE), "three are the maximum");
    assert_eq!((*receiver.ack(), receiver.0.deadline()), (Ack::new(3, &[], false), Time::NEVER));
    // Two segments are acknowledged when the wait is over. The ACK of a single one is delayed as usual.
    assert!(!receiver.on_segment(US(10), 3, Flags::NONE) && !receiver.on_segment(US(20), 4, Flags::NONE));
    assert!(receiver.on_timer(US(60)));
    assert_eq!(receiver.ack().cum, 5);
    assert!(!receiver.on_segment(US(100), 5, Flags::NONE) && !receiver.on_timer(US(150)));
    assert_eq!((receiver.0.next(), receiver.0.deadline()), (6, US(150) + Span::millis(40)));
    assert!(receiver.on_timer(receiver.0.deadline()));
    assert_eq!(receiver.ack().cum, 6);
}

#[test]
fn a_gap_ends_a_merged_run_and_a_run_beyond_it_takes_one_ack() {
    let mut receiver = Acking::from(merging());
    receiver.on_segment(US(0), 0, Flags::NONE);
    receiver.on_segment(US(1), 1, Flags::NONE);
    assert!(receiver.on_segment(US(2), 3, Flags::NONE));
    assert_eq!(*receiver.ack(), Ack::new(2, &[], false));
    assert!(!receiver.on_segment(US(3), 4, Flags::NONE) && receiver.on_segment(US(4), 5, Flags::NONE));
    assert_eq!(*receiver.ack(), Ack::new(2, &[(3, 6)], false), "one ACK for three segments");
    // Segments that fill the hole may overlap a held block.
    assert!(!receiver.on_segment(US(5), 2, Flags::NONE) && !receiver.on_segment(US(6), 3, Flags::NONE));
    assert!(receiver.on_timer(US(55)));
    assert_eq!(*receiver.ack(), Ack::new(6, &[], false));
}

#[test]
fn the_last_segment_of_a_transfer_and_another_mark_end_a_merged_run_too() {
    let mut receiver = Acking::from(merging().until(2));
    assert!(!receiver.on_segment(US(0), 0, Flags::ECT) && receiver.on_segment(US(1), 1, Flags::ECT));
    assert_eq!(receiver.ack().cum, 2);
    let mut receiver = Acking::from(merging().echoing_every_mark());
    let marked = Flags::ECT.with(Flags::CE);
    assert!(!receiver.on_segment(US(0), 0, Flags::ECT) && !receiver.on_segment(US(1), 1, marked));
    // An unmarked segment is pending, and two marked ones come at once. Its ACK is sent first, and then at once that of
    // the two.
    assert!(!receiver.on_segment(US(2), 2, marked) && receiver.on_timer(US(51)));
    assert_eq!((receiver.ack().cum, receiver.ack().ece), (1, false));
    assert!(receiver.0.deadline() == US(51) && receiver.on_timer(US(51)));
    assert_eq!((receiver.ack().cum, receiver.ack().ece), (3, true));
}

//! The sender against the sentences of the RFCs, one at a time.

extern crate elephan_transport as transport;

mod common;

use base::{Span, Time};
use common::{Bench, Sent, again, new};
use law::CongestionControl;
use transport::{Ack, Ecn, Options, Pacing, PacingFactors, Phase, ReceiveWindow, Recovery, Sender};

#[test]
fn the_initial_window_leaves_at_once_and_starts_the_timer() {
    let bench = Bench::with(Recovery::Sack, &Options { initial_window: 10, ..Options::default() });
    assert_eq!(bench.sender.seq().nxt(), 10);
    // RFC 6298, 2.1: one second before the first measurement.
    assert_eq!(bench.sender.deadline(), bench.now + Span::secs(1));
}

#[test]
fn the_first_two_duplicate_acks_release_new_segments_and_the_third_retransmits() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut bench = Bench::new(recovery, 10);
        assert_eq!(bench.ack(100, 1, &[]), new(10..11));
        assert_eq!(bench.ack(1, 1, &[]), new(11..12), "RFC 3042");
        assert_eq!(bench.ack(1, 1, &[]), new(12..13), "RFC 3042");
        assert_eq!(bench.ack(1, 1, &[]), vec![again(1)], "RFC 5681, 3.2, step 2");
        // Half of 10 + 1/10.5, the window after one ACK, to the grid of 2^-32.
        assert!((bench.cwnd() - (5.0 + 1.0 / 21.0)).abs() < 1e-9 && bench.sender.phase() == Phase::Recovery);
        // Step 4: each further duplicate inflates the window by one; 12 are outstanding, so 5 + 3 + 5 of them are due.
        for _ in 0..4 {
            assert_eq!(bench.ack(1, 1, &[]), []);
        }
        assert_eq!(bench.ack(1, 1, &[]), new(13..14));
        // Step 6: the ACK of new data deflates it to ssthresh.
        let released = bench.ack(100, 13, &[]);
        assert_eq!(bench.sender.phase(), Phase::Open);
        assert_eq!(released, new(14..18), "five outstanding with the one in flight");
    }
}

#[test]
fn without_limited_transmit_duplicates_release_nothing() {
    let options =
        Options { initial_window: 10, initial_ssthresh: Some(2.0), limited_transmit: false, ..Options::default() };
    let mut bench = Bench::with(Recovery::Reno, &options);
    bench.ack(100, 1, &[]);
    assert_eq!(bench.ack(1, 1, &[]), []);
    assert_eq!(bench.ack(1, 1, &[]), []);
    assert_eq!(bench.ack(1, 1, &[]), vec![again(1)]);
}

#[test]
fn tahoe_goes_back_to_one_segment() {
    let mut bench = Bench::new(Recovery::Tahoe, 10);
    bench.ack(100, 1, &[]);
    bench.ack(1, 1, &[]);
    bench.ack(1, 1, &[]);
    assert_eq!(bench.ack(1, 1, &[]), vec![again(1)]);
    assert_eq!(bench.cwnd(), 1.0);
    // Slow start from there: what the receiver held is acknowledged at once, what was sent before goes again.
    assert_eq!(bench.ack(100, 9, &[]), vec![again(9), again(10)]);
}

#[test]
fn reno_leaves_recovery_at_the_first_hole_and_waits_for_the_timer_at_the_second() {
    let mut bench = Bench::new(Recovery::Reno, 10);
    bench.ack(100, 1, &[]);
    for _ in 0..8 {
        bench.ack(1, 1, &[]);
    }
    // Segments 1 and 4 were lost: the partial ACK ends the recovery.
    bench.ack(100, 4, &[]);
    assert_eq!(bench.sender.phase(), Phase::Open);
    // RFC 6582: three duplicates of an ACK that does not cover more than `recover` retransmit nothing.
    for _ in 0..5 {
        assert!(bench.ack(1, 4, &[]).iter().all(|(_, again)| !again));
    }
    assert_eq!(bench.time_out().first(), Some(&again(4)));
    assert_eq!(bench.sender.counters().timeouts, 1);
}

#[test]
fn newreno_retransmits_the_next_hole_on_a_partial_ack_and_restarts_the_timer_once() {
    let mut bench = Bench::new(Recovery::NewReno, 10);
    bench.ack(100, 1, &[]);
    for _ in 0..8 {
        bench.ack(1, 1, &[]);
    }
    // Segments 1, 4 and 6 were lost.
    assert!(bench.ack(100, 4, &[]).contains(&again(4)));
    let deadline = bench.sender.deadline();
    assert_eq!(deadline, bench.now + bench.sender.rtt().rto());
    assert!(bench.ack(100, 6, &[]).contains(&again(6)));
    assert_eq!(bench.sender.deadline(), deadline, "the impatient form");
    assert_eq!(bench.sender.phase(), Phase::Recovery);
    bench.ack(100, bench.sender.seq().nxt(), &[]);
    assert_eq!((bench.sender.phase(), bench.sender.counters().loss_events), (Phase::Open, 1));
}

#[test]
fn sack_fills_all_holes_in_one_round_trip() {
    let mut bench = Bench::new(Recovery::Sack, 20);
    assert_eq!(bench.ack(100, 1, &[]), new(20..21));
    // 1, 3 and 5 of the twenty were lost. Two duplicates send new data, the third finds 1 lost and enters recovery.
    assert_eq!(bench.ack(1, 1, &[(2, 3)]), new(21..22));
    assert_eq!(bench.ack(1, 1, &[(4, 5)]), new(22..23));
    assert_eq!(bench.ack(1, 1, &[(6, 7)]), vec![again(1)]);
    assert_eq!(bench.sender.phase(), Phase::Recovery);
    // Pipe: 23 sent, 1 acknowledged, 3 SACKed, 1 lost and sent again: 19 against a window of 10.
    assert_eq!(bench.sender.in_flight(), 19);
    let mut repaired = Vec::new();
    for end in 8..=20 {
        repaired.extend(bench.ack(1, 1, &[(6, end)]));
    }
    assert_eq!(repaired[..2], [again(3), again(5)], "NextSeg rule 1, lowest first");
    assert!(repaired[2..].iter().all(|(_, again)| !again), "then new data: {repaired:?}");
    bench.ack(100, 23, &[]);
    assert_eq!((bench.sender.phase(), bench.sender.counters().loss_events), (Phase::Open, 1));
}

#[test]
fn a_timeout_sends_one_segment_doubles_the_timer_and_sets_ssthresh_once() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut bench = Bench::new(recovery, 10);
        let first = bench.sender.rtt().rto();
        assert_eq!(bench.time_out(), vec![again(0)], "{recovery:?}");
        assert_eq!((bench.cwnd(), bench.sender.control().ssthresh()), (1.0, 5.0));
        assert_eq!(bench.sender.deadline(), bench.now + Span(2 * first.0), "RFC 6298, 5.5");
        assert_eq!(bench.time_out(), vec![again(0)]);
        assert_eq!(bench.sender.control().ssthresh(), 5.0, "RFC 5681, 3.1: held while the same segment times out");
        assert_eq!(bench.sender.deadline(), bench.now + Span(4 * first.0));
        // Slow start from one; the doubled timeout stays, because a segment sent twice gives no sample (Karn).
        assert_eq!(bench.ack(100, 1, &[]), vec![again(1), again(2)]);
        assert_eq!(bench.sender.rtt().rto(), Span(4 * first.0));
    }
}

#[test]
fn sack_keeps_what_it_knows_through_a_timeout() {
    let mut bench = Bench::new(Recovery::Sack, 10);
    bench.ack(100, 1, &[(3, 8)]);
    bench.ack(1, 1, &[(3, 9)]);
    assert_eq!(bench.time_out(), vec![again(1)]);
    // 3 to 8 are known to have arrived: after 1 comes 2, then 9.
    assert_eq!(bench.ack(100, 2, &[(3, 9)]), vec![again(2), again(9)]);
}

#[test]
fn the_window_grows_only_while_it_is_full() {
    let options = Options { initial_window: 4, receive_window: ReceiveWindow::Segments(4), ..Options::default() };
    let mut bench = Bench::with(Recovery::Sack, &options);
    for i in 1..50 {
        bench.ack(100, i, &[]);
    }
    // The receive window holds it at four: cwnd passes that by one and stops.
    assert_eq!((bench.sender.in_flight(), bench.cwnd()), (4, 5.0));
    let mut finite = Sender::new(bench.sender.control().clone(), Recovery::Sack, &Options::default(), 3);
    let mut sent = Sent::default();
    finite.start(Time::ZERO, &mut sent);
    let before = finite.control().cwnd();
    finite.on_ack(Time(1), &Ack::new(1, &[], false), &mut sent);
    assert_eq!((sent.0.len(), finite.control().cwnd()), (3, before), "three segments do not fill it");
}

#[test]
fn one_echo_in_a_window_reduces_it() {
    let options = Options { initial_window: 10, initial_ssthresh: Some(2.0), ecn: Ecn::On, ..Options::default() };
    let mut bench = Bench::with(Recovery::Sack, &options);
    let mut echo = |cum| {
        bench.now += Span::millis(1);
        bench.call(|sender, now, sent| sender.on_ack(now, &Ack::new(cum, &[], true), sent));
        bench.sender.counters().loss_events
    };
    assert_eq!((echo(1), echo(2), echo(9)), (1, 1, 1), "RFC 3168, 6.1.2");
    assert_eq!(echo(12), 2);
}

#[test]
fn a_fast_retransmit_waits_for_its_pace_and_leaves_before_anything_else() {
    // Linux 6.12, `tcp_xmit_retransmit_queue`; RFC 9002, 7.7. Half of 20.5 segments in 100 ms: one in 9.76 ms. The
    // first ten of the connection are not spaced, and have left.
    let slow = Pacing::Linux(PacingFactors { slow_start: 0.5, avoidance: 0.5 });
    let recoveries = [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Prr, Recovery::Rack];
    for (recovery, pacing) in recoveries.into_iter().flat_map(|recovery| [(recovery, slow), (recovery, Pacing::None)]) {
        let options = Options { initial_window: 20, initial_ssthresh: Some(2.0), pacing, ..Options::default() };
        let mut bench = Bench::with(recovery, &options);
        let all = if pacing == Pacing::None { 30 } else { 21 };
        assert_eq!(bench.ack(100, 10, &[]), new(20..all), "{recovery:?}");
        for next in all..30 {
            assert_eq!(bench.time_out(), new(next..next + 1), "{recovery:?}");
        }
        let spaced = bench.now;
        let blocks = |end| if recovery.selective() { vec![(11, end)] } else { vec![] };
        let released = (12..15).map(|end| bench.ack(1, 10, &blocks(end))).collect::<Vec<_>>();
        assert_eq!(bench.sender.phase(), Phase::Recovery, "{recovery:?}");
        if pacing == Pacing::None {
            assert_eq!(released[2], [again(10)], "{recovery:?}: a null");
            continue;
        }
        assert_eq!(released, [[]; 3], "{recovery:?}");
        // More duplicates do not change that.
        assert_eq!(bench.ack(1, 10, &blocks(15)), [], "{recovery:?}");
        assert_eq!(bench.time_out(), [again(10)], "{recovery:?}");
        assert_eq!((bench.now - spaced).0 / 1_000_000_000, 9, "{recovery:?}");
        assert_eq!(bench.sender.counters().retransmitted, 1, "{recovery:?}: once");
    }
}

//! RACK-TLP and proportional rate reduction against the sentences of RFC 8985 and RFC 9937.

extern crate elephan_transport as transport;

mod common;

use base::Span;
use common::{Bench, again, new};
use transport::{Options, Phase, ReceiveWindow, Recovery};

/// `window` segments to begin with, in congestion avoidance.
fn window_of(window: u32) -> Options {
    Options { initial_window: window, initial_ssthresh: Some(2.0), ..Options::default() }
}

/// A sender with `window` segments outstanding that knows a round-trip time of 100 ms.
fn after_one_round(recovery: Recovery, window: u32) -> Bench {
    let mut bench = Bench::new(recovery, window);
    bench.ack(100, 1, &[]);
    bench
}

#[test]
fn a_hole_below_three_sacked_segments_is_lost_at_once() {
    // 6.2.4: the reordering window is zero when DupThresh segments are SACKed and nothing was ever reordered.
    let mut bench = after_one_round(Recovery::Rack, 10);
    bench.ack(1, 1, &[(2, 3)]);
    bench.ack(1, 1, &[(2, 4)]);
    assert_eq!(bench.sender.phase(), Phase::Open);
    assert_eq!(bench.ack(1, 1, &[(2, 5)]), vec![again(1)]);
    assert_eq!(bench.sender.phase(), Phase::Recovery);
    assert!((bench.cwnd() - (5.0 + 1.0 / 21.0)).abs() < 1e-9, "half of 10 + 1/10.5");
}

#[test]
fn with_fewer_a_quarter_of_the_round_trip_passes_first() {
    // 6.2.4 and 6.2.5: the timer runs for RACK.rtt + min_rtt/4 from the departure.
    let mut bench = after_one_round(Recovery::Rack, 10);
    let left = bench.now;
    bench.ack(1, 1, &[(9, 10)]);
    assert_eq!(bench.sender.phase(), Phase::Open);
    assert_eq!(bench.sender.deadline(), bench.now + Span::millis(25), "min_rtt is 100 ms");
    let sent = bench.time_out();
    assert_eq!(sent[0], again(1), "the timer finds the first hole lost");
    assert_eq!(bench.sender.phase(), Phase::Recovery);
    assert_eq!(bench.now, left + Span::millis(26));
    assert_eq!(bench.sender.counters().timeouts, 0);
}

#[test]
fn a_lost_retransmission_is_found_without_a_timeout() {
    for (recovery, found) in [(Recovery::Rack, true), (Recovery::Prr, false)] {
        let mut bench = after_one_round(recovery, 10);
        bench.ack(1, 1, &[(2, 3)]);
        bench.ack(1, 1, &[(2, 4)]);
        assert_eq!(bench.ack(1, 1, &[(2, 5)]), vec![again(1)]);
        // The rest of the first ten, then what was sent after the retransmission: later departures that arrive.
        let mut resent = false;
        for end in 6..=14 {
            let sent = bench.ack(if end == 12 { 100 } else { 1 }, 1, &[(2, end)]);
            resent |= sent.contains(&again(1));
        }
        assert_eq!(resent, found, "{recovery:?}");
        assert_eq!(bench.sender.counters().loss_events, 1, "one reduction for one window");
    }
}

#[test]
fn a_probe_after_two_round_trips_finds_what_the_tail_lost() {
    // 7.2: PTO = 2 srtt. Ten segments in all, the last two are lost.
    let options = window_of(10);
    let mut bench = Bench::of(Recovery::Rack, &options, 10);
    bench.ack(100, 8, &[]);
    let acked = bench.now;
    assert_eq!(bench.time_out(), vec![again(9)], "7.3: the last segment, as there is no new one");
    assert_eq!(bench.now, acked + Span::millis(200));
    assert_eq!(bench.sender.counters().timeouts, 0);
    // The probe's SACK shows that 8, sent long before, is lost.
    assert_eq!(bench.ack(100, 8, &[(9, 10)]), vec![again(8)]);
    assert_eq!(bench.sender.phase(), Phase::Recovery);
    bench.ack(100, 10, &[]);
    assert!(bench.sender.seq().is_done() && bench.sender.counters().timeouts == 0);
}

#[test]
fn a_probe_prefers_new_data_and_is_sent_once() {
    let options = window_of(4);
    let mut bench = Bench::with(Recovery::Rack, &options);
    bench.ack(100, 1, &[]);
    let nxt = bench.sender.seq().nxt();
    assert_eq!(bench.time_out(), new(nxt..nxt + 1), "beyond the window");
    // 7.3: the retransmission timer follows, not another probe.
    let sent = bench.time_out();
    assert_eq!((sent[0], bench.sender.counters().timeouts), (again(1), 1));
}

#[test]
fn a_probe_that_repaired_the_loss_itself_still_costs_the_window() {
    // 7.4.2: only the last segment was lost, and the probe put it right.
    let options = Options {
        initial_window: 10,
        initial_ssthresh: Some(2.0),
        receive_window: ReceiveWindow::Segments(9),
        ..Options::default()
    };
    let mut bench = Bench::with(Recovery::Rack, &options);
    // Nine outstanding, the receive window is full: the probe has no new segment.
    bench.ack(100, 8, &[]);
    let nxt = bench.sender.seq().nxt();
    let sent = bench.time_out();
    assert_eq!(sent, vec![again(nxt - 1)]);
    let before = bench.cwnd();
    bench.ack(100, nxt, &[]);
    assert_eq!(bench.sender.counters().loss_events, 0, "not known yet: the original may have arrived late");
    bench.ack(100, nxt + 1, &[]);
    assert_eq!(bench.sender.counters().loss_events, 1);
    assert!(bench.cwnd() < before);
}

#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    let options = Options {
        initial_window: 10,
        initial_ssthresh: Some(2.0),
        receive_window: ReceiveWindow::Segments(9),
        ..Options::default()
    };
    let mut bench = Bench::with(Recovery::Rack, &options);
    bench.ack(100, 8, &[]);
    let nxt = bench.sender.seq().nxt();
    bench.time_out();
    bench.ack(100, nxt, &[]);
    // 7.4.2: the duplicate says that both copies arrived.
    bench.ack(1, nxt, &[]);
    bench.ack(100, nxt + 1, &[]);
    assert_eq!(bench.sender.counters().loss_events, 0);
}

#[test]
fn after_a_timeout_only_what_is_overdue_counts_as_lost() {
    // 6.3: the first segment, and whatever left longer ago than RACK.rtt.
    let mut bench = after_one_round(Recovery::Rack, 10);
    bench.time_out();
    let probed = bench.sender.seq().nxt();
    let sent = bench.time_out();
    assert_eq!(bench.sender.counters().timeouts, 1);
    assert_eq!(sent, vec![again(1)], "the window is one segment");
    assert_eq!(bench.sender.in_flight(), 1, "all others are lost");
    assert_eq!(bench.ack(100, 2, &[])[0], again(2));
    assert_eq!(bench.sender.seq().nxt(), probed);
}

#[test]
fn prr_sends_one_for_two_from_the_third_duplicate_on() {
    let mut bench = after_one_round(Recovery::Prr, 20);
    bench.ack(1, 1, &[(2, 3)]);
    bench.ack(1, 1, &[(2, 4)]);
    assert_eq!(bench.ack(1, 1, &[(2, 5)]), vec![again(1)]);
    let mut released = 0;
    for end in 6..=21 {
        released += bench.ack(1, 1, &[(2, end)]).len();
    }
    // 22 outstanding with the two of limited transmit, ssthresh 10: of 17 arrivals, 17 * 10 / 22 = 7.7 are due, less
    // the fast retransmit; RFC 6675 would have sent nothing for ten ACKs and then one for each.
    assert_eq!(released, 7);
}

#[test]
fn sack_blocks_in_any_order_are_no_reordering() {
    // RFC 2018 reports the latest block first. Three segments SACKed make the holes below them lost at once, however told.
    for blocks in [[(6, 7), (4, 5)], [(4, 5), (6, 7)]] {
        let mut bench = after_one_round(Recovery::Rack, 10);
        bench.ack(1, 1, &blocks);
        assert_eq!(bench.ack(1, 1, &[(8, 9)])[0], again(1));
    }
}

#[test]
fn a_probe_whose_loss_a_recovery_repairs_is_forgotten() {
    // RFC 8985, 7.1: TLP.end_seq is reset when a fast recovery begins; the loss costs one reduction, not two.
    let options = Options { receive_window: ReceiveWindow::Segments(9), ..window_of(10) };
    let mut bench = Bench::with(Recovery::Rack, &options);
    bench.ack(100, 6, &[]);
    let nxt = bench.sender.seq().nxt();
    assert_eq!(bench.time_out(), vec![again(nxt - 1)]);
    bench.ack(100, 6, &[(nxt - 1, nxt)]);
    assert_eq!(bench.sender.phase(), Phase::Recovery);
    bench.ack(100, nxt, &[]);
    bench.ack(100, nxt + 1, &[]);
    assert_eq!(bench.sender.counters().loss_events, 1);
}

#[test]
fn there_is_no_probe_before_the_first_round_trip_sample() {
    // RFC 8985, 7.3: the whole initial window is lost; the retransmission timer repairs it after a second.
    let mut bench = Bench::with(Recovery::Rack, &Options { initial_window: 4, ..Options::default() });
    assert_eq!(bench.time_out()[0], again(0));
    assert_eq!(bench.sender.counters().timeouts, 1);
}

#[test]
fn the_probe_waits_for_an_ack_that_the_receiver_may_delay() {
    // Section 7.2: fewer outstanding than the receiver acknowledges together.
    let options = Options {
        delayed_ack: 3,
        delayed_ack_timeout: Span::millis(500),
        receive_window: ReceiveWindow::Segments(2),
        ..window_of(2)
    };
    let mut bench = Bench::with(Recovery::Rack, &options);
    bench.ack(100, 1, &[]);
    // Beyond 2 srtt plus that, the retransmission timer bounds it: one second.
    assert_eq!(bench.sender.deadline(), bench.now + Span::millis(700));
}

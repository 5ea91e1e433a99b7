//! Limit, delivery rate and pacing rate of a sender at an instant, in constructed cases.

extern crate elephan_transport as transport;

mod common;

use base::{Span, Time};
use common::Bench;
use law::{CongestionControl, LawSpec, StartSpec};
use transport::{Ack, Options, Pacing, PacingFactors, ReceiveWindow, Recovery, SendLimit, Sender};

fn options(window: u32) -> Options {
    Options { initial_window: window, initial_ssthresh: Some(2.0), ..Options::default() }
}

#[test]
fn a_full_congestion_window_limits_bulk_data() {
    for recovery in [Recovery::Reno, Recovery::Sack, Recovery::Prr, Recovery::Rack] {
        let mut bench = Bench::new(recovery, 10);
        assert_eq!(bench.sender.info().limit(), Some(SendLimit::Cwnd));
        bench.ack(100, 3, &[]);
        assert_eq!(bench.sender.info().limit(), Some(SendLimit::Cwnd));
        // A recovery sends no more than its own limit, either.
        bench.ack(1, 3, &[(4, 10)]);
        assert_eq!(bench.sender.info().limit(), Some(SendLimit::Cwnd), "{recovery:?}");
    }
}

#[test]
fn a_receive_window_limits_if_it_is_smaller() {
    let limit = |receive: u32| {
        let options = Options { receive_window: ReceiveWindow::Segments(receive), ..options(10) };
        Bench::with(Recovery::Sack, &options).sender.info().limit()
    };
    // Linux tests the congestion window first: of two that are full, it limits.
    assert_eq!([limit(9), limit(10), limit(11)], [Some(SendLimit::Rwnd), Some(SendLimit::Cwnd), Some(SendLimit::Cwnd)]);
}

#[test]
fn the_end_of_the_data_is_the_applications_limit_until_all_is_acknowledged() {
    let mut bench = Bench::of(Recovery::Sack, &options(10), 12);
    assert_eq!(bench.sender.info().limit(), Some(SendLimit::Cwnd), "two segments wait");
    bench.ack(100, 4, &[]);
    assert_eq!((bench.sender.in_flight(), bench.sender.info().limit()), (8, Some(SendLimit::App)));
    bench.ack(1, 12, &[]);
    assert_eq!(bench.sender.info().limit(), None, "complete");
}

#[test]
fn nothing_limits_what_has_not_begun() {
    let law = LawSpec::named("reno").expect("registered");
    let start = StartSpec::named("classic").expect("registered");
    let control = law.build(&start, 10.0, 2.0).expect("defaults");
    assert_eq!(Sender::new(control, Recovery::Sack, &options(10), 5).info().limit(), None);
}

#[test]
fn the_pace_limits_between_segments_and_its_rate_is_the_window_per_round_trip() {
    // One round trip of 100 ms; congestion avoidance (factor 1.2): 1.2 * (10 + 1/10 + ...) segments per 100 ms.
    let factors = PacingFactors { slow_start: 2.0, avoidance: 1.2 };
    let mut bench = Bench::with(Recovery::Sack, &Options { pacing: Pacing::Linux(factors), ..options(10) });
    assert_eq!(
        (bench.sender.info().pacing_rate(), bench.sender.info().delivery_rate()),
        (None, None),
        "no round trip was measured"
    );
    bench.ack(100, 10, &[]);
    let cwnd = bench.sender.control().cwnd();
    let rate = bench.sender.info().pacing_rate().expect("a round trip was measured");
    assert!((rate / (1.2 * cwnd / 0.1) - 1.0).abs() < 1e-9, "{rate}");
    assert_eq!(bench.sender.info().limit(), Some(SendLimit::Pacing));
}

#[test]
fn the_delivery_rate_is_what_was_delivered_over_the_time_it_took() {
    // Ten segments at time 0, ACKs of two every 10 ms from 100 ms on. The ACK at 140 ms delivers the last of the ten: all were
    // delivered since the first was sent, 140 ms before (draft-cheng-iccrg-delivery-rate-estimation-02, 3.3).
    let law = LawSpec::named("bbr3").expect("registered");
    let start = StartSpec::named("classic").expect("registered");
    let control = law.build(&start, 10.0, f64::INFINITY).expect("defaults");
    let mut sender = Sender::new(control, Recovery::Rack, &options(10), transport::NO_END);
    let mut wire = common::Sent::default();
    let begun = Time::ZERO + Span::secs(1);
    sender.start(begun, &mut wire);
    while sender.deadline() < begun + Span::millis(90) {
        sender.on_timer(sender.deadline(), &mut wire);
    }
    assert_eq!(sender.info().delivery_rate(), None);
    for (ms, cum) in [(100, 2), (110, 4), (120, 6), (130, 8), (140, 10)] {
        sender.on_ack(begun + Span::millis(ms), &Ack::new(cum, &[], false), &mut wire);
        let rate = sender.info().delivery_rate().expect("an ACK came");
        assert!((rate / (cum as f64 / (1e-3 * ms as f64)) - 1.0).abs() < 1e-9, "{ms}: {rate}");
    }
    assert!(sender.info().pacing_rate().is_some_and(|rate| rate > 0.0), "the law's own");
}

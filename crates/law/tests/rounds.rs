//! Window per round trip of every law under the same losses, as text: the snapshot is reviewed as physics.

extern crate elephan_law as law;

use base::{Span, Time};
use law::rounds::{Event, Path, replay, rounds};
use law::{AckSample, CongestionControl, CongestionEvent, LAWS, LawSpec, STARTS, Signal, StartSpec};
use std::fmt::Write;

/// Slow start from 2 segments on a path of 100 ms that holds 1000; losses in rounds 10, 40 and 60, a timeout in round 80.
fn story(law: &str, start: &str) -> String {
    let law = LawSpec::named(law).expect("registered");
    let start = StartSpec::named(start).expect("registered");
    let mut control = law.build(&start, 2.0, f64::INFINITY).expect("defaults");
    let path = Path { base_rtt: Span::millis(100), bdp: 1000.0 };
    let events = [(10, Signal::Loss), (40, Signal::Loss), (60, Signal::Loss), (80, Signal::Timeout)];
    let mut text = String::from("round cwnd ssthresh rtt_ms\n");
    for (i, round) in rounds(&mut control, path, &events, 100).iter().enumerate() {
        let ms = round.rtt.as_secs() * 1e3;
        let _ = writeln!(text, "{i} {:.4} {:.4} {ms:.3}", round.cwnd, round.ssthresh);
    }
    text
}

#[test]
fn round_by_round() {
    for entry in LAWS {
        let name = entry.card.name;
        insta::assert_snapshot!(format!("rounds_{name}"), story(name, "classic"));
    }
}

#[test]
fn slow_starts_round_by_round() {
    for entry in STARTS {
        let name = entry.card.name;
        insta::assert_snapshot!(format!("starts_{name}"), story("reno", name));
    }
}

/// A segment for each of two ACKs of slow start, the cut, and the growth by a segment per window after it.
#[test]
fn events_one_by_one() {
    let mut control = LawSpec::named("reno").unwrap().build(&StartSpec::named("classic").unwrap(), 10.0, 1e9).unwrap();
    let rtt = Span::millis(100);
    let ack = Event::Ack(AckSample {
        now: Time::ZERO,
        acked: 1.0,
        ce_marked: 0.0,
        rtt: Some(rtt),
        srtt: rtt,
        min_rtt: rtt,
        in_flight: 10.0,
        delivered: 1,
        round_start: false,
        ..AckSample::plain(Time::ZERO, rtt)
    });
    let loss = Event::Congestion(CongestionEvent {
        now: Time::ZERO,
        signal: Signal::Loss,
        in_flight: 12.0,
        delivered: 2,
        rtt,
        srtt: rtt,
        min_rtt: rtt,
        floor: 2.0,
    });
    let seen = replay(&mut control, [ack, ack, loss, ack].into_iter());
    assert_eq!(seen[..3], [(11.0, 1e9), (12.0, 1e9), (6.0, 6.0)]);
    // One over the window in the middle of the growth to the next whole segment, as laws are evaluated.
    assert!((seen[3].0 - (6.0 + 1.0 / 6.5)).abs() < 1e-9, "{seen:?}");
}

#[test]
fn a_step_ends_at_the_next_whole_segment_and_on_the_grid() {
    let of = |window: f64, ssthresh: f64| {
        let start = StartSpec::named("classic").unwrap();
        LawSpec::named("reno").unwrap().build(&start, window, ssthresh).unwrap().step()
    };
    // Slow start gains a segment an ACK, congestion avoidance one a window; neither beyond the next whole segment.
    let step = of(10.0, 1e9).unwrap();
    assert_eq!((step.gain, step.below), (1.0, 11.0));
    let step = of(10.0, 5.0).unwrap();
    assert!((step.gain - 1.0 / 10.5).abs() < 1e-9 && step.below == 11.0, "{step:?}");
    // From 2^20 segments on sums are rounded: ACK by ACK.
    assert!(of(1_048_575.0, 5.0).is_some());
    assert!(of(1_048_576.0, 5.0).is_none());
}

#[test]
fn slow_start_opens_up_to_the_threshold_or_to_where_it_is_limited() {
    let of = |law: &str, start: &str, window: f64, ssthresh: f64| {
        let start = StartSpec::named(start).unwrap();
        LawSpec::named(law).unwrap().build(&start, window, ssthresh).unwrap().opening()
    };
    // 12.5 is reached from 10.25 after two ACKs and a part of the third.
    assert_eq!((of("reno", "classic", 10.25, 12.5), of("reno", "classic", 12.5, 12.5)), (2, 0));
    // RFC 3742: above 100 segments an ACK gains less than one.
    assert_eq!((of("highspeed", "limited", 30.0, 1e9), of("highspeed", "limited", 200.0, 1e9)), (70, 0));
    // To where the sums of windows and gains are exact.
    assert_eq!(of("reno", "classic", 1_048_570.0, 1e9), 6);
    // A law that measures takes every ACK, as starts that do.
    assert_eq!((of("cubic", "classic", 10.0, 1e9), of("reno", "hystart", 10.0, 1e9)), (0, 0));
}

//! Window per round trip of every law under the same losses, as text: the snapshot is reviewed as physics.

use base::{Span, Time};
use law::{AckSample, CongestionControl, CongestionEvent, LAWS, LawSpec, Signal, StartSpec, Windowed};
use std::fmt::Write;

/// Slow start from 2 segments, a loss in round 12, then losses in rounds 40 and 60 and a timeout in round 80.
#[test]
fn round_by_round() {
    for entry in LAWS {
        let mut control = Windowed::new(
            LawSpec::named(entry.card.name).expect("registered").build().expect("defaults"),
            StartSpec::named("classic").expect("registered").build().expect("defaults"),
            2.0,
            f64::INFINITY,
        );
        let rtt = Span::millis(100);
        let mut text = String::from("round cwnd ssthresh\n");
        for round in 0..100u64 {
            let now = Time::ZERO + Span::millis(100 * round);
            let _ = writeln!(text, "{round} {:.4} {:.4}", control.cwnd(), control.ssthresh());
            let event = |signal| CongestionEvent { now, signal, in_flight: 0.0, srtt: rtt, min_rtt: rtt };
            match round {
                12 | 40 | 60 => control.on_congestion(&event(Signal::Loss)),
                80 => control.on_congestion(&event(Signal::Timeout)),
                _ => {
                    for _ in 0..control.cwnd() as u32 {
                        control.on_ack(&AckSample {
                            now,
                            acked: 1.0,
                            ce_marked: 0.0,
                            rtt: Some(rtt),
                            srtt: rtt,
                            min_rtt: rtt,
                            in_flight: control.cwnd(),
                            cwnd_limited: true,
                        });
                    }
                }
            }
        }
        insta::assert_snapshot!(format!("rounds_{}", entry.card.name), text);
    }
}

//! Promises that every registered law keeps under every slow start, whatever happens to it.

use base::{Span, Time};
use law::{
    AckSample, CongestionControl, CongestionEvent, Control, LAWS, LawSpec, MIN_SSTHRESH, STARTS, Signal, StartSpec,
    Windowed,
};
use proptest::prelude::*;

fn every_control() -> impl Iterator<Item = (String, Control)> {
    LAWS.iter().flat_map(|law| {
        STARTS.iter().map(move |start| {
            let control = Windowed::new(
                LawSpec::named(law.card.name).expect("registered").build().expect("defaults are valid"),
                StartSpec::named(start.card.name).expect("registered").build().expect("defaults are valid"),
                2.0,
                f64::INFINITY,
            );
            (format!("{} under {}", law.card.name, start.card.name), control)
        })
    })
}

fn ack(now: Time, acked: f64, control: &Control) -> AckSample {
    let rtt = Span::millis(100);
    let in_flight = control.cwnd().floor();
    AckSample { now, acked, ce_marked: 0.0, rtt: Some(rtt), srtt: rtt, min_rtt: rtt, in_flight, cwnd_limited: true }
}

fn event(now: Time, signal: Signal, control: &Control) -> CongestionEvent {
    let rtt = Span::millis(100);
    CongestionEvent { now, signal, in_flight: control.cwnd(), srtt: rtt, min_rtt: rtt }
}

#[test]
fn every_card_is_complete_and_every_name_is_found_once() {
    let mut names = Vec::new();
    for entry in LAWS.iter().chain(STARTS) {
        let card = entry.card;
        assert!(!card.title.is_empty() && !card.source.is_empty(), "{} lacks title or source", card.name);
        names.extend(std::iter::once(card.name).chain(card.aliases.iter().copied()));
        for row in (entry.rows)() {
            assert!(row.meaning.ends_with('.'), "{}.{}: the meaning is a sentence", card.name, row.name);
        }
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two things share a name");
}

#[test]
fn a_loss_leaves_less_than_there_was_and_a_timeout_one_segment() {
    for (name, control) in every_control() {
        let mut big = control.clone();
        for i in 0..20_000u64 {
            let sample = ack(Time(i), 1.0, &big);
            big.on_ack(&sample);
        }
        let before = big.cwnd();
        assert!(before > 10.0, "{name} grows, got {before}");
        let mut cut = big.clone();
        cut.on_congestion(&event(Time(1), Signal::Loss, &big));
        assert!(cut.cwnd() < before && cut.cwnd() >= MIN_SSTHRESH, "{name} keeps {} of {before}", cut.cwnd());
        assert_eq!(cut.cwnd(), cut.ssthresh(), "{name}: congestion avoidance follows a loss");
        let mut out = big.clone();
        out.on_congestion(&event(Time(1), Signal::Timeout, &big));
        assert_eq!(out.cwnd(), 1.0, "{name} restarts from one segment");
    }
}

#[test]
fn an_ack_that_the_window_did_not_hold_back_changes_nothing() {
    for (name, mut control) in every_control() {
        let before = control.cwnd();
        let idle = AckSample { cwnd_limited: false, ..ack(Time(0), 1.0, &control) };
        control.on_ack(&idle);
        assert_eq!(control.cwnd(), before, "{name}");
    }
}

#[derive(Clone, Debug)]
enum Happening {
    Acks(u32),
    BigAck(u8),
    Loss,
    Mark,
    Timeout,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (1u32..3000).prop_map(Happening::Acks),
        1 => (2u8..200).prop_map(Happening::BigAck),
        2 => Just(Happening::Loss),
        1 => Just(Happening::Mark),
        1 => Just(Happening::Timeout),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The window stays finite and at least one segment; a run of ACKs taken as steps gives the bits that single ACKs
    /// give.
    #[test]
    fn windows_stay_sane_and_steps_are_exact(script in prop::collection::vec(happening(), 1..60)) {
        for (name, mut one_by_one) in every_control() {
            let mut stepped = one_by_one.clone();
            let mut now = Time::ZERO;
            for what in &script {
                now += Span::millis(100);
                match what {
                    Happening::Acks(n) => {
                        for _ in 0..*n {
                            let sample = ack(now, 1.0, &one_by_one);
                            one_by_one.on_ack(&sample);
                        }
                        let mut left = *n;
                        while left > 0 {
                            match stepped.step() {
                                Some(step) if stepped.cwnd() + step.gain < step.below => {
                                    stepped.advance(step, 1);
                                }
                                _ => { let sample = ack(now, 1.0, &stepped); stepped.on_ack(&sample); }
                            }
                            left -= 1;
                            // Half of them two at a time, to see that multiplication and addition agree.
                            if let Some(step) = stepped.step()
                                && left >= 7 && stepped.cwnd() + 7.0 * step.gain < step.below
                            {
                                stepped.advance(step, 7);
                                left -= 7;
                            }
                        }
                    }
                    Happening::BigAck(n) => for c in [&mut one_by_one, &mut stepped] {
                        let sample = ack(now, f64::from(*n), c);
                        c.on_ack(&sample);
                    },
                    Happening::Loss | Happening::Mark | Happening::Timeout => {
                        let signal = match what {
                            Happening::Loss => Signal::Loss,
                            Happening::Mark => Signal::Ecn,
                            _ => Signal::Timeout,
                        };
                        for c in [&mut one_by_one, &mut stepped] {
                            let e = event(now, signal, c);
                            c.on_congestion(&e);
                        }
                    }
                }
                prop_assert!(one_by_one.cwnd().is_finite() && one_by_one.cwnd() >= 1.0, "{name}: {}", one_by_one.cwnd());
                prop_assert!(one_by_one.ssthresh() >= MIN_SSTHRESH, "{name}");
                prop_assert_eq!(one_by_one.cwnd().to_bits(), stepped.cwnd().to_bits(), "{}", name);
            }
        }
    }
}

//! Promises that every registered law keeps under every slow start, whatever happens to it.

use base::{Span, Time};
use law::{
    AckSample, CongestionControl, CongestionEvent, Control, LAWS, LawSpec, MIN_SSTHRESH, STARTS, Signal, StartSpec,
};
use proptest::prelude::*;

fn every_control() -> impl Iterator<Item = (String, Control)> {
    LAWS.iter().flat_map(|law| {
        STARTS.iter().map(move |start| {
            let law = LawSpec::named(law.card.name).expect("registered");
            let start = StartSpec::named(start.card.name).expect("registered");
            let control = law.build(&start, 2.0, f64::INFINITY).expect("defaults are valid");
            (format!("{} under {}", law.card().name, start.card().name), control)
        })
    })
}

/// Those that only answer ACKs and congestion: all but the ones that rule their window by deliveries.
fn every_window_law() -> impl Iterator<Item = (String, Control)> {
    every_control().filter(|(_, control)| !control.needs().deliveries)
}

fn ack(now: Time, acked: f64, control: &Control) -> AckSample {
    AckSample { acked, in_flight: control.cwnd().floor(), ..AckSample::plain(now, Span::millis(100)) }
}

fn event(now: Time, signal: Signal, control: &Control) -> CongestionEvent {
    CongestionEvent { in_flight: control.cwnd(), ..CongestionEvent::plain(now, signal, Span::millis(100)) }
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
    for (name, control) in every_window_law() {
        let mut big = control.clone();
        for i in 0..20_000u64 {
            let sample = AckSample { round_start: i % 100 == 0, ..ack(Time::ZERO + Span::millis(i), 1.0, &big) };
            big.on_ack(&sample);
        }
        let (before, now) = (big.cwnd(), Time::ZERO + Span::secs(20));
        assert!(before > 10.0, "{name} grows, got {before}");
        let mut cut = big.clone();
        cut.on_congestion(&event(now, Signal::Loss, &big));
        assert!(cut.cwnd() < before && cut.cwnd() >= MIN_SSTHRESH, "{name} keeps {} of {before}", cut.cwnd());
        assert_eq!(cut.cwnd(), cut.ssthresh(), "{name}: congestion avoidance follows a loss");
        let mut out = big.clone();
        out.on_congestion(&event(now, Signal::Timeout, &big));
        assert_eq!(out.cwnd(), 1.0, "{name} restarts from one segment");
    }
}

#[test]
fn an_ack_that_the_window_did_not_hold_back_changes_nothing() {
    for (name, mut control) in every_window_law() {
        let before = control.cwnd();
        let idle = AckSample { cwnd_limited: false, ..ack(Time(0), 1.0, &control) };
        control.on_ack(&idle);
        assert_eq!(control.cwnd(), before, "{name}");
    }
}

#[derive(Clone, Debug)]
enum Happening {
    /// A round trip of so many ACKs that takes so many milliseconds.
    Acks(u32, u64),
    BigAck(u8),
    Loss,
    Mark,
    Timeout,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (1u32..3000, 100u64..400).prop_map(|(n, ms)| Happening::Acks(n, ms)),
        1 => (2u8..200).prop_map(Happening::BigAck),
        2 => Just(Happening::Loss),
        1 => Just(Happening::Mark),
        1 => Just(Happening::Timeout),
    ]
}

/// What a sample says besides the window.
struct Path {
    now: Time,
    delivered: u64,
    rtt: Span,
}

impl Path {
    fn ack(&mut self, acked: f64, round_start: bool, control: &mut Control) {
        self.delivered += acked as u64;
        self.now += Span::micros(10);
        let sample = AckSample {
            rtt: Some(self.rtt),
            srtt: self.rtt,
            delivered: self.delivered,
            round_start,
            ..ack(self.now, acked, control)
        };
        control.on_ack(&sample);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The window stays finite and at least one segment; a run of ACKs taken as steps gives the bits that single ACKs
    /// give.
    #[test]
    fn windows_stay_sane_and_steps_are_exact(script in prop::collection::vec(happening(), 1..40)) {
        for (name, mut one_by_one) in every_window_law() {
            let mut stepped = one_by_one.clone();
            let mut path = Path { now: Time::ZERO, delivered: 0, rtt: Span::millis(100) };
            for what in &script {
                path.now += Span::millis(100);
                match what {
                    Happening::Acks(n, ms) => {
                        path.rtt = Span::millis(*ms);
                        let (now, delivered) = (path.now, path.delivered);
                        for i in 0..*n {
                            path.ack(1.0, i == 0, &mut one_by_one);
                        }
                        (path.now, path.delivered) = (now, delivered);
                        let mut left = *n;
                        while left > 0 {
                            // The ACK that begins the round is never taken as a step.
                            let begins = left == *n;
                            match stepped.step() {
                                Some(step) if !begins && stepped.cwnd() + step.gain < step.below => {
                                    stepped.advance(step, 1);
                                    (path.now, path.delivered) = (path.now + Span::micros(10), path.delivered + 1);
                                }
                                _ => path.ack(1.0, begins, &mut stepped),
                            }
                            left -= 1;
                            // Half of them several at a time, to see that multiplication and addition agree.
                            if let Some(step) = stepped.step()
                                && left >= 7 && stepped.cwnd() + 7.0 * step.gain < step.below
                            {
                                stepped.advance(step, 7);
                                (path.now, path.delivered) = (path.now + Span::micros(70), path.delivered + 7);
                                left -= 7;
                            }
                        }
                    }
                    Happening::BigAck(n) => {
                        let (now, delivered) = (path.now, path.delivered);
                        path.ack(f64::from(*n), false, &mut one_by_one);
                        (path.now, path.delivered) = (now, delivered);
                        path.ack(f64::from(*n), false, &mut stepped);
                    }
                    Happening::Loss | Happening::Mark | Happening::Timeout => {
                        let signal = match what {
                            Happening::Loss => Signal::Loss,
                            Happening::Mark => Signal::Ecn,
                            _ => Signal::Timeout,
                        };
                        for c in [&mut one_by_one, &mut stepped] {
                            let e = CongestionEvent { delivered: path.delivered, ..event(path.now, signal, c) };
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

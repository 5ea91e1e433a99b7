//! Properties that every registered law has under every slow start, under any events.

extern crate elephan_law as law;

use base::{Span, Time};
use law::{
    AckSample, CongestionControl, CongestionEvent, Control, Delivery, LAWS, LawSpec, Lost, MIN_SSTHRESH, STARTS,
    Signal, StartSpec, Step,
};
use proptest::prelude::*;

fn every_control() -> impl Iterator<Item = (String, Control)> {
    LAWS.iter().flat_map(|law| {
        // A compiled control opens its window itself.
        let starts = if law.card.name == "bpf" { &STARTS[..1] } else { STARTS };
        starts.iter().map(move |start| {
            let law = LawSpec::named(law.card.name).expect("registered");
            let start = StartSpec::named(start.card.name).expect("registered");
            let control = law.build(&start, 2.0, f64::INFINITY).expect("defaults are valid");
            (format!("{} under {}", law.card().name, start.card().name), control)
        })
    })
}

/// All controls that only answer ACKs and congestion, not those that set their window by deliveries.
fn every_window_law() -> impl Iterator<Item = (String, Control)> {
    every_control().filter(|(_, control)| !control.needs().deliveries)
}

/// All controls that set their window by deliveries; they do not use a slow start.
fn every_controller() -> impl Iterator<Item = (String, Control)> {
    every_control().filter(|(name, control)| control.needs().deliveries && name.ends_with("under classic"))
}

fn ack(now: Time, acked: f64, control: &Control) -> AckSample {
    AckSample { acked, in_flight: control.cwnd().floor(), ..AckSample::plain(now, Span::millis(100)) }
}

fn event(now: Time, signal: Signal, control: &Control) -> CongestionEvent {
    // After a timeout nothing counts as in flight.
    let in_flight = if signal == Signal::Timeout { 0.0 } else { control.cwnd() };
    CongestionEvent { in_flight, ..CongestionEvent::plain(now, signal, Span::millis(100)) }
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
    /// A round trip with this number of ACKs, and its duration in milliseconds.
    Acks(u32, u64),
    BigAck(u8),
    /// Feedback of routers, for laws that use it; and whether the window was the limit.
    Feedback(f64, bool),
    Loss,
    Mark,
    Timeout,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (1u32..3000, 100u64..400).prop_map(|(n, ms)| Happening::Acks(n, ms)),
        1 => (2u8..200).prop_map(Happening::BigAck),
        2 => (prop_oneof![-1e4..1e4f64, Just(f64::INFINITY)], any::<bool>())
            .prop_map(|(feedback, limited)| Happening::Feedback(feedback, limited)),
        2 => Just(Happening::Loss),
        1 => Just(Happening::Mark),
        1 => Just(Happening::Timeout),
    ]
}

/// State of a sample besides the window.
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

    /// ACKs taken at once.
    fn run(&mut self, step: Step, acks: u32, control: &mut Control) {
        control.advance(step, acks);
        let (from, rtt) = (self.now, self.rtt);
        control.on_rtt_samples((1..=u64::from(acks)).map(|i| (from + Span::micros(10 * i), rtt)));
        self.delivered += u64::from(acks);
        self.now += Span::micros(10 * u64::from(acks));
    }
}

/// Configuration with `count` random cases, or with those that `PROPTEST_CASES` asks for (`make fuzz`).
fn cases(count: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if set { asked.cases } else { count }, ..asked }
}

proptest! {
    #![proptest_config(cases(64))]
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
                                    path.run(step, 1, &mut stepped);
                                }
                                _ => path.ack(1.0, begins, &mut stepped),
                            }
                            left -= 1;
                            // As many segments as slow start adds, or a few of them.
                            let opening = stepped.opening().min(left).min(if left % 2 == 0 { 5 } else { u32::MAX });
                            if left < *n && opening > 0 {
                                stepped.open(opening);
                                path.delivered += u64::from(opening);
                                path.now += Span::micros(10 * u64::from(opening));
                                left -= opening;
                            }
                            // Half of them several at a time, to see that multiplication and addition agree.
                            if let Some(step) = stepped.step()
                                && left >= 7 && step.acks >= 7 && stepped.cwnd() + 7.0 * step.gain < step.below
                            {
                                path.run(step, 7, &mut stepped);
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
                    Happening::Feedback(feedback, limited) => {
                        for c in [&mut one_by_one, &mut stepped] {
                            c.on_feedback(*feedback, *limited);
                            prop_assert!(c.header(path.rtt).is_some() == c.needs().headers, "{name}");
                        }
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

/// A sender and its path as far as deliveries depend on them: what the control allows is sent, segments are acknowledged
/// in order.
struct Deliveries {
    now: Time,
    rtt: Span,
    /// Deliveries so far when the last segments left, and losses.
    sent_at: Vec<(u64, f64)>,
    delivered: u64,
    lost: f64,
    recovering: bool,
}

impl Deliveries {
    fn new() -> Self {
        Self {
            now: Time::ZERO,
            rtt: Span::millis(100),
            sent_at: Vec::new(),
            delivered: 0,
            lost: 0.0,
            recovering: false,
        }
    }

    /// Fills the window, a thousand segments at most.
    fn fill(&mut self, control: &Control) {
        while self.sent_at.len() < control.cwnd().min(1000.0) as usize {
            self.sent_at.push((self.delivered, self.lost));
        }
    }

    /// All in flight comes to something in one round trip: `lost` of it, evenly, is lost, the rest acknowledged by
    /// `at_once` segments per ACK. `timed` says whether that gives rates and round-trip times.
    fn round(&mut self, control: &mut Control, lost: usize, at_once: usize, timed: bool, app_limited: bool) {
        self.fill(control);
        let sent = std::mem::take(&mut self.sent_at);
        let flight = sent.len() as f64;
        let step = Span(self.rtt.0 / (sent.len() as u64 + 1));
        for (i, part) in sent.chunks(at_once).enumerate() {
            self.now += Span(step.0 * part.len() as u64);
            let gone = if i < lost { 1.0 } else { 0.0 };
            let (prior_delivered, lost_before) = part[part.len() - 1];
            self.delivered += part.len() as u64 - gone as u64;
            if gone > 0.0 {
                self.lost += gone;
                control.on_lost(&Lost {
                    now: self.now,
                    delivered: self.delivered,
                    prior_delivered: part[0].0,
                    tx_in_flight: flight,
                    lost: self.lost - part[0].1,
                    app_limited,
                });
                if !self.recovering {
                    self.signal(control, Signal::Loss);
                }
            }
            control.on_delivery(&Delivery {
                now: self.now,
                newly_delivered: part.len() as f64 - gone,
                newly_lost: gone,
                delivered: self.delivered,
                prior_delivered,
                interval: timed.then_some(self.rtt),
                app_limited,
                rtt: timed.then_some(self.rtt),
                min_rtt: Span::millis(10),
                prior_in_flight: flight,
                in_flight: flight - part.len() as f64,
                tx_in_flight: flight,
                lost: self.lost - lost_before,
                recovering: self.recovering,
            });
        }
    }

    fn signal(&mut self, control: &mut Control, signal: Signal) {
        self.recovering |= signal != Signal::Ecn;
        let e = CongestionEvent { delivered: self.delivered, ..event(self.now, signal, control) };
        control.on_congestion(&e);
    }

    fn recover(&mut self, control: &mut Control) {
        if std::mem::take(&mut self.recovering) {
            control.on_recovered();
        }
    }
}

#[test]
fn a_controller_grows_falls_to_one_on_a_timeout_and_comes_back() {
    for (name, mut control) in every_controller() {
        let mut path = Deliveries::new();
        for _ in 0..6 {
            path.round(&mut control, 0, 1, true, false);
        }
        let before = control.cwnd();
        assert!(before > 10.0, "{name} grows, got {before}");
        assert!(control.step().is_none(), "{name} takes every ACK by itself");
        path.signal(&mut control, Signal::Timeout);
        assert_eq!(control.cwnd(), 1.0, "{name} restarts from one segment");
        path.recover(&mut control);
        assert!(control.cwnd() >= before / 2.0, "{name} keeps {} of {before} once all is repaired", control.cwnd());
        let mut tahoe = control.clone();
        tahoe.collapse();
        assert_eq!(tahoe.cwnd(), 1.0, "{name}");
    }
}

#[derive(Clone, Debug)]
enum Round {
    /// Round-trip time in milliseconds, losses, segments per ACK, whether there are samples, whether the application
    /// was behind.
    Acks(u64, usize, usize, bool, bool),
    Pause(u64),
    Mark,
    Timeout,
    Recovered,
}

fn round() -> impl Strategy<Value = Round> {
    prop_oneof![
        12 => (10u64..1000, 0usize..40, 1usize..50, prop::bool::weighted(0.9), prop::bool::weighted(0.1))
            .prop_map(|(ms, lost, at_once, timed, app)| Round::Acks(ms, lost.saturating_sub(25), at_once, timed, app)),
        1 => (1u64..20_000).prop_map(Round::Pause),
        1 => Just(Round::Mark),
        1 => Just(Round::Timeout),
        3 => Just(Round::Recovered),
    ]
}

proptest! {
    #![proptest_config(cases(128))]
    /// Whatever is delivered, lost or marked: a window of at least one segment, and a pace that a sender can keep.
    #[test]
    fn controllers_stay_sane(script in prop::collection::vec(round(), 1..150)) {
        for (name, mut control) in every_controller() {
            let mut path = Deliveries::new();
            for what in &script {
                match *what {
                    Round::Acks(ms, lost, at_once, timed, app_limited) => {
                        path.rtt = Span::millis(ms);
                        path.round(&mut control, lost, at_once, timed, app_limited);
                    }
                    Round::Pause(ms) => path.now += Span::millis(ms),
                    Round::Mark => path.signal(&mut control, Signal::Ecn),
                    Round::Timeout => {
                        path.signal(&mut control, Signal::Timeout);
                        prop_assert_eq!(control.cwnd(), 1.0, "{}", name);
                    }
                    Round::Recovered => path.recover(&mut control),
                }
                prop_assert!(control.cwnd().is_finite() && control.cwnd() >= 1.0, "{name}: {}", control.cwnd());
                let pace = control.pacing_rate().unwrap_or(1.0);
                prop_assert!(pace.is_finite() && pace > 0.0, "{name}: {pace}");
                let mut gauges = Vec::new();
                control.gauges(&mut |gauge, x| gauges.push((gauge, x)));
                prop_assert!(gauges.iter().all(|gauge| gauge.1.is_finite()), "{name}: {gauges:?}");
            }
        }
    }
}

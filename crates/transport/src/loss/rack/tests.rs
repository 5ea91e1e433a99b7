//! Tests of RACK against a version that examines every segment each time, of rows of ACKs against single ones, and of
//! the steps per segment.

use super::*;
use base::steps::steps;
use proptest::prelude::*;

const SRTT: Span = Span(40);
const MIN_RTT: Span = Span(20);

/// RACK state that examines every segment each time.
#[derive(Default)]
struct Plain {
    segments: Vec<Segment>,
    una: u64,
    latest: (Time, u64),
    rtt: Span,
    window: Span,
}

#[derive(Clone, Copy)]
struct Segment {
    left: Time,
    again: bool,
    lost: bool,
    delivered: bool,
}

impl Plain {
    fn sent(&mut self, now: Time, seq: u64) {
        let again = (seq as usize) < self.segments.len();
        let segment = Segment { left: now, again, lost: false, delivered: false };
        if again { self.segments[seq as usize] = segment } else { self.segments.push(segment) }
    }

    fn update(&mut self, now: Time, ack: &Ack) {
        for seq in (self.una..ack.cum).chain(ack.blocks().iter().flat_map(|&(start, end)| start..end)) {
            let segment = &mut self.segments[seq as usize];
            if std::mem::replace(&mut segment.delivered, true) || (segment.again && now - segment.left < MIN_RTT) {
                continue;
            }
            if (segment.left, seq) > self.latest {
                (self.latest, self.rtt) = ((segment.left, seq), now - segment.left);
            }
        }
        self.una = self.una.max(ack.cum);
    }

    fn outstanding(&self, which: impl Fn(&Segment) -> bool) -> impl Iterator<Item = (u64, &Segment)> {
        (0..).zip(&self.segments).skip(self.una as usize).filter(move |(_, segment)| which(segment))
    }

    fn sacked(&self) -> u32 {
        self.outstanding(|segment| segment.delivered).count() as u32
    }

    fn next_lost(&self) -> Option<u64> {
        self.outstanding(|segment| segment.lost && !segment.delivered).next().map(|(seq, _)| seq)
    }

    fn earliest(&self) -> Option<(Time, u64)> {
        let unjudged = self.outstanding(|segment| !segment.lost && !segment.delivered);
        unjudged.map(|(seq, segment)| (segment.left, seq)).min()
    }

    fn detect(&mut self, now: Time, recovering: bool) -> (Time, Vec<u64>) {
        let patient = !(recovering || self.sacked() >= DUP_THRESH);
        self.window = if patient { Span(MIN_RTT.0 / 4) } else { Span::ZERO };
        let mut lost = Vec::new();
        while let Some((left, seq)) = self.earliest().filter(|first| *first < self.latest) {
            if left + self.rtt + self.window > now {
                return (self.latest.0 + self.rtt + self.window, lost);
            }
            self.segments[seq as usize].lost = true;
            lost.push(seq);
        }
        (Time::NEVER, lost)
    }

    fn on_timeout(&mut self, now: Time) -> Vec<u64> {
        let mut lost = Vec::new();
        while let Some((_, seq)) = self.earliest().filter(|first| first.0 + self.rtt + self.window <= now) {
            self.segments[seq as usize].lost = true;
            lost.push(seq);
        }
        if let Some(first) = self.segments.get_mut(self.una as usize).filter(|first| !first.lost) {
            first.lost = true;
            lost.push(self.una);
        }
        lost
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u64),
    SendAgain,
    Ack { up: u64, block: (u64, u64) },
    TimeOut,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1u64..8).prop_map(Step::Send),
        Just(Step::SendAgain),
        (0u64..3, 0u64..12, 1u64..5).prop_map(|(up, at, length)| Step::Ack { up, block: (at, length) }),
        (0u64..3, 0u64..12, 1u64..5).prop_map(|(up, at, length)| Step::Ack { up: up / 2, block: (at, length) }),
        Just(Step::TimeOut),
    ]
}

proptest! {
    #[test]
    fn agrees_with_a_version_that_examines_every_segment(script in prop::collection::vec((step(), 0u64..15), 1..80)) {
        let (mut rack, mut sent, mut plain) = (Rack::new(), Departures::default(), Plain::default());
        let mut now = Time(1000);
        for (step, wait) in script {
            now += Span(wait);
            let nxt = plain.segments.len() as u64;
            match step {
                Step::Send(n) => {
                    for seq in nxt..nxt + n {
                        sent.sent(seq, now);
                        plain.sent(now, seq);
                    }
                }
                Step::SendAgain => {
                    if let Some(seq) = rack.next_lost(&sent) {
                        rack.on_retransmit(&sent, now, seq);
                        sent.sent(seq, now);
                        plain.sent(now, seq);
                    }
                }
                Step::Ack { up, block: (at, length) } => {
                    let mut cum = (plain.una + up).min(nxt);
                    while plain.segments.get(cum as usize).is_some_and(|segment| segment.delivered) {
                        cum += 1;
                    }
                    let (start, end) = ((cum + 1 + at).min(nxt), (cum + 1 + at + length).min(nxt));
                    let blocks: &[_] = if start < end { &[(start, end)] } else { &[] };
                    let ack = Ack::new(cum, blocks, false);
                    rack.update(&mut sent, now, plain.una, &ack, MIN_RTT, |_, _| {});
                    plain.update(now, &ack);
                    let mut lost = Vec::new();
                    let found =
                        rack.detect(&mut sent, now, Outstanding { una: plain.una, nxt }, up == 2, SrttAndMin { srtt: SRTT, min: MIN_RTT }, |seq| lost.push(seq));
                    prop_assert_eq!((found, lost), plain.detect(now, up == 2));
                }
                Step::TimeOut => {
                    let mut lost = Vec::new();
                    rack.on_timeout(&mut sent, now, Outstanding { una: plain.una, nxt }, |seq| lost.push(seq));
                    prop_assert_eq!(lost, plain.on_timeout(now));
                }
            }
            prop_assert_eq!(rack.next_lost(&sent), plain.next_lost());
            let lost = plain.outstanding(|segment| segment.lost && !segment.delivered).count() as u32;
            let nxt = plain.segments.len() as u64;
            prop_assert_eq!(rack.pipe(plain.una, nxt), (nxt - plain.una) as u32 - plain.sacked() - lost);
            prop_assert_eq!((rack.sacked(), rack.has_lost()), (plain.sacked(), lost > 0));
        }
    }
}

#[test]
fn retransmissions_of_one_instant_are_ordered_by_number() {
    // RFC 8985, Section 6.2, step 2: of two that left at one time the one with the higher number was sent after.
    let (mut rack, mut sent) = (Rack::new(), Departures::default());
    (0..3).for_each(|seq| sent.sent(seq, Time(1)));
    rack.on_timeout(&mut sent, Time(5), Outstanding { una: 0, nxt: 3 }, |_| ());
    for seq in [2, 0, 1] {
        rack.on_retransmit(&sent, Time(10), seq);
        sent.sent(seq, Time(10));
    }
    rack.update(&mut sent, Time(40), 0, &Ack::new(0, &[(1, 2)], false), MIN_RTT, |_, _| {});
    let mut lost = Vec::new();
    let timer = rack.detect(
        &mut sent,
        Time(80),
        Outstanding { una: 0, nxt: 3 },
        true,
        SrttAndMin { srtt: SRTT, min: MIN_RTT },
        |seq| lost.push(seq),
    );
    assert_eq!((timer, lost), (Time::NEVER, vec![0]), "segment 2 was sent after segment 1, which has arrived");
}

#[test]
fn a_row_of_acks_equals_single_acks() {
    // One segment is sent each picosecond, and the first is lost. It is sent again at 25, before the segments from 20
    // on.
    let (mut rack, mut sent) = (Rack::new(), Departures::default());
    (0..20).for_each(|seq| sent.sent(seq, Time(seq)));
    let now = Time(24);
    rack.update(&mut sent, now, 0, &Ack::new(0, &[(1, 4)], false), MIN_RTT, |_, _| {});
    rack.detect(&mut sent, now, Outstanding { una: 0, nxt: 20 }, true, SrttAndMin { srtt: SRTT, min: MIN_RTT }, |_| ());
    rack.on_retransmit(&sent, Time(25), 0);
    sent.sent(0, Time(25));
    (20..24).for_each(|seq| sent.sent(seq, Time(seq + 6)));
    let (mut single, mut same, times) = (rack.clone(), sent.clone(), (0..30).map(|k| Time(25 + k)));
    let singles = times.clone().take_while(|now| single.extend(&mut same, *now).is_some()).count();
    assert_eq!(rack.extend_row(&mut sent, times, |_, _| {}), 16, "only those sent before the retransmission");
    assert_eq!((singles, format!("{rack:?}")), (16, format!("{single:?}")));
    assert_eq!(rack.extend_row(&mut sent, std::iter::once(Time(60)), |_, _| {}), 0);
}

/// Steps per segment sent, for a window of `n` segments. Every other segment is lost, and every third retransmission.
/// At each tick one segment arrives or is lost, and one is sent, for eight windows.
fn steps_per_segment(n: u64) -> f64 {
    let (mut rack, mut sent, before) = (Rack::new(), Departures::default(), steps());
    let mut held = Ranges::default();
    let (mut una, mut nxt, mut resent) = (0, 0, 0);
    let mut path: VecDeque<Option<u64>> = VecDeque::new();
    for tick in 0..9 * n {
        let now = Time(1000 + tick);
        if tick >= n
            && let Some(Some(seq)) = path.pop_front()
        {
            let (start, end) = held.insert(seq, seq + 1, |_, _| {});
            let ack = if start == una { Ack::new(end, &[], false) } else { Ack::new(una, &[(start, end)], false) };
            rack.update(&mut sent, now, una, &ack, Span(n), |_, _| {});
            if start == una {
                una = end;
                held.remove_below(end);
            }
            rack.detect(
                &mut sent,
                now,
                Outstanding { una, nxt },
                true,
                SrttAndMin { srtt: Span(n), min: Span(n) },
                |_| (),
            );
        }
        let lost = rack.next_lost(&sent);
        let seq = lost.unwrap_or(nxt);
        if lost.is_some() {
            rack.on_retransmit(&sent, now, seq);
            resent += 1;
            path.push_back((resent % 3 != 0).then_some(seq));
        } else {
            nxt += 1;
            path.push_back((seq % 2 != 0).then_some(seq));
        }
        sent.sent(seq, now);
    }
    assert!(resent > 3 * n, "{resent}");
    (steps() - before) as f64 / (9 * n) as f64
}

#[test]
fn large_windows_cost_no_more_per_segment_than_small_ones() {
    let (small, large) = (steps_per_segment(2_000), steps_per_segment(16_000));
    // Each segment is examined a few times, and each arrival moves half a piece of runs.
    assert!(small < 150.0 && large < 1.3 * small, "{small} {large}");
}

#[test]
fn the_window_widens_by_a_quarter_for_each_round_trip_with_duplicates_and_persists_for_16_recoveries() {
    let mut rack = Rack::new();
    let times = SrttAndMin { srtt: Span(1000), min: Span(100) };
    let duplicate = |cum| {
        let mut ack = Ack::new(cum, &[], false);
        ack.report_duplicate((0, 1));
        ack
    };
    let none = Departures::default();
    rack.note_order(&none, &duplicate(5), Outstanding { una: 5, nxt: 10 });
    assert_eq!(rack.patience(times), Span(25), "the window adapts only after `expect_reordering`");
    rack.expect_reordering();
    for n in 1..=50 {
        // Three duplicates in one round trip count as one.
        for cum in [10 * n, 10 * n + 1, 10 * n + 9] {
            rack.note_order(&none, &duplicate(cum), Outstanding { una: cum, nxt: 10 * n + 10 });
        }
        assert_eq!(rack.patience(times), Span((25 * (n + 1)).min(1000)), "(n + 1) min_rtt / 4, at most srtt");
    }
    for _ in 0..15 {
        rack.end_recovery();
    }
    assert_eq!(rack.patience(times), Span(1000));
    rack.end_recovery();
    assert_eq!(rack.patience(times), Span(25));
}

#[test]
fn the_degree_of_reordering_is_that_of_linux() {
    // Linux, `tcp_check_sack_reordering`: from the first late segment to the end of the highest SACKed one.
    let mut rack = Rack::new();
    rack.expect_reordering();
    let mut sent = Departures::default();
    (0..400).for_each(|seq| sent.sent(seq, Time(1000 + seq)));
    let sack = |rack: &mut Rack, sent: &mut Departures, block| {
        let ack = Ack::new(0, &[block], false);
        rack.note_order(sent, &ack, Outstanding { una: 0, nxt: 400 });
        rack.update(sent, Time(2000), 0, &ack, MIN_RTT, |_, _| {});
        rack.reordering()
    };
    assert_eq!(sack(&mut rack, &mut sent, (3, 4)), 3, "nothing is late");
    assert_eq!(sack(&mut rack, &mut sent, (2, 3)), 3, "two are no more than the usual three");
    assert_eq!(sack(&mut rack, &mut sent, (7, 8)), 3);
    assert_eq!(sack(&mut rack, &mut sent, (4, 5)), 4);
    assert_eq!(sack(&mut rack, &mut sent, (399, 400)), 4);
    assert_eq!(sack(&mut rack, &mut sent, (8, 9)), 300, "392, of which 300 count");
    rack.forget_reordering();
    assert_eq!(rack.reordering(), 300, "fewer are SACKed");
    let mut late = Rack::new();
    late.expect_reordering();
    let mut sent = Departures::default();
    (0..10).for_each(|seq| sent.sent(seq, Time(1000 + seq)));
    assert_eq!(sack(&mut late, &mut sent, (4, 9)), 3);
    late.see_late((2, 3));
    assert_eq!(late.reordering(), 7);
}

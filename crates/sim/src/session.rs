//! Sessions at work, the same for both engines: which transfer opens when and in which place, and what became of each.
//!
//! A place is a TCP connection that carries one transfer after the other, each as a new connection. Of the free places the
//! one with the lowest number is taken. A transfer is measured by when it opened: those from the warm-up on count.

use crate::histogram::Histogram;
use crate::meter::Tally;
use crate::network::{Identity, Marks, SessionPlan};
use crate::{FlowOutcome, PageRow, TransferOutcome, TransferRow};
use base::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use traffic::{AnySession, SessionProcess};

/// One session and its places.
#[derive(Debug)]
pub struct Desk {
    session: AnySession,
    stop: Time,
    free: BinaryHeap<Reverse<u32>>,
}

/// A transfer as its place knows it.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub at: Time,
    pub segments: u32,
}

impl Desk {
    /// A session that opens nothing from `stop` on.
    pub fn new(session: AnySession, places: u32, stop: Time) -> Self {
        Self { session, stop, free: (0..places).map(Reverse).collect() }
    }

    /// When the next transfer is due, as far as is known; it may have been due before, and waited for a place.
    pub fn due(&self) -> Time {
        let due = self.session.due();
        let taken = self.free.is_empty() && self.session.waits();
        if taken || due >= self.stop { Time::NEVER } else { due }
    }

    /// Opens the one that is due: its place and its segments, or nothing if it is refused.
    pub fn open(&mut self, now: Time) -> Option<(u32, u32)> {
        let segments = self.session.open(now);
        self.free.pop().map(|Reverse(place)| (place, segments))
    }

    /// The transfer in `place` has ended. Returns when the page opened that is complete with it.
    pub fn ended(&mut self, now: Time, place: u32) -> Option<Time> {
        self.free.push(Reverse(place));
        self.session.ended(now)
    }
}

/// What became of the transfers of one group. Whatever the order in which it hears of them, it says the same.
#[derive(Clone, Debug)]
pub struct TransferMeter {
    marks: Marks,
    series: bool,
    out: TransferOutcome,
    durations: Histogram,
    slowdowns: Histogram,
    pages: Histogram,
    /// Picoseconds for which transfers were open in the measured period.
    open: u128,
    /// By sample: how many more are open at it than at the one before.
    steps: Vec<i32>,
}

/// Slowdowns are counted in this part of one.
const SLOWDOWN: f64 = 1024.0;

impl TransferMeter {
    pub fn new(marks: Marks, series: bool) -> Self {
        Self {
            marks,
            series,
            out: TransferOutcome::default(),
            durations: Histogram::default(),
            slowdowns: Histogram::default(),
            pages: Histogram::default(),
            open: 0,
            steps: Vec::new(),
        }
    }

    /// One for each group of `identities`, which are in the order of groups.
    pub fn by_group(identities: &[Identity], marks: Marks, series: bool) -> Vec<Self> {
        let groups = identities.last().map_or(0, |last| last.group + 1);
        (0..groups).map(|_| Self::new(marks, series)).collect()
    }

    /// A transfer that was refused at `now`.
    pub fn refused(&mut self, now: Time) {
        self.out.refused += u64::from(now >= self.marks.warmup);
    }

    /// A transfer of `who` that is over for its sender at `ended` (at the end of the run, if it is still open), and was
    /// complete at the receiver at `done`.
    pub fn transfer(&mut self, who: &Identity, open: Open, done: Option<Time>, ended: Time) {
        let Marks { warmup, end, .. } = self.marks;
        self.open += u128::from((ended.min(end).max(warmup) - open.at.min(end).max(warmup)).0);
        self.step(open.at, 1);
        self.step(ended, -1);
        if open.at < warmup {
            return;
        }
        self.out.opened += 1;
        let Some(done) = done else { return };
        let duration = done - open.at;
        self.out.completed += 1;
        self.out.segments += u64::from(open.segments);
        self.out.duration_sum += u128::from(duration.0);
        self.durations.count(duration.0);
        let ideal = who.ideal(open.segments);
        let slowdown = (duration.as_secs() / ideal.as_secs() * SLOWDOWN).round() as u64;
        self.out.slowdown_sum += slowdown;
        self.slowdowns.count(slowdown);
        if self.series {
            let (group, flow, segments) = (who.group, who.index, open.segments);
            self.out.rows.push(TransferRow { opened: open.at, done, group, flow, segments, ideal });
        }
    }

    /// A page that opened at `opened` was complete at the receiver at `done`.
    pub fn page(&mut self, who: &Identity, opened: Time, done: Time) {
        if opened < self.marks.warmup {
            return;
        }
        self.out.pages += 1;
        self.out.page_sum += u128::from((done - opened).0);
        self.pages.count((done - opened).0);
        if self.series {
            self.out.page_rows.push(PageRow { opened, done, group: who.group, flow: who.index });
        }
    }

    /// One more or less is open from `at` on: seen by the first sample after it (what happens at a sample comes after it).
    fn step(&mut self, at: Time, by: i32) {
        let Some(every) = self.marks.every else { return };
        let sample = (at.0 / every.0 + 1) as usize;
        if at < self.marks.end {
            if self.steps.len() <= sample {
                self.steps.resize(sample + 1, 0);
            }
            self.steps[sample] += by;
        }
    }

    pub fn outcome(mut self) -> TransferOutcome {
        let Marks { warmup, end, .. } = self.marks;
        self.out.open_mean = self.open as f64 / (end - warmup).0 as f64;
        self.count_open();
        self.out.durations = self.durations.into_counts();
        self.out.slowdowns = self.slowdowns.into_counts();
        self.out.page_durations = self.pages.into_counts();
        self.out.rows.sort_unstable();
        self.out.page_rows.sort_unstable();
        self.out
    }

    /// What the samples found, those at which nothing had opened yet as well.
    fn count_open(&mut self) {
        let steps = std::mem::take(&mut self.steps).into_iter().chain(std::iter::repeat(0));
        let mut open = 0;
        for (at, step) in self.marks.samples().into_iter().zip(steps) {
            open += step;
            if at >= self.marks.warmup {
                let bin = open as usize;
                if self.out.open_histogram.len() <= bin {
                    self.out.open_histogram.resize(bin + 1, 0);
                }
                self.out.open_histogram[bin] += 1;
            }
            if self.series {
                self.out.open_samples.push(open as u32);
            }
        }
    }
}

impl SessionPlan {
    /// The transfer in sender `f`, one of its places, has ended: it and the page that is complete with it go to `meter`.
    /// With it comes when its sender knew, and when the receiver had everything.
    pub fn close(
        &mut self,
        f: u32,
        (open, ended, done): (Open, Time, Option<Time>),
        who: &Identity,
        meter: &mut TransferMeter,
    ) {
        meter.transfer(who, open, done, ended);
        if let Some(opened) = self.desk.ended(ended, f - self.first) {
            meter.page(who, opened, done.unwrap_or(ended));
        }
    }
}

/// What is left of a sender when the run is over: whose it is, the transfer that is open if it is a place, and its tally.
pub struct Last {
    pub flow: u32,
    pub open: Option<Open>,
    pub tally: Tally,
}

impl Last {
    /// Into the tally of its flow, which the places of a session share, and the transfers of its group.
    pub fn settle(self, identities: &[Identity], tallies: &mut [Tally], meters: &mut [TransferMeter], end: Time) {
        let (who, tally) = (&identities[self.flow as usize], &mut tallies[self.flow as usize]);
        if let Some(open) = self.open {
            meters[who.group as usize].transfer(who, open, self.tally.meter.finished, end);
        }
        if who.session {
            tally.add(&self.tally);
        } else {
            *tally = self.tally;
        }
    }
}

/// The results of all flows and groups.
pub fn outcomes(
    tallies: Vec<Tally>,
    identities: &[Identity],
    mut meters: Vec<TransferMeter>,
    marks: &Marks,
) -> (Vec<FlowOutcome>, Vec<Option<TransferOutcome>>) {
    let mut any = vec![false; meters.len()];
    let flows: Vec<FlowOutcome> =
        tallies.into_iter().zip(identities).map(|(tally, who)| tally.outcome(who, marks)).collect();
    for (flow, who) in flows.iter().zip(identities) {
        let group = who.group as usize;
        any[group] |= who.session || who.finite.is_some();
        if let Some(segments) = who.finite {
            let ended = flow.finished.unwrap_or(marks.end);
            meters[group].transfer(who, Open { at: who.start.min(marks.end), segments }, flow.finished, ended);
        }
    }
    let transfers = meters.into_iter().zip(any).map(|(meter, any)| any.then(|| meter.outcome())).collect();
    (flows, transfers)
}

impl Identity {
    /// The shortest time that a transfer of `segments` can take: each on its way as soon as the one before has left the
    /// slowest link.
    pub fn ideal(&self, segments: u32) -> Span {
        Span(self.alone.0 + u64::from(segments - 1) * self.slowest.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Rate, Stream};
    use traffic::{Offer, Site, TrafficSpec};

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    /// A desk of `places` with transfers of 1, 2 and 3 segments, due together at 1 ms.
    fn desk(kind: &str, places: u32, stop: Time) -> Desk {
        let site =
            Site { packet: Bytes(1000), mss: 960, capacity: Rate(8_000_000), index: 0, flows: 1, start: Time::ZERO };
        let mut spec = TrafficSpec::named(kind).expect("registered");
        if kind == "replay" {
            let flows = base::Value::Text("1 ms 960 B; 1 ms 1920 B; 1 ms 2880 B".into());
            spec.set("flows", &flows).expect("a parameter").expect("a list");
        }
        match spec.offer(&site, || Stream::new(1, 0, ("test", 0), "traffic")) {
            Ok(Offer::Session(session)) => Desk::new(session, places, stop),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_lowest_free_place_is_taken_and_the_others_wait() {
        let mut desk = desk("replay", 2, Time::NEVER);
        assert_eq!((desk.due(), desk.open(ms(1)), desk.open(ms(1))), (ms(1), Some((0, 1)), Some((1, 2))));
        // The third is due, and has no place.
        assert_eq!(desk.due(), Time::NEVER);
        assert_eq!(desk.ended(ms(9), 1), None);
        assert_eq!((desk.due(), desk.open(ms(9))), (ms(9), Some((1, 3))));
        desk.ended(ms(10), 1);
        desk.ended(ms(11), 0);
        assert_eq!((desk.due(), desk.free.pop()), (Time::NEVER, Some(Reverse(0))));
    }

    #[test]
    fn what_does_not_wait_is_refused_and_those_after_it_come_in_their_time() {
        let (mut full, mut free) = (desk("elastic", 1, Time::NEVER), desk("elastic", 9, Time::NEVER));
        let mut opened = Vec::new();
        for _ in 0..9 {
            let now = free.due();
            assert_eq!(full.due(), now);
            opened.push((full.open(now).is_some(), free.open(now).is_some()));
        }
        assert_eq!((opened[0], &opened[1..]), ((true, true), &[(false, true); 8][..]));
    }

    #[test]
    fn nothing_opens_from_the_stop_on() {
        assert_eq!(desk("replay", 1, ms(1)).due(), Time::NEVER);
        let mut desk = desk("replay", 1, Time(ms(1).0 + 1));
        assert_eq!((desk.due(), desk.open(ms(1))), (ms(1), Some((0, 1))));
        // The second was due before the stop, and has its place after it.
        desk.ended(ms(2), 0);
        assert_eq!(desk.due(), Time::NEVER);
    }

    /// Packets of 1 ms on the slowest link, and 10 ms for one alone.
    fn who() -> Identity {
        Identity {
            group: 3,
            index: 4,
            base_rtt: Span::millis(20),
            start: Time::ZERO,
            packet: 1000,
            alone: Span::millis(10),
            slowest: Span::millis(1),
            session: true,
            finite: None,
        }
    }

    /// Measured from 100 to 200 ms, sampled every 50.
    fn meter() -> TransferMeter {
        TransferMeter::new(Marks { warmup: ms(100), end: ms(200), every: Some(Span::millis(50)) }, true)
    }

    fn open(at: u64, segments: u32) -> Open {
        Open { at: ms(at), segments }
    }

    #[test]
    fn transfers_count_that_open_in_the_measured_period_and_time_open_that_lies_in_it() {
        let mut meter = meter();
        // Opened before it, and closed in it: 20 ms; then one of 30 ms, and one still open at the end: 60 ms.
        meter.transfer(&who(), open(90, 5), Some(ms(115)), ms(120));
        meter.transfer(&who(), open(110, 6), Some(ms(130)), ms(140));
        meter.transfer(&who(), open(140, 7), None, ms(200));
        meter.refused(ms(99));
        meter.refused(ms(100));
        meter.page(&who(), ms(99), ms(150));
        meter.page(&who(), ms(100), ms(151));
        let out = meter.outcome();
        assert_eq!((out.opened, out.completed, out.segments, out.refused, out.pages), (2, 1, 6, 1, 1));
        assert_eq!(out.duration_sum, u128::from(Span::millis(20).0));
        let ideal = Span::millis(15);
        let row = TransferRow { opened: ms(110), done: ms(130), group: 3, flow: 4, segments: 6, ideal };
        assert_eq!(out.rows, [row]);
        assert_eq!(out.page_rows, [PageRow { opened: ms(100), done: ms(151), group: 3, flow: 4 }]);
        assert!((out.open_mean - 1.1).abs() < 1e-12, "{}", out.open_mean);
        // 20 ms, where six segments need 10 and 5 ms at least: 4/3, in 1024ths.
        let mut expected = Histogram::default();
        expected.count(1365);
        assert_eq!((out.slowdowns, out.slowdown_sum), (expected.into_counts(), 1365));
        assert_eq!(out.page_sum, u128::from(Span::millis(51).0));
    }

    #[test]
    fn samples_see_what_was_open_just_before_them() {
        let mut meter = meter();
        // Opened at a sample: the next sees it. Closed at one: that one still does.
        meter.transfer(&who(), open(50, 1), Some(ms(99)), ms(100));
        meter.transfer(&who(), open(120, 1), Some(ms(130)), ms(140));
        meter.transfer(&who(), open(140, 1), None, ms(200));
        let out = meter.outcome();
        // At 0, 50, 100 and 150 ms; the last two lie in the measured period.
        assert_eq!((out.open_samples, out.open_histogram), (vec![0, 0, 1, 1], vec![0, 2]));
    }

    #[test]
    fn samples_of_a_group_that_opens_nothing_are_zeros() {
        let out = meter().outcome();
        assert_eq!((out.open_samples, out.open_histogram), (vec![0; 4], vec![2]));
    }
}

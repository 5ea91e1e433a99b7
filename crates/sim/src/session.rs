//! Sessions at work, the same for both engines: which transfer opens when and in which place, and what became of each.
//!
//! A place is a TCP connection that carries one transfer after the other, each as a new connection. Of the free places the
//! one with the lowest number is taken. A transfer is measured by when it opened: those from the warm-up on count.

use crate::histogram::Histogram;
use crate::meter::Tally;
use crate::network::{Identity, Marks};
use crate::{FlowOutcome, PageRow, TransferOutcome, TransferRow};
use base::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use traffic::AnySession;

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
        if !self.steps.is_empty() {
            let mut open = 0;
            let mut samples = self.marks.samples().into_iter().zip(self.steps.into_iter().chain(std::iter::repeat(0)));
            self.out.open_samples = samples.by_ref().map(|(_, step)| (open += step, open as u32).1).collect();
            let first = self.marks.every.map_or(0, |every| warmup.0.div_ceil(every.0)) as usize;
            for &open in self.out.open_samples.get(first..).unwrap_or_default() {
                let open = open as usize;
                if self.out.open_histogram.len() <= open {
                    self.out.open_histogram.resize(open + 1, 0);
                }
                self.out.open_histogram[open] += 1;
            }
            if !self.series {
                self.out.open_samples = Vec::new();
            }
        }
        self.out.durations = self.durations.into_counts();
        self.out.slowdowns = self.slowdowns.into_counts();
        self.out.page_durations = self.pages.into_counts();
        self.out.rows.sort_unstable();
        self.out.page_rows.sort_unstable();
        self.out
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
        any[group] |= who.transfers;
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

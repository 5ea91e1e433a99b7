//! Results of a group's transfers, for both engines. A transfer counts if it opens at or after the end of the warm-up.

use crate::identity::Identity;
use crate::marks::Marks;
use crate::places::SessionPlan;
use crate::places::{ClosedTransfer, OpenTransfer};
use crate::{PageRow, TransferOutcome, TransferRow};
use base::Time;

/// Results of one group's transfers. They do not depend on the order in which transfers are reported.
#[derive(Clone, Debug)]
pub struct TransferMeter {
    marks: Marks,
    series: bool,
    out: TransferOutcome,
    /// Sum of the times for which transfers were open in the measured period, in picoseconds.
    open: u128,
    /// Change of the number of open transfers from one sample to the next.
    steps: Vec<i32>,
}

/// Unit of slowdowns: they are counted in 1024ths.
const SLOWDOWN: f64 = 1024.0;

impl TransferMeter {
    pub fn new(marks: Marks, series: bool) -> Self {
        Self { marks, series, out: TransferOutcome::default(), open: 0, steps: Vec::new() }
    }

    /// One meter for each group of `identities`, which are ordered by group.
    pub fn by_group(identities: &[Identity], marks: Marks, series: bool) -> Vec<Self> {
        let groups = identities.last().map_or(0, |last| last.group + 1);
        (0..groups).map(|_| Self::new(marks, series)).collect()
    }

    /// Counts a transfer that was refused at `now`.
    pub fn refused(&mut self, now: Time) {
        self.out.refused += u64::from(now >= self.marks.warmup);
    }

    /// Records a transfer of `who`. For its sender it ended at `ended` (the end of the run, if it is still open); at the
    /// receiver it was complete at `done`.
    pub fn transfer(&mut self, who: &Identity, open: OpenTransfer, done: Option<Time>, ended: Time) {
        let Marks { warmup, end, .. } = self.marks;
        self.open += u128::from((ended.min(end).max(warmup) - open.opened.min(end).max(warmup)).0);
        self.step(open.opened, 1);
        self.step(ended, -1);
        if open.opened < warmup {
            return;
        }
        self.out.opened += 1;
        let Some(done) = done else { return };
        let duration = done - open.opened;
        self.out.completed += 1;
        self.out.segments += open.segments;
        self.out.duration_sum += u128::from(duration.0);
        self.out.durations.count(duration.0);
        let ideal = who.transfers.as_deref().map_or(duration, |transfers| transfers.ideal(open.segments));
        let slowdown = (duration.as_secs() / ideal.as_secs() * SLOWDOWN).round() as u64;
        self.out.slowdown_sum += slowdown;
        self.out.slowdowns.count(slowdown);
        if self.series {
            let (group, flow, segments) = (who.group, who.index, open.segments);
            self.out.rows.push(TransferRow { opened: open.opened, done, group, flow, segments, ideal });
        }
    }

    /// Counts a page that opened at `opened` and was complete at the receiver at `done`.
    pub fn page(&mut self, who: &Identity, opened: Time, done: Time) {
        if opened < self.marks.warmup {
            return;
        }
        self.out.pages += 1;
        self.out.page_sum += u128::from((done - opened).0);
        self.out.page_durations.count((done - opened).0);
        if self.series {
            self.out.page_rows.push(PageRow { opened, done, group: who.group, flow: who.index });
        }
    }

    /// Notes that the number of open transfers changes by `by` at `at`. The first sample after `at` includes the
    /// change, because a sample comes before other events at its instant.
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
        self.out.rows.sort_unstable();
        self.out.page_rows.sort_unstable();
        self.out
    }

    /// Counts the open transfers at each sample, including samples before the first opening.
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

    /// Counts the transfer that has ended in sender `f`, one of the places of `session`, and the page that it completes, if
    /// any.
    pub fn close(&mut self, session: &mut SessionPlan, f: u32, transfer: ClosedTransfer, who: &Identity) {
        let ClosedTransfer { open, closed, delivered } = transfer;
        self.transfer(who, open, delivered, closed);
        if let Some(opened) = session.places.close(closed, f - session.first_place) {
            self.page(who, opened, delivered.unwrap_or(closed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;
    use crate::identity::Transfers;
    use base::Span;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    /// A packet takes 1 ms on the slowest link, and 10 ms to reach the receiver.
    fn who() -> Identity {
        let transfers = Transfers {
            one_way_latency: Span::millis(10),
            bottleneck_tx_time: Span::millis(1),
            session: true,
            finite: None,
        };
        let transfers = Some(Box::new(transfers));
        Identity { group: 3, index: 4, base_rtt: Span::millis(20), start: Time::ZERO, transfers }
    }

    /// Measured from 100 to 200 ms, with a sample every 50 ms.
    fn meter() -> TransferMeter {
        TransferMeter::new(Marks { warmup: ms(100), end: ms(200), every: Some(Span::millis(50)) }, true)
    }

    fn open(at: u64, segments: u64) -> OpenTransfer {
        OpenTransfer { opened: ms(at), segments }
    }

    #[test]
    fn only_transfers_opened_in_the_measured_period_count_but_all_open_time_in_it() {
        let mut meter = meter();
        // One transfer opened before the period and closed in it (20 ms), one of 30 ms, and one still open at the end
        // (60 ms).
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
        // The transfer took 20 ms, and six segments need at least 10 + 5 ms: the slowdown is 4/3, or 1365 in 1024ths.
        let mut expected = Histogram::default();
        expected.count(1365);
        assert_eq!((out.slowdowns, out.slowdown_sum), (expected, 1365));
        assert_eq!(out.page_sum, u128::from(Span::millis(51).0));
    }

    #[test]
    fn samples_count_the_transfers_open_just_before_them() {
        let mut meter = meter();
        // A transfer opened at a sample counts from the next sample on; one closed at a sample still counts there.
        meter.transfer(&who(), open(50, 1), Some(ms(99)), ms(100));
        meter.transfer(&who(), open(120, 1), Some(ms(130)), ms(140));
        meter.transfer(&who(), open(140, 1), None, ms(200));
        let out = meter.outcome();
        // The samples are at 0, 50, 100 and 150 ms; the last two lie in the measured period.
        assert_eq!((out.open_samples, out.open_histogram), (vec![0, 0, 1, 1], vec![0, 2]));
    }

    #[test]
    fn samples_of_a_group_without_transfers_are_zeros() {
        let out = meter().outcome();
        assert_eq!((out.open_samples, out.open_histogram), (vec![0; 4], vec![2]));
    }
}

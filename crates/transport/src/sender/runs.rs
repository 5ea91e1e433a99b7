//! Batches of ACKs that arrive while nothing is lost, SACKed or marked. The result is the same, to the bit, as with
//! `on_ack` for each.
//!
//! If the law only counts, or decides only at some ACKs (`law::Step`), a whole run costs a few additions (`steady`). If
//! the law is called for every ACK, each ACK costs this call and the segments that it releases (`plain`).

use super::core::Core;
use crate::Wire;
use crate::loss::rules::Loss;
use crate::loss::{LossRecovery, each};
use crate::optional::OptionalState;
use crate::rtt::AckRtt;
use crate::sequence::{MAX_OUTSTANDING, Outstanding};
use crate::state::Phase;
use base::Time;
use law::{AckSample, CongestionControl, Step};

impl<C: CongestionControl> Core<C> {
    /// Number of ACKs in a row, each of the next `each` segments, that each release the same number of new segments and change
    /// only the window, by the control's step. Zero if the next ACK may do more than that.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    pub(super) fn steady(&self, loss: &LossRecovery, each: u32) -> u32 {
        let Some(timed) = self.timed.distance(self.state.seq.una()) else { return 0 };
        let Some(step) = self.state.control.step() else { return 0 };
        let (cwnd, outstanding) = (self.state.control.cwnd(), self.state.seq.outstanding());
        if outstanding != cwnd as u32 || self.state.receive_window < outstanding || !self.is_plain(loss) {
            return 0;
        }
        if each > 1 && !self.counts_all(step, each) {
            return 0;
        }
        // As many gains as stay below the step's end. The quotient is rounded, so the product is checked.
        let room = (step.below - cwnd) / step.gain;
        let mut segments = if room < 1e6 { room as u32 } else { 1_000_000 };
        while segments > 0 && cwnd + step.gain * f64::from(segments) >= step.below {
            segments -= 1;
        }
        segments.min(step.acks).min(timed).min(self.state.seq.unsent().min(u64::from(MAX_OUTSTANDING)) as u32) / each
    }

    /// Number of ACKs in a row, each of the next segment, that each release two new segments and change only the window, which
    /// each opens by one. Zero if the next ACK may do anything else.
    #[inline]
    pub(super) fn opening(&self, loss: &LossRecovery) -> u32 {
        let Some(timed) = self.timed.distance(self.state.seq.una()) else { return 0 };
        let outstanding = self.state.seq.outstanding();
        if self.optional.is_some() || self.departures.is_some() || outstanding != self.state.control.cwnd() as u32 {
            return 0;
        }
        let opening = self.state.control.opening();
        if opening == 0 || !self.is_plain(loss) {
            return 0;
        }
        let unsent = (self.state.seq.unsent() / 2).min(u64::from(MAX_OUTSTANDING)) as u32;
        opening.min(timed).min(unsent).min(self.state.receive_window.saturating_sub(outstanding))
    }

    /// Takes ACKs at `times` as [`Self::opening`] announced.
    #[inline]
    pub(super) fn take_opening(
        &mut self,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        wire: &mut impl Wire,
    ) {
        let (acks, Some(last)) = (times.len() as u32, times.clone().next_back()) else { return };
        self.show_row(times.clone(), 1, 2, wire);
        self.emit_row(times, 2, wire);
        self.state.control.open(acks);
        self.state.seq.acknowledge_first(acks);
        self.state.timers.set_rto(last + self.state.rtt.rto());
    }

    /// Whether an ACK of `each` segments grows the window by `each` gains: slow start accepts all of them, and the law
    /// does not look at single ACKs.
    fn counts_all(&self, step: Step, each: u32) -> bool {
        let opens = self.state.control.cwnd() < self.state.control.ssthresh();
        step.acks == u32::MAX && (!opens || f64::from(each) <= self.abc_limit())
    }

    /// Takes ACKs of `each` segments at `times` as [`Self::steady`] announced.
    #[inline]
    pub(super) fn take_steady(
        &mut self,
        loss: &mut LossRecovery,
        each: u32,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        wire: &mut impl Wire,
    ) {
        let (acks, Some(last)) = (times.len() as u32, times.clone().next_back()) else { return };
        self.show_row(times.clone(), each, each, wire);
        let out = self.state.seq.out();
        self.emit_row(times.clone(), each, wire);
        let segments = acks * each;
        if let Some(step) = self.state.control.step() {
            self.state.control.advance(step, segments);
        }
        self.state.seq.acknowledge_first(segments);
        if self.departures.is_some() {
            each!(loss, loss => self.take_departures(loss, each, out, times));
        }
        self.state.timers.set_rto(last + self.state.rtt.rto());
        if self.departures.is_some() || self.optional.is_some() {
            each!(loss, loss => self.arm_timers(loss, last, true));
        }
    }

    /// Updates the departures for a run of ACKs, each of which released `each` segments at `times`; `una` and `nxt` are as before it.
    fn take_departures(
        &mut self,
        loss: &mut impl Loss,
        each: u32,
        Outstanding { mut una, mut nxt }: Outstanding,
        times: impl Iterator<Item = Time>,
    ) {
        let (every_rtt, stamped, outstanding) =
            (self.state.switches.every_rtt(), self.state.switches.timestamps(), (nxt - una) as u32);
        let Some(departures) = self.departures.as_deref_mut() else { return };
        let mut taken = departures.take(times, each);
        let rtt = &mut self.state.rtt;
        let mut smooth = |oldest, latest| {
            una += u64::from(each);
            rtt.smooth_ack(AckRtt { oldest, latest }, Outstanding { una, nxt }, outstanding);
            nxt += u64::from(each);
        };
        // A law that counts does not take samples, and only such laws take part in runs of delayed ACKs.
        match (every_rtt && each == 1, stamped) {
            (true, false) => self.state.control.on_rtt_samples(&mut taken),
            (true, true) => {
                self.state.control.on_rtt_samples(&mut taken.by_ref().inspect(|&(_, rtt)| smooth(rtt, rtt)));
            }
            (false, false) => taken.by_ref().for_each(drop),
            (false, true) => {
                while let Some((_, latest)) = taken.next() {
                    smooth(taken.oldest, latest);
                }
            }
        }
        let (least, latest, left) = (taken.least, taken.last, taken.left);
        if stamped {
            self.state.rtt.set_rto();
        } else {
            self.state.rtt.observe(least);
            self.state.rtt.observe(latest);
        }
        loss.on_plain_acks(self.state.seq.una() - 1, left, latest, self.state.rtt.srtt_and_min());
    }

    /// Whether an ACK for just the next segments does no more than grow the window, and release what that allows: nothing
    /// is lost, SACKed, marked or paced.
    #[inline]
    pub(super) fn is_plain(&self, loss: &LossRecovery) -> bool {
        self.state.phase == Phase::Open
            && self.state.ecn.is_quiet()
            && !self.state.seq.is_going_back()
            && loss.is_quiet()
            && self.allows_runs()
    }

    /// Whether optional state lets ACKs be taken in a batch: with departures, all of them must be first transmissions.
    #[inline]
    fn allows_runs(&self) -> bool {
        self.optional.as_deref().is_none_or(OptionalState::allows_runs)
            && (self.optional.is_none() && self.departures.is_none() || self.state.seq.is_pristine())
    }

    /// Number of ACKs in a row, each of the next `each` segments, that [`Self::take_plain`] may take: up to the one that may
    /// change the timeout.
    #[inline]
    pub(super) fn plain(&self, loss: &LossRecovery, each: u32) -> u32 {
        if !self.is_plain(loss) {
            return 0;
        }
        // A law with a step may count again from the next ACK on, so only one ACK is taken here. This does not apply in
        // slow start, with a gain of one segment.
        if self.state.control.step().is_some_and(|step| step.gain < 1.0) {
            return 1;
        }
        self.until_timed(loss, each).min(self.state.seq.outstanding() / each)
    }

    /// Number of ACKs of `each` segments that do not change the timers except by moving them on. The last of them
    /// acknowledges the segment being timed. It is only the next ACK if a timer now waits longer for a delayed ACK,
    /// because that wait may end with this ACK.
    #[inline]
    pub(super) fn until_timed(&self, loss: &LossRecovery, each: u32) -> u32 {
        if loss.expects_delayed_acks() && self.state.rtt.options().may_delay_ack(self.state.seq.outstanding()) {
            return 1;
        }
        self.timed.distance(self.state.seq.una()).map_or(u32::MAX, |distance| distance / each + 1)
    }

    /// Takes ACKs in a row: the time of each, and the number of next segments it acknowledges, which were sent once. At most
    /// [`Self::plain`] of them, none later than a timer.
    #[inline]
    pub fn take_plain(&mut self, loss: &mut impl Loss, acks: impl Iterator<Item = (Time, u32)>, wire: &mut impl Wire) {
        let (every_rtt, stamped) = (self.state.switches.every_rtt(), self.state.switches.timestamps());
        let (mut last, min_rtt, srtt) = (Time::ZERO, self.state.rtt.min(), self.state.rtt.srtt());
        let mut ack = AckSample { srtt, min_rtt, rtt: None, ..AckSample::plain(Time::ZERO, srtt) };
        ack.abc_limit = self.abc_limit();
        let mut latest = None;
        for (now, acked) in acks {
            let (before, una) = (self.state.seq.outstanding(), self.state.seq.una());
            if let Some(rtt) = self.sample(now, una + u64::from(acked)) {
                ack.rtt = Some(rtt);
                (ack.round_start, ack.srtt, ack.min_rtt) = (true, self.state.rtt.srtt(), self.state.rtt.min());
            }
            if let Some((first, left)) = self.departures.as_deref_mut().and_then(|list| list.pop_ends(acked)) {
                let rtt = now - left.time();
                if stamped {
                    let round = Outstanding { una: una + u64::from(acked), nxt: self.state.seq.nxt() };
                    self.state.rtt.smooth_ack(AckRtt { oldest: now - first.time(), latest: rtt }, round, before);
                    ack.srtt = self.state.rtt.srtt();
                } else {
                    self.state.rtt.observe(rtt);
                }
                latest = Some((left.time(), rtt));
                if every_rtt {
                    ack.rtt = Some(rtt);
                }
                ack.min_rtt = self.state.rtt.min();
            }
            self.state.seq.acknowledge_first(acked);
            ack.now = now;
            ack.acked = f64::from(acked);
            ack.in_flight = f64::from(before);
            ack.delivered = self.state.seq.acknowledged();
            ack.cwnd_limited = before >= self.state.control.cwnd() as u32;
            self.state.control.on_ack(&ack);
            (ack.rtt, ack.round_start) = (None, false);
            let end = self.state.seq.end_of_window(self.state.window());
            let room = end.saturating_sub(self.state.seq.nxt()) as u32;
            self.fill_new::<true>(loss, now, room, wire);
            wire.on_window(
                now,
                self.state.control.cwnd(),
                self.state.seq.una(),
                self.state.seq.nxt(),
                self.state.seq.outstanding(),
            );
            last = now;
        }
        if let Some((left, rtt)) = latest {
            if stamped {
                self.state.rtt.set_rto();
            }
            loss.on_plain_acks(self.state.seq.una() - 1, left, rtt, self.state.rtt.srtt_and_min());
        }
        self.state.timers.set_rto(if self.state.seq.outstanding() == 0 {
            Time::NEVER
        } else {
            last + self.state.rtt.rto()
        });
        self.arm_timers(loss, last, true);
    }
}

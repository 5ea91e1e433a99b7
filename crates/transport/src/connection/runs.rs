//! Batches of ACKs that arrive while nothing is lost, SACKed or marked. The result is the same, to the bit, as with
//! `on_ack` for each.
//!
//! Where the law counts, or decides only at some ACKs (`law::Step`), a whole run is a few additions (`steady`). Where it
//! is asked on every ACK, each costs the law and what it releases (`plain`).

use super::Connection;
use crate::recovery::{LossRecovery, RecoveryRules};
use crate::rtt::{AckRtt, Round};
use crate::sequence::MAX_OUTSTANDING;
use crate::{Phase, Wire};
use base::{Flags, Time};
use law::{AckSample, CongestionControl, Step};

impl<C: CongestionControl> Connection<C> {
    /// See [`crate::Sender::steady`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    pub fn steady(&self, recovery: &LossRecovery, each: u32) -> u32 {
        let Some(timed) = self.timed.distance(self.seq.una()) else { return 0 };
        let Some(step) = self.control.step() else { return 0 };
        let (cwnd, outstanding) = (self.control.cwnd(), self.seq.outstanding());
        if outstanding != cwnd as u32 || self.receive_window < outstanding || !self.is_plain(recovery) {
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
        segments.min(step.acks).min(timed).min(self.seq.unsent().min(u64::from(MAX_OUTSTANDING)) as u32) / each
    }

    /// See [`crate::Sender::opening`].
    #[inline]
    pub fn opening(&self, recovery: &LossRecovery) -> u32 {
        let Some(timed) = self.timed.distance(self.seq.una()) else { return 0 };
        let outstanding = self.seq.outstanding();
        if self.optional.is_some() || recovery.keeps_departures() || outstanding != self.control.cwnd() as u32 {
            return 0;
        }
        let opening = self.control.opening();
        if opening == 0 || !self.is_plain(recovery) {
            return 0;
        }
        let unsent = (self.seq.unsent() / 2).min(u64::from(MAX_OUTSTANDING)) as u32;
        opening.min(timed).min(unsent).min(self.receive_window.saturating_sub(outstanding))
    }

    /// See [`crate::Sender::take_opening`].
    #[inline]
    pub fn take_opening(&mut self, acks: u32, last: Time) {
        self.control.open(acks);
        self.seq.slide(acks);
        self.seq.send_row(acks);
        self.counters.sent += 2 * u64::from(acks);
        self.timers.set_rto(last + self.rtt.rto());
    }

    /// Whether an ACK of `each` segments grows the window by `each` gains: slow start accepts all of them, and the law
    /// does not look at single ACKs.
    fn counts_all(&self, step: Step, each: u32) -> bool {
        let opens = self.control.cwnd() < self.control.ssthresh();
        step.acks == u32::MAX && (!opens || f64::from(each) <= self.abc_limit())
    }

    /// See [`crate::Sender::take_steady`].
    #[inline]
    pub fn take_steady(
        &mut self,
        recovery: &mut LossRecovery,
        acks: u32,
        each: u32,
        last: Time,
        times: impl Iterator<Item = Time>,
    ) {
        let segments = acks * each;
        if let Some(step) = self.control.step() {
            self.control.advance(step, segments);
        }
        let (una, nxt) = (self.seq.una(), self.seq.nxt());
        self.seq.slide(segments);
        self.counters.sent += u64::from(segments);
        if let LossRecovery::Rack(rack) = recovery {
            self.take_departures(&mut **rack, each, (una, nxt), times);
        } else if self.optional.is_some() {
            crate::recovery::each!(recovery, recovery => self.take_departures(recovery, each, (una, nxt), times));
        }
        self.timers.set_rto(last + self.rtt.rto());
        if recovery.keeps_departures() || self.optional.is_some() {
            crate::recovery::each!(recovery, recovery => self.arm_timers(recovery, last, true));
        }
    }

    /// Updates the departures for a run of ACKs, each of which released `each` segments at `times`, from `una` and `nxt` on.
    fn take_departures(
        &mut self,
        recovery: &mut impl RecoveryRules,
        each: u32,
        (mut una, mut nxt): (u64, u64),
        times: impl Iterator<Item = Time>,
    ) {
        let optional = self.optional.as_deref_mut();
        let (every_rtt, stamped, outstanding) = (self.habits.every_rtt(), self.habits.timestamps(), (nxt - una) as u32);
        let Some(departures) = recovery.departures().or_else(|| optional?.departures()) else { return };
        let mut taken = departures.take(times, each);
        let rtt = &mut self.rtt;
        let mut smooth = |oldest, latest| {
            una += u64::from(each);
            rtt.smooth_ack(AckRtt { oldest, latest }, Round { una, nxt }, outstanding);
            nxt += u64::from(each);
        };
        // A law that counts takes none, and only such take part in runs of delayed ACKs.
        match (every_rtt && each == 1, stamped) {
            (true, false) => self.control.on_rtt_samples(&mut taken),
            (true, true) => self.control.on_rtt_samples(&mut taken.by_ref().inspect(|&(_, rtt)| smooth(rtt, rtt))),
            (false, false) => taken.by_ref().for_each(drop),
            (false, true) => {
                while let Some((_, latest)) = taken.next() {
                    smooth(taken.oldest, latest);
                }
            }
        }
        let (least, latest, left) = (taken.least, taken.last, taken.left);
        if stamped {
            self.rtt.set_rto();
        } else {
            self.rtt.observe(least);
            self.rtt.observe(latest);
        }
        recovery.on_plain_acks(self.seq.una() - 1, left, latest, (self.rtt.srtt(), self.rtt.min()));
    }

    /// See [`crate::Sender::is_plain`].
    #[inline]
    pub fn is_plain(&self, recovery: &LossRecovery) -> bool {
        self.phase == Phase::Open
            && self.ecn.is_quiet()
            && !self.seq.is_going_back()
            && recovery.is_quiet()
            && self.allows_runs(recovery)
    }

    /// Whether optional state lets ACKs be taken in a batch: with departures, all of them must be first transmissions.
    #[inline]
    fn allows_runs(&self, recovery: &LossRecovery) -> bool {
        match self.optional.as_deref() {
            Some(optional) => optional.allows_runs() && self.seq.is_pristine(),
            None => !recovery.keeps_departures() || self.seq.is_pristine(),
        }
    }

    /// See [`crate::Sender::plain`].
    #[inline]
    pub fn plain(&self, recovery: &LossRecovery, each: u32) -> u32 {
        if !self.is_plain(recovery) {
            return 0;
        }
        // A law that counts may do so again from the next ACK on, but not where each opens the window by a segment.
        if self.control.step().is_some_and(|step| step.gain < 1.0) {
            return 1;
        }
        self.until_timed(recovery, each).min(self.seq.outstanding() / each)
    }

    /// Number of ACKs of `each` segments that do not change the timers except by moving them on. The last of them acknowledges
    /// the segment being timed; it is the next ACK where a longer wait for a delayed ACK ends with it.
    #[inline]
    pub(super) fn until_timed(&self, recovery: &LossRecovery, each: u32) -> u32 {
        if recovery.expects_delayed_acks() && self.rtt.options().may_delay_ack(self.seq.outstanding()) {
            return 1;
        }
        self.timed.distance(self.seq.una()).map_or(u32::MAX, |distance| distance / each + 1)
    }

    /// See [`crate::Sender::take_plain`].
    #[inline]
    pub fn take_plain(
        &mut self,
        recovery: &mut impl RecoveryRules,
        acks: impl Iterator<Item = (Time, u32)>,
        wire: &mut impl Wire,
    ) {
        let flags = self.ecn.data();
        let keeps_departures = recovery.departures().is_some() || self.optional.is_some();
        let (every_rtt, stamped) = (self.habits.every_rtt(), self.habits.timestamps());
        let (mut last, min_rtt, srtt) = (Time::ZERO, self.rtt.min(), self.rtt.srtt());
        let mut ack = AckSample { srtt, min_rtt, rtt: None, ..AckSample::plain(Time::ZERO, srtt) };
        ack.abc_limit = self.abc_limit();
        let mut latest = None;
        for (now, acked) in acks {
            let (before, una) = (self.seq.outstanding(), self.seq.una());
            if let Some(rtt) = self.sample(now, una + u64::from(acked)) {
                ack.rtt = Some(rtt);
                (ack.round_start, ack.srtt, ack.min_rtt) = (true, self.rtt.srtt(), self.rtt.min());
            }
            if keeps_departures
                && let Some((first, left)) = self.departures(recovery).and_then(|list| list.pop_ends(acked))
            {
                let rtt = now - left.time();
                if stamped {
                    let round = Round { una: una + u64::from(acked), nxt: self.seq.nxt() };
                    self.rtt.smooth_ack(AckRtt { oldest: now - first.time(), latest: rtt }, round, before);
                    ack.srtt = self.rtt.srtt();
                } else {
                    self.rtt.observe(rtt);
                }
                latest = Some((left.time(), rtt));
                if every_rtt {
                    ack.rtt = Some(rtt);
                }
                ack.min_rtt = self.rtt.min();
            }
            self.seq.acknowledge_first(acked);
            ack.now = now;
            ack.acked = f64::from(acked);
            ack.in_flight = f64::from(before);
            ack.delivered = self.seq.acknowledged();
            ack.cwnd_limited = before >= self.control.cwnd() as u32;
            self.control.on_ack(&ack);
            (ack.rtt, ack.round_start) = (None, false);
            let end = self.seq.end_of_window(self.window());
            while self.seq.nxt() < end {
                self.transmit_plain(recovery, now, flags, keeps_departures, wire);
            }
            wire.on_window(now, self.control.cwnd(), self.seq.una(), self.seq.nxt(), self.seq.outstanding());
            last = now;
        }
        if let Some((left, rtt)) = latest {
            if stamped {
                self.rtt.set_rto();
            }
            recovery.on_plain_acks(self.seq.una() - 1, left, rtt, (self.rtt.srtt(), self.rtt.min()));
        }
        self.timers.set_rto(if self.seq.outstanding() == 0 { Time::NEVER } else { last + self.rtt.rto() });
        self.arm_timers(recovery, last, true);
    }

    /// Sends the next new segment, when nothing is lost, paced or to be signalled.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for most segments")]
    fn transmit_plain(
        &mut self,
        recovery: &mut impl RecoveryRules,
        now: Time,
        flags: Flags,
        keeps_departures: bool,
        wire: &mut impl Wire,
    ) {
        let seq = self.seq.send_new();
        self.timed.begin(now, seq);
        self.counters.sent += 1;
        if keeps_departures && let Some(departures) = self.departures(recovery) {
            departures.sent_next(now);
        }
        wire.send(now, seq, flags);
    }
}

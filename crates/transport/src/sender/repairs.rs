//! ACKs in a row in a recovery, each of which SACKs only the segment after the highest run of SACKed ones. The result
//! is the same, to the bit, as with `on_ack` for each.
//!
//! While the retransmission of the first of several lost segments is in flight, all arriving ACKs are of this kind up
//! to the next lost segment.

use super::core::Core;
use crate::Wire;
use crate::loss::LossRecovery;
use crate::loss::rules::{Loss, SackRow, Segments};
use crate::optional::OptionalState;
use crate::state::Phase;
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Core<C> {
    /// Whether ACKs that each SACK the next segment after `top` and nothing else may be taken in a row; see
    /// [`crate::Sender::row_in_repair`].
    #[inline]
    pub(super) fn repairs(&self, loss: &LossRecovery, next: u64, top: (u64, u64)) -> bool {
        self.state.phase.repairs()
            && self.state.seq.una() == next
            && loss.top() == Some(top)
            && self.state.ecn.is_quiet()
            && !self.state.seq.is_recovered()
            && self.optional.as_deref().is_none_or(OptionalState::allows_repairs)
            && !self.counts_marks()
            && !self.may_undo()
    }

    /// Number of ACKs in a row (as for [`Self::repairs`]) that release no segment, and the number of ACKs until one may do
    /// more than release one new segment, as far as timers allow.
    #[inline]
    pub(super) fn sack_row(&self, loss: &impl Loss) -> Option<SackRow> {
        // Delivery rates, transmission times and pacing need each segment by itself.
        if self.optional.is_some() || self.departures.is_some() || self.counts_marks() {
            return None;
        }
        loss.row(&self.state)
    }

    /// Takes ACKs in a row at `times`, as announced by [`Self::sack_row`]; the first `quiet` release no segment.
    #[inline]
    pub(super) fn take_sack_row(
        &mut self,
        loss: &mut impl Loss,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        quiet: u32,
        wire: &mut impl Wire,
    ) {
        let (before, nxt, acks) = (loss.in_flight(&self.state.seq), self.state.seq.nxt(), times.len() as u32);
        loss.extend_by(acks);
        let leave = times.clone().skip(quiet as usize);
        if let Some(now) = leave.clone().next() {
            self.timed.begin(now, nxt);
            self.emit_row(leave, 1, wire);
        }
        // Either each quiet ACK takes one segment out of the pipe, or no quiet ACK does, because a timeout had declared
        // their segments lost.
        let falls = u32::from(loss.in_flight(&self.state.seq) < before);
        for (now, acks) in times.zip(1u32..) {
            let (sent, in_flight) = (u64::from(acks.saturating_sub(quiet)), before - falls * acks.min(quiet));
            wire.on_window(now, self.state.control.cwnd(), self.state.seq.una(), nxt + sent, in_flight);
        }
    }

    /// Takes ACKs in a row (see [`Self::repairs`]) at `times`: those that show no loss, up to the first before which a timer other
    /// than the pacing timer expires. Paced segments are sent before each. Returns the number of ACKs taken.
    #[inline(never)]
    pub(super) fn take_repairs<L: Loss>(
        &mut self,
        loss: &mut L,
        mut times: impl Iterator<Item = Time> + Clone,
        wire: &mut impl Wire,
    ) -> u32 {
        let (mut taken, counts) = (0, self.counts_deliveries());
        let notes =
            self.optional.as_deref_mut().and_then(OptionalState::pacer).is_some_and(|pacer| pacer.notes_window_use());
        loop {
            // Only a recovery that keeps transmission times knows in advance what an ACK shows.
            if L::USES_DEPARTURES && self.is_unpaced() && self.smooths_alike() {
                let row = self.take_quiet_repairs(loss, times.clone(), wire);
                taken += row;
                if row > 0 {
                    times.nth(row as usize - 1);
                }
            }
            let Some(now) = times.next() else { break };
            if self.state.timers.deadline() < now && !self.release_before(loss, now, notes, wire) {
                break;
            }
            let before = if counts { loss.in_flight(&self.state.seq) } else { 0 };
            if !self.extend(loss, now, wire) {
                break;
            }
            if counts {
                self.report_delivery(loss, now, before);
            }
            self.fill_in_repair(loss, now, notes, wire);
            let in_flight = loss.in_flight(&self.state.seq);
            wire.on_window(now, self.state.control.cwnd(), self.state.seq.una(), self.state.seq.nxt(), in_flight);
            taken += 1;
            if self.sack_row(loss).is_some_and(|row| row.all > 0) {
                break;
            }
        }
        taken
    }

    /// Takes an ACK that SACKs the segment after the highest run and nothing else. Returns false, and changes nothing, if it
    /// has other consequences.
    #[inline]
    fn extend(&mut self, loss: &mut impl Loss, now: Time, wire: &mut impl Wire) -> bool {
        let before = loss.in_flight(&self.state.seq);
        let log = self.log(wire);
        let mut segments = Segments::new(now, &mut self.departures, &mut self.optional, log);
        let Some(extension) = loss.extend(&mut segments) else { return false };
        self.report_lost();
        if let Some(left) = extension.left {
            self.sample_next_sacked(now, left, before);
            self.state.timers.set_reorder(Time::NEVER);
        }
        if self.state.phase == Phase::Recovery {
            self.count_delivered(loss, 1, false);
        }
        true
    }

    /// Number of new segments that [`Self::fill`] would send now in recovery as far as pacing allows; `None` if it would do
    /// anything else.
    #[inline]
    fn room_in_repair(&self, loss: &mut impl Loss) -> Option<u32> {
        if loss.is_pending() {
            return None;
        }
        let room = loss.room(&self.state);
        (room == 0 || !loss.has_lost() && self.state.has_new_beyond(room)).then_some(room)
    }

    /// [`Self::take_repairs`] without retransmissions waiting, pacing, or reports of single deliveries, under a
    /// recovery that says beforehand how many ACKs show no loss ([`Loss::extend_row`]). Each ACK releases only
    /// new segments.
    #[inline]
    fn take_quiet_repairs(
        &mut self,
        loss: &mut impl Loss,
        times: impl Iterator<Item = Time> + Clone,
        wire: &mut impl Wire,
    ) -> u32 {
        let deadlines = (self.state.timers.deadline(), self.state.timers.deadline_but_reorder());
        if times.clone().next().is_none_or(|first| deadlines.0 < first) {
            return 0;
        }
        let window = self.state.window();
        let mut in_flight = loss.in_flight(&self.state.seq);
        let row = times.clone().take_while(|now| *now <= deadlines.1);
        let acks = match self.departures.as_deref_mut() {
            Some(departures) if !self.state.switches.timestamps() => loss.extend_row(departures, row, |_, _| {}),
            _ => self.extend_stamped_row(loss, row),
        };
        if acks == 0 {
            return 0;
        }
        self.state.timers.set_reorder(Time::NEVER);
        let mut new = self.state.unsent_within_window();
        let proportional = self.state.phase == Phase::Recovery && loss.prr().is_some();
        let ssthresh = self.state.control.ssthresh() as u32;
        for now in times.take(acks as usize) {
            in_flight -= 1;
            let window = match loss.prr() {
                Some(prr) if proportional => {
                    prr.on_ack(1, in_flight, ssthresh, false);
                    prr.cwnd()
                }
                _ => window,
            };
            let room = window.saturating_sub(in_flight).min(new);
            self.fill_new::<true>(loss, now, room, wire);
            (in_flight, new) = (in_flight + room, new - room);
            wire.on_window(now, self.state.control.cwnd(), self.state.seq.una(), self.state.seq.nxt(), in_flight);
        }
        acks
    }

    /// Sends the paced segments due before `now`. Returns whether no other timer expires before `now`.
    #[inline]
    fn release_before(&mut self, loss: &mut impl Loss, now: Time, notes: bool, wire: &mut impl Wire) -> bool {
        loop {
            let (at, other) = (self.state.timers.pacing(), self.state.timers.deadline_but_pacing());
            if at.min(other) >= now {
                return true;
            }
            if other <= at {
                return false;
            }
            match self.room_in_repair(loss) {
                Some(room) if room > 0 => {
                    self.fill_new::<false>(loss, at, room, wire);
                    self.note_use(loss, at, notes);
                }
                _ => {
                    self.state.timers.set_pacing(Time::NEVER);
                    self.fill_in_repair(loss, at, notes, wire);
                }
            }
        }
    }

    /// Sends the segments that may be sent now; `notes` says whether to note how full the window is.
    #[inline]
    fn fill_in_repair(&mut self, loss: &mut impl Loss, now: Time, notes: bool, wire: &mut impl Wire) {
        if !notes && self.state.seq.unsent() > 0 && self.waits_already(loss, now) {
            return;
        }
        let Some(room) = self.room_in_repair(loss) else {
            self.fill(loss, now, wire);
            return self.arm_timers(loss, now, false);
        };
        if room > 0 {
            self.fill_new::<false>(loss, now, room, wire);
        }
        self.note_use(loss, now, notes);
    }

    /// Notes the use of the window after everything that may be sent has been sent.
    #[inline]
    fn note_use(&mut self, loss: &impl Loss, now: Time, notes: bool) {
        if notes || self.state.seq.unsent() == 0 && self.optional.is_some() {
            self.note_sent(loss, now);
        }
    }

    /// Whether the pacing timer is already set to the time of the next segment, so that nothing is sent before it.
    #[inline]
    fn waits_already(&mut self, loss: &impl Loss, now: Time) -> bool {
        let at = self.state.timers.pacing();
        at != Time::NEVER
            && !loss.is_pending()
            && self
                .optional
                .as_deref_mut()
                .and_then(OptionalState::pacer)
                .is_some_and(|pacer| pacer.pace().wait(now) == Some(at))
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Pacing, PacingFactors, Rto};
    use crate::{Ack, NO_END, Options, Outstanding, Receiver, Recovery, Sender, Wire};
    use base::{Flags, PacketNumber, Span, Time};
    use law::{CongestionControl, Control, LawSpec, StartSpec};
    use std::collections::VecDeque;

    /// A path of 50 ms that loses some segments when they leave for the first time, and a few also when they leave again.
    #[derive(Default)]
    struct Path {
        left: Vec<(Time, u64, Flags)>,
        arriving: VecDeque<(Time, u64, Flags)>,
        /// State after each ACK: time, window, `una`, `nxt`, segments in flight.
        seen: Vec<(Time, f64, u64, u64, u32)>,
    }

    impl Wire for Path {
        fn send(&mut self, now: Time, seq: u64, flags: Flags) {
            self.left.push((now, seq, flags));
            let again = self.left.iter().filter(|left| left.1 == seq).count() > 1;
            let lost = if again {
                seq % 97 == 7 && self.left.len().is_multiple_of(2)
            } else {
                matches!(seq % 97, 3 | 7 | 8 | 50)
            };
            if !lost || seq < 40 {
                self.arriving.push_back((now + Span::millis(50), seq, flags));
            }
        }
        fn on_window(&mut self, now: Time, cwnd: f64, una: u64, nxt: u64, in_flight: u32) {
            self.seen.push((now, cwnd, una, nxt, in_flight));
        }
    }

    /// Delivers two thousand segments, with ACKs in runs where possible if `in_runs`. Returns the path, the number of
    /// ACKs taken in runs, and how many of these in rows.
    fn drive(law: &str, recovery: Recovery, tcp: &Options, in_runs: bool) -> (Path, u32, u32) {
        let options = Options { initial_window: 40, ..tcp.clone() };
        let law = LawSpec::named(law).expect("registered");
        let control = law.build(&StartSpec::named("classic").expect("registered"), 40.0, 30.0).expect("defaults");
        let mut sender: Sender<Control> = Sender::new(control, recovery, &options, NO_END);
        let (mut receiver, mut ack) = (Receiver::new(1, Span::ZERO, 1), Ack::NONE);
        let (mut path, mut taken, mut in_rows) = (Path::default(), 0, 0);
        sender.start(Time::ZERO, &mut path);
        for _ in 0..2000 {
            while path.arriving.front().is_none_or(|arrives| sender.deadline() < arrives.0) {
                sender.on_timer(sender.deadline(), &mut path);
            }
            if in_runs
                && let Some(top) = receiver.extends_plainly()
                && let Some(first) = path.arriving.front().filter(|first| first.1 == top.1)
                && let Some(row) = sender.row_in_repair(receiver.next(), top, first.0)
            {
                // Not more than five, so that runs end somewhere.
                let most = row.most.min(5) as usize;
                let acks = path.arriving.iter().take(most).zip(top.1..);
                let acks = acks.take_while(|(arrives, seq)| arrives.1 == *seq && arrives.0 <= row.deadline);
                let times: Vec<Time> = acks.map(|(arrives, _)| arrives.0).collect();
                let n = sender.take_row(&row, times.iter().copied(), &mut path);
                in_rows += if row.deadline == Time::NEVER { 0 } else { n };
                path.arriving.drain(..n as usize);
                receiver.extend(n);
                taken += n;
                if n > 0 {
                    continue;
                }
            }
            let (now, seq, flags) = path.arriving.pop_front().expect("looked at above");
            assert_eq!(receiver.segment(PacketNumber::of(seq)), seq);
            if receiver.on_segment(now, seq, flags, &mut ack) {
                sender.on_ack(now, &ack, &mut path);
                let Outstanding { una, nxt } = sender.seq().out();
                path.on_window(now, sender.control().cwnd(), una, nxt, sender.in_flight());
            }
        }
        assert!(sender.counters().retransmitted > 30);
        (path, taken, in_rows)
    }

    #[test]
    fn acks_in_runs_do_what_single_ones_do() {
        let linux = Pacing::Linux(PacingFactors::default());
        for (law, pacing) in [
            ("reno", Pacing::None),
            ("cubic", Pacing::None),
            ("cubic", linux),
            ("cubic", Pacing::Quic),
            ("highspeed", linux),
            ("bbr", Pacing::None),
            ("bbr1", Pacing::None),
        ] {
            for recovery in [Recovery::Sack, Recovery::Prr, Recovery::Rack] {
                let plain = Options { pacing, ..Options::default() };
                let linux = Options { timestamps: true, rto: Rto::Linux, ..plain.clone() };
                let stamped = Options { timestamps: true, ..plain.clone() };
                for options in [linux, stamped] {
                    let (one, run) = (drive(law, recovery, &options, false).0, drive(law, recovery, &options, true).0);
                    let n = one.left.len().min(run.left.len());
                    assert_eq!(one.left[..n], run.left[..n], "{law} {recovery:?} {options:?}");
                }
                let (one, none, _) = drive(law, recovery, &plain, false);
                let (run, taken, in_rows) = drive(law, recovery, &plain, true);
                let n = one.seen.len().min(run.seen.len());
                assert_eq!(one.seen[..n], run.seen[..n], "{law} {recovery:?} {pacing:?}");
                let n = one.left.len().min(run.left.len());
                assert_eq!(one.left[..n], run.left[..n], "{law} {recovery:?} {pacing:?}");
                assert!(none == 0 && taken > 200 && n > 1000, "{law} {recovery:?} {pacing:?}: {taken} of {n}");
                // Rows need RFC 6675's pipe, no pacing, and a control that does not use delivery rates.
                let rows = recovery == Recovery::Sack && pacing == Pacing::None && !law.starts_with("bbr");
                assert_eq!(in_rows > 100, rows, "{law} {recovery:?} {pacing:?}: {in_rows}");
            }
        }
    }

    #[test]
    fn cumulative_recoveries_take_no_runs() {
        assert_eq!(drive("reno", Recovery::NewReno, &Options::default(), true).1, 0);
    }
}

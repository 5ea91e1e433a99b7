//! ACKs in a row in a recovery, each of which SACKs only the segment after the highest run of SACKed ones. The result
//! is the same, to the bit, as with `on_ack` for each.
//!
//! While the first of several lost segments is on its way again, all that arrive are of this kind up to the next that was lost.

use super::Connection;
use crate::optional::OptionalState;
use crate::recovery::{LossRecovery, RecoveryRules};
use crate::{Phase, Wire};
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Connection<C> {
    /// See [`crate::Sender::repairs`].
    #[inline]
    pub fn repairs(&self, recovery: &LossRecovery, next: u64, top: (u64, u64)) -> bool {
        self.phase.repairs()
            && self.seq.una() == next
            && recovery.top() == Some(top)
            && self.ecn.is_quiet()
            && !self.seq.is_recovered()
            && self.optional.as_deref().is_none_or(OptionalState::allows_repairs)
    }

    /// See [`crate::Sender::row_of_repairs`].
    #[inline]
    pub fn row_of_repairs(&self, recovery: &impl RecoveryRules) -> Option<(u32, u32)> {
        // Deliveries, departures and paces want to know of single segments.
        if self.optional.is_some() { None } else { recovery.row(self) }
    }

    /// Number of new segments that may be sent one per ACK while more remain to be sent.
    #[inline]
    pub fn new_in_row(&self) -> u32 {
        let room = self.receive_window.saturating_sub(self.seq.outstanding());
        self.seq.unsent().saturating_sub(1).min(u64::from(room)) as u32
    }

    /// See [`crate::Sender::take_row_of_repairs`].
    #[inline]
    pub fn take_row_of_repairs(
        &mut self,
        recovery: &mut impl RecoveryRules,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        quiet: u32,
        wire: &mut impl Wire,
    ) {
        let (before, nxt, acks) = (recovery.in_flight(&self.seq), self.seq.nxt(), times.len() as u32);
        recovery.extend_by(acks);
        let leave = times.clone().skip(quiet as usize);
        if let Some(now) = leave.clone().next() {
            self.timed.begin(now, nxt);
            self.seq.send_row(acks - quiet);
            self.counters.sent += u64::from(acks - quiet);
            wire.send_row(leave, nxt, self.ecn.data());
        }
        // Of what leaves the network while nothing enters it some was taken for lost, or none.
        let falls = u32::from(recovery.in_flight(&self.seq) < before);
        for (now, acks) in times.zip(1u32..) {
            let (sent, in_flight) = (u64::from(acks.saturating_sub(quiet)), before - falls * acks.min(quiet));
            wire.on_window(now, self.control.cwnd(), self.seq.una(), nxt + sent, in_flight);
        }
    }

    /// See [`crate::Sender::take_repairs`].
    #[inline(never)]
    pub fn take_repairs(
        &mut self,
        recovery: &mut impl RecoveryRules,
        mut times: impl Iterator<Item = Time> + Clone,
        wire: &mut impl Wire,
    ) -> u32 {
        let (mut taken, counts) = (0, self.counts_deliveries());
        let notes =
            self.optional.as_deref_mut().and_then(OptionalState::pacer).is_some_and(|pacer| pacer.notes_window_use());
        loop {
            // Only who knows when segments left says beforehand what an ACK shows.
            if recovery.departures().is_some() && self.is_unpaced() && self.smooths_alike() {
                let row = self.take_quiet_repairs(recovery, times.clone(), wire);
                taken += row;
                if row > 0 {
                    times.nth(row as usize - 1);
                }
            }
            let Some(now) = times.next() else { break };
            if self.timers.deadline() < now && !self.release_before(recovery, (now, notes), wire) {
                break;
            }
            let before = if counts { recovery.in_flight(&self.seq) } else { 0 };
            if !recovery.extend(self, now) {
                break;
            }
            if counts {
                self.report_delivery(recovery, now, before);
            }
            self.fill_in_repair(recovery, (now, notes), wire);
            let in_flight = recovery.in_flight(&self.seq);
            wire.on_window(now, self.control.cwnd(), self.seq.una(), self.seq.nxt(), in_flight);
            taken += 1;
            if self.row_of_repairs(recovery).is_some_and(|(_, most)| most > 0) {
                break;
            }
        }
        taken
    }

    /// [`Self::take_repairs`] without retransmissions waiting, pacing, or reports of single deliveries, under a
    /// recovery that says beforehand how many ACKs show no loss ([`RecoveryRules::extend_row`]). Each ACK releases only
    /// new segments.
    #[inline]
    fn take_quiet_repairs(
        &mut self,
        recovery: &mut impl RecoveryRules,
        times: impl Iterator<Item = Time> + Clone,
        wire: &mut impl Wire,
    ) -> u32 {
        let deadlines = (self.timers.deadline(), self.timers.deadline_but_reorder());
        if times.clone().next().is_none_or(|first| deadlines.0 < first) {
            return 0;
        }
        let (nxt, window, data) = (self.seq.nxt(), self.window(), self.ecn.data());
        let mut in_flight = recovery.in_flight(&self.seq);
        let row = times.clone().take_while(|now| *now <= deadlines.1);
        let acks = if self.habits.timestamps() {
            self.extend_stamped_row(recovery, row)
        } else {
            recovery.extend_row(row, |_, _| {})
        };
        if acks == 0 {
            return 0;
        }
        self.stop_reorder();
        let mut new = self.unsent_within_window();
        let proportional = self.phase == Phase::Recovery && recovery.prr().is_some();
        let ssthresh = self.control.ssthresh() as u32;
        for now in times.take(acks as usize) {
            in_flight -= 1;
            let window = match recovery.prr() {
                Some(prr) if proportional => {
                    prr.on_ack(1, in_flight, ssthresh, false);
                    prr.cwnd()
                }
                _ => window,
            };
            let room = window.saturating_sub(in_flight).min(new);
            for _ in 0..room {
                let seq = self.seq.send_new();
                self.timed.begin(now, seq);
                if let Some(departures) = recovery.departures() {
                    departures.sent_next(now);
                }
                recovery.count_sent(self.phase);
                wire.send(now, seq, data);
            }
            (in_flight, new) = (in_flight + room, new - room);
            wire.on_window(now, self.control.cwnd(), self.seq.una(), self.seq.nxt(), in_flight);
        }
        self.counters.sent += self.seq.nxt() - nxt;
        acks
    }

    /// Number of new segments that receiver and application allow.
    #[inline]
    fn unsent_within_window(&self) -> u32 {
        let room = self.receive_window.saturating_sub(self.seq.outstanding());
        self.seq.unsent().min(u64::from(room)) as u32
    }

    /// Whether segments are sent without pacing, and only the recovery keeps data of single ones.
    #[inline]
    pub fn is_unpaced(&self) -> bool {
        self.optional.is_none()
    }

    /// Sends `room` new segments, or as many as there are and the receiver allows, if all were sent in order and
    /// [`Self::is_unpaced`].
    #[inline]
    pub fn send_unpaced(&mut self, recovery: &mut impl RecoveryRules, now: Time, room: u32, wire: &mut impl Wire) {
        debug_assert!(self.is_unpaced());
        let new = room.min(self.unsent_within_window());
        if new == 0 {
            return;
        }
        self.timed.begin(now, self.seq.nxt());
        self.timers.start_rto(now + self.rtt.rto());
        self.counters.sent += u64::from(new);
        for _ in 0..new {
            let seq = self.seq.send_new();
            if let Some(departures) = recovery.departures() {
                departures.sent_next(now);
            }
            recovery.count_sent(self.phase);
            wire.send(now, seq, self.ecn.on_new_segment());
        }
    }

    /// Sends the paced segments due before `now`. Returns whether no other timer expires before.
    #[inline]
    fn release_before(
        &mut self,
        recovery: &mut impl RecoveryRules,
        (now, notes): (Time, bool),
        wire: &mut impl Wire,
    ) -> bool {
        loop {
            let (at, other) = (self.timers.pacing(), self.timers.deadline_but_pacing());
            if at.min(other) >= now {
                return true;
            }
            if other <= at {
                return false;
            }
            match recovery.room_in_repair(self) {
                Some(room) if room > 0 => {
                    self.send_new(recovery, at, room, wire);
                    self.note_use(recovery, (at, notes));
                }
                _ => {
                    self.timers.set_pacing(Time::NEVER);
                    self.fill_in_repair(recovery, (at, notes), wire);
                }
            }
        }
    }

    /// Sends the segments that may be sent now; `notes` says whether to note how full the window is.
    #[inline]
    fn fill_in_repair(&mut self, recovery: &mut impl RecoveryRules, (now, notes): (Time, bool), wire: &mut impl Wire) {
        if !notes && self.seq.unsent() > 0 && self.waits_already(recovery, now) {
            return;
        }
        let Some(room) = recovery.room_in_repair(self) else {
            recovery.fill(self, now, wire);
            return self.arm_timers(recovery, now, false);
        };
        if room > 0 {
            self.send_new(recovery, now, room, wire);
        }
        self.note_use(recovery, (now, notes));
    }

    /// Notes the use of the window after everything that may be sent has been sent.
    #[inline]
    fn note_use(&mut self, recovery: &impl RecoveryRules, (now, notes): (Time, bool)) {
        if notes || self.seq.unsent() == 0 && self.optional.is_some() {
            self.note_sent(recovery, now);
        }
    }

    /// Sends the next `room` segments for the first time, as far as pacing allows.
    #[inline]
    fn send_new(&mut self, recovery: &mut impl RecoveryRules, now: Time, room: u32, wire: &mut impl Wire) {
        debug_assert_ne!(self.timers.rto(), Time::NEVER, "something is outstanding");
        let mut waits = Time::NEVER;
        let mut in_flight = recovery.in_flight(&self.seq);
        let full = in_flight + room;
        while in_flight < full {
            if let Some(pacer) = self.optional.as_deref_mut().and_then(OptionalState::pacer)
                && let Some(at) = pacer.pace().wait(now)
            {
                waits = at;
                break;
            }
            let seq = self.seq.send_new();
            self.timed.begin(now, seq);
            self.counters.sent += 1;
            if let Some(departures) = recovery.departures() {
                departures.sent_next(now);
            }
            recovery.count_sent(self.phase);
            if let Some(optional) = self.optional.as_deref_mut() {
                optional.on_new_segment(now, in_flight, (&self.control, &self.seq));
            }
            in_flight += 1;
            wire.send(now, seq, self.ecn.data());
        }
        if waits != Time::NEVER || self.timers.is_pacing() {
            self.timers.set_pacing(waits);
        }
    }

    /// Whether the pacing timer is already set to the time of the next segment, so that nothing is sent before it.
    #[inline]
    fn waits_already(&mut self, recovery: &impl RecoveryRules, now: Time) -> bool {
        let at = self.timers.pacing();
        at != Time::NEVER
            && !recovery.waits()
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
    use crate::{Ack, NO_END, Options, Receiver, Recovery, Sender, Wire};
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

    /// Two thousand segments arrive, in runs where that is possible or not; how many ACKs were taken in runs, and how many of these
    /// in rows.
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
                && sender.repairs(receiver.next(), top)
            {
                // Not more than five, so that runs end somewhere.
                let row = path.arriving.iter().take(5).zip(top.1..).take_while(|(arrives, seq)| arrives.1 == *seq);
                let mut times: Vec<Time> = row.map(|(arrives, _)| arrives.0).collect();
                let n = match sender.row_of_repairs() {
                    Some((quiet, most)) if most > 0 && times.first().is_some_and(|time| *time <= sender.deadline()) => {
                        times.truncate(most as usize);
                        times.retain(|time| *time <= sender.deadline());
                        sender.take_row_of_repairs(times.iter().copied(), quiet, &mut path);
                        in_rows += times.len() as u32;
                        times.len() as u32
                    }
                    _ => sender.take_repairs(times.into_iter(), &mut path),
                };
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
                path.on_window(now, sender.control().cwnd(), sender.una(), sender.nxt(), sender.in_flight());
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
                // Who keeps to the pipe, without a pace, and does not ask for deliveries.
                let rows = recovery == Recovery::Sack && pacing == Pacing::None && !law.starts_with("bbr");
                assert_eq!(in_rows > 100, rows, "{law} {recovery:?} {pacing:?}: {in_rows}");
            }
        }
    }

    #[test]
    fn cumulative_recoveries_take_none() {
        assert_eq!(drive("reno", Recovery::NewReno, &Options::default(), true).1, 0);
    }
}

//! Paced segments sent in a row while no ACK arrives. The result is the same, to the bit, as with a timer for each
//! segment, without checks that are unnecessary here.

use super::Connection;
use crate::Wire;
use crate::optional::PacedParts;
use crate::recovery::RecoveryRules;
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Connection<C> {
    /// See [`crate::Sender::take_pace`].
    #[inline(never)]
    pub fn take_pace(&mut self, recovery: &mut impl RecoveryRules, limit: Time, wire: &mut impl Wire) -> bool {
        let mut due = self.timers.pacing();
        if due >= limit.min(self.timers.deadline_but_pacing()) || !self.ecn.is_quiet() {
            return false;
        }
        let room = recovery.room_for_new(self);
        if room == 0 {
            return false;
        }
        let Some(mut optional) = self.optional.take_if(|optional| optional.allows_pace()) else {
            return false;
        };
        if let Some(mut parts) = optional.paced_parts() {
            // Nothing but these segments changes what there is room for.
            let end = self.seq.nxt() + u64::from(room);
            while due < limit.min(self.timers.deadline_but_pacing()) {
                debug_assert_eq!(end - self.seq.nxt(), u64::from(recovery.room_for_new(self)));
                let before = self.counters.sent;
                let waits = self.release(recovery, &mut parts, (due, end), wire);
                self.timers.set_pacing(waits);
                recovery.arm_timers(self, due, self.counters.sent > before);
                due = waits;
            }
        }
        self.optional = Some(optional);
        true
    }

    /// Sends the new segments before `end` that pacing allows at `now`; none where retransmissions since the timer was
    /// set have taken the time. Returns when the next may be sent, if there is one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every segment that leaves between ACKs")]
    fn release(
        &mut self,
        recovery: &mut impl RecoveryRules,
        parts: &mut PacedParts,
        (now, end): (Time, u64),
        wire: &mut impl Wire,
    ) -> Time {
        let (mut waits, mut in_flight) = (Time::NEVER, recovery.in_flight(&self.seq));
        while self.seq.nxt() < end {
            if let Some(at) = parts.pacer.pace().wait(now) {
                waits = at;
                break;
            }
            let seq = self.seq.send_new();
            self.timed.begin(now, seq);
            self.counters.sent += 1;
            self.timers.start_rto(now + self.rtt.rto());
            if let Some(departures) = recovery.departures().or(parts.departures.as_deref_mut()) {
                departures.sent_next(now);
            }
            recovery.count_sent(self.phase);
            if let Some(deliveries) = &mut parts.deliveries {
                deliveries.sent(seq, now, in_flight);
            }
            in_flight += 1;
            let interval = parts.pacer.interval(&self.control, &self.seq);
            parts.pacer.pace().on_transmit(now, interval, || self.control.burst());
            wire.send(now, seq, self.ecn.data());
        }
        if parts.pacer.notes_window_use() {
            parts.pacer.note_window_use(&self.seq, in_flight, self.control.cwnd() as u32, self.counters.sent);
        }
        waits
    }

    /// Whether `segments` new segments may be sent, and more remain to be sent.
    #[inline]
    pub fn has_new_beyond(&self, segments: u32) -> bool {
        self.seq.unsent() > u64::from(segments)
            && u64::from(self.seq.outstanding()) + u64::from(segments) <= u64::from(self.receive_window)
    }

    /// Number of new segments that [`Self::fill_window`] would send if it has only new segments to send; else 0.
    #[inline]
    pub fn room_in_window(&self, inflation: u32) -> u32 {
        let window = self.window().saturating_add(inflation).min(self.receive_window);
        let room = self.seq.end_of_window(window).saturating_sub(self.seq.nxt()) as u32;
        if self.has_new_beyond(room) { room } else { 0 }
    }
}

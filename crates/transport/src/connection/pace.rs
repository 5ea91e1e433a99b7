//! Segments that leave at their pace while no ACK comes: the same bits as a timer for each would give, without looking for
//! what cannot be there.

use super::Connection;
use crate::Wire;
use crate::optional::OptionalState;
use crate::recovery::RecoveryRules;
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Connection<C> {
    /// See [`crate::Sender::take_pace`].
    #[inline(never)]
    pub fn take_pace(&mut self, recovery: &mut impl RecoveryRules, limit: Time, wire: &mut impl Wire) -> bool {
        let mut due = self.timers.pacing();
        if due >= limit.min(self.timers.deadline_but_pacing()) {
            return false;
        }
        let Some(mut optional) = self.optional.take_if(|optional| optional.allows_pace()) else { return false };
        let mut taken = false;
        loop {
            let room = recovery.room_for_new(self);
            if room == 0 {
                break;
            }
            let sent = self.release(recovery, &mut optional, (due, room), wire);
            recovery.arm_timers(self, due, sent);
            taken = true;
            due = self.timers.pacing();
            if due >= limit.min(self.timers.deadline_but_pacing()) {
                break;
            }
        }
        self.optional = Some(optional);
        taken
    }

    /// Sends what may leave `now` by its pace, of `room` new segments that the window lets leave. Returns whether anything did:
    /// what was sent again since the timer was set may have taken the time.
    #[inline]
    fn release(
        &mut self,
        recovery: &mut impl RecoveryRules,
        optional: &mut OptionalState,
        (now, room): (Time, u32),
        wire: &mut impl Wire,
    ) -> bool {
        let (mut waits, before) = (Time::NEVER, self.counters.sent);
        for _ in 0..room {
            if let Some(at) = optional.pacer().and_then(|pacer| pacer.wait(now)) {
                waits = at;
                break;
            }
            let seq = self.seq.send_new();
            let flags = self.ecn.on_new_segment();
            self.timed.begin(now, seq);
            self.counters.sent += 1;
            self.timers.start_rto(now + self.rtt.rto());
            if let Some(departures) = recovery.departures() {
                departures.sent(seq, now);
            }
            recovery.count_sent(self.phase);
            let in_flight = recovery.in_flight(&self.seq);
            optional.on_transmit(now, seq, in_flight, (&self.control, self.rtt.srtt(), &self.seq));
            wire.send(now, seq, flags);
        }
        self.timers.set_pacing(waits);
        if let Some(pacer) = optional.pacer() {
            let (cwnd, sent) = (self.control.cwnd() as u32, self.counters.sent);
            pacer.note_window_use(&self.seq, recovery.in_flight(&self.seq), cwnd, sent);
        }
        self.counters.sent > before
    }

    /// Whether so many new segments may be sent, and more are to be.
    #[inline]
    pub fn has_new_beyond(&self, segments: u32) -> bool {
        self.seq.unsent() > u64::from(segments)
            && u64::from(self.seq.outstanding()) + u64::from(segments) <= u64::from(self.receive_window)
    }

    /// How many new segments [`Self::fill_window`] would send, if more than those are to be sent; else 0.
    #[inline]
    pub fn room_in_window(&self, inflation: u32) -> u32 {
        let window = self.window().saturating_add(inflation).min(self.receive_window);
        let room = self.seq.end_of_window(window).saturating_sub(self.seq.nxt()) as u32;
        if self.has_new_beyond(room) { room } else { 0 }
    }
}

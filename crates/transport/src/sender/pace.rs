//! Paced segments sent in a row while no ACK arrives. The result is the same, to the bit, as with a timer for each
//! segment, without checks that are unnecessary here.

use super::core::Core;
use crate::Wire;
use crate::loss::rules::Loss;
use crate::optional::OptionalState;
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Core<C> {
    /// See [`crate::Sender::take_pace`].
    #[inline(never)]
    pub fn take_pace(&mut self, loss: &mut impl Loss, limit: Time, wire: &mut impl Wire) -> bool {
        let mut due = self.state.timers.pacing();
        if due >= limit.min(self.state.timers.deadline_but_pacing()) || !self.state.ecn.is_quiet() {
            return false;
        }
        let room = self.room_for_new(loss);
        if room == 0 || !self.optional.as_deref().is_some_and(OptionalState::allows_pace) {
            return false;
        }
        // Only these segments change the room, so it is computed once.
        let end = self.state.seq.nxt() + u64::from(room);
        while due < limit.min(self.state.timers.deadline_but_pacing()) {
            let (left, before) = ((end - self.state.seq.nxt()) as u32, self.counters.sent);
            debug_assert_eq!(left, self.room_for_new(loss));
            // No segment is sent if retransmissions have used this pacing time since the timer was set.
            self.state.timers.set_pacing(Time::NEVER);
            self.fill_new::<false>(loss, due, left, wire);
            self.note_sent(loss, due);
            self.arm_probe(loss, due, self.counters.sent > before);
            due = self.state.timers.pacing();
        }
        true
    }

    /// Number of new segments that [`Self::fill`] would send now as far as pacing allows; 0 if it would do anything else.
    #[inline]
    fn room_for_new(&self, loss: &mut impl Loss) -> u32 {
        if loss.is_pending() || loss.has_lost() || self.state.seq.is_going_back() {
            return 0;
        }
        let room = loss.room(&self.state);
        if self.state.has_new_beyond(room) { room } else { 0 }
    }
}

//! Segments that leave: the loop that fills the window ([`Core::fill_room`]), and the two places at which they are sent:
//! [`Core::emit`] for one segment, [`Core::emit_row`] for a row of new ones.
//!
//! Properties of the segments are constant parameters, so that each kind is compiled without unnecessary checks. `NEW`:
//! the segments are new ones, in order, with equal flags, of a sender without bursts, headers and validation. `BARE`:
//! the sender has no optional state at all, and its retransmission timer runs.

use super::core::Core;
use crate::Wire;
use crate::bursts::Ask;
use crate::departures::Departure;
use crate::loss::rules::{Loss, Next, Segments};
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Core<C> {
    /// Sends the segments that window and pace allow now.
    #[inline]
    pub fn fill<L: Loss>(&mut self, loss: &mut L, now: Time, wire: &mut impl Wire) {
        if L::BESIDE_WINDOW && loss.is_pending() && !self.send_pending(loss, now, wire) {
            return;
        }
        let room = loss.room(&self.state);
        self.fill_room::<false, false, _>(loss, now, room, wire, |core, loss| core.next(loss, now));
    }

    /// Sends `room` new segments, or fewer if pacing delays them. At least `room` segments must be unsent. See the
    /// [module](self).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for most segments")]
    pub(super) fn fill_new<const BARE: bool>(
        &mut self,
        loss: &mut impl Loss,
        now: Time,
        room: u32,
        wire: &mut impl Wire,
    ) {
        self.fill_room::<true, BARE, _>(loss, now, room, wire, |_, _| Some(Next::InOrder));
    }

    /// Sends at most `room` segments of those that `choose` returns, as far as the pace allows; see the [module](self).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for most segments")]
    pub(super) fn fill_room<const NEW: bool, const BARE: bool, L: Loss>(
        &mut self,
        loss: &mut L,
        now: Time,
        mut room: u32,
        wire: &mut impl Wire,
        mut choose: impl FnMut(&mut Self, &mut L) -> Option<Next>,
    ) {
        while room > 0 && (BARE || self.may_send(now, room)) {
            let Some(next) = choose(self, loss) else { return };
            if NEW {
                self.emit::<NEW, BARE>(loss, now, next, wire);
                room -= 1;
            } else if next == Next::InOrder && self.has_bare_row() {
                // Only the end of the data or of the receive window ends the row of new segments.
                let new = room.min(self.state.unsent_within_window());
                self.state.timers.start_rto(now + self.state.rtt.rto());
                self.fill_new::<true>(loss, now, new, wire);
                room -= new;
            } else {
                self.send(loss, now, next, wire);
                room -= 1;
            }
        }
    }

    /// Whether the segments that leave in order are new ones, without optional state and with equal flags.
    #[inline]
    fn has_bare_row(&self) -> bool {
        self.is_unpaced() && self.state.ecn.is_quiet() && !self.state.seq.is_going_back()
    }

    /// Sends the retransmission that does not wait for room in the window, if pacing allows it. Returns whether pacing
    /// allows it.
    pub(super) fn send_pending(&mut self, loss: &mut impl Loss, now: Time, wire: &mut impl Wire) -> bool {
        let may_send = self.may_send(now, 1);
        if may_send && let Some(next) = self.next(loss, now) {
            self.send(loss, now, next, wire);
        }
        may_send
    }

    /// Next segment that the recovery chooses. It must be sent.
    #[inline]
    pub(super) fn next(&mut self, loss: &mut impl Loss, now: Time) -> Option<Next> {
        loss.next(&self.state, &mut Segments::new(now, &mut self.departures, &mut self.optional, None))
    }

    /// Whether segments are sent without pacing, headers, or data of their deliveries.
    #[inline]
    pub(super) fn is_unpaced(&self) -> bool {
        self.optional.is_none()
    }

    /// Whether a segment may be sent now, with `room` in the window; if pacing delays it, the timer is set.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in the loops that send, where most senders have nothing to ask")]
    pub fn may_send(&mut self, now: Time, room: u32) -> bool {
        self.optional.is_none() || self.may_leave(now, room)
    }

    /// The same as [`Self::may_send`] for a sender with pacing or bursts.
    fn may_leave(&mut self, now: Time, room: u32) -> bool {
        let Some(optional) = self.optional.as_deref_mut() else { return true };
        let Some(pacer) = optional.pacer() else { return true };
        let wait = pacer.wait(now);
        self.state.timers.set_pacing(wait.unwrap_or(Time::NEVER));
        wait.is_none() && (!pacer.makes_bursts() || self.begins_burst(now, room))
    }

    /// Whether a segment may be sent now: as part of a burst, or as the first of one.
    fn begins_burst(&mut self, now: Time, room: u32) -> bool {
        let Some(optional) = self.optional.as_deref_mut() else { return true };
        let una = self.state.seq.una();
        let oldest = self.departures.as_deref().and_then(|departures| departures.get(una));
        let Some(pacer) = optional.pacer() else { return true };
        let interval = pacer.interval(&self.state.control, &self.state.seq);
        // If the receive window permits fewer segments than the congestion window, the sender is not limited by cwnd.
        let cwnd_limited = room < self.state.receive_window.saturating_sub(self.state.seq.outstanding());
        pacer.begins(now, || Ask {
            now,
            room,
            cwnd_limited,
            cwnd: self.state.control.cwnd() as u32,
            repairs: self.state.phase.repairs(),
            interval,
            own_rate: self.state.control.pacing_rate().is_some(),
            srtt: self.state.rtt.srtt(),
            min_rtt: self.state.rtt.min(),
            oldest: oldest.map(Departure::time),
            last: now,
        })
    }

    /// Sends one segment, new or old.
    pub fn send(&mut self, loss: &mut impl Loss, now: Time, next: Next, wire: &mut impl Wire) {
        self.emit::<false, false>(loss, now, next, wire);
    }

    /// Sends one segment; see the [module](self).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for most segments")]
    fn emit<const NEW: bool, const BARE: bool>(
        &mut self,
        loss: &mut impl Loss,
        now: Time,
        next: Next,
        wire: &mut impl Wire,
    ) {
        let seq = match next {
            Next::Again(seq) => seq,
            Next::InOrder if NEW => self.state.seq.send_new(),
            Next::InOrder => self.state.seq.take_next(),
        };
        let flags = if !NEW && self.state.seq.on_transmit(seq) {
            self.counters.retransmitted += 1;
            wire.on_retransmission(now, seq);
            // Karn: an acknowledgement would not show which of the two transmissions it is for.
            self.timed.cancel_from(seq);
            self.state.ecn.retransmission(self.state.control.needs().marks)
        } else {
            self.timed.begin(now, seq);
            if NEW { self.state.ecn.data() } else { self.state.ecn.on_new_segment() }
        };
        self.counters.sent += 1;
        if !BARE {
            self.state.timers.start_rto(now + self.state.rtt.rto());
        }
        if let Some(departures) = self.departures.as_deref_mut() {
            if NEW { departures.sent_next(now) } else { departures.sent(seq, now) }
        }
        self.count_sent(loss);
        if !BARE && let Some(optional) = self.optional.as_deref_mut() {
            let in_flight = loss.in_flight(&self.state.seq);
            if NEW {
                optional.on_new_segment(now, in_flight - 1, &self.state);
            } else if let Some(header) = optional.on_transmit(now, seq, in_flight, &self.state) {
                return wire.send_with(now, seq, flags, header);
            }
        }
        wire.send(now, seq, flags);
    }

    /// Sends `each` new segments at each of `times`, which must not be empty, for a sender without pacing
    /// ([`Self::is_unpaced`]). Its transmission times are noted elsewhere.
    #[inline]
    pub(super) fn emit_row(
        &mut self,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        each: u32,
        wire: &mut impl Wire,
    ) {
        let (first, segments) = (self.state.seq.nxt(), times.len() as u32 * each);
        self.state.seq.send_row(segments);
        self.counters.sent += u64::from(segments);
        wire.send_row(times, each, first, self.state.ecn.data());
    }
}

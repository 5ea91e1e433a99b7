//! Segments that leave: the loop that fills the window, and the places at which a segment is sent.
//!
//! [`Core::send`] sends any segment. The others are for new segments in a row: [`Core::send_new`] without a pace,
//! [`Core::send_paced`] with one.

use super::core::Core;
use crate::Wire;
use crate::bursts::Ask;
use crate::departures::Departure;
use crate::loss::rules::{Loss, Next, Segments};
use crate::optional::OptionalState;
use base::{Flags, Time};
use law::CongestionControl;

impl<C: CongestionControl> Core<C> {
    /// Sends the segments that window and pace allow now.
    #[inline]
    pub fn fill<L: Loss>(&mut self, loss: &mut L, now: Time, wire: &mut impl Wire) {
        if L::BESIDE_WINDOW && loss.is_pending() && !self.send_pending(loss, now, wire) {
            return;
        }
        let (room, mut sent) = (loss.room(&self.state), 0);
        while sent < room && self.may_send(now, room - sent) {
            let Some(next) = self.next(loss, now) else { return };
            if next == Next::InOrder && self.is_unpaced() && !self.state.seq.is_going_back() {
                // Nothing but the data ends the row of new segments.
                let new = (room - sent).min(self.state.unsent_within_window());
                self.state.timers.start_rto(now + self.state.rtt.rto());
                for _ in 0..new {
                    let flags = self.state.ecn.on_new_segment();
                    self.send_new(loss, now, flags, wire);
                }
                sent += new;
            } else {
                self.send(loss, now, next, wire);
                sent += 1;
            }
        }
    }

    /// Sends the retransmission that does not wait for room in the window, if its pace allows. Returns whether it does.
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
        // A receive window that lets less leave than the congestion window is what holds the sender back.
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
        let seq = match next {
            Next::Again(seq) => seq,
            Next::InOrder => self.state.seq.take_next(),
        };
        let flags = if self.state.seq.on_transmit(seq) {
            self.counters.retransmitted += 1;
            wire.on_retransmission(now, seq);
            // Karn: an acknowledgement would not say which of the two was timed.
            self.timed.cancel_from(seq);
            self.state.ecn.retransmission(self.state.control.needs().marks)
        } else {
            self.timed.begin(now, seq);
            self.state.ecn.on_new_segment()
        };
        self.counters.sent += 1;
        self.state.timers.start_rto(now + self.state.rtt.rto());
        if let Some(departures) = self.departures.as_deref_mut() {
            departures.sent(seq, now);
        }
        self.count_sent(loss);
        if let Some(optional) = self.optional.as_deref_mut() {
            let in_flight = loss.in_flight(&self.state.seq);
            if let Some(header) = optional.on_transmit(now, seq, in_flight, &self.state) {
                return wire.send_with(now, seq, flags, header);
            }
        }
        wire.send(now, seq, flags);
    }

    /// Sends the next new segment, for a sender that [`Self::is_unpaced`] and whose retransmission timer runs.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for most segments")]
    pub(super) fn send_new(&mut self, loss: &mut impl Loss, now: Time, flags: Flags, wire: &mut impl Wire) {
        let seq = self.state.seq.send_new();
        self.timed.begin(now, seq);
        self.counters.sent += 1;
        if let Some(departures) = self.departures.as_deref_mut() {
            departures.sent_next(now);
        }
        self.count_sent(loss);
        wire.send(now, seq, flags);
    }

    /// Sends the next `room` segments for the first time, as far as pacing allows, and sets the pacing timer.
    #[inline]
    pub(super) fn send_paced(&mut self, loss: &mut impl Loss, now: Time, room: u32, wire: &mut impl Wire) {
        let (mut waits, mut in_flight) = (Time::NEVER, loss.in_flight(&self.state.seq));
        let full = in_flight + room;
        while in_flight < full {
            if let Some(pacer) = self.optional.as_deref_mut().and_then(OptionalState::pacer)
                && let Some(at) = pacer.pace().wait(now)
            {
                waits = at;
                break;
            }
            let seq = self.state.seq.send_new();
            self.timed.begin(now, seq);
            self.counters.sent += 1;
            self.state.timers.start_rto(now + self.state.rtt.rto());
            if let Some(departures) = self.departures.as_deref_mut() {
                departures.sent_next(now);
            }
            self.count_sent(loss);
            if let Some(optional) = self.optional.as_deref_mut() {
                optional.on_new_segment(now, in_flight, &self.state);
            }
            in_flight += 1;
            wire.send(now, seq, self.state.ecn.data());
        }
        if waits != Time::NEVER || self.state.timers.is_pacing() {
            self.state.timers.set_pacing(waits);
        }
    }
}

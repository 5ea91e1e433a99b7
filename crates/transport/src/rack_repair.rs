//! The sender under RACK-TLP: when it looks for losses, how it repairs them, and the tail-loss probe.
//!
//! Source: RFC 8985, Sections 6 and 7; RFC 9937 for how much may be sent meanwhile.

use crate::departures::Departure;
use crate::rack::Rack;
use crate::{Phase, Sender, Wire};
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Sender<C> {
    /// Segments in the network.
    pub(crate) fn rack_pipe(&self) -> u32 {
        let rack = self.extra.as_ref().and_then(|extra| extra.rack.as_ref());
        rack.map_or(0, |rack| rack.pipe(self.una, self.nxt))
    }

    /// SACKed segments above `una`.
    pub(crate) fn rack_sacked(&self) -> u32 {
        self.extra.as_ref().and_then(|extra| extra.rack.as_ref()).map_or(0, Rack::sacked)
    }

    /// Marks what is lost by now; returns whether something was that was not before.
    pub(crate) fn detect(&mut self, now: Time) -> bool {
        let (range, recovering) = ((self.una, self.nxt), self.phase != Phase::Open);
        let times = (self.rtt.srtt(), self.rtt.min());
        if let Some(extra) = self.extra.as_deref_mut()
            && let (Some(rack), Some(departures)) = (&mut extra.rack, &mut extra.departures)
        {
            rack.detect(now, range, recovering, times, departures);
        }
        self.tell_lost(now)
    }

    /// Begins to repair, if anything is lost: the fast retransmit.
    pub(crate) fn repair_lost(&mut self, now: Time, delivered: u32, wire: &mut impl Wire) {
        if let Some(seq) = self.next_lost() {
            self.begin_repair(now, delivered);
            self.resend(now, seq, wire);
        }
    }

    /// Whether something that was lost waits to be sent again.
    pub(crate) fn has_lost(&self) -> bool {
        match self.extra.as_ref().and_then(|extra| extra.rack.as_ref()) {
            Some(rack) => rack.has_lost(),
            None => self.board.next_lost().is_some(),
        }
    }

    /// The lowest segment that is lost and not sent since.
    fn next_lost(&mut self) -> Option<u32> {
        let (una, nxt) = (self.una, self.nxt);
        let extra = self.extra.as_deref_mut()?;
        extra.rack.as_mut()?.next_lost(una, nxt, extra.departures.as_ref()?)
    }

    pub(crate) fn resend(&mut self, now: Time, seq: u32, wire: &mut impl Wire) {
        if let Some(extra) = self.extra.as_deref_mut()
            && let (Some(rack), Some(departures)) = (&mut extra.rack, &extra.departures)
        {
            rack.on_retransmit(now, seq, departures.get(seq).is_some_and(Departure::lost));
        }
        self.transmit(now, seq, wire);
    }

    /// The retransmission timer expired: what is lost by that.
    pub(crate) fn lose_overdue(&mut self, now: Time) {
        let range = (self.una, self.nxt);
        if let Some(extra) = self.extra.as_deref_mut()
            && let (Some(rack), Some(departures)) = (&mut extra.rack, &mut extra.departures)
        {
            rack.on_timeout(now, range, departures);
        }
        self.tell_lost(now);
    }

    /// Lost segments first, then new ones, as far as there is room.
    pub(crate) fn fill_rack(&mut self, now: Time, wire: &mut impl Wire) {
        for _ in 0..self.room() {
            if !self.may_send(now) {
                return;
            }
            if let Some(seq) = self.next_lost() {
                self.resend(now, seq, wire);
            } else if self.has_new() {
                let seq = self.nxt;
                self.nxt += 1;
                self.transmit(now, seq, wire);
            } else {
                return;
            }
        }
    }

    /// The tail-loss probe: a new segment if there is one, else the last again.
    pub(crate) fn probe(&mut self, now: Time, wire: &mut impl Wire) {
        let last = self.extra.as_ref().and_then(|extra| extra.rack.as_ref()?.last_segment(self.nxt));
        let again = !self.has_new();
        if !again {
            let seq = self.nxt;
            self.nxt += 1;
            self.transmit(now, seq, wire);
        } else if let Some(seq) = last {
            self.resend(now, seq, wire);
        }
        self.rto_at = now + self.rtt.rto();
        let nxt = self.nxt;
        if let Some(rack) = self.extra.as_deref_mut().and_then(|extra| extra.rack.as_mut()) {
            rack.on_probe(nxt, again);
        }
    }
}

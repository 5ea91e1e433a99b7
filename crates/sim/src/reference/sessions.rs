//! Sessions of the reference engine: the opening of a transfer is an event; the end of a transfer is detected after an
//! ACK.

use super::{Engine, Event, Phase};
use crate::places::ClosedTransfer;
use crate::plan::{FlowControl, LinkQueue};
use base::Time;

impl<C: FlowControl, Q: LinkQueue> Engine<C, Q> {
    /// Schedules the next opening of session `s`.
    pub(super) fn open_next(&mut self, now: Time, s: usize) {
        let session = &self.sessions[s];
        let due = session.places.due().max(now);
        if due != Time::NEVER {
            self.push(due, Phase::Start, session.first_place, Event::Open(s));
        }
    }

    /// Opens a transfer of session `s` if one is due; it may have opened already since the event was scheduled.
    pub(super) fn open(&mut self, now: Time, s: usize) {
        let session = &mut self.sessions[s];
        if session.places.due() > now {
            return;
        }
        if let Some((place, transfer)) = session.places.open(now) {
            let f = (session.first_place + place) as usize;
            let ends = &mut self.endpoints[f];
            ends.open = Some(transfer);
            ends.meter.begin_transfer();
            ends.tcp().open(transfer.segments);
            self.with_sender(now, f, |sender, out| sender.start(now, out));
        } else {
            let group = self.identities[session.flow as usize].group;
            self.transfers[group as usize].refused(now);
        }
        self.open_next(now, s);
    }

    /// Closes the transfer in place `f` if its sender has just learnt that everything arrived.
    pub(super) fn close(&mut self, now: Time, f: usize) {
        let ends = &mut self.endpoints[f];
        let Some(s) = ends.session else { return };
        let Some(open) = ends.open.filter(|_| ends.tcp().sender.seq().is_done()) else { return };
        ends.open = None;
        let session = &mut self.sessions[s];
        let who = &self.identities[session.flow as usize];
        let transfer = ClosedTransfer { open, closed: now, delivered: ends.meter.finished() };
        self.transfers[who.group as usize].close(session, f as u32, transfer, who);
        self.open_next(now, s);
    }
}

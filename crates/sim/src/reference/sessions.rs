//! Sessions of the reference engine: openings are events, ends are noticed after ACKs.

use super::{Engine, Event, Phase};
use crate::session::Open;
use base::Time;

impl Engine {
    /// Puts the opening that session `s` has due next into the heap.
    pub(super) fn open_next(&mut self, now: Time, s: usize) {
        let session = &self.sessions[s];
        let due = session.desk.due().max(now);
        if due != Time::NEVER {
            self.push(due, Phase::Start, session.first, Event::Open(s));
        }
    }

    /// Session `s` opens a transfer, if one is due: what was put into the heap may have come true already.
    pub(super) fn open(&mut self, now: Time, s: usize) {
        let session = &mut self.sessions[s];
        if session.desk.due() > now {
            return;
        }
        if let Some((place, segments)) = session.desk.open(now) {
            let f = (session.first + place) as usize;
            let side = &mut self.sides[f];
            side.open = Some(Open { at: now, segments });
            side.meter.finished = None;
            side.tcp().open(segments);
            self.with_sender(now, f, |sender, out| sender.start(now, out));
        } else {
            let group = self.identities[session.flow as usize].group;
            self.transfers[group as usize].refused(now);
        }
        self.open_next(now, s);
    }

    /// If `f` is a place, and its sender has just heard that all has arrived: the session hears of it.
    pub(super) fn close(&mut self, now: Time, f: usize) {
        let side = &mut self.sides[f];
        let done = side.meter.finished;
        let Some(s) = side.session else { return };
        let Some(open) = side.open.filter(|_| side.tcp().sender.is_done()) else { return };
        side.open = None;
        let session = &mut self.sessions[s];
        let who = &self.identities[session.flow as usize];
        session.close(f as u32, (open, now, done), who, &mut self.transfers[who.group as usize]);
        self.open_next(now, s);
    }
}

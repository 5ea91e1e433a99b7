//! Short ways through the sender for ACKs that come in a row while nothing is lost, SACKed or marked: the same bits as
//! `on_ack` would give, without looking for what cannot be there.
//!
//! Where the law counts, or decides only at some ACKs (`law::Step`), a whole run is a few additions (`steady`). Where it
//! hears every ACK, each costs the law and what it releases (`plain`).

use crate::sender::UNTIMED;
use crate::{Phase, Sender, Wire};
use base::{Flags, Time};
use law::{AckSample, CongestionControl};

impl<C: CongestionControl> Sender<C> {
    /// How many ACKs in a row, each for the next segment, will each release exactly one new segment and change nothing
    /// else but the window by the control's step. Zero if the next one may do more than that.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller in the hottest loop")]
    #[must_use]
    pub fn steady(&self) -> u32 {
        let plain = self.phase == Phase::Open && self.dupacks == 0 && !self.cwr && self.timed != UNTIMED;
        let Some(step) = self.control.step() else { return 0 };
        let cwnd = self.control.cwnd();
        if !plain || self.nxt - self.una != cwnd as u32 || self.receive_window < self.nxt - self.una {
            return 0;
        }
        if self.nxt != self.high || !self.board.is_empty() {
            return 0;
        }
        if !self.is_quiet() {
            return 0;
        }
        // As many gains as stay below the step's end. The quotient is rounded, so the product is checked.
        let room = (step.below - cwnd) / step.gain;
        let mut acks = if room < 1e6 { room as u32 } else { 1_000_000 };
        while acks > 0 && cwnd + step.gain * f64::from(acks) >= step.below {
            acks -= 1;
        }
        acks.min(step.acks).min(self.timed - self.una).min(self.data_end - self.nxt)
    }

    /// Takes `acks` ACKs as [`Self::steady`] announced; they arrived at `times`, the last at `last`.
    #[inline]
    pub fn take_steady(&mut self, acks: u32, last: Time, times: impl Iterator<Item = Time>) {
        if let Some(step) = self.control.step() {
            self.control.advance(step, acks);
        }
        self.una += acks;
        self.nxt += acks;
        self.high = self.nxt;
        self.counters.sent += u64::from(acks);
        self.rto_at = last + self.rtt.rto();
        if self.extra.is_some() {
            self.hear_steady(last, times);
        }
    }

    /// Whether an ACK for just the next segment does no more than grow the window, and release what that allows: nothing
    /// is lost, SACKed, marked or paced.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let open = self.phase == Phase::Open && self.dupacks == 0 && !self.cwr;
        open && self.nxt == self.high && self.board.is_empty() && self.is_quiet()
    }

    /// Whether what only some senders keep lets ACKs be taken in a short way: with departures, all of them are first ones.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.extra.as_ref().is_none_or(|extra| extra.is_quiet() && self.is_pristine())
    }

    /// How many ACKs in a row may be taken by [`Self::take_plain`]: up to the one that may change the timeout.
    #[inline]
    #[must_use]
    pub fn plain(&self) -> u32 {
        if !self.is_plain() {
            return 0;
        }
        // A law that counts may do so again from the next ACK on.
        if self.control.step().is_some() {
            return 1;
        }
        let until_timed = if self.timed == UNTIMED { u32::MAX } else { self.timed - self.una + 1 };
        until_timed.min(self.nxt - self.una)
    }

    /// ACKs at `times`, each for just the next segment, which was sent once; at most [`Self::plain`] of them, none later
    /// than [`Self::deadline`]. The same as so many calls of [`Self::on_ack`], without looking for what cannot be there.
    pub fn take_plain(&mut self, times: impl Iterator<Item = Time>, wire: &mut impl Wire) {
        debug_assert!(self.is_plain());
        let flags = self.ect;
        let (mut last, min_rtt, srtt) = (Time::ZERO, self.rtt.min(), self.rtt.srtt());
        let mut ack = AckSample { srtt, min_rtt, rtt: None, ..AckSample::plain(Time::ZERO, srtt) };
        for now in times {
            let before = self.nxt - self.una;
            if self.una == self.timed {
                ack.rtt = self.sample(now, self.una + 1);
                (ack.round_start, ack.srtt, ack.min_rtt) = (true, self.rtt.srtt(), self.rtt.min());
            }
            if self.extra.is_some() {
                let every = self.hear_plain(now);
                ack.rtt = every.or(ack.rtt);
                ack.min_rtt = self.rtt.min();
            }
            self.una += 1;
            ack.now = now;
            ack.in_flight = f64::from(before);
            ack.delivered = u64::from(self.una - self.base);
            ack.cwnd_limited = before >= self.control.cwnd() as u32;
            self.control.on_ack(&ack);
            (ack.rtt, ack.round_start) = (None, false);
            let end = self.una.saturating_add(self.window()).min(self.data_end);
            while self.nxt < end {
                self.transmit_new(now, flags, wire);
            }
            wire.on_window(now, self.control.cwnd(), self.una, self.nxt);
            last = now;
        }
        self.rto_at = if self.una == self.nxt { Time::NEVER } else { last + self.rtt.rto() };
        if self.extra.is_some() {
            self.settle(last, true);
        }
    }

    /// Sends the next new segment, when nothing is lost, paced or to be told.
    #[inline]
    fn transmit_new(&mut self, now: Time, flags: Flags, wire: &mut impl Wire) {
        let seq = self.nxt;
        self.nxt += 1;
        self.high = self.nxt;
        if self.timed == UNTIMED {
            self.timed = seq;
            self.timed_at = now;
        }
        self.counters.sent += 1;
        if let Some(departures) = self.extra.as_deref_mut().and_then(|extra| extra.departures.as_mut()) {
            departures.sent(seq, now);
        }
        wire.send(now, seq, flags);
    }

    /// Whether everything between sender and receiver was sent once, in order: a segment sent after the last
    /// retransmission has been acknowledged, and paths keep the order of a flow.
    #[inline]
    #[must_use]
    pub fn is_pristine(&self) -> bool {
        self.una > self.resent
    }
}

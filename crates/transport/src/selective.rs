//! Recovery with selective acknowledgements, sending what the pipe leaves room for (`sack`) or in proportion to what
//! arrives (`prr`). What RACK shares with them is here, too.
//!
//! Source: RFC 6675, Section 5; Section 5.1 after a timeout; RFC 9937, Section 6.

use crate::prr::Prr;
use crate::sender::News;
use crate::{DUP_THRESH, Phase, Recovery, Sender, Wire};
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Sender<C> {
    /// After the bookkeeping of `on_ack`, which found `sacked` segments newly SACKed.
    pub(crate) fn on_sack(&mut self, news: News, sacked: u32, wire: &mut impl Wire) {
        let progress = news.acked > 0;
        let lost = if self.recovery == Recovery::Rack { self.detect(news.now) } else { news.lost };
        let recovered = self.recover.is_none_or(|recover| self.una >= recover);
        match self.phase {
            Phase::Recovery if recovered => self.leave_recovery(),
            Phase::Recovery => {
                self.proportion(news.delivered, progress && !lost);
                return;
            }
            Phase::Loss => {
                if recovered {
                    self.leave_recovery();
                }
                self.grow_by_one(news);
                if !recovered {
                    return;
                }
            }
            Phase::Open if progress => self.grow(news, news.acked),
            Phase::Open => {}
        }
        if self.recovery == Recovery::Rack {
            self.repair_lost(news.now, news.delivered, wire);
            return;
        }
        if progress {
            self.dupacks = 0;
        } else if sacked > 0 {
            self.dupacks += 1;
        }
        if self.dupacks >= DUP_THRESH || (!self.board.is_empty() && self.board.is_lost(self.una)) {
            let una = self.una;
            self.board.begin_recovery(una);
            self.begin_repair(news.now, news.delivered);
            self.board.on_retransmit(una);
            self.transmit(news.now, una, wire);
        }
    }

    /// Reduces the window and, where that is the rule, begins to count what may be sent.
    pub(crate) fn begin_repair(&mut self, now: Time, delivered: u32) {
        if let Some(rack) = self.extra.as_mut().and_then(|extra| extra.rack.as_mut()) {
            rack.forget_probe();
        }
        self.enter_recovery(now);
        self.dupacks = 0;
        // What this recovery delivers: what was SACKed before it does not count, what this ACK reports does.
        let (flight, in_flight) = (self.nxt - self.una - self.sacked() + delivered, self.in_flight());
        if let Some(prr) = self.extra.as_mut().and_then(|extra| extra.prr.as_mut()) {
            *prr = Prr::new(flight, in_flight);
        }
        // It shows losses, so it is not safe.
        self.proportion(delivered, false);
    }

    /// PRR's share of this ACK, which reported `delivered` segments; `safe` as there.
    fn proportion(&mut self, delivered: u32, safe: bool) {
        let (pipe, ssthresh) = (self.in_flight(), self.control.ssthresh() as u32);
        if let Some(prr) = self.extra.as_mut().and_then(|extra| extra.prr.as_mut()) {
            prr.on_ack(delivered, pipe, ssthresh, safe);
        }
    }

    /// Segments that may leave now while losses are repaired.
    pub(crate) fn room(&self) -> u32 {
        let window = match self.extra.as_ref().and_then(|extra| extra.prr) {
            Some(prr) if self.phase == Phase::Recovery => prr.cwnd,
            _ => self.window(),
        };
        window.saturating_sub(self.in_flight())
    }

    /// Section 5, step C: while there is room, the segment that `NextSeg` chooses.
    pub(crate) fn fill_selective(&mut self, now: Time, wire: &mut impl Wire) {
        // Each segment sent adds one to the pipe.
        for _ in 0..self.room() {
            if !self.may_send(now) {
                return;
            }
            if let Some(seq) = self.board.next_lost() {
                self.board.on_retransmit(seq);
                self.transmit(now, seq, wire);
            } else if self.has_new() {
                let seq = self.nxt;
                self.nxt += 1;
                self.transmit(now, seq, wire);
            } else if self.phase == Phase::Recovery
                && let Some(seq) = self.board.next_unsacked()
            {
                self.board.on_retransmit(seq);
                self.transmit(now, seq, wire);
            } else if self.phase == Phase::Recovery
                && !self.rescued
                && let Some(seq) = self.board.rescue(self.nxt)
            {
                // HighRxt does not move, so the pipe does not count it.
                self.rescued = true;
                self.transmit(now, seq, wire);
            } else {
                return;
            }
        }
    }
}

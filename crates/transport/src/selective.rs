//! Recovery with selective acknowledgements.
//!
//! Source: RFC 6675, Section 5; Section 5.1 after a timeout.

use crate::sender::News;
use crate::{DUP_THRESH, Phase, Sender, Wire};
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Sender<C> {
    /// After the bookkeeping of `on_ack`, which found `sacked` segments newly SACKed.
    pub(crate) fn on_sack(&mut self, news: News, sacked: u32, wire: &mut impl Wire) {
        let (now, progress) = (news.now, news.acked > 0);
        let recovered = self.recover.is_none_or(|recover| self.una >= recover);
        match self.phase {
            Phase::Recovery if recovered => self.phase = Phase::Open,
            Phase::Recovery => return,
            Phase::Loss => {
                if recovered {
                    self.phase = Phase::Open;
                }
                self.grow_by_one(news);
                if !recovered {
                    return;
                }
            }
            Phase::Open if progress => self.grow(news, news.acked),
            Phase::Open => {}
        }
        if progress {
            self.dupacks = 0;
        } else if sacked > 0 {
            self.dupacks += 1;
        }
        if self.dupacks >= DUP_THRESH || (!self.board.is_empty() && self.board.is_lost(self.una)) {
            self.enter_recovery(now);
            self.dupacks = 0;
            let una = self.una;
            self.board.begin_recovery(una);
            self.board.on_retransmit(una);
            self.transmit(now, una, wire);
        }
    }

    /// Section 5, step C: while the pipe is below the window, the segment that `NextSeg` chooses.
    pub(crate) fn fill_selective(&mut self, now: Time, wire: &mut impl Wire) {
        // Each segment sent adds one to the pipe.
        let room = self.window().saturating_sub(self.board.pipe(self.una, self.nxt));
        for _ in 0..room {
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

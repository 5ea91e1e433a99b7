//! Recoveries that hear only the cumulative acknowledgement: Tahoe, Reno, NewReno.
//!
//! Source: RFC 5681, Section 3.2 (fast retransmit, fast recovery); RFC 6582, Section 3.2 (partial ACKs, "impatient": the timer
//! restarts on the first only; `recover` guards the second fast retransmit for all three).
//! Differs from ns-2: the ACK that ends Reno's recovery does not also grow the window.

use crate::sender::News;
use crate::{DUP_THRESH, Phase, Recovery, Sender, Wire};
use base::Time;
use law::CongestionControl;

impl<C: CongestionControl> Sender<C> {
    /// After the bookkeeping of `on_ack`: what the recovery makes of it.
    pub(crate) fn on_cumulative(&mut self, news: News, wire: &mut impl Wire) {
        if news.acked > 0 {
            self.on_progress(news, wire);
        } else if self.nxt > self.una {
            self.on_duplicate(news.now, wire);
        }
    }

    fn on_progress(&mut self, news: News, wire: &mut impl Wire) {
        self.dupacks = 0;
        let recovered = self.recover.is_none_or(|recover| self.una >= recover);
        match self.phase {
            Phase::Open => self.grow(news, news.acked),
            Phase::Loss => {
                if recovered {
                    self.leave_recovery();
                }
                self.grow_by_one(news);
            }
            Phase::Recovery if self.recovery == Recovery::NewReno && !recovered => {
                // Partial: the next hole. The window shrinks by what was acknowledged less the one sent now.
                self.inflation = (self.inflation + 1).saturating_sub(news.acked);
                self.rto_at = *self.patience.get_or_insert(self.rto_at);
                let una = self.una;
                self.transmit(news.now, una, wire);
            }
            Phase::Recovery => {
                self.inflation = 0;
                self.leave_recovery();
            }
        }
    }

    fn on_duplicate(&mut self, now: Time, wire: &mut impl Wire) {
        match self.phase {
            Phase::Recovery => self.inflation += 1,
            Phase::Loss => {}
            Phase::Open => {
                self.dupacks += 1;
                if self.dupacks == DUP_THRESH && self.recover.is_none_or(|recover| self.una > recover) {
                    self.enter_recovery(now);
                    let una = self.una;
                    if self.recovery == Recovery::Tahoe {
                        self.control.collapse();
                        self.phase = Phase::Loss;
                        self.nxt = una;
                        self.dupacks = 0;
                        // `fill` sends it: the window is one.
                    } else {
                        self.inflation = DUP_THRESH;
                        self.transmit(now, una, wire);
                    }
                }
            }
        }
    }
}

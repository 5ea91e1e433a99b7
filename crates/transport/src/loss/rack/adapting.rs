//! Adaptation of RACK's window to reordering, where it is to be expected (RFC 8985, Section 6.2, step 4).

use crate::rtt::SrttAndMin;
use crate::sequence::NO_SEGMENT;
use crate::{Ack, DUP_THRESH};
use base::Span;

/// Reordering seen, and the width of the window for it (Section 6.2, step 4).
#[derive(Clone, Debug)]
pub(super) struct Adapting {
    /// `RACK.reordering_seen`.
    pub(super) seen: bool,
    /// Largest number of segments that overtook another one (Linux: `tp->reordering`).
    pub(super) reordering: u32,
    /// `RACK.reo_wnd_mult`, in quarters of the smallest round-trip time.
    quarters: u32,
    /// `RACK.reo_wnd_persist`: recoveries until the window is narrow again.
    persist: u32,
    /// `RACK.dsack_round`; `NO_SEGMENT` for none.
    round: u64,
}

impl Default for Adapting {
    fn default() -> Self {
        Self { seen: false, reordering: DUP_THRESH, quarters: 1, persist: PERSIST, round: NO_SEGMENT }
    }
}

impl Adapting {
    /// Notes that `segments` have overtaken one.
    #[cold]
    pub(super) fn see(&mut self, segments: u64) {
        self.seen = true;
        self.reordering = self.reordering.max(segments.min(MOST_REORDERING) as u32);
    }

    #[cold]
    pub(super) fn on_ack(&mut self, ack: &Ack, nxt: u64) {
        if ack.cum >= self.round {
            self.round = NO_SEGMENT;
        }
        if self.round == NO_SEGMENT && ack.duplicate().is_some() {
            (self.round, self.persist) = (nxt, PERSIST);
            self.quarters = (self.quarters + 1).min(MOST_QUARTERS);
        }
    }

    #[cold]
    pub(super) fn end_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    #[cold]
    pub(super) fn patience(&self, rtts: SrttAndMin) -> Span {
        patience(self.quarters, rtts)
    }
}

/// Most segments that count as overtaking another (Linux: `sysctl_tcp_max_reordering`).
const MOST_REORDERING: u64 = 300;
/// Recoveries for which a wider window persists.
const PERSIST: u32 = 16;
/// Widest window, as in Linux, in quarters of the smallest round-trip time; the smoothed one limits it before.
const MOST_QUARTERS: u32 = 255;

/// Reordering window: quarters of the smallest round-trip time, and at most the smoothed one.
#[inline]
pub(super) fn patience(quarters: u32, rtts: SrttAndMin) -> Span {
    Span(u64::from(quarters) * (rtts.min.0 / 4)).min(rtts.srtt)
}

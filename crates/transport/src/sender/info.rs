//! Read-only view of the state of a sender other than its sequence numbers and its control. It has no counters of its
//! own, so it does not slow the sender.
//!
//! Source: Linux 6.12, `tcp_write_xmit`: pace, congestion window and receive window in this order; `tcp_tso_should_defer` and
//! `tcp_rate_check_app_limited`.
//! Differs from Linux: there is no send buffer; if receive window and congestion window are equal, the congestion
//! window is the limit.

use super::core::Core;
use super::kept::Spurious;
use crate::loss::rules::Loss;
use crate::loss::{LossRecovery, each_ref};
use crate::optional::OptionalState;
use crate::state::Phase;
use base::{Flags, Time};
use law::CongestionControl;

/// Limit that keeps a sender from sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// The congestion window, or what proportional rate reduction allows; an incomplete burst waits for it, too.
    Cwnd,
    /// The receive window (`rwnd_limited` of `ss`).
    Rwnd,
    /// The application: there is room, and nothing to send (`app_limited` of `ss`).
    App,
    /// The pace.
    Pacing,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Info<'a, C> {
    pub(super) core: &'a Core<C>,
    pub(super) loss: &'a LossRecovery,
}

impl<C: CongestionControl> Info<'_, C> {
    /// Limit that keeps the sender from sending now; `None` before its first segment and when a transfer is complete.
    #[must_use]
    pub fn limit(&self) -> Option<SendLimit> {
        each_ref!(self.loss, loss => self.core.limit(loss))
    }

    /// Limit of proportional rate reduction on the segments in flight: what Linux shows as `snd_cwnd` in recovery.
    #[must_use]
    pub fn window_in_repair(&self) -> Option<u32> {
        let repairs = matches!(self.core.state.phase, Phase::Recovery | Phase::Reduction);
        if repairs { each_ref!(self.loss, loss => loss.prr_window()) } else { None }
    }

    /// Retransmissions in flight, for a recovery that uses transmission times.
    #[must_use]
    pub fn resent(&self) -> Option<u32> {
        let range = self.core.state.seq.una()..self.core.state.seq.high();
        let departures = self.core.departures.as_deref().filter(|_| self.loss.uses_departures())?;
        let is_out = |seq| departures.get(seq).is_some_and(|d| d.again() && !d.lost() && !d.delivered());
        Some(range.filter(|&seq| is_out(seq)).count() as u32)
    }

    /// Counts of segments sent in vain; `None` where the receiver does not report duplicates.
    #[must_use]
    pub fn spurious(&self) -> Option<Spurious> {
        self.core.spurious()
    }

    /// Delivery rate in segments per second (`tcpi_delivery_rate`); `None` before the first rate sample, and of a sender whose
    /// control takes none.
    #[must_use]
    pub fn delivery_rate(&self) -> Option<f64> {
        self.core.optional.as_deref()?.delivery_rate()
    }

    /// Rate in segments per second at which it spaces segments, or from which the sizes of its bursts follow (`tcpi_pacing_rate`);
    /// `None` of a sender that does neither, and before the first round-trip sample.
    #[must_use]
    pub fn pacing_rate(&self) -> Option<f64> {
        self.core.optional.as_deref()?.pacing_rate(&self.core.state.control, &self.core.state.seq)
    }

    /// Expiry of the next timer other than the pacing timer.
    #[must_use]
    pub fn deadline_but_pacing(&self) -> Time {
        self.core.state.timers.deadline_but_pacing()
    }

    /// Flags of its new data without CWR; they show whether the data can be marked.
    #[must_use]
    pub fn data_flags(&self) -> Flags {
        self.core.state.ecn.data()
    }
}

impl<C: CongestionControl> Core<C> {
    /// See [`Info::limit`].
    fn limit(&self, loss: &impl Loss) -> Option<SendLimit> {
        let (state, seq) = (&self.state, &self.state.seq);
        if self.counters.sent == 0 {
            return None;
        }
        if seq.is_done() {
            let may_write = self.optional.as_deref().is_some_and(OptionalState::validates);
            return may_write.then_some(SendLimit::App);
        }
        let by_cwnd = (state.control.cwnd() as u32).saturating_sub(loss.in_flight(seq));
        if by_cwnd == 0 || state.ecn.is_held() {
            return Some(SendLimit::Cwnd);
        }
        let repairs = loss.has_lost() || loss.is_pending();
        if seq.unsent() == 0 && !repairs {
            return Some(SendLimit::App);
        }
        let by_rwnd = state.receive_window.saturating_sub(seq.outstanding());
        if state.timers.is_pacing() && loss.room(state) > 0 && (repairs || by_rwnd > 0) {
            return Some(SendLimit::Pacing);
        }
        Some(if by_rwnd < by_cwnd && !repairs { SendLimit::Rwnd } else { SendLimit::Cwnd })
    }
}

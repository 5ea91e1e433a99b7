//! The limit that keeps a sender from sending at an instant. Nothing is counted for it while segments are sent.
//!
//! Source: Linux 6.12, `tcp_write_xmit`: pace, congestion window and receive window in this order; `tcp_tso_should_defer` and
//! `tcp_rate_check_app_limited`.
//! Differs from Linux: no send buffer; of a receive window as large as the congestion window, the latter limits.

use super::core::Core;
use crate::loss::rules::Loss;
use crate::optional::OptionalState;
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

impl<C: CongestionControl> Core<C> {
    /// See [`crate::Sender::limit`].
    pub fn limit(&self, loss: &impl Loss) -> Option<SendLimit> {
        let (state, seq) = (&self.state, &self.state.seq);
        if self.counters.sent == 0 {
            return None;
        }
        if seq.una() == seq.data_end() {
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

//! What keeps a sender from sending more, at an instant between two of its events.

use super::core::Core;
use crate::state::Phase;
use law::CongestionControl;

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SendLimit {
    /// It repairs losses, or its window falls after a mark.
    Recovery,
    /// The congestion window is below the slow-start threshold.
    SlowStart,
    /// The congestion window.
    Window,
    /// The receive window.
    ReceiveWindow,
    /// The application offers nothing more, or has not begun.
    Application,
}

impl<C: CongestionControl> Core<C> {
    /// See [`crate::Sender::limit`].
    pub fn limit(&self) -> SendLimit {
        let state = &self.state;
        let (cwnd, ssthresh) = (state.control.cwnd(), state.control.ssthresh());
        if self.counters.sent == 0 {
            SendLimit::Application
        } else if state.phase != Phase::Open {
            SendLimit::Recovery
        } else if state.seq.unsent() == 0 {
            SendLimit::Application
        } else if state.seq.outstanding() >= state.receive_window && cwnd as u32 >= state.receive_window {
            SendLimit::ReceiveWindow
        } else if cwnd < ssthresh && !(ssthresh.is_infinite() && state.control.pacing_rate().is_some()) {
            SendLimit::SlowStart
        } else {
            SendLimit::Window
        }
    }
}

//! State of a sender that its loss recovery reads: sequence numbers, timers, round-trip times, congestion control. Only the
//! sender changes it.

use crate::Rtt;
use crate::ecn::EcnSender;
use crate::sequence::SequenceSpace;
use crate::switches::Switches;
use crate::timers::Timers;
use law::CongestionControl;

/// Phase of congestion control and recovery (Linux: `ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No segment is known to be lost.
    Open,
    /// The window falls after a congestion echo, segment by segment (Linux: `TCP_CA_CWR`), with PRR.
    Reduction,
    /// Fast recovery after a fast retransmit (Linux: `TCP_CA_Recovery`).
    Recovery,
    /// Recovery after a timeout, for Tahoe after a fast retransmit too (Linux: `TCP_CA_Loss`).
    Loss,
}

impl Phase {
    /// Whether losses are being repaired.
    #[inline]
    #[must_use]
    pub fn repairs(self) -> bool {
        matches!(self, Self::Recovery | Self::Loss)
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SenderState<C> {
    pub seq: SequenceSpace,
    pub timers: Timers,
    pub rtt: Rtt,
    pub control: C,
    pub phase: Phase,
    pub ecn: EcnSender,
    pub switches: Switches,
    pub receive_window: u32,
}

impl<C: CongestionControl> SenderState<C> {
    /// Window in whole segments: the smaller of the congestion window and the receive window.
    #[inline]
    pub fn window(&self) -> u32 {
        if self.ecn.is_held() { 0 } else { (self.control.cwnd() as u32).min(self.receive_window) }
    }

    /// Whether another new segment may be sent as far as receiver and application are concerned.
    #[inline]
    pub fn has_new(&self) -> bool {
        self.seq.unsent() > 0 && self.seq.outstanding() < self.receive_window
    }

    /// Whether `segments` new segments may be sent, and more remain to be sent.
    #[inline]
    pub fn has_new_beyond(&self, segments: u32) -> bool {
        self.seq.unsent() > u64::from(segments)
            && u64::from(self.seq.outstanding()) + u64::from(segments) <= u64::from(self.receive_window)
    }

    /// Number of new segments that receiver and application allow.
    #[inline]
    pub fn unsent_within_window(&self) -> u32 {
        let room = self.receive_window.saturating_sub(self.seq.outstanding());
        self.seq.unsent().min(u64::from(room)) as u32
    }

    /// Number of new segments that may be sent one per ACK while more remain to be sent.
    #[inline]
    pub fn new_in_row(&self) -> u32 {
        let room = self.receive_window.saturating_sub(self.seq.outstanding());
        self.seq.unsent().saturating_sub(1).min(u64::from(room)) as u32
    }

    /// Number of segments that may be sent while fewer than the window plus `inflation` are outstanding.
    #[inline]
    pub fn room_in_window(&self, inflation: u32) -> u32 {
        let window = self.window().saturating_add(inflation).min(self.receive_window);
        self.seq.end_of_window(window).saturating_sub(self.seq.nxt()) as u32
    }

    /// Limited transmit (RFC 3042): each of `dupacks` duplicate ACKs before number `dup_thresh`, which begins a
    /// recovery, releases a new segment beyond the window. They show that segments have left the network; cwnd counts
    /// those still outstanding.
    #[inline]
    pub fn limited_transmit(&self, dupacks: u32, dup_thresh: u32) -> u32 {
        if self.switches.limited_transmit() { dupacks.min(dup_thresh - 1) } else { 0 }
    }
}

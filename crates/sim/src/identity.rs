//! Identity of flows, and the reference values of their transfers.

use base::{Span, Time};
use std::num::NonZeroU64;

/// Identity of a flow in the scenario, and the reference values of its results.
#[derive(Clone, Debug)]
pub struct Identity {
    pub group: u32,
    pub index: u32,
    pub base_rtt: Span,
    pub start: Time,
    /// `None` for a flow that only sends, without an end, from its start on.
    pub transfers: Option<Box<Transfers>>,
}

/// Data about a flow's transfers, and the reference values of their results.
#[derive(Clone, Debug)]
pub struct Transfers {
    /// Time from sending a packet until the receiver has it, in an otherwise empty network.
    pub one_way_latency: Span,
    /// Transmission time of a data packet on the slowest link of the path.
    pub bottleneck_tx_time: Span,
    /// Whether the flow is a session.
    pub session: bool,
    /// Number of segments, if the flow is one finite transfer.
    pub finite: Option<NonZeroU64>,
}

impl Identity {
    /// Whether the flow is a session.
    pub fn is_session(&self) -> bool {
        self.transfers.as_deref().is_some_and(|transfers| transfers.session)
    }

    /// Number of segments, if the flow is one finite transfer.
    pub fn finite(&self) -> Option<u64> {
        Some(self.transfers.as_deref()?.finite?.get())
    }
}

impl Transfers {
    /// The shortest possible duration of a transfer of `segments` segments: each is sent as soon as the one before has left
    /// the slowest link.
    pub fn ideal(&self, segments: u64) -> Span {
        Span((segments - 1).saturating_mul(self.bottleneck_tx_time.0).saturating_add(self.one_way_latency.0))
    }
}

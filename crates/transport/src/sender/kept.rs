//! Data that few senders keep: transmission times, and the last reduction of the window where it may be undone.

use crate::departures::Departures;
use base::Time;
use std::ops::{Deref, DerefMut};

/// Last reduction of a sender, and what is known of it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what is known of one reduction")]
pub struct Undo<C> {
    /// The control before it, as long as it may be undone; never set where nothing is undone.
    pub(super) before: Option<C>,
    pub(super) is_on: bool,
    /// First segment not acknowledged at the reduction, and the time of the reduction or of an earlier retransmission
    /// of that segment.
    pub(super) una: u64,
    pub(super) since: Time,
    /// Retransmissions before the reduction, and duplicates reported since.
    pub(super) resent: u64,
    pub(super) duplicates: u64,
    /// Whether it followed from a timeout that an original may prove spurious.
    pub(super) by_timeout: bool,
    /// Whether F-RTO tests the last timeout.
    pub(super) tests_timeout: bool,
    /// Contents of the present ACK: the segment at `una` is a late original; an original from before the timeout arrived.
    pub(super) is_delayed: bool,
    pub(super) is_original: bool,
    /// Latest timestamp that was echoed: the receiver's `TS.Recent` does not decrease (RFC 7323, 4.3).
    pub(super) ts_recent: Time,
    pub(super) counts: Spurious,
}

/// Counts of segments sent in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spurious {
    /// Segments that the receiver reported as duplicates (RFC 2883; `tcpi_dsack_dups`).
    pub duplicates: u64,
    /// Reductions by timeouts that proved spurious and were undone (Linux: `TCPSpuriousRTOs`, `TCPLossUndo`).
    pub timeouts: u64,
    /// Other reductions that proved spurious and were undone (Linux: `TCPFullUndo`, `TCPPartialUndo`, `TCPDSACKUndo`).
    pub recoveries: u64,
}

/// Transmission times, and the last reduction: both are for few senders.
///
/// The times come first, so that a pointer to them is one to both.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Kept<C> {
    pub(super) departures: Departures,
    pub(super) undo: Option<Box<Undo<C>>>,
}

impl<C> Default for Kept<C> {
    fn default() -> Self {
        Self { departures: Departures::default(), undo: None }
    }
}

impl<C> Deref for Kept<C> {
    type Target = Departures;
    #[inline]
    fn deref(&self) -> &Departures {
        &self.departures
    }
}

impl<C> DerefMut for Kept<C> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Departures {
        &mut self.departures
    }
}

impl<C> Undo<C> {
    pub(super) fn new(is_on: bool) -> Self {
        Self {
            before: None,
            is_on,
            una: 0,
            since: Time::ZERO,
            resent: 0,
            duplicates: 0,
            by_timeout: false,
            tests_timeout: false,
            is_delayed: false,
            is_original: false,
            ts_recent: Time::ZERO,
            counts: Spurious::default(),
        }
    }
}

//! What links and flows of the window engine leave behind when the run is over.

use crate::hash::Rolling;
use crate::meter::LinkTotals;
use crate::results::FinalTally;

/// What a link leaves behind.
pub struct LinkResult {
    /// Before the end of the run.
    pub totals: LinkTotals,
    /// The most packets that waited.
    pub most_waiting: u32,
    /// Data packets that still wait in a discipline of its own.
    pub still_waiting: u64,
}

/// What a flow, or a place of a session, leaves behind. Counts are those of the whole run.
pub struct FlowResult {
    pub in_flight: u64,
    pub sent: u64,
    pub delivered: u64,
    /// Dropped by the sender's own full queue.
    pub access_drops: u64,
    pub hash: Rolling,
    pub tally: FinalTally,
}

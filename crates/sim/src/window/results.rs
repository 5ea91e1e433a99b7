//! Final results of links and flows in the window engine.

use crate::hash::Rolling;
use crate::meter::LinkTotals;
use crate::results::FinalTally;

/// Final results of a link.
pub struct LinkResult {
    /// Totals before the end of the run.
    pub totals: LinkTotals,
    /// The largest number of waiting packets.
    pub most_waiting: u32,
    /// Data packets that still wait, in a discipline that keeps its own queue.
    pub still_waiting: u64,
}

/// Final results of a flow or of a place of a session. Counts cover the whole run.
pub struct FlowResult {
    pub in_flight: u64,
    pub sent: u64,
    pub delivered: u64,
    /// Dropped by the sender's own full queue.
    pub access_drops: u64,
    pub hash: Rolling,
    pub tally: FinalTally,
}

//! The `tc` command that sets up a link's queue on Linux.
//!
//! Source: tc(8), tc-tbf(8); `tbf` drops a frame that is longer than its burst.

use crate::links::{Bucket, Link};
use crate::{LinkUse, check};
use base::Rate;

/// Bytes of an Ethernet header, which Linux counts and a scenario does not.
const ETHERNET_HEADER: u64 = 14;

/// The longest Ethernet frame, in bytes.
const FRAME: u64 = 1514;

impl LinkUse<'_> {
    /// The command that sets up the link's queue on the Linux device `device`: at its root, or below a `tbf` that shapes as
    /// the link does. `None` if a queue of the device cannot do the same: Linux has no such discipline or bucket; a
    /// policer, a batch or random loss decides which packets pass; the rate changes; or the memory is shared.
    #[must_use]
    pub fn tc(&self, device: &str) -> Option<String> {
        let Link { rate, queue, loss, policer, shaper, batch, pool, .. } = self.link();
        if loss.is_some() || policer.is_some() || batch.is_some() || rate.changes() || pool.is_some() {
            return None;
        }
        let port = self.port();
        let words = queue.tc(&port)?;
        let Some(Bucket { rate: shaped, burst }) = shaper.as_ref().filter(|bucket| bucket.rate < rate.max()) else {
            return Some(format!("tc qdisc replace dev {device} root {words}"));
        };
        let frame = FRAME.max(check::largest_packet(self).0 + ETHERNET_HEADER);
        // `tbf` requires a limit for its FIFO, which the discipline then replaces.
        let limit = port.buffer_bytes()?.round().max(frame as f64);
        if burst.0 < frame || burst.0.max(limit as u64) > u64::from(u32::MAX) {
            return None;
        }
        let (shaped, burst) = (in_tc(*shaped), burst.0);
        Some(format!(
            "tc qdisc replace dev {device} root handle 1: tbf rate {shaped} burst {burst} limit {limit} && \
             tc qdisc replace dev {device} parent 1:1 handle 10: {words}"
        ))
    }
}

/// A rate in the notation of `tc`, in bits.
fn in_tc(Rate(rate): Rate) -> String {
    let (unit, name) = [(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1000, "kbit")]
        .into_iter()
        .find(|(unit, _)| rate % unit == 0)
        .unwrap_or((1, "bit"));
    format!("{}{name}", rate / unit)
}

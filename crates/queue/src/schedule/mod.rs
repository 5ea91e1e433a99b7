//! Schedule of a link whose rate changes: rates that each hold for some time, or transmission opportunities at given
//! instants.
//!
//! Packets are served one after the other, each from its arrival or from the end of the previous service, so a schedule
//! only moves forward. As on every link, a service takes at least a picosecond.

mod opportunities;
mod rates;

use opportunities::DEVICE_BYTES;
pub use opportunities::{OPPORTUNITY_BYTES, Opportunities};
use rates::FAR;
pub use rates::{Rates, mean_of_steps};

use crate::TokenBucket;
use base::{Bytes, RunMonitor, Span, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub enum Schedule {
    /// A rate at every instant.
    Rates(Rates),
    /// Transmission opportunities at given instants.
    Opportunities(Opportunities),
    /// Another schedule behind a token bucket; each packet waits for its tokens.
    Shaped(TokenBucket, Box<Schedule>),
}

impl Schedule {
    /// End of the service of a packet of `size` bytes that begins at `start`. `follows`: it follows the previous packet
    /// without a pause; otherwise the link was idle.
    pub fn finish(&mut self, start: Time, follows: bool, size: u32) -> Time {
        let size = Bytes(u64::from(size));
        match self {
            Self::Rates(rates) => rates.finish(start, size),
            Self::Opportunities(list) => list.finish(start, follows, Bytes(size.0 + DEVICE_BYTES)),
            Self::Shaped(bucket, wire) => {
                let begin = bucket.wait(start.min(FAR), size).min(FAR);
                wire.finish(begin, follows && begin == start, size.0 as u32)
            }
        }
    }

    /// Time that `packets` with `bytes` in total take from `start` on, as if the link had been idle before. Later calls
    /// must have later starts.
    pub fn drain(&mut self, start: Time, packets: u32, bytes: Bytes) -> Span {
        if start >= FAR {
            return Span::ZERO;
        }
        let end = match self {
            Self::Rates(rates) => {
                rates.forward(start);
                rates.clone().finish(start, bytes)
            }
            Self::Opportunities(list) => {
                list.forward(start);
                list.clone().finish(start, false, Bytes(bytes.0 + u64::from(packets) * DEVICE_BYTES))
            }
            // While packets wait, the bucket is empty.
            Self::Shaped(bucket, wire) => {
                let tokens = bucket.rate().serialize(bytes);
                return wire.drain(start, packets, bytes).max(tokens);
            }
        };
        end - start
    }

    /// Lower bound of the time that a packet of `size` bytes takes from its arrival or from the end of the previous
    /// service.
    #[must_use]
    pub fn shortest(&self, size: Bytes) -> Span {
        match self {
            // Only the end of a service is rounded.
            Self::Rates(rates) => Span((rates.fastest().serialize(size).0 - 1).max(1)),
            Self::Opportunities(_) => Span(1),
            Self::Shaped(_, wire) => wire.shortest(size),
        }
    }

    /// Bits that could be sent from `from` until before `to` by a schedule that has not served anything yet; arbitrary if
    /// `monitor` stops it.
    #[must_use]
    pub fn offered_bits(&self, from: Time, to: Time, monitor: &RunMonitor) -> f64 {
        match self {
            Self::Rates(rates) => rates.clone().offered_bits(from, to, monitor),
            Self::Opportunities(list) => 8.0 * ((list.before(to) - list.before(from)) * OPPORTUNITY_BYTES) as f64,
            Self::Shaped(bucket, wire) => {
                wire.offered_bits(from, to, monitor).min(bucket.rate().bytes_in(to - from) * 8.0)
            }
        }
    }
}

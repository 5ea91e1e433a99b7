//! Instants at which a number of bytes may be sent (opportunities). Packets share an opportunity or take several; unused
//! opportunities are lost. Packets sent at one instant leave a picosecond apart. A packet that arrives exactly at an
//! opportunity is too late for it.
//!
//! Source: the traces of mahimahi (Netravali et al., USENIX ATC 2015): at each time 1504 bytes may leave, a packet of 1500
//! bytes and the 4 bytes that mahimahi's device puts in front; after the last time the trace starts again.

use super::rates::FAR;
use base::time::PS_PER_S;
use base::{Bytes, Span, Time};
use std::sync::Arc;

/// Data sent at one opportunity, in bytes.
pub const OPPORTUNITY_BYTES: u64 = 1504;
/// Overhead that the device adds to each packet, in bytes.
pub const DEVICE_BYTES: u64 = 4;

/// Times of opportunities are in milliseconds.
const PS_PER_MS: u64 = PS_PER_S / 1000;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Instants of the opportunities, in milliseconds.
    list: Arc<[u32]>,
    period: u64,
    /// Index of the next opportunity.
    at: usize,
    /// Time at which the list last began.
    origin: u64,
    /// Unused bytes of the previous opportunity.
    left: u64,
}

impl Opportunities {
    /// Opportunities at these milliseconds, in order. The list repeats from its last element on, which is above 0.
    ///
    /// # Panics
    /// Panics if `list` is empty.
    #[must_use]
    pub fn new(list: Arc<[u32]>) -> Self {
        let period = u64::from(list[list.len() - 1].max(1)) * PS_PER_MS;
        Self { list, period, at: 0, origin: 0, left: 0 }
    }

    /// Time of the next opportunity.
    fn next(&self) -> Time {
        Time(self.origin.saturating_add(u64::from(self.list[self.at]) * PS_PER_MS))
    }

    fn turn(&mut self) {
        self.at += 1;
        if self.at == self.list.len() {
            (self.at, self.origin) = (0, self.origin.saturating_add(self.period));
        }
    }

    /// Skips the opportunities at and before `now`.
    pub fn forward(&mut self, now: Time) {
        let whole = now.0.saturating_sub(self.origin) / self.period;
        if whole > 0 {
            // All opportunities of the list are at or before `now`.
            (self.origin, self.at) = (self.origin + whole * self.period, 0);
        }
        while self.next() <= now {
            self.turn();
        }
    }

    /// Number of opportunities before `time`.
    #[must_use]
    pub fn before(&self, time: Time) -> u64 {
        let earlier = |ps: u64| self.list.partition_point(|&ms| u64::from(ms) * PS_PER_MS < ps) as u64;
        // At the instant where one list ends and the next begins, the last opportunities of the first list are not before
        // it.
        let whole = time.0.saturating_sub(1) / self.period;
        whole * self.list.len() as u64 + earlier(time.0 - whole * self.period)
    }

    /// End of the service of `size` bytes, the device's overhead included, that begins at `start`. See
    /// [`super::Schedule::finish`].
    pub fn finish(&mut self, start: Time, follows: bool, size: Bytes) -> Time {
        if start >= FAR {
            return FAR;
        }
        let (mut need, soonest) = (size.0, start + Span(1));
        if follows {
            if need <= self.left {
                self.left -= need;
                return soonest;
            }
            need -= self.left;
        } else {
            self.forward(start);
        }
        loop {
            let at = self.next();
            if at >= FAR {
                return FAR;
            }
            self.turn();
            if need <= OPPORTUNITY_BYTES {
                self.left = OPPORTUNITY_BYTES - need;
                return at.max(soonest);
            }
            need -= OPPORTUNITY_BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[u32]) -> Opportunities {
        Opportunities::new(list.into())
    }

    /// Times, in milliseconds, at which packets of these sizes leave if all arrive at `ms`.
    fn leave(list: &[u32], ms: u64, sizes: &[u64]) -> Vec<f64> {
        let (mut list, mut free) = (of(list), Time(ms * PS_PER_MS));
        let each = sizes.iter().enumerate().map(|(i, size)| {
            free = list.finish(free, i > 0, Bytes(size + DEVICE_BYTES));
            // Removes the picoseconds by which packets of one instant are apart.
            free.0 as f64 / 1e9
        });
        each.map(|ms| (ms * 1e6).floor() / 1e6).collect()
    }

    #[test]
    fn full_packets_leave_one_at_each_opportunity_and_after_the_last_from_the_beginning() {
        assert_eq!(leave(&[1, 3, 3, 7], 0, &[1500; 9]), [1.0, 3.0, 3.0, 7.0, 8.0, 10.0, 10.0, 14.0, 15.0]);
        // A packet that arrives exactly at an opportunity is too late for it.
        assert_eq!(leave(&[1, 3, 3, 7], 3, &[1500; 2]), [7.0, 8.0]);
        assert_eq!(leave(&[1, 3, 3, 7], 7, &[1500; 2]), [8.0, 10.0]);
        assert_eq!(leave(&[1, 3, 3, 7], 700_003, &[1500; 2]), [700_007.0, 700_008.0]);
        // Two packets leave at an instant where one list ends and the next begins.
        assert_eq!(leave(&[0, 5], 0, &[1500; 4]), [5.0, 5.0, 10.0, 10.0]);
    }

    #[test]
    fn small_packets_share_one_and_large_ones_take_several() {
        // 748 + 4 bytes are half an opportunity.
        assert_eq!(leave(&[2, 5, 9], 0, &[748, 748, 748, 1500, 748]), [2.0, 2.0, 5.0, 9.0, 9.0]);
        assert_eq!(leave(&[2, 5, 9], 0, &[1501, 1499]), [5.0, 5.0]);
        assert_eq!(leave(&[2, 5, 9], 0, &[3004]), [5.0]);
        assert_eq!(leave(&[2, 5, 9], 0, &[3005]), [9.0]);
    }

    #[test]
    fn the_rest_is_unused_if_nothing_follows() {
        let mut list = of(&[2, 5, 9]);
        let half = Bytes(752);
        assert_eq!(list.finish(Time(0), false, half), Time(2 * PS_PER_MS));
        // The link is idle, so the opportunity at the instant itself is missed.
        assert_eq!(list.finish(Time(2 * PS_PER_MS), false, half), Time(5 * PS_PER_MS));
        assert_eq!(list.finish(Time(5 * PS_PER_MS), true, half), Time(5 * PS_PER_MS + 1));
    }

    #[test]
    fn counts_what_is_before_an_instant() {
        let list = of(&[0, 1, 3, 3, 7]);
        let plain = |ms: u64| {
            let all = (0..10).flat_map(|cycle| [0, 1, 3, 3, 7].map(|at| cycle * 7 + at));
            all.filter(|&at| at < ms).count() as u64
        };
        for ms in 0..60 {
            assert_eq!(list.before(Time(ms * PS_PER_MS)), plain(ms), "{ms}");
            assert_eq!(list.before(Time(ms * PS_PER_MS + 1)), plain(ms + 1), "just after {ms}");
        }
    }
}

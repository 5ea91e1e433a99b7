//! The longest of many lanes at any time, ties broken at random, at constant cost: lanes are kept in buckets by length.
//!
//! Lengths are bytes rounded up to whole packets of the mean size. They are updated when the longest lane is requested, in
//! the order of their first changes since then, so a buffer that does not overflow only pays for a flag.

use crate::flows::Flows;
use base::Stream;
use base::steps::count_steps;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    /// Mean size of packets, in bytes.
    unit: u64,
    /// For each lane, its bucket (0 for none) and its position there.
    filed: Vec<(u32, u32)>,
    buckets: Vec<Vec<u32>>,
    /// Highest bucket that may hold a lane.
    top: usize,
}

impl Longest {
    /// Creates the list for packets of `packet` bytes on average.
    pub fn new(packet: f64) -> Self {
        let unit = packet.round().max(1.0) as u64;
        Self { unit, filed: Vec::new(), buckets: Vec::new(), top: 0 }
    }

    /// One of the longest lanes. A number is drawn only if there are several. At least one packet must wait.
    pub fn pick(&mut self, flows: &mut Flows, chance: &mut Stream) -> u32 {
        let mut i = 0;
        while let Some(lane) = flows.change(i) {
            i += 1;
            count_steps(1);
            self.file(lane, flows.bytes(lane), flows.packets(lane) > 0);
        }
        flows.forget_changes();
        while self.buckets[self.top].is_empty() {
            count_steps(1);
            self.top -= 1;
        }
        let ties = &self.buckets[self.top];
        let one = if ties.len() > 1 { chance.below(ties.len() as u64) as usize } else { 0 };
        ties[one]
    }

    /// Length in packets of the mean size for `bytes`, close to the `old` length. Mostly it is the same or differs by one,
    /// so a division, which would cost more than everything else, is avoided.
    #[inline]
    fn length(&self, bytes: u64, old: u32) -> u32 {
        let was = u64::from(old) * self.unit;
        if bytes > was + self.unit || bytes + 2 * self.unit <= was {
            bytes.div_ceil(self.unit) as u32
        } else if bytes > was {
            old + 1
        } else if bytes + self.unit <= was {
            old - 1
        } else {
            old
        }
    }

    #[inline]
    fn file(&mut self, lane: u32, bytes: u64, waits: bool) {
        if self.filed.len() <= lane as usize {
            self.filed.resize(lane as usize + 1, (0, 0));
        }
        let (old, place) = self.filed[lane as usize];
        // A packet of zero bytes counts as one.
        let bucket = self.length(bytes, old).max(u32::from(waits));
        if old == bucket {
            return;
        }
        if old > 0 {
            let bucket = &mut self.buckets[old as usize];
            bucket.swap_remove(place as usize);
            if let Some(&moved) = bucket.get(place as usize) {
                self.filed[moved as usize].1 = place;
            }
        }
        let new = bucket as usize;
        if self.buckets.len() <= new {
            self.buckets.resize(new + 1, Vec::new());
        }
        self.filed[lane as usize] = (bucket, self.buckets[new].len() as u32);
        // Empty lanes are in no bucket.
        if bucket > 0 {
            self.buckets[new].push(lane);
            self.top = self.top.max(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_up_for_every_old_length() {
        let longest = Longest::new(10.0);
        for bytes in 0..100 {
            for old in 0..12 {
                assert_eq!(u64::from(longest.length(bytes, old)), bytes.div_ceil(10), "{bytes} after {old}");
            }
        }
    }
}

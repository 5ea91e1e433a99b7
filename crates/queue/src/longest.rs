//! The longest of many lanes at any time, ties by chance, at constant cost: lanes in buckets by length.
//!
//! Lengths are bytes rounded up to whole packets of the mean size. They are brought up to date when somebody asks, in the
//! order in which they first changed since, so that a buffer that does not overflow pays for a flag only.

use crate::flows::Flows;
use base::Stream;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    /// Mean size of packets, in bytes.
    unit: u64,
    /// By lane: its bucket, 0 for none, and its place there.
    filed: Vec<(u32, u32)>,
    buckets: Vec<Vec<u32>>,
    /// No bucket above it holds a lane.
    top: usize,
}

impl Longest {
    /// Of packets with `packet` bytes on average.
    pub fn new(packet: f64) -> Self {
        let unit = packet.round().max(1.0) as u64;
        Self { unit, filed: Vec::new(), buckets: Vec::new(), top: 0 }
    }

    /// One of the longest lanes; draws a number only if there are several. Something must be waiting.
    pub fn pick(&mut self, flows: &mut Flows, chance: &mut Stream) -> u32 {
        let mut i = 0;
        while let Some(lane) = flows.change(i) {
            i += 1;
            let bytes = flows.bytes(lane);
            // What waits is something, even without bytes.
            let least = u64::from(flows.packets(lane) > 0);
            self.file(lane, bytes.div_ceil(self.unit).max(least) as u32);
        }
        flows.forget_changes();
        while self.buckets[self.top].is_empty() {
            self.top -= 1;
        }
        let ties = &self.buckets[self.top];
        let one = if ties.len() > 1 { chance.below(ties.len() as u64) as usize } else { 0 };
        ties[one]
    }

    #[inline]
    fn file(&mut self, lane: u32, bucket: u32) {
        if self.filed.len() <= lane as usize {
            self.filed.resize(lane as usize + 1, (0, 0));
        }
        let (old, place) = self.filed[lane as usize];
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

//! The way from a sender to its first link: the sender's own link, and what goes beyond the window.

use super::access::{Access, Fate};
use super::bucket::Bucket;
use super::ring::{Rec, Ring, tag};
use crate::network::{Marks, Party};
use base::Flags;

/// See the [module](self).
#[derive(Debug)]
pub struct Way {
    pub id: u32,
    pub access: Access,
    /// Emitted, but not before the end of the window.
    pub spill: Ring,
    /// Dropped by the sender's own full queue: since the start, and since the warm-up.
    pub drops: (u64, u64),
    /// Handed over, but entering the sender's own link only after the end of the run.
    late: u64,
    warm: u64,
    end: u64,
}

impl Way {
    pub fn new(party: &mut Party, id: u32, marks: &Marks) -> Self {
        Self {
            id,
            access: Access::new(party.access, party.access_buffer, party.lead, party.jitter.take()),
            spill: Ring::default(),
            drops: (0, 0),
            late: 0,
            warm: marks.warmup.0,
            end: marks.end.0,
        }
    }

    /// Packet `seq`, handed over at `now`, in the window that ends at `until`.
    #[inline]
    pub fn send(&mut self, now: u64, seq: u32, flags: Flags, bucket: &mut Bucket, until: u64) {
        match self.access.admit(now) {
            Fate::Arrives(time) => self.emit(Rec { time, tag: tag(self.id, seq, flags) }, bucket, until),
            Fate::Dropped(entered) => self.dropped(entered),
        }
    }

    /// An arrival at the first link, in the window that ends at `until` or later.
    #[inline]
    pub fn emit(&mut self, rec: Rec, bucket: &mut Bucket, until: u64) {
        if rec.time < until { bucket.push(rec) } else { self.spill.push(rec) }
    }

    #[cold]
    fn dropped(&mut self, entered: u64) {
        if entered < self.end {
            self.drops.0 += 1;
            self.drops.1 += u64::from(entered >= self.warm);
        } else {
            self.late += 1;
        }
    }

    /// What was emitted before and arrives before `until`.
    #[inline]
    pub fn release(&mut self, bucket: &mut Bucket, until: u64) {
        while let Some(&rec) = self.spill.peek()
            && rec.time < until
        {
            bucket.push(rec);
            self.spill.consume(1);
        }
    }

    /// When the first of what is still here arrives.
    #[inline]
    pub fn due(&mut self) -> u64 {
        self.spill.tidy();
        self.spill.peek().map_or(u64::MAX, |rec| rec.time)
    }

    /// Packets that are still here at the end.
    pub fn in_flight(&self) -> u64 {
        self.spill.len() as u64 + self.late
    }
}

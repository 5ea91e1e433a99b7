//! The way from a sender to its first link: the sender's own link, and what goes beyond the window.

use super::access::{Access, Fate};
use super::bucket::Bucket;
use super::headers::Headers;
use super::ring::{Rec, Ring, tag};
use crate::network::{Marks, Party};
use base::{Flags, Header};

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
    /// Where its headers go first and arrive last, if its packets carry any.
    lanes: Option<(u32, u32)>,
    /// Size of a packet: senders count segments, routers bytes.
    packet: f32,
}

impl Way {
    pub fn new(party: &mut Party, id: u32, lanes: Option<(u32, u32)>, marks: &Marks) -> Self {
        Self {
            id,
            access: Access::new(party.access, party.access_buffer, party.lead, party.jitter.take()),
            spill: Ring::default(),
            drops: (0, 0),
            late: 0,
            warm: marks.warmup.0,
            end: marks.end.0,
            lanes,
            packet: party.packet as f32,
        }
    }

    /// Packet `seq`, handed over at `now`, in the window that ends at `until`. Returns whether it got into the network.
    #[inline]
    pub fn send(&mut self, now: u64, seq: u32, flags: Flags, bucket: &mut Bucket, until: u64) -> bool {
        match self.access.admit(now) {
            Fate::Arrives(time) => {
                self.emit(Rec { time, tag: tag(self.id, seq, flags) }, bucket, until);
                true
            }
            Fate::Dropped(entered) => {
                self.dropped(entered);
                false
            }
        }
    }

    /// The header of the packet just sent.
    pub fn put_header(&self, header: Header, headers: &mut Headers) {
        if let Some((first, _)) = self.lanes {
            headers.put(first, header.times(self.packet));
        }
    }

    /// The header of the packet that reaches the receiver, if its packets carry any.
    #[inline]
    pub fn take_header(&self, headers: &mut Headers) -> Option<Header> {
        let (_, last) = self.lanes?;
        Some(headers.take(last).times(1.0 / self.packet))
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

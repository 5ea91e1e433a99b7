//! A plain link: all packets have the same service time, and a packet that would wait longer than the buffer allows is
//! refused.
//!
//! One loop decides about a group of packets, and another passes them on. So the variables of each loop fit into the
//! registers, and no memory access delays the decision about the next packet.

use super::super::core::LinkCore;
use super::super::ring::Rec;
use super::super::shared::Shared;
use crate::hash::PacketFate;
use crate::marks::Marks;
use crate::observer::Observer;
use base::{Cause, Span, Time};
use queue::Packet;
use std::hint::select_unpredictable;

/// Number of packets per group: one for each bit of a word.
pub const TOGETHER: usize = 64;

/// Departure times of accepted packets.
pub type Room = [Rec; TOGETHER];

/// Clock of a plain link, and sums to be added to its totals.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Service time of a packet.
    time: Span,
    /// Longest wait that is within the buffer.
    longest: Span,
    free: Time,
    /// Longest wait so far.
    most: Span,
    waited: u64,
    nonempty: u64,
    refused: u64,
}

impl Clock {
    /// Clock of a link with service time `time` and longest wait `longest`. The link is idle from `free` on; `most` is the
    /// longest wait so far.
    pub fn new(time: Span, longest: Span, free: Time, most: Span) -> Self {
        Self { time, longest, free, most, waited: 0, nonempty: 0, refused: 0 }
    }

    /// Number of packets for which the 64-bit sums cannot overflow, even where a wait may be days long.
    pub fn at_most(&self) -> usize {
        (u64::MAX / self.longest.0.max(1)) as usize
    }

    /// Serves `arrivals`, all before the next mark.
    #[inline]
    pub fn serve<O: Observer>(
        &mut self,
        core: &mut LinkCore<O>,
        arrivals: &[Rec],
        size: u32,
        room: &mut Room,
        marks: &Marks,
        shared: &mut Shared,
    ) {
        for recs in arrivals.chunks(TOGETHER) {
            if O::ACTIVE {
                self.clone().observe(recs, size, &mut core.observer);
            }
            let (n, refused) = self.take(recs, room);
            shared.push_all(&core.flows, &room[..n]);
            if refused > 0 {
                count_refused(core, recs, refused, marks, shared);
            }
        }
    }

    /// Decides about at most [`TOGETHER`] packets. Accepted packets go into `room`. Returns their number, and a word
    /// with one bit per packet (the lowest bit is the last packet): the bit is set if the packet is refused.
    #[inline]
    fn take(&mut self, recs: &[Rec], room: &mut Room) -> (usize, u64) {
        let busy = recs.last().is_some_and(|last| self.free.since(last.time) >= self.time);
        match busy {
            true if self.takes_all(recs) => self.pass_all(recs, room),
            true => self.decide::<true>(recs, room),
            false => self.decide::<false>(recs, room),
        }
    }

    /// Whether the link accepts all of `recs` and no wait exceeds the longest wait so far, given that no packet finds
    /// the link idle.
    #[inline]
    fn takes_all(&self, recs: &[Rec]) -> bool {
        let before_last = self.time.0.saturating_mul(recs.len() as u64 - 1);
        recs.first().is_some_and(|first| self.free.since(first.time).0.saturating_add(before_last) <= self.most.0)
    }

    /// [`Self::take`] for packets that are all accepted and find the link busy.
    #[inline]
    fn pass_all(&mut self, recs: &[Rec], room: &mut Room) -> (usize, u64) {
        let Self { time, free: mut clock, mut waited, .. } = *self;
        for (rec, place) in recs.iter().zip(room) {
            waited += (clock - rec.time).0;
            clock += time;
            *place = Rec { time: clock, tag: rec.tag };
        }
        (self.free, self.waited) = (clock, waited);
        self.nonempty += recs.len() as u64 * time.0;
        (recs.len(), 0)
    }

    /// [`Self::take`] in general; `BUSY` means that every packet finds the link busy for at least a service time.
    ///
    /// There is no branch per packet, because with a full buffer the processor cannot predict which packets are
    /// refused.
    #[inline]
    fn decide<const BUSY: bool>(&mut self, recs: &[Rec], room: &mut Room) -> (usize, u64) {
        let Self { time, free: mut clock, mut most, mut waited, mut nonempty, .. } = *self;
        // Runs end before the 2^60th picosecond.
        let longest = self.longest.min(Span(u64::MAX / 2));
        let (mut n, mut bits) = (0, 0);
        for rec in recs {
            let refused = clock > rec.time + longest;
            let start = if BUSY { clock } else { clock.max(rec.time) };
            let wait = select_unpredictable(refused, 0, (start - rec.time).0);
            let service = select_unpredictable(refused, 0, time.0);
            clock = start + Span(service);
            waited += wait;
            if !BUSY {
                // If another packet waits behind it, the server starts one packet each `time`.
                nonempty += wait.min(service);
            }
            most = most.max(Span(wait));
            room[n % TOGETHER] = Rec { time: clock, tag: rec.tag };
            n += usize::from(!refused);
            bits = bits << 1 | u64::from(refused);
        }
        if BUSY {
            nonempty += n as u64 * time.0;
        }
        (self.free, self.most, self.waited, self.nonempty) = (clock, most, waited, nonempty);
        self.refused += (recs.len() - n) as u64;
        (n, bits)
    }

    /// Shows `recs` of `size` bytes each to the observer, before they are served.
    fn observe(mut self, recs: &[Rec], size: u32, observer: &mut impl Observer) {
        for rec in recs {
            let packet = Packet::new(rec.flow(), rec.number().0, size, rec.time).with(rec.flags());
            let wait = self.free.since(rec.time);
            observe_plain(observer, &packet, wait, self.longest, self.time);
            if wait <= self.longest {
                self.free = self.free.max(rec.time) + self.time;
            }
        }
    }

    /// Adds `n` served packets of `size` bytes each to the totals of `core`, and sets its clock. Returns the longest wait.
    pub fn finish<O: Observer>(self, core: &mut LinkCore<O>, n: usize, size: u32) -> Span {
        let accepted = n as u64 - self.refused;
        core.free = self.free;
        core.totals.arrived += n as u64;
        core.totals.begun += accepted;
        core.totals.begun_bytes += accepted * u64::from(size);
        core.totals.waiting += u128::from(self.waited);
        core.totals.nonempty += self.nonempty;
        self.most
    }
}

/// Counts those of `recs` as dropped whose bits in `refused` are set (the lowest bit is the last packet). A separate
/// function, so that the main loop fits the registers.
#[inline(never)]
fn count_refused<O: Observer>(
    core: &mut LinkCore<O>,
    recs: &[Rec],
    mut refused: u64,
    marks: &Marks,
    shared: &mut Shared,
) {
    let dropped = std::iter::from_fn(|| {
        let highest = refused.checked_ilog2()?;
        refused ^= 1 << highest;
        recs.get(recs.len() - 1 - highest as usize)
    });
    core.count_drops(dropped, Cause::Overflow, marks, shared);
}

/// Shows the observer `packet`, which arrives and would wait for `wait` behind packets that take `time` each.
fn observe_plain(observer: &mut impl Observer, packet: &Packet, wait: Span, longest: Span, time: Span) {
    observer.on_arrival(packet, (wait.0.div_ceil(time.0) as u32).saturating_sub(1));
    if wait > longest {
        observer.on_drop(packet, packet.arrived);
        observer.on_fate(packet, PacketFate::Dropped);
    } else {
        let start = packet.arrived + wait;
        observer.on_service(packet, start, start + time);
        observer.on_fate(packet, PacketFate::Accepted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Departure times of the accepted packets, computed one at a time by the definition.
    fn one_by_one(clock: &mut Clock, recs: &[Rec]) -> Vec<Option<Rec>> {
        let one = |rec: &Rec| {
            let wait = clock.free.since(rec.time);
            if wait > clock.longest {
                clock.refused += 1;
                return None;
            }
            clock.waited += wait.0;
            clock.nonempty += wait.min(clock.time).0;
            clock.most = clock.most.max(wait);
            clock.free = rec.time + wait + clock.time;
            Some(Rec { time: clock.free, ..*rec })
        };
        recs.iter().map(one).collect()
    }

    proptest! {
        #[test]
        fn packets_are_taken_together_as_one_by_one(
            gaps in prop::collection::vec(0u64..25, 1..400),
            longest in prop_oneof![Just(0u64), 1u64..50, 50u64..2000, Just(u64::MAX / 2)],
            (free, most) in (0u64..3000, 0u64..2000),
        ) {
            let mut now = 1000;
            let recs: Vec<Rec> = gaps.iter().zip(0..).map(|(gap, tag)| {
                // In some stretches more packets arrive than leave, in others fewer.
                now += if tag / 100 % 2 == 0 { gap / 3 } else { *gap };
                Rec { time: Time(now), tag }
            }).collect();
            let mut clock = Clock::new(Span(10), Span(longest), Time(free), Span(most.min(longest)));
            let (mut model, mut room) = (clock.clone(), [Rec::default(); TOGETHER]);
            for recs in recs.chunks(TOGETHER) {
                let expected = one_by_one(&mut model, recs);
                let (n, refused) = clock.take(recs, &mut room);
                prop_assert_eq!(&room[..n], &expected.iter().copied().flatten().collect::<Vec<_>>()[..]);
                let bits = expected.iter().fold(0, |bits, out| bits << 1 | u64::from(out.is_none()));
                prop_assert_eq!(refused, bits);
                prop_assert_eq!(format!("{clock:?}"), format!("{model:?}"));
            }
        }
    }
}

//! Packets between a link that reorders them and their readers, in the order of their arrival.
//!
//! Rings are read in order, so packets of a link that reorders wait here first. Before a reader runs a window, the
//! packets that arrive in that window move to its ring. No link hands over a packet that arrives in a window that its
//! reader is already running, so the order is final. Datagrams at the end of their path move to their ring after the
//! window.

use super::headers::Headers;
use super::ring::{Rec, Ring};
use base::{Header, Time};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A packet, and its header if it goes into a lane of headers.
#[derive(Clone, Debug)]
struct Waiting {
    rec: Rec,
    /// Simultaneous packets arrive in the order in which they left.
    order: u64,
    header: Option<(u32, Header)>,
}

impl Waiting {
    fn key(&self) -> (Time, u64) {
        (self.rec.time, self.order)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Reversed order: the earliest packet is the greatest, because a heap has the greatest on top.
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// The waiting packets of one ring.
#[derive(Clone, Debug, Default)]
struct Late {
    ring: u32,
    is_datagrams: bool,
    waiting: BinaryHeap<Waiting>,
    pushed: u64,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct LateRings {
    lists: Vec<Late>,
    /// For each ring, its index in `lists`; empty if no link reorders.
    places: Vec<u32>,
    /// For each link, the indices of the rings that are read there.
    read_at: Vec<Vec<u32>>,
}

/// Index of a ring that no reordering link feeds.
const NONE: u32 = u32::MAX;

impl LateRings {
    /// Whether no link reorders.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Adds `ring`, which a link that reorders feeds and which is read at `link`. `is_datagrams`: the ring is the end of a
    /// datagram path. `rings` and `links` are the numbers of all rings and links.
    pub fn add(&mut self, ring: u32, link: usize, is_datagrams: bool, rings: usize, links: usize) {
        self.places.resize(rings, NONE);
        self.read_at.resize(links, Vec::new());
        if self.places[ring as usize] == NONE {
            self.places[ring as usize] = self.lists.len() as u32;
            self.read_at[link].push(self.lists.len() as u32);
            self.lists.push(Late { ring, is_datagrams, ..Late::default() });
        }
    }

    /// Adds a packet for `ring`.
    pub fn push(&mut self, ring: usize, rec: Rec, header: Option<(u32, Header)>) {
        let late = &mut self.lists[self.places[ring] as usize];
        late.pushed += 1;
        late.waiting.push(Waiting { rec, order: late.pushed, header });
    }

    /// The rings that are read at `link`, each with the arrival time of its earliest packet here.
    pub fn at(&self, link: usize) -> impl Iterator<Item = (usize, Time)> {
        self.read_at[link].iter().map(|&place| {
            let late = &self.lists[place as usize];
            (late.ring as usize, late.waiting.peek().map_or(Time::NEVER, |first| first.rec.time))
        })
    }

    /// Time of the earliest packet for `ring`.
    pub fn first(&self, ring: usize) -> Time {
        let late = self.places.get(ring).and_then(|&place| self.lists.get(place as usize));
        late.and_then(|late| late.waiting.peek()).map_or(Time::NEVER, |first| first.rec.time)
    }

    /// Moves packets into the rings that are read at `link` if they arrive before the `limit` of their ring.
    pub fn release(
        &mut self,
        link: usize,
        rings: &mut [Ring],
        headers: &mut Headers,
        limit: impl Fn(usize, bool) -> Time,
    ) {
        for &place in &self.read_at[link] {
            let late = &mut self.lists[place as usize];
            let limit = limit(late.ring as usize, late.is_datagrams);
            late.release(&mut rings[late.ring as usize], headers, limit);
        }
    }

    /// Moves the packets of one ring that arrive before `limit`.
    pub fn release_ring(&mut self, ring: usize, rings: &mut [Ring], headers: &mut Headers, limit: Time) {
        if let Some(&place) = self.places.get(ring)
            && place != NONE
        {
            self.lists[place as usize].release(&mut rings[ring], headers, limit);
        }
    }

    /// Moves all packets, at the end of the run.
    pub fn release_all(&mut self, rings: &mut [Ring], headers: &mut Headers) {
        for late in &mut self.lists {
            late.release(&mut rings[late.ring as usize], headers, Time::NEVER);
        }
    }
}

impl Late {
    fn release(&mut self, ring: &mut Ring, headers: &mut Headers, limit: Time) {
        while self.waiting.peek().is_some_and(|first| first.rec.time < limit)
            && let Some(Waiting { rec, header, .. }) = self.waiting.pop()
        {
            base::steps::count_steps(1);
            if let Some((lane, header)) = header {
                headers.put(lane, header);
            }
            ring.push(rec);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_released_in_the_order_of_arrival_and_simultaneous_ones_as_they_left() {
        let (mut late, mut rings) = (LateRings::default(), vec![Ring::default(), Ring::default()]);
        late.add(1, 0, false, 2, 1);
        late.add(1, 0, false, 2, 1);
        for (time, tag) in [(9, 1), (5, 2), (9, 3), (7, 4)] {
            late.push(1, Rec { time: Time(time), tag }, None);
        }
        assert_eq!(late.at(0).collect::<Vec<_>>(), [(1, Time(5))]);
        let mut headers = Headers::default();
        late.release(0, &mut rings, &mut headers, |_, _| Time(9));
        assert_eq!(rings[1].all().iter().map(|rec| rec.tag).collect::<Vec<_>>(), [2, 4]);
        late.release_ring(0, &mut rings, &mut headers, Time::NEVER);
        late.release_all(&mut rings, &mut headers);
        assert_eq!(rings[1].all().iter().map(|rec| rec.tag).collect::<Vec<_>>(), [2, 4, 1, 3]);
        assert!(rings[0].is_empty());
    }
}

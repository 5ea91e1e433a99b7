//! Shared state that links and flows of the window engine write to: rings, headers, counts of drops, traces.

use super::flow_table::FlowTable;
use super::headers::Headers;
use super::late::LateRings;
use super::ring::{Rec, Ring};
use crate::Trace;
use base::{Header, RunMonitor, Span, Time};

/// Number of arrivals that a link serves between two checks of the monitor; in one window a million flows may send ten
/// packets each. It is smaller with debug assertions, so that tests serve windows in pieces.
pub const ARRIVALS_BETWEEN_LOOKS: usize = if cfg!(debug_assertions) { 256 } else { 65_536 };

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The rings: one per sender, then one per receiver (if receivers have rings), then one for each pair of
    /// consecutive links.
    pub rings: Vec<Ring>,
    /// Number of receivers with rings: all, or 0 if no flow's ACKs cross links.
    pub receivers: usize,
    /// For each ring: time of its reader's next event, as a time at the link that the reader feeds.
    pub due: Vec<Time>,
    /// For each ring: the time from an action of its reader to the arrival at that link.
    pub delay_to_link: Vec<Span>,
    /// Data packets dropped since the end of the warm-up, by flow.
    pub dropped: Vec<u64>,
    /// Data packets dropped since the start.
    pub dropped_total: u64,
    /// Packets on their way from links that reorder.
    pub late: LateRings,
    /// Headers on their way, for the flows that need them.
    pub headers: Headers,
    /// Traces by flow, for flows that have one; empty if no flow has a trace.
    pub traces: Vec<Option<Box<Trace>>>,
    /// Stops the run.
    pub monitor: RunMonitor,
}

impl Shared {
    /// Sends a packet that left a link at `left` on through ring `i`.
    #[inline]
    pub fn push(&mut self, i: u32, left: Time, tag: u64) {
        let i = i as usize;
        let ring = &mut self.rings[i];
        let time = left + ring.delay;
        let was_empty = ring.is_empty();
        ring.push(Rec { time, tag });
        if was_empty {
            self.wake(i, time);
        }
    }

    /// Sends a packet that left a link with reordering at `left` on through ring `i`, perhaps before packets that left
    /// earlier. Its header, if it carries one, goes into a lane.
    pub fn push_late(&mut self, i: u32, left: Time, tag: u64, header: Option<(u32, Header)>) {
        let i = i as usize;
        let time = left + self.rings[i].delay;
        self.late.push(i, Rec { time, tag }, header);
        self.wake(i, time);
    }

    /// Moves packets from links that reorder into the rings that are read at `link`, for a window from `start` to `stop`.
    pub fn release_late(&mut self, link: usize, start: Time, stop: Time) {
        let Self { late, rings, headers, delay_to_link, .. } = self;
        late.release(link, rings, headers, |ring, is_datagrams| {
            // Deliveries of datagrams do not limit windows, so a link may hand over datagrams that arrive within this
            // window.
            if is_datagrams { start } else { stop.saturating_sub(delay_to_link[ring]) }
        });
    }

    /// Moves the next event of the readers at `link` forward, if packets that are not in their rings yet are due
    /// earlier.
    pub fn wake_late(&mut self, link: usize) {
        for (ring, time) in self.late.at(link) {
            self.due[ring] = self.due[ring].min(time.saturating_add(self.delay_to_link[ring]));
        }
    }

    /// [`Self::wake_late`] for one ring.
    pub fn wake_ring(&mut self, ring: usize) {
        let time = self.late.first(ring);
        self.due[ring] = self.due[ring].min(time.saturating_add(self.delay_to_link[ring]));
    }

    /// Sends on packets that left a link, each at its own time; `flows` gives their routes.
    #[inline]
    pub fn push_all(&mut self, flows: &FlowTable, mut recs: &[Rec]) {
        loop {
            let n = match flows.places.direct() {
                Some(first) => self.push_plain(&flows.routes, recs, |flow| (flow - first) as usize),
                None => self.push_plain(&flows.routes, recs, |flow| flows.places.of(flow)),
            };
            let Some((rec, rest)) = recs[n..].split_first() else { return };
            self.push(flows.route(rec.flow()), rec.time, rec.tag);
            recs = rest;
        }
    }

    /// Pushes records up to the first whose ring is empty or full, and returns its position. A separate function, so that
    /// the loop contains no calls.
    #[inline(never)]
    fn push_plain(&mut self, routes: &[u32], recs: &[Rec], place: impl Fn(u32) -> usize) -> usize {
        let rings = &mut self.rings[..];
        let other = recs.iter().position(|rec| {
            let ring = &mut rings[routes[place(rec.flow())] as usize];
            !ring.push_plain(Rec { time: rec.time + ring.delay, tag: rec.tag })
        });
        other.unwrap_or(recs.len())
    }

    /// Wakes the reader of ring `i`, which was empty until `time`.
    #[cold]
    fn wake(&mut self, i: usize, time: Time) {
        self.due[i] = self.due[i].min(time + self.delay_to_link[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_of_an_empty_ring_is_due_when_the_packet_could_reach_its_link() {
        let mut shared = Shared {
            rings: vec![Ring::new(Span(100))],
            due: vec![Time::NEVER],
            delay_to_link: vec![Span(7)],
            ..Shared::default()
        };
        shared.push(0, Time(5), 1);
        assert_eq!((shared.due[0], shared.rings[0].peek()), (Time(112), Some(&Rec { time: Time(105), tag: 1 })));
        // A ring that is not empty has already woken its reader.
        shared.due[0] = Time::NEVER;
        shared.push(0, Time(6), 2);
        assert_eq!(shared.due[0], Time::NEVER);
    }
}

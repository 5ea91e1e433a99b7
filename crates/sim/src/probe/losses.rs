//! Loss events at a link, and the number of flows that each one hits: the synchronisation of losses.
//!
//! Consecutive drops of data packets less than one mean base RTT apart belong to the same event. A flow counts once per
//! event, however many packets it loses.

use base::{Span, Time};

/// See the [module](self). Drops must be reported in the order of time. A flow is identified by its position among the
/// flows of the link (`place`); with scenario-wide numbers, each link would need a list as long as the list of all
/// flows.
#[derive(Clone, Debug, Default)]
pub struct LossEvents {
    gap: Span,
    last: Time,
    /// Number of events, and the sum of the flows that they hit.
    pub events: u64,
    pub hit: u64,
    /// Number of the last event, counted from 1; after the largest 32-bit number it starts at 1 again.
    number: u32,
    /// For each place, the number of the last event that hit it.
    hit_in: Vec<u32>,
}

impl LossEvents {
    /// No losses yet.
    pub fn new(gap: Span) -> Self {
        Self { gap, ..Self::default() }
    }

    /// Notes that a data packet of the flow at `place` is dropped at `now`.
    #[inline]
    pub fn on_drop(&mut self, now: Time, place: usize) {
        if self.events == 0 || now - self.last >= self.gap {
            self.begin_event();
        }
        self.last = now;
        if self.hit_in.len() <= place {
            self.make_room(place);
        }
        self.hit += u64::from(self.hit_in[place] != self.number);
        self.hit_in[place] = self.number;
    }

    #[cold]
    fn begin_event(&mut self) {
        self.events += 1;
        if self.number == u32::MAX {
            // The new event has not hit any flow yet.
            self.hit_in.fill(0);
            self.number = 0;
        }
        self.number += 1;
    }

    /// Grows the list by a quarter: doubling would waste memory with many flows.
    #[cold]
    fn make_room(&mut self, place: usize) {
        let len = self.hit_in.len();
        self.hit_in.reserve_exact((place + 1).max(len + len / 4) - len);
        self.hit_in.resize(place + 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_within_a_round_trip_are_one_event_that_hits_each_flow_once() {
        let mut losses = LossEvents::new(Span(100));
        // The third drop comes 99 after the second, the fourth 100 after the third.
        for (at, flow) in [(0, 3), (50, 1), (149, 3), (249, 1), (249, 1), (1000, 2)] {
            losses.on_drop(Time(at), flow);
        }
        assert_eq!((losses.events, losses.hit), (3, 2 + 1 + 1));
    }

    #[test]
    fn the_number_of_an_event_starts_again_after_the_largest_32_bit_number() {
        let mut losses = LossEvents { number: u32::MAX - 1, ..LossEvents::new(Span(100)) };
        for at in [0, 10, 110, 120, 220, 230] {
            losses.on_drop(Time(at), 3);
            losses.on_drop(Time(at), 5);
        }
        assert_eq!((losses.events, losses.hit, losses.number), (3, 4 + 2, 2));
    }
}

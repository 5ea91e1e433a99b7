//! Loss events at a link, and how many flows each of them hits: the synchronisation of losses.
//!
//! Data packets dropped with less than one mean base RTT between one and the next are one event. A flow is hit once by it,
//! however many packets it loses.

use base::{Span, Time};

/// See the [module](self). Drops must be reported in the order of time. A flow is named by its place among those of its
/// link: by its number in the scenario each link would have to remember as many as there are.
#[derive(Clone, Debug, Default)]
pub struct LossEvents {
    gap: Span,
    last: Time,
    /// Events, and the flows that each hit, summed.
    pub events: u64,
    pub hit: u64,
    /// By place: the last event that hit it, counted from 1.
    hit_in: Vec<u64>,
}

impl LossEvents {
    /// None yet.
    pub fn new(gap: Span) -> Self {
        Self { gap, ..Self::default() }
    }

    /// A data packet of the flow at `place` is dropped at `now`.
    #[inline]
    pub fn on_drop(&mut self, now: Time, place: usize) {
        if self.events == 0 || now - self.last >= self.gap {
            self.events += 1;
        }
        self.last = now;
        if self.hit_in.len() <= place {
            self.hit_in.resize(place + 1, 0);
        }
        self.hit += u64::from(self.hit_in[place] != self.events);
        self.hit_in[place] = self.events;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_within_a_round_trip_are_one_event_that_hits_each_flow_once() {
        let mut losses = LossEvents::new(Span(100));
        // The third drop is 99 after the second, the fourth 100 after the third.
        for (at, flow) in [(0, 3), (50, 1), (149, 3), (249, 1), (249, 1), (1000, 2)] {
            losses.on_drop(Time(at), flow);
        }
        assert_eq!((losses.events, losses.hit), (3, 2 + 1 + 1));
    }
}

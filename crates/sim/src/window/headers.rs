//! Headers in flight, stored beside the records of their packets, for the flows that need them.
//!
//! Packets of one flow reach the end of a hop in the order of its ring, so each hop of such a flow has its own first-in
//! first-out queue of headers, a *lane*. If a link reorders, the header waits together with its packet (`late`) until
//! both move into ring and lane. The link that sends a packet on puts its header there; the link that receives the
//! packet takes it, even if it then drops the packet.

use base::Header;
use std::collections::VecDeque;

/// Marker for no lane: the flow's packets carry no headers, or do not cross the link.
pub const NONE: u32 = u32::MAX;

/// The lanes of one flow: the one to its first link, and the one to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderLanes {
    pub first: u32,
    pub last: u32,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Headers(Vec<VecDeque<Header>>);

impl Headers {
    /// Creates `lanes` empty lanes.
    pub fn new(lanes: usize) -> Self {
        Self(vec![VecDeque::new(); lanes])
    }

    /// Whether no flow has headers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn put(&mut self, lane: u32, header: Header) {
        self.0[lane as usize].push_back(header);
    }

    /// Takes back the header that was put in last.
    pub fn take_back(&mut self, lane: u32) -> Header {
        self.0[lane as usize].pop_back().unwrap_or(Header::NONE)
    }

    pub fn take(&mut self, lane: u32) -> Header {
        let header = self.0[lane as usize].pop_front();
        debug_assert!(header.is_some(), "every packet of the flow has a header in the lane");
        header.unwrap_or(Header::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_separate_first_in_first_out_queues() {
        let header = |rtt| Header { rtt, ..Header::NONE };
        let mut headers = Headers::new(2);
        for (lane, rtt) in [(0, 1.0), (1, 2.0), (0, 3.0)] {
            headers.put(lane, header(rtt));
        }
        assert_eq!([0, 0, 1].map(|lane| headers.take(lane).rtt), [1.0, 3.0, 2.0]);
    }
}

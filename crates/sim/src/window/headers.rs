//! Headers on their way, beside the records of their packets, for the flows that need them.
//!
//! Packets of one flow never overtake each other, so each hop of such a flow has a lane of its own: first in, first out.
//! Whoever hands a packet on puts its header there; whoever hears of the packet takes it, also if it is dropped then.

use super::link::{Node, Shared};
use super::ring::Rec;
use base::{Flags, Header};
use queue::Packet;
use std::collections::VecDeque;

/// No lane: the flow's packets carry no headers, or do not come here.
pub const NONE: u32 = u32::MAX;

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Headers(Vec<VecDeque<Header>>);

impl Headers {
    /// So many empty lanes.
    pub fn new(lanes: usize) -> Self {
        Self(vec![VecDeque::new(); lanes])
    }

    pub fn put(&mut self, lane: u32, header: Header) {
        self.0[lane as usize].push_back(header);
    }

    pub fn take(&mut self, lane: u32) -> Header {
        let header = self.0[lane as usize].pop_front();
        debug_assert!(header.is_some(), "every packet has put its header");
        header.unwrap_or(Header::NONE)
    }
}

impl Node {
    /// The header of the arrival `rec`, on a link with headers.
    #[inline]
    pub fn header_of(&self, rec: &Rec, shared: &mut Shared) -> Option<Header> {
        (!self.lanes.is_empty()).then(|| self.take_header(rec, shared))
    }

    /// The header of the arrival `rec`. Acknowledgements have none.
    #[cold]
    fn take_header(&self, rec: &Rec, shared: &mut Shared) -> Header {
        match self.lane(rec.flow(), rec.flags()) {
            NONE => Header::NONE,
            lane => shared.headers.take(lane),
        }
    }

    /// The header of `packet` goes on.
    #[cold]
    pub fn put_header(&self, packet: &Packet, shared: &mut Shared) {
        let lane = self.lane(packet.flow, packet.flags);
        if lane != NONE {
            shared.headers.put(lane + 1, packet.header);
        }
    }

    fn lane(&self, flow: u32, flags: Flags) -> u32 {
        if flags.has(Flags::ACK) { NONE } else { self.lanes[(flow - self.first) as usize] }
    }
}

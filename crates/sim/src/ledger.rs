//! Ledger of the drops and marks that a discipline reports during one call, for the arriving packet and for others.

use crate::hash::{PacketFate, Rolling};
use base::{Cause, Flags, PacketNumber, Time};
use queue::{Fates, Packet};

/// Drops and marks of one call.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub dropped: Vec<(Packet, Cause)>,
    pub marked: Vec<(Packet, Cause)>,
}

impl Fates for Ledger {
    #[cold]
    fn dropped(&mut self, packet: &Packet, cause: Cause, _now: Time) {
        self.dropped.push((*packet, cause));
    }
    #[cold]
    fn marked(&mut self, packet: &Packet, cause: Cause, _now: Time) {
        self.marked.push((*packet, cause));
    }
}

impl Ledger {
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Tests both lengths at once: one branch per packet instead of two.
        self.dropped.len() | self.marked.len() == 0
    }

    /// Hashes the fate of `arrival`, if the call was for an arrival, and of the packets that were already waiting.
    pub fn hash(&self, hash: &mut Rolling, now: Time, arrival: Option<&Packet>) {
        let is_arrival = |packet: &Packet| arrival.is_some_and(|a| same(a, packet));
        if let Some(arrival) = arrival {
            let dropped = self.dropped.iter().any(|(packet, _)| is_arrival(packet));
            let marked = self.marked.iter().any(|(packet, _)| is_arrival(packet));
            let fate = match (dropped, marked) {
                (true, _) => PacketFate::Dropped,
                (false, true) => PacketFate::Marked,
                (false, false) => PacketFate::Accepted,
            };
            hash.packet(now, arrival.flow, PacketNumber(arrival.token), fate);
        }
        for (packet, _) in self.dropped.iter().chain(&self.marked).filter(|(packet, _)| !is_arrival(packet)) {
            hash.packet(now, packet.flow, PacketNumber(packet.token), PacketFate::ChangedLater);
        }
    }
}

/// Whether `a` and `b` are the same packet on the same visit to a queue, even if the queue has marked one of them.
fn same(a: &Packet, b: &Packet) -> bool {
    (a.flow, a.token, a.arrived, a.flags.has(Flags::ACK)) == (b.flow, b.token, b.arrived, b.flags.has(Flags::ACK))
}

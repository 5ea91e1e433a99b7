//! Drop-tail: a packet that finds the buffer full is dropped.
//!
//! Source: the FIFO of every router; RFC 2309 Section 2 gives the name.
//! Differs from ns-2: `limit_` B there lets only B-1 packets wait; here B packets wait, as in Linux's pfifo.

use crate::{Admission, Backlog, Limit, Packet, Rule, Verdict};
use base::{Card, Cause, ParamError, Stream};

base::params! {
    /// None: the buffer's size is the link's.
    pub struct Params {}
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
}

impl Rule for DropTail {
    type Params = Params;
    const CARD: Card = Card {
        name: "drop-tail",
        aliases: &["droptail", "pfifo", "bfifo", "fifo", "DropTail"],
        title: "Drop-tail FIFO",
        source: "RFC 2309",
        differs: "A buffer of B packets holds B waiting packets, as Linux's pfifo; ns-2's limit_ B holds B-1.",
    };

    fn new(_params: &Params, limit: Limit, _chance: Stream) -> Result<Self, ParamError> {
        Ok(Self { limit })
    }
}

impl Admission for DropTail {
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle: bool) -> Verdict {
        if idle || self.limit.has_room(backlog, packet) { Verdict::Accept } else { Verdict::Drop(Cause::Overflow) }
    }

    fn plain_limit(&self) -> Option<Limit> {
        Some(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Flags, Time};

    #[test]
    fn drops_exactly_what_does_not_fit() {
        let packet = Packet { flow: 0, token: 0, size: 1000, flags: Flags::NONE, arrived: Time::ZERO };
        let verdict = |limit, packets, idle| {
            let mut rule = DropTail::new(&Params::default(), limit, Stream::new(0, 0, ("link", 0), "queue")).unwrap();
            rule.admit(&packet, Backlog { packets, bytes: Bytes(u64::from(packets) * 1000) }, idle)
        };
        let drop = Verdict::Drop(Cause::Overflow);
        assert_eq!(verdict(Limit::Packets(5), 4, false), Verdict::Accept);
        assert_eq!(verdict(Limit::Packets(5), 5, false), drop);
        assert_eq!(verdict(Limit::Bytes(Bytes(5999)), 4, false), Verdict::Accept);
        assert_eq!(verdict(Limit::Bytes(Bytes(5999)), 5, false), drop);
        assert_eq!(verdict(Limit::Packets(0), 0, true), Verdict::Accept);
        assert_eq!(verdict(Limit::Packets(0), 0, false), drop);
    }
}

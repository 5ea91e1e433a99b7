//! Drop-tail: a packet that finds the buffer full is dropped. With `ecn_threshold`, one that can carry the mark is marked
//! when it finds more waiting than that: the step of data-centre switches.
//!
//! Source: the FIFO of every router; RFC 2309 Section 2 gives the name; RFC 8257 Section 3.1 the step.
//! Differs from ns-2: `limit_` B there lets only B-1 packets wait; here B packets wait, as in Linux's pfifo.

use crate::{Admission, Backlog, Limit, Packet, Rule, Verdict};
use base::{Card, Cause, Flags, ParamError, Stream};

base::params! {
    /// The buffer's size is the link's.
    pub struct Params {
        /// Backlog above which ECN-capable packets are marked; 0 for never.
        ecn_threshold: u32 = 0, "packets";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    ecn_threshold: Option<u32>,
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

    fn new(p: &Params, limit: Limit, _chance: Stream) -> Result<Self, ParamError> {
        Ok(Self { limit, ecn_threshold: (p.ecn_threshold > 0).then_some(p.ecn_threshold) })
    }
}

impl Admission for DropTail {
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle: bool) -> Verdict {
        if !idle && !self.limit.has_room(backlog, packet) {
            return Verdict::Drop(Cause::Overflow);
        }
        match self.ecn_threshold {
            Some(k) if backlog.packets > k && packet.flags.has(Flags::ECT) => Verdict::Mark(Cause::Early),
            _ => Verdict::Accept,
        }
    }

    fn plain_limit(&self) -> Option<Limit> {
        self.ecn_threshold.is_none().then_some(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Time};

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

    #[test]
    fn marks_above_the_threshold_what_can_carry_the_mark() {
        let params = Params { ecn_threshold: 20 };
        let chance = Stream::new(0, 0, ("link", 0), "queue");
        let mut rule = DropTail::new(&params, Limit::Packets(50), chance).unwrap();
        let mut verdict = |packets, flags| {
            let packet = Packet { flow: 0, token: 0, size: 1000, flags, arrived: Time::ZERO };
            rule.admit(&packet, Backlog { packets, bytes: Bytes(u64::from(packets) * 1000) }, false)
        };
        assert_eq!(verdict(20, Flags::ECT), Verdict::Accept);
        assert_eq!(verdict(21, Flags::ECT), Verdict::Mark(Cause::Early));
        assert_eq!(verdict(21, Flags::NONE), Verdict::Accept);
        assert_eq!(verdict(50, Flags::ECT), Verdict::Drop(Cause::Overflow));
    }
}

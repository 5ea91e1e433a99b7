//! Drop-tail: a packet that finds the buffer full is dropped. With `ecn_threshold`, an ECN-capable packet that finds more
//! packets waiting than that is marked: the step marking of data-centre switches.
//!
//! Source: the FIFO of every router; RFC 2309 Section 2 for the name; RFC 8257 Section 3.1 for the step.
//! Differs from ns-2: `limit_` B there lets only B-1 packets wait; here B packets wait, as in Linux's pfifo.

use crate::{Admission, Backlog, Limit, Packet, Port, Rule, Verdict};
use base::{Amount, Card, Cause, Flags, Need, ParamError, Registered, Stream, Time};

base::params! {
    /// The buffer's size is the link's.
    pub struct Params {
        /// Backlog above which ECN-capable packets are marked; 0 for never.
        ecn_threshold: Amount = Amount::Packets(0.0), "packets", needs [EctFlows];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    ecn_threshold: Option<f64>,
}

impl DropTail {
    /// A queue that drops and marks nothing.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { limit: Limit::Unlimited, ecn_threshold: None }
    }
}

impl Registered for DropTail {
    type Params = Params;
    const CARD: Card = Card {
        name: "drop-tail",
        aliases: &["droptail", "pfifo", "bfifo", "fifo", "DropTail"],
        title: "Drop-tail FIFO",
        source: "RFC 2309",
        differs: "A buffer of B packets holds B waiting packets, as Linux's pfifo; ns-2's limit_ B holds B-1.",
    };
}

impl Rule for DropTail {
    fn gives(p: &Params) -> Option<Need> {
        (p.ecn_threshold.packets() > 0.0).then_some(Need::Marks)
    }

    fn new(p: &Params, port: &Port, _chance: Stream) -> Result<Self, ParamError> {
        let threshold = p.ecn_threshold.packets();
        Ok(Self { limit: port.limit, ecn_threshold: (threshold > 0.0).then_some(threshold) })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        match port.limit {
            // Linux's FIFOs do not mark.
            _ if p.ecn_threshold.packets() > 0.0 => None,
            Limit::Packets(n) => Some(format!("pfifo limit {n}")),
            Limit::Bytes(n) => Some(format!("bfifo limit {}", n.0)),
            Limit::Unlimited => None,
        }
    }
}

impl Admission for DropTail {
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        if idle_since.is_none() && !self.limit.has_room(backlog, packet) {
            return Verdict::Drop(Cause::Overflow);
        }
        match self.ecn_threshold {
            Some(k) if f64::from(backlog.packets) > k && packet.flags.has(Flags::ECT) => Verdict::Mark(Cause::Early),
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
    use base::{Bytes, Rate};

    fn rule(params: &Params, limit: Limit) -> DropTail {
        let port = Port::new(limit, Rate(1_000_000), 1000.0);
        DropTail::new(params, &port, Stream::new(0, 0, ("link", 0), "queue")).unwrap()
    }

    fn waiting(packets: u32) -> Backlog {
        Backlog { packets, bytes: Bytes(u64::from(packets) * 1000) }
    }

    #[test]
    fn drops_exactly_what_does_not_fit() {
        let packet = Packet::new(0, 0, 1000, Time::ZERO);
        let verdict = |limit, packets, idle: bool| {
            rule(&Params::default(), limit).admit(&packet, waiting(packets), idle.then_some(Time::ZERO))
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
    fn marks_ecn_capable_packets_above_the_threshold() {
        let mut rule = rule(&Params { ecn_threshold: Amount::Packets(20.0) }, Limit::Packets(50));
        let mut verdict =
            |packets, flags| rule.admit(&Packet::new(0, 0, 1000, Time::ZERO).with(flags), waiting(packets), None);
        assert_eq!(verdict(20, Flags::ECT), Verdict::Accept);
        assert_eq!(verdict(21, Flags::ECT), Verdict::Mark(Cause::Early));
        assert_eq!(verdict(21, Flags::NONE), Verdict::Accept);
        assert_eq!(verdict(50, Flags::ECT), Verdict::Drop(Cause::Overflow));
    }
}

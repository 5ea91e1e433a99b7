//! CoDel: a FIFO that drops from its head while no packet of the last interval waited less than the target.
//!
//! Source: RFC 8289; marks in place of drops and `ce_threshold`: RFC 8290, Section 5.2.
//! Differs from Linux: `mtu`, the backlog that is never too large, is a parameter and not the device's; the control law
//! takes the root of `count`. Linux makes one Newton step from the last value (`codel_Newton_step`), which gives 1/2
//! instead of 1/sqrt(2), so that the third drop comes 50 ms after the second and not 70.7 ms.

use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Card, Cause, Flags, Need, ParamError, Registered, Span, Stream, Time};
use control::{Control, Head, Setting, Source};
use std::collections::VecDeque;

pub(crate) mod control;
pub(crate) mod heaviest;

base::params! {
    /// RFC 8289, Section 4.
    pub struct Params {
        /// Standing delay that is acceptable.
        target: Span = Span::millis(5), "";
        /// Time for which the delay must stay above target: a round-trip time that few flows exceed.
        interval: Span = Span::millis(100), "";
        /// Backlog at or below which nothing is dropped; auto for 1514 bytes or a packet of the link, whichever is larger.
        mtu: Amount = Amount::Auto, "packets";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false, "", needs [EctFlows];
        /// Delay above which every ECN-capable packet is marked; 0 for never.
        ce_threshold: Span = Span::ZERO, "", needs [EctFlows];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Codel {
    limit: Limit,
    setting: Setting,
    control: Control,
    waiting: Waiting,
}

#[derive(Clone, Debug, Default)]
struct Waiting {
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl Source for Waiting {
    #[inline]
    fn head(&self) -> Option<Head> {
        self.packets.front().map(|packet| Head::of(packet, self.backlog.bytes.0))
    }

    fn mark(&mut self) -> Packet {
        let head = &mut self.packets[0];
        head.flags = head.flags.with(Flags::CE);
        *head
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn take(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.backlog.remove(&packet);
        Some(packet)
    }
}

impl Registered for Codel {
    type Params = Params;
    const CARD: Card = Card {
        name: "codel",
        aliases: &["CoDel", "CODEL"],
        title: "Controlled delay",
        source: "RFC 8289",
        differs: "Where the source only drops, marks are as in RFC 8290; the buffer's size is the link's. Linux takes one \
                  Newton step in place of the inverse root (1/2 for 1/sqrt(2)): its third drop comes 50 ms after the \
                  second, that of RFC 8289 and here 70.7 ms.",
    };
}

impl Rule for Codel {
    fn gives(p: &Params) -> Option<Need> {
        (p.ecn || p.ce_threshold > Span::ZERO).then_some(Need::Marks)
    }

    fn resolve(p: &mut Params, port: &Port) -> Result<(), ParamError> {
        p.mtu = control::frame(p.mtu, port);
        Ok(())
    }

    fn new(p: &Params, port: &Port, _chance: Stream) -> Result<Self, ParamError> {
        let mtu = port.bytes(p.mtu) as u64;
        Ok(Self {
            limit: port.limit,
            setting: Setting::new(p.target, p.interval, mtu, p.ecn, p.ce_threshold)?,
            control: Control::NEW,
            waiting: Waiting::default(),
        })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        let Limit::Packets(limit) = port.limit else { return None };
        Some(format!(
            "codel limit {limit} {}",
            control::words(control::at_least_a_packet(p.target, port), p.interval, p.ecn, p.ce_threshold)?
        ))
    }
}

impl QueueDiscipline for Codel {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        if idle_since.is_none() && !self.limit.has_room(self.waiting.backlog, &packet) {
            return fates.dropped(&packet, Cause::Overflow, packet.arrived);
        }
        self.waiting.backlog.add(&packet);
        self.waiting.packets.push_back(packet);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet> {
        self.control.next(&self.setting, now, &mut self.waiting, fates)
    }

    #[inline]
    fn pass(&mut self, packet: Packet, idle_since: Time, fates: &mut impl Fates) -> Option<Packet> {
        if self.control.dropping {
            self.enqueue(packet, Some(idle_since), fates);
            return self.dequeue(packet.arrived, fates);
        }
        self.control.not_above();
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.waiting.backlog
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("count", f64::from(self.control.count));
        put("dropping", f64::from(u8::from(self.control.dropping)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;

    #[derive(Default)]
    struct Ledger(Vec<(u32, Cause)>);

    impl Fates for Ledger {
        fn dropped(&mut self, packet: &Packet, cause: Cause, _: Time) {
            self.0.push((packet.token, cause));
        }
        fn marked(&mut self, _: &Packet, _: Cause, _: Time) {}
    }

    fn resolved(port: &Port) -> Params {
        let mut params = Params::default();
        params.resolve(&port.scale()).unwrap();
        Codel::resolve(&mut params, port).unwrap();
        params
    }

    fn queue(limit: Limit) -> Codel {
        let port = Port::new(limit, Rate(8_000_000), 1000.0);
        Codel::new(&resolved(&port), &port, Stream::new(0, 0, ("link", 0), "queue")).unwrap()
    }

    #[test]
    fn drops_the_arrival_beyond_the_limit_and_later_the_head() {
        let (mut queue, mut fates) = (queue(Limit::Packets(300)), Ledger::default());
        for token in 0..301 {
            queue.enqueue(Packet::new(0, token, 1000, Time::ZERO), None, &mut fates);
        }
        assert_eq!(fates.0, [(300, Cause::Overflow)]);
        // One packet per millisecond. The sojourn time first reaches 5 ms at 5 ms. At 105 ms packet 105 is dropped at
        // the head, and 106 goes on. At 205 ms, 100 ms / sqrt(1) later, packet 206 is dropped.
        let out: Vec<u32> =
            (0..=205).map(|ms| queue.dequeue(Time::ZERO + Span::millis(ms), &mut fates).unwrap().token).collect();
        assert_eq!(fates.0[1..], [(105, Cause::Sojourn), (206, Cause::Sojourn)]);
        assert_eq!((out[104], out[105], out[204], out[205]), (104, 106, 205, 207));
        assert_eq!(queue.backlog(), Backlog { packets: 92, bytes: base::Bytes(92_000) });
    }

    #[test]
    fn a_packet_that_finds_the_server_idle_needs_no_room_and_has_not_waited() {
        let (mut queue, mut fates) = (queue(Limit::Packets(0)), Ledger::default());
        for ms in 0..1000 {
            let now = Time::ZERO + Span::millis(ms);
            queue.enqueue(Packet::new(0, 0, 1000, now).with(Flags::ECT), Some(Time::ZERO), &mut fates);
            assert!(queue.dequeue(now, &mut fates).is_some());
        }
        assert_eq!((fates.0.len(), queue.backlog().packets), (0, 0));
    }

    #[test]
    fn gives_the_arguments_of_tc() {
        let port = Port::new(Limit::Packets(300), Rate(8_000_000), 1000.0);
        let mut params = resolved(&port);
        assert_eq!(Codel::tc(&params, &port).unwrap(), "codel limit 300 target 5000us interval 100000us noecn");
        (params.ecn, params.ce_threshold) = (true, Span::millis(1));
        let words = Codel::tc(&params, &port).unwrap();
        assert!(words.ends_with("ecn ce_threshold 1000us"), "{words}");
        assert_eq!(Codel::tc(&params, &Port { limit: Limit::Unlimited, ..port }), None);
    }

    #[test]
    fn the_target_for_tc_is_at_least_the_service_time_of_a_packet() {
        // 1500 bytes at 1 Mbit/s take 12 ms; RFC 8290 gives about 15 ms for this case.
        let slow = Port::new(Limit::Packets(30), Rate(1_000_000), 1500.0);
        let words = Codel::tc(&resolved(&slow), &slow).unwrap();
        assert_eq!(words, "codel limit 30 target 12000us interval 100000us noecn");
        // A fraction of a microsecond is rounded up to a microsecond; a larger target is kept.
        let odd = Port { rate: Rate(900_000), ..slow };
        assert!(Codel::tc(&resolved(&odd), &odd).unwrap().contains(" target 13334us "));
        let patient = Params { target: Span::millis(20), ..resolved(&slow) };
        assert!(Codel::tc(&patient, &slow).unwrap().contains(" target 20000us "));
    }
}

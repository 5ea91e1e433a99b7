//! XCP: a FIFO that writes into each packet by how much its sender's window may change. Separate controllers set efficiency
//! (the total change) and fairness (each flow's share); there is no state per flow.
//!
//! Source: Katabi, Handley and Rohrs 2002, Sections 3.4 and 3.5. Feedback that a packet gives up or leaves to others is
//! accounted for as in draft-falk-xcp-spec-03; so is a packet whose sender has no round-trip time yet (it gets none).
//! Differs from the source: packets without a header count as load but take and give no feedback; the persistent queue is
//! the least backlog at arrivals and at the end of its period; intervals without feedback traffic keep their length.

use crate::checks::clock;
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Bytes, Card, Cause, Need, ParamError, Registered, Span, Stream, Time};
use std::collections::VecDeque;

base::params! {
    /// Katabi, Handley and Rohrs 2002, Section 3.5; stable for any delay with `alpha` below pi / (4 sqrt 2) and `beta` =
    /// sqrt 2 `alpha`^2 (Section 4).
    pub struct Params {
        /// Share of the spare bandwidth handed out per control interval.
        alpha: f64 = 0.4, "", needs [XcpFlows];
        /// Share of the persistent queue taken back per control interval.
        beta: f64 = 0.226, "", needs [XcpFlows];
        /// Share of the traffic that is redistributed per control interval when nothing else changes.
        gamma: f64 = 0.1, "", needs [XcpFlows];
        /// Control interval until packets have reported a mean round-trip time.
        interval: Span = Span::millis(100), "", needs [XcpFlows];
        /// Shortest control interval.
        min_interval: Span = Span::millis(1), "", needs [XcpFlows];
    }
}

/// Arrivals in the present control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Input {
    /// Bytes of all packets.
    bytes: u64,
    /// Bytes of the packets that take part in XCP.
    sharing: u64,
    /// Sum of rtt s / cwnd over those packets; each flow contributes the interval's length once.
    flows: f64,
    /// Sum of rtt^2 s / cwnd.
    rtts: f64,
}

/// Feedback distributed in the present control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    /// Feedback of a packet per rtt^2 s / cwnd (the paper's `xi_p`), and per rtt s (`xi_n`).
    gain: f64,
    give: f64,
    /// Positive and negative feedback not distributed yet, in bytes per second.
    gain_left: f64,
    give_left: f64,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Xcp {
    p: Params,
    limit: Limit,
    /// Capacity in bytes per second.
    capacity: f64,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    input: Input,
    shares: Shares,
    /// End of the present control interval, and its length.
    control_at: Time,
    interval: Span,
    /// The aggregate feedback last computed, in bytes.
    phi: f64,
    /// End of the queue's period, the least backlog in it, and the least backlog in the previous period.
    queue_at: Time,
    least: u64,
    persistent: u64,
}

impl Registered for Xcp {
    type Params = Params;
    const CARD: Card = Card {
        name: "xcp",
        aliases: &["XCP"],
        title: "XCP (explicit control protocol)",
        source: "Katabi, Handley and Rohrs 2002",
        differs: "Packets without a header are load, and take and give nothing.",
    };
    const NEEDS: &'static [Need] = &[Need::XcpFlows];
    const WITHOUT: &'static str = "drop-tail";
}

impl Rule for Xcp {
    fn gives(_p: &Params) -> Option<Need> {
        Some(Need::XcpRouter)
    }

    fn new(p: &Params, port: &Port, _chance: Stream) -> Result<Self, ParamError> {
        for (name, gain) in [("alpha", p.alpha), ("beta", p.beta), ("gamma", p.gamma)] {
            if !(0.0..=1.0).contains(&gain) {
                return Err(ParamError::new(name, "must lie between 0 and 1"));
            }
        }
        for (name, span) in [("min_interval", p.min_interval), ("interval", p.interval)] {
            clock(name, span)?;
        }
        Ok(Self {
            p: p.clone(),
            limit: port.limit,
            capacity: port.rate.0 as f64 / 8.0,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            input: Input::default(),
            shares: Shares::default(),
            control_at: Time::ZERO + p.interval,
            interval: p.interval,
            phi: 0.0,
            queue_at: Time::ZERO + p.interval,
            least: 0,
            persistent: 0,
        })
    }
}

impl QueueDiscipline for Xcp {
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        self.least = self.least.min(self.backlog.bytes.0);
        // A dropped packet counts as load as well.
        self.input.take(&packet);
        if idle_since.is_none() && !self.limit.has_room(self.backlog, &packet) {
            return fates.dropped(&packet, Cause::Overflow, packet.arrived);
        }
        self.backlog.add(&packet);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        let mut packet = self.waiting.pop_front()?;
        self.backlog.remove(&packet);
        if packet.header.is_some() {
            packet.header.feedback = self.shares.grant(&packet);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn next_wakeup(&self) -> Time {
        self.control_at.min(self.queue_at)
    }

    fn on_wakeup(&mut self, now: Time, _idle_since: Option<Time>, _fates: &mut impl Fates) {
        let Bytes(backlog) = self.backlog.bytes;
        if now >= self.queue_at {
            self.persistent = self.least.min(backlog);
            self.least = backlog;
            // Once per propagation delay, which is the mean round trip without the wait here.
            let wait = Span::from_secs(backlog as f64 / self.capacity);
            self.queue_at = now + Span(self.interval.0.saturating_sub(wait.0)).max(self.p.min_interval);
        }
        if now >= self.control_at {
            self.control();
            self.control_at = now + self.interval;
        }
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("phi", self.phi);
        put("persistent_queue", self.persistent as f64);
        put("interval", self.interval.as_secs());
        put("xi_p", self.shares.gain);
        put("xi_n", self.shares.give);
    }
}

impl Input {
    fn take(&mut self, packet: &Packet) {
        self.bytes += u64::from(packet.size);
        let header = &packet.header;
        if header.is_some() && header.rtt > 0.0 {
            let rtt = f64::from(header.rtt);
            let share = rtt * f64::from(packet.size) / f64::from(header.cwnd);
            self.sharing += u64::from(packet.size);
            self.flows += share;
            self.rtts += rtt * share;
        }
    }
}

impl Xcp {
    /// Ends a control interval.
    fn control(&mut self) {
        let Input { bytes, sharing, flows, rtts } = std::mem::take(&mut self.input);
        let spare = self.capacity - bytes as f64 / self.interval.as_secs();
        if flows > 0.0 {
            self.interval = Span::from_secs(rtts / flows).max(self.p.min_interval);
        }
        let d = self.interval.as_secs();
        // Efficiency, equation 1.
        self.phi = self.p.alpha * d * spare - self.p.beta * self.persistent as f64;
        // Fairness, equations 2, 8 and 10.
        self.shares = Shares::default();
        if flows > 0.0 {
            let shuffled = (self.p.gamma * sharing as f64 - self.phi.abs()).max(0.0);
            let (gained, given) = (shuffled + self.phi.max(0.0), shuffled + (-self.phi).max(0.0));
            self.shares = Shares {
                gain: gained / (d * flows),
                give: given / (d * sharing as f64),
                gain_left: gained / d,
                give_left: given / d,
            };
        }
    }
}

impl Shares {
    /// Feedback for `packet`: at most the feedback that earlier routers gave it.
    fn grant(&mut self, packet: &Packet) -> f32 {
        let header = &packet.header;
        if header.rtt <= 0.0 {
            return header.feedback.min(0.0);
        }
        let [rtt, cwnd, asked] = [header.rtt, header.cwnd, header.feedback].map(f64::from);
        let size = f64::from(packet.size);
        // Equations 6 and 9, limited to the feedback left.
        let mut gain = (self.gain * rtt * rtt * size / cwnd).min(self.gain_left * rtt);
        let mut give = (self.give * rtt * size).min(self.give_left * rtt);
        let feedback = gain - give;
        if asked < feedback {
            // Another router or the sender allows less: the packet gives up more here, and gains less.
            give = (give + feedback - asked).min(self.give_left * rtt);
            gain = asked + give;
        }
        self.gain_left = (self.gain_left - gain / rtt).max(0.0);
        self.give_left = (self.give_left - give / rtt).max(0.0);
        asked.min(feedback) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Header, Rate};

    struct Nothing;

    impl Fates for Nothing {
        fn dropped(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {
            panic!("there is room");
        }
        fn marked(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {
            panic!("nothing is marked");
        }
    }

    /// A link of 1 MB/s, which is 125 kB in the first control interval of 125 ms.
    fn router() -> Xcp {
        let params = Params { interval: Span::millis(125), ..Params::default() };
        let port = Port::new(Limit::Unlimited, Rate(8_000_000), 1000.0);
        Xcp::new(&params, &port, Stream::new(0, 0, ("link", 0), "queue")).unwrap()
    }

    /// A packet of 1000 bytes of a flow with this window and a round-trip time of 125 ms that asks for `feedback`.
    fn packet(cwnd: f32, feedback: f32) -> Packet {
        let header = Header { rtt: 0.125, cwnd, feedback };
        Packet { header, ..Packet::new(0, 0, 1000, Time::ZERO) }
    }

    /// Feedback of a packet that arrives and leaves at once.
    fn pass(xcp: &mut Xcp, packet: Packet) -> f64 {
        xcp.enqueue(packet, Some(Time::ZERO), &mut Nothing);
        f64::from(xcp.dequeue(Time::ZERO, &mut Nothing).unwrap().header.feedback)
    }

    fn wake(xcp: &mut Xcp, millis: u64) {
        assert_eq!(xcp.next_wakeup(), Time::ZERO + Span::millis(millis));
        xcp.on_wakeup(xcp.next_wakeup(), None, &mut Nothing);
    }

    /// Compares to six digits, because headers have 24 bits.
    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-6 * b.abs(), "{a}, not {b}");
    }

    /// A router after an interval with 10 packets of a flow with window 10 and 40 packets of a flow with window 40.
    fn half_used() -> Xcp {
        let mut xcp = router();
        for _ in 0..10 {
            assert_eq!(pass(&mut xcp, packet(10e3, f32::INFINITY)), 0.0, "no spare bandwidth is known yet");
        }
        for _ in 0..40 {
            pass(&mut xcp, packet(40e3, f32::INFINITY));
        }
        wake(&mut xcp, 125);
        xcp
    }

    #[test]
    fn spare_bandwidth_is_shared_equally_by_flows_with_different_windows() {
        // 50 kB in 125 ms are 400 kB/s; 600 kB/s are spare. phi = 0.4 0.125 s 600 kB/s = 30 kB; h = max(0, 5 kB - phi) = 0.
        // Sum of rtt s / cwnd = 10 0.125 1/10 + 40 0.125 1/40 = 0.25 s; xi_p = 30 kB / (0.125 s 0.25 s) = 960 kB/s^2.
        // p = xi_p rtt^2 s / cwnd = 960 kB/s^2 (0.125 s)^2 / 10 = 1500 B or / 40 = 375 B: 15 kB for either flow.
        let mut xcp = half_used();
        near(xcp.phi, 30e3);
        near(xcp.shares.gain, 960e3);
        assert_eq!(xcp.shares.give, 0.0);
        near(pass(&mut xcp, packet(10e3, f32::INFINITY)), 1500.0);
        near(pass(&mut xcp, packet(40e3, f32::INFINITY)), 375.0);
    }

    #[test]
    fn overload_and_queue_are_taken_back_in_proportion_to_rate_while_a_tenth_is_shuffled() {
        let mut xcp = router();
        for _ in 0..10 {
            // A packet without a header: it is load, and here the packet that waits all the time.
            xcp.enqueue(Packet::new(1, 0, 1000, Time::ZERO), None, &mut Nothing);
        }
        wake(&mut xcp, 125);
        assert_eq!((xcp.persistent, xcp.shares.gain), (0, 0.0), "the queue was empty at first");
        for _ in 0..150 {
            xcp.enqueue(packet(150e3, f32::INFINITY), None, &mut Nothing);
            xcp.dequeue(Time::ZERO, &mut Nothing);
        }
        // 10 kB wait 10 ms: the propagation delay is 115 ms.
        wake(&mut xcp, 240);
        assert_eq!(xcp.persistent, 10_000);
        wake(&mut xcp, 250);
        // 150 kB in 125 ms are 200 kB/s too much. phi = -0.4 0.125 s 200 kB/s - 0.226 10 kB = -12.26 kB; h = 15 kB - 12.26
        // kB = 2.74 kB. Sum of rtt s / cwnd = 0.125 s: xi_p = 2.74 kB / (0.125 s)^2 = 175.36 kB/s^2, xi_n = 15 kB / (0.125 s
        // 150 kB) = 0.8/s. A packet gets 175.36 kB/s^2 (0.125 s)^2 / 150 - 0.8/s 0.125 s 1 kB = 18.267 - 100 = -81.733 B.
        near(xcp.phi, -12_260.0);
        near(xcp.shares.gain, 175_360.0);
        near(xcp.shares.give, 0.8);
        let granted = xcp.dequeue(Time::ZERO, &mut Nothing).unwrap().header.feedback;
        near(f64::from(granted), -12_260.0 / 150.0);
    }

    #[test]
    fn grants_do_not_exceed_the_spare_bandwidth() {
        // 30 kB at 1500 B per packet are enough for twenty packets; thirty come.
        let mut xcp = half_used();
        let granted: Vec<f64> = (0..30).map(|_| pass(&mut xcp, packet(10e3, f32::INFINITY))).collect();
        near(granted.iter().sum(), 30e3);
        near(granted[19], 1500.0);
        assert_eq!(granted[21..], [0.0; 9]);
    }

    #[test]
    fn a_request_below_the_fair_share_is_granted_and_the_rest_goes_to_other_packets() {
        let mut xcp = half_used();
        near(pass(&mut xcp, packet(10e3, 600.0)), 600.0);
        near(pass(&mut xcp, packet(10e3, -600.0)), -600.0);
        // 30 kB / 0.125 s less 600 B / 0.125 s; others may gain what the second packet gives up.
        near(xcp.shares.gain_left, 240e3);
    }

    #[test]
    fn a_sender_that_knows_no_round_trip_time_gets_nothing() {
        let mut xcp = half_used();
        let new = Packet { header: Header { rtt: 0.0, cwnd: 2000.0, feedback: f32::INFINITY }, ..packet(1.0, 0.0) };
        assert_eq!(pass(&mut xcp, new), 0.0);
        assert_eq!(xcp.input.bytes, 1000);
        assert_eq!((xcp.input.sharing, xcp.input.flows), (0, 0.0));
    }

    #[test]
    fn the_interval_is_the_mean_round_trip_time_of_the_flows() {
        let mut xcp = router();
        for rtt in [0.125, 0.375] {
            // Each flow sends its window once per round trip: in 125 ms all of its 12 kB, or a third of it.
            for _ in 0..(1.5 / rtt) as u32 {
                let header = Header { rtt, cwnd: 12e3, feedback: 0.0 };
                pass(&mut xcp, Packet { header, ..packet(12e3, 0.0) });
            }
        }
        wake(&mut xcp, 125);
        assert_eq!(xcp.interval, Span::millis(250));
    }

    #[test]
    fn refuses_invalid_parameters() {
        let port = Port::new(Limit::Unlimited, Rate(8_000_000), 1000.0);
        let says = |p: Params| Xcp::new(&p, &port, Stream::new(0, 0, ("link", 0), "queue")).unwrap_err().to_string();
        assert_eq!(says(Params { beta: 1.5, ..Params::default() }), "beta: must lie between 0 and 1");
        let span = Params { interval: Span::ZERO, ..Params::default() };
        assert_eq!(says(span), "interval: must be at least 10 us");
    }
}

//! XCP: a FIFO that tells each packet by how much its sender's window may change. Efficiency (how much in all) and fairness
//! (who gets it) are separate controllers; no state per flow.
//!
//! Source: Katabi, Handley and Rohrs 2002, Sections 3.4 and 3.5; what a packet gives up or leaves to others is accounted
//! for as in draft-falk-xcp-spec-03, as is a packet whose sender knows no round-trip time yet (it gets nothing).
//! Differs from the source: packets without a header are load, and take and give nothing; the persistent queue is the
//! least backlog at arrivals and at the end of its period; intervals without feedback traffic keep their length.

use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Bytes, Card, Cause, ParamError, Span, Stream, Time};
use std::collections::VecDeque;

base::params! {
    /// Katabi, Handley and Rohrs 2002, Section 3.5; stable for any delay with `alpha` below pi / (4 sqrt 2) and `beta` =
    /// sqrt 2 `alpha`^2 (Section 4).
    pub struct Params {
        /// Share of the spare bandwidth handed out per control interval.
        alpha: f64 = 0.4, "";
        /// Share of the persistent queue taken back per control interval.
        beta: f64 = 0.226, "";
        /// Share of the traffic that changes hands per control interval when nothing else does.
        gamma: f64 = 0.1, "";
        /// Control interval until packets have told a mean round-trip time.
        interval: Span = Span::millis(100), "";
        /// Shortest control interval.
        min_interval: Span = Span::millis(1), "";
    }
}

/// What arrived in the present control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Input {
    /// Bytes of all packets.
    bytes: u64,
    /// Bytes of those that take part.
    sharing: u64,
    /// Sum of rtt s / cwnd over those: the interval's length once per flow.
    flows: f64,
    /// Sum of rtt^2 s / cwnd.
    rtts: f64,
}

/// What is handed out in the present control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    /// Feedback of a packet per rtt^2 s / cwnd (the paper's xi_p), and per rtt s (xi_n).
    gain: f64,
    give: f64,
    /// What is left of both, in bytes per second.
    gain_left: f64,
    give_left: f64,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Xcp {
    p: Params,
    limit: Limit,
    /// Bytes per second.
    capacity: f64,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    input: Input,
    shares: Shares,
    /// When the present interval ends, and its length.
    control_at: Time,
    interval: Span,
    /// The aggregate feedback last computed, in bytes.
    phi: f64,
    /// The same of the queue: when its period ends, the least backlog in it, and the least in the one before.
    queue_at: Time,
    least: u64,
    persistent: u64,
}

impl Rule for Xcp {
    type Params = Params;
    const CARD: Card = Card {
        name: "xcp",
        aliases: &["XCP"],
        title: "XCP (explicit control protocol)",
        source: "Katabi, Handley and Rohrs 2002",
        differs: "Packets without a header are load, and take and give nothing.",
    };

    fn new(p: &Params, port: &Port, _chance: Stream) -> Result<Self, ParamError> {
        for (name, gain) in [("alpha", p.alpha), ("beta", p.beta), ("gamma", p.gamma)] {
            if !(0.0..=1.0).contains(&gain) {
                return Err(ParamError::new(name, "must lie between 0 and 1"));
            }
        }
        for (name, span) in [("min_interval", p.min_interval), ("interval", p.interval)] {
            if span < Span::micros(10) {
                return Err(ParamError::new(name, "must be at least 10 us"));
            }
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
        // What is dropped was load as well.
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
            // Once per propagation delay: the mean round trip without the wait here.
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
    /// The end of a control interval.
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
    /// What `packet` takes on: the feedback of routers before this one, or less.
    fn grant(&mut self, packet: &Packet) -> f32 {
        let header = &packet.header;
        if header.rtt <= 0.0 {
            return header.feedback.min(0.0);
        }
        let [rtt, cwnd, asked] = [header.rtt, header.cwnd, header.feedback].map(f64::from);
        let size = f64::from(packet.size);
        // Equations 6 and 9, but no more than is left.
        let mut gain = (self.gain * rtt * rtt * size / cwnd).min(self.gain_left * rtt);
        let mut give = (self.give * rtt * size).min(self.give_left * rtt);
        let feedback = gain - give;
        if asked < feedback {
            // Another router, or the sender, is satisfied with less: it gives more here, and gains the less.
            give = (give + feedback - asked).min(self.give_left * rtt);
            gain = asked + give;
        }
        self.gain_left = (self.gain_left - gain / rtt).max(0.0);
        self.give_left = (self.give_left - give / rtt).max(0.0);
        asked.min(feedback) as f32
    }
}

//! A control on a path of its own, segment by segment: for controls that rule their window by deliveries.
//!
//! Source: draft-ietf-ccwg-bbr-06, Section 4.1 (what the sender keeps of a segment, and the sample that an ACK gives).

use base::{Span, Time};
use law::{CongestionControl, CongestionEvent, Delivery, Lost, Signal};
use std::collections::VecDeque;

/// Segments after a hole that prove the loss.
const DUP_THRESH: u64 = 3;

/// State that the sender keeps for a segment in the network (draft, Section 4.1.2.1.2).
#[derive(Clone, Copy)]
struct Packet {
    id: u64,
    sent: Time,
    first_sent: Time,
    delivered: u64,
    delivered_time: Time,
    in_flight: u64,
    lost: u64,
    app_limited: bool,
}

/// State after one ACK.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub now: Time,
    pub state: u8,
    pub in_flight: f64,
    pub queue: f64,
    pub delivered: u64,
    pub cwnd: f64,
    pub max_bw: f64,
    pub rtt: f64,
}

/// One sender, one bottleneck with a first-in first-out buffer, propagation behind it, an ACK for every segment.
pub struct Network<C> {
    pub control: C,
    /// Segments per second.
    pub rate: f64,
    base_rtt: Span,
    /// Segments that may wait.
    pub buffer: f64,
    /// A policer before the buffer: segments per second, what its bucket holds, and what is in it.
    pub policer: Option<(f64, f64, f64)>,
    /// Segments per second that the application offers.
    pub demand: Option<f64>,
    /// Time span in which it offers nothing.
    pub pause: Option<(Time, Time)>,
    pub now: Time,
    pub next_send: Time,
    pub free_at: Time,
    filled_at: Time,
    acks: VecDeque<(Time, u64)>,
    /// Packets in the network as far as the sender knows.
    packets: VecDeque<Packet>,
    sent: u64,
    offered: u64,
    pub delivered: u64,
    delivered_time: Time,
    first_sent: Time,
    pub lost: u64,
    app_limited: u64,
    recover: Option<u64>,
    pub timeouts: u32,
    min_rtt: Span,
    pub seen: Vec<Seen>,
}

impl<C: CongestionControl> Network<C> {
    pub fn new(control: C, rate: f64, base_rtt: Span, buffer: f64) -> Self {
        Self {
            control,
            rate,
            base_rtt,
            buffer,
            policer: None,
            filled_at: Time::ZERO,
            demand: None,
            pause: None,
            now: Time::ZERO,
            next_send: Time::ZERO,
            free_at: Time::ZERO,
            acks: VecDeque::new(),
            packets: VecDeque::new(),
            sent: 0,
            offered: 0,
            delivered: 0,
            delivered_time: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            app_limited: 0,
            recover: None,
            timeouts: 0,
            min_rtt: Span::ZERO,
            seen: Vec::new(),
        }
    }

    pub fn gauge(&self, name: &str) -> Option<f64> {
        let mut found = None;
        self.control.gauges(&mut |gauge, x| found = if gauge == name { Some(x) } else { found });
        found
    }

    pub fn bdp(&self) -> f64 {
        self.rate * self.base_rtt.as_secs()
    }

    pub fn queue(&self) -> f64 {
        self.free_at.since(self.now).as_secs() * self.rate
    }

    /// Time at which the application has another segment.
    fn next_data(&self) -> Time {
        let due = self.demand.map_or(self.now, |rate| Time::ZERO + Span::from_secs(self.offered as f64 / rate));
        match self.pause {
            Some((from, to)) if due.max(self.now) >= from && due.max(self.now) < to => to,
            _ => due,
        }
    }

    pub fn run(&mut self, seconds: f64) {
        self.run_until(seconds, |_| false);
    }

    /// Runs for `seconds`, or until `done` if that is earlier.
    pub fn run_until(&mut self, seconds: f64, done: impl Fn(&Self) -> bool) {
        let end = self.now + Span::from_secs(seconds);
        while self.now < end && !done(self) {
            self.step();
        }
    }

    fn may_send(&self) -> bool {
        (self.packets.len() as f64) < self.control.cwnd().floor()
    }

    /// Times at which the next segment is sent and the next ACK arrives.
    pub fn due(&self) -> (Time, Time) {
        let send = if self.may_send() { self.next_send.max(self.next_data()) } else { Time::NEVER };
        (send, self.acks.front().map_or(Time::NEVER, |ack| ack.0))
    }

    pub fn step(&mut self) {
        if self.may_send() && self.next_data() > self.now && self.next_send <= self.now {
            self.app_limited = (self.delivered + self.packets.len() as u64).max(1);
        }
        let (send_at, ack_at) = self.due();
        if send_at <= ack_at && send_at != Time::NEVER {
            self.now = self.now.max(send_at);
            self.send();
        } else if ack_at != Time::NEVER {
            self.now = ack_at;
            let id = self.acks.pop_front().unwrap().1;
            self.ack(id);
        } else {
            self.now += Span::secs(1);
            self.time_out();
        }
    }

    fn send(&mut self) {
        if self.packets.is_empty() {
            (self.first_sent, self.delivered_time) = (self.now, self.now);
        }
        let pace = self.control.pacing_rate().unwrap();
        self.next_send = self.now + Span::from_secs(1.0 / pace);
        self.packets.push_back(Packet {
            id: self.sent,
            sent: self.now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            in_flight: self.packets.len() as u64 + 1,
            lost: self.lost,
            app_limited: self.app_limited != 0,
        });
        if self.passes_policer() && self.queue() < self.buffer + 1.0 {
            self.free_at = self.free_at.max(self.now) + Span::from_secs(1.0 / self.rate);
            self.acks.push_back((self.free_at + self.base_rtt, self.sent));
        }
        self.sent += 1;
        self.offered += 1;
    }

    /// Whether the policer has a token.
    fn passes_policer(&mut self) -> bool {
        let Some((rate, most, tokens)) = &mut self.policer else { return true };
        *tokens = (*tokens + *rate * self.now.since(self.filled_at).as_secs()).min(*most);
        self.filled_at = self.now;
        let passes = *tokens >= 1.0;
        if passes {
            *tokens -= 1.0;
        }
        passes
    }

    fn lose(&mut self, packet: Packet) {
        self.lost += 1;
        self.control.on_lost(&Lost {
            now: self.now,
            delivered: self.delivered,
            prior_delivered: packet.delivered,
            tx_in_flight: packet.in_flight as f64,
            lost: (self.lost - packet.lost) as f64,
            app_limited: packet.app_limited,
        });
    }

    fn signal(&mut self, signal: Signal) {
        self.recover = Some(self.sent);
        self.control.on_congestion(&CongestionEvent {
            in_flight: self.packets.len() as f64,
            delivered: self.delivered,
            ..CongestionEvent::plain(self.now, signal, self.base_rtt)
        });
    }

    fn time_out(&mut self) {
        self.timeouts += 1;
        for packet in std::mem::take(&mut self.packets) {
            self.lose(packet);
        }
        self.signal(Signal::Timeout);
        self.next_send = self.now;
    }

    fn ack(&mut self, id: u64) {
        let before = self.packets.len();
        let place = self.packets.iter().position(|packet| packet.id == id).unwrap();
        let packet = self.packets.remove(place).unwrap();
        self.delivered += 1;
        self.delivered_time = self.now;
        self.first_sent = packet.sent;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let lost_before = self.lost;
        while self.packets.front().is_some_and(|hole| hole.id + DUP_THRESH <= id) {
            let hole = self.packets.pop_front().unwrap();
            self.lose(hole);
        }
        if self.recover.is_some_and(|recover| id >= recover) {
            self.recover = None;
            self.control.on_recovered();
        }
        if self.lost > lost_before && self.recover.is_none() {
            self.signal(Signal::Loss);
        }
        let rtt = self.now - packet.sent;
        self.min_rtt = if self.min_rtt == Span::ZERO { rtt } else { self.min_rtt.min(rtt) };
        let interval = (packet.sent - packet.first_sent).max(self.now - packet.delivered_time);
        self.control.on_delivery(&Delivery {
            now: self.now,
            newly_delivered: 1.0,
            newly_lost: (self.lost - lost_before) as f64,
            delivered: self.delivered,
            prior_delivered: packet.delivered,
            interval: Some(interval).filter(|interval| *interval >= self.min_rtt),
            app_limited: packet.app_limited,
            rtt: Some(rtt),
            min_rtt: self.min_rtt,
            prior_in_flight: before as f64,
            in_flight: self.packets.len() as f64,
            tx_in_flight: packet.in_flight as f64,
            lost: (self.lost - packet.lost) as f64,
            recovering: self.recover.is_some(),
        });
        self.seen.push(Seen {
            now: self.now,
            state: self.gauge("state").unwrap() as u8,
            in_flight: self.packets.len() as f64,
            queue: self.queue(),
            delivered: self.delivered,
            cwnd: self.control.cwnd(),
            max_bw: self.gauge("max_bw").unwrap(),
            rtt: rtt.as_secs(),
        });
    }

    /// The states passed through, each with when it began and ended.
    pub fn states(&self) -> Vec<(u8, f64, f64)> {
        let mut list: Vec<(u8, f64, f64)> = Vec::new();
        for seen in &self.seen {
            let now = seen.now.as_secs();
            match list.last_mut() {
                Some(last) if last.0 == seen.state => last.2 = now,
                _ => list.push((seen.state, now, now)),
            }
        }
        list
    }
}

pub fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

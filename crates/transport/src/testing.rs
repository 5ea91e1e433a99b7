//! A recovery with a connection of its own, for the tests of each: ACKs in, segments out.

use crate::connection::Connection;
use crate::recovery::RecoveryRules;
use crate::{Ack, Options, Phase, Wire};
use base::{Flags, Span, Time};
use law::{CongestionControl, Control, LawSpec, StartSpec};

/// Segments sent: number, and whether it was a retransmission.
#[derive(Default)]
struct Sent(Vec<(u64, bool)>);

impl Wire for Sent {
    fn send(&mut self, _now: Time, seq: u64, flags: Flags) {
        self.0.push((seq, flags.has(Flags::RETRANSMITTED)));
    }
}

/// A sender of Reno in congestion avoidance, with a window of ten segments that are all outstanding.
pub struct Driven<R> {
    pub connection: Connection<Control>,
    pub recovery: R,
    now: Time,
}

impl<R: RecoveryRules> Driven<R> {
    /// Recovery with a connection of `data_end` segments. `departures` says whether the recovery keeps them.
    pub fn new(mut recovery: R, data_end: u64, departures: bool) -> Self {
        let law = LawSpec::named("reno").expect("registered");
        let start = StartSpec::named("classic").expect("registered");
        let control = law.build(&start, 10.0, 2.0).expect("defaults");
        let mut connection = Connection::new(control, &Options::default(), data_end, departures);
        let (now, mut sent) = (Time::ZERO + Span::secs(1), Sent::default());
        connection.start(&mut recovery, now, &mut sent);
        assert_eq!(sent.0, (0..data_end.min(10)).map(|seq| (seq, false)).collect::<Vec<_>>());
        Self { connection, recovery, now }
    }

    /// Takes an ACK `ms` milliseconds after the last event; returns the released segments.
    pub fn ack(&mut self, ms: u64, cum: u64, blocks: &[(u64, u64)]) -> Vec<(u64, bool)> {
        self.now += Span::millis(ms);
        let mut sent = Sent::default();
        self.connection.on_ack(&mut self.recovery, self.now, &Ack::new(cum, blocks, false), &mut sent);
        sent.0
    }

    /// Takes an ACK for the next `acked` segments as one of a run; returns the released segments.
    pub fn run(&mut self, ms: u64, acked: u32) -> Vec<(u64, bool)> {
        self.now += Span::millis(ms);
        let mut sent = Sent::default();
        self.connection.take_plain(&mut self.recovery, std::iter::once((self.now, acked)), &mut sent);
        sent.0
    }

    /// Advances to the next timer, whichever it is.
    pub fn time_out(&mut self) -> Vec<(u64, bool)> {
        self.now = self.connection.deadline();
        let mut sent = Sent::default();
        self.connection.on_timer(&mut self.recovery, self.now, &mut sent);
        sent.0
    }

    /// Phase, segments in flight, and whether nothing is suspected.
    pub fn state(&self) -> (Phase, u32, bool) {
        (self.connection.phase(), self.recovery.in_flight(self.connection.seq()), self.recovery.is_quiet())
    }

    /// Congestion window in whole segments.
    pub fn cwnd(&self) -> u32 {
        self.connection.control().cwnd() as u32
    }

    /// Time until the retransmission timer expires.
    pub fn until_rto(&self) -> Span {
        self.connection.rto_at() - self.now
    }
}

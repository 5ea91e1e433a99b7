//! A sender on its own: ACKs in, segments out.

#![allow(dead_code, clippy::allow_attributes, reason = "each test uses its part")]

use base::{Flags, Span, Time};
use law::{CongestionControl, Control, LawSpec, StartSpec};
use transport::{Ack, NO_END, Options, Recovery, Sender, Wire};

#[derive(Default)]
pub struct Sent(pub Vec<(u64, bool)>);

impl Wire for Sent {
    fn send(&mut self, _now: Time, seq: u64, flags: Flags) {
        self.0.push((seq, flags.has(Flags::RETRANSMITTED)));
    }
}

/// A sender with a window of `window` segments in congestion avoidance, all of it outstanding, and its clock.
pub struct Bench {
    pub sender: Sender<Control>,
    pub now: Time,
}

impl Bench {
    pub fn new(recovery: Recovery, window: u32) -> Self {
        Self::with(recovery, &Options { initial_window: window, initial_ssthresh: Some(2.0), ..Options::default() })
    }

    pub fn with(recovery: Recovery, options: &Options) -> Self {
        Self::of(recovery, options, NO_END)
    }

    /// A sender of `data_end` segments.
    pub fn of(recovery: Recovery, options: &Options, data_end: u64) -> Self {
        let law = LawSpec::named("reno").expect("registered");
        let start = StartSpec::named("classic").expect("registered");
        let ssthresh = options.initial_ssthresh.unwrap_or(f64::INFINITY);
        let control = law.build(&start, f64::from(options.initial_window), ssthresh).expect("defaults");
        let mut bench =
            Self { sender: Sender::new(control, recovery, options, data_end), now: Time::ZERO + Span::secs(1) };
        bench.call(Sender::start);
        bench
    }

    pub fn call(&mut self, f: impl FnOnce(&mut Sender<Control>, Time, &mut Sent)) -> Vec<(u64, bool)> {
        let mut sent = Sent::default();
        f(&mut self.sender, self.now, &mut sent);
        sent.0
    }

    /// An ACK `ms` milliseconds after the last event; what it releases.
    pub fn ack(&mut self, ms: u64, cum: u64, blocks: &[(u64, u64)]) -> Vec<(u64, bool)> {
        self.now += Span::millis(ms);
        self.call(|sender, now, sent| sender.on_ack(now, &Ack::new(cum, blocks, false), sent))
    }

    /// The next timer expires, whichever it is.
    pub fn time_out(&mut self) -> Vec<(u64, bool)> {
        self.now = self.sender.deadline();
        self.call(Sender::on_timer)
    }

    pub fn cwnd(&self) -> f64 {
        self.sender.control().cwnd()
    }
}

pub fn new(seqs: std::ops::Range<u64>) -> Vec<(u64, bool)> {
    seqs.map(|seq| (seq, false)).collect()
}

pub fn again(seq: u64) -> (u64, bool) {
    (seq, true)
}

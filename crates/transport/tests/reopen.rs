//! One transfer after another on the same sender and receiver: each is a connection of its own.

extern crate elephan_transport as transport;

use base::{Flags, Span, Time};
use law::{CongestionControl, Control, LawSpec, StartSpec};
use proptest::prelude::*;
use std::collections::VecDeque;
use transport::{Ack, Options, Phase, Receiver, Recovery, Sender, Wire};

/// Segments on their way, oldest first.
#[derive(Default)]
struct Way(VecDeque<(u64, Flags)>);

impl Wire for Way {
    fn send(&mut self, _now: Time, seq: u64, flags: Flags) {
        self.0.push_back((seq, flags));
    }
}

/// A sender, its receiver, and the way between them, on which the test decides what is lost.
struct Pair {
    fresh: Sender<Control>,
    sender: Sender<Control>,
    receiver: Receiver,
    ack: Ack,
    way: Way,
    /// The first segment of the transfer that is open.
    first: u64,
}

/// Observable state of a sender, with numbers relative to the start of its transfer.
type Seen = (f64, u64, u64, u32, Time, Phase, Span, u64);

impl Pair {
    fn new(law: &str, recovery: Recovery, options: &Options) -> Self {
        let start = StartSpec::named("classic").expect("registered");
        let ssthresh = options.initial_ssthresh.unwrap_or(f64::INFINITY);
        let control =
            LawSpec::named(law).expect("registered").build(&start, f64::from(options.initial_window), ssthresh);
        let fresh = Sender::new(control.expect("defaults"), recovery, options, 0);
        let blocks = if recovery.selective() { 3 } else { 0 };
        let receiver = Receiver::new(options.delayed_ack, options.delayed_ack_timeout, blocks).until(0);
        Self { sender: fresh.clone(), fresh, receiver, ack: Ack::NONE, way: Way::default(), first: 0 }
    }

    fn open(&mut self, now: Time, segments: u64) {
        let (first, end) = self.sender.open(&self.fresh, segments);
        self.receiver.announce(first, end);
        self.first = first;
        self.sender.start(now, &mut self.way);
    }

    /// The oldest segment arrives, and its ACK at once.
    fn deliver(&mut self, now: Time) {
        let Some((seq, flags)) = self.way.0.pop_front() else { return };
        if self.receiver.on_segment(now, seq, flags, &mut self.ack) {
            self.sender.on_ack(now, &self.ack, &mut self.way);
        }
    }

    /// The next timer expires at either end; returns when.
    fn ring(&mut self) -> Time {
        let now = self.sender.deadline().min(self.receiver.deadline());
        if self.receiver.deadline() == now {
            assert!(self.receiver.on_timer(now, &mut self.ack));
            self.sender.on_ack(now, &self.ack, &mut self.way);
        } else {
            self.sender.on_timer(now, &mut self.way);
        }
        now
    }

    /// One step at `now`: the oldest segment arrives, or is lost; timers ring in between. Returns the present time.
    fn step(&mut self, now: Time, lost: bool) -> Time {
        let timer = self.sender.deadline().min(self.receiver.deadline());
        if self.way.0.is_empty() || timer <= now {
            return if timer == Time::NEVER { now } else { self.ring().max(now) };
        }
        if lost {
            self.way.0.pop_front();
        } else {
            self.deliver(now);
        }
        now
    }

    /// Goes on without losses until all is acknowledged.
    fn complete(&mut self, mut now: Time) -> Time {
        while !self.sender.seq().is_done() {
            now = self.step(now + Span::millis(7), false);
        }
        now
    }

    fn seen(&self) -> Seen {
        let s = &self.sender;
        let cwnd = s.control().cwnd();
        let (una, nxt) = (s.seq().una() - self.first, s.seq().nxt() - self.first);
        (cwnd, una, nxt, s.in_flight(), s.deadline(), s.phase(), s.rtt().srtt(), s.delivered())
    }
}

fn recoveries() -> impl Iterator<Item = Recovery> {
    Recovery::ALL.iter().map(|row| row.0)
}

fn options(delayed_ack: u32) -> Options {
    let min_rto = Span::millis(200);
    Options { min_rto, initial_window: 4, initial_ssthresh: Some(9.0), delayed_ack, ..Options::default() }
}

#[test]
fn nothing_of_a_transfer_is_left_in_the_next_but_its_counters() {
    for recovery in recoveries() {
        let mut pair = Pair::new("reno", recovery, &options(1));
        let mut now = Time(0) + Span::secs(1);
        pair.open(now, 20);
        // A whole flight is lost: the timer backs off, and ssthresh falls.
        pair.way.0.clear();
        now = pair.ring();
        now = pair.complete(now);
        let before = pair.sender.counters();
        assert!(before.timeouts > 0 || before.retransmitted > 0, "{recovery:?}");
        assert_ne!(pair.sender.rtt().rto(), pair.fresh.rtt().rto(), "{recovery:?}");
        pair.way.0.clear();
        pair.open(now, 6);
        // One number is left out.
        assert_eq!((pair.first, pair.sender.seq().una(), pair.sender.seq().nxt()), (21, 21, 25), "{recovery:?}");
        assert_eq!(pair.sender.counters().sent, before.sent + 4, "{recovery:?}");
        assert_eq!(pair.sender.counters().timeouts, before.timeouts, "{recovery:?}");
        assert_eq!(pair.sender.rtt().rto(), pair.fresh.rtt().rto(), "{recovery:?}");
        let gauge = |sender: &Sender<Control>| (sender.control().cwnd(), sender.control().ssthresh());
        assert_eq!(gauge(&pair.sender), (4.0, 9.0), "{recovery:?}");
        pair.complete(now);
        assert_eq!((pair.receiver.delivered(), pair.sender.seq().una()), (26, 27), "{recovery:?}");
    }
}

#[test]
fn acks_of_a_closed_connection_acknowledge_nothing_of_the_next() {
    for recovery in recoveries() {
        let mut pair = Pair::new("reno", recovery, &options(1));
        let now = Time(0) + Span::secs(1);
        pair.open(now, 4);
        let now = pair.complete(now);
        pair.open(now, 4);
        let seen = pair.seen();
        for cum in 0..=4 {
            pair.sender.on_ack(now + Span::millis(1), &Ack::new(cum, &[(2, 4)], true), &mut pair.way);
            assert_eq!(pair.seen(), seen, "{recovery:?}, {cum}");
        }
    }
}

#[test]
fn segments_of_a_closed_connection_are_answered_until_the_next_arrives_and_then_ignored() {
    let (mut receiver, mut ack) = (Receiver::new(2, Span::millis(40), 3).until(0), Ack::NONE);
    receiver.announce(0, 2);
    assert!(!receiver.on_segment(Time(1), 0, Flags::NONE, &mut ack));
    assert!(receiver.on_segment(Time(2), 1, Flags::NONE, &mut ack));
    receiver.announce(3, 5);
    assert!(receiver.on_segment(Time(3), 1, Flags::RETRANSMITTED, &mut ack), "a duplicate of the old connection");
    assert_eq!((ack.cum, receiver.delivered()), (2, 2));
    // The second of the new one comes first.
    assert!(receiver.on_segment(Time(4), 4, Flags::NONE, &mut ack));
    assert_eq!(ack, Ack::new(3, &[(4, 5)], false));
    assert!(!receiver.on_segment(Time(5), 1, Flags::RETRANSMITTED, &mut ack), "late");
    assert!(receiver.on_segment(Time(6), 3, Flags::NONE, &mut ack));
    assert_eq!((ack.cum, receiver.delivered()), (5, 4));
}

#[test]
fn the_last_segment_is_acknowledged_at_once_whatever_mark_it_carries() {
    for (marks, ends) in [(false, Flags::ECT), (true, Flags::ECT), (true, Flags::ECT.with(Flags::CE))] {
        let receiver = Receiver::new(3, Span::millis(40), 0).until(0);
        let mut ack = Ack::NONE;
        let mut receiver = if marks { receiver.echoing_every_mark() } else { receiver };
        for (first, end) in [(0, 2), (3, 4), (5, 10)] {
            receiver.announce(first, end);
            for seq in first..end {
                let flags = if seq + 1 == end { ends } else { Flags::ECT };
                let due = seq + 1 == end || seq - first == 2;
                assert_eq!(receiver.on_segment(Time(9), seq, flags, &mut ack), due, "{seq}");
            }
            assert_eq!((ack.cum, receiver.deadline()), (end, Time::NEVER));
            assert_eq!(ack.ece, ends.has(Flags::CE));
        }
    }
}

proptest! {
    /// Whatever the first transfer went through, and whatever of it is still on its way, the second does what it would do
    /// as the first of all.
    #[test]
    fn the_second_transfer_goes_as_if_it_were_the_first(
        (which, law) in (0..Recovery::ALL.len(), prop::sample::select(vec!["reno", "cubic", "vegas", "bbr", "bbr1", "westwood"])),
        (delayed, first, second) in (1u32..3, 1u64..60, 1u64..60),
        before in prop::collection::vec(prop::bool::weighted(0.2), 0..100),
        after in prop::collection::vec(prop::bool::weighted(0.2), 0..200),
    ) {
        let any = Recovery::ALL[which].0;
        // BBR wants selective acknowledgements.
        let recovery = if law.starts_with("bbr") && !any.selective() { Recovery::Rack } else { any };
        let (mut old, mut new) =
            (Pair::new(law, recovery, &options(delayed)), Pair::new(law, recovery, &options(delayed)));
        let mut now = Time(0) + Span::secs(1);
        old.open(now, first);
        for lost in before {
            now = old.step(now + Span::millis(11), lost);
        }
        now = old.complete(now);
        let stale: Vec<_> = old.way.0.drain(..).collect();
        old.open(now, second);
        new.open(now, second);
        // The way keeps the order: what is left of the old connection arrives before the new one.
        for (seq, flags) in stale {
            if old.receiver.on_segment(now, seq, flags, &mut old.ack) {
                old.sender.on_ack(now, &old.ack, &mut old.way);
            }
        }
        prop_assert_eq!(old.seen(), new.seen());
        for lost in after {
            let then = now + Span::millis(11);
            now = new.step(then, lost);
            prop_assert_eq!(old.step(then, lost), now);
            prop_assert_eq!(old.seen(), new.seen());
            let shifted = old.way.0.iter().map(|&(seq, flags)| (seq - old.first, flags));
            prop_assert!(shifted.eq(new.way.0.iter().copied()));
        }
        prop_assert_eq!(old.complete(now), new.complete(now));
        prop_assert_eq!(old.receiver.delivered(), first + second);
    }
}

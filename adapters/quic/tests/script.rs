//! Senders that a script drives: windows after losses are those of their specifications.

#![expect(clippy::single_range_in_vec_init, reason = "lists of one SACK block are meant")]

use base::{Span, Time};
use elephan_quic::laws::{LAWS, Law};
use elephan_quic::script::{Left, Scripted, drive};

const RTT: Span = Span::millis(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

/// A sender that has written 30 segments, and those that it sent.
fn opened(law: &str) -> (Box<dyn Scripted>, Vec<Left>) {
    let mut sender = Law::named(law).unwrap().scripted().unwrap();
    sender.open(at(100), RTT);
    sender.write(at(100), 30);
    let left = sender.take_left();
    (sender, left)
}

#[test]
fn ten_datagrams_are_the_initial_window() {
    // RFC 9002, Section 7.2. quinn and noq hold a datagram back that would fill the window to the byte.
    for (law, count) in [("quinn/cubic", 9), ("quinn/reno", 9), ("noq/cubic", 10), ("noq/reno", 10), ("s2n/cubic", 10)]
    {
        let (sender, left) = opened(law);
        assert_eq!((sender.state().0, sender.state().1), (10.0, None), "{law}");
        assert!(
            left.iter().map(|left| (left.1, left.2)).eq((0..count).map(|segment| (segment, false))),
            "{law}: {left:?}"
        );
        assert_eq!(sender.state().2, Some(RTT), "{law}: that of the handshake");
    }
}

#[test]
fn a_loss_takes_the_share_of_the_specification_and_is_sent_again_first() {
    // RFC 9002, 7.3.2: half of the window; RFC 8312 and 9438, 4.6: seven tenths. Two ACKs have made it 13 segments.
    for (law, share) in [("quinn/cubic", 0.7), ("quinn/reno", 0.5), ("noq/cubic", 0.7), ("noq/reno", 0.5)] {
        let (mut sender, _) = opened(law);
        sender.acknowledge(at(200), 0, &[1..2], None);
        assert_eq!(sender.state().0, 11.0, "{law}");
        sender.take_left();
        sender.acknowledge(at(201), 0, &[1..4], None);
        assert!((sender.state().0 - 13.0 * share).abs() < 1e-9, "{law}: {}", sender.state().0);
        sender.acknowledge(at(202), 0, &[1..9], None);
        let left = sender.take_left();
        assert_eq!((left[0].1, left[0].2), (0, true), "{law}: {left:?}");
        assert!(left[1..].iter().all(|left| !left.2), "{law}: {left:?}");
    }
}

#[test]
fn every_law_of_a_stack_can_be_driven_and_no_other() {
    for law in LAWS {
        assert_eq!(law.scripted().is_some(), law.name.contains('/') && law.name != "noq/elephan", "{}", law.name);
    }
}

#[test]
fn lines_are_answered_one_by_one() {
    let (mut sender, mut said) = (Law::named("quinn/reno").unwrap().scripted().unwrap(), Vec::new());
    let lines = "open 100000000000 100000000000\nwrite 100000000000 2\nack 200000000000 1\n";
    drive(&mut *sender, lines.as_bytes(), &mut said).unwrap();
    let text = String::from_utf8(said).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(
        text.lines().nth(1).unwrap().contains("\"sent\":[[100000000000,0,false],[100000000000,1,false]]"),
        "{text}"
    );
    for wrong in ["", "open", "open x 1", "write 1", "ack 1 2 3:2", "ack 1 2 twice", "write 1 100001", "close 1"] {
        assert!(drive(&mut *sender, format!("{wrong}\n").as_bytes(), &mut Vec::new()).is_err(), "{wrong}");
    }
}

//! The places of a session (its TCP connections), for both engines: when each transfer opens, and in which place.
//!
//! A place is a TCP connection that carries one transfer after the other, each as a new connection. A transfer takes the
//! free place with the lowest number.

use base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use traffic::{AnySession, SessionProcess};

/// One session and its free places.
#[derive(Clone, Debug)]
pub struct SessionPlaces {
    session: AnySession,
    stop: Time,
    free: BinaryHeap<Reverse<u32>>,
}

/// A session that is ready to start: its flow, and the senders that are its places.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    pub flow: u32,
    /// The first of its senders, and their number.
    pub first_place: u32,
    pub place_count: u32,
    pub places: SessionPlaces,
}

/// A transfer that is open in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTransfer {
    pub opened: Time,
    pub segments: u64,
}

/// A transfer that its sender has completed.
#[derive(Clone, Copy, Debug)]
pub struct ClosedTransfer {
    pub open: OpenTransfer,
    /// Time at which its sender learnt that everything had arrived.
    pub closed: Time,
    /// Time at which its receiver had everything.
    pub delivered: Option<Time>,
}

impl SessionPlaces {
    /// A session that opens no transfers from `stop` on.
    pub fn new(session: AnySession, places: u32, stop: Time) -> Self {
        Self { session, stop, free: (0..places).map(Reverse).collect() }
    }

    /// Time at which the next transfer is due, as far as is known. It may be in the past, if the transfer waited for a
    /// place.
    pub fn due(&self) -> Time {
        let due = self.session.due();
        let taken = self.free.is_empty() && self.session.waits();
        if taken || due >= self.stop { Time::NEVER } else { due }
    }

    /// Opens the due transfer; returns its place and the transfer. `None` if it is refused because no place is free.
    pub fn open(&mut self, now: Time) -> Option<(u32, OpenTransfer)> {
        let segments = u64::from(self.session.open(now));
        self.free.pop().map(|Reverse(place)| (place, OpenTransfer { opened: now, segments }))
    }

    /// Frees `place`, whose transfer has ended. Returns the opening time of the page that this transfer completes, if any.
    pub fn close(&mut self, now: Time, place: u32) -> Option<Time> {
        self.free.push(Reverse(place));
        self.session.ended(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Rate, Span, Stream};
    use traffic::{Offer, Site, TrafficSpec};

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    /// A session with `places` places, whose transfers of 1, 2 and 3 segments are all due at 1 ms.
    fn session(kind: &str, places: u32, stop: Time) -> SessionPlaces {
        let site =
            Site { packet: Bytes(1000), mss: 960, capacity: Rate(8_000_000), index: 0, flows: 1, start: Time::ZERO };
        let mut spec = TrafficSpec::named(kind).expect("registered");
        if kind == "replay" {
            let flows = base::Value::Text("1 ms 960 B; 1 ms 1920 B; 1 ms 2880 B".into());
            spec.set("flows", &flows).expect("a parameter").expect("a list");
        }
        match spec.offer(&site, || Stream::new(1, 0, ("test", 0), "traffic")) {
            Ok(Offer::Session(session)) => SessionPlaces::new(session, places, stop),
            other => panic!("{other:?}"),
        }
    }

    /// Expected result of `open`: the place, and the transfer of `segments` that opened at `now`.
    fn opened(place: u32, now: Time, segments: u64) -> (u32, OpenTransfer) {
        (place, OpenTransfer { opened: now, segments })
    }

    #[test]
    fn a_transfer_takes_the_lowest_free_place_and_waits_if_there_is_none() {
        let mut places = session("replay", 2, Time::NEVER);
        assert_eq!(places.due(), ms(1));
        assert_eq!((places.open(ms(1)), places.open(ms(1))), (Some(opened(0, ms(1), 1)), Some(opened(1, ms(1), 2))));
        // The third transfer is due, but no place is free.
        assert_eq!(places.due(), Time::NEVER);
        assert_eq!(places.close(ms(9), 1), None);
        assert_eq!((places.due(), places.open(ms(9))), (ms(9), Some(opened(1, ms(9), 3))));
        places.close(ms(10), 1);
        places.close(ms(11), 0);
        assert_eq!((places.due(), places.free.pop()), (Time::NEVER, Some(Reverse(0))));
    }

    #[test]
    fn an_elastic_transfer_without_a_place_is_refused_and_later_ones_open_at_their_times() {
        let (mut full, mut free) = (session("elastic", 1, Time::NEVER), session("elastic", 9, Time::NEVER));
        let mut opened = Vec::new();
        for _ in 0..9 {
            let now = free.due();
            assert_eq!(full.due(), now);
            opened.push((full.open(now).is_some(), free.open(now).is_some()));
        }
        assert_eq!((opened[0], &opened[1..]), ((true, true), &[(false, true); 8][..]));
    }

    #[test]
    fn no_transfer_opens_at_or_after_the_stop() {
        assert_eq!(session("replay", 1, ms(1)).due(), Time::NEVER);
        let mut places = session("replay", 1, Time(ms(1).0 + 1));
        assert_eq!((places.due(), places.open(ms(1))), (ms(1), Some(opened(0, ms(1), 1))));
        // The second transfer was due before the stop, but a place becomes free only after the stop.
        places.close(ms(2), 0);
        assert_eq!(places.due(), Time::NEVER);
    }
}

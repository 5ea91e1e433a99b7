//! Interfaces of applications, sources of datagrams and sessions, and the site where they run.
//!
//! The macro that declares a trait also generates the calls to the kind of traffic that an enum holds.

use base::{Bytes, Rate, Span, Time};

/// Properties of the site that traffic may use.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// Payload of a full packet, in bytes.
    pub mss: u32,
    /// The narrowest link that its data crosses.
    pub capacity: Rate,
    /// Index of the flow in its group, from 0.
    pub index: u32,
    /// Number of flows in the group.
    pub flows: u32,
    /// Start time.
    pub start: Time,
}

base::dispatched! {
    ($) macro arrival_process;
    /// Times of datagrams. Their sizes are drawn separately.
    pub trait ArrivalProcess: [Clone + std::fmt::Debug] {
        /// Time from one packet to the next; in the first call, from the start of the flow to its first packet.
        fn next_gap(&mut self) -> Span;
    }
}

base::dispatched! {
    ($) macro session_process;
    /// Times at which TCP transfers open repeatedly: a state machine that is also called when a transfer ends. Each
    /// transfer is a connection of its own; all transfers of a session take the same path.
    pub trait SessionProcess: [Clone + std::fmt::Debug] {
        /// Whether a due transfer waits for a place if all are taken; otherwise it is refused and counted.
        fn waits(&self) -> bool {
            true
        }

        /// Time at which the next transfer opens, as far as is known; `Time::NEVER` if that depends on the end of
        /// another transfer. It is never before the time of the last call of any method.
        fn due(&self) -> Time;

        /// Opens (or refuses) the due transfer and returns its number of segments, at least 1. `now` is later than the due
        /// time if the transfer had to wait.
        fn open(&mut self, now: Time) -> u32;

        /// Ends an open transfer: its sender knows at `now` that everything has arrived. Returns the opening time of
        /// the page, if this transfer completes a page.
        fn ended(&mut self, now: Time) -> Option<Time>;
    }
}

/// Action of an application when it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Send this number of further segments, at least 1.
    Segments(u32),
    /// Send as many segments as the network takes.
    Unlimited,
    /// Stop: nothing to send beyond the segments already sent.
    Pause,
}

base::dispatched! {
    ($) macro application_process;
    /// Times at which an application writes to its connection: a state machine that is also called when everything has
    /// arrived.
    pub trait ApplicationProcess: [Clone + std::fmt::Debug] {
        /// Time of the next action, as far as is known; `Time::NEVER` if that depends on the arrival of written data.
        /// It is never before the time of the last call of any method.
        fn due(&self) -> Time;

        /// Performs the action due at `now`.
        fn write(&mut self, now: Time) -> Write;

        /// Notes that all written data is acknowledged at `now`; called once each time that this becomes true.
        fn ended(&mut self, _now: Time) {}

        /// Notes that the connection, which accepted no more data, accepts it again from `now` on; overdue actions are due
        /// now.
        fn resume(&mut self, _now: Time) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Overrides every method of all traits.
    #[derive(Clone, Debug)]
    pub struct Fixed;

    impl ArrivalProcess for Fixed {
        fn next_gap(&mut self) -> Span {
            Span(1)
        }
    }

    impl SessionProcess for Fixed {
        fn waits(&self) -> bool {
            false
        }
        fn due(&self) -> Time {
            Time(2)
        }
        fn open(&mut self, _now: Time) -> u32 {
            3
        }
        fn ended(&mut self, now: Time) -> Option<Time> {
            Some(now)
        }
    }

    /// Overrides every method of the applications' trait.
    #[derive(Clone, Debug)]
    pub struct FixedWrites;

    impl ApplicationProcess for FixedWrites {
        fn due(&self) -> Time {
            Time(6)
        }
        fn write(&mut self, _now: Time) -> Write {
            Write::Segments(7)
        }
        fn ended(&mut self, now: Time) {
            assert_eq!(now, Time(8));
        }
        fn resume(&mut self, now: Time) {
            assert_eq!(now, Time(9));
        }
    }

    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnyWrites: application_process { Own(FixedWrites), }
    }
    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnyArrivals: arrival_process { Own(Fixed), }
    }
    base::dispatching_enum! {
        /// The same dispatch as the registry's.
        pub enum AnySessions: session_process { Own(Fixed), }
    }

    #[test]
    fn the_enum_passes_every_method_call_on() {
        assert_eq!(AnyArrivals::from(Fixed).next_gap(), Span(1));
        let mut any = AnySessions::from(Fixed);
        // By default, transfers wait.
        assert!(!any.waits());
        assert_eq!((any.due(), any.open(Time(4)), any.ended(Time(5))), (Time(2), 3, Some(Time(5))));
        let mut any = AnyWrites::from(FixedWrites);
        assert_eq!((any.due(), any.write(Time(7))), (Time(6), Write::Segments(7)));
        any.ended(Time(8));
    }
}

//! Where an application is, when its datagrams go, and when the transfers of its session open.
//!
//! Each trait is declared together with its dispatch over the kinds of the registry.

use base::{Bytes, Rate, Span, Time};

/// What an application knows of where it is.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// Its payload, in bytes.
    pub mss: u32,
    /// The narrowest link that its data crosses.
    pub capacity: Rate,
    /// Which flow of its group it is, from 0.
    pub index: u32,
    /// Flows of its group.
    pub flows: u32,
    /// When it starts.
    pub start: Time,
}

base::dispatched! {
    ($) macro arrival_process;
    /// When datagrams go. Sizes are drawn apart.
    pub trait ArrivalProcess: [Clone + std::fmt::Debug] {
        /// Time from one packet to the next; at the first call, from the start of the flow to its first packet.
        fn next_gap(&mut self) -> Span;
    }
}

base::dispatched! {
    ($) macro session_process;
    /// When transfers over TCP open, again and again: a state machine that is also called when one ends. Each is a connection
    /// of its own; all of a session take the same path.
    pub trait SessionProcess: [Clone + std::fmt::Debug] {
        /// Whether a transfer that is due while all places are taken waits for the first that ends; otherwise it is refused
        /// and counted.
        fn waits(&self) -> bool {
            true
        }

        /// When the next transfer opens, as far as is known: `Time::NEVER` if that depends on the end of another. Not before
        /// the last call of any kind.
        fn due(&self) -> Time;

        /// The transfer that is due opens (or, if it had to wait, at `now`, which is later; or it is refused): its segments,
        /// at least 1.
        fn open(&mut self, now: Time) -> u32;

        /// A transfer that was open ends: its sender knows at `now` that everything has arrived. Returns when the page opened
        /// that is complete with it, if it belongs to one.
        fn ended(&mut self, now: Time) -> Option<Time>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Overrides every method of both traits.
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

    base::dispatching_enum! {
        /// As the registry's are.
        pub enum AnyArrivals: arrival_process { Own(Fixed), }
    }
    base::dispatching_enum! {
        /// As the registry's are.
        pub enum AnySessions: session_process { Own(Fixed), }
    }

    #[test]
    fn every_method_arrives_through_the_enum() {
        assert_eq!(AnyArrivals::from(Fixed).next_gap(), Span(1));
        let mut any = AnySessions::from(Fixed);
        // By default transfers wait.
        assert!(!any.waits());
        assert_eq!((any.due(), any.open(Time(4)), any.ended(Time(5))), (Time(2), 3, Some(Time(5))));
    }
}

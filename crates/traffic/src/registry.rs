//! What makes a kind of traffic out of its line in the list of `lib.rs`: the module, the specification read from scenario files,
//! what runs, and the catalogue.

use crate::PacketSize;
use base::{Bytes, ParamError, Rate, Registered, Span, Stream, Time};

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

/// A kind of traffic that TCP carries.
pub trait Transfer: Registered {
    /// Segments of `mss` bytes that there are to send; `None` for no end.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn segments(params: &Self::Params, mss: u32) -> Result<Option<u32>, ParamError>;
}

base::dispatched! {
    ($) macro arrival_process;
    /// When datagrams go. Sizes are drawn apart.
    pub trait ArrivalProcess: [Clone + std::fmt::Debug] {
        /// Time from one packet to the next; at the first call, from the start of the flow to its first packet.
        fn next_gap(&mut self) -> Span;
    }
}

/// A kind of traffic that is datagrams.
pub trait Source: ArrivalProcess + Registered {
    /// A source of packets of `packet` bytes on the wire; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, packet: Bytes, chance: Stream) -> Result<Self, ParamError>;

    /// Wire bits per second that it offers in the mean.
    fn rate(params: &Self::Params) -> Rate;

    /// The same while it offers most.
    fn peak(params: &Self::Params) -> Rate {
        Self::rate(params)
    }

    /// How large its packets are.
    fn size(_params: &Self::Params) -> PacketSize {
        PacketSize::Constant
    }
}

base::dispatched! {
    ($) macro session_process;
    /// When transfers over TCP open, again and again: a state machine that is also told when one ends. Each is a connection
    /// of its own; all of a session take the same way.
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

/// A kind of traffic that opens transfers over TCP again and again.
pub trait Session: SessionProcess + Registered {
    /// A session; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, site: &Site, chance: Stream) -> Result<Self, ParamError>;

    /// Transfers that may be open at a time, at least 1.
    fn places(params: &Self::Params) -> u32;
}

macro_rules! traffic {
    (
        transfers { $($name:ident = $module:ident,)* }
        sessions { $($t_name:ident = $t_module:ident,)* }
        sources { $($s_name:ident = $s_module:ident,)* }
    ) => {
        base::registry! {
            ($)
            /// A kind of traffic and its parameters, as a scenario file says them.
            pub enum TrafficSpec, TRAFFIC, each_kind;
            transfers { $($name = $module,)* }
            sessions { $($t_name = $t_module,)* }
            sources { $($s_name = $s_module,)* }
        }

        base::dispatching_enum! {
            /// Any of the sources of datagrams.
            pub enum AnySource: arrival_process { $($s_name($s_module::$s_name),)* }
        }

        base::dispatching_enum! {
            /// Any of the sessions.
            pub enum AnySession: session_process { $($t_name($t_module::$t_name),)* }
        }

        impl TrafficSpec {
            /// Whether TCP carries it; otherwise it is datagrams that nothing holds back.
            #[must_use]
            pub fn is_tcp(&self) -> bool {
                self.sort() != Sort::Datagrams
            }

            /// Which of the sorts it is.
            #[must_use]
            pub fn sort(&self) -> Sort {
                each_kind!(self, |p, Kind|
                    transfers: Sort::Transfer, sessions: Sort::Session, sources: Sort::Datagrams)
            }

            /// Connections that one flow of it may have open at a time.
            #[must_use]
            pub fn places(&self) -> u32 {
                each_kind!(self, |p, Kind| transfers: 1, sessions: <Kind as Session>::places(p), sources: 1)
            }

            /// Wire bits per second that a flow of datagrams offers in the mean; `None` for what TCP carries.
            #[must_use]
            pub fn rate(&self) -> Option<Rate> {
                each_kind!(self, |p, Kind| transfers: None, sessions: None, sources: Some(<Kind as Source>::rate(p)))
            }

            /// The same while it offers most.
            #[must_use]
            pub fn peak(&self) -> Option<Rate> {
                each_kind!(self, |p, Kind| transfers: None, sessions: None, sources: Some(<Kind as Source>::peak(p)))
            }

            /// How large its packets are.
            #[must_use]
            pub fn size(&self) -> PacketSize {
                let constant = PacketSize::Constant;
                each_kind!(self, |p, Kind| transfers: constant, sessions: constant, sources: <Kind as Source>::size(p))
            }

            /// What one flow offers at `site`; `chance` gives sessions and sources their own random stream.
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn offer(&self, site: &Site, chance: impl FnOnce() -> base::Stream) -> Result<Offer, ParamError> {
                Ok(each_kind!(self, |p, Kind|
                    transfers: Offer::Segments(<Kind as Transfer>::segments(p, site.mss)?),
                    sessions: Offer::Session(<Kind as Session>::new(p, site, chance())?.into()),
                    sources: Offer::Datagrams(<Kind as Source>::new(p, site.packet, chance())?.into()),
                ))
            }
        }
    };
}

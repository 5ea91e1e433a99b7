//! What makes a kind of traffic out of its line in the list of `lib.rs`: the macro writes its module, the specification
//! read from scenario files, what runs, and the catalogue.

use crate::PacketSize;
use base::{Bytes, Card, ParamError, Rate, Span, Stream, Time};

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
pub trait Transfer {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: Card;

    /// Segments of `mss` bytes that there are to send; `None` for no end.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn segments(params: &Self::Params, mss: u32) -> Result<Option<u32>, ParamError>;
}

/// A kind of traffic that is datagrams: a state machine that says when the next one goes. Sizes are drawn apart.
pub trait Source: Sized {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: Card;

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

    /// Time from one packet to the next; at the first call, from the start of the flow to its first packet.
    fn next_gap(&mut self) -> Span;
}

/// A kind of traffic that opens transfers over TCP again and again: a state machine that says when the next one opens, and
/// hears when one ends. Each is a connection of its own; all of a session take the same way.
pub trait Session: Sized {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: Card;
    /// What becomes of a transfer that is due while all places are taken: it waits for the first that ends (true), or it is
    /// refused and counted (false).
    const WAITS: bool;

    /// A session; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, site: &Site, chance: Stream) -> Result<Self, ParamError>;

    /// Transfers that may be open at a time, at least 1.
    fn places(params: &Self::Params) -> u32;

    /// When the next transfer opens, as far as is known: `Time::NEVER` if only the end of another will tell. Not before the
    /// last call of any kind.
    fn due(&self) -> Time;

    /// The transfer that is due opens (or, if it had to wait, at `now`, which is later; or it is refused): its segments, at
    /// least 1.
    fn open(&mut self, now: Time) -> u32;

    /// A transfer that was open ends: its sender knows at `now` that everything has arrived. Returns when the page opened
    /// that is complete with it, if it belongs to one.
    fn ended(&mut self, now: Time) -> Option<Time>;
}

macro_rules! traffic {
    (
        transfers { $($name:ident = $module:ident,)* }
        sessions { $($t_name:ident = $t_module:ident,)* }
        sources { $($s_name:ident = $s_module:ident,)* }
    ) => {
        $(pub mod $module;)*
        $(pub mod $t_module;)*
        $(pub mod $s_module;)*

        /// A kind of traffic and its parameters, as a scenario file says them.
        #[derive(Clone, Debug, PartialEq)]
        pub enum TrafficSpec {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name($module::Params),)*
            $(#[doc = concat!("See [`crate::", stringify!($t_module), "`].")] $t_name($t_module::Params),)*
            $(#[doc = concat!("See [`crate::", stringify!($s_module), "`].")] $s_name($s_module::Params),)*
        }

        /// Any of the sources of datagrams.
        #[derive(Clone, Debug)]
        pub enum AnySource {
            $(#[doc = concat!("See [`crate::", stringify!($s_module), "`].")] $s_name($s_module::$s_name),)*
        }

        impl AnySource {
            /// Time from one packet to the next; at the first call, from the start of the flow to its first packet.
            #[inline]
            pub fn next_gap(&mut self) -> base::Span {
                match self { $(Self::$s_name(source) => source.next_gap(),)* }
            }
        }

        /// Any of the sessions.
        #[derive(Clone, Debug)]
        pub enum AnySession {
            $(#[doc = concat!("See [`crate::", stringify!($t_module), "`].")] $t_name($t_module::$t_name),)*
        }

        impl AnySession {
            /// See [`Session::WAITS`].
            #[must_use]
            pub fn waits(&self) -> bool {
                match self { $(Self::$t_name(_) => <$t_module::$t_name as Session>::WAITS,)* }
            }

            /// See [`Session::due`].
            #[must_use]
            pub fn due(&self) -> base::Time {
                match self { $(Self::$t_name(session) => session.due(),)* }
            }

            /// See [`Session::open`].
            pub fn open(&mut self, now: base::Time) -> u32 {
                match self { $(Self::$t_name(session) => session.open(now),)* }
            }

            /// See [`Session::ended`].
            pub fn ended(&mut self, now: base::Time) -> Option<base::Time> {
                match self { $(Self::$t_name(session) => session.ended(now),)* }
            }
        }

        /// The catalogue, in the registry's order.
        pub const TRAFFIC: &[Entry] = &[
            $(Entry { card: <$module::$name as Transfer>::CARD, rows: $module::Params::rows },)*
            $(Entry { card: <$t_module::$t_name as Session>::CARD, rows: $t_module::Params::rows },)*
            $(Entry { card: <$s_module::$s_name as Source>::CARD, rows: $s_module::Params::rows },)*
        ];

        impl TrafficSpec {
            /// The kind called `name` (or an alias of it) with its defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                let is = |card: Card| card.name == name || card.aliases.contains(&name);
                $(if is(<$module::$name as Transfer>::CARD) {
                    return Some(Self::$name($module::Params::default()));
                })*
                $(if is(<$t_module::$t_name as Session>::CARD) {
                    return Some(Self::$t_name($t_module::Params::default()));
                })*
                $(if is(<$s_module::$s_name as Source>::CARD) {
                    return Some(Self::$s_name($s_module::Params::default()));
                })*
                None
            }

            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> Card {
                match self {
                    $(Self::$name(_) => <$module::$name as Transfer>::CARD,)*
                    $(Self::$t_name(_) => <$t_module::$t_name as Session>::CARD,)*
                    $(Self::$s_name(_) => <$s_module::$s_name as Source>::CARD,)*
                }
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<Param> {
                match self {
                    $(Self::$name(_) => $module::Params::rows(),)*
                    $(Self::$t_name(_) => $t_module::Params::rows(),)*
                    $(Self::$s_name(_) => $s_module::Params::rows(),)*
                }
            }

            /// Sets a parameter; `None` if the kind has no such parameter.
            pub fn set(&mut self, name: &str, value: &base::Value) -> Option<Result<(), ParamError>> {
                match self {
                    $(Self::$name(p) => p.set(name, value),)*
                    $(Self::$t_name(p) => p.set(name, value),)*
                    $(Self::$s_name(p) => p.set(name, value),)*
                }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, base::Value)> {
                match self {
                    $(Self::$name(p) => p.values(),)*
                    $(Self::$t_name(p) => p.values(),)*
                    $(Self::$s_name(p) => p.values(),)*
                }
            }

            /// Whether TCP carries it; otherwise it is datagrams that nothing holds back.
            #[must_use]
            pub fn is_tcp(&self) -> bool {
                self.sort() != Sort::Datagrams
            }

            /// Which of the sorts it is.
            #[must_use]
            pub fn sort(&self) -> Sort {
                match self {
                    $(Self::$name(_) => Sort::Transfer,)*
                    $(Self::$t_name(_) => Sort::Session,)*
                    $(Self::$s_name(_) => Sort::Datagrams,)*
                }
            }

            /// Connections that one flow of it may have open at a time.
            #[must_use]
            pub fn places(&self) -> u32 {
                match self {
                    $(Self::$name(_) => 1,)*
                    $(Self::$t_name(p) => <$t_module::$t_name as Session>::places(p),)*
                    $(Self::$s_name(_) => 1,)*
                }
            }

            /// Wire bits per second that a flow of datagrams offers in the mean; `None` for what TCP carries.
            #[must_use]
            pub fn rate(&self) -> Option<Rate> {
                match self {
                    $(Self::$name(_) => None,)*
                    $(Self::$t_name(_) => None,)*
                    $(Self::$s_name(p) => Some(<$s_module::$s_name as Source>::rate(p)),)*
                }
            }

            /// The same while it offers most.
            #[must_use]
            pub fn peak(&self) -> Option<Rate> {
                match self {
                    $(Self::$name(_) => None,)*
                    $(Self::$t_name(_) => None,)*
                    $(Self::$s_name(p) => Some(<$s_module::$s_name as Source>::peak(p)),)*
                }
            }

            /// How large its packets are.
            #[must_use]
            pub fn size(&self) -> PacketSize {
                match self {
                    $(Self::$name(_) => PacketSize::Constant,)*
                    $(Self::$t_name(_) => PacketSize::Constant,)*
                    $(Self::$s_name(p) => <$s_module::$s_name as Source>::size(p),)*
                }
            }

            /// What one flow offers at `site`; `chance` gives sessions and sources their own random stream.
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn offer(&self, site: &Site, chance: impl FnOnce() -> base::Stream) -> Result<Offer, ParamError> {
                Ok(match self {
                    $(Self::$name(p) => Offer::Segments(<$module::$name as Transfer>::segments(p, site.mss)?),)*
                    $(Self::$t_name(p) => {
                        let session = <$t_module::$t_name as Session>::new(p, site, chance())?;
                        Offer::Session(AnySession::$t_name(session))
                    })*
                    $(Self::$s_name(p) => {
                        let source = <$s_module::$s_name as Source>::new(p, site.packet, chance())?;
                        Offer::Datagrams(AnySource::$s_name(source))
                    })*
                })
            }
        }
    };
}

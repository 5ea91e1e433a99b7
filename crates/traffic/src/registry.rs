//! What makes a kind of traffic out of its line in the list of `lib.rs`: the macro writes its module, the specification
//! read from scenario files, what runs, and the catalogue.

use crate::Size;
use base::{Bytes, Card, ParamError, Rate, Span, Stream};

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
    fn size(_params: &Self::Params) -> Size {
        Size::Constant
    }

    /// Time from one packet to the next; at the first call, from the start of the flow to its first packet.
    fn next_gap(&mut self) -> Span;
}

macro_rules! traffic {
    (
        transfers { $($name:ident = $module:ident,)* }
        sources { $($s_name:ident = $s_module:ident,)* }
    ) => {
        $(pub mod $module;)*
        $(pub mod $s_module;)*

        /// A kind of traffic and its parameters, as a scenario file says them.
        #[derive(Clone, Debug, PartialEq)]
        pub enum TrafficSpec {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name($module::Params),)*
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

        /// The catalogue, in the registry's order.
        pub const TRAFFIC: &[Entry] = &[
            $(Entry { card: <$module::$name as Transfer>::CARD, rows: $module::Params::rows },)*
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
                    $(Self::$s_name(_) => <$s_module::$s_name as Source>::CARD,)*
                }
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<Param> {
                match self { $(Self::$name(_) => $module::Params::rows(),)* $(Self::$s_name(_) => $s_module::Params::rows(),)* }
            }

            /// Sets a parameter; `None` if the kind has no such parameter.
            pub fn set(&mut self, name: &str, value: &base::Value) -> Option<Result<(), ParamError>> {
                match self { $(Self::$name(p) => p.set(name, value),)* $(Self::$s_name(p) => p.set(name, value),)* }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, base::Value)> {
                match self { $(Self::$name(p) => p.values(),)* $(Self::$s_name(p) => p.values(),)* }
            }

            /// Whether TCP carries it; otherwise it is datagrams that nothing holds back.
            #[must_use]
            pub fn is_tcp(&self) -> bool {
                match self { $(Self::$name(_) => true,)* $(Self::$s_name(_) => false,)* }
            }

            /// Wire bits per second that a flow of datagrams offers in the mean; `None` for what TCP carries.
            #[must_use]
            pub fn rate(&self) -> Option<Rate> {
                match self {
                    $(Self::$name(_) => None,)*
                    $(Self::$s_name(p) => Some(<$s_module::$s_name as Source>::rate(p)),)*
                }
            }

            /// The same while it offers most.
            #[must_use]
            pub fn peak(&self) -> Option<Rate> {
                match self {
                    $(Self::$name(_) => None,)*
                    $(Self::$s_name(p) => Some(<$s_module::$s_name as Source>::peak(p)),)*
                }
            }

            /// How large its packets are.
            #[must_use]
            pub fn size(&self) -> Size {
                match self {
                    $(Self::$name(_) => Size::Constant,)*
                    $(Self::$s_name(p) => <$s_module::$s_name as Source>::size(p),)*
                }
            }

            /// What one flow offers in packets of `packet` bytes on the wire, `mss` of them payload; `chance` gives a
            /// source its own random stream.
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn offer(
                &self,
                packet: Bytes,
                mss: u32,
                chance: impl FnOnce() -> base::Stream,
            ) -> Result<Offer, ParamError> {
                Ok(match self {
                    $(Self::$name(p) => Offer::Segments(<$module::$name as Transfer>::segments(p, mss)?),)*
                    $(Self::$s_name(p) => {
                        let source = <$s_module::$s_name as Source>::new(p, packet, chance())?;
                        Offer::Datagrams(AnySource::$s_name(source))
                    })*
                })
            }
        }
    };
}

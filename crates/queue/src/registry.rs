//! The disciplines there are: one line each. `admissions` decide on arrival in front of a FIFO; `disciplines` do all
//! themselves (none yet). The macro writes the specification, the enums that run, and the catalogue.

use crate::{Admission, Backlog, Entry, Fates, Fifo, Limit, Packet, QueueDiscipline, Verdict};
use base::{Param, ParamError, Stream, Time, Value};

/// What an admission rule's file provides.
pub trait Rule: Admission + Sized {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: base::Card;
    /// A rule for a buffer of `limit`; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, limit: Limit, chance: Stream) -> Result<Self, ParamError>;
}

macro_rules! queues {
    (admissions { $($name:ident = $module:ident,)* }) => {
        /// A discipline and its parameters, as a scenario file says them.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueSpec {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name(crate::$module::Params),)*
        }

        /// Any of the admission rules.
        #[derive(Clone, Debug)]
        pub enum AnyAdmission {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name(crate::$module::$name),)*
        }

        /// The catalogue, in the registry's order.
        pub const QUEUES: &[Entry] = &[
            $(Entry { card: <crate::$module::$name as Rule>::CARD, rows: crate::$module::Params::rows },)*
        ];

        impl QueueSpec {
            /// The discipline called `name` (or an alias of it) with its defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                $(
                    let card = <crate::$module::$name as Rule>::CARD;
                    if card.name == name || card.aliases.contains(&name) {
                        return Some(Self::$name(crate::$module::Params::default()));
                    }
                )*
                None
            }

            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> base::Card {
                match self { $(Self::$name(_) => <crate::$module::$name as Rule>::CARD,)* }
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<Param> {
                match self { $(Self::$name(_) => crate::$module::Params::rows(),)* }
            }

            /// Sets a parameter; `None` if the discipline has no such parameter.
            pub fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>> {
                match self { $(Self::$name(p) => p.set(name, value),)* }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, Value)> {
                match self { $(Self::$name(p) => p.values(),)* }
            }

            /// The discipline for a buffer of `limit`, with its own random stream.
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn build(&self, limit: Limit, chance: Stream) -> Result<AnyQueue, ParamError> {
                Ok(match self {
                    $(Self::$name(p) => AnyQueue::Fifo(Fifo::new(AnyAdmission::$name(
                        <crate::$module::$name as Rule>::new(p, limit, chance)?,
                    ))),)*
                })
            }
        }

        impl Admission for AnyAdmission {
            fn admit(&mut self, packet: &Packet, backlog: Backlog, idle: bool) -> Verdict {
                match self { $(Self::$name(rule) => rule.admit(packet, backlog, idle),)* }
            }
            fn plain_limit(&self) -> Option<Limit> {
                match self { $(Self::$name(rule) => rule.plain_limit(),)* }
            }
            fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$name(rule) => rule.gauges(put),)* }
            }
        }
    };
}

queues! {
    admissions {
        DropTail = drop_tail,
    }
}

/// Any of the disciplines.
#[derive(Clone, Debug)]
pub enum AnyQueue {
    /// First-in first-out behind an admission rule.
    Fifo(Fifo<AnyAdmission>),
}

impl QueueDiscipline for AnyQueue {
    fn enqueue(&mut self, packet: Packet, idle: bool, fates: &mut impl Fates) {
        match self {
            Self::Fifo(fifo) => fifo.enqueue(packet, idle, fates),
        }
    }
    fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet> {
        match self {
            Self::Fifo(fifo) => fifo.dequeue(now, fates),
        }
    }
    fn backlog(&self) -> Backlog {
        match self {
            Self::Fifo(fifo) => fifo.backlog(),
        }
    }
    fn next_wakeup(&self) -> Time {
        match self {
            Self::Fifo(fifo) => fifo.next_wakeup(),
        }
    }
    fn on_wakeup(&mut self, now: Time) {
        match self {
            Self::Fifo(fifo) => fifo.on_wakeup(now),
        }
    }
    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        match self {
            Self::Fifo(fifo) => fifo.gauges(put),
        }
    }
}

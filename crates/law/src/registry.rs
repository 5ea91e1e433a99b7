//! The laws there are: one line each. The macro writes the specification read from scenario files, the enum that runs,
//! and the catalogue.

use crate::{AckSample, CongestionEvent, Entry, Values, WindowLaw};
use base::{Param, ParamError, Value};

/// What a law's file provides: its card, and a value made from parameters.
pub trait Law: WindowLaw {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: base::Card;
    /// A law with these parameters.
    ///
    /// # Errors
    /// The first parameter out of range, with what would be right.
    fn new(params: &Self::Params) -> Result<Self, ParamError>;
}

macro_rules! laws {
    ($($name:ident = $module:ident :: $law:ident,)*) => {
        /// A law and its parameters, as a scenario file says them.
        #[derive(Clone, Debug, PartialEq)]
        pub enum LawSpec {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name(crate::$module::Params),)*
        }

        /// Any of the laws, dispatched by `match`.
        #[derive(Clone, Debug)]
        pub enum AnyLaw {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name(crate::$module::$law),)*
        }

        /// The catalogue, in the registry's order.
        pub const LAWS: &[Entry] = &[
            $(Entry { card: <crate::$module::$law as Law>::CARD, rows: crate::$module::Params::rows },)*
        ];

        impl LawSpec {
            /// The law called `name` (or an alias of it) with its defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                $(
                    let card = <crate::$module::$law as Law>::CARD;
                    if card.name == name || card.aliases.contains(&name) {
                        return Some(Self::$name(crate::$module::Params::default()));
                    }
                )*
                None
            }

            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> base::Card {
                match self { $(Self::$name(_) => <crate::$module::$law as Law>::CARD,)* }
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<Param> {
                match self { $(Self::$name(_) => crate::$module::Params::rows(),)* }
            }

            /// Sets a parameter; `None` if the law has no such parameter.
            pub fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>> {
                match self { $(Self::$name(p) => p.set(name, value),)* }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Values {
                match self { $(Self::$name(p) => p.values(),)* }
            }

            /// The law, ready to run.
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn build(&self) -> Result<AnyLaw, ParamError> {
                Ok(match self { $(Self::$name(p) => AnyLaw::$name(<crate::$module::$law as Law>::new(p)?),)* })
            }
        }

        impl WindowLaw for AnyLaw {
            fn on_sample(&mut self, ack: &AckSample) {
                match self { $(Self::$name(law) => law.on_sample(ack),)* }
            }
            fn per_rtt(&self, w: f64) -> Option<f64> {
                match self { $(Self::$name(law) => law.per_rtt(w),)* }
            }
            fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
                match self { $(Self::$name(law) => law.avoid(cwnd, ack),)* }
            }
            fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
                match self { $(Self::$name(law) => law.backoff(cwnd, event),)* }
            }
            fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$name(law) => law.gauges(put),)* }
            }
        }
    };
}

laws! {
    Reno = reno::Reno,
    Highspeed = highspeed::HighSpeed,
}

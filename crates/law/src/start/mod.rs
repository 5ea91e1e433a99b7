//! Slow starts: how a flow opens its window before the first loss and after a timeout. One line each, as in the
//! registry of laws.

use crate::{AckSample, Entry, Needs, Opening, SlowStart, Values};
use base::{Param, ParamError, Value};

pub mod classic;
pub mod hybla;
pub mod hystart;
pub mod limited;
pub mod vegas;

/// What a slow start's file provides.
pub trait Start: SlowStart {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: base::Card;
    /// A slow start with these parameters.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params) -> Result<Self, ParamError>;
}

macro_rules! starts {
    ($($name:ident = $module:ident,)*) => {
        /// A slow start and its parameters, as a scenario file says them.
        #[derive(Clone, Debug, PartialEq)]
        pub enum StartSpec {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name($module::Params),)*
        }

        /// Any of the slow starts.
        #[derive(Clone, Debug)]
        pub enum AnyStart {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name($module::$name),)*
        }

        /// The catalogue.
        pub const STARTS: &[Entry] = &[
            $(Entry { card: <$module::$name as Start>::CARD, rows: $module::Params::rows },)*
        ];

        impl StartSpec {
            /// The slow start called `name`, with its defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                $(
                    let card = <$module::$name as Start>::CARD;
                    if card.name == name || card.aliases.contains(&name) {
                        return Some(Self::$name($module::Params::default()));
                    }
                )*
                None
            }

            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> base::Card {
                match self { $(Self::$name(_) => <$module::$name as Start>::CARD,)* }
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<Param> {
                match self { $(Self::$name(_) => $module::Params::rows(),)* }
            }

            /// Sets a parameter; `None` if there is no such parameter.
            pub fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), ParamError>> {
                match self { $(Self::$name(p) => p.set(name, value),)* }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Values {
                match self { $(Self::$name(p) => p.values(),)* }
            }

            /// The slow start, ready to run.
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn build(&self) -> Result<AnyStart, ParamError> {
                Ok(match self { $(Self::$name(p) => AnyStart::$name($module::$name::new(p)?),)* })
            }
        }

        impl SlowStart for AnyStart {
            fn needs(&self) -> Needs {
                match self { $(Self::$name(start) => start.needs(),)* }
            }
            fn gain(&self, w: f64) -> Option<f64> {
                match self { $(Self::$name(start) => start.gain(w),)* }
            }
            fn open(&mut self, cwnd: f64, ack: &AckSample) -> Opening {
                match self { $(Self::$name(start) => start.open(cwnd, ack),)* }
            }
            fn restart(&mut self) {
                match self { $(Self::$name(start) => start.restart(),)* }
            }
        }
    };
}

starts! {
    Classic = classic,
    Limited = limited,
    Hystart = hystart,
    Hybla = hybla,
    Vegas = vegas,
}

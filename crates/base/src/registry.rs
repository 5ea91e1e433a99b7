//! Registries of laws, slow starts, queue disciplines and kinds of traffic. [`registry!`](crate::registry) makes of one list
//! the modules, the specification read from scenario files, the catalogue, and a `match` over all of them.
//! [`dispatched!`](crate::dispatched) declares a trait together with its dispatch, and
//! [`dispatching_enum!`](crate::dispatching_enum) an enum that implements it: no method can be left out.

use crate::{Card, Param};

/// A catalogue entry: the card and the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name, title, source.
    pub card: Card,
    /// Its parameters.
    pub rows: fn() -> Vec<Param>,
    /// Other spellings of its parameters, each with the parameter's name.
    pub spellings: &'static [(&'static str, &'static str)],
}

impl Entry {
    /// Whether that is its name, or an alias of it.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.card.name == name || self.card.aliases.contains(&name)
    }
}

/// What everything registered says of itself. How it is made, and what it does, say traits of its own crate.
pub trait Registered {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: Card;
    /// Other spellings of its parameters (Linux, ns-2, the papers), each with the parameter's name.
    const SPELLINGS: &'static [(&'static str, &'static str)] = &[];
}

/// Makes a registry of a list with one line for each thing registered, `Name = module,`: the module's file has a `Params` made
/// by `params!` and a type `Name` that is [`Registered`].
///
/// It makes the modules, the specification (an enum of all `Params`), the catalogue, and a macro for methods that ask the
/// type: `each!(self, |p, Kind| Kind::f(p))`, or one expression for each section, `each!(self, |p, Kind| a: …, b: …)`.
/// The first argument is always `($)`: the macro that is made needs that token.
#[macro_export]
macro_rules! registry {
    (
        ($d:tt)
        $(#[$about:meta])* pub enum $spec:ident, $catalogue:ident, $each:ident;
        $($section:ident { $($name:ident = $module:ident,)* })*
    ) => {
        $($(pub mod $module;)*)*

        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $spec {
            $($(#[doc = concat!("See [`", stringify!($module), "`].")] $name($module::Params),)*)*
        }

        /// The catalogue, in the registry's order.
        pub const $catalogue: &[$crate::Entry] = &[$($($crate::Entry {
            card: <$module::$name as $crate::Registered>::CARD,
            rows: $module::Params::rows,
            spellings: <$module::$name as $crate::Registered>::SPELLINGS,
        },)*)*];

        macro_rules! $each {
            ($d value:expr, |$d p:ident, $d kind:ident| $($section: $d $section:expr),* $d(,)?) => {
                match $d value { $($(
                    #[allow(unused_variables, dead_code, clippy::allow_attributes, reason = "a section may use neither")]
                    Self::$name($d p) => {
                        type $d kind = $module::$name;
                        $d $section
                    }
                )*)* }
            };
            ($d value:expr, |$d p:ident, $d kind:ident| $d body:expr) => {
                $each!($d value, |$d p, $d kind| $($section: $d body),*)
            };
        }

        impl $spec {
            /// The one called `name` (or an alias of it) with its defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                let defaults: &[fn() -> Self] = &[$($(|| Self::$name($module::Params::default()),)*)*];
                $catalogue.iter().position(|entry| entry.is_called(name)).map(|i| defaults[i]())
            }

            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> $crate::Card {
                $each!(self, |p, Kind| <Kind as $crate::Registered>::CARD)
            }

            /// Other spellings of its parameters' names, each with the name.
            #[must_use]
            pub fn spellings(&self) -> &'static [(&'static str, &'static str)] {
                $each!(self, |p, Kind| <Kind as $crate::Registered>::SPELLINGS)
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<$crate::Param> {
                $each!(self, |p, Kind| <Kind as $crate::Registered>::Params::rows())
            }

            /// Sets a parameter, by its name or another spelling of it; `None` if there is no such parameter.
            pub fn set(&mut self, name: &str, value: &$crate::Value) -> Option<Result<(), $crate::ParamError>> {
                let name = self.spellings().iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| name);
                $each!(self, |p, Kind| p.set(name, value))
            }

            /// Every parameter with its value, in canonical form.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, $crate::Value)> {
                $each!(self, |p, Kind| p.values())
            }
        }
    };
}

/// Declares a trait, and under the name after `macro` its dispatch for [`dispatching_enum!`](crate::dispatching_enum): both come
/// from the same list of methods, so that the dispatch cannot pass one over. Supertraits stand in brackets; methods take
/// `&self` or `&mut self`. The first argument is always `($)`.
///
/// ```
/// base::dispatched! {
///     ($) macro voice;
///     /// Something with a voice.
///     pub trait Voice: [std::fmt::Debug] {
///         /// What it says.
///         fn word(&self) -> &'static str {
///             "-"
///         }
///     }
/// }
/// #[derive(Clone, Debug)]
/// pub struct Fish;
/// impl Voice for Fish {}
/// #[derive(Clone, Debug)]
/// pub struct Dog;
/// impl Voice for Dog {
///     fn word(&self) -> &'static str {
///         "woof"
///     }
/// }
/// base::dispatching_enum! {
///     /// Any animal.
///     pub enum Animal: voice { Fish(Fish), Dog(Dog), }
/// }
/// assert_eq!([Animal::from(Fish), Animal::from(Dog)].map(|animal| animal.word()), ["-", "woof"]);
/// ```
#[macro_export]
macro_rules! dispatched {
    (
        ($d:tt) macro $dispatch:ident;
        $(#[$about:meta])* pub trait $name:ident: [$($bounds:tt)+] { $($methods:tt)* }
    ) => {
        $(#[$about])*
        pub trait $name: $($bounds)+ { $($methods)* }

        macro_rules! $dispatch {
            ($d enum:ident { $d($d variant:ident)+ }) => {
                impl $name for $d enum { $crate::delegate! { ($d($d variant)+) $($methods)* } }
            };
        }
    };
}

/// Declares an enum of types that implement a trait declared by [`dispatched!`](crate::dispatched); it implements the trait by one
/// `match`, and is made of each of them by `From`.
#[macro_export]
macro_rules! dispatching_enum {
    (
        $(#[$about:meta])* pub enum $name:ident: $dispatch:ident {
            $($(#[$doc:meta])* $variant:ident($ty:ty),)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub enum $name { $($(#[$doc])* #[doc = concat!("`", stringify!($ty), "`.")] $variant($ty),)+ }

        $(impl From<$ty> for $name {
            fn from(inner: $ty) -> Self {
                Self::$variant(inner)
            }
        })+

        $dispatch! { $name { $($variant)+ } }
    };
}

/// The methods of an `impl` that hand each call on to the variant: made of a trait's methods, one at a time.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate {
    ($variants:tt) => {};
    ($variants:tt $(#[$doc:meta])* fn $f:ident(&self $(, $a:ident: $t:ty)*) $(-> $r:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $f(&self $(, $a: $t)*) $(-> $r)? { $crate::delegate!(@match self $variants $f ($($a),*)) }
        $crate::delegate! { $variants $($rest)* }
    };
    ($variants:tt $(#[$doc:meta])* fn $f:ident(&mut self $(, $a:ident: $t:ty)*) $(-> $r:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $f(&mut self $(, $a: $t)*) $(-> $r)? { $crate::delegate!(@match self $variants $f ($($a),*)) }
        $crate::delegate! { $variants $($rest)* }
    };
    // A method with a default is handed on all the same.
    ($variants:tt $(#[$doc:meta])* fn $f:ident $args:tt $(-> $r:ty)? $default:block $($rest:tt)*) => {
        $crate::delegate! { $variants fn $f $args $(-> $r)?; $($rest)* }
    };
    (@match $this:ident ($($variant:ident)+) $f:ident $args:tt) => {
        match $this { $(Self::$variant(inner) => inner.$f $args,)+ }
    };
}

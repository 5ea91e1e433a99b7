//! Registries of laws, slow starts, disciplines and traffic, generated from a list by [`registry!`](crate::registry!).
//! Every [`dispatching_enum!`](crate::dispatching_enum) implements all methods of a trait declared by
//! [`dispatched!`](crate::dispatched).

use crate::{Card, Need, Param};

/// A catalogue entry: the card and the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name, title, source.
    pub card: Card,
    /// Its parameters.
    pub rows: fn() -> Vec<Param>,
    /// Other spellings of its parameters, each with the real name.
    pub spellings: &'static [(&'static str, &'static str)],
    /// Conditions for it to serve its purpose.
    pub needs: &'static [Need],
    /// The behaviour if the conditions are not met: the name of another entry, or words; empty if there is none.
    pub without: &'static str,
}

/// Metadata of a registered type. The traits of the other crates define construction and behaviour.
pub trait Registered {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: Card;
    /// Other spellings of its parameters (Linux, ns-2, the papers), each with the real name.
    const SPELLINGS: &'static [(&'static str, &'static str)] = &[];
    /// Conditions for it to serve its purpose; for example, a law may need a queue that marks.
    const NEEDS: &'static [Need] = &[];
    /// The behaviour if the conditions are not met: the name of another entry, or words; empty if there is none.
    const WITHOUT: &'static str = "";
}

/// Generates a registry from a list with one line for each registered type, `Name = module,`. The module's file has a
/// `Params` made by `params!` and a type `Name` that is [`Registered`]. The first argument is always `($)`, because
/// generated macros need that token.
///
/// It generates the modules, the specification (an enum of all `Params`), the catalogue, and a macro, here called
/// `each!`, for
/// - methods that call the type: `each!(self, |p, Kind| Kind::f(p))`, or separately for each section
///   `each!(self, |p, Kind| first: …, second: …)`;
/// - the enum of a section's types: `each! { first: pub enum Any: dispatch {} }` (see
///   [`dispatching_enum!`](crate::dispatching_enum)), with more variants between the braces; or the enum of boxes of
///   them, `each! { first in Box: pub enum … }`.
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
            needs: <$module::$name as $crate::Registered>::NEEDS,
            without: <$module::$name as $crate::Registered>::WITHOUT,
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
            $(
                ($section: $d(#[$d about:meta])* pub enum $d any:ident: $d dispatch:ident { $d($d more:tt)* }) => {
                    $crate::dispatching_enum! {
                        $d(#[$d about])* pub enum $d any: $d dispatch { $d($d more)* $($name($module::$name),)* }
                    }
                };
                ($section in Box: $d(#[$d about:meta])* pub enum $d any:ident: $d dispatch:ident {}) => {
                    $crate::dispatching_enum! {
                        $d(#[$d about])* pub enum $d any: $d dispatch { $($name(Box<$module::$name>),)* }
                    }
                };
            )*
        }

        impl $spec {
            /// The specification called `name` (or with that alias), with its defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                let defaults: &[fn() -> Self] = &[$($(|| Self::$name($module::Params::default()),)*)*];
                let is = |card: $crate::Card| card.name == name || card.aliases.contains(&name);
                $catalogue.iter().position(|entry| is(entry.card)).map(|i| defaults[i]())
            }
            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> $crate::Card {
                $each!(self, |p, Kind| <Kind as $crate::Registered>::CARD)
            }
            /// Other spellings of its parameters' names, each with the real name.
            #[must_use]
            pub fn spellings(&self) -> &'static [(&'static str, &'static str)] {
                $each!(self, |p, Kind| <Kind as $crate::Registered>::SPELLINGS)
            }
            /// The names, defaults, units and meanings of its parameters.
            #[must_use]
            pub fn rows(&self) -> Vec<$crate::Param> {
                $each!(self, |p, Kind| <Kind as $crate::Registered>::Params::rows())
            }
            /// Sets a parameter by its name or another spelling; `None` if there is no such parameter.
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

/// Declares a trait, and under the name after `macro` its dispatch for [`dispatching_enum!`](crate::dispatching_enum).
/// Both are generated from the same list of methods (with `&self` or `&mut self`), so that none is missing. Supertraits
/// are in brackets.
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
            ($d enum:ident<$d a:ident, $d b:ident> { $d($d variant:ident)+ }) => {
                impl<$d a: $name, $d b: $name> $name for $d enum<$d a, $d b> { $crate::delegate! { ($d($d variant)+) $($methods)* } }
            };
        }
    };
}

/// Declares an enum of types that implement a trait declared by [`dispatched!`](crate::dispatched). The enum implements
/// the trait with one `match` per method, and `From` each of the types.
#[macro_export]
macro_rules! dispatching_enum {
    ($(#[$about:meta])* pub enum $name:ident: $dispatch:ident { $($(#[$doc:meta])* $variant:ident($ty:ty),)+ }) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub enum $name { $($(#[$doc])* #[doc = concat!("`", stringify!($ty), "`.")] $variant($ty),)+ }

        $(impl From<$ty> for $name {
            fn from(inner: $ty) -> Self { Self::$variant(inner) }
        })+

        $dispatch! { $name { $($variant)+ } }
    };
}

/// Generates the methods of an `impl` that pass each call to the variant, one method of the trait at a time.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate {
    ($variants:tt) => {};
    ($variants:tt $(#[$doc:meta])* fn $f:ident $(<$g:ident: $b:path>)? (&self $(, $a:ident: $t:ty)*) $(-> $r:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $f $(<$g: $b>)? (&self $(, $a: $t)*) $(-> $r)? { $crate::delegate!(@match self $variants $f ($($a),*)) }
        $crate::delegate! { $variants $($rest)* }
    };
    ($variants:tt $(#[$doc:meta])* fn $f:ident $(<$g:ident: $b:path>)? (&mut self $(, $a:ident: $t:ty)*) $(-> $r:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $f $(<$g: $b>)? (&mut self $(, $a: $t)*) $(-> $r)? { $crate::delegate!(@match self $variants $f ($($a),*)) }
        $crate::delegate! { $variants $($rest)* }
    };
    ($variants:tt $(#[$doc:meta])* fn $f:ident $(<$g:ident: $b:path>)? ($($args:tt)*) $(-> $r:ty)? $default:block $($rest:tt)*) => {
        $crate::delegate! { $variants fn $f $(<$g: $b>)? ($($args)*) $(-> $r)?; $($rest)* }
    };
    (@match $this:ident ($($variant:ident)+) $f:ident $args:tt) => {
        match $this { $(Self::$variant(inner) => inner.$f $args,)+ }
    };
}

#[cfg(test)]
mod tests {
    crate::dispatched! {
        ($) macro counter;
        /// A trait with a default method for each form of method.
        pub trait Counter: [Clone + std::fmt::Debug] {
            /// Adds to the count.
            fn count(&mut self, by: u32);
            /// Sum of the counts.
            fn total(&self) -> u32 {
                0
            }
            /// A method without a result.
            fn restart(&mut self) {}
            /// A method with an iterator argument.
            fn count_all(&mut self, all: impl Iterator<Item = u32>) {
                all.for_each(drop);
            }
            /// A method with a type parameter.
            fn convert<T: From<u32>>(&mut self, to: T) -> T {
                to
            }
        }
    }

    #[derive(Clone, Debug, Default)]
    pub struct Deaf;
    impl Counter for Deaf {
        fn count(&mut self, _by: u32) {}
    }

    #[derive(Clone, Debug, Default)]
    pub struct Abacus(u32);
    impl Counter for Abacus {
        fn count(&mut self, by: u32) {
            self.0 += by;
        }
        fn total(&self) -> u32 {
            self.0
        }
        fn restart(&mut self) {
            self.0 = 0;
        }
        fn count_all(&mut self, all: impl Iterator<Item = u32>) {
            self.0 += all.sum::<u32>();
        }
        fn convert<T: From<u32>>(&mut self, _to: T) -> T {
            T::from(self.0)
        }
    }

    crate::dispatching_enum! {
        /// An enum with a boxed variant.
        pub enum Either: counter { Deaf(Deaf), Abacus(Box<Abacus>), }
    }

    /// An enum with two type parameters.
    #[derive(Clone, Debug)]
    pub enum Pair<A, B> {
        First(A),
        Second(B),
    }
    counter! { Pair<A, B> { First Second } }

    #[test]
    fn an_enum_of_any_two_types_dispatches_too() {
        let mut pairs = [Pair::First(Abacus(1)), Pair::Second(Deaf)];
        for one in &mut pairs {
            one.count(2);
        }
        assert_eq!(pairs.each_ref().map(Counter::total), [3, 0]);
    }

    #[test]
    fn what_a_variant_overrides_arrives_and_what_it_leaves_is_the_default() {
        let mut either = [Either::from(Deaf), Either::from(Box::new(Abacus(1)))];
        for one in &mut either {
            one.count(2);
            one.count_all([3, 4].into_iter());
        }
        assert_eq!(either.each_ref().map(Counter::total), [0, 10]);
        assert_eq!(either.each_mut().map(|one| one.convert(7u64)), [7, 10]);
        either.iter_mut().for_each(Counter::restart);
        assert_eq!(either.each_ref().map(Counter::total), [0, 0]);
    }
}

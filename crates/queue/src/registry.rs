//! What makes a discipline out of its line in the list of `lib.rs`: the macro writes its module, the specification read
//! from scenario files, what runs, and the catalogue.

use crate::Port;
use base::{ParamError, Stream};

/// What a discipline's file provides besides its behaviour ([`crate::Admission`] or [`crate::QueueDiscipline`]): its
/// card, and a value made from parameters.
pub trait Rule: Sized {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: base::Card;
    /// Other spellings of its parameters (Linux, ns-2, the papers), each with the parameter's name.
    const SPELLINGS: &[(&str, &str)] = &[];

    /// Fills in what the parameters leave to the discipline (`"auto"`) on this port, so that it can be shown; amounts are
    /// in packets already.
    ///
    /// # Errors
    /// What the port lacks.
    fn settle(_params: &mut Self::Params, _port: &Port) -> Result<(), ParamError> {
        Ok(())
    }

    /// A discipline for `port`, from settled parameters; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, port: &Port, chance: Stream) -> Result<Self, ParamError>;

    /// What follows `tc qdisc replace dev DEV root` to get the same from Linux, from settled parameters; `None` where
    /// Linux has no such discipline or not this form of it.
    fn tc(_params: &Self::Params, _port: &Port) -> Option<String> {
        None
    }

    /// Probability that an arrival is dropped or marked when the average that the discipline looks at is `average`
    /// packets, from settled parameters; `None` for disciplines without such a curve.
    fn curve(_params: &Self::Params, _average: f64) -> Option<f64> {
        None
    }
}

macro_rules! queues {
    (
        admissions { $($name:ident = $module:ident,)* }
        disciplines { $($d_name:ident = $d_module:ident,)* }
    ) => {
        $(pub mod $module;)*
        $(pub mod $d_module;)*

        /// A discipline and its parameters, as a scenario file says them.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueSpec {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name($module::Params),)*
            $(#[doc = concat!("See [`crate::", stringify!($d_module), "`].")] $d_name($d_module::Params),)*
        }

        /// Any of the admission rules.
        #[derive(Clone, Debug)]
        pub enum AnyAdmission {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name($module::$name),)*
        }

        /// Any of the disciplines.
        #[derive(Clone, Debug)]
        pub enum AnyQueue {
            /// First-in first-out behind an admission rule.
            Fifo(Fifo<AnyAdmission>),
            $(#[doc = concat!("See [`crate::", stringify!($d_module), "`].")] $d_name($d_module::$d_name),)*
        }

        /// The catalogue, in the registry's order.
        pub const QUEUES: &[Entry] = &[
            $(Entry { card: <$module::$name as Rule>::CARD, rows: $module::Params::rows },)*
            $(Entry { card: <$d_module::$d_name as Rule>::CARD, rows: $d_module::Params::rows },)*
        ];

        impl QueueSpec {
            /// The discipline called `name` (or an alias of it) with its defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                let is = |card: base::Card| card.name == name || card.aliases.contains(&name);
                $(if is(<$module::$name as Rule>::CARD) {
                    return Some(Self::$name($module::Params::default()));
                })*
                $(if is(<$d_module::$d_name as Rule>::CARD) {
                    return Some(Self::$d_name($d_module::Params::default()));
                })*
                None
            }

            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> base::Card {
                match self {
                    $(Self::$name(_) => <$module::$name as Rule>::CARD,)*
                    $(Self::$d_name(_) => <$d_module::$d_name as Rule>::CARD,)*
                }
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<Param> {
                match self { $(Self::$name(_) => $module::Params::rows(),)* $(Self::$d_name(_) => $d_module::Params::rows(),)* }
            }

            /// Other spellings of its parameters' names, each with the name.
            #[must_use]
            pub fn spellings(&self) -> &'static [(&'static str, &'static str)] {
                match self {
                    $(Self::$name(_) => <$module::$name as Rule>::SPELLINGS,)*
                    $(Self::$d_name(_) => <$d_module::$d_name as Rule>::SPELLINGS,)*
                }
            }

            /// Sets a parameter, by its name or another spelling of it; `None` if the discipline has no such parameter.
            pub fn set(&mut self, name: &str, value: &base::Value) -> Option<Result<(), base::ParamError>> {
                let name = self.spellings().iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| name);
                match self { $(Self::$name(p) => p.set(name, value),)* $(Self::$d_name(p) => p.set(name, value),)* }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, base::Value)> {
                match self { $(Self::$name(p) => p.values(),)* $(Self::$d_name(p) => p.values(),)* }
            }

            /// Turns every amount into packets and fills in what was left to the discipline. Doing it twice changes nothing.
            ///
            /// # Errors
            /// The first parameter that says nothing on `port`.
            pub fn settle(&mut self, port: &Port) -> Result<(), base::ParamError> {
                let scale = port.scale();
                // What the discipline fills in must be amounts that can be read again, too.
                match self {
                    $(Self::$name(p) => {
                        p.resolve(&scale)?;
                        <$module::$name as Rule>::settle(p, port)?;
                        p.resolve(&scale)?;
                    })*
                    $(Self::$d_name(p) => {
                        p.resolve(&scale)?;
                        <$d_module::$d_name as Rule>::settle(p, port)?;
                        p.resolve(&scale)?;
                    })*
                }
                let open = self.values().into_iter().find(|(_, value)| *value == base::Value::Text("auto".into()));
                open.map_or(Ok(()), |(name, _)| Err(base::ParamError::new(name, base::amount::FORM)))
            }

            /// The discipline for `port`, with its own random stream.
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn build(&self, port: &Port, chance: base::Stream) -> Result<AnyQueue, base::ParamError> {
                let mut settled = self.clone();
                settled.settle(port)?;
                Ok(match &settled {
                    $(Self::$name(p) => {
                        AnyQueue::Fifo(Fifo::new(AnyAdmission::$name(<$module::$name as Rule>::new(p, port, chance)?)))
                    })*
                    $(Self::$d_name(p) => AnyQueue::$d_name(<$d_module::$d_name as Rule>::new(p, port, chance)?),)*
                })
            }

            /// The words after `tc` that give the same on the Linux device `device`; `None` where Linux has no such
            /// discipline, or not this form of it. The specification must be settled.
            #[must_use]
            pub fn tc(&self, port: &Port, device: &str) -> Option<String> {
                let words = match self {
                    $(Self::$name(p) => <$module::$name as Rule>::tc(p, port),)*
                    $(Self::$d_name(p) => <$d_module::$d_name as Rule>::tc(p, port),)*
                };
                words.map(|words| format!("tc qdisc replace dev {device} root {words}"))
            }

            /// Probability of a drop or mark at an average of `average` packets; `None` for disciplines without such a
            /// curve. The specification must be settled.
            #[must_use]
            pub fn curve(&self, average: f64) -> Option<f64> {
                match self {
                    $(Self::$name(p) => <$module::$name as Rule>::curve(p, average),)*
                    $(Self::$d_name(p) => <$d_module::$d_name as Rule>::curve(p, average),)*
                }
            }
        }

        impl Admission for AnyAdmission {
            #[inline]
            fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
                match self { $(Self::$name(rule) => rule.admit(packet, backlog, idle_since),)* }
            }
            fn plain_limit(&self) -> Option<Limit> {
                match self { $(Self::$name(rule) => rule.plain_limit(),)* }
            }
            fn next_wakeup(&self) -> Time {
                match self { $(Self::$name(rule) => rule.next_wakeup(),)* }
            }
            fn on_wakeup(&mut self, now: Time, backlog: Backlog, idle_since: Option<Time>) {
                match self { $(Self::$name(rule) => rule.on_wakeup(now, backlog, idle_since),)* }
            }
            fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$name(rule) => rule.gauges(put),)* }
            }
        }

        impl AnyAdmission {
            /// Shows `visitor` the rule itself.
            pub fn visit<V: RuleVisitor>(&mut self, visitor: V) {
                match self { $(Self::$name(rule) => visitor.visit(rule),)* }
            }
        }

        impl AnyQueue {
            /// Shows `visitor` the discipline itself.
            pub fn visit<V: Visitor>(&mut self, visitor: V) -> V::Out {
                match self {
                    Self::Fifo(fifo) => visitor.visit(fifo),
                    $(Self::$d_name(queue) => visitor.visit(queue),)*
                }
            }
        }

        impl QueueDiscipline for AnyQueue {
            #[inline]
            fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
                match self {
                    Self::Fifo(fifo) => fifo.enqueue(packet, idle_since, fates),
                    $(Self::$d_name(queue) => queue.enqueue(packet, idle_since, fates),)*
                }
            }
            #[inline]
            fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet> {
                match self {
                    Self::Fifo(fifo) => fifo.dequeue(now, fates),
                    $(Self::$d_name(queue) => queue.dequeue(now, fates),)*
                }
            }
            #[inline]
            fn backlog(&self) -> Backlog {
                match self { Self::Fifo(fifo) => fifo.backlog(), $(Self::$d_name(queue) => queue.backlog(),)* }
            }
            #[inline]
            fn next_wakeup(&self) -> Time {
                match self { Self::Fifo(fifo) => fifo.next_wakeup(), $(Self::$d_name(queue) => queue.next_wakeup(),)* }
            }
            fn on_wakeup(&mut self, now: Time, idle_since: Option<Time>, fates: &mut impl Fates) {
                match self {
                    Self::Fifo(fifo) => fifo.on_wakeup(now, idle_since, fates),
                    $(Self::$d_name(queue) => queue.on_wakeup(now, idle_since, fates),)*
                }
            }
            fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
                match self { Self::Fifo(fifo) => fifo.gauges(put), $(Self::$d_name(queue) => queue.gauges(put),)* }
            }
        }
    };
}

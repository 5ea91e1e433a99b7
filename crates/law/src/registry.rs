//! What makes a law out of its line in the list of `lib.rs`: the macro writes its module, the specification read from
//! scenario files, what runs, and the catalogue.

use crate::{CongestionControl, WindowLaw};
use base::ParamError;

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

/// What the file of a control that rules its window all by itself provides.
pub trait Controller: CongestionControl {
    /// Parameters, declared with `base::params!`.
    type Params;
    /// Name, title, source.
    const CARD: base::Card;
    /// A control with these parameters and `initial_window` segments.
    ///
    /// # Errors
    /// The first parameter out of range, with what would be right.
    fn new(params: &Self::Params, initial_window: f64) -> Result<Self, ParamError>;
}

macro_rules! laws {
    (
        windows { $($name:ident = $module:ident :: $law:ident,)* }
        controllers { $($c_name:ident = $c_module:ident :: $c_law:ident,)* }
    ) => {
        $(pub mod $module;)*
        $(pub mod $c_module;)*

        /// A law and its parameters, as a scenario file says them.
        #[derive(Clone, Debug, PartialEq)]
        pub enum LawSpec {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name(crate::$module::Params),)*
            $(#[doc = concat!("See [`crate::", stringify!($c_module), "`].")] $c_name(crate::$c_module::Params),)*
        }

        /// Any of the window laws, dispatched by `match`.
        #[derive(Clone, Debug)]
        pub enum AnyLaw {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $name(crate::$module::$law),)*
            /// One of them in the kernel's arithmetic: boxed, so that the others do not carry it.
            Kernel(Box<crate::kernel::AnyTwin>),
        }

        /// Any of the controls that rule their window all by themselves.
        #[derive(Clone, Debug)]
        pub enum AnyController {
            $(#[doc = concat!("See [`crate::", stringify!($c_module), "`].")] $c_name(Box<crate::$c_module::$c_law>),)*
        }

        /// The congestion control of every flow the simulator knows. Two kinds, so that the common one is told by one look.
        #[derive(Clone, Debug)]
        pub enum Control {
            /// A window law under a slow start.
            Window(Windowed<AnyLaw, AnyStart>),
            /// A control of its own kind.
            Own(AnyController),
        }

        /// The catalogue, in the registry's order.
        pub const LAWS: &[Entry] = &[
            $(Entry { card: <crate::$module::$law as Law>::CARD, rows: crate::$module::Params::rows },)*
            $(Entry { card: <crate::$c_module::$c_law as Controller>::CARD, rows: crate::$c_module::Params::rows },)*
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
                $(
                    let card = <crate::$c_module::$c_law as Controller>::CARD;
                    if card.name == name || card.aliases.contains(&name) {
                        return Some(Self::$c_name(crate::$c_module::Params::default()));
                    }
                )*
                None
            }

            /// Its catalogue card.
            #[must_use]
            pub fn card(&self) -> base::Card {
                match self {
                    $(Self::$name(_) => <crate::$module::$law as Law>::CARD,)*
                    $(Self::$c_name(_) => <crate::$c_module::$c_law as Controller>::CARD,)*
                }
            }

            /// Its parameters' names, defaults, units and meanings.
            #[must_use]
            pub fn rows(&self) -> Vec<base::Param> {
                match self {
                    $(Self::$name(_) => crate::$module::Params::rows(),)*
                    $(Self::$c_name(_) => crate::$c_module::Params::rows(),)*
                }
            }

            /// Sets a parameter; `None` if the law has no such parameter.
            pub fn set(&mut self, name: &str, value: &base::Value) -> Option<Result<(), base::ParamError>> {
                match self { $(Self::$name(p) => p.set(name, value),)* $(Self::$c_name(p) => p.set(name, value),)* }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Values {
                match self { $(Self::$name(p) => p.values(),)* $(Self::$c_name(p) => p.values(),)* }
            }

            /// The law under the slow start `start` (which a control of its own kind does not use), ready to run, with
            /// `initial_window` segments and slow-start threshold `ssthresh` (infinite for none).
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn build(&self, start: &StartSpec, initial_window: f64, ssthresh: f64) -> Result<Control, base::ParamError> {
                if let Some(twin) = self.twin()? {
                    let law = AnyLaw::Kernel(Box::new(twin));
                    return Ok(Control::Window(Windowed::new(law, start.build()?, initial_window, ssthresh)));
                }
                Ok(match self {
                    $(Self::$name(p) => {
                        let law = AnyLaw::$name(<crate::$module::$law as Law>::new(p)?);
                        Control::Window(Windowed::new(law, start.build()?, initial_window, ssthresh))
                    })*
                    $(Self::$c_name(p) => {
                        let control = <crate::$c_module::$c_law as Controller>::new(p, initial_window)?;
                        Control::Own(AnyController::$c_name(Box::new(control)))
                    })*
                })
            }
        }

        impl WindowLaw for AnyLaw {
            fn needs(&self) -> Needs {
                match self { $(Self::$name(law) => law.needs(),)* Self::Kernel(law) => law.needs() }
            }
            fn on_sample(&mut self, ack: &AckSample) {
                match self { $(Self::$name(law) => law.on_sample(ack),)* Self::Kernel(law) => law.on_sample(ack) }
            }
            fn per_rtt(&self, w: f64) -> Option<f64> {
                match self { $(Self::$name(law) => law.per_rtt(w),)* Self::Kernel(law) => law.per_rtt(w) }
            }
            fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
                match self { $(Self::$name(law) => law.avoid(cwnd, ack),)* Self::Kernel(law) => law.avoid(cwnd, ack) }
            }
            // One dispatch for both: laws that hear every ACK do little else.
            fn hear(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
                match self { $(Self::$name(law) => law.hear(cwnd, ack),)* Self::Kernel(law) => law.hear(cwnd, ack) }
            }
            #[inline]
            fn step(&self) -> Option<Step> {
                match self { $(Self::$name(law) => law.step(),)* Self::Kernel(_) => None }
            }
            #[inline]
            fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
                match self { $(Self::$name(law) => law.on_rtt_samples(samples),)* Self::Kernel(_) => samples.for_each(drop) }
            }
            fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
                match self { $(Self::$name(law) => law.backoff(cwnd, event),)* Self::Kernel(law) => law.backoff(cwnd, event) }
            }
            fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$name(law) => law.gauges(put),)* Self::Kernel(law) => law.gauges(put) }
            }
        }

        impl CongestionControl for AnyController {
            fn needs(&self) -> Needs {
                match self { $(Self::$c_name(c) => c.needs(),)* }
            }
            fn on_ack(&mut self, ack: &AckSample) {
                match self { $(Self::$c_name(c) => c.on_ack(ack),)* }
            }
            fn on_delivery(&mut self, delivery: &Delivery) {
                match self { $(Self::$c_name(c) => c.on_delivery(delivery),)* }
            }
            fn on_feedback(&mut self, feedback: f64, limited: bool) {
                match self { $(Self::$c_name(c) => c.on_feedback(feedback, limited),)* }
            }
            fn header(&self, srtt: Span) -> Header {
                match self { $(Self::$c_name(c) => c.header(srtt),)* }
            }
            fn burst(&self) -> u32 {
                match self { $(Self::$c_name(c) => c.burst(),)* }
            }
            fn on_lost(&mut self, lost: &Lost) {
                match self { $(Self::$c_name(c) => c.on_lost(lost),)* }
            }
            fn on_recovered(&mut self) {
                match self { $(Self::$c_name(c) => c.on_recovered(),)* }
            }
            fn on_congestion(&mut self, event: &CongestionEvent) {
                match self { $(Self::$c_name(c) => c.on_congestion(event),)* }
            }
            fn collapse(&mut self) {
                match self { $(Self::$c_name(c) => c.collapse(),)* }
            }
            fn cwnd(&self) -> f64 {
                match self { $(Self::$c_name(c) => c.cwnd(),)* }
            }
            fn ssthresh(&self) -> f64 {
                match self { $(Self::$c_name(c) => c.ssthresh(),)* }
            }
            fn step(&self) -> Option<Step> {
                None
            }
            fn advance(&mut self, _step: Step, _acks: u32) {}
            fn pacing_rate(&self) -> Option<f64> {
                match self { $(Self::$c_name(c) => c.pacing_rate(),)* }
            }
            fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$c_name(c) => c.gauges(put),)* }
            }
        }

        impl CongestionControl for Control {
            fn needs(&self) -> Needs {
                match self { Self::Window(c) => c.needs(), Self::Own(c) => c.needs() }
            }
            fn on_ack(&mut self, ack: &AckSample) {
                match self { Self::Window(c) => c.on_ack(ack), Self::Own(c) => c.on_ack(ack) }
            }
            fn on_delivery(&mut self, delivery: &Delivery) {
                match self { Self::Window(_) => {} Self::Own(c) => c.on_delivery(delivery) }
            }
            fn on_feedback(&mut self, feedback: f64, limited: bool) {
                match self { Self::Window(_) => {} Self::Own(c) => c.on_feedback(feedback, limited) }
            }
            fn header(&self, srtt: Span) -> Header {
                match self { Self::Window(_) => Header::NONE, Self::Own(c) => c.header(srtt) }
            }
            fn burst(&self) -> u32 {
                match self { Self::Window(_) => 1, Self::Own(c) => c.burst() }
            }
            fn on_lost(&mut self, lost: &Lost) {
                match self { Self::Window(_) => {} Self::Own(c) => c.on_lost(lost) }
            }
            fn on_recovered(&mut self) {
                match self { Self::Window(_) => {} Self::Own(c) => c.on_recovered() }
            }
            fn on_congestion(&mut self, event: &CongestionEvent) {
                match self { Self::Window(c) => c.on_congestion(event), Self::Own(c) => c.on_congestion(event) }
            }
            fn collapse(&mut self) {
                match self { Self::Window(c) => c.collapse(), Self::Own(c) => c.collapse() }
            }
            #[inline]
            fn cwnd(&self) -> f64 {
                match self { Self::Window(c) => c.cwnd(), Self::Own(c) => c.cwnd() }
            }
            fn ssthresh(&self) -> f64 {
                match self { Self::Window(c) => c.ssthresh(), Self::Own(c) => c.ssthresh() }
            }
            #[inline]
            fn step(&self) -> Option<Step> {
                match self { Self::Window(c) => c.step(), Self::Own(_) => None }
            }
            #[inline]
            fn advance(&mut self, step: Step, acks: u32) {
                match self { Self::Window(c) => c.advance(step, acks), Self::Own(c) => c.advance(step, acks) }
            }
            #[inline]
            fn on_rtt_samples(&mut self, samples: impl Iterator<Item = (Time, Span)>) {
                match self { Self::Window(c) => c.on_rtt_samples(samples), Self::Own(c) => c.on_rtt_samples(samples) }
            }
            #[inline]
            fn pacing_rate(&self) -> Option<f64> {
                match self { Self::Window(_) => None, Self::Own(c) => c.pacing_rate() }
            }
            fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
                match self { Self::Window(c) => c.gauges(put), Self::Own(c) => c.gauges(put) }
            }
        }
    };
}

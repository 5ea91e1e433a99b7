//! What makes a law out of its line in the list of `lib.rs`: the module, the specification read from scenario files, what runs,
//! and the catalogue.

use crate::{CongestionControl, WindowLaw};
use base::{ParamError, Registered};

/// A window law that scenarios can name.
pub trait Law: WindowLaw + Registered {
    /// A law with these parameters.
    ///
    /// # Errors
    /// The first parameter out of range, with what would be right.
    fn new(params: &Self::Params) -> Result<Self, ParamError>;
}

/// A control that scenarios can name, and that rules its window all by itself.
pub trait Controller: CongestionControl + Registered {
    /// A control with these parameters and `initial_window` segments.
    ///
    /// # Errors
    /// The first parameter out of range, with what would be right.
    fn new(params: &Self::Params, initial_window: f64) -> Result<Self, ParamError>;
}

macro_rules! laws {
    (
        windows { $($name:ident = $module:ident,)* }
        controllers { $($c_name:ident = $c_module:ident,)* }
    ) => {
        base::registry! {
            ($)
            /// A law and its parameters, as a scenario file says them.
            pub enum LawSpec, LAWS, each_law;
            windows { $($name = $module,)* }
            controllers { $($c_name = $c_module,)* }
        }

        base::dispatching_enum! {
            /// Any of the window laws.
            pub enum AnyLaw: window_law {
                $($name($module::$name),)*
                /// One of them in the kernel's arithmetic: boxed, so that the others do not carry it.
                Kernel(Box<kernel::AnyTwin>),
            }
        }

        base::dispatching_enum! {
            /// Any of the controls that rule their window all by themselves.
            pub enum AnyController: congestion_control { $($c_name(Box<$c_module::$c_name>),)* }
        }

        base::dispatching_enum! {
            /// The congestion control of every flow the simulator knows: two kinds, so that the common one costs one branch.
            pub enum Control: congestion_control {
                /// A window law under a slow start.
                Window(Windowed<AnyLaw, AnyStart>),
                /// A control of its own kind.
                Own(AnyController),
            }
        }

        impl LawSpec {
            /// The law under the slow start `start` (which a control of its own kind does not use), ready to run, with
            /// `initial_window` segments and slow-start threshold `ssthresh` (infinite for none).
            ///
            /// # Errors
            /// The first parameter out of range.
            pub fn build(&self, start: &StartSpec, initial_window: f64, ssthresh: f64) -> Result<Control, base::ParamError> {
                let windowed = |law| Ok(Windowed::new(law, start.build()?, initial_window, ssthresh).into());
                if let Some(twin) = self.twin()? {
                    return windowed(Box::new(twin).into());
                }
                each_law!(self, |p, Kind|
                    windows: windowed(<Kind as Law>::new(p)?.into()),
                    controllers: {
                        let control = <Kind as Controller>::new(p, initial_window)?;
                        Ok(AnyController::from(Box::new(control)).into())
                    },
                )
            }
        }
    };
}

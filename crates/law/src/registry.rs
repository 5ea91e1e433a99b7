//! Common part of the registered laws: their construction, and the enums that dispatch to them.

#[allow(clippy::wildcard_imports, clippy::allow_attributes, reason = "the registry's macro names every module")]
use crate::*;
use base::{Header, ParamError, Registered, Span, Time};

/// A window law that scenarios can name.
pub trait Law: WindowLaw + Registered {
    /// Whether growth depends on more than the window and the present round-trip times, such as the time since a loss.
    const REMEMBERS: bool = true;
    /// Citation of its response function, a key of `theory.citations`; `None` for laws that respond to more than losses.
    const RESPONSE: Option<&'static str> = None;

    /// Creates the law from its parameters.
    ///
    /// # Errors
    /// The first parameter out of range, with a description of valid values.
    fn new(params: &Self::Params) -> Result<Self, ParamError>;
}

/// A control that scenarios can name and that sets its own window.
pub trait Controller: CongestionControl + Registered {
    /// Creates the control with `initial_window` segments.
    ///
    /// # Errors
    /// The first parameter out of range, with a description of valid values.
    fn new(params: &Self::Params, initial_window: f64) -> Result<Self, ParamError>;
}

each_law! { windows:
    /// Any of the window laws.
    pub enum AnyLaw: window_law {
        /// Linux's CUBIC in integers; boxed, so that other laws do not need memory for it.
        LinuxCubic(Box<cubic::linux::LinuxCubic>),
        /// Linux's Reno or Scalable, in whole segments.
        Whole(whole::Whole),
    }
}

each_law! { controllers in Box:
    /// Any of the controls that set their own window.
    pub enum AnyController: congestion_control {}
}

base::dispatching_enum! {
    /// The congestion control of any flow in a scenario. There are two kinds, so that the common kind costs one branch.
    pub enum Control: congestion_control {
        /// A window law with a slow start.
        Window(Windowed<AnyLaw, AnyStart>),
        /// A control that sets its own window.
        Own(AnyController),
    }
}

impl LawSpec {
    /// See [`Law::REMEMBERS`] and [`Law::RESPONSE`]. A control that sets its own window remembers, and has no response
    /// function.
    #[must_use]
    pub fn response(&self) -> (bool, Option<&'static str>) {
        each_law!(self, |p, Kind| windows: (<Kind as Law>::REMEMBERS, <Kind as Law>::RESPONSE), controllers: (true, None))
    }

    /// Builds the law with slow start `start` (which a control that sets its own window ignores), `initial_window` segments
    /// and slow-start threshold `ssthresh` (infinite for none).
    ///
    /// # Errors
    /// The first parameter out of range.
    pub fn build(&self, start: &StartSpec, initial_window: f64, ssthresh: f64) -> Result<Control, ParamError> {
        let windowed = |law| Ok(Windowed::new(law, start.build()?, initial_window, ssthresh).into());
        match self {
            Self::Cubic(p) if p.variant == cubic::Variant::Linux => {
                cubic::Cubic::new(p)?;
                return windowed(Box::new(cubic::linux::LinuxCubic::of(p)).into());
            }
            Self::Reno(p) if p.variant == whole::Variant::Linux => {
                reno::Reno::new(p)?;
                return windowed(whole::Whole::reno(p.decrease).into());
            }
            Self::Scalable(p) if p.variant == whole::Variant::Linux => {
                scalable::Scalable::new(p)?;
                return windowed(whole::Whole::scalable(p.increase, p.decrease, p.per_ack).into());
            }
            _ => {}
        }
        if let Some(control) = self.in_object(start, initial_window, ssthresh)? {
            return Ok(AnyController::from(Box::new(control)).into());
        }
        each_law!(self, |p, Kind|
            windows: windowed(<Kind as Law>::new(p)?.into()),
            controllers: Ok(AnyController::from(Box::new(<Kind as Controller>::new(p, initial_window)?)).into()),
        )
    }
}

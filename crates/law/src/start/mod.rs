//! Slow starts: how a flow opens its window before the first loss and after a timeout. The registry has one line for each,
//! like that of the laws.

use crate::{AckSample, Needs, Opening, SlowStart};
use base::{ParamError, Registered};

/// A slow start that scenarios can name.
pub trait Start: SlowStart + Registered {
    /// Creates the slow start from its parameters.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params) -> Result<Self, ParamError>;
}

base::registry! {
    ($)
    /// A slow start and its parameters, as a scenario file says them.
    pub enum StartSpec, STARTS, each_start;
    starts {
        Classic = classic,
        Limited = limited,
        Hystart = hystart,
        HystartLinux = hystart_linux,
        Hybla = hybla,
        Vegas = vegas,
    }
}

each_start! { starts:
    /// Any of the slow starts.
    pub enum AnyStart: slow_start {}
}

impl StartSpec {
    /// Builds the slow start, ready to run.
    ///
    /// # Errors
    /// The first parameter out of range.
    pub fn build(&self) -> Result<AnyStart, ParamError> {
        each_start!(self, |p, Kind| Ok(<Kind as Start>::new(p)?.into()))
    }
}

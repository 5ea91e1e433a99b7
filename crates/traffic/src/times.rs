//! Laws of random times.
//!
//! Source: the constant, exponential and Pareto laws of the papers and of ns-2's PagePool/WebTraf; a Pareto time is at
//! least mean (shape - 1) / shape.

use base::time::PS_PER_S;
use base::{ParamError, Span, Stream};

base::words! {
    /// The law of a time.
    pub enum TimeLaw {
        /// Always the mean.
        Constant = "constant",
        /// Exponential.
        Exponential = "exponential",
        /// Pareto, with the shape from another parameter.
        Pareto = "pareto",
    }
}

/// Eleven days in picoseconds, longer than any run: later events never happen, and sums of times fit 64 bits.
const LONGEST: f64 = 1e18;

/// A sampler of times.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    law: TimeLaw,
    /// Mean in picoseconds.
    mean: f64,
    shape: f64,
}

impl Times {
    /// Times with that mean; `shape` is the shape of the Pareto law, and `names` are the names of the two parameters in
    /// error messages.
    ///
    /// # Errors
    /// The first of these parameters out of range.
    pub fn new(law: TimeLaw, mean: Span, shape: f64, names: [&'static str; 2]) -> Result<Self, ParamError> {
        if mean > Span::secs(100_000) {
            return Err(ParamError::new(names[0], "must be at most 100000 s"));
        }
        if law == TimeLaw::Pareto {
            check_shape(names[1], shape)?;
        }
        Ok(Self { law, mean: mean.as_secs() * PS_PER_S as f64, shape })
    }

    /// Exponential times with a mean of `mean` picoseconds.
    #[must_use]
    pub fn exponential(mean: f64) -> Self {
        Self { law: TimeLaw::Exponential, mean, shape: 0.0 }
    }

    /// Draws a time.
    pub fn draw(&self, chance: &mut Stream) -> Span {
        let time = match self.law {
            TimeLaw::Constant => self.mean,
            TimeLaw::Exponential => chance.exponential(self.mean),
            TimeLaw::Pareto => chance.pareto(self.mean, self.shape),
        };
        Span(time.min(LONGEST).round() as u64)
    }
}

/// Rejects shapes for which the Pareto law has no mean.
pub(crate) fn check_shape(name: &'static str, shape: f64) -> Result<(), ParamError> {
    if shape > 1.0 && shape <= 100.0 {
        return Ok(());
    }
    Err(ParamError::new(name, "must lie above 1, or there is no mean, and up to 100"))
}

/// Rejects pauses so short that a session could repeat endlessly at one instant.
pub(crate) fn check_think(think: Span) -> Result<(), ParamError> {
    if (Span::micros(1)..=Span::secs(100_000)).contains(&think) {
        return Ok(());
    }
    Err(ParamError::new("think", "must lie between 1 us and 100000 s"))
}

/// Rejects zero connections, and more than a million.
pub(crate) fn check_places(name: &'static str, places: u32) -> Result<(), ParamError> {
    if (1..=1_000_000).contains(&places) {
        return Ok(());
    }
    Err(ParamError::new(name, "must lie between 1 and 1000000"))
}

//! The controller of both queues: a base probability p', and the probabilities of each queue computed from it.
//!
//! Source: RFC 9332, Appendix A.1, `dualpi2_update`, with p' kept between 0 and 1.

use base::Span;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Pi2 {
    pub target: f64,
    pub alpha: f64,
    pub beta: f64,
    pub coupling: f64,
    /// The base probability p'.
    pub base: f64,
    /// Probability of marks in the L4S queue, `p_CL`; 1 or more is overload.
    pub l4s: f64,
    /// Probability of drops and marks in the classic queue, `p_C`.
    pub classic: f64,
    /// The delay at the last update, in seconds.
    pub previous: f64,
}

impl Pi2 {
    /// Updates the probabilities; called every Tupdate with the longer delay of the two queues.
    pub fn update(&mut self, delay: Span) {
        let delay = delay.as_secs();
        let change = self.alpha * (delay - self.target) + self.beta * (delay - self.previous);
        self.base = (self.base + change).clamp(0.0, 1.0);
        self.l4s = self.coupling * self.base;
        self.classic = self.base * self.base;
        self.previous = delay;
    }

    /// `p_Cmax`: the classic probability at which the L4S probability reaches 1.
    pub fn classic_max(&self) -> f64 {
        (1.0 / (self.coupling * self.coupling)).min(1.0)
    }
}

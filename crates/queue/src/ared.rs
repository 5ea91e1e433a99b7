//! Adaptive RED: a clock moves `max_p` so that the average backlog stays in a band midway between the thresholds.
//!
//! Source: Floyd, Gummadi and Shenker 2001 ("Adaptive RED"), Figure 1; see `early.rs` for what all kinds of RED share.
//! The bounds of `max_p` are tested before a step, as there, so that it may pass them by one step.
//! Differs from ns-2: by default a clock, where ns-2 looks at every arrival an `interval` after the last change or later
//! (`looks`), and moves `max_p` before it decides on that packet, not after; `bottom` is 0.01 at every rate.
//! Differs from Linux: `tc` can express it only with `gentle = false`, `count = "classic"` and the source's constants.

use crate::early::{self, AdaptTimer, Early, red_params};
use crate::{Admission, Backlog, Packet, Port, Rule, Verdict};
use base::{Card, Need, ParamError, Registered, Span, Stream, Time};

pub use crate::early::AdaptOn;

red_params! {
    /// Floyd, Gummadi and Shenker 2001.
    {
        /// Interval of the changes of max_p, or the least time between two of them.
        interval: Span = Span::millis(500), "";
        /// Trigger of changes of max_p: "clock" (once an interval) or "arrivals" (each, an interval after the last change).
        looks: AdaptOn = AdaptOn::Clock, "";
        /// The most that max_p rises by; a quarter of it if that is less.
        alpha: f64 = 0.01, "";
        /// Factor by which max_p is decreased.
        beta: f64 = 0.9, "";
        /// Below this, max_p does not fall.
        bottom: f64 = 0.01, "";
        /// Above this, max_p does not rise.
        top: f64 = 0.5, "";
        /// Lower end of the band, between min_th (0) and max_th (1).
        target_low: f64 = 0.4, "";
        /// Upper end of the band.
        target_high: f64 = 0.6, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ared {
    core: Early,
    timer: AdaptTimer,
    steps: Steps,
    bottom: f64,
}

impl Registered for Ared {
    type Params = Params;
    const CARD: Card = Card {
        name: "ared",
        aliases: &["ARED", "adaptive-red", "a-red"],
        title: "Adaptive RED",
        source: "Floyd, Gummadi and Shenker 2001",
        differs: "max_p moves by a clock unless looks is \"arrivals\", as in ns-2. Linux's form is gentle = false, count = \"classic\"; it \
                  averages bytes and rounds w_q to a power of two.",
    };
    const SPELLINGS: &'static [(&'static str, &'static str)] = early::SPELLINGS;
}

impl Rule for Ared {
    fn gives(p: &Params) -> Option<Need> {
        p.ecn.then_some(Need::Marks)
    }

    fn resolve(p: &mut Params, port: &Port) -> Result<(), ParamError> {
        p.open().resolve(port, early::weight_of_a_second)
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        if !(p.bottom >= 0.0 && p.bottom < p.top) {
            return Err(ParamError::new("bottom", "must be 0 or more and below top"));
        }
        Ok(Self {
            core: Early::new(&p.settings(), port, chance)?,
            timer: AdaptTimer::new(p.interval, p.looks)?,
            steps: Steps::new(&p.settings(), (p.alpha, p.beta, p.top), (p.target_low, p.target_high))?,
            bottom: p.bottom,
        })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        let Params { interval, looks, alpha, beta, bottom, top, target_low, target_high, .. } = Params::default();
        let ours = (interval, looks, [alpha, beta, bottom, top, target_low, target_high]);
        let theirs = (p.interval, p.looks, [p.alpha, p.beta, p.bottom, p.top, p.target_low, p.target_high]);
        if ours == theirs { p.settings().tc(port, true) } else { None }
    }

    fn curve(p: &Params, average: f64) -> Option<f64> {
        Some(p.settings().curve(average))
    }
}

impl Admission for Ared {
    #[inline]
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        let verdict = self.core.admit(packet, backlog, idle_since);
        if self.timer.is_due(packet.arrived) {
            self.adapt(packet.arrived, self.core.average());
        }
        verdict
    }

    fn next_wakeup(&self) -> Time {
        self.timer.next()
    }

    fn on_wakeup(&mut self, now: Time, _backlog: Backlog, idle_since: Option<Time>) {
        self.adapt(now, self.core.average_at(now, idle_since));
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.core.gauges(put);
    }
}

impl Ared {
    fn adapt(&mut self, now: Time, average: f64) {
        let max_p = self.core.max_p();
        let moved = if average > self.steps.high {
            self.steps.up(max_p)
        } else if average < self.steps.low && max_p > self.bottom {
            self.steps.down(max_p)
        } else {
            max_p
        };
        self.core.set_max_p(moved);
        self.timer.adapted(now, moved != max_p);
    }
}

/// The band, and the steps that [`crate::gared`] takes too.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    pub low: f64,
    pub high: f64,
    alpha: f64,
    beta: f64,
    top: f64,
}

impl Steps {
    pub fn new(
        s: &early::Settings,
        (alpha, beta, top): (f64, f64, f64),
        (low, high): (f64, f64),
    ) -> Result<Self, ParamError> {
        if !(alpha > 0.0 && alpha <= 1.0) {
            return Err(ParamError::new("alpha", "must lie above 0 and be at most 1"));
        }
        if !(beta > 0.0 && beta < 1.0) {
            return Err(ParamError::new("beta", "must lie strictly between 0 and 1"));
        }
        if !(top > 0.0 && top <= 1.0) {
            return Err(ParamError::new("top", "must lie above 0 and be at most 1"));
        }
        if !(0.0..=1.0).contains(&low) {
            return Err(ParamError::new("target_low", "must lie between 0 (min_th) and 1 (max_th)"));
        }
        if !(low..=1.0).contains(&high) {
            return Err(ParamError::new("target_high", "must lie between target_low and 1 (max_th)"));
        }
        let at = |share: f64| s.min_th + share * (s.max_th - s.min_th);
        Ok(Self { low: at(low), high: at(high), alpha, beta, top })
    }

    /// `max_p` one step up, unless it has reached the top.
    pub fn up(&self, max_p: f64) -> f64 {
        if max_p < self.top { max_p + self.alpha.min(max_p / 4.0) } else { max_p }
    }

    /// `max_p` one step down.
    pub fn down(&self, max_p: f64) -> f64 {
        max_p * self.beta
    }
}

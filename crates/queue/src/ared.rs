//! Adaptive RED: a clock moves `max_p` so that the average backlog stays in a band midway between the thresholds.
//!
//! Source: Floyd, Gummadi and Shenker 2001 ("Adaptive RED"), Figure 1; see `early.rs` for what all kinds of RED share.
//! The bounds of `max_p` are tested before a step, as in the source, so `max_p` may pass them by one step.
//! Differs from ns-2: by default a clock triggers the changes. ns-2 looks at each arrival that is at least an
//! `interval` after the last change (`looks`), and moves `max_p` before it decides on that packet; here `max_p` moves
//! after the decision. `bottom` is 0.01 at every rate.
//! Differs from Linux: `tc` can express it only with `gentle = false`, `count = "classic"` and the source's constants.

use crate::early::{self, Adaptation, Early, adaptive_red_params};
use crate::{Admission, Backlog, Packet, Port, Rule, Verdict};
use base::{Card, Need, ParamError, Registered, Stream, Time};

pub use crate::early::AdaptOn;

adaptive_red_params! {
    /// Floyd, Gummadi and Shenker 2001.
    {
        /// Below this, max_p does not fall.
        bottom: f64 = 0.01, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ared {
    core: Early,
    adaptation: Adaptation,
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
            adaptation: Adaptation::new(&p.settings(), &p.changes())?,
            bottom: p.bottom,
        })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        let ours = Params::default();
        let is_linux_s = (p.changes(), p.bottom) == (ours.changes(), ours.bottom);
        if is_linux_s { p.settings().tc(port, true) } else { None }
    }

    fn curve(p: &Params, average: f64) -> Option<f64> {
        Some(p.settings().curve(average))
    }
}

impl Admission for Ared {
    #[inline]
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        let verdict = self.core.admit(packet, backlog, idle_since);
        if self.adaptation.is_due(packet.arrived) {
            self.adapt(packet.arrived, self.core.average());
        }
        verdict
    }

    fn next_wakeup(&self) -> Time {
        self.adaptation.next()
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
        let moved = if average > self.adaptation.high {
            self.adaptation.up(max_p)
        } else if average < self.adaptation.low && max_p > self.bottom {
            self.adaptation.down(max_p)
        } else {
            max_p
        };
        self.core.set_max_p(moved);
        self.adaptation.adapted(now, moved != max_p);
    }
}

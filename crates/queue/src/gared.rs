//! Gentle adaptive RED (gARED): adaptive RED that moves `max_p` only while the average moves further from its target.
//!
//! Source: Zhang, Hasegawa and Murata 2005 ("Performance Analysis and Improvement of HighSpeed TCP with TailDrop/RED
//! Routers"), Section 5; "target" is the band of adaptive RED. `max_p` has no lower bound, and does not fall while the
//! average is at or below `min_th`. Parameters that the source does not give (`interval`, `top`, the first `max_p`) are
//! as in adaptive RED. The trigger of changes (`looks`) is also as in adaptive RED: a clock, or arrivals as in ns-2. At
//! an arrival the average is compared with the average before that arrival.

use crate::early::{self, Adaptation, Early, adaptive_red_params};
use crate::{Admission, Backlog, Packet, Port, Rule, Verdict};
use base::{Card, Need, ParamError, Registered, Stream, Time};

pub use crate::early::AdaptOn;

adaptive_red_params! {
    /// Zhang, Hasegawa and Murata 2005; what it leaves open, from Floyd, Gummadi and Shenker 2001.
    {}
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Gared {
    core: Early,
    adaptation: Adaptation,
    min_th: f64,
    /// The average when `max_p` was last compared with it, or after the previous arrival.
    old_average: f64,
}

impl Registered for Gared {
    type Params = Params;
    const CARD: Card = Card {
        name: "gared",
        aliases: &["gARED", "gentle-ared"],
        title: "Gentle adaptive RED",
        source: "Zhang, Hasegawa and Murata 2005",
        differs: "",
    };
    const SPELLINGS: &'static [(&'static str, &'static str)] = early::SPELLINGS;
}

impl Rule for Gared {
    fn gives(p: &Params) -> Option<Need> {
        p.ecn.then_some(Need::Marks)
    }

    fn resolve(p: &mut Params, port: &Port) -> Result<(), ParamError> {
        p.open().resolve(port, early::weight_of_a_second)
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        let settings = p.settings();
        Ok(Self {
            core: Early::new(&settings, port, chance)?,
            adaptation: Adaptation::new(&settings, &p.changes())?,
            min_th: settings.min_th,
            old_average: 0.0,
        })
    }

    fn curve(p: &Params, average: f64) -> Option<f64> {
        Some(p.settings().curve(average))
    }
}

impl Admission for Gared {
    #[inline]
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        if !self.adaptation.is_due(packet.arrived) {
            return self.core.admit(packet, backlog, idle_since);
        }
        self.old_average = self.core.average();
        let verdict = self.core.admit(packet, backlog, idle_since);
        self.adapt(packet.arrived, self.core.average());
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

impl Gared {
    fn adapt(&mut self, now: Time, average: f64) {
        let max_p = self.core.max_p();
        let moved = if average > self.adaptation.high && average > self.old_average {
            self.adaptation.up(max_p)
        } else if self.min_th < average && average < self.adaptation.low && average < self.old_average {
            self.adaptation.down(max_p)
        } else {
            max_p
        };
        self.core.set_max_p(moved);
        self.old_average = average;
        self.adaptation.adapted(now, moved != max_p);
    }
}

//! Random early detection (RED): drops or marks at random as the average backlog rises between two thresholds.
//!
//! Source: Floyd and Jacobson 1993 ("Random Early Detection Gateways for Congestion Avoidance"), Figure 2; the gentle
//! form: Floyd 2000; `early.rs` has what all kinds of RED share.
//! Differs from the source: by default gentle, and drops are spaced 1/p to 2/p packets apart, as in ns-2 since 2001.
//! Differs from Linux: Linux has neither (`tc` needs `gentle = false`, `count = "classic"`); it averages bytes, and its
//! weight is a power of two.

use crate::early::{self, Early, red_params};
use crate::{Admission, Backlog, Packet, Port, Rule, Verdict};
use base::{Card, Need, ParamError, Registered, Stream, Time};

pub use crate::early::{Count, Unit};

red_params! {
    /// Floyd and Jacobson 1993; thresholds of Floyd, Gummadi and Shenker 2001.
    {}
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Red(Early);

impl Registered for Red {
    type Params = Params;
    const CARD: Card = Card {
        name: "red",
        aliases: &["RED", "gentle-red"],
        title: "Random early detection",
        source: "Floyd and Jacobson 1993",
        differs: "By default gentle, with drops 1/p to 2/p packets apart, as in ns-2. Linux's form is gentle = false, \
                  count = \"classic\"; it averages bytes and rounds w_q to a power of two.",
    };
    const SPELLINGS: &'static [(&'static str, &'static str)] = early::SPELLINGS;
}

impl Rule for Red {
    fn gives(p: &Params) -> Option<Need> {
        p.ecn.then_some(Need::Marks)
    }

    fn resolve(p: &mut Params, port: &Port) -> Result<(), ParamError> {
        p.open().resolve(port, |_| 0.002)
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        Early::new(&p.settings(), port, chance).map(Self)
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        p.settings().tc(port, false)
    }

    fn curve(p: &Params, average: f64) -> Option<f64> {
        Some(p.settings().curve(average))
    }
}

impl Admission for Red {
    #[inline]
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        self.0.admit(packet, backlog, idle_since)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(put);
    }
}

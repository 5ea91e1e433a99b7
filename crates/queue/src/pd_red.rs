//! PD-RED: a proportional-derivative controller moves RED's `max_p` to keep the average backlog at a target.
//!
//! Source: Sun, Ko, Chen, Chan and Zukerman 2003 ("PD-RED: To Improve the Performance of RED"): each `interval`,
//! `max_p` grows by `k_p e / B + k_d (e - e_old) / B`, where e is the average minus its target and B the buffer. The
//! first `e_old` is that of an empty queue. If the buffer has no limit, B is twice `max_th`. The defaults of `k_p`,
//! `k_d` and `interval` are elephan's own; the target is midway between the thresholds, and the bounds are adaptive
//! RED's.

use crate::checks::gain;
use crate::early::{self, Early, Timer, red_params};
use crate::{Admission, Backlog, Packet, Port, Rule, Verdict};
use base::{Amount, Card, Need, ParamError, Registered, Span, Stream, Time};

red_params! {
    /// Sun, Ko, Chen, Chan and Zukerman 2003.
    {
        /// Interval of the changes of max_p.
        interval: Span = Span::millis(10), "";
        /// Gain of the error, in units of scale.
        k_p: f64 = 0.001, "";
        /// Gain of the error's change over an interval, in units of scale.
        k_d: f64 = 0.05, "";
        /// Average to keep; auto: midway between min_th and max_th.
        target: Amount = Amount::Auto, "packets";
        /// Divisor of errors (B of the source); auto: the buffer, or twice max_th without one.
        scale: Amount = Amount::Auto, "packets";
        /// The least that max_p becomes.
        bottom: f64 = 0.01, "";
        /// The most that max_p becomes.
        top: f64 = 0.5, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct PdRed {
    core: Early,
    timer: Timer,
    target: f64,
    /// Gains per packet.
    k_p: f64,
    k_d: f64,
    bottom: f64,
    top: f64,
    old_error: f64,
}

impl Registered for PdRed {
    type Params = Params;
    const CARD: Card = Card {
        name: "pd-red",
        aliases: &["PD-RED", "pdred"],
        title: "RED under proportional-derivative control",
        source: "Sun, Ko, Chen, Chan and Zukerman 2003",
        differs: "Gains and interval are this laboratory's.",
    };
    const SPELLINGS: &'static [(&'static str, &'static str)] = early::SPELLINGS;
}

impl Rule for PdRed {
    fn gives(p: &Params) -> Option<Need> {
        p.ecn.then_some(Need::Marks)
    }

    fn resolve(p: &mut Params, port: &Port) -> Result<(), ParamError> {
        p.open().resolve(port, early::weight_of_a_second)?;
        let (min_th, max_th) = (p.min_th.packets(), p.max_th.packets());
        p.target = Amount::Packets(p.target.or(|| f64::midpoint(min_th, max_th)));
        p.scale = Amount::Packets(p.scale.or(|| port.buffer().filter(|b| *b >= 1.0).unwrap_or(2.0 * max_th)));
        Ok(())
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        let core = Early::new(&p.settings(), port, chance)?;
        let (target, scale) = (p.target.packets(), p.scale.packets());
        if scale < 0.001 {
            return Err(ParamError::new("scale", "must be at least 0.001 packets"));
        }
        gain("k_p", p.k_p)?;
        gain("k_d", p.k_d)?;
        if !(p.top > 0.0 && p.top <= 1.0) {
            return Err(ParamError::new("top", "must lie above 0 and be at most 1"));
        }
        if !(0.0..=p.top).contains(&p.bottom) {
            return Err(ParamError::new("bottom", "must lie between 0 and top"));
        }
        Ok(Self {
            core,
            timer: Timer::new(p.interval)?,
            target,
            k_p: p.k_p / scale,
            k_d: p.k_d / scale,
            bottom: p.bottom,
            top: p.top,
            old_error: -target,
        })
    }

    fn curve(p: &Params, average: f64) -> Option<f64> {
        Some(p.settings().curve(average))
    }
}

impl Admission for PdRed {
    #[inline]
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        self.core.admit(packet, backlog, idle_since)
    }

    fn next_wakeup(&self) -> Time {
        self.timer.next
    }

    fn on_wakeup(&mut self, now: Time, _backlog: Backlog, idle_since: Option<Time>) {
        let error = self.core.average_at(now, idle_since) - self.target;
        let step = self.k_p * error + self.k_d * (error - self.old_error);
        self.core.set_max_p((self.core.max_p() + step).clamp(self.bottom, self.top));
        self.old_error = error;
        self.timer.tick(now);
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.core.gauges(put);
    }
}

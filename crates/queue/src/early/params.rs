//! Parameters common to all kinds of RED: their values on a link, their checks, and their form for `tc`.
//!
//! Source: thresholds and weight: Floyd, Gummadi and Shenker 2001 (FGS), Section 5; weight for a burst: Floyd and
//! Jacobson 1993, Section 6.

use crate::Port;
use base::{Amount, Auto, ParamError};

base::words! {
    /// Spacing of drops by the count of packets since the last one.
    pub enum Count {
        /// p / (2 - count p) once count p reaches 1: 1/p to 2/p packets apart (ns-2's `wait_`).
        Wait = "wait",
        /// p / (1 - count p): up to 1/p packets apart (1993).
        Classic = "classic",
    }
}

base::words! {
    /// Trigger of changes of `max_p`.
    pub enum AdaptOn {
        /// Once an interval, whether or not packets arrive.
        Clock = "clock",
        /// First arrival that is at least an interval after the last change, as in ns-2.
        Arrivals = "arrivals",
    }
}

base::words! {
    /// Unit of the average.
    pub enum Unit {
        /// Packets, all alike.
        Packets = "packets",
        /// Bytes; large packets are dropped more often.
        Bytes = "bytes",
    }
}

/// The parameters of a kind of RED: those that all have, and its own.
macro_rules! red_params {
    ($(#[$about:meta])* { $($own:tt)* }) => {
        base::params! {
            $(#[$about])*
            pub struct Params {
                /// Average at which early drops begin; auto: 2.5 ms or 5 packets, at most 1/4 of the buffer; or max_th / 3.
                min_th: base::Amount = base::Amount::Auto, "packets";
                /// Average at which the drop probability reaches max_p; auto: three times min_th.
                max_th: base::Amount = base::Amount::Auto, "packets";
                /// Weight of a sample in the average; auto: from burst if given, else the discipline's own rule.
                w_q: base::Auto = base::Auto::Auto, "";
                /// Drop probability at max_th, at first where it is adapted.
                max_p: f64 = 0.1, "";
                /// Whether the drop probability rises to 1 between max_th and twice that, instead of at once.
                gentle: bool = true, "";
                /// Spacing of drops: "wait" (1/p to 2/p packets apart) or "classic" (up to 1/p).
                count: $crate::early::Count = $crate::early::Count::Wait, "";
                /// Unit of the average: "packets", or "bytes" (and p scaled by the packet's size / avpkt).
                unit: $crate::early::Unit = $crate::early::Unit::Packets, "";
                /// Whether ECN-capable packets are marked where others are dropped early; forced drops stay drops.
                ecn: bool = false, "", needs [EctFlows];
                /// Packets that must wait for an early or forced drop, whatever the average is; ns-2 has 2.
                least_backlog: f64 = 0.0, "packets";
                /// Packets of size avpkt that lift the average from 0 to min_th: gives w_q, as in tc; 0 for unused; auto: tc's own.
                burst: base::Auto = base::Auto::Is(0.0), "packets", needs [Open("w_q")];
                /// Mean packet: the unit of idle time, and of size in byte mode; auto: the link's.
                avpkt: base::Amount = base::Amount::Auto, "packets";
                $($own)*
            }
        }

        impl Params {
            fn open(&mut self) -> $crate::early::Open<'_> {
                let Self { min_th, max_th, w_q, burst, avpkt, .. } = self;
                $crate::early::Open { min_th, max_th, w_q, burst, avpkt }
            }

            fn settings(&self) -> $crate::early::Settings {
                $crate::early::Settings {
                    min_th: self.min_th.packets(),
                    max_th: self.max_th.packets(),
                    w_q: self.w_q.or(|| f64::NAN),
                    max_p: self.max_p,
                    gentle: self.gentle,
                    count: self.count,
                    unit: self.unit,
                    ecn: self.ecn,
                    least_backlog: self.least_backlog,
                    avpkt: self.avpkt.packets(),
                }
            }
        }
    };
}
pub(crate) use red_params;

/// Names that `tc` uses for parameters.
pub(crate) const SPELLINGS: &[(&str, &str)] = &[("min", "min_th"), ("max", "max_th"), ("probability", "max_p")];

/// Parameters whose automatic value depends on the link.
pub(crate) struct Open<'a> {
    pub min_th: &'a mut Amount,
    pub max_th: &'a mut Amount,
    pub w_q: &'a mut Auto,
    pub burst: &'a mut Auto,
    pub avpkt: &'a mut Amount,
}

impl Open<'_> {
    /// Sets the automatic values; `automatic` computes the weight from the packets per second.
    pub fn resolve(self, port: &Port, automatic: impl FnOnce(f64) -> f64) -> Result<(), ParamError> {
        if matches!(*self.burst, Auto::Is(burst) if burst < 0.0) {
            return Err(ParamError::new("burst", "must be 0 or more packets"));
        }
        let avpkt = self.avpkt.or(|| 1.0);
        let bytes = avpkt * port.packet;
        // A number without a unit, such as 1000, means bytes in tc but packets here; no packet is that large.
        if !(bytes >= 1.0 && bytes <= port.packet.max(65_535.0)) {
            return Err(ParamError::new("avpkt", "must be the size of a packet, such as \"1000 B\""));
        }
        let min_th = match (*self.min_th, *self.max_th) {
            (Amount::Auto, Amount::Auto) => {
                // FGS, Section 5: the middle of the range is at a delay of 5 ms, and max_th is 3 min_th.
                let wanted = (0.005 * port.capacity() / 2.0).max(5.0);
                // A buffer of less than a packet still needs thresholds.
                port.buffer().map_or(wanted, |buffer| wanted.min(buffer.max(1.0) / 4.0))
            }
            (Amount::Auto, max_th) => max_th.packets() / 3.0,
            (min_th, _) => min_th.packets(),
        };
        let max_th = self.max_th.or(|| 3.0 * min_th);
        // As in tc/q_red.c, in whole packets.
        let burst = self.burst.or(|| ((2.0 * min_th + max_th) / (3.0 * avpkt)).floor());
        if *self.w_q == Auto::Auto {
            *self.w_q = Auto::Is(if burst > 0.0 {
                let reason = "fits no weight: must be min_th / avpkt or more, and min_th above avpkt";
                weight_for(min_th / avpkt, burst).ok_or_else(|| ParamError::new("burst", reason))?
            } else {
                automatic(port.capacity() / avpkt)
            });
        }
        *self.avpkt = Amount::Packets(avpkt);
        *self.burst = Auto::Is(burst);
        *self.max_th = Amount::Packets(max_th);
        *self.min_th = Amount::Packets(min_th);
        Ok(())
    }
}

/// FGS, Section 5: the average decays with a time constant of one second.
pub(crate) fn weight_of_a_second(packets_per_s: f64) -> f64 {
    -libm::expm1(-1.0 / packets_per_s)
}

/// The largest power of two W, at most 1/2, with burst + 1 - min <= (1 - (1-W)^burst) / W: `burst` mean packets at once
/// raise the average from 0 to `min` packets. Source: Floyd and Jacobson 1993, Section 6, in the form that `tc` uses.
fn weight_for(min: f64, burst: f64) -> Option<f64> {
    let room = burst + 1.0 - min;
    let fits = |w: &f64| room <= -libm::expm1(burst * libm::log1p(-w)) / w;
    if room < 1.0 { None } else { std::iter::successors(Some(0.5), |w| Some(w / 2.0)).take(31).find(fits) }
}

/// The smallest whole burst for which [`weight_for`] returns `w`.
fn burst_for(min: f64, w: f64) -> Option<f64> {
    let (mut short, mut enough) = (min.ceil() as u64, 1 << 31);
    while short < enough {
        let burst = short.midpoint(enough);
        if weight_for(min, burst as f64).is_none_or(|found| found <= w) { enough = burst } else { short = burst + 1 }
    }
    (weight_for(min, enough as f64) == Some(w)).then_some(enough as f64)
}

/// The common parameters, resolved: amounts are in packets of the link's mean size.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub min_th: f64,
    pub max_th: f64,
    pub w_q: f64,
    pub max_p: f64,
    pub gentle: bool,
    pub count: Count,
    pub unit: Unit,
    pub ecn: bool,
    pub least_backlog: f64,
    pub avpkt: f64,
}

impl Settings {
    pub fn check(&self) -> Result<(), ParamError> {
        // With a smaller difference the slope between the thresholds is not finite.
        if self.max_th.is_nan() || self.max_th - self.min_th < 1e-9 {
            return Err(ParamError::new(
                "max_th",
                format!("must be above min_th, which is {} packets", (self.min_th * 1e3).round() / 1e3),
            ));
        }
        if !(self.w_q > 0.0 && self.w_q <= 1.0) {
            return Err(ParamError::new("w_q", "must lie above 0 and be at most 1"));
        }
        if !(self.max_p > 0.0 && self.max_p <= 1.0) {
            return Err(ParamError::new("max_p", "must lie above 0 and be at most 1"));
        }
        if !(self.least_backlog >= 0.0 && self.least_backlog.is_finite()) {
            return Err(ParamError::new("least_backlog", "must be 0 or more packets"));
        }
        Ok(())
    }

    /// Probability that an arrival is dropped or marked, if drops are spaced evenly.
    pub fn curve(&self, average: f64) -> f64 {
        Curve::new(self).at(average)
    }

    /// The words for `tc`, if Linux can express these settings.
    pub fn tc(&self, port: &Port, adaptive: bool) -> Option<String> {
        if self.gentle || self.count == Count::Wait || self.least_backlog > 0.0 {
            return None;
        }
        let log = (-libm::log2(self.w_q)).round() as u32;
        if log == 0 {
            return None;
        }
        // Linux stores the average in 32 bits, `log` of them for the fraction.
        let whole = |packets: f64| {
            let bytes = (packets * port.packet).round();
            let fits = |bytes: &u32| u32::BITS - bytes.leading_zeros() + log < 32;
            (bytes <= f64::from(u32::MAX)).then_some(bytes as u32).filter(fits)
        };
        let (min, max) = (whole(self.min_th)?, whole(self.max_th)?);
        let limit = port.buffer_bytes().filter(|bytes| *bytes <= f64::from(u32::MAX))?.round();
        let burst = burst_for(self.min_th / self.avpkt, 1.0 / f64::from(1u32 << log))?;
        Some(format!(
            "red limit {limit} min {min} max {max} avpkt {} burst {burst} probability {} bandwidth {}bit{}{}",
            (self.avpkt * port.packet).round(),
            self.max_p,
            port.rate.0,
            // Without harddrop, Linux marks even above `max`.
            if self.ecn { " ecn harddrop" } else { "" },
            if adaptive { " adaptive" } else { "" },
        ))
    }
}

/// The drop probability as a function of the average.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) min_th: f64,
    pub(super) max_th: f64,
    /// Average above which every packet is dropped.
    pub(super) end: f64,
    pub(super) max_p: f64,
    pub(super) slope: f64,
    pub(super) gentle_slope: f64,
}

impl Curve {
    pub(super) fn new(s: &Settings) -> Self {
        let end = if s.gentle { 2.0 * s.max_th } else { s.max_th };
        let mut curve = Self { min_th: s.min_th, max_th: s.max_th, end, max_p: 0.0, slope: 0.0, gentle_slope: 0.0 };
        curve.set_max_p(s.max_p);
        curve
    }

    pub(super) fn set_max_p(&mut self, max_p: f64) {
        self.max_p = max_p;
        self.slope = max_p / (self.max_th - self.min_th);
        self.gentle_slope = (1.0 - max_p) / self.max_th;
    }

    #[inline]
    pub(super) fn at(&self, average: f64) -> f64 {
        if average < self.min_th {
            0.0
        } else if average >= self.end {
            1.0
        } else if average < self.max_th {
            self.slope * (average - self.min_th)
        } else {
            self.max_p + self.gentle_slope * (average - self.max_th)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_weight_that_tc_prints() {
        // The example of Linux's commit 8af2a218: min 30000 avpkt 1000 burst 55 shows "ewma 5".
        assert_eq!(weight_for(30.0, 55.0), Some(1.0 / 32.0));
        // At W = 1/32: (1 - (31/32)^55) / W = 26.42 >= 26 = 55 + 1 - 30; at 1/16 it is 15.54.
        assert_eq!(burst_for(30.0, 1.0 / 32.0).and_then(|burst| weight_for(30.0, burst)), Some(1.0 / 32.0));
        assert_eq!(burst_for(30.0, 1.0 / 32.0).and_then(|burst| weight_for(30.0, burst - 1.0)), Some(1.0 / 16.0));
        // A burst shorter than min never raises the average to min; a min of one packet lies below the result of any burst.
        assert_eq!((weight_for(30.0, 29.0), weight_for(1.0, 100.0)), (None, None));
    }
}

//! Parameters, timer and steps of the kinds of RED that adapt `max_p` to the average.
//!
//! Source: Floyd, Gummadi and Shenker 2001 ("Adaptive RED"), Figure 1.

use super::params::{AdaptOn, Settings};
use base::{ParamError, Span, Time};

/// The parameters of a kind of RED that adapts `max_p`: those that all such kinds have, and its own.
macro_rules! adaptive_red_params {
    ($(#[$about:meta])* { $($own:tt)* }) => {
        $crate::early::red_params! {
            $(#[$about])*
            {
                /// Interval of the changes of max_p, or the least time between two of them.
                interval: base::Span = base::Span::millis(500), "";
                /// Trigger of changes of max_p: "clock" (once an interval) or "arrivals" (each, an interval after the last change).
                looks: $crate::early::AdaptOn = $crate::early::AdaptOn::Clock, "";
                /// The most that max_p rises by; a quarter of it if that is less.
                alpha: f64 = 0.01, "";
                /// Factor by which max_p is decreased.
                beta: f64 = 0.9, "";
                $($own)*
                /// Above this, max_p does not rise.
                top: f64 = 0.5, "";
                /// Lower end of the band, between min_th (0) and max_th (1).
                target_low: f64 = 0.4, "";
                /// Upper end of the band.
                target_high: f64 = 0.6, "";
            }
        }

        impl Params {
            fn changes(&self) -> $crate::early::Changes {
                let Self { interval, looks, alpha, beta, top, target_low, target_high, .. } = *self;
                $crate::early::Changes { interval, looks, alpha, beta, top, target_low, target_high }
            }
        }
    };
}
pub(crate) use adaptive_red_params;

/// The shared parameters of the changes of `max_p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Changes {
    pub interval: Span,
    pub looks: AdaptOn,
    pub alpha: f64,
    pub beta: f64,
    pub top: f64,
    pub target_low: f64,
    pub target_high: f64,
}

/// A timer that expires whether or not packets arrive.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    interval: Span,
    pub next: Time,
}

impl Timer {
    /// The first tick comes after one interval.
    pub fn new(interval: Span) -> Result<Self, ParamError> {
        crate::checks::clock("interval", interval)?;
        Ok(Self { interval, next: Time::ZERO + interval })
    }

    pub fn tick(&mut self, now: Time) {
        self.next = Time(now.0.saturating_add(self.interval.0));
    }
}

/// Band of the average, the steps of `max_p`, and the timer of the changes.
#[derive(Clone, Debug)]
pub(crate) struct Adaptation {
    pub low: f64,
    pub high: f64,
    alpha: f64,
    beta: f64,
    top: f64,
    timer: Timer,
    on: AdaptOn,
}

impl Adaptation {
    /// The first change is after one interval.
    pub fn new(s: &Settings, changes: &Changes) -> Result<Self, ParamError> {
        let Changes { interval, looks, alpha, beta, top, target_low, target_high } = *changes;
        let timer = Timer::new(interval)?;
        if !(alpha > 0.0 && alpha <= 1.0) {
            return Err(ParamError::new("alpha", "must lie above 0 and be at most 1"));
        }
        if !(beta > 0.0 && beta < 1.0) {
            return Err(ParamError::new("beta", "must lie strictly between 0 and 1"));
        }
        if !(top > 0.0 && top <= 1.0) {
            return Err(ParamError::new("top", "must lie above 0 and be at most 1"));
        }
        if !(0.0..=1.0).contains(&target_low) {
            return Err(ParamError::new("target_low", "must lie between 0 (min_th) and 1 (max_th)"));
        }
        if !(target_low..=1.0).contains(&target_high) {
            return Err(ParamError::new("target_high", "must lie between target_low and 1 (max_th)"));
        }
        let at = |share: f64| s.min_th + share * (s.max_th - s.min_th);
        Ok(Self { low: at(target_low), high: at(target_high), alpha, beta, top, timer, on: looks })
    }

    /// Expiry time of the timer.
    #[inline]
    pub fn next(&self) -> Time {
        if self.on == AdaptOn::Clock { self.timer.next } else { Time::NEVER }
    }

    /// Whether an arrival at `now` adapts `max_p`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.on == AdaptOn::Arrivals && now >= self.timer.next
    }

    /// Notes that the average was compared with the band at `now`, and whether `max_p` has `moved`.
    pub fn adapted(&mut self, now: Time, moved: bool) {
        // A clock continues in any case. With arrivals, the next interval begins when `max_p` moves.
        if moved || self.on == AdaptOn::Clock {
            self.timer.tick(now);
        }
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

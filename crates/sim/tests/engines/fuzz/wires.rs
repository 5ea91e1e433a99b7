//! Delays of links to try: the same for all, drawn for each link, in steps, with jitter, in another order.

use super::{Pace, range};
use proptest::prelude::*;

/// The delay of a link, in microseconds.
#[derive(Clone, Debug)]
pub struct Wire {
    delay: u32,
    /// Range above `delay` from which delays are drawn.
    more: u32,
    /// Steps of a changing delay instead.
    steps: Option<Steps>,
    /// Jitter drawn for each packet.
    jitter: Option<Jitter>,
    /// Rule by which packets overtake others, and its delay in microseconds.
    reorder: Option<(&'static str, u32)>,
}

/// Rules of reordering; `{}` is a delay.
const REORDERS: [(&str, u32); 6] = [
    ("{ late = 0.05, by = {} }", 9000),
    ("{ early = 0.25, by = {}, gap = 3 }", 3000),
    ("{ early = 0.9, by = {} }", 1),
    ("{ paths = [{}, \"0 s\", {}] }", 2500),
    ("{ paths = [\"0 s\", {}], spray = \"random\" }", 20_000),
    ("\"jitter\"", 0),
];

pub fn wire() -> impl Strategy<Value = Wire> {
    let delay = prop_oneof![Just(0u32), Just(5_000u32), 0u32..30_000];
    let more = prop_oneof![2 => Just(0u32), 1 => 1u32..20_000];
    let steps = prop_oneof![3 => Just(None), 1 => prop::sample::select(STEPS.to_vec()).prop_map(Some)];
    let jitters = vec![Jitter::Uniform(0, 6000), Jitter::Uniform(500, 700), Jitter::Exponential(900)];
    let jitter = prop_oneof![3 => Just(None), 1 => prop::sample::select(jitters).prop_map(Some)];
    let reorder = prop_oneof![4 => Just(None), 1 => prop::sample::select(REORDERS.to_vec()).prop_map(Some)];
    (delay, more, steps, jitter, reorder).prop_map(|(delay, more, steps, jitter, reorder)| Wire {
        delay,
        more,
        steps,
        jitter,
        reorder,
    })
}

/// Times and delays that hold from then on, and the period if that is not 0, in microseconds.
type Steps = (&'static [(u32, u32)], u32);

const STEPS: &[Steps] = &[
    (&[(0, 20_000), (300_000, 2000), (650_000, 31_000)], 800_000),
    (&[(0, 1), (1_200_000, 9000), (1_201_000, 1)], 0),
    (&[(0, 5000), (9000, 4000), (11_000, 7000)], 13_000),
];

/// Both ends of uniform draws, or 0 and the mean of exponential ones, in microseconds.
#[derive(Clone, Copy, Debug)]
enum Jitter {
    Uniform(u32, u32),
    Exponential(u32),
}

impl Wire {
    /// The same wire with a constant delay of at least `delay`.
    pub fn of_at_least(self, delay: u32) -> Self {
        Self { delay: self.delay.max(delay), ..self }
    }

    /// The longest that packets are on their way in the mean, in microseconds.
    pub fn longest(&self) -> u32 {
        let steps = self.steps.map(|(list, _)| list.iter().map(|step| step.1).max().unwrap_or(0));
        let drawn = match self.jitter {
            None => 0,
            Some(Jitter::Uniform(_, us) | Jitter::Exponential(us)) => us,
        };
        drawn + steps.unwrap_or(self.delay + self.more) + self.reorder.map_or(0, |rule| rule.1)
    }

    /// Text of a scenario file after `delay =`, with a line for the jitter.
    pub fn text(&self, pace: Pace) -> String {
        let text = |us: u32| format!("{:?}", pace.time(us));
        let delay = match self.steps {
            None => range(&pace.time(self.delay), &pace.time(self.delay + self.more)),
            Some((list, period)) => {
                let list: Vec<String> =
                    list.iter().map(|&(at, delay)| format!("[{}, {}]", text(at), text(delay))).collect();
                // The shortest period is a millisecond.
                let period = period.max(if pace == Pace::Fast { period.saturating_mul(100_000) } else { 0 });
                let period = if period > 0 { format!(", period = {}", text(period)) } else { String::new() };
                format!("{{ steps = [{}]{period} }}", list.join(", "))
            }
        };
        let delay = match self.reorder {
            None => delay,
            Some((rule, us)) => format!("{delay}\nreorder = {}", rule.replace("{}", &text(us))),
        };
        match self.jitter {
            None => delay,
            Some(Jitter::Uniform(0, to)) => format!("{delay}\njitter = {}", text(to)),
            Some(Jitter::Uniform(from, to)) => {
                format!("{delay}\njitter = {{ uniform = [{}, {}] }}", text(from), text(to))
            }
            Some(Jitter::Exponential(mean)) => format!("{delay}\njitter = {{ exponential = {} }}", text(mean)),
        }
    }
}

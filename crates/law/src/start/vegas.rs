//! The slow start of Vegas: the window doubles every other round trip. In between it does not change, so that the
//! expected and the actual rate can be compared. Slow start ends as soon as more than `gamma` own segments wait in the
//! queue.
//!
//! Source: L. Brakmo, L. Peterson, TCP Vegas, IEEE JSAC 13(8), 1995, Section III-C.
//! Differs from the source: the round-trip time compared is the smallest of the round without growth, not one segment's.
//! Differs from ns-2: there the window loses one eighth on leaving. Linux doubles every round trip.

use super::Start;
use crate::{AckSample, Needs, Opening, SlowStart};
use base::{Card, Need, ParamError, Registered, Span};

base::params! {
    /// Brakmo & Peterson 1995.
    pub struct Params {
        /// Own segments in the queue above which slow start is over.
        gamma: f64 = 1.0, "segments";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Vegas(Box<Resting>);

/// State; boxed, so that flows with other slow starts do not need memory for it.
#[derive(Clone, Debug)]
struct Resting {
    gamma: f64,
    growing: bool,
    /// Smallest round-trip time of the round in progress.
    least: Span,
}

impl Registered for Vegas {
    type Params = Params;
    const CARD: Card = Card {
        name: "vegas-start",
        aliases: &[],
        title: "Slow start of Vegas",
        source: "Brakmo and Peterson 1995",
        differs: "The window is kept on leaving; ns-2 takes one eighth off. Linux doubles every round trip.",
    };
    const NEEDS: &'static [Need] = &[Need::SlowStart];
}

impl Start for Vegas {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.gamma < 0.0 {
            return Err(ParamError::new("gamma", "must be 0 or more"));
        }
        Ok(Self(Box::new(Resting { gamma: p.gamma, growing: false, least: Span(u64::MAX) })))
    }
}

impl SlowStart for Vegas {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, ..Needs::default() }
    }

    fn open(&mut self, cwnd: f64, ack: &AckSample) -> Opening {
        let Resting { gamma, growing, least } = &mut *self.0;
        if ack.round_start {
            let rested = !*growing && least.0 != u64::MAX;
            if rested && cwnd * (1.0 - ack.min_rtt.0 as f64 / least.0 as f64) > *gamma {
                return Opening::Exit(cwnd);
            }
            *growing = !*growing;
            *least = Span(u64::MAX);
        }
        if let Some(rtt) = ack.rtt {
            *least = (*least).min(rtt);
        }
        Opening::Grow(if *growing { cwnd + ack.acked.min(ack.abc_limit) } else { cwnd })
    }

    fn restart(&mut self) {
        (self.0.growing, self.0.least) = (false, Span(u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use crate::rounds::{Path, rounds};
    use crate::{LawSpec, StartSpec};
    use base::Span;

    #[test]
    fn doubles_every_other_round_trip_and_stops_at_the_first_window_that_queues() {
        let start = StartSpec::named("vegas-start").unwrap();
        let mut control = LawSpec::named("reno").unwrap().build(&start, 2.0, f64::INFINITY).unwrap();
        let list = rounds(&mut control, Path { base_rtt: Span::millis(100), bdp: 100.0 }, &[], 16);
        let windows: Vec<f64> = list.iter().map(|round| round.cwnd.floor()).collect();
        // 128 segments on a path of 100: 28 wait, which the round without growth measures. Then congestion avoidance
        // begins.
        let expected = [2.0, 4.0, 4.0, 8.0, 8.0, 16.0, 16.0, 32.0, 32.0, 64.0, 64.0, 128.0, 128.0, 128.0, 129.0, 130.0];
        assert_eq!(windows, expected);
    }
}

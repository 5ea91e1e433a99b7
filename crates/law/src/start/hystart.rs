//! HyStart++: in the first slow start, when the round-trip time rises, growth slows down for `css_rounds` round trips
//! (conservative slow start). Slow start resumes if the rise does not last; otherwise it ends. Later slow starts are
//! the classic one.
//!
//! Source: RFC 9406, Section 4 (parameters in 4.3).
//! Differs from Linux, which has the older algorithm: [`super::hystart_linux`].

use super::Start;
use crate::{AckSample, Needs, Opening, SlowStart};
use base::{Card, Need, ParamError, Registered, Span};

base::params! {
    /// RFC 9406, Section 4.3.
    pub struct Params {
        /// Smallest rise of the round-trip time that counts.
        min_rtt_thresh: Span = Span::millis(4), "";
        /// Largest rise of the round-trip time that is waited for.
        max_rtt_thresh: Span = Span::millis(16), "";
        /// The rise that counts is the last round's smallest round-trip time divided by this.
        min_rtt_divisor: f64 = 8.0, "";
        /// Samples that a round needs before it is judged.
        n_rtt_sample: u32 = 8, "samples";
        /// Conservative slow start grows this many times more slowly.
        css_growth_divisor: f64 = 4.0, "";
        /// Round trips of conservative slow start, the one in which it begins included.
        css_rounds: u32 = 5, "rounds";
        /// Segments that one ACK counts for at most (the RFC's L for a sender that does not pace).
        l: f64 = 8.0, "segments";
    }
}

/// No round-trip time yet; stands for the RFC's infinity.
const NONE: Span = Span(u64::MAX);

/// See the [module](self). The state of the first slow start is boxed, and freed when it is over.
#[derive(Clone, Debug)]
pub struct Hystart(Option<Box<First>>);

/// The first slow start.
#[derive(Clone, Debug)]
struct First {
    p: Params,
    /// Number of samples in this round.
    samples: u32,
    /// Completed round trips of conservative slow start.
    rounds: u32,
    /// lastRoundMinRTT, currentRoundMinRTT, cssBaselineMinRtt (`NONE` outside conservative slow start).
    last: Span,
    current: Span,
    baseline: Span,
}

impl Registered for Hystart {
    type Params = Params;
    const CARD: Card = Card {
        name: "hystart++",
        aliases: &["hystart", "rfc9406"],
        title: "HyStart++",
        source: "RFC 9406",
        differs: "Not the older HyStart of Linux, which is hystart-linux.",
    };
    const NEEDS: &'static [Need] = &[Need::SlowStart];
}

impl Start for Hystart {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.max_rtt_thresh < p.min_rtt_thresh {
            return Err(ParamError::new("max_rtt_thresh", "must not be below min_rtt_thresh"));
        }
        for (name, value) in [("min_rtt_divisor", p.min_rtt_divisor), ("css_growth_divisor", p.css_growth_divisor)] {
            if value < 1.0 {
                return Err(ParamError::new(name, "must be at least 1"));
            }
        }
        for (name, value) in [("n_rtt_sample", p.n_rtt_sample), ("css_rounds", p.css_rounds)] {
            if value == 0 {
                return Err(ParamError::new(name, "must be at least 1"));
            }
        }
        if p.l < 1.0 {
            return Err(ParamError::new("l", "must be at least 1"));
        }
        let (last, current, baseline) = (NONE, NONE, NONE);
        Ok(Self(Some(Box::new(First { p: p.clone(), samples: 0, rounds: 0, last, current, baseline }))))
    }
}

impl SlowStart for Hystart {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, ..Needs::default() }
    }

    fn gain(&self, _w: f64) -> Option<f64> {
        // The threshold is known by then, so there is nothing to search: RFC 9406 leaves later slow starts to RFC 5681.
        self.0.is_none().then_some(1.0)
    }

    fn open(&mut self, cwnd: f64, ack: &AckSample) -> Opening {
        let Some(first) = &mut self.0 else { return Opening::Grow(cwnd + ack.acked.min(ack.abc_limit)) };
        if ack.round_start && first.begin_round() {
            self.0 = None;
            return Opening::Exit(cwnd);
        }
        if let Some(rtt) = ack.rtt {
            first.update(rtt);
        }
        let acked = ack.acked.min(first.p.l);
        Opening::Grow(cwnd + if first.baseline == NONE { acked } else { acked / first.p.css_growth_divisor })
    }

    fn restart(&mut self) {
        self.0 = None;
    }
}

impl First {
    /// Ends a round and begins the next one. Returns whether slow start is over.
    fn begin_round(&mut self) -> bool {
        (self.last, self.current, self.samples) = (self.current, NONE, 0);
        if self.baseline == NONE {
            return false;
        }
        self.rounds += 1;
        self.rounds >= self.p.css_rounds
    }

    /// Takes a round-trip time: enters conservative slow start if the delay has risen since the last round, or leaves it if
    /// the rise is gone.
    fn update(&mut self, rtt: Span) {
        self.current = self.current.min(rtt);
        self.samples += 1;
        if self.samples < self.p.n_rtt_sample {
            return;
        }
        if self.baseline != NONE {
            if self.current < self.baseline {
                (self.baseline, self.rounds) = (NONE, 0);
            }
        } else if self.last != NONE {
            let share = Span((self.last.0 as f64 / self.p.min_rtt_divisor) as u64);
            if self.current >= self.last + share.min(self.p.max_rtt_thresh).max(self.p.min_rtt_thresh) {
                (self.baseline, self.rounds) = (self.current, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;

    fn start() -> Hystart {
        Hystart::new(&Params::default()).unwrap()
    }

    /// Whether it is in conservative slow start.
    fn in_css(start: &Hystart) -> bool {
        start.0.as_ref().unwrap().baseline != NONE
    }

    /// Runs a round of `acks` ACKs at `rtt`; returns the window after it, and whether slow start ended.
    fn round(start: &mut Hystart, mut w: f64, acks: u32, rtt: Span) -> (f64, bool) {
        for i in 0..acks {
            match start.open(w, &AckSample { round_start: i == 0, ..AckSample::plain(Time(0), rtt) }) {
                Opening::Grow(x) => w = x,
                Opening::Exit(x) => return (x, true),
            }
        }
        (w, false)
    }

    fn slows_down(first: Span, second: Span, acks: u32) -> bool {
        let mut start = start();
        round(&mut start, 10.0, 10, first);
        round(&mut start, 20.0, acks, second);
        in_css(&start)
    }

    #[test]
    fn the_threshold_of_the_rise_is_an_eighth_of_the_rtt_between_4_and_16_ms() {
        // RFC 9406, 4.2: RttThresh = max(4 ms, min(lastRoundMinRTT / 8, 16 ms)).
        for (last, thresh) in [(1, 4), (16, 4), (80, 10), (128, 16), (200, 16)] {
            assert!(slows_down(Span::millis(last), Span::millis(last + thresh), 8), "{last} ms + {thresh} ms");
            assert!(!slows_down(Span::millis(last), Span::millis(last + thresh) - Span(1), 8), "just below");
        }
        assert!(!slows_down(Span::millis(80), Span::millis(100), 7), "seven samples are not enough");
    }

    #[test]
    fn goes_on_at_a_quarter_of_the_pace_for_five_rounds() {
        let mut start = start();
        let (w, _) = round(&mut start, 10.0, 10, Span::millis(80));
        assert_eq!(w, 20.0);
        // The eighth sample shows the rise: seven ACKs grow by one, thirteen by a quarter.
        let (mut w, _) = round(&mut start, w, 20, Span::millis(90));
        assert_eq!(w, 20.0 + 7.0 + 13.0 / 4.0);
        // That round was the first of five. The fifth ends with the ACK that begins the next round.
        for _ in 0..4 {
            let (next, over) = round(&mut start, w, 20, Span::millis(95));
            assert_eq!((next, over), (w + 5.0, false));
            w = next;
        }
        assert_eq!(round(&mut start, w, 20, Span::millis(95)), (w, true));
    }

    #[test]
    fn resumes_slow_start_if_the_rtts_fall_again() {
        let mut start = start();
        round(&mut start, 10.0, 10, Span::millis(80));
        round(&mut start, 20.0, 20, Span::millis(90));
        assert!(in_css(&start));
        // The delay is below the baseline of 90 ms: after eight samples the growth is normal again.
        let (w, _) = round(&mut start, 40.0, 20, Span::millis(89));
        assert_eq!(w, 40.0 + 7.0 / 4.0 + 13.0);
        // The next rise is measured from here: 89 + 89/8 = 100.125 ms.
        round(&mut start, 60.0, 20, Span::millis(101));
        assert!(in_css(&start) && start.0.unwrap().rounds == 0);
    }

    #[test]
    fn one_ack_counts_for_eight_segments_at_first_and_for_two_later() {
        let mut start = start();
        let big = AckSample { acked: 50.0, ..AckSample::plain(Time(0), Span::millis(80)) };
        assert_eq!(start.open(10.0, &big), Opening::Grow(18.0));
        assert_eq!(start.gain(10.0), None);
        start.restart();
        assert_eq!(start.open(10.0, &big), Opening::Grow(12.0));
        assert_eq!(start.gain(10.0), Some(1.0));
    }
}

//! Laws in whole segments, as Linux computes them: Reno and Scalable, and the counter of all laws with additive increase.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_cong.c` (`tcp_cong_avoid_ai`, `tcp_reno_ssthresh`) and `tcp_scalable.c`. The
//! difference from real numbers is largest for small windows: Scalable does not reduce a window of less than eight
//! segments.

use crate::{AckSample, CongestionEvent, WindowLaw};
use base::Value;
use base::param::ParamType;

/// Whether a law follows its source in real numbers, or Linux in integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The law's source, in real numbers.
    #[default]
    Exact,
    /// Linux's code, in integers.
    Linux,
}

impl ParamType for Variant {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "exact" => Ok(Self::Exact),
            Value::Text(word) if word == "linux" => Ok(Self::Linux),
            _ => Err("must be \"exact\" or \"linux\"".into()),
        }
    }

    fn write(&self) -> Value {
        let word = match self {
            Self::Exact => "exact",
            Self::Linux => "linux",
        };
        Value::Text(word.into())
    }
}

/// Acknowledged segments that have not led to growth yet (`snd_cwnd_cnt`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counter(u32);

impl Counter {
    /// The window after `acked` segments, if it grows by one for each `count` of them (`tcp_cong_avoid_ai`).
    pub(crate) fn grow(&mut self, mut cwnd: u32, count: u32, acked: u32) -> u32 {
        // Segments counted while `count` was larger add at most one segment.
        if self.0 >= count {
            self.0 = 0;
            cwnd += 1;
        }
        self.0 += acked;
        let grows = self.0 / count;
        self.0 %= count;
        cwnd + grows
    }
}

/// Part of the window that a reduction keeps.
#[derive(Clone, Copy, Debug)]
enum Kept {
    /// This share, rounded down.
    Share(f64),
    /// All but this share; the share is rounded down.
    AllBut(f64),
}

/// Reno or Scalable in whole segments.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Largest number of acknowledged segments per segment of growth.
    most: u32,
    kept: Kept,
    /// Whether an ACK counts as one segment, however many it acknowledges.
    per_ack: bool,
    counter: Counter,
}

impl Whole {
    /// Reno with a cut by the share `decrease`.
    #[must_use]
    pub fn reno(decrease: f64) -> Self {
        Self::new(u32::MAX, Kept::Share(1.0 - decrease), false)
    }

    /// Scalable with a gain of `increase` per segment or per ACK, and a cut by the share `decrease`.
    #[must_use]
    pub fn scalable(increase: f64, decrease: f64, per_ack: bool) -> Self {
        Self::new((libm::round(1.0 / increase) as u32).max(1), Kept::AllBut(decrease), per_ack)
    }

    fn new(most: u32, kept: Kept, per_ack: bool) -> Self {
        Self { most, kept, per_ack, counter: Counter::default() }
    }
}

impl WindowLaw for Whole {
    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        let cwnd = cwnd as u32;
        let acked = if self.per_ack { 1 } else { ack.acked as u32 };
        f64::from(self.counter.grow(cwnd, cwnd.min(self.most), acked))
    }

    fn backoff(&mut self, cwnd: f64, _event: &CongestionEvent) -> f64 {
        self.counter = Counter::default();
        let cwnd = libm::floor(cwnd);
        let kept = match self.kept {
            Kept::Share(share) => libm::floor(cwnd * share),
            Kept::AllBut(share) => cwnd - libm::floor(cwnd * share),
        };
        kept.max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signal;
    use base::{Span, Time};

    fn scalable(increase: f64, per_ack: bool) -> Whole {
        Whole::scalable(increase, 0.125, per_ack)
    }

    fn kept(law: &mut Whole, cwnd: f64) -> f64 {
        law.backoff(cwnd, &CongestionEvent::plain(Time::ZERO, Signal::Loss, Span::millis(10)))
    }

    /// The window after `acks` ACKs for two segments each.
    fn after(law: &mut Whole, mut cwnd: f64, acks: u32) -> f64 {
        let ack = AckSample { acked: 2.0, ..AckSample::plain(Time::ZERO, Span::millis(10)) };
        for _ in 0..acks {
            cwnd = law.avoid(cwnd, &ack);
        }
        cwnd
    }

    #[test]
    fn windows_are_cut_as_whole_numbers() {
        // max(cwnd >> 1, 2) and max(cwnd - (cwnd >> 3), 2).
        let mut reno = Whole::reno(0.5);
        assert_eq!([100.0, 7.0, 5.9, 3.0, 2.0].map(|w| kept(&mut reno, w)), [50.0, 3.0, 2.0, 2.0, 2.0]);
        let mut law = scalable(0.01, false);
        assert_eq!([100.0, 17.0, 8.0, 7.9, 2.0].map(|w| kept(&mut law, w)), [88.0, 15.0, 7.0, 7.0, 2.0]);
    }

    #[test]
    fn windows_grow_by_whole_segments() {
        let mut reno = Whole::reno(0.5);
        assert_eq!(
            (after(&mut reno, 10.0, 4), after(&mut reno, 10.0, 1)),
            (10.0, 11.0),
            "ten acknowledged segments add one segment"
        );
        // The window grows by one per 100 acknowledged segments; in Linux before 5.7, by one per 50 ACKs.
        assert_eq!(after(&mut scalable(0.01, false), 500.0, 100), 502.0);
        assert_eq!(after(&mut scalable(0.02, true), 500.0, 100), 502.0);
        // A smaller window grows as Reno's: by one per 20 acknowledged segments, or per 20 ACKs.
        assert_eq!(after(&mut scalable(0.01, false), 20.0, 10), 21.0);
        assert_eq!(after(&mut scalable(0.02, true), 20.0, 20), 21.0);
    }

    #[test]
    fn a_cut_resets_the_counter_and_a_smaller_count_turns_it_into_one_segment() {
        let mut counter = Counter::default();
        assert_eq!((counter.grow(10, 100, 99), counter.grow(10, 5, 1)), (10, 11));
        let mut reno = Whole::reno(0.5);
        after(&mut reno, 10.0, 4);
        kept(&mut reno, 10.0);
        assert_eq!(reno.counter, Counter::default());
    }
}

//! `HyStart` as Linux uses it with CUBIC. Slow start ends at once when closely spaced ACKs (an ACK train) have arrived for
//! half of the smallest round-trip time, or when the round-trip times of a round have risen.
//!
//! Source: Ha and Rhee 2011, "Taming the elephants: new TCP slow start"; Linux 6.12, `hystart_update`, `cubictcp_acked` and
//! `hystart_ack_delay` of `net/ipv4/tcp_cubic.c`, for the numbers and rules.
//! Differs from Linux: samples are not dropped in the first second of a stage of congestion avoidance, because there is no
//! slow start then; segments acknowledged beyond the threshold do not increase the window.

use super::Start;
use crate::{AckSample, Needs, Opening, SlowStart};
use base::{Card, Need, ParamError, Registered, Span, Time};

base::params! {
    /// The module's parameters and constants.
    pub struct Params {
        /// No search below this window.
        low_window: f64 = 16.0, "segments";
        /// Whether a row of ACKs ends slow start.
        ack_train: bool = true, "";
        /// Whether a rise of the round-trip time does.
        delay: bool = true, "";
        /// Longest gap between two ACKs of a row.
        ack_delta: Span = Span::millis(2), "";
        /// Samples of a round before the rise is judged.
        min_samples: u32 = 8, "samples";
        /// Smallest rise that counts; else it is an eighth of the smallest round-trip time.
        min_rise: Span = Span::millis(4), "";
        /// Largest rise that is waited for.
        max_rise: Span = Span::millis(16), "";
    }
}

/// Four bursts of 64 KiB, in segments of 1,448 bytes: the data that may accumulate on the path while an ACK train is
/// measured.
const FOUR_BURSTS: f64 = 181.0;

/// Upper limit of the time allowed for these bursts.
const MOST_FOR_BURSTS: Span = Span::millis(1);

/// See the [module](self). Its state is boxed, because few senders have it.
#[derive(Clone, Debug)]
pub struct HystartLinux(Box<Search>);

/// The search for the end of slow start.
#[derive(Clone, Debug)]
struct Search {
    p: Params,
    /// Whether the end of slow start was found since the last timeout.
    found: bool,
    /// Whether the next ACK begins a round in any case.
    fresh: bool,
    round_began: Time,
    /// Time of the last ACK of the train.
    last_ack: Time,
    /// Smallest round-trip time of all samples, and that of this round; zero or `None` before the first sample.
    min_rtt: Span,
    round_rtt: Option<Span>,
    samples: u32,
}

impl Registered for HystartLinux {
    type Params = Params;
    const CARD: Card = Card {
        name: "hystart-linux",
        aliases: &["HyStart"],
        title: "HyStart, as in Linux",
        source: "Ha and Rhee 2011; Linux 6.12",
        differs: "What an ACK acknowledges beyond the threshold does not grow the window.",
    };
    const NEEDS: &'static [Need] = &[Need::SlowStart];
}

impl Start for HystartLinux {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.max_rise < p.min_rise {
            return Err(ParamError::new("max_rise", "must not be below min_rise"));
        }
        if !(p.ack_train || p.delay) {
            return Err(ParamError::new("delay", "must be true where ack_train is false; \"classic\" searches for nothing"));
        }
        let (zero, span) = (Time::ZERO, Span::ZERO);
        Ok(Self(Box::new(Search {
            p: p.clone(),
            found: false,
            fresh: true,
            round_began: zero,
            last_ack: zero,
            min_rtt: span,
            round_rtt: None,
            samples: 0,
        })))
    }
}

impl SlowStart for HystartLinux {
    fn needs(&self) -> Needs {
        Needs { rounds: true, every_rtt: true, ..Needs::default() }
    }

    fn open(&mut self, cwnd: f64, ack: &AckSample) -> Opening {
        let ends = ack.rtt.is_some_and(|rtt| self.0.on_rtt(cwnd, rtt, ack));
        if ends { Opening::Exit(cwnd) } else { Opening::Grow(cwnd + ack.acked) }
    }

    fn restart(&mut self) {
        (self.0.found, self.0.fresh, self.0.min_rtt) = (false, true, Span::ZERO);
    }
}

impl Search {
    /// Takes a round-trip time. Returns whether it ends slow start.
    fn on_rtt(&mut self, cwnd: f64, rtt: Span, ack: &AckSample) -> bool {
        let least = if self.min_rtt == Span::ZERO { rtt } else { self.min_rtt.min(rtt) };
        self.min_rtt = least.max(Span::micros(1));
        let searches = !self.found && cwnd >= self.p.low_window;
        if searches {
            self.found = self.search(cwnd, rtt, ack);
        } else {
            // The search, when it begins, starts with a round of its own.
            self.fresh = true;
        }
        searches && self.found
    }

    /// Whether this ACK, with this round-trip time, ends slow start.
    fn search(&mut self, cwnd: f64, rtt: Span, ack: &AckSample) -> bool {
        if ack.round_start || self.fresh {
            (self.round_began, self.last_ack) = (ack.now, ack.now);
            (self.round_rtt, self.samples, self.fresh) = (None, 0, false);
        }
        // Both are always evaluated, because the ACK train must be followed even if the delay alone ends slow start.
        let train = self.p.ack_train && self.is_train(cwnd, ack);
        let risen = self.p.delay && self.has_risen(rtt);
        train || risen
    }

    fn is_train(&mut self, cwnd: f64, ack: &AckSample) -> bool {
        if ack.now.since(self.last_ack) > self.p.ack_delta {
            return false;
        }
        self.last_ack = ack.now;
        // The sending rate in slow start is two windows per round-trip time.
        let bursts = Span((FOUR_BURSTS * ack.srtt.0 as f64 / (2.0 * cwnd)) as u64).min(MOST_FOR_BURSTS);
        let threshold = self.min_rtt + bursts;
        // Pacing may have delayed segments by up to half a round-trip time.
        let threshold = if ack.paced { threshold } else { Span(threshold.0 / 2) };
        ack.now.since(self.round_began) > threshold
    }

    fn has_risen(&mut self, rtt: Span) -> bool {
        let least = self.round_rtt.map_or(rtt, |least| least.min(rtt));
        self.round_rtt = Some(least);
        if self.samples < self.p.min_samples {
            self.samples += 1;
            return false;
        }
        let rise = Span(self.min_rtt.0 / 8).max(self.p.min_rise).min(self.p.max_rise);
        least > self.min_rtt + rise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(p: &Params) -> HystartLinux {
        HystartLinux::new(p).unwrap()
    }

    /// Runs a round of ACKs, `gap` apart from `began` on, with this round-trip time; returns the number of the ACK that
    /// ended slow start.
    fn round(start: &mut HystartLinux, cwnd: f64, acks: u32, (began, gap, rtt): (Time, Span, Span), paced: bool) -> Option<u32> {
        (0..acks).find(|&i| {
            let now = began + Span(gap.0 * u64::from(i));
            let ack = AckSample { round_start: i == 0, paced, ..AckSample::plain(now, rtt) };
            matches!(start.open(cwnd, &ack), Opening::Exit(_))
        })
    }

    const RTT: Span = Span::millis(40);

    #[test]
    fn an_ack_train_of_half_the_round_trip_time_ends_slow_start() {
        // The train must last more than (40 ms + 1 ms) / 2: the 22nd ACK, if they are 1 ms apart. With pacing, more than 41
        // ms.
        for (paced, at) in [(false, 21), (true, 42)] {
            let mut start = start(&Params { delay: false, ..Params::default() });
            assert_eq!(round(&mut start, 50.0, 50, (Time::ZERO, Span::millis(1), RTT), paced), Some(at));
        }
        // ACKs more than 2 ms apart do not form a train.
        let mut start = start(&Params { delay: false, ..Params::default() });
        assert_eq!(round(&mut start, 50.0, 50, (Time::ZERO, Span::micros(2001), RTT), false), None);
    }

    #[test]
    fn a_rise_of_an_eighth_between_4_and_16_ms_ends_slow_start() {
        for (least, rise) in [(8, 4), (40, 5), (80, 10), (200, 16)] {
            for (more, ends) in [(Span::ZERO, None), (Span(1), Some(8))] {
                let mut start = start(&Params { ack_train: false, ..Params::default() });
                let (gap, least) = (Span::millis(3), Span::millis(least));
                assert_eq!(round(&mut start, 50.0, 9, (Time::ZERO, gap, least), false), None);
                let began = Time::ZERO + Span::secs(1);
                let rtt = least + Span::millis(rise) + more;
                assert_eq!(round(&mut start, 90.0, 9, (began, gap, rtt), false), ends, "{least:?} {more:?}");
            }
        }
    }

    #[test]
    fn there_is_no_search_below_16_segments_or_after_the_end_was_found() {
        let mut start = start(&Params::default());
        assert_eq!(round(&mut start, 15.0, 50, (Time::ZERO, Span::millis(1), RTT), false), None);
        assert!(round(&mut start, 16.0, 50, (Time::ZERO, Span::millis(1), RTT), false).is_some());
        assert_eq!(round(&mut start, 90.0, 50, (Time::ZERO, Span::millis(1), RTT), false), None);
        start.restart();
        assert!(round(&mut start, 90.0, 50, (Time::ZERO, Span::millis(1), RTT), false).is_some());
    }
}

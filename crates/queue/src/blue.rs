//! BLUE: one drop probability that rises when packets are lost for lack of room and falls when the link falls idle.
//!
//! Source: Feng, Shin, Kandlur and Saha 2002 ("The BLUE Active Queue Management Algorithms", IEEE/ACM Transactions on
//! Networking 10(4)), Section III. Defaults as in ns-3's port of the authors' program: the small steps, the long
//! `freeze_time`; the large steps are 0.02 and 0.002. The paper leaves three points open. Here BLUE's own drops are not
//! losses, and the arrival does not belong to the backlog. An idle link is an event when its idle period begins, and again
//! each time `freeze_time` has passed, until the probability is 0; so a probability of 1 does not last.
//! Differs from ns-3: in ns-3 BLUE's own early drops raise the probability, too.

use crate::signal::{by_chance, signal};
use crate::{Admission, Backlog, Limit, Packet, Port, Rule, Verdict};
use base::{Amount, Card, Cause, Need, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// Feng, Shin, Kandlur and Saha 2002.
    pub struct Params {
        /// Increase of the probability when a packet is lost (d1).
        increment: f64 = 0.0025, "";
        /// Decrease of the probability when the link falls idle, and for each `freeze_time` that it stays idle (d2).
        decrement: f64 = 0.00025, "";
        /// Time after a change of the probability during which further events are ignored.
        freeze_time: Span = Span::millis(100), "";
        /// Backlog above which an arrival counts as a loss does (L); 0 for losses alone.
        threshold: Amount = Amount::Packets(0.0), "packets";
        /// Mark packets that can carry the mark instead of dropping them.
        ecn: bool = true, "", needs [EctFlows];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Blue {
    params: Params,
    limit: Limit,
    threshold: Option<f64>,
    chance: Stream,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    prob: f64,
    last_update: Time,
}

impl Registered for Blue {
    type Params = Params;
    const CARD: Card = Card {
        name: "blue",
        aliases: &["BLUE", "Blue"],
        title: "BLUE",
        source: "Feng, Shin, Kandlur and Saha 2002",
        differs: "Its own early drops are no losses; ns-3 counts them.",
    };
}

impl Rule for Blue {
    fn gives(p: &Params) -> Option<Need> {
        p.ecn.then_some(Need::Marks)
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        for (field, step) in [("increment", p.increment), ("decrement", p.decrement)] {
            if step <= 0.0 || step > 1.0 {
                return Err(ParamError::new(field, "must be above 0 and at most 1"));
            }
        }
        let threshold = p.threshold.packets();
        Ok(Self {
            params: p.clone(),
            limit: port.limit,
            threshold: (threshold > 0.0).then_some(threshold),
            chance,
            state: State::default(),
        })
    }
}

impl Blue {
    /// An event of the paper: changes the probability by `step`, unless it changed less than `freeze_time` before.
    fn event(&mut self, at: Time, step: f64) {
        let state = &mut self.state;
        if at.since(state.last_update) > self.params.freeze_time {
            state.prob = (state.prob + step).clamp(0.0, 1.0);
            state.last_update = at;
        }
    }

    /// The events of a link that is idle from `since` on: one when the idle period begins, and one at the end of each
    /// freeze before `now`, as long as the probability is above 0.
    fn idle(&mut self, since: Time, now: Time) {
        if since > self.state.last_update {
            self.event(since, -self.params.decrement);
        }
        let (Params { freeze_time, decrement, .. }, state) = (&self.params, &mut self.state);
        let Some(passed) = now.since(state.last_update).0.checked_sub(1) else { return };
        let steps = (state.prob / decrement).ceil() as u64;
        // Without a freeze, all remaining events happen at once.
        let events = passed.checked_div(freeze_time.0).unwrap_or(steps).min(steps);
        state.prob = (state.prob - events as f64 * decrement).max(0.0);
        state.last_update += Span(freeze_time.0 * events);
    }
}

impl Admission for Blue {
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        if let Some(since) = idle_since {
            self.idle(since, packet.arrived);
        } else if !self.limit.has_room(backlog, packet) {
            self.event(packet.arrived, self.params.increment);
            return Verdict::Drop(Cause::Overflow);
        } else if self.threshold.is_some_and(|most| f64::from(backlog.packets) > most) {
            self.event(packet.arrived, self.params.increment);
        }
        let prob = self.state.prob;
        match by_chance(prob, &mut self.chance) {
            None => Verdict::Accept,
            Some(cause) => signal(packet, cause, self.params.ecn),
        }
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("prob", self.state.prob);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Flags, Rate};

    fn rule(params: &Params) -> Blue {
        let port = Port::new(Limit::Packets(50), Rate(1_000_000), 1000.0);
        Blue::new(params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap()
    }

    fn waiting(packets: u32) -> Backlog {
        Backlog { packets, bytes: Bytes(u64::from(packets) * 1000) }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::millis(ms)
    }

    fn packet(ms: u64) -> Packet {
        Packet::new(0, 0, 1000, at(ms))
    }

    #[test]
    fn p_rises_on_loss_and_falls_on_an_idle_link_as_in_the_paper() {
        let mut blue = rule(&Params { increment: 0.02, decrement: 0.002, ..Params::default() });
        // Columns: time of the arrival; start of the idle period, or `None` if the buffer is full; p afterwards, computed
        // by hand.
        let steps: &[(u64, Option<u64>, f64)] = &[
            (50, None, 0.0),           // 50 ms after the start: frozen
            (100, None, 0.0),          // 100 ms: not more than freeze_time
            (101, None, 0.02),         // + d1
            (150, None, 0.02),         // 49 ms later: frozen
            (202, None, 0.04),         // 101 ms later: + d1
            (302, Some(300), 0.04),    // idle 98 ms after the update: frozen, and still at 302 ms
            (303, Some(300), 0.038),   // but no more once the freeze has ended, at 302 ms: - d2
            (390, Some(303), 0.038),   // idle 1 ms after that update: frozen
            (900, Some(303), 0.028),   // - d2 at 402, 502, 602, 702 and 802 ms
            (901, Some(303), 0.028),   // the same idle period, 99 ms after the update at 802 ms
            (902, None, 0.028),        // 100 ms: frozen
            (960, None, 0.048),        // + d1
            (2000, Some(2000), 0.046), // idle now: - d2
            (2250, Some(2000), 0.042), // and at 2100 and 2200 ms
        ];
        for &(now, idle, expected) in steps {
            blue.admit(&packet(now), waiting(if idle.is_some() { 0 } else { 50 }), idle.map(at));
            assert!((blue.state.prob - expected).abs() < 1e-15, "{now} ms: {}", blue.state.prob);
        }
        blue.state.prob = 0.001;
        blue.admit(&packet(9000), waiting(0), Some(at(8000)));
        assert_eq!(blue.state.prob, 0.0, "never below 0");
    }

    #[test]
    fn lets_packets_pass_again_some_time_after_a_flood() {
        // A flood has raised the probability to 1. Packets that arrive now are dropped, so the idle period continues, with
        // a decrement every 100 ms: half of the packets pass after 200 s, all after 400 s.
        let mut blue = rule(&Params::default());
        blue.state = State { prob: 1.0, last_update: at(60_000) };
        let arrivals = |from: u64, to: u64| (from..to).step_by(1000).map(|s| 60_000 + s);
        for ms in arrivals(1, 200_000) {
            blue.admit(&packet(ms), waiting(0), Some(at(60_000)));
        }
        assert!((blue.state.prob - (1.0 - 1990.0 * 0.00025)).abs() < 1e-12, "{}", blue.state.prob);
        for ms in arrivals(400_001, 500_000) {
            assert_eq!(blue.admit(&packet(ms), waiting(0), Some(at(60_000))), Verdict::Accept);
        }
        // Without a freeze any idle time is enough.
        let mut blue = rule(&Params { freeze_time: Span::ZERO, ..Params::default() });
        blue.state = State { prob: 1.0, last_update: at(60_000) };
        assert!(matches!(blue.admit(&packet(60_000), waiting(0), Some(at(60_000))), Verdict::Drop(_)));
        assert_eq!(blue.admit(&packet(60_001), waiting(0), Some(at(60_000))), Verdict::Accept);
    }

    #[test]
    fn p_rises_by_at_most_one_increment_per_freeze_time() {
        let mut blue = rule(&Params { increment: 0.02, decrement: 0.002, ..Params::default() });
        for ms in 0..=2000 {
            assert_eq!(blue.admit(&packet(ms), waiting(50), None), Verdict::Drop(Cause::Overflow));
            assert!(blue.state.prob <= 0.02 * ms as f64 / 100.0 + 1e-12, "{ms} ms: {}", blue.state.prob);
        }
        // Losses at every millisecond: updates at 101, 202, ... 1919 ms.
        assert!((blue.state.prob - 19.0 * 0.02).abs() < 1e-12);
    }

    #[test]
    fn a_backlog_above_the_threshold_counts_as_a_loss() {
        let mut blue = rule(&Params { threshold: Amount::Packets(20.0), ..Params::default() });
        blue.admit(&packet(101), waiting(20), None);
        assert_eq!(blue.state.prob, 0.0);
        blue.admit(&packet(102), waiting(21), None);
        assert_eq!(blue.state.prob, 0.0025);
        // An idle link has no backlog, and needs no room.
        assert_eq!(rule(&Params::default()).admit(&packet(0), waiting(0), Some(at(0))), Verdict::Accept);
    }

    #[test]
    fn drops_or_marks_packets_with_its_probability() {
        let mut blue = rule(&Params::default());
        blue.state.prob = 0.05;
        let n = 100_000;
        let mut signals = |flags| {
            let verdicts = (0..n).map(|_| blue.admit(&packet(1).with(flags), waiting(10), None));
            verdicts.filter(|v| *v != Verdict::Accept).collect::<Vec<_>>()
        };
        let (drops, marks) = (signals(Flags::NONE), signals(Flags::ECT));
        assert!(drops.iter().all(|v| *v == Verdict::Drop(Cause::Early)));
        assert!(marks.iter().all(|v| *v == Verdict::Mark(Cause::Early)));
        // Binomial: four standard errors, which a correct rule exceeds with probability 6e-5 in each of the two cases.
        let four_sigma = 4.0 * (0.05_f64 * 0.95 / f64::from(n)).sqrt();
        for count in [drops.len(), marks.len()] {
            assert!((count as f64 / f64::from(n) - 0.05).abs() < four_sigma, "{count}");
        }
        blue.state.prob = 1.0;
        assert_eq!(blue.admit(&packet(1), waiting(10), None), Verdict::Drop(Cause::Forced));
        blue.params.ecn = false;
        assert_eq!(blue.admit(&packet(1).with(Flags::ECT), waiting(10), None), Verdict::Drop(Cause::Forced));
    }

    #[test]
    fn refuses_steps_that_are_not_probabilities() {
        let port = Port::new(Limit::Packets(50), Rate(1_000_000), 1000.0);
        for (increment, decrement, field) in [(0.0, 0.1, "increment"), (0.1, 1.5, "decrement")] {
            let params = Params { increment, decrement, ..Params::default() };
            let error = Blue::new(&params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap_err();
            assert_eq!(error.field, field);
        }
    }
}

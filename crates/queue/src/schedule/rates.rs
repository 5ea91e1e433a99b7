//! Rates, each of which holds until the next one: from a list, or alternating between two states.
//!
//! The end of a service is rounded to the nearest picosecond, and nothing else is: while the rate does not change, the
//! result equals that of a link with a constant rate.

use base::time::PS_PER_S;
use base::{Bytes, Quantity, Rate, RunMonitor, Span, Stream, Time};
use std::sync::Arc;

/// Time after the end of every run: services that would end later count as ended then.
pub(super) const FAR: Time = Time(1 << 62);

/// Number of rate changes between two checks of the monitor.
const TURNS_BETWEEN_LOOKS: u32 = 65_536;

/// Number of steps of a sine wave.
const SINE_STEPS: u32 = 360;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Rates {
    /// The present rate, and the time until which it holds.
    rate: Rate,
    until: Time,
    source: Source,
}

/// Source of the rates.
#[derive(Clone, Debug)]
enum Source {
    /// A list that began at `origin`; its element `at` holds now.
    Steps { list: Arc<[(Span, Rate)]>, at: usize, origin: Time, period: Option<Period> },
    /// Two alternating rates, each of which holds for an exponential time.
    Markov { rates: [Rate; 2], means: [Span; 2], state: usize, chance: Stream },
}

/// Period after which a list repeats, and the work that can be done in it.
#[derive(Clone, Copy, Debug)]
struct Period {
    span: Span,
    work: u128,
}

impl Rates {
    /// A list of times, the first of which is 0, and the rates from these times on. The list starts again after `period`,
    /// which must be after the last time.
    ///
    /// # Panics
    /// Panics if the list is empty.
    #[must_use]
    pub fn steps(list: Arc<[(Span, Rate)]>, period: Option<Span>) -> Self {
        let period = period.map(|span| Period { span, work: integral(&list, span) });
        let rate = list[0].1;
        let source = Source::Steps { list, at: 0, origin: Time::ZERO, period };
        let mut rates = Self { rate, until: Time::ZERO, source };
        rates.begin_at(Time::ZERO);
        rates
    }

    /// A sine wave in [`SINE_STEPS`] steps that begins at its `mean` and rises; each step has the wave's mean over the
    /// step. Positive and negative deviations from the mean are equal.
    #[must_use]
    pub fn sine(mean: Rate, amplitude: Rate, period: Span) -> Self {
        let turn = |i: u32| f64::from(i) / f64::from(SINE_STEPS) * std::f64::consts::TAU;
        let step = |i: u32| {
            let half = i % (SINE_STEPS / 2);
            let (from, to) = (turn(half), turn(half + 1));
            let above = (amplitude.0 as f64 * (libm::cos(from) - libm::cos(to)) / (to - from)).round() as u64;
            let rate = if half == i { mean.0 + above } else { mean.0.saturating_sub(above) };
            let at = u128::from(period.0) * u128::from(i) / u128::from(SINE_STEPS);
            (Span(at as u64), Rate(rate))
        };
        Self::steps((0..SINE_STEPS).map(step).collect(), Some(period))
    }

    /// Two states with these rates, which hold for exponential times with these means. The first state is drawn from the
    /// stationary distribution.
    #[must_use]
    pub fn markov(rates: [Rate; 2], means: [Span; 2], mut chance: Stream) -> Self {
        let first = means[0].as_secs() / (means[0].as_secs() + means[1].as_secs());
        let state = usize::from(chance.unit() >= first);
        let until = sojourn(means[state], Time::ZERO, &mut chance);
        Self { rate: rates[state], until, source: Source::Markov { rates, means, state, chance } }
    }

    /// Highest rate.
    #[must_use]
    pub fn fastest(&self) -> Rate {
        match &self.source {
            Source::Steps { list, .. } => list.iter().map(|step| step.1).max().unwrap_or(self.rate),
            Source::Markov { rates, .. } => rates[0].max(rates[1]),
        }
    }

    /// Moves on to the rate that holds at `now`.
    pub fn forward(&mut self, now: Time) {
        if now >= self.until {
            self.catch_up(now);
        }
    }

    #[cold]
    fn catch_up(&mut self, now: Time) {
        if let Source::Steps { origin, period: Some(period), .. } = self.source {
            let whole = (now - origin).0 / period.span.0;
            if whole > 0 {
                self.begin_at(Time(origin.0 + whole * period.span.0));
            }
        }
        while self.until <= now {
            self.turn();
        }
    }

    /// Moves on to the next rate.
    fn turn(&mut self) {
        match &mut self.source {
            Source::Steps { list, at, origin, period } => {
                *at += 1;
                if *at == list.len() {
                    return self.begin_at(self.until);
                }
                (self.rate, self.until) = (list[*at].1, end_of_step(list, *at, *origin, *period));
            }
            Source::Markov { rates, means, state, chance } => {
                *state = 1 - *state;
                (self.rate, self.until) = (rates[*state], sojourn(means[*state], self.until, chance));
            }
        }
    }

    /// Starts the list at `time`.
    fn begin_at(&mut self, time: Time) {
        if let Source::Steps { list, at, origin, period } = &mut self.source {
            (*at, *origin) = (0, time);
            (self.rate, self.until) = (list[0].1, end_of_step(list, 0, time, *period));
        }
    }

    /// The period of the list, if the list is at its beginning.
    fn begun(&self) -> Option<Period> {
        if let Source::Steps { at: 0, period, .. } = self.source { period } else { None }
    }

    /// End of a service of `size` that begins at `start`.
    pub fn finish(&mut self, start: Time, size: Bytes) -> Time {
        if start >= FAR {
            return FAR;
        }
        self.forward(start);
        let (mut left, mut at) = (u128::from(size.0) * 8 * u128::from(PS_PER_S), start);
        loop {
            let (rate, here) = (u128::from(self.rate.0), work(self.rate, self.until - at));
            if left <= here {
                let end = Time(at.0 + ((left + rate / 2) / rate) as u64);
                return end.max(start + Span(1)).min(FAR);
            }
            left -= here;
            at = self.until;
            if at >= FAR {
                return FAR;
            }
            self.turn();
            if let Some(period) = self.begun() {
                let whole = ((left - 1) / period.work.max(1)).min(u128::from(FAR.0 / period.span.0));
                left -= whole * period.work;
                at.0 += whole as u64 * period.span.0;
                self.begin_at(at);
            }
        }
    }

    /// Bits that pass from `from` until before `to`; arbitrary if `monitor` stops it, because rates may change a billion
    /// times.
    #[must_use]
    pub fn offered_bits(mut self, from: Time, to: Time, monitor: &RunMonitor) -> f64 {
        // Two states are followed from the start, with checks of the monitor in between.
        if matches!(self.source, Source::Steps { .. }) {
            self.forward(from);
        }
        let (mut done, mut at, mut turns) = (0, from, 0u32);
        while self.until < to {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(TURNS_BETWEEN_LOOKS) && monitor.is_stopped() {
                return 0.0;
            }
            done += work(self.rate, self.until.since(at));
            at = at.max(self.until);
            self.turn();
            if let Some(period) = self.begun() {
                let whole = to.since(at).0 / period.span.0;
                done += u128::from(whole) * period.work;
                at.0 += whole * period.span.0;
                self.begin_at(at);
            }
        }
        (done + work(self.rate, to.since(at))) as f64 / PS_PER_S as f64
    }
}

/// End of the step at `at` of a list that began at `origin`.
fn end_of_step(list: &[(Span, Rate)], at: usize, origin: Time, period: Option<Period>) -> Time {
    let ends = list.get(at + 1).map(|step| step.0).or(period.map(|period| period.span));
    ends.map_or(Time::NEVER, |span| origin.saturating_add(span))
}

/// End of a state that begins at `from`; it lasts at least a picosecond.
fn sojourn(mean: Span, from: Time, chance: &mut Stream) -> Time {
    from.saturating_add(Span::from_secs(chance.exponential(mean.as_secs())).max(Span(1)))
}

/// Work done at `rate` in `span`, in (bit/s) times picoseconds: an integer.
fn work(rate: Rate, span: Span) -> u128 {
    u128::from(rate.0) * u128::from(span.0)
}

/// Sum of each step's value times its duration, over the first `span`; for rates, the work that can be done.
fn integral<T: Quantity>(list: &[(Span, T)], span: Span) -> u128 {
    let ends = list.iter().skip(1).map(|step| step.0).chain([span]);
    let held = |(step, end): (&(Span, T), Span)| {
        u128::from(step.1.base()) * u128::from(end.min(span).0.saturating_sub(step.0.0))
    };
    list.iter().zip(ends).map(held).sum()
}

/// The mean over the first `span` of a list of steps, to the nearest base unit.
#[must_use]
pub fn mean_of_steps<T: Quantity>(list: &[(Span, T)], span: Span) -> T {
    let ps = u128::from(span.0.max(1));
    T::of(((integral(list, span) + ps / 2) / ps) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    const MBIT: u64 = 1_000_000;

    /// A monitor that stops at check number `last`, and the number of checks so far.
    fn counted(last: u64) -> (Arc<AtomicU64>, RunMonitor) {
        let looks = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&looks);
        (looks, RunMonitor::asking(move || counted.fetch_add(1, Ordering::Relaxed) + 1 >= last))
    }

    fn steps(list: &[(u64, u64)], period_ms: Option<u64>) -> Rates {
        let list = list.iter().map(|&(ms, mbit)| (Span::millis(ms), Rate(mbit * MBIT)));
        Rates::steps(list.collect(), period_ms.map(Span::millis))
    }

    fn ms(time: f64) -> Time {
        Time((time * 1e9).round() as u64)
    }

    #[test]
    fn a_service_may_extend_over_several_rates() {
        // 1250 bytes take 10 ms at 1 Mbit/s: here 2 ms at 1 Mbit/s, then the remaining 4/5 at twice the rate.
        let mut rates = steps(&[(0, 1), (5, 2)], None);
        assert_eq!(rates.finish(ms(3.0), Bytes(1250)), ms(5.0 + 4.0));
        assert_eq!(rates.finish(ms(9.0), Bytes(1250)), ms(14.0));
        // Nothing passes from 2 to 6 ms.
        let mut rates = steps(&[(0, 1), (2, 0), (6, 1)], None);
        assert_eq!(rates.finish(ms(0.0), Bytes(250)), ms(2.0));
        assert_eq!(rates.finish(ms(2.0), Bytes(250)), ms(8.0));
    }

    #[test]
    fn a_schedule_of_one_rate_equals_a_constant_rate() {
        let same = [steps(&[(0, 7)], None), steps(&[(0, 7), (1, 7), (3, 7)], None), steps(&[(0, 7), (2, 7)], Some(5))];
        for mut rates in same {
            let mut now = Time(17);
            for size in (40..1540).cycle().step_by(7).take(4000) {
                let end = rates.finish(now, Bytes(size));
                assert_eq!(end - now, Rate(7 * MBIT).serialize(Bytes(size)), "{size} at {now:?}");
                now = if size % 3 == 0 { end } else { end + Span(123_456_789) };
            }
        }
    }

    #[test]
    fn whole_periods_are_skipped_and_count() {
        // 1 Mbit/s every other millisecond: 125 bytes each 2 ms.
        let square = || steps(&[(0, 1), (1, 0)], Some(2));
        let mut rates = square();
        assert_eq!(rates.finish(ms(0.0), Bytes(125)), ms(1.0));
        // A service that ends with a period ends in that period.
        assert_eq!(rates.finish(ms(1.0), Bytes(125 * 1_000_000)), ms(2_000_001.0 - 1.0 + 1.0));
        assert_eq!(square().finish(ms(0.5), Bytes(125)), ms(2.5));
        assert_eq!(square().finish(ms(7_000_001.5), Bytes(125)), ms(7_000_003.0));
        // Over whole periods the mean of a square wave is half its maximum.
        assert_eq!(square().offered_bits(ms(0.0), ms(1000.0), &RunMonitor::default()), 500_000.0);
        assert_eq!(square().offered_bits(ms(300.0), ms(1300.0), &RunMonitor::default()), 500_000.0);
        assert_eq!(square().offered_bits(ms(2.5), ms(3.0), &RunMonitor::default()), 500.0);
        assert_eq!(square().offered_bits(ms(0.25), ms(2.25), &RunMonitor::default()), 1000.0);
        assert_eq!(mean_of_steps(&[(Span(0), Rate(10)), (Span(5), Rate(0))], Span(10)), Rate(5));
    }

    #[test]
    fn a_sine_wave_offers_the_integral_of_its_rate() {
        let wave = || Rates::sine(Rate(50 * MBIT), Rate(20 * MBIT), Span::secs(10));
        assert_eq!(wave().offered_bits(Time::ZERO, ms(30_000.0), &RunMonitor::default()), 1.5e9);
        for to in [1.0, 2.5, 4.0, 5.0, 7.5, 9.0f64] {
            let angle = to / 10.0 * std::f64::consts::TAU;
            let integral = 50e6 * to + 20e6 * (1.0 - libm::cos(angle)) * 10.0 / std::f64::consts::TAU;
            let bits = wave().offered_bits(Time::ZERO, ms(1000.0 * to), &RunMonitor::default());
            // The times are ends of steps, so the only error is that the 360 rates are rounded to half a bit/s.
            assert!((bits - integral).abs() < 5.0, "{to}: {bits}, not {integral}");
        }
    }

    #[test]
    fn the_mean_of_a_billion_changes_can_be_stopped() {
        let chance = Stream::new(7, 0, ("link", 0), "rate");
        let rates = Rates::markov([Rate(3), Rate(1)], [Span::millis(1); 2], chance);
        let (looks, monitor) = counted(3);
        assert_eq!(rates.offered_bits(Time(1 << 58), Time(1 << 59), &monitor), 0.0);
        assert_eq!(looks.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn nothing_passes_after_a_last_rate_of_zero() {
        assert_eq!(steps(&[(0, 1), (1, 0)], None).finish(ms(0.5), Bytes(125)), FAR);
        assert_eq!(steps(&[(0, 0)], Some(1)).finish(ms(0.5), Bytes(1)), FAR);
    }

    #[test]
    fn two_states_hold_for_exponential_times_of_their_means() {
        let chance = Stream::new(7, 0, ("link", 0), "rate");
        let mut rates = Rates::markov([Rate(3), Rate(1)], [Span::millis(30), Span::millis(10)], chance);
        let mut stays = [Vec::new(), Vec::new()];
        for _ in 0..20_000 {
            let (rate, from) = (rates.rate, rates.until);
            rates.turn();
            stays[usize::from(rate == Rate(3))].push((rates.until - from).as_secs());
        }
        for (stays, mean) in stays.iter().zip([0.03, 0.01]) {
            // Ten classes that are equally likely under the law; with 9 degrees of freedom, one test in 1000 exceeds 27.9.
            // (Constant stays, or stays with the other mean, would lie in a few classes.)
            let chi = |mean: f64| {
                let mut counts = [0.0f64; 10];
                for stay in stays {
                    counts[((1.0 - libm::exp(-stay / mean)) * 10.0).min(9.0) as usize] += 1.0;
                }
                let each = stays.len() as f64 / 10.0;
                counts.iter().map(|count| (count - each) * (count - each) / each).sum::<f64>()
            };
            assert!(chi(mean) < 27.9, "{}", chi(mean));
            assert!(chi(1.2 * mean) > 27.9, "the test is strong enough");
        }
        // 3/4 of the time at 3 bit/s, the rest at 1 bit/s.
        let mean = Rates::markov(
            [Rate(3), Rate(1)],
            [Span::millis(30), Span::millis(10)],
            Stream::new(7, 0, ("l", 0), "rate"),
        )
        .offered_bits(Time::ZERO, ms(400_000.0), &RunMonitor::default());
        // 10^4 cycles, each with a relative deviation of about one: three standard deviations are below 2 %.
        assert!((mean / 400.0 / 2.5 - 1.0).abs() < 0.02, "{mean}");
    }
}

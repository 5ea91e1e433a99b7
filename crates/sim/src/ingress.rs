//! Packet drops before the queue: random loss, and a policer.

use base::{Bytes, Cause, Span, Stream, Time};
use queue::TokenBucket;
use scenario::{Gilbert, Loss};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ingress {
    loss: Option<InjectedLoss>,
    policer: Option<TokenBucket>,
}

impl Ingress {
    /// Returns `None` if nothing is dropped.
    pub fn new(loss: Option<InjectedLoss>, policer: Option<TokenBucket>) -> Option<Self> {
        (loss.is_some() || policer.is_some()).then_some(Self { loss, policer })
    }

    /// Cause for which a packet of `size` bytes that arrives at `now` is dropped; `None` if it is not dropped. It is
    /// the packet number `arrived` at this link, counted from 1.
    pub fn drops(&mut self, now: Time, arrived: u64, size: u32) -> Option<Cause> {
        if self.loss.as_mut().is_some_and(|loss| loss.hits(now, arrived)) {
            return Some(Cause::Injected);
        }
        let passes = |bucket: &mut TokenBucket| bucket.take(now, Bytes(u64::from(size)));
        if self.policer.as_mut().is_none_or(passes) { None } else { Some(Cause::Forced) }
    }
}

/// Injected loss of packets.
#[derive(Clone, Debug)]
pub struct InjectedLoss {
    law: Law,
    /// Intervals with loss, if loss is not always on, and the index of the first one that is not over.
    during: Option<(Vec<(Span, Span)>, usize)>,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Law {
    All,
    Random(f64),
    Every(u64),
    /// The chain, and whether it is in its bad state.
    Gilbert(Gilbert, bool),
}

impl InjectedLoss {
    pub fn new(loss: &Loss, mut stream: Stream) -> Self {
        let law = match loss {
            Loss::During(_, None) => Law::All,
            Loss::During(spans, Some(law)) => {
                return Self { during: Some((spans.clone(), 0)), ..Self::new(law, stream) };
            }
            Loss::Random(p) => Law::Random(*p),
            Loss::Every(n) => Law::Every(*n),
            Loss::Gilbert(chain) => {
                // The initial state is drawn from the stationary distribution.
                let bad = stream.unit() < chain.enter / (chain.enter + chain.leave);
                Law::Gilbert(chain.clone(), bad)
            }
        };
        let during = if let Loss::During(spans, _) = loss { Some((spans.clone(), 0)) } else { None };
        Self { law, during, stream }
    }

    /// Whether the packet that arrives at `now` is lost; it is the packet number `arrived` at this link, counted from
    /// 1.
    pub fn hits(&mut self, now: Time, arrived: u64) -> bool {
        if let Some((spans, next)) = &mut self.during {
            while spans.get(*next).is_some_and(|span| Time::ZERO + span.1 <= now) {
                *next += 1;
            }
            if spans.get(*next).is_none_or(|span| now < Time::ZERO + span.0) {
                return false;
            }
        }
        match &mut self.law {
            Law::All => true,
            Law::Random(p) => self.stream.unit() < *p,
            Law::Every(n) => arrived.is_multiple_of(*n),
            Law::Gilbert(chain, bad) => {
                let (share, turns) = if *bad { (chain.bad, chain.leave) } else { (chain.good, chain.enter) };
                let lost = self.stream.unit() < share;
                *bad ^= self.stream.unit() < turns;
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the runs of consecutive packets that are lost, and of those that are not.
    fn runs(loss: &Loss, packets: u64) -> [Vec<u32>; 2] {
        let mut loss = InjectedLoss::new(loss, Stream::new(5, 0, ("link", 0), "loss"));
        let fates: Vec<bool> = (1..=packets).map(|i| loss.hits(Time(i), i)).collect();
        // Leaves out the first and the last run, because the ends of the sample cut them off.
        let mut all: Vec<_> = fates.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
        all.truncate(all.len() - 1);
        [true, false].map(|lost| all[1..].iter().filter(|run| run.0 == lost).map(|run| run.1).collect())
    }

    /// Chi-square over nine degrees of freedom of `runs` against a geometric law that ends with probability `end`. The ten
    /// classes of lengths are as equally likely as whole lengths allow.
    fn chi_square(runs: &[u32], end: f64) -> f64 {
        let n = runs.len() as f64;
        let beyond = |length: u32| libm::pow(1.0 - end, f64::from(length));
        let (mut from, mut sum) = (0u32, 0.0);
        for class in 1..=10u32 {
            let to = if class == 10 {
                u32::MAX
            } else {
                let wanted = libm::log(1.0 - f64::from(class) / 10.0) / libm::log(1.0 - end);
                (wanted.round() as u32).max(from + 1)
            };
            let expected = n * (beyond(from) - if class == 10 { 0.0 } else { beyond(to) });
            let seen = runs.iter().filter(|&&run| run > from && run <= to).count() as f64;
            sum += (seen - expected) * (seen - expected) / expected;
            from = to;
        }
        sum
    }

    /// The value that the chi-square distribution with 9 degrees of freedom exceeds with a probability of 0.001.
    const CHI_SQUARE_9: f64 = 27.9;

    fn gilbert(enter: f64, leave: f64) -> Loss {
        Loss::Gilbert(Gilbert { enter, leave, good: 0.0, bad: 1.0 })
    }

    #[test]
    fn bursts_and_gaps_of_the_gilbert_model_are_geometric() {
        let [lost, kept] = runs(&gilbert(0.004, 0.05), 2_000_000);
        assert!(lost.len() > 7000);
        for (runs, end) in [(&lost, 0.05), (&kept, 0.004)] {
            let chi = chi_square(runs, end);
            assert!(chi < CHI_SQUARE_9, "{end}: {chi}");
            // The test would detect runs that are a tenth longer.
            assert!(chi_square(runs, end / 1.1) > CHI_SQUARE_9);
        }
        // Independent losses with the same mean, 0.004 / 0.054, have no such bursts.
        let [lost, kept] = runs(&Loss::Random(0.004 / 0.054), 2_000_000);
        assert!(chi_square(&lost, 0.05) > 1e3 && chi_square(&kept, 0.004) > 1e3);
        assert!(chi_square(&kept, 0.004 / 0.054) < CHI_SQUARE_9, "independent losses have geometric gaps");
    }

    #[test]
    fn each_state_of_the_elliott_model_loses_its_share() {
        let loss = Loss::Gilbert(Gilbert { enter: 0.1, leave: 0.3, good: 0.02, bad: 0.5 });
        let [lost, _] = runs(&loss, 1_000_000);
        let share = f64::from(lost.iter().sum::<u32>()) / 1e6;
        // A quarter of the time in the bad state gives 0.14. Losses are correlated over some packets: four standard
        // deviations are below 0.0025.
        assert!((share - 0.14).abs() < 0.0025, "{share}");
    }

    #[test]
    fn losses_occur_only_in_the_stated_intervals() {
        let spans = vec![(Span(10), Span(20)), (Span(20), Span(22)), (Span(90), Span(91))];
        let lost = |law: Option<Loss>| {
            let loss = Loss::During(spans.clone(), law.map(Box::new));
            let mut loss = InjectedLoss::new(&loss, Stream::new(5, 0, ("link", 0), "loss"));
            (0..100).filter(|&i| loss.hits(Time(i), i + 1)).collect::<Vec<_>>()
        };
        assert_eq!(lost(None), (10..22).chain([90]).collect::<Vec<_>>());
        assert_eq!(lost(Some(Loss::Every(4))), [11, 15, 19]);
        assert_eq!(lost(Some(gilbert(1.0, 1.0))).len(), 6);
    }
}

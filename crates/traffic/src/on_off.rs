//! Bursts of packets at equal gaps, separated by silences; both have random lengths.
//!
//! While the source is on it produces bits at `rate`, and sends a packet whenever one is complete. So the gap is the
//! packet size divided by the rate, counted in on time. A burst of length T has exactly T / gap packets on average,
//! because a packet that is incomplete at the end of a burst is completed in the next one. So a burst may be shorter than
//! a gap, and the mean rate is exactly rate × on / (on + off). A flow starts at a random point of its cycle, in the
//! stationary state.
//!
//! Source: `Traffic/Exponential` and `Traffic/Pareto` of ns-2; Pareto: Willinger, Taqqu, Sherman and Wilson 1997.
//! Differs from ns-2: ns-2 rounds each burst to whole packets (at least one), and begins every flow with a silence.

use crate::{ArrivalProcess, PacketSize, Source, check_rate};
use base::text::format_span;
use base::{Bytes, Card, ParamError, Rate, Registered, Span, Stream};

base::words! {
    /// Distribution of the lengths of bursts and silences.
    pub enum Law {
        /// Memoryless: two states of a Markov chain.
        Exponential = "exponential",
        /// A heavy tail, with infinite variance below shape 2.
        Pareto = "pareto",
    }
}

base::params! {
    /// Parameters as in ns-2, with a rate as our other sources have.
    pub struct Params {
        /// Rate of one flow while it is on, in bits on the wire, headers included.
        rate: Rate = Rate(1_000_000), "bit/s";
        /// Mean length of a burst.
        on: Span = Span::millis(500), "s";
        /// Mean length of a silence.
        off: Span = Span::millis(500), "s";
        /// Law of both lengths: "exponential" or "pareto".
        law: Law = Law::Exponential, "";
        /// Shape of Pareto lengths; between 1 and 2 many flows together are self-similar, with H = (3 - shape) / 2.
        shape: f64 = 1.5, "", needs [Is("law", "pareto")];
        /// Packet sizes: "constant", or "exponential" around the group's packet, in whole bytes.
        size: PacketSize = PacketSize::Constant, "";
    }
}

/// Upper limit of lengths and gaps: 13 days, longer than any run. The sum of a few of them still fits the clock.
const LONGEST: Span = Span(1 << 60);

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct OnOff {
    lengths: Lengths,
    /// Mean length of a burst and of a silence, in picoseconds.
    mean: [f64; 2],
    /// On time from one packet to the next.
    gap: Span,
    /// On time until the next packet is complete.
    missing: Span,
    /// Remaining length of the present burst or silence.
    left: Span,
    on: bool,
    chance: Stream,
}

/// Distribution with its parameters.
#[derive(Clone, Copy, Debug)]
enum Lengths {
    Exponential,
    Pareto(f64),
}

impl Lengths {
    fn draw(self, mean: f64, chance: &mut Stream) -> Span {
        span(match self {
            Self::Exponential => chance.exponential(mean),
            Self::Pareto(shape) => chance.pareto(mean, shape),
        })
    }

    /// Residual length at a random instant, with density P(length > x) / mean.
    fn rest(self, mean: f64, chance: &mut Stream) -> Span {
        span(match self {
            Self::Exponential => chance.exponential(mean),
            Self::Pareto(shape) => {
                // Uniform up to the smallest length, then Pareto with the shape reduced by one.
                let (u, smallest) = (chance.unit(), (shape - 1.0) / shape);
                if u < smallest {
                    mean * u
                } else {
                    mean * smallest * libm::pow(shape * (1.0 - u), -1.0 / (shape - 1.0))
                }
            }
        })
    }
}

fn span(picoseconds: f64) -> Span {
    Span(picoseconds.min(LONGEST.0 as f64).round() as u64)
}

impl Registered for OnOff {
    type Params = Params;
    const CARD: Card = Card {
        name: "on-off",
        aliases: &["onoff"],
        title: "Bursts and silences",
        source: "Traffic/Exponential and Traffic/Pareto of ns-2; Willinger et al. 1997",
        differs: "A burst holds its length over the gap in packets in the mean, where ns-2 rounds each; starts anywhere in its cycle.",
    };
}

impl Source for OnOff {
    fn new(params: &Params, packet: Bytes, mut chance: Stream) -> Result<Self, ParamError> {
        check_rate(params.rate)?;
        params.size.check(packet)?;
        let gap = params.rate.serialize(packet);
        // A packet must not span so many bursts that drawing them takes a long time.
        let least = Span(gap.0.div_ceil(10_000).max(Span::nanos(1).0));
        for (field, mean) in [("on", params.on), ("off", params.off)] {
            if mean < least {
                let reason = format!("must be at least {}, a ten-thousandth of a packet's time", format_span(least));
                return Err(ParamError::new(field, reason));
            }
        }
        let lengths = match params.law {
            Law::Exponential => Lengths::Exponential,
            Law::Pareto if (1.05..=1000.0).contains(&params.shape) => Lengths::Pareto(params.shape),
            Law::Pareto => {
                return Err(ParamError::new("shape", "must lie between 1.05 and 1000: at 1 there is no mean"));
            }
        };
        let mean = [params.on, params.off].map(|span| span.0 as f64);
        let on = chance.unit() * (mean[0] + mean[1]) < mean[0];
        let left = lengths.rest(mean[usize::from(!on)], &mut chance);
        let missing = Span(1 + chance.below(gap.0));
        Ok(Self { lengths, mean, gap, missing, left, on, chance })
    }

    fn rate(params: &Params, _packet: Bytes) -> Rate {
        let (on, off) = (u128::from(params.on.0), u128::from(params.off.0));
        Rate((u128::from(params.rate.0) * on / (on + off).max(1)) as u64)
    }

    fn peak(params: &Params, _packet: Bytes) -> Rate {
        params.rate
    }

    fn size(params: &Params) -> PacketSize {
        params.size
    }
}

impl ArrivalProcess for OnOff {
    #[inline]
    fn next_gap(&mut self) -> Span {
        let mut gap = Span::ZERO;
        while !self.on || self.left < self.missing {
            if self.on {
                self.missing = self.missing - self.left;
            }
            gap = (gap + self.left).min(LONGEST);
            self.on = !self.on;
            self.left = self.lengths.draw(self.mean[usize::from(!self.on)], &mut self.chance);
            if gap == LONGEST {
                return gap;
            }
        }
        gap = gap + self.missing;
        self.left = self.left - self.missing;
        self.missing = self.gap;
        gap
    }
}

#[cfg(test)]
mod tests;

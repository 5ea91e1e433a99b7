//! A Poisson stream of packets with constant or exponential sizes: gaps, including the first one, are exponential and
//! independent.
//!
//! Source: the background traffic of Augé and Roberts, Buffer sizing for elastic traffic, NGI 2006, Section 4. Several
//! such flows together are a Poisson stream with the sum of their rates.

use crate::{ArrivalProcess, PacketSize, Source, check_rate};
use base::time::PS_PER_S;
use base::{Bytes, Card, ParamError, Rate, Registered, Span, Stream};

base::params! {
    /// Augé and Roberts 2006.
    pub struct Params {
        /// Mean rate of one flow, in bits on the wire, headers included.
        rate: Rate = Rate(1_000_000), "bit/s";
        /// Packet sizes: "constant", or "exponential" around the group's packet, in whole bytes.
        size: PacketSize = PacketSize::Constant, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Poisson {
    /// Mean time between packets, in picoseconds.
    mean_gap: f64,
    chance: Stream,
}

impl Registered for Poisson {
    type Params = Params;
    const CARD: Card = Card {
        name: "poisson",
        aliases: &[],
        title: "Poisson stream of datagrams",
        source: "Augé and Roberts 2006",
        differs: "",
    };
}

impl Source for Poisson {
    fn new(params: &Params, packet: Bytes, chance: Stream) -> Result<Self, ParamError> {
        check_rate(params.rate)?;
        params.size.check(packet)?;
        let mean_gap = packet.0 as f64 * 8.0 / params.rate.0 as f64 * PS_PER_S as f64;
        Ok(Self { mean_gap, chance })
    }

    fn rate(params: &Params, _packet: Bytes) -> Rate {
        params.rate
    }

    fn size(params: &Params) -> PacketSize {
        params.size
    }
}

impl ArrivalProcess for Poisson {
    #[inline]
    fn next_gap(&mut self) -> Span {
        Span(self.chance.exponential(self.mean_gap).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_of_counts_in_fixed_times_equals_their_mean() {
        let params = Params { rate: Rate(8_000_000), ..Params::default() };
        let mut source = Poisson::new(&params, Bytes(1000), Stream::new(3, 0, ("test", 0), "traffic")).unwrap();
        // One packet per millisecond; 20,000 intervals of 5 ms.
        let (cells, width) = (20_000usize, Span::millis(5).0);
        let mut counts = vec![0u32; cells];
        let mut at = source.next_gap().0;
        while at < cells as u64 * width {
            counts[(at / width) as usize] += 1;
            at += source.next_gap().0;
        }
        let mean = counts.iter().map(|&n| f64::from(n)).sum::<f64>() / cells as f64;
        let variance =
            counts.iter().map(|&n| (f64::from(n) - mean) * (f64::from(n) - mean)).sum::<f64>() / cells as f64;
        // The standard errors are sqrt(5/20000) for the mean and sqrt((2 + 1/5) 25 / 20000) for the variance; four of
        // them are allowed.
        assert!((mean - 5.0).abs() < 0.064, "{mean}");
        assert!((variance - 5.0).abs() < 0.21, "{variance}");
        // P(no packet in 5 ms) = e^-5, within four standard errors.
        let empty = counts.iter().filter(|&&n| n == 0).count() as f64 / cells as f64;
        assert!((empty - libm::exp(-5.0)).abs() < 4.0 * (0.0067f64 / cells as f64).sqrt(), "{empty}");
    }
}

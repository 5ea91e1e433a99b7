//! Finite flows that arrive as a Poisson process, independently of earlier flows (elastic traffic).
//!
//! Source: Augé and Roberts, Buffer sizing for elastic traffic, NGI 2006, Section 2; Ben Fredj, Bonald, Proutière,
//! Régnié and Roberts, Statistical bandwidth sharing, SIGCOMM 2001. The peak rate of a flow is the `access` of its
//! group. The n flows of a group are n independent processes, each with 1/n of its load; together they are one Poisson
//! process.
//! Differs: flows that arrive when all places are taken are refused, so that the number of open flows stays finite in an
//! overload.

use crate::times::check_places;
use crate::{Session, SessionProcess, Site, SizeLaw, Sizes, Times};
use base::param::ParamType;
use base::time::PS_PER_S;
use base::{Bytes, Card, ParamError, Rate, Registered, Stream, Time, Value};

base::params! {
    /// Augé and Roberts 2006.
    pub struct Params {
        /// Load that the whole group offers, as a share of the narrowest link, headers included.
        load: f64 = 0.5, "", needs [Is("rate", "none")];
        /// Rate that one flow of the group offers instead, in bits on the wire, headers included; none: by load.
        rate: Offered = Offered(None), "bit/s";
        /// Mean payload of a transfer.
        size: Bytes = Bytes(50_000), "bytes";
        /// Law of that size: constant, exponential, pareto or uniform (in segments, from 1 on).
        law: SizeLaw = SizeLaw::Exponential, "";
        /// Shape of the Pareto law.
        shape: f64 = 1.2, "", needs [Is("law", "pareto")];
        /// Transfers of one flow of the group that may be open at a time; more are refused.
        places: u32 = 1000, "";
    }
}

/// A rate, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered(pub Option<Rate>);

impl ParamType for Offered {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(text) if text == "none" => Ok(Self(None)),
            Value::Text(text) => base::text::rate(text).map(|rate| Self(Some(rate))).map_err(|e| e.to_string()),
            _ => Err("must be a rate such as \"1.25 Mbit/s\", or \"none\"".into()),
        }
    }
    fn write(&self) -> Value {
        self.0.map_or_else(|| Value::Text("none".into()), |rate| rate.write())
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Elastic {
    sizes: Sizes,
    gaps: Times,
    due: Time,
    chance: Stream,
}

impl Registered for Elastic {
    type Params = Params;
    const CARD: Card = Card {
        name: "elastic",
        aliases: &["poisson-flows"],
        title: "Poisson arrivals of finite flows",
        source: "Augé and Roberts 2006; Ben Fredj et al. 2001",
        differs: "Sizes are rounded up to whole segments, and the load counts them so; flows beyond the places are refused.",
    };
}

impl Session for Elastic {
    fn new(params: &Params, site: &Site, mut chance: Stream) -> Result<Self, ParamError> {
        if !(params.load > 0.0 && params.load <= 100.0) {
            return Err(ParamError::new("load", "must lie above 0 and up to 100 of the link"));
        }
        check_places("places", params.places)?;
        let sizes = Sizes::new(params.law, params.size, params.shape, site.mss)?;
        let (field, rate) = match params.rate.0 {
            Some(rate) => ("rate", rate.0 as f64),
            None => ("load", params.load * site.capacity.0 as f64 / f64::from(site.flows)),
        };
        let gap = sizes.mean_segments() * site.packet.0 as f64 * 8.0 / rate * PS_PER_S as f64;
        // The mean gap must be at least a hundred picoseconds, so that rounding to whole picoseconds changes the mean
        // by less than 1e-5.
        if gap < 100.0 {
            let reason = "asks for more than ten transfers a nanosecond; take less, or larger ones";
            return Err(ParamError::new(field, reason));
        }
        let gaps = Times::exponential(gap);
        let due = site.start + gaps.draw(&mut chance);
        Ok(Self { sizes, gaps, due, chance })
    }

    fn places(params: &Params) -> u32 {
        params.places
    }
}

impl SessionProcess for Elastic {
    fn waits(&self) -> bool {
        false
    }

    fn due(&self) -> Time {
        self.due
    }

    fn open(&mut self, _now: Time) -> u32 {
        self.due += self.gaps.draw(&mut self.chance);
        self.sizes.draw(&mut self.chance)
    }

    fn ended(&mut self, _now: Time) -> Option<Time> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(index: u32, flows: u32) -> Site {
        Site { packet: Bytes(1000), mss: 960, capacity: Rate(50_000_000), index, flows, start: Time(PS_PER_S) }
    }

    /// Opening times and segments of the `i`-th flow of `n`, for `secs` seconds.
    fn arrivals(params: &Params, (i, n): (u32, u32), secs: u64) -> Vec<(Time, u32)> {
        let chance = Stream::new(5, 0, ("test", u64::from(i)), "traffic");
        let mut elastic = Elastic::new(params, &site(i, n), chance).unwrap();
        let mut list = Vec::new();
        while elastic.due() < Time((1 + secs) * PS_PER_S) {
            let now = elastic.due();
            list.push((now, elastic.open(now)));
        }
        list
    }

    #[test]
    fn the_flows_of_a_group_together_are_one_poisson_process_with_the_given_load() {
        let params = Params { load: 0.8, size: Bytes(9600), law: SizeLaw::Constant, ..Params::default() };
        // 40 Mbit/s in flows of 10 kB are 500 flows per second; each of the four processes offers a quarter of them.
        let (cells, n) = (400, 4);
        let mut counts = vec![0u32; 10 * cells];
        for i in 0..n {
            let list = arrivals(&params, (i, n), cells as u64);
            // Within four standard errors; the count has a Poisson distribution.
            assert!((list.len() as f64 - 125.0 * cells as f64).abs() < 4.0 * (125.0 * cells as f64).sqrt());
            for (time, segments) in list {
                counts[(time.since(Time(PS_PER_S)).0 / (PS_PER_S / 10)) as usize] += 1;
                assert_eq!(segments, 10);
            }
        }
        let m = counts.len() as f64;
        let mean = counts.iter().map(|&x| f64::from(x)).sum::<f64>() / m;
        let variance = counts.iter().map(|&x| (f64::from(x) - mean) * (f64::from(x) - mean)).sum::<f64>() / m;
        // The count in a tenth of a second has mean 50 and variance 50. The standard errors of the estimates are
        // sqrt(50/m) and sqrt((2 + 1/50) 2500/m); four of them are allowed.
        assert!((mean - 50.0).abs() < 4.0 * (50.0 / m).sqrt(), "{mean}");
        assert!((variance - 50.0).abs() < 4.0 * (2.02 * 2500.0 / m).sqrt(), "{variance}");
    }

    #[test]
    fn offers_its_load_in_bits_on_the_wire_with_every_law_of_sizes() {
        for law in [SizeLaw::Constant, SizeLaw::Exponential, SizeLaw::Pareto, SizeLaw::Uniform] {
            // With shape 3, the variance of Pareto sizes is finite, so the standard error exists. 1500 B are not a
            // whole number of segments.
            let params = Params { load: 0.5, size: Bytes(1500), law, shape: 3.0, ..Params::default() };
            let list = arrivals(&params, (0, 1), 100);
            let (n, sum) = (list.len() as f64, list.iter().map(|x| f64::from(x.1)).sum::<f64>());
            let squares = list.iter().map(|x| f64::from(x.1) * f64::from(x.1)).sum::<f64>();
            let offered = sum * 8000.0 / 100.0;
            // The number of flows has a Poisson distribution, so the variance of the sum of sizes is estimated by the
            // sum of their squares. Four standard errors are allowed.
            let error = squares.sqrt() * 8000.0 / 100.0;
            assert!((offered - 25e6).abs() < 4.0 * error, "{law:?}: {offered} of {n} flows, within {error}");
        }
    }

    #[test]
    fn a_rate_applies_to_each_flow_and_replaces_the_load() {
        let rate = Offered::read(&Value::Text("8 Mbit/s".into())).unwrap();
        let params = Params { load: 0.01, rate, size: Bytes(960), law: SizeLaw::Constant, ..Params::default() };
        let n = arrivals(&params, (3, 50), 50).len() as f64;
        // A thousand transfers of one packet per second for 50 s; four standard errors are allowed.
        assert!((n - 50e3).abs() < 4.0 * 50e3f64.sqrt(), "{n}");
        assert_eq!(Offered::read(&Offered(None).write()), Ok(Offered(None)));
    }

    #[test]
    fn loads_of_zero_and_too_many_transfers_per_second_are_refused() {
        let error = |params| {
            let chance = Stream::new(1, 0, ("test", 0), "traffic");
            Elastic::new(&params, &site(0, 1), chance).unwrap_err().to_string()
        };
        let load = |load| Params { load, ..Params::default() };
        assert_eq!(error(load(0.0)), "load: must lie above 0 and up to 100 of the link");
        assert_eq!(error(load(f64::NAN)), error(load(0.0)));
        let rate = Offered(Some(Rate(1_000_000_000_000_000)));
        let small = Params { rate, size: Bytes(1), law: SizeLaw::Constant, ..Params::default() };
        assert!(error(small).starts_with("rate: asks for more than ten transfers a nanosecond"));
        assert_eq!(error(Params { places: 0, ..Params::default() }), "places: must lie between 1 and 1000000");
    }
}

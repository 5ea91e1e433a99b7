//! A user of a closed population: thinks, fetches a file, and repeats.
//!
//! Source: Engset's finite-source model as in Andrew et al., Buffer sizing for nonhomogeneous TCP sources, 2005,
//! Section III: files of 1 to 200 packets, thinking times of 2 s on average.
//! Differs: the thinking time begins when the sender gets the last acknowledgement.

use crate::times::check_think;
use crate::{Session, SessionProcess, Site, SizeLaw, Sizes, TimeLaw, Times};
use base::{Bytes, Card, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// Andrew et al. 2005.
    pub struct Params {
        /// Mean payload of a session.
        size: Bytes = Bytes(50_000), "bytes";
        /// Law of that size: constant, exponential, pareto or uniform (in segments, from 1 on).
        law: SizeLaw = SizeLaw::Uniform, "";
        /// Shape of the Pareto law.
        shape: f64 = 1.2, "", needs [Is("law", "pareto")];
        /// Mean time of thinking, exponential; the first begins with the flow.
        think: Span = Span::secs(2), "s";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Engset {
    sizes: Sizes,
    thinks: Times,
    due: Time,
    chance: Stream,
}

impl Registered for Engset {
    type Params = Params;
    const CARD: Card = Card {
        name: "engset",
        aliases: &[],
        title: "Sessions of a closed population",
        source: "Andrew et al. 2005",
        differs: "Thinking begins when the sender has the last acknowledgement.",
    };
}

impl Session for Engset {
    fn new(params: &Params, site: &Site, chance: Stream) -> Result<Self, ParamError> {
        check_think(params.think)?;
        let sizes = Sizes::new(params.law, params.size, params.shape, site.mss)?;
        let thinks = Times::new(TimeLaw::Exponential, params.think, 0.0, ["think", ""])?;
        let mut engset = Self { sizes, thinks, due: site.start, chance };
        engset.think_from(site.start);
        Ok(engset)
    }

    fn places(_: &Params) -> u32 {
        1
    }
}

impl SessionProcess for Engset {
    fn due(&self) -> Time {
        self.due
    }

    fn open(&mut self, _now: Time) -> u32 {
        self.due = Time::NEVER;
        self.sizes.draw(&mut self.chance)
    }

    fn ended(&mut self, now: Time) -> Option<Time> {
        self.think_from(now);
        None
    }
}

impl Engset {
    fn think_from(&mut self, now: Time) {
        self.due = now + self.thinks.draw(&mut self.chance);
    }
}

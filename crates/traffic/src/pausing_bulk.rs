//! A greedy source with pauses: for a time it always has more data to send, then it has none.
//!
//! Source: on and off periods as in RFC 7661, Section 1, and in the BBR draft's cases with an application that pauses. The
//! segment sent when a pause begins is the last one until the pause ends. TCP's receiver does not know that it is the last,
//! so the last ACK may be delayed.

use crate::{Application, ApplicationProcess, Site, TimeLaw, Times, Write};
use base::{Card, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// Five seconds of each.
    pub struct Params {
        /// Mean time for which there is more to send; the first begins when the flow starts.
        on: Span = Span::secs(5), "s";
        /// Mean time for which there is not.
        off: Span = Span::secs(5), "s";
        /// Law of both: constant, exponential or pareto.
        law: TimeLaw = TimeLaw::Constant, "";
        /// Its shape, if Pareto.
        shape: f64 = 1.5, "", needs [Is("law", "pareto")];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct PausingBulk {
    on: Times,
    off: Times,
    is_on: bool,
    due: Time,
    chance: Stream,
}

impl Registered for PausingBulk {
    type Params = Params;
    const CARD: Card = Card {
        name: "pausing-bulk",
        aliases: &["on-off-bulk"],
        title: "Bulk that pauses",
        source: "RFC 7661, Section 1.",
        differs: "The receiver is not told of a pause: its last ACK may be a delayed one.",
    };
}

impl Application for PausingBulk {
    fn new(params: &Params, site: &Site, chance: Stream) -> Result<Self, ParamError> {
        for (name, time) in [("on", params.on), ("off", params.off)] {
            if !(Span::micros(1)..=Span::secs(100_000)).contains(&time) {
                return Err(ParamError::new(name, "must lie between 1 us and 100000 s"));
            }
        }
        Ok(Self {
            on: Times::new(params.law, params.on, params.shape, ["on", "shape"])?,
            off: Times::new(params.law, params.off, params.shape, ["off", "shape"])?,
            is_on: false,
            due: site.start,
            chance,
        })
    }
}

impl ApplicationProcess for PausingBulk {
    fn due(&self) -> Time {
        self.due
    }

    fn write(&mut self, now: Time) -> Write {
        self.is_on = !self.is_on;
        let (times, write) = if self.is_on { (&self.on, Write::Unlimited) } else { (&self.off, Write::Pause) };
        self.due = now + times.draw(&mut self.chance).max(Span::micros(1));
        write
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Rate};

    #[test]
    fn alternates_between_data_without_end_and_no_data() {
        let (packet, capacity) = (Bytes(1500), Rate(1_000_000_000));
        let site = Site { packet, mss: 1460, capacity, index: 0, flows: 1, start: Time::ZERO };
        let params = Params { on: Span::millis(30), off: Span::millis(10), ..Params::default() };
        let mut bulk = PausingBulk::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap();
        let seen: Vec<_> = (0..4).map(|_| (bulk.due().0 / 1_000_000_000, bulk.write(bulk.due()))).collect();
        let expected = [(0, Write::Unlimited), (30, Write::Pause), (40, Write::Unlimited), (70, Write::Pause)];
        assert_eq!(seen, expected);
    }
}

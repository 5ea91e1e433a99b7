//! Requests and responses over one connection that stays open. When a response has arrived, the client pauses before it
//! requests the next one.
//!
//! Source: persistent connections of HTTP/1.1 (RFC 9112, Section 9.3) without pipelining; RFC 7661, Section 1, names
//! such connections as an example of senders that do not always use their whole cwnd. The pause begins when the sender
//! gets the last acknowledgement; a request without a pause could arrive together with it.
//! Differs: requests use no capacity on the return path.

use crate::times::check_think;
use crate::{Application, ApplicationProcess, Site, SizeLaw, Sizes, TimeLaw, Times, Write};
use base::{Bytes, Card, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// Responses of 100 kB, a second apart.
    pub struct Params {
        /// Mean payload of a response.
        size: Bytes = Bytes(100_000), "bytes";
        /// Law of that size: constant, exponential, pareto or uniform (in segments, from 1 on).
        law: SizeLaw = SizeLaw::Exponential, "";
        /// Shape of the Pareto law.
        shape: f64 = 1.2, "", needs [Is("law", "pareto")];
        /// Mean time from the end of a response to the next request; the first comes when the flow starts.
        think: Span = Span::secs(1), "s";
        /// Law of that time: constant, exponential or pareto.
        think_law: TimeLaw = TimeLaw::Exponential, "";
        /// Its shape, if Pareto.
        think_shape: f64 = 2.0, "", needs [Is("think_law", "pareto")];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct RequestResponse {
    sizes: Sizes,
    thinks: Times,
    due: Time,
    chance: Stream,
}

impl Registered for RequestResponse {
    type Params = Params;
    const CARD: Card = Card {
        name: "request-response",
        aliases: &["rpc"],
        title: "Responses on one connection that stays open",
        source: "Persistent connections of HTTP/1.1 (RFC 9112); RFC 7661.",
        differs: "Requests take no room on the way back. Each response is rounded up to whole segments.",
    };
}

impl Application for RequestResponse {
    fn new(params: &Params, site: &Site, chance: Stream) -> Result<Self, ParamError> {
        check_think(params.think)?;
        let sizes = Sizes::new(params.law, params.size, params.shape, site.mss)?;
        let thinks = Times::new(params.think_law, params.think, params.think_shape, ["think", "think_shape"])?;
        Ok(Self { sizes, thinks, due: site.start, chance })
    }
}

impl ApplicationProcess for RequestResponse {
    fn due(&self) -> Time {
        self.due
    }

    fn write(&mut self, _now: Time) -> Write {
        self.due = Time::NEVER;
        Write::Segments(self.sizes.draw(&mut self.chance))
    }

    fn ended(&mut self, now: Time) {
        self.due = now + self.thinks.draw(&mut self.chance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;

    #[test]
    fn the_next_response_comes_a_pause_after_the_end_of_the_last() {
        let (packet, capacity, start) = (Bytes(1500), Rate(1_000_000_000), Time::ZERO + Span::secs(3));
        let site = Site { packet, mss: 1460, capacity, index: 0, flows: 1, start };
        let (law, think_law) = (SizeLaw::Constant, TimeLaw::Constant);
        let params = Params { size: Bytes(2921), law, think: Span::millis(70), think_law, ..Params::default() };
        let mut app = RequestResponse::new(&params, &site, Stream::new(1, 0, ("test", 0), "traffic")).unwrap();
        assert_eq!((app.due(), app.write(start)), (start, Write::Segments(3)));
        assert_eq!(app.due(), Time::NEVER);
        app.ended(start + Span::millis(100));
        assert_eq!(app.due(), start + Span::millis(170));
    }
}

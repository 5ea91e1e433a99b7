//! Echo requests at equal gaps, the first at the start of the flow. The answer has the size of the request; it crosses the
//! links of `return`, if there are any, as data.
//!
//! Source: RFC 792, echo and echo reply. 56 bytes of data, as in the ping of iputils, are 84 bytes on the wire. The RRUL
//! test of T. Høiland-Jørgensen's Flent uses a gap of 200 ms.
//! Differs from RFC 792: a request and its answer are one packet that crosses `path`, then `return`.

use crate::{ArrivalProcess, Source};
use base::{Bytes, Card, ParamError, Rate, Registered, Span, Stream};

base::params! {
    /// The requests.
    pub struct Params {
        /// Time from a request to the next.
        every: Span = Span::millis(200), "s";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Ping {
    every: Span,
    begun: bool,
}

impl Registered for Ping {
    type Params = Params;
    const CARD: Card = Card {
        name: "ping",
        aliases: &["echo"],
        title: "Echo requests at equal gaps",
        source: "RFC 792; the ping of RRUL.",
        differs: "A request and its answer are one packet, which crosses path, then return; its round-trip time is measured.",
    };
}

impl Source for Ping {
    const USUAL_PACKET: Option<Bytes> = Some(Bytes(84));
    const ANSWERED: bool = true;

    fn new(params: &Params, _packet: Bytes, _chance: Stream) -> Result<Self, ParamError> {
        if !(Span::micros(10)..=Span::secs(100)).contains(&params.every) {
            return Err(ParamError::new("every", "must lie between 10 us and 100 s"));
        }
        Ok(Self { every: params.every, begun: false })
    }

    fn rate(params: &Params, packet: Bytes) -> Rate {
        let bits = u128::from(packet.0) * 8 * u128::from(base::time::PS_PER_S);
        Rate((bits / u128::from(params.every.0.max(1))).max(1) as u64)
    }

    fn gap(params: &Params, _packet: Bytes) -> Option<Span> {
        Some(params.every)
    }
}

impl ArrivalProcess for Ping {
    #[inline]
    fn next_gap(&mut self) -> Span {
        if std::mem::replace(&mut self.begun, true) { self.every } else { Span::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_requests_a_second_from_the_start() {
        let packet = Bytes(84);
        let mut ping = Ping::new(&Params::default(), packet, Stream::new(1, 0, ("test", 0), "traffic")).unwrap();
        let gaps = [(); 3].map(|()| ping.next_gap());
        assert_eq!(gaps, [Span::ZERO, Span::millis(200), Span::millis(200)]);
        assert_eq!(Ping::rate(&Params::default(), packet), Rate(5 * 84 * 8));
    }

    #[test]
    fn requests_without_a_gap_are_refused() {
        let params = Params { every: Span::ZERO };
        assert!(Ping::new(&params, Bytes(84), Stream::new(1, 0, ("test", 0), "traffic")).is_err());
        assert!(Ping::rate(&params, Bytes(84)).0 > 0);
    }
}

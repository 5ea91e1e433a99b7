//! Constant bit rate: packets of one size at equal gaps, the first at the start of the flow.
//!
//! Source: the CBR source of ns-2, which papers use over UDP. The gap is rounded in the same way as service times on
//! links, so that a link with the same rate is never late. Flows that start at the same time send all packets at the
//! same times, and the offset between two flows of the same rate never changes. To avoid this, spread `start` over at
//! least one gap, or use `tcp.send_jitter`.

use crate::{ArrivalProcess, Source, check_rate};
use base::{Bytes, Card, ParamError, Rate, Registered, Span, Stream};

base::params! {
    /// The stream.
    pub struct Params {
        /// Rate of one flow, in bits on the wire, headers included.
        rate: Rate = Rate(1_000_000), "bit/s";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Cbr {
    gap: Span,
    begun: bool,
}

impl Registered for Cbr {
    type Params = Params;
    const CARD: Card = Card {
        name: "cbr",
        aliases: &["constant-bit-rate"],
        title: "Constant bit rate",
        source: "The CBR source of ns-2, over UDP.",
        differs: "",
    };
}

impl Source for Cbr {
    fn new(params: &Params, packet: Bytes, _chance: Stream) -> Result<Self, ParamError> {
        check_rate(params.rate)?;
        Ok(Self { gap: params.rate.serialize(packet), begun: false })
    }

    fn rate(params: &Params, _packet: Bytes) -> Rate {
        params.rate
    }

    fn gap(params: &Params, packet: Bytes) -> Option<Span> {
        Some(params.rate.serialize(packet))
    }
}

impl ArrivalProcess for Cbr {
    #[inline]
    fn next_gap(&mut self) -> Span {
        if std::mem::replace(&mut self.begun, true) { self.gap } else { Span::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_5_mbit_per_s_a_packet_of_1000_bytes_is_sent_every_1600_microseconds_from_the_start() {
        let params = Params { rate: Rate(5_000_000) };
        let mut source = Cbr::new(&params, Bytes(1000), Stream::new(1, 0, ("test", 0), "traffic")).unwrap();
        let gaps = [(); 4].map(|()| source.next_gap());
        assert_eq!(gaps, [Span::ZERO, Span::micros(1600), Span::micros(1600), Span::micros(1600)]);
    }
}

//! Sizes of packets at a link, and how long each takes on the wire.

use base::{Bytes, PacketNumber, Rate, Span};
use queue::Packet;
use traffic::PacketSizes;

/// Size and service time of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tx {
    /// Size of a packet, in bytes.
    pub size: u32,
    pub time: Span,
    pub is_ack: bool,
}

/// Transmission times of packets.
#[derive(Clone, Debug)]
pub enum Service {
    /// All the same.
    One(Tx),
    /// For each place in the table, size and service time of the flow's packets on this link. A time of [`DRAWN`] means
    /// that sizes are drawn packet by packet; the size is then their mean.
    Each(Vec<Tx>, Option<Box<Drawn>>),
}

/// Marker for drawn sizes; no packet takes zero time.
pub const DRAWN: Span = Span::ZERO;

/// Sizes that are drawn packet by packet, on links that such flows cross. Boxed, so that other links need no memory for it.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub rate: Rate,
    /// For each place in the table, its packet sizes, if they are drawn.
    pub sizes: Vec<Option<PacketSizes>>,
}

impl Drawn {
    fn time_of(&self, size: u32) -> Span {
        self.rate.serialize(Bytes(u64::from(size)))
    }
}

impl Service {
    /// Size and service time of packet `number` of the flow at `place` in the table.
    #[inline]
    pub fn of(&self, place: usize, number: PacketNumber) -> Tx {
        match self {
            Self::One(tx) => *tx,
            Self::Each(all, _) => {
                let tx = all[place];
                if tx.time == DRAWN { self.draw(place, number) } else { tx }
            }
        }
    }

    /// Service time of `packet`, whose flow is at `place` in the table and whose size is known.
    #[inline]
    pub fn time_of(&self, place: impl FnOnce() -> usize, packet: &Packet) -> Span {
        match self {
            Self::One(tx) => tx.time,
            Self::Each(all, _) => {
                let time = all[place()].time;
                if time == DRAWN { self.drawn_time(packet.size) } else { time }
            }
        }
    }

    /// The shortest service time of a data packet; for drawn sizes, the service time of the mean size, because no
    /// caller needs a lower bound. `None` on a link that only ACKs cross.
    pub fn shortest_data(&self) -> Option<Span> {
        // A place that no flow uses has size 0.
        let is_data = |tx: &&Tx| !tx.is_ack && tx.size > 0;
        match self {
            Self::One(tx) => Some(tx).filter(is_data).map(|tx| tx.time),
            Self::Each(all, _) => {
                let time = |tx: &Tx| if tx.time == DRAWN { self.drawn_time(tx.size) } else { tx.time };
                all.iter().filter(is_data).map(time).min()
            }
        }
    }

    /// A packet whose size is drawn.
    #[cold]
    #[inline(never)]
    fn draw(&self, place: usize, number: PacketNumber) -> Tx {
        let Self::Each(_, Some(drawn)) = self else { return Tx { size: 0, time: DRAWN, is_ack: false } };
        let size = drawn.sizes[place].map_or(0, |sizes| sizes.of(number));
        Tx { size, time: drawn.time_of(size), is_ack: false }
    }

    #[cold]
    #[inline(never)]
    fn drawn_time(&self, size: u32) -> Span {
        if let Self::Each(_, Some(drawn)) = self { drawn.time_of(size) } else { DRAWN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Time;
    use scenario::HEADER;

    #[test]
    fn each_flow_has_its_packet_size_and_acks_do_not_count_as_data() {
        let tx = |size, time| Tx { size, time: Span(time), is_ack: size == HEADER };
        let service = Service::Each(vec![tx(1000, 80), tx(HEADER, 3), tx(500, 40)], None);
        assert_eq!((service.of(0, PacketNumber(9)), service.of(2, PacketNumber(9))), (tx(1000, 80), tx(500, 40)));
        assert_eq!(service.time_of(|| 1, &Packet::new(1, 0, HEADER, Time::ZERO)), Span(3));
        assert_eq!(service.shortest_data(), Some(Span(40)));
        assert_eq!(Service::One(tx(HEADER, 3)).shortest_data(), None);
        assert_eq!(Service::One(tx(HEADER + 1, 3)).shortest_data(), Some(Span(3)));
    }

    #[test]
    fn packets_of_drawn_sizes_have_their_own_service_times_and_shortest_data_uses_the_mean() {
        // A byte takes 8 ps.
        let rate = Rate(1_000_000_000_000);
        let sizes = traffic::PacketSize::Exponential.sizes(Bytes(700), || 1).expect("they differ");
        let drawn = Drawn { rate, sizes: vec![Some(sizes)] };
        let service = Service::Each(vec![Tx { size: 700, time: DRAWN, is_ack: false }], Some(Box::new(drawn)));
        assert_eq!(service.shortest_data(), Some(Span(5600)));
        let size = sizes.of(PacketNumber(5));
        assert_eq!(service.of(0, PacketNumber(5)), Tx { size, time: Span(8 * u64::from(size)), is_ack: false });
        assert_eq!(service.time_of(|| 0, &Packet::new(0, 5, size, Time::ZERO)), Span(8 * u64::from(size)));
    }
}

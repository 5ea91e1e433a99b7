//! Real bytes behind a `Link`: packets live in slots of the caller, the discipline only ever sees their numbers. When it
//! drops one, the slot is free again.
//!
//! Before each arrival the link does what is due until then, timers of its discipline included.

use base::{Cause, Rate, Stream, Time};
use elephan_queue::{Fates, Limit, Link, Packet, Port, QueueDiscipline, QueueSpec};

/// The packets' bytes, and which slots hold none.
struct Slots {
    bytes: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Fates for Slots {
    fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time) {
        println!("{:7.1} us  slot {} freed: {cause:?}", now.as_secs() * 1e6, packet.token);
        self.free.push(packet.token);
    }
    fn marked(&mut self, _packet: &Packet, _cause: Cause, _now: Time) {}
}

/// Lets the link do what is due until `now`: what leaves frees its slot.
fn advance<Q: QueueDiscipline>(link: &mut Link<Q>, slots: &mut Slots, now: Time) {
    while let Some(step) = link.advance(now, slots) {
        if let Some(packet) = step.departed {
            let number = slots.bytes[packet.token as usize][0];
            println!("{:7.1} us  packet {number} of flow {} leaves", step.at.as_secs() * 1e6, packet.flow);
            slots.free.push(packet.token);
        }
    }
}

fn main() {
    let port = Port::new(Limit::Packets(2), Rate(100_000_000), 1000.0);
    let spec = QueueSpec::named("fq").expect("registered");
    let queue = spec.build(&port, Stream::new(1, 0, ("link", 0), "queue")).expect("defaults are valid");
    let mut link = Link::new(port.rate, queue);
    let mut slots = Slots { bytes: vec![Vec::new(); 4], free: vec![3, 2, 1, 0] };
    // Five packets of flow 0 in a row, then one of flow 1: it takes the place of one of flow 0.
    for (i, flow) in [0, 0, 0, 0, 0, 1].into_iter().enumerate() {
        let now = Time(i as u64 * 10_000_000);
        advance(&mut link, &mut slots, now);
        let slot = slots.free.pop().expect("as many slots as the link holds, and one");
        slots.bytes[slot as usize] = vec![i as u8; 1000];
        link.offer(Packet::new(flow, slot, 1000, now), &mut slots);
    }
    while let Some(&(_, done)) = link.serving() {
        advance(&mut link, &mut slots, done);
    }
}

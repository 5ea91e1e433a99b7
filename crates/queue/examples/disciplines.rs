//! Example that sends the same half second, three steady flows and one burst, through every discipline, and shows which packets
//! are dropped and which flows wait.

use base::{Rate, Span, Stream, Time};
use elephan_queue::{Limit, Packet, Port, QUEUES, QueueSpec, replay};

fn main() {
    let rate = Rate(10_000_000);
    // Flows 0 to 2 each offer 3 of the 10 Mbit/s there are, at random times; flow 3 sends 100 packets at once.
    let mut chance = Stream::new(1, 0, ("example", 0), "arrivals");
    let mut arrivals = Vec::new();
    for flow in 0..3 {
        let mut at = Time::ZERO;
        while at < Time::ZERO + Span::millis(500) {
            at += Span::from_secs(chance.exponential(8.0e-3 / 3.0));
            arrivals.push((at, flow));
        }
    }
    arrivals.extend(std::iter::repeat_n((Time::ZERO + Span::millis(250), 3), 100));
    arrivals.sort_unstable();
    let packets: Vec<Packet> =
        (0..).zip(&arrivals).map(|(token, &(at, flow))| Packet::new(flow, token, 1000, at)).collect();
    println!("{:12} {:>14} {:>14} {:>18}", "discipline", "steady: drops", "burst: drops", "steady: mean wait");
    for entry in QUEUES {
        let name = entry.card.name;
        let port = Port { bdp: Some(50_000.0), ..Port::new(Limit::Packets(50), rate, 1000.0) };
        let spec = QueueSpec::named(name).expect("registered");
        let queue = spec.build(&port, Stream::new(1, 0, ("link", 0), "queue")).expect("defaults are valid");
        let fates = replay(queue, rate, &packets, |_, _| {});
        let of = |burst: bool| packets.iter().zip(&fates).filter(move |(packet, _)| (packet.flow == 3) == burst);
        let drops = |burst| of(burst).filter(|(_, fate)| fate.cause.is_some()).count();
        let served: Vec<f64> = of(false)
            .filter(|(_, fate)| fate.cause.is_none())
            .map(|(packet, fate)| (fate.time - packet.arrived).as_secs())
            .collect();
        let wait = 1e3 * served.iter().sum::<f64>() / served.len() as f64;
        println!("{name:12} {:>14} {:>14} {wait:>15.2} ms", drops(false), drops(true));
    }
}

//! Every source of datagrams with any parameters that it accepts: it always comes to its next packet, never faster than its
//! peak, and in the long run at its rate. New kinds come in through the registry.

extern crate elephan_traffic as traffic;

use base::{Bytes, PacketNumber, Rate, Stream, Time, Value};
use proptest::prelude::*;
use traffic::{AnySource, ArrivalProcess, Offer, PacketSize, Site, TRAFFIC, TrafficSpec};

/// The longest time that a run can take, in picoseconds.
const LONGEST: u64 = 1_000_000_000_000_000_000;

/// A number between the two, as likely in each decade.
fn between(from: f64, to: f64) -> impl Strategy<Value = f64> {
    (libm::log(from)..libm::log(to)).prop_map(libm::exp)
}

#[derive(Clone, Debug)]
struct Draw {
    kind: &'static str,
    packet: u64,
    rate: f64,
    /// Lengths of bursts and silences, in times that a packet takes.
    lengths: [f64; 2],
    pareto: bool,
    shape: f64,
    drawn: bool,
}

fn draw() -> impl Strategy<Value = Draw> {
    let kinds = TRAFFIC.iter().map(|entry| entry.card.name).filter(|name| !named(name).is_tcp()).collect::<Vec<_>>();
    let lengths = [between(1e-4, 1e5), between(1e-4, 1e5)];
    let law = (any::<bool>(), 1.05..4.0, any::<bool>());
    (prop::sample::select(kinds), 41u64..=65_535, between(1e3, 1e15), lengths, law).prop_map(
        |(kind, packet, rate, lengths, (pareto, shape, drawn))| Draw {
            kind,
            packet,
            rate,
            lengths,
            pareto,
            shape,
            drawn,
        },
    )
}

fn named(name: &str) -> TrafficSpec {
    TrafficSpec::named(name).expect("registered")
}

/// Source with this draw, or `None` if a file with it is refused because lengths are too short or too long.
fn source(draw: &Draw) -> Option<(TrafficSpec, AnySource)> {
    let mut spec = named(draw.kind);
    let text = |text: String| Value::Text(text);
    let length = |times: f64| text(format!("{} ps", (times * draw.packet as f64 * 8e12 / draw.rate).ceil().min(1e18)));
    for (name, value) in [
        ("rate", text(format!("{} bit/s", draw.rate.ceil()))),
        ("on", length(draw.lengths[0])),
        ("off", length(draw.lengths[1])),
        ("law", text(if draw.pareto { "pareto" } else { "exponential" }.into())),
        ("shape", Value::Number(draw.shape)),
        ("size", text(if draw.drawn { "exponential" } else { "constant" }.into())),
    ] {
        // A kind may have none of this name.
        if let Some(set) = spec.set(name, &value) {
            set.unwrap_or_else(|e| panic!("{e}: {value:?}"));
        }
    }
    let chance = || Stream::new(1, 0, ("any", draw.packet), "traffic");
    let (packet, mss) = (Bytes(draw.packet), draw.packet as u32 - 40);
    let site = Site { packet, mss, capacity: Rate(100_000_000), index: 0, flows: 1, start: Time::ZERO };
    match spec.offer(&site, chance) {
        Ok(Offer::Datagrams(source)) => Some((spec, source)),
        _ => None,
    }
}

/// Time of a packet at `rate`, in picoseconds.
fn packet_time(rate: Rate, draw: &Draw) -> f64 {
    draw.packet as f64 * 8e12 / rate.0 as f64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_next_packet_always_comes_and_never_too_soon(draw in draw()) {
        let Some((spec, mut source)) = source(&draw) else { return Ok(()) };
        let (peak, mean) = (spec.peak(Bytes(draw.packet)).unwrap(), spec.rate(Bytes(draw.packet)).unwrap());
        prop_assert!(mean <= peak);
        let (mut at, mut packets) = (0u64, 0u32);
        while packets < 500 && at < LONGEST {
            let gap = source.next_gap().0;
            prop_assert!(gap <= 2 * LONGEST, "{:?}: {}", spec, gap);
            at += gap;
            packets += 1;
        }
        // Times are rounded to picoseconds. A Poisson stream may be in any hurry.
        let least = if draw.kind == "poisson" { 0.0 } else { f64::from(packets - 1) * (packet_time(peak, &draw) - 0.5) };
        prop_assert!(at as f64 >= least, "{:?}: {} packets in {} ps", spec, packets, at);
        prop_assert!(at > 0);
    }

    #[test]
    fn in_the_long_run_the_rate_is_what_was_said(draw in draw()) {
        // Heavy tails have no long run.
        let draw = Draw { pareto: false, lengths: draw.lengths.map(|x| x.clamp(0.1, 10.0)), rate: draw.rate.min(1e12), ..draw };
        let Some((spec, mut source)) = source(&draw) else { return Ok(()) };
        let n = 20_000;
        source.next_gap();
        let sum: u128 = (0..n).map(|_| u128::from(source.next_gap().0)).sum();
        let mean = sum as f64 / f64::from(n) / packet_time(spec.rate(Bytes(draw.packet)).unwrap(), &draw);
        // In times of a packet: n / on silences of variance and square of mean off^2 each come to n packets, which take
        // n (1 + off / on); gaps of a Poisson stream vary by their mean. Five standard errors, the rounding of lengths of
        // nanoseconds to picoseconds, and that of the rate to bit/s.
        let [on, off] = draw.lengths;
        let time = 1.0 + off / on;
        let variance = (2.0 * off * off / on / (time * time)).max(1.0);
        let room = 5.0 * (variance / f64::from(n)).sqrt() + 1e-3 + 1.0 / spec.rate(Bytes(draw.packet)).unwrap().0 as f64;
        prop_assert!((mean - 1.0).abs() < room, "{:?}: {}", spec, mean);
    }

    #[test]
    fn sizes_fit_a_datagram_and_depend_on_nothing_but_key_and_number(mean in 41u64..=4000, key in any::<u64>(), seq in any::<u32>()) {
        let sizes = |key| PacketSize::Exponential.sizes(Bytes(mean), || key).unwrap();
        prop_assert!((1..=65_535).contains(&sizes(key).of(PacketNumber(seq))));
        prop_assert_eq!(sizes(key).of(PacketNumber(seq)), sizes(key).of(PacketNumber(seq)));
        prop_assert!((0..64).any(|i| sizes(key).of(PacketNumber(seq ^ i)) != sizes(key ^ 1).of(PacketNumber(seq ^ i))));
    }
}

//! RED's average and probability against ns-2's, measured.
//!
//! Source: ns-2 2.35, one RED queue of 8 Mbit/s and packets of 1000 bytes with `q_weight_` 0.02, `linterm_` 1e9 (so that
//! nothing is dropped early), `setbit_` and `adaptive_` off; `ave_`, `prob1_` and `curq_` printed right after each of 400
//! arrivals.

extern crate elephan_queue as queue;

use base::{Amount, Auto, Bytes, Cause, Rate, Span, Stream, Time};
use queue::{Fate, Fifo, Limit, Packet, Port, QueueDiscipline, Rule, red, replay};

/// Time of the arrival in microseconds, average after it, probability of the last arrival above `min_th`, packets found.
type Row = (u64, f64, f64, u32);

/// Gentle, thresholds 5 and 15; every twentieth arrival.
const GENTLE: [Row; 20] = [
    (15_071, 0.850_324, 0.0, 5),
    (28_455, 3.67621, 0.0, 12),
    (43_718, 7.14897, 2.14897e-10, 17),
    (103_353, 3.93861, 2.19998e-10, 0),
    (169_893, 1.22027, 2.19998e-10, 0),
    (183_125, 1.86514, 2.19998e-10, 6),
    (199_549, 3.90508, 2.19998e-10, 10),
    (215_826, 6.63587, 1.63587e-10, 14),
    (264_441, 4.53139, 1.7671e-10, 0),
    (338_691, 1.24366, 1.7671e-10, 0),
    (352_251, 1.96693, 1.7671e-10, 6),
    (367_434, 4.1571, 1.7671e-10, 11),
    (382_205, 7.31861, 2.31861e-10, 16),
    (439_390, 4.59837, 2.93414e-10, 0),
    (496_260, 1.67459, 2.93414e-10, 0),
    (510_343, 2.19725, 2.93414e-10, 5),
    (524_332, 4.34024, 2.93414e-10, 11),
    (538_608, 7.64667, 2.64667e-10, 17),
    (599_488, 4.23976, 2.61702e-10, 0),
    (663_553, 1.36773, 2.61702e-10, 0),
];

/// Not gentle, thresholds 3 and 6: what finds the average at 6 or above is dropped. Only the first burst is used, because ns-2
/// later spares packets that find fewer than two waiting, whatever the average.
const ABRUPT: [Row; 20] = [
    (17_009, 1.30891, 0.0, 7),
    (18_847, 1.55428, 0.0, 8),
    (19_856, 1.82953, 0.0, 9),
    (21_512, 2.11348, 0.0, 9),
    (23_005, 2.38619, 0.0, 9),
    (24_168, 2.68769, 0.0, 10),
    (25_771, 3.01686, 0.0, 11),
    (27_275, 3.33299, 1.10997e-10, 11),
    (28_455, 3.67621, 2.25402e-10, 12),
    (30_696, 4.00583, 3.35276e-10, 12),
    (32_309, 4.3224, 4.40799e-10, 12),
    (33_096, 4.66603, 5.55343e-10, 13),
    (35_411, 4.99606, 6.65352e-10, 13),
    (37_408, 5.31301, 7.71004e-10, 13),
    (38_256, 5.65702, 8.85672e-10, 14),
    (39_570, 6.027, 1.0, 15),
    (40_959, 6.32273, 1.0, 13),
    (41_998, 6.56715, 1.0, 12),
    (43_718, 6.74269, 1.0, 11),
    (50_783, 6.71248, 1.0, 4),
];

const WEIGHT: f64 = 0.02;

/// Factor of the average after a sample of 0.
const KEEP: f64 = 1.0 - WEIGHT;

/// Arrivals as the script drew them: bursts of 60 above the link's rate, then 40 below it.
fn arrivals() -> Vec<Packet> {
    let (mut x, mut t) = (12_345_u64, 1000);
    let packet = |i: u32| {
        x = (x * 1_103_515_245 + 12_345) % (1 << 31);
        let r = (x >> 16) % 1000;
        t += if i % 100 < 60 { 300 + r * 9 / 10 } else { 600 + 5 * r };
        Packet::new(0, i, 1000, Time::ZERO + Span::micros(t))
    };
    (0..400).map(packet).collect()
}

/// Average, probability and packets waiting after each arrival, and the fate of each packet.
fn run(min_th: f64, max_th: f64, gentle: bool) -> (Vec<(f64, f64, u32)>, Vec<Fate>) {
    let port = Port::new(Limit::Packets(1000), Rate(8_000_000), 1000.0);
    let mut params = red::Params {
        min_th: Amount::Packets(min_th),
        max_th: Amount::Packets(max_th),
        w_q: Auto::Is(WEIGHT),
        max_p: 1e-9,
        gentle,
        ..red::Params::default()
    };
    red::Red::resolve(&mut params, &port).unwrap();
    let queue = Fifo::new(red::Red::new(&params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap());
    let mut seen = Vec::new();
    let fates = replay(queue, port.rate, &arrivals(), |_, link| {
        let (mut average, mut prob) = (f64::NAN, f64::NAN);
        link.queue().gauges(&mut |name, value| match name {
            "avg" => average = value,
            "prob" => prob = value,
            _ => {}
        });
        seen.push((average, prob, link.backlog().packets));
    });
    (seen, fates)
}

fn check(rows: &[Row], (min_th, max_th, gentle): (f64, f64, bool)) {
    let packets = arrivals();
    let (seen, fates) = run(min_th, max_th, gentle);
    // What ns-2's average is above ours, because it truncates the packets missed while idle to whole ones.
    let mut lead = 0.0;
    let mut busy_until = Time::ZERO;
    let mut compared = 0;
    for (i, packet) in packets.iter().enumerate() {
        let now = packet.arrived;
        let idle = now >= busy_until;
        if idle && i > 0 {
            let (before, missed) = (seen[i - 1].0, (now - busy_until).as_secs() * 1000.0);
            lead = (before + lead) * libm::pow(KEEP, missed.trunc()) - before * libm::pow(KEEP, missed);
        }
        lead *= KEEP;
        if fates[i].cause.is_none() {
            busy_until = fates[i].time + Rate(8_000_000).serialize(Bytes(1000));
        }
        let Some(&(_, average, prob, found)) = rows.iter().find(|row| Time::ZERO + Span::micros(row.0) == now) else {
            continue;
        };
        compared += 1;
        let (ours, p, waiting) = seen[i];
        assert_eq!(waiting, if idle || fates[i].cause.is_some() { found } else { found + 1 }, "arrival {i}");
        // Six digits are printed.
        let print = 1e-5 * average;
        assert!((ours + lead - average).abs() <= print, "{i}: {ours} + {lead}, {average}");
        // Below min_th, and for the first packet above it, ns-2 shows the last probability that it needed.
        if i > 0 && seen[i - 1].0.min(ours) >= min_th {
            // The slope between the thresholds on what the averages differ by, and digits again.
            let slack = 1e-9 * (lead + print) / (max_th - min_th) + 1e-5 * prob;
            assert!((p - prob).abs() <= slack, "{i}: {p}, {prob}");
        }
        assert_eq!(fates[i].cause == Some(Cause::Forced), ours >= max_th && !gentle, "arrival {i}");
    }
    assert_eq!(compared, rows.len());
}

#[test]
fn average_and_probability_are_those_of_ns2() {
    check(&GENTLE, (5.0, 15.0, true));
}

#[test]
fn so_they_are_with_forced_drops() {
    check(&ABRUPT, (3.0, 6.0, false));
}

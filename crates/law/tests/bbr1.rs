//! BBR version 1 on a path of its own, segment by segment: what Linux's `tcp_bbr.c` says of itself, in numbers.

extern crate elephan_law as law;

mod segments;

use base::{Span, Time};
use law::bbr1::{Bbr1, Params};
use law::{CongestionControl, Controller};
use segments::at;

const STARTUP: u8 = 0;
const DRAIN: u8 = 1;
const PROBE_BW: u8 = 2;
const PROBE_RTT: u8 = 3;

type Network = segments::Network<Bbr1>;

fn network(p: &Params, rate: f64, buffer: f64) -> Network {
    Network::new(Bbr1::new(p, 10.0).unwrap(), rate, Span::millis(100), buffer)
}

/// 1000 segments per second over 100 ms and the millisecond of service: 101 segments fill it.
fn plain(buffer: f64) -> Network {
    network(&Params::default(), 1000.0, buffer)
}

#[test]
fn startup_doubles_the_rate_every_round_and_ends_three_rounds_after_the_pipe_is_full() {
    let mut net = network(&Params::default(), 10_000.0, f64::INFINITY);
    net.run_until(5.0, |net| net.gauge("state") == Some(f64::from(DRAIN)));
    let bandwidth = |ms| net.seen.iter().rfind(|seen| seen.now <= Time::ZERO + Span::millis(ms)).unwrap().max_bw;
    // From 50 segments per round on, when the first bursts are forgotten, to half the path's rate. Rounds take 100.1
    // ms, and the estimate lags by up to a round: between 1.9 and 2.15 times as much.
    for ms in [500, 600, 700] {
        let growth = bandwidth(ms + 100) / bandwidth(ms);
        assert!((1.9..=2.15).contains(&growth), "{growth} at {ms}");
    }
    assert!((bandwidth(5000) / 10_000.0 - 1.0).abs() < 0.02);
    let full = net.seen.iter().find(|seen| seen.max_bw >= 8000.0).unwrap().now;
    let rounds = (net.now - full).as_secs() / 0.1;
    assert!((3.0..=9.0).contains(&rounds), "{rounds}");
    // The window is 2.887 bdp, three bursts of 28 (of 29,000 a second) and what ACKs came at once; one bdp is in the
    // pipe.
    let queue = net.seen.iter().fold(0.0f64, |most, seen| most.max(seen.queue)) / net.bdp();
    assert!((1.6..2.0).contains(&queue), "{queue}");
}

#[test]
fn drain_ends_with_one_bdp_and_room_for_three_bursts_in_flight() {
    let mut net = plain(f64::INFINITY);
    net.run(3.0);
    let states = net.states();
    assert_eq!(states.iter().map(|x| x.0).collect::<Vec<_>>(), [STARTUP, DRAIN, PROBE_BW]);
    // 1.9 bdp of queue at 0.34 of the pace: three round trips.
    assert!((0.2..0.4).contains(&(states[1].2 - states[1].1)), "{states:?}");
    let end = net.seen.iter().find(|seen| seen.state == PROBE_BW).unwrap();
    // 101, and three bursts of two, even.
    assert_eq!(end.in_flight, 108.0, "{end:?}");
}

/// The phases passed through, each with its number, when it began and ended, and its largest queue.
fn phases(net: &mut Network, seconds: f64) -> Vec<(u8, f64, f64, f64)> {
    let end = net.now + Span::from_secs(seconds);
    let mut list: Vec<(u8, f64, f64, f64)> = Vec::new();
    while net.now < end {
        net.step();
        let (phase, now, queue) = (net.gauge("phase").unwrap() as u8, net.now.as_secs(), net.queue());
        match list.last_mut() {
            Some(last) if last.0 == phase => (last.2, last.3) = (now, last.3.max(queue)),
            _ => list.push((phase, now, now, queue)),
        }
    }
    list
}

#[test]
fn the_cycle_is_five_quarters_three_quarters_and_six_round_trips_at_the_bandwidth() {
    let mut net = plain(f64::INFINITY);
    net.run(3.0);
    let list = phases(&mut net, 6.0);
    let full = &list[1..list.len() - 1];
    assert!(full.len() > 45, "{}", full.len());
    for pair in full.windows(2) {
        assert_eq!(pair[1].0, (pair[0].0 + 1) % 8);
    }
    for &(phase, from, to, queue) in full {
        let length = to - from;
        match phase {
            // From 100 in flight to 134 (127 and six for bursts, even, and two more, less the burst that is still to
            // leave) at 0.2375 of the pace, which is 24 a round trip.
            0 => {
                assert!((0.12..0.16).contains(&length), "{length}");
                assert!((30.0..36.0).contains(&queue), "{queue}");
            }
            // Until the queue is gone but for three bursts: 0.2575 of the pace takes as much of it in a round trip.
            1 => assert!((0.09..0.104).contains(&length), "{length}"),
            _ => assert!((0.099..0.104).contains(&length), "{phase}: {length}"),
        }
    }
}

#[test]
fn probes_the_round_trip_time_every_ten_seconds_with_four_segments_for_200_ms() {
    let mut net = plain(f64::INFINITY);
    net.run(45.0);
    let states = net.states();
    // Each with when the next mode begins: its last ACK comes a round trip before.
    let probes: Vec<_> =
        states.windows(2).filter(|pair| pair[0].0 == PROBE_RTT).map(|pair| (PROBE_RTT, pair[0].1, pair[1].1)).collect();
    assert_eq!(probes.len(), 4, "{probes:?}");
    for probe in &probes {
        // Four segments are left a round trip later; then 200 ms, and what is left of a round.
        assert!((0.29..0.42).contains(&(probe.2 - probe.1)), "{probe:?}");
        let low = net.seen.iter().filter(|s| s.state == PROBE_RTT && s.now > at(probe.2 - 0.15) && s.now < at(probe.2));
        assert!(low.clone().count() > 3 && low.clone().all(|s| s.cwnd == 4.0 && s.in_flight <= 4.0), "{probe:?}");
    }
    for pair in probes.windows(2) {
        assert!((10.0..10.01).contains(&(pair[1].1 - pair[0].2)), "{pair:?}");
    }
    assert!((net.gauge("min_rtt").unwrap() - 0.101).abs() < 1e-9);
    // What is delivered meanwhile is not the path's rate. Ten rounds may pass then without a probe, and leave what was
    // sent at 0.99 of it.
    let least = net.seen.iter().filter(|s| s.now > at(3.0)).fold(f64::INFINITY, |least, s| least.min(s.max_bw));
    assert!(least > 985.0, "{least}");
}

#[test]
fn losses_alone_do_not_lower_the_rate() {
    // A tenth of a bdp of buffer: startup and each probe lose, and the bandwidth stays.
    let mut net = plain(10.0);
    net.run(5.0);
    let (before, lost) = (net.delivered, net.lost);
    net.run(20.0);
    assert!((net.delivered - before) as f64 > 0.95 * 20_000.0, "{}", net.delivered - before);
    let ratio = (net.lost - lost) as f64 / (net.delivered - before) as f64;
    // 34 in flight too many and room for ten of them, every 8.3 round trips: 24 of 830.
    assert!((0.01..0.04).contains(&ratio), "{ratio}");
    assert_eq!(net.timeouts, 0);
}

#[test]
fn a_policer_is_found_and_its_rate_believed_for_48_rounds() {
    let mut net = network(&Params::default(), 1000.0, f64::INFINITY);
    net.policer = Some((400.0, 100.0, 100.0));
    net.run_until(20.0, |net| net.gauge("policed_bw").is_some());
    let rate = net.gauge("policed_bw").expect("a policer");
    assert!((rate / 400.0 - 1.0).abs() < 0.05, "{rate}");
    let (found, delivered, lost) = (net.now, net.delivered, net.lost);
    // Then it paces at 0.99 of that; what was in flight at the higher pace is still lost.
    net.run_until(20.0, |net| net.gauge("policed_bw").is_none());
    let (ratio, time) = ((net.lost - lost) as f64 / (net.delivered - delivered) as f64, (net.now - found).as_secs());
    // A repair makes its round up to twice as long, and there are some: 48 to 96 round trips.
    assert!((4.8..9.7).contains(&time), "{time}");
    // Above the policer by what its rate was overestimated, less 1 %: 1.4 % of 406 on 400.
    assert!(ratio < 0.03, "{ratio}");
}

#[test]
fn idling_counts_as_a_probe_of_the_round_trip_time() {
    let mut net = plain(f64::INFINITY);
    net.pause = Some((at(3.0), at(15.0)));
    net.run(22.0);
    let probe = net.states().into_iter().find(|state| state.0 == PROBE_RTT);
    assert!(probe.is_none(), "{probe:?}");
    assert!((net.seen.last().unwrap().max_bw / 1000.0 - 1.0).abs() < 0.02);
}

#[test]
fn ten_times_the_bandwidth_is_found_by_one_probe() {
    let mut net = plain(f64::INFINITY);
    net.run(3.0);
    net.rate = 10_000.0;
    net.run_until(20.0, |net| net.gauge("max_bw").unwrap() > 9800.0);
    // A probe lasts until a quarter more is in flight, and 1 % below that pace it never is while all of it is
    // delivered: the rate rises by 1.2375 a round, ln 10 / ln 1.2375 = 10.8 of them, after up to seven for the cycle to
    // come round.
    assert!((1.0..2.0).contains(&(net.now - at(3.0)).as_secs()), "{:?}", net.now);
}

#[test]
fn a_tenth_of_the_bandwidth_is_believed_after_ten_rounds() {
    let mut net = network(&Params::default(), 10_000.0, f64::INFINITY);
    net.run(3.0);
    net.rate = 1000.0;
    net.run_until(60.0, |net| net.gauge("max_bw").unwrap() < 1100.0);
    // Two bdp in flight take two seconds at a tenth of the rate: rounds are that long.
    assert!((net.now - at(3.0)).as_secs() < 25.0, "{:?}", net.now);
}

#[test]
fn after_an_outage_it_finds_its_rate_again() {
    let mut net = plain(f64::INFINITY);
    net.run(3.0);
    net.buffer = -2.0;
    net.run_until(10.0, |net| net.timeouts == 2);
    assert_eq!(net.control.cwnd(), 1.0);
    net.buffer = f64::INFINITY;
    net.run(3.0);
    let before = net.delivered;
    net.run(2.0);
    assert!((net.delivered - before) as f64 > 0.9 * 2000.0, "{}", net.delivered - before);
    let last = net.seen.last().unwrap();
    assert!(last.rtt < 0.14 && last.delivered == net.delivered, "{last:?}");
}

//! Steps per packet hardly grow: if the BDP, the flows or the losses per window are doubled, they grow by a factor below 1.3.
//! A step is an operation of a list, heap or set on one of its entries (`base::steps`). Steps are counted if debug assertions
//! are on; `make scaling` counts instructions of every sender.
//!
//! An operation of logarithmic cost adds about a tenth here, one of linear cost doubles the steps.

use base::steps::{count_steps, steps};
use base::{RunMonitor, Time};
use queue::{Backlog, Fates, Limit, Packet, QueueDiscipline};
use sim::{FlowSite, LinkSite, Options, Outcome, Own, simulate, simulate_parts};

const LIMIT: f64 = 1.3;

/// A network. Flows have windows of a thousand segments from the start, with any law.
#[derive(Clone, Copy, Debug)]
struct Point {
    rate_mbps: u32,
    flows: u32,
    loss: f64,
    duration_s: f64,
}

/// Point whose link is full after two round trips. Packets that exceed the buffer are dropped at once.
const FILLED: Point = Point { rate_mbps: 600, flows: 2, loss: 0.0, duration_s: 0.4 };
/// Point with some losses in every window.
const LOSSY: Point = Point { loss: 0.005, ..FILLED };
/// Point with many flows, whose windows have a few segments.
const MANY: Point = Point { flows: 100, ..FILLED };

const fn twice_the_bdp(of: Point) -> Point {
    Point { rate_mbps: 2 * of.rate_mbps, ..of }
}

/// Twice the flows on twice the rate, so that each has the same share of the BDP.
const fn twice_the_flows(of: Point) -> Point {
    Point { flows: 2 * of.flows, ..twice_the_bdp(of) }
}

const fn twice_the_losses(of: Point) -> Point {
    Point { loss: 2.0 * of.loss, ..of }
}

/// Law, recovery, further keys of `tcp`, discipline, the point, and the function that doubles one of its values.
type Pair = (&'static str, &'static str, &'static str, &'static str, Point, fn(Point) -> Point);

const PAIRS: [Pair; 14] = [
    ("reno", "sack", "", "droptail", FILLED, twice_the_bdp),
    ("cubic", "rack", "", "droptail", FILLED, twice_the_bdp),
    ("bbr", "rack", "", "droptail", FILLED, twice_the_bdp),
    ("highspeed", "prr", r#", pacing = "linux""#, "droptail", FILLED, twice_the_bdp),
    ("cubic", "newreno", "", "droptail", LOSSY, twice_the_losses),
    ("cubic", "sack", "", "droptail", LOSSY, twice_the_losses),
    ("bbr", "rack", "", "droptail", LOSSY, twice_the_losses),
    ("bbr", "prr", "", "droptail", LOSSY, twice_the_losses),
    ("cubic", "rack", "", "droptail", FILLED, twice_the_flows),
    ("bbr", "rack", "", "droptail", MANY, twice_the_flows),
    ("cubic", "sack", "", "fq_codel", MANY, twice_the_flows),
    ("cubic", "sack", "", "sfq", MANY, twice_the_flows),
    ("cubic", "sack", "", "fq", MANY, twice_the_flows),
    ("cubic", "sack", "", "drr", FILLED, twice_the_bdp),
];

fn scenario((law, recovery, tcp, queue, ..): Pair, point: Point) -> scenario::Scenario {
    let Point { rate_mbps, flows, loss, duration_s } = point;
    let loss = if loss > 0.0 { format!("loss = {{ random = {loss} }}") } else { String::new() };
    let initial_window = if flows > 10 { 10 } else { 1000 };
    let text = format!(
        r#"
        duration = "{duration_s} s"
        warmup = "0 s"
        [[links]]
        name = "link"
        rate = "{rate_mbps} Mbit/s"
        delay = "10 ms"
        buffer = "1 bdp"
        queue = "{queue}"
        {loss}
        [[flows]]
        name = "flows"
        count = {flows}
        path = ["link"]
        rtt = {{ from = "36 ms", to = "44 ms" }}
        access = {{ rate = "{access} Mbit/s" }}
        packet = "1500 B"
        control = {{ law = "{law}" }}
        recovery = "{recovery}"
        tcp = {{ initial_window = {initial_window}, min_rto = "200 ms"{tcp} }}
        "#,
        access = 2 * rate_mbps,
    );
    scenario::read(&text).unwrap_or_else(|error| panic!("{law} {recovery} {queue}: {error}"))
}

/// Steps per packet sent.
fn cost(pair: Pair, point: Point) -> f64 {
    let (scenario, before) = (scenario(pair, point), steps());
    let outcome = simulate(&scenario, 0, Options::default()).expect("small");
    per_packet(steps() - before, &outcome)
}

/// Steps per packet, plus 20 for the other costs of a packet: at least 200 instructions, of which a step takes about ten.
fn per_packet(steps: u64, outcome: &Outcome) -> f64 {
    20.0 + steps as f64 / outcome.balance.sent as f64
}

#[test]
fn doubling_anything_costs_no_more_steps_per_packet() {
    let mut above = Vec::new();
    for pair in PAIRS {
        let (_, _, _, _, point, twice) = pair;
        let (one, two) = (cost(pair, point), cost(pair, twice(point)));
        println!("{:.2} {one:.2} {two:.2} {pair:?}", two / one);
        // Below 20.1 no steps were counted, so the test would see nothing.
        if one < 20.1 || two >= LIMIT * one {
            above.push((pair, one, two));
        }
    }
    assert!(above.is_empty(), "{above:?}");
}

/// First-in first-out queue as a list in which each departure moves all waiting packets: the test above must detect this.
#[derive(Debug)]
struct MovedUp {
    limit: Limit,
    waiting: Vec<Packet>,
}

impl QueueDiscipline for MovedUp {
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        if idle_since.is_none() && !self.limit.holds(self.backlog()) {
            return fates.dropped(&packet, base::Cause::Overflow, packet.arrived);
        }
        self.waiting.push(packet);
    }

    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        count_steps(self.waiting.len());
        (!self.waiting.is_empty()).then(|| self.waiting.remove(0))
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u32, bytes: base::Bytes(1500 * self.waiting.len() as u64) }
    }
}

#[test]
fn a_list_that_is_moved_for_every_packet_would_be_seen() {
    let pair @ (_, _, _, _, point, twice) = PAIRS[1];
    let cost = |point| {
        let (scenario, before) = (scenario(pair, point), steps());
        let control = |flow: &FlowSite<'_>| flow.built_in();
        let mut parts =
            Own { control, queue: |link: &LinkSite<'_>| Some(MovedUp { limit: link.port.limit, waiting: Vec::new() }) };
        let run = simulate_parts(&scenario, 0, Options::default(), &RunMonitor::default(), &mut parts);
        per_packet(steps() - before, &run.expect("small").expect("not stopped"))
    };
    let (one, two) = (cost(point), cost(twice(point)));
    assert!(two > 1.5 * one, "{one} {two}");
}

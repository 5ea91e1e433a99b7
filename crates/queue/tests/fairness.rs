//! Guarantees of disciplines that serve by flow, under any arrivals: shares within the published bounds, drops from a
//! longest queue only, no reordering.

extern crate elephan_queue as queue;

use base::{Bytes, Cause, Rate, Stream, Time, Value};
use proptest::prelude::*;
use queue::{AnyQueue, Fates, Limit, Packet, Port, QueueDiscipline, QueueSpec};
use std::collections::VecDeque;

const FLOWS: usize = 6;
/// Mean size of packets, as the port says it.
const UNIT: u64 = 1000;

/// A discipline, and whether its overflow drops from the longest queue (at the head or the tail).
struct Subject {
    name: &'static str,
    words: &'static [(&'static str, &'static str)],
    from_longest: Option<End>,
    bound: Bound,
    /// Whether flows that become active go first.
    priority: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Head,
    Tail,
}

/// Bound on the difference of two flows' service in any interval in which both are backlogged.
#[derive(Clone, Copy)]
enum Bound {
    /// A quantum and twice the largest packet: Shreedhar and Varghese 1995, the theorem of Section 4.
    Turns,
    /// The largest packet of the one and of the other, for equal weights: Goyal, Vin and Cheng 1996, Theorem 1.
    Tags,
}

const SUBJECTS: &[Subject] = &[
    Subject { name: "drr", words: &[], from_longest: None, bound: Bound::Turns, priority: false },
    Subject { name: "fq", words: &[], from_longest: Some(End::Tail), bound: Bound::Turns, priority: false },
    Subject {
        name: "fq",
        words: &[("victim", "head")],
        from_longest: Some(End::Head),
        bound: Bound::Turns,
        priority: false,
    },
    Subject {
        name: "fq",
        words: &[("scheduler", "start-time")],
        from_longest: Some(End::Tail),
        bound: Bound::Tags,
        priority: false,
    },
    Subject {
        name: "fq",
        words: &[("scheduler", "start-time"), ("victim", "head")],
        from_longest: Some(End::Head),
        bound: Bound::Tags,
        priority: false,
    },
    Subject { name: "priority-fq", words: &[], from_longest: Some(End::Tail), bound: Bound::Tags, priority: true },
    Subject {
        name: "priority-fq",
        words: &[("victim", "head")],
        from_longest: Some(End::Head),
        bound: Bound::Tags,
        priority: true,
    },
    Subject {
        name: "priority-fq",
        words: &[("scheduler", "drr")],
        from_longest: Some(End::Tail),
        bound: Bound::Turns,
        priority: true,
    },
    Subject {
        name: "priority-fq",
        words: &[("scheduler", "drr"), ("victim", "head")],
        from_longest: Some(End::Head),
        bound: Bound::Turns,
        priority: true,
    },
    // With a million buckets the six flows do not meet.
    Subject { name: "sfq", words: &[], from_longest: Some(End::Tail), bound: Bound::Turns, priority: false },
];

fn build(subject: &Subject, quantum: u64, limit: Limit) -> AnyQueue {
    let mut spec = QueueSpec::named(subject.name).expect("registered");
    spec.set("quantum", &Value::Text(format!("{quantum} B"))).expect("a parameter").expect("a value");
    for (name, word) in subject.words {
        spec.set(name, &Value::Text((*word).into())).expect("a parameter").expect("a value");
    }
    if subject.name == "sfq" {
        spec.set("buckets", &Value::Number(1_048_576.0)).expect("a parameter").expect("a value");
    }
    let port = Port::new(limit, Rate(8_000_000), UNIT as f64);
    spec.build(&port, Stream::new(3, 0, ("link", 0), "queue")).expect("valid")
}

#[derive(Default)]
struct Ledger(Vec<(Packet, Cause)>);

impl Fates for Ledger {
    fn dropped(&mut self, packet: &Packet, cause: Cause, _now: Time) {
        self.0.push((*packet, cause));
    }
    fn marked(&mut self, packet: &Packet, _cause: Cause, _now: Time) {
        panic!("{packet:?} is marked");
    }
}

/// Packets that must be waiting, by flow, and the service of each pair of flows while both were backlogged.
struct Mirror {
    waiting: Vec<VecDeque<Packet>>,
    /// Largest packet of each flow.
    largest: [u64; FLOWS],
    /// For each pair: its difference in service now, and the least and greatest since both are backlogged.
    spread: [[(i64, i64, i64); FLOWS]; FLOWS],
}

impl Mirror {
    fn new() -> Self {
        Self { waiting: vec![VecDeque::new(); FLOWS], largest: [0; FLOWS], spread: [[(0, 0, 0); FLOWS]; FLOWS] }
    }

    fn bytes(&self, flow: usize) -> u64 {
        self.waiting[flow].iter().map(|packet| u64::from(packet.size)).sum()
    }

    fn total(&self) -> (usize, u64) {
        (self.waiting.iter().map(VecDeque::len).sum(), (0..FLOWS).map(|flow| self.bytes(flow)).sum())
    }

    fn fits(&self, limit: Limit) -> bool {
        let (packets, bytes) = self.total();
        match limit {
            Limit::Packets(n) => packets <= n as usize,
            Limit::Bytes(n) => bytes <= n.0,
            Limit::Unlimited => true,
        }
    }

    /// Bytes rounded up to packets of the mean size.
    fn length(&self, flow: usize) -> u64 {
        self.bytes(flow).div_ceil(UNIT)
    }

    /// Restarts the measurement of pairs that are not both backlogged.
    fn forget(&mut self) {
        for i in 0..FLOWS {
            for j in 0..FLOWS {
                if self.waiting[i].is_empty() || self.waiting[j].is_empty() {
                    self.spread[i][j] = (0, 0, 0);
                }
            }
        }
    }

    fn arrive(&mut self, packet: Packet) {
        let flow = packet.flow as usize;
        self.waiting[flow].push_back(packet);
        self.largest[flow] = self.largest[flow].max(u64::from(packet.size));
    }

    /// A packet went into service.
    fn serve(&mut self, packet: &Packet) -> Result<(), TestCaseError> {
        let flow = packet.flow as usize;
        let oldest = self.waiting[flow].pop_front().map(|packet| packet.token);
        prop_assert_eq!(oldest, Some(packet.token), "flow {} is reordered", flow);
        let size = i64::from(packet.size);
        for other in 0..FLOWS {
            for (i, j, size) in [(flow, other, size), (other, flow, -size)] {
                let (now, least, most) = self.spread[i][j];
                let now = now + size;
                self.spread[i][j] = (now, least.min(now), most.max(now));
            }
            self.spread[flow][flow] = (0, 0, 0);
        }
        self.forget();
        Ok(())
    }

    fn check(&self, subject: &Subject, quantum: u64) -> Result<(), TestCaseError> {
        let any = *self.largest.iter().max().expect("flows");
        for i in 0..FLOWS {
            for j in 0..FLOWS {
                let mut bound = match subject.bound {
                    Bound::Turns => quantum + 2 * any,
                    Bound::Tags => self.largest[i] + self.largest[j],
                };
                if subject.priority {
                    // Either may be ahead by what went first: a quantum, or one packet that is larger.
                    bound += quantum.max(self.largest[i]) + quantum.max(self.largest[j]);
                }
                let (_, least, most) = self.spread[i][j];
                prop_assert!((most - least) as u64 <= bound, "flows {} and {}: {} > {}", i, j, most - least, bound);
            }
        }
        Ok(())
    }
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        3 => (0u32..40).prop_map(Limit::Packets),
        3 => (0u64..40_000).prop_map(|n| Limit::Bytes(Bytes(n))),
        1 => Just(Limit::Unlimited)
    ]
}

/// Quanta from one byte to many packets: the bounds hold for each.
fn quanta() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1u64), Just(700), 1u64..1500, 1500u64..20_000]
}

/// Arrivals (flow, size) and how many packets are served after each: about as many as come, or fewer.
fn arrivals() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    let sizes = prop_oneof![2 => 40u32..1500, 1 => Just(1000u32), 1 => Just(40u32)];
    let served = prop_oneof![4 => Just(0u32), 5 => Just(1u32), 2 => 2u32..4];
    prop::collection::vec((0u32..FLOWS as u32, sizes, served), 1..400)
}

fn run(subject: &Subject, quantum: u64, limit: Limit, arrivals: &[(u32, u32, u32)]) -> Result<(), TestCaseError> {
    let mut queue = build(subject, quantum, limit);
    let (mut mirror, mut ledger, mut served, mut dropped) = (Mirror::new(), Ledger::default(), 0, 0);
    for (token, &(flow, size, serve)) in (0..).zip(arrivals) {
        let packet = Packet::new(flow, token, size, Time(u64::from(token)));
        queue.enqueue(packet, None, &mut ledger);
        mirror.arrive(packet);
        for (victim, cause) in ledger.0.drain(..) {
            prop_assert_eq!(cause, Cause::Overflow);
            prop_assert!(!mirror.fits(limit), "dropped without need");
            let flow = victim.flow as usize;
            if let Some(end) = subject.from_longest {
                let longest = (0..FLOWS).map(|flow| mirror.length(flow)).max();
                prop_assert_eq!(Some(mirror.length(flow)), longest, "flow {} has not the longest queue", flow);
                let lane = &mirror.waiting[flow];
                let at_end = if end == End::Head { lane.front() } else { lane.back() };
                prop_assert_eq!(at_end.map(|p| p.token), Some(victim.token));
                // Below a fair share of what waits, rounding included, nobody loses.
                let active = mirror.waiting.iter().filter(|lane| !lane.is_empty()).count() as u64;
                prop_assert!(mirror.length(flow) * active * UNIT >= mirror.total().1);
            } else {
                prop_assert_eq!(victim.token, token, "it drops arrivals");
            }
            mirror.waiting[flow].retain(|packet| packet.token != victim.token);
            dropped += 1;
        }
        mirror.forget();
        prop_assert!(mirror.fits(limit), "beyond the buffer");
        for _ in 0..serve {
            let next = queue.dequeue(Time(u64::from(token)), &mut ledger);
            prop_assert_eq!(next.is_none(), mirror.total().0 == 0, "idle beside a backlog");
            if let Some(packet) = next {
                mirror.serve(&packet)?;
                served += 1;
            }
            mirror.check(subject, quantum)?;
        }
        if token % 64 == 63 && queue.next_wakeup() < Time::NEVER {
            // A new hash: shares are guaranteed between two of them only.
            queue.on_wakeup(queue.next_wakeup(), None, &mut ledger);
            prop_assert!(ledger.0.is_empty());
            mirror.spread = Mirror::new().spread;
        }
        let (packets, bytes) = mirror.total();
        prop_assert_eq!((queue.backlog().packets as usize, queue.backlog().bytes.0), (packets, bytes));
        prop_assert_eq!(served + dropped + packets, token as usize + 1, "arrived = served + dropped + waiting");
    }
    Ok(())
}

/// Start-time fair queueing as its definition says it, packet by packet: (start tag, arrival, flow, size).
#[derive(Default)]
struct Definition {
    v: u64,
    last_finish: u64,
    finish: [u64; 32],
    waiting: Vec<(u64, u32, u32, u32)>,
}

impl Definition {
    fn arrive(&mut self, flow: u32, token: u32, size: u32) {
        let finish = &mut self.finish[flow as usize];
        let start = self.v.max(*finish);
        *finish = start + u64::from(size);
        self.waiting.push((start, token, flow, size));
    }

    fn serve(&mut self) -> Option<u32> {
        let Some(next) = self.waiting.iter().min().copied() else {
            self.v = self.v.max(self.last_finish);
            return None;
        };
        self.waiting.retain(|packet| *packet != next);
        let (start, token, _, size) = next;
        self.v = start;
        self.last_finish = self.last_finish.max(start + u64::from(size));
        Some(token)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Checks all guarantees, for each discipline.
    #[test]
    fn backlogged_flows_share_and_only_the_longest_queue_pays(
        quantum in quanta(),
        limit in limits(),
        arrivals in arrivals(),
    ) {
        for subject in SUBJECTS {
            run(subject, quantum, limit, &arrivals)
                .map_err(|e| TestCaseError::fail(format!("{} {:?}, {quantum} B: {e}", subject.name, subject.words)))?;
        }
    }

    /// Uses enough flows to fill the heap.
    #[test]
    fn start_tags_are_those_of_the_definition(
        arrivals in prop::collection::vec((0u32..32, prop_oneof![Just(1000u32), 40u32..1500], 0u32..3), 1..600),
    ) {
        let spec = Subject {
            name: "fq",
            words: &[("scheduler", "start-time")],
            from_longest: None,
            bound: Bound::Tags,
            priority: false,
        };
        let (mut queue, mut ledger) = (build(&spec, UNIT, Limit::Unlimited), Ledger::default());
        let mut definition = Definition::default();
        for (token, &(flow, size, serve)) in (0..).zip(&arrivals) {
            queue.enqueue(Packet::new(flow, token, size, Time::ZERO), None, &mut ledger);
            definition.arrive(flow, token, size);
            for _ in 0..serve {
                let next = queue.dequeue(Time::ZERO, &mut ledger).map(|packet| packet.token);
                prop_assert_eq!(next, definition.serve());
            }
        }
        while let Some(token) = definition.serve() {
            prop_assert_eq!(queue.dequeue(Time::ZERO, &mut ledger).map(|packet| packet.token), Some(token));
        }
    }
}

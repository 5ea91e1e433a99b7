//! Stochastic fairness queueing: flows are hashed into buckets, which are served in turn; the hash changes from time to
//! time.
//!
//! Source: `McKenney` 1990. A full buffer drops from the tail of the longest bucket, after the arrival was enqueued.
//! Differs from the source: a turn is a quantum of bytes with a deficit (Shreedhar and Varghese 1995) instead of a packet.
//! When the hash changes, all waiting packets are hashed again, bucket by bucket in the order of the round and oldest
//! first, so that no flow is reordered; deficits are reset.
//! Differs from Linux: no limit on packets per bucket or on buckets in use; lengths are bytes rounded up to packets of the
//! mean size; a bucket never overdraws its turn; Linux does not perturb by default.

use crate::checks::clock;
use crate::flows::{Flows, spread};
use crate::longest::Longest;
use crate::order::RoundRobin;
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Card, Cause, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// McKenney 1990; the number of buckets is that of Linux.
    pub struct Params {
        /// Number of buckets into which flows are hashed.
        buckets: u32 = 1024, "";
        /// Amount of data that a bucket may send in its turn.
        quantum: Amount = Amount::Packets(1.0), "packets";
        /// Interval of changes of the hash; 0 for never.
        perturb: Span = Span::secs(10), "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Sfq {
    limit: Limit,
    buckets: u32,
    quantum: i64,
    perturb: Span,
    next_perturb: Time,
    /// Salt of the present hash.
    salt: u64,
    flows: Flows,
    turn: RoundRobin,
    longest: Longest,
    chance: Stream,
}

/// The largest number of packets that Linux lets wait in one bucket (tc-sfq(8), `depth`).
const LINUX_DEPTH: u32 = 127;

impl Registered for Sfq {
    type Params = Params;
    const CARD: Card = Card {
        name: "sfq",
        aliases: &["SFQ", "stochastic-fairness-queueing"],
        title: "Stochastic fairness queueing",
        source: "McKenney 1990",
        differs: "Turns are worth bytes, with deficits; a new hash reorders no flow; no limit per bucket, unlike Linux.",
    };
}

impl Rule for Sfq {
    fn new(p: &Params, port: &Port, mut chance: Stream) -> Result<Self, ParamError> {
        if p.buckets == 0 || p.buckets > 1 << 20 {
            return Err(ParamError::new("buckets", "must be between 1 and 1048576"));
        }
        if p.perturb > Span::ZERO {
            clock("perturb", p.perturb)?;
        }
        let quantum = crate::order::quantum(p.quantum, port)?;
        let salt = chance.next_u64();
        Ok(Self {
            limit: port.limit,
            buckets: p.buckets,
            quantum,
            perturb: p.perturb,
            next_perturb: later(Time::ZERO, p.perturb),
            salt,
            flows: Flows::default(),
            turn: RoundRobin::new(quantum),
            longest: Longest::new(port.packet),
            chance,
        })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        // Linux counts packets and whole seconds, hashes into a power of two, and limits the packets of a bucket.
        let Limit::Packets(limit @ 1..=LINUX_DEPTH) = port.limit else { return None };
        let seconds = p.perturb.0 / Span::secs(1).0;
        if !p.buckets.is_power_of_two() || p.buckets > 65_536 || Span::secs(seconds) != p.perturb {
            return None;
        }
        let quantum = crate::order::quantum(p.quantum, port).ok()?;
        Some(format!("sfq limit {limit} divisor {} quantum {quantum} perturb {seconds}", p.buckets))
    }
}

impl Sfq {
    #[inline]
    fn bucket(&self, flow: u32) -> u32 {
        ((u128::from(spread(u64::from(flow) ^ self.salt)) * u128::from(self.buckets)) >> 64) as u32
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn put(&mut self, packet: Packet) {
        let (lane, new) = self.flows.push_as(packet, self.bucket(packet.flow));
        if new {
            self.turn.join(&mut self.flows, lane);
        }
    }

    #[cold]
    fn make_room(&mut self, now: Time, fates: &mut impl Fates) {
        while !self.limit.holds(self.flows.backlog()) {
            let lane = self.longest.pick(&mut self.flows, &mut self.chance);
            let packet = self.flows.pop_back(lane);
            if self.flows.packets(lane) == 0 {
                self.turn.leave(&mut self.flows, lane);
                self.flows.close(lane);
            }
            fates.dropped(&packet, Cause::Overflow, now);
        }
    }

    fn rehash(&mut self) {
        let mut waiting = Vec::with_capacity(self.flows.backlog().packets as usize);
        while !self.turn.is_empty() {
            let lane = self.turn.front();
            while self.flows.packets(lane) > 0 {
                waiting.push(self.flows.pop_front(lane));
            }
            self.turn.leave(&mut self.flows, lane);
            self.flows.close(lane);
        }
        self.turn = RoundRobin::new(self.quantum);
        self.salt = self.chance.next_u64();
        base::steps::count_steps(waiting.len());
        for packet in waiting {
            self.put(packet);
        }
    }
}

impl QueueDiscipline for Sfq {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        self.put(packet);
        if idle_since.is_none() && !self.limit.holds(self.flows.backlog()) {
            self.make_room(packet.arrived, fates);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn dequeue(&mut self, _now: Time, _fates: &mut impl Fates) -> Option<Packet> {
        self.turn.next(&mut self.flows)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("active_buckets", self.flows.open_lanes());
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.next_perturb
    }

    fn on_wakeup(&mut self, now: Time, _idle_since: Option<Time>, _fates: &mut impl Fates) {
        self.rehash();
        self.next_perturb = later(now, self.perturb);
    }
}

/// The time `span` after `now`; never if `span` is 0 or the time is beyond the end of time.
fn later(now: Time, span: Span) -> Time {
    if span.0 == 0 { Time::NEVER } else { Time(now.0.saturating_add(span.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{Ledger, offer, queue, serve};
    use base::Rate;

    fn sfq(buckets: u32, limit: Limit) -> Sfq {
        queue(&Params { buckets, ..Params::default() }, limit)
    }

    #[test]
    fn one_bucket_is_first_in_first_out() {
        let mut q = sfq(1, Limit::Packets(4));
        let arrivals = [(0, 1000), (1, 500), (0, 700), (2, 1000), (3, 1000)];
        assert_eq!(offer(&mut q, &arrivals), [(3, 4)], "the tail of the only bucket");
        assert_eq!(serve(&mut q, 9), arrivals[..4]);
    }

    #[test]
    fn flows_in_different_buckets_take_turns_and_the_longest_loses_a_packet() {
        let mut q = sfq(1 << 20, Limit::Packets(4));
        assert_eq!(offer(&mut q, &[(0, 1000), (0, 1000), (0, 1000), (1, 1000), (2, 1000)]), [(0, 2)]);
        assert_eq!(serve(&mut q, 9), [(0, 1000), (1, 1000), (2, 1000), (0, 1000)]);
    }

    #[test]
    fn flows_spread_over_the_buckets() {
        let q = sfq(1024, Limit::Unlimited);
        let mut used: Vec<u32> = (0..1024).map(|flow| q.bucket(flow)).collect();
        used.sort_unstable();
        used.dedup();
        // 1024 balls in as many boxes fill 1024 (1 - 1/e) = 647 boxes, with a standard deviation of sqrt(1024 (1/e -
        // 2/e^2)) = 10; the bounds are four of these.
        assert!((607..=687).contains(&used.len()), "{}", used.len());
    }

    #[test]
    fn a_new_hash_separates_flows_that_shared_a_bucket_and_reorders_no_flow() {
        let mut q = sfq(2, Limit::Unlimited);
        let rival = (1..1000).find(|&flow| q.bucket(flow) == q.bucket(0)).unwrap();
        let tokens = |q: &mut Sfq| -> Vec<(u32, u32)> {
            std::iter::from_fn(|| q.dequeue(Time::ZERO, &mut Ledger::default())).map(|p| (p.flow, p.token)).collect()
        };
        offer(&mut q, &[(0, 1000), (rival, 1000), (rival, 1000), (0, 1000)]);
        assert_eq!(tokens(&mut q.clone()), [(0, 0), (rival, 1), (rival, 2), (0, 3)]);
        assert_eq!(q.next_wakeup(), Time::ZERO + Span::secs(10));
        while q.bucket(0) == q.bucket(rival) {
            let now = q.next_wakeup();
            q.on_wakeup(now, None, &mut Ledger::default());
            assert_eq!(q.next_wakeup(), now + Span::secs(10));
            assert_eq!(q.backlog().packets, 4);
        }
        // Each flow is now in its own bucket; they take turns, first the flow whose packet was in front.
        assert_eq!(tokens(&mut q), [(0, 0), (rival, 1), (0, 3), (rival, 2)]);
    }

    #[test]
    fn with_a_perturb_of_zero_the_hash_never_changes() {
        let q: Sfq = queue(&Params { perturb: Span(0), ..Params::default() }, Limit::Unlimited);
        assert_eq!(q.next_wakeup(), Time::NEVER);
    }

    #[test]
    fn tc_accepts_limits_up_to_127_packets() {
        let tc = |params: &Params, limit| Sfq::tc(params, &Port::new(limit, Rate(1_000_000), 1500.0));
        let words = "sfq limit 100 divisor 1024 quantum 1500 perturb 10";
        assert_eq!(tc(&Params::default(), Limit::Packets(100)).as_deref(), Some(words));
        assert_eq!(tc(&Params::default(), Limit::Packets(1000)), None, "127 packets per bucket");
        assert_eq!(tc(&Params { buckets: 1000, ..Params::default() }, Limit::Packets(100)), None);
        assert_eq!(tc(&Params { perturb: Span::millis(500), ..Params::default() }, Limit::Packets(100)), None);
    }
}
